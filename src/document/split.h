/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting: from paths to batches of records.  record.h draws where it stands. */
#ifndef NIGH_DOCUMENT_SPLIT_H
#define NIGH_DOCUMENT_SPLIT_H

#include "document/record.h"

struct nigh__splitter; /* opaque */

/* `options` is complete (copied by nigh__options_copy already).  Returns as nigh_text_reader_open(). */
nigh_status nigh__splitter_open(const nigh_context *context, const char *const *paths, size_t count,
                                const nigh_text_reader_options *options, struct nigh__splitter **out,
                                nigh_error *error);

/*
 * Empties the batch and fills it with about `target` bytes of records, or one
 * record that is larger.  batch->status says whether more will come; the records
 * of a batch that ends with a failure are good.  Only records of the shard asked
 * for are taken in, but all are numbered.
 */
void nigh__splitter_fill(struct nigh__splitter *splitter, struct nigh__batch *batch, size_t target);

/* Fills in files, records, bytes_read and bytes_total. */
void nigh__splitter_describe(const struct nigh__splitter *splitter, nigh_text_reader_info *info);
void nigh__splitter_close(struct nigh__splitter *splitter); /* accepts NULL */

/* The inside of a public reader, for nigh_signing, which drives it from several threads. */
struct nigh__splitter *nigh__text_reader_splitter(nigh_text_reader *reader);
const nigh_text_reader_options *nigh__text_reader_options(const nigh_text_reader *reader);
const nigh_context *nigh__text_reader_context(const nigh_text_reader *reader);

#endif
