/* SPDX-License-Identifier: Apache-2.0 */
/* Telling formats apart: by content where it is unmistakable, then by name, and never by guessing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "signature/formats.h"
#include "support/signature_support.h"
#include "support/support.h"

#define NPY "\x93NUMPY\x01\x00\x3a\x00{'descr':'|u1','fortran_order':False,'shape':(1,2)}       \nxy"
#define UNKNOWN ": not a signature file nigh recognises; give its format"
#define U8BIN "\x01\x00\x00\x00\x02\x00\x00\x00xy"

static void test_names(void **state) {
    (void)state;
    assert_string_equal(nigh_signature_format_name(NIGH_FORMAT_AUTO), "auto");
    assert_string_equal(nigh_signature_format_name(NIGH_FORMAT_NPY), "npy");
    assert_string_equal(nigh_signature_format_name(NIGH_FORMAT_U8BIN), "u8bin");
    assert_string_equal(nigh_signature_format_name(NIGH_FORMAT_RAW), "raw");
    assert_string_equal(nigh_signature_format_name(NIGH_FORMAT_HEX), "hex");
    assert_string_equal(nigh_signature_format_name(NIGH_FORMAT_TOPSIG), "topsig");
    assert_null(nigh_signature_format_name((nigh_signature_format)6));
    assert_null(nigh_signature_format_name((nigh_signature_format)-1));
}

static void test_endings(void **state) {
    (void)state;
    assert_int_equal(nigh__format_by_ending("a/b.npy"), NIGH_FORMAT_NPY);
    assert_int_equal(nigh__format_by_ending("B.NPY"), NIGH_FORMAT_NPY);
    assert_int_equal(nigh__format_by_ending("base.1M.u8bin"), NIGH_FORMAT_U8BIN);
    assert_int_equal(nigh__format_by_ending("a.Hex"), NIGH_FORMAT_HEX);
    assert_int_equal(nigh__format_by_ending("a.txt"), NIGH_FORMAT_HEX);
    assert_int_equal(nigh__format_by_ending("a.tsv"), NIGH_FORMAT_HEX);
    assert_int_equal(nigh__format_by_ending("a.sig"), NIGH_FORMAT_TOPSIG);
    assert_int_equal(nigh__format_by_ending("a.raw"), NIGH_FORMAT_RAW);
    assert_int_equal(nigh__format_by_ending("a.bin"), NIGH_FORMAT_AUTO);
    assert_int_equal(nigh__format_by_ending(".npy"), NIGH_FORMAT_AUTO);
    assert_int_equal(nigh__format_by_ending("npy"), NIGH_FORMAT_AUTO);
    assert_int_equal(nigh__format_by_ending(""), NIGH_FORMAT_AUTO);
}

static void test_ids(void **state) {
    (void)state;
    assert_null(nigh__id_problem(1));
    assert_null(nigh__id_problem(NIGH_MAX_ID_LENGTH));
    assert_string_equal(nigh__id_problem(NIGH_MAX_ID_LENGTH + 1), "id is longer than 65535 bytes");
    assert_string_equal(nigh__id_problem(0), "id is empty");
    assert_true(nigh__id_is_line("a b\r\xff", 5));
    assert_false(nigh__id_is_line("a\0b", 3));
    assert_false(nigh__id_is_line("a\nb", 3));
    assert_false(nigh__id_is_line("a\tb", 3));
}

static void test_widths(void **state) {
    (void)state;
    assert_true(nigh__width_valid(8));
    assert_true(nigh__width_valid(65536));
    assert_false(nigh__width_valid(0));
    assert_true(nigh__width_valid(1));
    assert_true(nigh__width_valid(63));
    assert_false(nigh__width_valid(65537));
    assert_false(nigh__width_valid(UINT64_C(1) << 32));
    static const uint32_t widths[] = {1, 7, 8, 9, 63, 64, 65, 65535, 65536};
    static const size_t bytes[] = {1, 1, 1, 2, 8, 8, 9, 8192, 8192};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        assert_int_equal(nigh_signature_bytes(widths[i]), bytes[i]);
}

/* As file and as stream alike. */
static void test_detected(void **state) {
    static const struct {
        const char *name, *bytes;
        size_t length;
        nigh_signature_format format;
    } cases[] = {
        {"x.npy", NPY, 70, NIGH_FORMAT_NPY},
        {"x", NPY, 70, NIGH_FORMAT_NPY},
        {"x.hex", NPY, 70, NIGH_FORMAT_NPY},
        {"x.u8bin", U8BIN, 10, NIGH_FORMAT_U8BIN},
        {"x", "00ff\n", 5, NIGH_FORMAT_HEX},
        {"x", "name\t00ff", 9, NIGH_FORMAT_HEX},
        {"x.npy", "00ff\n", 5, NIGH_FORMAT_HEX},
        {"x.sig", "00FF\r\n", 6, NIGH_FORMAT_HEX},
        {"x.u8bin", "0123456789ab\n", 13, NIGH_FORMAT_HEX},
        {"x.raw", "00", 2, NIGH_FORMAT_HEX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = read_bytes(*state, cases[i].name, NIGH_FORMAT_AUTO, 0, cases[i].bytes, cases[i].length);
        assert_string_equal(result.message, "");
        assert_int_equal(result.info.format, cases[i].format);
        assert_int_equal(result.rows, 1);
    }
}

/* TopSig by its first two numbers, u8bin where its two numbers account for the whole file. */
static void test_detected_by_numbers(void **state) {
    struct memory_sink file = {0};
    sink_u32(&file, 84);
    sink_u32(&file, 1);
    sink_u32(&file, 3);
    sink_u32(&file, 8);
    while (file.length < 84) sink_add(&file, "", 1);
    struct reading topsig = read_bytes(*state, "x", NIGH_FORMAT_AUTO, 0, file.bytes, file.length);
    free(file.bytes);
    assert_int_equal(topsig.info.format, NIGH_FORMAT_TOPSIG);
    file_write_all("x.bin", U8BIN, 10);
    assert_int_equal(read_signatures(*state, "x.bin", NULL).info.format, NIGH_FORMAT_U8BIN);
    file_write_all("x.bin", U8BIN "z", 11);
    assert_string_equal(read_signatures(*state, "x.bin", NULL).message, "'x.bin'" UNKNOWN);
}

static void test_not_recognised(void **state) {
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"\n", 1},
        {"\n00ff\n", 6},
        {"00\x01\n", 4},
        {"a\x7f\n", 3},
        {"\x7f"
         "ELF\x02\x01\x01",
         7},
        {"\0", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = read_bytes(*state, "x", NIGH_FORMAT_AUTO, 0, cases[i].bytes, cases[i].length);
        assert_string_equal(result.message, "'x'" UNKNOWN);
        assert_int_equal(result.status, NIGH_EFORMAT);
    }
}

/* A line of text is taken for hex, whose reader can say what is wrong with it. */
static void test_text_explained(void **state) {
    static const struct {
        const char *bytes, *message;
    } cases[] = {
        {"hello, world\n", "'x', line 1: 'h' in column 1 is not a hex digit"},
        {"00fg\n00ff\n", "'x', line 1: 'g' in column 4 is not a hex digit"},
        {"00fg\r\n", "'x', line 1: 'g' in column 4 is not a hex digit"},
        {"\xef\xbb\xbf"
         "00ff\n",
         "'x', line 1: byte 0xef in column 1 is not a hex digit"},
        {"\xc3\xa9\t00 ff", "'x', line 1: byte 0x20 in column 6 is not a hex digit"},
        {"\t00ff\n", "'x', line 1: id is empty"},
        {"id\t\n", "'x', line 1: no signature after the tab"},
        {"a\t00ff\tb\n", "'x', line 1: id holds a tab"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = read_bytes(*state, "x", NIGH_FORMAT_AUTO, 0, cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, NIGH_EFORMAT);
    }
}

/* Only the length of a file tells u8bin from other numbers. */
static void test_u8bin_stream(void **state) {
    struct memory_source source = {.bytes = (const uint8_t *)U8BIN, .length = 10, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.stream = &stream;
    assert_string_equal(
        read_signatures(*state, "-", &options).message,
        "'-': not a signature file nigh recognises (u8bin cannot be recognised in a stream); give its format");
}

static void test_empty_path(void **state) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    struct reading result = read_signatures(*state, "", &options);
    assert_string_equal(result.message, "'': cannot open: the path is empty");
    assert_int_equal(result.status, NIGH_ENOTFOUND);
    options.ids_path = "";
    assert_string_equal(read_signatures(*state, "x", &options).message, "'': cannot open: the path is empty");
}

/* An older program's struct is filled as far as it goes. */
static void test_info_size(void **state) {
    file_write_all("info.hex", "00ff\n", 5);
    nigh_signature_reader *reader;
    nigh_signature_info info = {.size = offsetof(nigh_signature_info, rows), .rows = 77, .has_ids = 77};
    assert_int_equal(nigh_signature_reader_open(*state, "info.hex", NULL, &reader, NULL), NIGH_OK);
    nigh_signature_reader_describe(reader, &info);
    nigh_signature_reader_close(reader);
    assert_int_equal(info.size, offsetof(nigh_signature_info, rows));
    assert_int_equal(info.format, NIGH_FORMAT_HEX);
    assert_int_equal(info.width_bits, 16);
    assert_int_equal(info.rows, 77);
    assert_int_equal(info.has_ids, 77);
}

/* Raw is what a name cannot make it. */
static void test_raw_not_guessed(void **state) {
    struct reading result = read_bytes(*state, "x.raw", NIGH_FORMAT_AUTO, 16, "\x00\x01\x02\x03", 4);
    assert_string_equal(result.message, "'x.raw'" UNKNOWN);
}

/* A name that says nothing and no line within the limit: refused after one look at the buffer. */
static void test_endless_line(void **state) {
    static char digits[1 << 20];
    memset(digits, '0', sizeof digits);
    struct reading result = read_bytes(*state, "x", NIGH_FORMAT_AUTO, 0, digits, sizeof digits);
    assert_string_equal(result.message, "'x'" UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_detected),
        cmocka_unit_test(test_detected_by_numbers),
        cmocka_unit_test(test_not_recognised),
        cmocka_unit_test(test_text_explained),
        cmocka_unit_test(test_u8bin_stream),
        cmocka_unit_test(test_empty_path),
        cmocka_unit_test(test_info_size),
        cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_raw_not_guessed),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
