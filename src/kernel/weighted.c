/* SPDX-License-Identifier: Apache-2.0 */
/* One loop, compiled twice, 64 bits at a time: the definition. */
#include "kernel/weighted.h"

#include "base/cpu.h"
#include "kernel/features.h"
#include "kernel/hamming_parts.h"
#include "kernel/weighted_parts.h"

/* `planes` of one query. */
NIGH__INLINE uint32_t row_distance(const uint64_t *query, const uint64_t *planes, uint32_t plane_count,
                                   const uint64_t *row, size_t words) {
    uint64_t distance = 0;
    for (uint32_t p = 0; p < plane_count; p++) {
        uint64_t differing = 0;
        for (size_t i = 0; i < words; i++)
            differing += (uint64_t)__builtin_popcountll((query[i] ^ row[i]) & planes[p * words + i]);
        distance += differing << p;
    }
    return (uint32_t)distance;
}

NIGH__INLINE size_t batch_body(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                               const uint64_t *rows, size_t count, size_t words, const uint32_t *limits,
                               struct nigh__hit *hits) {
    size_t found = 0;
    for (size_t q = 0; q < query_count; q++) {
        const uint64_t *own = planes->words + q * planes->count * words;
        for (size_t row = 0; row < count; row++) {
            const uint32_t distance = row_distance(queries + q * words, own, planes->count, rows + row * words, words);
            hits[found] = (struct nigh__hit){(uint32_t)q, (uint32_t)row, distance};
            found += distance < limits[q];
        }
    }
    return found;
}

NIGH__INLINE struct nigh__two_distances pair_body(const uint64_t *a, const uint64_t *mask_a, const uint64_t *b,
                                                  const uint64_t *mask_b, size_t words) {
    uint64_t under_a = 0;
    uint64_t under_b = 0;
    for (size_t i = 0; i < words; i++) {
        const uint64_t differing = a[i] ^ b[i];
        under_a += (uint64_t)__builtin_popcountll(differing & mask_a[i]);
        under_b += (uint64_t)__builtin_popcountll(differing & mask_b[i]);
    }
    return (struct nigh__two_distances){(uint32_t)under_a, (uint32_t)under_b};
}

static size_t batch_generic(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                            const uint64_t *rows, size_t count, size_t words, const uint32_t *limits,
                            struct nigh__hit *hits) {
    return batch_body(queries, planes, query_count, rows, count, words, limits, hits);
}

static uint32_t one_generic(const uint64_t *query, const uint64_t *planes, uint32_t plane_count, const uint64_t *row,
                            size_t words) {
    return row_distance(query, planes, plane_count, row, words);
}

static struct nigh__two_distances pair_generic(const uint64_t *a, const uint64_t *mask_a, const uint64_t *b,
                                               const uint64_t *mask_b, size_t words) {
    return pair_body(a, mask_a, b, mask_b, words);
}

static const struct nigh__weighted weighted_generic = {
    .name = "generic", .needs = 0, .batch = batch_generic, .one = one_generic, .pair = pair_generic};

#if defined(__x86_64__)

#define TARGET __attribute__((target("popcnt")))

TARGET static size_t batch_popcnt(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                                  const uint64_t *rows, size_t count, size_t words, const uint32_t *limits,
                                  struct nigh__hit *hits) {
    return batch_body(queries, planes, query_count, rows, count, words, limits, hits);
}

TARGET static uint32_t one_popcnt(const uint64_t *query, const uint64_t *planes, uint32_t plane_count,
                                  const uint64_t *row, size_t words) {
    return row_distance(query, planes, plane_count, row, words);
}

TARGET static struct nigh__two_distances pair_popcnt(const uint64_t *a, const uint64_t *mask_a, const uint64_t *b,
                                                     const uint64_t *mask_b, size_t words) {
    return pair_body(a, mask_a, b, mask_b, words);
}

static const struct nigh__weighted weighted_popcnt = {
    .name = "popcnt", .needs = NIGH__CPU_POPCNT, .batch = batch_popcnt, .one = one_popcnt, .pair = pair_popcnt};

#endif

uint32_t nigh__weighted_rows(const struct nigh__weighted *weighted, const struct nigh__asked *asked,
                             const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
    if (weighted->rows != NULL) return weighted->rows(asked, rows, count, words, distances);
    uint32_t smallest = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        distances[i] = weighted->one(asked->query, asked->planes, asked->plane_count, rows + i * words, words);
        if (distances[i] < smallest) smallest = distances[i];
    }
    return smallest;
}

void nigh__weighted_pairs(const struct nigh__weighted *weighted, const uint64_t *one, const uint64_t *mask,
                          const uint64_t *rows, const uint64_t *masks, size_t count, size_t words, uint32_t *under_one,
                          uint32_t *under_row) {
    if (weighted->pairs != NULL) {
        weighted->pairs(one, mask, rows, masks, count, words, under_one, under_row);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct nigh__two_distances both = weighted->pair(one, mask, rows + i * words, masks + i * words, words);
        under_one[i] = both.under_a;
        under_row[i] = both.under_b;
    }
}

size_t nigh__weighted_by_rows(const struct nigh__rows_functions *functions, const uint64_t *queries,
                              const struct nigh__planes *planes, size_t query_count, const uint64_t *rows, size_t count,
                              size_t words, size_t first_row, const uint32_t *limits, struct nigh__hit *hits) {
    struct nigh__asked asked[NIGH__BATCH_QUERIES];
    for (size_t q = 0; q < query_count; q++)
        asked[q] = (struct nigh__asked){queries + q * words, planes->words + q * planes->count * words, planes->count};
    return nigh__batch_by_rows(functions, asked, sizeof asked[0], query_count, rows, count, words, first_row, limits,
                               hits);
}

static const struct nigh__weighted *const variants[] = {
#if defined(__x86_64__)
    &nigh__weighted_avx512,
    &nigh__weighted_avx2,
    &weighted_popcnt,
#elif defined(__aarch64__)
    &nigh__weighted_neon,
#endif
    &weighted_generic,
};

NIGH__KERNEL_CHOICE(nigh__weighted)
