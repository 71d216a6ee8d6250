/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the methods of a finder have in common: rows that they are made of, queries
 * that they get, hits that they give.  A method takes many queries at once, so that
 * the memory it needs for one can be on its way while it works on another.
 */
#ifndef NIGH_FINDER_LOOKUP_H
#define NIGH_FINDER_LOOKUP_H

#include "base/memory.h"
#include "kernel/hamming.h"

/* Distinct rows, one after the other, each `words` 64-bit words, the unused bits of the last 0. */
struct nigh__lookup_rows {
    const uint64_t *words_of_rows;
    uint32_t count;
    uint32_t words;
    uint32_t width_bits;
};

struct nigh__lookup {
    const uint64_t *queries; /* laid out as rows */
    const uint8_t *weights;  /* width_bits for each, or NULL */
    size_t count;
    uint32_t radius;
    bool any;         /* one hit for a query is enough */
    bool first;       /* of the hits of a query, only the one of the lowest row is kept */
    uint64_t budget;  /* rows compared for one look-up at most */
    size_t many_hits; /* with so many, the queries that are left are not begun; 0: no number is too many */
};

/* What a method found.  Each thread has its own. */
struct nigh__found {
    struct nigh__array hits; /* of struct nigh__hit: by query, in any order within one; a row may come repeatedly */
    size_t finished;         /* queries of the last lookup whose hits are there; of one query at least */
    uint64_t compared;       /* distances computed, of whatever part of a row */
    uint64_t probes;         /* buckets looked up */
    uint64_t truncated;      /* of them, with more rows than the budget */
};

static inline bool nigh__found_enough(const struct nigh__lookup *lookup, const struct nigh__found *found) {
    return lookup->many_hits != 0 && found->hits.count >= lookup->many_hits;
}

#endif
