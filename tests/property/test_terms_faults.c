/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file call and every allocation is made to fail in turn, while a term signature file is
 * made, added to, read and checked.  Whatever fails: no crash, no leak, an error that says so, and
 * on disk is the old state or the new.
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

#include "support/filter_support.h"
#include "support/support.h"
#include "support/terms_support.h"

#define OLD 40u
#define MORE 30u

struct fixture {
    nigh_context *healthy;
    char *scratch, *base, *work, *input;
    char *old, *more, *all;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    nigh_error error;
    f->healthy = context_new();
    f->scratch = scratch_new();
    f->base = path_in(f->scratch, "base.terms");
    f->work = path_in(f->scratch, "work.terms");
    f->input = path_in(f->scratch, "input.txt");
    f->old = topic_lines(1, OLD, 8);
    f->more = topic_lines(2, MORE, 8);
    f->all = malloc(strlen(f->old) + strlen(f->more) + 1);
    (void)sprintf(f->all, "%s%s", f->old, f->more);
    assert_ok(terms_add_lines(f->healthy, f->base, f->input, f->old, NULL, NULL, &error), &error);
    file_write_all(f->input, f->more, strlen(f->more));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->healthy);
    scratch_free(f->scratch);
    free(f->base);
    free(f->work);
    free(f->input);
    free(f->old);
    free(f->more);
    free(f->all);
    free(f);
    return 0;
}

static nigh_status add(struct fixture *f, nigh_context *context, nigh_error *error) {
    nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    const char *input = f->input;
    reading.format = NIGH_TEXT_LINES;
    reading.strict = 1;
    options.bits_per_term = 0; /* as it is there */
    return nigh_terms_index(context, f->work, &input, 1, &reading, &options, NULL, error);
}

/* Whether the new documents are there; neither the old state nor the new fails the test. */
static bool expect_old_or_new(struct fixture *f, bool fresh) {
    nigh_terms *terms;
    nigh_error error;
    if (fresh && !path_exists(f->work)) return false;
    nigh_status status = nigh_terms_open(f->healthy, f->work, NULL, &terms, &error);
    if (fresh && status == NIGH_ENOTFOUND) return false;
    assert_ok(status, &error);
    nigh_terms_info info = {.size = sizeof info};
    nigh_terms_describe(terms, &info);
    const bool is_new = fresh || info.documents > OLD;
    terms_expect_lines(terms, fresh ? f->more : is_new ? f->all : f->old);
    nigh_terms_close(terms);
    return is_new;
}

static void prepare(struct fixture *f, bool fresh) {
    remove_tree(f->work);
    if (!fresh) copy_tree(f->base, f->work);
}

/* Call `n` fails; false once no call is left to fail. */
static bool attempt_files(struct fixture *f, bool fresh, bool sticky, uint64_t n) {
    struct faulty_files files;
    nigh_error error = {.status = NIGH_OK};
    prepare(f, fresh);
    char *before = tree_digest(f->work);
    faulty_files_init(&files);
    files.fail_at = n;
    files.error = ENOSPC;
    files.sticky = sticky;
    nigh_context *context = context_with(&files.table, NULL, NULL);
    const nigh_status status = add(f, context, &error);
    nigh_context_free(context);
    assert_int_equal(files.open_files, 0);
    assert_int_equal(files.live_maps, 0);
    const bool is_new = expect_old_or_new(f, fresh);
    char *after = tree_digest(f->work);
    if (status == NIGH_OK)
        assert_true(is_new);
    else
        assert_int_equal(error.status, status);
    if (status != NIGH_OK && !is_new && !sticky && (files.failed_kind & FAULT_REMOVE) == 0)
        assert_string_equal(before, after);
    free(before);
    free(after);
    return files.failed_kind != 0;
}

static void files_fail(struct fixture *f, bool fresh, bool sticky) {
    uint64_t n = 0;
    while (attempt_files(f, fresh, sticky, n)) n++;
    assert_true(n > 30);
}

static void test_files_fail(void **state) {
    for (int i = 0; i < 4; i++) files_fail(*state, i % 2 == 0, i >= 2);
}

static bool attempt_memory(struct fixture *f, bool fresh, uint64_t n) {
    struct faulty_memory memory = {.fail_at = n};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_error error = {.status = NIGH_OK};
    prepare(f, fresh);
    char *before = tree_digest(f->work);
    memory.fail_at = UINT64_MAX;
    nigh_context *context = context_with(NULL, &allocator, NULL);
    memory.fail_at = memory.calls + n;
    const nigh_status status = add(f, context, &error);
    const bool failed = memory.calls > memory.fail_at;
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
    assert_int_equal(memory.live, 0);
    const bool is_new = expect_old_or_new(f, fresh);
    char *after = tree_digest(f->work);
    if (status != NIGH_OK) {
        assert_int_equal(status, NIGH_ENOMEM);
        assert_int_equal(error.status, NIGH_ENOMEM);
        assert_false(is_new);
        assert_string_equal(before, after);
    } else {
        assert_true(is_new);
    }
    free(before);
    free(after);
    return failed;
}

static void test_memory_runs_out(void **state) {
    for (int i = 0; i < 2; i++) {
        uint64_t n = 0;
        while (attempt_memory(*state, i == 0, n)) n++;
        assert_true(n > 30);
    }
}

static void test_reading_fails(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.fail_at = n;
        files.error = EIO;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        (void)terms_read_everything(context, f->base, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        if (files.failed_kind == 0) break;
    }
    for (uint64_t n = 0;; n++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        memory.fail_at = memory.calls + n;
        (void)terms_read_everything(context, f->base, &error);
        const bool failed = memory.calls > memory.fail_at;
        memory.fail_at = UINT64_MAX;
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (!failed) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_runs_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reading_fails, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
