/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collection needs to know of graphs: the files beside its segments, and the memory that one search leaves for
 * the next.
 */
#include "base/status.h"
#include "collection/collection.h"
#include "graph/graph.h"

static nigh_status fits(const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__graph graph;
    return nigh__graph_of_segment(segment, &graph, error);
}

/* The facts of one that cannot be read are those of none. */
static struct nigh__graph_facts facts_of(const struct nigh__segment *segment) {
    struct nigh__graph graph = {0};
    (void)nigh__graph_of_segment(segment, &graph, NULL);
    return graph.facts;
}

static double share(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : (double)part / (double)whole; }

/* The recall is that of all segments together: what was found of what was looked for. */
static void describe(const nigh_collection *collection, nigh_collection_info *info) {
    uint64_t wanted = 0;
    uint64_t found = 0;
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        const struct nigh__sidecar *graph = segment->sidecars[NIGH__SIDECAR_GRAPH];
        if (segment->sidecar_problems[NIGH__SIDECAR_GRAPH].status != NIGH_OK) info->damaged_graphs++;
        if (graph == NULL) continue;
        const struct nigh__graph_facts facts = facts_of(segment);
        wanted += facts.recall_wanted;
        found += facts.recall_found;
        info->graph_segments++;
        info->masked_graphs += facts.masks;
        info->graph_bytes += graph->length;
    }
    info->graph_recall = share(found, wanted);
}

static void describe_segment(const struct nigh__segment *segment, nigh_segment_info *info) {
    struct nigh__graph graph;
    if (segment->sidecars[NIGH__SIDECAR_GRAPH] == NULL) return;
    if (nigh__graph_of_segment(segment, &graph, NULL) != NIGH_OK) return;
    info->graph_degree = graph.degree;
    info->graph_masked = graph.facts.masks != 0;
    info->graph_edges = graph.edge_count;
    info->graph_bytes = graph.sidecar->length;
    info->graph_recall = share(graph.facts.recall_found, graph.facts.recall_wanted);
}

const struct nigh__sidecar_kind nigh__graph_sidecar = {.number = NIGH__SIDECAR_GRAPH,
                                                       .prefix = "graph-",
                                                       .title = "a neighbour graph",
                                                       .fits = fits,
                                                       .check = nigh__graph_check,
                                                       .parameter_like = nigh__graph_parameter_like,
                                                       .write_like = nigh__graph_write_like,
                                                       .describe = describe,
                                                       .describe_segment = describe_segment};

const struct nigh__extra nigh__graph_scratch = {
    .open = nigh__extra_pool_open, .close = nigh__extra_pool_close, .again = nigh__extra_pool_again};

struct nigh__object_pool *nigh__graph_pool(const nigh_collection *collection) {
    return nigh__collection_extra(collection, &nigh__graph_scratch);
}
