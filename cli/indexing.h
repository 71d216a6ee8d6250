/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of nigh index: adding files of signatures, adding documents, lists and a graph of what was added. */
#ifndef NIGH_CLI_INDEXING_H
#define NIGH_CLI_INDEXING_H

#include "documents.h"

struct index_values {
    struct cli_common common;
    struct cli_reading reading;
    struct cli_signing signing;
    struct cli_number snippet;
    const char *threshold;
    const char *ids;
    const char *binarise;
    const char *keep_keys;
    int format;
    bool keep_weights;
    bool keep_masks;
    int lists;
    struct cli_number slice_width;
    bool graph, no_graph;
    bool columns, no_columns;
    bool no_merge;
    bool replace;
    bool no_tables;
    struct cli_number radius, blocks, leading, rotations;
};

enum { CLI_LISTS_AUTO, CLI_LISTS_SLICES, CLI_LISTS_TABLES, CLI_LISTS_SORTED, CLI_LISTS_NONE };
extern const char *const cli_list_names[];

struct indexer {
    struct cli_job *job;
    const struct index_values *values;
    const char *path;
    struct cli_inputs inputs;
    nigh_collection *before;     /* what was there; NULL: nothing */
    nigh_collection_info old;    /* and what it held */
    nigh_vocabulary *vocabulary; /* of documents, from a file */
    nigh_model *model;           /* the same, of learned signatures */
    nigh_thresholds *thresholds; /* of floats */
    nigh_writer *writer;         /* of signatures */
    uint32_t width_bits;         /* 0: not known yet */
    const char *width_holder;    /* the collection, or the input that told the width; NULL: the user */
    uint64_t repeated;           /* documents left out, their ids being there already */
    uint64_t changed;            /* others, whose ids are there with another text */
    nigh_index_result result;    /* of signatures its commit alone */
    uint64_t new_rows;           /* distinct signatures of the segment that what was added is in by now */
    bool documents;
    bool refused; /* it was said why */
};

/* CLI_DONE once it is committed, or the exit code after saying why not. */
int cli_index_signatures(struct indexer *indexer);
int cli_index_documents(struct indexer *indexer);

/* The thresholds by which floats become bits: those of the collection, or as --binarise says.  CLI_DONE or the exit
 * code; indexer->thresholds stays NULL where there are none. */
int cli_index_thresholds(struct indexer *indexer);

/* Whether what the user says of signing goes with what is there; says so where not. */
bool cli_index_scheme_fits(const struct indexer *indexer);

/* Asked before the commit, though lists come after it: what cannot be made should not be half done. */
int cli_index_check_slices(const struct indexer *indexer);

/*
 * Slice lists as --lists says, for a collection whose documents are committed and whose
 * writer is closed.  CLI_DONE, or the exit code.
 */
int cli_index_lists(const struct indexer *indexer);
/* Without an INPUT: gives lists to a collection that is there, or takes them away. */
int cli_index_lists_only(struct cli_job *job);

/* Whether the texts of a collection of that scheme ask in some of the bits only. */
bool cli_asks_in_some_bits(const char *scheme);
/* Columns as --columns and --no-columns say, for what is committed; CLI_DONE where neither is given. */
int cli_index_columns(struct cli_job *job, const char *path, bool added);
/* The same for what was just added, also where neither is given and it is large. */
int cli_index_columns_auto(const struct indexer *indexer);

/* Whether the options of tables go together. */
int cli_index_check_tables(const struct cli_job *job);
/* Tables as --lists and --no-tables say, for what is committed; CLI_DONE where neither asks for any. */
int cli_index_tables(struct cli_job *job, const char *path, bool added);
/* The same for what was just added, also where neither is given and it is large. */
int cli_index_tables_auto(const struct indexer *indexer);

/* Graphs as --graph and --no-graph say, for what is committed; CLI_DONE where neither is given. */
int cli_index_graph(struct cli_job *job, const char *path, bool added);

#endif
