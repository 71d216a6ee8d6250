/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak bits: which combinations of a query's bits are the likeliest to be flipped in
 * a near-copy, in exactly that order, one at a time.  weak.c has the order's proof.
 *
 * A bit costs what its weight says, a whole number, the same on every machine: of the
 * Gaussian model -ln(P / (1 - P)), P at most 1/2; of the paper's linear one -ln P.  A
 * combination costs the sum of its bits; the empty one costs nothing and comes first.
 * Of equal costs the smaller mask comes first.
 */
#ifndef NIGH_FINDER_WEAK_H
#define NIGH_FINDER_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

#define NIGH__MAX_PREFIX_BITS 32u
#define NIGH__MAX_PROBES 4096u
#define NIGH__MAX_WEAK_COST (UINT32_C(1) << 26) /* what nigh__weak_costs() gives is less */

/* costs[w]: of a bit of weight w, for signatures of so many bits.  The units are the model's own. */
void nigh__weak_costs(nigh_weak_model model, uint32_t width_bits, uint32_t costs[256]);

struct nigh__weak_state; /* see weak.c; kept apart so that a query allocates nothing */

/* Bytes of scratch for `probes` combinations of `bits` bits, at most `most` of them flipped. */
size_t nigh__weak_scratch(uint32_t bits, uint32_t most, uint32_t probes);

/*
 * Begins with the costs of `bits` bits (1 to NIGH__MAX_PREFIX_BITS), bit 0 the lowest
 * of a mask; any costs.  `scratch` is aligned to 16.
 */
struct nigh__weak_state *nigh__weak_begin(const uint32_t *bit_costs, uint32_t bits, uint32_t most, void *scratch,
                                          size_t scratch_bytes);
/* The next mask; false where there are no more combinations, or the scratch is used up. */
bool nigh__weak_next(struct nigh__weak_state *state, uint32_t *mask, uint64_t *cost);

/* The first `probes` of them at once; returns how many there are. */
size_t nigh__weak_list(const uint32_t *bit_costs, uint32_t bits, uint32_t most, uint32_t probes, uint32_t *masks,
                       void *scratch, size_t scratch_bytes);

/* ------------------------------------------------------------ few probes, fast */

#define NIGH__SHAPE_MAX_PROBES 64u
#define NIGH__SHAPE_MAX_STEPS 512u

/* Which combinations of ranks can be among the first, whatever the costs: prepared once for many queries. */
struct nigh__weak_shape {
    uint32_t bits;
    uint32_t probes; /* that there are, at most as many as asked for */
    uint32_t ranks;  /* of the weakest bits, that matter */
    uint32_t steps;
    uint16_t parent[NIGH__SHAPE_MAX_STEPS]; /* a step is an earlier one and one more bit; step 0 has none */
    uint8_t rank[NIGH__SHAPE_MAX_STEPS];
};

/* False where `probes` are more than NIGH__SHAPE_MAX_PROBES: then nigh__weak_next() it is. */
bool nigh__weak_shape_init(struct nigh__weak_shape *shape, uint32_t bits, uint32_t most, uint32_t probes);

/* The first `shape->probes` masks, the same and in the same order; costs below NIGH__MAX_WEAK_COST. */
void nigh__weak_shape_list(const struct nigh__weak_shape *shape, const uint32_t *bit_costs, uint32_t *masks);

#endif
