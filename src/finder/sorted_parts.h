/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted tables as they lie in memory: sorted.c makes them, sorted_find.c searches them. */
#ifndef NIGH_FINDER_SORTED_PARTS_H
#define NIGH_FINDER_SORTED_PARTS_H

#include "finder/sorted.h"

#define NIGH__SORTED_INLINE_BITS 64u /* rows of this width are kept in the tables */
#define NIGH__MAX_ROTATIONS 3u

struct nigh__sorted_table {
    uint32_t first_bit; /* of the prefix; bits go round at the end of a row */
    const uint32_t *offsets;
    const uint64_t *rows;    /* NULL: not of 64 bits */
    const uint32_t *numbers; /* NULL: without */
    uint32_t *own;           /* the memory that these are in; NULL: somebody else's */
};

struct nigh__sorted {
    const nigh_context *context;
    struct nigh__lookup_rows rows; /* of 64 bits: without the words */
    uint32_t prefix_bits, probes, tables;
    bool with_numbers;
    struct nigh__sorted_layout layout;
    struct nigh__sorted_table table[NIGH__MAX_ROTATIONS];
    uint32_t costs[256]; /* of a bit by its weight */
};

/* `count` bits (1 to 32) of a row from `first` on, which do not reach past its end. */
static inline uint32_t nigh__row_bits(const uint64_t *row, uint32_t first, uint32_t count) {
    const uint32_t shift = first % 64;
    uint64_t bits = row[first / 64] >> shift;
    if (shift + count > 64) bits |= row[first / 64 + 1] << (64 - shift);
    return (uint32_t)(bits & ((UINT64_C(1) << count) - 1));
}

static inline uint32_t nigh__sorted_prefix(const struct nigh__sorted *sorted, const struct nigh__sorted_table *table,
                                           const uint64_t *row) {
    const uint32_t left = sorted->rows.width_bits - table->first_bit;
    if (left >= sorted->prefix_bits) return nigh__row_bits(row, table->first_bit, sorted->prefix_bits);
    return nigh__row_bits(row, table->first_bit, left) | nigh__row_bits(row, 0, sorted->prefix_bits - left) << left;
}

#endif
