/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of our searches that are measured: slice widths, breadths, candidates; the papers' way; the scan. */
#ifndef NIGH_BENCH_SLICES_GRID_H
#define NIGH_BENCH_SLICES_GRID_H

#include "slices_table.h"

#define SLICES_OURS "slices"
#define SLICES_PAPER "slices, paper"
#define SLICES_SCAN "scan, 8 at once"

/* Searches all queries on one thread so many times; `at_once` in a call, 0: all.  Returns false where it scanned. */
bool slices_grid_search(const struct nearest_set *set, const nigh_collection *collection,
                        const nigh_search_options *options, size_t at_once, size_t runs, struct slices_row *row);

/* The first to read a mapped file waits for each page of it: this reads most, and times nothing. */
void slices_grid_warm_up(const struct nearest_set *set, const nigh_collection *collection);

/* Adds all to the table.  Lists of the last width are left behind. */
void slices_grid_measure(struct slices_table *table, size_t runs);

#endif
