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
    size_t first;      /* of the piece, among all that are placed */
    nigh_match *known; /* of each of the piece; document NIGH_ALL_64: nothing is found */
    uint8_t *left;     /* rows of it of which nothing was found elsewhere */
    uint32_t *left_of; /* which they are */
    size_t left_count;
    const struct nigh__growing_place *place; /* NULL: all rows are here */
    nigh_error *error;
};

static uint64_t base_of(const struct placing *placing) { return placing->place == NULL ? 0 : placing->place->first; }

static nigh_status placing_init(struct placing *placing, size_t count, nigh_error *error) {
    const nigh_growing_finder *finder = placing->finder;
    const nigh_context *context = finder->context;
    const size_t piece = nigh__smaller(PIECE, count) + (count == 0);
    placing->words = nigh__alloc(context, piece * finder->words, 2 * sizeof(uint64_t));
    placing->added_rows = nigh__alloc(context, piece, nigh__row_bytes(finder->options.width_bits));
    placing->clusters = nigh__alloc(context, piece, sizeof(uint32_t));
    placing->known = nigh__alloc(context, piece, sizeof *placing->known);
    placing->left = nigh__alloc(context, piece, nigh__row_bytes(finder->options.width_bits));
    placing->left_of = nigh__alloc(context, piece, sizeof *placing->left_of);
    if (placing->words == NULL || placing->added_rows == NULL || placing->clusters == NULL || placing->known == NULL ||
        placing->left == NULL || placing->left_of == NULL)
        return nigh__no_memory(error, "for rows");
    placing->added = placing->words + piece * finder->words;
    return NIGH_OK;
}

static void placing_release(const struct placing *placing) {
    nigh__free(placing->finder->context, placing->words);
    nigh__free(placing->finder->context, placing->added_rows);
    nigh__free(placing->finder->context, placing->clusters);
    nigh__free(placing->finder->context, placing->known);
    nigh__free(placing->finder->context, placing->left);
    nigh__free(placing->finder->context, placing->left_of);
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
            placed->match = base_of(placing) + finder->rows + at + i;
            placed->distance = distances[i];
            if (placing->options.mode != NIGH_FIND_ALL || distances[i] == 0) return;
            limit = distances[i] - 1;
        }
    }
}

/* The cluster of a row that is there, or was added by the piece. */
static uint64_t cluster_of(const struct placing *placing, uint64_t number) {
    const uint64_t rows = placing->finder->rows;
    if (!placing->options.add_matched && placing->finder->clusters.count == 0) return number; /* each is its own */
    return number < rows ? nigh_growing_finder_cluster(placing->finder, number) : placing->clusters[number - rows];
}

static nigh_status accept(const struct placing *placing, size_t i, uint64_t number) {
    const struct nigh__growing_place *place = placing->place;
    return place == NULL ? NIGH_OK : place->accept(place->user, placing->first + i, number, placing->error);
}

static nigh_status place_row(struct placing *placing, size_t i) {
    const nigh_growing_finder *finder = placing->finder;
    const size_t bytes = nigh__row_bytes(finder->options.width_bits);
    const uint64_t *row = placing->words + i * finder->words;
    const nigh_match *known = &placing->known[i];
    nigh_placed *placed = &placing->out[i];
    placed->match = known->document;
    placed->distance = known->distance;
    if (known->document == NIGH_ALL_64 || placing->options.mode == NIGH_FIND_ALL) compare_added(placing, row, placed);
    const bool matched = placed->match != NIGH_ALL_64;
    const uint64_t number = base_of(placing) + finder->rows + placing->added_count;
    const bool only_finds = placing->place != NULL && placing->place->accept == NULL;
    if (matched) placed->cluster = cluster_of(placing, placed->match);
    if (only_finds || (matched && !placing->options.add_matched)) return NIGH_OK;
    const nigh_status status = accept(placing, i, number);
    if (status != NIGH_OK) return status == NIGH_EEXISTS ? NIGH_OK : status;
    if (!matched) placed->cluster = number;
    placed->number = number;
    memcpy(placing->added + placing->added_count * finder->words, row, finder->words * sizeof *row);
    memcpy(placing->added_rows + placing->added_count * bytes, placing->rows + i * bytes, bytes);
    placing->clusters[placing->added_count++] = (uint32_t)placed->cluster;
    return NIGH_OK;
}

/* ------------------------------------------------------------------ what is found */

/* What is elsewhere comes first: it has the lower numbers. */
static nigh_status find_elsewhere(struct placing *placing, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(placing->finder->options.width_bits);
    const struct nigh__growing_place *place = placing->place;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < placing->count; i++) placing->known[i] = (nigh_match){.document = NIGH_ALL_64};
    if (place != NULL && place->find != NULL)
        status = place->find(place->user, placing->words, placing->count, placing->known, error);
    placing->left_count = 0;
    for (size_t i = 0; i < placing->count && status == NIGH_OK; i++) {
        if (placing->known[i].document != NIGH_ALL_64) continue;
        memcpy(placing->left + placing->left_count * bytes, placing->rows + i * bytes, bytes);
        placing->left_of[placing->left_count++] = (uint32_t)i;
    }
    return status;
}

/* The same for few of them. */
static nigh_status find_few(struct placing *placing, nigh_error *error) {
    const nigh_growing_finder *finder = placing->finder;
    uint64_t *words = placing->added; /* nothing is added yet */
    nigh_match found[NIGH__GROWING_FEW];
    for (size_t i = 0; i < placing->left_count; i++)
        memcpy(words + i * finder->words, placing->words + (size_t)placing->left_of[i] * finder->words,
               finder->words * sizeof *words);
    const nigh_status status = nigh__growing_first(finder, words, placing->left_count, found, error);
    for (size_t i = 0; i < placing->left_count && status == NIGH_OK; i++) {
        if (found[i].document == NIGH_ALL_64) continue;
        found[i].document += base_of(placing);
        placing->known[placing->left_of[i]] = found[i];
    }
    return status;
}

static nigh_status find_here(struct placing *placing, nigh_error *error) {
    nigh_results *found = NULL;
    if (placing->options.mode == NIGH_FIND_FIRST && nigh__growing_takes_few(placing->finder, placing->left_count))
        return find_few(placing, error);
    const nigh_status status =
        nigh_growing_finder_find(placing->finder, placing->left, placing->left_count, &placing->options, &found, error);
    for (size_t i = 0; i < placing->left_count && status == NIGH_OK; i++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(found, i, &count);
        if (count == 0) continue;
        placing->known[placing->left_of[i]] = matches[0];
        placing->known[placing->left_of[i]].document += base_of(placing);
    }
    nigh_results_free(found);
    return status;
}

static void out_clear(nigh_placed *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = (nigh_placed){.match = NIGH_ALL_64, .number = NIGH_ALL_64, .cluster = NIGH_ALL_64};
}

static nigh_status place_piece(struct placing *placing, nigh_error *error) {
    nigh_growing_finder *finder = placing->finder;
    nigh__distinct_copy(placing->words, finder->words, placing->rows, placing->count,
                        nigh__row_bytes(finder->options.width_bits));
    nigh_status status = find_elsewhere(placing, error);
    if (status == NIGH_OK) status = find_here(placing, error);
    if (status == NIGH_OK && finder->rows + placing->count >= UINT32_MAX)
        status = nigh__fail(error, NIGH_ELIMIT, "a finder takes fewer than %u rows", UINT32_MAX);
    placing->added_count = 0;
    for (size_t i = 0; i < placing->count && status == NIGH_OK; i++) status = place_row(placing, i);
    if (status == NIGH_OK) {
        status = nigh__growing_add(finder, placing->added_rows, placing->added_count,
                                   placing->options.add_matched ? placing->clusters : NULL, error);
    }
    if (status != NIGH_OK) out_clear(placing->out, placing->count);
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
    if (status == NIGH_OK) status = placing_init(&placing, count, error);
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
                                const struct nigh__growing_place *place, nigh_placed *out, nigh_error *error) {
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = NIGH_FIND_FIRST;
    options.threads = place->threads;
    return place_all((struct placing){.finder = finder, .place = place}, rows, count, &options, out, error);
}
