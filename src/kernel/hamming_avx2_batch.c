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
 * k-th distance so far.  A border at a half would gain little more: 256 +- 11 of
 * 512 is not far enough from the limits of most queries.
 *
 * Turning costs about as much as three queries, so this pays from four on
 * (from sixteen for rows of one word, which are cheap as they lie).  A tile of
 * 64 rows by 16 words makes 16 KB of nibbles, half the first-level cache; wider
 * rows are done in more passes.  While the queries pass over a tile, they ask
 * for the memory of the next, a little at a time.
 *
 * Measured (Zen 3 at 3.24 GHz, 1,024 bits, from the cache): turning 15 cycles a
 * row; then 4.6 cycles for a row and a query, of which 3.7 in the inner loop,
 * against 10.5 to 11 for rows as they lie.  In all 7.5 at 8 queries and 5.2 at
 * 64; 5.6 and 3.8 where tiles are left early (and 7.0 and 4.8 without the border,
 * so that far queries pay 7 % for it).  Tiles of 96 rows need as many cycles, and
 * leave no room in the cache for the rows to come; sharing the nibbles between
 * two pairs of queries made gcc spill.
 */
#include "kernel/hamming_parts.h"

#if defined(__x86_64__)

#include <assert.h>
#include <immintrin.h>

#include "kernel/hamming_avx2.h"

#define TARGET NIGH__TARGET_AVX2
#define INLINE TARGET NIGH__INLINE

#define GROUPS 2 /* registers of 32 rows each in a tile */
#define GROUP_ROWS 32
#define PASS_WORDS 16u
#define ROUND_NIBBLES 6  /* twice the three that a byte holds: fewer rounds */
#define PASS_NIBBLES 258 /* 16 words of 16, up to whole rounds */
#define FLUSH_NIBBLES 60 /* whole rounds; times 4 it fits into a byte */
#define MAX_WORDS 512    /* distances up to 32,768 fit into 16 bits */
#define MAX_PAIRS (NIGH__BATCH_QUERIES / 2)
#define MAX_PASSES (MAX_WORDS / PASS_WORDS + 1)

_Static_assert(NIGH__TILE_ROWS == GROUPS * GROUP_ROWS, "a tile");

/* ---------------------------------------------------------------- the tables */

#define BITS4(n) (((n)&1) + (((n) >> 1) & 1) + (((n) >> 2) & 1) + (((n) >> 3) & 1))
#define ANSWER(pair, n) (BITS4(((pair)&15) ^ (n)) + 16 * BITS4(((pair) >> 4) ^ (n)))
#define ANSWERS4(pair, n) ANSWER(pair, n), ANSWER(pair, (n) + 1), ANSWER(pair, (n) + 2), ANSWER(pair, (n) + 3)
#define TABLE(pair) \
    { ANSWERS4(pair, 0), ANSWERS4(pair, 4), ANSWERS4(pair, 8), ANSWERS4(pair, 12) }
#define TABLES4(pair) TABLE(pair), TABLE((pair) + 1), TABLE((pair) + 2), TABLE((pair) + 3)
#define TABLES16(pair) TABLES4(pair), TABLES4((pair) + 4), TABLES4((pair) + 8), TABLES4((pair) + 12)
#define TABLES64(pair) TABLES16(pair), TABLES16((pair) + 16), TABLES16((pair) + 32), TABLES16((pair) + 48)

#define TABLE_SIZE 16

/* By the nibble of the first query and 16 times that of the second. */
static const uint8_t tables[256][TABLE_SIZE]
    __attribute__((aligned(64))) = {TABLES64(0), TABLES64(64), TABLES64(128), TABLES64(192)};

static size_t whole_rounds(size_t nibbles) { return (nibbles + ROUND_NIBBLES - 1) / ROUND_NIBBLES * ROUND_NIBBLES; }

/* For one pair of queries: where in `tables` the table of each nibble begins. */
struct pair_query {
    uint16_t offsets[PASS_NIBBLES];
};

/* The offsets of 16 nibbles from one word of each query, in the order of a tile: low half of a byte, then high. */
INLINE __m256i word_offsets(const uint64_t *first, const uint64_t *second) {
    const __m128i low_half = _mm_set1_epi8(0x0f);
    __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)first);
    __m128i y = _mm_loadl_epi64((const __m128i *)(const void *)second);
    __m128i low = _mm_or_si128(_mm_and_si128(x, low_half), _mm_slli_epi16(_mm_and_si128(y, low_half), 4));
    __m128i high = _mm_or_si128(_mm_and_si128(_mm_srli_epi16(x, 4), low_half), _mm_andnot_si128(low_half, y));
    return _mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(low, high)), 4); /* times TABLE_SIZE */
}

INLINE void pair_query_set(uint16_t *offsets, const uint64_t *first, const uint64_t *second, size_t words) {
    for (size_t w = 0; w < words; w++)
        _mm256_storeu_si256((__m256i *)(void *)(offsets + 16 * w), word_offsets(first + w, second + w));
    for (size_t n = 16 * words; n < whole_rounds(16 * words); n++) offsets[n] = 0; /* meets nibbles that are zero too */
}

/* ------------------------------------------------------------------- turning */

struct tile {
    __m256i nibbles[PASS_NIBBLES][GROUPS];
};

/* Up to 16 bytes of rows i and i + 16, one in each half. */
INLINE __m256i two_rows(const uint8_t *rows, size_t stride, size_t i, bool half) {
    const __m128i *lower = (const __m128i *)(const void *)(rows + i * stride);
    const __m128i *upper = (const __m128i *)(const void *)(rows + (i + 16) * stride);
    __m128i a = half ? _mm_loadl_epi64(lower) : _mm_loadu_si128(lower);
    __m128i b = half ? _mm_loadl_epi64(upper) : _mm_loadu_si128(upper);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

/*
 * Two stages of a perfect shuffle.  Interleaving the bytes of registers i and
 * i + 8 of 16 into registers 2i and 2i + 1 four times over turns a 16 x 16
 * matrix of bytes.  Two stages at a time involve four registers only, so that
 * none spills.
 */
INLINE void two_stages(const __m256i in[4], __m256i out[4]) {
    __m256i a = _mm256_unpacklo_epi8(in[0], in[2]);
    __m256i b = _mm256_unpackhi_epi8(in[0], in[2]);
    __m256i c = _mm256_unpacklo_epi8(in[1], in[3]);
    __m256i d = _mm256_unpackhi_epi8(in[1], in[3]);
    out[0] = _mm256_unpacklo_epi8(a, c);
    out[1] = _mm256_unpackhi_epi8(a, c);
    out[2] = _mm256_unpacklo_epi8(b, d);
    out[3] = _mm256_unpackhi_epi8(b, d);
}

/* Turns 16 bytes (8 where `half`) of 32 rows into the nibbles of one group, from *nibbles on. */
INLINE void turn_group(const uint8_t *rows, size_t stride, bool half, __m256i (*nibbles)[GROUPS], size_t group) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    __m256i middle[16];
    NIGH__UNROLL4
    for (size_t i = 0; i < 4; i++) {
        __m256i in[4] = {two_rows(rows, stride, i, half), two_rows(rows, stride, i + 4, half),
                         two_rows(rows, stride, i + 8, half), two_rows(rows, stride, i + 12, half)};
        two_stages(in, &middle[4 * i]);
    }
    /* Without this the compilers keep all sixteen in registers, and spill others. */
    __asm__ volatile("" : : "r"(middle) : "memory");
    NIGH__UNROLL4
    for (size_t i = 0; i < 4; i++) {
        if (half && i >= 2) break; /* bytes 8 to 15 */
        __m256i in[4] = {middle[i], middle[i + 4], middle[i + 8], middle[i + 12]};
        __m256i bytes[4];
        two_stages(in, bytes);
        NIGH__UNROLL4
        for (size_t j = 0; j < 4; j++) {
            nibbles[8 * i + 2 * j][group] = _mm256_and_si256(bytes[j], low_half);
            nibbles[8 * i + 2 * j + 1][group] = _mm256_and_si256(_mm256_srli_epi16(bytes[j], 4), low_half);
        }
    }
}

/* Returns the number of nibbles, whole rounds; those that pad are zero. */
TARGET static size_t tile_turn(struct tile *tile, const uint8_t *rows, size_t stride, size_t words) {
    for (size_t group = 0; group < GROUPS; group++) {
        const uint8_t *from = rows + group * GROUP_ROWS * stride;
        for (size_t w = 0; w + 2 <= words; w += 2)
            turn_group(from + w * 8, stride, false, &tile->nibbles[w * 16], group);
        if (words % 2 != 0) turn_group(from + (words - 1) * 8, stride, true, &tile->nibbles[(words - 1) * 16], group);
    }
    const size_t nibbles = whole_rounds(words * 16);
    for (size_t n = words * 16; n < nibbles; n++) {
        for (size_t group = 0; group < GROUPS; group++) tile->nibbles[n][group] = _mm256_setzero_si256();
    }
    return nibbles;
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

INLINE void ahead_some(struct ahead *ahead) {
    size_t steps = ahead->steps < ahead->steps_a_flush ? ahead->steps : ahead->steps_a_flush;
    ahead->steps -= steps;
    for (; steps > 0; steps--, ahead->at += ahead->stride) nigh__ahead(ahead->at, ahead->bytes);
}

/* -------------------------------------------------------------- the distances */

/* Of both queries of a pair: 16 bits a row, even and odd rows apart. */
struct pair_sums {
    __m256i even[2][GROUPS];
    __m256i odd[2][GROUPS];
};

INLINE __m256i table_at(uint16_t offset) {
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)((const char *)tables + offset)));
}

/* Moves the sums of bytes, a = F + 16 S and b = S, to 16 bits. */
INLINE void flush(struct pair_sums *sums, size_t group, __m256i a, __m256i b) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    const __m256i even = _mm256_set1_epi16(0x00ff);
    __m256i first = _mm256_sub_epi8(a, _mm256_andnot_si256(low_half, _mm256_slli_epi16(b, 4)));
    sums->even[0][group] = _mm256_add_epi16(sums->even[0][group], _mm256_and_si256(first, even));
    sums->odd[0][group] = _mm256_add_epi16(sums->odd[0][group], _mm256_srli_epi16(first, 8));
    sums->even[1][group] = _mm256_add_epi16(sums->even[1][group], _mm256_and_si256(b, even));
    sums->odd[1][group] = _mm256_add_epi16(sums->odd[1][group], _mm256_srli_epi16(b, 8));
}

INLINE void three_nibbles(const __m256i (*nibbles)[GROUPS], const uint16_t *offsets, __m256i *a, __m256i *b) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    const __m256i t0 = table_at(offsets[0]);
    const __m256i t1 = table_at(offsets[1]);
    const __m256i t2 = table_at(offsets[2]);
    NIGH__UNROLL4
    for (size_t g = 0; g < GROUPS; g++) {
        __m256i p = _mm256_shuffle_epi8(t0, nibbles[0][g]);
        p = _mm256_add_epi8(p, _mm256_shuffle_epi8(t1, nibbles[1][g]));
        p = _mm256_add_epi8(p, _mm256_shuffle_epi8(t2, nibbles[2][g]));
        a[g] = _mm256_add_epi8(a[g], p);
        b[g] = _mm256_add_epi8(b[g], _mm256_and_si256(_mm256_srli_epi16(p, 4), low_half));
    }
}

/* Adds the distances of one pair of queries to all rows of a tile. */
TARGET static void tile_add(const struct tile *tile, size_t nibbles, const uint16_t *offsets, struct pair_sums *sums,
                            struct ahead *ahead) {
    for (size_t start = 0; start < nibbles; start += FLUSH_NIBBLES) {
        const size_t end = nibbles - start < FLUSH_NIBBLES ? nibbles : start + FLUSH_NIBBLES;
        __m256i a[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        __m256i b[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        ahead_some(ahead);
        for (size_t n = start; n < end; n += ROUND_NIBBLES) {
            three_nibbles(&tile->nibbles[n], offsets + n, a, b);
            three_nibbles(&tile->nibbles[n + 3], offsets + n + 3, a, b);
        }
        NIGH__UNROLL4
        for (size_t g = 0; g < GROUPS; g++) flush(sums, g, a[g], b[g]);
    }
}

/* ------------------------------------------------------------------- the hits */

/* A limit in the 16 bits of the sums; no distance here is above 32,768. */
static uint16_t bound_of(uint32_t limit) { return limit > UINT16_MAX ? UINT16_MAX : (uint16_t)limit; }

/* Whether some row of the tile is nearer than the limit, which is what most tiles have none of. */
INLINE bool any_below(const __m256i even[GROUPS], const __m256i odd[GROUPS], uint16_t limit) {
    const __m256i bound = _mm256_set1_epi16((short)limit);
    __m256i below = _mm256_setzero_si256();
    NIGH__UNROLL4
    for (size_t g = 0; g < GROUPS; g++) {
        below = _mm256_or_si256(below, _mm256_subs_epu16(bound, even[g]));
        below = _mm256_or_si256(below, _mm256_subs_epu16(bound, odd[g]));
    }
    return !_mm256_testz_si256(below, below);
}

/* Even and odd rows of a group back in order. */
INLINE void put_in_order(__m256i even, __m256i odd, uint16_t out[GROUP_ROWS]) {
    __m256i lower = _mm256_unpacklo_epi16(even, odd); /* rows 0 to 7 and 16 to 23 */
    __m256i upper = _mm256_unpackhi_epi16(even, odd); /* rows 8 to 15 and 24 to 31 */
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute2x128_si256(lower, upper, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(out + 16), _mm256_permute2x128_si256(lower, upper, 0x31));
}

TARGET static size_t tile_hits(const __m256i even[GROUPS], const __m256i odd[GROUPS], uint16_t bound, uint32_t query,
                               size_t first_row, struct nigh__hit *hits) {
    if (!any_below(even, odd, bound)) return 0;
    uint16_t distances[NIGH__TILE_ROWS];
    for (size_t g = 0; g < GROUPS; g++) put_in_order(even[g], odd[g], distances + g * GROUP_ROWS);
    size_t found = 0;
    for (size_t i = 0; i < NIGH__TILE_ROWS; i++) {
        if (distances[i] < bound) hits[found++] = (struct nigh__hit){query, (uint32_t)(first_row + i), distances[i]};
    }
    return found;
}

/* ------------------------------------------------------------------- the batch */

/* A part of the words of all rows, which is turned and added at once. */
struct pass {
    size_t first_word;
    size_t words;
    size_t first_offset; /* in pair_query */
};

struct batch {
    const uint64_t *queries;
    size_t query_count;
    size_t pairs;
    size_t words;
    const uint32_t *limits;
    struct pass passes[MAX_PASSES];
    size_t pass_count;

    struct tile tile;
    struct pair_query prepared[MAX_PAIRS];
    struct pair_sums sums[MAX_PAIRS];
    bool open[MAX_PAIRS]; /* some row of the tile may still be near enough */
};

/* Cuts rows into passes of at most PASS_WORDS, with a border at three quarters. */
static void batch_plan(struct batch *batch) {
    const size_t words = batch->words;
    const size_t border = words < 8 ? words : words * 3 / 4 / 2 * 2;
    size_t offset = 0;
    for (size_t first = 0; first < words;) {
        size_t end = first < border ? border : words;
        if (end - first > PASS_WORDS) end = first + PASS_WORDS;
        batch->passes[batch->pass_count++] = (struct pass){first, end - first, offset};
        if (words <= PASS_WORDS) offset += whole_rounds((end - first) * 16);
        first = end;
    }
}

/* The last of an odd number of queries is paired with itself. */
TARGET static void batch_prepare(struct batch *batch, const struct pass *pass) {
    for (size_t p = 0; p < batch->pairs; p++) {
        const uint64_t *first = batch->queries + 2 * p * batch->words + pass->first_word;
        const uint64_t *second = 2 * p + 1 < batch->query_count ? first + batch->words : first;
        pair_query_set(batch->prepared[p].offsets + pass->first_offset, first, second, pass->words);
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
    const struct pair_sums *sums = &batch->sums[pair];
    for (size_t i = 0; i < 2 && 2 * pair + i < batch->query_count; i++) {
        if (any_below(sums->even[i], sums->odd[i], bound_of(batch->limits[2 * pair + i]))) return true;
    }
    return false;
}

/* One pass over a tile.  False where no row of it can be near enough to any query. */
TARGET static bool tile_pass(struct batch *batch, const uint64_t *tile_rows, const struct pass *pass) {
    const uint8_t *from = (const uint8_t *)(tile_rows + pass->first_word);
    const size_t nibbles = tile_turn(&batch->tile, from, batch->words * 8, pass->words);
    const bool last = pass->first_word + pass->words == batch->words;
    if (batch->words > PASS_WORDS) batch_prepare(batch, pass);
    struct ahead ahead = ahead_of(batch, tile_rows, pass);
    bool any = false;
    for (size_t p = 0; p < batch->pairs; p++) {
        if (!batch->open[p]) continue;
        tile_add(&batch->tile, nibbles, batch->prepared[p].offsets + pass->first_offset, &batch->sums[p], &ahead);
        if (!last) batch->open[p] = still_open(batch, p);
        any |= batch->open[p];
    }
    return any;
}

TARGET static size_t tile_scan(struct batch *batch, const uint64_t *tile_rows, size_t first_row,
                               struct nigh__hit *hits) {
    memset(batch->sums, 0, batch->pairs * sizeof batch->sums[0]);
    memset(batch->open, true, batch->pairs * sizeof batch->open[0]);
    for (size_t i = 0; i < batch->pass_count; i++) {
        if (!tile_pass(batch, tile_rows, &batch->passes[i])) return 0;
    }
    size_t found = 0;
    for (size_t q = 0; q < batch->query_count; q++) {
        const struct pair_sums *sums = &batch->sums[q / 2];
        if (!batch->open[q / 2]) continue;
        found += tile_hits(sums->even[q % 2], sums->odd[q % 2], bound_of(batch->limits[q]), (uint32_t)q, first_row,
                           hits + found);
    }
    return found;
}

bool nigh__avx2_tiles_pay(size_t query_count, size_t words) {
    return query_count >= (words == 1 ? 16 : 4) && words <= MAX_WORDS;
}

size_t nigh__avx2_tiles(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                        const uint32_t *limits, struct nigh__hit *hits) {
    assert(query_count <= NIGH__BATCH_QUERIES && words <= MAX_WORDS);
    struct batch batch;
    batch.queries = queries;
    batch.query_count = query_count;
    batch.pairs = (query_count + 1) / 2;
    batch.words = words;
    batch.limits = limits;
    batch.pass_count = 0;
    batch_plan(&batch);
    for (size_t i = 0; words <= PASS_WORDS && i < batch.pass_count; i++) batch_prepare(&batch, &batch.passes[i]);
    size_t found = 0;
    for (size_t row = 0; row < count; row += NIGH__TILE_ROWS)
        found += tile_scan(&batch, rows + row * words, row, hits + found);
    return found;
}

#else

typedef int nigh__no_avx2_batch; /* a file must hold something */

#endif
