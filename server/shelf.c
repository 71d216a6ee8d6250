/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "shelf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 200000000L /* new commits are to be seen within a second */
#define FRESH_SECONDS 2    /* a folder that changed so lately may change again within the same tick of its clock */
#define LONGEST_NAME 64u

/* -------------------------------------------------------------- snapshots -- */

static void snapshot_free(struct serve_snapshot *snapshot) {
    nigh_signer_free(snapshot->signer);
    nigh_collection_close(snapshot->collection);
    serve_text_release(&snapshot->histogram);
    serve_text_release(&snapshot->clusters);
    free(snapshot);
}

static void learn_scheme(struct serve_snapshot *snapshot) {
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    if (nigh_signer_options_parse(nigh_collection_scheme(snapshot->collection), &held, NULL) != NIGH_OK) return;
    snapshot->texts = true;
    snapshot->scheme = held.scheme;
    snapshot->sparse = held.scheme == NIGH_SCHEME_TOPSIG;
    snapshot->unsure = held.scheme == NIGH_SCHEME_MINHASH;
    snapshot->threshold = held.threshold > 0 ? held.threshold : 0;
    if (snapshot->sparse) (void)nigh_collection_signer(snapshot->collection, &snapshot->signer, NULL);
}

/* `before` is the state there was, or NULL: what stayed is taken over from it. */
static nigh_status snapshot_open(struct serve_book *book, const struct serve_snapshot *before,
                                 struct serve_snapshot **out, nigh_error *error) {
    struct serve_snapshot *snapshot = calloc(1, sizeof *snapshot);
    nigh_open_options options;
    *out = NULL;
    if (snapshot == NULL) {
        *error = (nigh_error){.status = NIGH_ENOMEM, .offset = NIGH_NO_OFFSET};
        return NIGH_ENOMEM;
    }
    nigh_open_options_init(&options);
    options.before = before == NULL ? NULL : before->collection;
    const nigh_status status = nigh_collection_open(book->context, book->path, &options, &snapshot->collection, error);
    if (status != NIGH_OK) {
        free(snapshot);
        return status;
    }
    snapshot->book = book;
    snapshot->info.size = sizeof snapshot->info;
    nigh_collection_describe(snapshot->collection, &snapshot->info);
    learn_scheme(snapshot);
    atomic_init(&snapshot->users, 1);
    *out = snapshot;
    return NIGH_OK;
}

struct serve_snapshot *serve_snapshot_take(struct serve_book *book) {
    (void)pthread_mutex_lock(&book->lock);
    struct serve_snapshot *snapshot = book->gone ? NULL : book->snapshot;
    if (snapshot != NULL) atomic_fetch_add(&snapshot->users, 1);
    (void)pthread_mutex_unlock(&book->lock);
    return snapshot;
}

/* To give back memory takes long; whoever answers has no time for it. */
void serve_snapshot_give(struct serve_snapshot *snapshot) {
    if (snapshot == NULL || atomic_fetch_sub(&snapshot->users, 1) > 1) return;
    (void)pthread_mutex_lock(&snapshot->book->lock);
    snapshot->next_spent = snapshot->book->spent;
    snapshot->book->spent = snapshot;
    (void)pthread_mutex_unlock(&snapshot->book->lock);
}

static void free_spent(struct serve_book *book) {
    (void)pthread_mutex_lock(&book->lock);
    struct serve_snapshot *spent = book->spent;
    book->spent = NULL;
    (void)pthread_mutex_unlock(&book->lock);
    while (spent != NULL) {
        struct serve_snapshot *next = spent->next_spent;
        snapshot_free(spent);
        spent = next;
    }
}

/* ------------------------------------------------------------------ books -- */

/* Puts a newer state in the place of the one there is. */
static void replace_snapshot(struct serve_book *book, struct serve_snapshot *fresh, const struct stat *seen) {
    (void)pthread_mutex_lock(&book->lock);
    struct serve_snapshot *before = book->snapshot;
    const bool other =
        book->gone || before == NULL || before->info.sequence != fresh->info.sequence ||
        before->info.list_bytes != fresh->info.list_bytes || before->info.graph_bytes != fresh->info.graph_bytes ||
        before->info.column_bytes != fresh->info.column_bytes || before->info.table_bytes != fresh->info.table_bytes;
    if (other) {
        book->snapshot = fresh;
        fresh = before;
        atomic_fetch_add(&book->opened, 1);
    }
    book->gone = false;
    book->seen = *seen;
    (void)pthread_mutex_unlock(&book->lock);
    serve_snapshot_give(fresh);
}

static void note_gone(struct serve_book *book) {
    (void)pthread_mutex_lock(&book->lock);
    book->gone = true;
    (void)pthread_mutex_unlock(&book->lock);
}

static void refresh(struct serve_book *book) {
    struct stat now;
    struct serve_snapshot *fresh = NULL;
    nigh_error error;
    if (stat(book->path, &now) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) note_gone(book);
        return;
    }
    struct serve_snapshot *before = serve_snapshot_take(book);
    const nigh_status status = snapshot_open(book, before, &fresh, &error);
    if (status == NIGH_OK)
        replace_snapshot(book, fresh, &now);
    else if (status == NIGH_ENOTFOUND)
        note_gone(book);
    serve_snapshot_give(before);
}

/* One after the other: who began earlier has the older state. */
void serve_book_refresh(struct serve_book *book) {
    (void)pthread_mutex_lock(&book->refreshing);
    refresh(book);
    (void)pthread_mutex_unlock(&book->refreshing);
}

static bool has_changed(struct serve_book *book) {
    struct stat now;
    struct timespec clock;
    const bool there = stat(book->path, &now) == 0;
    (void)clock_gettime(CLOCK_REALTIME, &clock);
    (void)pthread_mutex_lock(&book->lock);
    const struct stat *seen = &book->seen;
    const bool changed = !there || book->gone || now.st_ino != seen->st_ino || now.st_dev != seen->st_dev ||
                         now.st_mtim.tv_sec != seen->st_mtim.tv_sec || now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec ||
                         clock.tv_sec - now.st_mtim.tv_sec < FRESH_SECONDS;
    (void)pthread_mutex_unlock(&book->lock);
    return changed;
}

static void *watch(void *argument) {
    struct serve_shelf *shelf = argument;
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    while (!atomic_load(&shelf->ending)) {
        for (size_t i = 0; i < shelf->count; i++) {
            if (has_changed(&shelf->books[i])) serve_book_refresh(&shelf->books[i]);
            free_spent(&shelf->books[i]);
        }
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

int serve_shelf_watch(struct serve_shelf *shelf) {
    const int failed = pthread_create(&shelf->watcher, NULL, watch, shelf);
    shelf->watching = failed == 0;
    return failed;
}

/* The last name of a path, without ".nigh". */
static char *name_of(const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    if (end - begin > 5 && memcmp(path + end - 5, ".nigh", 5) == 0) end -= 5;
    return strndup(path + begin, end - begin);
}

static nigh_status refuse(nigh_error *error, nigh_status status, const char *path, const char *why) {
    *error = (nigh_error){.status = status, .offset = NIGH_NO_OFFSET};
    (void)snprintf(error->file, sizeof error->file, "%s", path);
    (void)snprintf(error->why, sizeof error->why, "%s", why);
    return status;
}

static nigh_status open_book(struct serve_shelf *shelf, nigh_context *context, const char *path, nigh_error *error) {
    struct serve_book *book = &shelf->books[shelf->count];
    *book = (struct serve_book){.context = context, .number = (uint32_t)shelf->count};
    book->name = name_of(path);
    book->path = strdup(path);
    shelf->count++;
    if (pthread_mutex_init(&book->lock, NULL) != 0 || pthread_mutex_init(&book->refreshing, NULL) != 0 ||
        book->name == NULL || book->path == NULL)
        return refuse(error, NIGH_ENOMEM, path, "out of memory");
    if (serve_shelf_find(shelf, book->name, strlen(book->name)) != book)
        return refuse(error, NIGH_EINVAL, path, "has the name of another collection that is served");
    (void)stat(path, &book->seen);
    return snapshot_open(book, NULL, &book->snapshot, error);
}

nigh_status serve_shelf_open(struct serve_shelf *shelf, nigh_context *context, const struct serve_names *paths,
                             nigh_error *error) {
    *shelf = (struct serve_shelf){.books = calloc(paths->count, sizeof *shelf->books)};
    if (shelf->books == NULL) return refuse(error, NIGH_ENOMEM, "", "out of memory");
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < paths->count && status == NIGH_OK; i++)
        status = open_book(shelf, context, paths->items[i], error);
    return status;
}

void serve_shelf_close(struct serve_shelf *shelf) {
    atomic_store(&shelf->ending, true);
    if (shelf->watching) (void)pthread_join(shelf->watcher, NULL);
    for (size_t i = 0; i < shelf->count; i++) {
        struct serve_book *book = &shelf->books[i];
        serve_snapshot_give(book->snapshot);
        free_spent(book);
        (void)pthread_mutex_destroy(&book->refreshing);
        (void)pthread_mutex_destroy(&book->lock);
        free(book->name);
        free(book->path);
    }
    free(shelf->books);
    shelf->books = NULL;
    shelf->count = 0;
}

/* ------------------------------------------------------------------ names -- */

struct serve_book *serve_shelf_find(const struct serve_shelf *shelf, const char *name, size_t length) {
    for (size_t i = 0; i < shelf->count; i++)
        if (strlen(shelf->books[i].name) == length && memcmp(shelf->books[i].name, name, length) == 0)
            return &shelf->books[i];
    return NULL;
}

unsigned serve_words_differ(const char *a, size_t a_length, const char *b) {
    unsigned row[LONGEST_NAME + 1];
    const size_t b_length = strlen(b);
    if (a_length > LONGEST_NAME || b_length > LONGEST_NAME) return LONGEST_NAME;
    for (unsigned j = 0; j <= b_length; j++) row[j] = j;
    for (size_t i = 0; i < a_length; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < b_length; j++) {
            const unsigned exchanged = corner + (a[i] != b[j]);
            corner = row[j + 1];
            const unsigned shifted = 1 + (row[j] < row[j + 1] ? row[j] : row[j + 1]);
            row[j + 1] = exchanged < shifted ? exchanged : shifted;
        }
    }
    return row[b_length];
}

const char *serve_shelf_nearest(const struct serve_shelf *shelf, const char *name, size_t length) {
    const char *nearest = NULL;
    unsigned least = (unsigned)length / 2 + 1;
    for (size_t i = 0; i < shelf->count; i++) {
        const unsigned differ = serve_words_differ(name, length, shelf->books[i].name);
        if (differ >= least) continue;
        least = differ;
        nearest = shelf->books[i].name;
    }
    return nearest;
}
