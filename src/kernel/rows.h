/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of bits, ANDed and counted.  All rows have the same length, a multiple of NIGH__ROWS_LINE bytes, and are
 * aligned to as many; so is what comes out.  One entry per CPU variant, best first; the portable
 * entry is the definition, all others must equal it.
 */
#ifndef NIGH_KERNEL_ROWS_H
#define NIGH_KERNEL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NIGH__ROWS_LINE 64u

struct nigh__rows {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * out[] = rows[0][] & rows[1][] & ... (count >= 1) over `bytes` bytes, from `from` on in each row, and to the
     * beginning of out.  Returns whether any bit is set.  A line that has come to be zero is not read from the rows
     * that are left, so the sparsest are best first; *touched grows by the bytes read, the same with every variant.
     */
    bool (*intersect)(const uint8_t *const *rows, size_t count, size_t from, size_t bytes, uint8_t *out,
                      uint64_t *touched);

    /* How many bits are set in `bytes` bytes, of whole lines. */
    uint64_t (*count)(const uint8_t *bits, size_t bytes);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__rows *nigh__rows_at(size_t index);

/* As nigh__scores_choose(). */
const struct nigh__rows *nigh__rows_choose(const char *name);

#endif
