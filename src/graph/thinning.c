/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/thinning.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/word_sort.h"
#include "graph/row_comparer.h"

#define NODES_AT_ONCE 512u
#define NEARER 11u        /* tenths: see thinning.h */
#define NEARER_MASKED 20u /* 16 and 24 make graphs of 0.8 and 1.2 times the size, and .01 less or more is found */
#define AHEAD 6u          /* rows that are fetched before they are needed */
#define LEADING 4u        /* edges that lead to a node, where it can be */
#define NEAREST 16u       /* neighbours that these may come from; with 8 ten times as many nodes had none */
#define NODES_A_TICK 4096u

/* What a thread works with. */
struct thinner {
    uint64_t *keys;    /* [most] distance above node, of those that may become edges */
    uint64_t *scratch; /* the same, to sort them */
    uint64_t *kept;    /* [degree + 1] rows */
    uint32_t *distances;
};

struct thinning {
    struct nigh__parallel *parallel;
    struct nigh__row_comparer comparer;
    const uint64_t *rows, *masks;
    uint32_t words, degree;
    uint64_t tenths; /* how much nearer another must be */
    struct nigh__neighbours *neighbours;
    struct thinner *thinners;
    _Atomic uint32_t *counts; /* [nodes] edges that lead to it */
    uint64_t *starts;         /* [nodes + 1] */
    uint64_t *turned;         /* keys, of the nodes that they come from */
    uint32_t *nearest;        /* [nodes * NEAREST] neighbours before they were thinned out; NULL: there are masks */
};

/* Keys ascend.  Those that stay become the row of the node. */
static void thin(const struct thinning *thinning, struct thinner *thinner, uint32_t node, const uint64_t *keys,
                 size_t count) {
    const size_t words = thinning->words;
    uint32_t *ids = nigh__neighbours_ids(thinning->neighbours, node);
    uint16_t *distances = nigh__neighbours_distances(thinning->neighbours, node);
    struct nigh__asked asked = nigh__row_asks(thinning->rows, thinning->masks, thinning->words, node);
    uint32_t kept = 0;
    for (size_t i = 0; i < count && kept < thinning->degree; i++) {
        const uint32_t other = (uint32_t)keys[i];
        const uint64_t distance = keys[i] >> 32;
        NIGH__ASSERT(other != node && (i == 0 || keys[i - 1] < keys[i]));
        uint64_t *row = thinner->kept + kept * words;
        if (i + AHEAD < count) {
            const uint64_t *next = thinning->rows + (uint32_t)keys[i + AHEAD] * words;
            __builtin_prefetch(next);
            __builtin_prefetch(next + 8);
        }
        memcpy(row, thinning->rows + other * words, words * sizeof *row);
        asked.query = row;
        const uint64_t nearest =
            nigh__compare_rows(&thinning->comparer, &asked, thinner->kept, kept, thinning->words, thinner->distances);
        if (thinning->tenths * nearest < 10 * distance) continue;
        ids[kept] = other;
        distances[kept++] = (uint16_t)distance;
    }
    for (; kept < thinning->neighbours->room; kept++) ids[kept] = NIGH__NOBODY;
}

/* Where all that a node was offered finds room. */
static void keep_all(const struct thinning *thinning, uint32_t node, const uint64_t *keys, size_t count) {
    uint32_t *ids = nigh__neighbours_ids(thinning->neighbours, node);
    uint16_t *distances = nigh__neighbours_distances(thinning->neighbours, node);
    NIGH__ASSERT(count <= thinning->neighbours->room);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (uint32_t)keys[i];
        distances[i] = (uint16_t)(keys[i] >> 32);
    }
    for (; count < thinning->neighbours->room; count++) ids[count] = NIGH__NOBODY;
}

/* What a row has, as keys. */
static size_t read_row(const struct thinning *thinning, uint32_t node, uint64_t *keys) {
    const uint32_t *ids = nigh__neighbours_ids(thinning->neighbours, node);
    const uint16_t *distances = nigh__neighbours_distances(thinning->neighbours, node);
    const uint32_t count = nigh__neighbours_count(thinning->neighbours, node);
    for (uint32_t i = 0; i < count; i++) keys[i] = (uint64_t)distances[i] << 32 | (ids[i] & ~NIGH__NEW);
    return count;
}

/* Edges of a node, as they lead to others. */
static void count_edges(const struct thinning *thinning, uint32_t node) {
    const uint32_t *ids = nigh__neighbours_ids(thinning->neighbours, node);
    for (uint32_t i = 0; i < thinning->neighbours->room && ids[i] != NIGH__NOBODY; i++)
        atomic_fetch_add_explicit(&thinning->counts[ids[i]], 1, memory_order_relaxed);
}

static void note_nearest(const struct thinning *thinning, uint32_t node, const uint64_t *keys, size_t count) {
    if (thinning->nearest == NULL) return;
    uint32_t *nearest = thinning->nearest + (size_t)node * NEAREST;
    for (size_t i = 0; i < NEAREST; i++) nearest[i] = i < count ? (uint32_t)keys[i] : NIGH__NOBODY;
}

static nigh_status thin_first(void *user, const struct nigh__items *items) {
    struct thinning *thinning = user;
    struct thinner *thinner = &thinning->thinners[items->thread];
    for (uint64_t node = items->first; node < items->end; node++) {
        const size_t count = read_row(thinning, (uint32_t)node, thinner->keys);
        note_nearest(thinning, (uint32_t)node, thinner->keys, count);
        thin(thinning, thinner, (uint32_t)node, thinner->keys, count);
        count_edges(thinning, (uint32_t)node);
    }
    (void)nigh__parallel_did(thinning->parallel, items->thread, items->end - items->first);
    return NIGH_OK;
}

/* Of a node to one that it has an edge to, as that one sees it. */
static uint32_t distance_back(const struct thinning *thinning, uint32_t node, uint32_t other, uint32_t distance) {
    const size_t words = thinning->words;
    if (thinning->masks == NULL) return distance;
    return thinning->comparer.weighted->one(thinning->rows + other * words, thinning->masks + other * words, 1,
                                            thinning->rows + node * words, words);
}

/* Filled from their ends, in whatever order. */
static nigh_status turn(void *user, const struct nigh__items *items) {
    struct thinning *thinning = user;
    for (uint64_t node = items->first; node < items->end; node++) {
        const uint32_t *ids = nigh__neighbours_ids(thinning->neighbours, (uint32_t)node);
        const uint16_t *distances = nigh__neighbours_distances(thinning->neighbours, (uint32_t)node);
        for (uint32_t i = 0; i < thinning->neighbours->room && ids[i] != NIGH__NOBODY; i++) {
            const uint32_t left = atomic_fetch_sub_explicit(&thinning->counts[ids[i]], 1, memory_order_relaxed);
            NIGH__ASSERT(left > 0);
            const uint64_t distance = distance_back(thinning, (uint32_t)node, ids[i], distances[i]);
            thinning->turned[thinning->starts[ids[i]] + left - 1] = distance << 32 | node;
        }
    }
    (void)nigh__parallel_did(thinning->parallel, items->thread, 0);
    return NIGH_OK;
}

static size_t drop_equal(uint64_t *keys, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
    return kept;
}

static nigh_status thin_again(void *user, const struct nigh__items *items) {
    struct thinning *thinning = user;
    struct thinner *thinner = &thinning->thinners[items->thread];
    bool go_on = true;
    for (uint64_t node = items->first; node < items->end && go_on; node++) {
        const uint64_t start = thinning->starts[node];
        const size_t turned = (size_t)(thinning->starts[node + 1] - start);
        size_t count = read_row(thinning, (uint32_t)node, thinner->keys);
        memcpy(thinner->keys + count, thinning->turned + start, turned * sizeof *thinner->keys);
        count += turned;
        uint64_t *sorted = nigh__words_sort(thinner->keys, thinner->scratch, count, 1, 1, 1);
        count = drop_equal(sorted, count);
        if (count <= thinning->degree)
            keep_all(thinning, (uint32_t)node, sorted, count);
        else
            thin(thinning, thinner, (uint32_t)node, sorted, count);
        count_edges(thinning, (uint32_t)node);
        if (turned > 4096) go_on = nigh__parallel_did(thinning->parallel, items->thread, 0);
    }
    (void)nigh__parallel_did(thinning->parallel, items->thread, items->end - items->first);
    return NIGH_OK;
}

/* --------------------------------------------------------------------- leading to all -- */

/* One edge more from a node that has room; false where it has none, or the edge already. */
static bool add_edge(const struct thinning *thinning, uint32_t node, uint32_t other) {
    uint32_t *ids = nigh__neighbours_ids(thinning->neighbours, node);
    const uint32_t count = nigh__neighbours_count(thinning->neighbours, node);
    if (count >= thinning->degree) return false;
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == other) return false;
    const struct nigh__asked asked = nigh__row_asks(thinning->rows, NULL, thinning->words, node);
    uint32_t distance;
    (void)nigh__compare_rows(&thinning->comparer, &asked, thinning->rows + (size_t)other * thinning->words, 1,
                             thinning->words, &distance);
    ids[count] = other;
    nigh__neighbours_distances(thinning->neighbours, node)[count] = (uint16_t)distance;
    return true;
}

/* One node after the other, for what leads to one takes room from those that come later. */
static nigh_status lead_to_all(const struct thinning *thinning) {
    for (uint32_t node = 0; thinning->nearest != NULL && node < thinning->neighbours->nodes; node++) {
        const uint32_t *nearest = thinning->nearest + (size_t)node * NEAREST;
        uint32_t leading = atomic_load_explicit(&thinning->counts[node], memory_order_relaxed);
        for (uint32_t i = 0; i < NEAREST && nearest[i] != NIGH__NOBODY && leading < LEADING; i++)
            leading += add_edge(thinning, nearest[i], node);
        if (node % NODES_A_TICK == NODES_A_TICK - 1 && !nigh__parallel_did(thinning->parallel, 0, 0))
            return NIGH_ECANCELLED;
    }
    return NIGH_OK;
}

/* ----------------------------------------------------------------------- the whole -- */

static bool thinners_make(struct thinning *thinning, size_t most) {
    const nigh_context *context = thinning->parallel->context;
    const size_t slots = (size_t)thinning->degree + 1;
    for (uint32_t t = 0; t < thinning->parallel->threads; t++) {
        struct thinner *thinner = &thinning->thinners[t];
        nigh__free(context, thinner->keys);
        nigh__free(context, thinner->scratch);
        thinner->keys = nigh__alloc(context, most, sizeof *thinner->keys);
        thinner->scratch = nigh__alloc(context, most, sizeof *thinner->scratch);
        if (thinner->kept == NULL)
            thinner->kept =
                nigh__alloc_aligned(context, slots * thinning->words, sizeof *thinner->kept, NIGH__CACHE_LINE);
        if (thinner->distances == NULL) thinner->distances = nigh__alloc(context, slots, sizeof *thinner->distances);
        if (thinner->keys == NULL || thinner->scratch == NULL || thinner->kept == NULL || thinner->distances == NULL)
            return false;
    }
    return true;
}

static bool thinning_allocate(struct thinning *thinning) {
    const nigh_context *context = thinning->parallel->context;
    const size_t nodes = thinning->neighbours->nodes;
    thinning->thinners = nigh__alloc_zero(context, thinning->parallel->threads, sizeof *thinning->thinners);
    thinning->counts = nigh__alloc_table(context, nodes, sizeof *thinning->counts);
    thinning->starts = nigh__alloc_large(context, nodes + 1, sizeof *thinning->starts);
    if (thinning->masks == NULL) thinning->nearest = nigh__alloc_large(context, nodes * NEAREST, sizeof(uint32_t));
    return thinning->thinners != NULL && thinning->counts != NULL && thinning->starts != NULL &&
           (thinning->nearest != NULL || thinning->masks != NULL) &&
           thinners_make(thinning, thinning->neighbours->room);
}

static void thinning_release(struct thinning *thinning) {
    const nigh_context *context = thinning->parallel->context;
    for (uint32_t t = 0; thinning->thinners != NULL && t < thinning->parallel->threads; t++) {
        nigh__free(context, thinning->thinners[t].keys);
        nigh__free(context, thinning->thinners[t].scratch);
        nigh__free(context, thinning->thinners[t].kept);
        nigh__free(context, thinning->thinners[t].distances);
    }
    nigh__free(context, thinning->thinners);
    nigh__free(context, thinning->counts);
    nigh__free(context, thinning->starts);
    nigh__free(context, thinning->turned);
    nigh__free(context, thinning->nearest);
}

/* Returns the most edges that lead to one node. */
static uint32_t counts_to_starts(struct thinning *thinning) {
    const uint32_t nodes = thinning->neighbours->nodes;
    uint64_t start = 0;
    uint32_t most = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        const uint32_t count = atomic_load_explicit(&thinning->counts[node], memory_order_relaxed);
        if (count > most) most = count;
        thinning->starts[node] = start;
        start += count;
    }
    thinning->starts[nodes] = start;
    return most;
}

static nigh_status thin_all(struct thinning *thinning) {
    const uint32_t nodes = thinning->neighbours->nodes;
    if (nigh__parallel_run(thinning->parallel, nodes, NODES_AT_ONCE, thin_first, thinning, NULL) != NIGH_OK)
        return NIGH_ECANCELLED;
    const size_t most = counts_to_starts(thinning);
    thinning->turned =
        nigh__alloc_large(thinning->parallel->context, (size_t)thinning->starts[nodes], sizeof *thinning->turned);
    if (thinning->turned == NULL || !thinners_make(thinning, thinning->neighbours->room + most)) return NIGH_ENOMEM;
    if (nigh__parallel_run(thinning->parallel, nodes, NODES_AT_ONCE, turn, thinning, NULL) != NIGH_OK)
        return NIGH_ECANCELLED;
    if (nigh__parallel_run(thinning->parallel, nodes, NODES_AT_ONCE, thin_again, thinning, NULL) != NIGH_OK)
        return NIGH_ECANCELLED;
    return lead_to_all(thinning);
}

uint64_t nigh__thinning_bytes(uint64_t nodes, uint32_t k) {
    return nodes * ((1 + NEAREST) * sizeof(uint32_t) + sizeof(uint64_t) + k / 3 * sizeof(uint64_t));
}

nigh_status nigh__thin(struct nigh__parallel *parallel, const uint64_t *rows, const uint64_t *masks, uint32_t words,
                       struct nigh__neighbours *neighbours, uint32_t degree) {
    struct thinning thinning = {.parallel = parallel,
                                .comparer = nigh__row_comparer_of(parallel->context),
                                .rows = rows,
                                .masks = masks,
                                .words = words,
                                .degree = degree,
                                .tenths = masks == NULL ? NEARER : NEARER_MASKED,
                                .neighbours = neighbours};
    nigh__parallel_stage(parallel, "thinning out", 2 * (uint64_t)neighbours->nodes);
    const nigh_status status = thinning_allocate(&thinning) ? thin_all(&thinning) : NIGH_ENOMEM;
    thinning_release(&thinning);
    return status;
}
