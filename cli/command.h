/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command says about itself.  Each cmd_*.c defines one of these (the
 * internal ones share a file); main.c lists them.
 */
#ifndef NIGH_CLI_COMMAND_H
#define NIGH_CLI_COMMAND_H

#include "option.h"

struct cli_job; /* common.h */

/* A heading of the manual and its paragraphs. */
struct cli_section {
    const char *title;
    const char *const *paragraphs; /* NULL-terminated */
};

struct cli_example {
    const char *line; /* NULL ends the list */
    const char *what;
};

struct cli_command {
    const char *name;                         /* "search"; of one inside another both words: "terms search" */
    const char *summary;                      /* one line, lower-case, no full stop */
    const char *const *usage;                 /* what follows "nigh NAME"; NULL-terminated */
    const char *const *description;           /* paragraphs; NULL-terminated */
    const struct cli_section *const *details; /* for the manual only; NULL, or NULL-terminated */
    const struct cli_example *examples;
    const struct cli_option *options; /* NULL: none of its own */
    size_t values_size;               /* of the struct the options fill */
    bool internal;                    /* for the build and packagers: not listed, needs no library */
    int (*run)(struct cli_job *job);  /* returns the exit code */
    const char *part;                 /* of the library, without which it is left out; NULL: the core */

    /* A command of several: its own table is empty, and `run` is cli_subcommand_choose(). */
    const struct cli_command *const *subcommands; /* NULL: none; else NULL-terminated */
    const char *question;                         /* what the second word says: "what to measure" */
};

/* Fits the name of any command. */
#define CLI_COMMAND_NAME_SIZE 32

/* All commands this build has, the internal ones last; NULL past the end. */
const struct cli_command *cli_command_at(size_t index);

/* The part whose absence leaves out the command of this name; NULL: there is no such command, or it is there. */
const char *cli_command_part_left_out(const char *name);

/* Those inside a command; NULL past the end, and where there are none. */
const struct cli_command *cli_subcommand_at(const struct cli_command *command, size_t index);

/* NULL where there is none of this name. */
const struct cli_command *cli_command_find(const char *name);
const struct cli_command *cli_subcommand_find(const struct cli_command *command, const char *word);

/* The command of the first word: `eval` of `eval nearest`; of others the command itself. */
const struct cli_command *cli_command_family(const struct cli_command *command);

/* The last word of its name. */
const char *cli_command_word(const struct cli_command *command);

/* As manual pages and completions call it: "eval-nearest". */
void cli_command_file_name(const struct cli_command *command, char *name, size_t capacity);

/* "index, search, info or check", by their last words; `last` is " or ", and `quote` stands around each. */
void cli_command_list(const struct cli_command *const *list, size_t count, const char *quote, const char *last,
                      char *text, size_t capacity);

/* For wrong use: the second word is missing, or is none that the command has.  Return CLI_ERROR. */
int cli_subcommand_missing(const struct cli_command *command);
int cli_subcommand_unknown(const struct cli_command *command, const char *word);

/* Runs a command of several that got no subcommand: says which there are. */
int cli_subcommand_choose(struct cli_job *job);

extern const struct cli_command cmd_index;
extern const struct cli_command cmd_search;
extern const struct cli_command cmd_dedup;
extern const struct cli_command cmd_against;
extern const struct cli_command cmd_pairs;
extern const struct cli_command cmd_sign;
extern const struct cli_command cmd_train;
extern const struct cli_command cmd_terms;
extern const struct cli_command cmd_vocabulary;
extern const struct cli_command cmd_eval;
extern const struct cli_command cmd_plan;
extern const struct cli_command cmd_tune;
extern const struct cli_command cmd_info;
extern const struct cli_command cmd_merge;
extern const struct cli_command cmd_adopt;
extern const struct cli_command cmd_check;
extern const struct cli_command cmd_serve;
extern const struct cli_command cmd_export;
extern const struct cli_command cmd_delete;
extern const struct cli_command cmd_generate;
extern const struct cli_command cmd_manual;
extern const struct cli_command cmd_completion;
extern const struct cli_command cmd_commands;

#endif
