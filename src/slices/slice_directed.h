/* SPDX-License-Identifier: Apache-2.0 */
/* Which lists a directed search reads: slice_directed.c.  Included by slices/slice_* alone. */
#ifndef NIGH_SLICES_SLICE_DIRECTED_H
#define NIGH_SLICES_SLICE_DIRECTED_H

#include "slices/slice_lists.h"

#define NIGH__DIRECTED_TOP 15u       /* the most that a list scores */
#define NIGH__DIRECTED_WORTHS 65536u /* a list is worth less than so many units */

#define NIGH__DIRECTED_LOOK_UP 2u /* postings that could be read instead of looking up a list */
#define NIGH__DIRECTED_ROOT 4u    /* of the length, which counts */

uint32_t nigh__slice_ln(uint32_t number);

/* Less is better. */
static inline uint32_t nigh__directed_worth(uint32_t cost, uint32_t length) {
    return cost + nigh__slice_ln(length + NIGH__DIRECTED_LOOK_UP) / NIGH__DIRECTED_ROOT;
}

static inline uint32_t nigh__directed_score(uint32_t rows, uint32_t worth) {
    const uint32_t all = nigh__slice_ln(rows);
    const uint32_t points = 1 + (worth < all ? (all - worth) / NIGH__FLIP_UNIT : 0);
    return points < NIGH__DIRECTED_TOP ? points : NIGH__DIRECTED_TOP;
}

/* As nigh__slice_lists_gather(), of a query with weights; the slack is all there is, so that nothing is proven. */
nigh_status nigh__slice_lists_direct(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                     const struct nigh__slice_query *query, struct nigh__slice_lists *out,
                                     nigh_error *error);

#endif
