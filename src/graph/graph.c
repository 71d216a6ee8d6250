/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "graph/graph.h"

#include <stddef.h>
#include <string.h>

#include "base/guard.h"
#include "base/status.h"

static nigh_status facts_lie(const struct nigh__sidecar *sidecar, size_t at, const char *why, nigh_error *error) {
    return nigh__sidecar_corrupt(sidecar, NIGH__GRAPH_FACTS, at, 1, why, error);
}

static nigh_status check_facts(const struct nigh__segment *segment, const struct nigh__sidecar *sidecar,
                               const struct nigh__graph_facts *facts, nigh_error *error) {
#define AT(field) offsetof(struct nigh__graph_facts, field)
    if (sidecar->header.parameter > NIGH__GRAPH_MAX_DEGREE)
        return nigh__fail_at(error, NIGH_ECORRUPT, sidecar->path, offsetof(struct nigh__sidecar_header, parameter),
                             "more edges of a node than there can be");
    if (facts->seed_bits > NIGH__GRAPH_MAX_SEED_BITS || (facts->seed_bits == 0 && facts->seed_slices != 0))
        return facts_lie(sidecar, AT(seed_bits), "slices of a width that cannot be", error);
    if ((uint64_t)facts->seed_slices * facts->seed_bits > segment->width_bits)
        return facts_lie(sidecar, AT(seed_slices), "more slices than a signature has", error);
    if (facts->seed_longest > NIGH__GRAPH_LONGEST_SEEDS)
        return facts_lie(sidecar, AT(seed_longest), "lists of seeds longer than they can be", error);
    if (facts->sketch_words == 0 || facts->sketch_words > segment->words)
        return facts_lie(sidecar, AT(sketch_words), "sketches longer than a signature, or of nothing", error);
    if (facts->recall_found > facts->recall_wanted)
        return facts_lie(sidecar, AT(recall_found), "more found than there were", error);
    if (facts->far > 64 * segment->words)
        return facts_lie(sidecar, AT(far), "a distance of more bits than there are", error);
    if (facts->centre_words > segment->words || facts->centre_words > NIGH__GRAPH_MAX_CENTRE_WORDS)
        return facts_lie(sidecar, AT(centre_words), "centres longer than a signature, or than they can be", error);
    if (facts->masks > 1) return facts_lie(sidecar, AT(masks), "neighbours found in an unknown way", error);
    if (facts->sample_step > NIGH__GRAPH_MAX_STEP)
        return facts_lie(sidecar, AT(sample_step), "a sample of fewer nodes than it can be of", error);
#undef AT
    return NIGH_OK;
}

/* A section of numbers whose count it says itself. */
static const uint32_t *section_of(const struct nigh__sidecar *sidecar, enum nigh__graph_section type, uint64_t *count,
                                  nigh_error *error) {
    *count = nigh__sidecar_section_count(sidecar, type);
    if (*count > UINT32_MAX) {
        (void)nigh__sidecar_corrupt(sidecar, type, 0, sizeof(uint32_t), "more numbers than can be counted", error);
        return NULL;
    }
    return nigh__sidecar_section(sidecar, type, *count, sizeof(uint32_t), error);
}

static bool find_centres(struct nigh__graph *graph, nigh_error *error) {
    const struct nigh__sidecar *sidecar = graph->sidecar;
    const uint64_t words = graph->facts.centre_words;
    if (words == 0) return true;
    graph->centre_nodes = section_of(sidecar, NIGH__GRAPH_CENTRE_NODES, &graph->centre_count, error);
    if (graph->centre_nodes == NULL) return false;
    uint64_t starts;
    graph->group_starts = section_of(sidecar, NIGH__GRAPH_GROUP_STARTS, &starts, error);
    if (graph->group_starts == NULL) return false;
    if (starts < 2 || starts - 1 > graph->centre_count || graph->centre_count > graph->nodes) {
        (void)nigh__sidecar_corrupt(sidecar, NIGH__GRAPH_GROUP_STARTS, 0, sizeof(uint32_t),
                                    "more groups than centres, or centres than nodes, or none", error);
        return false;
    }
    graph->group_count = starts - 1;
    graph->groups =
        nigh__sidecar_section(sidecar, NIGH__GRAPH_GROUPS, graph->group_count * words, sizeof(uint64_t), error);
    if (graph->groups == NULL) return false;
    graph->centres =
        nigh__sidecar_section(sidecar, NIGH__GRAPH_CENTRES, graph->centre_count * words, sizeof(uint64_t), error);
    return graph->centres != NULL;
}

struct nigh__columns_layout nigh__graph_sample_layout(const struct nigh__graph *graph, uint32_t words) {
    const uint32_t step = graph->facts.sample_step;
    return nigh__columns_layout_of(graph->nodes / step + (graph->nodes % step != 0), 64 * words);
}

static bool find_sample(struct nigh__graph *graph, uint32_t words, nigh_error *error) {
    if (graph->facts.sample_step == 0) return true;
    const struct nigh__columns_layout layout = nigh__graph_sample_layout(graph, words);
    graph->sample = nigh__sidecar_section(graph->sidecar, NIGH__GRAPH_SAMPLE, layout.supers, layout.super_bytes, error);
    return graph->sample != NULL;
}

static bool find_sections(struct nigh__graph *graph, nigh_error *error) {
    const struct nigh__sidecar *sidecar = graph->sidecar;
    const uint64_t nodes = graph->nodes;
    const uint64_t lists = nigh__graph_seed_lists(&graph->facts);
    const size_t number = sizeof(uint32_t);
    graph->order = nigh__sidecar_section(sidecar, NIGH__GRAPH_ORDER, nodes, number, error);
    if (graph->order == NULL) return false;
    graph->edge_starts = nigh__sidecar_section(sidecar, NIGH__GRAPH_EDGE_STARTS, nodes + 1, number, error);
    if (graph->edge_starts == NULL) return false;
    graph->edges = section_of(sidecar, NIGH__GRAPH_EDGES, &graph->edge_count, error);
    if (graph->edges == NULL) return false;
    graph->seed_starts = nigh__sidecar_section(sidecar, NIGH__GRAPH_SEED_STARTS, lists + 1, number, error);
    if (graph->seed_starts == NULL) return false;
    graph->seeds = section_of(sidecar, NIGH__GRAPH_SEEDS, &graph->seed_count, error);
    if (graph->seeds == NULL) return false;
    graph->sketches = nigh__sidecar_section(sidecar, NIGH__GRAPH_SKETCHES, nodes * graph->facts.sketch_words,
                                            sizeof(uint64_t), error);
    return graph->sketches != NULL && find_centres(graph, error);
}

nigh_status nigh__graph_of_segment(const struct nigh__segment *segment, struct nigh__graph *out, nigh_error *error) {
    const struct nigh__sidecar *sidecar = segment->sidecars[NIGH__SIDECAR_GRAPH];
    struct nigh__graph graph = {.nodes = segment->signatures, .degree = sidecar->header.parameter, .sidecar = sidecar};
    nigh_status status = nigh__sidecar_copy(sidecar, NIGH__GRAPH_FACTS, &graph.facts, sizeof graph.facts, error);
    if (status == NIGH_OK) status = check_facts(segment, sidecar, &graph.facts, error);
    if (status != NIGH_OK) return status;
    if (!find_sections(&graph, error) || !find_sample(&graph, segment->words, error)) return NIGH_ECORRUPT;
    *out = graph;
    return NIGH_OK;
}
