/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and parts of documents: what a reader finds under label_key and part_key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/extract.h"
#include "document/pipeline.h"
#include "support/support.h"
#include "support/text_support.h"

static nigh_text_reader_options labelled_options(void) {
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.format = NIGH_TEXT_JSONL;
    options.label_key = "meta.label";
    options.part_key = "part";
    return options;
}

/* Whether a line has this label and part (NULL: none), and how many problems it makes. */
static void expect_line(nigh_context *context, const char *line, const char *label, const char *part,
                        uint64_t problems) {
    nigh_text_reader_options options = labelled_options();
    struct text_input input;
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    assert_ok(text_input_open(context, line, &options, &input, &error), &error);
    assert_ok(nigh_text_reader_next(input.reader, &text, &error), &error);
    assert_int_equal(text.text_length, 1);
    assert_int_equal(text.text[0], 'x');
    assert_int_equal(text.label != NULL, label != NULL);
    assert_int_equal(text.label_length, label == NULL ? 0 : strlen(label));
    if (label != NULL) assert_memory_equal(text.label, label, text.label_length);
    assert_int_equal(text.part_length, part == NULL ? 0 : strlen(part));
    if (part != NULL) assert_memory_equal(text.part, part, text.part_length);
    assert_int_equal(input.problems, problems);
    if (problems > 0) assert_int_equal(input.last.line, 1);
    text_input_close(&input);
}

static void test_kinds(void **state) {
    static const struct {
        const char *value, *label;
        uint64_t problems;
    } cases[] = {
        {"\"a\"", "a", 0},
        {"\"two words\"", "two words", 0},
        {"\"a\\nb\\tc\\u0000d\\u007f\"", "a b c d ", 0},
        {"\"\\u00e9\"", "\u00e9", 0},
        {"7", "7", 0},
        {"-12", "-12", 0},
        {"1.50", "1.50", 0},
        {"-2.5e3", "-2.5e3", 0},
        {"1E-7", "1E-7", 0},
        {"18446744073709551616", "18446744073709551616", 0},
        {"1e999", "1e999", 0},
        {"true", "true", 0},
        {"false", "false", 0},
        {"null", NULL, 0},
        {"\"\"", NULL, 0},
        {"\" \\n\"", NULL, 0},
        {"[]", NULL, 0},
        {"[\"\",null]", NULL, 0},
        {"[\"a\",\"b\"]", "a\nb", 0},
        {"[\"b\",\"\",null,\"a\",\"b\"]", "b\na\nb", 0},
        {"[1,\"x\",2.50,true,123456789012345678901234567890]", "1\nx\n2.50\ntrue\n123456789012345678901234567890", 0},
        {"{}", NULL, 1},
        {"{\"a\":1}", NULL, 1},
        {"[\"a\",[\"b\"]]", NULL, 1},
        {"[\"a\",{}]", NULL, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "{\"text\":\"x\",\"meta\":{\"label\":%s},\"n\":1.5}\n", cases[i].value);
        expect_line(*state, line, cases[i].label, NULL, cases[i].problems);
    }
    expect_line(*state, "{\"text\":\"x\",\"meta.label\":\"whole key\"}\n", "whole key", NULL, 0);
    expect_line(*state, "{\"text\":\"x\",\"label\":\"elsewhere\"}\n", NULL, NULL, 0);
}

static void test_parts(void **state) {
    expect_line(*state, "{\"text\":\"x\",\"part\":\"train\",\"meta\":{\"label\":1.0}}\n", "1.0", "train", 0);
    expect_line(*state, "{\"text\":\"x\",\"part\":3}\n", NULL, "3", 0);
    expect_line(*state, "{\"text\":\"x\",\"part\":0.5,\"meta\":{\"label\":2.0}}\n", "2.0", "0.5", 0);
    expect_line(*state, "{\"text\":\"x\",\"part\":[\"test\"]}\n", NULL, "test", 0);
    expect_line(*state, "{\"text\":\"x\",\"part\":[\"a\",\"b\"],\"meta\":{\"label\":\"l\"}}\n", "l", NULL, 1);
    expect_line(*state, "{\"text\":\"x\",\"part\":{},\"meta\":{\"label\":\"l\"}}\n", "l", NULL, 1);
    expect_line(*state, "{\"text\":\"x\",\"part\":null}\n", NULL, NULL, 0);
}

/* A number in quotes for the label's sake is a number still to the others. */
static void test_others_stay(void **state) {
    nigh_text_reader_options options = labelled_options();
    struct text_input input;
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    options.score_key = "s";
    const char *lines = "{\"id\":12,\"text\":\"x\",\"s\":2.5,\"meta\":{\"label\":[0.10]}}\n"
                        "{\"id\":1.5,\"text\":\"y\",\"s\":7,\"meta\":{\"label\":0.2}}\n";
    assert_ok(text_input_open(*state, lines, &options, &input, &error), &error);
    assert_ok(nigh_text_reader_next(input.reader, &text, &error), &error);
    assert_memory_equal(text.id, "12", 2);
    assert_memory_equal(text.label, "0.10", 4);
    assert_true(text.score == 2.5);
    assert_ok(nigh_text_reader_next(input.reader, &text, &error), &error);
    assert_int_not_equal(text.id_length == 3 && memcmp(text.id, "1.5", 3) == 0, 1);
    assert_true(text.score == 7);
    text_input_close(&input);
}

/* So many labels of so many letters each. */
static char *line_of_labels(size_t count, size_t letters) {
    char *line = malloc(64 + count * (letters + 3));
    assert_non_null(line);
    char *at = line + sprintf(line, "{\"text\":\"x\",\"meta\":{\"label\":[");
    for (size_t i = 0; i < count; i++) {
        *at++ = i == 0 ? ' ' : ',';
        *at++ = '"';
        memset(at, 'l', letters);
        at += letters;
        *at++ = '"';
    }
    (void)sprintf(at, "]}}\n");
    return line;
}

static void expect_limit(nigh_context *context, size_t count, size_t letters, size_t expected) {
    nigh_text_reader_options options = labelled_options();
    struct text_input input;
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    char *line = line_of_labels(count, letters);
    assert_ok(text_input_open(context, line, &options, &input, &error), &error);
    assert_ok(nigh_text_reader_next(input.reader, &text, &error), &error);
    assert_int_equal(text.label_length, expected);
    assert_int_equal(input.problems, expected == 0);
    if (expected == 0) assert_int_equal(input.last.status, NIGH_ELIMIT);
    text_input_close(&input);
    free(line);
}

static void test_limits(void **state) {
    expect_limit(*state, NIGH__MAX_LABELS, 1, NIGH__MAX_LABELS * 2 - 1);
    expect_limit(*state, NIGH__MAX_LABELS + 1, 1, 0);
    expect_limit(*state, 1, NIGH__MAX_LABEL_BYTES, NIGH__MAX_LABEL_BYTES);
    expect_limit(*state, 1, NIGH__MAX_LABEL_BYTES + 1, 0);
    expect_limit(*state, 4, NIGH__MAX_LABEL_BYTES / 4, 0);
    expect_limit(*state, 4, NIGH__MAX_LABEL_BYTES / 4 - 1, NIGH__MAX_LABEL_BYTES - 1);
}

/* Bad labels count as malformed parts, as everything malformed does. */
static void test_strict(void **state) {
    nigh_text_reader_options options = labelled_options();
    struct text_input input;
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    options.strict = 1;
    assert_ok(text_input_open(*state, "{\"text\":\"x\",\"meta\":{\"label\":{}}}\n", &options, &input, &error), &error);
    assert_int_equal(nigh_text_reader_next(input.reader, &text, &error), NIGH_EFORMAT);
    assert_non_null(strstr(error_text(&error), "meta.label"));
    text_input_close(&input);
    options.label_key = "";
    assert_int_equal(text_input_open(*state, "{}\n", &options, &input, &error), NIGH_EINVAL);
    options.label_key = NULL;
    options.part_key = "";
    assert_int_equal(text_input_open(*state, "{}\n", &options, &input, &error), NIGH_EINVAL);
}

/* -------------------------------------------------------- the pipeline */

static nigh_status worker_new(void *user, void **worker, nigh_error *error) {
    (void)error;
    *worker = user;
    return NIGH_OK;
}
static void worker_free(void *user, void *worker) { (void)user, (void)worker; }

/* "LABEL|PART" */
static nigh_status work(void *worker, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    (void)error;
    char *out = nigh__array_add(worker, product, text->label_length + 1 + text->part_length);
    if (out == NULL) return NIGH_ENOMEM;
    if (text->label_length > 0) memcpy(out, text->label, text->label_length);
    out[text->label_length] = '|';
    if (text->part_length > 0) memcpy(out + text->label_length + 1, text->part, text->part_length);
    return NIGH_OK;
}

static void expect_pipeline(nigh_context *context, uint32_t threads) {
    static char lines[40000];
    char *at = lines;
    for (int i = 0; i < 500; i++) {
        if (i % 10 == 0)
            at += sprintf(at, "{\"text\":\"t\",\"meta\":{\"label\":{}},\"part\":\"p%d\"}\n", i);
        else
            at += sprintf(at, "{\"text\":\"t\",\"meta\":{\"label\":[%d,\"l\"]},\"part\":\"p%d\"}\n", i, i);
    }
    nigh_text_reader_options options = labelled_options();
    struct nigh__pipeline_work labels = {context, worker_new, worker_free, work, NULL};
    struct nigh__pipeline *pipeline;
    struct nigh__product product;
    struct text_input input;
    nigh_error error;
    assert_ok(text_input_open(context, lines, &options, &input, &error), &error);
    assert_ok(nigh__pipeline_open(input.reader, &labels, threads, NULL, &pipeline, &error), &error);
    for (int i = 0; i < 500; i++) {
        char expected[32];
        assert_ok(nigh__pipeline_next(pipeline, &product, &error), &error);
        if (i % 10 == 0)
            (void)snprintf(expected, sizeof expected, "|p%d", i);
        else
            (void)snprintf(expected, sizeof expected, "%d\nl|p%d", i, i);
        assert_int_equal(product.length, strlen(expected));
        assert_memory_equal(product.bytes, expected, product.length);
        assert_int_equal(input.problems, i / 10 + 1);
    }
    assert_int_equal(nigh__pipeline_next(pipeline, &product, &error), NIGH_END);
    nigh__pipeline_close(pipeline);
    text_input_close(&input);
}

static void test_pipeline(void **state) {
    expect_pipeline(*state, 1);
    expect_pipeline(*state, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),  cmocka_unit_test(test_parts),  cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_strict), cmocka_unit_test(test_pipeline),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
