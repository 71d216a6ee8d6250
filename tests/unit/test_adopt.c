/* SPDX-License-Identifier: Apache-2.0 */
/* Adopting segments: whatever call fails, the collection is as it was or has all of them, and nothing is left over. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

static const struct recipe recipe = {
    .width_bits = 64, .ids = true, .metadata = true, .weights = true, .vocabulary = "words", .model = "learned"};

struct place {
    nigh_context *context;
    char *scratch, *first, *second, *work;
};

static int set_up(void **state) {
    struct place *place = malloc(sizeof *place);
    nigh_error error;
    place->context = context_new();
    place->scratch = scratch_new();
    place->first = path_in(place->scratch, "first.nigh");
    place->second = path_in(place->scratch, "second.nigh");
    place->work = path_in(place->scratch, "work.nigh");
    assert_ok(recipe_add(place->context, place->first, &recipe, 0, 10, &error), &error);
    assert_ok(recipe_add(place->context, place->second, &recipe, 10, 10, &error), &error);
    assert_ok(recipe_add(place->context, place->second, &recipe, 20, 10, &error), &error);
    nigh_columns_options columns;
    nigh_columns_options_init(&columns);
    columns.min_rows = 0;
    assert_ok(nigh_columns_build(place->context, place->second, &columns, NULL, &error), &error);
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    struct place *place = *state;
    nigh_context_free(place->context);
    free(place->first);
    free(place->second);
    free(place->work);
    scratch_free(place->scratch);
    free(place);
    return 0;
}

static nigh_status adopt(nigh_context *context, const struct place *place, nigh_error *error) {
    const char *const others[] = {place->second};
    return nigh_adopt(context, place->work, others, 1, NULL, NULL, error);
}

static void they_are_all_there(void **state) {
    struct place *place = *state;
    nigh_error error;
    const char *const others[] = {place->first, place->second};
    nigh_adopt_result result = {.size = sizeof result};
    assert_ok(nigh_adopt(place->context, place->work, others, 2, NULL, &result, &error), &error);
    assert_int_equal(result.segments, 3);
    assert_int_equal(result.adopted, 30);
    assert_int_equal(result.documents, 30);
    assert_ok(nigh_collection_check(place->context, place->work, NULL, NULL, &error), &error);
    recipe_expect(place->context, place->work, &recipe, 30);
    assert_ok(recipe_add(place->context, place->work, &recipe, 30, 1, &error), &error);
    recipe_expect(place->context, place->work, &recipe, 31);
}

static void every_fault_leaves_old_or_new(void **state) {
    struct place *place = *state;
    char *before = tree_digest(place->first);
    char *others = tree_digest(place->second);
    for (uint64_t at = 0;; at++) {
        struct faulty_files files;
        nigh_error error;
        faulty_files_init(&files);
        files.kinds = FAULT_ALL & ~(unsigned)FAULT_REMOVE;
        files.fail_at = at;
        files.error = EIO;
        copy_tree(place->first, place->work);
        nigh_context *context = context_with(&files.table, NULL, NULL);
        const nigh_status status = adopt(context, place, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        char *after = tree_digest(place->work);
        const bool unchanged = strcmp(before, after) == 0;
        free(after);
        assert_true(status != NIGH_OK || !unchanged);
        recipe_expect(place->context, place->work, &recipe, unchanged ? 10 : 30);
        assert_ok(nigh_collection_check(place->context, place->work, NULL, NULL, &error), &error);
        remove_tree(place->work);
        if (files.failed_kind == 0) break;
    }
    char *same = tree_digest(place->second);
    assert_string_equal(others, same);
    free(same);
    free(others);
    free(before);
}

static void no_memory_makes_nothing(void **state) {
    struct place *place = *state;
    for (uint64_t at = 0;; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_error error;
        memory.fail_at = memory.calls + at;
        const nigh_status status = adopt(context, place, &error);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status == NIGH_OK) break;
        assert_int_equal(status, NIGH_ENOMEM);
        assert_false(path_exists(place->work));
    }
}

static void others_are_refused(void **state) {
    struct place *place = *state;
    struct recipe other = recipe;
    nigh_error error;
    const char *const others[] = {place->second, place->second};
    assert_int_equal(nigh_adopt(place->context, place->first, NULL, 0, NULL, NULL, &error), NIGH_EINVAL);
    assert_int_equal(nigh_adopt(place->context, place->first, others, 2, NULL, NULL, &error), NIGH_EEXISTS);
    other.vocabulary = "other words";
    assert_ok(recipe_add(place->context, place->work, &other, 50, 10, &error), &error);
    assert_int_equal(adopt(place->context, place, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "another vocabulary"));
    remove_tree(place->work);
    other = recipe;
    other.ids = false;
    assert_ok(recipe_add(place->context, place->work, &other, 50, 10, &error), &error);
    assert_int_equal(adopt(place->context, place, &error), NIGH_EMISMATCH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_are_all_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_fault_leaves_old_or_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_makes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
