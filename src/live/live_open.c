/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing a live: how documents are signed, the writer that holds the lock, and logs that were left
 * behind.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/keep_keys.h"
#include "base/secret.h"
#include "base/status.h"
#include "live/live_options.h"
#include "live/live_parts.h"

#define USUAL_THRESHOLD 0.8

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
        if (status == NIGH_OK)
            status = nigh__keep_keys_fit(live->context, live->path, nigh_collection_scheme(collection),
                                         live->options.keep_keys, live->options.keep_key_count, &problem);
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
                             "holds passages, and find-or-add takes whole documents");
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
                                       "holds signatures of your own, which have no default radius"));
}

static nigh_status open_writer(nigh_live *live, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = live->info.width_bits;
    options.merge = 0; /* when there is time for it */
    options.progress = &live->stopping;
    options.keep_keys = live->options.keep_keys;
    options.keep_key_count = live->options.keep_key_count;
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

/* A log gets the number that readers expect, unless merges may take some before it is full. */
static void begin_tail(nigh_live *live) {
    const uint64_t number = live->collection->next_segment;
    nigh__live_tail_init(live, live->collection->documents, &live->full);
    nigh__live_tail_init(live, live->collection->documents, &live->tail);
    live->tail.log = live->upkeep ? nigh__live_next_log(live, number) : number;
}

static nigh_status load(nigh_live *live, nigh_error *error) {
    const nigh_status status =
        nigh__collection_open_in(live->context, nigh__writer_directory(live->writer), &live->collection, error);
    if (status != NIGH_OK) return status;
    begin_tail(live);
    live->log_plan = nigh__writer_log_plan(live->writer);
    live->keep_keys = nigh__writer_keep_keys(live->writer);
    live->secret = nigh__secret();
    live->ids_known = live->collection->documents > 0;
    live->has_ids = live->ids_known && nigh__collection_has_ids(live->collection);
    live->scheme = nigh__string_copy(live->context, nigh_collection_scheme(live->collection));
    live->marked_id = nigh__alloc(live->context, NIGH_MAX_ID_LENGTH, 1);
    if (live->scheme == NULL || live->marked_id == NULL) return nigh__no_memory(error, "for a collection");
    return live->info.threshold > 0 ? nigh__live_copies_load(live, error) : nigh__live_rows_load(live, error);
}

/* What was taken up may be one segment too many. */
static nigh_status begin_upkeep(nigh_live *live, nigh_error *error) {
    if (!live->upkeep) return NIGH_OK;
    pthread_mutex_lock(&live->lock);
    nigh__live_wake(live);
    const nigh_status status = live->failure.status;
    if (status != NIGH_OK && error != NULL) *error = live->failure;
    pthread_mutex_unlock(&live->lock);
    return status;
}

static int stop_closing(void *user, const char *stage, uint64_t done, uint64_t total) {
    nigh_live *live = user;
    (void)stage;
    (void)done;
    (void)total;
    return atomic_load_explicit(&live->closing, memory_order_relaxed);
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
    live->options.signer = NULL;    /* the caller's, */
    live->options.keep_keys = NULL; /* and so are these */
    if (status == NIGH_OK) status = load(live, error);
    return status == NIGH_OK ? begin_upkeep(live, error) : status;
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
    live->rows.parts = nigh__live_rows_none();
    live->rows.words = (struct nigh__array)NIGH__ARRAY(uint64_t);
    live->rows.bytes = (struct nigh__array)NIGH__ARRAY(uint8_t);
    live->rows.found = (struct nigh__array)NIGH__ARRAY(nigh_match);
    live->rows.left = (struct nigh__array)NIGH__ARRAY(uint32_t);
    live->stopping = (nigh_progress){.report = stop_closing, .user = live};
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->changed, NULL);
    pthread_cond_init(&live->work, NULL);
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
    nigh__live_rest(live);
    nigh__live_copies_free(live, live->copies);
    nigh__live_rows_release(live);
    nigh__log_close(live->log);
    nigh_writer_close(live->writer);
    nigh_collection_close(live->collection);
    if (live->collection != NULL) nigh__live_tail_release(live, &live->full);
    if (live->collection != NULL) nigh__live_tail_release(live, &live->tail);
    nigh__signer_worker_free(live->worker);
    nigh_signer_free(live->signer);
    nigh__array_release(context, &live->signatures);
    nigh__array_release(context, &live->snippets);
    nigh__array_release(context, &live->made);
    nigh__free(context, live->marked_id);
    nigh__free(context, live->scheme);
    nigh__free(context, live->path);
    pthread_cond_destroy(&live->work);
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->lock);
    nigh__free(context, live);
}
