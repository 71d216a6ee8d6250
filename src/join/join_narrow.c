/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Narrow rows, of one word and few bits apart, all with all: by 32 bits of each, many
 * at a time in a kernel, and whole only where these differ in few.
 */
#include <string.h>

#include "join/join_bucket.h"

#define TILE NIGH__JOIN_NARROW_TILE
#define AHEAD 8u /* pairs that are fetched before they are told */

/* Whether a pair is near enough, and this is the first place that brings it together.  Guessing ways costs more. */
static bool is_told_here(const struct nigh__join_place *place, uint64_t differing, uint32_t radius) {
    bool told = (differing & place->within) == 0;
    for (uint32_t i = 0; i < place->mask_count; i++) told &= (differing & place->masks[i]) != 0;
    return told & (nigh__join_count_bits(differing) <= radius);
}

/* Rows of a bucket from one on, and 32 bits of each, folded: they differ in no more than the rows do. */
struct tile {
    const struct nigh__join_rows *set;
    size_t from;
    const uint64_t *rows;
    uint32_t *rest;
    size_t count;
};

static struct tile tile_of(const struct nigh__join_rows *set, size_t from, size_t to, uint32_t *rest) {
    const size_t count = to - from < TILE ? to - from : TILE;
    const uint64_t *rows = set->rows + from;
    for (size_t i = 0; i < count; i++) rest[i] = (uint32_t)(rows[i] ^ rows[i] >> 32);
    memset(rest + count, 0, NIGH__PAIRS_PADDING * sizeof *rest);
    return (struct tile){.set = set, .from = from, .rows = rows, .rest = rest, .count = count};
}

static uint64_t number_at(const struct tile *tile, uint32_t place) {
    return nigh__join_number(tile->set, tile->from + place);
}

/* Tells what the kernel found of two tiles; false: nothing more is to be done. */
static bool tell_hits(struct nigh__join_worker *worker, const struct tile *a, const struct tile *b, size_t found,
                      const struct nigh__join_place *place) {
    struct nigh__pair_hit *hits = worker->pair_hits;
    const uint32_t radius = worker->join->options.radius;
    size_t kept = 0;
    for (size_t i = 0; i < found; i++) {
        const struct nigh__pair_hit hit = hits[i];
        hits[kept] = hit;
        kept += is_told_here(place, a->rows[hit.query] ^ b->rows[hit.row], radius);
    }
    for (size_t i = 0; i < kept; i++) {
        const size_t ahead = i + AHEAD < kept ? i + AHEAD : i;
        nigh__join_tell_soon(worker, number_at(a, hits[ahead].query), number_at(b, hits[ahead].row));
        const struct nigh__pair_hit hit = hits[i];
        const uint32_t distance = nigh__join_count_bits(a->rows[hit.query] ^ b->rows[hit.row]);
        if (!nigh__join_tell(worker, number_at(a, hit.query), number_at(b, hit.row), distance)) return false;
    }
    return true;
}

/* Two tiles, or one with itself; false: nothing more is to be done. */
static bool compare_tiles(struct nigh__join_worker *worker, const struct tile *a, const struct tile *b,
                          const struct nigh__join_place *place) {
    const struct nigh__join *join = worker->join;
    const struct nigh__pair_task task = {.queries = a->rest,
                                         .query_count = a->count,
                                         .rows = b->rest,
                                         .row_count = b->count,
                                         .radius = join->options.radius,
                                         .self = a == b};
    worker->compared += task.self ? a->count * (a->count - 1) / 2 : a->count * b->count;
    for (size_t next = 0; next < task.query_count;) {
        const size_t found = join->kernel->find(&task, &next, worker->pair_hits, NIGH__JOIN_PAIR_HITS);
        if (!tell_hits(worker, a, b, found, place)) return false;
    }
    return true;
}

void nigh__join_compare_narrow(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                               size_t to, const struct nigh__join_place *place) {
    const struct nigh__join_rows *others = &bucket->second;
    for (size_t x = from; x < to; x += TILE) {
        const struct tile a = tile_of(&bucket->first, x, to, worker->query_rest);
        size_t y = 0;
        if (bucket->self) { /* the tile with itself, then with what follows */
            if (!compare_tiles(worker, &a, &a, place)) return;
            if (!nigh__join_keep_on(worker, bucket, x, a.count * a.count / 2)) return;
            y = x + a.count;
        }
        for (; y < others->count; y += TILE) {
            const struct tile b = tile_of(others, y, others->count, worker->tile_rest);
            if (!compare_tiles(worker, &a, &b, place)) return;
            if (!nigh__join_keep_on(worker, bucket, x, a.count * b.count)) return;
        }
    }
}
