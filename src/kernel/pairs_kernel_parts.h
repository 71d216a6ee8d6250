/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of pairs_kernel.h that there are, and what they share.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_PAIRS_KERNEL_PARTS_H
#define NIGH_KERNEL_PAIRS_KERNEL_PARTS_H

#include "kernel/pairs_kernel.h"

/* Compares queries first .. first + count, at most NIGH__PAIRS_QUERIES, with all rows; returns how many hits it added.
 */
typedef size_t nigh__pairs_compare(const struct nigh__pair_task *task, size_t first, size_t count,
                                   struct nigh__pair_hit *hits);

/* What find() of a variant does that takes some queries at a time. */
static inline size_t nigh__pairs_find(const struct nigh__pair_task *task, size_t *next, struct nigh__pair_hit *hits,
                                      size_t capacity, nigh__pairs_compare *compare) {
    const size_t needed = task->row_count * NIGH__PAIRS_QUERIES;
    size_t found = 0;
    while (*next < task->query_count && needed <= capacity - found) {
        const size_t left = task->query_count - *next;
        const size_t count = left < NIGH__PAIRS_QUERIES ? left : NIGH__PAIRS_QUERIES;
        found += compare(task, *next, count, hits + found);
        *next += count;
    }
    return found;
}

#if defined(__x86_64__)
extern const struct nigh__pairs nigh__pairs_avx2;
extern const struct nigh__pairs nigh__pairs_avx512;
#endif

#endif
