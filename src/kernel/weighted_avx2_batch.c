/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many queries with weights at once, with AVX2: a look-up costs the same whatever
 * its answers are.
 *
 * Counting under four planes is four times the work of counting.  But in a tile, rows
 * turned on their side (hamming_avx2_batch.c draws it), half a byte of 32 rows is looked up
 * in a table of sixteen that is made for this half-byte of this query, and that table can
 * as well answer with the sum of the weights of the bits that differ:
 *
 *     query 0110, weights 3 0 8 1, row 1100:  bits 1 and 3 differ, answer 0 + 1
 *                 of bits 0 1 2 3
 *
 * So weights cost what a mask does: a look-up and an addition for 32 rows and 4 bits.
 * Half-bytes in which nothing counts have no table and are left out; of a short text
 * these are many.  The greatest answers of the tables say how many of them a byte can
 * add up before the sums move to 16 bits: some 60 for a mask, 40 for weights.
 *
 * The tables of a query take 4 KB for 1,024 bits, so that those of 64 queries would not fit
 * on the stack, nor into the first-level cache.  Hence the order of loops:
 *
 *     for 8 queries                      so many tables there are
 *         for 1,024 bits of the rows
 *             make the tables
 *             for each tile of 64 rows   turned again for each 8 queries
 *                 for each query
 *
 * With AVX-512 the look-ups alone are twice as wide, which is nearly all of the work.
 *
 * For rows wider than 1,024 bits the sums of 384 rows are kept from one pass to the next.
 */
#include "kernel/tile_avx2.h"
#include "kernel/weighted_parts.h"

#if defined(__x86_64__)

#include <assert.h>

#define GROUP_QUERIES 8u
#define CHUNK_TILES 6u /* of rows that take more than one pass */
#define UNROLLED 4u    /* tables are used so many at a time */
#define PASS_TABLES (PASS_WORDS * 16)
#define WIDE_TARGET __attribute__((target("avx512f,avx512bw")))

/* What a query makes of one pass: a table for each half-byte in which something counts. */
struct tables {
    __m128i tables[PASS_TABLES + UNROLLED];
    uint16_t offsets[PASS_TABLES + UNROLLED]; /* in bytes: where in a tile the half-byte is that each is for */
    uint16_t ends[PASS_TABLES / UNROLLED]; /* so far answers fit into a byte, from the end before; at UNROLLED each */
    uint32_t end_count;
};

/* 61 KB of the stack. */
struct workspace {
    _Alignas(64) __m256i nibbles[PASS_NIBBLES][GROUPS]; /* for registers of 64 bytes */
    struct tables tables[GROUP_QUERIES];
    struct tile_sums sums[CHUNK_TILES][GROUP_QUERIES];
};

struct batch {
    const uint64_t *queries;
    const struct nigh__planes *planes;
    size_t query_count;
    size_t words;
    const uint32_t *limits;
    bool wide; /* AVX-512 is there */
    struct workspace *work;
};

/* ----------------------------------------------------------------- the tables */

/* All ones in byte i where bit i of 32 is set. */
INLINE __m256i spread(uint64_t bits) {
    const __m256i which = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i each = _mm256_set1_epi64x((long long)0x8040201008040201u);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(uint32_t)bits), which);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each);
}

/* What each of 32 bits counts, from bit `shift` of the word on. */
INLINE __m256i weights_of(const uint64_t *planes, uint32_t plane_count, size_t stride, unsigned shift) {
    __m256i weights = _mm256_setzero_si256();
    for (uint32_t p = 0; p < plane_count; p++) {
        const __m256i set = spread(planes[p * stride] >> shift);
        weights = _mm256_or_si256(weights, _mm256_and_si256(set, _mm256_set1_epi8((char)(1 << p))));
    }
    return weights;
}

/* Adds up four bytes each, into 32 bits. */
INLINE __m256i sums_of_four(__m256i bytes) {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
}

/*
 * The tables of half-bytes j and 4 + j of 32 bits, one in each half of the register.  Entry n is what counts against a
 * row whose bits are n: `zero`, where these are all 0, and for each bit of n that is set `change`.
 */
INLINE __m256i two_tables(__m256i zero, __m256i change, int j) {
    const __m256i own = _mm256_set1_epi8((char)(4 * j));
    const long long no = (long long)0x8080808080808080u; /* picks nothing */
    const __m256i bits[4] = {_mm256_set1_epi64x((long long)0x0080008000800080u),
                             _mm256_set1_epi64x((long long)0x0101808001018080u),
                             _mm256_set1_epi64x((long long)0x0202020280808080u),
                             _mm256_setr_epi64x(no, 0x0303030303030303, no, 0x0303030303030303)};
    __m256i table = _mm256_shuffle_epi8(zero, own);
    NIGH__UNROLL4
    for (int b = 0; b < 4; b++)
        table = _mm256_add_epi8(table, _mm256_shuffle_epi8(change, _mm256_add_epi8(bits[b], own)));
    return table;
}

/* The eight tables of 32 bits. */
INLINE void eight_tables(__m128i *tables, uint64_t query, __m256i weights) {
    const __m256i set = spread(query);
    const __m256i change = _mm256_sub_epi8(_mm256_xor_si256(weights, set), set); /* less where the query has it */
    const __m256i zero = sums_of_four(_mm256_and_si256(weights, set));
    NIGH__UNROLL4
    for (int j = 0; j < 4; j++) {
        const __m256i two = two_tables(zero, change, j);
        tables[j] = _mm256_castsi256_si128(two);
        tables[4 + j] = _mm256_extracti128_si256(two, 1);
    }
}

/*
 * Keeps those of eight tables in which something counts, behind the `kept` that there are; they are for half-bytes
 * `nibble` and on.  Notes the heaviest answer of each.  Returns how many there are now.
 */
INLINE size_t keep_tables(struct tables *out, uint8_t *heaviest, size_t kept, const __m128i *tables, __m256i weights,
                          size_t nibble) {
    uint32_t sums[8];
    _mm256_storeu_si256((__m256i *)(void *)sums, sums_of_four(weights));
    NIGH__UNROLL8
    for (size_t j = 0; j < 8; j++) {
        out->tables[kept] = tables[j];
        out->offsets[kept] = (uint16_t)((nibble + j) * NIGH__TILE_ROWS);
        heaviest[kept] = (uint8_t)sums[j];
        kept += sums[j] != 0;
    }
    return kept;
}

/* Where the sums of bytes end: before a table whose answer may be too much.  What pads answers 0. */
static void find_ends(struct tables *out, uint8_t *heaviest, size_t kept) {
    for (size_t i = kept; i < kept + UNROLLED; i++) {
        out->tables[i] = _mm_setzero_si128();
        out->offsets[i] = 0;
        heaviest[i] = 0;
    }
    uint32_t sum = 0;
    out->end_count = 0;
    for (size_t i = 0; i < kept; i += UNROLLED) {
        const uint8_t *next = heaviest + i;
        const uint32_t more = (uint32_t)next[0] + next[1] + next[2] + next[3];
        if (sum + more > UINT8_MAX) out->ends[out->end_count++] = (uint16_t)i;
        sum = sum + more > UINT8_MAX ? more : sum + more;
    }
    if (kept > 0) out->ends[out->end_count++] = (uint16_t)((kept + UNROLLED - 1) / UNROLLED * UNROLLED);
}

TARGET static void tables_make(struct tables *out, const uint64_t *query, const uint64_t *planes, uint32_t plane_count,
                               size_t stride, size_t words) {
    uint8_t heaviest[PASS_TABLES + 8]; /* the greatest answer of each table */
    __m128i tables[8];
    size_t kept = 0;
    for (size_t half = 0; half < 2 * words; half++) {
        const unsigned shift = half % 2 * 32;
        const __m256i weights = weights_of(planes + half / 2, plane_count, stride, shift);
        if (_mm256_testz_si256(weights, weights)) continue;
        eight_tables(tables, query[half / 2] >> shift, weights);
        kept = keep_tables(out, heaviest, kept, tables, weights, half * 8);
    }
    find_ends(out, heaviest, kept);
}

/* -------------------------------------------------------------- the distances */

/* Adds the distances of one query to all rows of a tile. */
TARGET static void tile_add(const __m256i (*nibbles)[GROUPS], const struct tables *query, struct tile_sums *sums) {
    size_t n = 0;
    for (size_t e = 0; e < query->end_count; e++) {
        __m256i bytes[GROUPS] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (; n < query->ends[e]; n += UNROLLED) {
            NIGH__UNROLL4
            for (size_t i = n; i < n + UNROLLED; i++) {
                const __m256i table = _mm256_broadcastsi128_si256(query->tables[i]);
                const __m256i *rows = (const __m256i *)(const void *)((const char *)nibbles + query->offsets[i]);
                NIGH__UNROLL4
                for (size_t g = 0; g < GROUPS; g++)
                    bytes[g] = _mm256_add_epi8(bytes[g], _mm256_shuffle_epi8(table, rows[g]));
            }
        }
        NIGH__UNROLL4
        for (size_t g = 0; g < GROUPS; g++) widen(sums, g, bytes[g]);
    }
}

/* The same with AVX-512, all 64 rows in one register. */
WIDE_TARGET static void tile_add_wide(const __m256i (*nibbles)[GROUPS], const struct tables *query,
                                      struct tile_sums *sums) {
    size_t n = 0;
    for (size_t e = 0; e < query->end_count; e++) {
        __m512i bytes = _mm512_setzero_si512();
        for (; n < query->ends[e]; n += UNROLLED) {
            NIGH__UNROLL4
            for (size_t i = n; i < n + UNROLLED; i++) {
                const __m512i rows = _mm512_loadu_si512((const char *)nibbles + query->offsets[i]);
                const __m512i table = _mm512_broadcast_i32x4(query->tables[i]);
                bytes = _mm512_add_epi8(bytes, _mm512_shuffle_epi8(table, rows));
            }
        }
        const __m512i both = _mm512_add_epi16(_mm512_loadu_si512(sums->both), bytes);
        const __m512i odd = _mm512_add_epi16(_mm512_loadu_si512(sums->odd), _mm512_srli_epi16(bytes, 8));
        _mm512_storeu_si512(sums->both, both);
        _mm512_storeu_si512(sums->odd, odd);
    }
}

/* ------------------------------------------------------------------- the batch */

/* Queries from `first` on, `count` of them. */
struct group {
    size_t first;
    size_t count;
};

TARGET static void group_prepare(const struct batch *batch, struct group group, size_t first_word, size_t words) {
    const uint32_t plane_count = batch->planes->count;
    for (size_t i = 0; i < group.count; i++) {
        const size_t q = group.first + i;
        const uint64_t *planes = batch->planes->words + q * plane_count * batch->words + first_word;
        tables_make(&batch->work->tables[i], batch->queries + q * batch->words + first_word, planes, plane_count,
                    batch->words, words);
    }
}

/* One pass over one tile, which asks for the same words of the next. */
TARGET static void tile_pass(const struct batch *batch, struct group group, const uint64_t *rows, size_t words,
                             struct tile_sums *sums) {
    const uint64_t *next = rows + NIGH__TILE_ROWS * batch->words;
    const size_t share = (NIGH__TILE_ROWS + group.count - 1) / group.count;
    (void)tile_turn(batch->work->nibbles, (const uint8_t *)rows, batch->words * sizeof *rows, words);
    for (size_t i = 0; i < group.count; i++) {
        for (size_t r = i * share; r < (i + 1) * share && r < NIGH__TILE_ROWS; r++)
            nigh__ahead(next + r * batch->words, words * sizeof *next);
        (batch->wide ? tile_add_wide : tile_add)((const __m256i(*)[GROUPS])batch->work->nibbles,
                                                 &batch->work->tables[i], &sums[i]);
    }
}

/* All passes over the rows of a chunk. */
TARGET static size_t chunk_scan(const struct batch *batch, struct group group, const uint64_t *rows, size_t tiles,
                                size_t first_row, struct nigh__hit *hits) {
    size_t found = 0;
    for (size_t word = 0; word < batch->words; word += PASS_WORDS) {
        const size_t words = batch->words - word < PASS_WORDS ? batch->words - word : PASS_WORDS;
        group_prepare(batch, group, word, words);
        for (size_t t = 0; t < tiles; t++) {
            struct tile_sums *sums = batch->work->sums[t % CHUNK_TILES]; /* more tiles than that have but one pass */
            const size_t row = t * NIGH__TILE_ROWS;
            if (word == 0) memset(sums, 0, sizeof batch->work->sums[0]);
            tile_pass(batch, group, rows + row * batch->words + word, words, sums);
            if (word + words < batch->words) continue;
            for (size_t i = 0; i < group.count; i++)
                found += tile_hits(&sums[i], (uint32_t)(group.first + i), bound_of(batch->limits[group.first + i]),
                                   first_row + row, hits + found);
        }
    }
    return found;
}

/*
 * From two queries on, where planes would be counted one after the other; with a mask from so many that turning the
 * rows, or making ready for each pass, costs less than it saves.  A distance must fit into 16 bits.
 */
bool nigh__weighted_tiles_pay(uint32_t plane_count, size_t query_count, size_t words) {
    if (words < 2 || words * 64 * ((1u << plane_count) - 1) >= UINT16_MAX) return false;
    if (plane_count > 1) return query_count >= 2;
    return query_count >= (words == 2 || words > PASS_WORDS ? 8 : 4);
}

size_t nigh__weighted_tiles(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                            const uint64_t *rows, size_t count, size_t words, const uint32_t *limits, bool wide,
                            struct nigh__hit *hits, size_t *done) {
    const size_t tiles = count / NIGH__TILE_ROWS;
    assert(query_count <= NIGH__BATCH_QUERIES);
    *done = tiles * NIGH__TILE_ROWS;
    if (planes->count == 1)
        return nigh__masked_tiles(queries, planes->words, query_count, rows, *done, words, limits, hits);
    struct workspace work;
    const struct batch batch = {queries, planes, query_count, words, limits, wide, &work};
    const size_t chunk = words > PASS_WORDS ? CHUNK_TILES : tiles;
    size_t found = 0;
    for (size_t tile = 0; tile < tiles; tile += chunk) {
        const size_t some = tiles - tile < chunk ? tiles - tile : chunk;
        const size_t row = tile * NIGH__TILE_ROWS;
        for (size_t q = 0; q < query_count; q += GROUP_QUERIES) {
            const struct group group = {q, query_count - q < GROUP_QUERIES ? query_count - q : GROUP_QUERIES};
            found += chunk_scan(&batch, group, rows + row * words, some, row, hits + found);
        }
    }
    return found;
}

#else

typedef int nigh__no_weighted_tiles; /* a file must hold something */

#endif
