/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many queries with masks at once, with AVX2.  As weighted_avx2_batch.c does, but that half
 * a byte of a query and of its mask can have but 256 tables, which need not be made: so all
 * queries of a batch pass over a tile, and it is turned once.
 */
#include "base/assert.h"
#include "kernel/tile_avx2.h"
#include "kernel/weighted_parts.h"

#if defined(__x86_64__)

#define FLUSH_NIBBLES 60 /* whole rounds; times 4 it fits into a byte */

/* Of a mask, and what the query has set in it. */
#define ANSWER(pair, n) BITS4((((pair)&15) ^ (n)) & ((pair) >> 4))

static const uint8_t tables[256][TABLE_SIZE] __attribute__((aligned(64))) = NIGH__TABLES;

/* 58 KB of the stack. */
struct workspace {
    __m256i nibbles[PASS_NIBBLES][GROUPS];
    uint16_t offsets[NIGH__BATCH_QUERIES][PASS_NIBBLES]; /* where in `tables` those of a query begin */
    struct tile_sums sums[NIGH__BATCH_QUERIES];
};

struct batch {
    const uint64_t *queries;
    const uint64_t *masks;
    size_t query_count;
    size_t words;
    struct workspace *work;
};

/* A nibble that pads has a mask of 0. */
TARGET static void batch_prepare(const struct batch *batch, size_t first_word, size_t words) {
    for (size_t q = 0; q < batch->query_count; q++) {
        const uint64_t *query = batch->queries + q * batch->words + first_word;
        const uint64_t *mask = batch->masks + q * batch->words + first_word;
        uint16_t *offsets = batch->work->offsets[q];
        for (size_t w = 0; w < words; w++)
            _mm256_storeu_si256((__m256i *)(void *)(offsets + 16 * w), word_offsets(query[w] & mask[w], mask[w]));
        for (size_t n = 16 * words; n < whole_rounds(16 * words); n++) offsets[n] = 0;
    }
}

/* Adds the distances of one query to all rows of a tile. */
TARGET static void tile_add(const __m256i (*nibbles)[GROUPS], size_t count, const uint16_t *offsets,
                            struct tile_sums *sums) {
    for (size_t start = 0; start < count; start += FLUSH_NIBBLES) {
        const size_t end = count - start < FLUSH_NIBBLES ? count : start + FLUSH_NIBBLES;
        __m256i bytes[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (size_t n = start; n < end; n += ROUND_NIBBLES) {
            NIGH__UNROLL8
            for (size_t i = n; i < n + ROUND_NIBBLES; i++) {
                const __m256i table = table_at(tables, offsets[i]);
                NIGH__UNROLL4
                for (size_t g = 0; g < GROUPS; g++)
                    bytes[g] = _mm256_add_epi8(bytes[g], _mm256_shuffle_epi8(table, nibbles[i][g]));
            }
        }
        NIGH__UNROLL4
        for (size_t g = 0; g < GROUPS; g++) widen(sums, g, bytes[g]);
    }
}

/* One pass over a tile, which asks for the same words of the next. */
TARGET static void tile_pass(const struct batch *batch, const uint64_t *rows, size_t words) {
    NIGH__ASSERT(batch->query_count > 0);
    const uint64_t *next = rows + NIGH__TILE_ROWS * batch->words;
    const size_t share = (NIGH__TILE_ROWS + batch->query_count - 1) / batch->query_count;
    const size_t nibbles = tile_turn(batch->work->nibbles, (const uint8_t *)rows, batch->words * sizeof *rows, words);
    for (size_t q = 0; q < batch->query_count; q++) {
        for (size_t r = q * share; r < (q + 1) * share && r < NIGH__TILE_ROWS; r++)
            nigh__ahead(next + r * batch->words, words * sizeof *next);
        tile_add((const __m256i(*)[GROUPS])batch->work->nibbles, nibbles, batch->work->offsets[q],
                 &batch->work->sums[q]);
    }
}

TARGET static void tile_scan(const struct batch *batch, const uint64_t *rows) {
    memset(batch->work->sums, 0, batch->query_count * sizeof batch->work->sums[0]);
    for (size_t word = 0; word < batch->words; word += PASS_WORDS) {
        const size_t words = batch->words - word < PASS_WORDS ? batch->words - word : PASS_WORDS;
        if (batch->words > PASS_WORDS) batch_prepare(batch, word, words);
        tile_pass(batch, rows + word, words);
    }
}

size_t nigh__masked_tiles(const uint64_t *queries, const uint64_t *masks, size_t query_count, const uint64_t *rows,
                          size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits) {
    struct workspace work;
    const struct batch batch = {queries, masks, query_count, words, &work};
    if (words <= PASS_WORDS) batch_prepare(&batch, 0, words);
    size_t found = 0;
    for (size_t row = 0; row < count; row += NIGH__TILE_ROWS) {
        tile_scan(&batch, rows + row * words);
        for (size_t q = 0; q < query_count; q++)
            found += tile_hits(&work.sums[q], (uint32_t)q, bound_of(limits[q]), row, hits + found);
    }
    return found;
}

#else

typedef int nigh__no_masked_tiles; /* a file must hold something */

#endif
