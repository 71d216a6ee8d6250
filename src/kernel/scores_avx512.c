/* SPDX-License-Identifier: Apache-2.0 */
/* One register a block, compared to a mask. */
#include "kernel/scores_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))

TARGET static size_t collect(const uint8_t *scores, size_t end, uint8_t least, size_t *at, uint32_t *positions,
                             size_t room) {
    const __m512i all = _mm512_set1_epi8((char)least);
    size_t found = 0;
    size_t i = *at;
    for (; i < end && room - found >= NIGH__SCORES_BLOCK; i += NIGH__SCORES_BLOCK) {
        const uint64_t set = _mm512_cmpge_epu8_mask(_mm512_load_si512(scores + i), all);
        if (set != 0) found = nigh__scores_positions(set, i, positions, found);
    }
    *at = i;
    return found;
}

const struct nigh__scores nigh__scores_avx512 = {
    .name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .collect = collect};

#endif
