/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that takes its name only when it is whole and on the disk:
 *
 *     PATH.nigh.tmp: bytes -> sync -> rename to PATH -> sync of the directory
 *
 * A writer holds a lock on it.  Where the name is taken and locked, or is no file, it is
 * PATH.nigh.1.tmp, and so on; where nobody has the lock its writer was killed, and it is
 * removed: so whoever is killed again and again leaves one file and not a hundred.  What had
 * the name PATH before stays whole until the end.
 */
#ifndef NIGH_BASE_REPLACEMENT_H
#define NIGH_BASE_REPLACEMENT_H

#include "base/file.h"

struct nigh__replacement {
    struct nigh__file file; /* open for writing until finish */
    char *path;             /* owned */
    char *temporary;        /* owned */
    bool removable;         /* the temporary file is ours and still there */
    bool passing;           /* set by the caller: it need not be whole after a power cut, and is not synced */
};

/* To be released, also after a failure. */
nigh_status nigh__replacement_open(const nigh_context *context, const char *path, struct nigh__replacement *out,
                                   nigh_error *error);
nigh_status nigh__replacement_finish(struct nigh__replacement *replacement, nigh_error *error);
/* Without a finish before it, nothing is left behind.  A struct of zeros is fine. */
void nigh__replacement_release(const nigh_context *context, struct nigh__replacement *replacement);

/* All of it, for bytes that are in memory. */
nigh_status nigh__file_replace(const nigh_context *context, const char *path, const void *bytes, size_t length,
                               nigh_error *error);

#endif
