/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "graph/graph_make.h"

#include <string.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "graph/centres.h"
#include "graph/descent.h"
#include "graph/graph_recall.h"
#include "graph/graph_sample.h"
#include "graph/graph_seeds.h"
#include "graph/grouping.h"
#include "graph/joining.h"
#include "graph/pivot_tree.h"
#include "graph/thinning.h"

#define DEFAULT_DEGREE 48u
#define DEFAULT_NEIGHBOURS 40u
#define DEFAULT_TREES 12u
#define DEFAULT_PASSES 6u
#define DEFAULT_SKETCH_WORDS 4u

#define ORDER_LEAF 32u /* sketches of so many share a kilobyte */
#define JOIN_LEAF 1000u
#define NODES_A_THREAD 1024u

struct maker {
    const struct nigh__graph_job *job;
    struct nigh__parallel parallel;
    uint32_t words;
    uint64_t *rows;  /* in the order of the nodes */
    uint64_t *masks; /* the same; NULL: every bit counts */
    uint32_t *order; /* row of each node */
    struct nigh__neighbours neighbours;
    struct nigh__joining joining;
    struct nigh__centres centres;
    struct nigh__graph_made *made;
};

void nigh__graph_defaults(struct nigh__graph_job *job) {
    if (job->degree == 0) job->degree = DEFAULT_DEGREE;
    if (job->neighbours == 0) job->neighbours = DEFAULT_NEIGHBOURS;
    if (job->trees == 0) job->trees = DEFAULT_TREES;
    if (job->passes == 0) job->passes = DEFAULT_PASSES;
}

/* -------------------------------------------------------------------------- order -- */

/* A copy that nobody can cut short. */
static nigh_status copy_rows(const struct maker *maker, uint64_t *out) {
    const struct nigh__graph_job *job = maker->job;
    const size_t bytes = (size_t)job->count * maker->words * sizeof *out;
    struct nigh__guard guard;
    if (job->map_length == 0) {
        memcpy(out, job->rows, bytes);
        return NIGH_OK;
    }
    nigh__guard_enter(&guard, job->map, job->map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return NIGH_EIO;
    memcpy(out, job->rows, bytes);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

static void reset_ids(uint32_t *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) ids[i] = i;
}

static nigh_status grow_order(struct maker *maker, const uint64_t *given) {
    const uint32_t count = maker->job->count;
    const struct nigh__pivot_tree tree = {.parallel = &maker->parallel,
                                          .rows = given,
                                          .masks = maker->job->masks,
                                          .words = maker->words,
                                          .count = count,
                                          .leaf_size = ORDER_LEAF,
                                          .seed = nigh__mix(maker->job->seed),
                                          .ids = maker->order};
    struct nigh__pivot_room *room =
        nigh__pivot_room_new(maker->job->context, count, maker->words, maker->parallel.threads);
    if (room == NULL) return NIGH_ENOMEM;
    nigh__parallel_stage(&maker->parallel, "ordering", count);
    reset_ids(maker->order, count);
    const nigh_status status = nigh__pivot_tree_grow(&tree, room);
    nigh__pivot_room_free(maker->job->context, room);
    return status;
}

static nigh_status order_rows(struct maker *maker) {
    const size_t words = maker->words;
    const size_t count = maker->job->count;
    uint64_t *given = nigh__alloc_large(maker->job->context, count * words, sizeof *given);
    nigh_status status = given == NULL ? NIGH_ENOMEM : copy_rows(maker, given);
    if (status == NIGH_OK) status = grow_order(maker, given);
    for (size_t node = 0; status == NIGH_OK && node < count; node++)
        memcpy(maker->rows + node * words, given + maker->order[node] * words, words * sizeof *given);
    for (size_t node = 0; status == NIGH_OK && maker->masks != NULL && node < count; node++)
        memcpy(maker->masks + node * words, maker->job->masks + maker->order[node] * words, words * sizeof *given);
    nigh__free(maker->job->context, given);
    return status;
}

/* --------------------------------------------------------------------- neighbours -- */

static void join_first(void *user, uint32_t thread, const uint32_t *ids, uint32_t count) {
    nigh__join_first(user, thread, ids, count);
}

static void join_leaf(void *user, uint32_t thread, const uint32_t *ids, uint32_t count) {
    nigh__join(user, thread, ids, count, count);
}

static nigh_status grow_trees(struct maker *maker, uint32_t *ids, struct nigh__pivot_room *room) {
    const uint32_t count = maker->job->count;
    struct nigh__pivot_tree tree = {.parallel = &maker->parallel,
                                    .rows = maker->rows,
                                    .masks = maker->masks,
                                    .words = maker->words,
                                    .count = count,
                                    .leaf_size = JOIN_LEAF,
                                    .ids = ids,
                                    .user = &maker->joining};
    nigh_status status = NIGH_OK;
    nigh__parallel_stage(&maker->parallel, "neighbours", (uint64_t)maker->job->trees * count);
    for (uint32_t t = 0; t < maker->job->trees && status == NIGH_OK; t++) {
        reset_ids(ids, count);
        tree.seed = nigh__mix(maker->job->seed + 1 + t);
        tree.leaf = t == 0 ? join_first : join_leaf;
        status = nigh__pivot_tree_grow(&tree, room);
    }
    return status;
}

static nigh_status find_by_trees(struct maker *maker) {
    const nigh_context *context = maker->job->context;
    const uint32_t count = maker->job->count;
    uint32_t *ids = nigh__alloc_large(context, count, sizeof *ids);
    struct nigh__pivot_room *room = nigh__pivot_room_new(context, count, maker->words, maker->parallel.threads);
    const uint32_t leaf = count < JOIN_LEAF ? count : JOIN_LEAF;
    nigh_status status = NIGH_ENOMEM;
    if (ids != NULL && room != NULL && nigh__joining_room(&maker->joining, leaf)) status = grow_trees(maker, ids, room);
    nigh__pivot_room_free(context, room);
    nigh__free(context, ids);
    return status;
}

/* There are no more neighbours than other nodes, and no more edges. */
static uint32_t at_most_others(const struct maker *maker, uint32_t wanted) {
    const uint32_t others = maker->job->count - 1;
    return wanted < others ? wanted : others == 0 ? 1 : others;
}

static nigh_status find_neighbours(struct maker *maker) {
    const struct nigh__graph_job *job = maker->job;
    const uint32_t k = at_most_others(maker, job->neighbours);
    const uint32_t degree = at_most_others(maker, job->degree);
    if (!nigh__neighbours_make(job->context, job->count, k, k > degree ? k : degree, maker->parallel.threads > 1,
                               &maker->neighbours) ||
        !nigh__joining_make(job->context, maker->rows, maker->masks, maker->words, &maker->neighbours,
                            maker->parallel.threads, &maker->joining))
        return NIGH_ENOMEM;
    struct nigh__graph_facts *facts = &maker->made->graph.facts;
    nigh_status status = find_by_trees(maker);
    if (status == NIGH_OK)
        status = nigh__descend(&maker->parallel, &maker->joining, job->passes, nigh__mix(~job->seed), &facts->passes);
    if (status != NIGH_OK) return status;
    nigh__joining_release(&maker->joining);
    if (!nigh__graph_measure(&maker->parallel, maker->rows, maker->masks, maker->words, &maker->neighbours, facts))
        return NIGH_ECANCELLED;
    if (maker->masks == NULL && !nigh__graph_far(job->context, &maker->neighbours, maker->words, facts))
        return NIGH_ENOMEM;
    status = nigh__centres_find(&maker->parallel, maker->rows, maker->masks, maker->words, &maker->neighbours,
                                &maker->centres);
    if (status != NIGH_OK) return status;
    return nigh__thin(&maker->parallel, maker->rows, maker->masks, maker->words, &maker->neighbours, degree);
}

/* -------------------------------------------------------------------------- graph -- */

static nigh_status count_edges(struct maker *maker, uint32_t *starts, nigh_error *error) {
    uint64_t start = 0;
    for (uint32_t node = 0; node < maker->job->count; node++) {
        starts[node] = (uint32_t)start;
        start += nigh__neighbours_count(&maker->neighbours, node);
        if (start < UINT32_MAX) continue;
        (void)nigh__fail(error, NIGH_ELIMIT, "a graph of %u signatures has more than 4,294,967,294 edges",
                         maker->job->count);
        return NIGH_ELIMIT;
    }
    starts[maker->job->count] = (uint32_t)start;
    maker->made->graph.edge_count = start;
    return NIGH_OK;
}

static nigh_status collect_edges(struct maker *maker, nigh_error *error) {
    struct nigh__graph *graph = &maker->made->graph;
    const nigh_context *context = maker->job->context;
    uint32_t *starts = nigh__alloc_large(context, (size_t)graph->nodes + 1, sizeof *starts);
    graph->edge_starts = starts;
    if (starts == NULL) return NIGH_ENOMEM;
    const nigh_status status = count_edges(maker, starts, error);
    if (status != NIGH_OK) return status;
    uint32_t *edges = nigh__alloc_large(context, (size_t)graph->edge_count, sizeof *edges);
    graph->edges = edges;
    if (edges == NULL) return NIGH_ENOMEM;
    for (uint32_t node = 0; node < graph->nodes; node++)
        memcpy(edges + starts[node], nigh__neighbours_ids(&maker->neighbours, node),
               (starts[node + 1] - starts[node]) * sizeof *edges);
    nigh__neighbours_release(context, &maker->neighbours);
    return NIGH_OK;
}

static nigh_status collect_sketches(struct maker *maker) {
    struct nigh__graph *graph = &maker->made->graph;
    const size_t words = graph->facts.sketch_words;
    uint64_t *sketches = nigh__alloc_large(maker->job->context, graph->nodes * words, sizeof *sketches);
    graph->sketches = sketches;
    if (sketches == NULL) return NIGH_ENOMEM;
    for (size_t node = 0; node < graph->nodes; node++)
        memcpy(sketches + node * words, maker->rows + node * maker->words, words * sizeof *sketches);
    return NIGH_OK;
}

static nigh_status collect_seeds(struct maker *maker) {
    struct nigh__graph *graph = &maker->made->graph;
    uint32_t *starts = NULL;
    uint32_t *seeds = NULL;
    nigh__seeds_shape(graph->nodes, maker->job->width_bits, &graph->facts);
    const nigh_status status = nigh__seeds_make(&maker->parallel, maker->rows, graph->nodes, maker->words,
                                                &graph->facts, &starts, &seeds, &graph->seed_count);
    graph->seed_starts = starts;
    graph->seeds = seeds;
    return status;
}

static nigh_status collect_centres(struct maker *maker) {
    struct nigh__graph *graph = &maker->made->graph;
    struct nigh__centres *centres = &maker->centres;
    struct nigh__groups groups;
    if (centres->count == 0) return NIGH_OK; /* of a handful of nodes */
    const nigh_status status = nigh__groups_make(&maker->parallel, centres, &groups);
    graph->facts.centre_words = centres->words;
    graph->centre_count = centres->count;
    graph->centres = centres->sketches;
    graph->centre_nodes = centres->nodes;
    graph->group_count = groups.count;
    graph->groups = groups.sketches;
    graph->group_starts = groups.starts;
    *centres = (struct nigh__centres){0}; /* the graph has them now */
    return status;
}

static nigh_status collect_sample(struct maker *maker) {
    struct nigh__graph *graph = &maker->made->graph;
    if (maker->masks != NULL) graph->facts.sample_step = nigh__graph_sample_step(maker->job->sample_step, graph->nodes);
    if (graph->facts.sample_step == 0) return NIGH_OK;
    graph->sample = nigh__graph_sample_make(maker->job->context, graph, maker->rows, maker->words);
    return graph->sample == NULL ? NIGH_ENOMEM : NIGH_OK;
}

static nigh_status run(struct maker *maker, nigh_error *error) {
    nigh_status status = order_rows(maker);
    if (status == NIGH_OK) status = find_neighbours(maker);
    if (status == NIGH_OK) status = collect_edges(maker, error);
    if (status == NIGH_OK) status = collect_sketches(maker);
    if (status == NIGH_OK) status = collect_seeds(maker);
    if (status == NIGH_OK) status = collect_centres(maker);
    if (status == NIGH_OK) status = collect_sample(maker);
    maker->made->graph.order = maker->order;
    if (status == NIGH_ENOMEM)
        (void)nigh__fail(error, status, "no memory for a graph of %u signatures", maker->job->count);
    if (status == NIGH_EIO) (void)nigh__fail(error, status, "signatures could not be read while in use");
    if (status == NIGH_ECANCELLED) (void)nigh__progress_cancelled(error);
    return status;
}

/* ---------------------------------------------------------------------- the whole -- */

static uint32_t useful_threads(const struct nigh__graph_job *job) {
    const uint32_t most = job->count / NODES_A_THREAD + 1;
    const uint32_t asked = nigh__threads_resolve(job->threads);
    return asked < most ? asked : most;
}

uint32_t nigh__graph_sketch_words(const struct nigh__graph_job *job, uint32_t width_bits) {
    const uint32_t words = nigh__row_words(width_bits);
    const uint32_t wanted = job->sketch_words == 0 ? DEFAULT_SKETCH_WORDS : job->sketch_words;
    return wanted < words ? wanted : words;
}

/* Passes need the most: the trees are gone by then, and the rest comes later. */
uint64_t nigh__graph_make_bytes(const struct nigh__graph_job *job, uint64_t signatures, uint32_t width_bits) {
    const uint64_t row = nigh__row_words(width_bits) * sizeof(uint64_t) + sizeof(uint32_t);
    const uint32_t room = job->neighbours > job->degree ? job->neighbours : job->degree;
    const uint64_t mask = job->masks == NULL ? 0 : UINT64_C(2) * nigh__row_words(width_bits) * sizeof(uint64_t);
    return signatures * (row + mask) + nigh__neighbours_bytes(signatures, room) +
           nigh__descent_bytes(signatures, job->neighbours);
}

nigh_status nigh__graph_make(const struct nigh__graph_job *job, struct nigh__graph_made *out, nigh_error *error) {
    struct maker maker = {.job = job, .words = nigh__row_words(job->width_bits), .made = out};
    maker.parallel =
        (struct nigh__parallel){.context = job->context, .threads = useful_threads(job), .progress = job->progress};
    *out = (struct nigh__graph_made){.context = job->context, .graph = {.nodes = job->count, .degree = job->degree}};
    out->graph.facts = (struct nigh__graph_facts){.neighbours = job->neighbours,
                                                  .trees = job->trees,
                                                  .sketch_words = nigh__graph_sketch_words(job, job->width_bits),
                                                  .seed = job->seed,
                                                  .masks = job->masks != NULL};
    if (job->count >= NIGH__NOBODY)
        return nigh__fail(error, NIGH_ELIMIT, "a graph of %u signatures; there can be 2,147,483,646", job->count);
    nigh_status status = NIGH_ENOMEM;
    maker.rows = nigh__alloc_large(job->context, (size_t)job->count * maker.words, sizeof *maker.rows);
    maker.order = nigh__alloc_large(job->context, job->count, sizeof *maker.order);
    if (job->masks != NULL)
        maker.masks = nigh__alloc_large(job->context, (size_t)job->count * maker.words, sizeof *maker.masks);
    if (maker.rows != NULL && maker.order != NULL && (maker.masks != NULL || job->masks == NULL))
        status = run(&maker, error);
    else
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to order %u signatures", job->count);
    nigh__joining_release(&maker.joining);
    nigh__neighbours_release(job->context, &maker.neighbours);
    nigh__centres_release(job->context, &maker.centres);
    nigh__free(job->context, maker.masks);
    nigh__free(job->context, maker.rows);
    out->graph.order = maker.order;
    if (status != NIGH_OK) nigh__graph_made_release(out);
    return status;
}

/* The graph is read-only for whoever searches it; here is where it was made. */
static void free_section(const nigh_context *context, const void *section) {
    void *memory;
    memcpy(&memory, &section, sizeof memory);
    nigh__free(context, memory);
}

void nigh__graph_made_release(struct nigh__graph_made *made) {
    if (made->context == NULL) return;
    free_section(made->context, made->graph.order);
    free_section(made->context, made->graph.edge_starts);
    free_section(made->context, made->graph.edges);
    free_section(made->context, made->graph.seed_starts);
    free_section(made->context, made->graph.seeds);
    free_section(made->context, made->graph.sketches);
    free_section(made->context, made->graph.groups);
    free_section(made->context, made->graph.group_starts);
    free_section(made->context, made->graph.centres);
    free_section(made->context, made->graph.centre_nodes);
    free_section(made->context, made->graph.sample);
    *made = (struct nigh__graph_made){0};
}
