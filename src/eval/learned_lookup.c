/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash lookup: all answers within the radius of a query, found as a user would find them: by a finder, with
 * tables if its cost model says that they pay, otherwise by its scan.
 *
 *     answers with a signature --finder--> within the radius of each query
 *
 * Learned signatures come in crowds, thousands of documents of a class with one signature.  A finder keeps equal
 * rows once, so that a crowd is one row to compare, and no look-up may be cut short: the budget is all rows.
 *
 * Ranking computes all distances, and precision within the radius falls out of them; so lookup adds times to it
 * alone.  Without ranking what is found here is what counts, and a query touches a few rows of millions.
 */
#include <string.h>

#include "base/limits.h"
#include "base/status.h"
#include "eval/learned.h"

struct lookup {
    const struct nigh__signed_rows *rows;
    size_t row_bytes;
    uint8_t *packed;   /* rows of the answers that have one, then of all queries */
    uint32_t *answers; /* the answer that each of these rows is */
    uint32_t count;
    nigh_finder *finder;
};

static const uint8_t *query_at(const struct lookup *lookup, uint32_t query) {
    return lookup->packed + ((size_t)lookup->count + query) * lookup->row_bytes;
}

/* Queries that cannot be signed find nothing. */
static bool is_signed(const struct lookup *lookup, uint32_t query) {
    return lookup->rows->missing[lookup->rows->trial->answers + query] == 0;
}

static nigh_status pack(struct lookup *lookup, nigh_error *error) {
    const struct nigh__signed_rows *rows = lookup->rows;
    const struct nigh__trial *trial = rows->trial;
    const size_t all = (size_t)trial->answers + trial->queries;
    lookup->packed = nigh__alloc_large(trial->context, all, lookup->row_bytes);
    lookup->answers = nigh__alloc(trial->context, trial->answers, sizeof *lookup->answers);
    if (lookup->packed == NULL || lookup->answers == NULL) return nigh__no_memory(error, "to measure lookup");
    size_t row = 0;
    for (size_t i = 0; i < all; i++) {
        if (i < trial->answers && rows->missing[i]) continue;
        if (i < trial->answers) lookup->answers[lookup->count++] = (uint32_t)i;
        memcpy(lookup->packed + row++ * lookup->row_bytes, rows->rows + i * rows->words, lookup->row_bytes);
    }
    return NIGH_OK;
}

static nigh_status make_finder(struct lookup *lookup, nigh_finder_method method, nigh_error *error) {
    const struct nigh__trial *trial = lookup->rows->trial;
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = method;
    options.width_bits = lookup->rows->width_bits;
    options.radius = trial->radius;
    options.bucket_budget = UINT64_MAX;
    options.threads = trial->threads;
    return nigh_finder_new(trial->context, lookup->packed, lookup->count, &options, &lookup->finder, error);
}

static nigh_status find(const struct lookup *lookup, uint32_t query, nigh_results **out, nigh_error *error) {
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.threads = 1;
    return nigh_finder_find(lookup->finder, query_at(lookup, query), is_signed(lookup, query), &options, out, error);
}

/* -------------------------------------------------------------------- asking -- */

/* A thread's scratch: marks of the relevant answers. */
static nigh_status ask(const void *user, void *scratch, uint32_t query, struct nigh__score *score, nigh_error *error) {
    const struct lookup *lookup = user;
    const struct nigh__trial *trial = lookup->rows->trial;
    nigh_results *results = NULL;
    const nigh_status status = find(lookup, query, &results, error);
    if (status != NIGH_OK) return status;
    size_t count = 0;
    uint64_t good = 0;
    const nigh_match *matches = nigh_results_matches(results, 0, &count);
    (void)nigh__trial_mark(trial, query, 1, scratch);
    for (size_t i = 0; i < count; i++) good += ((const uint8_t *)scratch)[lookup->answers[matches[i].document]];
    (void)nigh__trial_mark(trial, query, 0, scratch);
    score->returned = count;
    score->precision = count == 0 ? 0 : (double)good / (double)count;
    nigh_results_free(results);
    return NIGH_OK;
}

static nigh_status ask_all(const struct lookup *lookup, struct nigh__outcome *out, nigh_error *error) {
    const struct nigh__asking asking = {.trial = lookup->rows->trial,
                                        .ask = ask,
                                        .user = lookup,
                                        .scratch_bytes = lookup->rows->trial->answers,
                                        .stage = "lookup"};
    return nigh__trial_ask(&asking, out, error);
}

static nigh_status find_timed(void *user, uint32_t query, nigh_error *error) {
    nigh_results *results = NULL;
    const nigh_status status = find(user, query, &results, error);
    nigh_results_free(results);
    return status;
}

/* ----------------------------------------------------------------------- all -- */

static nigh_status measure(struct lookup *lookup, struct nigh__outcome *out, nigh_error *error) {
    const struct nigh__trial *trial = lookup->rows->trial;
    nigh_finder_info info = {.size = sizeof info};
    nigh_status status = pack(lookup, error);
    if (status == NIGH_OK) status = make_finder(lookup, NIGH_FINDER_AUTO, error);
    if (status != NIGH_OK) return status;
    nigh_finder_describe(lookup->finder, &info);
    out->lookup_bytes = info.bytes;
    out->tables = info.tables;
    if (trial->lookup == NIGH_EVAL_LOOKUP_ONLY) status = ask_all(lookup, out, error);
    if (status == NIGH_OK) status = nigh__trial_time(trial, find_timed, lookup, &out->lookup_seconds, error);
    nigh_finder_free(lookup->finder);
    lookup->finder = NULL;
    if (status == NIGH_OK) status = make_finder(lookup, NIGH_FINDER_SCAN, error);
    if (status == NIGH_OK) status = nigh__trial_time(trial, find_timed, lookup, &out->scan_seconds, error);
    return status;
}

nigh_status nigh__trial_lookup(const struct nigh__signed_rows *rows, struct nigh__outcome *out, nigh_error *error) {
    struct lookup lookup = {.rows = rows, .row_bytes = nigh__row_bytes(rows->width_bits)};
    const nigh_status status = measure(&lookup, out, error);
    nigh_finder_free(lookup.finder);
    nigh__free(rows->trial->context, lookup.packed);
    nigh__free(rows->trial->context, lookup.answers);
    return status;
}
