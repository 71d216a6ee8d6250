/* SPDX-License-Identifier: Apache-2.0 */
/* Bits count what planes say; counting_avx2.h says how, for one query, and weighted_avx2_batch.c for many. */
#include "kernel/counting_avx2.h"
#include "kernel/weighted_parts.h"

#if defined(__x86_64__)

#include "base/cpu.h"

#define MASKED(w) BODY(1, w)
#define WEIGHTED(w) BODY(NIGH__PLANES, w)

TARGET static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words,
                                  uint32_t *distances) {
    const struct nigh__asked *asked = query;
#define BODY(planes, w) rows_body(asked, (planes), rows, count, (w), distances, false)
    NIGH__SWITCH_PLANES(asked->plane_count, words, BODY, MASKED, WEIGHTED)
#undef BODY
}

TARGET static uint32_t rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words,
                                   uint32_t *distances) {
    const struct nigh__asked *asked = query;
#define BODY(planes, w) rows_body(asked, (planes), rows, count, (w), distances, true)
    NIGH__SWITCH_PLANES(asked->plane_count, words, BODY, MASKED, WEIGHTED)
#undef BODY
}

static size_t batch(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                    const uint64_t *rows, size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits) {
    size_t done = 0;
    const bool tiles = nigh__weighted_tiles_pay(planes->count, query_count, words);
    const size_t found =
        tiles ? nigh__weighted_tiles(queries, planes, query_count, rows, count, words, limits, false, hits, &done) : 0;
    return found + nigh__weighted_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries,
                                          planes, query_count, rows + done * words, count - done, words, done, limits,
                                          hits + found);
}

INLINE uint32_t one_body(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row, size_t words) {
    __m256i sums[1];
    if (words <= 2) return narrow_distance(asked, plane_count, row, words);
    any_row_sums(asked, plane_count, row, words, 1, sums);
    return total(sums[0]);
}

TARGET static uint32_t one(const uint64_t *query, const uint64_t *planes, uint32_t plane_count, const uint64_t *row,
                           size_t words) {
    const struct nigh__asked asked = {query, planes, plane_count};
#define BODY(p, w) one_body(&asked, (p), row, (w))
    NIGH__SWITCH_PLANES(plane_count, words, BODY, MASKED, WEIGHTED)
#undef BODY
}

INLINE void pair_vector(__m256i sums[2], __m256i differing, __m256i mask_a, __m256i mask_b) {
    sums[0] = _mm256_add_epi64(sums[0], quarter_sums(byte_counts(_mm256_and_si256(differing, mask_a))));
    sums[1] = _mm256_add_epi64(sums[1], quarter_sums(byte_counts(_mm256_and_si256(differing, mask_b))));
}

TARGET static struct nigh__two_distances pair(const uint64_t *a, const uint64_t *mask_a, const uint64_t *b,
                                              const uint64_t *mask_b, size_t words) {
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    size_t w = 0;
    for (; w + 4 <= words; w += 4)
        pair_vector(sums, _mm256_xor_si256(load(a + w), load(b + w)), load(mask_a + w), load(mask_b + w));
    const size_t rest = words - w;
    if (rest > 0)
        pair_vector(sums, _mm256_xor_si256(load_words(a + w, rest), load_words(b + w, rest)),
                    load_words(mask_a + w, rest), load_words(mask_b + w, rest));
    return (struct nigh__two_distances){total(sums[0]), total(sums[1])};
}

const struct nigh__weighted nigh__weighted_avx2 = {
    .name = "avx2", .needs = NIGH__CPU_AVX2, .batch = batch, .one = one, .pair = pair};

#else

typedef int nigh__no_weighted_avx2; /* a file must hold something */

#endif
