/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a bit counts: the levels against their definition, one by one; what chance
 * reaches, against rows drawn by chance; and rankings that are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "scan/ranking.h"
#include "support/support.h"

#define WIDTH 128u
#define BYTES (WIDTH / 8)

/* Of all levels none is nearer, and none that is smaller as near. */
static void test_levels(void **state) {
    static const int levels[] = {0, 1, 2, 3, 4, 5, 6, 8};
    (void)state;
    for (int heaviest = 1; heaviest <= 255; heaviest++) {
        for (int weight = 0; weight <= heaviest; weight++) {
            const int level = (int)nigh__weight_level((uint32_t)weight, (uint32_t)heaviest);
            const int off = abs(8 * weight - level * heaviest);
            bool known = false;
            for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
                const int other = abs(8 * weight - levels[i] * heaviest);
                known = known || levels[i] == level;
                assert_true(levels[i] < level ? other > off : other >= off);
            }
            assert_true(known);
        }
        assert_int_equal(nigh__weight_level((uint32_t)heaviest, (uint32_t)heaviest), 8);
    }
}

/* By the levels. */
static void test_masks_of_weights(void **state) {
    uint8_t weights[WIDTH];
    uint8_t mask[BYTES + 1];
    (void)state;
    for (uint32_t heaviest = 0; heaviest <= 255; heaviest++) {
        for (uint32_t width = 1; width <= WIDTH; width += 9) {
            for (uint32_t j = 0; j < width; j++) weights[j] = (uint8_t)(j == 0 ? heaviest : (7 * j) % (heaviest + 1));
            memset(mask, 0x5a, sizeof mask);
            nigh__weights_mask(weights, width, mask);
            for (uint32_t j = 0; j < 8 * ((width + 7) / 8); j++) {
                const bool counts = heaviest > 0 && j < width && nigh__weight_level(weights[j], heaviest) >= 2;
                assert_int_equal(mask[j / 8] >> j % 8 & 1, counts);
            }
            assert_int_equal(mask[(width + 7) / 8], 0x5a);
        }
    }
}

/* Masked bits neither count nor make others lighter. */
static void test_planes(void **state) {
    uint8_t weights[WIDTH] = {255, 16, 128, 100, 1};
    uint64_t mask[WIDTH / 64] = {0x1e, 0};
    uint64_t planes[NIGH__PLANES * WIDTH / 64];
    struct nigh__ranking_sums sums;
    (void)state;
    assert_true(nigh__planes_weigh(weights, mask, WIDTH, planes));
    nigh__planes_sum(planes, NIGH__PLANES, WIDTH / 64, &sums);
    assert_int_equal(sums.whole, 1 + 8 + 6 + 0);
    assert_int_equal(sums.squares, 1 + 64 + 36);
    assert_true(nigh__planes_weigh(weights, NULL, WIDTH, planes));
    nigh__planes_sum(planes, NIGH__PLANES, WIDTH / 64, &sums);
    assert_int_equal(sums.whole, 8 + 1 + 4 + 3);
    mask[0] = ~(uint64_t)0x1f;
    assert_false(nigh__planes_weigh(weights, mask, WIDTH, planes));
}

/* The distance of the nearest of `rows` rows that are drawn by chance, on average over some draws. */
static double drawn(const uint32_t *levels, uint32_t rows, uint32_t draws, struct nigh__rng *rng) {
    double sum = 0;
    for (uint32_t draw = 0; draw < draws; draw++) {
        uint32_t nearest = UINT32_MAX;
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t distance = 0;
            for (uint32_t word = 0; word < WIDTH / 64; word++) {
                const uint64_t coins = nigh__rng_next(rng);
                for (uint32_t i = 0; i < 64; i++) distance += (coins >> i & 1) != 0 ? levels[64 * word + i] : 0;
            }
            if (distance < nearest) nearest = distance;
        }
        sum += nearest;
    }
    return sum / draws;
}

static void test_chance(void **state) {
    struct nigh__rng rng = {.state = 3};
    struct nigh__ranking_sums sums = {0};
    uint32_t levels[WIDTH];
    (void)state;
    for (uint32_t i = 0; i < WIDTH; i++) {
        levels[i] = i % 9 == 7 ? 0 : i % 9;
        sums.whole += levels[i];
        sums.squares += (uint64_t)levels[i] * levels[i];
    }
    for (uint32_t rows = 10; rows <= 1000; rows *= 10) {
        const double expected = nigh__ranking_chance(&sums, rows);
        const double got = drawn(levels, rows, 40, &rng);
        assert_true(got > expected - 0.02 * sums.whole && got < expected + 0.02 * sums.whole);
    }
    assert_int_equal(nigh__ranking_chance(&sums, 1), sums.whole / 2);
}

/* ---------------------------------------------------------------- refused -- */

struct place {
    char *folder, *path;
    nigh_collection *collection;
    uint8_t query[2 * BYTES];
    uint8_t weights[2 * WIDTH];
};

static void place_init(struct place *place, nigh_context *context) {
    static const struct recipe recipe = {.width_bits = WIDTH, .seed = 5};
    nigh_error error;
    place->folder = scratch_new();
    place->path = path_in(place->folder, "c.nigh");
    assert_ok(recipe_add(context, place->path, &recipe, 0, 50, &error), &error);
    assert_ok(nigh_collection_open(context, place->path, NULL, &place->collection, &error), &error);
    recipe_signature(&recipe, 3, place->query);
    recipe_signature(&recipe, 4, place->query + BYTES);
    memset(place->weights, 9, sizeof place->weights);
}

static void place_release(struct place *place) {
    nigh_collection_close(place->collection);
    scratch_free(place->folder);
    free(place->path);
}

static void refuse(const struct place *place, const nigh_search_options *options, const char *why) {
    nigh_results *results;
    nigh_error error;
    assert_int_equal(nigh_search(place->collection, place->query, 2, options, &results, &error), NIGH_EINVAL);
    assert_null(results);
    assert_string_equal(error.why, why);
}

static nigh_search_options weighted(const struct place *place) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.weights = place->weights;
    options.rank = NIGH_RANK_WEIGHTED;
    return options;
}

static void test_rankings_that_make_no_sense(void **state) {
    struct place place;
    place_init(&place, *state);
    nigh_search_options options = weighted(&place);
    options.rank = (nigh_search_rank)3;
    refuse(&place, &options, "there is no ranking 3");
    options.rank = (nigh_search_rank)-1;
    refuse(&place, &options, "there is no ranking 4294967295");
    options = weighted(&place);
    options.weights = NULL;
    refuse(&place, &options, "a weighted ranking needs the weights of the queries");
    options = weighted(&place);
    memset(place.weights + WIDTH, 0, WIDTH);
    refuse(&place, &options, "all weights of query 1 are 0");
    uint8_t masks[2 * BYTES] = {1};
    memset(place.weights + WIDTH, 9, WIDTH);
    options.masks = masks;
    refuse(&place, &options, "all weights of query 1 are 0"); /* all that are left */
    place_release(&place);
}

static void test_methods_that_count_bits(void **state) {
    struct place place;
    place_init(&place, *state);
    nigh_search_options options = weighted(&place);
    options.method = NIGH_SEARCH_SLICES;
    refuse(&place, &options, "slice lists cannot be searched in some of the bits only, nor by weights");
    options.method = NIGH_SEARCH_SLICES_PLAIN;
    refuse(&place, &options, "slice lists cannot be searched in some of the bits only, nor by weights");
    options.method = NIGH_SEARCH_AUTO;
    options.probe = NIGH_PROBE_DIRECTED;
    refuse(&place, &options, "slice lists cannot be searched in some of the bits only, nor by weights");
    options.probe = NIGH_PROBE_AUTO;
    options.method = NIGH_SEARCH_SKETCH;
    refuse(&place, &options, "sketches cannot be searched in some of the bits only, nor by weights");
    place_release(&place);
}

/* A graph ranks by weights too: with an effort of all documents as the scan does. */
static void test_graph_by_weights(void **state) {
    struct place place;
    nigh_results *walked, *scanned;
    nigh_graph_options graph;
    nigh_error error;
    place_init(&place, *state);
    nigh_collection_close(place.collection);
    nigh_graph_options_init(&graph);
    graph.min_rows = 1;
    assert_ok(nigh_graph_build(*state, place.path, &graph, NULL, &error), &error);
    assert_ok(nigh_collection_open(*state, place.path, NULL, &place.collection, &error), &error);
    for (uint32_t i = 0; i < WIDTH; i++) place.weights[i] = (uint8_t)(i % 3 == 0 ? 0 : i * 5);
    nigh_search_options options = weighted(&place);
    options.k = 50;
    assert_ok(nigh_search(place.collection, place.query, 2, &options, &scanned, &error), &error);
    options.method = NIGH_SEARCH_GRAPH;
    options.effort = 50;
    assert_ok(nigh_search(place.collection, place.query, 2, &options, &walked, &error), &error);
    for (size_t q = 0; q < 2; q++) {
        size_t count, same;
        const nigh_match *found = nigh_results_matches(walked, q, &count);
        const nigh_match *all = nigh_results_matches(scanned, q, &same);
        assert_int_equal(count, 50);
        assert_int_equal(same, 50);
        for (size_t i = 0; i < count; i++) assert_int_equal(found[i].distance, all[i].distance);
    }
    nigh_results_free(walked);
    nigh_results_free(scanned);
    place_release(&place);
}

/* A query weighted by itself only: the scale is its own. */
static void test_scale_of_each_query(void **state) {
    struct place place;
    nigh_results *results;
    nigh_error error;
    nigh_scale scale = {.size = sizeof scale};
    place_init(&place, *state);
    place.weights[WIDTH] = 18;
    const nigh_search_options options = weighted(&place);
    assert_ok(nigh_search(place.collection, place.query, 2, &options, &results, &error), &error);
    assert_ok(nigh_results_scale(results, 0, &scale, &error), &error);
    assert_int_equal(scale.rank, NIGH_RANK_WEIGHTED);
    assert_int_equal(scale.whole, 8 * WIDTH);
    assert_ok(nigh_results_scale(results, 1, &scale, &error), &error);
    assert_int_equal(scale.whole, 8 + 4 * (WIDTH - 1));
    assert_int_equal(nigh_results_scale(results, 2, &scale, &error), NIGH_EINVAL);
    nigh_results_free(results);
    place_release(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_masks_of_weights),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_rankings_that_make_no_sense),
        cmocka_unit_test(test_methods_that_count_bits),
        cmocka_unit_test(test_graph_by_weights),
        cmocka_unit_test(test_scale_of_each_query),
    };
    return cmocka_run_group_tests_name("ranking", tests, context_setup, context_teardown);
}
