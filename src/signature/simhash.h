/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of simhash; simhash.c has the definition. */
#ifndef NIGH_SIGNATURE_SIMHASH_H
#define NIGH_SIGNATURE_SIMHASH_H

#include "base/rng.h"
#include "kernel/projection.h"
#include "signature/bag.h"

/* Bits 64 * block and up of a feature: simhash.c has the definition. */
static inline uint64_t nigh__simhash_block(uint64_t hash, uint64_t block) {
    return block == 0 ? hash : nigh__mix(hash ^ block * UINT64_C(0x9e3779b97f4a7c15));
}

/* ones[j] += weight for each feature that has bit j; `blocks` blocks of 64 sums, modulo 2^32. */
void nigh__simhash_add(const struct nigh__projection *kernel, const struct nigh__bag *bag, uint32_t blocks,
                       uint32_t *ones);

#endif
