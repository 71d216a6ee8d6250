/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of what is within a radius is found by probing weak bits, estimated by a seeded simulation of near-copies.
 */
#ifndef NIGH_FINDER_RECALL_H
#define NIGH_FINDER_RECALL_H

#include "finder/weak.h"

/*
 * Of the queries that have a match within `radius`, and none that is equal, the share
 * for which `probes` combinations of the leading `prefix_bits` bits of each of
 * `rotations` tables are expected to find one; of all matches it is less.  A pure
 * function (it remembers nothing; a few milliseconds each).
 */
double nigh__recall_expected(uint32_t width_bits, uint32_t radius, uint32_t prefix_bits, uint32_t probes,
                             uint32_t rotations, nigh_weak_model model);

/* The fewest probes that reach `recall`; 0 where NIGH__MAX_PROBES do not. */
uint32_t nigh__recall_probes(uint32_t width_bits, uint32_t radius, uint32_t prefix_bits, double recall,
                             uint32_t rotations, nigh_weak_model model);

/* One simulation for every number of probes: where many are asked for. */
struct nigh__recall_curve {
    uint32_t samples;
    uint16_t found[NIGH__MAX_PROBES]; /* [r]: samples that probe r (from 0) finds, and none before it */
};

void nigh__recall_draw(uint32_t width_bits, uint32_t radius, uint32_t prefix_bits, uint32_t rotations,
                       nigh_weak_model model, struct nigh__recall_curve *out);
double nigh__recall_at(const struct nigh__recall_curve *curve, uint32_t probes);
uint32_t nigh__recall_reach(const struct nigh__recall_curve *curve, double recall); /* as nigh__recall_probes() */

#endif
