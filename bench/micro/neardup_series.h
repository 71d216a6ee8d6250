/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilistic matching against permuted tables, by how many fingerprints there are. */
#ifndef NIGH_BENCH_NEARDUP_SERIES_H
#define NIGH_BENCH_NEARDUP_SERIES_H

#include "measure.h"

struct neardup_series {
    nigh_context *context;
    uint64_t largest; /* number of fingerprints; the others are 1, 2, 5, 10, ... million */
    size_t queries;   /* to what is in memory */
    size_t batch;     /* to a file, and fingerprints of a chunk */
    uint32_t radius;
    uint64_t seed;
    uint64_t runs;
    const char *chunks_path;
    FILE *json;
};

/* Prints the tables. */
void neardup_series(const struct neardup_series *series);

#endif
