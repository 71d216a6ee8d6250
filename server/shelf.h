/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collections that are served. Readers take a snapshot and give it back. A thread looks at the folders five
 * times a second, opens what others committed, and replaces the snapshot; the old one lives until its last reader
 * gives it back. A new snapshot takes over all that has not changed, so it costs only what is new. The same thread
 * frees what nobody uses any more.
 */
#ifndef NIGH_SERVER_SHELF_H
#define NIGH_SERVER_SHELF_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "lane.h"
#include "serve.h"

struct serve_snapshot {
    nigh_collection *collection;
    nigh_collection_info info;
    nigh_signer *signer; /* for masks of stored documents; NULL: not of topsig, or not of texts */
    bool texts;          /* its signatures were made from texts */
    bool sparse;         /* a text touches some of the bits only: topsig */
    bool unsure;         /* weights say nothing: minhash */
    double threshold;    /* of near-copies; 0: it is not made for them */
    nigh_scheme_kind scheme;
    atomic_uint users;
    struct serve_book *book;
    struct serve_snapshot *next_spent;     /* of those that nobody uses any more */
    struct serve_text histogram, clusters; /* made once, under the lock of the book; else empty */
};

#define SERVE_MANNERS 64u /* of asking, which differ in what they cost: asking.c */

struct serve_live; /* writing.c */

struct serve_book {
    char *name, *path;
    uint32_t number; /* from 0 */
    nigh_context *context;
    pthread_mutex_t lock;
    pthread_mutex_t refreshing; /* held while a newer state is opened; before `lock` */
    struct serve_snapshot *snapshot;
    struct serve_snapshot *spent; /* to be freed by who looks at the folders */
    bool gone;                    /* its folder is no more */
    struct stat seen;             /* the folder, when the snapshot was opened */
    atomic_uint_fast64_t opened, merged, commits;
    atomic_uint_fast64_t typical_ns[SERVE_MANNERS]; /* of a query that was alone, of processor time; 0: not known yet */
    struct serve_live *live;                        /* what writes to it; NULL: nothing does */
    struct serve_lane writing;
};

struct serve_shelf {
    struct serve_book *books;
    size_t count;
    pthread_t watcher;
    bool watching;
    atomic_bool ending;
};

/* Opens all of them.  NIGH_EINVAL where two have one name. */
nigh_status serve_shelf_open(struct serve_shelf *shelf, nigh_context *context, const struct serve_names *paths,
                             nigh_error *error);
int serve_shelf_watch(struct serve_shelf *shelf);
void serve_shelf_close(struct serve_shelf *shelf);

struct serve_book *serve_shelf_find(const struct serve_shelf *shelf, const char *name, size_t length);
/* The name most like another, if it is much like it; else NULL. */
const char *serve_shelf_nearest(const struct serve_shelf *shelf, const char *name, size_t length);

/* NULL: the collection was deleted. */
struct serve_snapshot *serve_snapshot_take(struct serve_book *book);
void serve_snapshot_give(struct serve_snapshot *snapshot); /* accepts NULL */

/* Opens what is there now, where that is new. */
void serve_book_refresh(struct serve_book *book);

/* The distance of two words: letters put in, left out, exchanged. */
unsigned serve_words_differ(const char *a, size_t a_length, const char *b);

#endif
