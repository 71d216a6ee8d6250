/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands for the build and for packagers, which users need not see: manual pages,
 * completions, and the names of the commands that have them.
 */
#include <string.h>

#include "common.h"
#include "completion.h"
#include "manual.h"

struct internal_values {
    struct cli_common common;
};

static const char *const manual_usage[] = {"[COMMAND [SUBCOMMAND]]", NULL};
static const char *const manual_description[] = {
    "Prints the manual page of a command, nigh-COMMAND.1 or nigh-COMMAND-SUBCOMMAND.1, or without one that of nigh "
    "itself, in roff.",
    NULL};

/* The command that the operands name, from one of them to two; NULL with a message. */
static const struct cli_command *named_command(const struct cli_job *job) {
    const struct cli_command *command = cli_command_find(job->operands[0]);
    if (command != NULL && job->operand_count > 1) command = cli_subcommand_find(command, job->operands[1]);
    if (command != NULL) return command;
    (void)cli_usage(job->command, "no command '%s%s%s'", job->operands[0], job->operand_count > 1 ? " " : "",
                    job->operand_count > 1 ? job->operands[1] : "");
    return NULL;
}

static int run_manual(struct cli_job *job) {
    if (job->operand_count > 2) return cli_usage(job->command, "unexpected operand '%s'", job->operands[2]);
    if (job->operand_count == 0) {
        cli_manual_overview(job->out);
        return CLI_DONE;
    }
    const struct cli_command *command = named_command(job);
    if (command == NULL) return CLI_ERROR;
    cli_manual_command(job->out, command);
    return CLI_DONE;
}

const struct cli_command cmd_manual = {
    .name = "manual",
    .summary = "print a manual page",
    .usage = manual_usage,
    .description = manual_description,
    .values_size = sizeof(struct internal_values),
    .internal = true,
    .run = run_manual,
};

static const char *const completion_usage[] = {"bash|zsh", NULL};
static const char *const completion_description[] = {
    "Prints the script that makes a shell complete the command lines of nigh.", NULL};

static int run_completion(struct cli_job *job) {
    if (job->operand_count != 1) return cli_usage(job->command, "give one shell, bash or zsh");
    if (strcmp(job->operands[0], "bash") == 0)
        cli_completion_bash(job->out);
    else if (strcmp(job->operands[0], "zsh") == 0)
        cli_completion_zsh(job->out);
    else
        return cli_usage(job->command, "no completion for '%s'; there is bash and zsh", job->operands[0]);
    return CLI_DONE;
}

const struct cli_command cmd_completion = {
    .name = "completion",
    .summary = "print a completion script",
    .usage = completion_usage,
    .description = completion_description,
    .values_size = sizeof(struct internal_values),
    .internal = true,
    .run = run_completion,
};

static const char *const commands_usage[] = {"[COMMAND]", NULL};
static const char *const commands_description[] = {
    "Prints the names of the commands, or the second words of a command, one a line; nothing where it has none.", NULL};

static void print_subcommands(struct cli_sink *out, const struct cli_command *command) {
    const struct cli_command *subcommand;
    for (size_t i = 0; (subcommand = cli_subcommand_at(command, i)) != NULL; i++)
        cli_sink_format(out, "%s\n", cli_command_word(subcommand));
}

static int run_commands(struct cli_job *job) {
    const struct cli_command *command;
    if (job->operand_count > 1) return cli_usage(job->command, "unexpected operand '%s'", job->operands[1]);
    if (job->operand_count == 1) {
        command = named_command(job);
        if (command != NULL) print_subcommands(job->out, command);
        return command == NULL ? CLI_ERROR : CLI_DONE;
    }
    for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
        if (!command->internal) cli_sink_format(job->out, "%s\n", command->name);
    return CLI_DONE;
}

const struct cli_command cmd_commands = {
    .name = "commands",
    .summary = "list the commands",
    .usage = commands_usage,
    .description = commands_description,
    .values_size = sizeof(struct internal_values),
    .internal = true,
    .run = run_commands,
};
