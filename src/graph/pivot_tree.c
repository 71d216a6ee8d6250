/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/pivot_tree.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/row_comparer.h"

#define PIVOTS 32u
#define BAD_SPLITS 6u      /* that a path down the tree may have */
#define DEEPEST 48u        /* of a path: each good split halves at least */
#define LARGE_ROWS 32768u  /* or this */
#define ROWS_AT_ONCE 4096u /* that a thread takes of a large part */
#define PARTS_A_THREAD 16u /* parts that are divided by one thread are at most as large as such a share */

struct part {
    uint32_t first, count;
    uint32_t bad; /* splits above it that hardly made parts smaller */
};

struct nigh__pivot_room {
    uint32_t *dealt;          /* [count] */
    uint8_t *labels;          /* [count] which pivot is nearest */
    uint64_t *pivots;         /* [threads][PIVOTS * words] */
    struct nigh__array parts; /* struct part: those that one thread each divides on */
};

struct splitter {
    const struct nigh__pivot_tree *tree;
    struct nigh__pivot_room *room;
    struct part part; /* the large one that threads divide together */
    uint32_t pivots;
};

struct nigh__pivot_room *nigh__pivot_room_new(const nigh_context *context, uint32_t count, uint32_t words,
                                              uint32_t threads) {
    struct nigh__pivot_room *room = nigh__alloc_zero(context, 1, sizeof *room);
    if (room == NULL) return NULL;
    room->parts = (struct nigh__array)NIGH__ARRAY(struct part);
    room->dealt = nigh__alloc_large(context, count, sizeof *room->dealt);
    room->labels = nigh__alloc_large(context, count, sizeof *room->labels);
    room->pivots =
        nigh__alloc_aligned(context, (size_t)threads * PIVOTS * words, sizeof *room->pivots, NIGH__CACHE_LINE);
    if (room->dealt != NULL && room->labels != NULL && room->pivots != NULL) return room;
    nigh__pivot_room_free(context, room);
    return NULL;
}

void nigh__pivot_room_free(const nigh_context *context, struct nigh__pivot_room *room) {
    if (room == NULL) return;
    nigh__array_release(context, &room->parts);
    nigh__free(context, room->pivots);
    nigh__free(context, room->labels);
    nigh__free(context, room->dealt);
    nigh__free(context, room);
}

uint64_t nigh__pivot_room_bytes(uint64_t count) { return count * (sizeof(uint32_t) + sizeof(uint8_t)); }

/* --------------------------------------------------------------- dividing a part -- */

static uint32_t pivots_of(const struct nigh__pivot_tree *tree, uint32_t count) {
    const uint32_t wanted = 2 * (count / tree->leaf_size) + 2;
    return wanted < PIVOTS ? wanted : PIVOTS;
}

/* Copied together.  They depend on the tree and the part alone. */
static void choose_pivots(const struct nigh__pivot_tree *tree, struct part part, uint32_t pivots, uint64_t *out) {
    const uint64_t place = nigh__mix(tree->seed ^ ((uint64_t)part.first << 32 | part.count));
    NIGH__ASSERT(part.count > 0 && pivots <= PIVOTS);
    for (uint32_t p = 0; p < pivots; p++) {
        const uint32_t id = tree->ids[part.first + nigh__mix(place + p) % part.count];
        memcpy(out + (size_t)p * tree->words, tree->rows + (size_t)id * tree->words, tree->words * sizeof *out);
    }
}

static void label(const struct nigh__pivot_tree *tree, const uint64_t *pivots, uint32_t count, uint32_t first,
                  uint32_t end, uint8_t *labels) {
    const struct nigh__row_comparer comparer = nigh__row_comparer_of(tree->parallel->context);
    for (uint32_t i = first; i < end; i++) {
        uint32_t distances[PIVOTS];
        const struct nigh__asked asked = nigh__row_asks(tree->rows, tree->masks, tree->words, tree->ids[i]);
        if (i + 8 < end) __builtin_prefetch(tree->rows + (size_t)tree->ids[i + 8] * tree->words);
        const uint32_t least = nigh__compare_rows(&comparer, &asked, pivots, count, tree->words, distances);
        uint32_t nearest = 0;
        while (distances[nearest] != least) nearest++;
        labels[i] = (uint8_t)nearest;
    }
}

/* To the parts their labels say, in order.  Returns the largest; ends[] tells where each part ends, within this. */
static uint32_t deal_out(const struct splitter *splitter, struct part part, uint32_t pivots, uint32_t *ends) {
    const uint8_t *labels = splitter->room->labels + part.first;
    uint32_t *ids = splitter->tree->ids + part.first;
    uint32_t *dealt = splitter->room->dealt + part.first;
    uint32_t start = 0;
    uint32_t largest = 0;
    memset(ends, 0, pivots * sizeof *ends);
    for (uint32_t i = 0; i < part.count; i++) ends[labels[i]]++;
    for (uint32_t p = 0; p < pivots; p++) {
        const uint32_t count = ends[p];
        if (count > largest) largest = count;
        ends[p] = start;
        start += count;
    }
    NIGH__ASSERT(start == part.count);
    for (uint32_t i = 0; i < part.count; i++) dealt[ends[labels[i]]++] = ids[i];
    memcpy(ids, dealt, part.count * sizeof *ids);
    return largest;
}

/* The parts of a part that was labelled; returns how many, 0: cut evenly. */
static uint32_t split(const struct splitter *splitter, struct part part, uint32_t pivots, struct part *out) {
    uint32_t ends[PIVOTS];
    uint32_t found = 0;
    uint32_t first = 0;
    const uint32_t largest = deal_out(splitter, part, pivots, ends);
    const uint32_t bad = part.bad + (largest > part.count / 2);
    if (bad > BAD_SPLITS) return 0;
    for (uint32_t p = 0; p < pivots; p++) {
        if (ends[p] > first) out[found++] = (struct part){part.first + first, ends[p] - first, bad};
        first = ends[p];
    }
    return found;
}

/* False where all shall stop. */
static bool give_leaf(const struct nigh__pivot_tree *tree, uint32_t thread, uint32_t first, uint32_t count) {
    if (tree->leaf != NULL) tree->leaf(tree->user, thread, tree->ids + first, count);
    return nigh__parallel_did(tree->parallel, thread, count);
}

static bool cut_evenly(const struct nigh__pivot_tree *tree, uint32_t thread, struct part part) {
    bool go_on = true;
    while (part.count > 0 && go_on) {
        const uint32_t count = part.count < tree->leaf_size ? part.count : tree->leaf_size;
        go_on = give_leaf(tree, thread, part.first, count);
        part.first += count;
        part.count -= count;
    }
    return go_on;
}

/* --------------------------------------------------------- parts of one thread each -- */

/* A part and all below it, depth first. */
static void divide(const struct splitter *splitter, uint32_t thread, struct part whole) {
    const struct nigh__pivot_tree *tree = splitter->tree;
    uint64_t *pivots = splitter->room->pivots + (size_t)thread * PIVOTS * tree->words;
    struct part waiting[DEEPEST * PIVOTS];
    uint32_t count = 1;
    bool go_on = true;
    waiting[0] = whole;
    while (count > 0 && go_on) {
        const struct part part = waiting[--count];
        if (part.count <= tree->leaf_size) {
            go_on = give_leaf(tree, thread, part.first, part.count);
            continue;
        }
        const uint32_t chosen = pivots_of(tree, part.count);
        choose_pivots(tree, part, chosen, pivots);
        label(tree, pivots, chosen, part.first, part.first + part.count, splitter->room->labels);
        const uint32_t parts = split(splitter, part, chosen, waiting + count);
        go_on = parts != 0 || cut_evenly(tree, thread, part);
        count += parts;
        NIGH__ASSERT(count <= DEEPEST * PIVOTS);
    }
}

static nigh_status divide_parts(void *user, const struct nigh__items *items) {
    const struct splitter *splitter = user;
    const struct part *parts = splitter->room->parts.data;
    for (uint64_t i = items->first; i < items->end; i++)
        if (parts[i].count > 0) divide(splitter, items->thread, parts[i]);
    return NIGH_OK;
}

/* -------------------------------------------------------- parts of all threads at once -- */

static nigh_status label_share(void *user, const struct nigh__items *items) {
    const struct splitter *splitter = user;
    const uint32_t start = splitter->part.first;
    label(splitter->tree, splitter->room->pivots, splitter->pivots, start + (uint32_t)items->first,
          start + (uint32_t)items->end, splitter->room->labels);
    (void)nigh__parallel_did(splitter->tree->parallel, items->thread, 0);
    return NIGH_OK;
}

/* The largest parts are labelled by all threads; what comes of them stands behind the others. */
static nigh_status divide_large(struct splitter *splitter, uint32_t large) {
    const struct nigh__pivot_tree *tree = splitter->tree;
    struct nigh__array *parts = &splitter->room->parts;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = (struct part *)parts->data + i;
        if (part->count <= large) continue;
        struct part found[PIVOTS];
        splitter->part = *part;
        splitter->pivots = pivots_of(tree, part->count);
        choose_pivots(tree, *part, splitter->pivots, splitter->room->pivots);
        if (nigh__parallel_run(tree->parallel, part->count, ROWS_AT_ONCE, label_share, splitter, NULL) != NIGH_OK)
            return NIGH_ECANCELLED;
        const uint32_t count = split(splitter, *part, splitter->pivots, found);
        if (count == 0) {
            if (!cut_evenly(tree, 0, *part)) return NIGH_ECANCELLED;
        } else {
            struct part *more = nigh__array_add(tree->parallel->context, parts, count);
            if (more == NULL) return NIGH_ENOMEM;
            memcpy(more, found, count * sizeof *more);
        }
        ((struct part *)parts->data)[i].count = 0; /* done */
    }
    return NIGH_OK;
}

nigh_status nigh__pivot_tree_grow(const struct nigh__pivot_tree *tree, struct nigh__pivot_room *room) {
    struct splitter splitter = {.tree = tree, .room = room};
    const uint32_t threads = tree->parallel->threads;
    uint32_t large = threads == 1 ? UINT32_MAX : tree->count / (threads * PARTS_A_THREAD);
    if (large < LARGE_ROWS) large = LARGE_ROWS;
    room->parts.count = 0;
    struct part *whole = nigh__array_add(tree->parallel->context, &room->parts, 1);
    if (whole == NULL) return NIGH_ENOMEM;
    *whole = (struct part){.count = tree->count};
    const nigh_status status = divide_large(&splitter, large);
    if (status != NIGH_OK) return status;
    return nigh__parallel_run(tree->parallel, room->parts.count, 1, divide_parts, &splitter, NULL);
}
