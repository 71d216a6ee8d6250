/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of columns: every block is counted for every query until it can be left.
 *
 * Super-blocks are visited sixteen apart, then those beside them, and so on, so that bounds
 * come down soon also where near rows lie together at the end.  So rows do not come ascending,
 * and of rows at the distance of the k-th one with a smaller number takes its place: in blocks
 * whose rows come before that of the k-th, counts may reach its distance, in others they must
 * stay below.
 *
 * Without a slack threads share the super-blocks, and what all have found so far sets the bounds
 * of each: what is left is certain to be no answer, whoever leaves it.  (With candidates of its
 * own each thread left blocks by the k-th of those, about the 2k-th of all: two threads took 1.4
 * times the processor time of one.)  The first block is counted before they begin, so that all
 * begin with bounds.  With a slack what is left depends on the
 * bounds, and these on what was met before; there threads share the queries, so that a query
 * goes the same way however many there are.
 */
#ifndef NIGH_COLUMNS_COLUMN_SCAN_H
#define NIGH_COLUMNS_COLUMN_SCAN_H

#include "columns/column_plan.h"
#include "scan/nearest.h"

struct nigh__column_scan {
    const nigh_context *context;
    const struct nigh__columns *columns;
    const struct nigh__column_plan *plans; /* of each query */
    uint32_t query_count;
    const uint64_t *allowed; /* NULL, or a bit for each row that counts: as if there were no others */
    const uint32_t *limits;  /* of each query: rows must be nearer than this */
    uint32_t k;              /* at most so many rows for each query; NIGH_ALL: no limit */
    double slack;            /* below 0: nothing is missed */
    uint32_t threads;        /* at least 1 */

    struct nigh__progress *progress; /* ticked in distances; NULL: nobody waits */
    uint64_t progress_done;          /* before this scan */
    uint64_t progress_total;
};

struct nigh__column_answer {
    struct nigh__array keys; /* sorted, as of nigh__scan(); empty before, and to be released also after a failure */
    uint64_t counted; /* rows whose distance was counted to its end; of several threads it depends on who was where */
};

/*
 * Returns: NIGH_OK; NIGH_ENOMEM; NIGH_ECANCELLED; NIGH_EIO where the file was cut short, without an error.  The answer
 *          does not depend on the number of threads, nor that to a query on the others.
 */
nigh_status nigh__column_scan(const struct nigh__column_scan *scan, struct nigh__column_answer *found,
                              nigh_error *error);

/* The same row by row and column by column, on one thread, without leaving anything early: the oracle. */
nigh_status nigh__column_scan_plain(const struct nigh__column_scan *scan, struct nigh__column_answer *found,
                                    nigh_error *error);

/* The number of the super-block that is visited as number `turn`. */
uint32_t nigh__column_visit(uint32_t supers, uint32_t turn);

/* How far a row of a super-block may be and still be added; below 0: none can. */
int64_t nigh__column_most(const struct nigh__nearest *nearest, uint32_t super);

#endif
