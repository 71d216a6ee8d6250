/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of nigh index: adding files of signatures, and adding documents. */
#ifndef NIGH_CLI_INDEXING_H
#define NIGH_CLI_INDEXING_H

#include "documents.h"

struct index_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    struct cli_number snippet;
    const char *ids;
    int format;
    bool keep_weights;
};

struct indexer {
    struct cli_job *job;
    const struct index_values *values;
    const char *path;
    struct cli_inputs inputs;
    nigh_collection *before;     /* what was there; NULL: nothing */
    nigh_collection_info old;    /* and what it held */
    nigh_vocabulary *vocabulary; /* of documents; the writer needs it until it is closed */
    nigh_writer *writer;
    uint32_t width_bits;      /* 0: not known yet */
    const char *width_holder; /* the collection, or the input that told the width; NULL: the user */
    uint64_t added;
    uint64_t repeated;      /* documents left out, their ids being there already */
    nigh_signing_info info; /* of documents */
    bool documents;
    bool passages; /* of documents: each is cut into these */
};

/* CLI_DONE, or the exit code after saying why not.  What was added waits for the commit. */
int cli_index_signatures(struct indexer *indexer);
int cli_index_documents(struct indexer *indexer);

/* Whether what the user says of signing goes with what is there; says so where not. */
bool cli_index_scheme_fits(const struct indexer *indexer);

#endif
