/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_seeds.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "slices/slices.h"

#define SLICES 8u
#define LONGEST 512u /* of 64 and of 256, crowds were found less often: docs/lab/nearest.md */
#define MIN_BITS 4u
#define LIST_BITS 3u /* a list has 8 to 16 nodes on average, were bits fair coins */

struct sower {
    struct nigh__parallel *parallel;
    const uint64_t *rows;
    uint32_t nodes, words;
    const struct nigh__graph_facts *facts;
    uint32_t *counts; /* [lists] nodes that have the value */
    uint32_t *seen;   /* [lists] how many of them were looked at */
    uint32_t *starts; /* [lists + 1] */
    uint32_t *seeds;
};

static uint32_t floor_log2(uint64_t x) { return 63u - (uint32_t)__builtin_clzll(x | 1); }

void nigh__seeds_shape(uint64_t nodes, uint32_t width_bits, struct nigh__graph_facts *facts) {
    const uint32_t log = floor_log2(nodes);
    uint32_t bits = log > MIN_BITS + LIST_BITS ? log - LIST_BITS : MIN_BITS;
    if (bits > NIGH__GRAPH_MAX_SEED_BITS) bits = NIGH__GRAPH_MAX_SEED_BITS;
    if (bits > width_bits) bits = width_bits;
    facts->seed_bits = bits;
    facts->seed_slices = width_bits / bits < SLICES ? width_bits / bits : SLICES;
    while (facts->seed_slices > 1 && facts->seed_slices * nodes >= UINT32_MAX) facts->seed_slices--; /* to be counted */
    facts->seed_longest = LONGEST;
}

static uint64_t list_of(const struct sower *sower, uint64_t slice, uint64_t node) {
    const uint32_t bits = sower->facts->seed_bits;
    const struct nigh__slice cut = {.start = (uint32_t)slice * bits, .bits = bits};
    return slice << bits | nigh__slice_value(sower->rows + node * sower->words, cut);
}

static nigh_status count_slices(void *user, const struct nigh__items *items) {
    struct sower *sower = user;
    for (uint64_t slice = items->first; slice < items->end; slice++)
        for (uint64_t node = 0; node < sower->nodes; node++) sower->counts[list_of(sower, slice, node)]++;
    (void)nigh__parallel_did(sower->parallel, items->thread, (items->end - items->first) * sower->nodes);
    return NIGH_OK;
}

static uint32_t length_of(const struct sower *sower, uint64_t list) {
    const uint32_t longest = sower->facts->seed_longest;
    return sower->counts[list] < longest ? sower->counts[list] : longest;
}

/* Of more nodes than find room, evenly chosen ones: the first that falls to each place. */
static void put(const struct sower *sower, uint64_t list, uint32_t node) {
    const uint64_t number = sower->seen[list]++;
    const uint64_t count = sower->counts[list];
    const uint64_t length = length_of(sower, list);
    const uint64_t place = number * length / count;
    NIGH__ASSERT(number < count);
    if (number == 0 || place > (number - 1) * length / count) sower->seeds[sower->starts[list] + place] = node;
}

/* Slices have lists of their own, so that each is filled in order. */
static nigh_status fill_slices(void *user, const struct nigh__items *items) {
    struct sower *sower = user;
    for (uint64_t slice = items->first; slice < items->end; slice++)
        for (uint64_t node = 0; node < sower->nodes; node++) put(sower, list_of(sower, slice, node), (uint32_t)node);
    (void)nigh__parallel_did(sower->parallel, items->thread, (items->end - items->first) * sower->nodes);
    return NIGH_OK;
}

/* Less than 2^32 in all: so the shape was chosen. */
static void counts_to_starts(const struct sower *sower, uint64_t lists) {
    uint32_t start = 0;
    for (uint64_t list = 0; list < lists; list++) {
        sower->starts[list] = start;
        start += length_of(sower, list);
    }
    sower->starts[lists] = start;
}

static nigh_status sow(struct sower *sower, uint64_t *count) {
    const uint64_t lists = nigh__graph_seed_lists(sower->facts);
    const uint32_t slices = sower->facts->seed_slices;
    if (nigh__parallel_run(sower->parallel, slices, 1, count_slices, sower, NULL) != NIGH_OK) return NIGH_ECANCELLED;
    counts_to_starts(sower, lists);
    *count = sower->starts[lists];
    sower->seeds = nigh__alloc_large(sower->parallel->context, (size_t)*count, sizeof *sower->seeds);
    if (sower->seeds == NULL) return NIGH_ENOMEM;
    return nigh__parallel_run(sower->parallel, slices, 1, fill_slices, sower, NULL);
}

nigh_status nigh__seeds_make(struct nigh__parallel *parallel, const uint64_t *rows, uint32_t nodes, uint32_t words,
                             const struct nigh__graph_facts *facts, uint32_t **starts, uint32_t **seeds,
                             uint64_t *count) {
    struct sower sower = {.parallel = parallel, .rows = rows, .nodes = nodes, .words = words, .facts = facts};
    const size_t lists = (size_t)nigh__graph_seed_lists(facts);
    nigh__parallel_stage(parallel, "seeds", UINT64_C(2) * facts->seed_slices * nodes);
    sower.counts = nigh__alloc_table(parallel->context, lists, sizeof *sower.counts);
    sower.seen = nigh__alloc_table(parallel->context, lists, sizeof *sower.seen);
    sower.starts = nigh__alloc_large(parallel->context, lists + 1, sizeof *sower.starts);
    const bool ready = sower.counts != NULL && sower.seen != NULL && sower.starts != NULL;
    const nigh_status status = ready ? sow(&sower, count) : NIGH_ENOMEM;
    nigh__free(parallel->context, sower.counts);
    nigh__free(parallel->context, sower.seen);
    *starts = sower.starts;
    *seeds = sower.seeds;
    return status;
}
