/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs read several times: streams and pipes from a copy, problems told once, changes noticed. */
#define _GNU_SOURCE
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "dedup/rereading.h"
#include "support/split_support.h"

/* One pass as text, "ID=TEXT;", and its check. */
static char *pass(struct nigh__rereading *source, nigh_status expected, uint64_t most) {
    struct memory_sink sink = {0};
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    uint64_t count = 0;
    assert_ok(nigh__rereading_open(source, &reader, &error), &error);
    nigh_status status = NIGH_OK;
    while (count++ < most && (status = nigh_text_reader_next(reader, &text, &error)) == NIGH_OK) {
        sink_add(&sink, text.id, text.id_length);
        sink_text(&sink, "=");
        sink_add(&sink, text.text, text.text_length);
        sink_text(&sink, ";");
    }
    if (status != NIGH_ECORRUPT) {
        assert_true(status == NIGH_END || (status == NIGH_OK && most != UINT64_MAX));
        status = nigh__rereading_check(source, reader, &error);
    }
    assert_int_equal(status, expected);
    nigh_text_reader_close(reader);
    sink_add(&sink, "", 1);
    return (char *)sink.bytes;
}

static void assert_pass(struct nigh__rereading *source, const char *expected) {
    char *found = pass(source, NIGH_OK, UINT64_MAX);
    assert_string_equal(found, expected);
    free(found);
}

static void count_problem(void *user, const nigh_error *problem) {
    (void)problem;
    ++*(unsigned *)user;
}

static struct nigh__rereading *source_open(nigh_context *context, const char *path, nigh_text_reader_options options) {
    struct nigh__rereading *source;
    nigh_error error;
    assert_ok(nigh__rereading_new(context, &path, 1, &options, ".", &source, &error), &error);
    return source;
}

/* Whether a temporary file is still there. */
static bool leftover(void) {
    DIR *folder = opendir(".");
    bool found = false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        found = found || strncmp(entry->d_name, "nigh-", 5) == 0;
    closedir(folder);
    return found;
}

static void test_stream(void **state) {
    (void)state;
    const char *in = "{\"text\":\"a\"}\noops\n{\"text\":\"b\"}\n";
    struct memory_source memory = {.bytes = (const uint8_t *)in, .length = strlen(in), .chunk = 5, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&memory);
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    unsigned problems = 0;
    options.stream = &stream;
    options.problem = count_problem;
    options.user = &problems;
    options.max_errors = 1;
    nigh_context *context = context_new();
    struct nigh__rereading *source = source_open(context, "-", options);
    memset(&options, 0, sizeof options); /* it has its own */
    stream = (nigh_stream){0};
    for (int i = 0; i < 3; i++) assert_pass(source, "-:1:e6c632b61e96=a;-:3:575a0b1c44d8=b;");
    assert_int_equal(problems, 1);
    assert_int_equal(nigh__rereading_copied(source), strlen(in));
    assert_int_equal(nigh__rereading_formats(source), 1u << NIGH_TEXT_JSONL);
    assert_string_equal(nigh__rereading_path(source, 0), "-");
    nigh__rereading_free(source);
    nigh_context_free(context);
    assert_false(leftover());
}

/* A first pass that ends early has not read all; the next goes on with the stream. */
static void test_early_end(void **state) {
    (void)state;
    struct memory_sink in = {0}, expected = {0};
    for (unsigned i = 0; i < 100000; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "line %u\n", i);
        sink_text(&in, line);
        const uint64_t hash = nigh__hash(line, strlen(line) - 1); /* without its end */
        (void)snprintf(line, sizeof line, "-:%u:%012" PRIx64 "=line %u;", i + 1, hash >> 16, i);
        sink_text(&expected, line);
    }
    sink_add(&expected, "", 1);
    struct memory_source memory = {.bytes = in.bytes, .length = in.length, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&memory);
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.format = NIGH_TEXT_LINES;
    options.stream = &stream;
    nigh_context *context = context_new();
    struct nigh__rereading *source = source_open(context, "-", options);
    char *found = pass(source, NIGH_OK, 3);
    assert_string_equal(found, "-:1:0aab7c51d446=line 0;-:2:3b5b7a510826=line 1;-:3:5d9cef45b68a=line 2;");
    free(found);
    assert_true(nigh__rereading_copied(source) < in.length);
    assert_pass(source, (char *)expected.bytes);
    assert_pass(source, (char *)expected.bytes);
    nigh__rereading_free(source);
    nigh_context_free(context);
    free(in.bytes);
    free(expected.bytes);
}

static void *pipe_write(void *user) {
    int descriptor = open(user, O_WRONLY);
    assert_true(write(descriptor, "{\"text\":\"p\"}\n", 13) == 13);
    close(descriptor);
    return NULL;
}

static void test_pipe(void **state) {
    (void)state;
    char name[] = "a.pipe";
    pthread_t thread;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_context *context = context_new();
    assert_int_equal(mkfifo(name, 0600), 0);
    struct nigh__rereading *source = source_open(context, name, options);
    assert_int_equal(pthread_create(&thread, NULL, pipe_write, name), 0);
    for (int i = 0; i < 3; i++) assert_pass(source, "a.pipe:1:be20e5191d44=p;");
    assert_int_equal(pthread_join(thread, NULL), 0);
    nigh__rereading_free(source);
    nigh_context_free(context);
    assert_int_equal(unlink(name), 0);
}

static void test_changes(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_context *context = context_new();
    const char *path = "changing.jsonl";
    const char *texts[] = {"{\"text\":\"a\"}\n", "{\"text\":\"b\"}\n", "{\"text\":\"a\"}\n\n"};
    for (int i = 1; i < 3; i++) {
        struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        file_write_all(path, texts[0], strlen(texts[0]));
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        struct nigh__rereading *source = source_open(context, path, options);
        assert_pass(source, "changing.jsonl:1:e6c632b61e96=a;");
        file_write_all(path, texts[i], strlen(texts[i]));
        char *found = pass(source, NIGH_ECORRUPT, UINT64_MAX);
        free(found);
        nigh__rereading_free(source);
    }
    /* In a folder, by the names. */
    assert_int_equal(mkdir("changing", 0777), 0);
    file_write_all("changing/a", "x", 1);
    struct nigh__rereading *source = source_open(context, "changing", options);
    assert_pass(source, "changing/a=x;");
    file_write_all("changing/b", "y", 1);
    char *found = pass(source, NIGH_ECORRUPT, UINT64_MAX);
    free(found);
    nigh__rereading_free(source);
    nigh_context_free(context);
}

/* A file in a folder, of the same length as before; also while it is read, also where the pass ends early. */
static void test_changes_in_folder(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_context *context = context_new();
    const char *path = "deep/changing/b";
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(mkdir("deep", 0777), 0);
    assert_int_equal(mkdir("deep/changing", 0777), 0);
    file_write_all("deep/changing/a", "w", 1);
    file_write_all("deep/changing/c", "z", 1);
    for (int early = 0; early < 2; early++) {
        file_write_all(path, "x", 1);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        struct nigh__rereading *source = source_open(context, "deep", options);
        assert_pass(source, "deep/changing/a=w;deep/changing/b=x;deep/changing/c=z;");
        assert_pass(source, "deep/changing/a=w;deep/changing/b=x;deep/changing/c=z;");
        file_write_all(path, "y", 1);
        nigh_text_reader *reader;
        nigh_text text = {.size = sizeof text};
        nigh_error error;
        assert_ok(early ? nigh__rereading_open(source, &reader, &error)
                        : nigh__rereading_open_raw(source, &reader, &error),
                  &error);
        nigh_status status = NIGH_OK;
        for (int i = 0; status == NIGH_OK && i < (early ? 3 : 4); i++)
            status = nigh_text_reader_next(reader, &text, &error);
        assert_int_equal(status, NIGH_ECORRUPT);
        assert_string_equal(error.file, path);
        nigh_text_reader_close(reader);
        nigh__rereading_free(source);
    }
    nigh_context_free(context);
}

/* In the midst of a file: noticed at its end, in any pass. */
static void test_change_while_read(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_context *context = context_new();
    struct memory_sink in = {0};
    for (unsigned i = 0; i < 100000; i++) sink_text(&in, "{\"text\":\"a\"}\n");
    assert_int_equal(mkdir("long", 0777), 0);
    for (int passes = 0; passes < 2; passes++) {
        nigh_text_reader *reader;
        nigh_text text = {.size = sizeof text};
        nigh_error error;
        file_write_all("long/a.jsonl", in.bytes, in.length);
        struct nigh__rereading *source = source_open(context, "long", options);
        if (passes > 0) free(pass(source, NIGH_OK, UINT64_MAX));
        assert_ok(nigh__rereading_open(source, &reader, &error), &error);
        assert_ok(nigh_text_reader_next(reader, &text, &error), &error);
        const struct timespec times[2] = {{.tv_sec = 2000}, {.tv_sec = 2000}};
        assert_int_equal(utimensat(AT_FDCWD, "long/a.jsonl", times, 0), 0);
        nigh_status status;
        while ((status = nigh_text_reader_next(reader, &text, &error)) == NIGH_OK) continue;
        assert_int_equal(status, NIGH_ECORRUPT);
        assert_string_equal(error.file, "long/a.jsonl");
        nigh_text_reader_close(reader);
        nigh__rereading_free(source);
    }
    free(in.bytes);
    nigh_context_free(context);
}

static void test_refused(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_context *context = context_new();
    struct nigh__rereading *source;
    nigh_error error;
    const char *dash = "-", *empty = "", *none = "none";
    assert_int_equal(nigh__rereading_new(context, &dash, 1, &options, ".", &source, &error), NIGH_EINVAL);
    assert_int_equal(nigh__rereading_new(context, &empty, 1, &options, ".", &source, &error), NIGH_ENOTFOUND);
    assert_int_equal(nigh__rereading_new(context, &none, 1, &options, ".", &source, &error), NIGH_ENOTFOUND);
    assert_int_equal(nigh__rereading_new(context, &none, 0, &options, ".", &source, &error), NIGH_EINVAL);
    assert_null(source);
    nigh__rereading_free(NULL);
    nigh_context_free(context);
}

/* No room for the copy: an error of the first pass, which names the stream. */
static void test_no_space(void **state) {
    (void)state;
    const char *in = "some text";
    for (uint64_t at = 0; at < 3; at++) {
        struct memory_source memory = {.bytes = (const uint8_t *)in, .length = 9, .fail_at = SIZE_MAX};
        nigh_stream stream = memory_source_stream(&memory);
        nigh_text_reader_options options;
        nigh_text_reader_options_init(&options);
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = at == 0 ? FAULT_WRITE : FAULT_OPEN;
        files.fail_at = 0;
        files.error = ENOSPC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        options.stream = &stream;
        struct nigh__rereading *source = source_open(context, "-", options);
        nigh_text_reader *reader;
        nigh_text text = {.size = sizeof text};
        nigh_error error;
        assert_ok(nigh__rereading_open(source, &reader, &error), &error);
        assert_int_equal(nigh_text_reader_next(reader, &text, &error), NIGH_EIO);
        assert_int_equal(error.system_errno, ENOSPC);
        nigh__rereading_explain(source, &error);
        assert_string_equal(error.file, ".");
        assert_non_null(strstr(error.why, "copy of a stream"));
        nigh_text_reader_close(reader);
        nigh__rereading_free(source);
        assert_int_equal(files.open_files, 0);
        nigh_context_free(context);
    }
}

static void test_memory(void **state) {
    (void)state;
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct faulty_memory memory = {.fail_at = at};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_text_reader_options options;
        nigh_text_reader_options_init(&options);
        struct nigh__rereading *source;
        nigh_error error;
        const char *paths[] = {"m1", "m2"};
        memory.fail_at = UINT64_MAX;
        nigh_context *context = context_with(NULL, &allocator, NULL);
        file_write_all("m1", "x", 1);
        file_write_all("m2", "y", 1);
        options.text_key = options.id_key = options.score_key = "k";
        memory.calls = 0;
        memory.fail_at = at;
        status = nigh__rereading_new(context, paths, 2, &options, ".", &source, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        memory.fail_at = UINT64_MAX;
        nigh__rereading_free(source);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
}

/* ------------------------------------------------------------------- scores */

static void test_scores(void **state) {
    (void)state;
    const char *in = "{\"text\":\"a\",\"meta\":{\"s\":1.5}}\n{\"text\":\"a\",\"meta\":{\"s\":-3}}\n"
                     "{\"text\":\"a\",\"meta\":{\"s\":\"7\"}}\n{\"text\":\"a\"}\n"
                     "{\"text\":\"a\",\"meta\":{\"s\":18446744073709551615}}\n{\"text\":\"a\",\"meta\":{\"s\":null}}\n"
                     "{\"text\":\"a\",\"meta\":{\"s\":1e-3}}\n"
                     "{\"text\":\"a\",\"meta\":{\"s\":1e400}}\n{\"text\":\"a\",\"meta\":{\"s\":-1e400}}\n"
                     "{\"text\":\"a\",\"meta\":{\"s\":123456789012345678901234567890}}\n"
                     "{\"text\":\"a\",\"x\":1e400,\"meta\":{\"s\":-1.5e-400}}\n"
                     "{\"text\":\"a\",\"x\":1e400,\"meta\":{\"s\":\"7\"}}\n"
                     "{\"text\":\"a\",\"meta\":{\"s\":1},\"meta\":{\"s\":2}}\n";
    const double expected[] = {1.5,
                               -3,
                               -(double)INFINITY,
                               -(double)INFINITY,
                               18446744073709551615.0,
                               -(double)INFINITY,
                               0.001,
                               DBL_MAX,
                               -DBL_MAX,
                               123456789012345678901234567890.0,
                               0,
                               -(double)INFINITY,
                               2};
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_context *context = context_new();
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    const char *path = "scores.jsonl";
    file_write_all(path, in, strlen(in));
    for (int with = 0; with < 2; with++) {
        options.score_key = with ? "meta.s" : NULL;
        assert_ok(nigh_text_reader_open(context, &path, 1, &options, &reader, &error), &error);
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            assert_ok(nigh_text_reader_next(reader, &text, &error), &error);
            assert_true(text.score == (with ? expected[i] : -(double)INFINITY));
        }
        nigh_text_reader_close(reader);
    }
    options.score_key = "";
    assert_int_equal(nigh_text_reader_open(context, &path, 1, &options, &reader, &error), NIGH_EINVAL);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_early_end),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_space),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_changes_in_folder),
        cmocka_unit_test(test_change_while_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
