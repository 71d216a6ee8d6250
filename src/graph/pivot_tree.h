/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings near signatures together. Up to 32 of them, chosen at random, are pivots, and
 * each signature goes to the nearest pivot. The same is done with the signatures of each
 * pivot, until they are few: a leaf.
 *
 *     |---------------------- all ----------------------|
 *     |--- p0 ---|------- p1 -------|- p2 -|---- p3 ----|     ties: the first pivot
 *     |-|--|-----|---|----|---|-----|  ..
 *       leaves
 *
 * Two near signatures share a leaf with some luck; with several trees that have other
 * pivots, most of them do in one of the trees.
 *
 * Cost: 32 distances for each a level, and log32(n / leaf) levels where signatures
 * spread.  Where they do not (all as far from one another, a crowd around one point) the
 * largest part is hardly smaller than the whole; this may happen a few times on the way
 * down, then parts are cut evenly.  So there are never more than some 25 levels.
 */
#ifndef NIGH_GRAPH_PIVOT_TREE_H
#define NIGH_GRAPH_PIVOT_TREE_H

#include "base/parallel.h"

struct nigh__pivot_tree {
    struct nigh__parallel *parallel;
    const uint64_t *rows;
    const uint64_t *masks; /* or NULL: a row compares pivots in the bits that count for itself */
    uint32_t words;
    uint32_t count;
    uint32_t leaf_size; /* at most */
    uint64_t seed;      /* of this tree */
    uint32_t *ids;      /* [count] in the order of the tree then; before, anything that is the same each time */

    /* Each leaf, on some thread. */
    void *user;
    void (*leaf)(void *user, uint32_t thread, const uint32_t *ids, uint32_t count);
};

/* Memory for trees of up to so many, used one after the other. */
struct nigh__pivot_room;
struct nigh__pivot_room *nigh__pivot_room_new(const nigh_context *context, uint32_t count, uint32_t words,
                                              uint32_t threads);
void nigh__pivot_room_free(const nigh_context *context, struct nigh__pivot_room *room); /* accepts NULL */
uint64_t nigh__pivot_room_bytes(uint64_t count);

/* NIGH_OK, NIGH_ECANCELLED or NIGH_ENOMEM, without a detail. */
nigh_status nigh__pivot_tree_grow(const struct nigh__pivot_tree *tree, struct nigh__pivot_room *room);

#endif
