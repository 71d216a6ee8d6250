/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measures of nearest search against their definitions, computed here once more from
 * the distances alone; the file of truth, whole and damaged; rings.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define WIDTH 128u
#define BYTES (WIDTH / 8)
#define DOCUMENTS 6000u
#define QUERIES 40u
#define K 7u

struct world {
    nigh_context *context;
    char *folder, *path;
    nigh_collection *collection;
    uint8_t queries[QUERIES * BYTES];
    uint64_t own[QUERIES];
    nigh_eval_truth_options options;
};

/* Documents, queries that are documents of it with the bits of another here and there, and lists. */
static int world_setup(void **state) {
    struct world *world = calloc(1, sizeof *world);
    const struct recipe recipe = {.width_bits = WIDTH, .documents = DOCUMENTS, .seed = 5, .distinct = 5500};
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    nigh_error error;
    if (world == NULL) return -1;
    world->context = context_new();
    world->folder = scratch_new();
    world->path = path_in(world->folder, "c.nigh");
    assert_ok(recipe_add(world->context, world->path, &recipe, 0, DOCUMENTS, &error), &error);
    lists.slice_width = 8;
    lists.min_rows = 1;
    assert_ok(nigh_lists_build(world->context, world->path, &lists, NULL, &error), &error);
    assert_ok(nigh_collection_open(world->context, world->path, NULL, &world->collection, &error), &error);
    for (uint32_t q = 0; q < QUERIES; q++) {
        world->own[q] = (uint64_t)q * 149;
        recipe_signature(&recipe, world->own[q], world->queries + (size_t)q * BYTES);
    }
    nigh_eval_truth_options_init(&world->options);
    world->options.k = K;
    world->options.own = world->own;
    *state = world;
    return 0;
}

static int world_teardown(void **state) {
    struct world *world = *state;
    nigh_collection_close(world->collection);
    nigh_context_free(world->context);
    scratch_free(world->folder);
    free(world->path);
    free(world);
    return 0;
}

static uint32_t distance(const uint8_t *a, const uint8_t *b) {
    uint32_t bits = 0;
    for (size_t i = 0; i < BYTES; i++)
        for (uint32_t x = a[i] ^ b[i]; x != 0; x &= x - 1) bits++;
    return bits;
}

static nigh_eval_truth *truth_of(struct world *world) {
    nigh_error error;
    nigh_eval_truth *truth = NULL;
    assert_ok(nigh_eval_truth_new(world->collection, world->queries, QUERIES, &world->options, &truth, &error), &error);
    return truth;
}

/* Every other document by distance and then number, by a plain loop. */
static void test_truth(void **state) {
    struct world *world = *state;
    nigh_eval_truth *truth = truth_of(world);
    for (uint32_t q = 0; q < QUERIES; q++) {
        size_t count = 0;
        const nigh_match *matches = nigh_eval_truth_matches(truth, q, &count);
        assert_int_equal(count, K);
        uint64_t nearer = 0;
        for (uint64_t d = 0; d < DOCUMENTS; d++) {
            uint8_t signature[BYTES];
            nigh_error error;
            if (d == world->own[q]) continue;
            assert_ok(nigh_collection_signature(world->collection, d, signature, &error), &error);
            const uint32_t bits = distance(signature, world->queries + (size_t)q * BYTES);
            const nigh_match last = matches[K - 1];
            nearer += bits < last.distance || (bits == last.distance && d <= last.document);
        }
        assert_int_equal(nearer, K);
        for (size_t i = 0; i < K; i++) assert_true(matches[i].document != world->own[q]);
    }
    size_t past = 1;
    assert_null(nigh_eval_truth_matches(truth, QUERIES, &past));
    assert_int_equal(past, 0);
    nigh_eval_truth_free(truth);
}

static void near(double value, double expected) {
    const double difference = value > expected ? value - expected : expected - value;
    assert_true(difference < 1e-9);
}

/* CDR and recall of one setting, from nigh_search() and the truth. */
static void expect_measures(struct world *world, const nigh_eval_truth *truth, const nigh_search_options *search,
                            const nigh_eval_nearness *nearness) {
    nigh_eval_nearness_info info = {.size = sizeof info};
    nigh_search_options options = *search;
    nigh_results *results = NULL;
    nigh_error error;
    double cdr = 0;
    double recall = 0;
    double by_id = 0;
    options.k = K + 1;
    assert_ok(nigh_search(world->collection, world->queries, QUERIES, &options, &results, &error), &error);
    for (uint32_t q = 0; q < QUERIES; q++) {
        size_t count = 0;
        size_t truths = 0;
        const nigh_match *all = nigh_results_matches(results, q, &count);
        const nigh_match *true_ones = nigh_eval_truth_matches(truth, q, &truths);
        double true_sum = 0;
        double found_sum = 0;
        double ratios = 0;
        size_t next = 0;
        for (size_t p = 0; p < K; p++) {
            while (next < count && all[next].document == world->own[q]) next++;
            const nigh_match *match = next < count ? &all[next++] : NULL;
            true_sum += true_ones[p].distance;
            found_sum += match == NULL ? WIDTH : match->distance;
            ratios += found_sum == 0 ? 1 : true_sum / found_sum;
            if (match == NULL) continue;
            recall += match->distance <= true_ones[K - 1].distance;
            for (size_t i = 0; i < K; i++) by_id += true_ones[i].document == match->document;
        }
        cdr += ratios / K;
    }
    nigh_eval_nearness_describe(nearness, &info);
    assert_int_equal(info.queries, QUERIES);
    near(info.cdr, cdr / QUERIES);
    near(info.recall, recall / QUERIES / K);
    near(info.recall_by_id, by_id / QUERIES / K);
    double last_dr = 0;
    double last_cdr = 0;
    assert_ok(nigh_eval_nearness_rank(nearness, K, &last_dr, &last_cdr, &error), &error);
    near(last_cdr, info.cdr);
    assert_int_equal(nigh_eval_nearness_rank(nearness, K + 1, &last_dr, &last_cdr, &error), NIGH_EINVAL);
    assert_int_equal(nigh_eval_nearness_rank(nearness, 0, &last_dr, &last_cdr, &error), NIGH_EINVAL);
    assert_true(info.median <= info.percentile_90 && info.percentile_90 <= info.percentile_99);
    nigh_results_free(results);
}

static void test_measures(void **state) {
    struct world *world = *state;
    nigh_eval_truth *truth = truth_of(world);
    for (uint32_t breadth = 0; breadth <= 4; breadth++) {
        nigh_search_options search;
        nigh_search_options_init(&search);
        nigh_eval_nearness_info info = {.size = sizeof info};
        nigh_eval_nearness *nearness = NULL;
        nigh_error error;
        search.method = breadth == 4 ? NIGH_SEARCH_SCAN : NIGH_SEARCH_SLICES;
        search.breadth = breadth == 4 ? (uint32_t)NIGH_DEFAULT : breadth;
        search.candidates = 60;
        assert_ok(nigh_eval_nearness_measure(world->collection, world->queries, QUERIES, truth, &world->options,
                                             &search, &nearness, &error),
                  &error);
        expect_measures(world, truth, &search, nearness);
        nigh_eval_nearness_describe(nearness, &info);
        if (breadth == 4) {
            near(info.cdr, 1);
            near(info.recall_by_id, 1);
            near(info.proven, 1);
        }
        const char *svg = NULL;
        size_t length = 0;
        const char *name = "<&>";
        assert_ok(nigh_eval_nearness_plot(&nearness, &name, 1, "a \"title\" & more", &svg, &length, &error), &error);
        assert_true(length > 500 && memcmp(svg, "<svg", 4) == 0);
        assert_int_equal(nigh_eval_nearness_plot(NULL, NULL, 0, "", &svg, &length, &error), NIGH_EINVAL);
        nigh_eval_nearness_free(nearness);
    }
    nigh_eval_truth_free(truth);
}

static void test_file(void **state) {
    struct world *world = *state;
    nigh_eval_truth *truth = truth_of(world);
    nigh_eval_truth *again = NULL;
    nigh_error error;
    char *path = path_in(world->folder, "truth");
    assert_ok(nigh_eval_truth_save(truth, path, &error), &error);
    assert_ok(nigh_eval_truth_load(world->collection, world->queries, QUERIES, &world->options, path, &again, &error),
              &error);
    for (uint32_t q = 0; q < QUERIES; q++) {
        size_t a = 0;
        size_t b = 0;
        const nigh_match *x = nigh_eval_truth_matches(truth, q, &a);
        const nigh_match *y = nigh_eval_truth_matches(again, q, &b);
        assert_int_equal(a, b);
        assert_memory_equal(x, y, a * sizeof *x);
    }
    nigh_eval_truth_free(again);
    nigh_eval_truth_free(truth);

    /* Other queries, another k, nothing left out: not this truth. */
    nigh_eval_truth_options other = world->options;
    other.k = K + 1;
    assert_int_equal(nigh_eval_truth_load(world->collection, world->queries, QUERIES, &other, path, &again, &error),
                     NIGH_EMISMATCH);
    other = world->options;
    other.own = NULL;
    assert_int_equal(nigh_eval_truth_load(world->collection, world->queries, QUERIES, &other, path, &again, &error),
                     NIGH_EMISMATCH);
    assert_int_equal(
        nigh_eval_truth_load(world->collection, world->queries, QUERIES - 1, &world->options, path, &again, &error),
        NIGH_EMISMATCH);

    /* Every byte counts, and every cut is seen. */
    struct bytes file = file_read_all(path);
    for (size_t i = 0; i < file.length; i += i < 300 ? 1 : 97) {
        file.data[i] ^= 0x40;
        file_write_all(path, file.data, file.length);
        assert_int_not_equal(
            nigh_eval_truth_load(world->collection, world->queries, QUERIES, &world->options, path, &again, &error),
            NIGH_OK);
        assert_null(again);
        file.data[i] ^= 0x40;
    }
    for (size_t length = 0; length < file.length; length += length < 100 ? 1 : 501) {
        file_write_all(path, file.data, length);
        assert_int_not_equal(
            nigh_eval_truth_load(world->collection, world->queries, QUERIES, &world->options, path, &again, &error),
            NIGH_OK);
    }
    free(file.data);
    free(path);
}

static void test_rings(void **state) {
    struct world *world = *state;
    nigh_eval_ring rings[NIGH_MAX_SLICE_WIDTH + 1];
    nigh_error error;
    assert_ok(nigh_eval_rings_measure(world->collection, world->queries, QUERIES, K, 8, NULL, rings, &error), &error);
    double lists = 0;
    double combinations = 1;
    for (uint32_t b = 0; b <= 8; b++) {
        lists += 16 * combinations;
        combinations = combinations * (8 - b) / (b + 1);
        near(rings[b].lists, lists);
        assert_true(b == 0 || rings[b].seen >= rings[b - 1].seen);
        assert_true(b == 0 || rings[b].determined >= rings[b - 1].determined);
        assert_true(b == 0 || rings[b].certain >= rings[b - 1].certain);
    }
    near(rings[8].seen, 1);
    near(rings[8].determined, 1);
    assert_int_equal(nigh_eval_rings_measure(world->collection, world->queries, QUERIES, K, 9, NULL, rings, &error),
                     NIGH_EINVAL);
    assert_int_equal(nigh_eval_rings_measure(world->collection, world->queries, 0, K, 1, NULL, rings, &error),
                     NIGH_EINVAL);
}

static void test_refused(void **state) {
    struct world *world = *state;
    nigh_eval_truth *truth = NULL;
    nigh_eval_nearness *nearness = NULL;
    nigh_search_options search;
    nigh_search_options_init(&search);
    nigh_error error;
    assert_int_equal(nigh_eval_truth_new(world->collection, NULL, 1, &world->options, &truth, &error), NIGH_EINVAL);
    assert_ok(nigh_eval_truth_new(world->collection, NULL, 0, &world->options, &truth, &error), &error);
    assert_int_equal(nigh_eval_nearness_measure(world->collection, world->queries, 0, truth, &world->options, &search,
                                                &nearness, &error),
                     NIGH_EINVAL);
    nigh_eval_truth_free(truth);

    truth = truth_of(world);
    search.masks = world->queries;
    assert_int_equal(nigh_eval_nearness_measure(world->collection, world->queries, QUERIES, truth, &world->options,
                                                &search, &nearness, &error),
                     NIGH_EINVAL);
    search.masks = NULL;
    nigh_eval_truth_options other = world->options;
    other.own = NULL;
    assert_int_equal(nigh_eval_nearness_measure(world->collection, world->queries, QUERIES, truth, &other, &search,
                                                &nearness, &error),
                     NIGH_EMISMATCH);
    assert_null(nearness);
    nigh_eval_truth_free(truth);
}

/* Titles and names of any bytes are text: UTF-8, without markup and without what XML does not have. */
static void test_plot_of_hostile_names(void **state) {
    struct world *world = *state;
    nigh_eval_truth *truth = truth_of(world);
    nigh_eval_nearness *nearness = NULL;
    nigh_search_options search;
    nigh_search_options_init(&search);
    nigh_error error;
    const char *name = "<script>\"&\x01\xc3";
    const char *svg = NULL;
    size_t length = 0;
    assert_ok(nigh_eval_nearness_measure(world->collection, world->queries, QUERIES, truth, &world->options, &search,
                                         &nearness, &error),
              &error);
    assert_ok(
        nigh_eval_nearness_plot(&nearness, &name, 1, "\xff\xc3\xa4\xed\xa0\x80\xef\xbf\xbf]]>", &svg, &length, &error),
        &error);
    char *text = calloc(1, length + 1);
    assert_non_null(text);
    memcpy(text, svg, length);
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "&#60;script&#62;&#34;&#38; \xef\xbf\xbd</text>"));
    assert_non_null(strstr(text, ">\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd"));
    assert_non_null(strstr(text, " ]]&#62;</text>"));
    assert_null(strstr(text, "\xff"));
    free(text);
    nigh_eval_nearness_free(nearness);
    nigh_eval_truth_free(truth);
}

/* Everything once, on one thread, of a few queries. */
static nigh_status everything(const struct world *world, nigh_context *context, const char *path, nigh_error *error) {
    nigh_collection *collection = NULL;
    nigh_eval_truth *truth = NULL;
    nigh_eval_truth *again = NULL;
    nigh_eval_nearness *nearness = NULL;
    nigh_eval_truth_options options = world->options;
    nigh_search_options search;
    nigh_search_options_init(&search);
    nigh_eval_ring rings[3];
    const char *name = "a";
    const char *svg;
    size_t length;
    options.threads = 1;
    search.method = NIGH_SEARCH_SLICES;
    search.postings = NIGH_ALL_64;
    nigh_status status = nigh_collection_open(context, world->path, NULL, &collection, error);
    if (status == NIGH_OK) status = nigh_eval_truth_new(collection, world->queries, 2, &options, &truth, error);
    if (status == NIGH_OK) status = nigh_eval_truth_save(truth, path, error);
    if (status == NIGH_OK) status = nigh_eval_truth_load(collection, world->queries, 2, &options, path, &again, error);
    if (status == NIGH_OK)
        status = nigh_eval_nearness_measure(collection, world->queries, 2, again, &options, &search, &nearness, error);
    if (status == NIGH_OK) status = nigh_eval_nearness_plot(&nearness, &name, 1, "", &svg, &length, error);
    if (status == NIGH_OK) status = nigh_eval_rings_measure(collection, world->queries, 2, K, 2, NULL, rings, error);
    nigh_eval_nearness_free(nearness);
    nigh_eval_truth_free(again);
    nigh_eval_truth_free(truth);
    nigh_collection_close(collection);
    return status;
}

static void test_memory_runs_out(void **state) {
    const struct world *world = *state;
    char *path = path_in(world->folder, "kept");
    uint64_t failed = 0;
    nigh_error error;
    for (uint64_t fail_at = 0;; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        memory.fail_at = memory.calls + fail_at;
        const nigh_status status = everything(world, context, path, &error);
        const bool reached = memory.calls > memory.fail_at;
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM); /* sorting does without where there is none */
        failed += status == NIGH_ENOMEM;
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (!reached) break;
    }
    assert_true(failed > 30);
    free(path);
}

static void test_files_fail(void **state) {
    const struct world *world = *state;
    char *path = path_in(world->folder, "kept");
    nigh_error error;
    for (uint64_t fail_at = 0;; fail_at++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_ALL;
        files.fail_at = fail_at;
        files.error = EIO;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        const nigh_status status = everything(world, context, path, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        if (files.failed_kind == 0) {
            assert_ok(status, &error);
            break;
        }
        assert_true(status != NIGH_ENOMEM && status != NIGH_EINVAL);
    }
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_measures),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_plot_of_hostile_names),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_files_fail),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
