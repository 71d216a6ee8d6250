/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of JSON: where the text and the id are, and what is no JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "support/extract_support.h"
#include "support/support.h"

static struct extraction json_with(const char *text_key, const char *id_key, const char *line) {
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.text_key = text_key;
    options.id_key = id_key;
    struct extraction result = extract_with(context, &options, NIGH__RECORD_JSON, line, strlen(line));
    nigh_context_free(context);
    return result;
}

static void expect_keys(const char *text_key, const char *id_key, const char *line, const char *text, const char *id) {
    struct extraction result = json_with(text_key, id_key, line);
    assert_string_equal(result.message, "");
    assert_int_equal(result.status, text == NULL ? NIGH_ENOTFOUND : NIGH_OK);
    if (text != NULL) assert_string_equal(result.text, text);
    if (text != NULL) assert_string_equal(result.id, id);
    assert_true(result.repaired == NIGH_NO_OFFSET);
    extraction_release(&result);
}

static void test_text(void **state) {
    (void)state;
    expect_keys(NULL, NULL, "{\"id\":\"a\",\"text\":\"hello\"}", "hello", "a");
    expect_keys(NULL, NULL, " {\"text\":\"hello\"} \r", "hello", "own-id");
    expect_keys(NULL, NULL, "\xef\xbb\xbf{\"text\":\"hello\"}", "hello", "own-id");
    expect_keys(NULL, NULL, "{\"text\":\"\\u00e9\\ud83d\\ude00\\n\\\"\"}", "\u00e9\U0001f600\n\"", "own-id");
    expect_keys(NULL, NULL, "{\"text\":\"first\",\"text\":\"second\"}", "second", "own-id");
    expect_keys(NULL, NULL, "{\"id\":1,\"text\":\"x\",\"\\u0069d\":\"last\"}", "x", "last");
    expect_keys("a.b", NULL, "{\"a\":{\"b\":\"x\"},\"a\":{\"b\":\"y\",\"b\":\"z\"}}", "z", "own-id");
    expect_keys(NULL, NULL, "{\"text\":[\"a\",\"\",\"b\"]}", "a\n\nb", "own-id");
    expect_keys(NULL, NULL, "{\"t\\u0065xt\":\"escaped key\"}", "escaped key", "own-id");
    expect_keys("body", "key", "{\"body\":\"x\",\"key\":\"k\",\"text\":\"y\"}", "x", "k");
}

static void test_no_text(void **state) {
    (void)state;
    static const char *const lines[] = {
        "{}",
        "{\"text\":\"\"}",
        "{\"text\":\" \\n\"}",
        "{\"text\":null}",
        "{\"text\":1}",
        "{\"text\":{\"text\":\"x\"}}",
        "{\"text\":[]}",
        "{\"text\":[\"a\",1]}",
        "{\"text\":[[\"a\"]]}",
        "[\"text\",\"x\"]",
        "\"text\"",
        "1",
        "null",
        "",
        "  ",
        "{\"Text\":\"x\"}",
        "{\"a\":{\"text\":\"x\"}}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) expect_text(NIGH__RECORD_JSON, lines[i], NULL);
}

static void test_paths(void **state) {
    (void)state;
    expect_keys("a.b.c", "a.id", "{\"a\":{\"b\":{\"c\":\"deep\"},\"id\":5}}", "deep", "5");
    expect_keys("a.b.c", NULL, "{\"a\":{\"b.c\":\"half\"}}", "half", "own-id");
    expect_keys("a.b.c", NULL, "{\"a\":{\"b\":{\"c\":\"deep\"}},\"a.b.c\":\"whole\"}", "whole", "own-id");
    expect_keys("a.b", NULL, "{\"a\":[{\"b\":\"in an array\"}]}", NULL, NULL);
    expect_keys("a.b", NULL, "{\"a\":\"b\"}", NULL, NULL);
    expect_keys("a.", NULL, "{\"a\":{\"\":\"empty key\"}}", "empty key", "own-id");
    expect_keys("", NULL, "{\"\":\"empty key\"}", "empty key", "own-id");
    expect_keys("t", "i.j", "{\"t\":[\"x\"],\"i\":{\"j\":[\"no\"]}}", "x", "own-id");
}

static void test_ids(void **state) {
    (void)state;
    static const struct {
        const char *value, *id;
    } cases[] = {
        {"\"a b\"", "a b"},
        {"\"\"", "own-id"},
        {"0", "0"},
        {"-1", "-1"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", "18446744073709551616"},
        {"-9223372036854775809", "-9223372036854775809"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"1.5", "own-id"},
        {"true", "own-id"},
        {"null", "own-id"},
        {"[1]", "own-id"},
        {"\"a\\tb\\nc\"", "a\tb\nc"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "{\"x\":1e999,\"id\":%s,\"text\":\"12345678901234567890\\\"1e9 x\"}",
                       cases[i].value);
        expect_keys(NULL, NULL, line, "12345678901234567890\"1e9 x", cases[i].id);
        (void)snprintf(line, sizeof line, "{\"id\":%s,\"text\":\"x\"}", cases[i].value);
        expect_keys(NULL, NULL, line, "x", cases[i].id);
    }
}

/* Cut at a character: 65,533 letters, and one of three bytes that would end at 65,536. */
static void test_long_id(void **state) {
    (void)state;
    static char line[70000];
    memset(line, 'a', sizeof line);
    memcpy(line, "{\"text\":\"x\",\"id\":\"", 18);
    memcpy(line + 18 + 65533, "\u20ac\u20ac\"}", 9);
    struct extraction result = json_with(NULL, NULL, line);
    assert_int_equal(result.status, NIGH_OK);
    assert_int_equal(result.id_length, 65533);
    extraction_release(&result);
    memcpy(line + 18 + 65532, "\u20ac\u20ac\"}", 9);
    result = json_with(NULL, NULL, line);
    assert_int_equal(result.id_length, 65535);
    extraction_release(&result);
}

#define PLACE "'file', line 7: not JSON: "

static void test_bad(void **state) {
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"{\"text\":\"x\"", PLACE "braces, brackets, commas or colons out of place"},
        {"{\"text\":\"x\"} x", PLACE "braces, brackets, commas or colons out of place"},
        {"{\"text\":\"x\"}{}", PLACE "braces, brackets, commas or colons out of place"},
        {"{\"text\":\"x\",}", PLACE "braces, brackets, commas or colons out of place"},
        {"{\"text\":\"x\",\"y\":[1,]}", NULL},
        {"{\"text\":\"x\",\"y\":tru}", PLACE "neither true nor false nor null"},
        {"{\"text\":\"x\",\"y\":01}", PLACE "a malformed number"},
        {"{\"text\":\"x\",\"y\":1.}", PLACE "a malformed number"},
        {"{\"text\":\"x\",\"y\":1e}", PLACE "a malformed number"},
        {"{\"text\":\"x\",\"y\":012345678901234567890}", PLACE "a malformed number"},
        {"{\"text\":\"x\",\"y\":123456789012345678901x}", PLACE "a malformed number"},
        {"{\"text\":\"x\",12345678901234567890:1}", NULL},
        {"{\"text\":\"x", PLACE "a string without its end"},
        {"{\"text\":\"\\x\"}", PLACE "a string with a bad escape"},
        {"{\"text\":\"\\ud800\"}", PLACE "a string with a bad escape"},
        {"{\"text\":\"a\tb\"}", PLACE "a control character in a string"},
        {"{\"text\":\"a\xff\"}", PLACE "bytes that are not UTF-8"},
        {"hello", NULL},
        {"{'text':'x'}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct extraction result = json_with(NULL, NULL, cases[i].line);
        assert_int_equal(result.status, NIGH_EFORMAT);
        if (cases[i].message != NULL) assert_string_equal(result.message, cases[i].message);
        if (cases[i].message == NULL) assert_non_null(strstr(result.message, PLACE));
    }
}

static struct extraction nested(uint32_t max_depth, size_t brackets) {
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.max_depth = max_depth;
    char *line = malloc(2 * brackets + 1);
    assert_non_null(line);
    memset(line, '[', brackets);
    memset(line + brackets, ']', brackets);
    struct extraction result = extract_with(context, &options, NIGH__RECORD_JSON, line, 2 * brackets);
    free(line);
    nigh_context_free(context);
    return result;
}

static void test_depth(void **state) {
    (void)state;
    assert_int_equal(nested(100, 99).status, NIGH_ENOTFOUND);
    struct extraction result = nested(100, 102);
    assert_int_equal(result.status, NIGH_ELIMIT);
    assert_string_equal(result.message, "'file', line 7: nested deeper than 100");
    assert_int_equal(nested(512, 1000000).status, NIGH_ELIMIT);
    assert_int_equal(nested(UINT32_MAX, 100000).status, NIGH_ENOTFOUND);
}

/* A long line and then short ones, with one extractor: what a line gave must not come back. */
static void test_many_lines(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    struct nigh__extractor *extractor;
    nigh_error error;
    assert_ok(nigh__extractor_new(context, &options, &extractor, &error), &error);
    for (size_t i = 0; i < 40; i++) {
        size_t length = i % 4 == 0 ? ((size_t)5 << 20) + i : 20 + i;
        char *line = malloc(length);
        assert_non_null(line);
        memset(line, 'a' + (int)(i % 26), length);
        memcpy(line, "{\"text\":\"", 9);
        memcpy(line + length - 2, "\"}", 2);
        struct one_record one;
        one_record_init(&one, NIGH__RECORD_JSON, line, i % 8 == 7 ? length - 1 : length);
        nigh_text text = {.size = sizeof text};
        uint64_t repaired;
        nigh_status status = nigh__extract(extractor, &one.batch, &one.record, &text, &repaired, &error);
        assert_int_equal(status, i % 8 == 7 ? NIGH_EFORMAT : NIGH_OK);
        if (status == NIGH_OK) assert_int_equal(text.text_length, length - 11);
        if (status == NIGH_OK) assert_memory_equal(text.text, line + 9, length - 11);
        one_record_release(&one);
        free(line);
    }
    nigh__extractor_free(extractor);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),  cmocka_unit_test(test_no_text),    cmocka_unit_test(test_paths),
        cmocka_unit_test(test_ids),   cmocka_unit_test(test_long_id),    cmocka_unit_test(test_bad),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_many_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
