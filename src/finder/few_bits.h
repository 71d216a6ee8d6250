/* SPDX-License-Identifier: Apache-2.0 */
/* Near words among few: for the one or two rows of a bucket, where calling a kernel would take longer. */
#ifndef NIGH_FINDER_FEW_BITS_H
#define NIGH_FINDER_FEW_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most `most` bits are set: that many are taken away, with no instruction that some processors lack. */
static inline __attribute__((always_inline)) bool nigh__few_bits(uint64_t bits, uint32_t most) {
    if (most > 8) return (uint32_t)__builtin_popcountll(bits) <= most;
    for (uint32_t i = 0; i < most; i++) bits &= bits - 1;
    return bits == 0;
}

static inline __attribute__((always_inline)) size_t nigh__next_near_of(const uint64_t *words, size_t at, size_t end,
                                                                       uint64_t word, uint32_t most) {
    while (at < end && !nigh__few_bits(words[at] ^ word, most)) at++;
    return at;
}

/* The first of words[at .. end) that differs from `word` in at most `most` bits; `end`: none.  Usual radii unrolled. */
static inline size_t nigh__next_near(const uint64_t *words, size_t at, size_t end, uint64_t word, uint32_t most) {
    if (most == 3) return nigh__next_near_of(words, at, end, word, 3);
    if (most == 2) return nigh__next_near_of(words, at, end, word, 2);
    if (most == 4) return nigh__next_near_of(words, at, end, word, 4);
    return nigh__next_near_of(words, at, end, word, most);
}

#endif
