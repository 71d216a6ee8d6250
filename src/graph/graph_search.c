/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of a graph, fast.  graph_search.h says what it finds, this file how.
 *
 *     nodes     all nodes met, in the order in which they were met; those of a turn are
 *               a range of it.  At its end a search clears their bits again
 *     met       a bit for each node of the graph
 *     heads     of each distance, the node met last whose edges were not followed, by
 *               its place in `nodes`; `next` leads to the one met before it
 *     sizes     of each distance, how many nodes of the pool there are
 *
 * Distances are small whole numbers, so the pool is these two tables and no heap: to add a
 * node, or to take the nearest, is a few instructions.
 *
 * A walk waits for memory: for each node it meets, a cache line with its sketch, and for two
 * in five the rest of the row. Measured on 332,000 real signatures of 1,024 bits (k = 10,
 * one core of a shared Zen 3, ratios within one run; E = 128 without patience meets 2,240
 * nodes, recall .91):
 *
 *     asking for what the next turn compares     2.5 times (measured with 512 bits)
 *     sketches before whole rows                 256 bits, as files have: 1.2 times, for one
 *                                                to two hundredths of recall, less where E
 *                                                is larger; 512: 1.3 times; 128: 1.1 times,
 *                                                for two to four hundredths
 *     patience                                   neither faster nor slower than the E that
 *                                                has the same recall, but easy queries end
 *                                                early
 *
 * Tried and left out: four queries by turns in one thread, a twentieth slower, for a walk
 * that asks a turn ahead has as many requests under way as the core takes; rows in the
 * order of the graph, which gain nothing beyond the noise.
 */
#include "graph/graph_search.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"
#include "graph/graph_asked.h"
#include "graph/graph_centres.h"
#include "graph/graph_parts.h"
#include "graph/graph_sample.h"
#include "kernel/picked.h"
#include "scan/nearest.h"

#define LINE 64u
#define NONE UINT32_MAX
#define MAX_LINES 4u     /* of a sketch, or the rest of a row, that are asked for */
#define FIRST_ROOM 4096u /* nodes */
#define CLEAR_SHARE 256u /* bits are cleared one by one where fewer nodes than one in so many were met */

#define INLINE static inline __attribute__((always_inline))

/* Nodes that passed by their sketches. */
struct kept {
    uint32_t places[NIGH__GRAPH_MAX_BLOCK]; /* in `nodes` */
    uint32_t rows[NIGH__GRAPH_MAX_BLOCK];
    uint32_t distances[NIGH__GRAPH_MAX_BLOCK]; /* of the sketches */
    uint32_t count;
};

/* One query under way.  The memory is kept from one to the next. */
struct walk {
    const nigh_context *context;
    const struct nigh__picked *picked;

    const struct nigh__graph *graph;
    const uint64_t *rows;
    uint32_t words;
    const struct nigh__graph_query *query;
    struct nigh__graph_asked asked;
    struct nigh__graph_answer *answer;
    nigh_status status;
    nigh_error *error;

    uint64_t *met;
    size_t met_words;
    volatile bool dirty; /* some bits may be set, though no search is under way: a fault ended one */
    uint32_t *nodes, *next;
    uint32_t count, room;
    uint32_t *heads, *sizes;
    uint32_t level_room;
    uint64_t *best; /* k keys, a heap, greatest first */
    uint32_t best_count, best_room;

    uint32_t followed;                      /* steps of a turn */
    uint32_t known;                         /* words of a row that are not compared once more */
    uint32_t levels;                        /* distances are less than this */
    uint32_t nearest;                       /* no node to be followed is nearer */
    uint32_t worst;                         /* distance of the E-th */
    uint64_t pool;                          /* nodes no farther than that */
    uint64_t seeds, steps, compared, whole; /* of the answer: not there, where other threads write beside them */
    uint64_t last_gain;                     /* steps made when the k best changed */
    struct nigh__graph_starts starts;
    uint32_t seeds_end, seeds_taken;
    uint32_t closest;     /* distance of the nearest found */
    bool asked_more;      /* groups, for it was lost */
    uint32_t near_slices; /* whose lists one bit away were taken for seeds */
    uint64_t entries_taken;
    uint32_t waiting_from, waiting_to; /* met in the last turn */
    struct kept kept;
};

struct nigh__graph_scratch {
    struct walk walk;
};

nigh_status nigh__graph_scratch_new(const nigh_context *context, struct nigh__graph_scratch **out, nigh_error *error) {
    *out = nigh__alloc_zero(context, 1, sizeof **out);
    if (*out == NULL) return nigh__no_memory(error, "to search a graph");
    (*out)->walk.context = context;
    (*out)->walk.picked = nigh__picked_choose(context->hamming->name);
    return NIGH_OK;
}

void nigh__graph_scratch_free(struct nigh__graph_scratch *scratch) {
    if (scratch == NULL) return;
    const struct walk *walk = &scratch->walk;
    const nigh_context *context = walk->context;
    nigh__free(context, walk->met);
    nigh__free(context, walk->nodes);
    nigh__free(context, walk->next);
    nigh__free(context, walk->heads);
    nigh__free(context, walk->sizes);
    nigh__free(context, walk->best);
    nigh__graph_asked_release(&scratch->walk.asked, context);
    nigh__free(context, scratch);
}

/* -------------------------------------------------------------------- failing -- */

nigh_status nigh__graph_corrupt(const struct nigh__graph *graph, enum nigh__graph_section section, uint64_t index,
                                const char *why, nigh_error *error) {
    if (graph->sidecar == NULL) return nigh__fail(error, NIGH_ECORRUPT, "%s", why);
    return nigh__sidecar_corrupt(graph->sidecar, section, index, sizeof(uint32_t), why, error);
}

/* False, always. */
static bool lies(struct walk *walk, enum nigh__graph_section section, uint64_t index, const char *why) {
    walk->status = nigh__graph_corrupt(walk->graph, section, index, why, walk->error);
    return false;
}

static bool no_memory(struct walk *walk) {
    (void)nigh__no_memory(walk->error, "for a walk along a graph");
    walk->status = NIGH_ENOMEM;
    return false;
}

/* --------------------------------------------------------------------- memory -- */

/* Gives way to a larger piece; what was in it is lost. */
static bool grow(struct walk *walk, uint32_t **numbers, size_t count) {
    nigh__free(walk->context, *numbers);
    *numbers = nigh__alloc(walk->context, count, sizeof **numbers);
    return *numbers != NULL || no_memory(walk);
}

static bool prepare_levels(struct walk *walk) {
    walk->levels = walk->asked.farthest + 1;
    if (walk->level_room < walk->levels) {
        walk->level_room = 0;
        if (!grow(walk, &walk->heads, walk->levels) || !grow(walk, &walk->sizes, walk->levels)) return false;
        walk->level_room = walk->levels;
    }
    memset(walk->heads, 0xff, walk->levels * sizeof *walk->heads);
    memset(walk->sizes, 0, walk->levels * sizeof *walk->sizes);
    return true;
}

static bool prepare_met(struct walk *walk) {
    const size_t words = (size_t)walk->graph->nodes / 64 + 1;
    if (walk->met_words < words) {
        nigh__free(walk->context, walk->met);
        walk->met_words = 0;
        walk->met = nigh__alloc_table(walk->context, words, sizeof *walk->met);
        if (walk->met == NULL) return no_memory(walk);
        walk->met_words = words;
    } else if (walk->dirty)
        memset(walk->met, 0, walk->met_words * sizeof *walk->met);
    walk->dirty = true;
    return true;
}

static bool prepare_best(struct walk *walk) {
    const uint32_t k = walk->query->k < walk->graph->nodes ? walk->query->k : walk->graph->nodes;
    if (walk->best_room >= k) return true;
    nigh__free(walk->context, walk->best);
    walk->best_room = 0;
    walk->best = nigh__alloc(walk->context, k, sizeof *walk->best);
    if (walk->best == NULL) return no_memory(walk);
    walk->best_room = k;
    return true;
}

/* Room for so many more nodes; those that are there stay. */
static bool more_nodes(struct walk *walk, uint32_t extra) {
    if (extra <= walk->room - walk->count) return true;
    uint64_t room = walk->room < FIRST_ROOM ? FIRST_ROOM : 2 * (uint64_t)walk->room;
    const uint64_t most = (uint64_t)walk->graph->nodes + NIGH__GRAPH_MAX_BLOCK; /* for each is met once */
    if (room > most) room = most;
    if (room < (uint64_t)walk->count + extra) room = (uint64_t)walk->count + extra;
    if (room >= NONE) return no_memory(walk);
    uint32_t *nodes = nigh__alloc(walk->context, (size_t)room, sizeof *nodes);
    uint32_t *next = nigh__alloc(walk->context, (size_t)room, sizeof *next);
    if (nodes == NULL || next == NULL) {
        nigh__free(walk->context, nodes);
        nigh__free(walk->context, next);
        return no_memory(walk);
    }
    if (walk->count > 0) {
        memcpy(nodes, walk->nodes, walk->count * sizeof *nodes);
        memcpy(next, walk->next, walk->count * sizeof *next);
    }
    nigh__free(walk->context, walk->nodes);
    nigh__free(walk->context, walk->next);
    walk->nodes = nodes;
    walk->next = next;
    walk->room = (uint32_t)room;
    return true;
}

static void clear_met(struct walk *walk) {
    if (walk->count < walk->graph->nodes / CLEAR_SHARE) {
        for (uint32_t i = 0; i < walk->count; i++) walk->met[walk->nodes[i] / 64] = 0;
    } else
        memset(walk->met, 0, ((size_t)walk->graph->nodes / 64 + 1) * sizeof *walk->met);
    walk->dirty = false;
}

/* ------------------------------------------------------------- asking for memory -- */

/* By force: a function that only asks for memory may be taken for one that does nothing. */
INLINE void ask_for(const void *start, size_t bytes) {
    if (bytes > (size_t)MAX_LINES * LINE) bytes = (size_t)MAX_LINES * LINE;
    for (size_t at = 0; at < bytes; at += LINE) __builtin_prefetch((const char *)start + at);
}

/* Every line that an array touches between two places. */
INLINE void ask_for_lines(const uint32_t *from, const uint32_t *to) {
    const char *line = (const char *)from - (uintptr_t)from % LINE;
    for (; line < (const char *)to; line += LINE) __builtin_prefetch(line);
}

/* The edges of the nodes that are next. */
INLINE void ask_for_edges(const struct walk *walk) {
    const struct nigh__graph *graph = walk->graph;
    uint32_t distance = walk->nearest;
    uint32_t place = NONE;
    for (uint32_t i = 0; i < walk->followed; i++) {
        if (place != NONE) place = walk->next[place];
        while (place == NONE && distance <= walk->worst) place = walk->heads[distance++];
        if (place == NONE) return;
        const uint32_t *starts = graph->edge_starts + walk->nodes[place];
        const uint32_t from = NIGH__ONCE(starts[0]);
        const uint32_t to = NIGH__ONCE(starts[1]);
        if (from <= to && to <= graph->edge_count && to - from <= graph->degree)
            ask_for_lines(graph->edges + from, graph->edges + to);
    }
}

/* ------------------------------------------------------------------ the k best -- */

static void best_rise(uint64_t *best, uint32_t at) {
    const uint64_t rising = best[at];
    for (; at > 0 && best[(at - 1) / 2] < rising; at = (at - 1) / 2) best[at] = best[(at - 1) / 2];
    best[at] = rising;
}

static void best_sink(uint64_t *best, uint32_t count) {
    const uint64_t sinking = best[0];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && best[child + 1] > best[child]) child++;
        if (best[child] <= sinking) break;
        best[at] = best[child];
        at = child;
    }
    best[at] = sinking;
}

INLINE void best_add(struct walk *walk, uint64_t key) {
    NIGH__ASSERT(walk->query->k > 0 && walk->best_count <= walk->query->k);
    if (walk->best_count < walk->query->k) {
        walk->best[walk->best_count] = key;
        best_rise(walk->best, walk->best_count++);
    } else if (key < walk->best[0]) {
        walk->best[0] = key;
        best_sink(walk->best, walk->best_count);
    } else
        return;
    walk->last_gain = walk->steps;
}

/* -------------------------------------------------------------------- the pool -- */

INLINE void pool_add(struct walk *walk, uint32_t distance, uint32_t place) {
    const uint32_t effort = walk->query->effort;
    if (distance > walk->worst || (distance == walk->worst && walk->pool >= effort)) return;
    NIGH__ASSERT(place < walk->count && walk->count <= walk->room);
    walk->sizes[distance]++;
    walk->pool++;
    walk->next[place] = walk->heads[distance];
    walk->heads[distance] = place;
    if (distance < walk->nearest) walk->nearest = distance;
    while (walk->pool - walk->sizes[walk->worst] >= effort) walk->pool -= walk->sizes[walk->worst--];
}

/* The nearest whose edges were not followed: its place, or NONE. */
INLINE uint32_t pool_take(struct walk *walk) {
    while (walk->nearest <= walk->worst && walk->heads[walk->nearest] == NONE) walk->nearest++;
    if (walk->nearest > walk->worst) return NONE;
    const uint32_t place = walk->heads[walk->nearest];
    walk->heads[walk->nearest] = walk->next[place];
    return place;
}

/* ---------------------------------------------------------------- meeting nodes -- */

/* Adds those that were not met before; there is room.  `section` and `first` say where they stand. */
INLINE bool meet(struct walk *walk, const uint32_t *numbers, uint32_t count, enum nigh__graph_section section,
                 uint64_t first) {
    const uint32_t all = walk->graph->nodes;
    uint32_t met = walk->count;
    NIGH__ASSERT(count <= walk->room - met);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = NIGH__ONCE(numbers[i]);
        if (node >= all) {
            walk->count = met;
            return lies(walk, section, first + i, "a node that does not exist");
        }
        uint64_t *word = &walk->met[node / 64];
        const uint64_t before = *word;
        walk->nodes[met] = node;
        met += (before >> node % 64 & 1) == 0;
        *word = before | UINT64_C(1) << node % 64;
    }
    walk->count = met;
    return true;
}

static bool meet_seed_list(struct walk *walk, uint64_t list) {
    const struct nigh__graph *graph = walk->graph;
    const uint32_t from = NIGH__ONCE(graph->seed_starts[list]);
    const uint32_t to = NIGH__ONCE(graph->seed_starts[list + 1]);
    if (from > to || to > graph->seed_count || to - from > graph->facts.seed_longest)
        return lies(walk, NIGH__GRAPH_SEED_STARTS, list, "an impossible list of seeds");
    const uint32_t length = to - from;
    const uint32_t taken = nigh__graph_seeds_taken(walk->query->effort, length);
    if (!more_nodes(walk, taken)) return false;
    if (taken == length) return meet(walk, graph->seeds + from, length, NIGH__GRAPH_SEEDS, from);
    for (uint32_t i = 0; i < taken; i++) {
        const uint64_t at = from + (uint64_t)i * length / taken;
        if (!meet(walk, graph->seeds + at, 1, NIGH__GRAPH_SEEDS, at)) return false;
    }
    return true;
}

static bool meet_centres(struct walk *walk) {
    uint32_t nodes[NIGH__GRAPH_MAX_CENTRES];
    uint32_t count;
    if (walk->starts.sampled != 0)
        walk->status = nigh__graph_sample_nearest(walk->context, walk->graph, walk->words, walk->query,
                                                  nigh__column_scan, walk->starts.sampled, nodes, &count, walk->error);
    else
        walk->status = nigh__graph_centres(&walk->asked, walk->graph, &walk->starts, nodes, &count, walk->error);
    return walk->status == NIGH_OK && more_nodes(walk, count) && meet(walk, nodes, count, NIGH__GRAPH_CENTRE_NODES, 0);
}

static bool meet_seeds(struct walk *walk) {
    const struct nigh__graph *graph = walk->graph;
    const struct nigh__graph_facts *facts = &graph->facts;
    const uint64_t *words = walk->query->words;
    for (uint32_t s = 0; s < walk->starts.slices; s++)
        __builtin_prefetch(graph->seed_starts + nigh__graph_seed_list(facts, words, s));
    if (!meet_centres(walk)) return false; /* meanwhile */
    for (uint32_t s = 0; s < walk->starts.slices; s++) {
        const uint32_t from = graph->seed_starts[nigh__graph_seed_list(facts, words, s)];
        if (from < graph->seed_count) ask_for(graph->seeds + from, 2 * (size_t)LINE);
    }
    for (uint32_t s = 0; s < walk->starts.slices; s++)
        if (!meet_seed_list(walk, nigh__graph_seed_list(facts, words, s))) return false;
    walk->seeds_end = walk->count;
    walk->seeds = walk->count;
    return true;
}

INLINE bool groups_left(const struct walk *walk) { return walk->starts.lost_share != 0 && !walk->asked_more; }

/* And there are seeds left to look for. */
INLINE bool lost(const struct walk *walk) {
    const struct nigh__graph_facts *facts = &walk->graph->facts;
    return facts->far != 0 && walk->closest > facts->far && walk->query->plane_count == 0 &&
           (groups_left(walk) || walk->near_slices < facts->seed_slices);
}

/* Those from `before` on are seeds as well. */
static void add_seeds(struct walk *walk, uint32_t before) {
    walk->seeds_taken = before;
    walk->seeds_end = walk->count;
    walk->seeds += walk->count - before;
    walk->last_gain = walk->steps;
}

static bool meet_lost_centres(struct walk *walk) {
    uint32_t nodes[NIGH__GRAPH_MAX_CENTRES];
    uint32_t count;
    const uint32_t before = walk->count;
    walk->asked_more = true;
    walk->status = nigh__graph_lost_centres(&walk->asked, walk->graph, &walk->starts, nodes, &count, walk->error);
    if (walk->status != NIGH_OK || !more_nodes(walk, count) || !meet(walk, nodes, count, NIGH__GRAPH_CENTRE_NODES, 0))
        return false;
    add_seeds(walk, before);
    return true;
}

/* Those of one slice more, with those that share it where that was left out. */
static bool meet_near_seeds(struct walk *walk) {
    const struct nigh__graph *graph = walk->graph;
    const uint32_t bits = graph->facts.seed_bits;
    const uint32_t slice = walk->near_slices++;
    const uint64_t list = nigh__graph_seed_list(&graph->facts, walk->query->words, slice);
    const uint32_t before = walk->count;
    for (uint32_t b = 0; b < bits; b++) __builtin_prefetch(graph->seed_starts + (list ^ UINT64_C(1) << b));
    for (uint32_t b = 0; b < bits; b++) {
        const uint32_t from = graph->seed_starts[list ^ UINT64_C(1) << b];
        if (from < graph->seed_count) ask_for(graph->seeds + from, 2 * (size_t)LINE);
    }
    if (slice >= walk->starts.slices && !meet_seed_list(walk, list)) return false;
    for (uint32_t b = 0; b < bits; b++)
        if (!meet_seed_list(walk, list ^ UINT64_C(1) << b)) return false;
    add_seeds(walk, before);
    return true;
}

static bool look_elsewhere(struct walk *walk, bool *idle) {
    *idle = false;
    return groups_left(walk) ? meet_lost_centres(walk) : meet_near_seeds(walk);
}

static bool follow(struct walk *walk, uint32_t place) {
    const struct nigh__graph *graph = walk->graph;
    const uint32_t node = walk->nodes[place];
    const uint32_t from = NIGH__ONCE(graph->edge_starts[node]);
    const uint32_t to = NIGH__ONCE(graph->edge_starts[node + 1]);
    if (from > to || to > graph->edge_count || to - from > graph->degree || to - from > NIGH__GRAPH_MAX_BLOCK)
        return lies(walk, NIGH__GRAPH_EDGE_STARTS, node, "impossible edges");
    walk->steps++;
    return more_nodes(walk, to - from) && meet(walk, graph->edges + from, to - from, NIGH__GRAPH_EDGES, from);
}

/* The nearest whose edges were not followed; *any where there was one. */
INLINE bool follow_some(struct walk *walk, bool *any) {
    *any = false;
    for (uint32_t i = 0; i < walk->followed; i++) {
        const uint32_t place = pool_take(walk);
        if (place == NONE) break;
        *any = true;
        if (!follow(walk, place)) return false;
    }
    return true;
}

/* Nothing leads on, and fewer than k were found: nodes by themselves. */
static bool meet_entries(struct walk *walk) {
    const uint32_t nodes = walk->graph->nodes;
    const uint32_t before = walk->count;
    if (!more_nodes(walk, NIGH__GRAPH_ENTRIES)) return false;
    while (walk->entries_taken < nigh__graph_entry_count(nodes) && walk->count - before < NIGH__GRAPH_ENTRIES) {
        const uint32_t node = nigh__graph_entry(nodes, walk->entries_taken++);
        (void)meet(walk, &node, 1, NIGH__GRAPH_EDGES, 0);
    }
    return true;
}

INLINE bool patient(const struct walk *walk) {
    return walk->query->patience == 0 || walk->best_count < walk->query->k ||
           walk->steps - walk->last_gain < walk->query->patience;
}

/* New nodes for the turn; *idle, where there was nothing else to do, is still so if there are none.  False: a lie. */
static bool go_on(struct walk *walk, bool *idle) {
    if (walk->seeds_taken < walk->seeds_end) {
        *idle = false;
        return true;
    }
    if (walk->steps >= NIGH__GRAPH_FIRST_STEPS && groups_left(walk) && lost(walk)) return look_elsewhere(walk, idle);
    bool any = false;
    if (patient(walk) && !follow_some(walk, &any)) return false;
    if (any) *idle = false;
    if (any) return true;
    if (!*idle) return true;
    if (lost(walk)) return look_elsewhere(walk, idle);
    if (walk->best_count >= walk->query->k) return true;
    const uint32_t before = walk->count;
    if (!meet_entries(walk)) return false;
    *idle = walk->count == before;
    return true;
}

/* ------------------------------------------------------------------- comparing -- */

/* To nodes by number, of sketches, or rows, whole. */
static uint32_t weigh(const struct walk *walk, const uint64_t *planes, const uint64_t *rows, uint32_t words,
                      const uint32_t *numbers, uint32_t count, uint32_t *distances) {
    const struct nigh__graph_query *query = walk->query;
    uint32_t smallest = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        distances[i] = walk->asked.comparer.weighted->one(query->words, planes, query->plane_count,
                                                          rows + (size_t)numbers[i] * words, words);
        if (distances[i] < smallest) smallest = distances[i];
    }
    return smallest;
}

/* By how much rows are farther than their sketches. */
INLINE void compare_rest(const struct walk *walk, uint32_t *distances) {
    const struct kept *kept = &walk->kept;
    if (walk->query->plane_count == 0) {
        const uint32_t known = walk->known;
        (void)walk->picked->distances(walk->query->words + known, walk->rows + known, walk->words, walk->words - known,
                                      kept->rows, kept->count, distances);
        return;
    }
    (void)weigh(walk, walk->query->planes, walk->rows, walk->words, kept->rows, kept->count, distances);
    for (uint32_t i = 0; i < kept->count; i++) distances[i] -= kept->distances[i]; /* which comes back to it */
}

static void compare_whole(struct walk *walk) {
    struct kept *kept = &walk->kept;
    const uint32_t rest = walk->words - walk->graph->facts.sketch_words;
    uint32_t distances[NIGH__GRAPH_MAX_BLOCK];
    if (rest != 0) compare_rest(walk, distances);
    for (uint32_t i = 0; i < kept->count; i++) {
        const uint32_t distance = kept->distances[i] + (rest == 0 ? 0 : distances[i]);
        if (distance < walk->closest) walk->closest = distance;
        if (nigh__graph_allows(walk->query, kept->rows[i])) best_add(walk, nigh__key(distance, kept->rows[i]));
        pool_add(walk, distance, kept->places[i]);
    }
    if (rest != 0) walk->whole += kept->count;
    kept->count = 0;
}

/* The row of a node that is near enough, which will be compared in the next turn. */
INLINE bool keep(struct walk *walk, uint32_t place, uint32_t distance) {
    struct kept *kept = &walk->kept;
    const uint32_t node = walk->nodes[place];
    const uint32_t row = NIGH__ONCE(walk->graph->order[node]);
    if (row >= walk->graph->nodes) return lies(walk, NIGH__GRAPH_ORDER, node, "a row that does not exist");
    ask_for(walk->rows + (size_t)row * walk->words + walk->known, (walk->words - walk->known) * sizeof(uint64_t));
    __builtin_prefetch(walk->graph->edge_starts + node);
    kept->places[kept->count] = place;
    kept->rows[kept->count] = row;
    kept->distances[kept->count++] = distance;
    return true;
}

static bool compare_sketches(struct walk *walk) {
    const uint32_t from = walk->waiting_from;
    const uint32_t count = walk->waiting_to - from;
    if (count == 0) return true; /* there may not even be room for nodes yet */
    const uint32_t sketch_words = walk->graph->facts.sketch_words;
    const bool plain = walk->query->plane_count == 0;
    const uint32_t limit = plain ? nigh__graph_sketch_limit(sketch_words, walk->words, walk->worst)
                                 : nigh__graph_share_limit(&walk->asked.part, walk->worst);
    uint32_t distances[NIGH__GRAPH_MAX_BLOCK];
    const uint32_t smallest = plain ? walk->picked->distances(walk->query->words, walk->graph->sketches, sketch_words,
                                                              sketch_words, walk->nodes + from, count, distances)
                                    : weigh(walk, walk->asked.sketch, walk->graph->sketches, sketch_words,
                                            walk->nodes + from, count, distances);
    walk->compared += count;
    if (sketch_words == walk->words) walk->whole += count;
    if (smallest > limit) return true;
    for (uint32_t i = 0; i < count; i++)
        if (distances[i] <= limit && !keep(walk, from + i, distances[i])) return false;
    return true;
}

/* The nodes of this turn, whose sketches the next will compare. */
static void wait_for(struct walk *walk, uint32_t from) {
    uint32_t to = walk->count;
    if (walk->seeds_taken < walk->seeds_end) {
        from = walk->seeds_taken;
        to = from + NIGH__GRAPH_SEED_BLOCK < walk->seeds_end ? from + NIGH__GRAPH_SEED_BLOCK : walk->seeds_end;
        walk->seeds_taken = to;
    }
    const uint32_t sketch_words = walk->graph->facts.sketch_words;
    for (uint32_t i = from; i < to; i++) {
        ask_for(walk->graph->sketches + (size_t)walk->nodes[i] * sketch_words, sketch_words * sizeof(uint64_t));
        __builtin_prefetch(walk->graph->order + walk->nodes[i]);
    }
    walk->waiting_from = from;
    walk->waiting_to = to;
}

/* False at the end.  What is followed next is known before the sketches are compared, and under way meanwhile. */
static bool turn(struct walk *walk) {
    bool idle = walk->waiting_from == walk->waiting_to && walk->kept.count == 0;
    const uint32_t from = walk->count;
    if (!go_on(walk, &idle)) return false;
    compare_whole(walk);
    ask_for_edges(walk);
    if (!compare_sketches(walk)) return false;
    wait_for(walk, from);
    return !idle;
}

/* -------------------------------------------------------------------- the whole -- */

static bool begin(struct walk *walk) {
    if (!nigh__graph_asked_make(&walk->asked, walk->context, walk->graph, walk->words, walk->query))
        return no_memory(walk);
    if (!prepare_levels(walk) || !prepare_best(walk) || !prepare_met(walk)) return false;
    walk->followed = nigh__graph_followed(walk->graph, walk->query->effort, walk->query->plane_count == 0);
    walk->known = walk->graph->facts.sketch_words;
    if (walk->query->plane_count != 0 && walk->known < walk->words) walk->known = 0;
    walk->count = walk->best_count = 0;
    walk->seeds = walk->steps = walk->compared = walk->whole = 0;
    walk->nearest = walk->worst = walk->levels - 1;
    walk->pool = walk->last_gain = walk->entries_taken = 0;
    walk->seeds_end = walk->seeds_taken = walk->waiting_from = walk->waiting_to = 0;
    walk->kept.count = 0;
    walk->closest = walk->levels;
    walk->asked_more = false;
    walk->near_slices = 0;
    walk->starts = nigh__graph_starts(&walk->graph->facts, walk->query->effort, walk->query->plane_count == 0);
    return meet_seeds(walk);
}

/*
 * Sketches and order are not trusted: an answer must be as far as it says, and be there once.  Its row is compared
 * whole once more.
 */
static bool check_best(struct walk *walk) {
    const uint64_t *best = walk->best;
    for (uint32_t i = 0; i < walk->best_count; i++)
        ask_for(walk->rows + (size_t)nigh__key_number(best[i]) * walk->words, LINE);
    for (uint32_t i = 0; i < walk->best_count; i++) {
        const uint32_t row = nigh__key_number(best[i]);
        uint32_t distance;
        if (walk->query->plane_count == 0)
            (void)walk->picked->distances(walk->query->words, walk->rows, walk->words, walk->words, &row, 1, &distance);
        else
            (void)weigh(walk, walk->query->planes, walk->rows, walk->words, &row, 1, &distance);
        if (distance != nigh__key_distance(best[i]))
            return lies(walk, NIGH__GRAPH_SKETCHES, 0, "a sketch that does not match its signature");
        if (i > 0 && best[i - 1] == best[i]) return lies(walk, NIGH__GRAPH_ORDER, 0, "a row is there twice");
    }
    return true;
}

/* How far out the last of the best is; these are sorted. */
static void tell_depth(const struct walk *walk) {
    const bool found = walk->best_count == walk->query->k;
    const uint32_t last = found ? nigh__key_distance(walk->best[walk->best_count - 1]) : walk->levels;
    for (uint32_t distance = 0; distance < last && distance <= walk->worst; distance++)
        walk->answer->depth += walk->sizes[distance];
    walk->answer->beyond = walk->pool >= walk->query->effort && last > walk->worst;
}

static bool finish(struct walk *walk) {
    nigh__keys_sort(walk->context, walk->best, walk->best_count);
    if (!check_best(walk)) return false;
    walk->answer->seeds = walk->seeds;
    walk->answer->steps = walk->steps;
    walk->answer->compared = walk->compared;
    walk->answer->whole = walk->whole;
    tell_depth(walk);
    uint32_t count = walk->best_count;
    while (count > 0 && nigh__key_distance(walk->best[count - 1]) >= walk->query->limit) count--;
    if (count == 0) return true;
    uint64_t *keys = nigh__array_add(walk->context, &walk->answer->keys, count);
    if (keys == NULL) return no_memory(walk);
    memcpy(keys, walk->best, count * sizeof *keys);
    return true;
}

nigh_status nigh__graph_search(struct nigh__graph_scratch *scratch, const struct nigh__graph *graph,
                               const uint64_t *rows, uint32_t words, const struct nigh__graph_query *query,
                               struct nigh__graph_answer *answer, nigh_error *error) {
    struct walk *walk = &scratch->walk;
    walk->graph = graph;
    walk->rows = rows;
    walk->words = words;
    walk->query = query;
    walk->answer = answer;
    walk->status = NIGH_OK;
    walk->error = error;
    *answer = (struct nigh__graph_answer){.keys = answer->keys};
    answer->keys.count = 0;
    if (!begin(walk)) return walk->status;
    while (turn(walk)) {
    }
    if (walk->status == NIGH_OK) (void)finish(walk);
    clear_met(walk);
    return walk->status;
}
