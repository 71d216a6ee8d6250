/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of nigh against: cmd_against.c has the options and the order of the steps, against_chunks.c what is
 * different for a file of chunks, and against_output.c what is shown.
 */
#ifndef NIGH_CLI_AGAINST_OUTPUT_H
#define NIGH_CLI_AGAINST_OUTPUT_H

#include "documents.h"
#include "pending.h"

enum { AGAINST_JSONL, AGAINST_TSV }; /* of --output */

struct against_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    struct cli_number radius;
    struct cli_number blocks;
    struct cli_number leading;
    struct cli_number prefix;
    struct cli_number probes;
    struct cli_number rotations;
    struct cli_number snippet;
    struct cli_number max_matches;
    struct cli_number group;
    struct cli_number delay;
    struct cli_number log_size;
    const char *recall;
    const char *memory;
    const char *new_path;
    const char *records;
    const char *threshold;
    const char *temporary;
    const char *keep_keys;
    int method;
    int output;
    int find; /* by nigh_find_mode */
    int model;
    int format;
    int sync; /* by nigh_live_sync */
    bool stream;
    bool approximate;
    bool without_numbers;
    bool add;
    bool no_verify;
    bool fail_if_new;
    bool fail_if_found;
};

struct against {
    struct cli_job *job;
    const struct against_values *values;
    const char *path;
    nigh_against_options options;
    nigh_against *work;
    nigh_against_info info;    /* of it, as it is now */
    nigh_collection_info held; /* of a collection */
    nigh_scheme_kind scheme;   /* where there are texts */
    bool has_scheme;
    bool chunks;
    bool plans_new;            /* new_signer is how a collection will be signed that is not there yet */
    struct cli_keep_keys keep; /* of --keep-keys */
    struct cli_inputs inputs;
    struct cli_problems problems;
    nigh_text_reader *reader;    /* of documents */
    nigh_vocabulary *vocabulary; /* these three: of documents against chunks */
    nigh_model *model;
    nigh_signer *signer;
    nigh_signer_options new_signer; /* of a collection that is made */
    double threshold;
    struct cli_sink *records; /* -o, from its making to its end; NULL: it is not asked for */
    struct cli_sink *ids;     /* --new, the same */
    struct cli_pending pending;
};

/* How documents will be signed where there is no collection yet: new_signer, where plans_new says so. */
int cli_against_plan_new(struct against *against);

/* --keep-keys: `keep`, and whether it fits.  An exit code. */
int cli_against_keep_keys(struct against *against);

/* --add --stream: all of the command.  An exit code. */
int cli_against_stream(struct against *against);

/* CLI_DONE, or the exit code after saying that a radius does not fit, or must be given. */
int cli_against_check_radius(const struct against *against, uint32_t width_bits, uint32_t found);

/* Whether a path is, or by its name will be, a file of chunks. */
bool cli_against_is_chunks(const char *path);
/* CLI_DONE, or the exit code after saying why not. */
int cli_against_open_chunks(struct against *against);
/* What signs documents that are held against chunks: as these say, or as the options do.  job->error says why not. */
nigh_status cli_against_sign_chunks(struct against *against);

/* Brings `info` up to date. */
void cli_against_look(struct against *against);

/* The matches, in the order of the input; on failure job->error says why. */
nigh_status cli_against_print(const struct against *against);

/*
 * --new and -o, where they are asked for.  They get their names before anything is committed, as what nobody lists
 * nobody could find out later; pending.h says what a run after a killed one does.  CLI_DONE, or the exit code after
 * saying why not.
 */
int cli_against_open_lists(struct against *against);
int cli_against_write_lists(struct against *against);
void cli_against_end_lists(struct against *against); /* all is done */
void cli_against_release_lists(struct against *against);

/* The counts, and a line about them. */
void cli_against_summarise(struct against *against);

#endif
