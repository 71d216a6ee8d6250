/* SPDX-License-Identifier: Apache-2.0 */
/* Joins: every pair of rows within a few bits of each other, among one set or between two. */
#ifndef NIGH_PUBLIC_JOIN_H
#define NIGH_PUBLIC_JOIN_H

#include "nigh/collection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pair of rows; of a self-join, first < second. */
typedef struct nigh_pair {
    uint64_t first;
    uint64_t second;
    uint32_t distance;
    uint32_t reserved;
} nigh_pair;

typedef struct nigh_join_options {
    size_t size;
    uint32_t width_bits; /* required if rows are given as bytes */
    uint32_t radius;
    /*
     * Beyond, sorting goes on in files; 0: half of what the machine has.  The largest bucket, some tens of bytes for
     * each of its rows, has to fit whatever this says.
     */
    uint64_t memory_bytes;
    const char *temporary; /* the folder for these; NULL: NIGH_ELIMIT instead */
    /*
     * About this many comparisons for one bucket at most; beyond, the result says `truncated`; 0: 1 << 34.  Where all
     * pairs are compared, because the rows are few or the radius is large, there are no buckets and no budget.
     */
    uint64_t bucket_budget;
    uint32_t copies;  /* among more equal rows than this many, only pairs with the first are given; 0: 1,000 */
    uint32_t threads; /* 0: one a core */
    /* Gets every pair, ordered by first, then second.  Non-zero ends the join with NIGH_ECANCELLED. */
    int (*pair)(void *user, const nigh_pair *pair);
    void *user;
    const nigh_progress *progress;
    /* NULL, or the documents of the (first) collection that count (nigh_filter_new()); of nigh_collection_join(). */
    const struct nigh_filter *filter;
} nigh_join_options;

NIGH_API void nigh_join_options_init(nigh_join_options *options);

typedef struct nigh_join_result {
    size_t size;
    uint64_t rows, distinct; /* of both sides together */
    uint64_t pairs;          /* given out */
    uint64_t copies_untold;  /* pairs with rows of crowds, equal or near, that were not given out one by one */
    uint64_t compared;
    uint64_t truncated;  /* buckets that were over the budget; 0: every pair is there */
    uint64_t disk_bytes; /* written to temporary files */
    uint32_t tables;     /* sorted one after the other; 0: all pairs were compared */
} nigh_join_result;

/*
 * Finds every pair within the radius: among `rows` if `others` is NULL, else
 * between the two (`first` of rows, `second` of others).  Exact; the same whatever
 * the threads and the memory.
 *
 * Threads: any; the pairs come on the calling thread.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_ELIMIT; NIGH_ENOMEM; NIGH_EIO of temporary
 *          files, which are gone afterwards in any case; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_join(nigh_context *context, const uint8_t *rows, uint64_t count, const uint8_t *others,
                               uint64_t other_count, const nigh_join_options *options, nigh_join_result *result,
                               nigh_error *error);

/* The same for the documents of a collection, by number, and for those of two of the same scheme. */
NIGH_API nigh_status nigh_collection_join(const nigh_collection *collection, const nigh_collection *other,
                                          const nigh_join_options *options, nigh_join_result *result,
                                          nigh_error *error);

#ifdef __cplusplus
}
#endif

#endif
