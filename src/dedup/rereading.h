/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs that are read more than once.  What can be read only once, a stream or a
 * pipe, is copied to a nameless temporary file while the first pass reads it, and
 * later passes read the copy; a caller's source is rewound.  Problems are reported in
 * the first pass only.  Files that change between passes or while they are read are
 * noticed by size and time, also those in folders, sources by their documents, and all
 * inputs by the number of their records.
 *
 *     new -> open, read, check, close -> open, read, check, close -> ... -> free
 *
 * One pass at a time.  The first is to be checked too: it says what the others must
 * find again.
 */
#ifndef NIGH_DEDUP_REREADING_H
#define NIGH_DEDUP_REREADING_H

#include "base/file.h"
#include "document/record.h"

struct nigh__rereading; /* opaque */

/*
 * Copies what it needs of paths and options; the stream's user and `user` must
 * outlive it.  `temporary` is a folder; NULL: "/tmp".
 */
nigh_status nigh__rereading_new(nigh_context *context, const char *const *paths, size_t count,
                                const nigh_text_reader_options *options, const char *temporary,
                                struct nigh__rereading **out, nigh_error *error);
/* The same for a source of the caller's, which is copied; NIGH_EINVAL where it cannot be rewound. */
nigh_status nigh__rereading_new_given(nigh_context *context, const nigh_source *given,
                                      const nigh_text_reader_options *options, struct nigh__rereading **out,
                                      nigh_error *error);
void nigh__rereading_free(struct nigh__rereading *source); /* accepts NULL */

/* A fresh reader for the next pass; the caller closes it. */
nigh_status nigh__rereading_open(struct nigh__rereading *source, nigh_text_reader **out, nigh_error *error);

/* The same for a pass over records as they lie, for nigh__splitter_fill(): bytes of a record are all of it. */
nigh_status nigh__rereading_open_raw(struct nigh__rereading *source, nigh_text_reader **out, nigh_error *error);

/*
 * After a pass, before its reader is closed: NIGH_ECORRUPT, naming the file, where the
 * input is not what it was in the first.  Passes that ended early are compared by the
 * files alone.
 */
nigh_status nigh__rereading_check(struct nigh__rereading *source, nigh_text_reader *reader, nigh_error *error);

/* What a pass over all of the input has met, as far as later ones must find the same. */
struct nigh__rereading_met {
    uint64_t records, bytes_read;
    unsigned formats;
};

/* After the first pass was checked, where it read to the end. */
struct nigh__rereading_met nigh__rereading_met(const struct nigh__rereading *source);
/* Before the first pass: there was one elsewhere, which met this and has told all problems. */
void nigh__rereading_resume(struct nigh__rereading *source, const struct nigh__rereading_met *met);

/* After a failure: says more of it, where the copy of a stream was the trouble. */
void nigh__rereading_explain(const struct nigh__rereading *source, nigh_error *error);

/* Of the first pass: records with a number below `end` that no pass as they lie will have, or that cannot be written.
 */
uint64_t nigh__rereading_lost(const struct nigh__rereading *source, uint64_t end);
/* Records of the first pass that are nobody's: see nigh__ledger.passed. */
uint64_t nigh__rereading_passed(const struct nigh__rereading *source);
/* Of the first pass, once it was checked: 1 << each nigh_text_format it met. */
unsigned nigh__rereading_formats(const struct nigh__rereading *source);
/* Bytes copied from streams so far. */
uint64_t nigh__rereading_copied(const struct nigh__rereading *source);
/* What to call all of it in a message: the first path, or that it is a source. */
const char *nigh__rereading_name(const struct nigh__rereading *source);
/* Of the paths given; a caller's source has none. */
size_t nigh__rereading_count(const struct nigh__rereading *source);
const char *nigh__rereading_path(const struct nigh__rereading *source, size_t index);
/* The input that is the same file as `path` (which need not exist), or a folder around it; NULL: none is. */
const char *nigh__rereading_around(const struct nigh__rereading *source, const char *path);

#endif
