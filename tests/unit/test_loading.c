/* SPDX-License-Identifier: Apache-2.0 */
/* Collections read into memory: the same answers, also when the files are gone, and every way in which it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sidecar_support.h"
#include "support/support.h"

#define DOCUMENTS 70u /* of both segments */
#define ASKED 20u

static int set_up(void **state) {
    struct with_sidecar *with_sidecar = with_sidecar_new("graph", DOCUMENTS - 10);
    nigh_graph_options graph;
    nigh_graph_options_init(&graph);
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    nigh_error error;
    graph.min_rows = lists.min_rows = 1;
    assert_ok(nigh_graph_build(with_sidecar->context, with_sidecar->path, &graph, NULL, &error), &error);
    assert_ok(nigh_lists_build(with_sidecar->context, with_sidecar->path, &lists, NULL, &error), &error);
    *state = with_sidecar;
    return 0;
}

static int tear_down(void **state) {
    with_sidecar_free(*state);
    return 0;
}

static nigh_collection *open_loaded(nigh_context *context, const char *path, int verify) {
    nigh_open_options options;
    nigh_open_options_init(&options);
    nigh_collection *collection;
    nigh_error error;
    options.load = 1;
    options.verify = verify;
    assert_ok(nigh_collection_open(context, path, &options, &collection, &error), &error);
    return collection;
}

/* The nearest of some documents; to be freed. */
static nigh_results *ask(const struct with_sidecar *f, const nigh_collection *collection, nigh_search_method method) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    nigh_results *results;
    nigh_error error;
    uint8_t queries[ASKED * 9];
    options.method = method;
    options.threads = 1;
    options.k = 5;
    for (uint32_t i = 0; i < ASKED; i++) recipe_signature(&f->recipe, (uint64_t)i * 3, queries + (size_t)i * 9);
    assert_ok(nigh_search(collection, queries, ASKED, &options, &results, &error), &error);
    return results;
}

static void expect_same_answers(const struct with_sidecar *f, const nigh_collection *a, const nigh_collection *b) {
    static const nigh_search_method methods[] = {NIGH_SEARCH_SCAN, NIGH_SEARCH_SLICES, NIGH_SEARCH_SKETCH,
                                                 NIGH_SEARCH_GRAPH};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        nigh_results *of_a = ask(f, a, methods[m]);
        nigh_results *of_b = ask(f, b, methods[m]);
        for (uint32_t i = 0; i < ASKED; i++) {
            size_t count_a;
            size_t count_b;
            const nigh_match *matches_a = nigh_results_matches(of_a, i, &count_a);
            const nigh_match *matches_b = nigh_results_matches(of_b, i, &count_b);
            assert_true(count_a == 5 && count_b == 5);
            assert_memory_equal(matches_a, matches_b, 5 * sizeof *matches_a);
        }
        nigh_results_free(of_a);
        nigh_results_free(of_b);
    }
}

static void expect_same_ids(const nigh_collection *a, const nigh_collection *b) {
    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        char of_a[RECIPE_MAX_TEXT];
        char of_b[RECIPE_MAX_TEXT];
        size_t length_a;
        size_t length_b;
        nigh_error error;
        assert_ok(nigh_collection_id(a, i, of_a, sizeof of_a, &length_a, &error), &error);
        assert_ok(nigh_collection_id(b, i, of_b, sizeof of_b, &length_b, &error), &error);
        assert_int_equal(length_a, length_b);
        assert_memory_equal(of_a, of_b, length_a);
    }
}

static void nothing_else_changes(void **state) {
    struct with_sidecar *f = *state;
    nigh_collection *mapped;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &mapped, &error), &error);
    nigh_collection *loaded = open_loaded(f->context, f->path, 1);
    expect_same_answers(f, mapped, loaded);
    expect_same_ids(mapped, loaded);
    nigh_collection_close(loaded);
    nigh_collection_close(mapped);
}

/* What was loaded is out of reach of those who cut files short. */
static void files_are_not_needed_any_more(void **state) {
    struct with_sidecar *f = *state;
    nigh_context *other = context_new();
    char *copy = path_in(f->scratch, "copy.nigh");
    nigh_collection *mapped;
    nigh_error error;
    copy_tree(f->path, copy);
    nigh_collection *loaded = open_loaded(other, copy, 0);
    char *segment = path_in(copy, "segment-00000000000000000001");
    char *graph = path_in(copy, "graph-00000000000000000001");
    file_write_all(segment, "", 0);
    file_write_all(graph, "", 0);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &mapped, &error), &error);
    expect_same_answers(f, mapped, loaded);
    expect_same_ids(mapped, loaded);
    nigh_collection_close(mapped);
    nigh_collection_close(loaded);
    nigh_context_free(other);
    free(segment);
    free(graph);
    free(copy);
}

static void memory_runs_out(void **state) {
    struct with_sidecar *f = *state;
    nigh_status status = NIGH_ENOMEM;
    uint64_t at = 0;
    for (; status != NIGH_OK; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        struct faulty_files files;
        faulty_files_init(&files);
        nigh_context *context = context_with(&files.table, &allocator, NULL);
        nigh_open_options options;
        nigh_open_options_init(&options);
        nigh_collection *collection;
        nigh_error error;
        const int64_t live = memory.live;
        options.load = 1;
        memory.fail_at = memory.calls + at;
        status = nigh_collection_open(context, f->path, &options, &collection, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        nigh_collection_close(collection);
        assert_int_equal(memory.live, live);
        assert_int_equal(files.live_maps, 0);
        nigh_context_free(context);
    }
    assert_true(at > 6); /* six files, at least */
}

static int stop_loading(void *user, const char *stage, uint64_t done, uint64_t total) {
    if (strcmp(stage, "loading") != 0) return 0;
    assert_true(done > 0 && done <= total);
    ++*(int *)user;
    return 1;
}

static void it_can_be_stopped(void **state) {
    struct with_sidecar *f = *state;
    nigh_open_options options;
    nigh_open_options_init(&options);
    nigh_collection *collection;
    nigh_error error;
    int calls = 0;
    const nigh_progress progress = {.report = stop_loading, .user = &calls};
    options.load = 1;
    options.progress = &progress;
    assert_int_equal(nigh_collection_open(f->context, f->path, &options, &collection, &error), NIGH_ECANCELLED);
    assert_null(collection);
    assert_int_equal(calls, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_else_changes),
        cmocka_unit_test(files_are_not_needed_any_more),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
