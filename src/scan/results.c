/* SPDX-License-Identifier: Apache-2.0 */
/* Results: two arrays, filled query by query, read by anyone afterwards. */
#include "scan/results.h"

#include <string.h>

#include "base/assert.h"
#include "base/options.h"
#include "base/status.h"

nigh_results *nigh__results_new(const nigh_context *context, size_t queries) {
    nigh_results *results = nigh__alloc_zero(context, 1, sizeof *results);
    if (results == NULL) return NULL;
    *results = (nigh_results){.context = context, .matches = NIGH__ARRAY(nigh_match), .queries = queries};
    results->ends = nigh__alloc(context, queries, sizeof *results->ends);
    if (results->ends != NULL) return results;
    nigh_results_free(results);
    return NULL;
}

bool nigh__results_add(nigh_results *results, const nigh_match *matches, size_t count) {
    if (count != 0) {
        nigh_match *slot = nigh__array_add(results->context, &results->matches, count);
        if (slot == NULL) return false;
        memcpy(slot, matches, count * sizeof *slot);
    }
    NIGH__ASSERT(results->finished < results->queries);
    results->ends[results->finished++] = results->matches.count;
    return true;
}

void nigh__results_count(nigh_results *results, const nigh_results *other) {
    results->distances = other->distances;
    results->probes = other->probes;
    results->truncated = other->truncated;
    results->lists = other->lists;
    results->postings = other->postings;
    results->skipped_lists = other->skipped_lists;
    results->scanned = other->scanned;
    results->steps = other->steps;
    results->rank = other->rank;
    results->rows = other->rows;
}

bool nigh__results_prove(nigh_results *results) {
    results->proofs = nigh__alloc_zero(results->context, results->queries, sizeof *results->proofs);
    results->sums = nigh__alloc_zero(results->context, results->queries, sizeof *results->sums);
    return results->proofs != NULL && results->sums != NULL;
}

const nigh_match *nigh_results_matches(const nigh_results *results, size_t query, size_t *count) {
    *count = 0;
    if (query >= results->finished) return NULL;
    size_t start = query == 0 ? 0 : results->ends[query - 1];
    *count = results->ends[query] - start;
    static const nigh_match none; /* NULL is for queries that were not asked */
    return *count == 0 ? &none : (const nigh_match *)results->matches.data + start;
}

int nigh_results_each(const nigh_results *results, int (*each)(void *user, size_t query, const nigh_match *match),
                      void *user) {
    for (size_t query = 0; query < results->finished; query++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, query, &count);
        for (size_t i = 0; i < count; i++) {
            const int stop = each(user, query, &matches[i]);
            if (stop != 0) return stop;
        }
    }
    return 0;
}

void nigh_results_describe(const nigh_results *results, nigh_results_info *out) {
    nigh_results_info info = {.size = sizeof info};
    info.queries = results->queries;
    info.matches = results->matches.count;
    info.distances = results->distances;
    info.exact = results->exact;
    info.probes = results->probes;
    info.truncated = results->truncated;
    info.lists = results->lists;
    info.postings = results->postings;
    info.skipped_lists = results->skipped_lists;
    info.exact_queries = results->proofs != NULL ? results->exact_queries : results->exact ? results->queries : 0;
    info.scanned = results->scanned;
    info.steps = results->steps;
    nigh__info_copy(out, &info, sizeof info);
}

nigh_status nigh_results_proof(const nigh_results *results, size_t query, nigh_proof *out, nigh_error *error) {
    if (query >= results->finished) return nigh__fail(error, NIGH_EINVAL, "there is no answer to query %zu", query);
    nigh_proof proof = {.size = sizeof proof};
    proof.exact = results->exact;
    proof.below = results->exact ? NIGH_ALL : 0;
    proof.breadth = NIGH_ALL;
    if (results->proofs != NULL) proof = results->proofs[query];
    nigh__info_copy(out, &proof, sizeof proof);
    return NIGH_OK;
}

nigh_status nigh_results_scale(const nigh_results *results, size_t query, nigh_scale *out, nigh_error *error) {
    if (query >= results->finished) return nigh__fail(error, NIGH_EINVAL, "there is no answer to query %zu", query);
    if (results->sums == NULL)
        return nigh__fail(error, NIGH_ENOTFOUND, "these are not the results of a search of a collection");
    const nigh_scale scale = {
        .size = sizeof scale,
        .rank = results->rank,
        .whole = results->sums[query].whole,
        .chance = nigh__ranking_chance(&results->sums[query], results->rows),
    };
    nigh__info_copy(out, &scale, sizeof scale);
    return NIGH_OK;
}

void nigh_results_free(nigh_results *results) {
    if (results == NULL) return;
    nigh__array_release(results->context, &results->matches);
    nigh__free(results->context, results->ends);
    nigh__free(results->context, results->proofs);
    nigh__free(results->context, results->sums);
    nigh__free(results->context, results);
}
