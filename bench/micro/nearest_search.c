/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* One pass over queries, ours and the peers'. */
#include "nearest_search.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"

/* ----------------------------------------------------------------------- ours -- */

static void take_distances(const struct nearest_set *set, const nigh_results *results, size_t count,
                           uint32_t *distances) {
    for (size_t q = 0; q < count; q++) {
        size_t found = 0;
        const nigh_match *matches = nigh_results_matches(results, q, &found);
        for (size_t i = 0; i < NEAREST_K; i++)
            distances[q * NEAREST_K + i] = i < found ? matches[i].distance : set->bits;
    }
}

static nigh_status search_call(const struct nearest_set *set, const nigh_collection *collection,
                               const nigh_search_options *options, size_t first, size_t count, uint32_t *distances,
                               struct nearest_pass *pass, nigh_error *error) {
    nigh_results *results = NULL;
    nigh_results_info info = {.size = sizeof info};
    nigh_search_options call = *options;
    call.k = NEAREST_K;
    if (call.probe == NIGH_PROBE_DIRECTED && set->query_weights != NULL)
        call.weights = set->query_weights + first * set->bits;
    const double start = measure_now();
    const nigh_status status =
        nigh_search(collection, set->queries + first * (set->bits / 8), count, &call, &results, error);
    if (status != NIGH_OK) return status;
    pass->seconds += measure_now() - start;
    nigh_results_describe(results, &info);
    pass->postings += (double)info.postings;
    pass->compared += (double)info.distances;
    pass->scanned += info.scanned;
    take_distances(set, results, count, distances);
    nigh_results_free(results);
    return NIGH_OK;
}

nigh_status nearest_search(const struct nearest_set *set, const nigh_collection *collection,
                           const nigh_search_options *options, struct nearest_span span, uint32_t *distances,
                           struct nearest_pass *pass, nigh_error *error) {
    const size_t at_once = span.at_once == 0 ? span.count : span.at_once;
    *pass = (struct nearest_pass){0};
    for (size_t done = 0; done < span.count; done += at_once) {
        const size_t count = span.count - done < at_once ? span.count - done : at_once;
        const nigh_status status =
            search_call(set, collection, options, span.first + done, count, distances + done * NEAREST_K, pass, error);
        if (status != NIGH_OK) return status;
    }
    pass->postings /= (double)span.count;
    pass->compared /= (double)span.count;
    return NIGH_OK;
}

/* ---------------------------------------------------------------------- peers -- */

#define KEPT_PATH 1024u

/* Named after the rows, so that it cannot be taken for that of others. */
static void name_kept(char kept[KEPT_PATH], const struct nearest_peer *peer, const struct nearest_set *set,
                      const char *keep) {
    kept[0] = '\0';
    if (keep == NULL) return;
    const uint64_t hash = nigh__hash(set->rows, (size_t)set->count * (set->bits / 8));
    const int length = snprintf(kept, KEPT_PATH, "%s/%s-%" PRIu64 "-%016" PRIx64 ".%s-%s", keep, set->name, set->count,
                                hash, peer->program, peer->kind);
    if (length < 0 || length >= (int)KEPT_PATH) measure_fail(keep, "too long for the name of a folder");
}

bool nearest_peer_start(struct peer *process, const struct nearest_peer *peer, const struct nearest_set *set,
                        const char *self, bool processor_time, const char *keep, struct nearest_built *built) {
    char kept[KEPT_PATH];
    name_kept(kept, peer, set, keep);
    char text[8][NEAREST_PATH];
    (void)snprintf(text[0], sizeof text[0], "%s", peer->program);
    (void)snprintf(text[1], sizeof text[1], "%s", peer->kind);
    (void)snprintf(text[2], sizeof text[2], "%s", set->rows_path);
    (void)snprintf(text[3], sizeof text[3], "%" PRIu64, set->count);
    (void)snprintf(text[4], sizeof text[4], "%u", set->bits / 8);
    (void)snprintf(text[5], sizeof text[5], "%s", set->queries_path);
    (void)snprintf(text[6], sizeof text[6], "%u", NEAREST_K);
    (void)snprintf(text[7], sizeof text[7], "%s", processor_time ? "cpu" : "wall");
    char *arguments[] = {text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7], kept, NULL};
    if (setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0) measure_fail("the environment", "cannot be set");
    if (!peer_start(process, self, peer->program, arguments)) return false;
    char *end = NULL;
    (void)strtoull(process->line + 6, &end, 10); /* "ready QUERIES SECONDS BYTES" */
    built->seconds = strtod(end, &end);
    built->bytes = strtod(end, NULL) / (double)set->count;
    return true;
}

double nearest_peer_search(struct peer *process, uint32_t effort, struct nearest_span span, uint32_t *distances) {
    char request[96];
    (void)snprintf(request, sizeof request, "%u %zu %zu", effort, span.first, span.count);
    return peer_ask(process, request, span.count * NEAREST_K, distances);
}
