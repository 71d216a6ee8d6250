/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing by table.  Written here and not left to getopt_long because the same
 * table must also give help, manual and completion, and because an unknown
 * option should be answered with the one that was meant.
 */
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "command.h"
#include "suggest.h"

#define PLACE(field) offsetof(struct cli_common, field)

static const struct cli_option common_options[] = {
    CLI_NUMBER(0, "threads", PLACE(threads), "N", 0, CLI_MAX_THREADS, "0",
               "use N threads; 0: one a core. The answer does not depend on it"),
    CLI_FLAG('q', "quiet", PLACE(quiet), "no progress bar and no closing line"),
    CLI_TEXT(0, "stats", PLACE(stats), "FILE", "write what the work took to FILE, as one JSON object"),
};

/* Names of before.  They are answered with the name of today, and shown nowhere. */
static const struct {
    const char *old;
    const char *now;
} renamed[] = {
    {"usual", "default-costs"},
    {"first", "find first"},
};

static const struct cli_option help_options[] = {
    CLI_FLAG('h', NULL, PLACE(short_help), "show the essentials, on one screen"),
    CLI_FLAG(0, "help", PLACE(help), "show this help"),
};

/* Where parsing stands. */
struct parse {
    const struct cli_command *command;
    int argc;
    char **argv;
    int next; /* argument to look at */
    char *values;
    char *message;
    size_t capacity;
};

const struct cli_option *cli_option_at(const struct cli_command *command, size_t index) {
    size_t own = 0;
    if (command->options != NULL) {
        while (command->options[own].letter != 0 || command->options[own].name != NULL) {
            if (own == index) return &command->options[own];
            own++;
        }
    }
    size_t shared = command->internal ? 0 : sizeof common_options / sizeof common_options[0];
    if (index - own < shared) return &common_options[index - own];
    const size_t helps = sizeof help_options / sizeof help_options[0];
    return index - own - shared < helps ? &help_options[index - own - shared] : NULL;
}

void cli_option_name(const struct cli_option *option, char *buffer, size_t capacity) {
    if (option->name != NULL)
        snprintf(buffer, capacity, "--%s", option->name);
    else
        snprintf(buffer, capacity, "-%c", option->letter);
}

static const struct cli_option *find_long(const struct cli_command *command, const char *name, size_t length) {
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (option->name != NULL && strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static const struct cli_option *find_short(const struct cli_command *command, char letter) {
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (option->letter == letter) return option;
    }
    return NULL;
}

/* Digits and nothing else, without overflow; *end is what follows them. */
static bool digits_read(const char *text, uint64_t *out, const char **end) {
    uint64_t value = 0;
    if (*text < '0' || *text > '9') return false;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    *out = value;
    *end = text;
    return true;
}

bool cli_scaled(const char *text, uint64_t step, uint64_t *out) {
    static const char units[] = "KMGT";
    const char *end;
    uint64_t value;
    if (!digits_read(text, &value, &end)) return false;
    if (*end != '\0') {
        const char unit = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
        const char *found = strchr(units, unit);
        if (found == NULL || end[1] != '\0') return false;
        for (const char *at = units; at <= found; at++)
            if (__builtin_mul_overflow(value, step, &value)) return false;
    }
    *out = value;
    return true;
}

/* Of 53 bits, which every reader of JSON takes as they are: statistics tell it, so that a run can be repeated. */
static bool number_draw(const struct parse *parse, struct cli_number *number) {
    if (getrandom(&number->value, sizeof number->value, 0) != (ssize_t)sizeof number->value) {
        snprintf(parse->message, parse->capacity, "the system gives no random number");
        return false;
    }
    number->value >>= 11;
    number->given = number->drawn = true;
    return true;
}

static bool number_store(const struct parse *parse, const struct cli_option *option, const char *name,
                         const char *text) {
    struct cli_number *number = (struct cli_number *)(void *)(parse->values + option->place);
    uint64_t value = 0;
    if (strcmp(option->value, CLI_NUMBER_OR_RANDOM) == 0 && strcmp(text, "random") == 0)
        return number_draw(parse, number);
    const bool bytes = strcmp(option->value, "BYTES") == 0;
    const bool whole = cli_scaled(text, bytes ? 1024 : 1000, &value);
    if (whole && value < option->min) {
        snprintf(parse->message, parse->capacity, "%s must be at least %llu", name, (unsigned long long)option->min);
        return false;
    }
    if (!whole || value > option->max) {
        snprintf(parse->message, parse->capacity, "%s takes a whole number from %llu to %llu, not '%s'", name,
                 (unsigned long long)option->min, (unsigned long long)option->max, text);
        return false;
    }
    number->value = value;
    number->given = true;
    number->drawn = false;
    return true;
}

bool cli_choice_takes_file(const char *choice) {
    size_t length = strlen(choice);
    return length > 1 && choice[length - 1] == ':';
}

/* "topsig", or "learned:FILE"; a name alone that wants a file is none. */
static bool choice_fits(const struct parse *parse, const struct cli_option *option, const char *choice,
                        const char *text) {
    size_t length = strlen(choice);
    if (!cli_choice_takes_file(choice)) return strcmp(choice, text) == 0;
    if (strncmp(choice, text, length) != 0 || text[length] == '\0') return false;
    *(const char **)(void *)(parse->values + option->file_place) = text + length;
    return true;
}

static bool choice_store(const struct parse *parse, const struct cli_option *option, const char *name,
                         const char *text) {
    int *choice = (int *)(void *)(parse->values + option->place);
    if (option->file_place != 0) *(const char **)(void *)(parse->values + option->file_place) = NULL;
    for (int i = 0; option->choices[i] != NULL; i++) {
        if (choice_fits(parse, option, option->choices[i], text)) {
            *choice = i;
            return true;
        }
    }
    size_t used = (size_t)snprintf(parse->message, parse->capacity, "%s takes one of ", name);
    for (int i = 0; option->choices[i] != NULL && used < parse->capacity; i++)
        used += (size_t)snprintf(parse->message + used, parse->capacity - used, "%s%s%s", i == 0 ? "" : ", ",
                                 option->choices[i], cli_choice_takes_file(option->choices[i]) ? "FILE" : "");
    if (used < parse->capacity) snprintf(parse->message + used, parse->capacity - used, "; not '%s'", text);
    return false;
}

/* No list is longer than the command line, so room is made once. */
static bool list_store(const struct parse *parse, const struct cli_option *option, const char *text) {
    struct cli_list *list = (struct cli_list *)(void *)(parse->values + option->place);
    if (list->items == NULL) {
        list->items = calloc((size_t)parse->argc, sizeof *list->items);
        if (list->items == NULL) {
            snprintf(parse->message, parse->capacity, "out of memory");
            return false;
        }
    }
    list->items[list->count++] = text;
    return true;
}

/* `name` is how the user spelt the option, for messages. */
static bool store(const struct parse *parse, const struct cli_option *option, const char *name, const char *text) {
    switch (option->kind) {
    case CLI_KIND_FLAG:
        *(bool *)(void *)(parse->values + option->place) = true;
        return true;
    case CLI_KIND_TEXT:
        *(const char **)(void *)(parse->values + option->place) = text;
        return true;
    case CLI_KIND_NUMBER:
        return number_store(parse, option, name, text);
    case CLI_KIND_CHOICE:
        return choice_store(parse, option, name, text);
    case CLI_KIND_LIST:
        return list_store(parse, option, text);
    }
    return false;
}

/* Defaults pass through the same door as what is typed. */
static bool store_initial(const struct parse *parse) {
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(parse->command, i)) != NULL; i++) {
        if (option->initial == NULL) continue;
        if (!store(parse, option, option->initial, option->initial)) return false;
        if (option->kind == CLI_KIND_NUMBER)
            ((struct cli_number *)(void *)(parse->values + option->place))->given = false;
    }
    return true;
}

static const char *long_name_at(const void *user, size_t index, bool *skip) {
    const struct cli_option *option = cli_option_at(user, index);
    if (option == NULL) return NULL;
    *skip = option->name == NULL;
    return *skip ? "" : option->name;
}

/* An option as it was typed: what follows the dashes, or the letter. */
struct typed {
    const char *name; /* NULL: a letter */
    size_t length;
    char letter;
};

static const struct cli_option *find_typed(const struct cli_command *command, const struct typed *typed) {
    return typed->name == NULL ? find_short(command, typed->letter) : find_long(command, typed->name, typed->length);
}

#define MAX_FAMILY 16

/* The commands of a family that have the option, MAX_FAMILY of them at most. */
static size_t find_owners(const struct cli_command *family, const struct typed *typed,
                          const struct cli_command *owners[MAX_FAMILY]) {
    size_t count = 0;
    const struct cli_command *command;
    for (size_t i = 0; (command = cli_subcommand_at(family, i)) != NULL && count < MAX_FAMILY; i++)
        if (find_typed(command, typed) != NULL) owners[count++] = command;
    return count;
}

/* "--plot goes with 'signatures' and 'psm'": other commands of the family have it.  False where none does. */
static bool name_owners(const struct parse *parse, const struct typed *typed, const char *shown) {
    const struct cli_command *family = cli_command_family(parse->command);
    const bool chosen = family != parse->command;
    const struct cli_command *owners[MAX_FAMILY];
    const size_t count = find_owners(family, typed, owners);
    char list[MAX_FAMILY * CLI_COMMAND_NAME_SIZE];
    if (count == 0) return false;
    cli_command_list(owners, count, "'", chosen ? " and " : " or ", list, sizeof list);
    snprintf(parse->message, parse->capacity, "%s %s %s", shown, chosen ? "goes with" : "comes after", list);
    return true;
}

/* "'--usual' is now '--default-costs'", where the command has that; there may be a value behind a blank. */
static bool name_renamed(const struct parse *parse, const char *word) {
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        const char *now = renamed[i].now;
        if (strcmp(word, renamed[i].old) != 0 || find_long(parse->command, now, strcspn(now, " ")) == NULL) continue;
        snprintf(parse->message, parse->capacity, "'--%s' is now '--%s'", word, now);
        return true;
    }
    return false;
}

static bool unknown_long(const struct parse *parse, const char *name, size_t length) {
    char word[64];
    char shown[sizeof word + 2];
    const struct typed typed = {.name = name, .length = length};
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, name);
    snprintf(shown, sizeof shown, "--%s", word);
    if (name_renamed(parse, word) || name_owners(parse, &typed, shown)) return false;
    const char *near = length < sizeof word ? cli_suggest(word, long_name_at, parse->command) : NULL;
    int used = snprintf(parse->message, parse->capacity, "unknown option '%s'", shown);
    if (near != NULL && used > 0 && (size_t)used < parse->capacity)
        snprintf(parse->message + used, parse->capacity - (size_t)used, "; did you mean '--%s'?", near);
    return false;
}

static bool unknown_short(const struct parse *parse, char letter) {
    const char shown[] = {'-', letter, '\0'};
    const struct typed typed = {.letter = letter};
    if (!name_owners(parse, &typed, shown)) snprintf(parse->message, parse->capacity, "unknown option '%s'", shown);
    return false;
}

static bool take_value(struct parse *parse, const struct cli_option *option, const char *name) {
    if (parse->next >= parse->argc) {
        snprintf(parse->message, parse->capacity, "%s needs a value: %s %s", name, name, option->value);
        return false;
    }
    return store(parse, option, name, parse->argv[parse->next++]);
}

/* --name, --name=value, --name value; `text` is what follows the dashes. */
static bool parse_long(struct parse *parse, const char *text) {
    size_t length = strcspn(text, "=");
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    const struct cli_option *option = find_long(parse->command, text, length);
    if (option == NULL) return unknown_long(parse, text, length);
    char name[CLI_OPTION_NAME_SIZE];
    cli_option_name(option, name, sizeof name);
    if (option->kind == CLI_KIND_FLAG && value != NULL) {
        snprintf(parse->message, parse->capacity, "%s takes no value", name);
        return false;
    }
    if (option->kind == CLI_KIND_FLAG || value != NULL) return store(parse, option, name, value);
    return take_value(parse, option, name);
}

/* -q, -qh, -k10, -k 10; `text` is what follows the dash. */
static bool parse_short(struct parse *parse, const char *text) {
    for (; *text != '\0'; text++) {
        char name[3] = {'-', *text, '\0'};
        const struct cli_option *option = find_short(parse->command, *text);
        if (option == NULL) return unknown_short(parse, *text);
        if (option->kind == CLI_KIND_FLAG) {
            if (!store(parse, option, name, NULL)) return false;
            continue;
        }
        if (text[1] != '\0') return store(parse, option, name, text + 1);
        return take_value(parse, option, name);
    }
    return true;
}

bool cli_option_parse(const struct cli_command *command, int argc, char **argv, void *values, size_t *operand_count,
                      char *message, size_t capacity) {
    struct parse parse = {
        .command = command, .argc = argc, .argv = argv, .values = values, .message = message, .capacity = capacity};
    size_t operands = 0;
    bool options_ended = false;
    if (!store_initial(&parse)) return false;
    while (parse.next < argc) {
        char *argument = argv[parse.next++];
        if (options_ended || argument[0] != '-' || argument[1] == '\0') {
            argv[operands++] = argument; /* never past the argument just read */
        } else if (strcmp(argument, "--") == 0) {
            options_ended = true;
        } else if (argument[1] == '-') {
            if (!parse_long(&parse, argument + 2)) return false;
        } else if (!parse_short(&parse, argument + 1)) {
            return false;
        }
    }
    *operand_count = operands;
    return true;
}

void cli_option_release(const struct cli_command *command, void *values) {
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (option->kind == CLI_KIND_LIST) {
            struct cli_list *list = (struct cli_list *)(void *)((char *)values + option->place);
            free(list->items);
            *list = (struct cli_list){.items = NULL};
        }
    }
}
