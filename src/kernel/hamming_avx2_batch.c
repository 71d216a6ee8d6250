/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many queries at once, with AVX2: twice as fast as one after the other.
 *
 * Counting bits by a table of sixteen (hamming_avx2.c) costs eight operations
 * for 32 bytes of row and query: xor, two masks, a shift, two look-ups, two
 * additions.  Most of that only prepares the row for the table, again for each
 * query, because the table always answers "how many bits are set".  A table
 * can as well answer "how many bits differ from THIS half-byte of the query";
 * then the xor is gone and the halves can be split once for all queries.  But
 * the shuffle has one table for all its 16 lanes, so all lanes must meet the
 * same half-byte of the query: the rows have to be turned on their side.
 *
 *     rows as they lie                     a tile: nibble n of 64 rows
 *
 *     row 0   n0 n1 n2 n3 ...              nibbles[0]   row 0 row 1 ... row 63
 *     row 1   n0 n1 n2 n3 ...     turn     nibbles[1]   row 0 row 1 ... row 63
 *     ...                        ----->    nibbles[2]   ...
 *     row 63  n0 n1 n2 n3 ...
 *
 * Two queries share a look-up: the table of a pair answers with the distance
 * to the first query in the lower half of a byte and to the second in the
 * upper.  A distance of nibbles is at most 4, so three answers p = f + 16 s may
 * be added before a half overflows (12 < 16).  Then
 *
 *     a += p                 modulo 256: a = F + 16 S
 *     b += p >> 4            b = S, exact up to 255
 *
 * and F = a - 16 b modulo 256, again exact up to 255, without ever having
 * separated f.  That is 9 operations for 3 nibbles, 32 rows and 2 queries: 3
 * for 32 bytes and a query instead of 8, and nothing to add across at the end.
 * There are only 256 tables, one for each pair of query nibbles: 4 KB, fixed.
 * After 60 nibbles (240 <= 255) the sums move to 16 bits.
 *
 * Leaving early.  Three quarters of the bits are looked at first.  Where they
 * already put all 64 rows as far from both queries of a pair as their limits,
 * the rest changes nothing; where that is so for all pairs, the rest is not even
 * turned.  For a query that has near rows this is nearly every tile: unrelated
 * rows differ in half the bits, 384 +- 14 of the first 768, and the limit is the
 * k-th distance so far.  Where it does not help, the next 31 tiles go without.
 * A border at a half would gain little more: 256 +- 11 of 512 is not far enough
 * from the limits of most queries.
 *
 * Turning costs about as much as three queries, so this pays from four on
 * (from sixteen for rows of one word, which are cheap as they lie).  A tile of
 * 64 rows by 16 words makes 16 KB of nibbles, half the first-level cache; wider
 * rows are done in more passes.  While the queries pass over a tile, they ask
 * for the memory of the next, a little at a time.
 *
 * Measured (Zen 3 at 3.24 GHz, 1,024 bits, from the cache): turning 14 cycles a
 * row; then 4.5 cycles for a row and a query, of which 3.7 in the inner loop,
 * against 10.3 for rows as they lie.  In all 7.2 at 8 queries and 5.0 at 64; 5.5
 * and 3.8 where tiles are left early.  Tiles of 96 rows need as many cycles, and
 * leave no room in the cache for the rows to come; sharing the nibbles between
 * two pairs of queries made gcc spill.
 */
#include "kernel/hamming_parts.h"

#if defined(__x86_64__)

#include <assert.h>
#include <immintrin.h>

#include "kernel/hamming_avx2.h"
#include "kernel/tile_avx2.h"

#define MAX_WORDS 512 /* distances up to 32,768 fit into 16 bits */
#define MAX_PAIRS (NIGH__BATCH_QUERIES / 2)
#define TILES_IN_VAIN 31 /* where the border did not help, it costs 7 % */

/* ---------------------------------------------------------------- the tables */

#define ANSWER(pair, n) (BITS4(((pair)&15) ^ (n)) + 16 * BITS4(((pair) >> 4) ^ (n)))

/* By the nibble of the first query and 16 times that of the second. */
static const uint8_t tables[256][TABLE_SIZE] __attribute__((aligned(64))) = NIGH__TABLES;

/* For one pair of queries: where in `tables` the table of each nibble begins. */
struct pair_query {
    uint16_t offsets[PASS_NIBBLES];
};

INLINE void pair_query_set(uint16_t *offsets, const uint64_t *first, const uint64_t *second, size_t words) {
    for (size_t w = 0; w < words; w++)
        _mm256_storeu_si256((__m256i *)(void *)(offsets + 16 * w), word_offsets(first[w], second[w]));
    for (size_t n = 16 * words; n < whole_rounds(16 * words); n++) offsets[n] = 0; /* meets nibbles that are zero too */
}

/* -------------------------------------------------------------- reading ahead */

/* `steps` pieces of `bytes` each, `stride` apart, of which every flush asks for a few. */
struct ahead {
    const char *at;
    size_t stride;
    size_t bytes;
    size_t steps;
    size_t steps_a_flush;
};

/* To the second-level cache: the first has no room to spare while a tile is in it. */
INLINE void ahead_lines(const char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, 0, 2);
}

INLINE void ahead_some(struct ahead *ahead) {
    size_t steps = ahead->steps < ahead->steps_a_flush ? ahead->steps : ahead->steps_a_flush;
    ahead->steps -= steps;
    for (; steps > 0; steps--, ahead->at += ahead->stride) ahead_lines(ahead->at, ahead->bytes);
}

/* -------------------------------------------------------------- the distances */

INLINE void three_nibbles(const __m256i (*nibbles)[GROUPS], const uint16_t *offsets, __m256i *a, __m256i *b) {
    add_three(nibbles, table_at(tables, offsets[0]), table_at(tables, offsets[1]), table_at(tables, offsets[2]), a, b);
}

/* Adds the distances of one pair of queries to all rows of a tile. */
TARGET static void tile_add(const __m256i (*nibbles)[GROUPS], size_t count, const uint16_t *offsets,
                            struct pair_sums *sums, struct ahead *ahead) {
    for (size_t start = 0; start < count; start += FLUSH_NIBBLES) {
        const size_t end = count - start < FLUSH_NIBBLES ? count : start + FLUSH_NIBBLES;
        __m256i a[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        __m256i b[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        ahead_some(ahead);
        for (size_t n = start; n < end; n += ROUND_NIBBLES) {
            three_nibbles(nibbles + n, offsets + n, a, b);
            three_nibbles(nibbles + n + 3, offsets + n + 3, a, b);
        }
        NIGH__UNROLL4
        for (size_t g = 0; g < GROUPS; g++) flush_pair(sums, g, a[g], b[g]);
    }
}

/* ------------------------------------------------------------------- the batch */

/* 41 KB of the stack. */
struct workspace {
    struct tile tile;
    struct pair_query prepared[MAX_PAIRS];
    struct pair_sums sums[MAX_PAIRS];
    bool open[MAX_PAIRS]; /* some row of the tile may still be near enough */
};

struct batch {
    const uint64_t *queries;
    size_t query_count;
    size_t pairs;
    size_t words;
    const uint32_t *limits;
    size_t border;  /* where a pass may end, so that the rest can be left out */
    size_t cut;     /* the border, or 0 where this tile goes without */
    size_t in_vain; /* so many tiles go without, for at the last one that did not it was no help */
    struct workspace *work;
};

/* A part of the words of all rows, which is turned and added at once. */
struct pass {
    size_t first_word;
    size_t words;
    size_t first_nibble; /* in tile and prepared, which hold all words of narrow rows and one pass of wide ones */
    bool last;
};

static struct pass next_pass(const struct batch *batch, size_t first_word) {
    size_t end = batch->words;
    if (first_word < batch->cut) end = batch->cut;
    if (end - first_word > PASS_WORDS) end = first_word + PASS_WORDS;
    const size_t nibble = batch->words > PASS_WORDS ? 0 : first_word * 16;
    return (struct pass){first_word, end - first_word, nibble, end == batch->words};
}

/* The last of an odd number of queries is paired with itself. */
TARGET static void batch_prepare(struct batch *batch, size_t first_word, size_t words) {
    for (size_t p = 0; p < batch->pairs; p++) {
        const uint64_t *first = batch->queries + 2 * p * batch->words + first_word;
        const uint64_t *second = 2 * p + 1 < batch->query_count ? first + batch->words : first;
        pair_query_set(batch->work->prepared[p].offsets, first, second, words);
    }
}

/* What to ask for during a pass: the same words of the next tile; of narrow rows all words, in the first pass. */
static struct ahead ahead_of(const struct batch *batch, const uint64_t *tile_rows, const struct pass *pass) {
    const size_t row_bytes = batch->words * sizeof(uint64_t);
    const uint64_t *next = tile_rows + NIGH__TILE_ROWS * batch->words;
    const size_t flushes = batch->pairs * (pass->words * 16 / FLUSH_NIBBLES);
    struct ahead ahead = {.at = (const char *)next, .stride = 64, .bytes = 64};
    if (batch->words > PASS_WORDS) {
        ahead.at = (const char *)(next + pass->first_word);
        ahead.stride = row_bytes;
        ahead.bytes = pass->words * sizeof(uint64_t);
        ahead.steps = NIGH__TILE_ROWS;
    } else if (pass->first_word == 0) {
        ahead.steps = row_bytes; /* 64 rows have as many lines of 64 bytes as one row has bytes */
    }
    ahead.steps_a_flush = 1 + ahead.steps / (1 + flushes);
    return ahead;
}

/* Whether the tile has to be looked at further for a pair of queries. */
TARGET static bool still_open(const struct batch *batch, size_t pair) {
    for (size_t i = 0; i < 2 && 2 * pair + i < batch->query_count; i++) {
        if (any_below(&batch->work->sums[pair].of[i], bound_of(batch->limits[2 * pair + i]))) return true;
    }
    return false;
}

/* One pass over a tile.  Returns how many pairs of queries are still open. */
TARGET static size_t tile_pass(struct batch *batch, const uint64_t *tile_rows, const struct pass *pass) {
    const uint8_t *from = (const uint8_t *)(tile_rows + pass->first_word);
    const size_t n = pass->first_nibble;
    const size_t nibbles = tile_turn(batch->work->tile.nibbles + n, from, batch->words * 8, pass->words);
    if (batch->words > PASS_WORDS) batch_prepare(batch, pass->first_word, pass->words);
    struct ahead ahead = ahead_of(batch, tile_rows, pass);
    size_t open = 0;
    for (size_t p = 0; p < batch->pairs; p++) {
        if (!batch->work->open[p]) continue;
        tile_add((const __m256i(*)[GROUPS])(batch->work->tile.nibbles + n), nibbles,
                 batch->work->prepared[p].offsets + n, &batch->work->sums[p], &ahead);
        if (!pass->last) batch->work->open[p] = still_open(batch, p);
        if (batch->work->open[p]) open++;
    }
    return open;
}

TARGET static size_t tile_scan(struct batch *batch, const uint64_t *tile_rows, size_t first_row,
                               struct nigh__hit *hits) {
    memset(batch->work->sums, 0, batch->pairs * sizeof batch->work->sums[0]);
    memset(batch->work->open, true, batch->pairs * sizeof batch->work->open[0]);
    batch->cut = batch->in_vain == 0 ? batch->border : 0;
    if (batch->in_vain > 0) batch->in_vain--;
    for (struct pass pass = next_pass(batch, 0);; pass = next_pass(batch, pass.first_word + pass.words)) {
        const size_t open = tile_pass(batch, tile_rows, &pass);
        if (open == 0) return 0;
        if (pass.last) break;
        if (pass.first_word + pass.words == batch->cut && 4 * open > 3 * batch->pairs) batch->in_vain = TILES_IN_VAIN;
    }
    size_t found = 0;
    for (size_t q = 0; q < batch->query_count; q++) {
        if (!batch->work->open[q / 2]) continue;
        found += tile_hits(&batch->work->sums[q / 2].of[q % 2], (uint32_t)q, bound_of(batch->limits[q]), first_row,
                           hits + found);
    }
    return found;
}

/* Three quarters; of narrow rows whole rounds of nibbles (6 words), so that their passes meet without padding. */
static size_t border_of(size_t words) {
    if (words < 8) return 0;
    return words <= PASS_WORDS ? words * 3 / 4 / 6 * 6 : words * 3 / 4;
}

bool nigh__avx2_tiles_pay(size_t query_count, size_t words) {
    return query_count >= (words == 1 ? 16 : 4) && words <= MAX_WORDS;
}

size_t nigh__avx2_tiles(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                        const uint32_t *limits, struct nigh__hit *hits) {
    assert(query_count <= NIGH__BATCH_QUERIES && words <= MAX_WORDS);
    struct workspace work;
    struct batch batch = {.queries = queries,
                          .query_count = query_count,
                          .pairs = (query_count + 1) / 2,
                          .words = words,
                          .limits = limits,
                          .border = border_of(words),
                          .work = &work};
    if (words <= PASS_WORDS) batch_prepare(&batch, 0, words);
    size_t found = 0;
    for (size_t row = 0; row < count; row += NIGH__TILE_ROWS)
        found += tile_scan(&batch, rows + row * words, row, hits + found);
    return found;
}

#else

typedef int nigh__no_avx2_batch; /* a file must hold something */

#endif
