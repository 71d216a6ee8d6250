/* SPDX-License-Identifier: Apache-2.0 */
/* What it saves to stop at the first match (chapters IV, V and VII of the PSM paper). */
#ifndef NIGH_BENCH_NEARDUP_FIRST_H
#define NIGH_BENCH_NEARDUP_FIRST_H

#include "fingerprints.h"

/* Finds all and any where 1, 12 and 90 of a hundred queries have a match.  `prints` are made, and changed. */
void neardup_first(struct fingerprints *prints, const char *chunks_path, uint64_t runs, FILE *json);

#endif
