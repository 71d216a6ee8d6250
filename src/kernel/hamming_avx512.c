/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AVX-512 with VPOPCNTDQ counts the bits of eight words in one instruction, so
 * that adding across the words of a row is most of the work.  Eight rows are
 * added together, in three steps of neighbours:
 *
 *     a  a0 a1 a2 a3 a4 a5 a6 a7        a0+a1 b0+b1 | a2+a3 b2+b3 | ...     (a, b)
 *     b  b0 b1 b2 b3 b4 b5 b6 b7   ->   c0+c1 d0+d1 | c2+c3 d2+d3 | ...     (c, d)
 *     c  ...                            ...
 *
 * then pairs of 128-bit lanes, then what is left of them: eight totals in one
 * register.  Narrow rows enter at a later step: rows of four words need no
 * third, rows of two words only the first, rows of one word none.
 */
#include "kernel/hamming_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")))
#define INLINE TARGET NIGH__INLINE

INLINE __m512i load(const void *address) { return _mm512_loadu_si512(address); }

/* The first `words` (1 to 8) are read; the others are zero and not touched. */
INLINE __m512i load_words(const uint64_t *address, size_t words) {
    return _mm512_maskz_loadu_epi64((__mmask8)(0xffu >> (8 - words)), address);
}

INLINE __m512i word_distances(__m512i a, __m512i b) { return _mm512_popcnt_epi64(_mm512_xor_si512(a, b)); }

/* Neighbouring words of two registers: a0+a1 b0+b1 | a2+a3 b2+b3 | a4+a5 b4+b5 | a6+a7 b6+b7. */
INLINE __m512i add_words(__m512i a, __m512i b) {
    return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* Neighbouring lanes of two registers: a0+a1 | a2+a3 | b0+b1 | b2+b3. */
INLINE __m512i add_lanes(__m512i a, __m512i b) {
    return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
}

/* One register a row, eight rows. */
INLINE __m256i totals_of_eight(const __m512i x[8]) {
    __m512i left = add_lanes(add_words(x[0], x[1]), add_words(x[2], x[3]));  /* 0 1 | 0 1 | 2 3 | 2 3 */
    __m512i right = add_lanes(add_words(x[4], x[5]), add_words(x[6], x[7])); /* 4 5 | 4 5 | 6 7 | 6 7 */
    return _mm512_cvtepi64_epi32(add_lanes(left, right));                    /* 0 1 | 2 3 | 4 5 | 6 7 */
}

/* Rows of four words: two rows a register. */
INLINE __m256i totals_of_four(const __m512i x[4]) {
    __m512i sums = add_lanes(add_words(x[0], x[1]), add_words(x[2], x[3])); /* 0 2 | 1 3 | 4 6 | 5 7 */
    return _mm256_permutevar8x32_epi32(_mm512_cvtepi64_epi32(sums), _mm256_setr_epi32(0, 2, 1, 3, 4, 6, 5, 7));
}

/* Rows of two words: four rows a register. */
INLINE __m256i totals_of_two(const __m512i x[2]) {
    __m512i sums = add_words(x[0], x[1]); /* 0 4 | 1 5 | 2 6 | 3 7 */
    return _mm256_permutevar8x32_epi32(_mm512_cvtepi64_epi32(sums), _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}

INLINE __m512i row_sums(const uint64_t *query, const uint64_t *row, size_t words) {
    __m512i sums = _mm512_setzero_si512();
    size_t w = 0;
    NIGH__UNROLL4
    for (; w + 8 <= words; w += 8) sums = _mm512_add_epi64(sums, word_distances(load(query + w), load(row + w)));
    if (w < words)
        sums = _mm512_add_epi64(sums, word_distances(load_words(query + w, words - w), load_words(row + w, words - w)));
    return sums;
}

/* A query of 1, 2 or 4 words, repeated to fill a register. */
INLINE __m512i repeated(const uint64_t *query, size_t words) {
    uint64_t copies[8];
    for (size_t i = 0; i < 8; i++) copies[i] = query[i % words];
    return load(copies);
}

/* Eight rows; `narrow` is the query repeated, where rows are narrower than a register. */
INLINE __m256i eight_rows(const uint64_t *query, __m512i narrow, const uint64_t *rows, size_t words) {
    __m512i x[8];
    if (words == 1 || words == 2 || words == 4) {
        NIGH__UNROLL8
        for (size_t j = 0; j < words; j++) x[j] = word_distances(narrow, load(rows + 8 * j));
        if (words == 1) return _mm512_cvtepi64_epi32(x[0]);
        return words == 2 ? totals_of_two(x) : totals_of_four(x);
    }
    NIGH__UNROLL8
    for (size_t j = 0; j < 8; j++) x[j] = row_sums(query, rows + j * words, words);
    return totals_of_eight(x);
}

INLINE uint32_t rows_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances,
                          bool stream) {
    const __m512i narrow = words == 1 || words == 2 || words == 4 ? repeated(query, words) : _mm512_setzero_si512();
    const size_t place = nigh__place_rows(count, 8);
    const size_t turns = stream ? place * NIGH__PLACES / 8 : count / 8;
    __m256i smallest = _mm256_set1_epi32(-1);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 8, place) : turn * 8;
        if (stream) nigh__ahead((const char *)(rows + i * words) + NIGH__AHEAD, 64 * words);
        __m256i eight = eight_rows(query, narrow, rows + i * words, words);
        _mm256_storeu_si256((__m256i *)(void *)(distances + i), eight);
        smallest = _mm256_min_epu32(smallest, eight);
    }
    uint32_t least[8];
    _mm256_storeu_si256((__m256i *)(void *)least, smallest);
    for (size_t j = 1; j < 8; j++) least[0] = least[j] < least[0] ? least[j] : least[0];
    for (size_t i = turns * 8; i < count; i++) {
        distances[i] = (uint32_t)_mm512_reduce_add_epi64(row_sums(query, rows + i * words, words));
        if (distances[i] < least[0]) least[0] = distances[i];
    }
    return least[0];
}

TARGET static uint32_t rows_plain(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
                                  uint32_t *distances){
#define BODY(w) rows_body(query, rows, count, (w), distances, false)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

TARGET static uint32_t
    rows_stream(const uint64_t *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances){
#define BODY(w) rows_body(query, rows, count, (w), distances, true)
        NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
    }

TARGET static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    __m512i sums = _mm512_setzero_si512();
    for (; bytes >= 64; a += 64, b += 64, bytes -= 64) sums = _mm512_add_epi64(sums, word_distances(load(a), load(b)));
    if (bytes > 0) {
        const __mmask64 mask = (__mmask64)(UINT64_MAX >> (64 - bytes));
        sums =
            _mm512_add_epi64(sums, word_distances(_mm512_maskz_loadu_epi8(mask, a), _mm512_maskz_loadu_epi8(mask, b)));
    }
    return (uint32_t)_mm512_reduce_add_epi64(sums);
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__batch_by_rows(rows_plain, rows_stream, queries, query_count, rows, count, words, 0, limits, hits);
}

const struct nigh__hamming nigh__hamming_avx512 = {"avx512", NIGH__CPU_AVX512_POPCNT, pair, rows_plain, batch};

#else

typedef int nigh__no_avx512_kernel; /* a file must hold something */

#endif
