/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `nigh tune --report`: every setting that was measured, by time and quality, and which was chosen. */
#ifndef NIGH_CLI_TUNE_PAGE_H
#define NIGH_CLI_TUNE_PAGE_H

#include "common.h"

struct cli_tune_page {
    nigh_tuning *tried; /* in the order in which they were measured */
    size_t count, capacity;
    bool failed; /* there was no memory for one */
};

/* Remembers a setting. */
void cli_tune_page_add(struct cli_tune_page *page, const nigh_tuning *tried);

/*
 * Writes the page to `path`: `best` is what was chosen, or where `met` is false the best there was; `asked` has the
 * targets.  False with job->error.
 */
bool cli_tune_page_write(struct cli_job *job, const char *path, const struct cli_tune_page *page,
                         const nigh_tuning *best, bool met, const nigh_tune_options *asked);

void cli_tune_page_release(struct cli_tune_page *page);

#endif
