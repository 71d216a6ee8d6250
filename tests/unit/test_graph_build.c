/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of a collection: given, kept, made anew, refused, removed, and never in the way of its documents. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/sidecar_support.h"
#include "support/support.h"

static int set_up(void **state) {
    *state = with_sidecar_new("graph", 60);
    return 0;
}

static int tear_down(void **state) {
    with_sidecar_free(*state);
    return 0;
}

static nigh_graph_options options_of(uint32_t degree, uint64_t min_rows) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    options.degree = degree;
    options.min_rows = min_rows;
    options.threads = 1;
    return options;
}

static nigh_graph_result build(struct with_sidecar *f, const nigh_graph_options *options) {
    nigh_graph_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_graph_build(f->context, f->path, options, &result, &error), &error);
    return result;
}

static void built_and_described(void **state) {
    struct with_sidecar *f = *state;
    nigh_segment_info segments[2];
    const nigh_graph_options options = options_of(0, 1);
    const nigh_collection_info before = with_sidecar_describe(f, segments);
    assert_int_equal(before.graph_segments + before.damaged_graphs, 0);
    assert_true(before.graph_recall == 0 && segments[0].graph_recall == 0);
    assert_int_equal(segments[0].graph_degree, 0);

    const nigh_graph_result result = build(f, &options);
    assert_int_equal(result.built, 2);
    assert_int_equal(result.kept + result.without, 0);
    assert_int_equal(result.bytes, file_length(f->first) + file_length(f->second));
    assert_true(result.recall > 0.99); /* one leaf */
    const nigh_collection_info info = with_sidecar_describe(f, segments);
    assert_int_equal(info.graph_segments, 2);
    assert_int_equal(info.graph_bytes, result.bytes);
    assert_int_equal(info.bytes, before.bytes);
    assert_int_equal(info.sequence, before.sequence);
    assert_true(info.graph_recall == result.recall);
    assert_int_equal(segments[0].graph_degree, 48);
    assert_int_equal(segments[0].graph_edges + segments[1].graph_edges, result.edges);
    assert_int_equal(segments[1].graph_bytes, file_length(f->second));
    recipe_expect(f->context, f->path, &f->recipe, 70);

    nigh_check_result check = {.size = sizeof check};
    nigh_error error;
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &check, &error), &error);
    assert_int_equal(check.files, 6); /* two manifests, two segments, two graphs */
}

static void kept_unless_something_changed(void **state) {
    struct with_sidecar *f = *state;
    nigh_graph_options options = options_of(16, 1);
    (void)build(f, &options);
    char *before = tree_digest(f->path);
    assert_int_equal(build(f, &options).kept, 2);
    options.rebuild = 1;
    options.threads = 3;
    assert_int_equal(build(f, &options).built, 2);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after); /* the same bytes */
    options.rebuild = 0;
    options.seed = 1;
    assert_int_equal(build(f, &options).built, 2);
    options.neighbours = 20;
    assert_int_equal(build(f, &options).built, 2);
    options.trees = 3;
    assert_int_equal(build(f, &options).built, 2);
    options.degree = 17;
    assert_int_equal(build(f, &options).built, 2);
    options.degree = 18;
    options.keep = 1;
    assert_int_equal(build(f, &options).kept, 2);

    /* Wrong checksums are reason enough to make one anew. */
    struct bytes whole = file_read_all(f->first);
    options.keep = 0;
    options.degree = 17;
    whole.data[4096 + 128] ^= 1;
    file_write_all(f->first, whole.data, whole.length);
    const nigh_graph_result again = build(f, &options);
    assert_int_equal(again.built, 1);
    assert_int_equal(again.kept, 1);
    free(whole.data);
    free(before);
    free(after);
}

static void small_segments_have_none(void **state) {
    struct with_sidecar *f = *state;
    nigh_graph_options options = options_of(0, 11);
    const nigh_graph_result result = build(f, &options);
    assert_int_equal(result.built, 1);
    assert_int_equal(result.without, 1);
    assert_false(path_exists(f->second));
    options.min_rows = 61;
    assert_int_equal(build(f, &options).without, 2);
    assert_false(path_exists(f->first)); /* it loses what it had */
    recipe_expect(f->context, f->path, &f->recipe, 70);
}

static void what_is_refused(void **state) {
    struct with_sidecar *f = *state;
    const uint32_t wrong[][4] = {{7, 0, 0, 0},   {257, 0, 0, 0}, {0, 7, 0, 0},
                                 {0, 257, 0, 0}, {0, 0, 257, 0}, {0, 0, 0, 65}};
    nigh_error error;
    char *before = tree_digest(f->path);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nigh_graph_options options = options_of(wrong[i][0], 1);
        options.neighbours = wrong[i][1];
        options.trees = wrong[i][2];
        options.passes = wrong[i][3];
        assert_int_equal(nigh_graph_build(f->context, f->path, &options, NULL, &error), NIGH_EINVAL);
        assert_non_null(strstr(error_text(&error), "are allowed"));
    }
    char *nowhere = path_in(f->scratch, "nowhere");
    assert_int_equal(nigh_graph_build(f->context, nowhere, NULL, NULL, &error), NIGH_ENOTFOUND);
    assert_int_equal(nigh_graph_remove(f->context, nowhere, &error), NIGH_ENOTFOUND);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(nowhere);
    free(before);
    free(after);
}

static void damage_is_told(void **state) {
    struct with_sidecar *f = *state;
    const nigh_graph_options options = options_of(0, 1);
    nigh_segment_info segments[2];
    (void)build(f, &options);
    struct bytes whole = file_read_all(f->first);
    file_write_all(f->first, whole.data, whole.length / 2);
    const nigh_collection_info info = with_sidecar_describe(f, segments);
    assert_int_equal(info.damaged_graphs, 1);
    assert_int_equal(info.graph_segments, 1);
    assert_int_equal(segments[0].graph_degree, 0);
    assert_int_equal(build(f, &options).built, 1);
    assert_int_equal(with_sidecar_describe(f, segments).damaged_graphs, 0);
    free(whole.data);
}

static void removed_again(void **state) {
    struct with_sidecar *f = *state;
    const nigh_graph_options options = options_of(0, 1);
    nigh_error error;
    char *before = tree_digest(f->path);
    (void)build(f, &options);
    assert_ok(nigh_graph_remove(f->context, f->path, &error), &error);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    assert_ok(nigh_graph_remove(f->context, f->path, &error), &error); /* where there is none */
    free(before);
    free(after);
}

static int stop_now(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    (void)done;
    (void)total;
    return 1;
}

static void cancelled(void **state) {
    struct with_sidecar *f = *state;
    const nigh_progress progress = {.report = stop_now};
    nigh_graph_options options = options_of(0, 1);
    nigh_error error;
    char *before = tree_digest(f->path);
    options.progress = &progress;
    assert_int_equal(nigh_graph_build(f->context, f->path, &options, NULL, &error), NIGH_ECANCELLED);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* Each call of the system in turn fails; each allocation in turn.  Before or after, but nothing in between. */
static void faults(void **state) {
    struct with_sidecar *f = *state;
    const nigh_graph_options options = options_of(8, 1);
    char *before = tree_digest(f->path);
    bool whole = false;
    for (uint64_t i = 0; !whole; i++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_WRITE | FAULT_SYNC | FAULT_RENAME | FAULT_OPEN;
        files.fail_at = i;
        files.error = ENOSPC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error;
        whole = nigh_graph_build(context, f->path, &options, NULL, &error) == NIGH_OK;
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        recipe_expect(f->context, f->path, &f->recipe, 70);
        assert_ok(nigh_graph_remove(f->context, f->path, &error), &error);
        char *after = tree_digest(f->path);
        assert_string_equal(before, after);
        free(after);
    }
    whole = false;
    for (uint64_t i = 0; !whole; i++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const int64_t live = memory.live;
        nigh_error error;
        memory.fail_at = memory.calls + i;
        const nigh_status status = nigh_graph_build(context, f->path, &options, NULL, &error);
        whole = status == NIGH_OK;
        assert_true(whole || status == NIGH_ENOMEM);
        assert_int_equal(memory.live, live);
        memory.fail_at = UINT64_MAX;
        nigh_context_free(context);
    }
    recipe_expect(f->context, f->path, &f->recipe, 70);
    free(before);
}

/* Foretold sizes are about right, and grow with what is asked for. */
static void foretold(void **state) {
    (void)state;
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    const uint64_t bytes = nigh_graph_bytes(1000000, 1024, NULL);
    assert_in_range(bytes, 150 * UINT64_C(1000000), 180 * UINT64_C(1000000));
    options.degree = 96;
    assert_true(nigh_graph_bytes(1000000, 1024, &options) > bytes);
    assert_true(nigh_graph_build_bytes(1000000, 1024, NULL) > bytes);
    assert_true(nigh_graph_build_bytes(1000000, 2048, NULL) > nigh_graph_build_bytes(1000000, 1024, NULL));
    assert_int_equal(nigh_graph_bytes(0, 1024, NULL), 0);
    assert_int_equal(nigh_graph_build_bytes(5, 0, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(built_and_described, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kept_unless_something_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_segments_have_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removed_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults, set_up, tear_down),
        cmocka_unit_test(foretold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
