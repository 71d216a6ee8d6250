/* SPDX-License-Identifier: Apache-2.0 */
/* Making a graph of near neighbours, step by step and as a whole, against plain versions. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/format.h"
#include "graph/descent.h"
#include "graph/graph_make.h"
#include "graph/joining.h"
#include "graph/neighbours.h"
#include "graph/pivot_tree.h"
#include "graph/thinning.h"
#include "kernel/hamming.h"
#include "slices/slices.h"
#include "support/support.h"

/* ------------------------------------------------------------------ signatures */

/* Topics with members near them; all different, as the rows of a segment are. */
static uint64_t *clustered(uint32_t count, uint32_t width_bits, uint32_t topics, uint32_t flips, uint64_t seed) {
    const uint32_t words = nigh__row_words(width_bits);
    uint64_t *rows = calloc((size_t)count * words, sizeof *rows);
    struct nigh__rng rng = {.state = seed};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *row = rows + (size_t)i * words;
        const uint64_t topic = nigh__mix(seed + i % topics);
        for (uint32_t w = 0; w < words; w++) row[w] = nigh__mix(topic + w);
        for (uint32_t f = 0; f < flips; f++) {
            const uint64_t bit = nigh__rng_next(&rng) % width_bits;
            row[bit / 64] ^= UINT64_C(1) << bit % 64;
        }
        if (width_bits % 64 != 0) row[words - 1] &= (UINT64_C(1) << width_bits % 64) - 1;
    }
    return rows;
}

static uint32_t distance_of(const uint64_t *a, const uint64_t *b, uint32_t words) {
    uint32_t bits = 0;
    for (uint32_t w = 0; w < words; w++) bits += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
    return bits;
}

static uint32_t distance(const uint64_t *rows, uint32_t words, uint32_t a, uint32_t b) {
    return distance_of(rows + (size_t)a * words, rows + (size_t)b * words, words);
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct nigh__graph_job job_of(const nigh_context *context, const uint64_t *rows, uint32_t count,
                                     uint32_t width_bits) {
    struct nigh__graph_job job = {
        .context = context, .rows = rows, .count = count, .width_bits = width_bits, .threads = 1};
    nigh__graph_defaults(&job);
    return job;
}

/* ---------------------------------------------------------------------- a row */

/* Whatever the order of offers, and however often one is made. */
static void a_row_keeps_the_smallest(void **state) {
    enum { OTHERS = 300, K = 16 };
    uint64_t keys[OTHERS];
    for (uint32_t i = 0; i < OTHERS; i++) keys[i] = nigh__mix(i) % 40 << 32 | (i + 1);
    for (uint64_t order = 0; order < 20; order++) {
        struct nigh__neighbours neighbours;
        assert_true(nigh__neighbours_make(*state, OTHERS + 1, K, K + 3, order % 2 == 1, &neighbours));
        for (uint32_t i = OTHERS - 1; i > 0; i--) {
            const uint64_t j = nigh__mix(order << 32 | i) % (i + 1);
            const uint64_t swapped = keys[i];
            keys[i] = keys[j];
            keys[j] = swapped;
        }
        for (uint32_t i = 0; i < 2 * OTHERS; i++)
            nigh__neighbours_offer(&neighbours, 0, (uint32_t)keys[i % OTHERS], (uint32_t)(keys[i % OTHERS] >> 32));
        uint64_t sorted[OTHERS];
        memcpy(sorted, keys, sizeof sorted);
        qsort(sorted, OTHERS, sizeof sorted[0], compare_keys);
        for (uint32_t i = 0; i < K; i++) {
            assert_int_equal(nigh__neighbours_ids(&neighbours, 0)[i], (uint32_t)sorted[i] | NIGH__NEW);
            assert_int_equal(nigh__neighbours_distances(&neighbours, 0)[i], sorted[i] >> 32);
        }
        assert_int_equal(nigh__neighbours_limit(&neighbours, 0), sorted[K - 1] >> 32);
        assert_int_equal(nigh__neighbours_ids(&neighbours, 0)[K], NIGH__NOBODY);
        assert_int_equal(nigh__neighbours_ids(&neighbours, 1)[0], NIGH__NOBODY);
        nigh__neighbours_release(*state, &neighbours);
    }
}

/* -------------------------------------------------------------------- joining */

/* Who is nearest is the same by choosing, and by offering everyone to everyone; also where there are few, and ties. */
static void joining_first_is_joining(void **state) {
    enum { NODES = 300, K = 20, WORDS = 2 };
    static const uint32_t counts[] = {1, 2, K, K + 1, K + 2, 100, NODES};
    uint64_t *rows = clustered(NODES, 64 * WORDS, 3, 12, 4);
    uint32_t nodes[NODES];
    for (uint32_t i = 0; i < NODES; i++) nodes[i] = (i * 7) % NODES;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct nigh__neighbours neighbours[2];
        for (size_t way = 0; way < 2; way++) {
            struct nigh__joining joining;
            assert_true(nigh__neighbours_make(*state, NODES, K, K, false, &neighbours[way]));
            assert_true(nigh__joining_make(*state, rows, NULL, WORDS, &neighbours[way], 1, &joining));
            assert_true(nigh__joining_room(&joining, counts[c]));
            if (way == 0)
                nigh__join_first(&joining, 0, nodes, counts[c]);
            else
                nigh__join(&joining, 0, nodes, counts[c], counts[c]);
            nigh__joining_release(&joining);
        }
        const size_t items = (size_t)NODES * neighbours[0].room;
        assert_memory_equal(neighbours[0].ids, neighbours[1].ids, items * sizeof *neighbours[0].ids);
        assert_memory_equal(neighbours[0].distances, neighbours[1].distances, items * sizeof *neighbours[0].distances);
        for (uint32_t i = 0; i < NODES; i++)
            assert_int_equal(nigh__neighbours_limit(&neighbours[0], i), nigh__neighbours_limit(&neighbours[1], i));
        assert_int_equal(nigh__neighbours_count(&neighbours[0], nodes[0]), counts[c] - 1 < K ? counts[c] - 1 : K);
        nigh__neighbours_release(*state, &neighbours[0]);
        nigh__neighbours_release(*state, &neighbours[1]);
    }
    free(rows);
}

/* Rows as far apart as can be, which no row of neighbours can tell from too far; nobody is taken for near. */
static void opposites_are_too_far(void **state) {
    enum { NODES = 4, K = 3, WORDS = NIGH_MAX_WIDTH_BITS / 64 };
    uint64_t(*rows)[WORDS] = calloc(NODES, sizeof *rows);
    const uint32_t nodes[NODES] = {0, 1, 2, 3};
    struct nigh__neighbours neighbours;
    struct nigh__joining joining;
    memset(rows[1], 0xff, sizeof rows[1]); /* the opposite of 0 */
    memset(rows[3], 0xff, sizeof rows[3]); /* and of 2, which is near 0 */
    rows[2][0] = 1;
    rows[3][0] = ~UINT64_C(1);
    assert_true(nigh__neighbours_make(*state, NODES, K, K, false, &neighbours));
    assert_true(nigh__joining_make(*state, rows[0], NULL, WORDS, &neighbours, 1, &joining));
    assert_true(nigh__joining_room(&joining, NODES));
    nigh__join_first(&joining, 0, nodes, NODES);
    for (uint32_t i = 0; i < NODES; i++) {
        const uint32_t *ids = nigh__neighbours_ids(&neighbours, i);
        assert_int_equal(nigh__neighbours_count(&neighbours, i), 2); /* 1 and 65,535 bits away, and not 65,536 */
        assert_int_equal(ids[0] & ~NIGH__NEW, i ^ 2);
        assert_int_equal(ids[1] & ~NIGH__NEW, i ^ 3);
    }
    nigh__joining_release(&joining);
    nigh__neighbours_release(*state, &neighbours);
    free(rows);
}

/* ---------------------------------------------------------------------- a tree */

enum { LEAF = 50 };

struct leaves {
    uint8_t *seen;
    _Atomic uint32_t count;
    _Atomic uint32_t wrong; /* told later: on a thread of the library a test cannot fail */
};

static void note_leaf(void *user, uint32_t thread, const uint32_t *ids, uint32_t count) {
    struct leaves *leaves = user;
    (void)thread;
    if (count == 0 || count > LEAF) atomic_fetch_add(&leaves->wrong, 1);
    for (uint32_t i = 0; i < count; i++) leaves->seen[ids[i]]++;
    atomic_fetch_add(&leaves->count, 1);
}

static uint32_t grow(const nigh_context *context, const uint64_t *rows, uint32_t count, uint32_t words,
                     uint32_t threads, uint32_t *ids) {
    struct nigh__parallel parallel = {.context = context, .threads = threads};
    struct leaves leaves = {.seen = calloc(count, 1)};
    struct nigh__pivot_room *room = nigh__pivot_room_new(context, count, words, threads);
    for (uint32_t i = 0; i < count; i++) ids[i] = i;
    const struct nigh__pivot_tree tree = {.parallel = &parallel,
                                          .rows = rows,
                                          .words = words,
                                          .count = count,
                                          .leaf_size = LEAF,
                                          .seed = 7,
                                          .ids = ids,
                                          .user = &leaves,
                                          .leaf = note_leaf};
    assert_non_null(room);
    assert_int_equal(nigh__pivot_tree_grow(&tree, room), NIGH_OK);
    assert_int_equal(atomic_load(&leaves.wrong), 0);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(leaves.seen[i], 1);
    nigh__pivot_room_free(context, room);
    free(leaves.seen);
    return atomic_load(&leaves.count);
}

static void a_tree_has_everyone_once(void **state) {
    enum { COUNT = 70000, WORDS = 2 };
    uint64_t *rows = clustered(COUNT, 128, 20, 20, 1);
    uint32_t *ids = malloc(COUNT * sizeof *ids);
    uint32_t *others = malloc(COUNT * sizeof *others);
    const uint32_t leaves = grow(*state, rows, COUNT, WORDS, 1, ids);
    assert_in_range(leaves, 1400, 30000);
    for (uint32_t threads = 2; threads < 8; threads += 3) {
        assert_int_equal(grow(*state, rows, COUNT, WORDS, threads, others), leaves);
        assert_memory_equal(ids, others, COUNT * sizeof *ids);
    }
    /* Neighbours in it are nearer than those in the given order, where topics take turns. */
    uint64_t near = 0;
    uint64_t far = 0;
    for (uint32_t i = 1; i < COUNT; i++) {
        near += distance(rows, WORDS, ids[i - 1], ids[i]);
        far += distance(rows, WORDS, i - 1, i);
    }
    assert_true(near * 4 < far * 3);
    free(rows);
    free(ids);
    free(others);
}

/* Each row has one bit of its own: all are 2 from each other, and pivots tell nothing. */
static void a_tree_where_all_are_as_far(void **state) {
    enum { COUNT = 8000, WORDS = 128 };
    uint64_t *rows = calloc((size_t)COUNT * WORDS, sizeof *rows);
    uint32_t *ids = malloc(COUNT * sizeof *ids);
    for (uint32_t i = 0; i < COUNT; i++) rows[(size_t)i * WORDS + i / 64] = UINT64_C(1) << i % 64;
    assert_in_range(grow(*state, rows, COUNT, WORDS, 1, ids), 160, 600);
    free(rows);
    free(ids);
}

/* -------------------------------------------------------------------- thinning */

/* As thinning.h says it, one after the other. */
static uint32_t thin_plainly(const uint64_t *rows, uint32_t words, uint64_t *keys, uint32_t count, uint32_t degree) {
    uint32_t kept = 0;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count && kept < degree; i++) {
        bool stays = i == 0 || keys[i] != keys[i - 1];
        const uint64_t key = keys[i];
        for (uint32_t s = 0; s < kept && stays; s++)
            stays = 11 * (uint64_t)distance(rows, words, (uint32_t)keys[s], (uint32_t)key) >= 10 * (key >> 32);
        if (i > 0 && !stays) continue;
        keys[kept++] = key; /* never beyond i */
    }
    return kept;
}

/* The second time: all, where there is room for them. */
static uint32_t thin_if_many(const uint64_t *rows, uint32_t words, uint64_t *keys, uint32_t count, uint32_t degree) {
    uint32_t different = 0;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) keys[different++] = keys[i];
    return different <= degree ? different : thin_plainly(rows, words, keys, different, degree);
}

enum { LEADING = 4, NEAREST = 16 }; /* as thinning.c has them */

/* From one that has room to a node, unless there is such an edge. */
static bool leads_now(uint64_t *edges, uint32_t *count, uint32_t degree, uint32_t node) {
    if (*count >= degree) return false;
    for (uint32_t i = 0; i < *count; i++)
        if ((uint32_t)edges[i] == node) return false;
    edges[(*count)++] = node;
    return true;
}

static uint32_t leading_to(uint64_t *keys, const uint32_t *counts, uint32_t nodes, size_t room, uint32_t node) {
    uint32_t leading = 0;
    for (uint32_t u = 0; u < nodes; u++)
        for (uint32_t i = 0; i < counts[u]; i++) leading += (uint32_t)keys[u * room + i] == node;
    return leading;
}

static void thinning_equals_the_plain_way(void **state) {
    enum { COUNT = 700, K = 20, DEGREE = 12, WORDS = 4 };
    bool thinned = false;
    bool added = false;
    uint32_t(*nearest)[NEAREST] = calloc(COUNT, sizeof *nearest);
    bool all_kept = false;
    struct nigh__parallel parallel = {.context = *state, .threads = 3};
    struct nigh__neighbours neighbours;
    uint64_t *rows = clustered(COUNT, 64 * WORDS, 12, 30, 3);
    uint64_t(*forward)[COUNT] = calloc(COUNT, sizeof *forward);
    uint64_t(*keys)[2 * COUNT] = calloc(COUNT, sizeof *keys);
    uint32_t counts[COUNT] = {0};
    assert_true(nigh__neighbours_make(*state, COUNT, K, K, false, &neighbours));
    for (uint32_t u = 0; u < COUNT; u++) {
        for (uint32_t v = 0; v < COUNT; v++)
            forward[u][v] = (uint64_t)(u == v ? UINT16_MAX : distance(rows, WORDS, u, v)) << 32 | v;
        qsort(forward[u], COUNT, sizeof forward[u][0], compare_keys);
        for (uint32_t i = 0; i < K; i++)
            nigh__neighbours_offer(&neighbours, u, (uint32_t)forward[u][i], (uint32_t)(forward[u][i] >> 32));
        for (uint32_t i = 0; i < NEAREST; i++) nearest[u][i] = (uint32_t)forward[u][i];
        const uint32_t kept = thin_plainly(rows, WORDS, forward[u], K, DEGREE);
        for (uint32_t i = 0; i < kept; i++) {
            const uint32_t v = (uint32_t)forward[u][i];
            keys[u][counts[u]++] = forward[u][i];
            keys[v][counts[v]++] = (forward[u][i] >> 32) << 32 | u;
        }
    }
    assert_int_equal(nigh__thin(&parallel, rows, NULL, WORDS, &neighbours, DEGREE), NIGH_OK);
    for (uint32_t u = 0; u < COUNT; u++) {
        thinned = thinned || counts[u] > 2 * DEGREE; /* so more than DEGREE different ones */
        all_kept = all_kept || counts[u] <= DEGREE;
        counts[u] = thin_if_many(rows, WORDS, keys[u], counts[u], DEGREE);
    }
    for (uint32_t v = 0; v < COUNT; v++) {
        uint32_t leading = leading_to(keys[0], counts, COUNT, sizeof keys[0] / sizeof keys[0][0], v);
        for (uint32_t i = 0; i < NEAREST && leading < LEADING; i++) {
            const uint32_t u = nearest[v][i];
            if (!leads_now(keys[u], &counts[u], DEGREE, v)) continue;
            leading++;
            added = true;
        }
    }
    for (uint32_t u = 0; u < COUNT; u++) {
        const uint32_t *ids = nigh__neighbours_ids(&neighbours, u);
        for (uint32_t i = 0; i < counts[u]; i++) {
            assert_int_equal(ids[i], (uint32_t)keys[u][i]);
            assert_int_equal(nigh__neighbours_distances(&neighbours, u)[i], distance(rows, WORDS, u, ids[i]));
        }
        for (uint32_t i = counts[u]; i < K; i++) assert_int_equal(ids[i], NIGH__NOBODY);
    }
    assert_true(thinned && all_kept && added);
    nigh__neighbours_release(*state, &neighbours);
    free(nearest);
    free(keys);
    free(forward);
    free(rows);
}

/* ------------------------------------------------------------------- the whole */

static void expect_same(const struct nigh__graph *a, const struct nigh__graph *b) {
    assert_int_equal(a->edge_count, b->edge_count);
    assert_int_equal(a->seed_count, b->seed_count);
    assert_memory_equal(&a->facts, &b->facts, sizeof a->facts);
    assert_memory_equal(a->order, b->order, a->nodes * sizeof *a->order);
    assert_memory_equal(a->edge_starts, b->edge_starts, (a->nodes + 1) * sizeof *a->edge_starts);
    assert_memory_equal(a->edges, b->edges, a->edge_count * sizeof *a->edges);
    assert_memory_equal(a->seed_starts, b->seed_starts,
                        (nigh__graph_seed_lists(&a->facts) + 1) * sizeof *a->seed_starts);
    assert_memory_equal(a->seeds, b->seeds, a->seed_count * sizeof *a->seeds);
    assert_int_equal(a->centre_count, b->centre_count);
    assert_int_equal(a->group_count, b->group_count);
    const size_t sketch = a->facts.centre_words * sizeof *a->centres;
    assert_memory_equal(a->groups, b->groups, a->group_count * sketch);
    assert_memory_equal(a->group_starts, b->group_starts, (a->group_count + 1) * sizeof *a->group_starts);
    assert_memory_equal(a->centres, b->centres, a->centre_count * sketch);
    assert_memory_equal(a->centre_nodes, b->centre_nodes, a->centre_count * sizeof *a->centre_nodes);
    assert_memory_equal(a->sketches, b->sketches, (size_t)a->nodes * a->facts.sketch_words * sizeof *a->sketches);
}

static void the_same_for_any_threads(void **state) {
    enum { COUNT = 7500 };
    uint64_t *rows = clustered(COUNT, 192, 12, 40, 9); /* so large that hubs have more neighbours than take part */
    struct nigh__graph_job job = job_of(*state, rows, COUNT, 192);
    struct nigh__graph_made first;
    const uint32_t threads[] = {2, 3, 7};
    nigh_error error;
    job.trees = 2;
    job.passes = 3;
    assert_ok(nigh__graph_make(&job, &first, &error), &error);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        struct nigh__graph_made other;
        job.threads = threads[i];
        assert_ok(nigh__graph_make(&job, &other, &error), &error);
        expect_same(&first.graph, &other.graph);
        nigh__graph_made_release(&other);
    }
    struct nigh__graph_made another;
    job.seed = 1;
    assert_ok(nigh__graph_make(&job, &another, &error), &error);
    assert_memory_not_equal(first.graph.order, another.graph.order, COUNT * sizeof *first.graph.order);
    nigh__graph_made_release(&another);
    nigh__graph_made_release(&first);
    free(rows);
}

static void the_same_for_any_kernel(void **state) {
    enum { COUNT = 3000, WIDTH = 320 };
    uint64_t *rows = clustered(COUNT, WIDTH, 40, 60, 10);
    struct nigh__graph_job job = job_of(*state, rows, COUNT, WIDTH);
    struct nigh__graph_made first;
    nigh_error error;
    assert_ok(nigh__graph_make(&job, &first, &error), &error);
    for (size_t i = 0; nigh__hamming_at(i) != NULL; i++) {
        nigh_context_options options;
        nigh_context_options_init(&options);
        nigh_context *context = NULL;
        struct nigh__graph_made other;
        options.kernel = nigh__hamming_at(i)->name;
        if (nigh_context_new(&options, &context, &error) != NIGH_OK) continue; /* not on this CPU */
        job.context = context;
        assert_ok(nigh__graph_make(&job, &other, &error), &error);
        expect_same(&first.graph, &other.graph);
        nigh__graph_made_release(&other);
        nigh_context_free(context);
    }
    nigh__graph_made_release(&first);
    free(rows);
}

/* Each centre in one group, none of which is nearer to it than its own. */
static void expect_sound_centres(const struct nigh__graph *graph) {
    const uint32_t words = graph->facts.centre_words;
    if (words == 0) return;
    assert_int_equal(graph->group_starts[0], 0);
    assert_int_equal(graph->group_starts[graph->group_count], graph->centre_count);
    for (uint32_t g = 0; g < graph->group_count; g++) {
        assert_true(graph->group_starts[g] <= graph->group_starts[g + 1]);
        for (uint32_t c = graph->group_starts[g]; c < graph->group_starts[g + 1]; c++) {
            const uint64_t *centre = graph->centres + (size_t)c * words;
            const uint32_t own = distance_of(centre, graph->groups + (size_t)g * words, words);
            for (uint32_t other = 0; other < graph->group_count; other++)
                assert_true(own <= distance_of(centre, graph->groups + (size_t)other * words, words));
            assert_true(graph->centre_nodes[c] < graph->nodes);
        }
    }
}

/* Each list has those that share its slice, of too many the evenly chosen ones; `lists` says how many there are. */
static void expect_sound_seeds(const struct nigh__graph *graph, const uint64_t *rows, uint32_t words,
                               const uint32_t *lists) {
    const uint32_t bits = graph->facts.seed_bits;
    uint32_t *seen = calloc((size_t)nigh__graph_seed_lists(&graph->facts) + 1, sizeof *seen);
    for (uint32_t node = 0; node < graph->nodes; node++) {
        const uint64_t *row = rows + (size_t)graph->order[node] * words;
        for (uint32_t s = 0; s < graph->facts.seed_slices; s++) {
            const uint32_t list =
                s << bits | nigh__slice_value(row, (struct nigh__slice){.start = s * bits, .bits = bits});
            const uint64_t length = graph->seed_starts[list + 1] - graph->seed_starts[list];
            const uint64_t number = seen[list]++;
            const uint64_t place = number * length / lists[list];
            if (number == 0 || place != (number - 1) * length / lists[list])
                assert_int_equal(graph->seeds[graph->seed_starts[list] + place], node);
        }
    }
    for (uint64_t list = 0; list < nigh__graph_seed_lists(&graph->facts); list++) {
        const uint32_t length = graph->seed_starts[list + 1] - graph->seed_starts[list];
        assert_int_equal(length, lists[list] > graph->facts.seed_longest ? graph->facts.seed_longest : lists[list]);
    }
    free(seen);
}

/* What every graph is: an order of all rows, edges to others, seeds where they belong. */
static void expect_sound(const struct nigh__graph *graph, const uint64_t *rows, uint32_t width_bits) {
    const uint32_t words = nigh__row_words(width_bits);
    const uint32_t bits = graph->facts.seed_bits;
    uint8_t *seen = calloc(graph->nodes, 1);
    uint32_t *lists = calloc((size_t)nigh__graph_seed_lists(&graph->facts) + 1, sizeof *lists);
    for (uint32_t node = 0; node < graph->nodes; node++) {
        assert_true(graph->order[node] < graph->nodes);
        assert_int_equal(seen[graph->order[node]]++, 0);
        assert_true(graph->edge_starts[node + 1] - graph->edge_starts[node] <= graph->degree);
        for (uint32_t e = graph->edge_starts[node]; e < graph->edge_starts[node + 1]; e++) {
            assert_true(graph->edges[e] < graph->nodes && graph->edges[e] != node);
            for (uint32_t other = graph->edge_starts[node]; other < e; other++)
                assert_int_not_equal(graph->edges[e], graph->edges[other]);
        }
        const uint64_t *row = rows + (size_t)graph->order[node] * words;
        assert_memory_equal(graph->sketches + (size_t)node * graph->facts.sketch_words, row,
                            graph->facts.sketch_words * sizeof *row);
        for (uint32_t s = 0; s < graph->facts.seed_slices; s++)
            lists[s << bits | nigh__slice_value(row, (struct nigh__slice){.start = s * bits, .bits = bits})]++;
    }
    expect_sound_seeds(graph, rows, words, lists);
    assert_int_equal(graph->edge_starts[graph->nodes], graph->edge_count);
    expect_sound_centres(graph);
    free(lists);
    free(seen);
}

static int compare_numbers(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* By all pairs: the distance to the nearest other that 98 of 100 rows do not exceed. */
static uint32_t true_far(const uint64_t *rows, uint32_t count, uint32_t words) {
    uint32_t *nearest = malloc(count * sizeof *nearest);
    if (nearest == NULL) abort();
    for (uint32_t i = 0; i < count; i++) {
        nearest[i] = UINT32_MAX;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t far = distance(rows, words, i, j);
            if (j != i && far < nearest[i]) nearest[i] = far;
        }
    }
    qsort(nearest, count, sizeof *nearest, compare_numbers);
    const uint32_t far = nearest[count - 1 - count / 50];
    free(nearest);
    return far;
}

/* The share of the ten nearest that it says it knows is so, and high. */
static void it_knows_the_nearest(void **state) {
    enum { COUNT = 5000, WIDTH = 256, WORDS = 4 };
    uint64_t *rows = clustered(COUNT, WIDTH, 40, 60, 11);
    const struct nigh__graph_job job = job_of(*state, rows, COUNT, WIDTH);
    struct nigh__graph_made made;
    nigh_error error;
    assert_ok(nigh__graph_make(&job, &made, &error), &error);
    expect_sound(&made.graph, rows, WIDTH);
    assert_int_equal(made.graph.facts.recall_nodes, 200);
    assert_int_equal(made.graph.facts.recall_wanted, 2000);
    assert_in_range(made.graph.facts.recall_found, 1950, 2000);
    assert_int_equal(made.graph.facts.far, true_far(rows, COUNT, WORDS));
    assert_in_range(made.graph.centre_count, 40, COUNT / 20); /* at least one a topic */
    /* The nearest of all is an edge: nothing kept can be nearer to it. */
    uint32_t found = 0;
    for (uint32_t node = 0; node < COUNT; node += 50) {
        uint64_t least = UINT64_MAX;
        for (uint32_t other = 0; other < COUNT; other++) {
            const uint64_t key =
                (uint64_t)distance(rows, WORDS, made.graph.order[node], made.graph.order[other]) << 32 | other;
            if (other != node && key < least) least = key;
        }
        found += made.graph.edges[made.graph.edge_starts[node]] == (uint32_t)least;
    }
    assert_in_range(found, 97, 100);
    nigh__graph_made_release(&made);
    free(rows);
}

static void small_and_narrow_ones(void **state) {
    const struct {
        uint32_t count, width_bits;
    } cases[] = {{1, 1024}, {2, 64},   {5, 1024}, {3, 8},     {256, 8}, {8, 64},     {9, 64},
                 {10, 72},  {15, 128}, {16, 128}, {60, 8192}, {49, 72}, {1001, 2048}};
    nigh_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t words = nigh__row_words(cases[i].width_bits);
        uint64_t *rows = clustered(cases[i].count, cases[i].width_bits, 3, cases[i].width_bits / 4, i);
        for (uint32_t row = 0; row < cases[i].count; row++)
            rows[(size_t)row * words] = cases[i].width_bits == 8 ? row : rows[(size_t)row * words] + row;
        const struct nigh__graph_job job = job_of(*state, rows, cases[i].count, cases[i].width_bits);
        struct nigh__graph_made made;
        assert_ok(nigh__graph_make(&job, &made, &error), &error);
        expect_sound(&made.graph, rows, cases[i].width_bits);
        assert_true(made.graph.edge_count > 0 || cases[i].count == 1);
        if (cases[i].count <= 5) assert_int_equal(made.graph.facts.recall_found, cases[i].count * (cases[i].count - 1));
        nigh__graph_made_release(&made);
        free(rows);
    }
}

/* Very many around one point, so that pivots, samples and edges are crowded. */
static void a_crowd(void **state) {
    enum { COUNT = 20000, WIDTH = 128, WORDS = 2 };
    uint64_t *rows = calloc((size_t)COUNT * WORDS, sizeof *rows);
    nigh_error error;
    for (uint32_t i = 0; i < COUNT; i++) rows[(size_t)i * WORDS] = i;
    struct nigh__graph_job job = job_of(*state, rows, COUNT, WIDTH);
    struct nigh__graph_made made;
    job.trees = 3;
    job.passes = 2;
    assert_ok(nigh__graph_make(&job, &made, &error), &error);
    expect_sound(&made.graph, rows, WIDTH);
    nigh__graph_made_release(&made);
    free(rows);
}

/* ---------------------------------------------------------------------- faults */

static void no_memory(void **state) {
    enum { COUNT = 300, WIDTH = 64 };
    uint64_t *rows = clustered(COUNT, WIDTH, 10, 10, 2);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const struct nigh__graph_job job = job_of(context, rows, COUNT, WIDTH);
    const int64_t live = memory.live;
    bool whole = false;
    (void)state;
    for (uint64_t fail_at = 0; !whole; fail_at++) {
        struct nigh__graph_made made;
        nigh_error error;
        memory.calls = 0;
        memory.fail_at = fail_at;
        const nigh_status status = nigh__graph_make(&job, &made, &error);
        memory.fail_at = UINT64_MAX;
        whole = status == NIGH_OK;
        if (whole) {
            assert_true(fail_at > 20);
            nigh__graph_made_release(&made);
        } else {
            assert_int_equal(status, NIGH_ENOMEM);
            assert_int_equal(error.status, NIGH_ENOMEM);
        }
        assert_int_equal(memory.live, live);
    }
    nigh_context_free(context);
    free(rows);
}

struct patience {
    const char *stage; /* that it ends in */
};

static int stop_in_stage(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return strcmp(stage, ((const struct patience *)user)->stage) == 0;
}

static void cancelled(void **state) {
    enum { COUNT = 6000, WIDTH = 512 };
    uint64_t *rows = clustered(COUNT, WIDTH, 10, 100, 2);
    struct nigh__graph_job job = job_of(*state, rows, COUNT, WIDTH);
    struct patience patience = {.stage = "ordering"};
    const nigh_progress report = {.report = stop_in_stage, .user = &patience};
    struct nigh__progress progress;
    struct nigh__graph_made made;
    nigh_error error;
    job.progress = &progress;
    nigh__progress_init(&progress, &report);
    assert_int_equal(nigh__graph_make(&job, &made, &error), NIGH_ECANCELLED);
    assert_int_equal(error.status, NIGH_ECANCELLED);
    patience.stage = "neighbours"; /* takes longer than a report is apart */
    nigh__progress_init(&progress, &report);
    job.trees = 200;
    assert_int_equal(nigh__graph_make(&job, &made, &error), NIGH_ECANCELLED);
    patience.stage = "refining"; /* with so many neighbours that takes seven times as long as a report is apart */
    nigh__progress_init(&progress, &report);
    job.trees = 1;
    job.neighbours = 200;
    assert_int_equal(nigh__graph_make(&job, &made, &error), NIGH_ECANCELLED);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_keeps_the_smallest),
        cmocka_unit_test(joining_first_is_joining),
        cmocka_unit_test(opposites_are_too_far),
        cmocka_unit_test(a_tree_has_everyone_once),
        cmocka_unit_test(a_tree_where_all_are_as_far),
        cmocka_unit_test(thinning_equals_the_plain_way),
        cmocka_unit_test(the_same_for_any_threads),
        cmocka_unit_test(the_same_for_any_kernel),
        cmocka_unit_test(it_knows_the_nearest),
        cmocka_unit_test(small_and_narrow_ones),
        cmocka_unit_test(a_crowd),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
