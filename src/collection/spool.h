/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary file of items: of different lengths with the offset of each (ids, metadata), or of one (weights). */
#ifndef NIGH_COLLECTION_SPOOL_H
#define NIGH_COLLECTION_SPOOL_H

#include "base/file.h"
#include "base/memory.h"
#include "collection/directory.h"

struct nigh__spool {
    const struct nigh__file *directory; /* not owned */
    char name[NIGH__NAME_SIZE];
    struct nigh__file file;
    struct nigh__output output;
    struct nigh__array offsets; /* uint64_t, one more than items that were added */
};

nigh_status nigh__spool_open(const struct nigh__file *directory, const char *name, struct nigh__spool *out,
                             nigh_error *error);
/* Appends bytes without keeping where they begin: for items that are all of one length. */
nigh_status nigh__spool_append(struct nigh__spool *spool, const void *bytes, size_t length, nigh_error *error);
/* Appends an item and keeps its offset. */
nigh_status nigh__spool_add(struct nigh__spool *spool, const void *bytes, size_t length, nigh_error *error);
/* Whether item `index` is these bytes. */
nigh_status nigh__spool_equals(struct nigh__spool *spool, size_t index, const void *bytes, size_t length, bool *equal,
                               nigh_error *error);
uint64_t nigh__spool_length(const struct nigh__spool *spool);
/* Writes all bytes to the end of `target`. */
nigh_status nigh__spool_copy(struct nigh__spool *spool, struct nigh__output *target, nigh_error *error);
/* Removes the file.  Fine for one that was never opened and is all zero. */
void nigh__spool_release(struct nigh__spool *spool);

/*
 * Whether the bytes at `offset` of what was written through `output` are these.
 * They may still be in the buffer.  `output` writes to a file.
 */
nigh_status nigh__output_equals(struct nigh__output *output, uint64_t offset, const void *bytes, size_t length,
                                bool *equal, nigh_error *error);

#endif
