/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hamming_avx512.c and weighted_avx512.c share: the distances of one query to many
 * rows, where every bit counts one (no planes) or what the planes say.
 *
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
 *
 * A mask costs nothing: three-way logic differs and masks in one step.  Of more planes
 * each is counted by itself, and what they count is added up once a row.
 */
#ifndef NIGH_KERNEL_COUNTING_AVX512_H
#define NIGH_KERNEL_COUNTING_AVX512_H

#include "kernel/hamming_parts.h"
#include "kernel/weighted.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")))
#define INLINE TARGET NIGH__INLINE

INLINE __m512i load(const void *address) { return _mm512_loadu_si512(address); }

/* The first `words` (1 to 8) are read; the others are zero and not touched. */
INLINE __m512i load_words(const uint64_t *address, size_t words) {
    if (words == 8) return load(address); /* which compilers know better */
    return _mm512_maskz_loadu_epi64((__mmask8)(0xffu >> (8 - words)), address);
}

INLINE __m512i word_distances(__m512i a, __m512i b) { return _mm512_popcnt_epi64(_mm512_xor_si512(a, b)); }

/* Bits that differ and that the mask has set. */
INLINE __m512i masked_distances(__m512i a, __m512i b, __m512i mask) {
    return _mm512_popcnt_epi64(_mm512_ternarylogic_epi64(a, b, mask, 0x28));
}

/* Neighbouring words of two registers: a0+a1 b0+b1 | a2+a3 b2+b3 | a4+a5 b4+b5 | a6+a7 b6+b7. */
INLINE __m512i add_words(__m512i a, __m512i b) {
    return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* Neighbouring lanes of two registers: a0+a1 | a2+a3 | b0+b1 | b2+b3. */
INLINE __m512i add_lanes(__m512i a, __m512i b) {
    return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
}

/* One register a row, eight rows. */
INLINE __m512i sums_of_eight(const __m512i x[8]) {
    __m512i left = add_lanes(add_words(x[0], x[1]), add_words(x[2], x[3]));  /* 0 1 | 0 1 | 2 3 | 2 3 */
    __m512i right = add_lanes(add_words(x[4], x[5]), add_words(x[6], x[7])); /* 4 5 | 4 5 | 6 7 | 6 7 */
    return add_lanes(left, right);                                           /* 0 1 | 2 3 | 4 5 | 6 7 */
}

INLINE __m256i totals_of_eight(const __m512i x[8]) { return _mm512_cvtepi64_epi32(sums_of_eight(x)); }

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

/* What a query's planes count in one row, each plane by itself. */
struct plane_sums {
    __m512i planes[NIGH__PLANES];
};

/* Adds the distances of up to eight words: `own` is what the query has there, and what its planes have. */
INLINE void add_line(struct plane_sums *sums, __m512i query, const __m512i own[NIGH__PLANES], uint32_t plane_count,
                     __m512i row) {
    if (plane_count == 0) sums->planes[0] = _mm512_add_epi64(sums->planes[0], word_distances(query, row));
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++)
        sums->planes[p] = _mm512_add_epi64(sums->planes[p], masked_distances(query, row, own[p]));
}

/* Plane p counts 2^p. */
INLINE __m512i plane_total(const struct plane_sums *sums, uint32_t plane_count) {
    __m512i total = sums->planes[0];
    NIGH__UNROLL4
    for (uint32_t p = 1; p < plane_count; p++) total = _mm512_add_epi64(total, _mm512_slli_epi64(sums->planes[p], p));
    return total;
}

INLINE void sums_init(struct plane_sums *sums) {
    NIGH__UNROLL4
    for (uint32_t p = 0; p < NIGH__PLANES; p++) sums->planes[p] = _mm512_setzero_si512();
}

#define MAX_TOGETHER 8u

/* What a query and its planes have in up to eight words, from word `first` of rows of `stride` words on. */
INLINE __m512i own_line(const struct nigh__asked *asked, uint32_t plane_count, size_t stride, size_t first,
                        size_t words, __m512i own[NIGH__PLANES]) {
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++) own[p] = load_words(asked->planes + p * stride + first, words);
    return load_words(asked->query + first, words);
}

/* Eight sums for each of up to MAX_TOGETHER rows of any number of words; how many rows is known to the compiler. */
INLINE void row_sums(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row, size_t words,
                     size_t rows, __m512i *out) {
    struct plane_sums sums[MAX_TOGETHER];
    __m512i own[NIGH__PLANES];
    NIGH__UNROLL8
    for (size_t j = 0; j < rows; j++) sums_init(&sums[j]);
    size_t w = 0;
    NIGH__UNROLL4
    for (; w + 8 <= words; w += 8) {
        const __m512i query = own_line(asked, plane_count, words, w, 8, own);
        NIGH__UNROLL8
        for (size_t j = 0; j < rows; j++) add_line(&sums[j], query, own, plane_count, load(row + j * words + w));
    }
    if (w < words) {
        const __m512i query = own_line(asked, plane_count, words, w, words - w, own);
        NIGH__UNROLL8
        for (size_t j = 0; j < rows; j++)
            add_line(&sums[j], query, own, plane_count, load_words(row + j * words + w, words - w));
    }
    NIGH__UNROLL8
    for (size_t j = 0; j < rows; j++) out[j] = plane_total(&sums[j], plane_count);
}

INLINE uint32_t row_distance(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row, size_t words) {
    __m512i sums[1];
    row_sums(asked, plane_count, row, words, 1, sums);
    return (uint32_t)_mm512_reduce_add_epi64(sums[0]);
}

/* What a query of 1, 2 or 4 words is repeated to, so that it fills a register; and its planes. */
struct repeated {
    __m512i query;
    __m512i planes[NIGH__PLANES];
};

INLINE __m512i repeat(const uint64_t *from, size_t words) {
    uint64_t copies[8];
    for (size_t i = 0; i < 8; i++) copies[i] = from[i % words];
    return load(copies);
}

INLINE bool is_narrow(size_t words) { return words == 1 || words == 2 || words == 4; }

INLINE void repeated_init(struct repeated *narrow, const struct nigh__asked *asked, uint32_t plane_count,
                          size_t words) {
    narrow->query = repeat(asked->query, words);
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++) narrow->planes[p] = repeat(asked->planes + p * words, words);
}

INLINE __m256i eight_narrow(const struct repeated *narrow, uint32_t plane_count, const uint64_t *rows, size_t words) {
    __m512i x[4];
    NIGH__UNROLL4
    for (size_t j = 0; j < words; j++) {
        struct plane_sums sums;
        sums_init(&sums);
        add_line(&sums, narrow->query, narrow->planes, plane_count, load(rows + 8 * j));
        x[j] = plane_total(&sums, plane_count);
    }
    if (words == 1) return _mm512_cvtepi64_epi32(x[0]);
    return words == 2 ? totals_of_two(x) : totals_of_four(x);
}

/*
 * How many rows go together over the words of a query.  From memory one, in the order of memory: with eight at once one
 * query gets two thirds of the speed.  From the cache one too, where query and planes stay in registers; wider ones are
 * loaded again for each, which as many rows share as there are registers for their sums.
 */
INLINE size_t together(size_t words, uint32_t plane_count, bool stream) {
    if (stream || (__builtin_constant_p(words) && words <= 32)) return 1;
    return plane_count <= 1 ? MAX_TOGETHER : MAX_TOGETHER / 2;
}

/* Four rows from `first` and four from `second` on, which follow them unless `stream` is set. */
INLINE __m256i eight_rows(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *first,
                          const uint64_t *second, size_t words, bool stream) {
    __m512i x[8];
    const size_t step = together(words, plane_count, stream);
    NIGH__UNROLL8
    for (size_t j = 0; j < 8; j += step)
        row_sums(asked, plane_count, (j < 4 ? first : second) + j % 4 * words, words, step, x + j);
    return totals_of_eight(x);
}

/* Turn `turn` of rows_body(): eight rows, four from each of two places or all from one. */
INLINE __m256i turn_rows(const struct nigh__asked *asked, const struct repeated *narrow, uint32_t plane_count,
                         const uint64_t *rows, size_t words, const size_t at[2], bool stream) {
    const uint64_t *first = rows + at[0] * words;
    const uint64_t *second = rows + at[1] * words;
    if (stream) nigh__ahead(nigh__ahead_of(first, words), 32 * words);
    if (stream) nigh__ahead(nigh__ahead_of(second, words), 32 * words);
    if (is_narrow(words)) return eight_narrow(narrow, plane_count, first, words);
    return eight_rows(asked, plane_count, first, second, words, stream);
}

/* nigh__rows_function; as one for a query that is alone where `stream` is set. */
INLINE uint32_t rows_body(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *rows, size_t count,
                          size_t words, uint32_t *distances, bool stream) {
    struct repeated narrow = {.query = _mm512_setzero_si512()}; /* not all compilers see that it is not read */
    if (is_narrow(words)) repeated_init(&narrow, asked, plane_count, words);
    const bool two_places = stream && nigh__places(words) == 2; /* four from each ask memory for less at once */
    const size_t step = two_places ? 4 : 8;
    const size_t place = nigh__place_rows(count, step, words);
    const size_t turns = stream ? place * nigh__places(words) / 8 : count / 8;
    __m256i smallest = _mm256_set1_epi32(-1);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn * (8 / step), step, place, words) : turn * 8;
        const size_t at[2] = {i, two_places ? nigh__place_row(turn * 2 + 1, step, place, words) : i + 4};
        __m256i eight = turn_rows(asked, &narrow, plane_count, rows, words, at, stream);
        _mm_storeu_si128((__m128i *)(void *)(distances + at[0]), _mm256_castsi256_si128(eight));
        _mm_storeu_si128((__m128i *)(void *)(distances + at[1]), _mm256_extracti128_si256(eight, 1));
        smallest = _mm256_min_epu32(smallest, eight);
    }
    uint32_t least[8];
    _mm256_storeu_si256((__m256i *)(void *)least, smallest);
    for (size_t j = 1; j < 8; j++) least[0] = least[j] < least[0] ? least[j] : least[0];
    for (size_t i = turns * 8; i < count; i++) {
        distances[i] = row_distance(asked, plane_count, rows + i * words, words);
        if (distances[i] < least[0]) least[0] = distances[i];
    }
    return least[0];
}

#endif

#endif
