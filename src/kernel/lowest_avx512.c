/* SPDX-License-Identifier: Apache-2.0 */
/* Eight values a step; a mask leaves alone what is behind a row. */
#include "kernel/lowest_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define LANES 8u

TARGET static inline __mmask8 lanes_of(size_t left) { return (__mmask8)(left >= LANES ? 0xff : (1u << left) - 1); }

TARGET static void lower(uint64_t *table, size_t width, const uint32_t *rows, size_t count, const uint64_t *values) {
    nigh__lowest_begin(table, width, rows, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t *row = table + rows[i] * width;
        nigh__lowest_ask(table, width, rows, count, i + NIGH__LOWEST_AHEAD);
        for (size_t j = 0; j < width; j += LANES) {
            const __mmask8 lanes = lanes_of(width - j);
            const __m512i least =
                _mm512_min_epu64(_mm512_maskz_loadu_epi64(lanes, row + j), _mm512_maskz_loadu_epi64(lanes, values + j));
            _mm512_mask_storeu_epi64(row + j, lanes, least);
        }
    }
}

const struct nigh__lowest nigh__lowest_avx512 = {.name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .lower = lower};

#endif
