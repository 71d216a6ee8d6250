/* SPDX-License-Identifier: Apache-2.0 */
/* One loop, compiled twice, 64 bits at a time: the definition. */
#include "kernel/weighted.h"

#include "base/cpu.h"
#include "kernel/features.h"
#include "kernel/hamming_parts.h"

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

static size_t batch_generic(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                            const uint64_t *rows, size_t count, size_t words, const uint32_t *limits,
                            struct nigh__hit *hits) {
    return batch_body(queries, planes, query_count, rows, count, words, limits, hits);
}

static const struct nigh__weighted weighted_generic = {.name = "generic", .needs = 0, .batch = batch_generic};

#if defined(__x86_64__)

__attribute__((target("popcnt"))) static size_t batch_popcnt(const uint64_t *queries, const struct nigh__planes *planes,
                                                             size_t query_count, const uint64_t *rows, size_t count,
                                                             size_t words, const uint32_t *limits,
                                                             struct nigh__hit *hits) {
    return batch_body(queries, planes, query_count, rows, count, words, limits, hits);
}

static const struct nigh__weighted weighted_popcnt = {
    .name = "popcnt", .needs = NIGH__CPU_POPCNT, .batch = batch_popcnt};

#endif

static const struct nigh__weighted *const variants[] = {
#if defined(__x86_64__)
    &weighted_popcnt,
#endif
    &weighted_generic,
};

NIGH__KERNEL_CHOICE(nigh__weighted)
