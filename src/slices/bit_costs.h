/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to take a bit for flipped or for kept, by its weight: the model of which
 * bits differ between near neighbours.
 *
 *     p[w]   share of the bits of weight w that differ between a document and the ten
 *            nearest to it, over a sample; never more for a greater weight
 *     flip   ln((1 - p) / p), in units of 1/64
 *     keep   -ln(1 - p), in units of 1/4096: of the many bits of a slice that are kept
 *            each counts for little, but together they do
 *
 * Why never more, even where it is.  In a sparse signature a bit that no word of the
 * document touches is 0 and has no weight, and mostly so it is in its neighbours: on
 * TopSig signatures of 350,000 real texts p is .10 there, .30 for a bit 0 that was touched
 * a little, .13 much, and .49 to .38 for a bit 1.  But so it is in all others too.  With p
 * by the bit and weight 0 apart, probes go to the lists of slices that nothing touches,
 * the longest of all: with 16,000 postings recall of the ten nearest was .43, or .52 with
 * long lists left out; with p by the weight alone, never rising, .56.
 *
 * Weights are those of nigh_signer_sign().  Fitted on a segment that keeps them when its
 * slice lists are made, and stored beside these; else one that fits most.
 */
#ifndef NIGH_SLICES_BIT_COSTS_H
#define NIGH_SLICES_BIT_COSTS_H

#include <stdbool.h>

#include "base/progress.h"
#include "collection/sidecar.h"

#define NIGH__FLIP_UNIT 64u
#define NIGH__KEEP_UNIT 4096u
#define NIGH__MAX_FLIP 1023u
#define NIGH__MAX_KEEP 4096u

struct nigh__bit_cost {
    uint16_t flip, keep;
};

#define NIGH__BIT_COSTS 256u

struct nigh__bit_costs {
    struct nigh__bit_cost of[NIGH__BIT_COSTS]; /* by weight; as it lies in the section */
};

_Static_assert(sizeof(struct nigh__bit_costs) == sizeof(uint32_t) * NIGH__BIT_COSTS, "format");

/* Bits that were seen, and of these those that differ, by weight. */
struct nigh__bit_counts {
    uint64_t all[NIGH__BIT_COSTS], differing[NIGH__BIT_COSTS];
};

/* What serves where nothing was fitted. */
void nigh__bit_costs_default(struct nigh__bit_costs *out);

/* From counts; where there are none, the default. */
void nigh__bit_costs_from(const struct nigh__bit_counts *counts, struct nigh__bit_costs *out);

/*
 * Fits them to a segment that has weights and two signatures at least: some of its rows, as many as keep the comparing
 * short, against all.  NIGH_ENOTFOUND, without a detail, where it has not.
 */
nigh_status nigh__bit_costs_fit(const struct nigh__segment *segment, uint32_t threads, struct nigh__progress *progress,
                                struct nigh__bit_costs *out, nigh_error *error);

/*
 * Those of a segment's slice lists, checked; the default ones and false in *fitted where none are stored. NIGH_ECORRUPT
 * for a cost that cannot be.
 */
nigh_status nigh__bit_costs_of_segment(const struct nigh__segment *segment, struct nigh__bit_costs *out, bool *fitted,
                                       nigh_error *error);

#endif
