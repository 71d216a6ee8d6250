/* SPDX-License-Identifier: Apache-2.0 */
/* From pairs to components: on small graphs by hand, and on random ones by the definition. */
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

/* Tells all pairs in order; those that are of one component already are told too where `all` is set. */
static void expect(const nigh_context *context, const struct graph *graph, const uint32_t *expected) {
    for (int all = 0; all < 2; all++) {
        struct nigh__clusters clusters;
        nigh_error error;
        assert_ok(nigh__clusters_init(context, graph->count, &clusters, &error), &error);
        for (uint32_t a = 0; a < graph->count; a++)
            for (uint32_t b = a + 1; b < graph->count; b++)
                if (graph->alike[a][b] && (all != 0 || !nigh__clusters_joined(&clusters, a, b)))
                    nigh__clusters_join(&clusters, a, b);
        nigh__clusters_finish(&clusters);
        for (uint32_t i = 0; i < graph->count; i++) assert_int_equal(clusters.kept[i], expected[i]);
        nigh__clusters_release(&clusters);
    }
}

/* 0 - 1 - 2 - 3, and 4 alone. */
static void test_chain(void **state) {
    struct graph graph = {.count = 5};
    graph.alike[0][1] = graph.alike[1][2] = graph.alike[2][3] = true;
    expect(*state, &graph, (const uint32_t[]){0, 0, 0, 0, 4});
}

/* A star around 0: all are alike to it, and none to each other. */
static void test_star(void **state) {
    struct graph graph = {.count = 5};
    for (uint32_t i = 1; i < 5; i++) graph.alike[0][i] = true;
    expect(*state, &graph, (const uint32_t[]){0, 0, 0, 0, 0});
}

/* Two that meet late: the root of a component is the best of both. */
static void test_meeting(void **state) {
    struct graph graph = {.count = 6};
    graph.alike[1][4] = graph.alike[0][5] = graph.alike[4][5] = true;
    expect(*state, &graph, (const uint32_t[]){0, 0, 2, 3, 0, 0});
}

static void test_nothing(void **state) {
    const struct graph graph = {.count = 0};
    expect(*state, &graph, (const uint32_t[]){0});
}

/* ------------------------------------------------------------ random graphs */

static bool alike(const struct graph *graph, uint32_t a, uint32_t b) {
    return graph->alike[a < b ? a : b][a < b ? b : a];
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

static void test_random(void **state) {
    struct nigh__rng rng = {.state = 11};
    for (int round = 0; round < 300; round++) {
        struct graph graph = {.count = (uint32_t)(nigh__rng_next(&rng) % MAX)};
        const uint64_t density = 1 + nigh__rng_next(&rng) % 60;
        for (uint32_t a = 0; a < graph.count; a++)
            for (uint32_t b = a + 1; b < graph.count; b++) graph.alike[a][b] = nigh__rng_next(&rng) % 100 < density;
        uint32_t kept[MAX];
        define_components(&graph, kept);
        expect(*state, &graph, kept);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),   cmocka_unit_test(test_star),   cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
