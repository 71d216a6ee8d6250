/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing the rows of a bucket all with all.  Wide rows are compared here, by the
 * distance kernel, 64 with a tile of others; narrow ones in join_narrow.c.
 *
 * A pair comes up wherever it agrees, and is told only there where it agrees first,
 * among the tables and then among the parts of a bucket.
 */
#include "join/join_bucket.h"
#include "kernel/hamming.h"

static bool agree_in_part(const struct nigh__join_parts *parts, uint32_t part, const uint64_t *a, const uint64_t *b) {
    const uint32_t last = (parts->bounds[part + 1] - 1) / 64;
    uint64_t differing = 0;
    for (uint32_t w = parts->bounds[part] / 64; w <= last; w++)
        differing |= (a[w] ^ b[w]) & nigh__join_part_mask(parts, part, w);
    return differing == 0;
}

struct nigh__join_place nigh__join_place_in(const struct nigh__join *join, const struct nigh__join_bucket *bucket) {
    struct nigh__join_place place = {.table = bucket->table};
    place.key = nigh__join_block(join, bucket->table);
    for (uint32_t t = 0; join->narrow && t < bucket->table; t++) {
        const struct nigh__join_key key = nigh__join_block(join, t);
        place.masks[place.mask_count++] = ((UINT64_C(1) << key.bits) - 1) << key.start;
    }
    return place;
}

/* Whether this part brings the two together, and no table before this one nor a part before this one. */
static bool is_first(const struct nigh__join *join, const struct nigh__join_place *place, const uint64_t *a,
                     const uint64_t *b) {
    for (uint32_t t = 0; t < place->table; t++) {
        const struct nigh__join_key key = nigh__join_block(join, t);
        if (nigh__join_bits(a, join->width_bits, key) == nigh__join_bits(b, join->width_bits, key)) return false;
    }
    if (place->parts == NULL) return true;
    for (uint32_t p = 0; p < place->part; p++) {
        if (agree_in_part(place->parts, p, a, b)) return false;
    }
    return agree_in_part(place->parts, place->part, a, b); /* not only in the hash of it */
}

const uint64_t *nigh__join_fetch(struct nigh__join_worker *worker, const struct nigh__join_rows *set, size_t from,
                                 size_t count, uint64_t *fetched) {
    struct nigh__join *join = worker->join;
    if (set->rows != NULL) return set->rows + from * join->words;
    nigh_error error = {.status = NIGH_OK};
    for (size_t i = 0; i < count; i++) {
        nigh_status status =
            nigh__join_read(join, nigh__join_number(set, from + i), 1, fetched + i * join->words, &error);
        if (status == NIGH_OK) continue;
        nigh__join_fail(join, status, &error);
        return NULL;
    }
    return fetched;
}

/* Some queries, numbered from x, with a tile of rows, numbered from y. */
static bool compare_wide(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket,
                         const uint64_t *queries, size_t x, size_t query_count, const uint64_t *tile, size_t y,
                         size_t count, const struct nigh__join_place *place) {
    struct nigh__join *join = worker->join;
    const uint32_t words = join->words;
    uint32_t limits[NIGH__BATCH_QUERIES];
    for (size_t q = 0; q < query_count; q++) limits[q] = join->options.radius + 1;
    const size_t found = join->context->hamming->batch(queries, query_count, tile, count, words, limits, worker->hits);
    worker->compared += query_count * count;
    for (size_t h = 0; h < found; h++) {
        const struct nigh__hit *hit = &worker->hits[h];
        if (bucket->self && y + hit->row <= x + hit->query) continue;
        if (!is_first(join, place, queries + (size_t)hit->query * words, tile + (size_t)hit->row * words)) continue;
        if (!nigh__join_tell(worker, nigh__join_number(&bucket->first, x + hit->query),
                             nigh__join_number(&bucket->second, y + hit->row), hit->distance))
            return false;
    }
    return !nigh__join_failed(join);
}

static void compare_wide_range(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                               size_t to, const struct nigh__join_place *place) {
    const struct nigh__join_rows *b = &bucket->second;
    const size_t tile_most = nigh__join_wide_tile(worker->join);
    for (size_t y = bucket->self ? from + 1 : 0; y < b->count; y += tile_most) {
        const size_t count = b->count - y < tile_most ? b->count - y : tile_most;
        const size_t end = bucket->self && to > y + count ? y + count : to;
        const uint64_t *tile = nigh__join_fetch(worker, b, y, count, worker->tile_rows);
        for (size_t x = from; x < end && tile != NULL; x += NIGH__BATCH_QUERIES) {
            const size_t queries = end - x < NIGH__BATCH_QUERIES ? end - x : NIGH__BATCH_QUERIES;
            const uint64_t *rows = nigh__join_fetch(worker, &bucket->first, x, queries, worker->query_rows);
            if (rows == NULL || !compare_wide(worker, bucket, rows, x, queries, tile, y, count, place)) return;
            if (!nigh__join_keep_on(worker, bucket, from, queries * count * worker->join->words)) return;
        }
        if (tile == NULL) return;
    }
}

void nigh__join_compare_in(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                           size_t to, const struct nigh__join_place *place) {
    if (worker->join->narrow)
        nigh__join_compare_narrow(worker, bucket, from, to, place);
    else
        compare_wide_range(worker, bucket, from, to, place);
}

void nigh__join_compare(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                        size_t to) {
    const struct nigh__join_place place = nigh__join_place_in(worker->join, bucket);
    nigh__join_compare_in(worker, bucket, from, to, &place);
}
