/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Some thousand rows at a time are copied together, in their order, and scanned as any others are. */
#include "search/displaced.h"

#include <string.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/hamming.h"
#include "scan/scan.h"

#define ROWS_AT_ONCE 8192u

/* False where the file was cut short. */
static bool copy_rows(const struct nigh__segment *segment, const uint32_t *numbers, uint32_t count, uint64_t *to) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    for (uint32_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * segment->words, segment->rows + (size_t)numbers[i] * segment->words,
               segment->words * sizeof *to);
    nigh__guard_leave(&guard);
    return true;
}

/* Some queries over some rows, which are number `first` and on of those displaced. */
static nigh_status scan_some(const struct nigh__displaced_scan *all, const uint64_t *rows, uint32_t first,
                             uint32_t count, size_t from, size_t to, struct nigh__array *found, nigh_error *error) {
    const nigh_context *context = all->segment->context;
    const size_t words = all->segment->words;
    struct nigh__array here[NIGH__BATCH_QUERIES];
    struct nigh__scan scan = {.context = context,
                              .rows = rows,
                              .count = count,
                              .words = all->segment->words,
                              .queries = all->queries + from * words,
                              .planes = all->planes,
                              .query_count = to - from,
                              .limits = all->limits + from,
                              .k = all->k,
                              .threads = all->threads};
    if (scan.planes.count != 0) scan.planes.words += from * scan.planes.count * words;
    for (size_t q = from; q < to; q++) here[q - from] = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh_status status = nigh__scan(&scan, here, error);
    for (size_t q = from; q < to; q++) {
        const struct nigh__array *keys = &here[q - from];
        uint64_t *slot = status == NIGH_OK ? nigh__array_add(context, &found[q], keys->count) : NULL;
        if (status == NIGH_OK && slot == NULL) status = nigh__no_memory(error, "for the matches");
        for (size_t i = 0; slot != NULL && i < keys->count; i++) slot[i] = ((const uint64_t *)keys->data)[i] + first;
        nigh__array_release(context, &here[q - from]);
    }
    return status;
}

static nigh_status scan_block(const struct nigh__displaced_scan *scan, uint64_t *rows, uint32_t first,
                              struct nigh__array *found, nigh_error *error) {
    const uint32_t left = scan->selection->displaced_count - first;
    const uint32_t count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    nigh_status status = NIGH_OK;
    if (!copy_rows(scan->segment, scan->selection->displaced + first, count, rows))
        return nigh__segment_cut(scan->segment, error);
    for (size_t from = 0, to; from < scan->query_count && status == NIGH_OK; from = to) {
        to = scan->query_count - from < NIGH__BATCH_QUERIES ? scan->query_count : from + NIGH__BATCH_QUERIES;
        status = scan_some(scan, rows, first, count, from, to, found, error);
    }
    return status;
}

/* The k best of all blocks, as rows of the segment. */
static void finish(const struct nigh__displaced_scan *scan, struct nigh__array *found) {
    uint64_t *keys = found->data;
    if (found->count > 1) nigh__keys_sort(scan->segment->context, keys, found->count);
    if (scan->k != NIGH_ALL && found->count > scan->k) found->count = scan->k;
    for (size_t i = 0; i < found->count; i++)
        keys[i] = nigh__key(nigh__key_distance(keys[i]), scan->selection->displaced[nigh__key_number(keys[i])]);
}

nigh_status nigh__displaced_scan(const struct nigh__displaced_scan *scan, struct nigh__array *found,
                                 nigh_error *error) {
    const struct nigh__segment *segment = scan->segment;
    const uint32_t count = scan->selection->displaced_count;
    uint64_t *rows =
        nigh__alloc_aligned(segment->context, (size_t)ROWS_AT_ONCE * segment->words, sizeof *rows, NIGH__CACHE_LINE);
    nigh_status status = rows == NULL ? nigh__no_memory(error, "for the matches") : NIGH_OK;
    for (uint32_t first = 0; first < count && status == NIGH_OK; first += ROWS_AT_ONCE)
        status = scan_block(scan, rows, first, found, error);
    nigh__free(segment->context, rows);
    for (size_t q = 0; q < scan->query_count && status == NIGH_OK; q++) finish(scan, &found[q]);
    return status;
}
