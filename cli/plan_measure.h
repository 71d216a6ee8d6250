/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings of a plan really cost, on generated rows. */
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

struct plan_trial; /* generated rows and queries; opaque */

/*
 * Makes rows and queries of which a few percent have a match.  A file of chunks is made
 * in the folder `temporary`.  Anything else than NIGH_OK: the job has the error.
 */
nigh_status plan_trial_new(struct cli_job *job, const nigh_plan_options *asked, const char *temporary,
                           struct plan_trial **out);
/* Removes the file too.  Accepts NULL. */
void plan_trial_free(struct plan_trial *trial);

/* How many matches its queries have, on average; negative: not known, for finding that out would take too long. */
double plan_trial_matches(const struct plan_trial *trial);

/* Measures every row that fits into the memory asked for. */
nigh_status plan_trial_measure(struct plan_trial *trial, const nigh_plan_row *rows, size_t count,
                               struct plan_measured *out);

#endif
