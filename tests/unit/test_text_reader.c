/* SPDX-License-Identifier: Apache-2.0 */
/* The public reader of documents: what it gives, counts, bears and refuses. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <cmocka.h>

#include "support/split_support.h"

struct outcome {
    nigh_status status;
    nigh_error error;
    nigh_text_reader_info info;
    struct memory_sink texts;    /* "ID=TEXT\n" each, terminated */
    struct memory_sink problems; /* a message a line, terminated */
};

static void note_problem(void *user, const nigh_error *problem) {
    struct outcome *outcome = user;
    sink_text(&outcome->problems, error_text(problem));
    sink_text(&outcome->problems, "\n");
}

static struct outcome read_paths(nigh_context *context, const char *const *paths, size_t count,
                                 nigh_text_reader_options options) {
    struct outcome outcome = {.info = {.size = sizeof(nigh_text_reader_info)}};
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
    options.problem = note_problem;
    options.user = &outcome;
    outcome.status = nigh_text_reader_open(context, paths, count, &options, &reader, &outcome.error);
    while (outcome.status == NIGH_OK) {
        outcome.status = nigh_text_reader_next(reader, &text, &outcome.error);
        if (outcome.status != NIGH_OK) break;
        sink_add(&outcome.texts, text.id, text.id_length);
        sink_text(&outcome.texts, "=");
        sink_add(&outcome.texts, text.text, text.text_length);
        sink_text(&outcome.texts, "\n");
        assert_true(strlen(text.source) > 0);
    }
    if (reader != NULL) nigh_text_reader_describe(reader, &outcome.info);
    nigh_text_reader_close(reader);
    sink_add(&outcome.texts, "", 1);
    sink_add(&outcome.problems, "", 1);
    return outcome;
}

static struct outcome read_text(const char *text, nigh_text_reader_options options) {
    nigh_context *context = context_new();
    const char *path = "in";
    file_write_all(path, text, strlen(text));
    struct outcome outcome = read_paths(context, &path, 1, options);
    nigh_context_free(context);
    return outcome;
}

static void outcome_free(struct outcome *outcome) {
    free(outcome->texts.bytes);
    free(outcome->problems.bytes);
}

#define MIXED                                                                                                  \
    "{\"id\": \"a\", \"text\": \"first\"}\n{\"text\": \"no id\"}\nnot json\n{\"id\": \"b\"}\n{\"id\": \"c\"\n" \
    "{\"id\": \"d\", \"text\": \"last\"}\n"

static void test_counts(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    struct outcome outcome = read_text(MIXED, options);
    assert_int_equal(outcome.status, NIGH_END);
    assert_string_equal((char *)outcome.texts.bytes, "a=first\nin:2:7d4d3aa6dad8=no id\nd=last\n");
    assert_int_equal(outcome.info.files, 1);
    assert_int_equal(outcome.info.records, 6);
    assert_int_equal(outcome.info.documents, 3);
    assert_int_equal(outcome.info.missing, 1);
    assert_int_equal(outcome.info.problems, 2);
    assert_int_equal(outcome.info.bytes_read, strlen(MIXED));
    assert_int_equal(outcome.info.bytes_total, strlen(MIXED));
    assert_int_equal(outcome.info.bytes_text, 14);
    assert_non_null(strstr((char *)outcome.problems.bytes, "'in', line 3"));
    assert_non_null(strstr((char *)outcome.problems.bytes, "'in', line 5"));
    outcome_free(&outcome);
}

#define SPOKEN                                                                                                   \
    "{\"id\": \"a\", \"text\": \"the man who was there with his dog\"}\n{\"id\": \"b\", \"text\": \"so\"}\n"     \
    "{\"id\": \"c\", \"text\": \"der Mann der mit seinem Hund da war\"}\n{\"id\": \"d\", \"text\": \"1 2 3\"}\n" \
    "{\"id\": \"e\"}\n"

/* What is left out is counted by the first reason, and is neither missing nor a problem. */
static void test_left_out(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.min_bytes = 3;
    options.min_words = 4;
    options.only_language = "en";
    struct outcome outcome = read_text(SPOKEN, options);
    assert_int_equal(outcome.status, NIGH_END);
    assert_string_equal((char *)outcome.texts.bytes, "a=the man who was there with his dog\n");
    assert_int_equal(outcome.info.records, 5);
    assert_int_equal(outcome.info.documents, 1);
    assert_int_equal(outcome.info.missing, 1);
    assert_int_equal(outcome.info.problems, 0);
    assert_int_equal(outcome.info.too_few_bytes, 1);
    assert_int_equal(outcome.info.too_few_words, 1);
    assert_int_equal(outcome.info.other_language, 1);
    outcome_free(&outcome);
    options.min_bytes = 2;
    options.min_words = 1;
    options.only_language = "german";
    outcome = read_text(SPOKEN, options);
    assert_string_equal((char *)outcome.texts.bytes, "b=so\nc=der Mann der mit seinem Hund da war\nd=1 2 3\n");
    assert_int_equal(outcome.info.other_language, 1);
    outcome_free(&outcome);
}

static void test_keys(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.text_key = "page.body";
    options.id_key = "url";
    struct outcome outcome = read_text("{\"url\": \"u\", \"page\": {\"body\": \"deep\"}}\n", options);
    assert_string_equal((char *)outcome.texts.bytes, "u=deep\n");
    outcome_free(&outcome);
}

static void test_strict(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.strict = 1;
    struct outcome outcome = read_text(MIXED, options);
    assert_int_equal(outcome.status, NIGH_EFORMAT);
    assert_int_equal(outcome.error.line, 3);
    assert_string_equal((char *)outcome.texts.bytes, "a=first\nin:2:7d4d3aa6dad8=no id\n");
    outcome_free(&outcome);
}

static void test_max_errors(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    for (options.max_errors = 0; options.max_errors < 3; options.max_errors++) {
        struct outcome outcome = read_text(MIXED, options);
        assert_int_equal(outcome.status, options.max_errors < 2 ? NIGH_ELIMIT : NIGH_END);
        assert_int_equal(outcome.info.problems, options.max_errors < 2 ? options.max_errors + 1 : 2);
        if (options.max_errors == 1)
            assert_string_equal(error_text(&outcome.error),
                                "'in': more than 1 malformed parts in the input; max_errors allows no more");
        outcome_free(&outcome);
    }
}

/* A problem of the splitter goes the same way as one of the extractor, and in the order of the input. */
static void test_order_of_problems(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.max_document_bytes = 20;
    struct outcome outcome =
        read_text("{\"text\": \"fits\"}\nbroken\n{\"text\": \"far too long a line\"}\nbroken too\n", options);
    assert_int_equal(outcome.status, NIGH_END);
    assert_string_equal((char *)outcome.texts.bytes, "in:1:bc979b4505d2=fits\n");
    const char *two = strstr((char *)outcome.problems.bytes, "'in', line 2");
    const char *three = strstr((char *)outcome.problems.bytes, "'in', line 3: the document is longer than 20 bytes");
    const char *four = strstr((char *)outcome.problems.bytes, "'in', line 4");
    assert_true(two != NULL && three > two && four > three);
    assert_int_equal(outcome.info.problems, 3);
    outcome_free(&outcome);
}

static void test_repaired(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.format = NIGH_TEXT_LINES;
    struct outcome outcome = read_text("good\nbad \xff byte\n", options);
    assert_int_equal(outcome.status, NIGH_END);
    assert_string_equal((char *)outcome.texts.bytes,
                        "in:1:6e9d131583d7=good\nin:2:f691372a1eeb=bad \xef\xbf\xbd byte\n");
    assert_string_equal((char *)outcome.problems.bytes, "'in', offset 9: bytes that are not UTF-8 were replaced\n");
    assert_int_equal(outcome.info.documents, 2);
    assert_int_equal(outcome.info.problems, 1);
    outcome_free(&outcome);
}

static void test_stream_and_sizes(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    struct memory_source source = {.bytes = (const uint8_t *)"from the stream", .length = 15, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_context *context = context_new();
    static const char *const paths[] = {"one", "-", "one"};
    file_write_all("one", "text", 4);
    options.stream = &stream;
    struct outcome outcome = read_paths(context, paths, 3, options);
    assert_string_equal((char *)outcome.texts.bytes, "one=text\n-:db4848df47ad=from the stream\none=text\n");
    assert_int_equal(outcome.info.bytes_total, 0); /* of the stream it is not known */
    assert_int_equal(outcome.info.bytes_read, 23);
    assert_int_equal(outcome.info.files, 3);
    outcome_free(&outcome);
    nigh_context_free(context);
}

static void test_refused(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader *reader;
    nigh_error error;
    const char *path = "one";
    file_write_all(path, "text", 4);
    nigh_stream deaf = {0};
    nigh_text_reader_options bad[6];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) nigh_text_reader_options_init(&bad[i]);
    bad[0].format = (nigh_text_format)10;
    bad[1].shard = 2;
    bad[1].shards = 2;
    bad[2].shard = 1;
    bad[3].stream = &deaf;
    bad[4].text_key = "";
    bad[5].only_language = "pl"; /* for which there are no stop words */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(nigh_text_reader_open(context, &path, 1, &bad[i], &reader, &error), NIGH_EINVAL);
        assert_null(reader);
    }
    assert_int_equal(nigh_text_reader_open(context, NULL, 0, NULL, &reader, &error), NIGH_EINVAL);
    const char *absent = "absent";
    assert_int_equal(nigh_text_reader_open(context, &absent, 1, NULL, &reader, &error), NIGH_ENOTFOUND);
    assert_string_equal(error_text(&error), "'absent': cannot open: No such file or directory");
    assert_int_equal(nigh_text_reader_open(context, &path, 1, NULL, &reader, NULL), NIGH_OK);
    nigh_text_reader_close(reader);
    nigh_text_reader_close(NULL);
    nigh_context_free(context);
}

/* After a failure there is no more; after the end there is the end. */
static void test_after_the_end(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    const char *path = "in";
    file_write_all(path, "{}\nx\n", 5);
    assert_ok(nigh_text_reader_open(context, &path, 1, &options, &reader, &error), &error);
    assert_int_equal(nigh_text_reader_next(reader, &text, &error), NIGH_END);
    assert_int_equal(nigh_text_reader_next(reader, &text, NULL), NIGH_END);
    nigh_text_reader_close(reader);
    options.strict = 1;
    assert_ok(nigh_text_reader_open(context, &path, 1, &options, &reader, &error), &error);
    assert_int_equal(nigh_text_reader_next(reader, &text, &error), NIGH_EFORMAT);
    assert_int_equal(nigh_text_reader_next(reader, &text, &error), NIGH_EINVAL);
    nigh_text_reader_close(reader);
    nigh_context_free(context);
}

struct told {
    unsigned damaged, binary, remarks, others;
    uint32_t name_at;
    char why[256];
};

static void tell(void *user, const nigh_error *problem) {
    struct told *told = user;
    told->damaged += problem->reason == NIGH_REASON_LOST_INPUT;
    told->binary += problem->reason == NIGH_REASON_NOT_TEXT;
    if (problem->reason == NIGH_REASON_NO_KEY || problem->reason == NIGH_REASON_ONE_DOCUMENT) {
        told->remarks++;
        told->name_at = problem->name_at;
        (void)snprintf(told->why, sizeof told->why, "%s", problem->why);
    } else {
        told->others += problem->reason == NIGH_REASON_NONE;
    }
}

/* Reads all there is; what it ended with. */
static nigh_status read_through(const char *path, nigh_text_reader_options *options, struct told *told,
                                nigh_text_reader_info *info, nigh_error *error) {
    nigh_context *context = context_with(NULL, NULL, NULL);
    nigh_text_reader *reader = NULL;
    nigh_text text = {.size = sizeof text};
    *told = (struct told){0};
    options->problem = tell;
    options->user = told;
    nigh_status status = nigh_text_reader_open(context, &path, 1, options, &reader, error);
    while (status == NIGH_OK) status = nigh_text_reader_next(reader, &text, error);
    *info = (nigh_text_reader_info){.size = sizeof *info};
    nigh_text_reader_describe(reader, info);
    nigh_text_reader_close(reader);
    nigh_context_free(context);
    return status;
}

/* What is lost ends the reading unless it may be; what is binary never does, whatever max_errors and `strict` say. */
static void test_losses(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_info info;
    nigh_error error;
    struct told told;
    nigh_text_reader_options_init(&options);
    file_write_all("cut.gz", "\x1f\x8b\x08\0\0\0\0\0\0\0garbage", 17);
    assert_int_equal(read_through("cut.gz", &options, &told, &info, &error), NIGH_EFORMAT);
    assert_int_equal(error.reason, NIGH_REASON_LOST_INPUT);
    options.allow_loss = 1;
    options.max_errors = 0;
    assert_int_equal(read_through("cut.gz", &options, &told, &info, &error), NIGH_END);
    assert_int_equal(told.damaged, 1);
    assert_int_equal(info.damaged, 1);
    assert_int_equal(info.problems, 0);
    options.strict = 1;
    assert_int_equal(read_through("cut.gz", &options, &told, &info, &error), NIGH_EFORMAT);
    file_write_all("binary", "a\0b", 3);
    assert_int_equal(read_through("binary", &options, &told, &info, &error), NIGH_END);
    assert_int_equal(info.binary, 1);
    assert_int_equal(info.problems, 0);
}

/* A wrong key is told once, at the end, with those there are; no problem, but a remark. */
static void test_remarks(void **state) {
    (void)state;
    static const char lines[] = "{\"uid\":\"1\",\"body\":\"a text\",\"n\":3}\n{\"text\":7}\n";
    nigh_text_reader_options options;
    nigh_text_reader_info info;
    nigh_error error;
    struct told told;
    nigh_text_reader_options_init(&options);
    options.strict = 1;
    file_write_all("in", lines, strlen(lines));
    assert_int_equal(read_through("in", &options, &told, &info, &error), NIGH_END);
    assert_int_equal(info.missing, 2);
    assert_int_equal(told.remarks, 1);
    assert_string_equal(told.why, "no record has 'text'; the first has uid, n, body");
    assert_string_equal(told.why + told.name_at, "body");
    const char *more[] = {"body"};
    options.text_key = "uid";
    options.more_text_keys = more;
    options.more_text_key_count = 1;
    assert_int_equal(read_through("in", &options, &told, &info, &error), NIGH_END);
    assert_int_equal(told.remarks, 0);
    assert_int_equal(info.documents, 1);
    assert_int_equal(info.bytes_text, strlen("1\na text"));
    struct memory_sink many = {0};
    for (int i = 0; i < 101; i++) sink_text(&many, "a line\n");
    file_write_all("in", many.bytes, many.length);
    assert_int_equal(read_through("in", &options, &told, &info, &error), NIGH_END);
    assert_int_equal(told.remarks, 1);
    assert_string_equal(told.why, "its 101 lines were read as one document");
    options.format = NIGH_TEXT_PLAIN;
    assert_int_equal(read_through("in", &options, &told, &info, &error), NIGH_END);
    assert_int_equal(told.remarks, 0);
    free(many.bytes);
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(nigh_text_format_name(NIGH_TEXT_AUTO), "auto");
    assert_string_equal(nigh_text_format_name(NIGH_TEXT_TREC), "trec");
    assert_string_equal(nigh_text_format_name(NIGH_TEXT_TSV), "tsv");
    assert_null(nigh_text_format_name((nigh_text_format)10));
}

/* The options and paths may go once the reader is open. */
static void test_lifetime(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options *options = malloc(sizeof *options);
    char *key = malloc(5);
    char *path = malloc(3);
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    nigh_text_reader_options_init(options);
    memcpy(key, "body", 5);
    memcpy(path, "in", 3);
    options->text_key = key;
    file_write_all(path, "{\"body\": \"x\"}", 13);
    assert_ok(nigh_text_reader_open(context, (const char *const *)&path, 1, options, &reader, &error), &error);
    memset(key, 'z', 4);
    memset(path, 'z', 2);
    free(key);
    free(path);
    free(options);
    assert_ok(nigh_text_reader_next(reader, &text, &error), &error);
    assert_int_equal(text.text_length, 1);
    assert_int_equal(text.line, 1);
    assert_string_equal(text.source, "in");
    nigh_text_reader_close(reader);
    nigh_context_free(context);
}

/* Every request for memory fails once: an error, and nothing kept. */
static void test_memory(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.min_words = 1;
    options.only_language = "en";
    const char *path = "in";
    file_write_all(path, MIXED, strlen(MIXED));
    for (uint64_t call = 0;; call++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        memory.calls = 0;
        memory.fail_at = call;
        struct outcome outcome = read_paths(context, &path, 1, options);
        bool done = memory.calls <= call;
        assert_int_equal(outcome.status, done ? NIGH_END : NIGH_ENOMEM);
        outcome_free(&outcome);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (done) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_keys),       cmocka_unit_test(test_strict),
        cmocka_unit_test(test_max_errors), cmocka_unit_test(test_order_of_problems),
        cmocka_unit_test(test_repaired),   cmocka_unit_test(test_stream_and_sizes),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_after_the_end),
        cmocka_unit_test(test_losses),     cmocka_unit_test(test_remarks),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
