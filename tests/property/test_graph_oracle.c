/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast search of a graph against the plain one: the same keys, steps and counts, on graphs that are good, random,
 * unconnected, empty or full of lies.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "graph/graph_search.h"
#include "kernel/weighted.h"
#include "scan/nearest.h"
#include "support/bits_to_turn.h"
#include "support/graph_support.h"
#include "support/support.h"

#define ROUNDS 200u
#define MAX_QUERIES 6u

static uint32_t below(struct nigh__rng *rng, uint32_t bound) {
    if (bound == 0) abort();
    return (uint32_t)(nigh__rng_next(rng) % bound);
}

/* One number of the graph becomes any other. */
static void tell_a_lie(struct nigh__rng *rng, struct toy_graph *toy) {
    struct nigh__graph *graph = &toy->graph;
    const uint32_t lists = (uint32_t)nigh__graph_seed_lists(&graph->facts);
    const uint32_t lie = below(rng, 3) == 0 ? (uint32_t)nigh__rng_next(rng) : below(rng, graph->nodes + 3);
    switch (below(rng, 9)) {
    case 0:
        toy->order[below(rng, graph->nodes)] = lie;
        return;
    case 1:
        toy->edge_starts[below(rng, graph->nodes + 1)] = lie;
        return;
    case 2:
        if (graph->edge_count > 0) toy->edges[below(rng, (uint32_t)graph->edge_count)] = lie;
        return;
    case 3:
        toy->seed_starts[below(rng, lists + 1)] = lie;
        return;
    case 4:
        if (graph->seed_count > 0) toy->seeds[below(rng, (uint32_t)graph->seed_count)] = lie;
        return;
    case 5:
        if (graph->centre_count > 0) toy->centre_nodes[below(rng, (uint32_t)graph->centre_count)] = lie;
        return;
    case 6:
        toy->group_starts[below(rng, (uint32_t)graph->group_count + 1)] = lie % (graph->nodes / 3 + 2);
        return;
    case 7:
        if (toy->sample != NULL) toy->sample[below(rng, (uint32_t)toy->sample_bytes)] ^= (uint8_t)lie;
        return;
    default:
        toy->sketches[below(rng, graph->nodes * graph->facts.sketch_words)] ^= nigh__rng_next(rng);
    }
}

static struct toy_graph *random_graph(struct nigh__rng *rng) {
    struct toy_recipe recipe = {
        .nodes = 1 + below(rng, below(rng, 3) == 0 ? 8 : 200),
        .words = 1 + below(rng, 5),
        .degree = 1 + below(rng, 12),
        .edges = (enum toy_edges)below(rng, TOY_EDGES),
        .seed = nigh__rng_next(rng),
        .clusters = 1 + below(rng, 12),
    };
    recipe.sketch_words = 1 + below(rng, recipe.words);
    recipe.seed_bits = 1 + below(rng, 9);
    recipe.seed_slices = below(rng, 4) == 0 ? 0 : below(rng, 1 + recipe.words * 64 / recipe.seed_bits);
    recipe.seed_longest = 1 + below(rng, below(rng, 2) == 0 ? 40 : 200); /* lists that are taken whole, and in part */
    if (below(rng, 4) != 0) recipe.centre_words = 1 + below(rng, recipe.words);
    recipe.nodes_a_centre = 1 + below(rng, 3); /* and sometimes more groups, or centres of one, than a block has */
    recipe.centres_a_group = 1 + below(rng, below(rng, 2) == 0 ? 3 : 120);
    recipe.far = below(rng, 2) == 0 ? 0 : below(rng, recipe.words * 32);
    recipe.sample_step = below(rng, 2) == 0 ? 0 : 1 + below(rng, 5);
    return toy_graph_new(&recipe);
}

#define MAX_ROWS 256u /* more than any graph here has */

/* Bits of which one in 2^draws is set. */
static uint64_t sparse(struct nigh__rng *rng, uint32_t draws) {
    uint64_t bits = UINT64_MAX;
    for (uint32_t i = 0; i < draws; i++) bits &= nigh__rng_next(rng);
    return bits;
}

/* Rows that may be answers: about a half of them, or a few; the same memory at every call. */
static const uint64_t *random_rows(struct nigh__rng *rng) {
    static uint64_t rows[MAX_QUERIES][MAX_ROWS / 64];
    static uint32_t next;
    uint64_t *those = rows[next++ % MAX_QUERIES];
    const bool few = below(rng, 2) == 0;
    for (uint32_t w = 0; w < MAX_ROWS / 64; w++) {
        those[w] = nigh__rng_next(rng);
        if (few) those[w] &= sparse(rng, 3);
    }
    return those;
}

/* Few bits that count, many, none, or all. */
static void random_planes(struct nigh__rng *rng, uint64_t *planes, uint32_t words) {
    const uint32_t kind = below(rng, 5);
    for (uint32_t w = 0; w < words; w++) {
        planes[w] = nigh__rng_next(rng);
        if (kind < 2) planes[w] &= sparse(rng, 2);
        if (kind == 2) planes[w] = UINT64_MAX;
        if (kind == 3 && below(rng, 20) != 0) planes[w] = 0;
    }
}

static struct nigh__graph_query random_query(struct nigh__rng *rng, const struct toy_graph *toy, uint64_t *words,
                                             uint64_t *planes) {
    const uint32_t near = below(rng, toy->graph.nodes);
    for (uint32_t w = 0; w < toy->words; w++) {
        words[w] = toy->rows[(size_t)near * toy->words + w] ^ few_bits(rng);
        if (below(rng, 8) == 0) words[w] = nigh__rng_next(rng);
    }
    struct nigh__graph_query query = {.words = words, .k = 1 + below(rng, 20), .limit = UINT32_MAX};
    if (below(rng, 10) == 0) query.k = 1000;
    query.plane_count = below(rng, 2) == 0 ? 0 : 1 + below(rng, NIGH__PLANES);
    query.planes = planes;
    random_planes(rng, planes, query.plane_count * toy->words);
    query.effort = query.k + below(rng, below(rng, 2) == 0 ? 10 : 300);
    query.patience = below(rng, 2) == 0 ? 0 : 1 + below(rng, 30);
    if (below(rng, 4) == 0) query.limit = below(rng, toy->words * 32);
    if (below(rng, 3) == 0) query.allowed = random_rows(rng);
    return query;
}

static void expect_same(const struct nigh__graph_answer *fast, const struct nigh__graph_answer *plain) {
    assert_int_equal(fast->seeds, plain->seeds);
    assert_int_equal(fast->steps, plain->steps);
    assert_int_equal(fast->compared, plain->compared);
    assert_int_equal(fast->whole, plain->whole);
    assert_int_equal(fast->depth, plain->depth);
    assert_int_equal(fast->beyond, plain->beyond);
    assert_int_equal(fast->keys.count, plain->keys.count);
    if (fast->keys.count > 0)
        assert_memory_equal(fast->keys.data, plain->keys.data, fast->keys.count * sizeof(uint64_t));
}

struct round {
    const nigh_context *context;
    struct nigh__graph_scratch *scratch;
    struct toy_graph *toy;
    uint64_t words[MAX_QUERIES][8];
    uint64_t planes[MAX_QUERIES][NIGH__PLANES * 8];
    struct nigh__graph_query queries[MAX_QUERIES];
    struct nigh__graph_answer plain[MAX_QUERIES], fast[MAX_QUERIES];
    nigh_status statuses[MAX_QUERIES];
    nigh_error errors[MAX_QUERIES];
};

static void compare(struct round *round) {
    for (uint32_t q = 0; q < MAX_QUERIES; q++) {
        const struct toy_graph *toy = round->toy;
        nigh_error error = {.status = NIGH_OK};
        round->errors[q] = error;
        round->statuses[q] = nigh__graph_search_plain(round->context, &toy->graph, toy->rows, toy->words,
                                                      &round->queries[q], &round->plain[q], &round->errors[q]);
        assert_int_equal(round->statuses[q], nigh__graph_search(round->scratch, &toy->graph, toy->rows, toy->words,
                                                                &round->queries[q], &round->fast[q], &error));
        if (round->statuses[q] == NIGH_OK)
            expect_same(&round->fast[q], &round->plain[q]);
        else
            assert_string_equal(error.why, round->errors[q].why);
    }
}

static void fast_equals_plain(void **state) {
    struct nigh__rng rng = {.state = 41};
    struct round round = {.context = *state};
    nigh_error error;
    uint32_t failures = 0;
    uint32_t finds = 0;
    assert_ok(nigh__graph_scratch_new(*state, &round.scratch, &error), &error);
    for (uint32_t q = 0; q < MAX_QUERIES; q++)
        round.plain[q].keys = round.fast[q].keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
    for (uint32_t number = 0; number < ROUNDS; number++) {
        round.toy = random_graph(&rng);
        for (uint32_t lies = number % 2 == 0 ? 0 : below(&rng, 30); lies > 0; lies--) tell_a_lie(&rng, round.toy);
        for (uint32_t q = 0; q < MAX_QUERIES; q++)
            round.queries[q] = random_query(&rng, round.toy, round.words[q], round.planes[q]);
        compare(&round);
        for (uint32_t q = 0; q < MAX_QUERIES; q++) {
            failures += round.statuses[q] != NIGH_OK;
            finds += round.statuses[q] == NIGH_OK && round.plain[q].keys.count > 0;
        }
        toy_graph_free(round.toy);
    }
    assert_true(failures > ROUNDS / 2 && finds > ROUNDS); /* both kinds were there */
    for (uint32_t q = 0; q < MAX_QUERIES; q++) {
        nigh__array_release(*state, &round.plain[q].keys);
        nigh__array_release(*state, &round.fast[q].keys);
    }
    nigh__graph_scratch_free(round.scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_equals_plain)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
