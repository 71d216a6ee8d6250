/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many queries with masks at once, with AVX2.  As hamming_avx2_batch.c does, but that a
 * table depends on half a byte of the query and of its mask.  For one query there are 256
 * of these; for a pair, whose answers share a byte, there would be 65,536.  So the table of
 * a pair is put together from one of each query on the way: an instruction and a load more
 * for 64 rows.
 */
#include "base/assert.h"
#include "kernel/tile_avx2.h"
#include "kernel/weighted_parts.h"

#if defined(__x86_64__)

#define MAX_PAIRS (NIGH__BATCH_QUERIES / 2)

/* Of a mask, and what the query has set in it. */
#define ANSWER(pair, n) BITS4((((pair)&15) ^ (n)) & ((pair) >> 4))

static const uint8_t first_tables[256][TABLE_SIZE] __attribute__((aligned(64))) = NIGH__TABLES;

#undef ANSWER
#define ANSWER(pair, n) (16 * BITS4((((pair)&15) ^ (n)) & ((pair) >> 4)))

static const uint8_t second_tables[256][TABLE_SIZE] __attribute__((aligned(64))) = NIGH__TABLES;

/* 58 KB of the stack. */
struct workspace {
    __m256i nibbles[PASS_NIBBLES][GROUPS];
    uint16_t offsets[NIGH__BATCH_QUERIES][PASS_NIBBLES]; /* where in its tables those of a query begin */
    struct pair_sums sums[MAX_PAIRS];
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

INLINE __m256i pair_table(const uint16_t *first, const uint16_t *second, size_t nibble) {
    return _mm256_or_si256(table_at(first_tables, first[nibble]), table_at(second_tables, second[nibble]));
}

INLINE void three_nibbles(const __m256i (*nibbles)[GROUPS], const uint16_t *first, const uint16_t *second, size_t n,
                          __m256i *a, __m256i *b) {
    add_three(nibbles + n, pair_table(first, second, n), pair_table(first, second, n + 1),
              pair_table(first, second, n + 2), a, b);
}

/* Adds the distances of a pair of queries to all rows of a tile. */
TARGET static void tile_add(const __m256i (*nibbles)[GROUPS], size_t count, const uint16_t *first,
                            const uint16_t *second, struct pair_sums *sums) {
    for (size_t start = 0; start < count; start += FLUSH_NIBBLES) {
        const size_t end = count - start < FLUSH_NIBBLES ? count : start + FLUSH_NIBBLES;
        __m256i a[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        __m256i b[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (size_t n = start; n < end; n += ROUND_NIBBLES) {
            three_nibbles(nibbles, first, second, n, a, b);
            three_nibbles(nibbles, first, second, n + 3, a, b);
        }
        NIGH__UNROLL4
        for (size_t g = 0; g < GROUPS; g++) flush_pair(sums, g, a[g], b[g]);
    }
}

/* One pass over a tile, which asks for the same words of the next.  The last of an odd number is paired with itself. */
TARGET static void tile_pass(const struct batch *batch, const uint64_t *rows, size_t words) {
    NIGH__ASSERT(batch->query_count > 0);
    struct workspace *work = batch->work;
    const uint64_t *next = rows + NIGH__TILE_ROWS * batch->words;
    const size_t share = ((size_t)2 * NIGH__TILE_ROWS + batch->query_count - 1) / batch->query_count; /* of a pair */
    const size_t nibbles = tile_turn(work->nibbles, (const uint8_t *)rows, batch->words * sizeof *rows, words);
    for (size_t q = 0; q < batch->query_count; q += 2) {
        const size_t second = q + 1 < batch->query_count ? q + 1 : q;
        for (size_t r = q / 2 * share; r < (q / 2 + 1) * share && r < NIGH__TILE_ROWS; r++)
            nigh__ahead(next + r * batch->words, words * sizeof *next);
        tile_add((const __m256i(*)[GROUPS])work->nibbles, nibbles, work->offsets[q], work->offsets[second],
                 &work->sums[q / 2]);
    }
}

TARGET static void tile_scan(const struct batch *batch, const uint64_t *rows) {
    memset(batch->work->sums, 0, (batch->query_count + 1) / 2 * sizeof batch->work->sums[0]);
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
            found += tile_hits(&work.sums[q / 2].of[q % 2], (uint32_t)q, bound_of(limits[q]), row, hits + found);
    }
    return found;
}

#else

typedef int nigh__no_masked_tiles; /* a file must hold something */

#endif
