/* SPDX-License-Identifier: Apache-2.0 */
/* How fast each kernel is at each width, from the cache and from memory. */
#ifndef NIGH_BENCH_KERNEL_TABLE_H
#define NIGH_BENCH_KERNEL_TABLE_H

#include <stddef.h>
#include <stdio.h>

/* `memory` is what is scanned, `bytes` of it; raw runs go to `json` where it is not NULL. */
void kernel_table(const void *memory, size_t bytes, size_t runs, FILE *json);

#endif
