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

/*
 * A table, in a box of its own that scrolls where the page is narrower: the names of its columns, our words, NULL at
 * the end; that of numbers begins with '#'.  A row is "<tr>", cells and "</tr>".
 */
void cli_page_table(struct cli_sink *page, const char *const *columns);
void cli_page_table_end(struct cli_sink *page);

/* Cells: anybody's text; a number; a share from 0 to 1 with a bar, or where it is negative a dash. */
void cli_page_cell(struct cli_sink *page, const char *text);
void cli_page_number(struct cli_sink *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_page_bar(struct cli_sink *page, double share);

#endif
