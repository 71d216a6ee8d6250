/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a segment whose first document does not count, but a later one does (collection/selection.h): they are out
 * of the order that ties need, so that no method looks at them.  There are few, mostly none, and they are compared one
 * by one, in the order of their first document that counts.
 */
#ifndef NIGH_SEARCH_DISPLACED_H
#define NIGH_SEARCH_DISPLACED_H

#include "base/memory.h"
#include "collection/selection.h"
#include "kernel/weighted.h"

struct nigh__displaced_scan {
    const struct nigh__segment *segment;
    const struct nigh__selection *selection;
    const uint64_t *queries;
    struct nigh__planes planes; /* what counts in them */
    size_t query_count;
    const uint32_t *limits; /* of each query: rows must be nearer than this */
    uint32_t k;             /* at most so many rows for each; NIGH_ALL: no limit */
    uint32_t threads;
};

/* Adds keys of rows (scan/nearest.h) to found[q] of each query, by distance; of equally near ones the earlier first. */
nigh_status nigh__displaced_scan(const struct nigh__displaced_scan *scan, struct nigh__array *found, nigh_error *error);

#endif
