/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file call and every allocation is made to fail in turn, while documents are deleted and replaced, and while a
 * collection of which some are deleted is opened, searched among some, and checked.  Whatever fails: no crash, no leak,
 * an error that says so, and on disk the old state, byte for byte, or the new one, whole.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/living_support.h"
#include "support/support.h"

struct fixture {
    nigh_context *healthy;
    char *scratch, *base, *work;
    uint32_t to; /* state that is made from base */
    char *before, *after;
};

static void fixture_init(struct fixture *f, uint32_t to) {
    nigh_error error;
    f->to = to;
    f->healthy = context_new();
    f->scratch = scratch_new();
    f->base = path_in(f->scratch, "base.nigh");
    f->work = path_in(f->scratch, "work.nigh");
    living_make(f->healthy, f->base, to - 1);
    f->before = living_contents(f->healthy, f->base);
    copy_tree(f->base, f->work);
    assert_ok(living_change(f->healthy, f->work, to, &error), &error);
    f->after = living_contents(f->healthy, f->work);
}

static void fixture_release(struct fixture *f) {
    nigh_context_free(f->healthy);
    free(f->before);
    free(f->after);
    free(f->base);
    free(f->work);
    scratch_free(f->scratch);
}

static void start_over(const struct fixture *f) {
    remove_tree(f->work);
    copy_tree(f->base, f->work);
}

/* What is there after a failure, of which `last` may have been after the commit. */
static void expect_old(const struct fixture *f, const char *digest, bool last, bool sticky) {
    char *now = living_contents(f->healthy, f->work);
    char *after = tree_digest(f->work);
    const bool old = strcmp(now, f->before) == 0;
    assert_true(old || (last && strcmp(now, f->after) == 0));
    if (old && !sticky) assert_string_equal(digest, after);
    free(now);
    free(after);
}

static bool attempt(const struct fixture *f, uint64_t n, int error_number, bool sticky) {
    struct faulty_files files;
    nigh_error error = {.status = NIGH_OK};
    faulty_files_init(&files);
    files.fail_at = n;
    files.error = error_number;
    files.sticky = sticky;
    start_over(f);
    char *digest = tree_digest(f->work);
    nigh_context *context = context_with(&files.table, NULL, NULL);
    const nigh_status status = living_change(context, f->work, f->to, &error);
    nigh_context_free(context);
    assert_int_equal(files.open_files, 0);
    assert_int_equal(files.live_maps, 0);
    if (status != NIGH_OK) assert_int_equal(error.status, status);
    if (status != NIGH_OK) expect_old(f, digest, files.failed_kind == FAULT_SYNC, sticky);
    free(digest);
    if (status != NIGH_OK) { /* and life goes on */
        start_over(f);
        assert_ok(living_change(f->healthy, f->work, f->to, &error), &error);
    }
    char *now = living_contents(f->healthy, f->work);
    assert_string_equal(now, f->after);
    free(now);
    return files.failed_kind != 0;
}

static void changing_survives_every_fault(void **state) {
    (void)state;
    for (uint32_t to = 1; to < LIVING_STATES; to++) {
        struct fixture f;
        fixture_init(&f, to);
        for (unsigned variant = 0; variant < 4; variant++) {
            uint64_t n = 0;
            while (attempt(&f, n, (variant & 1) != 0 ? EIO : ENOSPC, (variant & 2) != 0)) n++;
            assert_true(n > 20);
        }
        fixture_release(&f);
    }
}

static int every_third(void *user, uint64_t document) {
    (void)user;
    return document % 3 == 0;
}

static nigh_status search_among(nigh_context *context, const char *path, nigh_error *error) {
    nigh_collection *collection = NULL;
    nigh_results *results = NULL;
    nigh_search_options options;
    const uint8_t query[8] = {1, 2, 3};
    nigh_search_options_init(&options);
    options.threads = 1;
    nigh_status status = nigh_collection_open(context, path, NULL, &collection, error);
    if (status == NIGH_OK) status = nigh_search(collection, query, 1, &options, &results, error);
    nigh_results_free(results);
    results = NULL;
    options.allow = every_third;
    if (status == NIGH_OK) status = nigh_search(collection, query, 1, &options, &results, error);
    nigh_results_free(results);
    nigh_collection_close(collection);
    if (status == NIGH_OK) status = nigh_collection_check(context, path, NULL, NULL, error);
    return status;
}

static void reading_survives_every_fault(void **state) {
    struct fixture f;
    (void)state;
    fixture_init(&f, 3);
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        nigh_error error;
        faulty_files_init(&files);
        files.fail_at = n;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        const nigh_status status = search_among(context, f.work, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        assert_int_equal(status == NIGH_OK, files.failed_kind == 0);
        if (files.failed_kind == 0) break;
    }
    fixture_release(&f);
}

static void memory_may_run_out_anywhere(void **state) {
    struct fixture f;
    (void)state;
    fixture_init(&f, 3);
    for (uint64_t n = 0;; n++) {
        struct faulty_memory memory = {.fail_at = n};
        nigh_context_options options;
        nigh_context *context;
        nigh_error error;
        nigh_context_options_init(&options);
        options.allocator = faulty_memory_allocator(&memory);
        start_over(&f);
        char *digest = tree_digest(f.work);
        nigh_status status = nigh_context_new(&options, &context, &error);
        if (status == NIGH_OK) status = living_change(context, f.work, 3, &error);
        if (status != NIGH_OK) {
            assert_int_equal(status, NIGH_ENOMEM);
            expect_old(&f, digest, false, false);
        } else {
            status = search_among(context, f.work, &error);
            if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        }
        free(digest);
        if (context != NULL) nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (memory.calls > n) continue;
        assert_int_equal(status, NIGH_OK);
        break;
    }
    fixture_release(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changing_survives_every_fault),
        cmocka_unit_test(reading_survives_every_fault),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
