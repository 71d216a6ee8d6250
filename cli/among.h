/* SPDX-License-Identifier: Apache-2.0 */
/* The documents that --among and --where name. */
#ifndef NIGH_CLI_AMONG_H
#define NIGH_CLI_AMONG_H

#include "common.h"

#define CLI_AMONG_OPTIONS(place_of_among, place_of_where)                                                            \
    CLI_TEXT(0, "among", place_of_among, "FILE",                                                                     \
             "search only the documents whose ids are in FILE, one a line, as if there were no others"),             \
        CLI_TEXT(0, "where", place_of_where, "CONDITION",                                                            \
                 "search only documents for which this is true, such as 'lang = en and year >= 2024', by keys that " \
                 "were kept with 'nigh index --keep-keys'")

/*
 * A filter of the documents of the collection whose ids are in a file, and for which a condition is true; either may be
 * NULL, and if both are, so is *out, which the caller frees.  An id that is not there is an error.  On failure
 * job->error says why.
 */
nigh_status cli_among_read(struct cli_job *job, const char *path, const char *where, const nigh_collection *collection,
                           nigh_filter **out);

#endif
