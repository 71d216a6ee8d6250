/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What things cost, for choosing how to search: of a collection (search/methods.c, by the estimate of each method) and
 * of rows in memory (finder/choice.c, where a caller may have measured better ones, see nigh_costs).
 *
 * Constants and not a clock, so that the same query gets the same answer on every machine, with any number of threads
 * and in any batch.  Nanoseconds of one core of a machine of 2020; where methods are compared only ratios matter.
 */
#ifndef NIGH_SCAN_COST_MODEL_H
#define NIGH_SCAN_COST_MODEL_H

#include <float.h>
#include <stdint.h>

/* The scan reads a word once for a batch of many queries; of a query by itself see NIGH__COST_LONE_BYTE. */
#define NIGH__COST_SCANNED_WORD 0.08  /* a word of a row, of a query among many */
#define NIGH__COST_GATHERED_ROW 2.0   /* a row copied out from among others, shared by a batch */
#define NIGH__COST_COMPARED_ROW 30.0  /* a row somewhere in memory */
#define NIGH__COST_COLUMN 1.2         /* of 512 rows, added up */
#define NIGH__COST_LIST 25.0          /* a slice list to look up, however short */
#define NIGH__COST_POSTING 2.0        /* a row in it */
#define NIGH__COST_GRAPH_STEP 600.0   /* the nodes at the edges of one */
#define NIGH__COST_IMPOSSIBLE DBL_MAX /* it cannot be done so */

/* Of a finder; what each is, nigh_costs says. */
#define NIGH__COST_KEY_COMPARE 0.12
#define NIGH__COST_MISS 16.0
#define NIGH__COST_PERMUTE 22.0
#define NIGH__COST_ENUMERATE 3.9
#define NIGH__COST_SORT 47.0
#define NIGH__COST_FILL 52.0
#define NIGH__COST_LONE_BYTE 0.026 /* of a row, of a query among few: more than twice as much as a scanned word */
#define NIGH__COST_QUERY 10.0
#define NIGH__COST_TAKE 85.0
#define NIGH__COST_WHOLE_COMPARE 1.35
#define NIGH__COST_BATCH_KEY 8.0
#define NIGH__COST_BATCH_VISIT 6.0
#define NIGH__COST_BATCH_LOAD 3.0
#define NIGH__COST_HIT 300.0
#define NIGH__DISK_BYTES_PER_SECOND 500e6

/* A query among many compared with all rows. */
static inline double nigh__scan_cost(uint32_t words, uint32_t rows) { return NIGH__COST_SCANNED_WORD * words * rows; }

/* The same with `some` of the rows, copied out from among the others. */
static inline double nigh__gather_cost(uint32_t words, uint32_t some) {
    return (NIGH__COST_GATHERED_ROW + NIGH__COST_SCANNED_WORD * words) * some;
}
/* A text that asks by columns (src/columns/), where some 256 of a block are added up before it is left. */
static inline double nigh__columns_cost(uint32_t rows) { return NIGH__COST_COLUMN * 256 * (rows / 512.0); }

/* By way of picoseconds, which are whole: what is whole is divided without a further error. */
static inline double nigh__cost_seconds(double nanoseconds) { return nanoseconds * 1e3 / 1e12; }

#endif
