/* SPDX-License-Identifier: Apache-2.0 */
/* The true nearest documents of some queries; truth.c has the file. */
#ifndef NIGH_SEARCH_TRUTH_H
#define NIGH_SEARCH_TRUTH_H

#include "base/memory.h"

struct nigh_eval_truth {
    const nigh_context *context;
    uint64_t key; /* of what it was made from */
    uint64_t queries;
    uint32_t k;
    uint32_t *counts;    /* of each query: k, or all that there are */
    nigh_match *matches; /* k of each query, unused ones zero */
};

/* What counts in the queries, as in nigh_search_options; of all of them, one after the other. */
struct nigh__truth_ranking {
    const uint8_t *masks, *weights;
    nigh_search_rank rank;
};

/* nigh_eval_truth_new() of queries that rank otherwise; its file could not tell, and it is not to be saved. */
nigh_status nigh__truth_make(const nigh_collection *collection, const uint8_t *queries, size_t count,
                             const nigh_eval_truth_options *options, const struct nigh__truth_ranking *ranking,
                             nigh_eval_truth **out, nigh_error *error);

/* Says whether a truth is of these. */
nigh_status nigh__truth_key(const nigh_collection *collection, const uint8_t *queries, size_t count,
                            const nigh_eval_truth_options *options, uint64_t *key, nigh_error *error);

/* The matches without the document `own`, at most k of them; how many there are. */
size_t nigh__without_own(const nigh_match *matches, size_t count, uint64_t own, uint32_t k, nigh_match *out);

/* The document that a query is, UINT64_MAX: none. */
static inline uint64_t nigh__own(const nigh_eval_truth_options *options, size_t query) {
    return options->own == NULL ? UINT64_MAX : options->own[query];
}

/*
 * CDR(k) of one query, as nigh.h has it, of the nearest there are and of what was found, in bits; where there are
 * fewer documents than ranks, the last ratio goes on.  DR and CDR of each rank are added to `dr` and `cdr` (NULL: no).
 */
double nigh__cdr(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count, uint32_t k,
                 uint32_t width_bits, double *dr, double *cdr);

/* The share of the nearest that was found, by distance: what is as near as the last of them counts. */
double nigh__recall(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count);

#endif
