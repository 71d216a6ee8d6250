/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary file of items: of different lengths with the offset of each (ids, metadata), or of one (weights). */
#ifndef NIGH_COLLECTION_SPOOL_H
#define NIGH_COLLECTION_SPOOL_H

#include "base/file.h"
#include "base/memory.h"
#include "collection/directory.h"
#include "collection/sections.h"

struct nigh__spool {
    const struct nigh__file *directory; /* not owned */
    char name[NIGH__NAME_SIZE];
    struct nigh__file file;
    struct nigh__output output;
    struct nigh__array offsets; /* uint64_t, one more than items that were added */
};

/* Opens that of segment `number` with this suffix, where it is not open yet; `spool` is all zero then. */
nigh_status nigh__spool_open(const struct nigh__file *directory, uint64_t number, const char *suffix,
                             struct nigh__spool *spool, nigh_error *error);
/* Appends bytes without keeping where they begin: for items that are all of one length. */
nigh_status nigh__spool_append(struct nigh__spool *spool, const void *bytes, size_t length, nigh_error *error);
/* Appends an item and keeps its offset. */
nigh_status nigh__spool_add(struct nigh__spool *spool, const void *bytes, size_t length, nigh_error *error);
/* Whether item `index` is these bytes. */
nigh_status nigh__spool_equals(struct nigh__spool *spool, size_t index, const void *bytes, size_t length, bool *equal,
                               nigh_error *error);
/* Reads all items that were added, in order, none of which is longer than 1 MiB. */
typedef void nigh__spool_visit(void *user, uint32_t index, const void *bytes, size_t length);
nigh_status nigh__spool_each(struct nigh__spool *spool, nigh__spool_visit *visit, void *user, nigh_error *error);
uint64_t nigh__spool_length(const struct nigh__spool *spool);
/* Writes all bytes as a section of items of `item_size` bytes. */
nigh_status nigh__spool_write(struct nigh__spool *spool, struct nigh__section_writer *sections,
                              enum nigh__section_type type, size_t item_size, nigh_error *error);
/* Writes where items begin as one section and their bytes as another. */
nigh_status nigh__spool_write_items(struct nigh__spool *spool, struct nigh__section_writer *sections,
                                    enum nigh__section_type offsets_type, enum nigh__section_type bytes_type,
                                    nigh_error *error);
/* Removes the file.  Fine for one that was never opened and is all zero. */
void nigh__spool_release(struct nigh__spool *spool);

/*
 * Whether the bytes at `offset` of what was written through `output` are these.
 * They may still be in the buffer.  `output` writes to a file.
 */
nigh_status nigh__output_equals(struct nigh__output *output, uint64_t offset, const void *bytes, size_t length,
                                bool *equal, nigh_error *error);

#endif
