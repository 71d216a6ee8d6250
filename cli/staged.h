/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several output files that are replaced together. Each is first written whole under another name in its own folder,
 * ".nigh-new.NAME". When all are complete, they are renamed one after the other:
 *
 *     write and sync all -> rename the first ... rename the last
 *
 * A failure before the first rename changes nothing. A crash between two renames leaves some files new and some old.
 * Callers put the file that the others describe last, so that they can tell.
 */
#ifndef NIGH_CLI_STAGED_H
#define NIGH_CLI_STAGED_H

#include "common.h"

struct cli_staged {
    const char *path; /* where to write: the place itself where it is not staged; NULL: nothing is written */
    char *target;     /* the file that it becomes, with links followed; owned; NULL: not staged */
    char *temporary;  /* owned */
};

/*
 * Sets `path` of each of `count` places (NULL: none wanted).  They are staged where more than one is a file.  To be
 * released, also after a failure.
 */
bool cli_staged_open(struct cli_job *job, const char *const *places, size_t count, struct cli_staged *out);
/* Gives the files their names, in order.  False after saying why not, in job->error. */
bool cli_staged_publish(struct cli_job *job, struct cli_staged *staged, size_t count);
/* Removes what has not got its name. */
void cli_staged_release(struct cli_staged *staged, size_t count);

#endif
