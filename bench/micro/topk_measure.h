/* SPDX-License-Identifier: Apache-2.0 */
/* Runs over all contenders and settings, and what more threads bring. */
#ifndef NIGH_BENCH_TOPK_MEASURE_H
#define NIGH_BENCH_TOPK_MEASURE_H

#include "topk_table.h"

/* So many runs, each through all contenders in turn; settings that do not pay are left out after the first. */
void topk_measure(struct topk_table *table, size_t runs);

/* The graph with one thread and with two, by the clock on the wall; prints what comes out. */
void topk_measure_threads(const struct topk_table *table, size_t runs);

#endif
