/* SPDX-License-Identifier: Apache-2.0 */
/* Figures 5(b), 7(a), 7(b) and Table II of the PSM paper. */
#ifndef NIGH_BENCH_NEARDUP_FIGURES_H
#define NIGH_BENCH_NEARDUP_FIGURES_H

#include "fingerprints.h"

/* Prints them.  `prints` are made, and their truth is known. */
void neardup_figures(const struct fingerprints *prints, uint64_t runs);

#endif
