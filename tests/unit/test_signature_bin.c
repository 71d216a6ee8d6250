/* SPDX-License-Identifier: Apache-2.0 */
/* u8bin and raw: rows, counts that lie, and files that end in the wrong place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/signature_support.h"
#include "support/support.h"

static struct reading u8bin_read(void **state, uint32_t rows, uint32_t row_bytes, size_t body, uint32_t width_bits) {
    struct memory_sink file = {0};
    sink_u32(&file, rows);
    sink_u32(&file, row_bytes);
    for (size_t i = 0; i < body; i++) sink_add(&file, &"0123456789"[i % 10], 1);
    struct reading result = read_bytes(*state, "x.u8bin", NIGH_FORMAT_AUTO, width_bits, file.bytes, file.length);
    free(file.bytes);
    return result;
}

static void test_u8bin(void **state) {
    struct reading result = u8bin_read(state, 3, 4, 12, 0);
    assert_string_equal(result.message, "");
    assert_int_equal(result.info.format, NIGH_FORMAT_U8BIN);
    assert_int_equal(result.info.rows, 3);
    assert_int_equal(result.info.width_bits, 32);
    assert_int_equal(result.rows, 3);
    assert_int_equal(u8bin_read(state, 0, 4, 0, 32).rows, 0);
    assert_int_equal(u8bin_read(state, 2, 8192, 16384, 0).rows, 2);
    assert_int_equal(u8bin_read(state, 7, 1, 7, 8).rows, 7);
}

static void test_u8bin_bad(void **state) {
    static const struct {
        uint32_t rows, row_bytes;
        size_t body;
        uint32_t width_bits;
        nigh_status status;
        const char *message;
    } cases[] = {
        {3, 4, 11, 0, NIGH_EFORMAT, "'x.u8bin', offset 19: file ends at byte 19, header promises 20"},
        {3, 4, 0, 0, NIGH_EFORMAT, "'x.u8bin', offset 8: file ends at byte 8, header promises 20"},
        {3, 4, 13, 0, NIGH_EFORMAT, "'x.u8bin', offset 20: data after the last row"},
        {0, 4, 1, 0, NIGH_EFORMAT, "'x.u8bin', offset 8: data after the last row"},
        {3, 0, 12, 0, NIGH_EFORMAT, "'x.u8bin': rows of 0 bytes; a signature has 1 to 8192"},
        {3, 8193, 12, 0, NIGH_EFORMAT, "'x.u8bin': rows of 8193 bytes; a signature has 1 to 8192"},
        {3, 0xffffffffu, 12, 0, NIGH_EFORMAT, "'x.u8bin': rows of 4294967295 bytes; a signature has 1 to 8192"},
        {0xffffffffu, 8192, 12, 0, NIGH_EFORMAT,
         "'x.u8bin', offset 20: file ends at byte 20, header promises 35184372080648"},
        {3, 4, 12, 64, NIGH_EMISMATCH, "'x.u8bin': signatures have 32 bits, 64 were asked for"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result =
            u8bin_read(state, cases[i].rows, cases[i].row_bytes, cases[i].body, cases[i].width_bits);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, cases[i].status);
    }
    struct reading cut = read_bytes(*state, "x.u8bin", NIGH_FORMAT_AUTO, 0, "\x03\x00\x00\x00\x04", 5);
    assert_string_equal(cut.message, "'x.u8bin', offset 5: file ends at byte 5, in its header");
}

static void test_raw(void **state) {
    struct reading result = read_bytes(*state, "x.raw", NIGH_FORMAT_RAW, 32, "0123456789ab", 12);
    assert_int_equal(result.status, NIGH_END);
    assert_int_equal(result.info.format, NIGH_FORMAT_RAW);
    assert_int_equal(result.info.rows, 3);
    assert_int_equal(result.rows, 3);
    struct reading empty = read_bytes(*state, "x.raw", NIGH_FORMAT_RAW, 32, "", 0);
    assert_int_equal(empty.status, NIGH_END);
    assert_int_equal(empty.info.rows, 0);
    assert_int_equal(empty.info.width_bits, 32);
    struct reading cut = read_bytes(*state, "x.raw", NIGH_FORMAT_RAW, 40, "0123456789ab", 12);
    assert_string_equal(cut.message, "'x.raw', offset 12: file ends at byte 12, inside a row of 5 bytes");
    assert_int_equal(cut.status, NIGH_EFORMAT);
}

/* How many rows a stream of raw rows has, only its end tells. */
static void test_raw_stream_rows(void **state) {
    struct memory_source source = {.bytes = (const uint8_t *)"01234567", .length = 8, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_RAW;
    options.width_bits = 32;
    options.stream = &stream;
    struct reading result = read_signatures(*state, "-", &options);
    assert_int_equal(result.rows, 2);
    assert_true(result.info.rows == UINT64_MAX);
    struct reading none = read_signatures(*state, "-", &options); /* the same stream, at its end */
    assert_int_equal(none.status, NIGH_END);
    assert_int_equal(none.info.rows, 0);
}

static void test_options(void **state) {
    static const struct {
        nigh_signature_format format;
        uint32_t width_bits;
        const char *message;
    } cases[] = {
        {NIGH_FORMAT_RAW, 0, "raw signatures say nothing of their width; it must be given"},
        {NIGH_FORMAT_AUTO, 65537, "a width of 65537 bits; it must be from 1 to 65536"},
        {(nigh_signature_format)6, 0, "6 is no signature format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = read_bytes(*state, "x", cases[i].format, cases[i].width_bits, "ab\n", 3);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, NIGH_EINVAL);
    }
    nigh_signature_reader *reader;
    nigh_error error;
    assert_int_equal(nigh_signature_reader_open(*state, NULL, NULL, &reader, &error), NIGH_EINVAL);
    assert_null(reader);
    nigh_stream stream = {0};
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.stream = &stream;
    assert_int_equal(nigh_signature_reader_open(*state, "-", &options, &reader, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "a stream that cannot be read");
    assert_int_equal(nigh_signature_reader_open(*state, "none.npy", NULL, &reader, &error), NIGH_ENOTFOUND);
    assert_string_equal(error.why, "cannot open: No such file or directory");
    nigh_signature_reader_close(NULL);
}

/* The input's read fails in the header, in the first row, and later. */
static void test_read_errors(void **state) {
    static const char bytes[] = "\x04\x00\x00\x00\x04\x00\x00\x00"
                                "0123456789abcdef";
    for (size_t fail_at = 0; fail_at < 24; fail_at++) {
        struct memory_source source = {.bytes = (const uint8_t *)bytes, .length = 24, .chunk = 1, .fail_at = fail_at};
        nigh_stream stream = memory_source_stream(&source);
        nigh_signature_reader_options options;
        nigh_signature_reader_options_init(&options);
        options.stream = &stream;
        struct reading result = read_signatures(*state, "x.u8bin", &options);
        assert_int_equal(result.status, NIGH_EIO);
        assert_string_equal(result.message, "'x.u8bin': cannot read: Input/output error");
        assert_int_equal(result.rows, fail_at < 8 ? 0 : (fail_at - 8) / 4);
    }
}

/* A file that is cut, or goes on, after its rows were counted. */
static void test_file_changes(void **state) {
    static uint8_t zeros[3 << 20];
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = NIGH_FORMAT_RAW;
    options.width_bits = 8192;
    for (size_t grow = 0; grow < 2; grow++) {
        nigh_signature_reader *reader;
        nigh_document document = {.size = sizeof document};
        nigh_error error;
        file_write_all("x.raw", zeros, 2 << 20);
        assert_int_equal(nigh_signature_reader_open(*state, "x.raw", &options, &reader, NULL), NIGH_OK);
        assert_int_equal(nigh_signature_reader_next(reader, &document, &error), NIGH_OK);
        file_write_all("x.raw", zeros, grow ? 3 << 20 : 1 << 19);
        nigh_status status;
        while ((status = nigh_signature_reader_next(reader, &document, &error)) == NIGH_OK)
            ;
        assert_int_equal(status, NIGH_EFORMAT);
        assert_string_equal(error.why, grow ? "file was added to while it was read" : "file was cut while it was read");
        nigh_signature_reader_close(reader);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u8bin),           cmocka_unit_test(test_u8bin_bad), cmocka_unit_test(test_raw),
        cmocka_unit_test(test_raw_stream_rows), cmocka_unit_test(test_options),   cmocka_unit_test(test_read_errors),
        cmocka_unit_test(test_file_changes),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
