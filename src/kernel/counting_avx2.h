/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hamming_avx2.c and weighted_avx2.c share: the distances of one query to many rows,
 * where every bit counts one (no planes) or what the planes say.
 *
 * AVX2 has no instruction that counts bits.  A byte shuffle serves as a table
 * of sixteen: each half of a byte looks up its count, 64 at once.
 *
 *     x       1011 0110   ...          low half   0110 -> 2
 *                                      high half  1011 -> 3      sum 5
 *
 * The counts of a row are summed as bytes and added across by one SAD; four
 * rows go together so that the last additions are shared:
 *
 *     row 0   a0 a1 a2 a3     64-bit sums; a | b << 32 puts two rows into one
 *     row 1   b0 b1 b2 b3     register, and two additions fold four such
 *     row 2   c0 c1 c2 c3     quarters into  a b c d
 *     row 3   d0 d1 d2 d3
 *
 * A mask is one operation more.  Of several planes each has a table that counts its bits
 * twice as much as the one before, and what they find goes into the same bytes.
 *
 * This is the way for one query.  hamming_avx2_batch.c and weighted_avx2_batch.c have
 * better ones for many.
 */
#ifndef NIGH_KERNEL_COUNTING_AVX2_H
#define NIGH_KERNEL_COUNTING_AVX2_H

#include "kernel/hamming_parts.h"
#include "kernel/weighted.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET NIGH__TARGET_AVX2
#define INLINE TARGET NIGH__INLINE

INLINE __m256i load(const void *address) { return _mm256_loadu_si256((const __m256i *)address); }

/* Each byte of the result is the number of bits set in that byte. */
INLINE __m256i byte_counts(__m256i x) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, /* and again */
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    __m256i low = _mm256_and_si256(x, low_half);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), low_half);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
}

/* The first `words` (0 to 3) of four words are read, the others are zero and not touched. */
INLINE __m256i load_words(const uint64_t *address, size_t words) {
    const __m256i index = _mm256_setr_epi64x(0, 1, 2, 3);
    __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)words), index);
    return _mm256_maskload_epi64((const long long *)address, mask);
}

/* Adds across: the eight bytes of each quarter. */
INLINE __m256i quarter_sums(__m256i bytes) { return _mm256_sad_epu8(bytes, _mm256_setzero_si256()); }

/* Four registers of four sums each into the totals of four rows. */
INLINE __m128i totals(const __m256i sums[4]) {
    __m256i first = _mm256_or_si256(sums[0], _mm256_slli_epi64(sums[1], 32));
    __m256i second = _mm256_or_si256(sums[2], _mm256_slli_epi64(sums[3], 32));
    __m256i folded = _mm256_add_epi32(_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second));
    return _mm_add_epi32(_mm256_castsi256_si128(folded), _mm256_extracti128_si256(folded, 1));
}

INLINE uint32_t total(__m256i sums) {
    __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (uint32_t)(_mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2));
}

/* ------------------------------------------------------------ what is counted */

/* Four words of a query, and what its planes have there: of one plane as it is, of more by halves of bytes. */
struct own {
    __m256i query;
    __m256i low[NIGH__PLANES];
    __m256i high[NIGH__PLANES];
};

/* Up to `words` of them; how many planes is known to the compiler, here and below. */
INLINE __m256i load_some(const uint64_t *address, size_t words) {
    return words == 4 ? load(address) : load_words(address, words);
}

INLINE void own_set(struct own *own, uint32_t plane_count, uint32_t p, __m256i plane) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    own->low[p] = plane_count == 1 ? plane : _mm256_and_si256(plane, low_half);
    own->high[p] = _mm256_and_si256(_mm256_srli_epi16(plane, 4), low_half);
}

/* From word `first` of rows of `stride` words on. */
INLINE void own_load(struct own *own, const struct nigh__asked *asked, uint32_t plane_count, size_t stride,
                     size_t first, size_t words) {
    own->query = load_some(asked->query + first, words);
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++)
        own_set(own, plane_count, p, load_some(asked->planes + p * stride + first, words));
}

/* Twice as much for each plane: at most 4 * 8. */
INLINE __m256i plane_table(uint32_t p) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, /* and again */
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    return _mm256_slli_epi16(table, (int)p);
}

/* Each byte of the result is what its bits that differ count. */
INLINE __m256i byte_distances(const struct own *own, uint32_t plane_count, __m256i row) {
    const __m256i differing = _mm256_xor_si256(own->query, row);
    if (plane_count == 0) return byte_counts(differing);
    if (plane_count == 1) return byte_counts(_mm256_and_si256(differing, own->low[0]));
    const __m256i shifted = _mm256_srli_epi16(differing, 4);
    __m256i sum = _mm256_setzero_si256();
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++) {
        const __m256i low = _mm256_shuffle_epi8(plane_table(p), _mm256_and_si256(differing, own->low[p]));
        const __m256i high = _mm256_shuffle_epi8(plane_table(p), _mm256_and_si256(shifted, own->high[p]));
        sum = _mm256_add_epi8(sum, _mm256_add_epi8(low, high));
    }
    return sum;
}

/* Registers whose bytes may be added: 31 of at most 8 fit, 16 leaves room and divides the usual widths. */
INLINE size_t vectors_at_once(uint32_t plane_count) {
    return plane_count < 2 ? 16 : 255 / (8 * ((1u << plane_count) - 1));
}

/* ---------------------------------------------------------------- sums of rows */

/* A query that fits into four registers stays there; with a mask that fits too. */
#define HELD_VECTORS ((size_t)4)

INLINE bool is_held(size_t words, uint32_t plane_count) {
    return words <= HELD_VECTORS * 4 && words % 4 == 0 && plane_count <= 1;
}

INLINE void hold(const struct nigh__asked *asked, uint32_t plane_count, size_t words, struct own held[HELD_VECTORS]) {
    NIGH__UNROLL4
    for (size_t v = 0; v < HELD_VECTORS; v++)
        if (4 * v < words) own_load(&held[v], asked, plane_count, words, 4 * v, 4);
}

INLINE __m256i held_row_sums(const struct own held[HELD_VECTORS], uint32_t plane_count, const uint64_t *row,
                             size_t words) {
    __m256i bytes = byte_distances(&held[0], plane_count, load(row));
    NIGH__UNROLL4
    for (size_t v = 1; v < words / 4; v++)
        bytes = _mm256_add_epi8(bytes, byte_distances(&held[v], plane_count, load(row + 4 * v)));
    return quarter_sums(bytes);
}

/* Sums of 1 or 4 rows of any other width; how many is known to the compiler. */
INLINE void any_row_sums(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row, size_t words,
                         size_t rows, __m256i *sums) {
    const size_t vectors = words / 4;
    const size_t at_once = vectors_at_once(plane_count);
    struct own own;
    for (size_t j = 0; j < rows; j++) sums[j] = _mm256_setzero_si256();
    for (size_t start = 0; start < vectors; start += at_once) {
        const size_t end = vectors - start < at_once ? vectors : start + at_once;
        __m256i bytes[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                            _mm256_setzero_si256()};
        NIGH__UNROLL4
        for (size_t v = start; v < end; v++) {
            own_load(&own, asked, plane_count, words, 4 * v, 4);
            NIGH__UNROLL4
            for (size_t j = 0; j < rows; j++)
                bytes[j] = _mm256_add_epi8(bytes[j], byte_distances(&own, plane_count, load(row + j * words + 4 * v)));
        }
        NIGH__UNROLL4
        for (size_t j = 0; j < rows; j++) sums[j] = _mm256_add_epi64(sums[j], quarter_sums(bytes[j]));
    }
    if (words % 4 != 0) {
        own_load(&own, asked, plane_count, words, 4 * vectors, words % 4);
        NIGH__UNROLL4
        for (size_t j = 0; j < rows; j++) {
            __m256i r = load_words(row + j * words + 4 * vectors, words % 4);
            sums[j] = _mm256_add_epi64(sums[j], quarter_sums(byte_distances(&own, plane_count, r)));
        }
    }
}

INLINE void row_sums(const struct nigh__asked *asked, const struct own held[HELD_VECTORS], uint32_t plane_count,
                     const uint64_t *row, size_t words, size_t rows, __m256i *sums) {
    if (!is_held(words, plane_count)) {
        any_row_sums(asked, plane_count, row, words, rows, sums);
        return;
    }
    NIGH__UNROLL4
    for (size_t j = 0; j < rows; j++) sums[j] = held_row_sums(held, plane_count, row + j * words, words);
}

/* ---------------------------------------------------- rows of a word or two */

/* Eight rows of one word: each quarter of two registers is a row. */
INLINE __m256i eight_of_one(const struct own *own, uint32_t plane_count, const uint64_t *rows) {
    __m256i first = quarter_sums(byte_distances(own, plane_count, load(rows)));
    __m256i second = quarter_sums(byte_distances(own, plane_count, load(rows + 4)));
    __m256 joined = _mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(joined), 0xd8);
}

/* Eight rows of two words: each half of four registers is a row, and totals() folds halves. */
INLINE __m256i eight_of_two(const struct own *own, uint32_t plane_count, const uint64_t *rows) {
    __m256i sums[4];
    NIGH__UNROLL4
    for (size_t j = 0; j < 4; j++) sums[j] = quarter_sums(byte_distances(own, plane_count, load(rows + 4 * j)));
    __m256i first = _mm256_or_si256(sums[0], _mm256_slli_epi64(sums[1], 32));
    __m256i second = _mm256_or_si256(sums[2], _mm256_slli_epi64(sums[3], 32));
    /* Rows 0 2 4 6 in the lower half, 1 3 5 7 in the upper. */
    __m256i folded = _mm256_add_epi32(_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second));
    return _mm256_permutevar8x32_epi32(folded, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE uint32_t smallest_of(__m128i x) {
    x = _mm_min_epu32(x, _mm_shuffle_epi32(x, 0x4e));
    x = _mm_min_epu32(x, _mm_shuffle_epi32(x, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(x);
}

INLINE __m256i eight_rows(const struct own *own, uint32_t plane_count, const uint64_t *rows, size_t words) {
    return words == 1 ? eight_of_one(own, plane_count, rows) : eight_of_two(own, plane_count, rows);
}

INLINE __m256i repeat(const uint64_t *from, size_t words) {
    const long long first = (long long)from[0];
    const long long last = (long long)from[words - 1];
    return _mm256_setr_epi64x(first, last, first, last);
}

INLINE uint32_t narrow_distance(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row,
                                size_t words) {
    int distance = 0;
    for (size_t w = 0; w < words; w++) {
        const uint64_t differing = asked->query[w] ^ row[w];
        if (plane_count == 0) distance += __builtin_popcountll(differing);
        NIGH__UNROLL4
        for (uint32_t p = 0; p < plane_count; p++)
            distance += __builtin_popcountll(differing & asked->planes[p * words + w]) << p;
    }
    return (uint32_t)distance;
}

INLINE uint32_t rows_narrow(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *rows, size_t count,
                            size_t words, uint32_t *distances, bool stream) {
    struct own own = {.query = repeat(asked->query, words)};
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++) own_set(&own, plane_count, p, repeat(asked->planes + p * words, words));
    const size_t place = nigh__place_rows(count, 8, words);
    const size_t turns = stream ? place * nigh__places(words) / 8 : count / 8;
    __m256i smallest = _mm256_set1_epi32(-1);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 8, place, words) : turn * 8;
        if (stream) nigh__ahead(nigh__ahead_of(rows + i * words, words), 64 * words);
        __m256i eight = eight_rows(&own, plane_count, rows + i * words, words);
        _mm256_storeu_si256((__m256i *)(distances + i), eight);
        smallest = _mm256_min_epu32(smallest, eight);
    }
    uint32_t least =
        smallest_of(_mm_min_epu32(_mm256_castsi256_si128(smallest), _mm256_extracti128_si256(smallest, 1)));
    for (size_t i = turns * 8; i < count; i++) {
        distances[i] = narrow_distance(asked, plane_count, rows + i * words, words);
        if (distances[i] < least) least = distances[i];
    }
    return least;
}

/* ------------------------------------------------------------------ any rows */

/* nigh__rows_function; as one for a query that is alone where `stream` is set. */
INLINE uint32_t rows_body(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *rows, size_t count,
                          size_t words, uint32_t *distances, bool stream) {
    if (words <= 2) return rows_narrow(asked, plane_count, rows, count, words, distances, stream);
    const size_t place = nigh__place_rows(count, 4, words);
    const size_t turns = stream ? place * nigh__places(words) / 4 : count / 4;
    __m128i smallest = _mm_set1_epi32(-1);
    __m256i sums[4];
    struct own held[HELD_VECTORS];
    if (is_held(words, plane_count)) hold(asked, plane_count, words, held);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 4, place, words) : turn * 4;
        if (stream) nigh__ahead(nigh__ahead_of(rows + i * words, words), 32 * words);
        row_sums(asked, held, plane_count, rows + i * words, words, 4, sums);
        __m128i four = totals(sums);
        _mm_storeu_si128((__m128i *)(distances + i), four);
        smallest = _mm_min_epu32(smallest, four);
    }
    uint32_t least = smallest_of(smallest);
    for (size_t i = turns * 4; i < count; i++) {
        row_sums(asked, held, plane_count, rows + i * words, words, 1, sums);
        distances[i] = total(sums[0]);
        if (distances[i] < least) least = distances[i];
    }
    return least;
}

#endif

#endif
