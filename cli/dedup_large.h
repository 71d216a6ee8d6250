/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh dedup of more documents than the memory has room for: in stages, whose files are in a folder that is made for it
 * and removed afterwards.  What comes out is the same.
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
