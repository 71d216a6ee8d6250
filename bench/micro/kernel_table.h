/* SPDX-License-Identifier: Apache-2.0 */
/* How fast each kernel is at each width, from the cache and from memory. */
#ifndef NIGH_BENCH_KERNEL_TABLE_H
#define NIGH_BENCH_KERNEL_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "kernel/weighted.h"

#define KERNEL_BATCHES 3u /* of 1, 8 and 64 queries */

/* What is measured; `queries` and what follows are set by kernel_rates(). */
struct kernel_setting {
    const struct nigh__hamming *plain;     /* where plane_count is 0 */
    const struct nigh__weighted *weighted; /* where it is not */
    uint32_t plane_count;
    size_t words;
    size_t queries;
    size_t bytes; /* scanned in one go */
    size_t repeat;
};

/* Million distances a second, the medians: from the cache, and from memory. */
void kernel_rates(const struct kernel_setting *kind, const void *memory, size_t bytes, size_t runs, FILE *json,
                  double rates[2][KERNEL_BATCHES]);
void kernel_rates_print(double rates[2][KERNEL_BATCHES]);

/* `memory` is what is scanned, `bytes` of it; raw runs go to `json` where it is not NULL. */
void kernel_table(const void *memory, size_t bytes, size_t runs, FILE *json);

#endif
