/* SPDX-License-Identifier: Apache-2.0 */
/* What the variants of kernel/projection.h share.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_PROJECTION_PARTS_H
#define NIGH_KERNEL_PROJECTION_PARTS_H

#include "base/rng.h"
#include "kernel/hamming_parts.h"
#include "kernel/projection.h"

extern const struct nigh__projection nigh__projection_generic;
#if defined(__x86_64__)
extern const struct nigh__projection nigh__projection_avx2;
extern const struct nigh__projection nigh__projection_avx512;
#endif

/*
 * How many weights from the first on sum up to no more than 16 bits, and so may be
 * summed in lanes of 16 bits.  0 where the first alone is too heavy.
 */
NIGH__INLINE size_t nigh__light_run(const uint32_t *weights, size_t count) {
    uint64_t sum = 0;
    size_t run = 0;
    while (run < count && (sum += weights[run]) <= UINT16_MAX) run++;
    return run;
}

/* One row of grams the plain way. */
NIGH__INLINE uint64_t nigh__gram_of(const uint64_t *hashes, size_t length, uint64_t seed) {
    for (size_t k = 0; k < length; k++) seed = nigh__mix(seed ^ hashes[k]);
    return seed;
}

/* One feature the plain way, whatever it weighs. */
NIGH__INLINE void nigh__ones_add_one(uint64_t hash, uint32_t weight, uint32_t ones[64]) {
    for (unsigned j = 0; j < 64; j++) ones[j] += weight & (0u - (uint32_t)(hash >> j & 1));
}

#endif
