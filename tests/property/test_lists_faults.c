/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file call and every allocation is made to fail in turn, while a collection gets
 * slice lists, other ones, or loses them; and while one that has lists is read, added
 * to and checked.  A call that fails with all that follow it is what a process leaves
 * that was killed there.  Whatever fails: no crash, no leak, an error that says so, and
 * every list on disk is an old one or a new one, whole.
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

#define COUNT 40u
#define OLD_WIDTH 6u
#define NEW_WIDTH 8u

static const struct recipe recipe = {.width_bits = 64, .seed = 13, .distinct = 30, .ids = true};

struct fixture {
    nigh_context *healthy;
    char *scratch;
    char *base; /* two segments with lists of OLD_WIDTH */
    char *work;
};

static nigh_status change_lists(nigh_context *context, const char *path, uint32_t width, nigh_error *error) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = width;
    options.min_rows = 1;
    options.threads = 1;
    if (width == 0) return nigh_lists_remove(context, path, error);
    return nigh_lists_build(context, path, &options, NULL, error);
}

static int set_up(void **state) {
    struct fixture *f = malloc(sizeof *f);
    f->healthy = context_new();
    f->scratch = scratch_new();
    f->base = path_in(f->scratch, "base.nigh");
    f->work = path_in(f->scratch, "work.nigh");
    nigh_error error;
    assert_ok(recipe_add(f->healthy, f->base, &recipe, 0, 25, &error), &error);
    assert_ok(recipe_add(f->healthy, f->base, &recipe, 25, COUNT - 25, &error), &error);
    assert_ok(change_lists(f->healthy, f->base, OLD_WIDTH, &error), &error);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->healthy);
    free(f->base);
    free(f->work);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

/* Every segment has lists of one of two widths (0: none), and all are sound. */
static uint32_t expect_widths(struct fixture *f, uint32_t old_width, uint32_t new_width) {
    nigh_collection *collection;
    nigh_error error;
    nigh_collection_info info = {.size = sizeof info};
    recipe_expect(f->healthy, f->work, &recipe, COUNT);
    assert_ok(nigh_collection_open(f->healthy, f->work, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.damaged_lists, 0);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < info.segments; i++) {
        nigh_segment_info segment = {.size = sizeof segment};
        assert_ok(nigh_collection_segment(collection, i, &segment, &error), &error);
        if (segment.slice_width != new_width) assert_int_equal(segment.slice_width, old_width);
        changed += segment.slice_width == new_width;
    }
    nigh_collection_close(collection);
    return changed;
}

struct run {
    uint32_t new_width;
    int error;
    bool sticky;
};

/* One attempt with call number `n` failing; false once no call is left to fail. */
static bool attempt(struct fixture *f, const struct run *run, uint64_t n) {
    struct faulty_files files;
    nigh_error error = {.status = NIGH_OK};
    faulty_files_init(&files);
    files.fail_at = n;
    files.error = run->error;
    files.sticky = run->sticky;
    remove_tree(f->work);
    copy_tree(f->base, f->work);
    char *before = tree_digest(f->work);
    nigh_context *context = context_with(&files.table, NULL, NULL);
    nigh_status status = change_lists(context, f->work, run->new_width, &error);
    nigh_context_free(context);
    assert_int_equal(files.open_files, 0);
    assert_int_equal(files.live_maps, 0);

    uint32_t changed = expect_widths(f, OLD_WIDTH, run->new_width);
    if (status == NIGH_OK) {
        assert_int_equal(changed, 2);
    } else {
        assert_int_not_equal(files.failed_kind, 0);
        assert_int_equal(error.status, status);
        assert_int_equal(error.system_errno, run->error);
        /* Only what comes with or after the first name may fail and leave new lists. */
        if (changed != 0) assert_true((files.failed_kind & (FAULT_SYNC | FAULT_RENAME | FAULT_REMOVE)) != 0);
        char *after = tree_digest(f->work);
        if (changed == 0 && !run->sticky) assert_string_equal(before, after);
        free(after);
    }
    assert_ok(change_lists(f->healthy, f->work, NEW_WIDTH, &error), &error);
    assert_int_equal(expect_widths(f, NEW_WIDTH, NEW_WIDTH), 2);
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_collection_check(f->healthy, f->work, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 0);
    free(before);
    return files.failed_kind != 0;
}

static void changing_survives_every_fault(void **state) {
    struct fixture *f = *state;
    for (unsigned variant = 0; variant < 6; variant++) {
        struct run run = {.new_width = (variant & 1) != 0 ? NEW_WIDTH : 0,
                          .error = variant < 4 ? EIO : ENOSPC,
                          .sticky = (variant & 2) != 0};
        uint64_t n = 0;
        while (attempt(f, &run, n)) n++;
        assert_true(n > 15);
        print_message("%llu calls failed in turn (%s, %s, %s)\n", (unsigned long long)n,
                      run.new_width == 0 ? "removing" : "building", run.error == EIO ? "EIO" : "ENOSPC",
                      run.sticky ? "for good" : "once");
    }
}

/* A failed sync is not asked for again: two files and the directory. */
static void syncs_are_not_retried(void **state) {
    struct fixture *f = *state;
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        nigh_error error;
        faulty_files_init(&files);
        files.kinds = FAULT_SYNC;
        files.fail_at = n;
        remove_tree(f->work);
        copy_tree(f->base, f->work);
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_status status = change_lists(context, f->work, NEW_WIDTH, &error);
        nigh_context_free(context);
        if (files.failed_kind == 0) {
            assert_int_equal(status, NIGH_OK);
            assert_int_equal(n, 3);
            return;
        }
        assert_int_equal(status, NIGH_EIO);
        assert_int_equal(files.calls, n + 1);
    }
}

/* Lists that cannot be read are no failure of reading; everything else is, and a check tells of both. */
static void reading_survives_every_fault(void **state) {
    struct fixture *f = *state;
    remove_tree(f->work);
    copy_tree(f->base, f->work);
    uint64_t without = 0;
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        nigh_error error;
        nigh_collection *collection;
        faulty_files_init(&files);
        files.fail_at = n;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_status status = nigh_collection_open(context, f->work, NULL, &collection, &error);
        if (status == NIGH_OK) {
            nigh_collection_info info = {.size = sizeof info};
            nigh_collection_describe(collection, &info);
            nigh_collection_close(collection);
            assert_int_equal(info.damaged_lists, files.failed_kind != 0);
            without += info.damaged_lists;
        }
        bool opening = files.failed_kind != 0;
        if (status == NIGH_OK) status = nigh_collection_check(context, f->work, NULL, NULL, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        if (files.failed_kind == 0) {
            assert_int_equal(status, NIGH_OK);
            break;
        }
        if (!opening) assert_int_not_equal(status, NIGH_OK);
    }
    assert_true(without >= 10); /* open, length, two or three reads and the map, of two files */
}

static void memory_may_run_out_anywhere(void **state) {
    struct fixture *f = *state;
    for (uint64_t n = 0;; n++) {
        struct faulty_memory memory = {.fail_at = n};
        nigh_context_options options;
        nigh_context_options_init(&options);
        nigh_context *context;
        nigh_error error;
        options.allocator = faulty_memory_allocator(&memory);
        remove_tree(f->work);
        copy_tree(f->base, f->work);
        char *before = tree_digest(f->work);
        nigh_status status = nigh_context_new(&options, &context, &error);
        if (status == NIGH_OK) status = change_lists(context, f->work, NEW_WIDTH, &error);
        char *after = tree_digest(f->work);
        if (status != NIGH_OK) assert_string_equal(before, after);
        if (status == NIGH_OK) status = read_everything(context, f->work, &error);
        if (status == NIGH_OK) status = nigh_collection_check(context, f->work, NULL, NULL, &error);
        if (status == NIGH_OK) status = change_lists(context, f->work, 0, &error);
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        free(before);
        free(after);
        if (context != NULL) nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (memory.calls <= n) {
            assert_int_equal(status, NIGH_OK);
            assert_true(n > 50);
            return;
        }
    }
}

/* Adding to a collection with lists leaves them as they are. */
static void a_commit_leaves_lists_alone(void **state) {
    struct fixture *f = *state;
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        nigh_error error;
        faulty_files_init(&files);
        files.fail_at = n;
        files.sticky = true;
        remove_tree(f->work);
        copy_tree(f->base, f->work);
        nigh_context *context = context_with(&files.table, NULL, NULL);
        (void)recipe_add(context, f->work, &recipe, COUNT, 10, &error);
        nigh_context_free(context);
        nigh_collection *collection;
        nigh_collection_info info = {.size = sizeof info};
        assert_ok(nigh_collection_open(f->healthy, f->work, NULL, &collection, &error), &error);
        nigh_collection_describe(collection, &info);
        nigh_collection_close(collection);
        assert_int_equal(info.sliced_segments, 2);
        assert_int_equal(info.damaged_lists, 0);
        if (files.failed_kind == 0) return;
    }
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(changing_survives_every_fault), WITH_FIXTURE(syncs_are_not_retried),
        WITH_FIXTURE(reading_survives_every_fault),  WITH_FIXTURE(memory_may_run_out_anywhere),
        WITH_FIXTURE(a_commit_leaves_lists_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
