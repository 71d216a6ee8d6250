/* SPDX-License-Identifier: Apache-2.0 */
/* Min-wise hashes in bands: near-copies share the key of one of them.  band_keys.c says how. */
#ifndef NIGH_SIGNATURE_BAND_KEYS_H
#define NIGH_SIGNATURE_BAND_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct nigh__projector; /* signature/project.h */

#define NIGH__BAND_BITS 256u /* min-wise hashes, and bits, of a document */
#define NIGH__MAX_BANDS 128u /* for each has two rows at least */

/* How many bands of how many rows find nearly all sets whose Jaccard index is the threshold. */
void nigh__bands_choose(double threshold, uint32_t *bands, uint32_t *rows);

/* A key for each band, uint64_t. */
void nigh__bands_make_keys(const uint32_t *minima, uint32_t bands, uint32_t rows, uint8_t *keys);

/* The halves of these that are kept: the high ones. */
void nigh__bands_keep(const uint8_t *keys, uint32_t bands, uint32_t *kept);

/*
 * What near-copies of a document are found by: bits, NIGH__BAND_BITS of them, and a key for each band, as above.  They
 * are of its features, which were projected; or, where it has none and `projector` is NULL, the bits are all 0 and
 * the keys made of its text, so that only copies share them.
 */
void nigh__bands_sign(const struct nigh__projector *projector, const char *text, size_t length, uint32_t bands,
                      uint32_t rows, uint8_t *bits, uint8_t *keys);

#endif
