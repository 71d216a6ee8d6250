/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From weighted features to bits.  A feature is 64 bits of hash and a weight, a
 * whole number of 1/64; all sums are of whole numbers, so that their order, the
 * width of a vector register and the compiler change nothing.
 *
 *     simhash   each feature adds +w or -w to every sum, by the bits of its hash
 *     topsig    each feature adds +w to a few sums, -w to as many, picked by its hash
 *               bit j is 1 where sum j is above 0
 *     minhash   each of b hash functions keeps its smallest value over the features;
 *               bit j is one bit of the j-th smallest value, scrambled
 *
 * A sum is the projection W_j; a small |W_j| says that bit j could as well be the
 * other, and nigh__project_weights() turns that into a byte.
 */
#ifndef NIGH_SIGNATURE_PROJECT_H
#define NIGH_SIGNATURE_PROJECT_H

#include "base/context.h"
#include "signature/bag.h"

/*
 * A projector holds the scheme's constants and scratch memory; one a thread.
 * `width_bits` is 1 to 65,536 (topsig: from 2); `density` is topsig's alone, 0
 * for the usual; `seed` is minhash's alone, for hashes are seeded where they are made.
 */
struct nigh__projector; /* opaque */

nigh_status nigh__projector_new(const nigh_context *context, nigh_scheme_kind scheme, uint32_t width_bits,
                                uint32_t density, uint64_t seed, struct nigh__projector **out, nigh_error *error);
void nigh__projector_free(struct nigh__projector *projector); /* accepts NULL */

/*
 * Projects a bag with at least one feature.  The sums stay in the projector
 * until the next call.  Memory is taken only where term numbers are higher than
 * before.
 * Returns: NIGH_OK; NIGH_ENOMEM; NIGH_ELIMIT for more than NIGH__BAG_MAX features.
 */
nigh_status nigh__project(struct nigh__projector *projector, const struct nigh__bag *bag, nigh_error *error);

/* What the last projection gives: bits, nigh__row_bytes(width_bits) bytes; and how sure they are, width_bits bytes. */
void nigh__project_bits(const struct nigh__projector *projector, uint8_t *signature);
void nigh__project_weights(const struct nigh__projector *projector, uint8_t *weights);

/* The sums W_j themselves (of minhash NULL), and the smallest values (of the others NULL); width_bits of them. */
const int32_t *nigh__project_sums(const struct nigh__projector *projector);
const uint32_t *nigh__project_minima(const struct nigh__projector *projector);

/* How sure bits are, from any sums: project.c says how.  Only their sizes relative to each other count. */
void nigh__weights_of_sums(const int32_t *sums, size_t count, uint8_t *weights);

/*
 * Keys of bands of the smallest values, for finding near-copies by equal keys:
 * band b is the hash of minima[b * rows .. (b + 1) * rows).  bands * rows is at
 * most width_bits.
 */
void nigh__minhash_bands(const struct nigh__projector *projector, uint32_t bands, uint32_t rows, uint64_t *keys);

#endif
