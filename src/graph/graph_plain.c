/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of a graph in its plainest form: what graph_search.h says, with lists that
 * are read from one end to the other, and without prefetching. The fast search must equal
 * it. Its time grows with the square of the nodes it meets.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "graph/graph_parts.h"
#include "graph/graph_sample.h"
#include "graph/graph_search.h"
#include "scan/nearest.h"

/* A node that was met. */
struct found {
    uint32_t node, row;
    uint32_t distance; /* of the sketch, then of the whole row */
    bool in_pool, followed;
};

struct plain {
    const nigh_context *context;
    const struct nigh__graph *graph;
    const uint64_t *rows;
    uint32_t words;
    const struct nigh__graph_query *query;
    struct nigh__graph_starts starts;
    struct nigh__graph_answer *answer;
    nigh_error *error;
    nigh_status status;

    struct nigh__array met;   /* uint32_t, all nodes met */
    struct nigh__array found; /* struct found, those that were compared whole, as they came */
    struct nigh__array best;  /* uint64_t keys, sorted, at most k */

    uint32_t *waiting; /* nodes whose sketches are next, most of them NIGH__GRAPH_MAX_BLOCK */
    struct found *kept;
    uint32_t *sizes;               /* of each distance: nodes of the pool, while they are counted */
    uint32_t farthest;             /* distance that there can be */
    struct nigh__graph_share part; /* where there are planes */
    size_t waiting_count, kept_count;
    size_t seeds_taken, seeds_end; /* in `met` */
    bool asked_more;               /* groups, for it was lost */
    uint32_t near_slices;          /* whose lists one bit away were taken for seeds */
    uint64_t entries_taken, last_gain;
    uint32_t closest; /* distance of the nearest that was compared */
};

static bool lies(struct plain *plain, enum nigh__graph_section section, uint64_t index, const char *why) {
    plain->status = nigh__graph_corrupt(plain->graph, section, index, why, plain->error);
    return false;
}

static bool no_memory(struct plain *plain) {
    (void)nigh__no_memory(plain->error, "for a walk along a graph");
    plain->status = NIGH_ENOMEM;
    return false;
}

/* --------------------------------------------------------------- meeting nodes -- */

static bool was_met(const struct plain *plain, uint32_t node) {
    const uint32_t *met = plain->met.data;
    for (size_t i = 0; i < plain->met.count; i++)
        if (met[i] == node) return true;
    return false;
}

/* Also to what waits, where it is to. */
static bool meet(struct plain *plain, uint32_t node, bool wait) {
    if (was_met(plain, node)) return true;
    uint32_t *slot = nigh__array_add(plain->context, &plain->met, 1);
    if (slot == NULL) return no_memory(plain);
    *slot = node;
    if (wait) plain->waiting[plain->waiting_count++] = node;
    return true;
}

static bool meet_seed_list(struct plain *plain, uint64_t list) {
    const struct nigh__graph *graph = plain->graph;
    const uint32_t from = NIGH__ONCE(graph->seed_starts[list]);
    const uint32_t to = NIGH__ONCE(graph->seed_starts[list + 1]);
    if (from > to || to > graph->seed_count || to - from > graph->facts.seed_longest)
        return lies(plain, NIGH__GRAPH_SEED_STARTS, list, "an impossible list of seeds");
    const uint32_t taken = nigh__graph_seeds_taken(plain->query->effort, to - from);
    for (uint32_t number = 0; number < taken; number++) {
        const uint64_t i = from + (uint64_t)number * (to - from) / taken;
        const uint32_t node = NIGH__ONCE(graph->seeds[i]);
        if (node >= graph->nodes) return lies(plain, NIGH__GRAPH_SEEDS, i, "a node that does not exist");
        if (!meet(plain, node, false)) return false;
    }
    return true;
}

/* What a bit of the query counts. */
static uint32_t level_of(const struct plain *plain, uint32_t bit) {
    const struct nigh__graph_query *query = plain->query;
    uint32_t level = query->plane_count == 0 ? 1 : 0;
    for (uint32_t p = 0; p < query->plane_count; p++)
        level += (uint32_t)(query->planes[(size_t)p * plain->words + bit / 64] >> bit % 64 & 1) << p;
    return level;
}

/* Of words first..end of the query to as many of a row. */
static uint32_t distance_of(const struct plain *plain, const uint64_t *row, uint32_t first, uint32_t end) {
    const uint64_t *query = plain->query->words;
    uint32_t distance = 0;
    for (uint32_t bit = 64 * first; bit < 64 * end; bit++)
        if (((query[bit / 64] ^ row[bit / 64 - first]) >> bit % 64 & 1) != 0) distance += level_of(plain, bit);
    return distance;
}

static struct nigh__ranking_sums sum_levels(const struct plain *plain, uint32_t words) {
    struct nigh__ranking_sums sums = {0};
    for (uint32_t bit = 0; bit < 64 * words; bit++) {
        const uint32_t level = level_of(plain, bit);
        sums.whole += level;
        sums.squares += (uint64_t)level * level;
    }
    return sums;
}

/* The nearest of the rows from..to that is beyond `last`, a key; UINT64_MAX where there is none. */
static uint64_t next_nearest(const struct plain *plain, const uint64_t *rows, uint64_t from, uint64_t to,
                             uint64_t last) {
    const uint32_t words = plain->graph->facts.centre_words;
    uint64_t nearest = UINT64_MAX;
    for (uint64_t i = from; i < to; i++) {
        const uint32_t distance = distance_of(plain, rows + i * words, 0, words);
        const uint64_t key = nigh__key(distance + 1, (uint32_t)i); /* so that 0 is before all */
        if (key > last && key < nearest) nearest = key;
    }
    return nearest;
}

/* Keys of centres of the nearest groups, each as often as a group has it.  Groups that lie are told. */
static bool ask_groups(struct plain *plain, struct nigh__array *centres) {
    const struct nigh__graph *graph = plain->graph;
    uint64_t last = 0;
    for (uint32_t asked = 0; asked < plain->starts.centres; asked++) {
        last = next_nearest(plain, graph->groups, 0, graph->group_count, last);
        if (last == UINT64_MAX) break;
        const uint32_t group = nigh__key_number(last);
        const uint32_t from = NIGH__ONCE(graph->group_starts[group]);
        const uint32_t to = NIGH__ONCE(graph->group_starts[group + 1]);
        if (from > to || to > graph->centre_count)
            return lies(plain, NIGH__GRAPH_GROUP_STARTS, group, "an impossible group");
        for (uint64_t key = next_nearest(plain, graph->centres, from, to, 0); key != UINT64_MAX;
             key = next_nearest(plain, graph->centres, from, to, key)) {
            uint64_t *slot = nigh__array_add(plain->context, centres, 1);
            if (slot == NULL) return no_memory(plain);
            *slot = key;
        }
    }
    nigh__keys_sort(plain->context, centres->data, centres->count);
    return true;
}

/* The nodes of these centres, unless one of them lies. */
static bool meet_nodes_of(struct plain *plain, const uint64_t *keys, uint32_t count) {
    uint32_t nodes[NIGH__GRAPH_MAX_CENTRES];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t centre = nigh__key_number(keys[i]);
        nodes[i] = NIGH__ONCE(plain->graph->centre_nodes[centre]);
        if (nodes[i] >= plain->graph->nodes)
            return lies(plain, NIGH__GRAPH_CENTRE_NODES, centre, "a node that does not exist");
    }
    for (uint32_t i = 0; i < count; i++)
        if (!meet(plain, nodes[i], false)) return false;
    return true;
}

static bool meet_nearest_centres(struct plain *plain, struct nigh__array *centres) {
    if (!ask_groups(plain, centres)) return false;
    const size_t most = plain->starts.centres;
    return meet_nodes_of(plain, centres->data, (uint32_t)(centres->count < most ? centres->count : most));
}

static bool meet_sampled(struct plain *plain) {
    uint32_t nodes[NIGH__GRAPH_MAX_CENTRES];
    uint32_t count;
    plain->status =
        nigh__graph_sample_nearest(plain->context, plain->graph, plain->words, plain->query, nigh__column_scan_plain,
                                   plain->starts.sampled, nodes, &count, plain->error);
    for (uint32_t i = 0; i < count; i++)
        if (!meet(plain, nodes[i], false)) return false;
    return plain->status == NIGH_OK;
}

static bool meet_centres(struct plain *plain) {
    if (plain->starts.sampled != 0) return meet_sampled(plain);
    struct nigh__array centres = NIGH__ARRAY(uint64_t);
    const bool met = plain->graph->facts.centre_words == 0 || meet_nearest_centres(plain, &centres);
    nigh__array_release(plain->context, &centres);
    return met;
}

static bool meet_seeds(struct plain *plain) {
    const struct nigh__graph_facts *facts = &plain->graph->facts;
    if (!meet_centres(plain)) return false;
    for (uint32_t s = 0; s < plain->starts.slices; s++)
        if (!meet_seed_list(plain, nigh__graph_seed_list(facts, plain->query->words, s))) return false;
    plain->answer->seeds = plain->seeds_end = plain->met.count;
    return true;
}

/* Those met since seeds_taken was set to the end are seeds as well. */
static void add_seeds(struct plain *plain) {
    plain->seeds_end = plain->met.count;
    plain->answer->seeds += plain->seeds_end - plain->seeds_taken;
    plain->last_gain = plain->answer->steps;
}

/* Keys of the centres of groups no farther than `limit`, a key; the starts of all groups are looked at. */
static bool ask_more_groups(struct plain *plain, uint64_t limit, struct nigh__array *centres) {
    const struct nigh__graph *graph = plain->graph;
    const uint32_t words = graph->facts.centre_words;
    for (uint32_t g = 0; g < graph->group_count; g++) {
        const uint32_t from = NIGH__ONCE(graph->group_starts[g]);
        const uint32_t to = NIGH__ONCE(graph->group_starts[g + 1]);
        if (from > to || to > graph->centre_count)
            return lies(plain, NIGH__GRAPH_GROUP_STARTS, g, "an impossible group");
        if (distance_of(plain, graph->groups + (size_t)g * words, 0, words) + 1 > nigh__key_distance(limit)) continue;
        for (uint32_t i = from; i < to; i++) {
            uint64_t *slot = nigh__array_add(plain->context, centres, 1);
            if (slot == NULL) return no_memory(plain);
            *slot = next_nearest(plain, graph->centres, i, (uint64_t)i + 1, 0);
        }
    }
    nigh__keys_sort(plain->context, centres->data, centres->count);
    return true;
}

static bool meet_lost_centres(struct plain *plain) {
    const struct nigh__graph *graph = plain->graph;
    struct nigh__array centres = NIGH__ARRAY(uint64_t);
    uint64_t limit = 0;
    for (uint64_t left = nigh__graph_lost_groups(graph, &plain->starts); left > 0 && limit != UINT64_MAX; left--)
        limit = next_nearest(plain, graph->groups, 0, graph->group_count, limit);
    plain->asked_more = true;
    plain->seeds_taken = plain->met.count;
    bool met = ask_more_groups(plain, limit, &centres);
    const size_t most = plain->starts.centres;
    met = met && meet_nodes_of(plain, centres.data, (uint32_t)(centres.count < most ? centres.count : most));
    nigh__array_release(plain->context, &centres);
    if (met) add_seeds(plain);
    return met;
}

static bool meet_near_seeds(struct plain *plain) {
    const struct nigh__graph_facts *facts = &plain->graph->facts;
    const uint32_t slice = plain->near_slices++;
    const uint64_t list = nigh__graph_seed_list(facts, plain->query->words, slice);
    plain->seeds_taken = plain->met.count;
    if (slice >= plain->starts.slices && !meet_seed_list(plain, list)) return false;
    for (uint32_t b = 0; b < facts->seed_bits; b++)
        if (!meet_seed_list(plain, list ^ UINT64_C(1) << b)) return false;
    add_seeds(plain);
    return true;
}

static bool follow(struct plain *plain, uint32_t node) {
    const struct nigh__graph *graph = plain->graph;
    const uint32_t from = NIGH__ONCE(graph->edge_starts[node]);
    const uint32_t to = NIGH__ONCE(graph->edge_starts[node + 1]);
    if (from > to || to > graph->edge_count || to - from > graph->degree || to - from > NIGH__GRAPH_MAX_BLOCK)
        return lies(plain, NIGH__GRAPH_EDGE_STARTS, node, "impossible edges");
    plain->answer->steps++;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t other = NIGH__ONCE(graph->edges[i]);
        if (other >= graph->nodes) return lies(plain, NIGH__GRAPH_EDGES, i, "a node that does not exist");
        if (!meet(plain, other, true)) return false;
    }
    return true;
}

/* The nearest that was not followed, of equally near ones the last; NULL where there is none. */
static struct found *pool_take(struct plain *plain) {
    struct found *found = plain->found.data;
    struct found *nearest = NULL;
    for (size_t i = 0; i < plain->found.count; i++) {
        if (!found[i].in_pool || found[i].followed) continue;
        if (nearest == NULL || found[i].distance <= nearest->distance) nearest = &found[i];
    }
    return nearest;
}

/* The nearest that were not followed; *any where there was one. */
static bool follow_some(struct plain *plain, bool *any) {
    const uint32_t most = nigh__graph_followed(plain->graph, plain->query->effort, plain->query->plane_count == 0);
    *any = false;
    for (uint32_t i = 0; i < most; i++) {
        struct found *next = pool_take(plain);
        if (next == NULL) break;
        *any = next->followed = true;
        if (!follow(plain, next->node)) return false;
    }
    return true;
}

static bool meet_entries(struct plain *plain) {
    const uint32_t nodes = plain->graph->nodes;
    while (plain->entries_taken < nigh__graph_entry_count(nodes) && plain->waiting_count < NIGH__GRAPH_ENTRIES)
        if (!meet(plain, nigh__graph_entry(nodes, plain->entries_taken++), true)) return false;
    return true;
}

/* ---------------------------------------------------------------- the pool -- */

/* Distance of the E-th of the pool; the greatest there is where there are fewer. */
static uint32_t worst_of(const struct plain *plain) {
    const struct found *found = plain->found.data;
    uint32_t *const sizes = plain->sizes;
    memset(sizes, 0, ((size_t)plain->farthest + 1) * sizeof *sizes);
    for (size_t i = 0; i < plain->found.count; i++) sizes[found[i].distance] += found[i].in_pool;
    uint64_t nearer = 0;
    uint32_t distance = 0;
    for (; distance < plain->farthest; distance++) {
        nearer += sizes[distance];
        if (nearer >= plain->query->effort) break;
    }
    return distance;
}

/* Nodes that are now beyond the E-th leave it; of those as far as that, none does. */
static bool pool_add(struct plain *plain, struct found newcomer) {
    const uint32_t worst = worst_of(plain);
    struct found *found = plain->found.data;
    size_t pool = 0;
    for (size_t i = 0; i < plain->found.count; i++) pool += found[i].in_pool;
    newcomer.in_pool = newcomer.distance < worst || (newcomer.distance == worst && pool < plain->query->effort);
    struct found *slot = nigh__array_add(plain->context, &plain->found, 1);
    if (slot == NULL) return no_memory(plain);
    *slot = newcomer;
    const uint32_t now = worst_of(plain);
    found = plain->found.data;
    for (size_t i = 0; i < plain->found.count; i++) found[i].in_pool = found[i].in_pool && found[i].distance <= now;
    return true;
}

static bool best_add(struct plain *plain, uint64_t key) {
    struct nigh__array *best = &plain->best;
    const uint64_t *keys = best->data;
    if (best->count == plain->query->k && key >= keys[best->count - 1]) return true;
    uint64_t *slot = nigh__array_add(plain->context, best, 1);
    if (slot == NULL) return no_memory(plain);
    *slot = key;
    nigh__keys_sort(plain->context, best->data, best->count);
    if (best->count > plain->query->k) best->count--;
    plain->last_gain = plain->answer->steps;
    return true;
}

/* ------------------------------------------------------------------- the turns -- */

static bool compare_whole(struct plain *plain) {
    const uint32_t sketch_words = plain->graph->facts.sketch_words;
    for (size_t i = 0; i < plain->kept_count; i++) {
        struct found *kept = &plain->kept[i];
        const uint64_t *row = plain->rows + (size_t)kept->row * plain->words;
        if (plain->query->plane_count != 0 && sketch_words < plain->words)
            kept->distance = distance_of(plain, row, 0, plain->words);
        else
            kept->distance += distance_of(plain, row + sketch_words, sketch_words, plain->words);
        if (sketch_words < plain->words) plain->answer->whole++;
        if (kept->distance < plain->closest) plain->closest = kept->distance;
        if (nigh__graph_allows(plain->query, kept->row) && !best_add(plain, nigh__key(kept->distance, kept->row)))
            return false;
        if (!pool_add(plain, *kept)) return false;
    }
    plain->kept_count = 0;
    return true;
}

static bool compare_sketches(struct plain *plain) {
    const struct nigh__graph *graph = plain->graph;
    const uint32_t sketch_words = graph->facts.sketch_words;
    const uint32_t limit = plain->query->plane_count == 0
                               ? nigh__graph_sketch_limit(sketch_words, plain->words, worst_of(plain))
                               : nigh__graph_share_limit(&plain->part, worst_of(plain));
    for (size_t i = 0; i < plain->waiting_count; i++) {
        const uint32_t node = plain->waiting[i];
        const uint64_t *sketch = graph->sketches + (size_t)node * sketch_words;
        const uint32_t distance = distance_of(plain, sketch, 0, sketch_words);
        plain->answer->compared++;
        if (sketch_words == plain->words) plain->answer->whole++;
        if (distance > limit) continue;
        const uint32_t row = NIGH__ONCE(graph->order[node]);
        if (row >= graph->nodes) return lies(plain, NIGH__GRAPH_ORDER, node, "a row that does not exist");
        plain->kept[plain->kept_count++] = (struct found){.node = node, .row = row, .distance = distance};
    }
    plain->waiting_count = 0;
    return true;
}

static bool groups_left(const struct plain *plain) { return plain->starts.lost_share != 0 && !plain->asked_more; }

static bool lost(const struct plain *plain) {
    const struct nigh__graph_facts *facts = &plain->graph->facts;
    if (plain->query->plane_count != 0 || facts->far == 0 ||
        (!groups_left(plain) && plain->near_slices == facts->seed_slices))
        return false;
    return plain->closest > facts->far;
}

static void take_seeds(struct plain *plain) {
    const uint32_t *met = plain->met.data;
    for (uint32_t i = 0; i < NIGH__GRAPH_SEED_BLOCK && plain->seeds_taken < plain->seeds_end; i++)
        plain->waiting[plain->waiting_count++] = met[plain->seeds_taken++];
}

static bool look_elsewhere(struct plain *plain, bool *idle) {
    *idle = false;
    if (groups_left(plain) ? !meet_lost_centres(plain) : !meet_near_seeds(plain)) return false;
    take_seeds(plain);
    return true;
}

/* What is new in this turn goes to the end of what waits. */
static bool go_on(struct plain *plain, bool *idle) {
    const struct nigh__graph_query *query = plain->query;
    if (plain->seeds_taken < plain->seeds_end) {
        take_seeds(plain);
        *idle = false;
        return true;
    }
    if (plain->answer->steps >= NIGH__GRAPH_FIRST_STEPS && groups_left(plain) && lost(plain))
        return look_elsewhere(plain, idle);
    const bool patient = query->patience == 0 || plain->best.count < query->k ||
                         plain->answer->steps - plain->last_gain < query->patience;
    bool any = false;
    if (patient && !follow_some(plain, &any)) return false;
    if (any) *idle = false;
    if (any) return true;
    if (!*idle) return true;
    if (lost(plain)) return look_elsewhere(plain, idle);
    if (plain->best.count >= query->k) return true;
    if (!meet_entries(plain)) return false;
    *idle = plain->waiting_count == 0;
    return true;
}

/* What was met in the last turn is put aside while new nodes are met. */
static bool turn(struct plain *plain, uint32_t *before, bool *idle) {
    const size_t count = plain->waiting_count;
    *idle = count == 0 && plain->kept_count == 0;
    if (count != 0) memcpy(before, plain->waiting, count * sizeof *before);
    plain->waiting_count = 0;
    if (!go_on(plain, idle) || !compare_whole(plain)) return false;
    uint32_t *const new_ones = plain->waiting;
    const size_t new_count = plain->waiting_count;
    plain->waiting = before;
    plain->waiting_count = count;
    const bool sound = compare_sketches(plain);
    plain->waiting = new_ones;
    plain->waiting_count = new_count;
    return sound;
}

/* ------------------------------------------------------------------- the whole -- */

static bool check_best(struct plain *plain) {
    const uint64_t *best = plain->best.data;
    for (size_t i = 0; i < plain->best.count; i++) {
        const uint64_t *row = plain->rows + (size_t)nigh__key_number(best[i]) * plain->words;
        if (distance_of(plain, row, 0, plain->words) != nigh__key_distance(best[i]))
            return lies(plain, NIGH__GRAPH_SKETCHES, 0, "a sketch that does not match its signature");
        if (i > 0 && best[i - 1] == best[i]) return lies(plain, NIGH__GRAPH_ORDER, 0, "a row is there twice");
    }
    return true;
}

static void tell_depth(struct plain *plain) {
    const struct found *found = plain->found.data;
    const uint64_t *best = plain->best.data;
    const bool all = plain->best.count == plain->query->k;
    const uint32_t last = all ? nigh__key_distance(best[plain->best.count - 1]) : plain->farthest + 1;
    size_t pool = 0;
    for (size_t i = 0; i < plain->found.count; i++) {
        pool += found[i].in_pool;
        plain->answer->depth += found[i].in_pool && found[i].distance < last;
    }
    plain->answer->beyond = pool >= plain->query->effort && last > worst_of(plain);
}

static bool finish(struct plain *plain) {
    if (!check_best(plain)) return false;
    tell_depth(plain);
    const uint64_t *best = plain->best.data;
    for (size_t i = 0; i < plain->best.count && nigh__key_distance(best[i]) < plain->query->limit; i++) {
        uint64_t *slot = nigh__array_add(plain->context, &plain->answer->keys, 1);
        if (slot == NULL) return no_memory(plain);
        *slot = best[i];
    }
    return true;
}

static bool walk(struct plain *plain, uint32_t *before) {
    if (!meet_seeds(plain)) return false;
    for (bool idle = false; !idle;)
        if (!turn(plain, before, &idle)) return false;
    return finish(plain);
}

nigh_status nigh__graph_search_plain(const nigh_context *context, const struct nigh__graph *graph, const uint64_t *rows,
                                     uint32_t words, const struct nigh__graph_query *query,
                                     struct nigh__graph_answer *answer, nigh_error *error) {
    struct plain plain = {.context = context,
                          .graph = graph,
                          .rows = rows,
                          .words = words,
                          .query = query,
                          .closest = UINT32_MAX,
                          .starts = nigh__graph_starts(&graph->facts, query->effort, query->plane_count == 0),
                          .answer = answer,
                          .error = error,
                          .met = NIGH__ARRAY(uint32_t),
                          .found = NIGH__ARRAY(struct found),
                          .best = NIGH__ARRAY(uint64_t)};
    *answer = (struct nigh__graph_answer){.keys = answer->keys};
    answer->keys.count = 0;
    const struct nigh__ranking_sums all = sum_levels(&plain, words);
    const struct nigh__ranking_sums sketch = sum_levels(&plain, graph->facts.sketch_words);
    plain.farthest = all.whole;
    plain.part = nigh__graph_share(&all, &sketch);
    uint32_t *numbers = nigh__alloc(context, 2 * (size_t)NIGH__GRAPH_MAX_BLOCK, sizeof *numbers);
    plain.kept = nigh__alloc(context, NIGH__GRAPH_MAX_BLOCK, sizeof *plain.kept);
    plain.sizes = nigh__alloc(context, (size_t)plain.farthest + 1, sizeof *plain.sizes);
    plain.waiting = numbers;
    if (numbers == NULL || plain.kept == NULL || plain.sizes == NULL)
        (void)no_memory(&plain);
    else
        (void)walk(&plain, numbers + NIGH__GRAPH_MAX_BLOCK);
    nigh__array_release(context, &plain.met);
    nigh__array_release(context, &plain.found);
    nigh__array_release(context, &plain.best);
    nigh__free(context, plain.kept);
    nigh__free(context, plain.sizes);
    nigh__free(context, numbers);
    return plain.status;
}
