/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph_recall.h"

#include "base/assert.h"
#include "base/memory.h"
#include "graph/row_comparer.h"

#define NEAREST 10u
#define ROWS_AT_ONCE 2048u

struct measure {
    struct nigh__parallel *parallel;
    const uint64_t *rows, *masks;
    uint32_t words;
    const struct nigh__neighbours *neighbours;
    uint32_t looked_at;
    _Atomic uint32_t wanted, found;
};

/* The smallest distances, ascending. */
struct best {
    uint32_t distances[NEAREST];
    uint32_t count;
};

static void best_add(struct best *best, uint32_t distance) {
    uint32_t place = best->count < NEAREST ? best->count++ : NEAREST - 1;
    for (; place > 0 && best->distances[place - 1] > distance; place--)
        best->distances[place] = best->distances[place - 1];
    best->distances[place] = distance;
    NIGH__ASSERT(place < best->count && best->count <= NEAREST);
}

static bool best_scan(const struct measure *measure, uint32_t thread, uint32_t node, struct best *best) {
    const struct nigh__row_comparer comparer = nigh__row_comparer_of(measure->parallel->context);
    const struct nigh__asked asked = nigh__row_asks(measure->rows, measure->masks, measure->words, node);
    const uint32_t nodes = measure->neighbours->nodes;
    const size_t words = measure->words;
    uint32_t distances[ROWS_AT_ONCE];
    for (uint32_t first = 0; first < nodes;) {
        const uint32_t count = nodes - first < ROWS_AT_ONCE ? nodes - first : ROWS_AT_ONCE;
        (void)nigh__compare_rows(&comparer, &asked, measure->rows + first * words, count, measure->words, distances);
        for (uint32_t i = 0; i < count; i++)
            if ((best->count < NEAREST || distances[i] < best->distances[NEAREST - 1]) && first + i != node)
                best_add(best, distances[i]);
        first += count;
        if (!nigh__parallel_did(measure->parallel, thread, count)) return false;
    }
    return true;
}

static nigh_status measure_nodes(void *user, const struct nigh__items *items) {
    struct measure *measure = user;
    const uint32_t nodes = measure->neighbours->nodes;
    for (uint64_t i = items->first; i < items->end; i++) {
        struct best best = {.count = 0};
        const uint32_t node = (uint32_t)(i * nodes / measure->looked_at);
        const uint16_t *distances = nigh__neighbours_distances(measure->neighbours, node);
        const uint32_t *ids = nigh__neighbours_ids(measure->neighbours, node);
        if (!best_scan(measure, items->thread, node, &best)) return NIGH_OK;
        uint32_t found = 0;
        for (uint32_t n = 0; n < best.count && n < measure->neighbours->k; n++)
            found += (ids[n] & ~NIGH__NEW) != NIGH__NOBODY && distances[n] <= best.distances[best.count - 1];
        atomic_fetch_add(&measure->wanted, best.count);
        atomic_fetch_add(&measure->found, found);
    }
    return NIGH_OK;
}

/* ---------------------------------------------------------------------------- far -- */

/* To the nearest neighbour; 0 where there is none. */
static uint32_t nearest_distance(const struct nigh__neighbours *neighbours, uint32_t node) {
    const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
    return (ids[0] & ~NIGH__NEW) == NIGH__NOBODY ? 0 : nigh__neighbours_distances(neighbours, node)[0];
}

bool nigh__graph_far(const nigh_context *context, const struct nigh__neighbours *neighbours, uint32_t words,
                     struct nigh__graph_facts *facts) {
    const uint32_t most = 64 * words;
    uint32_t *nodes_at = nigh__alloc_zero(context, (size_t)most + 1, sizeof *nodes_at);
    if (nodes_at == NULL) return false;
    for (uint32_t node = 0; node < neighbours->nodes; node++) nodes_at[nearest_distance(neighbours, node)]++;
    const uint32_t beyond = neighbours->nodes / 50;
    uint32_t left = neighbours->nodes;
    uint32_t distance = 0;
    while (distance < most && left - nodes_at[distance] > beyond) left -= nodes_at[distance++];
    nigh__free(context, nodes_at);
    facts->far = distance;
    return true;
}

/* ------------------------------------------------------------------------- recall -- */

bool nigh__graph_measure(struct nigh__parallel *parallel, const uint64_t *rows, const uint64_t *masks, uint32_t words,
                         const struct nigh__neighbours *neighbours, struct nigh__graph_facts *facts) {
    const uint32_t nodes = neighbours->nodes;
    struct measure measure = {
        .parallel = parallel, .rows = rows, .masks = masks, .words = words, .neighbours = neighbours};
    measure.looked_at = nodes < NIGH__GRAPH_RECALL_NODES ? nodes : NIGH__GRAPH_RECALL_NODES;
    nigh__parallel_stage(parallel, "measuring", (uint64_t)measure.looked_at * nodes);
    if (nigh__parallel_run(parallel, measure.looked_at, 1, measure_nodes, &measure, NULL) != NIGH_OK) return false;
    facts->recall_nodes = measure.looked_at;
    facts->recall_wanted = atomic_load(&measure.wanted);
    facts->recall_found = atomic_load(&measure.found);
    return true;
}
