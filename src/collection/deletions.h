/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which documents of a segment are deleted: a file of its own, for a segment never changes.
 *
 *     manifest-7   segment 3, deleted-9          after one more delete      manifest-8   segment 3, deleted-11
 *
 * A manifest names it, as it names the segment, so that the commit is one and the same.  It is laid out as files
 * beside a segment are (collection/sidecar.h), under a number of its own and with a kind that none of these has.  Its
 * one section holds the set in whichever form is smaller:
 *
 *     runs      of documents that are deleted one after the other; for each a number, seven bits a byte, the lowest
 *               first: twice the documents that live before it, and 1 more where the run is longer than one; then
 *               its length less two
 *     bitmap    a bit for each document, in words of 64 bits
 *
 * Bytes for one that is deleted, of 2,000,000 documents, beside those of a Roaring bitmap as its specification has it:
 * at random one in 1,000 1.9 and 2.1, one in 100 1.5 and 2.0, one in 10 1.0 and 1.3, one in 2 .25 and .25; in runs of a
 * hundred .03 and .06.  So its containers would bring a library and nothing else.
 */
#ifndef NIGH_COLLECTION_DELETIONS_H
#define NIGH_COLLECTION_DELETIONS_H

#include "collection/segment.h"

#define NIGH__DELETIONS_KIND 255u
#define NIGH__DELETIONS_SECTION 1u
enum nigh__deletions_form { NIGH__DELETIONS_RUNS = 0, NIGH__DELETIONS_BITMAP = 1 };

/*
 * Reads the file that an entry names, and every byte of it: a bitmap of the documents that live, as nigh__selection
 * has it; the caller frees it.  What is damaged, of another segment or counts otherwise is NIGH_ECORRUPT.
 */
nigh_status nigh__deletions_read(const struct nigh__file *directory, const struct nigh__segment *segment,
                                 const struct nigh__deletions_entry *entry, uint64_t **living, nigh_error *error);

/* Reads what segment->deletions names, where it names anything, into segment->living. */
nigh_status nigh__segment_open_deletions(const struct nigh__file *directory, struct nigh__segment *segment,
                                         nigh_error *error);

/*
 * Writes the documents of a segment that are not in `living` under a number, and syncs the file; its name is safe
 * once the directory is synced.  At least one is deleted.  *entry is what a manifest says of it.
 */
nigh_status nigh__deletions_write(const struct nigh__file *directory, const struct nigh__segment *segment,
                                  uint64_t number, const uint64_t *living, struct nigh__deletions_entry *entry,
                                  nigh_error *error);

#endif
