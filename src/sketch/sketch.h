/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sketch scan: the first bits of every row are compared with the query's, and the best
 * M rows, by that distance and then by number, whole.
 *
 *     sketches   ================================    all of them, for a batch of queries
 *                   |       ||    |        |
 *     rows          v       vv    v        v         M of them, somewhere in memory
 *
 * It needs nothing but the signatures.  A row differs from the query in as many bits as its
 * sketch does at least; so a row nearer than the M-th sketch is among the M, and that much
 * of the answer is certain: near-copies are never missed.  Of the rest nothing is.
 *
 * Cost: with 128 of 1,024 bits an eighth of what the scan reads, and M random rows.
 */
#ifndef NIGH_SKETCH_SKETCH_H
#define NIGH_SKETCH_SKETCH_H

#include "base/progress.h"
#include "kernel/hamming.h"
#include "scan/nearest.h"

struct nigh__sketch_scan {
    const nigh_context *context;
    const uint64_t *sketches; /* count * sketch_words (sketch/sketches.h) */
    uint32_t sketch_words;
    const uint64_t *rows; /* count * words */
    uint32_t count;
    uint32_t words;
    const uint64_t *allowed; /* NULL, or a bit for each row that counts: as if there were no others */

    /* The mapping the rows lie in, read inside a guard; length 0: memory that cannot go away. */
    const void *map;
    uint64_t map_length;

    const uint64_t *queries; /* query_count * words */
    size_t query_count;      /* 1 to NIGH__BATCH_QUERIES */
    const uint32_t *limits;  /* of each query: rows must be nearer than this */
    uint32_t k;              /* at most so many rows for each query; not NIGH_ALL */
    uint32_t candidates;     /* M, at least k */
    uint32_t threads;        /* at least 1; the answer does not depend on it */

    struct nigh__progress *progress; /* ticked in distances; NULL: nobody waits */
    uint64_t progress_done;
    uint64_t progress_total;
};

struct nigh__sketch_answer {
    struct nigh__array keys; /* uint64_t (scan/nearest.h), sorted: of rows, at most k */
    uint64_t compared;       /* whole */
    uint32_t below;          /* no row nearer than this, and than the limit, was missed; UINT32_MAX: none at all */
};

/*
 * The fast way, and the plain one that it must equal.  answers[q].keys are empty before, and to be released after,
 * also after a failure.  NIGH_OK, NIGH_ENOMEM, NIGH_ECANCELLED; NIGH_EIO where the mapping was cut short, without an
 * error: the caller knows the name of the file.
 */
nigh_status nigh__sketch_scan(const struct nigh__sketch_scan *scan, struct nigh__sketch_answer *answers,
                              nigh_error *error);
nigh_status nigh__sketch_scan_plain(const struct nigh__sketch_scan *scan, struct nigh__sketch_answer *answers,
                                    nigh_error *error);

#endif
