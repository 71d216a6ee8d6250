/* SPDX-License-Identifier: Apache-2.0 */
/* Two registers a block.  There is no "at least" for bytes without a sign, but the greater of two is the first exactly
 * where it is at least the second. */
#include "kernel/scores_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i at_least(const uint8_t *scores, __m256i least) {
    const __m256i x = _mm256_load_si256((const __m256i *)(const void *)scores);
    return _mm256_cmpeq_epi8(_mm256_max_epu8(x, least), x);
}

TARGET static size_t collect(const uint8_t *scores, size_t end, uint8_t least, size_t *at, uint32_t *positions,
                             size_t room) {
    const __m256i all = _mm256_set1_epi8((char)least);
    size_t found = 0;
    size_t i = *at;
    for (; i < end && room - found >= NIGH__SCORES_BLOCK; i += NIGH__SCORES_BLOCK) {
        const __m256i low = at_least(scores + i, all);
        const __m256i high = at_least(scores + i + 32, all);
        if (_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_or_si256(low, high))) continue;
        const uint64_t set = (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
        found = nigh__scores_positions(set, i, positions, found);
    }
    *at = i;
    return found;
}

const struct nigh__scores nigh__scores_avx2 = {.name = "avx2", .needs = NIGH__CPU_AVX2, .collect = collect};

#endif
