/* SPDX-License-Identifier: Apache-2.0 */
/* Results: two arrays, filled query by query, read by anyone afterwards. */
#include "search/results.h"

#include <string.h>

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
    results->ends[results->finished++] = results->matches.count;
    return true;
}

const nigh_match *nigh_results_matches(const nigh_results *results, size_t query, size_t *count) {
    *count = 0;
    if (query >= results->finished) return NULL;
    size_t start = query == 0 ? 0 : results->ends[query - 1];
    *count = results->ends[query] - start;
    static const nigh_match none; /* NULL is for queries that were not asked */
    return *count == 0 ? &none : (const nigh_match *)results->matches.data + start;
}

void nigh_results_describe(const nigh_results *results, nigh_results_info *out) {
    nigh_results_info info = NIGH_RESULTS_INFO_INIT;
    info.queries = results->queries;
    info.matches = results->matches.count;
    info.distances = results->distances;
    info.exact = results->exact;
    info.probes = results->probes;
    info.truncated = results->truncated;
    nigh__info_copy(out, &info, sizeof info);
}

void nigh_results_free(nigh_results *results) {
    if (results == NULL) return;
    nigh__array_release(results->context, &results->matches);
    nigh__free(results->context, results->ends);
    nigh__free(results->context, results);
}
