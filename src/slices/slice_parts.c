/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and masks for searching slice lists, and the bound that all ways of doing so
 * end with.
 *
 * Masks.  The lists a few bits from a query's are those of (value ^ mask) for all
 * masks of a few bits.  Rings of masks are made once for a width of slices and kept:
 * 137 masks for two of sixteen bits, 4 KB for three of eighteen.
 */
#include "slices/slice_parts.h"

#include "base/assert.h"
#include "base/status.h"
#include "collection/sidecar.h"

nigh_status nigh__slice_scratch_new(const nigh_context *context, struct nigh__slice_scratch **out, nigh_error *error) {
    *out = NULL;
    struct nigh__slice_scratch *scratch = nigh__alloc_zero(context, 1, sizeof *scratch);
    if (scratch == NULL) return nigh__no_memory(error, "to search slice lists with");
    scratch->context = context;
    scratch->best = (struct nigh__array)NIGH__ARRAY(uint64_t);
    scratch->wide = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh__nearest_init(&scratch->nearest, 0, 0);
    *out = scratch;
    return NIGH_OK;
}

void nigh__slice_scratch_free(struct nigh__slice_scratch *scratch) {
    if (scratch == NULL) return;
    const nigh_context *context = scratch->context;
    for (size_t bits = 0; bits <= NIGH_MAX_SLICE_WIDTH; bits++) nigh__free(context, scratch->masks[bits].masks);
    struct nigh__slice_room *const rooms[] = {&scratch->lists,        &scratch->slack,        &scratch->picked,
                                              &scratch->ordered,      &scratch->touched,      &scratch->touched_scores,
                                              &scratch->plain_scores, &scratch->plain_levels, &scratch->probe_slices,
                                              &scratch->worths};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) nigh__free(context, rooms[i]->data);
    nigh__array_release(context, &scratch->best);
    nigh__array_release(context, &scratch->wide);
    nigh__probe_chooser_free(context, &scratch->chooser);
    nigh__nearest_release(context, &scratch->nearest);
    nigh__free(context, scratch->scores);
    nigh__free(context, scratch);
}

void *nigh__slice_room(const nigh_context *context, struct nigh__slice_room *room, size_t count, size_t size,
                       nigh_error *error) {
    NIGH__ASSERT(size > 0);
    if (room->data != NULL && room->bytes / size >= count) return room->data;
    nigh__free(context, room->data);
    *room = (struct nigh__slice_room){0};
    count += count / 8; /* the next search may need a little more */
    room->data = nigh__alloc_large(context, count, size);
    if (room->data == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %zu candidates of a search", count);
        return NULL;
    }
    room->bytes = count * size;
    return room->data;
}

/* ---------------------------------------------------------------------- masks -- */

/* The next greater number with as many bits set (Gosper). */
static uint64_t next_combination(uint64_t x) {
    const uint64_t lowest = x & (~x + 1);
    const uint64_t ripple = x + lowest;
    return ripple | ((x ^ ripple) / lowest >> 2);
}

static size_t fill_ring(uint32_t *masks, size_t at, uint32_t bits, uint32_t ring) {
    if (ring == 0) {
        masks[at] = 0;
        return at + 1;
    }
    for (uint64_t mask = (UINT64_C(1) << ring) - 1; mask >> bits == 0; mask = next_combination(mask))
        masks[at++] = (uint32_t)mask;
    return at;
}

/* Exact: a product of d numbers is a multiple of d!. */
static uint64_t combinations(uint32_t bits, uint32_t chosen) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < chosen; i++) count = count * (bits - i) / (i + 1);
    return count;
}

const struct nigh__slice_masks *nigh__slice_masks_of(struct nigh__slice_scratch *scratch, uint32_t bits,
                                                     uint32_t breadth, nigh_error *error) {
    NIGH__ASSERT(bits >= 1 && bits <= NIGH_MAX_SLICE_WIDTH);
    struct nigh__slice_masks *masks = &scratch->masks[bits];
    if (breadth > bits) breadth = bits;
    if (masks->masks != NULL && masks->breadth >= breadth) return masks;
    nigh__free(scratch->context, masks->masks);
    *masks = (struct nigh__slice_masks){.breadth = breadth};
    size_t count = 0;
    for (uint32_t ring = 0; ring <= breadth; ring++) count += combinations(bits, ring);
    masks->masks = nigh__alloc(scratch->context, count, sizeof *masks->masks);
    if (masks->masks == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for the %zu lists near one of slices of %u bits", count, bits);
        return NULL;
    }
    size_t at = 0;
    for (uint32_t ring = 0; ring <= breadth; ring++) masks->ends[ring] = at = fill_ring(masks->masks, at, bits, ring);
    NIGH__ASSERT(at == count);
    return masks;
}

/* -------------------------------------------------------------------- estimate -- */

double nigh__slice_lists(const struct nigh__slicing *slicing, uint32_t slices, uint32_t breadth) {
    double lists = 0;
    for (uint32_t slice = 0; slice < slices; slice++) {
        const uint32_t bits = slicing->most_bits - (slice >= slicing->wide);
        for (uint32_t ring = 0; ring <= breadth && ring <= bits; ring++) lists += (double)combinations(bits, ring);
    }
    return lists;
}

double nigh__slice_postings(const struct nigh__slices *slices, uint32_t slice_count, uint32_t breadth) {
    double postings = 0;
    for (uint32_t slice = 0; slice < slice_count; slice++) {
        const uint32_t bits = slices->slicing.most_bits - (slice >= slices->slicing.wide);
        double lists = 0;
        for (uint32_t ring = 0; ring <= breadth && ring <= bits; ring++) lists += (double)combinations(bits, ring);
        postings += lists * slices->rows / (double)(UINT64_C(1) << bits);
    }
    return postings;
}

/* ---------------------------------------------------------------------- bounds -- */

uint32_t nigh__slice_below(const struct nigh__slice_query *query, uint32_t slack, uint32_t score, uint32_t kth) {
    uint32_t below = nigh__slice_optimistic(query, slack, score);
    if (query->admit < query->breadth) {
        const uint64_t admitted = (uint64_t)query->slices * (query->admit + 1);
        if (admitted < (uint64_t)below + slack) below = admitted < slack ? 0 : (uint32_t)(admitted - slack);
    }
    if (below > query->limit) below = query->limit;
    if (kth < below) below = kth + 1; /* beyond it nothing is an answer */
    NIGH__ASSERT(below <= query->limit);
    return below;
}

static nigh_status lie(const struct nigh__slices *slices, uint64_t index, const char *why, nigh_error *error) {
    if (slices->sidecar == NULL) return nigh__fail(error, NIGH_ECORRUPT, "slice lists: %s", why);
    return nigh__sidecar_corrupt(slices->sidecar, NIGH__SECTION_SLICE_LISTS, index, sizeof(uint32_t), why, error);
}

nigh_status nigh__slice_lies_start(const struct nigh__slices *slices, uint64_t index, nigh_error *error) {
    return lie(slices, index, "a list begins where none can", error);
}

nigh_status nigh__slice_lies_row(const struct nigh__slices *slices, const uint32_t *id, nigh_error *error) {
    return lie(slices, (uint64_t)(id - slices->numbers), "a list names a signature that is not there", error);
}

/* ------------------------------------------------------------------------ walk -- */

nigh_status nigh__slice_walk(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                             const struct nigh__slice_query *query, uint32_t ring, nigh__slice_visit *visit, void *user,
                             nigh_error *error) {
    for (uint32_t s = 0; s < query->slices; s++) {
        const struct nigh__slice slice = nigh__slicing_at(&slices->slicing, slices->rows, s);
        if (ring > slice.bits) continue;
        const struct nigh__slice_masks *masks = nigh__slice_masks_of(scratch, slice.bits, query->breadth, error);
        if (masks == NULL) return NIGH_ENOMEM;
        const uint32_t *starts = slices->numbers + slice.starts;
        const uint32_t *ids = starts + (UINT64_C(1) << slice.bits) + 1;
        const uint32_t value = nigh__slice_value(query->words, slice);
        for (size_t m = ring == 0 ? 0 : masks->ends[ring - 1]; m < masks->ends[ring]; m++) {
            const uint32_t near = value ^ masks->masks[m];
            const uint32_t first = starts[near];
            const uint32_t end = starts[near + 1];
            if (first > end || end > slices->rows) return nigh__slice_lies_start(slices, slice.starts + near, error);
            const struct nigh__slice_visited list = {
                .ids = ids + first, .length = end - first, .slice = s, .bits = slice.bits, .ring = ring};
            nigh_status status = visit(user, &list, error);
            if (status != NIGH_OK) return status;
        }
    }
    return NIGH_OK;
}
