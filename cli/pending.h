/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of what a command adds to a collection. Whenever the command is killed, no document is added
 * without being in a list. Lists get their names before the commit. From then on, until the command is
 * done, "LIST.pending" says which documents they are about:
 *
 *     write A.tmp and B.tmp, sync     write A.pending, sync     rename both     commit     remove A.pending
 *
 * There is one such file for both lists, because two cannot be removed at once. If a run was killed in
 * between, the next run finds it. If a document of these lists is in the collection, the commit was made,
 * but nobody was told of the lists: the next lists begin with them. If it is not, the next run finds the
 * same documents again.
 */
#ifndef NIGH_CLI_PENDING_H
#define NIGH_CLI_PENDING_H

#include "common.h"

#define CLI_PENDING_LISTS 2u
#define CLI_PENDING_ENTRIES 2u /* the list that is there, and the one that will be */

struct cli_pending_entry {
    uint64_t bytes;   /* of the list; with hash 0: there is no entry */
    uint64_t hash;    /* of its bytes */
    uint64_t carried; /* of these, from a run before */
};

struct cli_pending_list {
    const char *path; /* NULL: there is none, or it cannot be replaced */
    struct cli_pending_entry entries[CLI_PENDING_ENTRIES];
    uint64_t carried; /* bytes of the list that is there, with which the next begins */
};

struct cli_pending {
    char *name; /* of the file; owned; NULL: there are no lists */
    struct cli_pending_list lists[CLI_PENDING_LISTS];
};

/* Looks for what a run before has left; `collection` (NULL: there is none) says whether it was committed. */
bool cli_pending_look(struct cli_job *job, const char *const paths[CLI_PENDING_LISTS],
                      const nigh_collection *collection, struct cli_pending *out);
void cli_pending_release(struct cli_pending *pending); /* accepts one of zeros */

/* Copies what is carried over to a sink; false, with job->error, where it cannot be read. */
bool cli_pending_carry(struct cli_job *job, const struct cli_pending_list *list, struct cli_sink *sink);

/*
 * The lists are written but for their names, at `temporaries` (NULL: that one is not); `id` is that of a document that
 * will be added with them, NULL: none will.  After that they may get their names.
 */
bool cli_pending_write(struct cli_job *job, struct cli_pending *pending,
                       const char *const temporaries[CLI_PENDING_LISTS], const char *id, size_t id_length);

/* All is done. */
void cli_pending_end(struct cli_pending *pending);

#endif
