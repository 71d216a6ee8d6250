/* SPDX-License-Identifier: Apache-2.0 */
/* Queries a second against recall and against CDR, as an SVG image. */
#ifndef NIGH_BENCH_TOPK_PLOT_H
#define NIGH_BENCH_TOPK_PLOT_H

#include "topk_table.h"

/* Ends the program where the file cannot be written. */
void topk_plot(const struct topk_table *table, const char *path);

#endif
