/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A term signature file kept from version 1 of the format.  Every later version must read it, and
 * this one must still write the very same bytes.  `test_terms_golden --make FOLDER` writes it anew.
 */
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

#define NAME "v1-hybrid-hashed.terms"
#define EARLIER "v1-hybrid.terms" /* from before ids had a hash of the text in them */

/* Words in topics, words of one block, a line without words, and all of these again in another commit. */
static const char *const first = "red green blue\nred green yellow\n...\nred blue grey cyan black white pink lone\n";
static const char *const second = "red green violet\n";
static const char *const third = "lone violet orange\nred red orange\n";

static void make(nigh_context *context, const char *path) {
    const char *const more[] = {second, third};
    nigh_error error;
    assert_ok(terms_write_texts(context, path, &first, 1, &error), &error);
    assert_ok(terms_write_texts(context, path, more, 2, &error), &error);
}

static char *kept_path(const char *name) {
    const char *source = getenv("NIGH_SOURCE_DIR");
    if (source == NULL) fail_msg("NIGH_SOURCE_DIR is not set; run this through ctest");
    char *golden = path_in(source, "tests/golden");
    char *path = path_in(golden, name);
    free(golden);
    return path;
}

static void expect_opens(const char *name) {
    nigh_context *context = context_new();
    char *path = kept_path(name);
    char all[400];
    nigh_terms *terms;
    nigh_error error;
    (void)snprintf(all, sizeof all, "%s%s%s", first, second, third);
    assert_ok(nigh_terms_check(context, path, NULL, NULL, &error), &error);
    assert_ok(nigh_terms_open(context, path, NULL, &terms, &error), &error);
    assert_int_equal(nigh__terms_groups(terms), 3);
    terms_expect_lines(terms, all);
    nigh_terms_close(terms);
    free(path);
    nigh_context_free(context);
}

static void the_kept_files_open(void **state) {
    (void)state;
    expect_opens(NAME);
    expect_opens(EARLIER);
}

static void the_bytes_are_the_same(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *fresh = path_in(scratch, NAME);
    char *kept = kept_path(NAME);
    make(context, fresh);
    char *wanted = tree_digest(kept);
    char *got = tree_digest(fresh);
    assert_string_equal(got, wanted);
    free(wanted);
    free(got);
    free(kept);
    free(fresh);
    scratch_free(scratch);
    nigh_context_free(context);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--make") == 0) {
        nigh_context *context = context_new();
        char *path = path_in(argv[2], NAME);
        make(context, path);
        free(path);
        nigh_context_free(context);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kept_files_open),
        cmocka_unit_test(the_bytes_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
