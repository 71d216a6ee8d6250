/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options a command, from which everything derives: parsing
 * (option.c), --help (help.c), the manual (manual.c) and what the shells
 * complete (completion.c).  An option is therefore described in one place and
 * cannot be accepted but not documented, or documented but not accepted.
 *
 * A value goes straight into the command's own struct, at `place`:
 *
 *     struct search_values { struct cli_common common; struct cli_number k; ... };
 *     CLI_NUMBER('k', NULL, offsetof(struct search_values, k), "N", 1, 1000, "10", "the N nearest documents"),
 */
#ifndef NIGH_CLI_OPTION_H
#define NIGH_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_kind {
    CLI_KIND_FLAG,   /* bool */
    CLI_KIND_TEXT,   /* const char *, NULL where not given */
    CLI_KIND_NUMBER, /* struct cli_number */
    CLI_KIND_CHOICE, /* int, an index into `choices` */
    CLI_KIND_LIST,   /* struct cli_list: may be given more than once */
};

struct cli_number {
    uint64_t value;
    bool given; /* false: the initial value, or 0 */
    bool drawn; /* "random" was given, for a value that stands as CLI_NUMBER_OR_RANDOM in help */
};

#define CLI_NUMBER_OR_RANDOM "N|random"

struct cli_list {
    const char **items;
    size_t count;
};

struct cli_option {
    char letter; /* 0: no short form */
    enum cli_kind kind;
    const char *name;    /* NULL: no long form; both missing: the end of the table */
    size_t place;        /* of the value in the command's struct */
    const char *value;   /* what stands for the value in help: "FILE" completes to files, "BYTES" has 1,024 to a K */
    const char *help;    /* lower-case, no full stop; choices and default are added to it */
    const char *initial; /* the default as one would type it; NULL: none */
    uint64_t min;        /* of a number */
    uint64_t max;
    const char *const *choices; /* NULL-terminated; `initial` is one of them; "name:" takes a file behind it */
    size_t file_place;          /* of a table with such a choice: of that file (const char *, else NULL) */
};

/* clang-format off */
/* Rows of a table: short name or 0, long name or NULL, place, what stands for the value, ... */
#define CLI_FLAG(short_name, long_name, where, text) \
    {.letter = (short_name), .name = (long_name), .kind = CLI_KIND_FLAG, .place = (where), .help = (text)}
#define CLI_TEXT(short_name, long_name, where, stands_for, text) \
    {.letter = (short_name), .name = (long_name), .kind = CLI_KIND_TEXT, .place = (where), .value = (stands_for), \
     .help = (text)}
#define CLI_LIST(short_name, long_name, where, stands_for, text) \
    {.letter = (short_name), .name = (long_name), .kind = CLI_KIND_LIST, .place = (where), .value = (stands_for), \
     .help = (text)}
#define CLI_NUMBER(short_name, long_name, where, stands_for, from, to, default_text, text) \
    {.letter = (short_name), .name = (long_name), .kind = CLI_KIND_NUMBER, .place = (where), .value = (stands_for), \
     .min = (from), .max = (to), .initial = (default_text), .help = (text)}
#define CLI_CHOICE(short_name, long_name, where, stands_for, names, default_text, text) \
    {.letter = (short_name), .name = (long_name), .kind = CLI_KIND_CHOICE, .place = (where), .value = (stands_for), \
     .choices = (names), .initial = (default_text), .help = (text)}
#define CLI_CHOICE_OR_FILE(short_name, long_name, where, file_where, stands_for, names, default_text, text) \
    {.letter = (short_name), .name = (long_name), .kind = CLI_KIND_CHOICE, .place = (where), .value = (stands_for), \
     .choices = (names), .initial = (default_text), .help = (text), .file_place = (file_where)}
#define CLI_END {.letter = 0}
/* clang-format on */

/* What every command takes; the first member of every command's struct. */
struct cli_common {
    struct cli_number threads;
    const char *stats;
    bool quiet;
    bool help;
    bool short_help;
};

#define CLI_MAX_THREADS 256

struct cli_command;

/* The options of a command, its own first, then the common ones; NULL past the last. */
const struct cli_option *cli_option_at(const struct cli_command *command, size_t index);

/* Whether a choice is "name:", with a file to follow. */
bool cli_choice_takes_file(const char *choice);

/* A whole number: digits, then nothing or one of K, M, G, T, each `step` times the one before it. */
bool cli_scaled(const char *text, uint64_t step, uint64_t *out);

/* Fits the longest name an option goes by. */
#define CLI_OPTION_NAME_SIZE 40

/* "--radius", or "-k" where there is no long form. */
void cli_option_name(const struct cli_option *option, char *buffer, size_t capacity);

/*
 * Reads argv[0..argc) into `values` (zeroed by the caller; its layout is the
 * table's) and moves the operands to the front of argv, *operand_count of them.
 * Returns false with a message for the user, which begins lower-case.
 */
bool cli_option_parse(const struct cli_command *command, int argc, char **argv, void *values, size_t *operand_count,
                      char *message, size_t capacity);

/* Frees what parsing allocated inside `values`. */
void cli_option_release(const struct cli_command *command, void *values);

#endif
