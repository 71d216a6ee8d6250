/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a graph against its rows, number by number. */
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"
#include "graph/graph_sample.h"
#include "slices/slices.h"

#define NODES_A_TICK 4096u

struct check {
    const struct nigh__segment *segment;
    struct nigh__graph graph;
    uint8_t *named;     /* a bit for each row: the order has it */
    uint64_t *sampled;  /* rows of a super-block of the sample, where there is one */
    uint8_t *turned;    /* those on their side */
    uint64_t done, all; /* nodes, lists, groups and super-blocks */
    /* What is wrong, and where. */
    const char *lie;
    enum nigh__graph_section section;
    uint64_t index;
};

static bool lies(struct check *check, enum nigh__graph_section section, uint64_t index, const char *why) {
    check->lie = why;
    check->section = section;
    check->index = index;
    return false;
}

static bool check_order(struct check *check, uint32_t node, uint32_t *row) {
    *row = NIGH__ONCE(check->graph.order[node]);
    if (*row >= check->graph.nodes) return lies(check, NIGH__GRAPH_ORDER, node, "a row number is too large");
    uint8_t *byte = &check->named[*row / 8];
    const uint8_t bit = (uint8_t)(1u << *row % 8);
    if ((*byte & bit) != 0) return lies(check, NIGH__GRAPH_ORDER, node, "two nodes are the same row");
    *byte |= bit;
    return true;
}

static bool check_edges(struct check *check, uint32_t node) {
    const struct nigh__graph *graph = &check->graph;
    const uint32_t first = NIGH__ONCE(graph->edge_starts[node]);
    const uint32_t end = NIGH__ONCE(graph->edge_starts[node + 1]);
    if (end < first || end > graph->edge_count || (node == 0 && first != 0))
        return lies(check, NIGH__GRAPH_EDGE_STARTS, node, "edges lie outside their section");
    if (end - first > graph->degree) return lies(check, NIGH__GRAPH_EDGE_STARTS, node, "a node has too many edges");
    for (uint32_t i = first; i < end; i++) {
        if (graph->edges[i] >= graph->nodes) return lies(check, NIGH__GRAPH_EDGES, i, "an edge leads to no node");
        if (graph->edges[i] == node) return lies(check, NIGH__GRAPH_EDGES, i, "an edge leads back to its own node");
        for (uint32_t j = first; j < i; j++)
            if (graph->edges[j] == graph->edges[i]) return lies(check, NIGH__GRAPH_EDGES, i, "an edge is there twice");
    }
    return true;
}

static bool check_node(struct check *check, uint32_t node) {
    const struct nigh__graph *graph = &check->graph;
    const uint32_t words = graph->facts.sketch_words;
    uint32_t row;
    if (!check_order(check, node, &row) || !check_edges(check, node)) return false;
    const uint64_t *sketch = graph->sketches + (uint64_t)node * words;
    if (memcmp(sketch, check->segment->rows + (uint64_t)row * check->segment->words, words * sizeof *sketch) != 0)
        return lies(check, NIGH__GRAPH_SKETCHES, (uint64_t)node * words, "a sketch does not match its signature");
    return true;
}

/* One list of seeds: ascending nodes that have its value. */
static bool check_list(struct check *check, uint64_t list) {
    const struct nigh__graph *graph = &check->graph;
    const uint32_t bits = graph->facts.seed_bits;
    const struct nigh__slice slice = {.start = (uint32_t)(list >> bits) * bits, .bits = bits};
    const uint32_t value = (uint32_t)(list & ((UINT64_C(1) << bits) - 1));
    const uint32_t first = NIGH__ONCE(graph->seed_starts[list]);
    const uint32_t end = NIGH__ONCE(graph->seed_starts[list + 1]);
    if (end < first || end > graph->seed_count || (list == 0 && first != 0))
        return lies(check, NIGH__GRAPH_SEED_STARTS, list, "seeds lie outside their section");
    if (end - first > graph->facts.seed_longest)
        return lies(check, NIGH__GRAPH_SEED_STARTS, list, "a list of seeds is too long");
    for (uint32_t i = first; i < end; i++) {
        const uint32_t node = NIGH__ONCE(graph->seeds[i]);
        if (node >= graph->nodes) return lies(check, NIGH__GRAPH_SEEDS, i, "a seed is no node");
        if (i > first && graph->seeds[i - 1] >= node)
            return lies(check, NIGH__GRAPH_SEEDS, i, "seeds are out of order");
        const uint32_t row = NIGH__ONCE(graph->order[node]);
        if (row >= graph->nodes) /* it was checked, but others may write */
            return lies(check, NIGH__GRAPH_ORDER, node, "a row number is too large");
        if (nigh__slice_value(check->segment->rows + (uint64_t)row * check->segment->words, slice) != value)
            return lies(check, NIGH__GRAPH_SEEDS, i, "a seed has another slice than those of its list");
    }
    return true;
}

static bool check_group(struct check *check, uint64_t group) {
    const struct nigh__graph *graph = &check->graph;
    const uint32_t first = NIGH__ONCE(graph->group_starts[group]);
    const uint32_t end = NIGH__ONCE(graph->group_starts[group + 1]);
    if (end < first || end > graph->centre_count || (group == 0 && first != 0))
        return lies(check, NIGH__GRAPH_GROUP_STARTS, group, "centres lie outside their section");
    for (uint32_t i = first; i < end; i++)
        if (graph->centre_nodes[i] >= graph->nodes)
            return lies(check, NIGH__GRAPH_CENTRE_NODES, i, "a centre is no node");
    return true;
}

/* Made anew from the rows that the order says. */
static bool check_sample(struct check *check, uint64_t super) {
    const struct nigh__graph *graph = &check->graph;
    const uint32_t words = check->segment->words;
    const struct nigh__columns_layout all = nigh__graph_sample_layout(graph, words);
    const uint64_t left = all.rows - super * NIGH__SUPER_ROWS;
    const struct nigh__columns_layout own =
        nigh__columns_layout_of(left < NIGH__SUPER_ROWS ? (uint32_t)left : NIGH__SUPER_ROWS, all.width_bits);
    for (uint32_t i = 0; i < own.rows; i++) {
        const uint64_t node = (super * NIGH__SUPER_ROWS + i) * graph->facts.sample_step;
        const uint32_t row = NIGH__ONCE(graph->order[node]);
        if (row >= graph->nodes) return lies(check, NIGH__GRAPH_ORDER, node, "a row number is too large");
        memcpy(check->sampled + (size_t)i * words, check->segment->rows + (size_t)row * words,
               words * sizeof(uint64_t));
    }
    nigh__columns_turn(&own, check->sampled, 0, check->turned);
    if (memcmp(check->turned, graph->sample + super * own.super_bytes, own.super_bytes) == 0) return true;
    return lies(check, NIGH__GRAPH_SAMPLE, super, "the sample does not match its nodes");
}

static uint64_t sample_supers(const struct check *check) {
    return check->graph.sample == NULL ? 0 : nigh__graph_sample_layout(&check->graph, check->segment->words).supers;
}

static bool check_ends(struct check *check) {
    const struct nigh__graph *graph = &check->graph;
    const uint64_t lists = nigh__graph_seed_lists(&graph->facts);
    if (graph->facts.centre_words != 0 && graph->group_starts[graph->group_count] != graph->centre_count)
        return lies(check, NIGH__GRAPH_GROUP_STARTS, graph->group_count, "there are centres of no group");
    if (graph->edge_starts[graph->nodes] != graph->edge_count)
        return lies(check, NIGH__GRAPH_EDGE_STARTS, graph->nodes, "there are edges of no node");
    if (graph->seed_starts[lists] != graph->seed_count)
        return lies(check, NIGH__GRAPH_SEED_STARTS, lists, "there are seeds of no list");
    return true;
}

/* Nodes first, then lists of seeds, then groups, then the sample. */
static bool check_step(struct check *check, uint64_t step) {
    const struct nigh__graph *graph = &check->graph;
    if (step < graph->nodes) return check_node(check, (uint32_t)step);
    step -= graph->nodes;
    const uint64_t lists = nigh__graph_seed_lists(&graph->facts);
    if (step < lists) return check_list(check, step);
    step -= lists;
    return step < graph->group_count ? check_group(check, step) : check_sample(check, step - graph->group_count);
}

/* So many steps, and after the last the ends. */
static nigh_status check_some(void *user, nigh_error *error) {
    struct check *check = user;
    const uint64_t end = check->all - check->done < NODES_A_TICK ? check->all : check->done + NODES_A_TICK;
    bool sound = true;
    for (; check->done < end && sound; check->done++) sound = check_step(check, check->done);
    if (sound && check->done == check->all) sound = check_ends(check);
    if (sound) return NIGH_OK;
    size_t item = check->section == NIGH__GRAPH_SKETCHES ? sizeof(uint64_t) : sizeof(uint32_t);
    if (check->section == NIGH__GRAPH_SAMPLE)
        item = nigh__graph_sample_layout(&check->graph, check->segment->words).super_bytes;
    return nigh__sidecar_corrupt(check->graph.sidecar, check->section, check->index, item, check->lie, error);
}

static bool take_room(struct check *check) {
    const nigh_context *context = check->segment->context;
    const uint32_t words = check->segment->words;
    check->named = nigh__alloc_zero(context, (size_t)check->graph.nodes / 8 + 1, 1);
    if (check->graph.sample == NULL) return check->named != NULL;
    check->sampled = nigh__alloc(context, (size_t)NIGH__SUPER_ROWS * words, sizeof *check->sampled);
    check->turned = nigh__alloc(context, nigh__graph_sample_layout(&check->graph, words).super_bytes, 1);
    return check->named != NULL && check->sampled != NULL && check->turned != NULL;
}

static nigh_status check_all(struct check *check, struct nigh__progress *progress, nigh_error *error) {
    nigh_status status;
    do {
        status = nigh__sidecar_guarded(check->segment, check->graph.sidecar, check_some, check, error);
        if (status == NIGH_OK && nigh__progress_tick(progress, "checking", 0, 0))
            status = nigh__progress_cancelled(error);
    } while (status == NIGH_OK && check->done < check->all);
    return status;
}

nigh_status nigh__graph_check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    struct check check = {.segment = segment};
    nigh_status status = nigh__graph_of_segment(segment, &check.graph, error);
    if (status != NIGH_OK) return status;
    check.all = check.graph.nodes + nigh__graph_seed_lists(&check.graph.facts) + check.graph.group_count +
                sample_supers(&check);
    status = take_room(&check) ? check_all(&check, progress, error) : nigh__no_memory(error, "to check a graph");
    nigh__free(segment->context, check.named);
    nigh__free(segment->context, check.sampled);
    nigh__free(segment->context, check.turned);
    return status;
}
