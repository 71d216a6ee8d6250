/* SPDX-License-Identifier: Apache-2.0 */
/*
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
 * This is the way for one query.  hamming_avx2_batch.c has a better one for many.
 */
#include "kernel/hamming_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"
#include "kernel/hamming_avx2.h"

#define TARGET NIGH__TARGET_AVX2
#define INLINE TARGET NIGH__INLINE

/* 31 bytes of at most 8 fit into one; 16 leaves room and divides the usual widths. */
#define VECTORS_AT_ONCE 16

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

INLINE __m256i byte_distances(__m256i a, __m256i b) { return byte_counts(_mm256_xor_si256(a, b)); }

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

/* A query that fits into four registers stays there. */
#define HELD_WORDS 16

INLINE bool is_held(size_t words) { return words <= HELD_WORDS && words % 4 == 0; }

INLINE void hold(const uint64_t *query, size_t words, __m256i held[HELD_WORDS / 4]) {
    NIGH__UNROLL4
    for (size_t v = 0; v < HELD_WORDS / 4; v++) held[v] = 4 * v < words ? load(query + 4 * v) : _mm256_setzero_si256();
}

INLINE __m256i held_row_sums(const __m256i held[HELD_WORDS / 4], const uint64_t *row, size_t words) {
    __m256i bytes = byte_distances(held[0], load(row));
    NIGH__UNROLL4
    for (size_t v = 1; v < words / 4; v++) bytes = _mm256_add_epi8(bytes, byte_distances(held[v], load(row + 4 * v)));
    return quarter_sums(bytes);
}

/* Sums of 1 or 4 rows of any other width; how many is known to the compiler. */
INLINE void any_row_sums(const uint64_t *query, const uint64_t *row, size_t words, size_t rows, __m256i *sums) {
    const size_t vectors = words / 4;
    for (size_t j = 0; j < rows; j++) sums[j] = _mm256_setzero_si256();
    for (size_t start = 0; start < vectors; start += VECTORS_AT_ONCE) {
        const size_t end = vectors - start < VECTORS_AT_ONCE ? vectors : start + VECTORS_AT_ONCE;
        __m256i bytes[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                            _mm256_setzero_si256()};
        NIGH__UNROLL4
        for (size_t v = start; v < end; v++) {
            const __m256i q = load(query + 4 * v);
            NIGH__UNROLL4
            for (size_t j = 0; j < rows; j++)
                bytes[j] = _mm256_add_epi8(bytes[j], byte_distances(q, load(row + j * words + 4 * v)));
        }
        NIGH__UNROLL4
        for (size_t j = 0; j < rows; j++) sums[j] = _mm256_add_epi64(sums[j], quarter_sums(bytes[j]));
    }
    if (words % 4 != 0) {
        const __m256i q = load_words(query + 4 * vectors, words % 4);
        NIGH__UNROLL4
        for (size_t j = 0; j < rows; j++) {
            __m256i r = load_words(row + j * words + 4 * vectors, words % 4);
            sums[j] = _mm256_add_epi64(sums[j], quarter_sums(byte_distances(q, r)));
        }
    }
}

INLINE void row_sums(const uint64_t *query, const __m256i held[HELD_WORDS / 4], const uint64_t *row, size_t words,
                     size_t rows, __m256i *sums) {
    if (!is_held(words)) {
        any_row_sums(query, row, words, rows, sums);
        return;
    }
    NIGH__UNROLL4
    for (size_t j = 0; j < rows; j++) sums[j] = held_row_sums(held, row + j * words, words);
}

/* ---------------------------------------------------- rows of a word or two */

/* Eight rows of one word: each quarter of two registers is a row. */
INLINE __m256i eight_of_one(__m256i query, const uint64_t *rows) {
    __m256i first = quarter_sums(byte_distances(query, load(rows)));
    __m256i second = quarter_sums(byte_distances(query, load(rows + 4)));
    __m256 joined = _mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(joined), 0xd8);
}

/* Eight rows of two words: each half of four registers is a row, and totals() folds halves. */
INLINE __m256i eight_of_two(__m256i query, const uint64_t *rows) {
    __m256i sums[4];
    NIGH__UNROLL4
    for (size_t j = 0; j < 4; j++) sums[j] = quarter_sums(byte_distances(query, load(rows + 4 * j)));
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

INLINE __m256i eight_rows(__m256i query, const uint64_t *rows, size_t words) {
    return words == 1 ? eight_of_one(query, rows) : eight_of_two(query, rows);
}

INLINE uint32_t rows_narrow(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
                            uint32_t *distances, bool stream) {
    const uint64_t first = query[0];
    const uint64_t last = query[words - 1];
    const __m256i q = _mm256_setr_epi64x((long long)first, (long long)last, (long long)first, (long long)last);
    const size_t place = nigh__place_rows(count, 8);
    const size_t turns = stream ? place * NIGH__PLACES / 8 : count / 8;
    __m256i smallest = _mm256_set1_epi32(-1);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 8, place) : turn * 8;
        if (stream) nigh__ahead((const char *)(rows + i * words) + NIGH__AHEAD, 64 * words);
        __m256i eight = eight_rows(q, rows + i * words, words);
        _mm256_storeu_si256((__m256i *)(distances + i), eight);
        smallest = _mm256_min_epu32(smallest, eight);
    }
    uint32_t least =
        smallest_of(_mm_min_epu32(_mm256_castsi256_si128(smallest), _mm256_extracti128_si256(smallest, 1)));
    for (size_t i = turns * 8; i < count; i++) {
        int bits = __builtin_popcountll(first ^ rows[i * words]);
        if (words == 2) bits += __builtin_popcountll(last ^ rows[i * words + 1]);
        distances[i] = (uint32_t)bits;
        if (distances[i] < least) least = distances[i];
    }
    return least;
}

/* ------------------------------------------------------------------ any rows */

INLINE uint32_t rows_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances,
                          bool stream) {
    if (words <= 2) return rows_narrow(query, rows, count, words, distances, stream);
    const size_t place = nigh__place_rows(count, 4);
    const size_t turns = stream ? place * NIGH__PLACES / 4 : count / 4;
    __m128i smallest = _mm_set1_epi32(-1);
    __m256i sums[4];
    __m256i held[HELD_WORDS / 4];
    if (is_held(words)) hold(query, words, held);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 4, place) : turn * 4;
        if (stream) nigh__ahead((const char *)(rows + i * words) + NIGH__AHEAD, 32 * words);
        row_sums(query, held, rows + i * words, words, 4, sums);
        __m128i four = totals(sums);
        _mm_storeu_si128((__m128i *)(distances + i), four);
        smallest = _mm_min_epu32(smallest, four);
    }
    uint32_t least = smallest_of(smallest);
    for (size_t i = turns * 4; i < count; i++) {
        row_sums(query, held, rows + i * words, words, 1, sums);
        distances[i] = total(sums[0]);
        if (distances[i] < least) least = distances[i];
    }
    return least;
}

TARGET static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words,
                                  uint32_t *distances){
#define BODY(w) rows_body(query, rows, count, (w), distances, false)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

TARGET static uint32_t
    rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances){
#define BODY(w) rows_body(query, rows, count, (w), distances, true)
        NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
    }

TARGET static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    __m256i sums = _mm256_setzero_si256();
    for (; bytes >= 32; a += 32, b += 32, bytes -= 32)
        sums = _mm256_add_epi64(sums, quarter_sums(byte_distances(load(a), load(b))));
    uint32_t distance = total(sums);
    for (; bytes >= 8; a += 8, b += 8, bytes -= 8) {
        uint64_t x;
        uint64_t y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        distance += (uint32_t)__builtin_popcountll(x ^ y);
    }
    return distance + (uint32_t)__builtin_popcountll(nigh__load_tail(a, bytes) ^ nigh__load_tail(b, bytes));
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    size_t done = 0;
    size_t found = 0;
    if (nigh__avx2_tiles_pay(query_count, words)) {
        done = count - count % NIGH__TILE_ROWS;
        found = nigh__avx2_tiles(queries, query_count, rows, done, words, limits, hits);
    }
    return found + nigh__batch_by_rows(rows_plain, rows_stream, queries, words * sizeof *queries, query_count,
                                       rows + done * words, count - done, words, done, limits, hits + found);
}

const struct nigh__hamming nigh__hamming_avx2 = {"avx2", NIGH__CPU_AVX2, pair, rows_plain, batch};

#else

typedef int nigh__no_avx2_kernel; /* a file must hold something */

#endif
