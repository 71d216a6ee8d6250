/* SPDX-License-Identifier: Apache-2.0 */
/* A finder that grows: what is refused, what a failure leaves, and how much is built and kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "finder/growing.h"
#include "support/support.h"

#define ROWS 300u

static nigh_finder_options options_for(nigh_finder_method method) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = method;
    options.width_bits = 64;
    options.threads = 1;
    if (method == NIGH_FINDER_PSM) options.probes = 16;
    return options;
}

static void fill(uint64_t *rows, size_t count) {
    for (size_t i = 0; i < count; i++) rows[i] = nigh__mix(i % 200);
}

static void test_refused(void **state) {
    nigh_growing_finder *finder = NULL;
    nigh_error error;
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        nigh_finder_options options = options_for(wrong == 0 ? NIGH_FINDER_PSM : NIGH_FINDER_TABLES);
        if (wrong == 0) options.without_numbers = 1;
        if (wrong == 1) options.width_bits = 65537;
        if (wrong >= 2) options.blocks = 4;
        if (wrong == 3) {
            options.leading = 1;
            options.radius = 5; /* which four blocks do not find */
        }
        assert_int_equal(nigh_growing_finder_new(*state, &options, &finder, &error), NIGH_EINVAL);
        assert_null(finder);
    }
}

static void test_refused_queries(void **state) {
    const nigh_finder_options options = options_for(NIGH_FINDER_PSM);
    nigh_growing_finder *finder = NULL;
    nigh_results *results = NULL;
    nigh_find_options find;
    nigh_placed placed;
    nigh_error error;
    const uint64_t row = 7;
    nigh_find_options_init(&find);
    assert_ok(nigh_growing_finder_new(*state, &options, &finder, &error), &error);
    /* Without weights, also while there is only a tail, which would not need them. */
    assert_int_equal(nigh_growing_finder_find(finder, (const uint8_t *)&row, 1, &find, &results, &error), NIGH_EINVAL);
    assert_int_equal(nigh_growing_finder_find_or_add(finder, (const uint8_t *)&row, 1, &find, &placed, &error),
                     NIGH_EINVAL);
    assert_int_equal(placed.cluster, NIGH_ALL_64);
    find.mode = (nigh_find_mode)3;
    assert_int_equal(nigh_growing_finder_find(finder, (const uint8_t *)&row, 0, &find, &results, &error), NIGH_EINVAL);
    assert_int_equal(nigh_growing_finder_add(finder, NULL, 1, &error), NIGH_EINVAL);
    assert_int_equal(nigh_growing_finder_add(finder, (const uint8_t *)&row, UINT32_MAX, &error), NIGH_ELIMIT);
    assert_ok(nigh_growing_finder_add(finder, NULL, 0, &error), &error);
    assert_int_equal(finder->rows, 0);
    nigh_growing_finder_free(finder);
}

/* A row is built in a few times, and there are few parts, however small the tail is. */
static void test_built(void **state) {
    const nigh_finder_options options = options_for(NIGH_FINDER_TABLES);
    nigh_growing_finder *finder = NULL;
    nigh_growing_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(nigh_growing_finder_new(*state, &options, &finder, &error), &error);
    finder->tail_most = 8;
    for (uint64_t i = 0; i < 8192; i++) {
        const uint64_t row = nigh__mix(i);
        assert_ok(nigh_growing_finder_add(finder, (const uint8_t *)&row, 1, &error), &error);
        nigh_growing_finder_describe(finder, &info);
        assert_true(info.parts <= 11); /* log2(8192 / 8) + 1 */
        assert_true(info.built <= 14 * info.rows);
        assert_int_equal(info.clusters, info.rows);
    }
    assert_int_equal(info.rows, 8192);
    nigh_growing_finder_free(finder);
}

/* The limit is kept, and what was there stays. */
static void test_memory_limit(void **state) {
    nigh_finder_options options = options_for(NIGH_FINDER_TABLES);
    nigh_growing_finder *finder = NULL;
    nigh_growing_info info = {.size = sizeof info};
    nigh_error error;
    uint64_t rows[ROWS];
    fill(rows, ROWS);
    options.memory_bytes = 200000;
    assert_ok(nigh_growing_finder_new(*state, &options, &finder, &error), &error);
    finder->tail_most = ROWS;
    nigh_status status = NIGH_OK;
    uint64_t added = 0;
    for (; status == NIGH_OK && added < 1000; added++) {
        for (size_t i = 0; i < ROWS; i++) rows[i] = nigh__mix(added * ROWS + i);
        status = nigh_growing_finder_add(finder, (const uint8_t *)rows, ROWS, &error);
    }
    assert_int_equal(status, NIGH_ELIMIT);
    nigh_growing_finder_describe(finder, &info);
    assert_int_equal(info.rows, (added - 1) * ROWS);
    assert_true(info.bytes <= options.memory_bytes && added > 2);
    nigh_growing_finder_free(finder);
}

/* Few queries have a way of their own: the same matches, with parts of tables, of scans, and a tail. */
static void test_few(void **state) {
    for (unsigned method = 0; method < 2; method++) {
        const nigh_finder_options options = options_for(method == 0 ? NIGH_FINDER_TABLES : NIGH_FINDER_SCAN);
        nigh_growing_finder *finder = NULL;
        nigh_error error;
        uint64_t rows[ROWS];
        fill(rows, ROWS);
        assert_ok(nigh_growing_finder_new(*state, &options, &finder, &error), &error);
        finder->tail_most = 40;
        for (size_t i = 0; i < ROWS; i++)
            assert_ok(nigh_growing_finder_add(finder, (const uint8_t *)&rows[i], 1, &error), &error);
        assert_true(finder->parts.count > 1 && finder->tail_rows > 0);
        for (size_t first = 0; first < ROWS; first += NIGH__GROWING_FEW / 2) {
            uint64_t queries[NIGH__GROWING_FEW];
            nigh_match few[NIGH__GROWING_FEW];
            nigh_find_options find;
            nigh_results *results = NULL;
            for (size_t i = 0; i < NIGH__GROWING_FEW; i++)
                queries[i] = i % 3 == 0 ? nigh__mix(i + 99999) : rows[(first + i) % ROWS] ^ UINT64_C(1) << i % 64;
            nigh_find_options_init(&find);
            find.mode = NIGH_FIND_FIRST;
            assert_true(nigh__growing_takes_few(finder, NIGH__GROWING_FEW));
            assert_false(nigh__growing_takes_few(finder, NIGH__GROWING_FEW + 1));
            assert_ok(nigh__growing_first(finder, queries, NIGH__GROWING_FEW, few, &error), &error);
            assert_ok(
                nigh_growing_finder_find(finder, (const uint8_t *)queries, NIGH__GROWING_FEW, &find, &results, &error),
                &error);
            for (size_t i = 0; i < NIGH__GROWING_FEW; i++) {
                size_t count;
                const nigh_match *match = nigh_results_matches(results, i, &count);
                assert_int_equal(few[i].document, count == 0 ? NIGH_ALL_64 : match->document);
                if (count != 0) assert_int_equal(few[i].distance, match->distance);
            }
            nigh_results_free(results);
        }
        nigh_growing_finder_free(finder);
    }
}

/* ------------------------------------------------------------------- no memory */

/* Adds and asks; where it fails, what was added before is still there, and nothing else. */
static nigh_status add_and_find(nigh_context *context, nigh_finder_method method) {
    const nigh_finder_options options = options_for(method);
    static uint8_t weights[ROWS * 64];
    nigh_growing_finder *finder = NULL;
    nigh_results *results = NULL;
    nigh_placed placed[ROWS];
    nigh_find_options find;
    uint64_t rows[ROWS];
    fill(rows, ROWS);
    nigh_find_options_init(&find);
    find.weights = weights;
    find.threads = 1;
    find.add_matched = 1;
    nigh_status status = nigh_growing_finder_new(context, &options, &finder, NULL);
    if (status == NIGH_OK) finder->tail_most = 20;
    for (size_t i = 0; i < ROWS && status == NIGH_OK; i += 50) {
        status = nigh_growing_finder_add(finder, (const uint8_t *)(rows + i), 30, NULL);
        assert_int_equal(finder->rows, i + (status == NIGH_OK ? 30 : 0));
        if (status == NIGH_OK)
            status = nigh_growing_finder_find_or_add(finder, (const uint8_t *)(rows + i + 30), 20, &find, placed, NULL);
        assert_true(finder->rows == i + 50 || (status != NIGH_OK && finder->rows <= i + 30));
    }
    for (int mode = NIGH_FIND_ALL; mode <= NIGH_FIND_ANY && status == NIGH_OK; mode++) {
        find.mode = (nigh_find_mode)mode;
        status = nigh_growing_finder_find(finder, (const uint8_t *)rows, ROWS, &find, &results, NULL);
        nigh_results_free(results);
    }
    nigh_growing_finder_free(finder);
    return status;
}

static void test_out_of_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t live = memory.live;
    for (int method = NIGH_FINDER_SCAN; method <= NIGH_FINDER_PSM; method++) {
        bool complete = false;
        for (uint64_t fail_at = 0; !complete; fail_at++) {
            memory.calls = 0;
            memory.fail_at = fail_at;
            const nigh_status status = add_and_find(context, (nigh_finder_method)method);
            complete = memory.calls <= fail_at;
            if (complete) assert_int_equal(status, NIGH_OK);
            if (!complete && status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
            assert_int_equal(memory.live, live);
        }
    }
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_refused_queries), cmocka_unit_test(test_built),
        cmocka_unit_test(test_few),     cmocka_unit_test(test_memory_limit),    cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
