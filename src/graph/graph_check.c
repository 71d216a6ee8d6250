/* SPDX-License-Identifier: Apache-2.0 */
/* A graph against the rows it is of, number by number. */
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "slices/slices.h"

#define NODES_A_TICK 4096u

struct check {
    const struct nigh__segment *segment;
    struct nigh__graph graph;
    uint8_t *named;     /* a bit for each row: the order has it */
    uint64_t done, all; /* nodes, lists and groups */
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
        return lies(check, NIGH__GRAPH_SKETCHES, (uint64_t)node * words, "a sketch is not that of its signature");
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

/* Nodes first, then lists of seeds, then groups. */
static bool check_step(struct check *check, uint64_t step) {
    const struct nigh__graph *graph = &check->graph;
    if (step < graph->nodes) return check_node(check, (uint32_t)step);
    step -= graph->nodes;
    const uint64_t lists = nigh__graph_seed_lists(&graph->facts);
    return step < lists ? check_list(check, step) : check_group(check, step - lists);
}

/* So many steps, and after the last the ends. */
static nigh_status check_some(void *user, nigh_error *error) {
    struct check *check = user;
    const uint64_t end = check->all - check->done < NODES_A_TICK ? check->all : check->done + NODES_A_TICK;
    bool sound = true;
    for (; check->done < end && sound; check->done++) sound = check_step(check, check->done);
    if (sound && check->done == check->all) sound = check_ends(check);
    if (sound) return NIGH_OK;
    const size_t item = check->section == NIGH__GRAPH_SKETCHES ? sizeof(uint64_t) : sizeof(uint32_t);
    return nigh__sidecar_corrupt(check->graph.sidecar, check->section, check->index, item, check->lie, error);
}

nigh_status nigh__graph_check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    struct check check = {.segment = segment};
    nigh_status status = nigh__graph_of_segment(segment, &check.graph, error);
    if (status != NIGH_OK) return status;
    check.named = nigh__alloc_zero(segment->context, (size_t)check.graph.nodes / 8 + 1, 1);
    if (check.named == NULL) return nigh__no_memory(error, "to check a graph");
    check.all = check.graph.nodes + nigh__graph_seed_lists(&check.graph.facts) + check.graph.group_count;
    do {
        status = nigh__sidecar_guarded(segment, check.graph.sidecar, check_some, &check, error);
        if (status == NIGH_OK && nigh__progress_tick(progress, "checking", 0, 0))
            status = nigh__progress_cancelled(error);
    } while (status == NIGH_OK && check.done < check.all);
    nigh__free(segment->context, check.named);
    return status;
}
