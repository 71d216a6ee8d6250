/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a row ring by ring, and how many rows each rule would compare.  Included by slices/slice_* alone. */
#ifndef NIGH_SLICES_SLICE_CULL_H
#define NIGH_SLICES_SLICE_CULL_H

#include "slices/slice_parts.h"
#include "slices/slice_search.h"

struct nigh__slice_known {
    uint32_t distance;    /* over the slices where it was seen, */
    uint32_t slices;      /* so many */
    uint32_t pessimistic; /* over all slices used */
    uint32_t actual;      /* the true distance, where rows are compared */
};

/* The least that its distance can be after a ring. */
static inline uint32_t nigh__slice_known_optimistic(const struct nigh__slice_known *known, uint32_t slices,
                                                    uint32_t ring) {
    return known->distance + (slices - known->slices) * (ring + 1);
}

/* Fills in by_pessimistic, by_distance and by_score of a ring whose pessimistic distance is there. */
nigh_status nigh__slice_cull(struct nigh__slice_scratch *scratch, const struct nigh__slice_query *query,
                             const struct nigh__slice_known *known, uint32_t rows, uint32_t ring,
                             struct nigh__slice_ring *out, nigh_error *error);

#endif
