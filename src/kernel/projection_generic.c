/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portable loops.  Those for the ones have to look at 64 bits of every
 * feature, so they take four at a time, in the four 16-bit lanes of a word:
 *
 *     hash >> r       bit  48+r     32+r     16+r        r
 *     & 1 in a lane   0000.000b 0000.000b 0000.000b 0000.000b
 *     * weight        the weight in each lane whose bit is 1
 *
 * No lane spills into the next while the weights added up stay within 16 bits.
 */
#include "kernel/projection_parts.h"

#define LANES 4u
#define LANE_BITS 16u

static void add_run(const uint64_t *hashes, const uint32_t *weights, size_t count, uint32_t ones[64]) {
    const uint64_t lowest = UINT64_C(0x0001000100010001);
    uint64_t sums[LANE_BITS] = {0};
    for (size_t i = 0; i < count; i++) {
        for (unsigned r = 0; r < LANE_BITS; r++) sums[r] += (hashes[i] >> r & lowest) * weights[i];
    }
    for (unsigned r = 0; r < LANE_BITS; r++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            ones[lane * LANE_BITS + r] += (uint16_t)(sums[r] >> (lane * LANE_BITS));
    }
}

static void ones_generic(const uint64_t *hashes, const uint32_t *weights, size_t count, uint32_t ones[64]) {
    for (size_t at = 0; at < count;) {
        const size_t run = nigh__light_run(weights + at, count - at);
        if (run == 0) {
            nigh__ones_add_one(hashes[at], weights[at], ones);
            at++;
            continue;
        }
        add_run(hashes + at, weights + at, run, ones);
        at += run;
    }
}

/* Four functions at once keep their values in registers. */
static void minima_generic(const uint32_t *keys, size_t count, const uint32_t *multipliers, const uint32_t *offsets,
                           size_t functions, uint32_t *minima) {
    for (size_t f = 0; f < functions; f += 4) {
        uint32_t least[4] = {minima[f], minima[f + 1], minima[f + 2], minima[f + 3]};
        for (size_t i = 0; i < count; i++) {
            NIGH__UNROLL4
            for (unsigned k = 0; k < 4; k++) {
                const uint32_t value = multipliers[f + k] * keys[i] + offsets[f + k];
                least[k] = value < least[k] ? value : least[k];
            }
        }
        memcpy(minima + f, least, sizeof least);
    }
}

static void keys_generic(const uint64_t *hashes, size_t count, uint32_t *keys) {
    for (size_t i = 0; i < count; i++) keys[i] = (uint32_t)(nigh__mix(hashes[i]) >> 32);
}

static void scramble_generic(const uint32_t *minima, size_t bytes, uint8_t *bits) {
    for (size_t i = 0; i < bytes; i++) {
        uint32_t byte = 0;
        for (unsigned j = 0; j < 8; j++) byte |= (minima[i * 8 + j] * NIGH__SCRAMBLE >> 31) << j;
        bits[i] = (uint8_t)byte;
    }
}

static void grams_generic(const uint64_t *hashes, size_t length, size_t count, uint64_t seed, uint64_t *grams) {
    for (size_t i = 0; i < count; i++) grams[i] = nigh__gram_of(hashes + i, length, seed);
}

static void rows_generic(const int16_t *rows, const uint32_t *at, const uint32_t *factors, size_t count, size_t width,
                         int32_t *sums) {
    for (size_t i = 0; i < count; i++) {
        const int16_t *row = rows + at[i] * width;
        for (size_t j = 0; j < width; j++) sums[j] += (int32_t)factors[i] * row[j];
    }
}

static void signs_generic(const int32_t *sums, size_t bytes, uint8_t *bits) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte = 0;
        for (unsigned j = 0; j < 8; j++) byte |= (unsigned)(sums[i * 8 + j] > 0) << j;
        bits[i] = (uint8_t)byte;
    }
}

const struct nigh__projection nigh__projection_generic = {
    .name = "generic",
    .needs = 0,
    .ones = ones_generic,
    .minima = minima_generic,
    .keys = keys_generic,
    .scramble = scramble_generic,
    .grams = grams_generic,
    .rows = rows_generic,
    .signs = signs_generic,
};
