/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that --report writes, in the look of the report of nigh dedup: one file that loads nothing and runs nothing.
 * Texts and ids are anybody's; they go through cli_page_text() alone, which leaves nothing that could be markup.
 */
#ifndef NIGH_CLI_PAGE_H
#define NIGH_CLI_PAGE_H

#include "common.h"
#include "sink.h"

/* Begins a page at `path`, to be ended by cli_page_close().  False with job->error. */
bool cli_page_open(struct cli_job *job, const char *path, const char *what, const char *title, struct cli_sink **out);

/* Ends it, well or not: where not, or where it cannot be written, there is no page.  False with job->error. */
bool cli_page_close(struct cli_job *job, struct cli_sink *page, bool good);

/* Any bytes as text of HTML; what a terminal could not show either is shown escaped. */
void cli_page_text(struct cli_sink *page, const char *text, size_t length);

/* A drawing of shares from 0 to 1, how many of each in `counts`; nothing where there are none. */
void cli_page_shares(struct cli_sink *page, const char *heading, const char *caption, const uint64_t *counts,
                     size_t bins);

#endif
