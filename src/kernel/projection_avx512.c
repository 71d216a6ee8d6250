/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of signing with AVX-512.
 *
 * Ones.  A hash is its own mask: sixteen bits of it say which of sixteen sums of 32
 * bits get the weight, in one addition.  So the sums stand in their order, four
 * registers of them, and no weight is too heavy.
 *
 * Minima.  As with AVX2 (projection_avx2.c), for 64 functions at a time.
 *
 * Mixing.  Products of 64 bits are one instruction; a mix is a chain of two of them,
 * so two registers take turns.  Ends are done under a mask.
 */
#include "kernel/projection_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt")))
#define INLINE TARGET NIGH__INLINE

#define SUMS ((size_t)4) /* registers that work together */

INLINE __m512i load(const void *address) { return _mm512_loadu_si512(address); }

/* ------------------------------------------------------------------------- ones */

TARGET static void ones_avx512(const uint64_t *hashes, const uint32_t *weights, size_t count, uint32_t ones[64]) {
    __m512i sums[SUMS];
    NIGH__UNROLL4
    for (size_t r = 0; r < SUMS; r++) sums[r] = load(ones + 16 * r);
    for (size_t i = 0; i < count; i++) {
        const __m512i weight = _mm512_set1_epi32((int)weights[i]);
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++)
            sums[r] = _mm512_mask_add_epi32(sums[r], (__mmask16)(hashes[i] >> 16 * r), sums[r], weight);
    }
    NIGH__UNROLL4
    for (size_t r = 0; r < SUMS; r++) _mm512_storeu_si512(ones + 16 * r, sums[r]);
}

/* ----------------------------------------------------------------------- minima */

TARGET static void minima_avx512(const uint32_t *keys, size_t count, const uint32_t *multipliers,
                                 const uint32_t *offsets, size_t functions, uint32_t *minima) {
    for (size_t f = 0; f < functions; f += 16 * SUMS) {
        __m512i times[SUMS], plus[SUMS], least[SUMS];
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) {
            times[r] = load(multipliers + f + 16 * r);
            plus[r] = load(offsets + f + 16 * r);
            least[r] = load(minima + f + 16 * r);
        }
        for (size_t i = 0; i < count; i++) {
            const __m512i key = _mm512_set1_epi32((int)keys[i]);
            NIGH__UNROLL4
            for (size_t r = 0; r < SUMS; r++)
                least[r] = _mm512_min_epu32(least[r], _mm512_add_epi32(_mm512_mullo_epi32(key, times[r]), plus[r]));
        }
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) _mm512_storeu_si512(minima + f + 16 * r, least[r]);
    }
}

TARGET static void scramble_avx512(const uint32_t *minima, size_t bytes, uint8_t *bits) {
    const __m512i by = _mm512_set1_epi32((int)NIGH__SCRAMBLE);
    size_t i = 0;
    for (; i + 2 <= bytes; i += 2) {
        const uint16_t two = _mm512_movepi32_mask(_mm512_mullo_epi32(load(minima + i * 8), by));
        memcpy(bits + i, &two, sizeof two);
    }
    if (i < bytes) {
        const __m256i last = _mm256_loadu_si256((const __m256i *)(const void *)(minima + i * 8));
        bits[i] = _mm256_movepi32_mask(_mm256_mullo_epi32(last, _mm512_castsi512_si256(by)));
    }
}

/* ----------------------------------------------------------------------- mixing */

/* nigh__mix() */
INLINE __m512i mix(__m512i x) {
    x = _mm512_add_epi64(x, _mm512_set1_epi64((long long)UINT64_C(0x9e3779b97f4a7c15)));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 30)),
                           _mm512_set1_epi64((long long)UINT64_C(0xbf58476d1ce4e5b9)));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 27)),
                           _mm512_set1_epi64((long long)UINT64_C(0x94d049bb133111eb)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}

/* Which of eight there are, `left` being there from the first on. */
INLINE __mmask8 first_of(size_t left) { return (__mmask8)((1u << left) - 1); }

INLINE __m256i upper_halves(__m512i mixed) { return _mm512_cvtepi64_epi32(_mm512_srli_epi64(mixed, 32)); }

TARGET static void keys_avx512(const uint64_t *hashes, size_t count, uint32_t *keys) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_si256((__m256i *)(void *)(keys + i), upper_halves(mix(load(hashes + i))));
    const __mmask8 rest = first_of(count - i);
    _mm256_mask_storeu_epi32(keys + i, rest, upper_halves(mix(_mm512_maskz_loadu_epi64(rest, hashes + i))));
}

TARGET static void grams_avx512(const uint64_t *hashes, size_t length, size_t count, uint64_t seed, uint64_t *grams) {
    const __m512i begin = _mm512_set1_epi64((long long)seed);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512i first = begin;
        __m512i second = begin;
        for (size_t k = 0; k < length; k++) {
            first = mix(_mm512_xor_si512(first, load(hashes + i + k)));
            second = mix(_mm512_xor_si512(second, load(hashes + i + k + 8)));
        }
        _mm512_storeu_si512(grams + i, first);
        _mm512_storeu_si512(grams + i + 8, second);
    }
    for (; i < count; i += 8) {
        const __mmask8 rest = count - i < 8 ? first_of(count - i) : UINT8_MAX;
        __m512i last = begin;
        for (size_t k = 0; k < length; k++)
            last = mix(_mm512_xor_si512(last, _mm512_maskz_loadu_epi64(rest, hashes + i + k)));
        _mm512_mask_storeu_epi64(grams + i, rest, last);
    }
}

/* ------------------------------------------------------------------------- rows */

/* Sixteen coefficients as 32 bits, of which the upper half is multiplied by 0. */
INLINE __m512i times_row(const int16_t *row, __m512i factor) {
    return _mm512_madd_epi16(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)row)), factor);
}

/* `width` of 16 to 64 sums, whole registers. */
INLINE void rows_part(const int16_t *rows, const uint32_t *at, const uint32_t *factors, size_t count, size_t width,
                      size_t registers, int32_t *sums) {
    __m512i sum[SUMS];
    NIGH__UNROLL4
    for (size_t r = 0; r < registers; r++) sum[r] = load(sums + 16 * r);
    for (size_t i = 0; i < count; i++) {
        const int16_t *row = rows + at[i] * width;
        const __m512i factor = _mm512_set1_epi32((int)factors[i]);
        NIGH__UNROLL4
        for (size_t r = 0; r < registers; r++) sum[r] = _mm512_add_epi32(sum[r], times_row(row + 16 * r, factor));
    }
    NIGH__UNROLL4
    for (size_t r = 0; r < registers; r++) _mm512_storeu_si512(sums + 16 * r, sum[r]);
}

TARGET static void rows_avx512(const int16_t *rows, const uint32_t *at, const uint32_t *factors, size_t count,
                               size_t width, int32_t *sums) {
    size_t j = 0;
    for (; j + 16 * SUMS <= width; j += 16 * SUMS) rows_part(rows + j, at, factors, count, width, SUMS, sums + j);
    for (; j + 16 <= width; j += 16) rows_part(rows + j, at, factors, count, width, 1, sums + j);
    for (; j < width; j++) {
        for (size_t i = 0; i < count; i++) sums[j] += (int32_t)factors[i] * rows[at[i] * width + j];
    }
}

/* ------------------------------------------------------------------------ signs */

TARGET static void signs_avx512(const int32_t *sums, size_t bytes, uint8_t *bits) {
    size_t i = 0;
    for (; i + 2 <= bytes; i += 2) {
        const uint16_t two = _mm512_cmpgt_epi32_mask(load(sums + i * 8), _mm512_setzero_si512());
        memcpy(bits + i, &two, sizeof two);
    }
    if (i < bytes) {
        const __m256i last = _mm256_loadu_si256((const __m256i *)(const void *)(sums + i * 8));
        bits[i] = _mm256_cmpgt_epi32_mask(last, _mm256_setzero_si256());
    }
}

const struct nigh__projection nigh__projection_avx512 = {
    .name = "avx512",
    .needs = NIGH__CPU_AVX512_POPCNT,
    .ones = ones_avx512,
    .minima = minima_avx512,
    .keys = keys_avx512,
    .scramble = scramble_avx512,
    .grams = grams_avx512,
    .rows = rows_avx512,
    .signs = signs_avx512,
};

#endif
