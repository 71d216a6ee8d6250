/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding and deleting. One thread for each collection does all of it, because a collection has one writer.
 *
 *     find-or-add    through a nigh_live that stays open: all that wait are taken by one call, and one sync makes
 *                    them safe; a segment is made of them once visible_ms have passed, and then searches find them
 *     documents,     each by a commit of its own, before which the live is folded and closed, for it has the lock
 *     delete
 *
 * Nothing is acknowledged before it is on the disk. If nothing was added for hold_ms, the live is closed, so that
 * other processes can write.
 */
#ifndef NIGH_SERVER_WRITING_H
#define NIGH_SERVER_WRITING_H

#include "server.h"

/* Makes the thread of a collection; NIGH_EIO, NIGH_ENOMEM. */
nigh_status serve_writing_start(struct serve_server *server, struct serve_book *book, nigh_error *error);
/* Ends it: what waits is done, and what was added becomes a segment. */
void serve_writing_end(struct serve_book *book);

/* Documents that were added and are not found by searches yet. */
uint64_t serve_writing_in_log(const struct serve_book *book);

#endif
