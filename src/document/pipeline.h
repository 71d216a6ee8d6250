/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents through several threads, and out again in the order of the input.
 *
 *     input ==> | 0 | 1 | 2 | 3 | 4 | 5 |   a ring of slots, each a batch of records
 *                 ^       ^   ^       ^
 *          consumer       worked on   being filled
 *
 * There is no thread for reading: whoever is free takes the lock of the reader,
 * fills the next slot, gives the lock back, and works on the first that is filled.  So
 * every thread is busy while there is anything to do, and the reader, which must
 * go in order, is never asked by two.  A slot belongs to one thread at a time.
 * The consumer is one of the threads: he works on a slot that is filled where the one
 * he needs is not done.  So there are no more threads than asked for, and half of what
 * two of them make is in the caches of the core that takes it.
 *
 * Memory.  What is in the slots is counted, and no slot is filled while that is
 * over a budget; a large record is worked on by one thread at a time, for parsers
 * need many times its size.  So more threads do not mean more memory, but for
 * the first 256 KiB of each.
 *
 * Work on a document gives bytes of the caller's; the consumer gets them one
 * document after the other, whatever the threads.
 */
#ifndef NIGH_DOCUMENT_PIPELINE_H
#define NIGH_DOCUMENT_PIPELINE_H

#include "base/memory.h"

/* What is done with each document, and what each thread needs for it. */
struct nigh__pipeline_work {
    void *user;
    nigh_status (*worker_new)(void *user, void **worker, nigh_error *error);
    void (*worker_free)(void *user, void *worker); /* accepts NULL */
    /*
     * Appends what becomes of `text` to `product` (of uint8_t).  NIGH_OK;
     * NIGH_ENOTFOUND where it has nothing to give, which is counted; any other
     * status ends the pipeline.
     */
    nigh_status (*work)(void *worker, const nigh_text *text, struct nigh__array *product, nigh_error *error);
    /* NULL, or whether a record is to be looked at, as nigh__splitter_choose() has it.  Others count nowhere. */
    bool (*wanted)(void *user, uint64_t number);
};

struct nigh__product {
    const uint8_t *bytes;
    size_t length;
    nigh_text text; /* where it came from; its id, text, label and part are gone */
};

struct nigh__pipeline; /* opaque */

/*
 * The reader must be fresh.  `work` is copied; its user must outlive the pipeline,
 * and so must `progress` (may be NULL), which is asked while the consumer waits.
 */
nigh_status nigh__pipeline_open(nigh_text_reader *reader, const struct nigh__pipeline_work *work, uint32_t threads,
                                const nigh_progress *progress, struct nigh__pipeline **out, nigh_error *error);

/*
 * The product of the next document.  *out lives until the next call.  Returns as
 * nigh_text_reader_next(), what `work` returned where that ended it, and
 * NIGH_ECANCELLED.
 */
nigh_status nigh__pipeline_next(struct nigh__pipeline *pipeline, struct nigh__product *out, nigh_error *error);

/* The product that comes so many after the last, where it is known by now and is one; else NULL.  Only a look. */
const uint8_t *nigh__pipeline_ahead(const struct nigh__pipeline *pipeline, size_t count);

/* Of what has come out so far; `empty` counts the documents that had nothing to give. */
void nigh__pipeline_describe(const struct nigh__pipeline *pipeline, nigh_text_reader_info *info, uint64_t *empty);
void nigh__pipeline_close(struct nigh__pipeline *pipeline); /* accepts NULL */

#endif
