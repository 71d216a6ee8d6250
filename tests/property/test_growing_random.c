/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finder that grows against a loop over all rows that were added: after every add, of
 * any number of rows, in every mode and by every method; psm with so few prefix bits
 * that its probes are all there are.  And rows that find their place one by one, against
 * a loop that does the same.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "finder/growing.h"
#include "support/support.h"

enum { MAX_ROWS = 700, MAX_BYTES = 16, QUERIES = 12, MAX_TAIL = 24 };

struct world {
    uint64_t seed; /* printed where a test fails */
    struct nigh__rng rng;
    uint32_t width_bits, radius;
    size_t bytes;
    uint64_t count;
    uint8_t rows[MAX_ROWS * MAX_BYTES];
    uint64_t clusters[MAX_ROWS];
    nigh_match truth[MAX_ROWS]; /* of one query, by number */
    size_t found;
};

static uint64_t draw(struct world *world, uint64_t below) { return nigh__rng_next(&world->rng) % below; }

/* Random, or near an earlier one, or its copy. */
static void draw_row(struct world *world, uint64_t count, uint8_t *out) {
    const uint64_t kind = draw(world, 3);
    if (count == 0 || kind == 0) {
        for (size_t i = 0; i < world->bytes; i++) out[i] = (uint8_t)draw(world, 256);
        padding_clear(out, 1, world->width_bits);
        return;
    }
    memcpy(out, world->rows + draw(world, count) * world->bytes, world->bytes);
    for (uint64_t flips = kind == 1 ? draw(world, 5) : 0; flips > 0; flips--) {
        const uint64_t bit = draw(world, world->width_bits);
        out[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void find_truth(struct world *world, const uint8_t *query) {
    world->found = 0;
    for (uint64_t r = 0; r < world->count; r++) {
        uint32_t distance = 0;
        for (size_t b = 0; b < world->bytes; b++)
            distance += (uint32_t)__builtin_popcount(world->rows[r * world->bytes + b] ^ query[b]);
        if (distance <= world->radius) world->truth[world->found++] = (nigh_match){.document = r, .distance = distance};
    }
}

/* Of the truth, whether a match is what was asked for; FIRST and ALL leave no choice. */
static bool is_right(struct world *world, nigh_find_mode mode, uint64_t document, uint32_t distance) {
    for (size_t i = 0; i < world->found; i++) {
        const nigh_match *match = &world->truth[i];
        if (mode == NIGH_FIND_FIRST && i > 0) return false;
        if (mode == NIGH_FIND_ALL && match->distance < distance) return false;
        if (match->document == document) {
            if (match->distance != distance) return false;
            for (size_t j = i + 1; j < world->found && mode == NIGH_FIND_ALL; j++)
                if (world->truth[j].distance < distance) return false;
            return true;
        }
        if (mode == NIGH_FIND_ALL && match->distance == distance) return false;
    }
    return false;
}

static nigh_finder_options options_for(const struct world *world, nigh_finder_method method) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = method;
    options.width_bits = world->width_bits;
    options.radius = world->radius;
    options.threads = 1;
    if (method == NIGH_FINDER_PSM) {
        options.prefix_bits = 4;
        options.probes = 16;
    }
    return options;
}

static nigh_growing_finder *growing_new(nigh_context *context, const nigh_finder_options *options, uint32_t tail) {
    nigh_growing_finder *finder = NULL;
    nigh_error error;
    assert_ok(nigh_growing_finder_new(context, options, &finder, &error), &error);
    finder->tail_most = tail;
    return finder;
}

static void check_query(struct world *world, const nigh_results *results, size_t query, const uint8_t *row,
                        nigh_find_mode mode) {
    size_t count;
    const nigh_match *matches = nigh_results_matches(results, query, &count);
    find_truth(world, row);
    if (mode != NIGH_FIND_ALL) {
        assert_int_equal(count, world->found > 0);
        if (count > 0) assert_true(is_right(world, mode, matches[0].document, matches[0].distance));
        return;
    }
    assert_int_equal(count, world->found);
    qsort(world->truth, world->found, sizeof *world->truth, compare_matches);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(matches[i].document, world->truth[i].document);
        assert_int_equal(matches[i].distance, world->truth[i].distance);
    }
}

static void check_find(struct world *world, const nigh_growing_finder *finder) {
    uint8_t queries[QUERIES * MAX_BYTES];
    uint8_t weights[QUERIES * MAX_BYTES * 8];
    nigh_find_options options;
    nigh_error error;
    nigh_find_options_init(&options);
    for (size_t q = 0; q < QUERIES; q++) draw_row(world, world->count, queries + q * world->bytes);
    for (size_t i = 0; i < sizeof weights; i++) weights[i] = (uint8_t)draw(world, 256);
    options.weights = weights;
    for (int mode = NIGH_FIND_ALL; mode <= NIGH_FIND_ANY; mode++) {
        nigh_results *results = NULL;
        options.mode = (nigh_find_mode)mode;
        options.threads = 1 + (uint32_t)draw(world, 2);
        assert_ok(nigh_growing_finder_find(finder, queries, QUERIES, &options, &results, &error), &error);
        for (size_t q = 0; q < QUERIES; q++)
            check_query(world, results, q, queries + q * world->bytes, (nigh_find_mode)mode);
        nigh_results_free(results);
    }
}

static void check_info(const struct world *world, const nigh_growing_finder *finder, uint32_t tail) {
    nigh_growing_info info = {.size = sizeof info};
    nigh_growing_finder_describe(finder, &info);
    assert_int_equal(info.rows, world->count);
    assert_true(info.tail < tail);
    assert_true(info.parts <= 12);
    assert_true(info.bytes > 0);
}

static void grow(nigh_context *context, struct world *world, nigh_finder_method method) {
    const nigh_finder_options options = options_for(world, method);
    const uint32_t tail = 1 + (uint32_t)draw(world, MAX_TAIL);
    nigh_growing_finder *finder = growing_new(context, &options, tail);
    nigh_error error;
    check_find(world, finder); /* of nothing */
    while (world->count < MAX_ROWS - 100) {
        const uint64_t count = draw(world, 8) == 0 ? draw(world, 100) : draw(world, 4);
        uint8_t *rows = world->rows + world->count * world->bytes;
        for (uint64_t i = 0; i < count; i++) draw_row(world, world->count + i, rows + i * world->bytes);
        assert_ok(nigh_growing_finder_add(finder, rows, count, &error), &error);
        world->count += count;
        check_info(world, finder, tail);
        check_find(world, finder);
    }
    nigh_growing_finder_free(finder);
}

/* --------------------------------------------------------------- find or add */

static void check_placed(struct world *world, const uint8_t *row, const nigh_placed *placed, nigh_find_mode mode,
                         bool add_matched) {
    find_truth(world, row);
    const bool matched = world->found > 0;
    assert_int_equal(placed->match != NIGH_ALL_64, matched);
    if (matched) assert_true(is_right(world, mode, placed->match, placed->distance));
    const uint64_t cluster = matched ? world->clusters[placed->match] : world->count;
    assert_int_equal(placed->cluster, cluster);
    if (matched && !add_matched) {
        assert_int_equal(placed->number, NIGH_ALL_64);
        return;
    }
    assert_int_equal(placed->number, world->count);
    memcpy(world->rows + world->count * world->bytes, row, world->bytes);
    world->clusters[world->count++] = cluster;
}

static void place(nigh_context *context, struct world *world, nigh_finder_method method, bool add_matched) {
    const nigh_finder_options options = options_for(world, method);
    nigh_growing_finder *finder = growing_new(context, &options, 1 + (uint32_t)draw(world, MAX_TAIL));
    uint8_t rows[100 * MAX_BYTES];
    uint8_t weights[100 * MAX_BYTES * 8];
    nigh_placed placed[100];
    nigh_find_options find;
    nigh_error error;
    nigh_find_options_init(&find);
    memset(weights, 7, sizeof weights);
    find.weights = weights;
    find.add_matched = add_matched;
    for (unsigned turn = 0; turn < 200 && world->count < MAX_ROWS - 100; turn++) {
        const size_t count = (size_t)draw(world, 100);
        find.mode = (nigh_find_mode)draw(world, 3);
        for (size_t i = 0; i < count; i++) {
            draw_row(world, world->count, rows + i * world->bytes);
            if (i > 0 && draw(world, 4) == 0) /* of this call */
                memcpy(rows + i * world->bytes, rows + draw(world, i) * world->bytes, world->bytes);
        }
        assert_ok(nigh_growing_finder_find_or_add(finder, rows, count, &find, placed, &error), &error);
        for (size_t i = 0; i < count; i++)
            check_placed(world, rows + i * world->bytes, &placed[i], find.mode, add_matched);
    }
    nigh_growing_info info = {.size = sizeof info};
    nigh_growing_finder_describe(finder, &info);
    uint64_t clusters = 0;
    for (uint64_t i = 0; i < world->count; i++) {
        assert_int_equal(nigh_growing_finder_cluster(finder, i), world->clusters[i]);
        clusters += world->clusters[i] == i;
    }
    assert_int_equal(info.rows, world->count);
    assert_int_equal(info.clusters, clusters);
    assert_int_equal(nigh_growing_finder_cluster(finder, world->count), NIGH_ALL_64);
    nigh_growing_finder_free(finder);
}

/* ------------------------------------------------------------------- the tests */

static void world_init(struct world *world, uint64_t seed) {
    static const uint32_t widths[] = {64, 8, 40, 128, 63, 7, 65, 127, 33, 9};
    *world = (struct world){.seed = seed, .rng = {seed}};
    world->width_bits = widths[seed % 10];
    world->bytes = nigh_signature_bytes(world->width_bits);
    world->radius = world->width_bits < 10 ? 1 : (uint32_t)draw(world, 4);
    print_message("seed %" PRIu64 ", %u bits, radius %u\n", seed, world->width_bits, world->radius);
}

static void test_growing(void **state) {
    struct world *world = malloc(sizeof *world);
    assert_non_null(world);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        for (int method = NIGH_FINDER_AUTO; method <= NIGH_FINDER_PSM; method++) {
            world_init(world, seed);
            grow(*state, world, (nigh_finder_method)method);
        }
    }
    free(world);
}

static void test_placing(void **state) {
    struct world *world = malloc(sizeof *world);
    assert_non_null(world);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        for (int method = NIGH_FINDER_AUTO; method <= NIGH_FINDER_PSM; method++) {
            for (int add_matched = 0; add_matched < 2; add_matched++) {
                world_init(world, seed);
                place(*state, world, (nigh_finder_method)method, add_matched != 0);
            }
        }
    }
    free(world);
}

/* More rows than are asked for at once: those of an earlier piece are there for a later one. */
static void test_pieces(void **state) {
    enum { ROWS = 5000 };
    uint64_t *rows = calloc(ROWS, sizeof *rows);
    nigh_placed *placed = calloc(ROWS, sizeof *placed);
    nigh_finder_options options;
    nigh_find_options find;
    nigh_error error;
    nigh_finder_options_init(&options);
    nigh_find_options_init(&find);
    options.width_bits = 64;
    struct nigh__rng rng = {5};
    for (size_t i = 0; i < ROWS; i++) rows[i] = i < 1500 ? nigh__rng_next(&rng) : rows[i - 1500] ^ 1;
    nigh_growing_finder *finder = NULL;
    assert_ok(nigh_growing_finder_new(*state, &options, &finder, &error), &error);
    find.mode = NIGH_FIND_FIRST;
    find.add_matched = 1;
    assert_ok(nigh_growing_finder_find_or_add(finder, (uint8_t *)rows, ROWS, &find, placed, &error), &error);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(placed[i].cluster, i % 1500);
        assert_int_equal(placed[i].number, i);
        assert_int_equal(placed[i].match, i < 1500 ? NIGH_ALL_64 : i % 1500);
    }
    nigh_growing_finder_free(finder);
    free(rows);
    free(placed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_placing),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
