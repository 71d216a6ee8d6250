/* SPDX-License-Identifier: Apache-2.0 */
/* The scan as a method of search: what all others fall back on, and are compared with. */
#include <string.h>

#include "base/status.h"
#include "scan/cost_model.h"
#include "scan/method.h"
#include "scan/scan.h"

static double estimate(struct nigh__prepared *prepared, uint32_t query, uint32_t limit) {
    (void)query;
    (void)limit;
    const double all = nigh__scan_cost(prepared->segment->words, prepared->segment->signatures);
    if (prepared->selection == NULL) return all;
    const double some = nigh__gather_cost(prepared->segment->words, nigh__prepared_rows(prepared));
    return some < all ? some : all;
}

/* The queries chosen one after the other, and what counts in them: those of the batch, or a copy. */
struct picked {
    const uint64_t *queries;
    struct nigh__planes planes;
    uint64_t *copy; /* the caller frees it */
};

static bool pick_queries(const struct nigh__segment *segment, const struct nigh__query_batch *batch,
                         struct picked *picked) {
    const size_t words = segment->words;
    const size_t own = batch->planes.count * words; /* planes of a query */
    *picked = (struct picked){.queries = batch->queries, .planes = batch->planes};
    if (batch->count == batch->size) return true;
    picked->copy =
        nigh__alloc_aligned(segment->context, batch->count * (words + own), sizeof(uint64_t), NIGH__CACHE_LINE);
    if (picked->copy == NULL) return false;
    uint64_t *planes = picked->copy + batch->count * words;
    for (uint32_t i = 0; i < batch->count; i++) {
        memcpy(picked->copy + i * words, batch->queries + batch->chosen[i] * words, words * sizeof(uint64_t));
        if (own != 0) memcpy(planes + i * own, batch->planes.words + batch->chosen[i] * own, own * sizeof(uint64_t));
    }
    picked->queries = picked->copy;
    picked->planes.words = planes;
    return true;
}

static nigh_status scan_rows(const struct nigh__prepared *prepared, const struct nigh__query_batch *batch,
                             const struct picked *picked, struct nigh__array *found, nigh_error *error) {
    const struct nigh__segment *segment = prepared->segment;
    uint32_t limits[NIGH__BATCH_QUERIES];
    for (uint32_t i = 0; i < batch->count; i++) limits[i] = batch->limits[batch->chosen[i]];
    const struct nigh__scan scan = {
        .context = segment->context,
        .rows = segment->rows,
        .count = segment->signatures,
        .words = segment->words,
        .allowed = nigh__prepared_allowed(prepared),
        .map = segment->map,
        .map_length = segment->length,
        .queries = picked->queries,
        .planes = picked->planes,
        .query_count = batch->count,
        .limits = limits,
        .k = prepared->options->k,
        .threads = batch->threads,
        .progress = batch->progress,
        .progress_done = batch->progress_done,
        .progress_total = batch->progress_total,
    };
    const nigh_status status = nigh__scan(&scan, found, error);
    return status == NIGH_EIO ? nigh__segment_cut(segment, error) : status;
}

static nigh_status run(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error) {
    struct nigh__array found[NIGH__BATCH_QUERIES];
    struct picked picked;
    if (!pick_queries(prepared->segment, batch, &picked))
        return nigh__fail(error, NIGH_ENOMEM, "no memory for %u queries", batch->count);
    for (uint32_t i = 0; i < batch->count; i++) found[i] = batch->answers[batch->chosen[i]].keys;
    const nigh_status status = scan_rows(prepared, batch, &picked, found, error);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct nigh__answer *answer = &batch->answers[batch->chosen[i]];
        answer->keys = found[i];
        answer->distances = nigh__prepared_rows(prepared);
    }
    nigh__free(prepared->segment->context, picked.copy);
    return status;
}

const struct nigh__search_method nigh__scan_method = {
    .name = "scan",
    .asked_by = 1u << NIGH_SEARCH_SCAN,
    .automatic = true,
    .batch_queries = NIGH__BATCH_QUERIES,
    .estimate = estimate,
    .run = run,
};
