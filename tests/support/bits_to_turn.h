/* SPDX-License-Identifier: Apache-2.0 */
/* Bits to turn, for rows that are near others. */
#ifndef NIGH_TESTS_BITS_TO_TURN_H
#define NIGH_TESTS_BITS_TO_TURN_H

#include "base/rng.h"

/* Each bit is 1 in one of eight. */
static inline uint64_t few_bits(struct nigh__rng *rng) {
    const uint64_t a = nigh__rng_next(rng);
    const uint64_t b = nigh__rng_next(rng);
    return a & b & nigh__rng_next(rng);
}

#endif
