/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sixteen rows and four queries at a time.  Hits are seldom, so the four counts are
 * brought to one smallest, and only where that is small enough is it asked whose.
 */
#include "kernel/pairs_kernel_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LANES 16u

INLINE __m512i differing(__m512i rows, __m512i query) { return _mm512_popcnt_epi32(_mm512_xor_si512(rows, query)); }

/* Hits of query number `query` among the lanes, row 0 of which is `row`. */
static size_t add_hits(const struct nigh__pair_task *task, uint32_t lanes, size_t query, size_t row,
                       struct nigh__pair_hit *hits) {
    size_t found = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const size_t at = row + (size_t)__builtin_ctz(lanes);
        if (at >= task->row_count || (task->self && at <= query)) continue;
        hits[found++] = (struct nigh__pair_hit){.query = (uint32_t)query, .row = (uint32_t)at};
    }
    return found;
}

/* Queries first .. first + count; those that are missing repeat the first, and nobody asks about them. */
TARGET static size_t compare(const struct nigh__pair_task *task, size_t first, size_t count,
                             struct nigh__pair_hit *hits) {
    const uint32_t *q = task->queries + first;
    const __m512i query[4] = {_mm512_set1_epi32((int)q[0]), _mm512_set1_epi32((int)q[count > 1 ? 1 : 0]),
                              _mm512_set1_epi32((int)q[count > 2 ? 2 : 0]),
                              _mm512_set1_epi32((int)q[count > 3 ? 3 : 0])};
    const __m512i radius = _mm512_set1_epi32((int)task->radius);
    size_t found = 0;
    for (size_t row = task->self ? first + 1 : 0; row < task->row_count; row += LANES) {
        const __m512i rows = _mm512_loadu_si512(task->rows + row);
        const __m512i bits[4] = {differing(rows, query[0]), differing(rows, query[1]), differing(rows, query[2]),
                                 differing(rows, query[3])};
        const __m512i least = _mm512_min_epu32(_mm512_min_epu32(bits[0], bits[1]), _mm512_min_epu32(bits[2], bits[3]));
        if (__builtin_expect(_mm512_cmple_epu32_mask(least, radius) == 0, 1)) continue;
        for (size_t i = 0; i < count; i++)
            found += add_hits(task, _mm512_cmple_epu32_mask(bits[i], radius), first + i, row, hits + found);
    }
    return found;
}

static size_t find(const struct nigh__pair_task *task, size_t *next, struct nigh__pair_hit *hits, size_t capacity) {
    return nigh__pairs_find(task, next, hits, capacity, compare);
}

const struct nigh__pairs nigh__pairs_avx512 = {.name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .find = find};

#endif
