/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `nigh terms` share; cmd_terms.c has the options. */
#ifndef NIGH_CLI_TERM_COMMANDS_H
#define NIGH_CLI_TERM_COMMANDS_H

#include "documents.h"

enum terms_verb { TERMS_INDEX, TERMS_SEARCH, TERMS_INFO, TERMS_CHECK, TERMS_VERBS };

/* Of --output; auto is a table on a terminal, and otherwise what a pipe wants. */
enum terms_output { TERMS_AUTO, TERMS_IDS, TERMS_TABLE, TERMS_JSONL, TERMS_TSV };

struct terms_values {
    struct cli_common common;
    struct cli_reading reading; /* its limit is of documents read, or of documents found */
    struct cli_signing signing; /* language, stemming, stop words and seed of it */
    struct cli_number block;
    struct cli_number hashes;
    struct cli_number frequent_hashes;
    struct cli_number theta;
    const char *bits_per_term;
    const char *false_positives;
    const char *memory;
    const char *query_log; /* the FILE of --goal queries:FILE */
    const char *queries;
    int goal;   /* 0: by frequency, 1: uniform, 2: by a file of queries */
    int method; /* a nigh_filter_kind */
    int output;
    int format;
    bool verify;
};

/* Each returns an exit code; operands[1] is the term signature file. */
int cli_terms_index(struct cli_job *job);
int cli_terms_search(struct cli_job *job);
int cli_terms_info(struct cli_job *job);

/* What a term signature file holds, as `nigh terms info` and `nigh info` show it.  An exit code. */
int cli_terms_show(struct cli_job *job, const char *path, bool json);

/* As nigh_terms_open(), and says what it holds. */
nigh_status cli_terms_open(struct cli_job *job, const char *path, nigh_terms **out, nigh_terms_info *info);

/* "hybrid", also of what a newer version may have made. */
const char *cli_filter_name(nigh_filter_kind kind);

/* A share of errors as people read it: "0.0098", "below 0.000001"; a negative one is "not known". */
struct cli_error_share {
    char text[32];
};
struct cli_error_share cli_error_share(double share);

#endif
