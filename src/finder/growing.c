/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finder that grows.  Tables are made at once and never changed, so rows that come
 * later make tables of their own, and tables become one before they are many:
 *
 *     numbers   0                                             600,000      640,000  641,900
 *     parts     |------------------ a finder -------------------|-- another --|
 *     tail                                                                    |...|
 *
 * The tail is scanned: rows just as they came.  With TAIL_ROWS of them it becomes a part,
 * together with the parts before it, from the last on, as long as these have no more than
 * LARGER times the rows that have come together so far.  Then each part has more than
 * LARGER times the rows of the next, and n rows make log(n / TAIL_ROWS) / log(LARGER) + 1
 * parts at most, each of which every query asks; and a part is built anew only when its
 * rows grow by a share of 1 / LARGER, so that a row is built in some LARGER * log(n /
 * TAIL_ROWS) times in the worst case, and in practice about half as often.
 *
 * Tables to which rows are added in place were not tried: they would have to leave gaps,
 * and equal rows could not be found by one pass.  To make one finder of everything
 * whenever the tail is full (LARGER without end) keeps one part, and cost 5 to 45 times
 * as much (docs/lab/radius-search.md).
 *
 * Measured (`bench_neardup --grow-choices --cpu`, one core of a shared Zen 4 machine): a
 * million rows of 64 bits, added a thousand at a time with a query for each; seconds in
 * all, tables and psm with a tail of 2,000:
 *
 *     LARGER         1      2      4      8     16
 *     tables       0.9    0.95   1.4    2.0    2.7      built 4.6, 6.1, 9.5, 13.9, 21.6 times
 *     psm          2.6    2.5    2.7    2.9    3.6      with 6 parts at the end, 3, 2, 2, 2
 *
 * 2 is no worse than 1 where a query comes for each row, and better where there are
 * more: one takes 0.47 instead of 0.56 us by tables, 2.0 instead of 2.2 by psm.  By
 * tables, tails of 1,000 and 4,000 rows took about as long or up to a third longer, of
 * 8,000 up to 1.7 times as long; by psm tails of 4,000 and more were not measured.
 *
 * What a part was made of comes back from its tables, so that nothing is kept twice.
 */
#include "finder/growing.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "finder/finder_options.h"

#define TAIL_ROWS 2048u
#define LARGER 2u

/* ------------------------------------------------------------------ making, freeing */

/* A finder of nothing is refused for the same reasons as one of many rows. */
static nigh_status check_options(nigh_context *context, const nigh_finder_options *options, nigh_error *error) {
    nigh_finder *finder = NULL;
    if (options->without_numbers)
        return nigh__fail(error, NIGH_EINVAL, "a finder that grows needs the numbers of its rows");
    nigh_finder_options unlimited = *options;
    unlimited.memory_bytes = 0;
    const nigh_status status = nigh_finder_new(context, NULL, 0, &unlimited, &finder, error);
    nigh_finder_free(finder);
    return status;
}

nigh_status nigh_growing_finder_new(nigh_context *context, const nigh_finder_options *options,
                                    nigh_growing_finder **out, nigh_error *error) {
    *out = NULL;
    nigh_finder_options known;
    nigh_status status = nigh__options_copy(&nigh__finder_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_options(context, &known, error);
    if (status != NIGH_OK) return status;
    if (known.radius > known.width_bits) known.radius = known.width_bits; /* no row is farther */
    nigh_growing_finder *finder = nigh__alloc_zero(context, 1, sizeof *finder);
    if (finder == NULL) return nigh__no_memory(error, "for a finder");
    finder->context = context;
    finder->options = known;
    finder->words = (known.width_bits + 63) / 64;
    finder->tail_most = TAIL_ROWS;
    finder->larger = LARGER;
    finder->parts = (struct nigh__array)NIGH__ARRAY(struct nigh__growing_part);
    finder->tail = (struct nigh__array)NIGH__ARRAY(uint64_t);
    finder->clusters = (struct nigh__array)NIGH__ARRAY(uint32_t);
    *out = finder;
    return NIGH_OK;
}

static void free_parts(nigh_growing_finder *finder, size_t from) {
    const struct nigh__growing_part *parts = finder->parts.data;
    for (size_t i = from; i < finder->parts.count; i++) nigh_finder_free(parts[i].finder);
    finder->parts.count = from;
}

void nigh_growing_finder_free(nigh_growing_finder *finder) {
    if (finder == NULL) return;
    free_parts(finder, 0);
    nigh__array_release(finder->context, &finder->parts);
    nigh__array_release(finder->context, &finder->tail);
    nigh__array_release(finder->context, &finder->clusters);
    nigh__free(finder->context, finder);
}

/* -------------------------------------------------------------------------- clusters */

/* Room for the clusters of so many rows more, once some row has another than its own. */
static bool clusters_reserve(nigh_growing_finder *finder, uint64_t count, bool given) {
    struct nigh__array *clusters = &finder->clusters;
    if (clusters->count == 0 && !given) return true;
    const size_t before = clusters->count;
    const uint64_t needed = finder->rows + count;
    uint32_t *own = nigh__array_add(finder->context, clusters, (size_t)(needed - before));
    if (own == NULL) return false;
    for (uint64_t i = before; i < needed; i++) own[i - before] = (uint32_t)i;
    return true;
}

static void clusters_take(nigh_growing_finder *finder, const uint32_t *given, uint64_t count) {
    if (given == NULL || count == 0) return;
    uint32_t *clusters = finder->clusters.data;
    for (uint64_t i = 0; i < count; i++) {
        clusters[finder->rows + i] = given[i];
        finder->matched += given[i] != finder->rows + i;
    }
}

uint64_t nigh_growing_finder_cluster(const nigh_growing_finder *finder, uint64_t number) {
    if (number >= finder->rows) return NIGH_ALL_64;
    return number < finder->clusters.count ? ((const uint32_t *)finder->clusters.data)[number] : number;
}

/* ---------------------------------------------------------------------------- adding */

static uint64_t part_rows(const nigh_growing_finder *finder, size_t part) {
    return ((const struct nigh__growing_part *)finder->parts.data)[part].finder->info.rows;
}

static uint64_t parts_bytes(const nigh_growing_finder *finder, size_t end) {
    const struct nigh__growing_part *parts = finder->parts.data;
    uint64_t bytes = 0;
    for (size_t i = 0; i < end; i++) bytes += parts[i].finder->info.bytes;
    return bytes;
}

static uint64_t own_bytes(const nigh_growing_finder *finder) {
    return sizeof *finder + finder->parts.capacity * sizeof(struct nigh__growing_part) +
           finder->tail.capacity * sizeof(uint64_t) + finder->clusters.capacity * sizeof(uint32_t);
}

/* The part from which on they become one with `rows` more; *total: rows of it. */
static size_t merged_from(const nigh_growing_finder *finder, uint64_t rows, uint64_t *total) {
    size_t from = finder->parts.count;
    *total = rows;
    while (from > 0 && part_rows(finder, from - 1) / finder->larger <= *total) *total += part_rows(finder, --from);
    return from;
}

/* Rows of parts and tail, and what is added, in their order. */
static void collect(const nigh_growing_finder *finder, size_t from, const uint8_t *rows, uint64_t count, uint8_t *out) {
    const struct nigh__growing_part *parts = finder->parts.data;
    const size_t bytes = nigh__row_bytes(finder->options.width_bits);
    const uint64_t *tail = finder->tail.data;
    for (size_t i = from; i < finder->parts.count; i++) {
        nigh__finder_copy_rows(parts[i].finder, out);
        out += part_rows(finder, i) * bytes;
    }
    for (uint64_t i = 0; i < finder->tail_rows; i++, out += bytes) memcpy(out, tail + i * finder->words, bytes);
    if (count != 0) memcpy(out, rows, (size_t)count * bytes);
}

/* How many probes a recall takes is found by trials, which take as long as a part of some thousand rows. */
static void recall_probes(const nigh_growing_finder *finder, uint64_t total, nigh_finder_options *options) {
    if (options->method != NIGH_FINDER_PSM || options->probes != 0) return;
    if (options->prefix_bits == 0) options->prefix_bits = nigh__sorted_prefix_bits(total);
    if (options->prefix_bits > options->width_bits) options->prefix_bits = options->width_bits;
    options->probes = finder->probes[options->prefix_bits];
}

/* What the others leave of the memory that there is. */
static nigh_status part_options(const nigh_growing_finder *finder, size_t from, nigh_finder_options *out,
                                nigh_error *error) {
    *out = finder->options;
    if (out->memory_bytes == 0) return NIGH_OK;
    const uint64_t others = parts_bytes(finder, from) + own_bytes(finder);
    if (others >= out->memory_bytes)
        return nigh__fail(error, NIGH_ELIMIT, "%" PRIu64 " rows take %" PRIu64 " bytes; the limit is %" PRIu64,
                          finder->rows, others, out->memory_bytes);
    out->memory_bytes -= others;
    return NIGH_OK;
}

/* Makes one finder of the parts from `from` on, the tail, and what is added. */
static nigh_status part_make(const nigh_growing_finder *finder, size_t from, uint64_t total, const uint8_t *rows,
                             uint64_t count, nigh_finder **out, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(finder->options.width_bits);
    nigh_finder_options options;
    nigh_status status = part_options(finder, from, &options, error);
    if (status != NIGH_OK) return status;
    recall_probes(finder, total, &options);
    uint8_t *all = total > SIZE_MAX / bytes ? NULL : nigh__alloc(finder->context, (size_t)total, bytes);
    if (all == NULL) return nigh__no_memory(error, "for the rows of a finder");
    collect(finder, from, rows, count, all);
    status = nigh_finder_new(finder->context, all, total, &options, out, error);
    nigh__free(finder->context, all);
    return status;
}

static nigh_status merge(nigh_growing_finder *finder, const uint8_t *rows, uint64_t count, nigh_error *error) {
    uint64_t total;
    nigh_finder *made = NULL;
    const size_t from = merged_from(finder, finder->tail_rows + count, &total);
    if (nigh__array_add(finder->context, &finder->parts, 1) == NULL) return nigh__no_memory(error, "for a finder");
    finder->parts.count--;
    const nigh_status status = part_make(finder, from, total, rows, count, &made, error);
    if (status != NIGH_OK) return status;
    free_parts(finder, from);
    struct nigh__growing_part *part = nigh__array_add(finder->context, &finder->parts, 1);
    *part = (struct nigh__growing_part){.finder = made, .first = finder->rows + count - total};
    finder->tail.count = 0;
    finder->tail_rows = 0;
    finder->built += total;
    finder->build_seconds += made->info.build_seconds;
    finder->probes[made->info.prefix_bits] = made->info.probes;
    return NIGH_OK;
}

static nigh_status tail_add(nigh_growing_finder *finder, const uint8_t *rows, uint64_t count, nigh_error *error) {
    uint64_t *words = nigh__array_add(finder->context, &finder->tail, (size_t)count * finder->words);
    if (words == NULL) return nigh__no_memory(error, "for rows");
    nigh__distinct_copy(words, finder->words, rows, (size_t)count, nigh__row_bytes(finder->options.width_bits));
    finder->tail_rows += count;
    return NIGH_OK;
}

nigh_status nigh__growing_add(nigh_growing_finder *finder, const uint8_t *rows, uint64_t count,
                              const uint32_t *clusters, nigh_error *error) {
    const size_t clusters_before = finder->clusters.count;
    if (count == 0) return NIGH_OK;
    if (count >= UINT32_MAX - finder->rows)
        return nigh__fail(error, NIGH_ELIMIT, "%" PRIu64 " rows: a finder takes fewer than %u", finder->rows + count,
                          UINT32_MAX);
    nigh_status status =
        clusters_reserve(finder, count, clusters != NULL) ? NIGH_OK : nigh__no_memory(error, "for clusters");
    if (status == NIGH_OK)
        status = finder->tail_rows + count < finder->tail_most ? tail_add(finder, rows, count, error)
                                                               : merge(finder, rows, count, error);
    if (status != NIGH_OK) {
        finder->clusters.count = clusters_before;
        return status;
    }
    clusters_take(finder, clusters, count);
    finder->rows += count;
    return NIGH_OK;
}

nigh_status nigh_growing_finder_add(nigh_growing_finder *finder, const uint8_t *rows, uint64_t count,
                                    nigh_error *error) {
    if (rows == NULL && count != 0)
        return nigh__fail(error, NIGH_EINVAL, "no rows, where %" PRIu64 " were announced", count);
    const nigh_status status = nigh__padding_check(rows, count, finder->options.width_bits, "row", error);
    return status == NIGH_OK ? nigh__growing_add(finder, rows, count, NULL, error) : status;
}

void nigh_growing_finder_describe(const nigh_growing_finder *finder, nigh_growing_info *out) {
    const nigh_growing_info info = {.size = sizeof info,
                                    .rows = finder->rows,
                                    .clusters = finder->rows - finder->matched,
                                    .tail = finder->tail_rows,
                                    .built = finder->built,
                                    .bytes = parts_bytes(finder, finder->parts.count) + own_bytes(finder),
                                    .parts = (uint32_t)finder->parts.count,
                                    .build_seconds = finder->build_seconds};
    nigh__info_copy(out, &info, sizeof info);
}
