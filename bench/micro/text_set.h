/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that ask, and the collection they ask: of the documents of some files one in so many
 * is held out, the others are indexed as `nigh index` does; or documents by Zipf's law, of
 * which the next after the last ask.
 */
#ifndef NIGH_BENCH_TEXT_SET_H
#define NIGH_BENCH_TEXT_SET_H

#include "nigh.h"

enum text_kind { TEXT_SHORT, TEXT_WHOLE, TEXT_KINDS }; /* some words of a document, or all */

/* Queries of one kind, signed. */
struct text_queries {
    size_t count;
    uint8_t *signatures, *masks, *weights; /* owned */
    double touched;                        /* bits of a query, mean */
};

struct text_set {
    const char *path;          /* of the collection */
    const char *const *inputs; /* files; none: by Zipf's law */
    size_t input_count;
    uint64_t documents; /* by Zipf's law */
    uint64_t every;     /* one in so many is held out */
    size_t most;        /* queries of a kind, at most */
    int graph;          /* non-zero: with a graph */

    char **texts; /* held out; owned */
    size_t text_count;
};

/* Makes the collection, with columns, where there is none, and reads what is held out. */
void text_set_make(struct text_set *set, nigh_context *context);
void text_set_release(struct text_set *set);

/* Signs what is held out as the documents of the collection were. */
void text_queries_make(struct text_queries *queries, const struct text_set *set, const nigh_collection *collection,
                       enum text_kind kind);
void text_queries_release(struct text_queries *queries);

#endif
