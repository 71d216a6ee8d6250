/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares one row with many, in all bits or in those that count for it (kernel/weighted.h).
 * Used while a graph is made, and when a query begins.
 */
#ifndef NIGH_GRAPH_ROW_COMPARER_H
#define NIGH_GRAPH_ROW_COMPARER_H

#include "base/context.h"
#include "kernel/weighted.h"

struct nigh__row_comparer {
    const struct nigh__hamming *hamming;
    const struct nigh__weighted *weighted;
};

static inline struct nigh__row_comparer nigh__row_comparer_of(const nigh_context *context) {
    return (struct nigh__row_comparer){context->hamming, nigh__weighted_choose(context->hamming->name)};
}

/*
 * Rows lie one after the other, `words` each, as do the planes of the one; plane_count 0: every bit counts.  Returns
 * the smallest distance, UINT32_MAX of no rows.
 */
uint32_t nigh__compare_rows(const struct nigh__row_comparer *comparer, const struct nigh__asked *asked,
                            const uint64_t *rows, uint32_t count, uint32_t words, uint32_t *distances);

/* A row of many that may have masks, `masks` NULL where they have none. */
static inline struct nigh__asked nigh__row_asks(const uint64_t *rows, const uint64_t *masks, uint32_t words,
                                                uint32_t number) {
    const size_t place = (size_t)number * words;
    return (struct nigh__asked){rows + place, masks == NULL ? NULL : masks + place, masks == NULL ? 0 : 1};
}

#endif
