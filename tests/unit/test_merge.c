/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: the file that comes of it is the one that adding all documents at once would have made, whatever they
 * carry; and what fails on the way leaves the collection as it was.
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

#include "support/support.h"

static nigh_collection_info describe(nigh_context *context, const char *path) {
    nigh_collection *collection;
    nigh_error error;
    nigh_collection_info info = {.size = sizeof info};
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    nigh_collection_close(collection);
    return info;
}

static nigh_merge_result merge(nigh_context *context, const char *path) {
    nigh_merge_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_merge(context, path, NULL, &result, &error), &error);
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
    return result;
}

static void add(nigh_context *context, const char *path, const struct recipe *recipe, uint64_t first, uint64_t count) {
    nigh_error error;
    assert_ok(recipe_add(context, path, recipe, first, count, &error), &error);
}

static void expect_same_file(const char *a, const char *b, const char *prefix) {
    char *path_a = file_named_like(a, prefix);
    char *path_b = file_named_like(b, prefix);
    struct bytes bytes_a = file_read_all(path_a);
    struct bytes bytes_b = file_read_all(path_b);
    assert_int_equal(bytes_a.length, bytes_b.length);
    assert_memory_equal(bytes_a.data, bytes_b.data, bytes_a.length);
    free(bytes_a.data);
    free(bytes_b.data);
    free(path_a);
    free(path_b);
}

static void merged_is_as_made_at_once(void **state) {
    struct collection_place *place = *state;
    for (unsigned variant = 0; variant < 32; variant++) {
        const struct recipe recipe = {.width_bits = 72,
                                      .documents = 700,
                                      .seed = variant,
                                      .distinct = 300,
                                      .ids = variant & 1,
                                      .metadata = (variant & 2) != 0,
                                      .weights = (variant & 4) != 0,
                                      .texts = (variant & 8) != 0,
                                      .keys = variant & 8 ? 9 : 0,
                                      .values = variant % 5 != 0,
                                      .vocabulary = variant & 16 ? "words" : NULL,
                                      .model = variant & 16 ? "a model" : NULL};
        char *once = path_in(place->scratch, "once.nigh");
        for (uint64_t first = 0; first < 700; first += 100) add(place->context, place->path, &recipe, first, 100);
        add(place->context, once, &recipe, 0, 700);
        assert_int_equal(describe(place->context, place->path).segments, 7);
        const nigh_merge_result result = merge(place->context, place->path);
        assert_int_equal(result.before, 7);
        assert_int_equal(result.after, 1);
        assert_int_equal(result.written, 700);
        recipe_expect(place->context, place->path, &recipe, 700);
        expect_same_file(place->path, once, "segment-");
        const nigh_collection_info info = describe(place->context, place->path);
        assert_int_equal(info.sequence, result.sequence);
        assert_int_equal(info.bytes, result.total_bytes);
        /* There is nothing more to merge, and it can be added to. */
        assert_int_equal(merge(place->context, place->path).before, 1);
        add(place->context, place->path, &recipe, 700, 1);
        recipe_expect(place->context, place->path, &recipe, 701);
        remove_tree(place->path);
        remove_tree(once);
        free(once);
    }
}

static void commits_merge_by_themselves(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .documents = 300, .ids = true, .metadata = true};
    for (uint64_t i = 0; i < 300; i++) {
        add(place->context, place->path, &recipe, i, 1);
        assert_true(describe(place->context, place->path).segments <= 9 * 3);
    }
    assert_int_equal(describe(place->context, place->path).segments, 3);
    recipe_expect(place->context, place->path, &recipe, 300);
    merge(place->context, place->path);
    recipe_expect(place->context, place->path, &recipe, 300);
}

static void a_writer_may_leave_it_be(void **state) {
    struct collection_place *place = *state;
    const uint64_t row = 1;
    for (uint64_t i = 0; i < 30; i++) {
        nigh_writer_options options;
        nigh_writer *writer;
        nigh_error error;
        nigh_writer_options_init(&options);
        options.width_bits = 64;
        options.merge = 0;
        assert_ok(nigh_writer_open(place->context, place->path, &options, &writer, &error), &error);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&row};
        assert_ok(nigh_writer_add(writer, &document, &error), &error);
        assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
        nigh_writer_close(writer);
    }
    assert_int_equal(describe(place->context, place->path).segments, 30);
    const nigh_merge_options tiered = {.size = sizeof tiered, .tiered = 1};
    nigh_merge_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_merge(place->context, place->path, &tiered, &result, &error), &error);
    assert_int_equal(result.after, 1); /* thirty of one document each, all of the lowest tier */
}

/* The sidecars of the largest part come along, as if made for the whole. */
static void sidecars_are_made_anew(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 256, .documents = 3000, .ids = true};
    char *once = path_in(place->scratch, "once.nigh");
    nigh_error error;
    add(place->context, place->path, &recipe, 0, 2000);
    add(place->context, once, &recipe, 0, 3000);
    const char *const paths[] = {place->path, once};
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    lists.slice_width = 11;
    lists.min_rows = 0;
    nigh_graph_options graph;
    nigh_graph_options_init(&graph);
    graph.min_rows = 0;
    nigh_columns_options columns;
    nigh_columns_options_init(&columns);
    columns.min_rows = 0;
    for (int i = 0; i < 2; i++) {
        assert_ok(nigh_lists_build(place->context, paths[i], &lists, NULL, &error), &error);
        assert_ok(nigh_graph_build(place->context, paths[i], &graph, NULL, &error), &error);
        assert_ok(nigh_columns_build(place->context, paths[i], &columns, NULL, &error), &error);
    }
    add(place->context, place->path, &recipe, 2000, 1000);
    assert_int_equal(merge(place->context, place->path).after, 1);
    const nigh_collection_info info = describe(place->context, place->path);
    assert_int_equal(info.sliced_segments, 1);
    assert_int_equal(info.graph_segments, 1);
    assert_int_equal(info.column_segments, 1);
    expect_same_file(place->path, once, "slices-");
    expect_same_file(place->path, once, "columns-");
    expect_same_file(place->path, once, "graph-");
    free(once);
}

static void drop(nigh_context *context, const char *path, const struct recipe *recipe, uint64_t first, uint64_t step,
                 uint64_t end) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    char id[RECIPE_MAX_TEXT];
    nigh_writer_options_init(&options);
    options.merge = 0;
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    for (uint64_t i = first; i < end; i += step)
        assert_ok(nigh_writer_delete(writer, id, recipe_id(recipe, i, id), &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

/* Merged, a collection with deleted documents is the file that those that live would have made. */
static void deleted_ones_are_gone(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 72,
                                  .distinct = 60,
                                  .ids = true,
                                  .metadata = true,
                                  .weights = true,
                                  .texts = true,
                                  .keys = 3,
                                  .vocabulary = "words",
                                  .apart = true};
    char *once = path_in(place->scratch, "once.nigh");
    for (uint64_t first = 0; first < 400; first += 100) add(place->context, place->path, &recipe, first, 100);
    drop(place->context, place->path, &recipe, 0, 1, 150); /* all of the first segment, which has the vocabulary */
    drop(place->context, place->path, &recipe, 350, 1, 400);
    add(place->context, once, &recipe, 150, 200);
    const nigh_merge_result result = merge(place->context, place->path);
    assert_int_equal(result.dropped, 200);
    assert_int_equal(result.written, 200);
    assert_int_equal(result.documents, 200);
    assert_int_equal(result.deleted, 0);
    expect_same_file(place->path, once, "segment-");
    const nigh_collection_info info = describe(place->context, place->path);
    assert_int_equal(info.deleted, 0);
    assert_int_equal(info.bytes, result.total_bytes);
    free(once);
}

/* A segment of which most is deleted is written anew by the commit that deletes. */
static void hollow_segments_are_filled(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .ids = true, .apart = true};
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    char id[RECIPE_MAX_TEXT];
    add(place->context, place->path, &recipe, 0, 100);
    add(place->context, place->path, &recipe, 100, 5);
    add(place->context, place->path, &recipe, 105, 5);
    nigh_writer_options_init(&options);
    assert_ok(nigh_writer_open(place->context, place->path, &options, &writer, &error), &error);
    for (uint64_t i = 0; i < 105; i++)
        if (i % 3 != 0 || i >= 100)
            assert_ok(nigh_writer_delete(writer, id, recipe_id(&recipe, i, id), &error), &error);
    nigh_commit commit = {.size = sizeof commit};
    assert_ok(nigh_writer_commit(writer, &commit, &error), &error);
    nigh_writer_close(writer);
    assert_int_equal(commit.merge_status, NIGH_OK);
    assert_int_equal(commit.deleted, 71);
    assert_int_equal(commit.deleted_now, 5);
    assert_int_equal(commit.documents, 44);
    /* The second is all deleted: there is nothing to write, and it goes. */
    const nigh_merge_options tiered = {.size = sizeof tiered, .tiered = 1};
    nigh_merge_result result = {.size = sizeof result};
    assert_ok(nigh_merge(place->context, place->path, &tiered, &result, &error), &error);
    assert_int_equal(result.after, 2);
    assert_int_equal(result.documents, 39);
    assert_ok(nigh_collection_check(place->context, place->path, NULL, NULL, &error), &error);
    assert_int_equal(describe(place->context, place->path).documents, 39);
}

/* Numbers of documents without ids are what they are known by, and do not change. */
static void numbers_stay(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .apart = true};
    nigh_collection *collection;
    nigh_error error;
    uint8_t wanted[8];
    uint8_t found[8];
    for (uint64_t i = 0; i < 4; i++) add(place->context, place->path, &recipe, i * 10, 10);
    nigh_writer *writer;
    assert_ok(nigh_writer_open(place->context, place->path, NULL, &writer, &error), &error);
    for (uint64_t i = 10; i < 18; i++) {
        char id[RECIPE_MAX_TEXT];
        const int length = snprintf(id, sizeof id, "%u", (unsigned)i);
        assert_ok(nigh_writer_delete(writer, id, (size_t)length, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    assert_int_equal(merge(place->context, place->path).after, 3);
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &error), &error);
    for (uint64_t i = 0; i < 40; i++) {
        assert_int_equal(nigh_collection_lives(collection, i) != 0, i < 10 || i >= 18);
        if (!nigh_collection_lives(collection, i)) continue;
        recipe_signature(&recipe, i, wanted);
        assert_ok(nigh_collection_signature(collection, i, found, &error), &error);
        assert_memory_equal(wanted, found, sizeof wanted);
    }
    nigh_collection_close(collection);
}

static void readers_keep_what_they_have(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .documents = 50, .ids = true};
    nigh_collection *before;
    nigh_error error;
    for (uint64_t i = 0; i < 5; i++) add(place->context, place->path, &recipe, i * 10, 10);
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &before, &error), &error);
    merge(place->context, place->path);
    char id[RECIPE_MAX_TEXT];
    for (uint64_t i = 0; i < 50; i++) {
        uint64_t number;
        const size_t length = recipe_id(&recipe, i, id);
        assert_ok(nigh_collection_find(before, id, length, &number, &error), &error);
        assert_int_equal(number, i);
    }
    nigh_collection_close(before);
}

static void segments_that_keep_other_things_stay(void **state) {
    struct collection_place *place = *state;
    const struct recipe plain = {.width_bits = 64, .documents = 60, .ids = true};
    struct recipe weighted = plain;
    weighted.weights = true;
    add(place->context, place->path, &plain, 0, 10);
    add(place->context, place->path, &plain, 10, 10);
    add(place->context, place->path, &weighted, 20, 10);
    add(place->context, place->path, &weighted, 30, 10);
    add(place->context, place->path, &plain, 40, 20);
    const nigh_merge_result result = merge(place->context, place->path);
    assert_int_equal(result.before, 5);
    assert_int_equal(result.after, 3);
    nigh_collection *collection;
    nigh_error error;
    uint8_t weights[64], wanted[64];
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &error), &error);
    for (uint64_t i = 0; i < 60; i++) {
        const bool kept = i >= 20 && i < 40;
        char id[RECIPE_MAX_TEXT];
        uint64_t number;
        assert_ok(nigh_collection_find(collection, id, recipe_id(&plain, i, id), &number, &error), &error);
        assert_int_equal(number, i);
        assert_int_equal(nigh_collection_weights(collection, i, weights, &error), kept ? NIGH_OK : NIGH_ENOTFOUND);
        recipe_weights(&weighted, i, wanted);
        if (kept) assert_memory_equal(weights, wanted, sizeof wanted);
    }
    nigh_collection_close(collection);
}

/* A damaged byte must not get a good checksum by being copied. */
static void damage_is_not_merged(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .documents = 20, .ids = true, .metadata = true};
    nigh_error error;
    add(place->context, place->path, &recipe, 0, 10);
    add(place->context, place->path, &recipe, 10, 10);
    char *segment = path_in(place->path, "segment-00000000000000000001");
    struct bytes bytes = file_read_all(segment);
    bytes.data[4096 + 3] ^= 4; /* in a signature */
    file_write_all(segment, bytes.data, bytes.length);
    char *digest = tree_digest(place->path);
    assert_int_equal(nigh_merge(place->context, place->path, NULL, NULL, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), "segment-00000000000000000001"));
    char *after = tree_digest(place->path);
    assert_string_equal(digest, after);
    free(digest);
    free(after);
    free(bytes.data);
    free(segment);
}

/* Whichever call fails, the state is the old one or the new, it is sound, and the next writer leaves nothing over. */
static void every_fault_leaves_old_or_new(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .documents = 41, .ids = true, .metadata = true, .vocabulary = "v"};
    char *origin = path_in(place->scratch, "origin.nigh");
    for (uint64_t i = 0; i < 4; i++) add(place->context, origin, &recipe, i * 10, 10);
    char *before = tree_digest(origin);
    uint64_t merged = 0;
    for (uint64_t at = 0;; at++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_ALL & ~(unsigned)FAULT_REMOVE;
        files.fail_at = at;
        files.error = ENOSPC;
        copy_tree(origin, place->path);
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error;
        const nigh_status status = nigh_merge(context, place->path, NULL, NULL, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        recipe_expect(place->context, place->path, &recipe, 40);
        const bool is_new = describe(place->context, place->path).segments == 1;
        merged += is_new;
        if (status == NIGH_OK) assert_true(is_new);
        if (!is_new) {
            char *after = tree_digest(place->path);
            assert_string_equal(before, after);
            free(after);
        }
        add(place->context, place->path, &recipe, 40, 1);
        recipe_expect(place->context, place->path, &recipe, 41);
        nigh_check_result check = {.size = sizeof check};
        assert_ok(nigh_collection_check(place->context, place->path, NULL, &check, &error), &error);
        assert_int_equal(check.leftovers, 0);
        assert_int_equal(check.unlisted, 0);
        remove_tree(place->path);
        if (files.failed_kind == 0) break;
    }
    assert_true(merged > 0);
    free(before);
    free(origin);
}

static void no_memory_leaves_the_old(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .documents = 40, .ids = true, .texts = true, .keys = 3};
    for (uint64_t i = 0; i < 4; i++) add(place->context, place->path, &recipe, i * 10, 10);
    for (uint64_t at = 0;; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_error error;
        char *before = tree_digest(place->path);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        memory.fail_at = memory.calls + at;
        const nigh_status status = nigh_merge(context, place->path, NULL, NULL, &error);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        char *after = tree_digest(place->path);
        if (status != NIGH_OK) assert_string_equal(before, after);
        free(before);
        free(after);
        if (status == NIGH_OK) break;
        assert_int_equal(status, NIGH_ENOMEM);
    }
    recipe_expect(place->context, place->path, &recipe, 40);
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    (void)done;
    (void)total;
    return 1;
}

static void it_can_be_cancelled(void **state) {
    struct collection_place *place = *state;
    const struct recipe recipe = {.width_bits = 64, .documents = 20, .ids = true};
    const nigh_progress progress = {.report = stop};
    nigh_merge_options options;
    nigh_error error;
    nigh_merge_options_init(&options);
    options.progress = &progress;
    add(place->context, place->path, &recipe, 0, 10);
    add(place->context, place->path, &recipe, 10, 10);
    char *before = tree_digest(place->path);
    assert_int_equal(nigh_merge(place->context, place->path, &options, NULL, &error), NIGH_ECANCELLED);
    char *after = tree_digest(place->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(merged_is_as_made_at_once, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(commits_merge_by_themselves, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(a_writer_may_leave_it_be, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(sidecars_are_made_anew, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(deleted_ones_are_gone, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(hollow_segments_are_filled, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(numbers_stay, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(readers_keep_what_they_have, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(segments_that_keep_other_things_stay, collection_place_setup,
                                        collection_place_teardown),
        cmocka_unit_test_setup_teardown(damage_is_not_merged, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(every_fault_leaves_old_or_new, collection_place_setup,
                                        collection_place_teardown),
        cmocka_unit_test_setup_teardown(no_memory_leaves_the_old, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(it_can_be_cancelled, collection_place_setup, collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
