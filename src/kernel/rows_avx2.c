/* SPDX-License-Identifier: Apache-2.0 */
/* Two registers a line. */
#include "kernel/rows_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2")))

struct line {
    __m256i low, high;
};

TARGET static inline __m256i load(const uint8_t *place) {
    return _mm256_load_si256((const __m256i *)(const void *)place);
}

TARGET static inline struct line four(const uint8_t *const *rows, size_t at) {
    struct line line;
    line.low = _mm256_and_si256(_mm256_and_si256(load(rows[0] + at), load(rows[1] + at)),
                                _mm256_and_si256(load(rows[2] + at), load(rows[3] + at)));
    line.high = _mm256_and_si256(_mm256_and_si256(load(rows[0] + at + 32), load(rows[1] + at + 32)),
                                 _mm256_and_si256(load(rows[2] + at + 32), load(rows[3] + at + 32)));
    return line;
}

/* Returns whether any bit is set. */
TARGET static inline uint64_t store(struct line line, uint8_t *out) {
    const __m256i any = _mm256_or_si256(line.low, line.high);
    _mm256_store_si256((__m256i *)(void *)out, line.low);
    _mm256_store_si256((__m256i *)(void *)(out + 32), line.high);
    return (uint64_t)!_mm256_testz_si256(any, any);
}

TARGET static uint64_t first_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    const uint8_t *const places[NIGH__ROWS_STEP] = {rows[0] + from, rows[1] + from, rows[2] + from, rows[3] + from};
    const size_t bytes = (size_t)__builtin_popcountll(lines) * NIGH__ROWS_LINE; /* they are the first so many */
    uint64_t left = 0;
    for (size_t at = 0; at < bytes; at += NIGH__ROWS_LINE)
        left |= store(four(places, at), out + at) << at / NIGH__ROWS_LINE;
    return left;
}

TARGET static uint64_t more_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    uint64_t left = 0;
    for (; lines != 0; lines &= lines - 1) {
        const unsigned number = (unsigned)__builtin_ctzll(lines);
        uint8_t *place = out + (size_t)number * NIGH__ROWS_LINE;
        struct line line = four(rows, from + (size_t)number * NIGH__ROWS_LINE);
        line.low = _mm256_and_si256(line.low, load(place));
        line.high = _mm256_and_si256(line.high, load(place + 32));
        left |= store(line, place) << number;
    }
    return left;
}

static bool intersect(const uint8_t *const *rows, size_t count, size_t from, size_t bytes, uint8_t *out,
                      uint64_t *touched) {
    return nigh__rows_by_pieces(first_rows, more_rows, rows, count, from, bytes, out, touched);
}

/* A shuffle as a table: how many bits each half of a byte has. */
TARGET static inline __m256i byte_counts(__m256i bytes) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, /* and again */
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(0x0f);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(bytes, half)),
                           _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

TARGET static uint64_t count_bits(const uint8_t *bits, size_t bytes) {
    __m256i sums = _mm256_setzero_si256();
    uint64_t parts[4];
    for (size_t at = 0; at < bytes; at += 32) {
        const __m256i counts = byte_counts(_mm256_loadu_si256((const __m256i *)(const void *)(bits + at)));
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(counts, _mm256_setzero_si256()));
    }
    _mm256_storeu_si256((__m256i *)(void *)parts, sums);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

const struct nigh__rows nigh__rows_avx2 = {
    .name = "avx2", .needs = NIGH__CPU_AVX2, .intersect = intersect, .count = count_bits};

#endif
