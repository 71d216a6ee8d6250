/* SPDX-License-Identifier: Apache-2.0 */
/* Matches handed out as they are found, with next to no memory, are those that are collected; lists beyond memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "corpus/match_store.h"
#include "finder/finder_each.h"
#include "support/support.h"

#define ROWS 3000u
#define QUERIES 300u
#define BASE UINT64_C(0x0123456789abcdef)

struct world {
    uint64_t rows[ROWS];
    uint64_t queries[QUERIES];
    struct nigh__match_store store;
    size_t begin;
    bool refuse;
};

/* Crowds of equal and of near rows, and others; queries the same. */
static uint64_t draw(struct nigh__rng *random) {
    const uint64_t kind = nigh__rng_next(random) % 4;
    const uint64_t bits = nigh__rng_next(random);
    if (kind == 0) return BASE;
    if (kind == 1) return BASE ^ UINT64_C(1) << bits % 64;
    if (kind == 2) return BASE ^ UINT64_C(1) << bits % 64 ^ UINT64_C(1) << bits / 64 % 64;
    return bits;
}

static struct world *world_new(uint64_t seed) {
    struct world *world = calloc(1, sizeof *world);
    struct nigh__rng random = {seed};
    assert_non_null(world);
    for (size_t i = 0; i < ROWS; i++) world->rows[i] = draw(&random);
    for (size_t i = 0; i < QUERIES; i++) world->queries[i] = draw(&random);
    return world;
}

static nigh_status take(void *user, size_t query, const nigh_match *matches, size_t count) {
    struct world *world = user;
    if (world->refuse) return NIGH_EIO;
    return nigh__match_store_add(&world->store, world->begin + query, matches, count, NULL);
}

static void expect_lists(struct world *world, const nigh_results *results) {
    nigh__match_store_end(&world->store);
    for (size_t i = QUERIES; i-- > 0;) {
        size_t expected = 0;
        size_t found = 0;
        const nigh_match *list = NULL;
        const nigh_match *matches = nigh_results_matches(results, i, &expected);
        nigh_error error;
        assert_ok(nigh__match_store_get(&world->store, i, &list, &found, &error), &error);
        assert_int_equal(found, expected);
        for (size_t m = 0; m < found; m++) {
            assert_int_equal(list[m].document, matches[m].document);
            assert_int_equal(list[m].distance, matches[m].distance);
        }
    }
}

static void open_store(nigh_context *context, struct world *world) {
    nigh_error error;
    assert_ok(nigh__match_store_init(context, NULL, 1, QUERIES, &world->store, &error), &error);
}

static void check_finder(nigh_context *context, struct world *world, nigh_finder_method method, nigh_find_mode mode) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.width_bits = 64;
    options.method = method;
    nigh_find_options find;
    nigh_find_options_init(&find);
    find.mode = mode;
    find.threads = 3;
    nigh_finder *finder = NULL;
    nigh_results *results = NULL;
    nigh_error error;
    const uint8_t *queries = (const uint8_t *)world->queries;
    assert_ok(nigh_finder_new(context, (const uint8_t *)world->rows, ROWS, &options, &finder, &error), &error);
    assert_ok(nigh_finder_find(finder, queries, QUERIES, &find, &results, &error), &error);
    const struct nigh__match_sink sink = {.take = take, .user = world, .memory_bytes = 4096};
    open_store(context, world);
    size_t batch = QUERIES;
    for (size_t begin = 0; begin < QUERIES;) {
        struct nigh__find_counts counts;
        const size_t asked = batch < QUERIES - begin ? batch : QUERIES - begin;
        world->begin = begin;
        const nigh_status status = nigh__finder_each(finder, queries + 8 * begin, asked, &find, &sink, &counts, &error);
        assert_true(status == NIGH_OK || (status == NIGH_ELIMIT && asked > 1));
        if (status == NIGH_OK) assert_int_equal(counts.told, asked);
        if (status == NIGH_ELIMIT) batch = asked / 2;
        begin += counts.told;
    }
    expect_lists(world, results);
    struct nigh__find_counts counts;
    const struct nigh__match_sink unlimited = {.take = take, .user = world};
    world->refuse = true; /* what the taker says ends it */
    assert_int_equal(nigh__finder_each(finder, queries, QUERIES, &find, &unlimited, &counts, &error), NIGH_EIO);
    world->refuse = false;
    nigh__match_store_release(&world->store);
    nigh_results_free(results);
    nigh_finder_free(finder);
}

static void test_finder(void **state) {
    struct world *world = world_new(7);
    for (int method = NIGH_FINDER_SCAN; method <= NIGH_FINDER_TABLES; method++) {
        check_finder(*state, world, (nigh_finder_method)method, NIGH_FIND_ALL);
        check_finder(*state, world, (nigh_finder_method)method, NIGH_FIND_FIRST);
    }
    free(world);
}

static void check_chunks(nigh_chunks *chunks, nigh_context *context, struct world *world, nigh_finder_method method,
                         nigh_find_mode mode) {
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    options.method = method;
    options.mode = mode;
    options.threads = 3;
    nigh_results *results = NULL;
    nigh_error error;
    const uint8_t *queries = (const uint8_t *)world->queries;
    assert_ok(nigh_chunks_match(chunks, queries, QUERIES, &options, &results, &error), &error);
    const struct nigh__match_sink sink = {.take = take, .user = world, .memory_bytes = 1, .temporary = "/tmp"};
    struct nigh__find_counts counts;
    open_store(context, world);
    world->begin = 0;
    assert_ok(nigh__chunks_each(chunks, queries, QUERIES, &options, &sink, &world->store.list_of, &counts, &error),
              &error);
    assert_int_equal(counts.told, QUERIES);
    expect_lists(world, results);
    nigh__match_store_release(&world->store);
    nigh_results_free(results);
}

static void test_chunks(void **state) {
    struct world *world = world_new(8);
    char *folder = scratch_new();
    char *path = path_in(folder, "rows.chunks");
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *chunks = NULL;
    nigh_error error;
    assert_ok(nigh_chunks_open(*state, path, &options, &chunks, &error), &error);
    assert_ok(nigh_chunks_append(chunks, (const uint8_t *)world->rows, 2000, NULL, &error), &error);
    assert_ok(nigh_chunks_append(chunks, (const uint8_t *)(world->rows + 2000), 1000, NULL, &error), &error);
    for (int method = NIGH_FINDER_SCAN; method <= NIGH_FINDER_TABLES; method++) {
        check_chunks(chunks, *state, world, (nigh_finder_method)method, NIGH_FIND_ALL);
        check_chunks(chunks, *state, world, (nigh_finder_method)method, NIGH_FIND_FIRST);
    }
    nigh_chunks_close(chunks);
    free(path);
    scratch_free(folder);
    free(world);
}

/* Where there is no room and no folder, that is said. */
static void test_no_folder(void **state) {
    static const nigh_match matches[5000];
    struct nigh__match_store store;
    nigh_error error;
    assert_ok(nigh__match_store_init(*state, "/no/such/folder", 1, 2, &store, &error), &error);
    assert_int_equal(nigh__match_store_add(&store, 1, matches, 5000, &error), NIGH_EIO);
    nigh__match_store_release(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finder),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
