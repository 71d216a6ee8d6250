/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a variant, and the portable one: the distance kernel, row by row.
 *
 * Rows come from anywhere in memory, asked for well before; what is left is the cost of
 * calls and loops, which for 512 bits is as much as that of counting.  So the common
 * widths have code of their own, and one call serves all rows of a step.  64 bits at a
 * time are enough: Zen 3 counts four such words a cycle, and a row of 512 bits takes
 * less time than its way through the caches.
 */
#include "kernel/picked.h"

#include "base/cpu.h"
#include "kernel/features.h"
#include "kernel/hamming_parts.h"

static uint32_t distances_generic(const uint64_t *query, const uint64_t *rows, size_t stride, size_t words,
                                  const uint32_t *ids, size_t count, uint32_t *distances) {
    uint32_t smallest = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint32_t distance = nigh__hamming_generic.rows(query, rows + ids[i] * stride, 1, words, &distances[i]);
        if (distance < smallest) smallest = distance;
    }
    return smallest;
}

static const struct nigh__picked picked_generic = {.name = "generic", .needs = 0, .distances = distances_generic};

#if defined(__x86_64__)

#define TARGET __attribute__((target("popcnt")))

TARGET NIGH__INLINE uint32_t row_distance(const uint64_t *a, const uint64_t *b, size_t words) {
    uint64_t even = 0;
    uint64_t odd = 0;
    size_t i = 0;
    NIGH__UNROLL8
    for (; i + 2 <= words; i += 2) {
        even += (uint64_t)__builtin_popcountll(a[i] ^ b[i]);
        odd += (uint64_t)__builtin_popcountll(a[i + 1] ^ b[i + 1]);
    }
    if (i < words) even += (uint64_t)__builtin_popcountll(a[i] ^ b[i]);
    return (uint32_t)(even + odd);
}

TARGET NIGH__INLINE uint32_t body(const uint64_t *query, const uint64_t *rows, size_t stride, size_t words,
                                  const uint32_t *ids, size_t count, uint32_t *distances) {
    uint32_t smallest = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        distances[i] = row_distance(query, rows + ids[i] * stride, words);
        if (distances[i] < smallest) smallest = distances[i];
    }
    return smallest;
}

TARGET static uint32_t distances_popcnt(const uint64_t *query, const uint64_t *rows, size_t stride, size_t words,
                                        const uint32_t *ids, size_t count, uint32_t *distances) {
#define BODY(w) body(query, rows, stride, (w), ids, count, distances)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static const struct nigh__picked picked_popcnt = {
    .name = "popcnt", .needs = NIGH__CPU_POPCNT, .distances = distances_popcnt};

#endif

static const struct nigh__picked *const variants[] = {
#if defined(__x86_64__)
    &picked_popcnt,
#endif
    &picked_generic,
};

NIGH__KERNEL_CHOICE(nigh__picked)
