/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "graph/neighbours.h"

#include <sched.h>
#include <string.h>

#include "base/memory.h"

#define LOCKS 65536u /* nodes share them: a row is locked for some 50 ns */
#define SPINS 64u

bool nigh__neighbours_make(const nigh_context *context, uint32_t nodes, uint32_t k, uint32_t room, bool threads,
                           struct nigh__neighbours *out) {
    const size_t items = (size_t)nodes * room;
    *out = (struct nigh__neighbours){.nodes = nodes, .k = k, .room = room};
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
    return nodes * (room * (sizeof(uint32_t) + sizeof(uint16_t)) + sizeof(uint16_t));
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

/* How many of a row come before (distance, other), or are the same.  Halving without a branch: none could be guessed.
 */
static uint32_t place_of(const uint32_t *ids, const uint16_t *distances, uint32_t count, uint32_t other,
                         uint32_t distance) {
    uint32_t place = 0;
    uint32_t left = count;
    while (left > 1) {
        const uint32_t half = left / 2;
        place += half & (0u - (uint32_t)(distances[place + half - 1] <= distance));
        left -= half;
    }
    place += distances[place] <= distance;
    while (place > 0 && distances[place - 1] == distance && (ids[place - 1] & ~NIGH__NEW) > other) place--;
    return place;
}

static void insert(struct nigh__neighbours *neighbours, uint32_t node, uint32_t other, uint32_t distance) {
    uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    uint16_t *distances = nigh__neighbours_distances(neighbours, node);
    const uint32_t k = neighbours->k;
    const uint32_t place = place_of(ids, distances, k, other, distance);
    if (place == k) return;
    if (place > 0 && (ids[place - 1] & ~NIGH__NEW) == other) return; /* at the same distance, of course */
    memmove(ids + place + 1, ids + place, (k - place - 1) * sizeof *ids);
    memmove(distances + place + 1, distances + place, (k - place - 1) * sizeof *distances);
    ids[place] = other | NIGH__NEW;
    distances[place] = (uint16_t)distance;
    atomic_store_explicit(&neighbours->limits[node], distances[k - 1], memory_order_relaxed);
}

void nigh__neighbours_offer(struct nigh__neighbours *neighbours, uint32_t node, uint32_t other, uint32_t distance) {
    if (distance > nigh__neighbours_limit(neighbours, node)) return;
    nigh__neighbours_lock(neighbours, node);
    insert(neighbours, node, other, distance);
    nigh__neighbours_unlock(neighbours, node);
}
