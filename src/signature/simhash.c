/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimHash (Charikar, 2002): every feature votes on every bit, by the bits of its
 * hash and with its weight, and the majority is the signature.
 *
 * Definition.  A feature of hash h and weight w has as many bits as there are
 * sums, in blocks of 64: block 0 is h itself, and block i > 0 is
 *
 *     nigh__mix(h ^ i * 0x9e3779b97f4a7c15)
 *
 * Bit j of block i adds +w to sum 64 i + j where it is 1 and -w where it is 0, so
 *
 *     W = (weights of the ones) - (weights of the zeros) = 2 * ones - total
 *
 * and only the ones have to be added up, which halves the work and keeps all
 * numbers positive.  A bit of the signature is W > 0; a tie is 0.
 *
 * Cost.  The first block is the kernel alone; each further one adds two
 * multiplications a feature to make its bits.  Features go by in pieces whose
 * derived hashes stay in the first-level cache.
 */
#include "signature/simhash.h"

#define PIECE 256u

static void derive(const uint64_t *hashes, size_t count, uint64_t block, uint64_t *derived) {
    for (size_t i = 0; i < count; i++) derived[i] = nigh__simhash_block(hashes[i], block);
}

void nigh__simhash_add(const struct nigh__projection *kernel, const struct nigh__bag *bag, uint32_t blocks,
                       uint32_t *ones) {
    kernel->ones(bag->hashes, bag->weights, bag->count, ones);
    if (blocks == 1) return;
    uint64_t derived[PIECE];
    for (size_t at = 0; at < bag->count; at += PIECE) {
        const size_t count = bag->count - at < PIECE ? bag->count - at : PIECE;
        for (uint32_t block = 1; block < blocks; block++) {
            derive(bag->hashes + at, count, block, derived);
            kernel->ones(derived, bag->weights + at, count, ones + (size_t)block * 64);
        }
    }
}
