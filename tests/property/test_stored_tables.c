/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables beside segments against what defines the answer: permuted ones against the scan, sorted ones against a finder
 * in memory of the same setting; and 'against' with them against the same without.  Crowds, copies, several segments,
 * all kernels and threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "kernel/hamming.h"
#include "support/support.h"

#define QUERIES 700u /* several batches */
#define MAX_WIDTH 200u

struct shape {
    uint32_t width_bits;
    uint32_t segments[3];
    uint32_t radius;
    uint32_t crowd; /* every so-many-th row is near one centre */
};

static const struct shape shapes[] = {
    {64, {5000}, 3, 50},    {64, {3000, 700, 2}, 1, 3}, {32, {4000}, 2, 40},  {128, {2000, 900}, 6, 30},
    {63, {900, 800}, 3, 2}, {72, {1025}, 5, 7},         {48, {2500}, 4, 100}, {200, {700}, 7, 5},
    {64, {1}, 3, 1},        {9, {300}, 1, 9},
};

struct world {
    const struct shape *shape;
    uint32_t bytes;
    uint64_t rows;
    char *scratch;
    char *path;
    uint8_t *signatures;
    uint8_t queries[QUERIES * MAX_WIDTH / 8];
    uint8_t weights[QUERIES * MAX_WIDTH];
};

static void flip_bits(uint8_t *row, uint32_t width_bits, uint32_t count, struct nigh__rng *rng) {
    while (count-- > 0) {
        const uint64_t bit = nigh__rng_next(rng) % width_bits;
        row[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void world_init(struct world *world, const struct shape *shape, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    *world = (struct world){
        .shape = shape, .bytes = (uint32_t)nigh_signature_bytes(shape->width_bits), .scratch = scratch_new()};
    world->rows = (uint64_t)shape->segments[0] + shape->segments[1] + shape->segments[2];
    world->path = path_in(world->scratch, "c.nigh");
    world->signatures = malloc(world->rows * world->bytes);
    assert_non_null(world->signatures);
    for (uint64_t r = 0; r < world->rows; r++) {
        uint8_t *row = world->signatures + r * world->bytes;
        for (uint32_t i = 0; i < world->bytes; i++) row[i] = (uint8_t)(nigh__rng_next(&rng) >> 24);
        if (r % shape->crowd == 0) memset(row, 0x33, world->bytes);
        padding_clear(row, 1, shape->width_bits);
        if (r % shape->crowd == 0) flip_bits(row, shape->width_bits, (uint32_t)(nigh__rng_next(&rng) % 4), &rng);
    }
    for (size_t q = 0; q < QUERIES; q++) {
        uint8_t *query = world->queries + q * world->bytes;
        memcpy(query, world->signatures + nigh__rng_next(&rng) % world->rows * world->bytes, world->bytes);
        flip_bits(query, shape->width_bits, (uint32_t)(q % (shape->radius + 3)), &rng);
    }
    for (size_t i = 0; i < sizeof world->weights; i++) world->weights[i] = (uint8_t)(nigh__rng_next(&rng) >> 30);
    nigh_context *context = context_new();
    uint64_t first = 0;
    for (size_t s = 0; s < 3 && shape->segments[s] > 0; first += shape->segments[s++])
        signatures_add(context, world->path, shape->width_bits, world->signatures + first * world->bytes,
                       shape->segments[s]);
    nigh_context_free(context);
}

static void world_release(struct world *world) {
    free(world->signatures);
    free(world->path);
    scratch_free(world->scratch);
}

static void tables_add(const struct world *world, const nigh_tables_options *options) {
    nigh_context *context = context_new();
    nigh_error error;
    assert_ok(nigh_tables_build(context, world->path, options, NULL, &error), &error);
    nigh_context_free(context);
}

static nigh_results *search(nigh_context *context, const struct world *world, const nigh_search_options *options) {
    nigh_collection *collection;
    nigh_results *results;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world->path, NULL, &collection, &error), &error);
    assert_ok(nigh_search(collection, world->queries, QUERIES, options, &results, &error), &error);
    nigh_collection_close(collection);
    return results;
}

static void expect_same(const nigh_results *a, const nigh_results *b) {
    for (size_t q = 0; q < QUERIES; q++) {
        size_t count;
        size_t expected;
        const nigh_match *found = nigh_results_matches(a, q, &count);
        const nigh_match *wanted = nigh_results_matches(b, q, &expected);
        assert_int_equal(count, expected);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(found[i].document, wanted[i].document);
            assert_int_equal(found[i].distance, wanted[i].distance);
        }
    }
}

/* Within any radius up to what they guarantee, with any k; whoever leaves the choice to the library gets them too. */
static void compare_with_scan(const struct world *world, const char *kernel, uint32_t threads) {
    nigh_context *context = context_with(NULL, NULL, kernel);
    static const uint32_t ks[] = {NIGH_ALL, 1, 7};
    for (uint32_t radius = 0; radius <= world->shape->radius; radius++) {
        for (size_t i = 0; i < 3; i++) {
            nigh_results_info info = {.size = sizeof info};
            nigh_search_options options;
            nigh_search_options_init(&options);
            options.radius = radius;
            options.k = ks[i];
            options.threads = threads;
            options.method = NIGH_SEARCH_SCAN;
            nigh_results *wanted = search(context, world, &options);
            options.method = NIGH_SEARCH_TABLES;
            nigh_results *found = search(context, world, &options);
            nigh_results_describe(found, &info);
            assert_int_equal(info.exact_queries, QUERIES);
            assert_true(info.probes > 0);
            expect_same(found, wanted);
            nigh_results_free(found);
            options.method = NIGH_SEARCH_AUTO;
            found = search(context, world, &options);
            expect_same(found, wanted);
            nigh_results_free(found);
            nigh_results_free(wanted);
        }
    }
    nigh_context_free(context);
}

static void test_permuted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct world world;
        nigh_tables_options options;
        nigh_tables_options_init(&options);
        world_init(&world, &shapes[i], i + 1);
        options.min_rows = 1;
        options.radius = shapes[i].radius;
        if (i % 3 == 1) { /* more tables than need be, of more leading blocks */
            options.blocks = shapes[i].radius + 2;
            options.leading = 2;
        }
        tables_add(&world, &options);
        compare_with_scan(&world, i % 2 == 0 ? NULL : "generic", 1 + (uint32_t)i % 3);
        world_release(&world);
    }
}

/* A single segment, so that the order of rows is that of documents; a finder of them is the oracle. */
static void compare_with_finder(const struct world *world, const nigh_tables_options *made, uint32_t probes) {
    nigh_context *context = context_new();
    nigh_finder_options finding;
    nigh_find_options find;
    nigh_search_options options;
    nigh_finder *finder;
    nigh_results *wanted;
    nigh_results_info info = {.size = sizeof info};
    nigh_error error;
    nigh_finder_options_init(&finding);
    finding.method = NIGH_FINDER_PSM;
    finding.width_bits = world->shape->width_bits;
    finding.radius = world->shape->radius;
    finding.prefix_bits = made->prefix_bits;
    finding.rotations = made->rotations;
    finding.probes = probes;
    finding.recall = .9;
    nigh_find_options_init(&find);
    find.weights = world->weights;
    assert_ok(nigh_finder_new(context, world->signatures, world->rows, &finding, &finder, &error), &error);
    assert_ok(nigh_finder_find(finder, world->queries, QUERIES, &find, &wanted, &error), &error);
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_TABLES;
    options.radius = world->shape->radius;
    options.k = NIGH_ALL;
    options.weights = world->weights;
    if (probes != made->probes) options.probes = probes;
    nigh_results *found = search(context, world, &options);
    expect_same(found, wanted);
    nigh_results_describe(found, &info);
    assert_int_equal(info.exact_queries, 0); /* nothing is proven */
    assert_true(info.matches > 0);
    nigh_results_free(found);
    nigh_results_free(wanted);
    nigh_finder_free(finder);
    nigh_context_free(context);
}

static void test_sorted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (shapes[i].segments[1] != 0) continue;
        struct world world;
        nigh_tables_options options;
        nigh_tables_options_init(&options);
        world_init(&world, &shapes[i], i + 30);
        options.form = NIGH_TABLES_SORTED;
        options.min_rows = 1;
        options.radius = shapes[i].radius;
        options.prefix_bits = shapes[i].width_bits < 11 ? shapes[i].width_bits : 11;
        options.rotations = 1 + (uint32_t)i % 3;
        options.probes = 20;
        tables_add(&world, &options);
        compare_with_finder(&world, &options, 20);
        compare_with_finder(&world, &options, 100);
        world_release(&world);
    }
}

/* ------------------------------------------------------------------------- against -- */

struct answer {
    nigh_against_info info;
    nigh_finder_info finder;
    uint64_t there; /* a sum over all that was told */
};

static struct answer hold_against(const struct world *world, nigh_find_mode mode, uint64_t memory_bytes) {
    nigh_context *context = context_new();
    struct answer answer = {.info = {.size = sizeof answer.info}, .finder = {.size = sizeof answer.finder}};
    nigh_against_options options;
    nigh_against *against;
    nigh_error error;
    nigh_against_options_init(&options);
    options.radius = world->shape->radius;
    options.method = NIGH_FINDER_TABLES;
    options.find = mode;
    options.memory_bytes = memory_bytes;
    assert_ok(nigh_against_open(context, world->path, &options, &against, &error), &error);
    for (size_t q = 0; q < QUERIES; q++) {
        const nigh_document document = {.size = sizeof document, .signature = world->queries + q * world->bytes};
        assert_ok(nigh_against_take(against, &document, &error), &error);
    }
    assert_ok(nigh_against_compare(against, &error), &error);
    for (uint64_t i = 0; i < QUERIES; i++) {
        nigh_against_document document = {.size = sizeof document};
        assert_ok(nigh_against_at(against, i, &document), &error);
        for (size_t m = 0; m < document.there_count; m++)
            answer.there = answer.there * 31 + document.there[m].document * 64 + document.there[m].distance;
        answer.there = answer.there * 7 + document.there_count;
    }
    nigh_against_describe(against, &answer.info);
    nigh_against_describe_finder(against, &answer.finder);
    nigh_against_close(against);
    nigh_context_free(context);
    return answer;
}

static void test_against(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct world world;
        nigh_tables_options options;
        nigh_tables_options_init(&options);
        world_init(&world, &shapes[i], i + 60);
        const struct answer all = hold_against(&world, NIGH_FIND_ALL, 0);
        const struct answer first = hold_against(&world, NIGH_FIND_FIRST, 0);
        const struct answer any = hold_against(&world, NIGH_FIND_ANY, 0);
        assert_true(all.finder.bytes > 0); /* a finder in memory */
        options.min_rows = 1;
        options.radius = shapes[i].radius;
        tables_add(&world, &options);
        for (uint64_t memory = 0; memory <= UINT64_C(1) << 20; memory += UINT64_C(1) << 20) {
            const struct answer stored = hold_against(&world, NIGH_FIND_ALL, memory);
            assert_int_equal(stored.finder.bytes, 0);
            assert_int_equal(stored.finder.exact_radius, shapes[i].radius);
            assert_int_equal(stored.info.exact, 1);
            assert_int_equal(stored.info.matches, all.info.matches);
            assert_int_equal(stored.there, all.there);
            assert_int_equal(hold_against(&world, NIGH_FIND_FIRST, memory).there, first.there);
            assert_int_equal(hold_against(&world, NIGH_FIND_ANY, memory).info.there, any.info.there);
        }
        world_release(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permuted),
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_against),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
