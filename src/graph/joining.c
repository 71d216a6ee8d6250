/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/joining.h"

#include <string.h>

#include "base/memory.h"
#include "base/word_sort.h"
#include "kernel/hamming.h"

#define AHEAD 3u /* rows of neighbours that are fetched before they are needed */

static void joiner_release(const nigh_context *context, struct nigh__joiner *joiner) {
    nigh__free(context, joiner->nodes);
    nigh__free(context, joiner->keys);
    nigh__free(context, joiner->rows);
    nigh__free(context, joiner->distances);
    nigh__free(context, joiner->limits);
    nigh__free(context, joiner->near);
    nigh__free(context, joiner->known);
    *joiner = (struct nigh__joiner){0};
}

static bool joiner_make(const nigh_context *context, uint32_t room, uint32_t words, struct nigh__joiner *joiner) {
    joiner_release(context, joiner);
    joiner->room = room;
    joiner->nodes = nigh__alloc(context, room, sizeof *joiner->nodes);
    joiner->keys = nigh__alloc(context, 2 * (size_t)room, sizeof *joiner->keys);
    joiner->rows = nigh__alloc_aligned(context, (size_t)room * words, sizeof *joiner->rows, NIGH__CACHE_LINE);
    joiner->distances = nigh__alloc(context, room, sizeof *joiner->distances);
    joiner->limits = nigh__alloc(context, room, sizeof *joiner->limits);
    joiner->near = nigh__alloc(context, room, sizeof *joiner->near);
    joiner->known = nigh__alloc_zero(context, NIGH__JOINER_KNOWN, sizeof *joiner->known);
    if (joiner->nodes == NULL || joiner->keys == NULL) return false;
    return joiner->rows != NULL && joiner->distances != NULL && joiner->limits != NULL && joiner->near != NULL &&
           joiner->known != NULL;
}

bool nigh__joining_make(const nigh_context *context, const uint64_t *rows, uint32_t words,
                        struct nigh__neighbours *neighbours, uint32_t threads, struct nigh__joining *out) {
    *out = (struct nigh__joining){
        .context = context, .rows = rows, .words = words, .neighbours = neighbours, .threads = threads};
    out->joiners = nigh__alloc_zero(context, threads, sizeof *out->joiners);
    return out->joiners != NULL;
}

bool nigh__joining_room(struct nigh__joining *joining, uint32_t nodes) {
    for (uint32_t t = 0; t < joining->threads; t++) {
        if (joining->joiners[t].room >= nodes) continue;
        if (!joiner_make(joining->context, nodes, joining->words, &joining->joiners[t])) return false;
    }
    return true;
}

void nigh__joining_release(struct nigh__joining *joining) {
    for (uint32_t t = 0; joining->joiners != NULL && t < joining->threads; t++)
        joiner_release(joining->context, &joining->joiners[t]);
    nigh__free(joining->context, joining->joiners);
    joining->joiners = NULL;
}

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
    const size_t words = joining->words;
    sort_active(joining, joiner, nodes, active);
    memcpy(joiner->nodes + active, nodes + active, (count - active) * sizeof *nodes);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = joiner->nodes[i];
        memcpy(joiner->rows + i * words, joining->rows + node * words, words * sizeof *joiner->rows);
        joiner->limits[i] = nigh__neighbours_limit(joining->neighbours, node);
    }
}

/* Which of those from `first` on are near enough for themselves, or for the one they are compared with. */
static uint32_t find_near(struct nigh__joiner *joiner, uint32_t first, uint32_t count, uint32_t limit) {
    uint32_t found = 0;
    for (uint32_t j = first; j < count; j++) {
        const uint32_t most = joiner->limits[j] > limit ? joiner->limits[j] : limit;
        joiner->near[found] = j;
        found += joiner->distances[j] <= most;
    }
    return found;
}

static uint64_t *known_slot(struct nigh__joiner *joiner, uint32_t node) {
    return &joiner->known[(node * UINT32_C(0x9e3779b1)) >> 22];
}

/* Where two neighbours share a slot the later one has it; the other is then offered once more, in vain. */
static void note_known(const struct nigh__joining *joining, struct nigh__joiner *joiner, uint32_t node) {
    struct nigh__neighbours *neighbours = joining->neighbours;
    const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    joiner->turn++;
    nigh__neighbours_lock(neighbours, node);
    for (uint32_t i = 0; i < neighbours->k; i++) {
        const uint32_t other = ids[i] & ~NIGH__NEW;
        *known_slot(joiner, other) = joiner->turn << 32 | other;
    }
    nigh__neighbours_unlock(neighbours, node);
}

/* The node that others were compared with, to those that are near enough, and they to it. */
static void offer_near(const struct nigh__joining *joining, struct nigh__joiner *joiner, const uint32_t *nodes,
                       uint32_t node, uint32_t found) {
    struct nigh__neighbours *neighbours = joining->neighbours;
    note_known(joining, joiner, node);
    for (uint32_t f = 0; f < found; f++) {
        const uint32_t j = joiner->near[f];
        const uint32_t other = nodes[j];
        if (f + AHEAD < found) nigh__neighbours_fetch(neighbours, nodes[joiner->near[f + AHEAD]]);
        if (*known_slot(joiner, other) == (joiner->turn << 32 | other) || other == node) continue;
        nigh__neighbours_offer(neighbours, node, other, joiner->distances[j]);
        nigh__neighbours_offer(neighbours, other, node, joiner->distances[j]);
        joiner->limits[j] = nigh__neighbours_limit(neighbours, other);
    }
}

void nigh__join(const struct nigh__joining *joining, uint32_t thread, const uint32_t *given, uint32_t count,
                uint32_t active) {
    struct nigh__joiner *joiner = &joining->joiners[thread];
    const struct nigh__hamming *hamming = joining->context->hamming;
    const size_t words = joining->words;
    gather(joining, joiner, given, count, active);
    const uint32_t *nodes = joiner->nodes;
    for (uint32_t i = 0; i < active && i + 1 < count; i++) {
        if (i + 2 < active) nigh__neighbours_fetch(joining->neighbours, nodes[i + 2]);
        (void)hamming->rows(joiner->rows + i * words, joiner->rows + (i + 1) * words, count - i - 1, words,
                            joiner->distances + i + 1);
        const uint32_t limit = nigh__neighbours_limit(joining->neighbours, nodes[i]);
        const uint32_t found = find_near(joiner, i + 1, count, limit);
        if (found > 0) offer_near(joining, joiner, nodes, nodes[i], found);
    }
}
