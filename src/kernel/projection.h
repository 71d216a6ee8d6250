/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of signing: one entry per CPU variant, best first.  The
 * portable entry is the definition; all others must equal it bit for bit.
 */
#ifndef NIGH_KERNEL_PROJECTION_H
#define NIGH_KERNEL_PROJECTION_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/hamming.h"

/* Hash functions and sums come in whole groups, so that no variant has to care for ends. */
#define NIGH__PROJECTION_GROUP 64u

#define NIGH__SCRAMBLE UINT32_C(0x9e3779b1)

struct nigh__projection {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /* ones[j] += weights[i] for each i whose hash has bit j, modulo 2^32: weights may stand for negative numbers. */
    void (*ones)(const uint64_t *hashes, const uint32_t *weights, size_t count, uint32_t ones[64]);

    /*
     * minima[f] = min(minima[f], multipliers[f] * keys[i] + offsets[f] in 32 bits)
     * over all i; `functions` is a multiple of NIGH__PROJECTION_GROUP.
     */
    void (*minima)(const uint32_t *keys, size_t count, const uint32_t *multipliers, const uint32_t *offsets,
                   size_t functions, uint32_t *minima);

    /* keys[i] = nigh__mix(hashes[i]) >> 32 */
    void (*keys)(const uint64_t *hashes, size_t count, uint32_t *keys);

    /* Bit j of `bits` is the highest of minima[j] * NIGH__SCRAMBLE in 32 bits; `bytes` bytes, eight minima each. */
    void (*scramble)(const uint32_t *minima, size_t bytes, uint8_t *bits);

    /*
     * The hash of every `length` hashes in a row, a, b, ... z, from a seed s:
     * grams[i] = mix(... mix(mix(s ^ a) ^ b) ... ^ z), where a is hashes[i].  `grams` may be `hashes`.
     */
    void (*grams)(const uint64_t *hashes, size_t length, size_t count, uint64_t seed, uint64_t *grams);

    /*
     * sums[j] += factors[i] * rows[at[i] * width + j] over all i; factors
     * are below 2^15, and no sum may pass 31 bits on its way.
     */
    void (*rows)(const int16_t *rows, const uint32_t *at, const uint32_t *factors, size_t count, size_t width,
                 int32_t *sums);

    /* Bit j of `bits` is whether sums[j] is above 0; `bytes` bytes, eight sums each. */
    void (*signs)(const int32_t *sums, size_t bytes, uint8_t *bits);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__projection *nigh__projection_at(size_t index);

/*
 * The best entry that this CPU can run and that goes with the distance kernel of that name: "generic" means no vectors
 * here either.  NULL: the best.
 */
const struct nigh__projection *nigh__projection_choose(const char *name);

#endif
