/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that find their place one by one.  A piece of them is asked for at once, so that
 * memory answers them together; what of the piece itself was added before a row is
 * compared with it here, and all of it is added when the piece is done.
 */
#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "finder/finder_options.h"
#include "finder/growing.h"
#include "kernel/hamming.h"
#include "scan/results.h"

#include <string.h>

#define PIECE 1024u
#define TILE 256u

struct placing {
    nigh_growing_finder *finder;
    nigh_find_options options;
    const uint8_t *rows; /* the piece */
    size_t count;
    nigh_placed *out;
    uint64_t *words; /* of the piece; then of those that are added */
    uint64_t *added;
    uint8_t *added_rows; /* the same as they were given */
    uint32_t *clusters;  /* of these */
    size_t added_count;
    size_t first; /* of the piece, among all that are placed */
    nigh__growing_accept *accept;
    void *user;
    bool only_finds;
    nigh_error *error;
};

static nigh_status placing_init(struct placing *placing, nigh_error *error) {
    const nigh_growing_finder *finder = placing->finder;
    const nigh_context *context = finder->context;
    placing->words = nigh__alloc(context, (size_t)PIECE * finder->words, 2 * sizeof(uint64_t));
    placing->added_rows = nigh__alloc(context, PIECE, nigh__row_bytes(finder->options.width_bits));
    placing->clusters = nigh__alloc(context, PIECE, sizeof(uint32_t));
    if (placing->words == NULL || placing->added_rows == NULL || placing->clusters == NULL)
        return nigh__no_memory(error, "for rows");
    placing->added = placing->words + (size_t)PIECE * finder->words;
    return NIGH_OK;
}

static void placing_release(const struct placing *placing) {
    nigh__free(placing->finder->context, placing->words);
    nigh__free(placing->finder->context, placing->added_rows);
    nigh__free(placing->finder->context, placing->clusters);
}

/* The nearest of those that the piece has added, or with FIRST and ANY the first that is near. */
static void compare_added(const struct placing *placing, const uint64_t *row, nigh_placed *placed) {
    const nigh_growing_finder *finder = placing->finder;
    uint32_t distances[TILE];
    uint32_t limit = finder->options.radius; /* as far as it may be */
    if (placed->match != NIGH_ALL_64) {
        if (placed->distance == 0) return;
        limit = placed->distance - 1; /* of equally near ones the earlier */
    }
    for (size_t at = 0; at < placing->added_count; at += TILE) {
        const size_t count = nigh__smaller(TILE, placing->added_count - at);
        const uint32_t least =
            finder->context->hamming->rows(row, placing->added + at * finder->words, count, finder->words, distances);
        for (size_t i = 0; i < count && least <= limit; i++) {
            if (distances[i] > limit) continue;
            placed->match = finder->rows + at + i;
            placed->distance = distances[i];
            if (placing->options.mode != NIGH_FIND_ALL || distances[i] == 0) return;
            limit = distances[i] - 1;
        }
    }
}

/* The cluster of a row that is there, or was added by the piece. */
static uint64_t cluster_of(const struct placing *placing, uint64_t number) {
    const uint64_t rows = placing->finder->rows;
    return number < rows ? nigh_growing_finder_cluster(placing->finder, number) : placing->clusters[number - rows];
}

static nigh_status place_row(struct placing *placing, size_t i, const nigh_results *found) {
    const nigh_growing_finder *finder = placing->finder;
    const size_t bytes = nigh__row_bytes(finder->options.width_bits);
    const uint64_t *row = placing->words + i * finder->words;
    nigh_placed *placed = &placing->out[i];
    size_t count;
    const nigh_match *matches = nigh_results_matches(found, i, &count);
    if (count > 0) {
        placed->match = matches[0].document;
        placed->distance = matches[0].distance;
    }
    if (count == 0 || placing->options.mode == NIGH_FIND_ALL) compare_added(placing, row, placed);
    const bool matched = placed->match != NIGH_ALL_64;
    const uint64_t number = finder->rows + placing->added_count;
    if (matched) placed->cluster = cluster_of(placing, placed->match);
    if (placing->only_finds || (matched && !placing->options.add_matched)) return NIGH_OK;
    const nigh_status status =
        placing->accept == NULL ? NIGH_OK : placing->accept(placing->user, placing->first + i, number, placing->error);
    if (status != NIGH_OK) return status == NIGH_EEXISTS ? NIGH_OK : status;
    if (!matched) placed->cluster = number;
    placed->number = number;
    memcpy(placing->added + placing->added_count * finder->words, row, finder->words * sizeof *row);
    memcpy(placing->added_rows + placing->added_count * bytes, placing->rows + i * bytes, bytes);
    placing->clusters[placing->added_count++] = (uint32_t)placed->cluster;
    return NIGH_OK;
}

static void out_clear(nigh_placed *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = (nigh_placed){.match = NIGH_ALL_64, .number = NIGH_ALL_64, .cluster = NIGH_ALL_64};
}

static nigh_status place_piece(struct placing *placing, nigh_error *error) {
    nigh_growing_finder *finder = placing->finder;
    nigh_results *found = NULL;
    nigh_status status =
        nigh_growing_finder_find(finder, placing->rows, placing->count, &placing->options, &found, error);
    if (status == NIGH_OK && finder->rows + placing->count >= UINT32_MAX)
        status = nigh__fail(error, NIGH_ELIMIT, "a finder takes fewer than %u rows", UINT32_MAX);
    if (status == NIGH_OK) {
        nigh__distinct_copy(placing->words, finder->words, placing->rows, placing->count,
                            nigh__row_bytes(finder->options.width_bits));
        placing->added_count = 0;
        for (size_t i = 0; i < placing->count && status == NIGH_OK; i++) status = place_row(placing, i, found);
    }
    if (status == NIGH_OK) {
        status = nigh__growing_add(finder, placing->added_rows, placing->added_count,
                                   placing->options.add_matched ? placing->clusters : NULL, error);
    }
    if (status != NIGH_OK) out_clear(placing->out, placing->count);
    nigh_results_free(found);
    return status;
}

static nigh_status place_all(struct placing placing, const uint8_t *rows, size_t count,
                             const nigh_find_options *options, nigh_placed *out, nigh_error *error) {
    const nigh_growing_finder *finder = placing.finder;
    placing.error = error;
    out_clear(out, count);
    nigh_status status = nigh__options_copy(&nigh__find_options_shape, &placing.options, options, error);
    if (status == NIGH_OK)
        status = nigh__padding_check(rows, count, finder->options.width_bits, "row", error); /* before any is added */
    if (status == NIGH_OK) status = placing_init(&placing, error);
    const uint8_t *weights = placing.options.weights;
    const size_t width_bits = finder->options.width_bits;
    for (size_t at = 0; at < count && status == NIGH_OK; at += PIECE) {
        placing.rows = rows + at * nigh__row_bytes(width_bits);
        placing.count = nigh__smaller(PIECE, count - at);
        placing.out = out + at;
        placing.first = at;
        if (weights != NULL) placing.options.weights = weights + at * width_bits;
        status = place_piece(&placing, error);
    }
    placing_release(&placing);
    return status;
}

nigh_status nigh_growing_finder_find_or_add(nigh_growing_finder *finder, const uint8_t *rows, size_t count,
                                            const nigh_find_options *options, nigh_placed *out, nigh_error *error) {
    return place_all((struct placing){.finder = finder}, rows, count, options, out, error);
}

nigh_status nigh__growing_place(nigh_growing_finder *finder, const uint8_t *rows, size_t count,
                                const nigh_find_options *options, nigh__growing_accept *accept, void *user,
                                nigh_placed *out, nigh_error *error) {
    const struct placing placing = {.finder = finder, .accept = accept, .user = user, .only_finds = accept == NULL};
    return place_all(placing, rows, count, options, out, error);
}
