/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Deduplication of crowds: very many documents near each other must cost about their
 * number, say what was left out, and keep the same whether pairs are listed or not.
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
#include "support/support.h"

enum { ROWS = 6000, DOCUMENTS = 1200, WORDS = 60 };

struct tally {
    uint64_t pairs, last_first, last_second;
};

static int take(void *user, const nigh_dedup_pair *pair) {
    struct tally *tally = user;
    assert_true(pair->first < pair->second);
    assert_true(tally->pairs == 0 || pair->first > tally->last_first ||
                (pair->first == tally->last_first && pair->second > tally->last_second));
    tally->pairs++;
    tally->last_first = pair->first;
    tally->last_second = pair->second;
    return 0;
}

static uint64_t count_pairs(nigh_dedup *dedup) {
    struct tally tally = {0};
    nigh_error error;
    assert_ok(nigh_dedup_pairs(dedup, take, &tally, NULL, &error), &error);
    return tally.pairs;
}

static nigh_dedup_info info_of(const nigh_dedup *dedup) {
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_describe(dedup, &info);
    return info;
}

static void assert_same_clusters(const nigh_dedup *a, const nigh_dedup *b) {
    nigh_dedup_document x = {.size = sizeof x};
    nigh_dedup_document y = {.size = sizeof y};
    uint64_t i = 0;
    for (; nigh_dedup_at(a, i, &x) == NIGH_OK; i++) {
        assert_int_equal(nigh_dedup_at(b, i, &y), NIGH_OK);
        assert_int_equal(x.cluster, y.cluster);
    }
    assert_int_equal(nigh_dedup_at(b, i, &y), NIGH_END);
}

/* ------------------------------------------------------------------- signatures -- */

/* Up to `flips` bits from one of two centres; the first are strangers, with no other near them. */
static uint64_t *rows_make(uint32_t flips, size_t strangers) {
    uint64_t *rows = calloc(ROWS, sizeof *rows);
    struct nigh__rng rng = {11};
    if (rows == NULL) {
        fail();
        return NULL;
    }
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = i % 2 == 0 ? UINT64_C(0x0123456789abcdef) : UINT64_C(0xfedcba9876543210);
        for (uint32_t flip = 0; flip < flips; flip++) rows[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
        if (i < strangers) rows[i] = nigh__rng_next(&rng);
    }
    return rows;
}

static nigh_dedup *rows_dedup(nigh_context *context, const uint64_t *rows, const nigh_dedup_options *options) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_ok(nigh_dedup_rows(context, (const uint8_t *)rows, ROWS, 64, options, &dedup, &error), &error);
    return dedup;
}

static void test_near_signatures(void **state) {
    (void)state;
    nigh_context *context = context_new();
    uint64_t *rows = rows_make(2, 100);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.bucket_budget = 500;
    options.distance = 4;
    options.threads = 1;
    nigh_dedup *one = rows_dedup(context, rows, &options);
    const nigh_dedup_info info = info_of(one);
    assert_true(info.truncated > 0);
    assert_true(info.candidates < (uint64_t)ROWS * 250); /* of 4 million pairs and more */
    assert_true(info.kept >= 102 && info.kept < 300);
    options.threads = 3;
    options.memory_bytes = 1 << 20;
    nigh_dedup *other = rows_dedup(context, rows, &options);
    assert_same_clusters(one, other);
    assert_int_equal(info_of(other).candidates, info.candidates);
    assert_int_equal(info_of(other).truncated, info.truncated);
    nigh_dedup_free(one);
    nigh_dedup_free(other);
    /* Within the budget nothing is cut. */
    nigh_dedup_options_init(&options);
    options.distance = 4;
    options.bucket_budget = ROWS;
    one = rows_dedup(context, rows, &options);
    assert_int_equal(info_of(one).truncated, 0);
    assert_true(info_of(one).candidates > info.candidates && info_of(one).kept <= info.kept);
    nigh_dedup_free(one);
    free(rows);
    nigh_context_free(context);
}

/* Many with very few that are near: no crowd, whatever the buckets hold. */
static void test_no_crowd(void **state) {
    (void)state;
    nigh_context *context = context_new();
    uint64_t *rows = rows_make(0, ROWS);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    for (size_t i = 0; i < ROWS; i++) rows[i] |= 0xffff; /* one bucket */
    options.bucket_budget = 100;
    nigh_dedup *dedup = rows_dedup(context, rows, &options);
    assert_int_equal(info_of(dedup).truncated, 0);
    assert_int_equal(info_of(dedup).kept, ROWS);
    nigh_dedup_free(dedup);
    free(rows);
    nigh_context_free(context);
}

/* With a budget so small that nearly all have more near them, and few are gone: crowds do not come up without end. */
static void test_small_budget(void **state) {
    (void)state;
    nigh_context *context = context_new();
    uint64_t *rows = rows_make(3, 0);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.bucket_budget = 10;
    nigh_dedup *dedup = rows_dedup(context, rows, &options);
    const nigh_dedup_info info = info_of(dedup);
    assert_in_range(info.truncated, 1, 3000); /* each of some hundred buckets has a few */
    assert_true(info.kept < ROWS / 5);
    nigh_dedup_free(dedup);
    free(rows);
    nigh_context_free(context);
}

static void test_limit_of_signatures(void **state) {
    (void)state;
    nigh_context *context = context_new();
    uint64_t *rows = rows_make(2, 0);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    nigh_dedup *tree = rows_dedup(context, rows, &options);
    options.all_pairs = 1;
    options.pairs_limit = 20000;
    nigh_dedup *some = rows_dedup(context, rows, &options);
    assert_same_clusters(tree, some);
    assert_true(info_of(some).pairs_cut > 0);
    assert_true(count_pairs(some) >= 5000 && count_pairs(some) < 20000 + 2 * ROWS);
    assert_int_equal(info_of(tree).pairs_cut, 0);
    nigh_dedup_free(tree);
    nigh_dedup_free(some);
    free(rows);
    nigh_context_free(context);
}

/* ------------------------------------------------------------------------ texts -- */

/* One template, of which each document has a word of its own. */
static void documents_write(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < DOCUMENTS; i++) {
        (void)fprintf(file, "{\"id\":\"%d\",\"text\":\"", i);
        for (int word = 0; word < WORDS; word++)
            (void)fprintf(file, word == i % WORDS ? "own%d " : "word%d ", word == i % WORDS ? i : word);
        (void)fprintf(file, "\"}\n");
    }
    assert_int_equal(fclose(file), 0);
}

static nigh_dedup *texts_dedup(nigh_context *context, const char *path, const nigh_dedup_options *options) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), &error);
    return dedup;
}

static void test_limit_of_texts(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *folder = scratch_new();
    char *path = path_in(folder, "crowd.jsonl");
    documents_write(path);
    for (int method = NIGH_DEDUP_MINHASH; method <= NIGH_DEDUP_SIMHASH; method++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.method = (nigh_dedup_method)method;
        options.distance = method == NIGH_DEDUP_SIMHASH ? 12 : NIGH_ALL;
        nigh_dedup *tree = texts_dedup(context, path, &options);
        options.all_pairs = 1;
        nigh_dedup *all = texts_dedup(context, path, &options);
        options.pairs_limit = 15000;
        nigh_dedup *some = texts_dedup(context, path, &options);
        options.threads = 3;
        nigh_dedup *threads = texts_dedup(context, path, &options);
        assert_same_clusters(tree, all);
        assert_same_clusters(tree, some);
        assert_int_equal(info_of(all).pairs_cut, 0);
        assert_true(count_pairs(all) > 100000);
        assert_true(info_of(some).pairs_cut > 0);
        assert_true(info_of(some).verified < 15000 + 30 * DOCUMENTS);
        assert_true(count_pairs(some) < info_of(some).verified + 1);
        assert_int_equal(count_pairs(some), count_pairs(threads));
        nigh_dedup_free(tree);
        nigh_dedup_free(all);
        nigh_dedup_free(some);
        nigh_dedup_free(threads);
    }
    free(path);
    scratch_free(folder);
    nigh_context_free(context);
}

/* Sets of copies that are near each other: the pairs with their first ones come before a window does. */
static void test_limit_of_copies(void **state) {
    (void)state;
    nigh_context *context = context_new();
    uint64_t *rows = rows_make(0, 0);
    for (size_t i = 0; i < ROWS; i++) rows[i] = UINT64_C(0xff00ff00ff00ff00) ^ (UINT64_C(1) << i % 20);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.all_pairs = 1;
    options.pairs_limit = 30000;
    nigh_dedup *dedup = rows_dedup(context, rows, &options);
    struct tally tally = {0};
    uint64_t untold = 0;
    nigh_error error;
    assert_ok(nigh_dedup_pairs(dedup, take, &tally, &untold, &error), &error);
    assert_true(tally.pairs <= 30000);
    assert_int_equal(tally.pairs + untold, (uint64_t)ROWS * (ROWS - 1) / 2);
    assert_int_equal(info_of(dedup).pairs_cut, 0);
    assert_int_equal(info_of(dedup).kept, 1);
    nigh_dedup_free(dedup);
    free(rows);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_signatures),     cmocka_unit_test(test_no_crowd),
        cmocka_unit_test(test_limit_of_signatures), cmocka_unit_test(test_limit_of_texts),
        cmocka_unit_test(test_limit_of_copies),     cmocka_unit_test(test_small_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
