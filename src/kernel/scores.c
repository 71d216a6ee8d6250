/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a variant, and the portable one, which looks at eight scores at a time
 * whether any has a chance.
 *
 * A search leaves a table of a million scores of which a thousand matter.  Looked at
 * one by one that takes a millisecond, longer than all the rest of the search; by
 * registers, of which few have a hit, it is as fast as the table can be read.
 */
#include "kernel/scores.h"

#include <string.h>

#include "kernel/features.h"
#include "kernel/scores_parts.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define LOW_BITS UINT64_C(0x0101010101010101)

/*
 * The high bit of each byte that is at least `least` (in every byte of `all`).  With the
 * high bits set in x and cleared in `all`, bytes do not borrow from each other.
 */
static uint64_t at_least(uint64_t x, uint64_t all) {
    const uint64_t low = (x | HIGH_BITS) - (all & ~HIGH_BITS); /* high bit: the lower seven are at least so much */
    return ((x & ~all) | (~(x ^ all) & low)) & HIGH_BITS;
}

/* Bit i for byte i, as they lie in memory. */
static uint64_t block_set(const uint8_t *scores, uint8_t least) {
    uint64_t set = 0;
    for (uint32_t i = 0; i < NIGH__SCORES_BLOCK; i++) set |= (uint64_t)(scores[i] >= least) << i;
    return set;
}

static size_t collect(const uint8_t *scores, size_t end, uint8_t least, size_t *at, uint32_t *positions, size_t room) {
    const uint64_t all = least * LOW_BITS;
    size_t found = 0;
    size_t i = *at;
    for (; i < end && room - found >= NIGH__SCORES_BLOCK; i += NIGH__SCORES_BLOCK) {
        uint64_t words[NIGH__SCORES_BLOCK / 8];
        memcpy(words, scores + i, sizeof words);
        uint64_t any = 0;
        for (size_t w = 0; w < NIGH__SCORES_BLOCK / 8; w++) any |= at_least(words[w], all);
        if (any != 0) found = nigh__scores_positions(block_set(scores + i, least), i, positions, found);
    }
    *at = i;
    return found;
}

static const struct nigh__scores scores_generic = {.name = "generic", .needs = 0, .collect = collect};

static const struct nigh__scores *const variants[] = {
#if defined(__x86_64__)
    &nigh__scores_avx512,
    &nigh__scores_avx2,
#elif defined(__aarch64__)
    &nigh__scores_neon,
#endif
    &scores_generic,
};

NIGH__KERNEL_CHOICE(nigh__scores)
