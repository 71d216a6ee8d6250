/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight rows and four queries at a time.  There is no instruction that counts bits,
 * but "at most r" needs no count where r is small: what is left after the lowest set
 * bit has been cleared r times is zero.  Beyond four it is cheaper to count, by a
 * table of nibbles.
 */
#include "kernel/pairs_kernel_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LANES 8u
#define MAX_CLEARED 4u

/* Lanes that are 0 where at most `radius` bits are set. */
INLINE __m256i many_by_clearing(__m256i x, uint32_t radius) {
    const __m256i ones = _mm256_set1_epi32(-1);
    for (uint32_t i = 0; i < radius; i++) x = _mm256_and_si256(x, _mm256_add_epi32(x, ones));
    return x;
}

INLINE __m256i many_by_counting(__m256i x, uint32_t radius) {
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, /* twice */
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i high_nibbles = _mm256_and_si256(_mm256_srli_epi32(x, 4), low);
    __m256i counts =
        _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)), _mm256_shuffle_epi8(table, high_nibbles));
    counts = _mm256_madd_epi16(_mm256_maddubs_epi16(counts, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
    return _mm256_cmpgt_epi32(counts, _mm256_set1_epi32((int)radius));
}

INLINE __m256i many(__m256i rows, __m256i query, uint32_t radius) {
    const __m256i x = _mm256_xor_si256(rows, query);
    return radius <= MAX_CLEARED ? many_by_clearing(x, radius) : many_by_counting(x, radius);
}

/* Lanes up to `last` are no longer 0. */
INLINE __m256i without(__m256i lanes, int last) {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_or_si256(lanes, _mm256_cmpgt_epi32(_mm256_set1_epi32(last + 1), numbers));
}

/* A bit for each lane that is 0. */
INLINE uint32_t zeros_of(__m256i x) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(x, _mm256_setzero_si256())));
}

/* Hits of the queries from `first` on among the rows from `row` on; bit 8 q + r of `pairs` is query q and row r. */
static size_t add_hits(const struct nigh__pair_task *task, uint32_t pairs, size_t first, size_t row,
                       struct nigh__pair_hit *hits) {
    const size_t rows = task->row_count - row;
    const size_t queries = task->query_count - first;
    size_t found = 0;
    if (rows < LANES) pairs &= ((1u << rows) - 1) * 0x01010101u;
    if (queries < NIGH__PAIRS_QUERIES) pairs &= (1u << LANES * queries) - 1;
    for (; pairs != 0; pairs &= pairs - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(pairs);
        hits[found++] =
            (struct nigh__pair_hit){.query = (uint32_t)first + bit / LANES, .row = (uint32_t)row + bit % LANES};
    }
    return found;
}

/*
 * Four queries with the rows from `row` on; `self`: these begin with the queries, and each is for those before it.
 * Written out, for the four are to stay in registers.
 */
INLINE size_t compare_rows(const struct nigh__pair_task *task, const __m256i query[4], size_t first, size_t row,
                           bool self, uint32_t radius, struct nigh__pair_hit *hits) {
    const __m256i rows = _mm256_loadu_si256((const __m256i *)(const void *)(task->rows + row));
    __m256i a = many(rows, query[0], radius);
    __m256i b = many(rows, query[1], radius);
    __m256i c = many(rows, query[2], radius);
    __m256i d = many(rows, query[3], radius);
    if (self) {
        a = without(a, 0);
        b = without(b, 1);
        c = without(c, 2);
        d = without(d, 3);
    }
    const __m256i least = _mm256_min_epu32(_mm256_min_epu32(a, b), _mm256_min_epu32(c, d));
    if (__builtin_expect(zeros_of(least) == 0, 1)) return 0;
    const uint32_t pairs = zeros_of(a) | zeros_of(b) << 8 | zeros_of(c) << 16 | zeros_of(d) << 24;
    return add_hits(task, pairs, first, row, hits);
}

/* Queries first .. first + count; those that are missing repeat the first, and nobody asks about them. */
INLINE size_t compare(const struct nigh__pair_task *task, size_t first, size_t count, uint32_t radius,
                      struct nigh__pair_hit *hits) {
    const uint32_t *q = task->queries + first;
    const __m256i query[4] = {_mm256_set1_epi32((int)q[0]), _mm256_set1_epi32((int)q[count > 1 ? 1 : 0]),
                              _mm256_set1_epi32((int)q[count > 2 ? 2 : 0]),
                              _mm256_set1_epi32((int)q[count > 3 ? 3 : 0])};
    size_t found = 0;
    size_t row = 0;
    if (task->self) {
        found = compare_rows(task, query, first, first, true, radius, hits);
        row = first + LANES;
    }
    for (; row < task->row_count; row += LANES)
        found += compare_rows(task, query, first, row, false, radius, hits + found);
    return found;
}

/* The radius as a constant, so that the clearing is one run of instructions. */
TARGET static size_t compare_any(const struct nigh__pair_task *task, size_t first, size_t count,
                                 struct nigh__pair_hit *hits) {
    switch (task->radius) {
    case 0:
        return compare(task, first, count, 0, hits);
    case 1:
        return compare(task, first, count, 1, hits);
    case 2:
        return compare(task, first, count, 2, hits);
    case 3:
        return compare(task, first, count, 3, hits);
    case 4:
        return compare(task, first, count, 4, hits);
    default:
        return compare(task, first, count, task->radius, hits);
    }
}

static size_t find(const struct nigh__pair_task *task, size_t *next, struct nigh__pair_hit *hits, size_t capacity) {
    return nigh__pairs_find(task, next, hits, capacity, compare_any);
}

const struct nigh__pairs nigh__pairs_avx2 = {.name = "avx2", .needs = NIGH__CPU_AVX2, .find = find};

#endif
