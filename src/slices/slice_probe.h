/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directed probes: which lists of which slices to look up, the likeliest first.
 *
 * How sure a query is of each of its bits tells where documents near it are likely to
 * differ. Let a bit of weight w differ with probability p[w]; then a row near the query
 * has exactly the bits of `mask` flipped in a slice with
 *
 *     product over the bits of the slice    p where the mask has the bit, 1 - p where not
 *
 * and minus its logarithm is the cost of a probe, in whole units (slices/bit_costs.h), so
 * that all machines agree:
 *
 *     cost = (sum of keep over the slice) + (sum of flip over the mask)
 *
 * where keep = -ln(1 - p) and flip = ln((1 - p) / p).  Probes of all slices stand in one
 * order: by cost, then slice, then mask.  A ball of Hamming distance takes all masks of
 * one bit before any of two, and as many of a slice it is sure of as of one it is not.
 */
#ifndef NIGH_SLICES_SLICE_PROBE_H
#define NIGH_SLICES_SLICE_PROBE_H

#include <stdbool.h>

#include "base/memory.h"
#include "slices/bit_costs.h"
#include "slices/slices.h"

/* A probe is one number, and the order of probes that of the numbers: cost (16 bits), slice (16), mask (32). */
static inline uint64_t nigh__probe(uint32_t cost, uint32_t slice, uint32_t mask) {
    return (uint64_t)cost << 48 | (uint64_t)slice << 32 | mask;
}
static inline uint32_t nigh__probe_cost(uint64_t probe) { return (uint32_t)(probe >> 48); }
static inline uint32_t nigh__probe_slice(uint64_t probe) { return (uint32_t)(probe >> 32) & 0xffff; }
static inline uint32_t nigh__probe_mask(uint64_t probe) { return (uint32_t)probe; }

/* A slice of a query: its bits, the cheapest to flip first, of equal ones the lower. */
struct nigh__probe_slice {
    uint32_t keep; /* the cost of no flip */
    uint32_t bits;
    uint16_t costs[NIGH_MAX_SLICE_WIDTH];
    uint32_t masks[NIGH_MAX_SLICE_WIDTH];
};

/* One slice of a query, of the weights of its bits. */
void nigh__probe_slice_init(struct nigh__probe_slice *slice, const struct nigh__bit_costs *costs,
                            const uint8_t *weights, uint32_t bits);

/*
 * Lazily, one after the other, by a heap: O(log) for each.  The definition, and what serves where very many cost the
 * same.
 */
struct nigh__probe_heap {
    const struct nigh__probe_slice *slices;
    struct nigh__array nodes; /* the caller's: released after use */
};

nigh_status nigh__probe_heap_begin(const nigh_context *context, struct nigh__probe_heap *heap,
                                   const struct nigh__probe_slice *slices, uint32_t count, nigh_error *error);
/* NIGH_END after the last of all. */
nigh_status nigh__probe_heap_next(const nigh_context *context, struct nigh__probe_heap *heap, uint64_t *probe,
                                  nigh_error *error);

/* All of at most a cost, by slice; so many of them, or `room` + 1 where they do not fit. */
size_t nigh__probe_all(const struct nigh__probe_slice *slices, uint32_t count, uint32_t cost, uint64_t *probes,
                       size_t room);

/* What choosing needs from one query to the next; all zero before the first.  Released by nigh__probe_chooser_free().
 */
struct nigh__probe_chooser {
    uint64_t *probes;
    size_t room;
    uint32_t *levels; /* by cost */
    uint32_t limit;   /* cost that was enough for the last; a guess, on which only the time depends */
    struct nigh__probe_heap heap;
};

/*
 * The first `wanted` of all, or all there are, ordered by slice: *out, *count of them, inside the chooser until the
 * next call.
 */
nigh_status nigh__probe_choose(const nigh_context *context, struct nigh__probe_chooser *chooser,
                               const struct nigh__probe_slice *slices, uint32_t count, size_t wanted,
                               const uint64_t **out, size_t *found, nigh_error *error);
void nigh__probe_chooser_free(const nigh_context *context, struct nigh__probe_chooser *chooser);

#endif
