/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * How near what is found comes to what there is; nigh.h has the definitions.  Queries go
 * one after the other on one thread, for the time of a single one is what is told; all of
 * them once before, for the first to find memory as the last does.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/collection.h"
#include "eval/eval_options.h"
#include "eval/nearness.h"
#include "scan/ranking.h"
#include "search/search_options.h"
#include "search/truth.h"

struct measuring {
    const nigh_collection *collection;
    const uint8_t *queries;
    size_t count;
    const nigh_eval_truth *truth;
    nigh_eval_truth_options own;
    nigh_search_options search;
    struct nigh__progress progress;
    nigh_eval_nearness *out;
    nigh_match *found; /* of one query, without itself */
    double *seconds;   /* of each query */
    uint64_t bounded;  /* queries whose proof has an end */
};

/* ----------------------------------------------------------------- queries */

static bool is_in(const nigh_match *matches, size_t count, uint64_t document) {
    for (size_t i = 0; i < count; i++)
        if (matches[i].document == document) return true;
    return false;
}

static double recall_by_id(const nigh_match *truth, size_t truths, const nigh_match *found, size_t count) {
    size_t same = 0;
    for (size_t i = 0; i < count; i++) same += is_in(truth, truths, found[i].document);
    return truths == 0 ? 1 : (double)same / (double)truths;
}

static void add_work(struct measuring *m, const nigh_results *results) {
    nigh_eval_nearness_info *info = &m->out->info;
    nigh_results_info work = {.size = sizeof work};
    nigh_proof proof = {.size = sizeof proof};
    nigh_results_describe(results, &work);
    info->lists += (double)work.lists;
    info->postings += (double)work.postings;
    info->skipped_lists += (double)work.skipped_lists;
    info->distances += (double)work.distances;
    info->scanned += work.scanned != 0;
    if (nigh_results_proof(results, 0, &proof, NULL) != NIGH_OK) return;
    info->proven += proof.exact != 0;
    if (proof.below == NIGH_ALL) return;
    info->below += proof.below;
    m->bounded++;
}

/* --------------------------------------------------------------- searching */

static nigh_status ask(struct measuring *m, size_t q, bool counts, nigh_error *error) {
    nigh_results *results = NULL;
    nigh_search_options search = m->search;
    if (search.weights != NULL) search.weights += q * m->collection->width_bits;
    const double begin = nigh__clock();
    nigh_status status = nigh_search(m->collection, m->queries + q * nigh__row_bytes(m->collection->width_bits), 1,
                                     &search, &results, error);
    m->seconds[q] = nigh__clock() - begin;
    if (status == NIGH_OK && counts) {
        size_t matches = 0;
        size_t truths = 0;
        const nigh_match *found = nigh_results_matches(results, 0, &matches);
        const nigh_match *truth = nigh_eval_truth_matches(m->truth, q, &truths);
        matches = nigh__without_own(found, matches, nigh__own(&m->own, q), m->truth->k, m->found);
        nigh_eval_nearness *out = m->out;
        out->info.cdr +=
            nigh__cdr(truth, truths, m->found, matches, m->truth->k, m->collection->width_bits, out->dr, out->cdr);
        out->info.recall += nigh__recall(truth, truths, m->found, matches);
        out->info.recall_by_id += recall_by_id(truth, truths, m->found, matches);
        add_work(m, results);
    }
    nigh_results_free(results);
    return status;
}

static nigh_status ask_all(struct measuring *m, bool counts, nigh_error *error) {
    const char *stage = counts ? "measuring" : "warming up";
    nigh_status status = NIGH_OK;
    for (size_t q = 0; status == NIGH_OK && q < m->count; q++) {
        if (nigh__progress_tick(&m->progress, stage, q, m->count)) return nigh__progress_cancelled(error);
        status = ask(m, q, counts, error);
    }
    return status;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void finish(struct measuring *m) {
    nigh_eval_nearness_info *info = &m->out->info;
    const double queries = (double)m->count;
    double *const means[] = {&info->cdr,      &info->recall,        &info->recall_by_id, &info->proven, &info->lists,
                             &info->postings, &info->skipped_lists, &info->distances,    &info->scanned};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) *means[i] /= queries;
    if (m->bounded != 0) info->below /= (double)m->bounded;
    for (uint32_t p = 0; p < info->k; p++) {
        m->out->dr[p] /= queries;
        m->out->cdr[p] /= queries;
    }
    for (size_t q = 0; q < m->count; q++) info->seconds += m->seconds[q] / queries;
    qsort(m->seconds, m->count, sizeof *m->seconds, by_size);
    info->median = m->seconds[m->count / 2];
    info->percentile_90 = m->seconds[m->count * 9 / 10];
    info->percentile_99 = m->seconds[m->count * 99 / 100];
}

static nigh_status measure(struct measuring *m, nigh_error *error) {
    const nigh_context *context = m->collection->context;
    m->out->context = context;
    m->out->svg = (struct nigh__array)NIGH__ARRAY(char);
    m->out->info.queries = m->count;
    m->out->info.k = m->truth->k;
    m->out->dr = nigh__alloc_zero(context, m->truth->k, sizeof(double));
    m->out->cdr = nigh__alloc_zero(context, m->truth->k, sizeof(double));
    m->found = nigh__alloc(context, m->truth->k, sizeof *m->found);
    m->seconds = nigh__alloc(context, m->count, sizeof *m->seconds);
    nigh_status status = NIGH_OK;
    if (m->out->dr == NULL || m->out->cdr == NULL || m->found == NULL || m->seconds == NULL)
        status = nigh__no_memory(error, "to measure with");
    if (status == NIGH_OK) status = ask_all(m, false, error);
    if (status == NIGH_OK) status = ask_all(m, true, error);
    if (status == NIGH_OK) finish(m);
    nigh__free(context, m->found);
    nigh__free(context, m->seconds);
    return status;
}

nigh_status nigh_eval_nearness_measure(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                       const nigh_eval_truth *truth, const nigh_eval_truth_options *truth_options,
                                       const nigh_search_options *search, nigh_eval_nearness **out, nigh_error *error) {
    *out = NULL;
    struct measuring m = {.collection = collection, .queries = queries, .count = count, .truth = truth};
    uint64_t key = 0;
    if (count == 0 || queries == NULL) return nigh__fail(error, NIGH_EINVAL, "there are no queries");
    nigh_status status = nigh__options_copy(&nigh__eval_truth_options_shape, &m.own, truth_options, error);
    if (status == NIGH_OK) status = nigh__options_copy(&nigh__search_options_shape, &m.search, search, error);
    if (status == NIGH_OK) status = nigh__truth_key(collection, queries, count, &m.own, &key, error);
    if (status != NIGH_OK) return status;
    if (!nigh__ranks_plainly(&m.search))
        return nigh__fail(error, NIGH_EINVAL, "the truth is of whole signatures; leave masks and weighted ranking out");
    if (truth->key != key || truth->queries != count)
        return nigh__fail(error, NIGH_EMISMATCH, "the truth is of other documents or other queries");
    m.search.k = truth->k + (m.own.own != NULL);
    m.search.radius = NIGH_ALL;
    m.search.threads = 1;
    m.search.progress = NULL;
    nigh__progress_init(&m.progress, m.own.progress);
    m.out = nigh__alloc_zero(collection->context, 1, sizeof *m.out);
    if (m.out == NULL) return nigh__no_memory(error, "to measure with");
    status = measure(&m, error);
    if (status == NIGH_OK)
        *out = m.out;
    else
        nigh_eval_nearness_free(m.out);
    return status;
}

void nigh_eval_nearness_describe(const nigh_eval_nearness *nearness, nigh_eval_nearness_info *out) {
    nigh__info_copy(out, &nearness->info, sizeof nearness->info);
}

nigh_status nigh_eval_nearness_rank(const nigh_eval_nearness *nearness, uint32_t rank, double *dr, double *cdr,
                                    nigh_error *error) {
    if (rank == 0 || rank > nearness->info.k)
        return nigh__fail(error, NIGH_EINVAL, "rank %u; 1 to %u were measured", rank, nearness->info.k);
    *dr = nearness->dr[rank - 1];
    *cdr = nearness->cdr[rank - 1];
    return NIGH_OK;
}

void nigh_eval_nearness_free(nigh_eval_nearness *nearness) {
    if (nearness == NULL) return;
    nigh__free(nearness->context, nearness->dr);
    nigh__free(nearness->context, nearness->cdr);
    nigh__array_release(nearness->context, &nearness->svg);
    nigh__free(nearness->context, nearness);
}
