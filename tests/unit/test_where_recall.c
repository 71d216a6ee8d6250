/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph among some documents: with nine tenths, a half, a tenth, a hundredth and a thousandth of them allowed by a
 * condition it finds no less than among all of them with the same effort, for it is walked farther, or left for the
 * scan of those that are allowed.  So it is where what is forbidden lies together, just where the answers would be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define DOCUMENTS 12000u
#define QUERIES 300u
#define BYTES 32u
#define K 10u

static uint8_t *queries;

static void generate(uint64_t number, uint8_t *out) {
    nigh_generator_options options;
    nigh_error error;
    nigh_generator_options_init(&options);
    options.width_bits = 8 * BYTES;
    options.count = DOCUMENTS;
    assert_ok(nigh_generate(&options, number, out, &error), &error);
}

/* With a graph, and a key of 1,000 values in no order. */
static void make(struct collection_place *place) {
    static const char *const keys[] = {"part"};
    nigh_writer_options options;
    nigh_graph_options graph;
    nigh_writer *writer;
    nigh_error error;
    uint8_t row[BYTES];
    nigh_writer_options_init(&options);
    options.width_bits = 8 * BYTES;
    options.keep_keys = keys;
    options.keep_key_count = 1;
    assert_ok(nigh_writer_open(place->context, place->path, &options, &writer, &error), &error);
    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        const nigh_value part = {.type = NIGH_VALUE_INTEGER, .integer = (int64_t)(i * 7919 % 1000)};
        const nigh_document document = {.size = sizeof document, .signature = row, .values = &part, .value_count = 1};
        generate(i, row);
        assert_ok(nigh_writer_add(writer, &document, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    nigh_graph_options_init(&graph);
    graph.min_rows = 1;
    assert_ok(nigh_graph_build(place->context, place->path, &graph, NULL, &error), &error);
}

static nigh_results *search(const nigh_collection *collection, const char *where, nigh_search_method method,
                            uint32_t effort) {
    nigh_search_options options;
    nigh_results *results;
    nigh_error error;
    nigh_search_options_init(&options);
    options.k = K;
    options.method = method;
    options.where = where;
    if (method == NIGH_SEARCH_GRAPH) options.effort = effort;
    if (method == NIGH_SEARCH_GRAPH) options.patience = 0;
    assert_ok(nigh_search(collection, queries, QUERIES, &options, &results, &error), &error);
    return results;
}

/* The share of the distances of the scan that the graph has too. */
static double recall(const nigh_collection *collection, const char *where, uint32_t effort) {
    nigh_results *exact = search(collection, where, NIGH_SEARCH_SCAN, 0);
    nigh_results *found = search(collection, where, NIGH_SEARCH_GRAPH, effort);
    uint64_t wanted = 0;
    uint64_t got = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        size_t counts[2];
        const nigh_match *all = nigh_results_matches(exact, q, &counts[0]);
        const nigh_match *some = nigh_results_matches(found, q, &counts[1]);
        wanted += counts[0];
        for (size_t i = 0; i < counts[1]; i++) got += some[i].distance <= all[counts[0] - 1].distance;
    }
    nigh_results_free(exact);
    nigh_results_free(found);
    return (double)got / (double)wanted;
}

static void a_filter_finds_no_less(void **state) {
    static const char *const shares[] = {"part < 900", "part < 500", "part < 100", "part < 10", "part = 0"};
    struct collection_place *place = *state;
    nigh_collection *collection;
    nigh_error error;
    make(place);
    queries = malloc((size_t)QUERIES * BYTES);
    for (size_t q = 0; q < QUERIES; q++) generate(DOCUMENTS + q, queries + q * BYTES);
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &error), &error);
    for (uint32_t effort = 10; effort <= 40; effort *= 2) {
        const double whole = recall(collection, NULL, effort);
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
            const double among = recall(collection, shares[i], effort);
            print_message("effort %u: %.4f of all, %.4f where %s\n", effort, whole, among, shares[i]);
            assert_true(among >= whole);
            if (i > 1) assert_true(among == 1); /* few: they are compared one by one */
        }
    }
    nigh_collection_close(collection);
    free(queries);
}

/* ------------------------------------------------------- what is near is forbidden -- */

#define FORBIDDEN 1000u /* fewer than a tenth: the walk is taken, whatever it costs */
#define BARRED 20u      /* queries */

static nigh_results *search_one(const nigh_collection *collection, const uint8_t *query, const uint64_t *among,
                                nigh_search_method method, uint32_t k) {
    nigh_search_options options;
    nigh_results *results;
    nigh_error error;
    nigh_search_options_init(&options);
    options.k = k;
    options.method = method;
    options.among = among;
    if (method == NIGH_SEARCH_GRAPH) options.effort = 2 * K;
    if (method == NIGH_SEARCH_GRAPH) options.patience = 0;
    assert_ok(nigh_search(collection, query, 1, &options, &results, &error), &error);
    return results;
}

/* All but the nearest of a query. */
static void forbid_nearest(const nigh_collection *collection, const uint8_t *query, uint64_t *among) {
    size_t count;
    nigh_results *nearest = search_one(collection, query, NULL, NIGH_SEARCH_SCAN, FORBIDDEN);
    const nigh_match *matches = nigh_results_matches(nearest, 0, &count);
    memset(among, 0xff, (DOCUMENTS / 64 + 1) * sizeof *among);
    for (size_t i = 0; i < count; i++) among[matches[i].document / 64] &= ~(UINT64_C(1) << matches[i].document % 64);
    nigh_results_free(nearest);
}

static void what_is_near_is_forbidden(void **state) {
    struct collection_place *place = *state;
    nigh_collection *collection;
    nigh_error error;
    uint64_t among[DOCUMENTS / 64 + 1];
    uint8_t query[BYTES];
    make(place);
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &error), &error);
    for (size_t q = 0; q < BARRED; q++) {
        size_t counts[2];
        generate(DOCUMENTS + q, query);
        forbid_nearest(collection, query, among);
        nigh_results *exact = search_one(collection, query, among, NIGH_SEARCH_SCAN, K);
        nigh_results *found = search_one(collection, query, among, NIGH_SEARCH_GRAPH, K);
        const nigh_match *all = nigh_results_matches(exact, 0, &counts[0]);
        const nigh_match *some = nigh_results_matches(found, 0, &counts[1]);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(all, some, counts[0] * sizeof *all);
        nigh_results_free(exact);
        nigh_results_free(found);
    }
    nigh_collection_close(collection);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_near_is_forbidden, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(a_filter_finds_no_less, collection_place_setup, collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
