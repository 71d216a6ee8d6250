/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of signatures as the user names them: "-" is a standard stream, pipes
 * and devices are streamed, everything else is the library's to open.
 */
#ifndef NIGH_CLI_SOURCE_H
#define NIGH_CLI_SOURCE_H

#include "common.h"
#include "peek.h"

/* Values of a --format, in the order of nigh_signature_format. */
extern const char *const cli_write_formats[];

struct cli_source {
    const char *name; /* for messages */
    nigh_signature_reader *reader;
    nigh_signature_info info;
    nigh_thresholds *thresholds; /* those of the collection; owned */
};

struct cli_source_options {
    int format;          /* index of --format */
    uint32_t width_bits; /* 0: as the file says */
    const char *ids_path;
    struct cli_peek *peek;             /* what is read instead of the path; NULL: the path */
    const nigh_thresholds *thresholds; /* that make bits of floats; NULL: those of the collection */
    const nigh_collection *collection; /* for which it is read; NULL: none */
};

/* On failure job->error says why. */
nigh_status cli_source_open(struct cli_job *job, const char *path, const struct cli_source_options *options,
                            struct cli_source *out);
void cli_source_close(struct cli_source *source);

/* Says that standard input was named twice and returns false, or returns true. */
bool cli_source_paths_fit(const struct cli_job *job, size_t first_operand);

/* Signatures on their way out. */
struct cli_target {
    const char *name;
    nigh_signature_writer *writer;
    struct cli_sink *sink; /* owned unless standard output; NULL: the library opened the file */
    struct cli_mode mode;  /* of the file it replaces */
};

struct cli_target_options {
    int format;
    const char *format_option; /* what people call it; NULL: --format */
    uint32_t width_bits;
    uint64_t rows;
};

/* CLI_DONE, or the exit code after saying why not. */
int cli_target_open(struct cli_job *job, const char *path, const struct cli_target_options *options,
                    struct cli_target *out);

/* On failure job->error says why; to be closed either way. */
nigh_status cli_target_finish(struct cli_job *job, struct cli_target *target);
void cli_target_close(struct cli_job *job, struct cli_target *target);

#endif
