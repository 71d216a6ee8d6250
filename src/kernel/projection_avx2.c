/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of signing with AVX2.
 *
 * Ones.  64 sums of 16 bits are four registers.  A hash is read once, into all
 * four quarters of a register, and each sum register looks at other bits of it:
 *
 *     quarter of 64 bits    q = 0          q = 1          q = 2          q = 3
 *     lane of 16 bits p     0  1  2  3     0  1  2  3     0  1  2  3     0  1  2  3
 *     register r            bit 16 p + 4 r + q of the hash
 *
 * so that a feature costs a load, and for each register: mask the bits, compare
 * them with the mask, keep the weight where they are set, add.  The order of the
 * sums is put right when they are added to those of 32 bits, once in a while.  Weights
 * that do not fit 16 bits, such as those of a model, are added in 32 bits right away.
 *
 * Minima.  The values of 32 functions are four registers, and all features pass
 * by before the next 32 functions take their turn: multiply, add, compare for eight
 * values, and a quarter of a load.
 *
 * Measured on Zen 3 (3.24 GHz), cycles a feature from the first-level cache, clang
 * and gcc:
 *
 *                              generic      avx2
 *     ones, 64 bits             22, 36  5.5, 5.8
 *     minima, 256 functions   250, 310    29, 29
 */
#include "kernel/projection_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET NIGH__TARGET_AVX2
#define INLINE TARGET NIGH__INLINE

#define SUMS ((size_t)4) /* registers that work together */

/* ------------------------------------------------------------------------- ones */

/* Adds sums in the order of the drawing. */
INLINE void spill(const __m256i sums[SUMS], uint32_t ones[64]) {
    uint16_t lanes[SUMS][16];
    NIGH__UNROLL4
    for (size_t r = 0; r < SUMS; r++) _mm256_storeu_si256((__m256i *)lanes[r], sums[r]);
    for (size_t r = 0; r < SUMS; r++) {
        for (size_t q = 0; q < 4; q++) {
            for (size_t p = 0; p < 4; p++) ones[16 * p + 4 * r + q] += lanes[r][4 * q + p];
        }
    }
}

TARGET static void add_run(const uint64_t *hashes, const uint32_t *weights, size_t count, uint32_t ones[64]) {
    const long long bit = 0x0001000100010001;
    const __m256i first = _mm256_setr_epi64x(bit, bit << 1, bit << 2, bit << 3);
    const __m256i masks[SUMS] = {first, _mm256_slli_epi16(first, 4), _mm256_slli_epi16(first, 8),
                                 _mm256_slli_epi16(first, 12)};
    __m256i sums[SUMS] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                          _mm256_setzero_si256()};
    for (size_t i = 0; i < count; i++) {
        const __m256i hash = _mm256_set1_epi64x((long long)hashes[i]);
        const __m256i weight = _mm256_set1_epi16((short)weights[i]);
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) {
            const __m256i set = _mm256_cmpeq_epi16(_mm256_and_si256(hash, masks[r]), masks[r]);
            sums[r] = _mm256_add_epi16(sums[r], _mm256_and_si256(set, weight));
        }
    }
    spill(sums, ones);
}

/* 32 sums of 32 bits, for the lower or the upper half of the hashes: bit 8 r + lane. */
TARGET static void add_heavy_half(const uint64_t *hashes, const uint32_t *weights, size_t count, unsigned half,
                                  uint32_t *ones) {
    const __m256i first = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i masks[SUMS] = {first, _mm256_slli_epi32(first, 8), _mm256_slli_epi32(first, 16),
                                 _mm256_slli_epi32(first, 24)};
    __m256i sums[SUMS];
    NIGH__UNROLL4
    for (size_t r = 0; r < SUMS; r++) sums[r] = _mm256_loadu_si256((const __m256i *)(ones + 8 * r));
    for (size_t i = 0; i < count; i++) {
        const __m256i hash = _mm256_set1_epi32((int)(uint32_t)(hashes[i] >> 32 * half));
        const __m256i weight = _mm256_set1_epi32((int)weights[i]);
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) {
            const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(hash, masks[r]), masks[r]);
            sums[r] = _mm256_add_epi32(sums[r], _mm256_and_si256(set, weight));
        }
    }
    NIGH__UNROLL4
    for (size_t r = 0; r < SUMS; r++) _mm256_storeu_si256((__m256i *)(ones + 8 * r), sums[r]);
}

/* Too short a run is not worth its end: it, and what follows, is added in 32 bits. */
#define SHORT_RUN ((size_t)16)
#define HEAVY_PIECE ((size_t)64)

TARGET static void ones_avx2(const uint64_t *hashes, const uint32_t *weights, size_t count, uint32_t ones[64]) {
    for (size_t at = 0; at < count;) {
        size_t run = nigh__light_run(weights + at, count - at);
        if (run < SHORT_RUN && run < count - at) {
            run = count - at < HEAVY_PIECE ? count - at : HEAVY_PIECE;
            add_heavy_half(hashes + at, weights + at, run, 0, ones);
            add_heavy_half(hashes + at, weights + at, run, 1, ones + 32);
        } else {
            add_run(hashes + at, weights + at, run, ones);
        }
        at += run;
    }
}

/* ----------------------------------------------------------------------- minima */

INLINE __m256i load(const void *address) { return _mm256_loadu_si256((const __m256i *)address); }

TARGET static void minima_avx2(const uint32_t *keys, size_t count, const uint32_t *multipliers, const uint32_t *offsets,
                               size_t functions, uint32_t *minima) {
    for (size_t f = 0; f < functions; f += 8 * SUMS) {
        __m256i times[SUMS], plus[SUMS], least[SUMS];
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) {
            times[r] = load(multipliers + f + 8 * r);
            plus[r] = load(offsets + f + 8 * r);
            least[r] = load(minima + f + 8 * r);
        }
        for (size_t i = 0; i < count; i++) {
            const __m256i key = _mm256_set1_epi32((int)keys[i]);
            NIGH__UNROLL4
            for (size_t r = 0; r < SUMS; r++)
                least[r] = _mm256_min_epu32(least[r], _mm256_add_epi32(_mm256_mullo_epi32(key, times[r]), plus[r]));
        }
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) _mm256_storeu_si256((__m256i *)(minima + f + 8 * r), least[r]);
    }
}

/* ----------------------------------------------------------------------- mixing */

/* Four products of 64 bits from three of 32: the upper halves' own is beyond them. */
INLINE __m256i times(__m256i values, uint64_t by) {
    const __m256i low = _mm256_set1_epi64x((long long)by);
    const __m256i high = _mm256_set1_epi64x((long long)(by >> 32));
    const __m256i across =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(values, 32), low), _mm256_mul_epu32(values, high));
    return _mm256_add_epi64(_mm256_mul_epu32(values, low), _mm256_slli_epi64(across, 32));
}

/* nigh__mix() */
INLINE __m256i mix(__m256i x) {
    x = _mm256_add_epi64(x, _mm256_set1_epi64x((long long)UINT64_C(0x9e3779b97f4a7c15)));
    x = times(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)), UINT64_C(0xbf58476d1ce4e5b9));
    x = times(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), UINT64_C(0x94d049bb133111eb));
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 31));
}

TARGET static void keys_avx2(const uint64_t *hashes, size_t count, uint32_t *keys) {
    const __m256i upper = _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const __m256i mixed = _mm256_permutevar8x32_epi32(mix(load(hashes + i)), upper);
        _mm_storeu_si128((__m128i *)(void *)(keys + i), _mm256_castsi256_si128(mixed));
    }
    for (; i < count; i++) keys[i] = (uint32_t)(nigh__mix(hashes[i]) >> 32);
}

TARGET static void grams_avx2(const uint64_t *hashes, size_t length, size_t count, uint64_t seed, uint64_t *grams) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i first = _mm256_set1_epi64x((long long)seed);
        __m256i second = first;
        for (size_t k = 0; k < length; k++) {
            first = mix(_mm256_xor_si256(first, load(hashes + i + k)));
            second = mix(_mm256_xor_si256(second, load(hashes + i + k + 4)));
        }
        _mm256_storeu_si256((__m256i *)(void *)(grams + i), first);
        _mm256_storeu_si256((__m256i *)(void *)(grams + i + 4), second);
    }
    for (; i < count; i++) grams[i] = nigh__gram_of(hashes + i, length, seed);
}

TARGET static void scramble_avx2(const uint32_t *minima, size_t bytes, uint8_t *bits) {
    const __m256i by = _mm256_set1_epi32((int)NIGH__SCRAMBLE);
    for (size_t i = 0; i < bytes; i++) {
        const __m256i scrambled = _mm256_mullo_epi32(load(minima + i * 8), by);
        bits[i] = (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(scrambled));
    }
}

/* ------------------------------------------------------------------------- rows */

/* Eight coefficients as 32 bits, of which the upper half is multiplied by 0: a product of 16 bits is the cheaper one.
 */
INLINE __m256i times_row(const int16_t *row, __m256i factor) {
    return _mm256_madd_epi16(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)row)), factor);
}

TARGET static void rows_avx2(const int16_t *rows, const uint32_t *at, const uint32_t *factors, size_t count,
                             size_t width, int32_t *sums) {
    size_t j = 0;
    for (; j + 8 * SUMS <= width; j += 8 * SUMS) {
        __m256i sum[SUMS];
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) sum[r] = load(sums + j + 8 * r);
        for (size_t i = 0; i < count; i++) {
            const int16_t *row = rows + at[i] * width + j;
            const __m256i factor = _mm256_set1_epi32((int)factors[i]);
            NIGH__UNROLL4
            for (size_t r = 0; r < SUMS; r++) sum[r] = _mm256_add_epi32(sum[r], times_row(row + 8 * r, factor));
        }
        NIGH__UNROLL4
        for (size_t r = 0; r < SUMS; r++) _mm256_storeu_si256((__m256i *)(sums + j + 8 * r), sum[r]);
    }
    for (; j + 8 <= width; j += 8) {
        __m256i sum = load(sums + j);
        for (size_t i = 0; i < count; i++)
            sum = _mm256_add_epi32(sum, times_row(rows + at[i] * width + j, _mm256_set1_epi32((int)factors[i])));
        _mm256_storeu_si256((__m256i *)(sums + j), sum);
    }
    for (; j < width; j++) {
        for (size_t i = 0; i < count; i++) sums[j] += (int32_t)factors[i] * rows[at[i] * width + j];
    }
}

/* ------------------------------------------------------------------------ signs */

TARGET static void signs_avx2(const int32_t *sums, size_t bytes, uint8_t *bits) {
    const __m256i zero = _mm256_setzero_si256();
    for (size_t i = 0; i < bytes; i++) {
        const __m256i above = _mm256_cmpgt_epi32(load(sums + i * 8), zero);
        bits[i] = (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(above));
    }
}

const struct nigh__projection nigh__projection_avx2 = {
    .name = "avx2",
    .needs = NIGH__CPU_AVX2,
    .ones = ones_avx2,
    .minima = minima_avx2,
    .keys = keys_avx2,
    .scramble = scramble_avx2,
    .grams = grams_avx2,
    .rows = rows_avx2,
    .signs = signs_avx2,
};

#endif
