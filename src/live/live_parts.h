/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live, as its parts see it:
 *
 *     live.c           finding and adding, the group that waits for the disk
 *     live_open.c      opening and closing
 *     live_log.c       what goes into the log; taking up logs that were left
 *     live_tail.c      documents of logs in memory, by number and by id
 *     live_make.c      a log becomes a segment, segments are merged: by a thread of its own
 *     live_sign.c      what a caller gives -> documents as a writer takes them
 *     live_rows.c      matches by signatures, within a radius
 *     live_copies.c    matches by texts: keys, then sets of features
 *
 * Where a document is:
 *
 *     numbers   0                                   collection->documents     tail.first
 *               |---- segments, as of the last commit ----|---- full ----|---- tail ----|
 *     on disk    what readers see                           log-7           log-23
 *
 * `full` is a log that has become large and is made a segment of; most of the time there is none.  Numbers of documents
 * are those of the collection, in which those of the logs come last, and merges beside a log drop nothing: so neither a
 * commit nor a merge changes a number, and no answer depends on when they come.
 *
 * Who works.  All calls work under the lock.  One at a time makes segments and merges (`working`): it alone uses the
 * writer, takes the lock to put what it made in the place of what was there, and never while it waits for the disk.
 */
#ifndef NIGH_LIVE_LIVE_PARTS_H
#define NIGH_LIVE_LIVE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash_table.h"
#include "collection/texts.h"
#include "collection/writer.h"
#include "corpus/incoming.h"
#include "finder/growing.h"
#include "nigh/live.h"
#include "signature/signer.h"

struct nigh__live_copies; /* live_copies.c */

/* Documents of a log, with their texts in the place of metadata. */
struct nigh__live_tail {
    struct nigh__incoming documents;
    struct nigh__hash_table names; /* of their ids; no slots: none has one */
    uint64_t first;                /* the number of the first */
    uint64_t log;                  /* the number of the log */
};

/* Matches by signatures, where they are looked for (live_rows.c). */
struct nigh__live_rows {
    struct nigh__array
        parts; /* of struct nigh__live_part: those before `growing`, ascending by their first documents */
    nigh_growing_finder *growing; /* owned */
    uint64_t first;               /* the number of its row 0 */
    bool tables;                  /* segments that are large enough get tables */
    struct nigh__array words;     /* of uint64_t: room for queries */
    struct nigh__array bytes;     /* of uint8_t: the same */
    struct nigh__array found;     /* of nigh_match */
    struct nigh__array left;      /* of uint32_t */
};

struct nigh_live {
    nigh_context *context;
    char *path, *scheme; /* owned */
    nigh_live_options options;
    nigh_live_info info; /* what is counted */

    /* How documents are signed; NULL: they come with signatures. */
    nigh_signer *signer;
    struct nigh__signer_worker *worker;

    nigh_collection *collection; /* the last commit; owned */
    struct nigh__live_tail full, tail;
    struct nigh__log_plan log_plan; /* of every log, but for its number and its first document */
    struct nigh__log *log;          /* of the tail; NULL: nothing was added since the last commit */
    bool ids_known, has_ids;        /* all documents have ids, or none has */
    uint32_t keep_keys;             /* of which documents have values */
    uint64_t secret;                /* of the hashes of ids, which strangers choose */

    struct nigh__live_rows rows; /* either: growing is there, */
    struct nigh__live_copies *copies;

    struct nigh__array signatures; /* of the documents of a call, one after the other */
    struct nigh__array made;       /* of struct nigh__live_made: the same */
    struct nigh__array snippets;   /* of char */
    char *marked_id;               /* room for one; owned */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was added, became safe, or was made */
    bool syncing;           /* somebody waits for the disk, without the lock */
    nigh_error failure;     /* why it can only be closed; status NIGH_OK: it can be used */

    /* Making segments. */
    nigh_writer *writer;    /* holds the lock of the directory; of who works */
    bool upkeep;            /* segments may have to be merged */
    bool working;           /* somebody works */
    bool has_maker;         /* there is a thread for it, */
    pthread_t maker;        /* which is this */
    pthread_cond_t work;    /* there is something to do for it */
    atomic_bool closing;    /* and it ends as soon as it can */
    nigh_progress stopping; /* how that is told to what works for long */
    nigh_commit told;       /* of the last segment, and what was merged since */
};

/* A document of a call, as a writer takes it. */
struct nigh__live_made {
    nigh_document document;
    size_t signature;       /* place in the signatures; the pointer is set once all are there */
    size_t snippet, length; /* the same of the metadata, where it is a snippet */
    uint32_t keys[NIGH_MAX_KEYS];
};

/* From here on nothing more is taken: memory and disk may say different things. */
nigh_status nigh__live_fail(nigh_live *live, nigh_status status, const nigh_error *problem, nigh_error *error);

/* ------------------------------------------------------------ live_tail.c -- */

void nigh__live_tail_init(const nigh_live *live, uint64_t first, struct nigh__live_tail *out);
void nigh__live_tail_release(const nigh_live *live, struct nigh__live_tail *tail);
nigh_status nigh__live_tail_add(const nigh_live *live, struct nigh__live_tail *tail, const nigh_document *document,
                                nigh_error *error);

/* How many documents there are, with those in the logs. */
static inline uint64_t nigh__live_documents(const nigh_live *live) {
    return live->tail.first + live->tail.documents.count;
}

/* The tail that has a document, and its place there; NULL: it is in the collection.  There is such a document. */
const struct nigh__live_tail *nigh__live_tail_of(const nigh_live *live, uint64_t number, size_t *place);

/* Whether a document that lives has this id. */
nigh_status nigh__live_has_id(const nigh_live *live, const char *id, size_t id_length, bool *has, nigh_error *error);

/* ------------------------------------------------------------ live_sign.c -- */

/* Fills live->made.  NIGH_EINVAL, NIGH_EMISMATCH, NIGH_ELIMIT for what cannot be taken. */
nigh_status nigh__live_make(nigh_live *live, const nigh_document *documents, size_t count, nigh_error *error);

/* ------------------------------------------------------------- live_log.c -- */

/* Makes a segment of the logs that were left, if there are some; the writer has committed then in any case. */
nigh_status nigh__live_recover(nigh_live *live, nigh_error *error);
/* Adds a new document to the log and to the tail.  NIGH_EEXISTS: its id is taken, and it was not. */
nigh_status nigh__live_add(nigh_live *live, const nigh_document *document, nigh_error *error);

/* ------------------------------------------------------------ live_make.c -- */

/* Begins another log, so that a segment can be made of this one.  Nobody waits for the disk, and none is full. */
nigh_status nigh__live_fill(nigh_live *live, nigh_error *error);
/* Has done what is to be done, by the thread that is for it; without one, here and now.  Under the lock. */
void nigh__live_wake(nigh_live *live);
/* A number for a log that no commit passes before it is full; at least `least`. */
uint64_t nigh__live_next_log(const nigh_live *live, uint64_t least);
/* Ends the thread. */
void nigh__live_rest(nigh_live *live);

/* --------------------------------------------------------------- matching -- */

struct nigh__array nigh__live_rows_none(void); /* of parts */
nigh_status nigh__live_rows_load(nigh_live *live, nigh_error *error);
/* How many documents are in memory, and in tables. */
void nigh__live_rows_describe(const nigh_live *live, nigh_live_info *info);
void nigh__live_rows_release(nigh_live *live);
/* Of the documents made, from `first` on. */
nigh_status nigh__live_rows_take(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                                 nigh_error *error);
/* A log has become large: what follows may go to another finder. */
nigh_status nigh__live_rows_fill(nigh_live *live, nigh_error *error);
/* What the tables of a collection have need not be in memory: lets live->rows go by it.  Under the lock. */
nigh_status nigh__live_rows_follow(nigh_live *live, const nigh_collection *collection, nigh_error *error);
/* Whether a segment of a collection should get tables. */
bool nigh__live_rows_want(const nigh_live *live, const nigh_collection *collection);
#define NIGH__LIVE_TABLE_ROWS 16384u /* a segment of so many signatures gets some, as by nigh index */

nigh_status nigh__live_copies_load(nigh_live *live, nigh_error *error);
nigh_status nigh__live_copies_take(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                                   nigh_error *error);
/* The collection is another: what was read of it goes. */
void nigh__live_copies_forget(struct nigh__live_copies *copies);                      /* accepts NULL */
void nigh__live_copies_free(const nigh_live *live, struct nigh__live_copies *copies); /* accepts NULL */

#endif
