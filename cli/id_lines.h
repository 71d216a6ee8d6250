/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ids from a file, one a line. */
#ifndef NIGH_CLI_ID_LINES_H
#define NIGH_CLI_ID_LINES_H

#include "common.h"

/*
 * Calls take(user, id, length) for each line of a file, which has an id as docs/ids.md has it written, "-" being
 * standard input, as long as it returns NIGH_OK.  Empty lines, and a carriage return at the end of one, do not count.
 * NIGH_OK, or job->error says why not; what `take` returned.
 */
nigh_status cli_id_lines(struct cli_job *job, const char *path,
                         nigh_status (*take)(void *user, const char *id, size_t length), void *user);

#endif
