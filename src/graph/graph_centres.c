/* SPDX-License-Identifier: Apache-2.0 */
/* Of ten million signatures 17,500 groups are a megabyte, and most of the time; of a million, few microseconds. */
#include "graph/graph_centres.h"

#include "base/bytes.h"
#include "scan/nearest.h"

#define ROWS_AT_ONCE 64u /* few of the later blocks have one that is near enough */

#define INLINE static inline __attribute__((always_inline))

/* The smallest keys, ascending. */
struct best {
    uint64_t keys[NIGH__GRAPH_MAX_CENTRES];
    uint32_t most, count;
};

/* Groups lie far from each other.  By force: a function that only asks for memory may be taken for one that does
   nothing. */
INLINE void ask_for_centres(const struct nigh__graph *graph, const struct best *groups) {
    for (uint32_t g = 0; g < groups->count; g++) {
        const uint32_t first = graph->group_starts[nigh__key_number(groups->keys[g])];
        if (first < graph->centre_count) __builtin_prefetch(graph->centres + (size_t)first * graph->facts.centre_words);
    }
}

/* Farther ones do not get in. */
static uint32_t limit_of(const struct best *best) {
    return best->count < best->most ? UINT32_MAX : nigh__key_distance(best->keys[best->count - 1]);
}

static void best_add(struct best *best, uint64_t key) {
    if (best->count == best->most && key >= best->keys[best->count - 1]) return;
    uint32_t at = best->count < best->most ? best->count++ : best->most - 1;
    for (; at > 0 && best->keys[at - 1] > key; at--) best->keys[at] = best->keys[at - 1];
    best->keys[at] = key;
}

/* Rows first .. end of those that begin at `rows`. */
static void scan(const struct nigh__graph_asked *asked, const uint64_t *rows, uint32_t words, uint32_t first,
                 uint32_t end, struct best *best) {
    uint32_t distances[ROWS_AT_ONCE];
    uint32_t limit = limit_of(best);
    while (first < end) {
        const uint32_t count = end - first < ROWS_AT_ONCE ? end - first : ROWS_AT_ONCE;
        const uint32_t smallest = nigh__graph_asked_rows(asked, rows + (size_t)first * words, count, words, distances);
        for (uint32_t i = 0; smallest <= limit && i < count; i++) {
            if (distances[i] > limit) continue;
            best_add(best, nigh__key(distances[i], first + i));
            limit = limit_of(best);
        }
        first += count;
    }
}

/* The nodes to begin from. */
static nigh_status nodes_of(const struct nigh__graph *graph, const struct best *centres,
                            uint32_t nodes[NIGH__GRAPH_MAX_CENTRES], uint32_t *count, nigh_error *error) {
    *count = 0;
    for (uint32_t c = 0; c < centres->count; c++) {
        const uint32_t centre = nigh__key_number(centres->keys[c]);
        nodes[c] = NIGH__ONCE(graph->centre_nodes[centre]);
        if (nodes[c] >= graph->nodes)
            return nigh__graph_corrupt(graph, NIGH__GRAPH_CENTRE_NODES, centre, "a node that does not exist", error);
    }
    *count = centres->count;
    return NIGH_OK;
}

nigh_status nigh__graph_centres(const struct nigh__graph_asked *asked, const struct nigh__graph *graph,
                                const struct nigh__graph_starts *starts, uint32_t nodes[NIGH__GRAPH_MAX_CENTRES],
                                uint32_t *count, nigh_error *error) {
    const uint32_t words = graph->facts.centre_words;
    struct best groups = {.most = starts->centres};
    struct best centres = {.most = starts->centres};
    *count = 0;
    if (words == 0) return NIGH_OK;
    scan(asked, graph->groups, words, 0, (uint32_t)graph->group_count, &groups);
    ask_for_centres(graph, &groups);
    for (uint32_t g = 0; g < groups.count; g++) {
        const uint32_t group = nigh__key_number(groups.keys[g]);
        const uint32_t first = NIGH__ONCE(graph->group_starts[group]);
        const uint32_t end = NIGH__ONCE(graph->group_starts[group + 1]);
        if (first > end || end > graph->centre_count)
            return nigh__graph_corrupt(graph, NIGH__GRAPH_GROUP_STARTS, group, "an impossible group", error);
        scan(asked, graph->centres, words, first, end, &centres);
    }
    return nodes_of(graph, &centres, nodes, count, error);
}

/* ------------------------------------------------------------------------- lost -- */

/* What a search of many groups needs. */
struct asking {
    const struct nigh__graph_asked *asked;
    const struct nigh__graph *graph;
    struct best centres;
    uint32_t distances[ROWS_AT_ONCE]; /* of the groups of a block */
    nigh_error *error;
};

static uint32_t compare_block(struct asking *asking, uint64_t first) {
    const struct nigh__graph *graph = asking->graph;
    const uint32_t words = graph->facts.centre_words;
    const uint64_t left = graph->group_count - first;
    const uint32_t count = left < ROWS_AT_ONCE ? (uint32_t)left : ROWS_AT_ONCE;
    (void)nigh__graph_asked_rows(asking->asked, graph->groups + first * words, count, words, asking->distances);
    return count;
}

/* Distance of the last of so many groups, nearest first. */
static uint32_t farthest_of(struct asking *asking, uint64_t wanted) {
    uint32_t groups_at[64 * NIGH__GRAPH_MAX_CENTRE_WORDS + 1] = {0};
    const uint32_t farthest = 64 * asking->graph->facts.centre_words;
    for (uint64_t first = 0; first < asking->graph->group_count; first += ROWS_AT_ONCE) {
        const uint32_t count = compare_block(asking, first);
        for (uint32_t i = 0; i < count; i++) groups_at[asking->distances[i]]++;
    }
    uint64_t nearer = 0;
    for (uint32_t distance = 0; distance < farthest; distance++) {
        nearer += groups_at[distance];
        if (nearer >= wanted) return distance;
    }
    return farthest;
}

/* Groups follow one another, so that no centre is looked at twice, however a file lies. */
static nigh_status ask_block(struct asking *asking, uint64_t first, uint32_t limit) {
    const struct nigh__graph *graph = asking->graph;
    const uint32_t words = graph->facts.centre_words;
    const uint32_t count = compare_block(asking, first);
    uint32_t starts[ROWS_AT_ONCE + 1];
    for (uint32_t i = 0; i <= count; i++) starts[i] = NIGH__ONCE(graph->group_starts[first + i]);
    for (uint32_t i = 0; i < count; i++) {
        if (starts[i] > starts[i + 1] || starts[i + 1] > graph->centre_count)
            return nigh__graph_corrupt(graph, NIGH__GRAPH_GROUP_STARTS, first + i, "an impossible group",
                                       asking->error);
        if (asking->distances[i] <= limit) __builtin_prefetch(graph->centres + (size_t)starts[i] * words);
    }
    for (uint32_t i = 0; i < count; i++)
        if (asking->distances[i] <= limit)
            scan(asking->asked, graph->centres, words, starts[i], starts[i + 1], &asking->centres);
    return NIGH_OK;
}

nigh_status nigh__graph_lost_centres(const struct nigh__graph_asked *asked, const struct nigh__graph *graph,
                                     const struct nigh__graph_starts *starts, uint32_t nodes[NIGH__GRAPH_MAX_CENTRES],
                                     uint32_t *count, nigh_error *error) {
    struct asking asking = {.asked = asked, .graph = graph, .centres = {.most = starts->centres}, .error = error};
    const uint32_t limit = farthest_of(&asking, nigh__graph_lost_groups(graph, starts));
    *count = 0;
    for (uint64_t first = 0; first < graph->group_count; first += ROWS_AT_ONCE) {
        const nigh_status status = ask_block(&asking, first, limit);
        if (status != NIGH_OK) return status;
    }
    return nodes_of(graph, &asking.centres, nodes, count, error);
}
