/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The sketch scan against the plain one, for widths, limits, ties, numbers of candidates and
 * of threads; what it proves; through nigh_search() over several segments; what it refuses;
 * and memory that runs out.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sketch/sketch.h"
#include "sketch/sketches.h"
#include "support/bits_to_turn.h"
#include "support/support.h"

#define MAX_QUERIES 5u

struct matrix {
    uint64_t *rows, *sketches, *queries;
    uint32_t count, words, sketch_words;
};

static void *allocate(size_t count, size_t size) {
    void *memory = aligned_alloc(64, (count * size + 64) / 64 * 64 + 64);
    if (memory == NULL) abort();
    return memory;
}

/* Rows near a few centres; with few centres and few flips there are ties everywhere. */
static struct matrix matrix_new(uint32_t count, uint32_t words, uint32_t sketch_words, uint32_t centres,
                                uint64_t seed) {
    struct matrix m = {.count = count, .words = words, .sketch_words = sketch_words};
    struct nigh__rng rng = {.state = seed};
    m.rows = allocate((size_t)count * words, sizeof(uint64_t));
    m.sketches = allocate((size_t)count * sketch_words, sizeof(uint64_t));
    m.queries = allocate((size_t)MAX_QUERIES * words, sizeof(uint64_t));
    for (uint32_t row = 0; row < count + MAX_QUERIES; row++) {
        uint64_t *to = row < count ? m.rows + (size_t)row * words : m.queries + (size_t)(row - count) * words;
        const uint64_t centre = nigh__rng_next(&rng) % centres;
        for (uint32_t w = 0; w < words; w++) to[w] = nigh__mix(centre * 1000 + w) ^ few_bits(&rng);
        if (row < count) memcpy(m.sketches + (size_t)row * sketch_words, to, sketch_words * sizeof(uint64_t));
    }
    return m;
}

static void matrix_free(struct matrix *m) {
    free(m->rows);
    free(m->sketches);
    free(m->queries);
}

static struct nigh__sketch_scan scan_of(const nigh_context *context, const struct matrix *m, const uint32_t *limits) {
    return (struct nigh__sketch_scan){.context = context,
                                      .sketches = m->sketches,
                                      .sketch_words = m->sketch_words,
                                      .rows = m->rows,
                                      .count = m->count,
                                      .words = m->words,
                                      .queries = m->queries,
                                      .query_count = MAX_QUERIES,
                                      .limits = limits,
                                      .k = 10,
                                      .candidates = 10,
                                      .threads = 1};
}

static void answers_init(struct nigh__sketch_answer *answers) {
    for (uint32_t q = 0; q < MAX_QUERIES; q++) answers[q] = (struct nigh__sketch_answer){.keys = NIGH__ARRAY(uint64_t)};
}

static void answers_release(const nigh_context *context, struct nigh__sketch_answer *answers) {
    for (uint32_t q = 0; q < MAX_QUERIES; q++) nigh__array_release(context, &answers[q].keys);
}

static void expect_same(const struct nigh__sketch_scan *scan) {
    struct nigh__sketch_answer fast[MAX_QUERIES];
    struct nigh__sketch_answer plain[MAX_QUERIES];
    nigh_error error;
    answers_init(fast);
    answers_init(plain);
    assert_ok(nigh__sketch_scan(scan, fast, &error), &error);
    assert_ok(nigh__sketch_scan_plain(scan, plain, &error), &error);
    for (size_t q = 0; q < scan->query_count; q++) {
        assert_int_equal(fast[q].keys.count, plain[q].keys.count);
        if (plain[q].keys.count != 0)
            assert_memory_equal(fast[q].keys.data, plain[q].keys.data, plain[q].keys.count * sizeof(uint64_t));
        assert_int_equal(fast[q].compared, plain[q].compared);
        assert_int_equal(fast[q].below, plain[q].below);
    }
    answers_release(scan->context, fast);
    answers_release(scan->context, plain);
}

static void test_equals_plain(void **state) {
    static const uint32_t counts[] = {1, 63, 64, 65, 1000, 20011};
    static const uint32_t candidates[] = {1, 2, 10, 500, 4000, 30000};
    static const uint32_t limits[][MAX_QUERIES] = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                                   {0, 1, 40, 100, 200}};
    for (uint32_t c = 0; c < 6; c++)
        for (uint32_t words = 1; words <= NIGH__SKETCH_WORDS; words++) {
            struct matrix m = matrix_new(counts[c], words + 3, words, 7, c + words);
            for (uint32_t i = 0; i < 6; i++)
                for (uint32_t variant = 0; variant < 4; variant++) {
                    struct nigh__sketch_scan scan = scan_of(*state, &m, limits[variant & 1]);
                    scan.candidates = candidates[i];
                    scan.k = candidates[i] < 10 ? candidates[i] : 10;
                    scan.threads = (variant & 2) != 0 ? 3 : 1;
                    scan.query_count = i == 3 ? 1 : MAX_QUERIES;
                    expect_same(&scan);
                }
            matrix_free(&m);
        }
}

/* Large enough for several threads, and nothing but ties. */
static void test_ties_and_threads(void **state) {
    static const uint32_t limits[MAX_QUERIES] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct matrix m = matrix_new(700000, 1, 1, 1, 5);
    m.words = 1;
    for (uint32_t row = 0; row < m.count; row++) m.sketches[row] = m.rows[row] = row % 3;
    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        struct nigh__sketch_scan scan = scan_of(*state, &m, limits);
        scan.threads = threads;
        scan.candidates = scan.k = 300000; /* of many chunks, all of them shown */
        expect_same(&scan);
    }
    matrix_free(&m);
}

/* More queries than have room for their candidates at once: each has the answer that it has alone. */
static void test_many_candidates(void **state) {
    enum { QUERIES = 40 };
    static uint32_t limits[QUERIES];
    static struct nigh__sketch_answer together[QUERIES];
    struct matrix m = matrix_new(300000, 1, 1, 100, 6);
    uint64_t *queries = allocate(QUERIES, sizeof *queries);
    nigh_error error;
    for (uint32_t q = 0; q < QUERIES; q++) {
        limits[q] = q % 7 == 3 ? 20 : UINT32_MAX;
        queries[q] = m.rows[(size_t)q * 1000];
        together[q] = (struct nigh__sketch_answer){.keys = NIGH__ARRAY(uint64_t)};
    }
    struct nigh__sketch_scan scan = scan_of(*state, &m, limits);
    scan.queries = queries;
    scan.query_count = QUERIES;
    scan.candidates = 100000;
    scan.threads = 2;
    assert_ok(nigh__sketch_scan(&scan, together, &error), &error);
    for (uint32_t q = 0; q < QUERIES; q++) {
        struct nigh__sketch_answer alone = {.keys = NIGH__ARRAY(uint64_t)};
        scan.queries = queries + q;
        scan.limits = limits + q;
        scan.query_count = 1;
        assert_ok(nigh__sketch_scan(&scan, &alone, &error), &error);
        assert_int_equal(alone.keys.count, 10);
        assert_int_equal(together[q].keys.count, 10);
        assert_memory_equal(alone.keys.data, together[q].keys.data, 10 * sizeof(uint64_t));
        assert_int_equal(alone.compared, together[q].compared);
        assert_int_equal(alone.below, together[q].below);
        nigh__array_release(*state, &alone.keys);
        nigh__array_release(*state, &together[q].keys);
    }
    free(queries);
    matrix_free(&m);
}

static void test_memory(void **state) {
    static const uint32_t limits[MAX_QUERIES] = {UINT32_MAX, UINT32_MAX, 50, UINT32_MAX, UINT32_MAX};
    struct matrix m = matrix_new(5000, 4, 2, 7, 3);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_status status = NIGH_ENOMEM;
    (void)state;
    const int64_t live = memory.live;
    for (uint64_t n = 0; status != NIGH_OK; n++) {
        struct nigh__sketch_answer answers[MAX_QUERIES];
        struct nigh__sketch_scan scan = scan_of(context, &m, limits);
        nigh_error error;
        scan.candidates = 600;
        answers_init(answers);
        memory.fail_at = memory.calls + n;
        status = nigh__sketch_scan(&scan, answers, &error);
        memory.fail_at = UINT64_MAX;
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        answers_release(context, answers);
        assert_int_equal(memory.live, live);
        assert_true(n < 1000);
    }
    nigh_context_free(context);
    matrix_free(&m);
}

/* ------------------------------------------------------- through nigh_search() */

static const struct recipe recipe = {.width_bits = 328, .seed = 8, .distinct = 1500};

static nigh_collection *collection_new(nigh_context *context, char **scratch) {
    nigh_collection *collection;
    nigh_error error;
    *scratch = scratch_new();
    char *path = path_in(*scratch, "c.nigh");
    assert_ok(recipe_add(context, path, &recipe, 0, 1200, &error), &error);
    assert_ok(recipe_add(context, path, &recipe, 1200, 900, &error), &error);
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    free(path);
    return collection;
}

static nigh_results *ask(const nigh_collection *collection, const nigh_search_options *options, uint8_t *queries,
                         size_t count) {
    nigh_results *results;
    nigh_error error;
    for (size_t q = 0; q < count; q++) recipe_signature(&recipe, q * 37, queries + q * recipe.width_bits / 8);
    assert_ok(nigh_search(collection, queries, count, options, &results, &error), &error);
    return results;
}

/* What is said to be certain is; all candidates, or all bits, are exact. */
static void test_search(void **state) {
    char *scratch;
    nigh_collection *collection = collection_new(*state, &scratch);
    uint8_t queries[70 * 41];
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SCAN;
    nigh_results *truth = ask(collection, &options, queries, 70);
    options.method = NIGH_SEARCH_SKETCH;
    uint64_t proven = 0;
    static const uint32_t candidates[] = {10, 40, 300, 5000, (uint32_t)NIGH_DEFAULT};
    for (size_t i = 0; i < 5; i++)
        for (uint32_t bits = 64; bits <= 256; bits += 64) {
            options.candidates = candidates[i];
            options.sketch_bits = bits;
            nigh_results *results = ask(collection, &options, queries, 70);
            for (size_t q = 0; q < 70; q++) {
                nigh_proof proof = {.size = sizeof proof};
                size_t count = 0;
                size_t truths = 0;
                const nigh_match *found = nigh_results_matches(results, q, &count);
                const nigh_match *nearest = nigh_results_matches(truth, q, &truths);
                assert_int_equal(nigh_results_proof(results, q, &proof, NULL), NIGH_OK);
                assert_int_equal(count, 10);
                proven += proof.exact != 0;
                for (size_t r = 0; r < 10; r++) {
                    assert_true(found[r].distance >= nearest[r].distance);
                    if (!proof.exact && nearest[r].distance >= proof.below) continue;
                    assert_int_equal(found[r].document, nearest[r].document);
                    assert_int_equal(found[r].distance, nearest[r].distance);
                }
                if (candidates[i] == 5000) assert_true(proof.exact);
            }
            nigh_results_free(results);
        }
    assert_true(proven >= 280 && proven < 1400);
    nigh_results_free(truth);
    nigh_collection_close(collection);
    scratch_free(scratch);
}

/* A radius is a filter: what is found without one, as far as it goes. */
static void test_radius(void **state) {
    char *scratch;
    nigh_collection *collection = collection_new(*state, &scratch);
    uint8_t queries[20 * 41];
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SKETCH;
    options.candidates = 60;
    options.radius = 140;
    nigh_results *results = ask(collection, &options, queries, 20);
    for (size_t q = 0; q < 20; q++) {
        size_t count = 0;
        const nigh_match *found = nigh_results_matches(results, q, &count);
        assert_true(count >= 1 && found[0].distance == 0);
        for (size_t r = 0; r < count; r++) assert_true(found[r].distance <= 140);
    }
    nigh_results_free(results);
    nigh_collection_close(collection);
    scratch_free(scratch);
}

/* Threads that all come first: one makes the sketches, the others wait, and all find the same. */
struct asker {
    const nigh_collection *collection;
    uint32_t bits;
    pthread_t thread;
    nigh_match found[10];
};

static void *ask_once(void *user) {
    struct asker *asker = user;
    uint8_t query[41];
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SKETCH;
    options.candidates = 60;
    options.sketch_bits = asker->bits;
    options.threads = 2;
    nigh_results *results = ask(asker->collection, &options, query, 1);
    size_t count = 0;
    const nigh_match *matches = nigh_results_matches(results, 0, &count);
    if (count == 10) memcpy(asker->found, matches, sizeof asker->found);
    nigh_results_free(results);
    return NULL;
}

static void test_shared(void **state) {
    char *scratch;
    nigh_collection *collection = collection_new(*state, &scratch);
    struct asker askers[8] = {{.collection = NULL}};
    for (size_t i = 0; i < 8; i++) {
        askers[i].collection = collection;
        askers[i].bits = i % 2 == 0 ? 64 : 192;
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_once, &askers[i]), 0);
    }
    for (size_t i = 0; i < 8; i++) assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
    for (size_t i = 2; i < 8; i++) assert_memory_equal(askers[i].found, askers[i % 2].found, sizeof askers[i].found);
    assert_int_equal(askers[0].found[0].distance, 0);
    nigh_collection_close(collection);
    scratch_free(scratch);
}

/* Sketches that there is no memory for are a failure of that search alone. */
static void test_search_memory(void **state) {
    char *scratch;
    nigh_collection_close(collection_new(*state, &scratch));
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    char *path = path_in(scratch, "c.nigh");
    static const uint8_t query[41];
    nigh_collection *collection;
    nigh_error error;
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SKETCH;
    options.candidates = 40;
    options.threads = 1;
    const int64_t live = memory.live;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t n = 0; status != NIGH_OK; n++) {
        nigh_results *results = NULL;
        memory.fail_at = memory.calls + n;
        status = nigh_search(collection, query, 1, &options, &results, &error);
        memory.fail_at = UINT64_MAX;
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        assert_true((results != NULL) == (status == NIGH_OK));
        nigh_results_free(results);
    }
    nigh_collection_close(collection);
    assert_int_equal(memory.live, live);
    nigh_context_free(context);
    free(path);
    scratch_free(scratch);
}

static void expect_refused(const nigh_collection *collection, const nigh_search_options *options, const char *why) {
    static const uint8_t query[41];
    nigh_results *results;
    nigh_error error;
    assert_int_equal(nigh_search(collection, query, 1, options, &results, &error), NIGH_EINVAL);
    assert_string_equal(error_text(&error), why);
    assert_null(results);
}

static void test_refused(void **state) {
    char *scratch;
    nigh_collection *collection = collection_new(*state, &scratch);
    static const uint8_t mask[41] = {1};
    const nigh_search_options good = {.size = sizeof good,
                                      .k = 3,
                                      .radius = NIGH_ALL,
                                      .method = NIGH_SEARCH_SKETCH,
                                      .breadth = (uint32_t)NIGH_DEFAULT,
                                      .admit = (uint32_t)NIGH_DEFAULT,
                                      .candidates = (uint32_t)NIGH_DEFAULT,
                                      .slices = (uint32_t)NIGH_DEFAULT,
                                      .sketch_bits = (uint32_t)NIGH_DEFAULT,
                                      .effort = (uint32_t)NIGH_DEFAULT,
                                      .patience = (uint32_t)NIGH_DEFAULT};
    nigh_search_options bad = good;
    bad.masks = mask;
    expect_refused(collection, &bad, "sketches cannot be searched in some of the bits only, nor by weights");
    bad = good;
    bad.k = NIGH_ALL;
    expect_refused(collection, &bad, "a search of sketches needs a k: how many documents at most");
    bad = good;
    bad.stop = NIGH_STOP_CERTAIN;
    expect_refused(collection, &bad, "a search of sketches cannot go on until it is certain; scan instead");
    bad = good;
    bad.sketch_bits = 100;
    expect_refused(collection, &bad, "sketches of 100 bits; they have 64, 128, 192 or 256");
    bad.sketch_bits = 320;
    expect_refused(collection, &bad, "sketches of 320 bits; they have 64, 128, 192 or 256");
    bad = good;
    bad.candidates = 2;
    expect_refused(collection, &bad, "2 candidates cannot give 3 documents");
    nigh_collection_close(collection);
    scratch_free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_plain),  cmocka_unit_test(test_ties_and_threads),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_search),
        cmocka_unit_test(test_radius),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_shared),        cmocka_unit_test(test_many_candidates),
        cmocka_unit_test(test_search_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
