/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handle that answers and adds.  A call goes through four steps:
 *
 *     make      its documents are checked and signed                       under the lock
 *     take      each is held against all before it, and added or not       under the lock
 *     wait      until the disk has what was added, and what was named      one waits for the disk
 *     fold      a log that is large becomes a segment                      under the lock
 *
 * Whoever comes to the third step first writes for all that have come so far, without the lock,
 * so that the next can be answered meanwhile; they wait for the next write.  That is group commit:
 * with many threads a sync serves many calls, with one thread a call is a group.
 *
 * An answer that names a document which is not safe yet waits for it too: who is told "it is there"
 * throws the page away.
 */
#include "nigh/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/status.h"
#include "live/live_options.h"
#include "live/live_parts.h"

#define USUAL_THRESHOLD 0.8

/* ---------------------------------------------------------------- failing -- */

static nigh_status usable(const nigh_live *live, nigh_error *error) {
    if (live->failure.status == NIGH_OK) return NIGH_OK;
    if (error != NULL) *error = live->failure;
    return live->failure.status;
}

/* From here on nothing more is taken: memory and disk may say different things. */
static nigh_status fail(nigh_live *live, nigh_status status, const nigh_error *problem, nigh_error *error) {
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
        if (status != NIGH_OK) (void)fail(live, status, &problem, NULL);
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
    return status == NIGH_OK ? NIGH_OK : fail(live, status, &problem, error);
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
    if (status != NIGH_OK) return fail(live, status, &problem, error);
    live->info.taken += count;
    pthread_cond_broadcast(&live->changed);
    return NIGH_OK;
}

/* A log that is large, unless somebody is writing to it: then the next call will. */
static nigh_status fold_large(nigh_live *live, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    if (live->log == NULL || live->syncing || nigh__log_bytes(live->log) < live->options.log_bytes) return NIGH_OK;
    const nigh_status status = nigh__live_fold(live, NULL, &problem);
    pthread_cond_broadcast(&live->changed);
    return status == NIGH_OK ? NIGH_OK : fail(live, status, &problem, error);
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
    if (status == NIGH_OK && add) status = fold_large(live, error);
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

nigh_status nigh_live_commit(nigh_live *live, nigh_commit *commit, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    pthread_mutex_lock(&live->lock);
    while (live->syncing) pthread_cond_wait(&live->changed, &live->lock);
    nigh_status status = usable(live, error);
    if (status == NIGH_OK) {
        status = nigh__live_fold(live, commit, &problem);
        pthread_cond_broadcast(&live->changed);
        if (status != NIGH_OK) status = fail(live, status, &problem, error);
    }
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
    const nigh_collection *collection = nigh__writer_collection(live->writer);
    if (number >= nigh__live_documents(live))
        return nigh__fail(error, NIGH_EINVAL, "there is no document %" PRIu64, number);
    if (!live->has_ids) {
        *length = show_number(number, id, capacity);
        return NIGH_OK;
    }
    if (number >= collection->documents) {
        const nigh_document document = nigh__incoming_document(&live->tail, (size_t)(number - collection->documents));
        *length = document.id_length;
        memcpy(id, document.id, nigh__smaller(document.id_length, capacity));
        return NIGH_OK;
    }
    const struct nigh__segment *segment = NULL;
    uint32_t within = 0;
    nigh_status status = nigh__collection_locate(collection, number, &segment, &within, error);
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
    info.in_log = live->tail.count;
    info.documents = live->failure.status == NIGH_OK ? nigh__live_documents(live) : 0;
    info.log_bytes = live->log == NULL ? 0 : nigh__log_bytes(live->log);
    pthread_mutex_unlock(&live->lock);
    nigh__info_copy(out, &info, sizeof info);
}

const char *nigh_live_scheme(const nigh_live *live) { return live->scheme; }

/* ----------------------------------------------------------------- opening -- */

/* The signer of a collection that is to be made; none: it is of signatures. */
static nigh_status plan_new(nigh_live *live, nigh_error *error) {
    nigh_signer_options options;
    if (live->options.width_bits != 0) {
        live->info.width_bits = live->options.width_bits;
        return NIGH_OK;
    }
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_MINHASH;
    if (live->options.signer == NULL) options.threshold = USUAL_THRESHOLD;
    return nigh_signer_new(live->context, live->options.signer == NULL ? &options : live->options.signer, &live->signer,
                           error);
}

/* How documents of the collection are signed, if they are. */
static nigh_status look(nigh_live *live, nigh_error *error) {
    nigh_collection *collection = NULL;
    nigh_error problem = {.status = NIGH_OK};
    nigh_status status = nigh_collection_open(live->context, live->path, NULL, &collection, &problem);
    if (status == NIGH_ENOTFOUND && live->options.create) return plan_new(live, error);
    if (status == NIGH_OK) {
        live->info.width_bits = collection->width_bits;
        status = nigh_collection_signer(collection, &live->signer, &problem);
        if (status == NIGH_ENOTFOUND) status = NIGH_OK;
    }
    nigh_collection_close(collection);
    if (status != NIGH_OK && error != NULL) *error = problem;
    return status;
}

static nigh_status set_up_signing(nigh_live *live, nigh_error *error) {
    if (live->signer == NULL) return NIGH_OK;
    const struct nigh__signer_plan *plan = nigh__signer_plan(live->signer);
    if (plan->split != NIGH_SPLIT_NONE)
        return nigh__fail_at(error, NIGH_EINVAL, live->path, NIGH_NO_OFFSET,
                             "holds passages of documents, and these are found or added whole");
    live->info.texts = 1;
    live->info.width_bits = plan->width_bits;
    live->info.threshold = plan->threshold / 1000.0;
    return nigh__signer_worker_new(plan, &live->worker, error);
}

static nigh_status set_radius(nigh_live *live, nigh_error *error) {
    const uint32_t given = live->options.radius;
    live->info.radius = NIGH_ALL;
    if (live->info.threshold > 0) return NIGH_OK;
    if (given != NIGH__UNSET)
        live->info.radius = given > live->info.width_bits ? live->info.width_bits : given;
    else if (live->signer != NULL)
        live->info.radius = nigh_default_radius(nigh__signer_plan(live->signer)->scheme, live->info.width_bits);
    if (live->info.radius != NIGH_ALL) return NIGH_OK;
    return nigh__because(error, NIGH_REASON_NEEDS_RADIUS,
                         nigh__fail_at(error, NIGH_EINVAL, live->path, NIGH_NO_OFFSET,
                                       "holds signatures of which nobody says how near the same ones are"));
}

static nigh_status open_writer(nigh_live *live, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = live->info.width_bits;
    if (live->signer != NULL) {
        const struct nigh__signer_plan *plan = nigh__signer_plan(live->signer);
        options.scheme = nigh_signer_scheme(live->signer);
        options.vocabulary = nigh_vocabulary_attachment(plan->vocabulary);
        options.model = nigh_model_attachment(plan->model);
    }
    nigh_status status = nigh__writer_open(live->context, live->path, &options, true, &live->writer, error);
    if (status != NIGH_OK || nigh__writer_collection(live->writer) != NULL) return status;
    /* A log goes with a state, so there must be one. */
    status = nigh_writer_commit(live->writer, NULL, error);
    return status == NIGH_OK ? nigh__writer_renew(live->writer, error) : status;
}

/*
 * What is deleted must not be found, and its number not pass to another while the live is open: so what is deleted is
 * dropped first.  From then on nobody else can delete, and merges after a commit change no number.
 */
static nigh_status drop_deleted(nigh_live *live, nigh_error *error) {
    if (nigh__writer_collection(live->writer)->deleted == 0) return NIGH_OK;
    nigh_writer_close(live->writer);
    live->writer = NULL;
    nigh_status status = nigh_merge(live->context, live->path, NULL, NULL, error);
    if (status == NIGH_OK) status = open_writer(live, error);
    if (status != NIGH_OK || nigh__writer_collection(live->writer)->deleted == 0) return status;
    return nigh__fail_at(error, NIGH_EBUSY, live->path, NIGH_NO_OFFSET, "another process deletes meanwhile");
}

static nigh_status load(nigh_live *live, nigh_error *error) {
    const nigh_collection *collection = nigh__writer_collection(live->writer);
    nigh__incoming_init(live->context, live->info.width_bits, &live->tail);
    live->ids_known = collection->documents > 0;
    live->has_ids = live->ids_known && nigh__collection_has_ids(collection);
    live->scheme = nigh__string_copy(live->context, nigh_collection_scheme(collection));
    live->marked_id = nigh__alloc(live->context, NIGH_MAX_ID_LENGTH, 1);
    if (live->scheme == NULL || live->marked_id == NULL) return nigh__no_memory(error, "for a collection");
    return live->info.threshold > 0 ? nigh__live_copies_load(live, error) : nigh__live_rows_load(live, error);
}

static nigh_status open_all(nigh_live *live, const char *path, const nigh_live_options *options, nigh_error *error) {
    nigh_status status = nigh__options_copy(&nigh__live_options_shape, &live->options, options, error);
    if (status == NIGH_OK && (unsigned)live->options.sync > NIGH_SYNC_NEVER)
        status = nigh__fail(error, NIGH_EINVAL, "%d is no way to sync", (int)live->options.sync);
    if (status != NIGH_OK) return status;
    live->path = nigh__string_copy(live->context, path);
    if (live->path == NULL) return nigh__no_memory(error, "for a path");
    status = look(live, error);
    if (status == NIGH_OK) status = set_up_signing(live, error);
    if (status == NIGH_OK) status = set_radius(live, error);
    if (status == NIGH_OK) status = open_writer(live, error);
    if (status == NIGH_OK) status = nigh__live_recover(live, error);
    if (status == NIGH_OK) status = drop_deleted(live, error);
    live->options.signer = NULL; /* the caller's */
    return status == NIGH_OK ? load(live, error) : status;
}

nigh_status nigh_live_open(nigh_context *context, const char *path, const nigh_live_options *options, nigh_live **out,
                           nigh_error *error) {
    *out = NULL;
    nigh_live *live = nigh__alloc_zero(context, 1, sizeof *live);
    if (live == NULL) return nigh__no_memory(error, "for a collection");
    live->context = context;
    live->info.size = sizeof live->info;
    live->signatures = (struct nigh__array)NIGH__ARRAY(uint8_t);
    live->snippets = (struct nigh__array)NIGH__ARRAY(char);
    live->made = (struct nigh__array)NIGH__ARRAY(struct nigh__live_made);
    nigh__incoming_init(context, 1, &live->tail);
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->changed, NULL);
    const nigh_status status = open_all(live, path, options, error);
    if (status == NIGH_OK)
        *out = live;
    else
        nigh_live_close(live);
    return status;
}

void nigh_live_close(nigh_live *live) {
    if (live == NULL) return;
    nigh_context *context = live->context;
    nigh__live_copies_free(live, live->copies);
    nigh_growing_finder_free(live->rows);
    nigh__log_close(live->log);
    nigh_writer_close(live->writer);
    nigh__incoming_release(&live->tail);
    nigh__signer_worker_free(live->worker);
    nigh_signer_free(live->signer);
    nigh__array_release(context, &live->signatures);
    nigh__array_release(context, &live->snippets);
    nigh__array_release(context, &live->made);
    nigh__free(context, live->marked_id);
    nigh__free(context, live->scheme);
    nigh__free(context, live->path);
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->lock);
    nigh__free(context, live);
}
