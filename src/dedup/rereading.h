/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs that are read more than once.  A stream is copied to a nameless temporary
 * file while the first pass reads it, and later passes read the copy.  Problems are
 * reported in the first pass only.  Files that change between passes are noticed by
 * size, time and the number of their records.
 */
#ifndef NIGH_DEDUP_REREADING_H
#define NIGH_DEDUP_REREADING_H

#include "base/file.h"
#include "document/record.h"

struct nigh__source; /* opaque */

/* Copies what it needs of paths and options; the stream's user and `user` must outlive it. */
nigh_status nigh__source_new(nigh_context *context, const char *const *paths, size_t count,
                             const nigh_text_reader_options *options, const char *temporary, struct nigh__source **out,
                             nigh_error *error);
void nigh__source_free(struct nigh__source *source); /* accepts NULL */

/* A fresh reader for the next pass; the caller closes it. */
nigh_status nigh__source_open(struct nigh__source *source, nigh_text_reader **out, nigh_error *error);

/* The same for a pass over records as they lie, for nigh__splitter_fill(): bytes of a record are all of it. */
nigh_status nigh__source_open_raw(struct nigh__source *source, nigh_text_reader **out, nigh_error *error);

/* After a pass: NIGH_ECORRUPT, naming the file, where the input is not what it was in the first. */
nigh_status nigh__source_check(struct nigh__source *source, const nigh_text_reader *reader, nigh_error *error);

#endif
