/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh dedup of more documents than fit the memory: it works in stages, with their files in a folder that is made for
 * them and removed afterwards. The output is the same.
 */
#ifndef NIGH_CLI_DEDUP_LARGE_H
#define NIGH_CLI_DEDUP_LARGE_H

#include "dedup_stages.h"

/* What is to be done in stages. */
struct dedup_large {
    double documents; /* about so many */
    double bytes;     /* of memory that they would take at once */
    double memory;    /* that there is */
};

/*
 * Whether documents would take more memory than there is, and stages can do what was asked for.  `inputs` are open and
 * are documents; the options are made.
 */
bool cli_dedup_is_large(struct deduper *deduper, struct dedup_large *out);

/* All of it; returns the exit code. */
int cli_dedup_in_stages(struct deduper *deduper, const struct dedup_large *large);

#endif
