/* SPDX-License-Identifier: Apache-2.0 */
/* What a search returns: the matches of all queries, one after the other. */
#ifndef NIGH_SCAN_RESULTS_H
#define NIGH_SCAN_RESULTS_H

#include <stdbool.h>

#include "base/memory.h"
#include "scan/ranking.h"

struct nigh_results {
    const nigh_context *context;
    struct nigh__array matches; /* of nigh_match */
    size_t *ends;               /* matches of query q end before ends[q] */
    size_t queries;
    size_t finished; /* queries whose matches are there */
    uint64_t distances;
    uint64_t probes;
    uint64_t truncated;
    uint64_t lists, postings, skipped_lists, exact_queries, scanned;
    uint64_t steps;
    bool exact;
    nigh_proof *proofs;              /* of each query; NULL: what `exact` says holds for each */
    struct nigh__ranking_sums *sums; /* of each query, with its proof */
    nigh_search_rank rank;           /* not NIGH_RANK_AUTO */
    uint64_t rows;                   /* that there were to find */
};

/* Results without matches for that many queries; NULL: out of memory. */
nigh_results *nigh__results_new(const nigh_context *context, size_t queries);

/* Adds the matches of the next query.  False: out of memory. */
bool nigh__results_add(nigh_results *results, const nigh_match *matches, size_t count);

/* Takes over the counts of other results and how they were ranked, but for proofs. */
void nigh__results_count(nigh_results *results, const nigh_results *other);

/* Room for a proof and the sums of each query, all zero.  False: out of memory. */
bool nigh__results_prove(nigh_results *results);

#endif
