/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed output: read again it is what went in, the same bytes give the same file, and failures are told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "document/json_edit.h"
#include "document/pack.h"
#include "support/split_support.h"

static const enum nigh__container kinds[] = {NIGH__CONTAINER_NONE, NIGH__CONTAINER_GZIP, NIGH__CONTAINER_ZSTD,
                                             NIGH__CONTAINER_XZ, NIGH__CONTAINER_BZIP2};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define MAX ((size_t)1 << 20) /* more than a block of bzip2, which is the largest */

static void test_names(void **state) {
    (void)state;
    assert_int_equal(nigh__pack_kind("a.gz"), NIGH__CONTAINER_GZIP);
    assert_int_equal(nigh__pack_kind("a.jsonl.ZST"), NIGH__CONTAINER_ZSTD);
    assert_int_equal(nigh__pack_kind(".xz"), NIGH__CONTAINER_XZ);
    assert_int_equal(nigh__pack_kind("x.gz/y.bz2"), NIGH__CONTAINER_BZIP2);
    assert_int_equal(nigh__pack_kind("x.gz/y"), NIGH__CONTAINER_NONE);
    assert_int_equal(nigh__pack_kind("gz"), NIGH__CONTAINER_NONE);
    assert_int_equal(nigh__pack_kind(""), NIGH__CONTAINER_NONE);
    assert_int_equal(nigh__pack_kind(NULL), NIGH__CONTAINER_NONE);
}

/* Bytes in pieces, a cut behind each where `cut`. */
static nigh_status pack_all(nigh_context *context, enum nigh__container kind, const char *bytes, size_t length,
                            size_t piece, bool cut, struct memory_sink *sink, nigh_error *error) {
    struct nigh__output output;
    struct nigh__pack pack;
    nigh_stream stream = memory_sink_stream(sink);
    nigh_status status = nigh__output_init(context, NULL, &stream, "out", &output, error);
    nigh__pack_init(&pack, kind, &output);
    for (size_t at = 0; at < length && status == NIGH_OK; at += piece) {
        size_t part = length - at < piece ? length - at : piece;
        status = nigh__pack_add(&pack, bytes + at, part, error);
        if (status == NIGH_OK && cut) status = nigh__pack_cut(&pack, error);
    }
    if (status == NIGH_OK) status = nigh__pack_finish(&pack, error);
    if (status == NIGH_OK) status = nigh__output_flush(&output, error);
    if (status == NIGH_OK) assert_int_equal(pack.bytes, length);
    nigh__pack_release(&pack);
    nigh__output_release(&output);
    return status;
}

static void assert_read_again(nigh_context *context, const struct memory_sink *packed, const char *bytes,
                              size_t length) {
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    const char *path = "packed";
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
    nigh_error error;
    file_write_all(path, packed->bytes, packed->length);
    options.format = NIGH_TEXT_PLAIN;
    assert_ok(nigh_text_reader_open(context, &path, 1, &options, &reader, &error), &error);
    nigh_status status = nigh_text_reader_next(reader, &text, &error);
    assert_int_equal(status, length == 0 ? NIGH_END : NIGH_OK);
    if (length > 0) {
        assert_int_equal(text.text_length, length);
        assert_memory_equal(text.text, bytes, length);
    }
    nigh_text_reader_close(reader);
}

static void test_round_trip(void **state) {
    (void)state;
    nigh_context *context = context_new();
    size_t most = MAX;
    char *bytes = malloc(most);
    struct nigh__rng rng = {.state = 7};
    for (size_t i = 0; i < most; i++) bytes[i] = (char)('a' + nigh__rng_next(&rng) % 26);
    static const size_t lengths[] = {0, 1, 1000, MAX};
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t l = 0; l < 4; l++) {
            struct memory_sink one = {0}, other = {.chunk = 1000}, cut = {0};
            nigh_error error;
            size_t length = lengths[l];
            assert_ok(pack_all(context, kinds[k], bytes, length, 1 << 20, false, &one, &error), &error);
            assert_ok(pack_all(context, kinds[k], bytes, length, 777, false, &other, &error), &error);
            assert_ok(pack_all(context, kinds[k], bytes, length, length / 3 + 1, true, &cut, &error), &error);
            if (kinds[k] != NIGH__CONTAINER_NONE) assert_true(one.length > 0); /* of nothing, an empty member */
            assert_int_equal(one.length, other.length);
            if (one.length > 0) assert_memory_equal(one.bytes, other.bytes, one.length);
            assert_read_again(context, &one, bytes, length);
            assert_read_again(context, &cut, bytes, length);
            free(one.bytes);
            free(other.bytes);
            free(cut.bytes);
        }
    }
    free(bytes);
    nigh_context_free(context);
}

static void test_no_space(void **state) {
    (void)state;
    nigh_context *context = context_new();
    struct nigh__rng rng = {.state = 7};
    size_t length = MAX;
    char *bytes = malloc(length);
    for (size_t i = 0; i < length; i++) bytes[i] = (char)nigh__rng_next(&rng);
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t fail_at = 1; fail_at < length; fail_at = fail_at * 9 + 1) {
            struct memory_sink sink = {.fail_at = fail_at};
            nigh_error error = {0};
            assert_int_equal(pack_all(context, kinds[k], bytes, length, 5000, false, &sink, &error), NIGH_EIO);
            assert_int_equal(error.system_errno, ENOSPC);
            free(sink.bytes);
        }
    }
    free(bytes);
    nigh_context_free(context);
}

/* ------------------------------------------------------------------ JSON */

static void assert_string(const nigh_context *context, const char *text, size_t length, const char *expected) {
    struct nigh__array out = NIGH__ARRAY(char);
    assert_true(nigh__json_put_string(context, text, length, &out));
    assert_int_equal(out.count, strlen(expected));
    assert_memory_equal(out.data, expected, out.count);
    nigh__array_release(context, &out);
}

static void test_json_strings(void **state) {
    (void)state;
    nigh_context *context = context_new();
    assert_string(context, "", 0, "\"\"");
    assert_string(context, "a\"b\\c\n\t\r\b\f\x01\x7f\0z", 14, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u007f\\u0000z\"");
    assert_string(context, "\xc3\xa9\xff!", 4, "\"\xc3\xa9\xef\xbf\xbd!\"");
    nigh_context_free(context);
}

static void assert_opened(const nigh_context *context, const char *line, const char *expected, const char *tail,
                          bool empty) {
    static const char *const keys[] = {"k", "long_key"};
    struct nigh__array out = NIGH__ARRAY(char);
    size_t at;
    bool is_empty;
    assert_true(nigh__json_open_object(context, line, strlen(line), keys, 2, &out, &at, &is_empty));
    assert_int_equal(out.count, strlen(expected));
    assert_memory_equal(out.data, expected, out.count);
    assert_string_equal(line + at, tail);
    assert_int_equal(is_empty, empty);
    nigh__array_release(context, &out);
}

static void test_json_members(void **state) {
    (void)state;
    nigh_context *context = context_new();
    struct nigh__array out = NIGH__ARRAY(char);
    size_t at;
    bool empty;
    assert_opened(context, "{}", "{", "}", true);
    assert_opened(context, " { \t} \r\n", " {", "} \r\n", true);
    assert_opened(context, "{\"k\":1}", "{", "}", true);
    assert_opened(context, "{\"k\":1,\"a\":2}", "{\"a\":2", "}", false);
    assert_opened(context, "{\"a\":2,\"k\":{\"k\":[1,2,\"}\"]}}", "{\"a\":2", "}", false);
    assert_opened(context, "{\"a\":\"k\", \"b\":{\"k\":1} ,\"k\" : \"\\\"}\",\"long_key\":[{}], \"c\":[\"k\",{}]  }\n",
                  "{\"a\":\"k\", \"b\":{\"k\":1} , \"c\":[\"k\",{}]  ", "}\n", false);
    assert_opened(context, "{\"kk\":1,\"\":2}", "{\"kk\":1,\"\":2", "}", false);
    /* What is no object, or not whole, is refused and not read beyond. */
    static const char *const bad[] = {"", "[]", "{", "{\"a", "{\"a\\", "{\"a\":[", "{\"k\":\"\\\""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *exact = malloc(strlen(bad[i]) + 1);
        memcpy(exact, bad[i], strlen(bad[i]));
        assert_false(nigh__json_open_object(context, exact, strlen(bad[i]), NULL, 0, &out, &at, &empty));
        free(exact);
    }
    nigh__array_release(context, &out);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_no_space),
        cmocka_unit_test(test_json_strings), cmocka_unit_test(test_json_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
