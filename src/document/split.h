/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting: from paths, or a source of the caller's, to batches of records.  record.h draws where it stands. */
#ifndef NIGH_DOCUMENT_SPLIT_H
#define NIGH_DOCUMENT_SPLIT_H

#include "base/progress.h"
#include "document/record.h"

struct nigh__splitter; /* opaque */
struct nigh__ledger;

/* What the public options do not offer.  All zero: nothing of it. */
struct nigh__splitting {
    const nigh_stream *streams; /* NULL, or one for each path: what it is read from; without `read`: from itself */
    /*
     * Non-zero: records as they lie.  The bytes of a line have its end, a WARC record its
     * header and the empty lines behind it, <DOC> and </DOC> are there; only whole files are
     * as always.  What lies between records comes too, as NIGH__RECORD_GAP.  Extracting is
     * for whole files alone.  The numbers are the same.
     */
    bool raw;
    struct nigh__ledger *ledger; /* NULL, or for an input read several times; outlives the splitter */
    const nigh_source *source;   /* NULL, or instead of paths; its documents always lie as in whole files */
};

#define NIGH__SOURCE_NAME "the source" /* of a caller's, for messages about all of it */

/*
 * `options` is complete (copied by nigh__options_copy already); `more` may be NULL
 * and is read during the call.  Returns as nigh_text_reader_open().
 */
nigh_status nigh__splitter_open(const nigh_context *context, const char *const *paths, size_t count,
                                const nigh_text_reader_options *options, const struct nigh__splitting *more,
                                struct nigh__splitter **out, nigh_error *error);

/*
 * Empties the batch and fills it with about `target` bytes of records, or one
 * record that is larger.  batch->status says whether more will come; the records
 * of a batch that ends with a failure are good.  Only records of the shard asked
 * for are taken in, but all are numbered.
 */
void nigh__splitter_fill(struct nigh__splitter *splitter, struct nigh__batch *batch, size_t target);

/*
 * From the next record on only those are taken in of which `wanted` says so, by number; others are passed over as
 * those of other shards are, with all their problems.  It is asked by whoever fills a batch, several times for one.
 */
void nigh__splitter_choose(struct nigh__splitter *splitter, bool (*wanted)(void *user, uint64_t number), void *user);

/* Fills in files, records, bytes_read, bytes_total, records_total and skipped. */
void nigh__splitter_describe(const struct nigh__splitter *splitter, nigh_text_reader_info *info);
void nigh__splitter_close(struct nigh__splitter *splitter); /* accepts NULL */

/* How far the reading is, told by documents where it is known how many there will be, else by bytes. */
bool nigh__reading_tick(struct nigh__progress *progress, const char *stage, const nigh_text_reader_info *info);

/* Whether all of the input has been read, and 1 << each nigh_text_format that was met. */
bool nigh__splitter_ended(const struct nigh__splitter *splitter);
unsigned nigh__splitter_formats(const struct nigh__splitter *splitter);

/* The inside of a public reader, for nigh_signing, which drives it from several threads. */
struct nigh__splitter *nigh__text_reader_splitter(nigh_text_reader *reader);
const nigh_text_reader_options *nigh__text_reader_options(const nigh_text_reader *reader);
const nigh_context *nigh__text_reader_context(const nigh_text_reader *reader);

/* nigh_text_reader_open() with more; the users of the streams and of the source must outlive the reader. */
nigh_status nigh__text_reader_open(nigh_context *context, const char *const *paths, size_t count,
                                   const nigh_text_reader_options *options, const struct nigh__splitting *more,
                                   nigh_text_reader **out, nigh_error *error);

#endif
