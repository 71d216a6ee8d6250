/* SPDX-License-Identifier: Apache-2.0 */
/* Hex lines: what is tolerated, and what each mistake is told, with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/signature_support.h"
#include "support/support.h"

static struct reading hex_read(void **state, const char *text) {
    return read_bytes(*state, "x.hex", NIGH_FORMAT_AUTO, 0, text, strlen(text));
}

/* Opens a stream over a text that must outlive the reader. */
static nigh_signature_reader *hex_open(void **state, struct memory_source *source, const char *text) {
    *source = (struct memory_source){.bytes = (const uint8_t *)text, .length = strlen(text), .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(source);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.stream = &stream;
    nigh_signature_reader *reader;
    assert_int_equal(nigh_signature_reader_open(*state, "-", &options, &reader, NULL), NIGH_OK);
    return reader;
}

static void test_rows(void **state) {
    struct memory_source source;
    nigh_signature_reader *reader = hex_open(state, &source, "first one\t0fA5\r\nb\tFf00");
    nigh_signature_info info = {.size = sizeof info};
    nigh_signature_reader_describe(reader, &info);
    assert_int_equal(info.format, NIGH_FORMAT_HEX);
    assert_int_equal(info.width_bits, 16);
    assert_int_equal(info.has_ids, 1);
    assert_true(info.rows == UINT64_MAX);
    nigh_document document = {.size = sizeof document};
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
    assert_memory_equal(document.signature, "\x0f\xa5", 2);
    assert_int_equal(document.id_length, 9);
    assert_memory_equal(document.id, "first one", 9);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
    assert_memory_equal(document.signature, "\xff\x00", 2);
    assert_int_equal(document.id_length, 1);
    assert_memory_equal(document.id, "b", 1);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
    nigh_signature_reader_close(reader);
}

static void test_tolerated(void **state) {
    static const char *const texts[] = {
        "00ff\n1234\n", "00ff\n1234", "00FF\r\n1234\r\n", "00ff\r\n1234\r", "00ff\n1234\n\n\n", "00ff\n1234\n\r\n\n\r",
    };
    struct reading first = hex_read(state, texts[0]);
    assert_int_equal(first.rows, 2);
    assert_int_equal(first.info.has_ids, 0);
    for (size_t i = 1; i < sizeof texts / sizeof texts[0]; i++) {
        struct reading result = hex_read(state, texts[i]);
        assert_string_equal(result.message, "");
        assert_int_equal(result.hash, first.hash);
    }
}

static void test_no_lines(void **state) {
    static const char *const texts[] = {"", "\n", "\r\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct reading result = hex_read(state, texts[i]);
        assert_int_equal(result.status, NIGH_END);
        assert_int_equal(result.info.rows, 0);
        assert_int_equal(result.info.width_bits, 0);
        assert_int_equal(result.info.has_ids, 0);
    }
    struct reading asked = read_bytes(*state, "x.hex", NIGH_FORMAT_HEX, 128, "", 0);
    assert_int_equal(asked.info.width_bits, 128);
    struct reading nameless = read_bytes(*state, "x", NIGH_FORMAT_AUTO, 0, "", 0);
    assert_int_equal(nameless.info.format, NIGH_FORMAT_HEX);
}

static void test_bad(void **state) {
    static const struct {
        const char *text;
        nigh_status status;
        const char *message;
    } cases[] = {
        {"00f\n", NIGH_EFORMAT, "'x.hex', line 1: odd number of hex digits (3)"},
        {"00ff\n00f\n", NIGH_EFORMAT, "'x.hex', line 2: odd number of hex digits (3)"},
        {"a\t00ff\nb\t0\n", NIGH_EFORMAT, "'x.hex', line 2: odd number of hex digits (1)"},
        {"00ff\n00gf\n", NIGH_EFORMAT, "'x.hex', line 2: 'g' in column 3 is not a hex digit"},
        {"00ff\n00ffg\n", NIGH_EFORMAT, "'x.hex', line 2: 'g' in column 5 is not a hex digit"},
        {"id\t00ff\nid2\t00f-\n", NIGH_EFORMAT, "'x.hex', line 2: '-' in column 8 is not a hex digit"},
        {"00ff \n", NIGH_EFORMAT, "'x.hex', line 1: byte 0x20 in column 5 is not a hex digit"},
        {"00\xc3\xa4\n", NIGH_EFORMAT, "'x.hex', line 1: byte 0xc3 in column 3 is not a hex digit"},
        {"00\r\r\n", NIGH_EFORMAT, "'x.hex', line 1: byte 0x0d in column 3 is not a hex digit"},
        {"hello, world\n", NIGH_EFORMAT, "'x.hex', line 1: 'h' in column 1 is not a hex digit"},
        {"00ff\n\n1234\n", NIGH_EFORMAT, "'x.hex', line 2: empty line"},
        {"\n00ff\n", NIGH_EFORMAT, "'x.hex', line 1: empty line"},
        {"00ff\n\n\r\n1234\n", NIGH_EFORMAT, "'x.hex', line 2: empty line"},
        {"00ff\n00ff00\n", NIGH_EMISMATCH, "'x.hex', line 2: signature has 24 bits, those before it have 16"},
        {"00ff\n1234\nab\n", NIGH_EMISMATCH, "'x.hex', line 3: signature has 8 bits, those before it have 16"},
        {"00ff\na\t1234\n", NIGH_EFORMAT, "'x.hex', line 2: line has an id, those before it have none"},
        {"a\t00ff\n1234\n", NIGH_EFORMAT, "'x.hex', line 2: line has no id, those before it have one"},
        {"\t00ff\n", NIGH_EFORMAT, "'x.hex', line 1: id is empty"},
        {"a\t00ff\n\t00ff\n", NIGH_EFORMAT, "'x.hex', line 2: id is empty"},
        {"a\tb\t00ff\n", NIGH_EFORMAT, "'x.hex', line 1: id holds a tab"},
        {"a\t\n", NIGH_EFORMAT, "'x.hex', line 1: no signature after the tab"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = hex_read(state, cases[i].text);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, cases[i].status);
    }
    static const char nul[] = "a\0b\t00ff\n";
    struct reading result = read_bytes(*state, "x.hex", NIGH_FORMAT_HEX, 0, nul, sizeof nul - 1);
    assert_string_equal(result.message, "'x.hex', line 1: id holds a NUL byte");
}

static void test_width(void **state) {
    struct reading other = read_bytes(*state, "x.hex", NIGH_FORMAT_AUTO, 64, "00ff\n", 5);
    assert_string_equal(other.message, "'x.hex', line 1: signatures have 16 bits, 64 were asked for");
    assert_int_equal(other.status, NIGH_EMISMATCH);
    assert_int_equal(read_bytes(*state, "x.hex", NIGH_FORMAT_AUTO, 16, "00ff\n", 5).rows, 1);
}

/* A line of `ids` bytes of name (0: none) and `digits` hex digits, ended as Windows does: one byte more than a limit.
 */
static struct reading line_read(void **state, size_t ids, size_t digits) {
    size_t length = 0;
    char *line = malloc(ids + digits + 3);
    assert_non_null(line);
    memset(line, 'x', ids);
    length += ids;
    if (ids > 0) line[length++] = '\t';
    memset(line + length, 'e', digits);
    length += digits;
    line[length++] = '\r';
    line[length++] = '\n';
    struct reading result = read_bytes(*state, "x.hex", NIGH_FORMAT_HEX, 0, line, length);
    free(line);
    return result;
}

static void test_longest(void **state) {
    struct reading longest = line_read(state, 65535, 16384);
    assert_string_equal(longest.message, "");
    assert_int_equal(longest.info.width_bits, 65536);
    assert_string_equal(line_read(state, 65536, 16384).message, "'x.hex', line 1: id is longer than 65535 bytes");
    assert_string_equal(line_read(state, 65536, 2).message, "'x.hex', line 1: id is longer than 65535 bytes");
    assert_string_equal(line_read(state, 1, 16386).message,
                        "'x.hex', line 1: 16386 characters; a signature has at most 16384");
    assert_string_equal(line_read(state, 0, 4 << 20).message, "'x.hex', line 1: line is longer than 278525 bytes");
}

/* Lines that lie across the end of the buffer come out whole. */
static void test_many(void **state) {
    struct memory_sink file = {0};
    for (unsigned i = 0; i < 100000; i++) {
        static const char values[] = "0123456789abcdef";
        char line[] = "name-00000\t0000000000000000\n";
        for (unsigned digit = 0; digit < 5; digit++) line[9 - digit] = line[26 - digit] = values[i >> (4 * digit) & 15];
        sink_text(&file, line);
    }
    struct memory_source source = {.bytes = file.bytes, .length = file.length, .chunk = 4099, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.stream = &stream;
    nigh_signature_reader *reader;
    nigh_document document = {.size = sizeof document};
    assert_int_equal(nigh_signature_reader_open(*state, "-", &options, &reader, NULL), NIGH_OK);
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
        assert_int_equal(document.signature[7] | document.signature[6] << 8 | document.signature[5] << 16, i);
        assert_memory_equal(document.id, file.bytes + (size_t)i * 28, 10);
    }
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
    nigh_signature_reader_close(reader);
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_tolerated), cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_bad),  cmocka_unit_test(test_width),     cmocka_unit_test(test_longest),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
