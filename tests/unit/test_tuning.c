/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tuning of a collection: stored, read, replaced and removed; every byte of it damaged, every
 * call and allocation made to fail; when a search goes by it; and what nigh_tune() refuses.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search/tuning.h"
#include "support/support.h"

#define DOCUMENTS 3000u

static const struct recipe recipe = {.width_bits = 256, .seed = 21};

static nigh_tuning sample;

static int set_up(void **state) {
    nigh_error error;
    (void)collection_place_setup(state);
    const struct collection_place *f = *state;
    sample = sample_tuning(DOCUMENTS, 1);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, DOCUMENTS, &error), &error);
    return 0;
}

static nigh_collection *open_collection(const struct collection_place *f) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    return collection;
}

/* What is stored there now: NIGH_ENOTFOUND where nothing is. */
static nigh_status stored(const struct collection_place *f, nigh_tuning *out) {
    nigh_collection *collection = open_collection(f);
    *out = (nigh_tuning){.size = sizeof(nigh_tuning)};
    const nigh_status status = nigh_collection_tuning(collection, out, NULL);
    nigh_collection_close(collection);
    return status;
}

static void test_round_trip(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_tuning got;
    nigh_check_result result = {.size = sizeof result};
    assert_int_equal(stored(f, &got), NIGH_ENOTFOUND);
    assert_ok(nigh_tuning_store(f->context, f->path, &sample, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_OK);
    expect_same_tuning(&got, &sample);
    nigh_tuning other = sample;
    other.method = NIGH_SEARCH_GRAPH;
    other.effort = 77;
    other.probes = 1;
    assert_ok(nigh_tuning_store(f->context, f->path, &other, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_OK);
    expect_same_tuning(&got, &other);
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.files, 3);
    assert_ok(recipe_add(f->context, f->path, &recipe, DOCUMENTS, 10, &error), &error); /* a commit keeps it */
    assert_int_equal(stored(f, &got), NIGH_OK);
    assert_ok(nigh_tuning_remove(f->context, f->path, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_ENOTFOUND);
    assert_ok(nigh_tuning_remove(f->context, f->path, &error), &error);
}

/* The other one: for queries that do not count every bit once. */
static nigh_tuning ranked_sample(void) {
    nigh_tuning tuning = sample;
    tuning.method = NIGH_SEARCH_COLUMNS;
    tuning.asked = NIGH_TUNED_RANKED;
    tuning.slack = .5;
    return tuning;
}

static nigh_status stored_ranked(const struct collection_place *f, nigh_tuning *out) {
    nigh_collection *collection = open_collection(f);
    *out = (nigh_tuning){.size = sizeof(nigh_tuning)};
    const nigh_status status = nigh_collection_tuning_ranked(collection, out, NULL);
    nigh_collection_close(collection);
    return status;
}

/* Either is there without the other, and neither replaces the other. */
static void test_two_of_them(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_tuning got;
    nigh_tuning ranked = ranked_sample();
    assert_ok(nigh_tuning_store(f->context, f->path, &ranked, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_ENOTFOUND);
    assert_int_equal(stored_ranked(f, &got), NIGH_OK);
    expect_same_tuning(&got, &ranked);
    assert_ok(nigh_tuning_store(f->context, f->path, &sample, &error), &error);
    ranked.asked = NIGH_TUNED_MASKED;
    ranked.slack = NIGH_DEFAULT;
    assert_ok(nigh_tuning_store(f->context, f->path, &ranked, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_OK);
    expect_same_tuning(&got, &sample);
    assert_int_equal(stored_ranked(f, &got), NIGH_OK);
    expect_same_tuning(&got, &ranked);
    nigh_tuning older = sample; /* as a program gives it that knows of no slack */
    older.size = offsetof(nigh_tuning, slack);
    older.slack = 7;
    assert_ok(nigh_tuning_store(f->context, f->path, &older, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_OK);
    expect_same_tuning(&got, &sample);
    assert_ok(nigh_collection_check(f->context, f->path, NULL, NULL, &error), &error);
    assert_ok(nigh_tuning_remove(f->context, f->path, &error), &error);
    assert_int_equal(stored(f, &got), NIGH_ENOTFOUND);
    assert_int_equal(stored_ranked(f, &got), NIGH_ENOTFOUND);
}

/* A file under the other's name, and each method where it cannot be. */
static void test_ranked_refused(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_tuning got;
    nigh_tuning bad[6];
    for (size_t i = 0; i < 6; i++) bad[i] = ranked_sample();
    bad[0].asked = NIGH_TUNED_ANY; /* columns are for others */
    bad[1].method = NIGH_SEARCH_SKETCH;
    bad[2].slack = -2;
    bad[3].slack = 1e6;
    bad[4].slack = strtod("nan", NULL);
    bad[5].asked = (nigh_tuned_queries)5;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(nigh_tuning_store(f->context, f->path, &bad[i], &error), NIGH_EINVAL);
    assert_int_equal(stored_ranked(f, &got), NIGH_ENOTFOUND);
    assert_ok(nigh_tuning_store(f->context, f->path, &sample, &error), &error);
    char *plain = path_in(f->path, NIGH__TUNING_NAME);
    char *ranked = path_in(f->path, NIGH__TUNING_RANKED_NAME);
    struct bytes whole = file_read_all(plain);
    file_write_all(ranked, whole.data, whole.length);
    assert_int_equal(stored_ranked(f, &got), NIGH_ECORRUPT);
    assert_int_equal(stored(f, &got), NIGH_OK);
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error.file, NIGH__TUNING_RANKED_NAME));
    free(whole.data);
    free(plain);
    free(ranked);
}

static void test_refused(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_tuning got;
    nigh_tuning bad[9];
    for (size_t i = 0; i < 9; i++) bad[i] = sample;
    bad[0].method = NIGH_SEARCH_AUTO;
    bad[1].k = 0;
    bad[2].breadth = 29;
    bad[3].candidates = 0;
    bad[4].sketch_bits = 96;
    bad[5].recall = 1.5;
    bad[6].target_seconds = -1;
    bad[7].median = strtod("nan", NULL);
    bad[8].probe = NIGH_PROBE_DIRECTED;
    bad[8].breadth = 1;
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(nigh_tuning_store(f->context, f->path, &bad[i], &error), NIGH_EINVAL);
    assert_int_equal(nigh_tuning_store(f->context, f->scratch, &sample, &error), NIGH_EFORMAT);
    assert_int_equal(stored(f, &got), NIGH_ENOTFOUND);
}

/* Whatever byte is wrong: searches go on as if it were not there, and a check tells. */
static void test_damage(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_tuning got;
    assert_ok(nigh_tuning_store(f->context, f->path, &sample, &error), &error);
    char *name = path_in(f->path, NIGH__TUNING_NAME);
    struct bytes whole = file_read_all(name);
    assert_int_equal(whole.length, NIGH__TUNING_LENGTH);
    for (size_t i = 0; i < whole.length; i++) {
        whole.data[i] ^= 4;
        file_write_all(name, whole.data, whole.length);
        const nigh_status status = stored(f, &got);
        assert_true(status == NIGH_ECORRUPT || status == NIGH_EVERSION);
        assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), status);
        whole.data[i] ^= 4;
    }
    for (size_t length = 0; length < whole.length; length += 51) {
        file_write_all(name, whole.data, length);
        assert_int_equal(stored(f, &got), NIGH_ECORRUPT);
    }
    nigh_collection *collection = open_collection(f);
    uint8_t query[32];
    nigh_results *results;
    recipe_signature(&recipe, 5, query);
    assert_ok(nigh_search(collection, query, 1, NULL, &results, &error), &error);
    nigh_results_free(results);
    nigh_collection_close(collection);
    free(whole.data);
    free(name);
}

/* Whatever fails, there is the old one or the new one, whole. */
static void test_faults(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_tuning got;
    nigh_tuning other = sample;
    other.candidates = 99;
    for (unsigned sticky = 0; sticky < 2; sticky++)
        for (uint64_t n = 0;; n++) {
            struct faulty_files files;
            faulty_files_init(&files);
            files.fail_at = n;
            files.error = EIO;
            files.sticky = sticky != 0;
            assert_ok(nigh_tuning_store(f->context, f->path, &sample, &error), &error);
            nigh_context *context = context_with(&files.table, NULL, NULL);
            const nigh_status status = nigh_tuning_store(context, f->path, &other, &error);
            nigh_context_free(context);
            assert_int_equal(files.open_files, 0);
            assert_int_equal(stored(f, &got), NIGH_OK);
            if (got.candidates != 40) assert_int_equal(got.candidates, 99);
            if (status == NIGH_OK) assert_int_equal(got.candidates, 99);
            if (files.failed_kind == 0) break;
        }
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 0);
}

static void test_memory(void **state) {
    const struct collection_place *f = *state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_tune_options options;
    nigh_tune_options_init(&options);
    nigh_tuning out = {.size = sizeof out};
    nigh_status status = NIGH_ENOMEM;
    nigh_error error;
    options.sample = 40;
    options.threads = 1;
    options.methods = 1u << NIGH_SEARCH_SCAN;
    const int64_t live = memory.live;
    for (uint64_t n = 0; status != NIGH_OK; n++) {
        nigh_collection *collection = NULL;
        memory.fail_at = memory.calls + n;
        status = nigh_collection_open(context, f->path, NULL, &collection, &error);
        if (status == NIGH_OK) status = nigh_tune(collection, &options, &out, NULL, &error);
        if (status == NIGH_OK) status = nigh_tuning_store(context, f->path, &out, &error);
        memory.fail_at = UINT64_MAX;
        nigh_collection_close(collection);
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        assert_int_equal(memory.live, live);
    }
    assert_int_equal(out.method, NIGH_SEARCH_SCAN);
    nigh_context_free(context);
}

/* ---------------------------------------------------------- when it is gone by */

static bool is_exact(const nigh_collection *collection, const nigh_search_options *options) {
    uint8_t query[32];
    nigh_results *results;
    nigh_error error;
    nigh_results_info info = {.size = sizeof info};
    recipe_signature(&recipe, 5, query);
    assert_ok(nigh_search(collection, query, 1, options, &results, &error), &error);
    nigh_results_describe(results, &info);
    nigh_results_free(results);
    assert_true(info.exact || info.distances == 40 || info.distances == 2000);
    return info.exact != 0;
}

static void test_search_goes_by_it(void **state) {
    const struct collection_place *f = *state;
    static const uint8_t mask[32] = {255, 255};
    nigh_error error;
    assert_ok(nigh_tuning_store(f->context, f->path, &sample, &error), &error);
    nigh_collection *collection = open_collection(f);
    nigh_search_options usual;
    nigh_search_options_init(&usual);
    nigh_search_options options = usual;
    assert_false(is_exact(collection, &options));
    options.k = 20;
    assert_false(is_exact(collection, &options));
    options.k = 21; /* more than twice what it was tuned for */
    assert_true(is_exact(collection, &options));
    options = usual;
    options.method = NIGH_SEARCH_SCAN;
    assert_true(is_exact(collection, &options));
    options = usual;
    options.candidates = 2000; /* somebody has said something, and without lists that is the scan */
    assert_true(is_exact(collection, &options));
    options = usual;
    options.radius = 200;
    assert_true(is_exact(collection, &options));
    options = usual;
    options.masks = mask;
    assert_true(is_exact(collection, &options));
    nigh_collection_close(collection);
}

static bool ranked_is_exact(const nigh_collection *collection, const nigh_search_options *options) {
    uint8_t query[32];
    nigh_results *results;
    nigh_proof proof = {.size = sizeof proof};
    nigh_error error;
    recipe_signature(&recipe, 5, query);
    assert_ok(nigh_search(collection, query, 1, options, &results, &error), &error);
    assert_ok(nigh_results_proof(results, 0, &proof, &error), &error);
    nigh_results_free(results);
    return proof.exact != 0;
}

/* With a slack nothing is proven, which tells who went by the tuning. */
static void test_ranked_search_goes_by_it(void **state) {
    const struct collection_place *f = *state;
    static const uint8_t mask[32] = {255, 255, 255, 255, 255, 255, 1};
    uint8_t weights[256];
    nigh_tuning tuning = ranked_sample();
    nigh_error error;
    for (size_t i = 0; i < 256; i++) weights[i] = (uint8_t)(i % 3 == 0 ? i : 0);
    nigh_search_options weighted;
    nigh_search_options_init(&weighted);
    nigh_search_options masked = weighted;
    weighted.weights = weights;
    weighted.rank = NIGH_RANK_WEIGHTED;
    masked.masks = mask;
    for (int with_columns = 0; with_columns < 2; with_columns++) {
        nigh_columns_options columns;
        nigh_columns_options_init(&columns);
        columns.min_rows = 1;
        if (with_columns) assert_ok(nigh_columns_build(f->context, f->path, &columns, NULL, &error), &error);
        for (tuning.asked = NIGH_TUNED_MASKED; tuning.asked <= NIGH_TUNED_RANKED; tuning.asked++) {
            assert_ok(nigh_tuning_store(f->context, f->path, &tuning, &error), &error);
            nigh_collection *collection = open_collection(f);
            const bool by_weights = tuning.asked == NIGH_TUNED_RANKED;
            assert_int_equal(ranked_is_exact(collection, &weighted), !(with_columns && by_weights));
            assert_int_equal(ranked_is_exact(collection, &masked), !(with_columns && !by_weights));
            nigh_search_options other = by_weights ? weighted : masked;
            other.k = 21; /* more than twice what it was tuned for */
            assert_true(ranked_is_exact(collection, &other));
            other = by_weights ? weighted : masked;
            other.radius = 2000;
            assert_true(ranked_is_exact(collection, &other));
            other = by_weights ? weighted : masked;
            other.stop = NIGH_STOP_CERTAIN;
            assert_true(ranked_is_exact(collection, &other));
            other = weighted;
            other.rank = NIGH_RANK_BITS; /* what counts every bit once goes by the other file */
            assert_true(ranked_is_exact(collection, &other));
            nigh_collection_close(collection);
        }
    }
}

/* Lists and graphs that are not there any more are no failure. */
static void test_without_what_it_needs(void **state) {
    const struct collection_place *f = *state;
    nigh_error error;
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    nigh_tuning tuning = sample;
    nigh_search_options usual;
    nigh_search_options_init(&usual);
    tuning.method = NIGH_SEARCH_GRAPH;
    for (unsigned i = 0; i < 5; i++) {
        if (i == 1) {
            tuning.method = NIGH_SEARCH_SLICES;
            tuning.slice_width = 16;
            tuning.breadth = 12;
        }
        if (i == 2) {
            lists.min_rows = 1;
            lists.slice_width = 8; /* a breadth of 12 is more than such a slice has */
            assert_ok(nigh_lists_build(f->context, f->path, &lists, NULL, &error), &error);
        }
        if (i == 3) tuning.slice_width = 8; /* it lies */
        if (i == 4) tuning.method = NIGH_SEARCH_SKETCH;
        assert_ok(nigh_tuning_store(f->context, f->path, &tuning, &error), &error);
        nigh_collection *collection = open_collection(f);
        uint8_t query[32];
        nigh_results *results;
        recipe_signature(&recipe, 5, query);
        assert_ok(nigh_search(collection, query, 1, &usual, &results, &error), &error);
        nigh_results_free(results);
        nigh_collection_close(collection);
    }
}

static void expect_untuned(const nigh_collection *collection, const nigh_tune_options *options, const char *why) {
    nigh_tuning out = {.size = sizeof out};
    nigh_error error;
    assert_int_equal(nigh_tune(collection, options, &out, NULL, &error), NIGH_EINVAL);
    assert_string_equal(error_text(&error), why);
}

static void test_tune_refuses(void **state) {
    const struct collection_place *f = *state;
    nigh_collection *collection = open_collection(f);
    nigh_tune_options usual;
    nigh_tune_options_init(&usual);
    nigh_tune_options bad = usual;
    bad.k = 0;
    expect_untuned(collection, &bad, "k is 0; 1 to 32768 are allowed");
    bad = usual;
    bad.recall = 1.01;
    expect_untuned(collection, &bad, "targets of recall and CDR are from 0 to 1");
    bad = usual;
    bad.cdr = -0.1;
    expect_untuned(collection, &bad, "targets of recall and CDR are from 0 to 1");
    bad = usual;
    bad.seconds = -2;
    expect_untuned(collection, &bad, "the time for a query is out of range");
    bad = usual;
    bad.sample = 39;
    expect_untuned(collection, &bad, "too few documents to tune with: 39, and 40 are needed");
    bad = usual;
    bad.masks = (const uint8_t *)"";
    expect_untuned(collection, &bad, "there are masks, but no queries that they belong to");
    bad = usual;
    bad.memory_bytes = 1000;
    nigh_tuning out = {.size = sizeof out};
    nigh_error error;
    assert_int_equal(nigh_tune(collection, &bad, &out, NULL, &error), NIGH_ENOTFOUND);
    nigh_collection_close(collection);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_two_of_them, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_ranked_refused, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_ranked_search_goes_by_it, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_refused, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_damage, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_faults, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_memory, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_search_goes_by_it, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_without_what_it_needs, set_up, collection_place_teardown),
        cmocka_unit_test_setup_teardown(test_tune_refuses, set_up, collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
