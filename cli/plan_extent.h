/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lists, graphs and columns are planned for: either a number of signatures, which will be
 * one segment, or the segments of a collection, each with a file of its own.
 */
#ifndef NIGH_CLI_PLAN_EXTENT_H
#define NIGH_CLI_PLAN_EXTENT_H

#include "common.h"

enum plan_output { PLAN_TABLE, PLAN_JSONL, PLAN_TSV };

struct plan_extent {
    nigh_collection *collection; /* NULL: one segment, not there yet */
    uint32_t segments;
    uint64_t signatures; /* of all segments */
    uint32_t width_bits;
};

/* So many signatures, or those of the collection that is the job's operand.  Returns the exit code. */
int plan_extent_open(struct cli_job *job, uint64_t signatures, uint32_t width_bits, struct plan_extent *extent);
void plan_extent_close(struct plan_extent *extent);

double plan_extent_each(const struct plan_extent *extent, uint64_t bytes); /* of so many, for a signature */

/* How many are in one segment. */
nigh_status plan_extent_segment(struct cli_job *job, const struct plan_extent *extent, uint32_t index,
                                uint64_t *signatures);

#endif
