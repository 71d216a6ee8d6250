/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/centres.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "kernel/hamming.h"

#define MIN_NEW 8u  /* neighbours that are in no neighbourhood yet, to make one */
#define MEMBERS 15u /* that a row is of, the node itself and those nearest to it; odd, so that there is a majority */
#define PLANES 4u   /* bits of a count of them */
#define CENTRES_AT_ONCE 256u
#define NODES_A_TICK 4096u

_Static_assert(MEMBERS % 2 == 1 && MEMBERS < 1u << PLANES, "a count overflows into the last plane and no farther");

struct finder {
    struct nigh__parallel *parallel;
    const uint64_t *rows, *masks;
    uint32_t words;
    const struct nigh__neighbours *neighbours;
    struct nigh__centres *centres;
};

static uint32_t neighbour(const uint32_t *ids, uint32_t i) { return ids[i] & ~NIGH__NEW; }

/* -------------------------------------------------------------------------- cover -- */

static bool is_covered(const uint64_t *covered, uint32_t node) { return (covered[node / 64] >> node % 64 & 1) != 0; }

static void cover(uint64_t *covered, uint32_t node) { covered[node / 64] |= UINT64_C(1) << node % 64; }

/* One node after the other, for each depends on those before; no row of neighbours is read twice. */
static bool choose(const struct finder *finder, uint64_t *covered) {
    const struct nigh__neighbours *neighbours = finder->neighbours;
    struct nigh__centres *centres = finder->centres;
    for (uint32_t node = 0; node < neighbours->nodes; node++) {
        if (node % NODES_A_TICK == NODES_A_TICK - 1 && !nigh__parallel_did(finder->parallel, 0, NODES_A_TICK))
            return false;
        if (is_covered(covered, node)) continue;
        const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
        const uint32_t count = nigh__neighbours_count(neighbours, node);
        uint32_t uncovered = 0;
        for (uint32_t i = 0; i < count; i++) uncovered += !is_covered(covered, neighbour(ids, i));
        if (uncovered < MIN_NEW) continue;
        cover(covered, node);
        for (uint32_t i = 0; i < count; i++) cover(covered, neighbour(ids, i));
        centres->nodes[centres->count++] = node;
    }
    return true;
}

/* --------------------------------------------------------------------------- rows -- */

/*
 * The bits that most of an odd number of members have.  Counts of 64 bits at once, each of them written down the
 * planes; they start so high that the last plane is reached by a majority.
 */
static void majority(const struct finder *finder, const uint32_t *members, uint32_t count, uint64_t *row) {
    const uint32_t start = (1u << (PLANES - 1)) - (count + 1) / 2;
    NIGH__ASSERT(count % 2 == 1 && count <= MEMBERS);
    for (size_t w = 0; w < finder->words; w++) {
        uint64_t planes[PLANES];
        for (uint32_t p = 0; p < PLANES; p++) planes[p] = (start >> p & 1) != 0 ? UINT64_MAX : 0;
        for (uint32_t m = 0; m < count; m++) {
            uint64_t carry = finder->rows[(size_t)members[m] * finder->words + w];
            for (uint32_t p = 0; p < PLANES; p++) {
                const uint64_t overflow = planes[p] & carry;
                planes[p] ^= carry;
                carry = overflow;
            }
        }
        row[w] = planes[PLANES - 1];
    }
}

/*
 * The same where a member has a say only in the bits that count for it: those that more of these have set than not.
 * Without a say a bit stays clear, as in a signature.
 */
static void masked_majority(const struct finder *finder, const uint32_t *members, uint32_t count, uint64_t *row) {
    for (size_t w = 0; w < finder->words; w++) {
        int8_t votes[64] = {0};
        for (uint32_t m = 0; m < count; m++) {
            const size_t place = (size_t)members[m] * finder->words + w;
            for (uint64_t left = finder->masks[place]; left != 0; left &= left - 1) {
                const uint32_t bit = (uint32_t)__builtin_ctzll(left);
                votes[bit] = (int8_t)(votes[bit] + ((finder->rows[place] >> bit & 1) != 0 ? 1 : -1));
            }
        }
        row[w] = 0;
        for (uint32_t bit = 0; bit < 64; bit++) row[w] |= (uint64_t)(votes[bit] > 0) << bit;
    }
}

/* Of equally near ones the first. */
static uint32_t nearest_member(const struct finder *finder, const uint32_t *members, uint32_t count,
                               const uint64_t *row) {
    const struct nigh__hamming *hamming = finder->parallel->context->hamming;
    uint32_t nearest = members[0];
    uint32_t least = UINT32_MAX;
    for (uint32_t m = 0; m < count; m++) {
        const uint64_t *member = finder->rows + (size_t)members[m] * finder->words;
        const uint32_t distance =
            hamming->pair((const uint8_t *)member, (const uint8_t *)row, finder->words * sizeof *row);
        if (distance >= least) continue;
        least = distance;
        nearest = members[m];
    }
    return nearest;
}

static nigh_status make_rows(void *user, const struct nigh__items *items) {
    const struct finder *finder = user;
    const struct nigh__centres *centres = finder->centres;
    for (uint64_t c = items->first; c < items->end; c++) {
        const uint32_t *ids = nigh__neighbours_ids(finder->neighbours, centres->nodes[c]);
        uint64_t row[NIGH_MAX_WIDTH_BITS / 64];
        uint32_t members[MEMBERS] = {centres->nodes[c]};
        const uint32_t known = nigh__neighbours_count(finder->neighbours, centres->nodes[c]);
        uint32_t count = 1;
        for (; count < MEMBERS && count <= known; count++) members[count] = neighbour(ids, count - 1);
        count -= count % 2 == 0;
        if (finder->masks == NULL)
            majority(finder, members, count, row);
        else
            masked_majority(finder, members, count, row);
        centres->nodes[c] = nearest_member(finder, members, count, row);
        memcpy(centres->sketches + c * centres->words, row, centres->words * sizeof *row);
    }
    /* The bar is of nodes, and this takes little beside them. */
    (void)nigh__parallel_did(finder->parallel, items->thread, 0);
    return NIGH_OK;
}

/* ---------------------------------------------------------------------- the whole -- */

static nigh_status find(struct finder *finder, uint64_t *covered) {
    struct nigh__centres *centres = finder->centres;
    const nigh_context *context = finder->parallel->context;
    if (!choose(finder, covered)) return NIGH_ECANCELLED;
    if (centres->count == 0) return NIGH_OK;
    centres->sketches = nigh__alloc_large(context, (size_t)centres->count * centres->words, sizeof *centres->sketches);
    if (centres->sketches == NULL) return NIGH_ENOMEM;
    return nigh__parallel_run(finder->parallel, centres->count, CENTRES_AT_ONCE, make_rows, finder, NULL);
}

nigh_status nigh__centres_find(struct nigh__parallel *parallel, const uint64_t *rows, const uint64_t *masks,
                               uint32_t words, const struct nigh__neighbours *neighbours, struct nigh__centres *out) {
    struct finder finder = {
        .parallel = parallel, .rows = rows, .masks = masks, .words = words, .neighbours = neighbours, .centres = out};
    const uint32_t nodes = neighbours->nodes;
    *out = (struct nigh__centres){.words = nigh__centre_words(words)};
    nigh__parallel_stage(parallel, "centres", nodes);
    uint64_t *covered = nigh__alloc_zero(parallel->context, (size_t)nodes / 64 + 1, sizeof *covered);
    out->nodes = nigh__alloc(parallel->context, (size_t)nodes / (MIN_NEW + 1) + 1, sizeof *out->nodes);
    const nigh_status status = covered != NULL && out->nodes != NULL ? find(&finder, covered) : NIGH_ENOMEM;
    nigh__free(parallel->context, covered);
    return status;
}

void nigh__centres_release(const nigh_context *context, struct nigh__centres *centres) {
    nigh__free(context, centres->nodes);
    nigh__free(context, centres->sketches);
    *centres = (struct nigh__centres){0};
}
