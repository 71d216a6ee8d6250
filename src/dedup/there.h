/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of a collection, which come before all new ones and stay. there_find.c finds
 * which of them share a key with a new document, and there_verify.c which are alike; a new
 * document goes with the first that is.
 */
#ifndef NIGH_DEDUP_THERE_H
#define NIGH_DEDUP_THERE_H

#include "dedup/compare.h"

/* A bucket that has members in the collection, and with them is a crowd. */
struct nigh__there_bucket {
    uint64_t band_and_key; /* band << 32 | key */
    uint64_t members;      /* so many in the collection, up to the budget */
};

struct nigh__there {
    const nigh_collection *collection;
    struct nigh__sorter *pairs; /* of a document there and a rank; NULL: nothing is there */
    struct nigh__array buckets; /* of struct nigh__there_bucket, sorted */
    uint64_t truncated;         /* buckets with more members there than the budget */
};

/* NIGH_EMISMATCH where the collection does not keep what is needed. */
nigh_status nigh__there_check(const nigh_collection *collection, uint32_t bands, bool verify, nigh_error *error);

void nigh__there_release(const nigh_context *context, struct nigh__there *there); /* accepts one of zeros */

/* Fills `out`.  The bands of the new documents are gathered. */
nigh_status nigh__there_find(nigh_dedup *dedup, const struct nigh__gathered *gathered, const struct nigh__order *order,
                             uint32_t threads, struct nigh__there *out, nigh_error *error);

/* How many of a bucket's members are in the collection, where that matters; else 0. */
uint64_t nigh__there_members(const struct nigh__there *there, uint32_t band, uint32_t key);

/* Sets the bits of documents that have a pair with one there. */
nigh_status nigh__there_mark(struct nigh__there *there, const struct nigh__order *order, uint64_t *needed,
                             nigh_error *error);

/* Sets kept[rank] to NIGH__THERE and a number, for ranks that are alike to one there, and notes how alike. */
nigh_status nigh__there_verify(struct nigh__there *there, nigh_dedup *dedup, const struct nigh__pass_plan *plan,
                               const struct nigh__comparer *comparer, uint64_t *kept, nigh_error *error);

#endif
