/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The join beyond what property/test_join_all.c asks of its answers: collections of
 * several segments, what is refused, cancelling, memory that ends and files that
 * fail, rows that go through files, and crowds, which must cost about linear time.
 */
#include <errno.h>
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

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

/* A sanitizer takes ten times as long. */
static size_t crowd(void) {
    const char *sanitizers = getenv("NIGH_SANITIZE");
    return sanitizers != NULL && *sanitizers != '\0' ? 100000 : 1000000;
}

/* Counts pairs, checks their order, and keeps a sum that tells two answers apart. */
struct tally {
    uint64_t pairs, sum, stop_at;
    nigh_pair last;
};

static int count_pair(void *user, const nigh_pair *pair) {
    struct tally *tally = user;
    const nigh_pair *last = &tally->last;
    if (tally->pairs > 0)
        assert_true(pair->first > last->first || (pair->first == last->first && pair->second > last->second));
    tally->last = *pair;
    tally->pairs++;
    tally->sum = nigh__mix(tally->sum ^ nigh__mix(pair->first) ^ nigh__mix(pair->second + 7) ^ pair->distance);
    return tally->stop_at != 0 && tally->pairs >= tally->stop_at;
}

static nigh_join_options options_for(struct tally *tally, uint32_t width_bits, uint32_t radius) {
    nigh_join_options options;
    nigh_join_options_init(&options);
    options.width_bits = width_bits;
    options.radius = radius;
    options.threads = 2;
    options.pair = count_pair;
    options.user = tally;
    return options;
}

/* Random rows of which a tenth is a few bits from an earlier one, and a tenth the same. */
static uint64_t *make_rows(size_t count, uint32_t words, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    uint64_t *rows = allocate(count * words, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const uint64_t kind = nigh__rng_next(&rng) % 10;
        uint64_t *row = rows + i * words;
        if (kind < 2 && i > 0) {
            memcpy(row, rows + nigh__rng_next(&rng) % i * words, words * sizeof *row);
            if (kind == 0) row[nigh__rng_next(&rng) % words] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
        } else {
            for (uint32_t w = 0; w < words; w++) row[w] = nigh__rng_next(&rng);
        }
    }
    return rows;
}

/* ------------------------------------------------------------- what is refused */

static void test_join_refuses(void **state) {
    nigh_error error = {0};
    struct tally tally = {0};
    const uint64_t row = 0;
    const uint8_t *bytes = (const uint8_t *)&row;
    nigh_join_options options = options_for(&tally, 0, 3);
    assert_int_equal(nigh_join(*state, bytes, 1, NULL, 0, &options, NULL, &error), NIGH_EINVAL);
    options.width_bits = 12;
    const uint8_t padding[] = {0, 0, 0xff, 0x10}; /* row 0 is sound */
    assert_int_equal(nigh_join(*state, padding, 2, NULL, 0, &options, NULL, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "row 1 has bits set past the width of 12");
    assert_int_equal(nigh_join(*state, padding, 1, padding, 2, &options, NULL, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "other row 1 has bits set past the width of 12");
    options.width_bits = NIGH_MAX_WIDTH_BITS + 1;
    assert_int_equal(nigh_join(*state, bytes, 1, NULL, 0, &options, NULL, &error), NIGH_EINVAL);
    options.width_bits = 64;
    assert_int_equal(nigh_join(*state, NULL, 1, NULL, 0, &options, NULL, &error), NIGH_EINVAL);
    assert_int_equal(nigh_join(*state, bytes, UINT64_C(1) << 38, NULL, 0, &options, NULL, &error), NIGH_ELIMIT);
    assert_int_equal(nigh_join(*state, bytes, UINT64_MAX, bytes, 2, &options, NULL, &error), NIGH_ELIMIT);
    assert_int_equal(tally.pairs, 0);
}

static void test_join_of_nothing(void **state) {
    nigh_error error = {0};
    struct tally tally = {0};
    nigh_join_result result = {.size = sizeof result};
    const uint64_t rows[2] = {1, 1};
    const nigh_join_options options = options_for(&tally, 64, 3);
    assert_ok(nigh_join(*state, NULL, 0, NULL, 0, &options, &result, &error), &error);
    assert_ok(nigh_join(*state, (const uint8_t *)rows, 1, NULL, 0, &options, &result, &error), &error);
    assert_ok(nigh_join(*state, (const uint8_t *)rows, 2, (const uint8_t *)rows, 0, &options, &result, &error), &error);
    assert_int_equal(tally.pairs, 0);
    assert_int_equal(result.pairs, 0);
    nigh_join_options uncalled = options;
    uncalled.pair = NULL; /* who only wants to know how many */
    assert_ok(nigh_join(*state, (const uint8_t *)rows, 2, NULL, 0, &uncalled, &result, &error), &error);
    assert_int_equal(result.pairs, 1);
}

static int stop(void *user, const char *step, uint64_t done, uint64_t total) {
    (void)user;
    (void)step;
    (void)done;
    (void)total;
    return 1;
}

static void test_join_is_cancelled(void **state) {
    nigh_error error = {0};
    struct tally tally = {.stop_at = 3};
    const nigh_progress progress = {.report = stop};
    static const uint32_t widths[] = {64, 128};
    for (size_t w = 0; w < 2; w++) {
        uint64_t *rows = make_rows(20000, widths[w] / 64, w);
        nigh_join_options options = options_for(&tally, widths[w], 3);
        tally.pairs = 0;
        assert_int_equal(nigh_join(*state, (const uint8_t *)rows, 20000, NULL, 0, &options, NULL, &error),
                         NIGH_ECANCELLED);
        assert_int_equal(tally.pairs, 3);
        options.progress = &progress;
        tally.pairs = 0;
        assert_int_equal(nigh_join(*state, (const uint8_t *)rows, 20000, NULL, 0, &options, NULL, &error),
                         NIGH_ECANCELLED);
        assert_int_equal(tally.pairs, 0);
        free(rows);
    }
}

/* --------------------------------------------------------------------- crowds */

static void test_join_of_a_million_equal_rows(void **state) {
    nigh_error error = {0};
    const size_t count = crowd();
    static const uint32_t widths[] = {64, 128};
    for (size_t w = 0; w < 2; w++) {
        uint8_t *rows = allocate(count, widths[w] / 8);
        memset(rows, 0xa5, count * widths[w] / 8);
        struct tally tally = {0};
        nigh_join_result result = {.size = sizeof result};
        const nigh_join_options options = options_for(&tally, widths[w], 3);
        assert_ok(nigh_join(*state, rows, count, NULL, 0, &options, &result, &error), &error);
        assert_int_equal(tally.pairs, count - 1);
        assert_int_equal(result.distinct, 1);
        assert_int_equal(result.copies_untold, count * (count - 1) / 2 - (count - 1));
        assert_int_equal(result.truncated, 0);
        free(rows);
    }
}

/* A prefix of one block in common: divided by the other bits, it needs no more than a few hundred comparisons a row. */
static void test_join_of_a_million_rows_with_one_prefix(void **state) {
    nigh_error error = {0};
    const size_t count = crowd();
    uint64_t *rows = make_rows(count, 1, 3);
    for (size_t i = 0; i < count; i++) rows[i] = (rows[i] & ~UINT64_C(0xffff)) | 0x1234;
    struct tally tally = {0};
    nigh_join_result result = {.size = sizeof result};
    const nigh_join_options options = options_for(&tally, 64, 3);
    assert_ok(nigh_join(*state, (const uint8_t *)rows, count, NULL, 0, &options, &result, &error), &error);
    assert_true(tally.pairs > count / 10);
    assert_int_equal(result.truncated, 0);
    assert_true(result.compared < count * 2000);
    free(rows);
}

/*
 * All but the last bits in common.  Dividing by bits that are the same everywhere would compare all with all in every
 * part of every table; by those that vary, and in one table only, it is little.
 */
static void test_join_of_rows_that_share_most_bits(void **state) {
    nigh_error error = {0};
    static const struct {
        uint32_t words, shared;
        size_t count, comparisons; /* a row */
    } cases[] = {{4, 192, 100000, 100}, {1, 32, 200000, 4000}, {4, 236, 100000, 20000}};
    for (size_t c = 0; c < 3; c++) {
        const uint32_t words = cases[c].words;
        uint64_t *rows = make_rows(cases[c].count, words, c);
        for (size_t i = 0; i < cases[c].count; i++) {
            for (uint32_t w = 0; w + 1 < words; w++) rows[i * words + w] = 0x1234;
            rows[(i + 1) * words - 1] |= (UINT64_C(1) << cases[c].shared % 64) - 1;
        }
        struct tally tally = {0};
        nigh_join_result result = {.size = sizeof result};
        nigh_join_options options = options_for(&tally, words * 64, c < 2 ? 3 : 1);
        assert_ok(nigh_join(*state, (const uint8_t *)rows, cases[c].count, NULL, 0, &options, &result, &error), &error);
        assert_true(tally.pairs > 1000);
        assert_int_equal(result.truncated, 0);
        assert_true(result.compared < cases[c].count * cases[c].comparisons);
        free(rows);
    }
}

struct patience {
    unsigned reports;
    uint64_t done; /* of the last report */
};

static int stop_at_the_third(void *user, const char *step, uint64_t done, uint64_t total) {
    struct patience *patience = user;
    (void)step;
    (void)total;
    patience->done = done;
    return ++patience->reports == 3;
}

/* All rows in one bucket of the first table, which takes seconds: it is left before the second begins. */
static void test_join_is_cancelled_inside_a_bucket(void **state) {
    nigh_error error = {0};
    const size_t count = (size_t)1 << 17;
    for (uint32_t words = 1; words <= 2; words++) {
        uint64_t *rows = allocate(count * words, sizeof *rows);
        for (size_t i = 0; i < count; i++) rows[(i + 1) * words - 1] = (uint64_t)i << 47;
        for (uint32_t threads = 1; threads <= 2; threads++) {
            struct tally tally = {0};
            struct patience patience = {0};
            const nigh_progress progress = {.report = stop_at_the_third, .user = &patience};
            nigh_join_options options = options_for(&tally, words * 64, 3);
            options.progress = &progress;
            options.threads = threads;
            assert_int_equal(nigh_join(*state, (const uint8_t *)rows, count, NULL, 0, &options, NULL, &error),
                             NIGH_ECANCELLED);
            assert_int_equal(patience.reports, 3);
            assert_int_equal(patience.done, 0);
        }
        free(rows);
    }
}

/* Rows so alike that every bucket is over its budget: cut, and it says so. */
static void test_join_of_a_dense_crowd(void **state) {
    nigh_error error = {0};
    const size_t count = 60000;
    uint64_t *rows = allocate(count, sizeof *rows);
    for (size_t i = 0; i < count; i++) rows[i] = i; /* 16 bits vary, those of one block */
    struct tally tally = {0};
    nigh_join_result result = {.size = sizeof result};
    nigh_join_options options = options_for(&tally, 64, 3);
    options.bucket_budget = 1000000;
    assert_ok(nigh_join(*state, (const uint8_t *)rows, count, NULL, 0, &options, &result, &error), &error);
    assert_true(result.truncated > 0);
    assert_true(result.compared < count * 200);
    assert_true(tally.pairs > 0);
    free(rows);
}

/* --------------------------------------------------------------- memory and files */

static void test_join_through_files(void **state) {
    char *folder = scratch_new();
    char *before = tree_digest(folder);
    nigh_error error = {0};
    static const struct {
        uint32_t words;
        size_t count;
    } cases[] = {{1, 120000}, {2, 150000}};
    for (size_t c = 0; c < 2; c++) {
        uint64_t *rows = make_rows(cases[c].count, cases[c].words, c);
        const uint8_t *bytes = (const uint8_t *)rows;
        struct tally large = {0};
        struct tally small = {0};
        nigh_join_result result = {.size = sizeof result};
        nigh_join_options options = options_for(&large, cases[c].words * 64, 2);
        assert_ok(nigh_join(*state, bytes, cases[c].count, NULL, 0, &options, &result, &error), &error);
        assert_int_equal(result.disk_bytes, 0);
        assert_true(large.pairs > 10000);
        options.user = &small;
        options.memory_bytes = UINT64_C(1) << 20;
        assert_int_equal(nigh_join(*state, bytes, cases[c].count, NULL, 0, &options, &result, &error), NIGH_ELIMIT);
        options.temporary = folder;
        assert_ok(nigh_join(*state, bytes, cases[c].count, NULL, 0, &options, &result, &error), &error);
        assert_true(result.disk_bytes > 0);
        assert_int_equal(small.pairs, large.pairs);
        assert_int_equal(small.sum, large.sum);
        free(rows);
    }
    char *after = tree_digest(folder);
    assert_string_equal(after, before);
    free(before);
    free(after);
    scratch_free(folder);
}

static void test_join_keeps_to_its_memory(void **state) {
    (void)state;
    char *folder = scratch_new();
    struct measured_memory memory = {0};
    const nigh_allocator allocator = measured_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_error error = {0};
    const size_t count = 300000;
    uint64_t *rows = make_rows(count, 1, 9);
    struct tally tallies[2] = {{0}, {0}};
    static const uint64_t memories[] = {10 << 20, 20 << 20};
    for (size_t m = 0; m < 2; m++) {
        nigh_join_result result = {.size = sizeof result};
        nigh_join_options options = options_for(&tallies[m], 64, 3);
        options.memory_bytes = memories[m];
        options.temporary = folder;
        memory.peak = memory.live;
        const size_t before = memory.live;
        assert_ok(nigh_join(context, (const uint8_t *)rows, count, NULL, 0, &options, &result, &error), &error);
        assert_true(memory.peak - before <= memories[m]);
        assert_int_equal(memory.live, before);
    }
    assert_int_equal(tallies[0].sum, tallies[1].sum);
    free(rows);
    nigh_context_free(context);
    scratch_free(folder);
}

/* Both ways, with tables; whatever it returns, everything is free afterwards. */
static nigh_status join_something(nigh_context *context, const char *folder, uint32_t words, uint64_t memory,
                                  const uint64_t *rows, size_t count, nigh_error *error) {
    struct tally tally = {0};
    nigh_join_options options = options_for(&tally, words * 64, 1);
    options.threads = 1;
    options.memory_bytes = memory;
    options.temporary = folder;
    return nigh_join(context, (const uint8_t *)rows, count, NULL, 0, &options, NULL, error);
}

static void test_join_with_failing_memory(void **state) {
    (void)state;
    char *folder = scratch_new();
    static const struct {
        uint32_t words;
        uint64_t memory;
    } cases[] = {{1, 0}, {1, 1}, {2, 0}};
    for (size_t c = 0; c < 3; c++) {
        uint64_t *rows = make_rows(3000, cases[c].words, c);
        bool complete = false;
        for (uint64_t at = 0; !complete; at++) {
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_context *context = context_with(NULL, &allocator, NULL);
            nigh_error error = {0};
            memory.fail_at = memory.calls + at;
            const nigh_status status =
                join_something(context, folder, cases[c].words, cases[c].memory, rows, 3000, &error);
            complete = memory.calls <= memory.fail_at;
            assert_true(status == NIGH_ENOMEM || status == NIGH_OK); /* some are not needed for sure */
            if (complete) assert_int_equal(status, NIGH_OK);
            if (status != NIGH_OK) assert_int_equal(error.status, NIGH_ENOMEM);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
        }
        free(rows);
    }
    scratch_free(folder);
}

static void test_join_with_failing_files(void **state) {
    (void)state;
    char *folder = scratch_new();
    uint64_t *rows = make_rows(70000, 1, 1);
    bool complete = false;
    uint64_t failures = 0;
    for (uint64_t at = 0; !complete; at += 1 + at) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE;
        files.fail_at = at;
        files.error = ENOSPC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error = {0};
        const nigh_status status = join_something(context, folder, 1, 1, rows, 70000, &error);
        complete = files.calls <= at;
        failures += !complete;
        assert_int_equal(status, complete ? NIGH_OK : NIGH_EIO);
        if (!complete) assert_int_equal(error.system_errno, ENOSPC);
        assert_int_equal(files.open_files, 0);
        nigh_context_free(context);
    }
    assert_true(failures > 3);
    free(rows);
    scratch_free(folder);
}

/* ------------------------------------------------------------------ collections */

static void collection_make(nigh_context *context, const char *path, const struct recipe *recipe, unsigned commits) {
    nigh_error error = {0};
    const uint64_t part = recipe->documents / commits;
    for (unsigned i = 0; i < commits; i++) assert_ok(recipe_add(context, path, recipe, i * part, part, &error), &error);
}

/* The same as of the documents' signatures in memory, whatever segments they lie in. */
static void test_join_of_a_collection(void **state) {
    char *folder = scratch_new();
    nigh_error error = {0};
    static const uint32_t widths[] = {16, 64, 136, 256};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const struct recipe recipe = {.width_bits = widths[w], .documents = 1200, .seed = w, .distinct = 300};
        char name[20];
        (void)snprintf(name, sizeof name, "c%u", widths[w]);
        char *path = path_in(folder, name);
        collection_make(*state, path, &recipe, 3);
        uint8_t *rows = allocate(recipe.documents, widths[w] / 8);
        for (uint32_t i = 0; i < recipe.documents; i++) recipe_signature(&recipe, i, rows + i * widths[w] / 8);
        nigh_collection *collection = NULL;
        assert_ok(nigh_collection_open(*state, path, NULL, &collection, &error), &error);
        for (unsigned two = 0; two < 2; two++) {
            struct tally expected = {0};
            struct tally got = {0};
            nigh_join_result result = {.size = sizeof result};
            nigh_join_options options = options_for(&expected, widths[w], 2);
            assert_ok(nigh_join(*state, rows, 1200, two ? rows : NULL, two ? 1200 : 0, &options, &result, &error),
                      &error);
            options = options_for(&got, 0, 2);
            assert_ok(nigh_collection_join(collection, two ? collection : NULL, &options, &result, &error), &error);
            assert_true(got.pairs > 0);
            assert_int_equal(got.pairs, expected.pairs);
            assert_int_equal(got.sum, expected.sum);
            assert_int_equal(result.rows, two ? 2400 : 1200);
        }
        nigh_collection_close(collection);
        free(rows);
        free(path);
    }
    scratch_free(folder);
}

static void test_join_of_collections_that_do_not_fit(void **state) {
    char *folder = scratch_new();
    nigh_error error = {0};
    const struct recipe wide = {.width_bits = 128, .documents = 10};
    const struct recipe narrow = {.width_bits = 64, .documents = 10};
    char *wide_path = path_in(folder, "wide");
    char *narrow_path = path_in(folder, "narrow");
    collection_make(*state, wide_path, &wide, 1);
    collection_make(*state, narrow_path, &narrow, 1);
    nigh_collection *a = NULL;
    nigh_collection *b = NULL;
    assert_ok(nigh_collection_open(*state, wide_path, NULL, &a, &error), &error);
    assert_ok(nigh_collection_open(*state, narrow_path, NULL, &b, &error), &error);
    struct tally tally = {0};
    nigh_join_options options = options_for(&tally, 0, 2);
    assert_int_equal(nigh_collection_join(a, b, &options, NULL, &error), NIGH_EMISMATCH);
    options.width_bits = 64;
    assert_int_equal(nigh_collection_join(a, NULL, &options, NULL, &error), NIGH_EMISMATCH);
    nigh_collection_close(a);
    nigh_collection_close(b);
    free(wide_path);
    free(narrow_path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join_refuses),
        cmocka_unit_test(test_join_of_nothing),
        cmocka_unit_test(test_join_is_cancelled),
        cmocka_unit_test(test_join_of_a_million_equal_rows),
        cmocka_unit_test(test_join_of_a_million_rows_with_one_prefix),
        cmocka_unit_test(test_join_of_rows_that_share_most_bits),
        cmocka_unit_test(test_join_is_cancelled_inside_a_bucket),
        cmocka_unit_test(test_join_of_a_dense_crowd),
        cmocka_unit_test(test_join_through_files),
        cmocka_unit_test(test_join_keeps_to_its_memory),
        cmocka_unit_test(test_join_with_failing_memory),
        cmocka_unit_test(test_join_with_failing_files),
        cmocka_unit_test(test_join_of_a_collection),
        cmocka_unit_test(test_join_of_collections_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
