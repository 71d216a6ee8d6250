/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live, as its parts see it:
 *
 *     live.c           opening, finding and adding, the group that waits for the disk
 *     live_log.c       taking up a log that was left; making a segment of one
 *     live_sign.c      what a caller gives -> documents as a writer takes them
 *     live_rows.c      matches by signatures, within a radius
 *     live_copies.c    matches by texts: keys, then sets of features
 *
 * Numbers of documents are those of the collection, in which those of the log come last; so a
 * commit changes no number.
 */
#ifndef NIGH_LIVE_LIVE_PARTS_H
#define NIGH_LIVE_LIVE_PARTS_H

#include <pthread.h>

#include "collection/texts.h"
#include "collection/writer.h"
#include "corpus/incoming.h"
#include "finder/growing.h"
#include "nigh/live.h"
#include "signature/signer.h"

struct nigh__live_copies; /* live_copies.c */

struct nigh_live {
    nigh_context *context;
    char *path, *scheme; /* owned */
    nigh_live_options options;
    nigh_live_info info; /* what is counted */

    /* How documents are signed; NULL: they come with signatures. */
    nigh_signer *signer;
    struct nigh__signer_worker *worker;

    nigh_writer *writer;        /* holds the lock; what is in the log was added to it too */
    struct nigh__log *log;      /* NULL: nothing was added since the last commit */
    struct nigh__incoming tail; /* documents in the log, their texts in the place of metadata */
    bool ids_known, has_ids;    /* all documents have ids, or none has */

    /* Either. */
    nigh_growing_finder *rows;
    struct nigh__live_copies *copies;

    struct nigh__array signatures; /* of the documents of a call, one after the other */
    struct nigh__array made;       /* of struct nigh__live_made: the same */
    struct nigh__array snippets;   /* of char */
    char *marked_id;               /* room for one; owned */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was added, or became safe */
    bool syncing;           /* somebody waits for the disk, without the lock */
    nigh_error failure;     /* why it can only be closed; status NIGH_OK: it can be used */
};

/* A document of a call, as a writer takes it. */
struct nigh__live_made {
    nigh_document document;
    size_t signature;       /* place in the signatures; the pointer is set once all are there */
    size_t snippet, length; /* the same of the metadata, where it is a snippet */
    uint32_t keys[NIGH_MAX_KEYS];
};

/* How many documents there are, with those in the log. */
static inline uint64_t nigh__live_documents(const nigh_live *live) {
    return nigh__writer_collection(live->writer)->documents + live->tail.count;
}

/* ------------------------------------------------------------ live_sign.c -- */

/* Fills live->made.  NIGH_EINVAL, NIGH_EMISMATCH, NIGH_ELIMIT for what cannot be taken. */
nigh_status nigh__live_make(nigh_live *live, const nigh_document *documents, size_t count, nigh_error *error);

/* ------------------------------------------------------------- live_log.c -- */

/* Makes a segment of the log that was left, if there is one. */
nigh_status nigh__live_recover(nigh_live *live, nigh_error *error);
/* Adds a new document: to the writer, to the log, and to the tail.  NIGH_EEXISTS: its id is taken, and it was not. */
nigh_status nigh__live_add(nigh_live *live, const nigh_document *document, nigh_error *error);
/* Commits what is in the log.  Nobody waits for the disk. */
nigh_status nigh__live_fold(nigh_live *live, nigh_commit *commit, nigh_error *error);

/* --------------------------------------------------------------- matching -- */

nigh_status nigh__live_rows_load(nigh_live *live, nigh_error *error);
/* Of the documents made, from `first` on. */
nigh_status nigh__live_rows_take(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                                 nigh_error *error);

nigh_status nigh__live_copies_load(nigh_live *live, nigh_error *error);
nigh_status nigh__live_copies_take(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                                   nigh_error *error);
/* The collection is another: what was read of it goes. */
void nigh__live_copies_forget(struct nigh__live_copies *copies);                      /* accepts NULL */
void nigh__live_copies_free(const nigh_live *live, struct nigh__live_copies *copies); /* accepts NULL */

#endif
