/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/grouping.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "kernel/hamming.h"

#define ROUNDS 2u
#define CENTRES_AT_ONCE 64u
#define GROUPS_AT_ONCE 512u /* sketches of so many stay in the first cache while some centres pass */

struct grouping {
    struct nigh__parallel *parallel;
    struct nigh__centres *centres;
    struct nigh__groups *groups;
    uint32_t *group_of; /* [centres] */
    uint32_t *members;  /* [centres] by group, ascending */
    uint32_t *ends;     /* [groups] */
};

/* ------------------------------------------------------------------------- assign -- */

static void assign_one(const struct grouping *grouping, uint64_t centre, uint32_t first, uint32_t count,
                       uint32_t *least) {
    const size_t words = grouping->centres->words;
    uint32_t distances[GROUPS_AT_ONCE];
    const uint32_t smallest =
        grouping->parallel->context->hamming->rows(grouping->centres->sketches + centre * words,
                                                   grouping->groups->sketches + first * words, count, words, distances);
    if (smallest >= *least) return;
    uint32_t group = 0;
    while (distances[group] != smallest) group++;
    *least = smallest;
    grouping->group_of[centre] = first + group;
}

static nigh_status assign_some(void *user, const struct nigh__items *items) {
    const struct grouping *grouping = user;
    const uint32_t groups = grouping->groups->count;
    uint32_t least[CENTRES_AT_ONCE];
    memset(least, 0xff, sizeof least);
    for (uint32_t group = 0; group < groups; group += GROUPS_AT_ONCE) {
        const uint32_t count = groups - group < GROUPS_AT_ONCE ? groups - group : GROUPS_AT_ONCE;
        for (uint64_t centre = items->first; centre < items->end; centre++)
            assign_one(grouping, centre, group, count, &least[centre - items->first]);
    }
    (void)nigh__parallel_did(grouping->parallel, items->thread, items->end - items->first);
    return NIGH_OK;
}

/* Where each group begins, and who is in it. */
static void gather(const struct grouping *grouping) {
    const uint32_t centres = grouping->centres->count;
    uint32_t *starts = grouping->groups->starts;
    memset(grouping->ends, 0, grouping->groups->count * sizeof *grouping->ends);
    for (uint32_t c = 0; c < centres; c++) grouping->ends[grouping->group_of[c]]++;
    starts[0] = 0;
    for (uint32_t g = 0; g < grouping->groups->count; g++) {
        starts[g + 1] = starts[g] + grouping->ends[g];
        grouping->ends[g] = starts[g];
    }
    NIGH__ASSERT(starts[grouping->groups->count] == centres);
    for (uint32_t c = 0; c < centres; c++) grouping->members[grouping->ends[grouping->group_of[c]]++] = c;
}

static bool assign(struct grouping *grouping) {
    if (nigh__parallel_run(grouping->parallel, grouping->centres->count, CENTRES_AT_ONCE, assign_some, grouping,
                           NULL) != NIGH_OK)
        return false;
    gather(grouping);
    return true;
}

/* ------------------------------------------------------------------------- middle -- */

static void find_middle(const struct grouping *grouping, uint32_t group) {
    const size_t words = grouping->centres->words;
    const uint32_t first = grouping->groups->starts[group];
    const uint32_t end = grouping->groups->starts[group + 1];
    uint64_t *sketch = grouping->groups->sketches + group * words;
    for (size_t w = 0; w < words; w++) {
        uint32_t set[64] = {0};
        for (uint32_t m = first; m < end; m++) {
            const uint64_t word = grouping->centres->sketches[grouping->members[m] * words + w];
            for (uint32_t bit = 0; bit < 64; bit++) set[bit] += (uint32_t)(word >> bit & 1);
        }
        for (uint32_t bit = 0; bit < 64; bit++) {
            const uint64_t mask = UINT64_C(1) << bit;
            if (2 * set[bit] > end - first) sketch[w] |= mask;
            if (2 * set[bit] < end - first) sketch[w] &= ~mask;
        }
    }
}

/* ---------------------------------------------------------------------- the whole -- */

/* Both of `centres` in the order of `members`. */
static bool put_in_order(const struct grouping *grouping) {
    struct nigh__centres *centres = grouping->centres;
    const nigh_context *context = grouping->parallel->context;
    const size_t words = centres->words;
    uint32_t *nodes = nigh__alloc_large(context, centres->count, sizeof *nodes);
    uint64_t *sketches = nigh__alloc_large(context, centres->count * words, sizeof *sketches);
    if (nodes == NULL || sketches == NULL) {
        nigh__free(context, nodes);
        nigh__free(context, sketches);
        return false;
    }
    for (uint32_t i = 0; i < centres->count; i++) {
        nodes[i] = centres->nodes[grouping->members[i]];
        memcpy(sketches + i * words, centres->sketches + grouping->members[i] * words, words * sizeof *sketches);
    }
    nigh__free(context, centres->nodes);
    nigh__free(context, centres->sketches);
    centres->nodes = nodes;
    centres->sketches = sketches;
    return true;
}

static nigh_status group(struct grouping *grouping) {
    const struct nigh__centres *centres = grouping->centres;
    const struct nigh__groups *groups = grouping->groups;
    const size_t words = centres->words;
    for (uint32_t g = 0; g < groups->count; g++)
        memcpy(groups->sketches + g * words,
               centres->sketches + (size_t)((uint64_t)g * centres->count / groups->count) * words,
               words * sizeof *groups->sketches);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (!assign(grouping)) return NIGH_ECANCELLED;
        for (uint32_t g = 0; g < groups->count; g++) find_middle(grouping, g);
    }
    if (!assign(grouping)) return NIGH_ECANCELLED;
    return put_in_order(grouping) ? NIGH_OK : NIGH_ENOMEM;
}

nigh_status nigh__groups_make(struct nigh__parallel *parallel, struct nigh__centres *centres,
                              struct nigh__groups *out) {
    const nigh_context *context = parallel->context;
    const uint32_t count = centres->count / NIGH__CENTRES_A_GROUP + 1;
    struct grouping grouping = {.parallel = parallel, .centres = centres, .groups = out};
    *out = (struct nigh__groups){.count = count};
    nigh__parallel_stage(parallel, "grouping", (uint64_t)(ROUNDS + 1) * centres->count);
    out->starts = nigh__alloc_large(context, (size_t)count + 1, sizeof *out->starts);
    out->sketches = nigh__alloc_large(context, (size_t)count * centres->words, sizeof *out->sketches);
    grouping.group_of = nigh__alloc_large(context, centres->count, sizeof *grouping.group_of);
    grouping.members = nigh__alloc_large(context, centres->count, sizeof *grouping.members);
    grouping.ends = nigh__alloc_large(context, count, sizeof *grouping.ends);
    const bool room = out->starts != NULL && out->sketches != NULL && grouping.group_of != NULL &&
                      grouping.members != NULL && grouping.ends != NULL;
    const nigh_status status = room ? group(&grouping) : NIGH_ENOMEM;
    nigh__free(context, grouping.group_of);
    nigh__free(context, grouping.members);
    nigh__free(context, grouping.ends);
    return status;
}

void nigh__groups_release(const nigh_context *context, struct nigh__groups *groups) {
    nigh__free(context, groups->starts);
    nigh__free(context, groups->sketches);
    *groups = (struct nigh__groups){0};
}
