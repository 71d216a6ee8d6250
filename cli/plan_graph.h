/* SPDX-License-Identifier: Apache-2.0 */
/* nigh plan --graph: what a graph of near neighbours takes, on disk and while it is made. */
#ifndef NIGH_CLI_PLAN_GRAPH_H
#define NIGH_CLI_PLAN_GRAPH_H

#include "plan_extent.h"

/* Returns the exit code. */
int plan_graph(struct cli_job *job, const struct plan_extent *extent, enum plan_output output);

#endif
