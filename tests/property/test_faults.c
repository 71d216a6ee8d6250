/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file call and every allocation is made to fail in turn, while a
 * collection is made, added to, read and checked, with texts and without.  Whatever fails, and however:
 * no crash, no leak, an error that says so, and on disk the old state, byte for
 * byte, or the new one, whole.
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

#define OLD_COUNT 25u
#define NEW_COUNT 40u

static const struct recipe recipe = {.width_bits = 72,
                                     .seed = 11,
                                     .distinct = 20,
                                     .ids = true,
                                     .metadata = true,
                                     .weights = true,
                                     .vocabulary = "words and how often",
                                     .model = "what was learned"};

/* As of a collection for near-copies. */
static const struct recipe with_texts = {.width_bits = 256,
                                         .seed = 12,
                                         .distinct = 20,
                                         .ids = true,
                                         .scheme = "kind=minhash\nthreshold=800\n",
                                         .texts = true,
                                         .keys = 5};

struct fixture {
    const struct recipe *recipe;
    nigh_context *healthy;
    char *scratch;
    char *base; /* holds OLD_COUNT documents in two commits */
    char *work;
};

static int set_up_with(const struct recipe *of, void **state) {
    struct fixture *f = malloc(sizeof *f);
    f->recipe = of;
    f->healthy = context_new();
    f->scratch = scratch_new();
    f->base = path_in(f->scratch, "base.nigh");
    f->work = path_in(f->scratch, "work.nigh");
    nigh_error error;
    assert_ok(recipe_add(f->healthy, f->base, f->recipe, 0, 10, &error), &error);
    assert_ok(recipe_add(f->healthy, f->base, f->recipe, 10, OLD_COUNT - 10, &error), &error);
    *state = f;
    return 0;
}

static int set_up(void **state) { return set_up_with(&recipe, state); }
static int set_up_texts(void **state) { return set_up_with(&with_texts, state); }

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->healthy);
    free(f->base);
    free(f->work);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

/* How many documents a reader finds; 0 where nothing was ever committed. */
static uint64_t count_documents(struct fixture *f) {
    nigh_collection *collection;
    nigh_error error;
    nigh_status status = nigh_collection_open(f->healthy, f->work, NULL, &collection, &error);
    if (status == NIGH_ENOTFOUND) return 0;
    assert_ok(status, &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    nigh_collection_close(collection);
    return info.documents;
}

static void expect_state(struct fixture *f, uint64_t count) {
    assert_int_equal(count_documents(f), count);
    if (count != 0) recipe_expect(f->healthy, f->work, f->recipe, count);
}

struct run {
    uint64_t first; /* documents there before: 0 or OLD_COUNT */
    int error;
    bool sticky;
};

/* One attempt with call number `n` failing; false once no call is left to fail. */
static bool attempt_write(struct fixture *f, const struct run *run, uint64_t n) {
    struct faulty_files files;
    faulty_files_init(&files);
    files.fail_at = n;
    files.error = run->error;
    files.sticky = run->sticky;
    remove_tree(f->work);
    if (run->first != 0) copy_tree(f->base, f->work);
    char *before = tree_digest(f->work);
    nigh_context *context = context_with(&files.table, NULL, NULL);
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = recipe_add(context, f->work, f->recipe, run->first, NEW_COUNT - run->first, &error);
    nigh_context_free(context);
    assert_int_equal(files.open_files, 0);
    assert_int_equal(files.live_maps, 0);

    if (status == NIGH_OK) {
        expect_state(f, NEW_COUNT);
    } else {
        assert_int_not_equal(files.failed_kind, 0);
        assert_int_equal(error.status, status);
        uint64_t count = count_documents(f);
        /* Only a sync after the commit may fail and leave the new state. */
        if (count != run->first) assert_int_equal(files.failed_kind, FAULT_SYNC);
        expect_state(f, count);
        char *after = tree_digest(f->work);
        if (count == run->first && !run->sticky) assert_string_equal(before, after);
        free(after);
        assert_ok(recipe_add(f->healthy, f->work, f->recipe, count, NEW_COUNT - count, &error), &error);
        expect_state(f, NEW_COUNT); /* and life goes on */
    }
    free(before);
    return files.failed_kind != 0;
}

static void writing_survives_every_fault(void **state) {
    struct fixture *f = *state;
    const int errors[] = {EIO, ENOSPC};
    for (unsigned variant = 0; variant < 8; variant++) {
        struct run run = {.first = (variant & 1) != 0 ? OLD_COUNT : 0,
                          .error = errors[(variant >> 1) & 1],
                          .sticky = (variant & 4) != 0};
        uint64_t n = 0;
        while (attempt_write(f, &run, n)) n++;
        assert_true(n > 20);
        print_message("%llu calls failed in turn (%s, %s, %s)\n", (unsigned long long)n,
                      run.first == 0 ? "new" : "adding", run.error == EIO ? "EIO" : "ENOSPC",
                      run.sticky ? "for good" : "once");
    }
}

/* A failed sync is never followed by another try at the same file. */
static void syncs_are_not_retried(void **state) {
    struct fixture *f = *state;
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_SYNC;
        files.fail_at = n;
        remove_tree(f->work);
        copy_tree(f->base, f->work);
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error;
        nigh_status status = recipe_add(context, f->work, f->recipe, OLD_COUNT, 5, &error);
        nigh_context_free(context);
        if (files.failed_kind == 0) {
            assert_int_equal(status, NIGH_OK);
            assert_int_equal(n, 4); /* segment, directory, manifest, directory */
            return;
        }
        assert_int_equal(status, NIGH_EIO);
        assert_non_null(strstr(error_text(&error), "cannot sync"));
        assert_int_equal(files.calls, n + 1); /* not one more sync was asked for */
    }
}

static void reading_survives_every_fault(void **state) {
    struct fixture *f = *state;
    copy_tree(f->base, f->work);
    char *before = tree_digest(f->work);
    for (unsigned sticky = 0; sticky < 2; sticky++) {
        for (uint64_t n = 0;; n++) {
            struct faulty_files files;
            faulty_files_init(&files);
            files.fail_at = n;
            files.sticky = sticky != 0;
            nigh_context *context = context_with(&files.table, NULL, NULL);
            nigh_error error;
            nigh_status status = read_everything(context, f->work, &error);
            if (status == NIGH_OK) status = nigh_collection_check(context, f->work, NULL, NULL, &error);
            nigh_context_free(context);
            assert_int_equal(files.open_files, 0);
            assert_int_equal(files.live_maps, 0);
            if (files.failed_kind == 0) {
                assert_int_equal(status, NIGH_OK);
                break;
            }
            assert_int_not_equal(status, NIGH_OK);
            char *after = tree_digest(f->work);
            assert_string_equal(before, after);
            free(after);
        }
    }
    free(before);
}

static void memory_may_run_out_anywhere(void **state) {
    struct fixture *f = *state;
    for (uint64_t n = 0;; n++) {
        struct faulty_memory memory = {.fail_at = n};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context_options options;
        nigh_context_options_init(&options);
        options.allocator = allocator;
        nigh_context *context;
        nigh_error error;
        remove_tree(f->work);
        copy_tree(f->base, f->work);
        char *before = tree_digest(f->work);
        nigh_status status = nigh_context_new(&options, &context, &error);
        if (status == NIGH_OK)
            status = recipe_add(context, f->work, f->recipe, OLD_COUNT, NEW_COUNT - OLD_COUNT, &error);
        if (status != NIGH_OK) {
            assert_int_equal(status, NIGH_ENOMEM);
            char *after = tree_digest(f->work);
            assert_string_equal(before, after);
            free(after);
        } else {
            expect_state(f, NEW_COUNT);
            status = read_everything(context, f->work, &error);
            if (status == NIGH_OK) status = nigh_collection_check(context, f->work, NULL, NULL, &error);
            if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        }
        free(before);
        if (context != NULL) nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (memory.calls <= n) {
            assert_int_equal(status, NIGH_OK);
            assert_true(n > 50);
            return;
        }
    }
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define WITH_TEXTS(test) cmocka_unit_test_setup_teardown(test, set_up_texts, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(writing_survives_every_fault), WITH_FIXTURE(syncs_are_not_retried),
        WITH_FIXTURE(reading_survives_every_fault), WITH_FIXTURE(memory_may_run_out_anywhere),
        WITH_TEXTS(writing_survives_every_fault),   WITH_TEXTS(reading_survives_every_fault),
        WITH_TEXTS(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
