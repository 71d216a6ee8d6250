/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread that writes to a file what another has made, while that goes on making:
 *
 *     maker    fills A | gives A, fills B | waits for A, gives B, fills A | ...
 *     thread           | writes A         | writes B                      | ...
 *
 * Bytes are written in the order in which they were given, one piece at a time.  What fails
 * is told by the next call, and ends it: after a failure nothing more is written.
 */
#ifndef NIGH_BASE_WRITE_BEHIND_H
#define NIGH_BASE_WRITE_BEHIND_H

#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

struct nigh__file;
struct nigh__write_behind; /* opaque */

/* *out is NULL where no thread can be started: then the caller writes.  The file must outlive it.  NIGH_OK,
 * NIGH_ENOMEM. */
nigh_status nigh__write_behind_new(const nigh_context *context, struct nigh__file *file,
                                   struct nigh__write_behind **out, nigh_error *error);
/* Writes what was given, whether or not that fails. */
void nigh__write_behind_free(struct nigh__write_behind *behind); /* accepts NULL */

/* Waits for what was given before, and gives these; they must stay as they are until the next call has returned. */
nigh_status nigh__write_behind_give(struct nigh__write_behind *behind, const uint8_t *bytes, size_t length,
                                    uint64_t offset, nigh_error *error);
/* Waits for what was given. */
nigh_status nigh__write_behind_wait(struct nigh__write_behind *behind, nigh_error *error);

#endif
