/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop, compiled twice.  It counts 64 bits at a time, for queries that need a
 * mask are texts that someone has typed, not the batches that hamming_*.c are
 * made for: a million rows of 1,024 bits take some ten milliseconds.
 */
#include "kernel/masked.h"

#include "base/cpu.h"
#include "kernel/features.h"
#include "kernel/hamming_parts.h"

NIGH__INLINE size_t masked_rows(const uint64_t *queries, const uint64_t *masks, size_t query_count,
                                const uint64_t *rows, size_t count, size_t words, const uint32_t *limits,
                                struct nigh__hit *hits) {
    size_t found = 0;
    for (size_t q = 0; q < query_count; q++) {
        const uint64_t *query = queries + q * words;
        const uint64_t *mask = masks + q * words;
        for (size_t row = 0; row < count; row++) {
            uint64_t distance = 0;
            for (size_t i = 0; i < words; i++)
                distance += (uint64_t)__builtin_popcountll((query[i] ^ rows[row * words + i]) & mask[i]);
            hits[found] = (struct nigh__hit){(uint32_t)q, (uint32_t)row, (uint32_t)distance};
            found += distance < limits[q];
        }
    }
    return found;
}

static size_t batch_generic(const uint64_t *queries, const uint64_t *masks, size_t query_count, const uint64_t *rows,
                            size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits) {
    return masked_rows(queries, masks, query_count, rows, count, words, limits, hits);
}

static const struct nigh__masked masked_generic = {.name = "generic", .needs = 0, .batch = batch_generic};

#if defined(__x86_64__)

__attribute__((target("popcnt"))) static size_t batch_popcnt(const uint64_t *queries, const uint64_t *masks,
                                                             size_t query_count, const uint64_t *rows, size_t count,
                                                             size_t words, const uint32_t *limits,
                                                             struct nigh__hit *hits) {
    return masked_rows(queries, masks, query_count, rows, count, words, limits, hits);
}

static const struct nigh__masked masked_popcnt = {.name = "popcnt", .needs = NIGH__CPU_POPCNT, .batch = batch_popcnt};

#endif

static const struct nigh__masked *const variants[] = {
#if defined(__x86_64__)
    &masked_popcnt,
#endif
    &masked_generic,
};

NIGH__KERNEL_CHOICE(nigh__masked)
