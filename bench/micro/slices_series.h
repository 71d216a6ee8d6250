/* SPDX-License-Identifier: Apache-2.0 */
/* Slice lists as collections grow, and how fast they are made and opened. */
#ifndef NIGH_BENCH_SLICES_SERIES_H
#define NIGH_BENCH_SLICES_SERIES_H

#include "measure.h"

struct slices_series {
    nigh_context *context;
    const char *folder;
    uint64_t documents; /* of the build */
    uint64_t most;      /* of the scaling */
    size_t queries;
    size_t runs;
    uint64_t seed;
    FILE *json;
};

/* 256K documents, twice as many, and so on, with the usual width and breadth of each. */
void slices_series_scaling(const struct slices_series *series);

/* Lists of 16 and 20 bits by one and two threads, by the clock on the wall; then opening. */
void slices_series_build(const struct slices_series *series);

#endif
