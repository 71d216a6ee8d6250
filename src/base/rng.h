/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded randomness that is the same everywhere: SplitMix64. */
#ifndef NIGH_BASE_RNG_H
#define NIGH_BASE_RNG_H

#include <stdint.h>

/* A bijection on 64 bits with no visible pattern (Steele, Lea and Flood, 2014). */
static inline uint64_t nigh__mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct nigh__rng {
    uint64_t state;
};

static inline uint64_t nigh__rng_next(struct nigh__rng *rng) {
    uint64_t value = nigh__mix(rng->state);
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    return value;
}

#endif
