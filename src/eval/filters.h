/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of terms, measured.  All kinds get the same blocks, the same sample of them to count
 * errors over, and the same queries; what a kind has to be given (k, theta) is what
 * nigh__filter_choose() finds best for the m / n at hand.
 */
#ifndef NIGH_EVAL_FILTERS_H
#define NIGH_EVAL_FILTERS_H

#include "base/memory.h"
#include "base/progress.h"
#include "terms/positions.h"

#define NIGH__QUERY_LENGTHS 4u

struct nigh_eval_filters {
    const nigh_context *context;
    nigh_eval_filters_info info;
    struct nigh__array rows; /* of nigh_eval_filters_row: each kind over all ratios */
    size_t ratio_count;
    struct nigh__array svg; /* of char */
};

/* ------------------------------------------------------ filters_queries.c -- */

extern const uint32_t nigh__query_lengths[NIGH__QUERY_LENGTHS]; /* words: 1, 2, 3, 5 */

/* Queries, each of words that one block has; and how many blocks have all of them. */
struct nigh__filter_queries {
    const nigh_context *context;
    uint32_t count[NIGH__QUERY_LENGTHS]; /* 0: no block has so many words */
    uint32_t total;
    uint32_t *terms;       /* of all queries, one after the other */
    uint64_t *true_blocks; /* of each query */
    uint64_t *found;       /* room for an answer */
};

/* To be released, also after a failure. */
nigh_status nigh__filter_queries_draw(const struct nigh__blocks *blocks, uint32_t count, uint64_t seed,
                                      uint32_t threads, struct nigh__progress *progress,
                                      struct nigh__filter_queries *out, nigh_error *error);
void nigh__filter_queries_release(struct nigh__filter_queries *queries); /* accepts zeros */

/* Into the row: false blocks, precision; *seconds of making the filters of all blocks. */
nigh_status nigh__filter_queries_ask(struct nigh__filter_queries *queries, const struct nigh__blocks *blocks,
                                     const struct nigh__positions *positions, uint32_t threads,
                                     struct nigh__progress *progress, nigh_eval_filters_row *row, double *seconds,
                                     nigh_error *error);

/* -------------------------------------------------------- filters_bytes.c -- */

/*
 * A plain inverted index of the same blocks, exact to the bit: for each term a list of its blocks, as
 * gaps in the code of Rice.
 */
nigh_status nigh__inverted_bytes(const struct nigh__blocks *blocks, uint64_t *lists, uint64_t *dictionary,
                                 nigh_error *error);

/* -------------------------------------------------------- filters_bound.c -- */

/* Bits that a block has in the mean, for whoever knows the frequencies of words, and along a tree those of pairs. */
nigh_status nigh__filter_entropy(const struct nigh__blocks *blocks, double *words, double *pairs, nigh_error *error);
/* The least error of any filter of so many bits a word, where blocks have this entropy and so many of all terms. */
double nigh__filter_bound(double ratio, double entropy, double words, double terms);

/* The dictionary of a term signature file of one group (terms_format.h). */
uint64_t nigh__filter_dictionary_bytes(const struct nigh__positions *positions, uint32_t blocks);

#endif
