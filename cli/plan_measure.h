/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings of a plan really take, on generated rows. */
#ifndef NIGH_CLI_PLAN_MEASURE_H
#define NIGH_CLI_PLAN_MEASURE_H

#include "common.h"

/* What a setting took. */
struct plan_measured {
    double recall; /* negative: not known */
    double build_seconds;
    double query_seconds; /* 0: not measured */
    uint64_t bytes;       /* 0: not known */
};

/*
 * Measures every row that fits into the memory asked for.  A file of chunks is made
 * in the folder `temporary`, and removed.  Anything else than NIGH_OK: the job has
 * the error.
 */
nigh_status plan_measure(struct cli_job *job, const nigh_plan_options *asked, const char *temporary,
                         const nigh_plan_row *rows, size_t count, struct plan_measured *out);

#endif
