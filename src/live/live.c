/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handle that answers and adds.  A call goes through four steps:
 *
 *     make      its documents are checked and signed                       under the lock
 *     take      each is held against all before it, and added or not       under the lock
 *     wait      until the disk has what was added, and what was named      one waits for the disk
 *     fill      a log that is large is left to who makes segments          under the lock
 *
 * The first thread to reach the third step writes for all that have come so far, without the lock.
 * Others can be answered meanwhile, and wait for the next write. That is group commit: with many
 * threads a sync serves many calls, with one thread a call is a group.
 *
 * An answer that names a document which is not safe yet waits for it too, because a caller that is
 * told "it is there" throws its page away.
 */
#include "nigh/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "live/live_parts.h"

#define MOST_TIMES 8u /* the size of a log, before who adds waits for segments */

/* ---------------------------------------------------------------- failing -- */

static nigh_status usable(const nigh_live *live, nigh_error *error) {
    if (live->failure.status == NIGH_OK) return NIGH_OK;
    if (error != NULL) *error = live->failure;
    return live->failure.status;
}

nigh_status nigh__live_fail(nigh_live *live, nigh_status status, const nigh_error *problem, nigh_error *error) {
    if (live->failure.status == NIGH_OK) live->failure = *problem;
    live->failure.status = live->failure.status == NIGH_OK ? status : live->failure.status;
    pthread_cond_broadcast(&live->changed);
    if (error != NULL) *error = *problem;
    return status;
}

/* ------------------------------------------------------------ group commit -- */

static void wait_for_more(nigh_live *live) {
    const uint64_t wanted = live->options.group_size;
    struct timespec until;
    if (live->options.group_us == 0 || timespec_get(&until, TIME_UTC) != TIME_UTC) return;
    const uint64_t nanoseconds = (uint64_t)until.tv_nsec + (uint64_t)live->options.group_us * 1000;
    until.tv_sec += (time_t)(nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);
    while (live->log->next - live->log->writing_end < wanted)
        if (pthread_cond_timedwait(&live->changed, &live->lock, &until) != 0) return;
}

/* Writes all that there is, for all who wait. */
static void write_group(nigh_live *live) {
    struct nigh__log *log = live->log;
    nigh_error problem = {.status = NIGH_OK};
    live->syncing = true;
    wait_for_more(live);
    if (nigh__log_begin(log)) {
        pthread_mutex_unlock(&live->lock);
        const nigh_status status = nigh__log_write(log, true, &problem);
        pthread_mutex_lock(&live->lock);
        nigh__log_end(log, status, true);
        live->info.syncs++;
        if (status != NIGH_OK) (void)nigh__live_fail(live, status, &problem, NULL);
    }
    live->syncing = false;
    pthread_cond_broadcast(&live->changed);
}

/* Until all documents before `end` are on the disk. */
static nigh_status wait_for(nigh_live *live, uint64_t end, nigh_error *error) {
    while (live->failure.status == NIGH_OK && live->log != NULL && live->log->synced < end) {
        if (live->syncing)
            pthread_cond_wait(&live->changed, &live->lock);
        else
            write_group(live);
    }
    return usable(live, error);
}

/* Past all documents that the answers name. */
static uint64_t end_of(const nigh_live_answer *answers, size_t count) {
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (answers[i].match != NIGH_ALL_64 && answers[i].match >= end) end = answers[i].match + 1;
        if (answers[i].number != NIGH_ALL_64 && answers[i].number >= end) end = answers[i].number + 1;
    }
    return end;
}

static nigh_status make_safe(nigh_live *live, const nigh_live_answer *answers, size_t count, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    if (live->options.sync != NIGH_SYNC_NEVER) return wait_for(live, end_of(answers, count), error);
    const nigh_status status = live->log == NULL ? NIGH_OK : nigh__log_flush(live->log, false, &problem);
    return status == NIGH_OK ? NIGH_OK : nigh__live_fail(live, status, &problem, error);
}

/* ------------------------------------------------------------------- calls -- */

static void clear_answers(nigh_live_answer *answers, size_t count) {
    for (size_t i = 0; i < count; i++)
        answers[i] = (nigh_live_answer){.match = NIGH_ALL_64, .number = NIGH_ALL_64, .cluster = NIGH_ALL_64};
}

/* One group of the documents made. */
static nigh_status take_group(nigh_live *live, size_t first, size_t count, bool add, nigh_live_answer *answers,
                              nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    const nigh_status status = live->copies != NULL ? nigh__live_copies_take(live, first, count, add, answers, &problem)
                                                    : nigh__live_rows_take(live, first, count, add, answers, &problem);
    if (status != NIGH_OK) return nigh__live_fail(live, status, &problem, error);
    live->info.taken += count;
    pthread_cond_broadcast(&live->changed);
    return NIGH_OK;
}

/*
 * A log that is large, unless somebody is writing to it: then the next call will.  Where segments are not made as fast
 * as documents come, the log grows beyond its size for a while, and then those who add wait.
 */
static nigh_status fill_large(nigh_live *live, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    const uint64_t bytes = live->log == NULL ? 0 : nigh__log_bytes(live->log);
    if (bytes < live->options.log_bytes || live->log == NULL || live->syncing) return NIGH_OK;
    while (live->full.documents.count > 0 && live->failure.status == NIGH_OK) {
        if (bytes / MOST_TIMES < live->options.log_bytes) return NIGH_OK;
        pthread_cond_wait(&live->changed, &live->lock);
    }
    if (live->failure.status != NIGH_OK || live->log == NULL || live->syncing) return usable(live, error);
    const nigh_status status = nigh__live_fill(live, &problem);
    if (status == NIGH_OK) nigh__live_wake(live);
    pthread_cond_broadcast(&live->changed);
    return status == NIGH_OK ? usable(live, error) : nigh__live_fail(live, status, &problem, error);
}

/*
 * While one waits for the disk another call may use the room of this one: so a call of several groups, of which each is
 * synced by itself, has its documents made anew for each.
 */
static nigh_status take_all(nigh_live *live, const nigh_document *documents, size_t count, bool add,
                            nigh_live_answer *answers, nigh_error *error) {
    const bool each = add && live->options.sync == NIGH_SYNC_EACH;
    nigh_status status = nigh__live_make(live, documents, count, error);
    for (size_t at = 0; at < count && status == NIGH_OK; at += each ? 1 : count) {
        const uint8_t *from = (const uint8_t *)documents + at * documents->size;
        if (at > 0) status = nigh__live_make(live, (const nigh_document *)(const void *)from, 1, error);
        const size_t group = each ? 1 : count;
        if (status == NIGH_OK) status = take_group(live, 0, group, add, answers + at, error);
        if (status == NIGH_OK) status = make_safe(live, answers + at, group, error);
    }
    if (status == NIGH_OK && add) status = fill_large(live, error);
    return status;
}

static nigh_status call(nigh_live *live, const nigh_document *documents, size_t count, bool add,
                        nigh_live_answer *answers, nigh_error *error) {
    clear_answers(answers, count);
    if (count == 0) return NIGH_OK;
    pthread_mutex_lock(&live->lock);
    nigh_status status = usable(live, error);
    if (status == NIGH_OK) status = take_all(live, documents, count, add, answers, error);
    if (status != NIGH_OK) clear_answers(answers, count);
    pthread_mutex_unlock(&live->lock);
    return status;
}

nigh_status nigh_live_find_or_add(nigh_live *live, const nigh_document *documents, size_t count,
                                  nigh_live_answer *answers, nigh_error *error) {
    return call(live, documents, count, true, answers, error);
}

nigh_status nigh_live_find(nigh_live *live, const nigh_document *documents, size_t count, nigh_live_answer *answers,
                           nigh_error *error) {
    return call(live, documents, count, false, answers, error);
}

/* Where nothing was added the state is as it was. */
static void tell_commit(const nigh_live *live, bool made, nigh_commit *commit) {
    const nigh_collection *collection = live->collection;
    nigh_commit told = {.size = sizeof told,
                        .first_document = collection->documents,
                        .documents = collection->documents,
                        .sequence = collection->sequence,
                        .width_bits = collection->width_bits,
                        .deleted_now = collection->deleted};
    for (uint32_t i = 0; i < collection->segment_count; i++)
        told.bytes += collection->segments[i]->length + collection->segments[i]->deletions.file_length;
    if (commit != NULL) nigh__info_copy(commit, made ? &live->told : &told, sizeof told);
}

/* Until nobody waits for the disk, and no log is full. */
static void wait_for_maker(nigh_live *live) {
    while ((live->syncing || live->working || live->full.documents.count > 0) && live->failure.status == NIGH_OK)
        pthread_cond_wait(&live->changed, &live->lock);
}

nigh_status nigh_live_commit(nigh_live *live, nigh_commit *commit, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    pthread_mutex_lock(&live->lock);
    wait_for_maker(live);
    nigh_status status = usable(live, error);
    const bool made = status == NIGH_OK && live->log != NULL;
    if (made) {
        status = nigh__live_fill(live, &problem);
        if (status != NIGH_OK) status = nigh__live_fail(live, status, &problem, error);
        if (status == NIGH_OK) nigh__live_wake(live);
        if (status == NIGH_OK) wait_for_maker(live);
        if (status == NIGH_OK) status = usable(live, error);
    }
    if (status == NIGH_OK) tell_commit(live, made, commit);
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->lock);
    return status;
}

/* ----------------------------------------------------------------- telling -- */

/* As of a collection without ids. */
static size_t show_number(uint64_t number, char *id, size_t capacity) {
    char text[24];
    const int length = snprintf(text, sizeof text, "%" PRIu64, number);
    memcpy(id, text, nigh__smaller((size_t)length, capacity));
    return (size_t)length;
}

static nigh_status find_id(const nigh_live *live, uint64_t number, char *id, size_t capacity, size_t *length,
                           nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    size_t place = 0;
    if (number >= nigh__live_documents(live))
        return nigh__fail(error, NIGH_EINVAL, "there is no document %" PRIu64, number);
    if (!live->has_ids) {
        *length = show_number(number, id, capacity);
        return NIGH_OK;
    }
    const struct nigh__live_tail *tail = nigh__live_tail_of(live, number, &place);
    if (tail != NULL) {
        const nigh_document document = nigh__incoming_document(&tail->documents, place);
        *length = document.id_length;
        memcpy(id, document.id, nigh__smaller(document.id_length, capacity));
        return NIGH_OK;
    }
    nigh_status status = nigh__collection_locate(live->collection, number, &segment, &within, error);
    return status == NIGH_OK ? nigh__segment_id(segment, within, id, capacity, length, error) : status;
}

nigh_status nigh_live_id(nigh_live *live, uint64_t number, char *id, size_t capacity, size_t *length,
                         nigh_error *error) {
    *length = 0;
    pthread_mutex_lock(&live->lock);
    nigh_status status = usable(live, error);
    if (status == NIGH_OK) status = find_id(live, number, id, capacity, length, error);
    pthread_mutex_unlock(&live->lock);
    return status;
}

void nigh_live_describe(nigh_live *live, nigh_live_info *out) {
    pthread_mutex_lock(&live->lock);
    nigh_live_info info = live->info;
    info.in_log = live->full.documents.count + live->tail.documents.count;
    info.documents = live->failure.status == NIGH_OK ? nigh__live_documents(live) : 0;
    info.log_bytes = live->log == NULL ? 0 : nigh__log_bytes(live->log);
    nigh__live_rows_describe(live, &info);
    pthread_mutex_unlock(&live->lock);
    nigh__info_copy(out, &info, sizeof info);
}

const char *nigh_live_scheme(const nigh_live *live) { return live->scheme; }
