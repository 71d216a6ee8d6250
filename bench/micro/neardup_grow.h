/* SPDX-License-Identifier: Apache-2.0 */
/* What a finder costs to which rows are added while it is asked. */
#ifndef NIGH_BENCH_NEARDUP_GROW_H
#define NIGH_BENCH_NEARDUP_GROW_H

#include "fingerprints.h"

/*
 * Adds the rows a thousand at a time, and asks as many queries after each; by a finder that grows, and by one that is
 * made anew every 1,000, 10,000 and 100,000 rows.  `prints` are made, with a query for each row.
 */
void neardup_grow(const struct fingerprints *prints, FILE *json);

/* The same for tails and growths that could have been chosen; see growing.c. */
void neardup_grow_choices(const struct fingerprints *prints, FILE *json);

#endif
