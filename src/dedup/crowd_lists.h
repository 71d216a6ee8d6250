/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crowds: buckets with too many documents to look at all pairs. Each crowd keeps a list of
 * its members that stay, in the order of their ranks, with their signatures side by side.
 * Later members are compared with these alone.
 *
 * How near one must be depends on its place in the list and on nothing else, so what is
 * found for a document does not depend on those that come after it:
 *
 *     place 0 to 199           within the radius, as in a bucket that is no crowd
 *     place 200 to the budget  within two thirds of it: as good as surely alike
 *     beyond                   not in the list; the crowd is counted as truncated
 */
#ifndef NIGH_DEDUP_CROWD_LISTS_H
#define NIGH_DEDUP_CROWD_LISTS_H

#include "base/memory.h"
#include "kernel/hamming.h"

/* A bucket of more members is a crowd. */
#define NIGH__CROWD_MEMBERS 200u

struct nigh__crowd_list {
    uint64_t taken;           /* places before those of the list: documents that were there before */
    struct nigh__array ranks; /* of uint64_t */
    struct nigh__array rows;  /* of uint64_t, row_words each */
    uint64_t settled;         /* so many were in the list when the wave began */
    bool full;                /* somebody was not let in */
};

/* Of the signatures of sets that are alike, 99 times in 100, so many bits differ at most; buckets.c says why. */
uint32_t nigh__crowd_find_radius(double threshold);

/* How near one at a place must be. */
static inline uint32_t nigh__crowd_radius(uint32_t radius, uint64_t place) {
    return place < NIGH__CROWD_MEMBERS ? radius : radius * 2 / 3;
}

struct nigh__crowd_lists {
    const nigh_context *context;
    struct nigh__crowd_list *lists;
    uint64_t count;
    uint32_t row_words;
    uint32_t radius;
    uint64_t budget;    /* places of a list */
    uint64_t truncated; /* lists that are full */
};

/* One for each number of `taken`, of uint64_t: the places of documents that were there before. */
nigh_status nigh__crowd_lists_init(const nigh_context *context, const struct nigh__array *taken, uint32_t row_words,
                                   uint32_t radius, uint64_t budget, struct nigh__crowd_lists *out, nigh_error *error);
void nigh__crowd_lists_release(struct nigh__crowd_lists *lists); /* accepts one of zeros */

/* The rank stays, and goes to the end of a list. */
nigh_status nigh__crowd_lists_add(struct nigh__crowd_lists *lists, uint64_t crowd, uint64_t rank, const uint64_t *row,
                                  nigh_error *error);

/* Appends to `found`, of uint64_t, the ranks at places [begin, end) that are near enough; `distances` has their room.
 */
nigh_status nigh__crowd_lists_find(const struct nigh__crowd_lists *lists, uint64_t crowd, const uint64_t *row,
                                   uint64_t begin, uint64_t end, struct nigh__array *distances,
                                   struct nigh__array *found, nigh_error *error);

#endif
