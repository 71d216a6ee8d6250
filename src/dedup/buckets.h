/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses, among documents that share the key of a band, the pairs that are worth comparing. buckets.c says how. */
#ifndef NIGH_DEDUP_BUCKETS_H
#define NIGH_DEDUP_BUCKETS_H

#include "dedup/candidates.h"

/* One thread's. */
struct nigh__buckets {
    const nigh_dedup *dedup;
    struct nigh__candidates *candidates;
    const struct nigh__gathered *gathered;
    const struct nigh__order *order;
    struct nigh__pair_queue deciding;
    struct nigh__pair_queue listed; /* used where all pairs are wanted */
    uint32_t radius;
    double least;               /* ratio of the numbers of features; 0: any will do for now */
    uint64_t most;              /* members that are all compared */
    uint32_t band;              /* at hand, */
    uint32_t key;               /* and the bucket's key in it */
    struct nigh__array members; /* of uint64_t, of the bucket at hand, filled by the caller */
    struct nigh__array rows;    /* of uint64_t, of some of the members, side by side */
    struct nigh__array leaders; /* of uint64_t */
    struct nigh__array distances;
    struct nigh__array words; /* of uint64_t, for sorting a crowd */
    struct nigh__array sizes; /* of uint64_t: of buckets that are to be listed, of more than `most` members */
    uint64_t truncated;       /* buckets over the budget */
};

nigh_status nigh__buckets_init(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                               pthread_mutex_t *lock, struct nigh__buckets *out, nigh_error *error);
void nigh__buckets_release(struct nigh__buckets *buckets);

/* Adds the pairs of the members that are near enough, and forgets the members. */
nigh_status nigh__buckets_compare(struct nigh__buckets *buckets, nigh_error *error);
/* Pairs of the members of all crowds within the budget, of each with at most `window` that follow it. */
uint64_t nigh__buckets_pairs(const struct nigh__buckets *buckets, uint64_t window);
/* Lists them for the bucket at hand, if it is such a crowd, and forgets the members. */
nigh_status nigh__buckets_list(struct nigh__buckets *buckets, uint64_t window, nigh_error *error);

/* After the last bucket. */
nigh_status nigh__buckets_finish(struct nigh__buckets *buckets, nigh_error *error);

#endif
