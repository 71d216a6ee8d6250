/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication of signatures, which needs no documents: who stays, who goes with whom, and all pairs, against
 * distances counted one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

enum { ROWS = 600, RADIUS = 5 };

/* Every third is a few bits from an earlier one, every seventh a copy of one. */
static void rows_make(uint64_t *rows) {
    struct nigh__rng rng = {5};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = nigh__rng_next(&rng);
        if (i == 0) continue;
        if (i % 3 == 0 || i % 7 == 0) rows[i] = rows[nigh__rng_next(&rng) % i];
        for (size_t flip = 0; i % 7 != 0 && i % 3 == 0 && flip < 3; flip++)
            rows[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
    }
}

static uint32_t distance(uint64_t a, uint64_t b) { return (uint32_t)__builtin_popcountll(a ^ b); }

static nigh_dedup *rows_dedup(nigh_context *context, const uint64_t *rows, size_t count, uint32_t threads) {
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    nigh_dedup *dedup = NULL;
    nigh_error error;
    options.distance = RADIUS;
    options.threads = threads;
    options.all_pairs = 1;
    assert_ok(nigh_dedup_rows(context, (const uint8_t *)rows, count, 64, &options, &dedup, &error), &error);
    return dedup;
}

static nigh_dedup_document document_at(const nigh_dedup *dedup, uint64_t number) {
    nigh_dedup_document document = {.size = sizeof document};
    assert_int_equal(nigh_dedup_at(dedup, number, &document), NIGH_OK);
    return document;
}

static bool came_before(const uint64_t *rows, size_t number) {
    for (size_t i = 0; i < number; i++)
        if (rows[i] == rows[number]) return true;
    return false;
}

static void test_who_stays(void **state) {
    uint64_t rows[ROWS];
    rows_make(rows);
    nigh_dedup *dedup = rows_dedup(*state, rows, ROWS, 2);
    size_t gone = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const nigh_dedup_document document = document_at(dedup, i);
        assert_null(document.id);
        assert_int_equal(document.copy != 0, came_before(rows, i));
        assert_true(distance(rows[i], rows[document.cluster]) <= RADIUS);
        assert_true(document_at(dedup, document.cluster).keep);
        gone += !document.keep;
        for (size_t j = 0; document.keep && j < i; j++)
            assert_false(document_at(dedup, j).keep && distance(rows[i], rows[j]) <= RADIUS);
    }
    assert_true(gone > ROWS / 4);
    nigh_dedup_free(dedup);
}

struct pairs_seen {
    const uint64_t *rows;
    size_t count;
};

static int take_pair(void *user, const nigh_dedup_pair *pair) {
    struct pairs_seen *seen = user;
    assert_int_equal(pair->distance, distance(seen->rows[pair->first], seen->rows[pair->second]));
    assert_true(pair->distance <= RADIUS);
    seen->count++;
    return 0;
}

static void test_all_pairs(void **state) {
    uint64_t rows[ROWS];
    rows_make(rows);
    nigh_dedup *dedup = rows_dedup(*state, rows, ROWS, 1);
    struct pairs_seen seen = {.rows = rows};
    nigh_error error;
    size_t expected = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < i; j++) expected += distance(rows[i], rows[j]) <= RADIUS;
    assert_ok(nigh_dedup_pairs(dedup, take_pair, &seen, NULL, &error), &error);
    assert_int_equal(seen.count, expected);
    nigh_dedup_free(dedup);
}

static void test_nothing_and_refused(void **state) {
    const uint64_t row = 1;
    nigh_dedup_document document = {.size = sizeof document};
    nigh_dedup *dedup = rows_dedup(*state, &row, 0, 1);
    assert_int_equal(nigh_dedup_at(dedup, 0, &document), NIGH_END);
    nigh_dedup_free(dedup);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    nigh_error error;
    assert_int_equal(nigh_dedup_rows(*state, (const uint8_t *)&row, 1, 65537, NULL, &dedup, &error), NIGH_EINVAL);
    assert_null(dedup);
    options.keep = NIGH_KEEP_LONGEST;
    assert_int_equal(nigh_dedup_rows(*state, (const uint8_t *)&row, 1, 64, &options, &dedup, &error), NIGH_EINVAL);
    assert_null(dedup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_stays),
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_nothing_and_refused),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
