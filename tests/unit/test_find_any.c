/* SPDX-License-Identifier: Apache-2.0 */
/* Who needs one match stops looking with it: what is found, and what was looked up for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

#define ROWS 6000u
#define QUERIES 900u
#define RADIUS 3u
#define WEAK_BITS 4u /* of each query, spread over the row */

/* Queries near a row, differing in weak bits (kind 0 and 1 in turn), and near nothing (kind 2). */
struct world {
    uint64_t rows[ROWS];
    uint64_t queries[QUERIES];
    uint8_t weights[QUERIES][64];
};

static uint64_t word_of(uint64_t number) { return nigh__mix(number + 1); }

static void world_make(struct world *world) {
    for (uint64_t i = 0; i < ROWS; i++) world->rows[i] = word_of(i);
    for (uint64_t q = 0; q < QUERIES; q++) {
        memset(world->weights[q], 200, 64);
        for (uint64_t i = 0; i < WEAK_BITS; i++) world->weights[q][(q + 16 * i) % 64] = (uint8_t)(i + 1);
        world->queries[q] = q % 3 == 2 ? word_of(ROWS + q) : world->rows[q];
        if (q % 3 == 1) world->queries[q] ^= UINT64_C(1) << q % 64 | UINT64_C(1) << (q + 16) % 64;
    }
}

static nigh_finder *finder_of(nigh_context *context, const struct world *world, uint32_t probes, uint32_t rotations) {
    nigh_finder_options options;
    nigh_error error;
    nigh_finder *finder = NULL;
    nigh_finder_options_init(&options);
    options.method = NIGH_FINDER_PSM;
    options.width_bits = 64;
    options.radius = RADIUS;
    options.recall = 0.5;
    options.probes = probes;
    options.rotations = rotations;
    options.threads = 1;
    assert_ok(nigh_finder_new(context, (const uint8_t *)world->rows, ROWS, &options, &finder, &error), &error);
    return finder;
}

static nigh_results *find(const nigh_finder *finder, const struct world *world, size_t first, size_t count,
                          nigh_find_mode mode, uint32_t threads) {
    nigh_find_options options;
    nigh_error error;
    nigh_results *results = NULL;
    nigh_find_options_init(&options);
    options.mode = mode;
    options.threads = threads;
    options.weights = world->weights[first];
    assert_ok(nigh_finder_find(finder, (const uint8_t *)(world->queries + first), count, &options, &results, &error),
              &error);
    return results;
}

static uint64_t probes_of(const nigh_results *results) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    return info.probes;
}

/* One match or none, as with all; it is near; and it is the one that `alone` has. */
static void expect_one(const struct world *world, const nigh_results *any, const nigh_results *all, size_t query) {
    size_t count = 0;
    size_t total = 0;
    const nigh_match *match = nigh_results_matches(any, query, &count);
    (void)nigh_results_matches(all, query, &total);
    assert_int_equal(count, total > 0);
    if (count == 0) return;
    const uint64_t bits = world->rows[match->document] ^ world->queries[query];
    assert_int_equal(match->distance, __builtin_popcountll(bits));
    assert_true(match->distance <= RADIUS);
}

/* In one call, with threads, and one query a call: the same matches. */
static void same_however_asked(void **state) {
    static const uint32_t settings[][2] = {{1, 1}, {15, 1}, {48, 1}, {128, 1}, {5, 2}, {100, 3}};
    struct world *world = malloc(sizeof *world);
    world_make(world);
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        nigh_finder *finder = finder_of(*state, world, settings[s][0], settings[s][1]);
        nigh_results *all = find(finder, world, 0, QUERIES, NIGH_FIND_ALL, 1);
        nigh_results *any = find(finder, world, 0, QUERIES, NIGH_FIND_ANY, 1);
        nigh_results *threaded = find(finder, world, 0, QUERIES, NIGH_FIND_ANY, 3);
        for (size_t q = 0; q < QUERIES; q++) {
            nigh_results *alone = find(finder, world, q, 1, NIGH_FIND_ANY, 1);
            size_t counts[3];
            const nigh_match *matches[3] = {nigh_results_matches(any, q, &counts[0]),
                                            nigh_results_matches(threaded, q, &counts[1]),
                                            nigh_results_matches(alone, 0, &counts[2])};
            expect_one(world, any, all, q);
            for (size_t i = 1; i < 3; i++) {
                assert_int_equal(counts[i], counts[0]);
                if (counts[0] != 0) assert_int_equal(matches[i]->document, matches[0]->document);
            }
            nigh_results_free(alone);
        }
        assert_true(probes_of(any) <= probes_of(all));
        nigh_results_free(all);
        nigh_results_free(any);
        nigh_results_free(threaded);
        nigh_finder_free(finder);
    }
    free(world);
}

/* An equal row takes one look-up, weak bits some, nothing near all of them. */
static void probing_ends_with_the_match(void **state) {
    struct world *world = malloc(sizeof *world);
    world_make(world);
    for (uint32_t probes = 40; probes <= 280; probes += 120) {
        nigh_finder *finder = finder_of(*state, world, probes, 1);
        for (size_t q = 0; q < 30; q++) {
            nigh_results *any = find(finder, world, q, 1, NIGH_FIND_ANY, 1);
            nigh_results *all = find(finder, world, q, 1, NIGH_FIND_ALL, 1);
            assert_int_equal(probes_of(all), probes);
            if (q % 3 == 0) assert_int_equal(probes_of(any), 1);
            if (q % 3 == 1) assert_true(probes_of(any) <= 17); /* one, and a wave */
            if (q % 3 == 2) assert_int_equal(probes_of(any), probes);
            nigh_results_free(any);
            nigh_results_free(all);
        }
        nigh_finder_free(finder);
    }
    free(world);
}

/* Of many queries in one call those that have a match save most of their look-ups, too. */
static void many_queries_save_as_much(void **state) {
    struct world *world = malloc(sizeof *world);
    world_make(world);
    nigh_finder *finder = finder_of(*state, world, 300, 1);
    nigh_results *any = find(finder, world, 0, QUERIES, NIGH_FIND_ANY, 1);
    assert_true(probes_of(any) < (uint64_t)(QUERIES / 3) * (300 + 17 + 17));
    nigh_results_free(any);
    nigh_finder_free(finder);
    free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_however_asked),
        cmocka_unit_test(probing_ends_with_the_match),
        cmocka_unit_test(many_queries_save_as_much),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
