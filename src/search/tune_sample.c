/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries to tune with, and their exact answers.  Where none are given they are documents, one
 * from each of equal stretches of the collection, by a seed: no document twice, early and
 * late ones alike.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/rng.h"
#include "base/status.h"
#include "search/search_options.h"
#include "search/truth.h"
#include "search/tune.h"

#define MIN_QUERIES 40u
#define MAX_K 32768u

static nigh_status options_check(const nigh_tune_options *options, nigh_error *error) {
    const double shares[] = {options->recall, options->cdr, options->within};
    if (options->k < 1 || options->k > MAX_K)
        return nigh__fail(error, NIGH_EINVAL, "k is %u; 1 to %u are allowed", options->k, MAX_K);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        if (!(shares[i] >= 0 && shares[i] <= 1))
            return nigh__fail(error, NIGH_EINVAL, "targets of recall and CDR are from 0 to 1");
    if (!(options->seconds >= 0 && options->seconds < 1e9))
        return nigh__fail(error, NIGH_EINVAL, "the time for a query is out of range");
    if (options->masks != NULL && options->queries == NULL)
        return nigh__fail(error, NIGH_EINVAL, "there are masks, but no queries that they belong to");
    return NIGH_OK;
}

/* How many queries there will be. */
static nigh_status count_queries(struct nigh__tuner *tuner, nigh_error *error) {
    const nigh_tune_options *options = &tuner->options;
    const uint64_t living = tuner->collection->documents - tuner->collection->deleted;
    uint64_t count = options->query_count;
    if (options->queries == NULL) count = living < options->sample ? living : options->sample;
    if (count < MIN_QUERIES)
        return nigh__fail(error, NIGH_EINVAL, "too few %s to tune with: %llu, and %u are needed",
                          options->queries == NULL ? "documents" : "queries", (unsigned long long)count, MIN_QUERIES);
    tuner->count = (size_t)count;
    return NIGH_OK;
}

/* A document of the stretch that belongs to query q, counted among those that live. */
static uint64_t choose_document(const struct nigh__tuner *tuner, size_t q) {
    const uint64_t documents = tuner->collection->documents - tuner->collection->deleted;
    const uint64_t length = documents / tuner->count;
    const uint64_t longer = documents % tuner->count; /* stretches of one document more come first */
    const uint64_t first = q * length + (q < longer ? q : longer);
    return first + nigh__mix(tuner->options.seed * UINT64_C(0x9e3779b97f4a7c15) + q) % (length + (q < longer));
}

static nigh_status sample_documents(struct nigh__tuner *tuner, nigh_error *error) {
    const nigh_collection *collection = tuner->collection;
    const size_t bytes = nigh__row_bytes(collection->width_bits);
    uint64_t *numbers;
    nigh_status status = nigh__collection_living(collection, &numbers, error);
    for (size_t q = 0; status == NIGH_OK && q < tuner->count; q++) {
        tuner->own[q] = choose_document(tuner, q);
        if (numbers != NULL) tuner->own[q] = numbers[tuner->own[q]];
        status = nigh_collection_signature(collection, tuner->own[q], tuner->signatures + q * bytes, error);
        if (status == NIGH_OK && tuner->weights != NULL)
            status =
                nigh_collection_weights(collection, tuner->own[q], tuner->weights + q * collection->width_bits, error);
    }
    nigh__free(collection->context, numbers);
    return status;
}

static nigh_status take_queries(struct nigh__tuner *tuner, nigh_error *error) {
    const nigh_tune_options *options = &tuner->options;
    const size_t width = tuner->collection->width_bits;
    const bool weighted =
        options->queries == NULL ? nigh__collection_has_weights(tuner->collection) : options->weights != NULL;
    tuner->signatures = nigh__alloc(tuner->context, tuner->count, nigh__row_bytes(width));
    if (weighted) tuner->weights = nigh__alloc(tuner->context, tuner->count, width);
    if (options->queries == NULL) tuner->own = nigh__alloc(tuner->context, tuner->count, sizeof *tuner->own);
    if (tuner->signatures == NULL || (weighted && tuner->weights == NULL))
        return nigh__no_memory(error, "to tune with");
    if (options->queries == NULL)
        return tuner->own == NULL ? nigh__no_memory(error, "to tune with") : sample_documents(tuner, error);
    memcpy(tuner->signatures, options->queries, tuner->count * nigh__row_bytes(width));
    if (weighted) memcpy(tuner->weights, options->weights, tuner->count * width);
    return NIGH_OK;
}

static nigh_status find_truth(struct nigh__tuner *tuner, nigh_error *error) {
    nigh_eval_truth_options truth;
    nigh__options_defaults(&nigh__eval_truth_options_shape, &truth);
    truth.k = tuner->options.k;
    truth.own = tuner->own;
    truth.threads = tuner->options.threads;
    truth.progress = tuner->options.progress;
    const struct nigh__truth_ranking ranking = {
        .masks = tuner->options.masks, .weights = tuner->weights, .rank = tuner->options.rank};
    return nigh__truth_make(tuner->collection, tuner->signatures, tuner->count, &truth, &ranking, &tuner->truth, error);
}

nigh_status nigh__tuner_init(struct nigh__tuner *tuner, nigh_error *error) {
    nigh_status status = options_check(&tuner->options, error);
    if (status == NIGH_OK) status = count_queries(tuner, error);
    if (status == NIGH_OK) status = take_queries(tuner, error);
    if (status != NIGH_OK) return status;
    const size_t half = (tuner->count + 1) / 2;
    tuner->seconds = nigh__alloc(tuner->context, half, sizeof(double));
    tuner->recalls = nigh__alloc(tuner->context, half, sizeof(double));
    tuner->cdrs = nigh__alloc(tuner->context, half, sizeof(double));
    tuner->found = nigh__alloc(tuner->context, tuner->options.k, sizeof *tuner->found);
    if (tuner->seconds == NULL || tuner->recalls == NULL || tuner->cdrs == NULL || tuner->found == NULL)
        return nigh__no_memory(error, "to tune with");
    return find_truth(tuner, error);
}

void nigh__tuner_release(struct nigh__tuner *tuner) {
    nigh__free(tuner->context, tuner->signatures);
    nigh__free(tuner->context, tuner->weights);
    nigh__free(tuner->context, tuner->own);
    nigh__free(tuner->context, tuner->seconds);
    nigh__free(tuner->context, tuner->recalls);
    nigh__free(tuner->context, tuner->cdrs);
    nigh__free(tuner->context, tuner->found);
    nigh_eval_truth_free(tuner->truth);
}
