/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests.  A manifest is the state of a collection: the segments that count,
 * in order, and which of their documents are deleted; or of a term signature file, with groups in place of segments,
 * and the bits of a filter in place of the width.  It appears under its name whole or not at all, and its appearing is
 * the commit.
 */
#ifndef NIGH_COLLECTION_MANIFEST_H
#define NIGH_COLLECTION_MANIFEST_H

#include "base/file.h"
#include "base/memory.h"
#include "collection/directory.h"
#include "collection/format.h"

struct nigh__manifest {
    struct nigh__manifest_header header;
    struct nigh__living_entry *entries; /* header.segment_count of them; owned */
};

/* NIGH_EFORMAT, in words that say what it is, where it is of the other kind. */
nigh_status nigh__manifest_read(const struct nigh__file *directory, enum nigh__store_kind kind, uint64_t sequence,
                                struct nigh__manifest *out, nigh_error *error);

/*
 * The newest one that is whole.  *damaged counts newer ones that are not.  A
 * manifest that needs a newer program is an error, never passed over.  Where
 * there is none: NIGH_ENOTFOUND in a directory that could become a collection
 * (nothing of anyone else's in it), NIGH_EFORMAT in any other, and where all
 * are damaged the error of the newest.
 */
nigh_status nigh__manifest_newest(const struct nigh__file *directory, enum nigh__store_kind kind,
                                  const struct nigh__listing *listing, struct nigh__manifest *out, uint64_t *damaged,
                                  nigh_error *error);

/* Bytes of an entry on disk, by the features of the header. */
size_t nigh__manifest_entry_size(const struct nigh__manifest_header *header);

/*
 * The numbers of all files that it names, segments and deletions, ascending: uint64_t added to `out`.  False: no
 * memory.
 */
bool nigh__manifest_numbers(const nigh_context *context, const struct nigh__manifest *manifest,
                            struct nigh__array *out);

/*
 * Fills in magic, version, features and checksum, and commits in the directory, which is
 * open so that after the rename nothing but its sync is left to fail.
 * *published tells whether the name was taken: then that sync has failed, and
 * the state on disk may be the new one.
 */
nigh_status nigh__manifest_write(const struct nigh__file *directory, enum nigh__store_kind kind,
                                 struct nigh__manifest *manifest, bool *published, nigh_error *error);

void nigh__manifest_release(const nigh_context *context, struct nigh__manifest *manifest);

#endif
