/* SPDX-License-Identifier: Apache-2.0 */
/* nigh plan --lists slices: what slice lists take, by the width of the slices. */
#ifndef NIGH_CLI_PLAN_SLICES_H
#define NIGH_CLI_PLAN_SLICES_H

#include "common.h"

enum plan_output { PLAN_TABLE, PLAN_JSONL, PLAN_TSV };

/* For so many signatures of a width, or those of the collection that is the job's operand.  Returns the exit code. */
int plan_slices(struct cli_job *job, uint64_t signatures, uint32_t width_bits, enum plan_output output);

#endif
