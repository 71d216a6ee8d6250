/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept, byte for byte: lines, WARC, TREC, pages; compressed, annotated, refused, and without space. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dedup/dedup_options.h"
#include "dedup/deduplication.h"
#include "support/split_support.h"

#define MAX 100

/* ------------------------------------------------- a deduplication by hand */

struct work {
    nigh_context *context;
    nigh_dedup dedup;
    char *texts[MAX];
};

static void document_add(struct work *work, const nigh_text *text) {
    nigh_dedup *dedup = &work->dedup;
    size_t number = dedup->documents.count;
    assert_true(number < MAX);
    struct nigh__duplicate *document = nigh__array_add(work->context, &dedup->documents, 1);
    char *id = nigh__array_add(work->context, &dedup->ids, text->id_length);
    memcpy(id, text->id, text->id_length);
    work->texts[number] = calloc(text->text_length + 1, 1);
    assert_non_null(work->texts[number]);
    memcpy(work->texts[number], text->text, text->text_length);
    *document = (struct nigh__duplicate){.number = text->number,
                                         .id = dedup->ids.count - text->id_length,
                                         .id_length = (uint32_t)text->id_length,
                                         .kept = (uint32_t)number};
    for (size_t i = number; i-- > 0;)
        if (strcmp(work->texts[i], work->texts[number]) == 0) document->kept = (uint32_t)i;
}

/* The first of equal texts stays. */
static void work_begin(struct work *work, nigh_context *context, const char *const *paths, size_t count,
                       nigh_text_reader_options options, uint64_t limit) {
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    nigh_text_reader *reader;
    *work = (struct work){.context = context};
    work->dedup =
        (nigh_dedup){.context = context, .documents = NIGH__ARRAY(struct nigh__duplicate), .ids = NIGH__ARRAY(char)};
    nigh__options_defaults(&nigh__dedup_options_shape, &work->dedup.options);
    work->dedup.options.limit = limit;
    assert_ok(nigh__rereading_new(context, paths, count, &options, ".", &work->dedup.source, &error), &error);
    assert_ok(nigh__rereading_open(work->dedup.source, &reader, &error), &error);
    nigh_status status = NIGH_OK;
    while ((limit == 0 || work->dedup.documents.count < limit) &&
           (status = nigh_text_reader_next(reader, &text, &error)) == NIGH_OK)
        document_add(work, &text);
    if (limit == 0) assert_int_equal(status, NIGH_END);
    if (limit == 0) assert_ok(nigh__rereading_check(work->dedup.source, reader, &error), &error);
    nigh_text_reader_close(reader);
}

static void work_end(struct work *work) {
    for (size_t i = 0; i < MAX; i++) free(work->texts[i]);
    nigh__array_release(work->context, &work->dedup.documents);
    nigh__array_release(work->context, &work->dedup.ids);
    nigh__rereading_free(work->dedup.source);
}

/* What is written of bytes in a file "in": by a path, and by a stream in small pieces. */
static void assert_written(nigh_text_format format, const char *in, size_t in_length, bool annotate,
                           const char *expected, size_t length) {
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_dedup_write_options write;
    nigh_dedup_write_options_init(&write);
    nigh_dedup_written written = {.size = sizeof written};
    nigh_error error;
    const char *path = "in";
    struct memory_sink sink = {.chunk = 3};
    nigh_stream stream = memory_sink_stream(&sink);
    struct work work;
    file_write_all(path, in, in_length);
    options.format = format;
    work_begin(&work, context, &path, 1, options, 0);
    write.annotate = annotate;
    assert_ok(nigh_dedup_write(&work.dedup, "out", &write, &written, &error), &error);
    write.stream = &stream;
    assert_ok(nigh_dedup_write(&work.dedup, NULL, &write, NULL, &error), &error);
    struct bytes out = file_read_all("out");
    if (out.length != length || memcmp(out.data, expected, length) != 0)
        print_error("written:\n%.*s\nexpected:\n%s\n", (int)out.length, (char *)out.data, expected);
    assert_int_equal(out.length, length);
    assert_memory_equal(out.data, expected, length);
    assert_int_equal(sink.length, length);
    if (length > 0) assert_memory_equal(sink.bytes, expected, length);
    assert_int_equal(written.bytes, length);
    assert_false(path_exists("out.nigh.tmp"));
    free(out.data);
    free(sink.bytes);
    work_end(&work);
    nigh_context_free(context);
}

static void assert_text(nigh_text_format format, const char *in, bool annotate, const char *expected) {
    assert_written(format, in, strlen(in), annotate, expected, strlen(expected));
}

/* ------------------------------------------------------------------- lines */

static void test_json_lines(void **state) {
    (void)state;
    assert_text(NIGH_TEXT_JSONL,
                "\xef\xbb\xbf"
                "{ \"id\" : \"a\",\t\"text\":\"one\" } \r\n"
                "\n  \r\n"
                "not json {\n"
                "{\"id\":\"b\",\"text\":\"one\",\"id\":\"twice\"}\n"
                "{\"no\":\"text\"}\r\n"
                "{\"text\":\"one\",\"x\":1e400,\"text\":\"two\"}\n"
                "{\"text\":\"two\"}\n"
                "{\"text\":\"three\"}",
                false,
                "\xef\xbb\xbf"
                "{ \"id\" : \"a\",\t\"text\":\"one\" } \r\n"
                "\n  \r\n"
                "not json {\n"
                "{\"no\":\"text\"}\r\n"
                "{\"text\":\"one\",\"x\":1e400,\"text\":\"two\"}\n"
                "{\"text\":\"three\"}\n");
    assert_text(NIGH_TEXT_JSONL, "", false, "");
    assert_text(NIGH_TEXT_JSONL, "{\"text\":\"one\"}", false, "{\"text\":\"one\"}\n");
    assert_text(NIGH_TEXT_JSONL, "\n\n", false, "\n\n");
    assert_text(NIGH_TEXT_JSONL, "{\"text\":\"a\"}\n\n \n  ", false, "{\"text\":\"a\"}\n\n \n  \n");
}

static void test_text_lines(void **state) {
    (void)state;
    assert_text(NIGH_TEXT_LINES, "a\r\nb\na\n\n c\nb", false, "a\r\nb\n\n c\n");
    assert_written(NIGH_TEXT_LINES, "a\xff\n\0b\n", 6, false, "a\xff\n\0b\n", 6);
}

/* Batches end anywhere; whatever goes, the rest is as it was. */
static void test_many_lines(void **state) {
    (void)state;
    struct memory_sink in = {0}, out = {0};
    char line[200];
    for (unsigned i = 0; i < 30000; i++) {
        bool copy = i >= 50 && i % 2500 == 7; /* of line 7 */
        if (i < 50 || copy)
            (void)snprintf(line, sizeof line, "%*s{\"text\":\"%u\"}%s\n", (int)(i % 7), "", i < 50 ? i : 7,
                           i % 3 == 0 ? "\r" : "");
        else if (i % 50 == 7)
            (void)snprintf(line, sizeof line, "[%u\n", i);
        else
            (void)snprintf(line, sizeof line, "{\"n\":%u}%s\n", i, i % 5 == 0 ? "\n\n" : "");
        sink_text(&in, line);
        if (!copy) sink_text(&out, line);
    }
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.max_errors = NIGH_ALL_64;
    nigh_context *context = context_new();
    nigh_error error;
    const char *path = "many";
    struct work work;
    file_write_all(path, in.bytes, in.length);
    work_begin(&work, context, &path, 1, options, 0);
    assert_ok(nigh_dedup_write(&work.dedup, "out", NULL, NULL, &error), &error);
    struct bytes written = file_read_all("out");
    assert_int_equal(written.length, out.length);
    assert_memory_equal(written.data, out.bytes, out.length);
    free(written.data);
    free(in.bytes);
    free(out.bytes);
    work_end(&work);
    nigh_context_free(context);
}

/* -------------------------------------------------------------- WARC, TREC */

#define INFO "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\nnote\r\n\r\n"
#define REQUEST "WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
#define TEXT(id, length, text)                                                                    \
    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: " id "\r\nX-Odd:  folded\r\n\t on\r\n" \
    "Content-Length: " length "\r\n\r\n" text "\r\n\r\n"
#define BROKEN "WARC/1.0\r\nWARC-Type: response\r\n\r\nhow long?\r\n\r\n"

static void test_warc(void **state) {
    (void)state;
    assert_text(NIGH_TEXT_WARC,
                INFO TEXT("u:1", "3", "one") REQUEST TEXT("u:2", "3", "one") BROKEN TEXT("u:3", "3", "two"), false,
                INFO TEXT("u:1", "3", "one") REQUEST BROKEN TEXT("u:3", "3", "two"));
    /* What is cut off would swallow what another file begins with. */
    assert_text(NIGH_TEXT_WARC, TEXT("u:1", "3", "one") TEXT("u:2", "99", "cut"), false, TEXT("u:1", "3", "one"));
    assert_text(NIGH_TEXT_WARC, TEXT("u:1", "3", "one") "WARC/1.0\r\nWARC-Type: resp", false, TEXT("u:1", "3", "one"));
    assert_text(NIGH_TEXT_WARC, INFO INFO "WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 9\r\n\r\ncut", false,
                INFO INFO);
}

/* A record that is no document and larger than a batch. */
static void test_warc_large(void **state) {
    (void)state;
    struct memory_sink in = {0}, out = {0};
    size_t length = (size_t)3 << 20;
    char *body = malloc(length);
    memset(body, 'x', length);
    struct memory_sink *both[] = {&in, &out};
    for (size_t i = 0; i < 2; i++) {
        char head[200];
        (void)snprintf(head, sizeof head, "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: %zu\r\n\r\n", length);
        sink_text(both[i], TEXT("u:1", "3", "one"));
        sink_text(both[i], head);
        sink_add(both[i], body, length);
        sink_text(both[i], "\r\n\r\n");
        if (i == 0) sink_text(both[i], TEXT("u:2", "3", "one"));
        sink_text(both[i], TEXT("u:3", "5", "three"));
    }
    assert_written(NIGH_TEXT_WARC, (char *)in.bytes, in.length, false, (char *)out.bytes, out.length);
    free(body);
    free(in.bytes);
    free(out.bytes);
}

static void test_trec(void **state) {
    (void)state;
    assert_text(NIGH_TEXT_TREC,
                "<!-- head -->\n<DOC>\n<DOCNO>1</DOCNO>one</DOC>\n<doc><DOCNO>2</DOCNO>one</doc>\r\n\n"
                "<DOC><DOCNO>3</DOCNO>two</DOC> <x> <DOC><DOCNO>4</DOCNO>two</DOC><DOC>cut",
                false,
                "<!-- head -->\n<DOC>\n<DOCNO>1</DOCNO>one</DOC>\n\n"
                "<DOC><DOCNO>3</DOCNO>two</DOC> <x> <DOC>cut");
}

/* ------------------------------------------------------ pages, plain files */

static void test_whole_files(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_error error;
    struct work work;
    const char *paths[] = {"plain.txt", "page.html", "copy.txt", "lines.jsonl", "blank.txt", "picture.html"};
    file_write_all(paths[0], "say \"hi\"\n\x01\\", 11);
    file_write_all(paths[1], "<html><body><p>a page</body>", 28);
    file_write_all(paths[2], "say \"hi\"\n\x01\\", 11);
    file_write_all(paths[3], "{\"text\":\"a page\"}\n{\"text\": \"new\" }", 34);
    file_write_all(paths[4], " \n", 2);
    file_write_all(paths[5], "<html><img src=x></html>", 24);
    work_begin(&work, context, paths, 6, options, 0);
    assert_ok(nigh_dedup_write(&work.dedup, "out", NULL, NULL, &error), &error);
    struct bytes out = file_read_all("out");
    const char *expected = "{\"id\":\"plain.txt\",\"text\":\"say \\\"hi\\\"\\n\\u0001\\\\\"}\n"
                           "{\"id\":\"page.html\",\"text\":\"a page\"}\n"
                           "{\"text\": \"new\" }\n"
                           "{\"id\":\"picture.html\",\"text\":\"\"}\n";
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    free(out.data);
    nigh_dedup_write_options write;
    nigh_dedup_write_options_init(&write);
    write.annotate = 1;
    assert_ok(nigh_dedup_write(&work.dedup, "out", &write, NULL, &error), &error);
    out = file_read_all("out");
    expected = "{\"id\":\"plain.txt\",\"text\":\"say "
               "\\\"hi\\\"\\n\\u0001\\\\\",\"nigh_cluster\":\"plain.txt\",\"nigh_keep\":true}\n"
               "{\"id\":\"page.html\",\"text\":\"a page\",\"nigh_cluster\":\"page.html\",\"nigh_keep\":true}\n"
               "{\"id\":\"copy.txt\",\"text\":\"say "
               "\\\"hi\\\"\\n\\u0001\\\\\",\"nigh_cluster\":\"plain.txt\",\"nigh_keep\":false}\n"
               "{\"text\":\"a page\",\"nigh_cluster\":\"page.html\",\"nigh_keep\":false}\n"
               "{\"text\": \"new\" ,\"nigh_cluster\":\"lines.jsonl:2:4db73088ace6\",\"nigh_keep\":true}\n"
               "{\"id\":\"picture.html\",\"text\":\"\"}\n";
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    free(out.data);
    work_end(&work);
    nigh_context_free(context);
}

static void test_annotate(void **state) {
    (void)state;
    assert_text(NIGH_TEXT_JSONL,
                "{\"id\":\"a\\\"\\n\",\"text\":\"one\"}\r\n"
                "{\"id\":\"b\",\"text\":\"one\", \"deep\":{\"nigh_keep\":[1,{\"x\":\"}]\"}]}  }\n"
                "{\"nigh_keep\":false,\"text\":\"two\" , \"nigh_cluster\" : {\"a\":[\"},\\\"\"]}}\n"
                "{\"nigh_keep\":1,\"nigh_cluster\":\"x\"}\n"
                "oops\n"
                "{\"nigh_cluster\":[],\"text\":\"two\",\"z\":\"nigh_keep\"}\n"
                "{\"nigh\\u005fkeep\":1,\"text\":\"two\",\"\\u006Eigh_cluster\":2,\"nigh\\/keep\":3,"
                "\"nigh_kee\\u0170\":4,\"nigh_keep\\u0000\":5}",
                true,
                "{\"id\":\"a\\\"\\n\",\"text\":\"one\",\"nigh_cluster\":\"a\\\"\\n\",\"nigh_keep\":true}\r\n"
                "{\"id\":\"b\",\"text\":\"one\", \"deep\":{\"nigh_keep\":[1,{\"x\":\"}]\"}]}  "
                ",\"nigh_cluster\":\"a\\\"\\n\",\"nigh_keep\":false}\n"
                "{\"text\":\"two\" ,\"nigh_cluster\":\"in:3:6c0560bdcb29\",\"nigh_keep\":true}\n"
                "{\"nigh_keep\":1,\"nigh_cluster\":\"x\"}\n"
                "oops\n"
                "{\"text\":\"two\",\"z\":\"nigh_keep\",\"nigh_cluster\":\"in:3:6c0560bdcb29\",\"nigh_keep\":false}\n"
                "{\"text\":\"two\",\"nigh\\/keep\":3,\"nigh_kee\\u0170\":4,\"nigh_keep\\u0000\":5,"
                "\"nigh_cluster\":\"in:3:6c0560bdcb29\",\"nigh_keep\":false}\n");
}

/* ----------------------------------------------------------- several files */

static void test_several_files(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_error error;
    struct work work;
    const char *in = "\xef\xbb\xbf{\"text\":\"a\"}\n{\"text\":\"b\"}";
    const char *second = "\xef\xbb\xbf{\"text\":\"b\"}\n{\"text\":\"c\"}";
    struct bytes packed = pack_bytes(ARCHIVE_FILTER_GZIP, second, strlen(second));
    const char *paths[] = {"one", "two.gz"};
    file_write_all(paths[0], in, strlen(in));
    file_write_all(paths[1], packed.data, packed.length);
    work_begin(&work, context, paths, 2, options, 0);
    assert_ok(nigh_dedup_write(&work.dedup, "out", NULL, NULL, &error), &error);
    struct bytes out = file_read_all("out");
    const char *expected = "\xef\xbb\xbf{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n";
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    free(out.data);
    free(packed.data);
    work_end(&work);
    nigh_context_free(context);
}

static void test_limit_and_shard(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_error error;
    struct work work;
    const char *path = "in.jsonl";
    const char *in = "{\"text\":\"a\"}\n{\"text\":\"a\"}\n\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n{\"text\":\"d\"}\n";
    file_write_all(path, in, strlen(in));
    work_begin(&work, context, &path, 1, options, 3);
    assert_ok(nigh_dedup_write(&work.dedup, "out", NULL, NULL, &error), &error);
    struct bytes out = file_read_all("out");
    const char *expected = "{\"text\":\"a\"}\n\n{\"text\":\"b\"}\n";
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    free(out.data);
    work_end(&work);
    /* The shards together are the input, each gap in one of them. */
    struct memory_sink all = {0};
    for (options.shards = 3, options.shard = 0; options.shard < 3; options.shard++) {
        work_begin(&work, context, &path, 1, options, 0);
        assert_ok(nigh_dedup_write(&work.dedup, "out", NULL, NULL, &error), &error);
        out = file_read_all("out");
        sink_add(&all, out.data, out.length);
        free(out.data);
        work_end(&work);
    }
    expected = "{\"text\":\"a\"}\n{\"text\":\"c\"}\n{\"text\":\"a\"}\n{\"text\":\"d\"}\n\n{\"text\":\"b\"}\n";
    assert_int_equal(all.length, strlen(expected));
    assert_memory_equal(all.bytes, expected, all.length);
    free(all.bytes);
    nigh_context_free(context);
}

/* ------------------------------------------------------------- compressed */

static void test_compressed(void **state) {
    (void)state;
    static const char *const outs[] = {"out.jsonl.gz", "out.zst", "out.xz", "OUT.BZ2"};
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_error error;
    struct work work, again;
    const char *path = "in.jsonl";
    const char *in = "{\"text\":\"a\"}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    file_write_all(path, in, strlen(in));
    work_begin(&work, context, &path, 1, options, 0);
    for (size_t i = 0; i < sizeof outs / sizeof outs[0]; i++) {
        assert_ok(nigh_dedup_write(&work.dedup, outs[i], NULL, NULL, &error), &error);
        struct bytes first = file_read_all(outs[i]);
        assert_memory_not_equal(first.data, in, 5);
        assert_ok(nigh_dedup_write(&work.dedup, outs[i], NULL, NULL, &error), &error);
        struct bytes second = file_read_all(outs[i]);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.data, second.data, first.length);
        work_begin(&again, context, &outs[i], 1, options, 0);
        assert_ok(nigh_dedup_write(&again.dedup, "plain", NULL, NULL, &error), &error);
        struct bytes plain = file_read_all("plain");
        assert_int_equal(plain.length, 26);
        assert_memory_equal(plain.data, "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", 26);
        work_end(&again);
        free(first.data);
        free(second.data);
        free(plain.data);
    }
    work_end(&work);
    nigh_context_free(context);
}

/* Each record of a WARC file is a member of its own. */
static void test_warc_members(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_error error;
    struct work work;
    const char *path = "in.warc";
    const char *in = INFO TEXT("u:1", "3", "one") REQUEST TEXT("u:2", "3", "one") TEXT("u:3", "3", "two");
    file_write_all(path, in, strlen(in));
    work_begin(&work, context, &path, 1, options, 0);
    assert_ok(nigh_dedup_write(&work.dedup, "out.warc.gz", NULL, NULL, &error), &error);
    work_end(&work);
    struct bytes out = file_read_all("out.warc.gz");
    size_t members = 0;
    for (size_t i = 0; i + 2 < out.length; i++) members += memcmp(out.data + i, "\x1f\x8b\x08", 3) == 0;
    assert_int_equal(members, 4);
    assert_memory_equal(out.data + 4, "\0\0\0\0", 4); /* no time */
    free(out.data);
    const char *packed = "out.warc.gz";
    work_begin(&work, context, &packed, 1, options, 0);
    assert_int_equal(work.dedup.documents.count, 2);
    work_end(&work);
    nigh_context_free(context);
}

/* ----------------------------------------------------------------- refused */

static void assert_refused(struct work *work, const char *path, bool annotate, nigh_status expected, const char *why) {
    nigh_dedup_write_options write;
    nigh_dedup_write_options_init(&write);
    nigh_error error = {0};
    write.annotate = annotate;
    assert_int_equal(nigh_dedup_write(&work->dedup, path, &write, NULL, &error), expected);
    if (strstr(error_text(&error), why) == NULL) fail_msg("'%s' does not say '%s'", error_text(&error), why);
}

static void test_refused(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    struct work work;
    const char *paths[] = {"r.jsonl", "r.warc"};
    const char *line = "{\"text\":\"a\"}\n";
    file_write_all(paths[0], line, strlen(line));
    file_write_all(paths[1], TEXT("u:1", "3", "one"), strlen(TEXT("u:1", "3", "one")));
    work_begin(&work, context, paths, 1, options, 0);
    assert_refused(&work, "r.jsonl", false, NIGH_EINVAL, "is also an input");
    assert_refused(&work, "./r.jsonl", false, NIGH_EINVAL, "is also an input");
    assert_int_equal(link("r.jsonl", "linked"), 0);
    assert_refused(&work, "linked", false, NIGH_EINVAL, "'r.jsonl'");
    assert_int_equal(unlink("linked"), 0);
    assert_refused(&work, "", false, NIGH_ENOTFOUND, "empty");
    assert_refused(&work, NULL, false, NIGH_EINVAL, "no path");
    assert_refused(&work, "no/such/out", false, NIGH_ENOTFOUND, "no/such/out");
    struct bytes same = file_read_all("r.jsonl");
    assert_int_equal(same.length, strlen(line));
    free(same.data);
    work_end(&work);
    work_begin(&work, context, paths, 2, options, 0);
    assert_refused(&work, "never", false, NIGH_EINVAL, "several forms");
    assert_false(path_exists("never"));
    work_end(&work);
    work_begin(&work, context, paths + 1, 1, options, 0);
    assert_refused(&work, "never", true, NIGH_EINVAL, "annotated");
    work_end(&work);
    nigh_dedup rows = {.context = context};
    struct work of_rows = {.context = context, .dedup = rows};
    assert_refused(&of_rows, "never", false, NIGH_EINVAL, "signatures");
    assert_false(path_exists("never"));
    nigh_context_free(context);
}

/* An output in a folder that is read would be read with it. */
static void test_folder(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    struct work work;
    const char *path = "folder/";
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkdir("folder/deep", 0777), 0);
    file_write_all("folder/a", "text", 4);
    work_begin(&work, context, &path, 1, options, 0);
    assert_refused(&work, "folder/out", false, NIGH_EINVAL, "folder/");
    assert_refused(&work, "folder/deep/out", false, NIGH_EINVAL, "folder/");
    nigh_error error;
    assert_ok(nigh_dedup_write(&work.dedup, "folder.out", NULL, NULL, &error), &error);
    work_end(&work);
    nigh_context_free(context);
}

static void test_changed(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    struct work work;
    const char *path = "changes.jsonl";
    const char *before = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    const char *after = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n";
    file_write_all(path, before, strlen(before));
    work_begin(&work, context, &path, 1, options, 0);
    file_write_all(path, after, strlen(after));
    assert_refused(&work, "changed.out", false, NIGH_ECORRUPT, "changed while");
    assert_false(path_exists("changed.out"));
    work_end(&work);
    file_write_all(path, before, strlen(before));
    work_begin(&work, context, &path, 1, options, 1); /* the first document only, which stays as it is */
    file_write_all(path, after, strlen(after));
    assert_refused(&work, "changed.out", false, NIGH_ECORRUPT, "changed while");
    assert_false(path_exists("changed.out"));
    assert_false(path_exists("changed.out.nigh.tmp"));
    work_end(&work);
    nigh_context_free(context);
}

/* ------------------------------------------------------------------ faults */

/* Each file call fails once, each allocation too: an error, no file, nothing leaked. */
static void test_faults(void **state) {
    (void)state;
    const char *path = "f.jsonl";
    const char *in = "{\"text\":\"a\"}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    const char *outs[] = {"f.out", "f.out.gz"};
    file_write_all(path, in, strlen(in));
    for (size_t o = 0; o < 2; o++) {
        nigh_status status = NIGH_EIO;
        for (uint64_t at = 0; status != NIGH_OK; at++) {
            struct faulty_files files;
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_error error = {0};
            faulty_files_init(&files);
            files.kinds = FAULT_ALL & ~(unsigned)FAULT_REMOVE;
            files.error = ENOSPC;
            nigh_context *context = context_with(&files.table, &allocator, NULL);
            struct work work;
            nigh_text_reader_options options;
            nigh_text_reader_options_init(&options);
            work_begin(&work, context, &path, 1, options, 0);
            (void)unlink(outs[o]);
            files.calls = 0;
            files.fail_at = at;
            status = nigh_dedup_write(&work.dedup, outs[o], NULL, NULL, &error);
            if (status != NIGH_OK) assert_true(error.why[0] != '\0');
            if (status != NIGH_OK && files.failed_kind != FAULT_SYNC && files.failed_kind != FAULT_OPEN)
                assert_false(path_exists(outs[o]));
            assert_false(path_exists("f.out.nigh.tmp") || path_exists("f.out.gz.nigh.tmp"));
            work_end(&work);
            assert_int_equal(files.open_files, 0);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
        }
    }
}

static void test_memory(void **state) {
    (void)state;
    const char *path = "m.jsonl";
    const char *in = "{\"text\":\"a\",\"nigh_keep\":1}\n{\"text\":\"a\"}\nx\n{\"text\":\"b\"}\n";
    file_write_all(path, in, strlen(in));
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_text_reader_options options;
        nigh_text_reader_options_init(&options);
        nigh_dedup_write_options write;
        nigh_dedup_write_options_init(&write);
        nigh_error error = {0};
        struct work work;
        work_begin(&work, context, &path, 1, options, 0);
        (void)unlink("m.out");
        memory.calls = 0;
        memory.fail_at = at;
        write.annotate = 1;
        status = nigh_dedup_write(&work.dedup, "m.out", &write, NULL, &error);
        memory.fail_at = UINT64_MAX;
        /* Only the sync of the folder comes after the name is given. */
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        assert_false(path_exists("m.out.nigh.tmp"));
        work_end(&work);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_lines),    cmocka_unit_test(test_text_lines),
        cmocka_unit_test(test_many_lines),    cmocka_unit_test(test_warc),
        cmocka_unit_test(test_warc_large),    cmocka_unit_test(test_trec),
        cmocka_unit_test(test_whole_files),   cmocka_unit_test(test_annotate),
        cmocka_unit_test(test_several_files), cmocka_unit_test(test_limit_and_shard),
        cmocka_unit_test(test_compressed),    cmocka_unit_test(test_warc_members),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_folder),
        cmocka_unit_test(test_changed),       cmocka_unit_test(test_faults),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
