/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of what a command adds to a collection, such that nothing is added and in no list,
 * whenever the command is killed.  A list gets its name before the commit.  From then until
 * the command has said that all is done, "LIST.pending" says what the list is of:
 *
 *     write LIST.tmp, sync     write LIST.pending, sync     rename LIST.tmp     commit     remove LIST.pending
 *
 * The next run finds LIST.pending where one was killed in between.  Where a document of that
 * list is in the collection, the commit was made, and nobody has been told of the list: the
 * next list begins with it.  Where it is not, the run comes to the same documents again.
 */
#ifndef NIGH_CLI_PENDING_H
#define NIGH_CLI_PENDING_H

#include "common.h"

#define CLI_PENDING_ENTRIES 2u /* the list that is there, and the one that will be */

struct cli_pending_entry {
    uint64_t bytes;   /* of the list */
    uint64_t hash;    /* of its bytes */
    uint64_t carried; /* of these, from a run before */
    char *id;         /* of a document that was added with it; owned; NULL: none was */
    size_t id_length;
};

struct cli_pending {
    const char *path;                                      /* of the list; NULL: there is none */
    char *name;                                            /* of the file that says so; owned */
    struct cli_pending_entry entries[CLI_PENDING_ENTRIES]; /* [0] bytes 0: no list is there to go on with */
    uint64_t carried; /* bytes of the list that is there, with which the next begins */
};

/* Looks for what a run before has left; `collection` (NULL: there is none) says whether it was committed. */
bool cli_pending_look(struct cli_job *job, const char *path, const nigh_collection *collection,
                      struct cli_pending *out);
void cli_pending_release(struct cli_pending *pending); /* accepts one of zeros */

/* Copies what is carried over to a sink; false, with job->error, where it cannot be read. */
bool cli_pending_carry(struct cli_job *job, const struct cli_pending *pending, struct cli_sink *sink);

/*
 * The list is written but for its name, at `temporary`; `id` is that of a document that will be added with it, NULL:
 * none will.  After that it may get its name.
 */
bool cli_pending_write(struct cli_job *job, struct cli_pending *pending, const char *temporary, const char *id,
                       size_t id_length);

/* All is done. */
void cli_pending_end(struct cli_pending *pending);

#endif
