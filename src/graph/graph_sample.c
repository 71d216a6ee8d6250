/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_sample.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

#define LEAST_NODES 16384u
#define LEAST_STEP 4u
#define MOST_ROWS 524288u /* of a sample: more than a walk takes would be spent on where it begins */
#define SLACK 1.0         /* who is not quite the nearest of the sample is as good to begin from; a third faster */

uint32_t nigh__graph_sample_step(uint32_t wanted, uint32_t nodes) {
    if (wanted != 0) return wanted;
    if (nodes < LEAST_NODES) return 0;
    uint32_t step = LEAST_STEP;
    while (nodes / step > MOST_ROWS) step *= 2;
    return step < NIGH__GRAPH_MAX_STEP ? step : NIGH__GRAPH_MAX_STEP;
}

uint8_t *nigh__graph_sample_make(const nigh_context *context, const struct nigh__graph *graph, const uint64_t *rows,
                                 uint32_t words) {
    const struct nigh__columns_layout layout = nigh__graph_sample_layout(graph, words);
    const size_t bytes = words * sizeof *rows;
    uint64_t *sampled = nigh__alloc_large(context, (size_t)layout.rows * words, sizeof *sampled);
    uint8_t *columns = nigh__alloc_aligned(context, layout.supers, layout.super_bytes, NIGH__CACHE_LINE);
    for (size_t i = 0; sampled != NULL && i < layout.rows; i++)
        memcpy(sampled + i * words, rows + i * graph->facts.sample_step * words, bytes);
    for (size_t super = 0; sampled != NULL && columns != NULL && super < layout.supers; super++)
        nigh__columns_turn(&layout, sampled, super, columns + super * layout.super_bytes);
    const bool whole = sampled != NULL && columns != NULL;
    nigh__free(context, sampled);
    if (whole) return columns;
    nigh__free(context, columns);
    return NULL;
}

/* Places in the sample as nodes. */
static uint32_t to_nodes(const struct nigh__graph *graph, const struct nigh__array *keys, uint32_t *nodes) {
    const uint64_t *key = keys->data;
    for (size_t i = 0; i < keys->count; i++) nodes[i] = nigh__key_number(key[i]) * graph->facts.sample_step;
    return (uint32_t)keys->count;
}

nigh_status nigh__graph_sample_nearest(const nigh_context *context, const struct nigh__graph *graph, uint32_t words,
                                       const struct nigh__graph_query *query, nigh__sample_scan *scan, uint32_t most,
                                       uint32_t *nodes, uint32_t *count, nigh_error *error) {
    const struct nigh__columns columns = {
        .layout = nigh__graph_sample_layout(graph, words), .data = graph->sample, .sidecar = graph->sidecar};
    const uint32_t limit = UINT32_MAX;
    struct nigh__column_answer found = {.keys = NIGH__ARRAY(uint64_t)};
    struct nigh__column_plan plan;
    nigh_status status = NIGH_ENOMEM;
    *count = 0;
    if (nigh__column_plan_init(&plan, context, 64 * words, query->words, query->planes, query->plane_count)) {
        const struct nigh__column_scan asking = {.context = context,
                                                 .columns = &columns,
                                                 .plans = &plan,
                                                 .query_count = 1,
                                                 .limits = &limit,
                                                 .k = most,
                                                 .slack = SLACK,
                                                 .threads = 1};
        status = scan(&asking, &found, error);
    } else
        (void)nigh__no_memory(error, "to search columns");
    if (status == NIGH_OK) *count = to_nodes(graph, &found.keys, nodes);
    if (status == NIGH_EIO) status = nigh__sidecar_cut(graph->sidecar, error);
    nigh__array_release(context, &found.keys);
    nigh__column_plan_release(&plan);
    return status;
}
