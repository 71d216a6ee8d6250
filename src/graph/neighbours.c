/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "graph/neighbours.h"

#include <sched.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define LOCKS 65536u /* nodes share them: a row is locked for some 50 ns */
#define SPINS 64u

/* Of a row that has room for so many at least. */
static uint32_t row_items(uint32_t room) {
    return room + (NIGH__OFFER_LANES - room % NIGH__OFFER_LANES) % NIGH__OFFER_LANES;
}

bool nigh__neighbours_make(const nigh_context *context, uint32_t nodes, uint32_t k, uint32_t room, bool threads,
                           struct nigh__neighbours *out) {
    NIGH__ASSERT(nodes < NIGH__NOBODY && k > 0 && k <= room);
    const size_t items = (size_t)nodes * row_items(room);
    *out = (struct nigh__neighbours){.nodes = nodes, .k = k, .room = row_items(room), .offers = context->offers};
    out->ids = nigh__alloc_large(context, items, sizeof *out->ids);
    out->distances = nigh__alloc_large(context, items, sizeof *out->distances);
    out->limits = nigh__alloc_large(context, nodes, sizeof *out->limits);
    out->locks = threads ? nigh__alloc(context, LOCKS, sizeof *out->locks) : NULL;
    if (out->ids == NULL || out->distances == NULL || out->limits == NULL || (threads && out->locks == NULL))
        return false;
    for (size_t i = 0; i < items; i++) out->ids[i] = NIGH__NOBODY;
    memset(out->distances, 0xff, items * sizeof *out->distances);
    for (uint32_t node = 0; node < nodes; node++) atomic_init(&out->limits[node], UINT16_MAX);
    for (uint32_t lock = 0; threads && lock < LOCKS; lock++) atomic_flag_clear(&out->locks[lock]);
    return true;
}

void nigh__neighbours_release(const nigh_context *context, struct nigh__neighbours *neighbours) {
    nigh__free(context, neighbours->locks);
    nigh__free(context, neighbours->limits);
    nigh__free(context, neighbours->distances);
    nigh__free(context, neighbours->ids);
    *neighbours = (struct nigh__neighbours){0};
}

uint64_t nigh__neighbours_bytes(uint64_t nodes, uint32_t room) {
    return nodes * (row_items(room) * (sizeof(uint32_t) + sizeof(uint16_t)) + sizeof(uint16_t));
}

void nigh__neighbours_lock(struct nigh__neighbours *neighbours, uint32_t node) {
    if (neighbours->locks == NULL) return;
    atomic_flag *flag = &neighbours->locks[node % LOCKS];
    for (uint32_t spins = 0; atomic_flag_test_and_set_explicit(flag, memory_order_acquire); spins++)
        if (spins >= SPINS) (void)sched_yield();
}

void nigh__neighbours_unlock(struct nigh__neighbours *neighbours, uint32_t node) {
    if (neighbours->locks == NULL) return;
    atomic_flag_clear_explicit(&neighbours->locks[node % LOCKS], memory_order_release);
}

enum nigh__offer_outcome nigh__neighbours_insist(struct nigh__neighbours *neighbours, uint32_t node, uint32_t other,
                                                 uint32_t distance) {
    uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    uint16_t *distances = nigh__neighbours_distances(neighbours, node);
    const uint32_t k = neighbours->k;
    NIGH__ASSERT(node != other && node < neighbours->nodes && other < neighbours->nodes);
    nigh__neighbours_lock(neighbours, node);
    const enum nigh__offer_outcome outcome = neighbours->offers->offer(ids, distances, k, other, (uint16_t)distance);
    if (outcome == NIGH__OFFER_TAKEN)
        atomic_store_explicit(&neighbours->limits[node], distances[k - 1], memory_order_relaxed);
    nigh__neighbours_unlock(neighbours, node);
    return outcome;
}
