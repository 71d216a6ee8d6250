/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bands.  Two sets of Jaccard index J agree in one smallest value with probability
 * J, in a band of r of them with J^r, and in one of b bands with 1 - (1 - J^r)^b.
 * Of 256 values, the more go into a band the fewer documents share one by chance,
 * and the fewer of those that are alike; so r is the largest, up to 16, with which
 * at least .994 of the pairs that are just alike share a band:
 *
 *     threshold   .95    .9     .85    .8     .75    .7     .6     .5     .4     .3
 *     rows         16    13     10      8      7      6      4      3      3      2
 *     bands        16    19     25     32     36     42     64     85     85    128
 *     found      .9999  .9962  .9958  .9972  .9942  .9948  .9999 1.0000  .9964 1.0000
 *
 * Below .2 not even two rows are enough: .95 at .15, .72 at .1.  Who looks for pairs as
 * little alike as that should take the method exact.
 *
 * A key is a sum of products of neighbours, a random number added to each (NH, of
 * Black and others, 1999), scrambled once: 64 bits.  What two different bands have in
 * common by chance costs a comparison of bits and no more, but of n documents with keys
 * of 32 bits each meets n / 2^32 others by chance, in every band: 2 at 10^10.
 */
#include "signature/band_keys.h"

#include "base/bytes.h"
#include "base/rng.h"

#define MAX_ROWS 16u
#define MIN_ROWS 2u
#define ENOUGH 0.994
#define ODD UINT64_C(0x9e3779b97f4a7c15)

static double power(double base, uint32_t exponent) {
    double result = 1;
    for (uint32_t i = 0; i < exponent; i++) result *= base;
    return result;
}

void nigh__bands_choose(double threshold, uint32_t *bands, uint32_t *rows) {
    *rows = MAX_ROWS;
    while (*rows > MIN_ROWS && 1 - power(1 - power(threshold, *rows), NIGH__BAND_BITS / *rows) < ENOUGH) (*rows)--;
    *bands = NIGH__BAND_BITS / *rows;
}

static inline __attribute__((always_inline)) void make_keys(const uint32_t *minima, uint32_t bands, uint32_t rows,
                                                            uint8_t *keys) {
    uint32_t added[MAX_ROWS];
    for (uint32_t i = 0; i < rows; i++) added[i] = (uint32_t)nigh__mix(i);
    for (uint32_t i = 0; i < bands; i++, minima += rows) {
        uint64_t sum = rows % 2 == 0 ? 0 : (uint64_t)minima[rows - 1] * ODD;
        for (uint32_t k = 0; k + 1 < rows; k += 2)
            sum += (uint64_t)(minima[k] + added[k]) * (minima[k + 1] + added[k + 1]);
        nigh__store64(keys + i * sizeof(uint64_t), sum * ODD);
    }
}

/* With the usual number of rows known to the compiler. */
void nigh__bands_make_keys(const uint32_t *minima, uint32_t bands, uint32_t rows, uint8_t *keys) {
    if (rows == 8)
        make_keys(minima, bands, 8, keys);
    else
        make_keys(minima, bands, rows, keys);
}

void nigh__bands_keep(const uint8_t *keys, uint32_t bands, uint32_t *kept) {
    for (uint32_t i = 0; i < bands; i++) kept[i] = nigh__load32(keys + i * sizeof(uint64_t) + 4);
}
