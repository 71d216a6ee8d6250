/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a bit counts in a ranking.
 *
 * A text that asks says much about some bits of its signature, little about others and
 * nothing about most.  Weighted, a bit that differs counts its level: its weight (see
 * nigh_signer_sign()) as one of eight whole numbers, the heaviest bit of the query
 * counting 8.
 *
 *     level v of weight w   the one of 0 1 2 3 4 5 6 8 with the least |8 w - v heaviest|,
 *                           of two such the smaller
 *     distance              the sum of the levels of the bits that differ
 *     whole                 the sum of all levels: what everything differing would count
 *
 * All of it whole numbers, so that every machine ranks alike.  7 is left out because it
 * alone of them has three bits: with two at most, a column that is added up
 * (src/columns/) is added twice at most.
 */
#ifndef NIGH_SCAN_RANKING_H
#define NIGH_SCAN_RANKING_H

#include <stdbool.h>

#include "kernel/weighted.h"
#include "nigh.h"

#define NIGH__MAX_LEVEL 8u

/* `heaviest` is at least `weight` and 1. */
uint32_t nigh__weight_level(uint32_t weight, uint32_t heaviest);

/*
 * The NIGH__PLANES planes of one query, from the weights of its bits; of those that are not set in `mask` (NULL: there
 * is none) none counts.  False: all would count nothing.
 */
bool nigh__planes_weigh(const uint8_t *weights, const uint64_t *mask, uint32_t width_bits, uint64_t *planes);

/*
 * Which bits of a document count for its neighbours in a graph of masks, as a signature: those of level 2 and more.
 * What counts less is noise to a query by weights, of which it is the most bits; from graphs without it, walks found
 * .007 to .009 more of the ten nearest by weights, after fewer comparisons; without level 2, .005 less.
 */
void nigh__weights_mask(const uint8_t *weights, uint32_t width_bits, uint8_t *mask);

/* What all bits of a query that count come to. */
struct nigh__ranking_sums {
    uint32_t whole;   /* the sum of what they count */
    uint64_t squares; /* of the squares of that */
};
void nigh__planes_sum(const uint64_t *planes, uint32_t plane_count, size_t words, struct nigh__ranking_sums *out);

/* The distance of the nearest of `rows` rows whose bits are set or not by chance, as it may be expected. */
uint32_t nigh__ranking_chance(const struct nigh__ranking_sums *sums, uint64_t rows);

/* Whether every bit of a query counts, and counts the same. */
static inline bool nigh__ranks_plainly(const nigh_search_options *options) {
    return options->masks == NULL && options->rank != NIGH_RANK_WEIGHTED;
}

#endif
