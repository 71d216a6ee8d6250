/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting while every call to the system, and every request for memory, fails in turn. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <archive.h>
#include <cmocka.h>

#include "document/document_options.h"
#include "support/split_support.h"

static const char *const inputs[] = {"lines.jsonl", "text.gz", "all.tgz", "folder", "more"};
#define INPUTS 5

static void inputs_make(void) {
    static const struct member members[] = {
        {"a.jsonl", "{}\n{}\n", 6},
        {"b.warc", "WARC/1.0\nWARC-Type: conversion\nContent-Length: 4\n\ntext\n\n", 56},
        {"c", "<DOC>1</DOC>", 12},
        {"d", "\0", 1}};
    struct bytes gz = pack_bytes(ARCHIVE_FILTER_GZIP, "plain text", 10);
    struct bytes tar = pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, members, 4);
    file_write_all("lines.jsonl", "{\"a\": 1}\n{}\n", 12);
    file_write_all("text.gz", gz.data, gz.length);
    file_write_all("all.tgz", tar.data, tar.length);
    free(gz.data);
    free(tar.data);
    remove_tree("folder");
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkdir("folder/in", 0777), 0);
    file_write_all("folder/in/a.txt", "text", 4);
    file_write_all("folder/in/b.txt", "text", 4);
    static const char table[] = "id,text\na,\"one\ntwo\"\nb,\"\xe9\"\n";
    static const char array[] = "[{\"text\": \"one\"},\n {\"text\": 2}]";
    remove_tree("more");
    assert_int_equal(mkdir("more", 0777), 0);
    file_write_all("more/.gitignore", "*.log\n", 6);
    file_write_all("more/a.json", array, strlen(array));
    file_write_all("more/b.csv", table, strlen(table));
    file_write_all("more/c.log", "text", 4);
}

/* Where a reading failed, all that came before the failure is as without it. */
static void assert_prefix(const char *read, const char *whole) {
    const char *failure = strstr(read, "failed ");
    size_t length = failure != NULL ? (size_t)(failure - read) : strlen(read);
    assert_true(length <= strlen(whole));
    assert_memory_equal(read, whole, length);
}

static void test_memory(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    inputs_make();
    char *whole = NULL;
    uint64_t failed = 0;
    for (uint64_t call = UINT64_MAX;; call++) { /* the first time, none fails */
        struct faulty_memory memory = {.fail_at = call};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        memory.fail_at = UINT64_MAX;
        nigh_context *context = context_with(NULL, &allocator, NULL);
        memory.calls = 0;
        memory.fail_at = call;
        char *read = split_transcript(context, inputs, INPUTS, &options, 300);
        bool done = call != UINT64_MAX && memory.calls <= call;
        if (whole == NULL) {
            whole = read;
        } else {
            assert_int_equal(strstr(read, "failed no memory") != NULL || strstr(read, "Cannot allocate") != NULL,
                             !done);
            assert_prefix(read, whole);
            free(read);
            failed += !done;
        }
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (done) break;
    }
    assert_true(failed > 20);
    assert_non_null(strstr(whole, "|plain text|"));
    free(whole);
}

/* A failed read ends the reading, and names the file. */
static void test_reads(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    inputs_make();
    struct faulty_files files;
    faulty_files_init(&files);
    nigh_context *context = context_with(&files.table, NULL, NULL);
    char *whole = split_transcript(context, inputs, INPUTS, &options, 300);
    nigh_context_free(context);
    for (uint64_t call = 0;; call++) {
        faulty_files_init(&files);
        files.kinds = FAULT_READ | FAULT_LENGTH;
        files.fail_at = call;
        context = context_with(&files.table, NULL, NULL);
        char *read = split_transcript(context, inputs, INPUTS, &options, 300);
        bool done = files.failed_kind == 0;
        assert_int_equal(strstr(read, "cannot read: Input/output error") != NULL, !done);
        assert_int_equal(strstr(read, "failed '") != NULL, !done);
        assert_prefix(read, whole);
        assert_int_equal(files.open_files, 0);
        free(read);
        nigh_context_free(context);
        if (done) break;
    }
    free(whole);
}

/* A folder that cannot be listed is told like a file that cannot be opened; one that was asked for ends it. */
static void test_lists(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    inputs_make();
    static const char *const expected[] = {"failed 'folder': cannot list: Input/output error\n",
                                           "0 problem 'folder/in': cannot list: Input/output error\n"};
    for (uint64_t call = 0; call < 2; call++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_LIST;
        files.fail_at = call;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        char *read = split_transcript(context, inputs + 3, 1, &options, 1 << 18);
        assert_string_equal(read, expected[call]);
        assert_int_equal(files.open_files, 0);
        free(read);
        nigh_context_free(context);
    }
}

/* A stream that fails anywhere gives whole lines and its error. */
static void test_stream(void **state) {
    (void)state;
    static const char text[] = "one\ntwo\nthree\n";
    nigh_context *context = context_new();
    for (size_t place = 1; place <= strlen(text); place++) {
        struct memory_source source = {
            .bytes = (const uint8_t *)text, .length = strlen(text), .chunk = 1, .fail_at = place - 1};
        nigh_stream stream = memory_source_stream(&source);
        nigh_text_reader_options options;
        nigh__options_defaults(&nigh__text_reader_options_shape, &options);
        options.format = NIGH_TEXT_LINES;
        options.stream = &stream;
        const char *path = "-";
        char *read = split_transcript(context, &path, 1, &options, 1 << 18);
        assert_non_null(strstr(read, "failed '-': cannot read: Input/output error\n"));
        assert_int_equal(strstr(read, "|one|") != NULL, place > 4);
        assert_int_equal(strstr(read, "|two|") != NULL, place > 8);
        free(read);
    }
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
