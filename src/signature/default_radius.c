/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bits of near-copies differ, where the caller does not say.
 *
 * SimHash: 3 of 64; a larger radius brings in unrelated documents. MinHash: documents that
 * share 8 of 10 shingles differ in a bit with p = .1, so of 256 bits in 25.6, and one in a
 * hundred of them in 2.33 deviations more: 36. Other widths get such a share. What learned and
 * topsig signatures say depends on what they were made for.
 */
#include "nigh.h"

uint32_t nigh_default_radius(nigh_scheme_kind scheme, uint32_t width_bits) {
    if (scheme == NIGH_SCHEME_SIMHASH) return (uint32_t)((uint64_t)width_bits * 3 / 64);
    if (scheme == NIGH_SCHEME_MINHASH) return (uint32_t)((uint64_t)width_bits * 36 / 256);
    return NIGH_ALL;
}
