/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tuning promises: the setting it chooses reaches its target on queries that it has not
 * seen, within the interval it tells; its sample and its measures of quality are the same every
 * time; what cannot be had is told and not chosen.  Which method is fastest depends on the machine, so the
 * tests allow one at a time where they look at more than the promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define WIDTH 512u
#define DOCUMENTS 12000u
#define UNSEEN 400u

struct fixture {
    nigh_context *context;
    char *scratch, *path;
    nigh_collection *collection;
    uint8_t *unseen; /* queries that are no documents */
};

static uint8_t *generated(uint64_t first, size_t count) {
    nigh_generator_options options;
    nigh_generator_options_init(&options);
    uint8_t *rows = malloc(count * WIDTH / 8);
    nigh_error error;
    if (rows == NULL) abort();
    options.width_bits = WIDTH;
    options.count = DOCUMENTS;
    for (size_t i = 0; i < count; i++)
        assert_ok(nigh_generate(&options, first + i, rows + i * WIDTH / 8, &error), &error);
    return rows;
}

static int set_up(void **state) {
    static struct fixture f;
    nigh_error error;
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    f.context = context_new();
    f.scratch = scratch_new();
    f.path = path_in(f.scratch, "c.nigh");
    uint8_t *rows = generated(0, DOCUMENTS);
    signatures_add(f.context, f.path, WIDTH, rows, DOCUMENTS);
    free(rows);
    lists.slice_width = 12;
    assert_ok(nigh_lists_build(f.context, f.path, &lists, NULL, &error), &error);
    f.unseen = generated(DOCUMENTS, UNSEEN);
    assert_ok(nigh_collection_open(f.context, f.path, NULL, &f.collection, &error), &error);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_collection_close(f->collection);
    free(f->unseen);
    free(f->path);
    scratch_free(f->scratch);
    nigh_context_free(f->context);
    return 0;
}

static nigh_tune_options usual_options(void) {
    nigh_tune_options options;
    nigh_tune_options_init(&options);
    options.sample = 400;
    options.threads = 1;
    return options;
}

/* Recall and CDR of queries nobody has seen, by a setting. */
static nigh_eval_nearness_info unseen_nearness(const struct fixture *f, const nigh_tuning *tuning) {
    nigh_eval_truth_options truth_options;
    nigh_eval_truth_options_init(&truth_options);
    nigh_search_options search;
    nigh_search_options_init(&search);
    nigh_eval_nearness_info info = {.size = sizeof info};
    nigh_eval_truth *truth;
    nigh_eval_nearness *nearness;
    nigh_error error;
    truth_options.k = tuning->k;
    nigh_tuning_apply(tuning, &search);
    assert_ok(nigh_eval_truth_new(f->collection, f->unseen, UNSEEN, &truth_options, &truth, &error), &error);
    assert_ok(
        nigh_eval_nearness_measure(f->collection, f->unseen, UNSEEN, truth, &truth_options, &search, &nearness, &error),
        &error);
    nigh_eval_nearness_describe(nearness, &info);
    nigh_eval_nearness_free(nearness);
    nigh_eval_truth_free(truth);
    return info;
}

/* Queries given, so that those of the tuning and the unseen ones are of one kind. */
static void test_target_is_reached(void **state) {
    const struct fixture *f = *state;
    static const unsigned methods[] = {NIGH_SEARCH_SKETCH, NIGH_SEARCH_SLICES, 31};
    uint8_t *asked = generated(DOCUMENTS + UNSEEN, 400);
    for (size_t i = 0; i < 6; i++) {
        nigh_tune_options options = usual_options();
        nigh_tuning tuning = {.size = sizeof tuning};
        nigh_tune_result result = {.size = sizeof result};
        nigh_error error;
        const bool by_cdr = i >= 3;
        if (by_cdr)
            options.cdr = 0.98;
        else
            options.recall = 0.9;
        options.methods = methods[i % 3] == 31 ? 0 : 1u << methods[i % 3];
        options.queries = asked;
        options.query_count = 400;
        assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
        assert_true(result.met);
        assert_true(result.settings >= 1);
        assert_true(tuning.recall_low <= tuning.recall && tuning.recall <= tuning.recall_high);
        assert_true(tuning.cdr_low <= tuning.cdr && tuning.cdr <= tuning.cdr_high);
        const nigh_eval_nearness_info info = unseen_nearness(f, &tuning);
        print_message("method %d: recall %.4f (%.4f to %.4f), unseen %.4f; CDR %.4f (%.4f to %.4f), unseen %.4f\n",
                      (int)tuning.method, tuning.recall, tuning.recall_low, tuning.recall_high, info.recall, tuning.cdr,
                      tuning.cdr_low, tuning.cdr_high, info.cdr);
        /* The unseen have an interval of their own, about as wide. */
        const double half = by_cdr ? tuning.cdr_high - tuning.cdr_low : tuning.recall_high - tuning.recall_low;
        assert_true((by_cdr ? info.cdr : info.recall) >= (by_cdr ? 0.98 : 0.9) - half);
        assert_true((by_cdr ? tuning.cdr_high : tuning.recall_high) >= (by_cdr ? 0.98 : 0.9));
    }
    free(asked);
}

/* The usual way: documents ask, and are left out of their own answers. */
static void test_documents_ask(void **state) {
    const struct fixture *f = *state;
    nigh_tune_options options = usual_options();
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tuning again = {.size = sizeof again};
    nigh_error error;
    options.recall = 0.95;
    options.methods = 1u << NIGH_SEARCH_SCAN;
    assert_ok(nigh_tune(f->collection, &options, &tuning, NULL, &error), &error);
    assert_int_equal(tuning.method, NIGH_SEARCH_SCAN);
    assert_true(tuning.recall == 1 && tuning.recall_low == 1 && tuning.cdr == 1);
    assert_int_equal(tuning.queries, 200);
    assert_int_equal(tuning.documents, DOCUMENTS);
    options.methods = 1u << NIGH_SEARCH_SKETCH;
    assert_ok(nigh_tune(f->collection, &options, &tuning, NULL, &error), &error);
    assert_true(tuning.recall_high >= 0.95);
    /* The same setting has the same quality, whatever the time. */
    options.seed = 1;
    assert_ok(nigh_tune(f->collection, &options, &again, NULL, &error), &error);
    if (again.sketch_bits == tuning.sketch_bits && again.candidates == tuning.candidates) {
        assert_true(again.recall == tuning.recall && again.recall_low == tuning.recall_low);
        assert_true(again.cdr == tuning.cdr);
    }
}

static void test_cannot_be_had(void **state) {
    const struct fixture *f = *state;
    nigh_tune_options options = usual_options();
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_result result = {.size = sizeof result};
    nigh_error error;
    options.recall = 1; /* nothing but the scan is sure to have it */
    options.methods = 1u << NIGH_SEARCH_SLICES;
    options.seconds = 20e-3;
    options.sample = 100;
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_false(result.met);
    assert_true(tuning.recall > 0.5); /* the best that can be had */
    options.seconds = 1e-9;           /* the fastest is told */
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_false(result.met);
    assert_true(tuning.median > 1e-9 && tuning.recall > 0);
    options.recall = 0;
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_false(result.met);
    options.methods = 1u << NIGH_SEARCH_GRAPH; /* there is none */
    assert_int_equal(nigh_tune(f->collection, &options, &tuning, &result, &error), NIGH_ENOTFOUND);
}

/* Half of the bits weigh something. */
static uint8_t *drawn_weights(size_t count) {
    uint8_t *weights = malloc(count * WIDTH);
    if (weights == NULL) abort();
    uint64_t draw = 88172645463325252u;
    for (size_t i = 0; i < count * WIDTH; i++) {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        weights[i] = (uint8_t)(draw % 2 == 0 ? 1 + (draw >> 8) % 255 : 0);
    }
    return weights;
}

/* How many of the ten nearest are found, by distance, of queries that a tuning has not seen. */
static double unseen_ranked_recall(const struct fixture *f, const nigh_tuning *tuning, const uint8_t *weights) {
    nigh_search_options search;
    nigh_search_options_init(&search);
    search.weights = weights;
    search.rank = NIGH_RANK_WEIGHTED;
    nigh_results *results[2];
    nigh_error error;
    size_t found = 0;
    search.method = NIGH_SEARCH_SCAN;
    assert_ok(nigh_search(f->collection, f->unseen, UNSEEN, &search, &results[0], &error), &error);
    nigh_tuning_apply(tuning, &search);
    assert_ok(nigh_search(f->collection, f->unseen, UNSEEN, &search, &results[1], &error), &error);
    for (size_t q = 0; q < UNSEEN; q++) {
        size_t many;
        size_t some;
        const nigh_match *truth = nigh_results_matches(results[0], q, &many);
        const nigh_match *match = nigh_results_matches(results[1], q, &some);
        for (size_t i = 0; i < some; i++) found += match[i].distance <= truth[many - 1].distance;
    }
    nigh_results_free(results[0]);
    nigh_results_free(results[1]);
    return (double)found / (10.0 * UNSEEN);
}

/* Queries that count bits by weights, to tune by and others to see what that is worth. */
struct ranked {
    uint8_t *asked, *weights, *unseen;
    nigh_tune_options options;
};

static struct ranked ranked_make(double recall, nigh_search_method method) {
    struct ranked ranked = {.asked = generated(DOCUMENTS + UNSEEN, 400),
                            .weights = drawn_weights(400),
                            .unseen = drawn_weights(UNSEEN),
                            .options = usual_options()};
    ranked.options.queries = ranked.asked;
    ranked.options.query_count = 400;
    ranked.options.weights = ranked.weights;
    ranked.options.rank = NIGH_RANK_WEIGHTED;
    ranked.options.recall = recall;
    ranked.options.methods = 1u << method;
    return ranked;
}

static void ranked_release(struct ranked *ranked) {
    free(ranked->asked);
    free(ranked->weights);
    free(ranked->unseen);
}

/* Texts by a graph: what it promises, and that a search goes by it. */
static void test_ranked_by_a_graph(void **state) {
    struct fixture *f = *state;
    struct ranked ranked = ranked_make(0.8, NIGH_SEARCH_GRAPH);
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_result result = {.size = sizeof result};
    nigh_error error;
    assert_int_equal(nigh_tune(f->collection, &ranked.options, &tuning, &result, &error), NIGH_ENOTFOUND);
    nigh_collection_close(f->collection);
    assert_ok(nigh_graph_build(f->context, f->path, NULL, NULL, &error), &error);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &f->collection, &error), &error);
    assert_ok(nigh_tune(f->collection, &ranked.options, &tuning, &result, &error), &error);
    assert_true(result.met && tuning.method == NIGH_SEARCH_GRAPH && tuning.asked == NIGH_TUNED_RANKED);
    assert_int_equal(tuning.patience, 0);
    const double recall = unseen_ranked_recall(f, &tuning, ranked.unseen);
    print_message("effort %u: recall %.4f, unseen %.4f\n", tuning.effort, tuning.recall, recall);
    assert_true(recall >= 0.8 - (tuning.recall_high - tuning.recall_low));
    assert_ok(nigh_tuning_store(f->context, f->path, &tuning, &error), &error);
    nigh_collection_close(f->collection);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &f->collection, &error), &error);
    nigh_search_options search;
    nigh_search_options_init(&search);
    nigh_results *results;
    nigh_results_info info = {.size = sizeof info};
    search.weights = ranked.weights;
    search.rank = NIGH_RANK_WEIGHTED;
    assert_ok(nigh_search(f->collection, ranked.asked, 20, &search, &results, &error), &error);
    nigh_results_describe(results, &info);
    assert_true(info.steps > 0);
    nigh_results_free(results);
    assert_ok(nigh_tuning_remove(f->context, f->path, &error), &error);
    assert_ok(nigh_graph_remove(f->context, f->path, &error), &error);
    ranked_release(&ranked);
}

/* What it promises of texts: columns where there are some, without a slack all is found, with one enough. */
static void test_ranked_queries(void **state) {
    struct fixture *f = *state;
    struct ranked ranked = ranked_make(0.9, NIGH_SEARCH_COLUMNS);
    nigh_columns_options columns;
    nigh_columns_options_init(&columns);
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_result result = {.size = sizeof result};
    nigh_error error;
    assert_int_equal(nigh_tune(f->collection, &ranked.options, &tuning, &result, &error), NIGH_ENOTFOUND);
    nigh_collection_close(f->collection);
    assert_ok(nigh_columns_build(f->context, f->path, &columns, NULL, &error), &error);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &f->collection, &error), &error);
    for (uint32_t methods = 0; methods <= 1u << NIGH_SEARCH_COLUMNS; methods += 1u << NIGH_SEARCH_COLUMNS) {
        ranked.options.methods = methods;
        assert_ok(nigh_tune(f->collection, &ranked.options, &tuning, &result, &error), &error);
        assert_true(result.met);
        assert_int_equal(tuning.asked, NIGH_TUNED_RANKED);
        assert_true(tuning.method == NIGH_SEARCH_COLUMNS || (methods == 0 && tuning.method == NIGH_SEARCH_SCAN));
        const double recall = unseen_ranked_recall(f, &tuning, ranked.unseen);
        print_message("slack %.2f: recall %.4f (%.4f to %.4f), unseen %.4f; %.0f us\n", tuning.slack, tuning.recall,
                      tuning.recall_low, tuning.recall_high, recall, tuning.median * 1e6);
        assert_true(recall >= 0.9 - (tuning.recall_high - tuning.recall_low));
        assert_true(tuning.recall_high >= 0.9 && tuning.cdr > 0.9);
    }
    ranked.options.recall = 1; /* only what is exact has that */
    assert_ok(nigh_tune(f->collection, &ranked.options, &tuning, &result, &error), &error);
    assert_true(result.met && tuning.slack < 0);
    assert_true(tuning.recall_low >= 1);
    ranked_release(&ranked);
}

static void test_latency_alone(void **state) {
    const struct fixture *f = *state;
    nigh_tune_options options = usual_options();
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_result result = {.size = sizeof result};
    nigh_error error;
    options.seconds = 1; /* enough for everything */
    options.sample = 100;
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_true(result.met);
    assert_true(tuning.recall > 0.95); /* one that missed nothing for the other half */
}

static void test_interval_asked_for(void **state) {
    const struct fixture *f = *state;
    nigh_tune_options options = usual_options();
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_result result = {.size = sizeof result};
    nigh_error error;
    options.recall = 0.8;
    options.sample = 100;
    options.within = 0.0001;
    options.methods = 1u << NIGH_SEARCH_SKETCH;
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_true(result.needed > 1000);
    options.within = 1e-300; /* more than can be counted */
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_true(result.needed > 1000000000);
    options.within = 0.5;
    assert_ok(nigh_tune(f->collection, &options, &tuning, &result, &error), &error);
    assert_int_equal(result.needed, 0);
}

/* A limit on memory leaves out what needs more. */
static void test_memory(void **state) {
    const struct fixture *f = *state;
    nigh_tune_options options = usual_options();
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_error error;
    options.sample = 60;
    options.recall = 0.2;
    options.memory_bytes = (uint64_t)DOCUMENTS * (WIDTH / 8); /* the signatures, some of them copies, and no lists */
    assert_ok(nigh_tune(f->collection, &options, &tuning, NULL, &error), &error);
    assert_true(tuning.method == NIGH_SEARCH_SCAN || tuning.method == NIGH_SEARCH_SKETCH);
    assert_true(tuning.memory_bytes <= options.memory_bytes);
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    return --*(int *)user < 0;
}

static void test_cancelled(void **state) {
    const struct fixture *f = *state;
    int calls = 0;
    const nigh_progress progress = {.report = stop, .user = &calls};
    nigh_tune_options options = usual_options();
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_error error;
    options.progress = &progress;
    assert_int_equal(nigh_tune(f->collection, &options, &tuning, NULL, &error), NIGH_ECANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_is_reached),  cmocka_unit_test(test_documents_ask),
        cmocka_unit_test(test_cannot_be_had),      cmocka_unit_test(test_latency_alone),
        cmocka_unit_test(test_interval_asked_for), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_cancelled),          cmocka_unit_test(test_ranked_by_a_graph),
        cmocka_unit_test(test_ranked_queries),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
