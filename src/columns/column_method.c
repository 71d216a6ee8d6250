/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What a search of columns takes and refuses, when it is chosen, and a batch of queries by it. */
#include "columns/column_method.h"

#include <string.h>

#include "base/context.h"
#include "base/guard.h"
#include "base/options.h"
#include "base/status.h"
#include "columns/column_scan.h"
#include "kernel/weighted.h"
#include "scan/cost_model.h"

#define MAX_SLACK 1000u /* standard deviations: far beyond what leaves anything out */

struct column_segment {
    struct nigh__prepared base;
    struct nigh__columns columns;
};

static const struct nigh__search_option options_taken[] = {
    NIGH__SEARCH_OPTION(slack),
};

/* -------------------------------------------------------------------- the options */

static bool asked_for(const nigh_search_options *options) { return options->method == NIGH_SEARCH_COLUMNS; }

/* The columns of a segment that can be used, or the failure of those that are asked for. */
static nigh_status find_columns(const struct nigh__segment *segment, const nigh_search_options *options,
                                struct nigh__columns *out, bool *any, nigh_error *error) {
    *any = false;
    if (segment->sidecars[NIGH__SIDECAR_COLUMNS] == NULL)
        return asked_for(options) ? nigh__sidecar_problem(segment, NIGH__SIDECAR_COLUMNS, error) : NIGH_OK;
    const nigh_status status = nigh__columns_of_segment(segment, out, asked_for(options) ? error : NULL);
    *any = status == NIGH_OK && out->layout.rows > 0;
    return asked_for(options) ? status : NIGH_OK;
}

static nigh_status check(const nigh_collection *collection, const nigh_search_options *options, nigh_error *error) {
    nigh_status status = NIGH_OK;
    bool found = !asked_for(options) || collection->documents == 0; /* there can be no columns of nothing */
    if (!(options->slack >= 0 && options->slack <= MAX_SLACK) && options->slack != NIGH_DEFAULT)
        return nigh__fail(error, NIGH_EINVAL, "slack must be from 0 to %u", MAX_SLACK);
    if (options->slack >= 0 && (options->stop != NIGH_STOP_BREADTH || options->k == NIGH_ALL))
        return nigh__fail(error, NIGH_EINVAL,
                          "with slack nothing is certain: it cannot give certain answers, or all within a radius");
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK && !found; s++) {
        struct nigh__columns columns;
        status = find_columns(collection->segments[s], options, &columns, &found, error);
    }
    if (status != NIGH_OK || found) return status;
    return nigh__because(error, NIGH_REASON_NO_COLUMNS,
                         nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "has no columns"));
}

static bool fits(const nigh_collection *collection, const nigh_tuning *tuning, const nigh_search_options *options) {
    (void)options;
    return tuning->method != NIGH_SEARCH_COLUMNS || nigh__sidecars_sound(collection, NIGH__SIDECAR_COLUMNS);
}

/* ---------------------------------------------------------------------- a segment */

/* Where every bit counts the same, rows are read as fast as columns are: only where they are asked for. */
static nigh_status prepare(const struct nigh__prepared *base, struct nigh__prepared **out, nigh_error *error) {
    struct nigh__columns columns;
    bool any;
    *out = NULL;
    if (nigh__ranks_plainly(base->options) && !asked_for(base->options)) return NIGH_OK;
    const nigh_status status = find_columns(base->segment, base->options, &columns, &any, error);
    if (status != NIGH_OK || !any) return status;
    struct column_segment *turned = nigh__prepared_new(base, sizeof *turned, error);
    if (turned == NULL) return NIGH_ENOMEM;
    turned->base.bound = asked_for(base->options);
    turned->columns = columns;
    *out = &turned->base;
    return NIGH_OK;
}

static double estimate(struct nigh__prepared *prepared, uint32_t query, uint32_t limit) {
    const struct column_segment *turned = (const struct column_segment *)prepared;
    (void)query;
    (void)limit;
    return nigh__columns_cost(turned->columns.layout.supers * NIGH__SUPER_ROWS);
}

/* ------------------------------------------------------------------------- a batch */

struct batch_plans {
    struct nigh__column_plan plans[NIGH__BATCH_QUERIES];
    uint32_t limits[NIGH__BATCH_QUERIES];
    struct nigh__column_answer found[NIGH__BATCH_QUERIES];
};

static const uint64_t *planes_of(const struct nigh__segment *segment, const struct nigh__query_batch *batch,
                                 uint32_t query) {
    if (batch->planes.count == 0) return NULL;
    return batch->planes.words + (size_t)query * batch->planes.count * segment->words;
}

static bool plan_batch(struct batch_plans *plans, const struct nigh__segment *segment,
                       const struct nigh__query_batch *batch) {
    bool whole = true;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t query = batch->chosen[i];
        plans->limits[i] = batch->limits[query];
        plans->found[i].keys = batch->answers[query].keys;
        whole = nigh__column_plan_init(&plans->plans[i], segment->context, segment->width_bits,
                                       batch->queries + (size_t)query * segment->words,
                                       planes_of(segment, batch, query), batch->planes.count) &&
                whole;
    }
    return whole;
}

static uint32_t row_distance(const struct nigh__segment *segment, const struct nigh__query_batch *batch, uint32_t query,
                             uint32_t row) {
    const struct nigh__hamming *hamming = segment->context->hamming;
    const uint64_t *words = batch->queries + (size_t)query * segment->words;
    const uint64_t *at = segment->rows + (size_t)row * segment->words;
    const struct nigh__planes planes = {.words = planes_of(segment, batch, query), .count = batch->planes.count};
    const uint32_t limit = UINT32_MAX;
    struct nigh__hit hit[2]; /* a kernel may write one more */
    if (planes.count == 0)
        (void)hamming->batch(words, 1, at, 1, segment->words, &limit, hit);
    else
        (void)nigh__weighted_choose(hamming->name)->batch(words, &planes, 1, at, 1, segment->words, &limit, hit);
    return hit[0].distance;
}

struct verification {
    const struct nigh__segment *segment;
    const struct nigh__query_batch *batch;
    const struct nigh__answer *answer;
    uint32_t query;
};

/* Columns that say otherwise than the rows are not trusted.  Inside guards. */
static nigh_status verify_answer(void *user, nigh_error *error) {
    const struct verification *verification = user;
    const uint64_t *keys = verification->answer->keys.data;
    for (size_t i = 0; i < verification->answer->keys.count; i++) {
        const uint32_t row = nigh__key_number(keys[i]);
        if (row_distance(verification->segment, verification->batch, verification->query, row) ==
            nigh__key_distance(keys[i]))
            continue;
        return nigh__sidecar_corrupt(verification->segment->sidecars[NIGH__SIDECAR_COLUMNS], NIGH__SECTION_COLUMNS,
                                     row / NIGH__SUPER_ROWS,
                                     nigh__columns_layout_of(1, verification->segment->width_bits).super_bytes,
                                     "a column does not match the signatures", error);
    }
    return NIGH_OK;
}

static nigh_status take_answers(const struct nigh__prepared *prepared, const struct nigh__query_batch *batch,
                                const struct batch_plans *plans, nigh_error *error) {
    const struct nigh__segment *segment = prepared->segment;
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < batch->count && status == NIGH_OK; i++) {
        struct nigh__answer *answer = &batch->answers[batch->chosen[i]];
        struct verification verification = {segment, batch, answer, batch->chosen[i]};
        answer->distances = plans->found[i].counted;
        if (prepared->options->slack >= 0) {
            answer->below = 0;
            answer->breadth = 0;
        }
        status = nigh__sidecar_guarded(segment, segment->sidecars[NIGH__SIDECAR_COLUMNS], verify_answer, &verification,
                                       error);
    }
    return status;
}

static nigh_status scan_columns(const struct nigh__prepared *prepared, const struct nigh__query_batch *batch,
                                struct batch_plans *plans, nigh_error *error) {
    const struct column_segment *turned = (const struct column_segment *)prepared;
    const struct nigh__segment *segment = prepared->segment;
    if (!plan_batch(plans, segment, batch)) return nigh__no_memory(error, "to search columns");
    const struct nigh__column_scan scan = {
        .context = segment->context,
        .columns = &turned->columns,
        .plans = plans->plans,
        .query_count = batch->count,
        .allowed = nigh__prepared_allowed(prepared),
        .limits = plans->limits,
        .k = prepared->options->k,
        .slack = prepared->options->slack,
        .threads = batch->threads,
        .progress = batch->progress,
        .progress_done = batch->progress_done,
        .progress_total = batch->progress_total,
    };
    const nigh_status status = nigh__column_scan(&scan, plans->found, error);
    return status == NIGH_EIO ? nigh__sidecar_cut(turned->columns.sidecar, error) : status;
}

static nigh_status run(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error) {
    const nigh_context *context = prepared->segment->context;
    struct batch_plans *plans = nigh__alloc_zero(context, 1, sizeof *plans);
    if (plans == NULL) return nigh__no_memory(error, "to search columns");
    nigh_status status = scan_columns(prepared, batch, plans, error);
    for (uint32_t i = 0; i < batch->count; i++) batch->answers[batch->chosen[i]].keys = plans->found[i].keys;
    if (status == NIGH_OK) status = take_answers(prepared, batch, plans, error);
    for (uint32_t i = 0; i < batch->count; i++) nigh__column_plan_release(&plans->plans[i]);
    nigh__free(context, plans);
    return status;
}

const struct nigh__search_method nigh__column_method = {
    .name = "columns",
    .asked_by = 1u << NIGH_SEARCH_COLUMNS,
    .automatic = true,
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof options_taken[0],
    .batch_queries = NIGH__BATCH_QUERIES,
    .check = check,
    .fits = fits,
    .prepare = prepare,
    .estimate = estimate,
    .run = run,
};
