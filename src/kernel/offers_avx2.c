/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen distances a register: those that are nearer are counted, and the place found by it. */
#include "kernel/offers_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* Distances are compared as signed numbers: turned by half of what there is, they keep their order. */
#define TURN ((short)-0x8000)

INLINE size_t count_nearer(const uint16_t *distances, size_t count, uint16_t distance) {
    const __m256i turn = _mm256_set1_epi16(TURN);
    const __m256i all = _mm256_xor_si256(_mm256_set1_epi16((short)distance), turn);
    size_t nearer = 0;
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i row = _mm256_loadu_si256((const __m256i *)(const void *)(distances + i));
        const __m256i less = _mm256_cmpgt_epi16(all, _mm256_xor_si256(row, turn));
        nearer += (size_t)_mm_popcnt_u32((uint32_t)_mm256_movemask_epi8(less)) / 2;
    }
    for (; i + 8 <= count; i += 8) {
        const __m128i row = _mm_loadu_si128((const __m128i *)(const void *)(distances + i));
        const __m128i less =
            _mm_cmpgt_epi16(_mm256_castsi256_si128(all), _mm_xor_si128(row, _mm256_castsi256_si128(turn)));
        nearer += (size_t)_mm_popcnt_u32((uint32_t)_mm_movemask_epi8(less)) / 2;
    }
    for (; i < count; i++) nearer += distances[i] < distance;
    return nearer;
}

TARGET static enum nigh__offer_outcome offer(uint32_t *ids, uint16_t *distances, size_t count, uint32_t id,
                                             uint16_t distance) {
    return nigh__offers_put(ids, distances, count, count_nearer(distances, count, distance), id, distance);
}

INLINE __m256i load(const uint32_t *from) { return _mm256_loadu_si256((const __m256i *)(const void *)from); }

TARGET static size_t within(const uint32_t *distances, const uint32_t *limits, size_t count, uint32_t limit,
                            uint32_t *positions) {
    const __m256i least = _mm256_set1_epi32((int)limit);
    size_t found = 0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i most = _mm256_max_epu32(load(limits + i), least);
        const __m256i near = _mm256_cmpeq_epi32(_mm256_max_epu32(load(distances + i), most), most);
        uint32_t set = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(near));
        for (; set != 0; set &= set - 1) positions[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(set);
    }
    for (; i < count; i++) {
        const uint32_t most = limits[i] > limit ? limits[i] : limit;
        if (distances[i] <= most) positions[found++] = (uint32_t)i;
    }
    return found;
}

const struct nigh__offers nigh__offers_avx2 = {
    .name = "avx2", .needs = NIGH__CPU_AVX2, .offer = offer, .within = within};

#endif
