/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `nigh search --report`: the answers, as they come beside --output. */
#ifndef NIGH_CLI_SEARCH_PAGE_H
#define NIGH_CLI_SEARCH_PAGE_H

#include "common.h"
#include "output.h"

#define CLI_SEARCH_PAGE_BINS 25

struct cli_search_page {
    struct cli_sink *sink;               /* NULL: no page is wanted */
    uint64_t queries;                    /* that are shown; further ones are counted */
    uint64_t more;                       /* of these */
    uint64_t best[CLI_SEARCH_PAGE_BINS]; /* similarities of first matches, of all queries */
};

/* As their namesakes in output.h; `answers` says what distances mean. */
void cli_search_page_query(struct cli_search_page *page, const struct cli_answers *answers);
void cli_search_page_match(struct cli_search_page *page, const struct cli_answers *answers,
                           const struct cli_match *match);
void cli_search_page_end(struct cli_search_page *page, const struct cli_answers *answers);

/*
 * Begins the page at `path`; NULL: none is wanted.  The first so many operands are collections.  False with a message,
 * such as where the page would take the place of what is read.
 */
bool cli_search_page_open(struct cli_job *job, const char *path, size_t collections, struct cli_search_page *out);

/* Ends it, with what the answers are `worth`; after an error there is none.  The exit code of the command. */
int cli_search_page_close(struct cli_job *job, struct cli_search_page *page, const char *worth, int code);

#endif
