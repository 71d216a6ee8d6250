/* SPDX-License-Identifier: Apache-2.0 */
/* Four values a step, compared as signed numbers with the highest bit turned. */
#include "kernel/lowest_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2")))
#define LANES 4u

TARGET static inline __m256i load(const uint64_t *place) {
    return _mm256_loadu_si256((const __m256i *)(const void *)place);
}

TARGET static inline __m256i smaller(__m256i a, __m256i b) {
    const __m256i highest = _mm256_set1_epi64x(INT64_MIN);
    const __m256i above = _mm256_cmpgt_epi64(_mm256_xor_si256(a, highest), _mm256_xor_si256(b, highest));
    return _mm256_blendv_epi8(a, b, above);
}

TARGET static void lower(uint64_t *table, size_t width, const uint32_t *rows, size_t count, const uint64_t *values) {
    nigh__lowest_begin(table, width, rows, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t *row = table + rows[i] * width;
        size_t j = 0;
        nigh__lowest_ask(table, width, rows, count, i + NIGH__LOWEST_AHEAD);
        for (; j + LANES <= width; j += LANES)
            _mm256_storeu_si256((__m256i *)(void *)(row + j), smaller(load(row + j), load(values + j)));
        for (; j < width; j++) row[j] = values[j] < row[j] ? values[j] : row[j];
    }
}

const struct nigh__lowest nigh__lowest_avx2 = {.name = "avx2", .needs = NIGH__CPU_AVX2, .lower = lower};

#endif
