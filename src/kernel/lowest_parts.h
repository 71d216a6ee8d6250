/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of lowest.h that there are, and what they share.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_LOWEST_PARTS_H
#define NIGH_KERNEL_LOWEST_PARTS_H

#include "kernel/lowest.h"

#if defined(__x86_64__)
extern const struct nigh__lowest nigh__lowest_avx512;
extern const struct nigh__lowest nigh__lowest_avx2;
#endif

#define NIGH__LOWEST_AHEAD 12u /* rows from one that is lowered to the one that is asked for */

/* Asks for row number `at` of them, where there is one. */
static inline void nigh__lowest_ask(const uint64_t *table, size_t width, const uint32_t *rows, size_t count,
                                    size_t at) {
    if (at >= count) return;
    const uint64_t *row = table + rows[at] * width;
    for (size_t j = 0; j < width; j += 8) __builtin_prefetch(row + j, 1);
    __builtin_prefetch(row + width - 1, 1);
}

/* Asks for the first rows; each that is lowered then asks for the one that comes so many later. */
static inline void nigh__lowest_begin(const uint64_t *table, size_t width, const uint32_t *rows, size_t count) {
    for (size_t i = 0; i < NIGH__LOWEST_AHEAD; i++) nigh__lowest_ask(table, width, rows, count, i);
}

#endif
