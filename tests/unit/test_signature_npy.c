/* SPDX-License-Identifier: Apache-2.0 */
/* .npy: what NumPy and others write is read, and everything else is refused with the words a user will see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/signature_support.h"
#include "support/support.h"

#define GOOD "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"
#define GOOD_PADDED "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }                \n"

/* A file of this version, dictionary, and rows of "abcdef..." to that many bytes. */
static struct memory_sink npy_make(int version, const char *text, size_t body) {
    struct memory_sink file = {0};
    size_t length = strlen(text);
    uint8_t numbers[6] = {(uint8_t)version, 0, (uint8_t)length, (uint8_t)(length >> 8), 0, 0};
    sink_add(&file, "\x93NUMPY", 6);
    sink_add(&file, numbers, version == 1 ? 4 : 6);
    sink_text(&file, text);
    for (size_t i = 0; i < body; i++) sink_add(&file, &"abcdefghijklmnopqrstuvwxyz"[i % 26], 1);
    return file;
}

static struct reading npy_read(void **state, int version, const char *text, size_t body) {
    struct memory_sink file = npy_make(version, text, body);
    struct reading result = read_bytes(*state, "x.npy", NIGH_FORMAT_AUTO, 0, file.bytes, file.length);
    free(file.bytes);
    return result;
}

static void test_rows(void **state) {
    struct memory_sink file = npy_make(1, GOOD "   \n", 6);
    struct memory_source source = {.bytes = file.bytes, .length = file.length, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.stream = &stream;
    nigh_signature_reader *reader;
    assert_int_equal(nigh_signature_reader_open(*state, "-", &options, &reader, NULL), NIGH_OK);
    nigh_signature_info info = {.size = sizeof info};
    nigh_signature_reader_describe(reader, &info);
    assert_int_equal(info.format, NIGH_FORMAT_NPY);
    assert_int_equal(info.rows, 2);
    assert_int_equal(info.width_bits, 24);
    assert_int_equal(info.has_ids, 0);
    nigh_document document = {.size = sizeof document};
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
    assert_memory_equal(document.signature, "abc", 3);
    assert_null(document.id);
    assert_null(document.metadata);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
    assert_memory_equal(document.signature, "def", 3);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
    nigh_signature_reader_close(reader);
    free(file.bytes);
}

static void test_spellings(void **state) {
    static const char *const texts[] = {
        GOOD,
        GOOD_PADDED,
        "{'shape':(2,3),'descr':'|u1','fortran_order':False}",
        "{\"descr\": \"u1\", \"fortran_order\": False, \"shape\": (2L, 3L,)}\n",
        "\n { 'descr' : '<u1' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) , } \t\r\n",
        "{'descr': 'B', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '|B', 'fortran_order': False, 'shape': (2, 003), }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int version = 1; version <= 3; version++) {
            struct reading result = npy_read(state, version, texts[i], 6);
            assert_string_equal(result.message, "");
            assert_int_equal(result.rows, 2);
            assert_int_equal(result.info.width_bits, 24);
        }
}

static void test_no_rows(void **state) {
    struct reading result = npy_read(state, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 128), }\n", 0);
    assert_int_equal(result.status, NIGH_END);
    assert_int_equal(result.info.rows, 0);
    assert_int_equal(result.info.width_bits, 1024);
}

/* Dictionaries, and what they are told. */
static const struct {
    const char *text;
    const char *message;
} bad_headers[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy': holds floats ('<f4'), not bits; thresholds make bits of them"},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy': dtype is '|i1'; signatures must be uint8 ('|u1')"},
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy': holds truth values, a byte for each bit; pack them with numpy.packbits(array, axis=1)"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy': dtype is ''; signatures must be uint8 ('|u1')"},
    {"{'descr': 'a\tb\x1b', 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy': dtype is 'a?b?'; signatures must be uint8 ('|u1')"},
    {"{'descr': [('a', '|u1'), ('b', [('c', '<f4')])], 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy': dtype is [('a', '|u1'), ('b', [('c', '<f4')])]; signatures must be uint8 ('|u1')"},
    {"{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
     "'x.npy': array is in Fortran order, column by column; save numpy.ascontiguousarray(array)"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }",
     "'x.npy': shape is (6,); signatures need two dimensions, (rows, bytes)"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (), }",
     "'x.npy': shape is (); signatures need two dimensions, (rows, bytes)"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }",
     "'x.npy': shape is (1, 2, 3); signatures need two dimensions, (rows, bytes)"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 0), }",
     "'x.npy': rows of 0 bytes; a signature has 1 to 8192"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8193), }",
     "'x.npy': rows of 8193 bytes; a signature has 1 to 8192"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
     "'x.npy': header promises 4611686018427387904 rows, more than a file can hold"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775807, 1), }",
     "'x.npy': header promises 9223372036854775807 rows, more than a file can hold"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551615, 1), }",
     "'x.npy': header promises 18446744073709551615 rows, more than a file can hold"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551616, 1), }",
     "'x.npy', offset 80: npy header: a number of at most 64 bits expected"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (-2, 3), }",
     "'x.npy', offset 61: npy header: a number expected"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (2 3), }",
     "'x.npy', offset 63: npy header: ',' or ')' expected"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3", "'x.npy', offset 65: npy header: ',' or ')' expected"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': 6, }",
     "'x.npy', offset 60: npy header: a shape in parentheses expected"},
    {"{'descr': '|u1', 'fortran_order': 0, 'shape': (2, 3), }",
     "'x.npy', offset 44: npy header: True or False expected"},
    {"{'descr': 7, 'fortran_order': False, 'shape': (2, 3), }", "'x.npy', offset 20: npy header: a string expected"},
    {"{'descr': '|u1\\x00', 'fortran_order': False, 'shape': (2, 3), }",
     "'x.npy', offset 24: npy header: a string without escapes expected"},
    {"{'descr': '|u1", "'x.npy', offset 24: npy header: the end of a string expected"},
    {"{'descr': [('a", "'x.npy', offset 24: npy header: the end of a list expected"},
    {"{'descr' '|u1'}", "'x.npy', offset 19: npy header: ':' expected"},
    {"{descr: '|u1'}", "'x.npy', offset 11: npy header: a string expected"},
    {"{'descr': '|u1' 'shape': (2, 3)}", "'x.npy', offset 26: npy header: ',' or '}' expected"},
    {"{'descr': '|u1', 'descr': '|u1'}", "'x.npy', offset 27: npy header: a key that was not there before expected"},
    {"{'name': '|u1'}", "'x.npy', offset 11: npy header: 'descr', 'fortran_order' or 'shape' expected"},
    {"{,}", "'x.npy', offset 11: npy header: a string expected"},
    {"[]", "'x.npy', offset 10: npy header: '{' expected"},
    {"  ", "'x.npy', offset 12: npy header: '{' expected"},
    {"{}", "'x.npy': npy header has no 'descr'"},
    {"{'descr': '|u1', 'shape': (2, 3)}", "'x.npy': npy header has no 'fortran_order'"},
    {"{'descr': '|u1', 'fortran_order': False}", "'x.npy': npy header has no 'shape'"},
    {GOOD " x", "'x.npy', offset 70: npy header: nothing after '}' expected"},
};

static void test_bad_headers(void **state) {
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        struct reading result = npy_read(state, 1, bad_headers[i].text, 6);
        assert_string_equal(result.message, bad_headers[i].message);
        assert_int_equal(result.status, NIGH_EFORMAT);
        assert_false(result.opened);
    }
}

static void test_long_type_is_cut(void **state) {
    char text[400];
    (void)snprintf(text, sizeof text, "{'descr': '%0200d', 'fortran_order': False, 'shape': (2, 3)}", 0);
    struct reading result = npy_read(state, 1, text, 6);
    assert_string_equal(result.message,
                        "'x.npy': dtype is '000000000000000000000000000000000000000000000000000000000000"
                        "...'; signatures must be uint8 ('|u1')");
}

static void test_bad_preambles(void **state) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } cases[] = {
        {"", 0, "'x.npy', offset 0: file ends at byte 0, in its header"},
        {"\x93NUM", 4, "'x.npy', offset 4: file ends at byte 4, in its header"},
        {"\x93NUMPY\x01\x00\x10\x00{", 11, "'x.npy', offset 11: file ends at byte 11, in its header"},
        {"\x93NUMPY\x01\x00\x10\x00{'descr'", 18, "'x.npy', offset 18: file ends at byte 18, in its header"},
        {"\x93NUMPY\x04\x00\x10\x00{}  ", 14, "'x.npy', offset 6: npy version 4.0; nigh reads 1.0, 2.0 and 3.0"},
        {"\x93NUMPY\x00\x01\x10\x00{}  ", 14, "'x.npy', offset 6: npy version 0.1; nigh reads 1.0, 2.0 and 3.0"},
        {"\x93NUMPY\x01\x01\x10\x00{}  ", 14, "'x.npy', offset 6: npy version 1.1; nigh reads 1.0, 2.0 and 3.0"},
        {"\x93NUMPY\x02\x00\x01\x00\x01\x00{}", 14,
         "'x.npy', offset 8: npy header of 65537 bytes; at most 65536 are read"},
        {"\x93NUMPY\x03\x00\xff\xff\xff\xff{}", 14,
         "'x.npy', offset 8: npy header of 4294967295 bytes; at most 65536 are read"},
        {"\x93NUMBY\x01\x00\x10\x00{}  ", 14, "'x.npy', offset 0: not an npy file: it does not begin with \\x93NUMPY"},
        {"PK\x03\x04", 4, "'x.npy', offset 0: not an npy file: it does not begin with \\x93NUMPY"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = read_bytes(*state, "x.npy", NIGH_FORMAT_AUTO, 0, cases[i].bytes, cases[i].length);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, NIGH_EFORMAT);
    }
}

static void test_length(void **state) {
    struct reading cut = npy_read(state, 1, GOOD, 5);
    assert_string_equal(cut.message, "'x.npy', offset 74: file ends at byte 74, header promises 75");
    assert_false(cut.opened); /* a file says so at once */
    struct reading more = npy_read(state, 1, GOOD, 7);
    assert_string_equal(more.message, "'x.npy', offset 75: data after the last row");
    assert_false(more.opened);
    struct reading huge = npy_read(state, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 3), }", 6);
    assert_string_equal(huge.message, "'x.npy', offset 84: file ends at byte 84, header promises 12884901966");
}

/* A stream ends where it ends: the rows before are given, and then the failure, again and again. */
static void test_stream_cut(void **state) {
    struct memory_sink file = npy_make(1, GOOD, 5);
    struct memory_source source = {.bytes = file.bytes, .length = file.length, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.stream = &stream;
    nigh_signature_reader *reader;
    nigh_document document = {.size = sizeof document};
    nigh_error error;
    assert_int_equal(nigh_signature_reader_open(*state, "-", &options, &reader, NULL), NIGH_OK);
    assert_int_equal(nigh_signature_reader_next(reader, &document, &error), NIGH_OK);
    assert_int_equal(nigh_signature_reader_next(reader, &document, &error), NIGH_EFORMAT);
    assert_int_equal(error.offset, 74);
    assert_int_equal(nigh_signature_reader_next(reader, &document, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "reading it has failed before");
    nigh_signature_reader_close(reader);
    free(file.bytes);
}

static void test_width(void **state) {
    struct memory_sink file = npy_make(1, GOOD, 6);
    struct reading other = read_bytes(*state, "x.npy", NIGH_FORMAT_AUTO, 32, file.bytes, file.length);
    assert_string_equal(other.message, "'x.npy': signatures have 24 bits, 32 were asked for");
    assert_int_equal(other.status, NIGH_EMISMATCH);
    struct reading same = read_bytes(*state, "x.npy", NIGH_FORMAT_NPY, 24, file.bytes, file.length);
    assert_int_equal(same.status, NIGH_END);
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_long_type_is_cut),
        cmocka_unit_test(test_bad_preambles),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_stream_cut),
        cmocka_unit_test(test_width),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
