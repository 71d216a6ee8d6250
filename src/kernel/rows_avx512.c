/* SPDX-License-Identifier: Apache-2.0 */
/* One register a line. */
#include "kernel/rows_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq")))

TARGET static inline __m512i four(const uint8_t *const *rows, size_t at) {
    return _mm512_and_si512(_mm512_and_si512(_mm512_load_si512(rows[0] + at), _mm512_load_si512(rows[1] + at)),
                            _mm512_and_si512(_mm512_load_si512(rows[2] + at), _mm512_load_si512(rows[3] + at)));
}

/* Returns whether any bit is set. */
TARGET static inline uint64_t store(__m512i line, uint8_t *out) {
    _mm512_store_si512(out, line);
    return (uint64_t)(_mm512_test_epi64_mask(line, line) != 0);
}

TARGET static uint64_t first_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    const size_t bytes = (size_t)__builtin_popcountll(lines) * NIGH__ROWS_LINE; /* they are the first so many */
    uint64_t left = 0;
    for (size_t at = 0; at < bytes; at += NIGH__ROWS_LINE)
        left |= store(four(rows, from + at), out + at) << at / NIGH__ROWS_LINE;
    return left;
}

TARGET static uint64_t more_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    uint64_t left = 0;
    for (; lines != 0; lines &= lines - 1) {
        const unsigned number = (unsigned)__builtin_ctzll(lines);
        uint8_t *place = out + (size_t)number * NIGH__ROWS_LINE;
        const __m512i line = four(rows, from + (size_t)number * NIGH__ROWS_LINE);
        left |= store(_mm512_and_si512(line, _mm512_load_si512(place)), place) << number;
    }
    return left;
}

static bool intersect(const uint8_t *const *rows, size_t count, size_t from, size_t bytes, uint8_t *out,
                      uint64_t *touched) {
    return nigh__rows_by_pieces(first_rows, more_rows, rows, count, from, bytes, out, touched);
}

TARGET static uint64_t count_bits(const uint8_t *bits, size_t bytes) {
    __m512i sums = _mm512_setzero_si512();
    for (size_t at = 0; at < bytes; at += NIGH__ROWS_LINE)
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_loadu_si512(bits + at)));
    return (uint64_t)_mm512_reduce_add_epi64(sums);
}

const struct nigh__rows nigh__rows_avx512 = {
    .name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .intersect = intersect, .count = count_bits};

#endif
