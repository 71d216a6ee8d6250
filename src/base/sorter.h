/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting more than memory holds.  Records are a few 64-bit words and are ordered
 * by these, the first word counting most, so the order depends on nothing else:
 *
 *     add, add, ...  ->  memory full: sorted, appended to a temporary file as a run
 *     finish         ->  one run in memory, or a merge of all runs
 *     next, next     ->  the records, ascending
 *
 * While everything fits into memory no file is made.  The file has no name once it
 * is open, so that nothing is left behind, however the process ends.
 */
#ifndef NIGH_BASE_SORTER_H
#define NIGH_BASE_SORTER_H

#include <stdbool.h>

#include "base/context.h"

#define NIGH__SORTER_MAX_WORDS 8u

struct nigh__sorter; /* opaque */

struct nigh__sorter_options {
    uint32_t words;     /* of a record, 1 to NIGH__SORTER_MAX_WORDS */
    uint32_t key_words; /* of these, the first so many are the order; records equal in them come as they were added */
    /*
     * Only so many of the highest bits of the first word are the order; 0: all of its
     * 64.  For one key word, and not with `unique`.  (key << 32 | number), added by
     * ascending numbers, comes in the order of both with key_bits 32, in half the time.
     */
    uint32_t key_bits;
    bool unique;           /* of records equal in all their words one is given; all words are the order then */
    uint64_t memory_bytes; /* that the sorter may take in all; at least 1 MiB is taken */
    const char *temporary; /* the folder for runs; NULL: what does not fit is NIGH_ELIMIT */
    uint32_t threads;
};

nigh_status nigh__sorter_new(const nigh_context *context, const struct nigh__sorter_options *options,
                             struct nigh__sorter **out, nigh_error *error);
void nigh__sorter_free(struct nigh__sorter *sorter); /* accepts NULL */

/* `count` records, one after the other.  NIGH_OK, NIGH_ENOMEM, NIGH_ELIMIT, NIGH_EIO (such as no space). */
nigh_status nigh__sorter_add(struct nigh__sorter *sorter, const uint64_t *records, size_t count, nigh_error *error);
nigh_status nigh__sorter_finish(struct nigh__sorter *sorter, nigh_error *error);

/*
 * After finish: the next records in order, at least one and as many as lie together;
 * *records lives until the next call.  NIGH_END after the last.
 */
nigh_status nigh__sorter_next(struct nigh__sorter *sorter, const uint64_t **records, size_t *count, nigh_error *error);
/* Back to the first record. */
nigh_status nigh__sorter_rewind(struct nigh__sorter *sorter, nigh_error *error);

/* A sorter, finished, that is read record by record: who has looked at one adds 1 to `next`. */
struct nigh__sorter_cursor {
    struct nigh__sorter *sorter; /* NULL: nothing */
    uint32_t words;              /* of a record */
    const uint64_t *records;
    size_t count, next;
    bool ended;
};

/* The record it is at, which lives until the cursor has moved on and is asked again; NULL at the end. */
nigh_status nigh__sorter_peek(struct nigh__sorter_cursor *cursor, const uint64_t **record, nigh_error *error);

uint64_t nigh__sorter_count(const struct nigh__sorter *sorter);      /* records added */
uint64_t nigh__sorter_disk_bytes(const struct nigh__sorter *sorter); /* written so far */

#endif
