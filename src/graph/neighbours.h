/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nearest of each node that are known so far.
 *
 *     node u    3 7   5 12   9 12   ...       (node, distance), K of them, nearest first,
 *               *      *                      ties by node; * is new: not yet looked at
 *                                             from, by the pass over neighbours' neighbours
 *
 * A row keeps the K smallest of all that it was offered.  That set does not depend on
 * the order of the offers, and one that was pushed out never comes back, for the others
 * are still smaller: so any number of threads may offer at once, a row locked for the
 * moment, and the rows come out the same.
 *
 * An offer costs a comparison with the K-th distance, which stands in an array of its
 * own that fits the cache; few go on to the row.
 */
#ifndef NIGH_GRAPH_NEIGHBOURS_H
#define NIGH_GRAPH_NEIGHBOURS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "kernel/offers.h"

#define NIGH__NEW NIGH__OFFER_MARK        /* beside a node */
#define NIGH__NOBODY UINT32_C(0x7fffffff) /* behind the last */

struct nigh__neighbours {
    uint32_t nodes;           /* fewer than NIGH__NOBODY */
    uint32_t k;               /* of each */
    uint32_t room;            /* of a row: at least k, and a multiple of NIGH__OFFER_LANES */
    uint32_t *ids;            /* [nodes * room] */
    uint16_t *distances;      /* the same */
    _Atomic uint16_t *limits; /* [nodes] of the k-th */
    atomic_flag *locks;       /* NULL: there is but one thread */
    const struct nigh__offers *offers;
};

bool nigh__neighbours_make(const nigh_context *context, uint32_t nodes, uint32_t k, uint32_t room, bool threads,
                           struct nigh__neighbours *out);
void nigh__neighbours_release(const nigh_context *context, struct nigh__neighbours *neighbours);
uint64_t nigh__neighbours_bytes(uint64_t nodes, uint32_t room);

static inline uint32_t *nigh__neighbours_ids(const struct nigh__neighbours *neighbours, uint32_t node) {
    return neighbours->ids + (size_t)node * neighbours->room;
}
static inline uint16_t *nigh__neighbours_distances(const struct nigh__neighbours *neighbours, uint32_t node) {
    return neighbours->distances + (size_t)node * neighbours->room;
}
static inline uint32_t nigh__neighbours_limit(const struct nigh__neighbours *neighbours, uint32_t node) {
    return atomic_load_explicit(&neighbours->limits[node], memory_order_relaxed);
}

static inline uint32_t nigh__neighbours_count(const struct nigh__neighbours *neighbours, uint32_t node) {
    const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    uint32_t count = 0;
    while (count < neighbours->room && (ids[count] & ~NIGH__NEW) != NIGH__NOBODY) count++;
    return count;
}

/* A row that is soon needed. */
static inline void nigh__neighbours_fetch(const struct nigh__neighbours *neighbours, uint32_t node) {
    const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    const uint16_t *distances = nigh__neighbours_distances(neighbours, node);
    for (uint32_t i = 0; i < neighbours->k; i += 16) __builtin_prefetch(ids + i);
    for (uint32_t i = 0; i < neighbours->k; i += 32) __builtin_prefetch(distances + i);
}

/* Around reading a row while others may be offered. */
void nigh__neighbours_lock(struct nigh__neighbours *neighbours, uint32_t node);
void nigh__neighbours_unlock(struct nigh__neighbours *neighbours, uint32_t node);

/* Offers what does not exceed the limit. */
enum nigh__offer_outcome nigh__neighbours_insist(struct nigh__neighbours *neighbours, uint32_t node, uint32_t other,
                                                 uint32_t distance);

/* To the row of `node`, that `other` is so far from it; not the node itself. */
static inline enum nigh__offer_outcome nigh__neighbours_offer(struct nigh__neighbours *neighbours, uint32_t node,
                                                              uint32_t other, uint32_t distance) {
    if (distance > nigh__neighbours_limit(neighbours, node)) return NIGH__OFFER_TOO_FAR;
    return nigh__neighbours_insist(neighbours, node, other, distance);
}

#endif
