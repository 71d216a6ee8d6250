/* SPDX-License-Identifier: Apache-2.0 */
/* How near the answers of a search are to the truth: nearness.c measures, nearness_plot.c draws. */
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

#endif
