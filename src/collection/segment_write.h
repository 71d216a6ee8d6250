/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a segment.  Signatures go to the file as they come, each distinct one
 * once; ids, metadata and weights go to temporary files beside it and are
 * appended at the end.  In memory stay, for each document, its row, two offsets and its
 * share of two hash tables: about 50 bytes, whatever the width.
 */
#ifndef NIGH_COLLECTION_SEGMENT_WRITE_H
#define NIGH_COLLECTION_SEGMENT_WRITE_H

#include "base/file.h"
#include "base/progress.h"
#include "collection/attachment.h"
#include "collection/format.h"

struct nigh__segment_writer; /* opaque */

struct nigh__segment_plan {
    const struct nigh__file *directory; /* outlives the writer */
    uint64_t number;
    uint32_t width_bits;
    const char *scheme;
    nigh_attachment kept[NIGH__ATTACHMENT_KINDS]; /* their bytes outlive the writer */
};

nigh_status nigh__segment_writer_open(const nigh_context *context, const struct nigh__segment_plan *plan,
                                      struct nigh__segment_writer **out, nigh_error *error);

/*
 * NIGH_EEXISTS for an id that was added before, and nothing has changed then.
 * The caller sees to it that all documents have ids or none, weights or none.
 */
nigh_status nigh__segment_writer_add(struct nigh__segment_writer *writer, const nigh_document *document,
                                     nigh_error *error);

uint32_t nigh__segment_writer_documents(const struct nigh__segment_writer *writer);
uint32_t nigh__segment_writer_signatures(const struct nigh__segment_writer *writer); /* distinct */

/* Writes the rest and syncs the file; *entry is what the manifest needs. */
nigh_status nigh__segment_writer_finish(struct nigh__segment_writer *writer, struct nigh__progress *progress,
                                        struct nigh__manifest_entry *entry, nigh_error *error);

/* Frees; removes the files unless `keep`.  Accepts NULL. */
void nigh__segment_writer_close(struct nigh__segment_writer *writer, bool keep);

#endif
