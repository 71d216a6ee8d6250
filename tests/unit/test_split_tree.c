/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Folders: order, links, what is no file, depth, and paths of all sorts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "support/split_support.h"

static void put(const char *path, const char *text) { file_write_all(path, text, strlen(text)); }

static void folder_make(const char *path) { assert_int_equal(mkdir(path, 0777), 0); }

static void test_order(void **state) {
    (void)state;
    folder_make("t");
    folder_make("t/b");
    folder_make("t/b/deep");
    folder_make("t/empty");
    put("t/b.txt", "1");
    put("t/B", "2");
    put("t/a", "3");
    put("t/b/x", "4");
    put("t/b/deep/y", "5");
    put("t/\xc3\xa9", "6");
    static const char expected[] = "0 text t/B offset 0 line 0 |2|\n"
                                   "1 text t/a offset 0 line 0 |3|\n"
                                   "2 text t/b/deep/y offset 0 line 0 |5|\n"
                                   "3 text t/b/x offset 0 line 0 |4|\n"
                                   "4 text t/b.txt offset 0 line 0 |1|\n"
                                   "5 text t/\xc3\xa9 offset 0 line 0 |6|\n";
    static const char *const spellings[] = {"t", "t/"};
    for (size_t i = 0; i < 2; i++) {
        char *read = split_path(spellings[i]);
        assert_string_equal(read, expected);
        free(read);
    }
    remove_tree("t");
}

/* Links are followed when given, and with `follow`; then also those to folders, but not in circles. */
static void test_links(void **state) {
    (void)state;
    folder_make("t");
    folder_make("t/in");
    put("t/in/file", "text");
    assert_int_equal(symlink(".", "t/in/loop"), 0);
    assert_int_equal(symlink("in", "t/other"), 0);
    assert_int_equal(symlink("in/file", "t/to-file"), 0);
    assert_int_equal(symlink("nowhere", "t/x"), 0);
    assert_int_equal(mkfifo("t/pipe", 0666), 0);
    char *read = split_path("t");
    assert_string_equal(read, "0 text t/in/file offset 0 line 0 |text|\n");
    free(read);
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.follow = 1;
    const char *path = "t";
    nigh_context *context = context_with(NULL, NULL, NULL);
    read = split_transcript(context, &path, 1, &options, 300);
    nigh_context_free(context);
    assert_string_equal(read, "0 text t/in/file offset 0 line 0 |text|\n"
                              "1 text t/other/file offset 0 line 0 |text|\n"
                              "2 text t/to-file offset 0 line 0 |text|\n");
    free(read);
    read = split_path("t/other");
    assert_string_equal(read, "0 text t/other/file offset 0 line 0 |text|\n");
    free(read);
    remove_tree("t");
}

static void test_depth(void **state) {
    (void)state;
    char path[512] = "t";
    for (size_t i = 0; i < 66; i++) {
        folder_make(path);
        (void)snprintf(path + 1 + 2 * i, 3, "/d");
    }
    path[2 * 63 + 1] = '\0'; /* the folder that is just not too deep */
    char *file = path_in(path, "file");
    put(file, "text");
    char *read = split_path("t");
    char expected[1024];
    (void)snprintf(expected, sizeof expected,
                   "0 problem '%s/d': folders are nested more than 64 deep; what is in this one is skipped\n"
                   "1 text %s offset 0 line 0 |text|\n",
                   path, file);
    assert_string_equal(read, expected);
    free(read);
    free(file);
    remove_tree("t");
}

static void test_paths(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    nigh_context *context = context_new();
    put("one", "1");
    put("two", "2");
    static const char *const good[] = {"two", "one", "two"};
    char *read = split_transcript(context, good, 3, &options, 1 << 18);
    assert_string_equal(read, "0 text two offset 0 line 0 |2|\n1 text one offset 0 line 0 |1|\n"
                              "2 text two offset 0 line 0 |2|\n");
    free(read);
    static const struct {
        const char *path, *failure;
    } bad[] = {{"nowhere", "failed 'nowhere': cannot open: No such file or directory\n"},
               {"", "failed '': cannot open: the path is empty\n"},
               {"-", "failed '-' stands for a stream, and there is none\n"}};
    for (size_t i = 0; i < 3; i++) {
        const char *paths[] = {"one", bad[i].path};
        read = split_transcript(context, paths, 2, &options, 1 << 18);
        assert_string_equal(read, bad[i].failure); /* before anything is read */
        free(read);
    }
    nigh_context_free(context);
}

/* What cannot be opened in a folder is told, and the rest is read. */
static void test_unreadable(void **state) {
    (void)state;
    folder_make("t");
    folder_make("t/b");
    put("t/a", "a");
    put("t/b/x", "x");
    put("t/c", "c");
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.no_ignore = 1; /* which would open more files */
    static const char *const expected[] = {
        /* the calls that open: the folder twice to look at it, the folder, a, b as a file, b, b/x, c */
        "failed 't': cannot open: Permission denied\n",
        "failed 't': cannot open: Permission denied\n",
        "failed 't': cannot open: Permission denied\n",
        "0 problem 't/a': cannot open: Permission denied\n1 text t/b/x offset 0 line 0 |x|\n"
        "2 text t/c offset 0 line 0 |c|\n",
        "0 text t/a offset 0 line 0 |a|\n1 problem 't/b': cannot open: Permission denied\n"
        "2 text t/c offset 0 line 0 |c|\n",
        "0 text t/a offset 0 line 0 |a|\n1 problem 't/b': cannot open: Permission denied\n"
        "2 text t/c offset 0 line 0 |c|\n",
        "0 text t/a offset 0 line 0 |a|\n1 problem 't/b/x': cannot open: Permission denied\n"
        "2 text t/c offset 0 line 0 |c|\n",
        "0 text t/a offset 0 line 0 |a|\n1 text t/b/x offset 0 line 0 |x|\n"
        "2 problem 't/c': cannot open: Permission denied\n",
    };
    for (size_t call = 0; call < sizeof expected / sizeof expected[0]; call++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_OPEN;
        files.fail_at = call;
        files.error = EACCES;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        const char *path = "t";
        char *read = split_transcript(context, &path, 1, &options, 1 << 18);
        assert_string_equal(read, expected[call]);
        assert_int_equal(files.open_files, 0);
        free(read);
        nigh_context_free(context);
    }
    remove_tree("t");
}

static void test_files_limit(void **state) {
    (void)state;
    folder_make("t");
    put("t/a", "a");
    put("t/b", "b");
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    nigh_context *context = context_new();
    const char *path = "t";
    options.max_members = 1;
    char *read = split_transcript(context, &path, 1, &options, 1 << 18);
    assert_string_equal(read, "0 text t/a offset 0 line 0 |a|\n"
                              "failed 't/b': more than 1 files in a folder; max_members allows no more\n");
    free(read);
    nigh_context_free(context);
    remove_tree("t");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_links),      cmocka_unit_test(test_depth),
        cmocka_unit_test(test_paths), cmocka_unit_test(test_unreadable), cmocka_unit_test(test_files_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
