/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the graphs of a collection: which segments get one, and with which options. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/sidecar_build.h"
#include "graph/centres.h"
#include "graph/descent.h"
#include "graph/graph.h"
#include "graph/graph_make.h"
#include "graph/graph_options.h"
#include "graph/graph_sample.h"
#include "graph/graph_seeds.h"
#include "graph/grouping.h"
#include "graph/pivot_tree.h"
#include "graph/thinning.h"
#include "scan/ranking.h"

#define MIN_OF_A_NODE 8u
#define MAX_TREES 256u
#define MAX_PASSES 64u

struct graphs {
    const nigh_context *context;
    nigh_graph_options options;
    struct nigh__progress progress;
    uint32_t masked; /* of those built */
    uint64_t edges;  /* the same */
    uint64_t wanted, found;
};

static struct nigh__graph_job job_of(const nigh_graph_options *options) {
    struct nigh__graph_job job = {.degree = options->degree,
                                  .neighbours = options->neighbours,
                                  .trees = options->trees,
                                  .passes = options->passes,
                                  .seed = options->seed,
                                  .sample_step = options->sample_step,
                                  .threads = options->threads};
    nigh__graph_defaults(&job);
    return job;
}

/* ----------------------------------------------------------------- which segments -- */

static bool knows_masks(const struct nigh__segment *segment) {
    return segment->masks != NULL || segment->weights != NULL;
}

/* Whether the one that is there came of these options; what cannot be read did not. */
static bool is_of_options(const struct graphs *graphs, const struct nigh__segment *segment) {
    const struct nigh__graph_job job = job_of(&graphs->options);
    struct nigh__graph graph;
    if (segment->sidecars[NIGH__SIDECAR_GRAPH] == NULL) return false;
    if (nigh__graph_of_segment(segment, &graph, NULL) != NIGH_OK) return false;
    const struct nigh__graph_facts *facts = &graph.facts;
    return graph.degree == job.degree && facts->neighbours == job.neighbours && facts->trees == job.trees &&
           facts->passes <= job.passes && facts->seed == job.seed &&
           facts->masks == (graphs->options.masks != 0 && knows_masks(segment)) &&
           facts->sample_step == (facts->masks == 0 ? 0 : nigh__graph_sample_step(job.sample_step, graph.nodes));
}

static nigh_status decide(void *user, const struct nigh__segment *segment, enum nigh__sidecar_fate *out,
                          nigh_error *error) {
    struct graphs *graphs = user;
    nigh_status status = NIGH_OK;
    bool keep = graphs->options.keep && segment->sidecars[NIGH__SIDECAR_GRAPH] != NULL;
    *out = NIGH__SIDECAR_WITHOUT;
    if (!keep && (segment->signatures == 0 || segment->signatures < graphs->options.min_rows)) return NIGH_OK;
    if (!keep && !graphs->options.rebuild && is_of_options(graphs, segment))
        status = nigh__sidecar_is_sound(segment, &nigh__graph_sidecar, &graphs->progress, &keep, error);
    *out = keep ? NIGH__SIDECAR_KEEP : NIGH__SIDECAR_MAKE;
    return status;
}

/* ------------------------------------------------------------------------- writing -- */

static uint32_t parameter(void *user, const struct nigh__segment *segment) {
    (void)segment;
    return job_of(&((const struct graphs *)user)->options).degree;
}

static nigh_status write_section(struct nigh__sidecar_writer *writer, enum nigh__graph_section type, const void *items,
                                 uint64_t count, size_t item_size, nigh_error *error) {
    nigh_status status = nigh__sidecar_section_begin(writer, type, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_add(writer, items, (size_t)count * item_size, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, count, error);
    return status;
}

static nigh_status write_sections(struct nigh__sidecar_writer *writer, const struct nigh__graph *graph, uint32_t words,
                                  nigh_error *error) {
    const struct nigh__columns_layout sample =
        graph->sample == NULL ? (struct nigh__columns_layout){0} : nigh__graph_sample_layout(graph, words);
    const uint64_t nodes = graph->nodes;
    const struct {
        enum nigh__graph_section type;
        const void *items;
        uint64_t count;
        size_t item_size;
    } sections[] = {
        {NIGH__GRAPH_FACTS, &graph->facts, 1, sizeof graph->facts},
        {NIGH__GRAPH_ORDER, graph->order, nodes, sizeof *graph->order},
        {NIGH__GRAPH_EDGE_STARTS, graph->edge_starts, nodes + 1, sizeof *graph->edge_starts},
        {NIGH__GRAPH_EDGES, graph->edges, graph->edge_count, sizeof *graph->edges},
        {NIGH__GRAPH_SEED_STARTS, graph->seed_starts, nigh__graph_seed_lists(&graph->facts) + 1,
         sizeof *graph->seed_starts},
        {NIGH__GRAPH_SEEDS, graph->seeds, graph->seed_count, sizeof *graph->seeds},
        {NIGH__GRAPH_SKETCHES, graph->sketches, nodes * graph->facts.sketch_words, sizeof *graph->sketches},
        {NIGH__GRAPH_GROUPS, graph->groups, graph->group_count * graph->facts.centre_words, sizeof *graph->groups},
        {NIGH__GRAPH_GROUP_STARTS, graph->group_starts, graph->group_count + 1, sizeof *graph->group_starts},
        {NIGH__GRAPH_CENTRES, graph->centres, graph->centre_count * graph->facts.centre_words, sizeof *graph->centres},
        {NIGH__GRAPH_CENTRE_NODES, graph->centre_nodes, graph->centre_count, sizeof *graph->centre_nodes},
        {NIGH__GRAPH_SAMPLE, graph->sample, sample.supers, sample.super_bytes},
    };
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0] && status == NIGH_OK; i++) {
        if (sections[i].items == NULL) continue; /* it has no centres, or no sample */
        status =
            write_section(writer, sections[i].type, sections[i].items, sections[i].count, sections[i].item_size, error);
    }
    return status;
}

/* Inside a guard.  Weights are of documents; a row has those of the first that has it. */
static void read_weights(const struct nigh__segment *segment, uint64_t *masks) {
    const size_t words = segment->words;
    const size_t bits = segment->width_bits;
    for (uint32_t row = 0; row < segment->signatures; row++) {
        const uint32_t first = NIGH__ONCE(segment->group_starts[row]);
        const uint32_t document = first < segment->documents ? NIGH__ONCE(segment->group_documents[first]) : 0;
        const uint8_t *weights = segment->weights + (document < segment->documents ? document : 0) * bits;
        nigh__weights_mask(weights, segment->width_bits, (uint8_t *)(masks + row * words));
    }
}

/* NULL in *out: the segment does not know. */
static nigh_status masks_of(const struct graphs *graphs, const struct nigh__segment *segment, uint64_t **out,
                            nigh_error *error) {
    *out = NULL;
    if (graphs->options.masks == 0 || !knows_masks(segment)) return NIGH_OK;
    uint64_t *masks = nigh__alloc_zero(graphs->context, (size_t)segment->signatures * segment->words, sizeof *masks);
    if (masks == NULL) return nigh__no_memory(error, "for the masks of signatures");
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) {
        nigh__free(graphs->context, masks);
        return nigh__fail(error, NIGH_EIO, "masks could not be read while in use");
    }
    if (segment->masks != NULL)
        memcpy(masks, segment->masks, (size_t)segment->signatures * segment->words * sizeof *masks);
    else
        read_weights(segment, masks);
    nigh__guard_leave(&guard);
    *out = masks;
    return NIGH_OK;
}

static nigh_status write_graph(void *user, const struct nigh__segment *segment, struct nigh__sidecar_writer *writer,
                               nigh_error *error) {
    struct graphs *graphs = user;
    struct nigh__graph_job job = job_of(&graphs->options);
    struct nigh__graph_made made;
    job.context = graphs->context;
    job.rows = segment->rows;
    job.count = segment->signatures;
    job.width_bits = segment->width_bits;
    job.map = segment->map;
    job.map_length = segment->length;
    job.progress = &graphs->progress;
    uint64_t *masks;
    nigh_status status = masks_of(graphs, segment, &masks, error);
    if (status != NIGH_OK) return status;
    job.masks = masks;
    status = nigh__graph_make(&job, &made, error);
    nigh__free(graphs->context, masks);
    if (status != NIGH_OK) return status;
    graphs->masked += made.graph.facts.masks;
    graphs->edges += made.graph.edge_count;
    graphs->wanted += made.graph.facts.recall_wanted;
    graphs->found += made.graph.facts.recall_found;
    status = write_sections(writer, &made.graph, segment->words, error);
    nigh__graph_made_release(&made);
    return status;
}

/* ------------------------------------------------------------------- after a merge -- */

uint32_t nigh__graph_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment) {
    (void)segment;
    return like->sidecars[NIGH__SIDECAR_GRAPH]->header.parameter;
}

nigh_status nigh__graph_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                   uint32_t threads, const nigh_progress *progress, struct nigh__sidecar_writer *writer,
                                   nigh_error *error) {
    struct graphs graphs = {.context = segment->context};
    struct nigh__graph graph;
    const nigh_status status = nigh__graph_of_segment(like, &graph, error);
    if (status != NIGH_OK) return status;
    nigh__options_defaults(&nigh__graph_options_shape, &graphs.options);
    graphs.options.degree = graph.degree;
    graphs.options.neighbours = graph.facts.neighbours;
    graphs.options.trees = graph.facts.trees;
    graphs.options.seed = graph.facts.seed;
    graphs.options.masks = graph.facts.masks != 0;
    graphs.options.threads = threads;
    nigh__progress_init(&graphs.progress, progress);
    return write_graph(&graphs, segment, writer, error);
}

/* ----------------------------------------------------------------------- the calls -- */

static nigh_status check_one(const char *name, uint32_t value, uint32_t least, uint32_t most, nigh_error *error) {
    if (value == 0 || (value >= least && value <= most)) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "%s of a graph: %u; %u to %u are allowed", name, value, least, most);
}

static nigh_status check_options(const nigh_graph_options *options, nigh_error *error) {
    const uint32_t most = NIGH__GRAPH_MAX_DEGREE;
    nigh_status status = check_one("degree", options->degree, MIN_OF_A_NODE, most, error);
    if (status == NIGH_OK) status = check_one("neighbours", options->neighbours, MIN_OF_A_NODE, most, error);
    if (status == NIGH_OK) status = check_one("trees", options->trees, 1, MAX_TREES, error);
    if (status == NIGH_OK) status = check_one("passes", options->passes, 1, MAX_PASSES, error);
    if (status == NIGH_OK) status = check_one("sample step", options->sample_step, 1, NIGH__GRAPH_MAX_STEP, error);
    return status;
}

nigh_status nigh_graph_build(nigh_context *context, const char *path, const nigh_graph_options *options,
                             nigh_graph_result *result, nigh_error *error) {
    struct graphs graphs = {.context = context};
    nigh_status status = nigh__options_copy(&nigh__graph_options_shape, &graphs.options, options, error);
    if (status == NIGH_OK) status = check_options(&graphs.options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&graphs.progress, graphs.options.progress);
    struct nigh__sidecar_build build = {.context = context,
                                        .kind = &nigh__graph_sidecar,
                                        .progress = &graphs.progress,
                                        .user = &graphs,
                                        .decide = decide,
                                        .write = write_graph,
                                        .parameter = parameter};
    status = nigh__sidecar_build(&build, path, error);
    const nigh_graph_result made = {.built = build.built,
                                    .kept = build.kept,
                                    .without = build.without,
                                    .bytes = build.bytes,
                                    .edges = graphs.edges,
                                    .recall = graphs.wanted == 0 ? 0 : (double)graphs.found / (double)graphs.wanted,
                                    .masked = graphs.masked};
    if (result != NULL) nigh__info_copy(result, &made, sizeof made);
    return status;
}

nigh_status nigh_graph_remove(nigh_context *context, const char *path, nigh_error *error) {
    return nigh__sidecar_remove_all(context, path, &nigh__graph_sidecar, error);
}

/* --------------------------------------------------------------------- foretelling -- */

/* On their side; without masks there is none. */
static uint64_t sample_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options) {
    const uint32_t nodes = signatures < UINT32_MAX ? (uint32_t)signatures : UINT32_MAX;
    const uint32_t step = options->masks == 0 ? 0 : nigh__graph_sample_step(options->sample_step, nodes);
    return step == 0 ? 0 : signatures / step * nigh__row_words(width_bits) * sizeof(uint64_t);
}

/* Of text signatures about half of the edges that a node may have are there, and half of its places in seed lists. */
uint64_t nigh_graph_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options) {
    nigh_graph_options given;
    if (width_bits == 0 || signatures == 0 ||
        nigh__options_copy(&nigh__graph_options_shape, &given, options, NULL) != NIGH_OK)
        return 0;
    const struct nigh__graph_job job = job_of(&given);
    struct nigh__graph_facts facts = {.sketch_words = nigh__graph_sketch_words(&job, width_bits)};
    nigh__seeds_shape(signatures, width_bits, &facts);
    const uint64_t numbers = 2 + job.degree / 2 + facts.seed_slices / 2;
    const uint64_t node = numbers * sizeof(uint32_t) + facts.sketch_words * sizeof(uint64_t);
    const uint64_t centre = nigh__centre_words(nigh__row_words(width_bits)) * sizeof(uint64_t) + sizeof(uint32_t);
    const uint64_t centres = signatures / NIGH__NODES_A_CENTRE;
    return signatures * node + nigh__graph_seed_lists(&facts) * sizeof(uint32_t) +
           (centres + centres / NIGH__CENTRES_A_GROUP) * centre + sample_bytes(signatures, width_bits, &given) +
           NIGH__SECTIONS_START;
}

uint64_t nigh_graph_build_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options) {
    nigh_graph_options given;
    if (width_bits == 0 || signatures == 0 ||
        nigh__options_copy(&nigh__graph_options_shape, &given, options, NULL) != NIGH_OK)
        return 0;
    const struct nigh__graph_job job = job_of(&given);
    return nigh__graph_make_bytes(&job, signatures, width_bits);
}
