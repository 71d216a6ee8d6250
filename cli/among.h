/* SPDX-License-Identifier: Apache-2.0 */
/* The documents that --among names. */
#ifndef NIGH_CLI_AMONG_H
#define NIGH_CLI_AMONG_H

#include "common.h"

/*
 * A bit for each document of the collection, for nigh_search_options.among, set for those whose ids stand in a file;
 * the caller frees *out.  An id that is not there is a mistake.  On failure job->error says why.
 */
nigh_status cli_among_read(struct cli_job *job, const char *path, const nigh_collection *collection, uint64_t **out);

#endif
