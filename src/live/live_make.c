/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * A log becomes a segment, and segments are merged, while documents are found and added beside it:
 *
 *     fill        under the lock: the log is whole on the disk; what comes goes to another
 *     make        the documents of the full log, read from the disk, become a segment in a commit as any other
 *     take over   under the lock: the collection is the new one, and the full log is spent
 *     upkeep      tables for segments that are large, tiers merged; each time the collection is taken over
 *
 * Where it is left at any moment, the logs have all that is in no segment.  Numbers of segments: a log keeps its number
 * for as long as it is written to, and whatever is committed meanwhile must not pass it (collection/log.h).  So a log
 * begins RESERVE numbers behind what the next commit will have.
 */
#include <signal.h>

#include "base/progress.h"
#include "base/status.h"
#include "collection/merge.h"
#include "finder/stored.h"
#include "live/live_parts.h"

#define RESERVE 16u    /* numbers: a segment, and those of the merges after it */
#define MOST_MERGES 8u /* in a row: a segment may pass from tier to tier */

/* ------------------------------------------------------------------ filling -- */

uint64_t nigh__live_next_log(const nigh_live *live, uint64_t least) {
    const uint64_t number = nigh__writer_number(live->writer);
    return (number > least ? number : least) + RESERVE;
}

nigh_status nigh__live_fill(nigh_live *live, nigh_error *error) {
    nigh_status status = nigh__log_finish(live->log, error);
    if (status == NIGH_OK && live->rows.growing != NULL) status = nigh__live_rows_fill(live, error);
    if (status != NIGH_OK) return status;
    const uint64_t number = nigh__live_next_log(live, live->tail.log);
    const uint64_t first = nigh__live_documents(live);
    nigh__log_close(live->log);
    live->log = NULL;
    live->full = live->tail;
    nigh__live_tail_init(live, first, &live->tail);
    live->tail.log = number;
    return NIGH_OK;
}

/* -------------------------------------------------------------- taking over -- */

/* The newest state, in the place of the one that was there.  `spent`: the full log is in it. */
static nigh_status take_over(nigh_live *live, bool spent, nigh_error *error) {
    nigh_collection *newest = NULL;
    nigh_status status = nigh__collection_open_after(live->context, nigh__writer_directory(live->writer),
                                                     live->collection, &newest, error);
    if (status != NIGH_OK) return status; /* nobody else puts another in its place */
    pthread_mutex_lock(&live->lock);
    if (live->rows.growing != NULL) status = nigh__live_rows_follow(live, newest, error);
    nigh_collection *before = newest;
    if (status == NIGH_OK) {
        before = live->collection;
        live->collection = newest;
        nigh__live_copies_forget(live->copies);
        if (spent) nigh__live_tail_release(live, &live->full);
    }
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
    nigh_collection_close(before);
    return status;
}

/* ------------------------------------------------------------------- making -- */

static nigh_status add_document(void *user, const nigh_document *document, nigh_error *error) {
    const nigh_live *live = user;
    if (atomic_load_explicit(&live->closing, memory_order_relaxed)) return nigh__progress_cancelled(error);
    return nigh_writer_add(live->writer, document, error);
}

/* The full log does not change, nor does anybody else use the writer: so this needs no lock. */
static nigh_status make_segment(nigh_live *live, nigh_commit *commit, nigh_error *error) {
    struct nigh__logs_told told = {.logs = 0};
    nigh_status status = NIGH_OK;
    if (nigh__writer_committed(live->writer)) status = nigh__writer_renew(live->writer, error);
    if (status != NIGH_OK) return status;
    struct nigh__log_plan plan = nigh__writer_log_plan(live->writer);
    plan.number = live->full.log;
    plan.end = plan.first + live->full.documents.count;
    nigh__writer_spend(live->writer, plan.number);
    status = nigh__log_each(nigh__writer_directory(live->writer), &plan, add_document, live, &told, error);
    if (status == NIGH_OK) status = nigh_writer_commit(live->writer, commit, error);
    if (status == NIGH_OK) status = take_over(live, true, error);
    if (status == NIGH_OK) nigh__log_remove(nigh__writer_directory(live->writer), plan.number);
    return status;
}

/* ------------------------------------------------------------------- upkeep -- */

/* What would be made by nigh index unasked. */
static nigh_status make_tables(nigh_live *live, nigh_error *error) {
    nigh_tables_options options;
    if (!nigh__live_rows_want(live, live->collection)) return NIGH_OK;
    nigh_tables_options_init(&options);
    options.min_rows = NIGH__LIVE_TABLE_ROWS;
    options.keep = 1;
    options.threads = 1; /* the others are for those who ask */
    options.progress = &live->stopping;
    const nigh_status status =
        nigh__tables_build_in(live->context, nigh__writer_directory(live->writer), &options, error);
    return status == NIGH_OK ? take_over(live, false, error) : status;
}

/* What was added is safe whatever becomes of this. */
static nigh_status keep_up(nigh_live *live, nigh_commit *told, uint64_t *merged, nigh_error *error) {
    nigh_status status = make_tables(live, error);
    for (unsigned i = 0; i < MOST_MERGES && status == NIGH_OK; i++) {
        nigh_merge_result result = {.size = sizeof result};
        status = nigh__merge_beside_log(live->context, nigh__writer_directory(live->writer), &live->stopping, &result,
                                        error);
        nigh__commit_merged(told, status, &result);
        *merged += status == NIGH_OK ? result.parts : 0;
        if (status != NIGH_OK || result.parts == 0) break;
        status = take_over(live, false, error);
        if (status == NIGH_OK) status = make_tables(live, error);
    }
    return status;
}

/* ------------------------------------------------------------------ working -- */

static bool has_work(const nigh_live *live) {
    return (live->full.documents.count > 0 || live->upkeep) && live->failure.status == NIGH_OK &&
           !atomic_load_explicit(&live->closing, memory_order_relaxed);
}

/* Under the lock, which is free while it works. */
static void work(nigh_live *live) {
    nigh_error problem = {.status = NIGH_OK};
    nigh_commit told = {.size = sizeof told};
    uint64_t merged = 0;
    const bool make = live->full.documents.count > 0;
    live->working = true;
    live->upkeep = false;
    pthread_mutex_unlock(&live->lock);
    const nigh_status made = make ? make_segment(live, &told, &problem) : NIGH_OK;
    const nigh_status kept = made == NIGH_OK ? keep_up(live, &told, &merged, NULL) : NIGH_OK;
    pthread_mutex_lock(&live->lock);
    live->working = false;
    live->told = told;
    live->info.segments += make && made == NIGH_OK;
    live->info.merged += merged;
    if (kept != NIGH_ECANCELLED) live->info.merge_status = kept;
    if (made != NIGH_OK && made != NIGH_ECANCELLED) (void)nigh__live_fail(live, made, &problem, NULL);
    pthread_cond_broadcast(&live->changed);
}

static void *maker_main(void *user) {
    nigh_live *live = user;
    pthread_mutex_lock(&live->lock);
    while (!atomic_load_explicit(&live->closing, memory_order_relaxed)) {
        if (has_work(live) && !live->working)
            work(live);
        else
            pthread_cond_wait(&live->work, &live->lock);
    }
    pthread_mutex_unlock(&live->lock);
    return NULL;
}

/* Signals are for the threads of the caller, but for those that a fault of its own raises. */
static bool begin_maker(nigh_live *live) {
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS);
    (void)sigdelset(&all, SIGSEGV);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    live->has_maker = pthread_create(&live->maker, NULL, maker_main, live) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return live->has_maker;
}

void nigh__live_wake(nigh_live *live) {
    if (live->options.background && (live->has_maker || begin_maker(live))) {
        pthread_cond_signal(&live->work);
        return;
    }
    while (has_work(live)) { /* another thread may be at it */
        if (live->working)
            pthread_cond_wait(&live->changed, &live->lock);
        else
            work(live);
    }
}

void nigh__live_rest(nigh_live *live) {
    pthread_mutex_lock(&live->lock);
    atomic_store_explicit(&live->closing, true, memory_order_relaxed);
    pthread_cond_broadcast(&live->work);
    pthread_mutex_unlock(&live->lock);
    if (live->has_maker) (void)pthread_join(live->maker, NULL);
    live->has_maker = false;
}
