/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen keys a register, counted by VPOPCNTDQ and compared into a mask; the last ones are read under a mask. */
#include "kernel/near_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

INLINE uint32_t are_near(__m512i keys, __m512i key, __m512i most) {
    return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(_mm512_xor_si512(keys, key)), most);
}

INLINE size_t note(uint32_t set, size_t first, uint32_t *positions, size_t found) {
    for (; set != 0; set &= set - 1) positions[found++] = (uint32_t)first + (uint32_t)__builtin_ctz(set);
    return found;
}

TARGET static size_t find(const uint32_t *keys, size_t count, uint32_t key, uint32_t most, uint32_t *positions) {
    const __m512i all = _mm512_set1_epi32((int)key);
    const __m512i limit = _mm512_set1_epi32((int)most);
    size_t found = 0;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        uint32_t low = are_near(_mm512_loadu_si512(keys + i), all, limit);
        uint32_t high = are_near(_mm512_loadu_si512(keys + i + 16), all, limit);
        found = note(low | high << 16, i, positions, found);
    }
    for (; i < count; i += 16) {
        const uint32_t there = count - i < 16 ? (1u << (count - i)) - 1 : 0xffffu;
        __m512i last = _mm512_maskz_loadu_epi32((__mmask16)there, keys + i);
        found = note(are_near(last, all, limit) & there, i, positions, found);
    }
    return found;
}

TARGET static uint64_t worth(const struct nigh__bucket *buckets, size_t count, uint32_t most) {
    const __m512i limit = _mm512_set1_epi32((int)most);
    uint64_t set = 0;
    for (size_t b = 0; b < count; b++) {
        const uint32_t there = (1u << (buckets[b].count < 8 ? buckets[b].count : 8)) - 1;
        const __m512i key = _mm512_set1_epi32((int)buckets[b].key);
        __m512i keys = _mm512_maskz_loadu_epi32((__mmask16)there, buckets[b].keys);
        const bool worth = (are_near(keys, key, limit) & there) != 0 || buckets[b].count > NIGH__SHORT_BUCKET;
        set |= (uint64_t)worth << b;
    }
    return set;
}

TARGET static uint64_t worth_words(const struct nigh__word_bucket *buckets, size_t count, uint64_t word,
                                   uint32_t most) {
    const __m512i all = _mm512_set1_epi64((int64_t)word);
    const __m512i limit = _mm512_set1_epi64((int64_t)most);
    uint64_t set = 0;
    for (size_t b = 0; b < count; b++) {
        const uint32_t there = (1u << (buckets[b].count < 4 ? buckets[b].count : 4)) - 1;
        __m512i words = _mm512_maskz_loadu_epi64((__mmask8)there, buckets[b].words);
        __m512i bits = _mm512_popcnt_epi64(_mm512_xor_si512(words, all));
        const bool worth = (_mm512_cmple_epu64_mask(bits, limit) & there) != 0 || buckets[b].count > NIGH__SHORT_WORDS;
        set |= (uint64_t)worth << b;
    }
    return set;
}

const struct nigh__near nigh__near_avx512 = {
    .name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .find = find, .worth = worth, .worth_words = worth_words};

#endif
