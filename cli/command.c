/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All commands, and the commands inside a command: `nigh eval nearest` has a table, a help
 * text and a manual page of its own, and its name is "eval nearest".
 */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "built_parts.h"
#include "common.h"
#include "suggest.h"

static const struct cli_command *const commands[] = {
    &cmd_index,      &cmd_search, &cmd_dedup,  &cmd_against,  &cmd_pairs,  &cmd_sign,       &cmd_train,    &cmd_terms,
    &cmd_vocabulary, &cmd_eval,   &cmd_tune,   &cmd_plan,     &cmd_info,   &cmd_delete,     &cmd_merge,    &cmd_adopt,
    &cmd_check,      &cmd_serve,  &cmd_export, &cmd_generate, &cmd_manual, &cmd_completion, &cmd_commands,
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

const struct cli_command *cli_command_at(size_t index) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (cli_part_built(commands[i]->part) && index-- == 0) return commands[i];
    return NULL;
}

const char *cli_command_part_left_out(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0 && !cli_part_built(commands[i]->part)) return commands[i]->part;
    return NULL;
}

const struct cli_command *cli_subcommand_at(const struct cli_command *command, size_t index) {
    return command->subcommands == NULL ? NULL : command->subcommands[index];
}

const struct cli_command *cli_command_find(const char *name) {
    const struct cli_command *command;
    for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++) {
        if (strcmp(command->name, name) == 0) return command;
    }
    return NULL;
}

const char *cli_command_word(const struct cli_command *command) {
    const char *space = strrchr(command->name, ' ');
    return space == NULL ? command->name : space + 1;
}

const struct cli_command *cli_subcommand_find(const struct cli_command *command, const char *word) {
    const struct cli_command *subcommand;
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++) {
        if (strcmp(cli_command_word(subcommand), word) == 0) return subcommand;
    }
    return NULL;
}

const struct cli_command *cli_command_family(const struct cli_command *command) {
    char first[CLI_COMMAND_NAME_SIZE];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(command->name, " "), command->name);
    return cli_command_find(first);
}

void cli_command_file_name(const struct cli_command *command, char *name, size_t capacity) {
    snprintf(name, capacity, "%s", command->name);
    for (char *space = strchr(name, ' '); space != NULL; space = strchr(space, ' ')) *space = '-';
}

/* ------------------------------------------- a command without its second word -- */

static const char *subcommand_word_at(const void *user, size_t index, bool *skip) {
    const struct cli_command *subcommand = cli_subcommand_at(user, index);
    *skip = false;
    return subcommand == NULL ? NULL : cli_command_word(subcommand);
}

void cli_command_list(const struct cli_command *const *list, size_t count, const char *quote, const char *last,
                      char *text, size_t capacity) {
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < count && used < capacity; i++) {
        const char *between = i + 1 < count ? ", " : last;
        used += (size_t)snprintf(text + used, capacity - used, "%s%s%s%s", i == 0 ? "" : between, quote,
                                 cli_command_word(list[i]), quote);
    }
}

static void list_subcommands(const struct cli_command *command, const char *last, char *text, size_t capacity) {
    size_t count = 0;
    while (cli_subcommand_at(command, count) != NULL) count++;
    cli_command_list(command->subcommands, count, "", last, text, capacity);
}

int cli_subcommand_missing(const struct cli_command *command) {
    char list[200];
    list_subcommands(command, " or ", list, sizeof list);
    return cli_usage(command, "say %s: %s", command->question, list);
}

int cli_subcommand_unknown(const struct cli_command *command, const char *word) {
    char list[200];
    const char *near = cli_suggest(word, subcommand_word_at, command);
    if (near != NULL)
        return cli_usage(command, "unknown command '%s %s'; did you mean '%s %s'?", command->name, word, command->name,
                         near);
    list_subcommands(command, " and ", list, sizeof list);
    return cli_usage(command, "there is %s, not '%s'", list, word);
}

int cli_subcommand_choose(struct cli_job *job) {
    if (job->operand_count == 0 || *job->operands[0] == '\0') return cli_subcommand_missing(job->command);
    return cli_subcommand_unknown(job->command, job->operands[0]);
}
