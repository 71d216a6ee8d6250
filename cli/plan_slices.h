/* SPDX-License-Identifier: Apache-2.0 */
/* nigh plan --lists slices: what slice lists take, by the width of the slices. */
#ifndef NIGH_CLI_PLAN_SLICES_H
#define NIGH_CLI_PLAN_SLICES_H

#include "plan_extent.h"

/* Returns the exit code. */
int plan_slices(struct cli_job *job, const struct plan_extent *extent, enum plan_output output);

#endif
