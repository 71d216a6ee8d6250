/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/joining.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/word_sort.h"
#include "kernel/hamming.h"
#include "kernel/offers.h"

#define AHEAD 3u /* rows of neighbours that are fetched before they are needed */

static void joiner_release(const nigh_context *context, struct nigh__joiner *joiner) {
    nigh__free(context, joiner->nodes);
    nigh__free(context, joiner->keys);
    nigh__free(context, joiner->rows);
    nigh__free(context, joiner->masks);
    nigh__free(context, joiner->distances);
    nigh__free(context, joiner->back);
    nigh__free(context, joiner->nearer);
    nigh__free(context, joiner->limits);
    nigh__free(context, joiner->near);
    nigh__free(context, joiner->nodes_at);
    nigh__free(context, joiner->known);
    *joiner = (struct nigh__joiner){0};
}

static bool joiner_make_masks(const nigh_context *context, uint32_t words, struct nigh__joiner *joiner) {
    joiner->masks = nigh__alloc_aligned(context, (size_t)joiner->room * words, sizeof *joiner->masks, NIGH__CACHE_LINE);
    joiner->back = nigh__alloc(context, joiner->room, sizeof *joiner->back);
    joiner->nearer = nigh__alloc(context, joiner->room, sizeof *joiner->nearer);
    return joiner->masks != NULL && joiner->back != NULL && joiner->nearer != NULL;
}

static bool joiner_make(const nigh_context *context, uint32_t room, uint32_t words, struct nigh__joiner *joiner) {
    joiner_release(context, joiner);
    joiner->room = room;
    joiner->nodes = nigh__alloc(context, room, sizeof *joiner->nodes);
    joiner->keys = nigh__alloc(context, 2 * (size_t)room, sizeof *joiner->keys);
    joiner->rows = nigh__alloc_aligned(context, (size_t)room * words, sizeof *joiner->rows, NIGH__CACHE_LINE);
    joiner->distances = nigh__alloc(context, room, sizeof *joiner->distances);
    joiner->limits = nigh__alloc(context, room, sizeof *joiner->limits);
    joiner->near = nigh__alloc(context, (size_t)room + NIGH__OFFER_PADDING, sizeof *joiner->near);
    joiner->nodes_at = nigh__alloc(context, 64 * (size_t)words + 1, sizeof *joiner->nodes_at);
    joiner->known = nigh__alloc_zero(context, NIGH__JOINER_KNOWN, sizeof *joiner->known);
    if (joiner->nodes == NULL || joiner->keys == NULL || joiner->nodes_at == NULL) return false;
    return joiner->rows != NULL && joiner->distances != NULL && joiner->limits != NULL && joiner->near != NULL &&
           joiner->known != NULL;
}

bool nigh__joining_make(const nigh_context *context, const uint64_t *rows, const uint64_t *masks, uint32_t words,
                        struct nigh__neighbours *neighbours, uint32_t threads, struct nigh__joining *out) {
    *out = (struct nigh__joining){.context = context,
                                  .comparer = nigh__row_comparer_of(context),
                                  .rows = rows,
                                  .masks = masks,
                                  .words = words,
                                  .neighbours = neighbours,
                                  .threads = threads};
    out->joiners = nigh__alloc_zero(context, threads, sizeof *out->joiners);
    return out->joiners != NULL;
}

bool nigh__joining_room(struct nigh__joining *joining, uint32_t nodes) {
    for (uint32_t t = 0; t < joining->threads; t++) {
        if (joining->joiners[t].room >= nodes) continue;
        if (!joiner_make(joining->context, nodes, joining->words, &joining->joiners[t])) return false;
        if (joining->masks != NULL && !joiner_make_masks(joining->context, joining->words, &joining->joiners[t]))
            return false;
    }
    return true;
}

void nigh__joining_release(struct nigh__joining *joining) {
    for (uint32_t t = 0; joining->joiners != NULL && t < joining->threads; t++)
        joiner_release(joining->context, &joining->joiners[t]);
    nigh__free(joining->context, joining->joiners);
    joining->joiners = NULL;
}

/* -------------------------------------------------------------------------- first -- */

/* The distance that at least `wanted` of `count` (which are more) do not exceed, and fewer at any smaller one. */
static uint32_t find_limit(struct nigh__joiner *joiner, uint32_t words, uint32_t count, uint32_t wanted) {
    uint32_t *nodes_at = joiner->nodes_at;
    uint32_t limit = 0;
    memset(nodes_at, 0, (64 * (size_t)words + 1) * sizeof *nodes_at);
    for (uint32_t i = 0; i < count; i++) nodes_at[joiner->distances[i]]++;
    for (uint32_t seen = nodes_at[0]; seen < wanted; seen += nodes_at[limit]) limit++;
    return limit;
}

/* The nearest of all that were compared with node i become its row. */
static void fill_row(const struct nigh__joining *joining, struct nigh__joiner *joiner, const uint32_t *nodes,
                     uint32_t count, uint32_t i) {
    struct nigh__neighbours *neighbours = joining->neighbours;
    uint32_t *ids = nigh__neighbours_ids(neighbours, nodes[i]);
    uint16_t *distances = nigh__neighbours_distances(neighbours, nodes[i]);
    const uint32_t k = neighbours->k;
    const uint32_t limit = count - 1 > k ? find_limit(joiner, joining->words, count, k + 1) : UINT32_MAX;
    const size_t found =
        joining->context->offers->within(joiner->distances, joiner->limits, count, limit, joiner->near);
    size_t others = 0;
    for (size_t f = 0; f < found; f++) {
        const uint32_t j = joiner->near[f];
        joiner->keys[others] = (uint64_t)joiner->distances[j] << 32 | nodes[j];
        others += j != i;
    }
    const uint64_t *sorted = nigh__words_sort(joiner->keys, joiner->keys + joiner->room, others, 1, 1, 1);
    for (size_t n = 0; n < others && n < k && sorted[n] >> 32 <= UINT16_MAX; n++) {
        ids[n] = (uint32_t)sorted[n] | NIGH__NEW;
        distances[n] = (uint16_t)(sorted[n] >> 32);
    }
    atomic_store_explicit(&neighbours->limits[nodes[i]], distances[k - 1], memory_order_relaxed);
}

static void copy_node(const struct nigh__joining *joining, struct nigh__joiner *joiner, uint32_t i, uint32_t node) {
    const size_t words = joining->words;
    memcpy(joiner->rows + i * words, joining->rows + node * words, words * sizeof *joiner->rows);
    if (joining->masks != NULL)
        memcpy(joiner->masks + i * words, joining->masks + node * words, words * sizeof *joiner->masks);
}

void nigh__join_first(const struct nigh__joining *joining, uint32_t thread, const uint32_t *nodes, uint32_t count) {
    struct nigh__joiner *joiner = &joining->joiners[thread];
    NIGH__ASSERT(thread < joining->threads && count <= joiner->room);
    for (uint32_t i = 0; i < count; i++) copy_node(joining, joiner, i, nodes[i]);
    memset(joiner->limits, 0, count * sizeof *joiner->limits);
    for (uint32_t i = 0; i < count; i++) {
        const struct nigh__asked asked =
            nigh__row_asks(joiner->rows, joining->masks == NULL ? NULL : joiner->masks, joining->words, i);
        (void)nigh__compare_rows(&joining->comparer, &asked, joiner->rows, count, joining->words, joiner->distances);
        fill_row(joining, joiner, nodes, count, i);
    }
}

/* -------------------------------------------------------------------------- later -- */

/* Those whose rows reach farthest first, among the active ones. */
static void sort_active(const struct nigh__joining *joining, struct nigh__joiner *joiner, const uint32_t *nodes,
                        uint32_t active) {
    for (uint32_t i = 0; i < active; i++) {
        const uint32_t limit = nigh__neighbours_limit(joining->neighbours, nodes[i]);
        joiner->keys[i] = (uint64_t)(UINT16_MAX - limit) << 32 | nodes[i];
    }
    const uint64_t *sorted = nigh__words_sort(joiner->keys, joiner->keys + joiner->room, active, 1, 1, 1);
    for (uint32_t i = 0; i < active; i++) joiner->nodes[i] = (uint32_t)sorted[i];
}

static void gather(const struct nigh__joining *joining, struct nigh__joiner *joiner, const uint32_t *nodes,
                   uint32_t count, uint32_t active) {
    sort_active(joining, joiner, nodes, active);
    memcpy(joiner->nodes + active, nodes + active, (count - active) * sizeof *nodes);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = joiner->nodes[i];
        copy_node(joining, joiner, i, node);
        joiner->limits[i] = nigh__neighbours_limit(joining->neighbours, node);
    }
}

static uint64_t *known_slot(struct nigh__joiner *joiner, uint32_t node) {
    return &joiner->known[(node * UINT32_C(0x9e3779b1)) >> 22];
}

/* Where two neighbours share a slot the later one has it; the other is then offered once more, in vain. */
static void note_known(const struct nigh__joining *joining, struct nigh__joiner *joiner, uint32_t node) {
    struct nigh__neighbours *neighbours = joining->neighbours;
    const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    const uint64_t turn = ++joiner->turn << 32;
    nigh__neighbours_lock(neighbours, node);
    for (uint32_t i = 0; i < neighbours->k; i++) {
        const uint32_t other = ids[i] & ~NIGH__NEW;
        *known_slot(joiner, other) = turn | other;
    }
    nigh__neighbours_unlock(neighbours, node);
}

static size_t leave_out_known(struct nigh__joiner *joiner, const uint32_t *nodes, uint32_t node, size_t found) {
    const uint64_t turn = joiner->turn << 32;
    size_t left = 0;
    for (size_t f = 0; f < found; f++) {
        const uint32_t other = nodes[joiner->near[f]];
        joiner->near[left] = joiner->near[f];
        left += *known_slot(joiner, other) != (turn | other) && other != node;
    }
    return left;
}

/* The node that others were compared with, to those that are near enough, and they to it. */
static void offer_near(const struct nigh__joining *joining, struct nigh__joiner *joiner, uint32_t i, size_t found) {
    struct nigh__neighbours *neighbours = joining->neighbours;
    const uint32_t *nodes = joiner->nodes + i + 1; /* near[] has positions among those behind it */
    const uint32_t *distances = joiner->distances + i + 1;
    const uint32_t *back = joining->masks == NULL ? distances : joiner->back + i + 1;
    const uint32_t node = joiner->nodes[i];
    if (found == 0) return;
    note_known(joining, joiner, node);
    found = leave_out_known(joiner, nodes, node, found);
    for (size_t f = 0; f < found; f++) {
        const uint32_t j = joiner->near[f];
        const uint32_t other = nodes[j];
        if (f + AHEAD < found) nigh__neighbours_fetch(neighbours, nodes[joiner->near[f + AHEAD]]);
        if (nigh__neighbours_offer(neighbours, node, other, distances[j]) == NIGH__OFFER_KNOWN) continue;
        (void)nigh__neighbours_offer(neighbours, other, node, back[j]);
        joiner->limits[i + 1 + j] = nigh__neighbours_limit(neighbours, other);
    }
}

/* Those behind node i that one of the two would have. */
static size_t find_near(const struct nigh__joining *joining, struct nigh__joiner *joiner, uint32_t i, uint32_t count) {
    const size_t words = joining->words;
    const uint32_t first = i + 1;
    const uint64_t *row = joiner->rows + i * words;
    const uint32_t limit = nigh__neighbours_limit(joining->neighbours, joiner->nodes[i]);
    (void)joining->context->hamming->rows(row, joiner->rows + first * words, count - first, words,
                                          joiner->distances + first);
    return joining->context->offers->within(joiner->distances + first, joiner->limits + first, count - first, limit,
                                            joiner->near);
}

/* The same where each sees the other by its own mask. */
static size_t find_near_masked(const struct nigh__joining *joining, struct nigh__joiner *joiner, uint32_t i,
                               uint32_t count) {
    const size_t words = joining->words;
    const uint32_t limit = nigh__neighbours_limit(joining->neighbours, joiner->nodes[i]);
    const uint32_t first = i + 1;
    nigh__weighted_pairs(joining->comparer.weighted, joiner->rows + i * words, joiner->masks + i * words,
                         joiner->rows + first * words, joiner->masks + first * words, count - first, words,
                         joiner->distances + first, joiner->back + first);
    for (uint32_t j = first; j < count; j++) /* 0 where it is within the limit; without a branch */
        joiner->nearer[j] = joiner->back[j] & (0u - (uint32_t)(joiner->distances[j] > limit));
    return joining->context->offers->within(joiner->nearer + first, joiner->limits + first, count - first, 0,
                                            joiner->near);
}

void nigh__join(const struct nigh__joining *joining, uint32_t thread, const uint32_t *given, uint32_t count,
                uint32_t active) {
    struct nigh__joiner *joiner = &joining->joiners[thread];
    NIGH__ASSERT(active <= count && count <= joiner->room);
    gather(joining, joiner, given, count, active);
    for (uint32_t i = 0; i < active && i + 1 < count; i++) {
        if (i + 2 < active) nigh__neighbours_fetch(joining->neighbours, joiner->nodes[i + 2]);
        const size_t found =
            joining->masks == NULL ? find_near(joining, joiner, i, count) : find_near_masked(joining, joiner, i, count);
        offer_near(joining, joiner, i, found);
    }
}
