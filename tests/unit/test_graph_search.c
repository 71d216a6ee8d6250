/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching a graph: what it finds on graphs that are easy to see through, what it makes of those that lie, memory that
 * runs out; and the distance kernels for rows here and there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "graph/graph_search.h"
#include "kernel/picked.h"
#include "scan/nearest.h"
#include "support/graph_support.h"
#include "support/support.h"

static const struct toy_recipe usual = {.nodes = 300,
                                        .words = 4,
                                        .degree = 8,
                                        .edges = TOY_NEAREST,
                                        .seed = 7,
                                        .clusters = 5,
                                        .sketch_words = 2,
                                        .seed_slices = 8,
                                        .seed_bits = 8,
                                        .seed_longest = 20,
                                        .centre_words = 3,
                                        .nodes_a_centre = 3,
                                        .centres_a_group = 4};

struct asked {
    nigh_context *context;
    struct nigh__graph_scratch *scratch;
    struct toy_graph *toy;
    struct nigh__graph_query query;
    struct nigh__graph_answer answer;
    nigh_error error;
};

static struct asked ask(nigh_context *context, const struct toy_recipe *recipe) {
    struct asked asked = {.context = context, .toy = toy_graph_new(recipe)};
    asked.answer.keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
    asked.query = (struct nigh__graph_query){.words = asked.toy->rows, .k = 10, .limit = UINT32_MAX, .effort = 50};
    assert_ok(nigh__graph_scratch_new(context, &asked.scratch, &asked.error), &asked.error);
    return asked;
}

static nigh_status answer(struct asked *asked) {
    return nigh__graph_search(asked->scratch, &asked->toy->graph, asked->toy->rows, asked->toy->words, &asked->query,
                              &asked->answer, &asked->error);
}

/* Whether something near is found for a row with some of its first bits turned. */
static bool finds_near(struct asked *asked, uint32_t row, uint64_t turned) {
    uint64_t query[4];
    memcpy(query, asked->toy->rows + (size_t)row * asked->toy->words, sizeof query);
    query[0] ^= turned;
    asked->query.words = query;
    assert_ok(answer(asked), &asked->error);
    asked->query.words = NULL;
    return nigh__key_distance(((uint64_t *)asked->answer.keys.data)[0]) <= 80;
}

static void forget(struct asked *asked) {
    nigh__array_release(asked->context, &asked->answer.keys);
    nigh__graph_scratch_free(asked->scratch);
    toy_graph_free(asked->toy);
}

static uint32_t distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
    uint32_t sum = 0;
    for (uint32_t w = 0; w < words; w++) sum += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
    return sum;
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All there is, sorted. */
static uint64_t *true_keys(const struct asked *asked) {
    const uint32_t nodes = asked->toy->graph.nodes;
    uint64_t *keys = malloc(nodes * sizeof *keys);
    assert_non_null(keys);
    for (uint32_t i = 0; i < nodes; i++)
        keys[i] = nigh__key(
            distance(asked->query.words, asked->toy->rows + (size_t)i * asked->toy->words, asked->toy->words), i);
    qsort(keys, nodes, sizeof *keys, compare_keys);
    return keys;
}

/* With room for all, everything that can be reached is compared, and what cannot is taken by itself. */
static void large_effort_is_exact(void **state) {
    static const enum toy_edges edges[] = {TOY_NEAREST, TOY_RANDOM, TOY_RING, TOY_NONE};
    for (size_t i = 0; i < 4; i++) {
        struct toy_recipe recipe = usual;
        recipe.edges = edges[i];
        struct asked asked = ask(*state, &recipe);
        uint64_t *keys = true_keys(&asked);
        asked.query.k = asked.query.effort = 1000;
        assert_ok(answer(&asked), &asked.error);
        assert_int_equal(asked.answer.whole, recipe.nodes);
        assert_int_equal(asked.answer.keys.count, recipe.nodes);
        assert_memory_equal(asked.answer.keys.data, keys, recipe.nodes * sizeof *keys);
        free(keys);
        forget(&asked);
    }
}

/* A node that is there finds itself, and a good graph nearly all of the ten nearest. */
static void near_ones_are_found(void **state) {
    struct asked asked = ask(*state, &usual);
    uint32_t found = 0;
    for (uint32_t i = 0; i < usual.nodes; i++) {
        asked.query.words = asked.toy->rows + (size_t)i * usual.words;
        uint64_t *keys = true_keys(&asked);
        assert_ok(answer(&asked), &asked.error);
        const uint64_t *got = asked.answer.keys.data;
        assert_int_equal(asked.answer.keys.count, 10);
        assert_int_equal(got[0], keys[0]);
        for (uint32_t j = 0; j < 10; j++) found += nigh__key_distance(got[j]) <= nigh__key_distance(keys[9]);
        free(keys);
    }
    assert_true(found > usual.nodes * 95 / 10);
    forget(&asked);
}

/* k are found though the graph falls apart and seeds lead to few. */
static void as_many_as_asked_for(void **state) {
    struct toy_recipe recipe = usual;
    recipe.edges = TOY_NONE;
    recipe.seed_longest = 1;
    for (uint32_t k = 1; k <= 300; k += 23) {
        struct asked asked = ask(*state, &recipe);
        asked.query.k = k;
        asked.query.effort = k;
        asked.query.patience = 1;
        assert_ok(answer(&asked), &asked.error);
        assert_int_equal(asked.answer.keys.count, k);
        forget(&asked);
    }
}

static void limits_are_kept(void **state) {
    struct asked asked = ask(*state, &usual);
    assert_ok(answer(&asked), &asked.error);
    const uint32_t fifth = nigh__key_distance(((uint64_t *)asked.answer.keys.data)[4]);
    asked.query.limit = fifth;
    assert_ok(answer(&asked), &asked.error);
    assert_in_range(asked.answer.keys.count, 1, 4);
    asked.query.limit = 0;
    assert_ok(answer(&asked), &asked.error);
    assert_int_equal(asked.answer.keys.count, 0);
    forget(&asked);
}

/*
 * Each cluster is an island.  A query near one, with a bit turned in every slice that is looked at, has no seed there,
 * and no edge leads to it from where its seeds are: a walk that knows that it is lost looks one bit further.
 */
static void the_lost_are_found(void **state) {
    struct toy_recipe recipe = usual;
    recipe.clusters = 30;
    recipe.seed_slices = 2;
    recipe.centre_words = 0;
    uint32_t found[2] = {0};
    uint64_t compared[2] = {0};
    for (uint32_t knows = 0; knows < 2; knows++) {
        recipe.far = knows == 0 ? 0 : 80;
        struct asked asked = ask(*state, &recipe);
        for (uint32_t i = 0; i < usual.nodes; i++) {
            uint64_t turned = 0;
            for (uint32_t s = 0; s < recipe.seed_slices; s++) turned |= UINT64_C(1) << (s * recipe.seed_bits + i % 8);
            found[knows] += finds_near(&asked, i, turned);
            compared[knows] += asked.answer.compared;
        }
        forget(&asked);
    }
    assert_true(found[0] < usual.nodes * 9 / 10);
    assert_true(found[1] > usual.nodes * 99 / 100);
    assert_true(compared[1] > compared[0]);
}

/*
 * Islands again, and every centre leads to the first one.  The query shares but the later slices with what it is near:
 * those a walk with much in mind begins from, one with little does not, unless it is lost.
 */
static void short_walks_begin_from_few(void **state) {
    static const struct { uint32_t effort, far; } walks[] = {{50, 0}, {10, 0}, {10, 80}};
    struct toy_recipe recipe = usual;
    recipe.clusters = 30;
    uint32_t found[3] = {0};
    uint64_t seeds[3] = {0};
    for (uint32_t w = 0; w < 3; w++) {
        recipe.far = walks[w].far;
        struct asked asked = ask(*state, &recipe);
        memset(asked.toy->centre_nodes, 0, asked.toy->graph.centre_count * sizeof *asked.toy->centre_nodes);
        asked.query.effort = walks[w].effort;
        for (uint32_t i = 0; i < usual.nodes; i++) {
            /* In either of the first two slices, further than a lost walk looks. */
            found[w] += finds_near(&asked, i, UINT64_C(0x3333));
            seeds[w] += asked.answer.seeds;
        }
        forget(&asked);
    }
    assert_int_equal(found[0], usual.nodes);
    assert_true(found[1] < usual.nodes / 2);
    assert_int_equal(found[2], usual.nodes);
    assert_true(seeds[1] < seeds[0] / 2);
}

/*
 * Islands, no slices, and groups that tell nothing: from the first of them no edge leads to many a query.  But the
 * centres there are near, and a walk that is lost asks more groups.
 */
static void the_lost_ask_more_groups(void **state) {
    struct toy_recipe recipe = usual;
    recipe.clusters = 30;
    recipe.seed_slices = 0;
    recipe.centres_a_group = 1;
    uint32_t found[2] = {0};
    for (uint32_t knows = 0; knows < 2; knows++) {
        recipe.far = knows == 0 ? 0 : 80;
        struct asked asked = ask(*state, &recipe);
        struct toy_graph *toy = asked.toy;
        memset(toy->groups, 0, toy->graph.group_count * recipe.centre_words * sizeof *toy->groups);
        for (uint32_t i = 0; i < usual.nodes; i++) found[knows] += finds_near(&asked, i, UINT64_C(0xffff));
        forget(&asked);
    }
    assert_true(found[0] < usual.nodes * 4 / 5);
    assert_true(found[1] > usual.nodes * 97 / 100);
}

/* Fewer steps, and never more than without. */
static void patience_ends_it(void **state) {
    struct asked asked = ask(*state, &usual);
    asked.query.k = 1;
    asked.query.effort = 200;
    assert_ok(answer(&asked), &asked.error);
    const uint64_t steps = asked.answer.steps;
    asked.query.patience = 3;
    assert_ok(answer(&asked), &asked.error);
    assert_in_range(asked.answer.steps, 3, steps / 2);
    forget(&asked);
}

/* Each lie is told where it stands in the way, and the next search of a sound graph is well. */
static void lies_are_told(void **state) {
    for (uint32_t lie = 0; lie < 10; lie++) {
        struct asked asked = ask(*state, &usual);
        struct toy_graph *toy = asked.toy;
        uint32_t *all = lie < 2 ? toy->edge_starts : lie == 2 ? toy->edges : lie < 5 ? toy->order : toy->seed_starts;
        for (uint32_t i = 0; lie == 0 && i <= 300; i++) all[i] = 2400 - 8 * i; /* backwards */
        if (lie == 1) memset(all, 0xff, 301 * sizeof *all);                    /* beyond */
        if (lie == 2) memset(all, 0xff, 2000 * sizeof *all);                   /* nodes that there are not */
        if (lie == 3) memset(all, 0xff, 300 * sizeof *all);                    /* rows that there are not */
        if (lie == 4) memset(all, 0, 300 * sizeof *all);                       /* one row for all */
        if (lie == 5) memset(all, 0xff, (8u << 8) * sizeof *all);              /* lists beyond the end */
        if (lie == 6) memset(toy->sketches, 0, (size_t)300 * 2 * 8);           /* of other rows */
        if (lie == 7) toy->graph.facts.seed_longest = 1;                       /* lists longer than that */
        if (lie == 8) memset(toy->centre_nodes, 0xff, 100 * sizeof *all);      /* nodes that there are not */
        if (lie == 9) memset(toy->group_starts, 0xff, 25 * sizeof *all);       /* centres that there are not */
        assert_int_equal(answer(&asked), NIGH_ECORRUPT);
        assert_int_equal(asked.error.status, NIGH_ECORRUPT);
        asked.toy = toy_graph_new(&usual);
        assert_ok(answer(&asked), &asked.error);
        assert_int_equal(asked.answer.keys.count, 10);
        toy_graph_free(toy);
        forget(&asked);
    }
}

/* By as little as can be, so that one comparison alone tells. */
enum lie {
    EDGES_PAST_THE_END,
    EDGES_BACKWARDS,
    EDGES_MORE_THAN_THE_HEADER_SAYS,
    EDGES_MORE_THAN_A_TURN,
    EDGE_TO_NO_NODE,
    ORDER_OF_NO_ROW,
    ORDER_TWICE,
    SEEDS_PAST_THE_END,
    SEEDS_BACKWARDS,
    SEEDS_TOO_LONG,
    SEED_OF_NO_NODE,
    CENTRES_PAST_THE_END,
    CENTRES_BACKWARDS,
    CENTRE_OF_NO_NODE,
    CENTRE_OF_NO_NODE_THAT_THE_LOST_SEE,
    SKETCH_OF_ANOTHER,
    LIES
};

static const char *tell(struct toy_graph *toy, enum lie lie) {
    struct nigh__graph *graph = &toy->graph;
    const uint32_t nodes = graph->nodes;
    switch (lie) {
    case EDGES_PAST_THE_END:
        graph->edge_count--;
        return "impossible edges";
    case EDGES_BACKWARDS:
        toy->edge_starts[nodes / 2] = toy->edge_starts[nodes / 2 + 1] + 1;
        return "impossible edges";
    case EDGES_MORE_THAN_THE_HEADER_SAYS:
        graph->degree--;
        return "impossible edges";
    case EDGES_MORE_THAN_A_TURN:
        return "impossible edges"; /* so the recipe is */
    case EDGE_TO_NO_NODE:
        toy->edges[graph->edge_count - 1] = nodes;
        return "a node that does not exist";
    case ORDER_OF_NO_ROW:
        toy->order[nodes - 1] = nodes;
        return "a row that does not exist";
    case ORDER_TWICE:
        toy->order[1] = toy->order[0];
        memcpy(toy->sketches + graph->facts.sketch_words, toy->sketches, graph->facts.sketch_words * sizeof(uint64_t));
        return "a row is there twice";
    case SEEDS_PAST_THE_END:
        graph->seed_count--;
        return "an impossible list of seeds";
    case SEEDS_BACKWARDS:
        toy->seed_starts[nigh__graph_seed_lists(&graph->facts) - 1] = (uint32_t)graph->seed_count + 1;
        return "an impossible list of seeds";
    case SEEDS_TOO_LONG:
        graph->facts.seed_longest = 0;
        return "an impossible list of seeds";
    case SEED_OF_NO_NODE:
        toy->seeds[graph->seed_count - 1] = nodes;
        return "a node that does not exist";
    case CENTRES_PAST_THE_END:
        graph->centre_count--;
        return "an impossible group";
    case CENTRES_BACKWARDS:
        toy->group_starts[graph->group_count - 1] = (uint32_t)graph->centre_count + 1;
        return "an impossible group";
    case CENTRE_OF_NO_NODE:
        toy->centre_nodes[graph->centre_count - 1] = nodes;
        return "a node that does not exist";
    case CENTRE_OF_NO_NODE_THAT_THE_LOST_SEE:
        memset(toy->groups + (graph->group_count - 1) * graph->facts.centre_words, 0,
               graph->facts.centre_words * sizeof(uint64_t)); /* the last to be asked */
        toy->centre_nodes[graph->centre_count - 1] = nodes;
        graph->facts.far = 1;
        return "a node that does not exist";
    case SKETCH_OF_ANOTHER:
        toy->sketches[3] ^= 1;
        return "a sketch that does not match its signature";
    case LIES:
        break;
    }
    return NULL;
}

/* All nodes are compared and followed; the last list of seeds is the query's, and has one node; so is the last group.
 */
static void each_bound_is_looked_at(void **state) {
    for (uint32_t lie = 0; lie < LIES; lie++) {
        struct toy_recipe recipe = usual;
        if (lie == EDGES_MORE_THAN_A_TURN) recipe.degree = 257;
        if (lie == EDGES_MORE_THAN_A_TURN) recipe.edges = TOY_RANDOM;
        struct asked asked = ask(*state, &recipe);
        struct toy_graph *toy = asked.toy;
        const uint64_t lists = nigh__graph_seed_lists(&toy->graph.facts);
        uint64_t query[4];
        memset(query, 0xff, sizeof query); /* the last value of every slice */
        toy->seed_starts[lists - 1] = (uint32_t)toy->graph.seed_count;
        toy->seeds[toy->graph.seed_count++] = 0;
        toy->seed_starts[lists] = (uint32_t)toy->graph.seed_count;
        const size_t row = recipe.centre_words * sizeof(uint64_t);
        memset(toy->groups + (toy->graph.group_count - 1) * recipe.centre_words, 0xff, row);
        memset(toy->centres + (toy->graph.centre_count - 1) * recipe.centre_words, 0xff, row);
        asked.query.words = query;
        asked.query.k = recipe.nodes;
        asked.query.effort = 2 * recipe.nodes; /* all groups */
        if (lie != EDGES_MORE_THAN_A_TURN) assert_ok(answer(&asked), &asked.error);
        const char *why = tell(toy, (enum lie)lie);
        assert_int_equal(answer(&asked), NIGH_ECORRUPT);
        assert_string_equal(asked.error.why, why);
        asked.error.why[0] = '\0';
        assert_int_equal(nigh__graph_search_plain(asked.context, &toy->graph, toy->rows, toy->words, &asked.query,
                                                  &asked.answer, &asked.error),
                         NIGH_ECORRUPT);
        assert_string_equal(asked.error.why, why);
        forget(&asked);
    }
}

static void memory_that_runs_out(void **state) {
    (void)state;
    struct toy_graph *toy = toy_graph_new(&usual);
    for (uint64_t fail_at = 0;; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct nigh__graph_scratch *scratch = NULL;
        struct nigh__graph_answer found = {.keys = NIGH__ARRAY(uint64_t)};
        const struct nigh__graph_query query = {.words = toy->rows, .k = 600, .limit = UINT32_MAX, .effort = 600};
        nigh_error error;
        memory.calls = 0;
        memory.fail_at = fail_at;
        nigh_status status = nigh__graph_scratch_new(context, &scratch, &error);
        if (status == NIGH_OK)
            status = nigh__graph_search(scratch, &toy->graph, toy->rows, toy->words, &query, &found, &error);
        nigh__array_release(context, &found.keys);
        nigh__graph_scratch_free(scratch);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status == NIGH_OK) break;
        assert_int_equal(status, NIGH_ENOMEM);
        assert_true(fail_at < 50);
    }
    toy_graph_free(toy);
}

/* ---------------------------------------------------------------------- kernels */

static void kernels_equal_the_definition(void **state) {
    (void)state;
    enum { ROWS = 40, MAX = 70 };
    struct nigh__rng rng = {.state = 3};
    uint64_t *rows = malloc((size_t)ROWS * MAX * sizeof *rows);
    uint64_t query[MAX];
    assert_non_null(rows);
    for (size_t i = 0; i < (size_t)ROWS * MAX; i++) rows[i] = nigh__rng_next(&rng);
    for (size_t i = 0; i < MAX; i++) query[i] = nigh__rng_next(&rng);
    for (size_t v = 0; nigh__picked_at(v) != NULL; v++) {
        const struct nigh__picked *kernel = nigh__picked_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0) continue;
        for (uint32_t words = 1; words <= MAX; words++) {
            uint32_t ids[ROWS];
            uint32_t distances[ROWS + 1] = {0};
            const uint32_t count = (uint32_t)(nigh__rng_next(&rng) % (ROWS + 1));
            uint32_t smallest = UINT32_MAX;
            for (uint32_t i = 0; i < count; i++) ids[i] = (uint32_t)(nigh__rng_next(&rng) % ROWS);
            const uint32_t said = kernel->distances(query, rows, MAX, words, ids, count, distances);
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t expected = distance(query, rows + (size_t)ids[i] * MAX, words);
                assert_int_equal(distances[i], expected);
                if (expected < smallest) smallest = expected;
            }
            assert_int_equal(said, smallest);
            assert_int_equal(distances[count], 0);
        }
    }
    assert_string_equal(nigh__picked_choose("generic")->name, "generic");
    assert_non_null(nigh__picked_choose(NULL));
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_effort_is_exact),
        cmocka_unit_test(near_ones_are_found),
        cmocka_unit_test(as_many_as_asked_for),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(the_lost_are_found),
        cmocka_unit_test(short_walks_begin_from_few),
        cmocka_unit_test(the_lost_ask_more_groups),
        cmocka_unit_test(patience_ends_it),
        cmocka_unit_test(lies_are_told),
        cmocka_unit_test(each_bound_is_looked_at),
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(kernels_equal_the_definition),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
