/* SPDX-License-Identifier: Apache-2.0 */
/* From pairs to clusters: the three rules on small graphs by hand, and on random ones by their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "dedup/cluster.h"
#include "support/support.h"

#define MAX 64u

struct graph {
    uint32_t count;
    bool alike[MAX][MAX];
};

/* Tells all pairs in order; those that are not asked for are told too where `all` is set. */
static void cluster(const nigh_context *context, nigh_cluster_rule rule, const struct graph *graph, bool all,
                    uint32_t words, uint32_t *kept) {
    const struct nigh__sorter_options sorting = {
        .words = words, .key_words = words, .memory_bytes = 1 << 20, .threads = 1};
    struct nigh__clusters clusters;
    nigh_error error;
    bool joined;
    assert_ok(nigh__clusters_init(context, rule, graph->count, &sorting, &clusters, &error), &error);
    for (uint32_t a = 0; a < graph->count; a++)
        for (uint32_t b = a + 1; b < graph->count; b++)
            if (graph->alike[a][b] && (all || nigh__clusters_ask(&clusters, a, b)))
                assert_ok(nigh__clusters_add(&clusters, a, b, &joined, &error), &error);
    assert_ok(nigh__clusters_finish(&clusters, &error), &error);
    for (uint32_t i = 0; i < graph->count; i++) kept[i] = (uint32_t)clusters.kept[i];
    nigh__clusters_release(&clusters);
}

static void expect(const nigh_context *context, nigh_cluster_rule rule, const struct graph *graph,
                   const uint32_t *expected) {
    uint32_t kept[MAX];
    for (uint32_t way = 0; way < 4; way++) { /* pairs of one word, and of two */
        cluster(context, rule, graph, way % 2 != 0, 1 + way / 2, kept);
        for (uint32_t i = 0; i < graph->count; i++) assert_int_equal(kept[i], expected[i]);
    }
}

/* 0 - 1 - 2 - 3, and 4 alone: a chain must not glue strangers together. */
static void test_chain(void **state) {
    struct graph graph = {.count = 5};
    graph.alike[0][1] = graph.alike[1][2] = graph.alike[2][3] = true;
    expect(*state, NIGH_CLUSTER_KEPT, &graph, (const uint32_t[]){0, 0, 2, 2, 4});
    expect(*state, NIGH_CLUSTER_COMPONENTS, &graph, (const uint32_t[]){0, 0, 0, 0, 4});
    expect(*state, NIGH_CLUSTER_COMPLETE, &graph, (const uint32_t[]){0, 0, 2, 2, 4});
}

/* A star around 0: all are alike to it, and none to each other. */
static void test_star(void **state) {
    struct graph graph = {.count = 5};
    for (uint32_t i = 1; i < 5; i++) graph.alike[0][i] = true;
    expect(*state, NIGH_CLUSTER_KEPT, &graph, (const uint32_t[]){0, 0, 0, 0, 0});
    expect(*state, NIGH_CLUSTER_COMPONENTS, &graph, (const uint32_t[]){0, 0, 0, 0, 0});
    expect(*state, NIGH_CLUSTER_COMPLETE, &graph, (const uint32_t[]){0, 0, 2, 3, 4});
}

/* Two that meet late: the root of a component is the best of both. */
static void test_meeting(void **state) {
    struct graph graph = {.count = 6};
    graph.alike[1][4] = graph.alike[0][5] = graph.alike[4][5] = true;
    expect(*state, NIGH_CLUSTER_KEPT, &graph, (const uint32_t[]){0, 1, 2, 3, 1, 0});
    expect(*state, NIGH_CLUSTER_COMPONENTS, &graph, (const uint32_t[]){0, 0, 2, 3, 0, 0});
}

static void test_nothing(void **state) {
    const struct graph graph = {.count = 0};
    expect(*state, NIGH_CLUSTER_KEPT, &graph, (const uint32_t[]){0});
    expect(*state, NIGH_CLUSTER_COMPONENTS, &graph, (const uint32_t[]){0});
    expect(*state, NIGH_CLUSTER_COMPLETE, &graph, (const uint32_t[]){0});
}

/* ------------------------------------------------------------ random graphs */

static bool alike(const struct graph *graph, uint32_t a, uint32_t b) {
    return graph->alike[a < b ? a : b][a < b ? b : a];
}

static void define_kept(const struct graph *graph, uint32_t *kept) {
    for (uint32_t b = 0; b < graph->count; b++) {
        kept[b] = b;
        for (uint32_t a = 0; a < b && kept[b] == b; a++)
            if (kept[a] == a && alike(graph, a, b)) kept[b] = a;
    }
}

static void define_components(const struct graph *graph, uint32_t *kept) {
    for (uint32_t i = 0; i < graph->count; i++) kept[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < graph->count; a++)
            for (uint32_t b = 0; b < graph->count; b++)
                if (a != b && alike(graph, a, b) && kept[a] < kept[b]) {
                    kept[b] = kept[a];
                    changed = true;
                }
    }
}

static void define_complete(const struct graph *graph, uint32_t *kept) {
    for (uint32_t b = 0; b < graph->count; b++) {
        kept[b] = b;
        for (uint32_t cluster_of = 0; cluster_of < b && kept[b] == b; cluster_of++) {
            bool fits = kept[cluster_of] == cluster_of;
            for (uint32_t a = 0; a < b; a++)
                if (kept[a] == cluster_of && !alike(graph, a, b)) fits = false;
            if (fits) kept[b] = cluster_of;
        }
    }
}

static void test_random(void **state) {
    struct nigh__rng rng = {.state = 11};
    for (int round = 0; round < 300; round++) {
        struct graph graph = {.count = (uint32_t)(nigh__rng_next(&rng) % MAX)};
        const uint64_t density = 1 + nigh__rng_next(&rng) % 60;
        for (uint32_t a = 0; a < graph.count; a++)
            for (uint32_t b = a + 1; b < graph.count; b++) graph.alike[a][b] = nigh__rng_next(&rng) % 100 < density;
        uint32_t kept[MAX];
        define_kept(&graph, kept);
        expect(*state, NIGH_CLUSTER_KEPT, &graph, kept);
        define_components(&graph, kept);
        expect(*state, NIGH_CLUSTER_COMPONENTS, &graph, kept);
        define_complete(&graph, kept);
        expect(*state, NIGH_CLUSTER_COMPLETE, &graph, kept);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),   cmocka_unit_test(test_star),   cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
