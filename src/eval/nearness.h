/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of a search against the truth: nearness.c measures, nearness_plot.c draws. */
#ifndef NIGH_EVAL_NEARNESS_H
#define NIGH_EVAL_NEARNESS_H

#include "base/memory.h"

struct nigh_eval_nearness {
    const nigh_context *context;
    nigh_eval_nearness_info info;
    double *dr; /* of ranks 1 .. k: the means over the queries */
    double *cdr;
    struct nigh__array svg; /* of char: the last plot */
};

/*
 * CDR(k) of one query, as nigh.h has it, of the nearest there are and of what was found, in bits; where there are
 * fewer documents than ranks, the last ratio goes on.  DR and CDR of each rank are added to `dr` and `cdr` (NULL: no).
 */
double nigh__cdr(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count, uint32_t k,
                 uint32_t width_bits, double *dr, double *cdr);

/* The share of the nearest that was found, by distance: what is as near as the last of them counts. */
double nigh__recall(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count);

#endif
