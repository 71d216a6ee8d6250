/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bench_terms asks, and of what: documents of the generator in a file, questions of three words
 * that a document has, and which documents truly have them.
 */
#ifndef NIGH_BENCH_TERMS_SET_H
#define NIGH_BENCH_TERMS_SET_H

#include "measure.h"
#include "zipf_text.h"

#define TERMS_WORDS 3u    /* of a question */
#define TERMS_COLUMNS 32u /* of an index of PostgreSQL, at most */

struct terms_query {
    uint32_t words[TERMS_WORDS];
    uint32_t *answers; /* documents, ascending; owned */
    size_t answer_count, capacity;
    uint64_t last; /* while truth is made: the document seen last, from 1, and how many words it had */
    uint32_t seen;
};

struct terms_set_options {
    uint64_t documents;
    uint32_t terms;   /* distinct words of a document; 0: one for each column, as a table would have them */
    bool peers;       /* write files for PostgreSQL too */
    uint64_t queries; /* so many questions */
    uint64_t seed;
    const char *folder;
};

struct terms_set {
    struct terms_set_options options;
    struct terms_query *queries;
    uint64_t text_bytes, postings;
    uint64_t table_rows; /* of bloom */
    double answers;      /* of a question, on average */
    char text_path[MEASURE_FOLDER + 32];
    char bloom_path[MEASURE_FOLDER + 32], gin_path[MEASURE_FOLDER + 32]; /* rows for COPY */
    char query_path[MEASURE_FOLDER + 32];                                /* "column:word ..." a line */
};

void terms_set_make(struct terms_set *set, const struct terms_set_options *options);
void terms_set_free(struct terms_set *set); /* with its files */

/* The words of a question, spelled. */
void terms_query_spell(const struct terms_query *query, char out[TERMS_WORDS * (ZIPF_SPELLED + 1)]);

#endif
