/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search of a matrix of signatures: every row is compared with every
 * query.  All that is faster must give the same answers, or say that it may not.
 */
#ifndef NIGH_SCAN_SCAN_H
#define NIGH_SCAN_SCAN_H

#include "base/progress.h"
#include "kernel/weighted.h"
#include "scan/nearest.h"

struct nigh__scan {
    const nigh_context *context;
    const uint64_t *rows; /* count * words, aligned to 8 */
    uint32_t count;
    uint32_t words;
    const uint64_t *allowed; /* NULL, or a bit for each row that counts: as if there were no others */

    /* The mapping the rows lie in, read inside a guard; length 0: memory that cannot go away. */
    const void *map;
    uint64_t map_length;

    const uint64_t *queries;    /* query_count * words, aligned to 8 */
    struct nigh__planes planes; /* what counts in them */
    size_t query_count;         /* at most NIGH__BATCH_QUERIES */
    const uint32_t *limits;     /* of each query: rows must be nearer than this */
    uint32_t k;                 /* at most so many rows for each query; NIGH_ALL: no limit */
    uint32_t threads;           /* at least 1 */

    struct nigh__progress *progress; /* ticked in distances; NULL: nobody waits */
    uint64_t progress_done;          /* before this scan */
    uint64_t progress_total;
};

/*
 * Finds the nearest rows: sorted keys (scan/nearest.h) with row numbers, for
 * query q in found[q], which is empty before and must be released after, also
 * after a failure.  The answer does not depend on the number of threads.
 *
 * Returns NIGH_OK, NIGH_ENOMEM, NIGH_ECANCELLED; NIGH_EIO where the mapping was
 * cut short, without an error: the caller knows the name of the file.
 */
nigh_status nigh__scan(const struct nigh__scan *scan, struct nigh__array *found, nigh_error *error);

#endif
