/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write the report share. */
#ifndef NIGH_DEDUP_REPORT_PARTS_H
#define NIGH_DEDUP_REPORT_PARTS_H

#include "base/markup.h"
#include "dedup/report.h"

/* How a text of anybody's is written into the page. */
enum nigh__page_form {
    NIGH__PAGE_TEXT,  /* lines stay lines */
    NIGH__PAGE_LINE,  /* on one line: newlines are shown as signs */
    NIGH__PAGE_PLAIN, /* the same without any element, for <title> */
};

/*
 * Writes bytes as text of HTML, also within quotes.  What is not UTF-8 becomes U+FFFD.
 * Characters that nobody sees but that move others about (controls, overrides of
 * direction, zero-width spaces) are shown by name.
 */
void nigh__page_text(struct nigh__markup *page, const char *text, size_t length, enum nigh__page_form form);

/* An id, or anything of one line; of long ones the ends, and how long they are. */
void nigh__page_id(struct nigh__markup *page, const char *id, size_t length);

/* A string of ours, or one that may hold any file's name. */
void nigh__page_string(struct nigh__markup *page, const char *text);

/* 1,234,567 */
void nigh__page_number(struct nigh__markup *page, uint64_t number);

/* "1 document", "1,234 documents" */
void nigh__page_count(struct nigh__markup *page, uint64_t number, const char *one, const char *many);

/* part / whole as "12.3%"; what is not quite nothing or all is not written as that. */
void nigh__page_share(struct nigh__markup *page, uint64_t part, uint64_t whole);

/* ------------------------------------------------------- parts of the page */

/* A histogram with its numbers.  `caption` says what is below the bars. */
void nigh__page_chart(struct nigh__markup *page, const char *heading, const char *caption,
                      const struct nigh__report_bar *bars, size_t count);

/* Clusters with their pairs; `why` the first of each stays, or NULL.  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__page_clusters(struct nigh__markup *page, const char *heading, const char *explanation,
                                const char *why, const struct nigh__report_cluster *clusters, size_t count,
                                nigh_error *error);

#endif
