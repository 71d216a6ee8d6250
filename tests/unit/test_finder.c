/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Finders by their public functions: options and what is said about wrong ones, modes, equal rows, limits, failures. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

static nigh_finder_options options_of(nigh_finder_method method) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = method;
    options.width_bits = 64;
    options.threads = 1;
    return options;
}

static nigh_finder *finder_of(nigh_context *context, const uint64_t *rows, uint64_t count,
                              const nigh_finder_options *options) {
    nigh_error error;
    nigh_finder *finder = NULL;
    assert_ok(nigh_finder_new(context, (const uint8_t *)rows, count, options, &finder, &error), &error);
    assert_non_null(finder);
    return finder;
}

static nigh_results *find(const nigh_finder *finder, const uint64_t *queries, size_t count, nigh_find_mode mode) {
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = mode;
    options.threads = 1;
    nigh_error error;
    nigh_results *results = NULL;
    assert_ok(nigh_finder_find(finder, (const uint8_t *)queries, count, &options, &results, &error), &error);
    return results;
}

static nigh_finder_info info_of(const nigh_finder *finder) {
    nigh_finder_info info = {.size = sizeof info};
    nigh_finder_describe(finder, &info);
    return info;
}

static nigh_results_info results_info_of(const nigh_results *results) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    return info;
}

/* `expected` are pairs of document and distance. */
static void expect(const nigh_results *results, size_t query, const uint64_t (*expected)[2], size_t count) {
    size_t found = 0;
    const nigh_match *matches = nigh_results_matches(results, query, &found);
    assert_non_null(matches);
    assert_int_equal(found, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(matches[i].document, expected[i][0]);
        assert_int_equal(matches[i].distance, expected[i][1]);
    }
}

/* -------------------------------------------------------------------- options */

static void expect_refused(nigh_context *context, const nigh_finder_options *options, const char *why) {
    const uint64_t rows[4] = {1, 2, 3, 4};
    nigh_error error;
    nigh_finder *finder = (nigh_finder *)&error; /* anything but NULL */
    assert_int_equal(nigh_finder_new(context, (const uint8_t *)rows, 4, options, &finder, &error), NIGH_EINVAL);
    assert_null(finder);
    if (strstr(error.why, why) == NULL) fail_msg("'%s' does not say '%s'", error.why, why);
}

static void test_refused_generally(void **state) {
    nigh_finder_options options = options_of(NIGH_FINDER_AUTO);
    options.method = (nigh_finder_method)4;
    expect_refused(*state, &options, "4 is no method");
    options = options_of(NIGH_FINDER_SCAN);
    static const uint32_t widths[] = {0, NIGH_MAX_WIDTH_BITS + 1};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        options.width_bits = widths[w];
        expect_refused(*state, &options, "it must be from 1 to 65536");
    }
    static const double recalls[] = {0, -2, 1.01, (double)INFINITY, (double)NAN};
    options = options_of(NIGH_FINDER_AUTO);
    for (size_t r = 0; r < sizeof recalls / sizeof recalls[0]; r++) {
        options.recall = recalls[r];
        expect_refused(*state, &options, "above 0 and at most 1");
    }
}

static void test_refused_tables(void **state) {
    static const struct {
        uint32_t blocks, leading, radius;
        const char *why;
    } wrong[] = {
        {17, 1, 3, "2 to 16"},
        {1, 1, 0, "2 to 16"},
        {0, 1, 0, "2 to 16"},
        {4, 0, 3, "1 to 3"},
        {4, 4, 3, "1 to 3"},
        {16, 8, 3, "more than 128 tables"},
        {4, 1, 4, "find all within 3 bits, not 4"},
        {5, 3, 64, "radius up to 2, or allow"},
        {0, 0, 16, "find all within 15 bits at most, not 16"},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
        nigh_finder_options options = options_of(NIGH_FINDER_TABLES);
        options.blocks = wrong[w].blocks;
        options.leading = wrong[w].leading;
        options.radius = wrong[w].radius;
        expect_refused(*state, &options, wrong[w].why);
    }
    nigh_finder_options options = options_of(NIGH_FINDER_SCAN);
    options.blocks = 4;
    options.leading = 1;
    expect_refused(*state, &options, "they go with 'tables'");
}

static void test_refused_psm(void **state) {
    nigh_finder_options options = options_of(NIGH_FINDER_PSM);
    expect_refused(*state, &options, "cannot find all");
    options.recall = 0.9;
    options.prefix_bits = 33;
    expect_refused(*state, &options, "1 to 32");
    options.width_bits = 16;
    options.prefix_bits = 17;
    expect_refused(*state, &options, "1 to 16");
    options = options_of(NIGH_FINDER_PSM);
    options.probes = 4097;
    expect_refused(*state, &options, "1 to 4096");
    options.probes = 10;
    options.rotations = 4;
    expect_refused(*state, &options, "1 to 3");
    options.rotations = 1;
    options.model = (nigh_weak_model)2;
    expect_refused(*state, &options, "no model");
    options.model = NIGH_WEAK_LINEAR;
    options.rotations = 2;
    options.without_numbers = 1;
    expect_refused(*state, &options, "without numbers");
}

static void test_refused_queries(void **state) {
    const uint64_t rows[2] = {1, 2};
    nigh_finder_options options = options_of(NIGH_FINDER_PSM);
    options.probes = 4;
    nigh_finder *finder = finder_of(*state, rows, 2, &options);
    nigh_error error;
    nigh_results *results = NULL;
    assert_int_equal(nigh_finder_find(finder, (const uint8_t *)rows, 2, NULL, &results, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "needs the weights"));
    assert_null(results);
    nigh_find_options asking;
    nigh_find_options_init(&asking);
    asking.mode = (nigh_find_mode)3;
    assert_int_equal(nigh_finder_find(finder, (const uint8_t *)rows, 2, &asking, &results, &error), NIGH_EINVAL);
    nigh_finder_free(finder);
}

/* More rows than there may be are refused before any is read. */
static void test_too_many(void **state) {
    const uint64_t row = 1;
    const nigh_finder_options options = options_of(NIGH_FINDER_SCAN);
    nigh_error error;
    nigh_finder *finder;
    assert_int_equal(nigh_finder_new(*state, (const uint8_t *)&row, UINT32_MAX, &options, &finder, &error),
                     NIGH_ELIMIT);
    assert_int_equal(nigh_finder_new(*state, (const uint8_t *)&row, UINT64_MAX, &options, &finder, &error),
                     NIGH_ELIMIT);
}

static void test_approximate(void **state) {
    uint64_t rows[3] = {0, 0, 0};
    rows[0] = UINT64_C(0x0001000100010001); /* a bit in every block: four tables miss it */
    rows[1] = UINT64_C(0x000000000000000f);
    nigh_finder_options options = options_of(NIGH_FINDER_TABLES);
    options.blocks = 4;
    options.leading = 1;
    options.radius = 4;
    options.approximate = 1;
    nigh_finder *finder = finder_of(*state, rows, 3, &options);
    assert_int_equal(info_of(finder).exact_radius, 3);
    const uint64_t query = 0;
    nigh_results *results = find(finder, &query, 1, NIGH_FIND_ALL);
    assert_int_equal(results_info_of(results).exact, 0);
    size_t count;
    assert_non_null(nigh_results_matches(results, 0, &count));
    assert_true(count >= 2);
    nigh_results_free(results);
    nigh_finder_free(finder);
    options.blocks = options.leading = 0;
    options.radius = 20;
    finder = finder_of(*state, rows, 3, &options);
    assert_int_equal(info_of(finder).method, NIGH_FINDER_TABLES);
    nigh_finder_free(finder);
}

/* ---------------------------------------------------------------------- modes */

static const nigh_finder_method exact_methods[] = {NIGH_FINDER_AUTO, NIGH_FINDER_SCAN, NIGH_FINDER_TABLES};
#define EXACT_METHODS (sizeof exact_methods / sizeof exact_methods[0])

/* Rows 1 and 4 equal, 2, 5 and 6 equal: of the same distance their numbers mix. */
static const uint64_t mixed[7] = {0xff00000000, 0x3, 0x5, 0xf, 0x3, 0x5, 0x5};

static void test_modes(void **state) {
    const uint64_t queries[3] = {0x1, 0xff00000000000000, 0xff00000001};
    for (size_t m = 0; m < EXACT_METHODS; m++) {
        const nigh_finder_options options = options_of(exact_methods[m]);
        nigh_finder *finder = finder_of(*state, mixed, 7, &options);
        nigh_results *results = find(finder, queries, 3, NIGH_FIND_ALL);
        expect(results, 0, (const uint64_t[][2]){{1, 1}, {2, 1}, {4, 1}, {5, 1}, {6, 1}, {3, 3}}, 6);
        expect(results, 1, NULL, 0);
        expect(results, 2, (const uint64_t[][2]){{0, 1}}, 1);
        assert_int_equal(results_info_of(results).exact, 1);
        assert_int_equal(results_info_of(results).queries, 3);
        assert_int_equal(results_info_of(results).matches, 7);
        nigh_results_free(results);
        results = find(finder, queries, 3, NIGH_FIND_FIRST);
        expect(results, 0, (const uint64_t[][2]){{1, 1}}, 1);
        expect(results, 1, NULL, 0);
        expect(results, 2, (const uint64_t[][2]){{0, 1}}, 1);
        nigh_results_free(results);
        results = find(finder, queries, 3, NIGH_FIND_ANY);
        assert_int_equal(results_info_of(results).matches, 2);
        expect(results, 1, NULL, 0);
        expect(results, 2, (const uint64_t[][2]){{0, 1}}, 1);
        nigh_results_free(results);
        nigh_finder_free(finder);
    }
}

/* The first is the lowest number, not the nearest. */
static void test_first_is_lowest(void **state) {
    const uint64_t rows[4] = {0xf0f0f0f0f0, 0x7, 0x0, 0x0};
    const uint64_t query = 0;
    for (size_t m = 0; m < EXACT_METHODS; m++) {
        const nigh_finder_options options = options_of(exact_methods[m]);
        nigh_finder *finder = finder_of(*state, rows, 4, &options);
        nigh_results *results = find(finder, &query, 1, NIGH_FIND_FIRST);
        expect(results, 0, (const uint64_t[][2]){{1, 3}}, 1);
        nigh_results_free(results);
        nigh_finder_free(finder);
    }
}

static void test_nothing_there(void **state) {
    const uint64_t query = 5;
    for (size_t m = 0; m < EXACT_METHODS; m++) {
        const nigh_finder_options options = options_of(exact_methods[m]);
        for (uint64_t rows = 0; rows < 2; rows++) {
            nigh_finder *finder = finder_of(*state, rows == 0 ? NULL : &query, rows, &options);
            assert_int_equal(info_of(finder).rows, rows);
            nigh_results *results = find(finder, NULL, 0, NIGH_FIND_ALL);
            assert_int_equal(results_info_of(results).queries, 0);
            nigh_results_free(results);
            results = find(finder, &query, 1, NIGH_FIND_ALL);
            expect(results, 0, (const uint64_t[][2]){{0, 0}}, rows);
            nigh_results_free(results);
            nigh_finder_free(finder);
        }
    }
    nigh_finder_free(NULL);
}

/* --------------------------------------------------------------- crowds, limits */

static void test_equal_crowd(void **state) {
    enum { ROWS = 1000000 };
    uint64_t *rows = malloc(ROWS * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < ROWS; i++) rows[i] = 77;
    nigh_finder_options options = options_of(NIGH_FINDER_TABLES);
    nigh_finder *finder = finder_of(*state, rows, ROWS, &options);
    const nigh_finder_info info = info_of(finder);
    assert_int_equal(info.rows, ROWS);
    assert_int_equal(info.distinct, 1);
    assert_true(info.bytes < ROWS * 4 + ROWS / 4 + 100000);
    const uint64_t queries[2] = {76, 0xffffffff};
    nigh_results *results = find(finder, queries, 2, NIGH_FIND_ALL);
    size_t count = 0;
    const nigh_match *matches = nigh_results_matches(results, 0, &count);
    assert_int_equal(count, ROWS);
    for (size_t i = 0; i < count; i++) assert_true(matches[i].document == i && matches[i].distance == 1);
    expect(results, 1, NULL, 0);
    assert_true(results_info_of(results).distances < 100);
    nigh_results_free(results);
    nigh_finder_free(finder);
    free(rows);
}

/* Many rows with one block in common, and a budget. */
static void test_prefix_crowd(void **state) {
    enum { ROWS = 200000, QUERIES = 50 };
    uint64_t *rows = malloc(ROWS * sizeof *rows);
    assert_non_null(rows);
    for (uint64_t i = 0; i < ROWS; i++) rows[i] = nigh__mix(i) << 16 | 0xabcd;
    nigh_finder_options options = options_of(NIGH_FINDER_TABLES);
    options.blocks = 4;
    options.leading = 1;
    nigh_finder *finder = finder_of(*state, rows, ROWS, &options);
    nigh_results *results = find(finder, rows, QUERIES, NIGH_FIND_ALL);
    nigh_results_info info = results_info_of(results);
    assert_int_equal(info.exact, 1);
    assert_int_equal(info.truncated, 0);
    assert_int_equal(info.probes, 4 * QUERIES);
    assert_true(info.distances >= (uint64_t)QUERIES * ROWS);
    nigh_results_free(results);
    nigh_finder_free(finder);
    options.bucket_budget = 1000;
    finder = finder_of(*state, rows, ROWS, &options);
    results = find(finder, rows, QUERIES, NIGH_FIND_ALL);
    info = results_info_of(results);
    assert_int_equal(info.exact, 0);
    assert_int_equal(info.truncated, QUERIES);
    assert_true(info.distances <= (uint64_t)QUERIES * 1200);
    nigh_results_free(results);
    nigh_finder_free(finder);
    free(rows);
}

static void test_memory_limit(void **state) {
    enum { ROWS = 20000 };
    uint64_t *rows = malloc(ROWS * sizeof *rows);
    assert_non_null(rows);
    for (uint64_t i = 0; i < ROWS; i++) rows[i] = nigh__mix(i);
    for (size_t m = 0; m < EXACT_METHODS; m++) {
        nigh_finder_options options = options_of(exact_methods[m]);
        nigh_finder *finder = finder_of(*state, rows, ROWS, &options);
        const uint64_t bytes = info_of(finder).bytes;
        assert_true(bytes >= (uint64_t)ROWS * 8);
        nigh_finder_free(finder);
        options.memory_bytes = bytes;
        finder = finder_of(*state, rows, ROWS, &options);
        assert_true(info_of(finder).bytes <= bytes);
        nigh_finder_free(finder);
        options.memory_bytes = (uint64_t)ROWS * 8; /* not even the rows */
        nigh_error error;
        assert_int_equal(nigh_finder_new(*state, (const uint8_t *)rows, ROWS, &options, &finder, &error), NIGH_ELIMIT);
        assert_null(finder);
    }
    free(rows);
}

static void test_described(void **state) {
    uint64_t rows[1000];
    for (uint64_t i = 0; i < 1000; i++) rows[i] = nigh__mix(i % 900);
    nigh_finder_options options = options_of(NIGH_FINDER_TABLES);
    options.blocks = 5;
    options.leading = 2;
    nigh_finder *finder = finder_of(*state, rows, 1000, &options);
    nigh_finder_info info = info_of(finder);
    assert_int_equal(info.method, NIGH_FINDER_TABLES);
    assert_int_equal(info.rows, 1000);
    assert_int_equal(info.distinct, 900);
    assert_int_equal(info.blocks, 5);
    assert_int_equal(info.leading, 2);
    assert_int_equal(info.tables, 10);
    assert_int_equal(info.exact_radius, 3);
    assert_true(info.build_seconds >= 0 && info.build_seconds < 60);
    nigh_finder_free(finder);
    options = options_of(NIGH_FINDER_PSM);
    options.recall = 0.8;
    finder = finder_of(*state, rows, 1000, &options);
    info = info_of(finder);
    assert_int_equal(info.method, NIGH_FINDER_PSM);
    assert_int_equal(info.rotations, 1);
    assert_in_range(info.prefix_bits, 1, 32);
    assert_in_range(info.probes, 1, 4096);
    assert_int_equal(info.exact_radius, 0);
    nigh_finder_free(finder);
}

/* ------------------------------------------------------------------------ psm */

/* Every query differs from its row in one bit, and its weights say which: two probes are enough for all. */
static void test_weights(void **state) {
    enum { ROWS = 500 };
    uint64_t rows[ROWS];
    uint64_t queries[ROWS];
    static uint8_t weights[ROWS][64];
    memset(weights, 255, sizeof weights);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = nigh__mix(i);
        queries[i] = rows[i] ^ UINT64_C(1) << i % 61; /* not in step with chunks of queries */
        weights[i][i % 61] = 0;
    }
    nigh_finder_options options = options_of(NIGH_FINDER_PSM);
    options.probes = 2;
    for (int without = 0; without < 2; without++) {
        options.without_numbers = without;
        nigh_finder *finder = finder_of(*state, rows, ROWS, &options);
        nigh_find_options asking;
        nigh_find_options_init(&asking);
        asking.weights = weights[0];
        asking.threads = 3;
        nigh_error error;
        nigh_results *results;
        assert_ok(nigh_finder_find(finder, (const uint8_t *)queries, ROWS, &asking, &results, &error), &error);
        for (uint64_t q = 0; q < ROWS; q++) expect(results, q, (const uint64_t[][2]){{without ? UINT64_MAX : q, 1}}, 1);
        assert_int_equal(results_info_of(results).exact, 0);
        assert_true(results_info_of(results).probes > 0);
        nigh_results_free(results);
        nigh_finder_free(finder);
    }
}

/* --------------------------------------------------------------- cancel, memory */

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return strcmp(stage, user) == 0;
}

static void test_cancelled(void **state) {
    char equal[] = "finding equal rows";
    char finding[] = "finding";
    nigh_error error;
    for (size_t m = 0; m < EXACT_METHODS; m++) {
        nigh_finder_options options = options_of(exact_methods[m]);
        const nigh_progress progress = {.report = stop, .user = equal};
        options.progress = &progress;
        nigh_finder *finder;
        assert_int_equal(nigh_finder_new(*state, (const uint8_t *)mixed, 7, &options, &finder, &error),
                         NIGH_ECANCELLED);
        assert_null(finder);
    }
    const nigh_finder_options options = options_of(NIGH_FINDER_TABLES);
    nigh_finder *finder = finder_of(*state, mixed, 7, &options);
    const nigh_progress progress = {.report = stop, .user = finding};
    nigh_find_options asking;
    nigh_find_options_init(&asking);
    asking.progress = &progress;
    nigh_results *results;
    assert_int_equal(nigh_finder_find(finder, (const uint8_t *)mixed, 7, &asking, &results, &error), NIGH_ECANCELLED);
    assert_null(results);
    nigh_finder_free(finder);
}

/* Stops a build that is under way.  Ticks within a tenth of a second are no reports: this waits, so that all are. */
struct build_stop {
    uint64_t last;
    bool ordered;
};

static int stop_build(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct build_stop *stop_at = user;
    const struct timespec pause = {.tv_nsec = 110000000};
    (void)nanosleep(&pause, NULL);
    if (strcmp(stage, "building") != 0) return 0;
    stop_at->ordered = stop_at->ordered && done >= stop_at->last && done <= total;
    stop_at->last = done;
    return done > 0;
}

/* While the thread that reports waits, the others may do all there is: then once more. */
static nigh_status build_until_stopped(nigh_context *context, const uint64_t *rows, size_t count,
                                       const nigh_finder_options *options, struct build_stop *stop_at,
                                       nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (int attempt = 0; attempt < 50 && status == NIGH_OK; attempt++) {
        nigh_finder *finder = NULL;
        *stop_at = (struct build_stop){.ordered = true};
        status = nigh_finder_new(context, (const uint8_t *)rows, count, options, &finder, error);
        assert_true((finder != NULL) == (status == NIGH_OK));
        nigh_finder_free(finder);
    }
    return status;
}

static void test_cancelled_building(void **state) {
    const size_t count = 120000;
    uint64_t *rows = malloc(count * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < count; i++) rows[i] = nigh__mix(i);
    for (size_t m = 0; m < 4; m++) {
        nigh_finder_options options = options_of(m < 2 ? NIGH_FINDER_TABLES : NIGH_FINDER_PSM);
        struct build_stop stop_at;
        const nigh_progress progress = {.report = stop_build, .user = &stop_at};
        options.progress = &progress;
        options.threads = m % 2 == 0 ? 1 : 3;
        if (m >= 2) options.probes = 8;
        nigh_error error;
        assert_int_equal(build_until_stopped(*state, rows, count, &options, &stop_at, &error), NIGH_ECANCELLED);
        assert_int_equal(error.status, NIGH_ECANCELLED);
        assert_true(stop_at.ordered);
        assert_true(stop_at.last > 0 && stop_at.last < count);
    }
    free(rows);
}

static void test_no_rows(void **state) {
    for (size_t m = 0; m < EXACT_METHODS; m++) {
        const nigh_finder_options options = options_of(exact_methods[m]);
        nigh_error error;
        nigh_finder *finder;
        assert_int_equal(nigh_finder_new(*state, NULL, 1, &options, &finder, &error), NIGH_EINVAL);
        assert_null(finder);
        assert_ok(nigh_finder_new(*state, NULL, 0, &options, &finder, &error), &error);
        nigh_finder_free(finder);
    }
}

/* ------------------------------------------------------- crowds that all match */

#define CROWD_ROWS 1500u
#define CROWD_QUERIES 1200u
#define BESIDE 50000000u /* bytes: hits that are not matches yet, however many there are to come */

/* An allocator that knows how much it has given out at most. */
struct meter {
    _Atomic uint64_t now;
    _Atomic uint64_t peak;
};

static void *meter_allocate(void *user, size_t size, size_t alignment) {
    struct meter *meter = user;
    const size_t before = alignment < 64 ? 64 : alignment;
    uint8_t *block = aligned_alloc(before, (before + size + before - 1) / before * before);
    if (block == NULL) return NULL;
    uint64_t *note = (uint64_t *)(void *)(block + before) - 2;
    note[0] = before;
    note[1] = size;
    const uint64_t now = atomic_fetch_add(&meter->now, size) + size;
    for (uint64_t peak = meter->peak; now > peak && !atomic_compare_exchange_weak(&meter->peak, &peak, now);) {
    }
    return block + before;
}

static void meter_release(void *user, void *pointer) {
    struct meter *meter = user;
    if (pointer == NULL) return;
    const uint64_t *note = (const uint64_t *)pointer - 2;
    atomic_fetch_sub(&meter->now, note[1]);
    free((uint8_t *)pointer - note[0]);
}

/* Rows with one or two bits flipped, and queries with none or another one. */
static void crowd_make(uint64_t *rows, uint64_t *queries) {
    size_t count = 0;
    for (uint32_t i = 0; i < 62; i++)
        for (uint32_t j = 0; j <= i && count < CROWD_ROWS; j++)
            rows[count++] = nigh__mix(7) ^ UINT64_C(1) << i ^ (i == j ? 0 : UINT64_C(1) << j);
    for (size_t q = 0; q < CROWD_QUERIES; q++) queries[q] = nigh__mix(7) ^ (uint64_t)(q % 2) << 63;
}

static nigh_results *crowd_find(const nigh_finder *finder, const uint64_t *queries, const uint8_t *weights,
                                nigh_find_mode mode, uint32_t threads) {
    nigh_find_options asking;
    nigh_find_options_init(&asking);
    asking.mode = mode;
    asking.weights = weights;
    asking.threads = threads;
    nigh_error error;
    nigh_results *results;
    assert_ok(nigh_finder_find(finder, (const uint8_t *)queries, CROWD_QUERIES, &asking, &results, &error), &error);
    return results;
}

static void crowd_same(const nigh_results *a, const nigh_results *b) {
    for (size_t q = 0; q < CROWD_QUERIES; q++) {
        size_t of_a;
        size_t of_b;
        const nigh_match *matches = nigh_results_matches(a, q, &of_a);
        const nigh_match *others = nigh_results_matches(b, q, &of_b);
        assert_int_equal(of_a, of_b);
        assert_true(of_a > 0);
        for (size_t i = 0; i < of_a; i++) {
            assert_true(matches[i].document == others[i].document);
            assert_int_equal(matches[i].distance, others[i].distance);
        }
    }
}

static void crowd_same_effort(const nigh_results *a, const nigh_results *b) {
    nigh_results_info of_a = {.size = sizeof of_a};
    nigh_results_info of_b = {.size = sizeof of_b};
    nigh_results_describe(a, &of_a);
    nigh_results_describe(b, &of_b);
    assert_int_equal(of_a.distances, of_b.distances);
    assert_int_equal(of_a.probes, of_b.probes);
    assert_int_equal(of_a.truncated, of_b.truncated);
}

/* Every query matches every row: the answers are the scan's, and take little more memory than they must. */
static void test_matching_crowd(void **state) {
    (void)state;
    static const nigh_find_mode modes[] = {NIGH_FIND_ALL, NIGH_FIND_FIRST, NIGH_FIND_ANY};
    struct meter meter = {0};
    const nigh_allocator allocator = {.user = &meter, .allocate = meter_allocate, .release = meter_release};
    nigh_context *context = context_with(NULL, &allocator, NULL);
    uint64_t *rows = malloc(CROWD_ROWS * sizeof *rows);
    uint64_t *queries = malloc(CROWD_QUERIES * sizeof *queries);
    uint8_t *weights = malloc((size_t)CROWD_QUERIES * 64);
    if (rows == NULL || queries == NULL || weights == NULL) abort(); /* the analyzer knows no assertions */
    crowd_make(rows, queries);
    memset(weights, 200, (size_t)CROWD_QUERIES * 64);
    nigh_finder_options options = options_of(NIGH_FINDER_SCAN);
    nigh_finder *scan = finder_of(context, rows, CROWD_ROWS, &options);
    for (size_t m = 0; m < 6; m++) {
        const nigh_find_mode mode = modes[m % 3];
        options = options_of(m < 3 ? NIGH_FINDER_TABLES : NIGH_FINDER_PSM);
        options.blocks = m < 3 ? 5 : 0;
        options.leading = m < 3 ? 2 : 0;
        options.prefix_bits = m < 3 ? 0 : 1; /* a bit that all rows share: nothing is missed */
        options.probes = m < 3 ? 0 : 2;
        nigh_finder *finder = finder_of(context, rows, CROWD_ROWS, &options);
        nigh_results *truth = crowd_find(scan, queries, NULL, mode, 1);
        const uint64_t before = meter.now;
        meter.peak = before;
        nigh_results *one = crowd_find(finder, queries, weights, mode, 1);
        const uint64_t peak = meter.peak - before;
        nigh_results *four = crowd_find(finder, queries, weights, mode, 4);
        if (mode != NIGH_FIND_ANY) crowd_same(one, truth);
        crowd_same(one, four);
        crowd_same_effort(one, four);
        if (mode == NIGH_FIND_ALL)
            assert_true(peak < 2 * sizeof(nigh_match) * CROWD_QUERIES * CROWD_ROWS + BESIDE);
        else
            assert_true(peak < 2000000);
        nigh_results_free(truth);
        nigh_results_free(one);
        nigh_results_free(four);
        nigh_finder_free(finder);
    }
    nigh_finder_free(scan);
    free(rows);
    free(queries);
    free(weights);
    nigh_context_free(context);
}

static nigh_status make_and_find(nigh_context *context, nigh_finder_method method, const uint64_t *rows, size_t count) {
    nigh_finder_options options = options_of(method);
    uint8_t *weights = NULL;
    if (method == NIGH_FINDER_PSM) {
        options.probes = 16;
        options.rotations = 2;
        weights = calloc(count, 64);
        assert_non_null(weights);
    }
    nigh_error error;
    nigh_finder *finder = NULL;
    nigh_results *results = NULL;
    nigh_status status = nigh_finder_new(context, (const uint8_t *)rows, count, &options, &finder, &error);
    nigh_find_options asking;
    nigh_find_options_init(&asking);
    asking.weights = weights;
    asking.threads = 1; /* what fails must be the same call each time */
    if (status == NIGH_OK) status = nigh_finder_find(finder, (const uint8_t *)rows, count, &asking, &results, &error);
    if (status != NIGH_OK) assert_int_equal(error.status, status);
    nigh_results_free(results);
    nigh_finder_free(finder);
    free(weights);
    return status;
}

static void test_out_of_memory(void **state) {
    (void)state;
    static const nigh_finder_method methods[] = {NIGH_FINDER_AUTO, NIGH_FINDER_SCAN, NIGH_FINDER_TABLES,
                                                 NIGH_FINDER_PSM};
    uint64_t rows[300];
    for (uint64_t i = 0; i < 300; i++) rows[i] = nigh__mix(i % 200);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t live = memory.live;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        bool complete = false;
        for (uint64_t fail_at = 0; !complete; fail_at++) {
            memory.calls = 0;
            memory.fail_at = fail_at;
            const nigh_status status = make_and_find(context, methods[m], rows, 300);
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
        cmocka_unit_test(test_refused_generally),
        cmocka_unit_test(test_refused_tables),
        cmocka_unit_test(test_refused_psm),
        cmocka_unit_test(test_refused_queries),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_approximate),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_first_is_lowest),
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_equal_crowd),
        cmocka_unit_test(test_prefix_crowd),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_described),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_cancelled_building),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_matching_crowd),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
