/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/ranking.h"

#include <math.h>
#include <string.h>

#include "base/normal.h"

static const uint8_t levels[] = {0, 1, 2, 3, 4, 5, 6, NIGH__MAX_LEVEL};

uint32_t nigh__weight_level(uint32_t weight, uint32_t heaviest) {
    const uint32_t wanted = NIGH__MAX_LEVEL * weight;
    uint32_t best = 0;
    uint32_t off = wanted;
    for (size_t i = 1; i < sizeof levels; i++) {
        const uint32_t level = levels[i] * heaviest;
        const uint32_t away = level < wanted ? wanted - level : level - wanted;
        if (away >= off) continue;
        off = away;
        best = levels[i];
    }
    return best;
}

/* Bits 64 i and on, of those that count. */
static uint64_t bits_of(const uint64_t *mask, uint32_t width_bits, size_t i) {
    const uint64_t there = width_bits - 64 * i < 64 ? (UINT64_C(1) << (width_bits - 64 * i)) - 1 : UINT64_MAX;
    return mask == NULL ? there : mask[i] & there;
}

static uint32_t heaviest_of(const uint8_t *weights, const uint64_t *mask, uint32_t width_bits) {
    uint32_t heaviest = 0;
    for (size_t i = 0; i < (width_bits + 63) / 64; i++)
        for (uint64_t left = bits_of(mask, width_bits, i); left != 0; left &= left - 1) {
            const uint32_t weight = weights[64 * i + (uint32_t)__builtin_ctzll(left)];
            if (weight > heaviest) heaviest = weight;
        }
    return heaviest;
}

/* A query has few different weights: the level of each is looked for once. */
bool nigh__planes_weigh(const uint8_t *weights, const uint64_t *mask, uint32_t width_bits, uint64_t *planes) {
    const size_t words = (width_bits + 63) / 64;
    const uint32_t heaviest = heaviest_of(weights, mask, width_bits);
    uint8_t known[UINT8_MAX + 1];
    memset(known, UINT8_MAX, sizeof known);
    memset(planes, 0, NIGH__PLANES * words * sizeof *planes);
    if (heaviest == 0) return false;
    for (size_t i = 0; i < words; i++)
        for (uint64_t left = bits_of(mask, width_bits, i); left != 0; left &= left - 1) {
            uint8_t *level = &known[weights[64 * i + (uint32_t)__builtin_ctzll(left)]];
            if (*level == UINT8_MAX) *level = (uint8_t)nigh__weight_level((uint32_t)(level - known), heaviest);
            for (uint32_t p = 0; p < NIGH__PLANES; p++)
                if ((*level >> p & 1) != 0) planes[p * words + i] |= left & -left;
        }
    return true;
}

/* Level 2 begins where 8 w is nearer to 2 heaviest than to 1. */
void nigh__weights_mask(const uint8_t *weights, uint32_t width_bits, uint8_t *mask) {
    uint32_t heaviest = 0;
    for (uint32_t j = 0; j < width_bits; j++) heaviest = weights[j] > heaviest ? weights[j] : heaviest;
    memset(mask, 0, (width_bits + 7) / 8);
    for (uint32_t j = 0; j < width_bits; j++) mask[j / 8] |= (uint8_t)((16u * weights[j] > 3 * heaviest) << j % 8);
}

/* How many bits two planes have in common. */
static uint64_t common(const uint64_t *a, const uint64_t *b, size_t words) {
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++) count += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return count;
}

void nigh__planes_sum(const uint64_t *planes, uint32_t plane_count, size_t words, struct nigh__ranking_sums *out) {
    *out = (struct nigh__ranking_sums){0};
    for (uint32_t p = 0; p < plane_count; p++) {
        out->whole += (uint32_t)common(planes + p * words, planes + p * words, words) << p;
        for (uint32_t other = 0; other < plane_count; other++)
            out->squares += common(planes + p * words, planes + other * words, words) << (p + other);
    }
}

/*
 * The distance of such a row has a mean of half the whole, and a deviation of half the root of the squares.  Of n rows
 * the nearest is as many deviations nearer as one row in n exceeds.
 */
uint32_t nigh__ranking_chance(const struct nigh__ranking_sums *sums, uint64_t rows) {
    double tail[NIGH__TAIL_POINTS];
    uint32_t point = 0;
    nigh__normal_tail(tail);
    while (point + 1 < NIGH__TAIL_POINTS && tail[point] * (double)rows > 1) point++;
    const double nearer = (double)point / NIGH__TAIL_STEPS * sqrt((double)sums->squares) / 2;
    const double mean = sums->whole / 2.0;
    return nearer < mean ? (uint32_t)(mean - nearer) : 0;
}
