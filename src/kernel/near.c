/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a variant, and the portable one, which counts by adding
 * neighbouring bits.
 *
 * Buckets come in two kinds.  Long ones, 150 keys, are read in sequence, and memory
 * is the limit as long as a key costs under a nanosecond.  Short ones, two or three
 * keys, are one read and one branch that is hardly ever taken: their ends must cost
 * no more than their middle, so registers are filled in part instead of looping.
 */
#include "kernel/near.h"

#include <stdbool.h>

#include "kernel/features.h"
#include "kernel/near_parts.h"

static uint32_t bits_in(uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}

static size_t find(const uint32_t *keys, size_t count, uint32_t key, uint32_t most, uint32_t *positions) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (bits_in(keys[i] ^ key) <= most) positions[found++] = (uint32_t)i;
    }
    return found;
}

static uint64_t worth(const struct nigh__bucket *buckets, size_t count, uint32_t most) {
    uint64_t set = 0;
    for (size_t b = 0; b < count; b++) {
        bool near = buckets[b].count > NIGH__SHORT_BUCKET;
        for (size_t i = 0; i < buckets[b].count && !near; i++)
            near = bits_in(buckets[b].keys[i] ^ buckets[b].key) <= most;
        set |= (uint64_t)near << b;
    }
    return set;
}

static uint64_t worth_words(const struct nigh__word_bucket *buckets, size_t count, uint64_t word, uint32_t most) {
    uint64_t set = 0;
    for (size_t b = 0; b < count; b++) {
        bool near = buckets[b].count > NIGH__SHORT_WORDS;
        for (size_t i = 0; i < buckets[b].count && !near; i++) {
            const uint64_t other = buckets[b].words[i] ^ word;
            near = bits_in((uint32_t)other) + bits_in((uint32_t)(other >> 32)) <= most;
        }
        set |= (uint64_t)near << b;
    }
    return set;
}

static const struct nigh__near near_generic = {
    .name = "generic", .needs = 0, .find = find, .worth = worth, .worth_words = worth_words};

static const struct nigh__near *const variants[] = {
#if defined(__x86_64__)
    &nigh__near_avx512,
    &nigh__near_avx2,
#endif
    &near_generic,
};

NIGH__KERNEL_CHOICE(nigh__near)
