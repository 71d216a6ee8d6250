/* SPDX-License-Identifier: Apache-2.0 */
/* Writing signature files: the exact bytes, and a name that is taken only by a whole file. */
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

static const nigh_document two[] = {
    {.size = sizeof(nigh_document), .signature = (const uint8_t *)"\x01\x23\xab", .id = "first", .id_length = 5},
    {.size = sizeof(nigh_document), .signature = (const uint8_t *)"\x00\xff\x7f", .id = "2", .id_length = 1},
};

static nigh_signature_writer_options options_for(nigh_signature_format format, uint32_t width_bits, uint64_t rows) {
    nigh_signature_writer_options options;
    nigh_signature_writer_options_init(&options);
    options.format = format;
    options.width_bits = width_bits;
    options.rows = rows;
    return options;
}

/* Writes the two rows in a format, to memory. */
static struct memory_sink sink_write_two(void **state, nigh_signature_format format, int with_ids, size_t chunk) {
    struct memory_sink sink = {.chunk = chunk};
    nigh_stream stream = memory_sink_stream(&sink);
    nigh_signature_writer_options options = options_for(format, 24, 2);
    options.stream = &stream;
    nigh_signature_writer *writer;
    assert_int_equal(nigh_signature_writer_open(*state, "-", &options, &writer, NULL), NIGH_OK);
    for (size_t i = 0; i < 2; i++) {
        nigh_document document = two[i];
        if (!with_ids) document.id = NULL;
        assert_int_equal(nigh_signature_writer_add(writer, &document, NULL), NIGH_OK);
    }
    assert_int_equal(nigh_signature_writer_finish(writer, NULL), NIGH_OK);
    nigh_signature_writer_close(writer);
    return sink;
}

static void check_two(void **state, nigh_signature_format format, int with_ids, const char *bytes, size_t length) {
    for (size_t chunk = 0; chunk < 2; chunk++) {
        struct memory_sink sink = sink_write_two(state, format, with_ids, chunk);
        assert_int_equal(sink.length, length);
        assert_memory_equal(sink.bytes, bytes, length);
        free(sink.bytes);
    }
}

/* The same bytes as numpy.save of numpy.array([[1, 35, 171], [0, 255, 127]], dtype=numpy.uint8). */
static void test_npy_bytes(void **state) {
    static const char bytes[] = "\x93NUMPY\x01\x00\x76\x00"
                                "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"
                                "                                                          \n"
                                "\x01\x23\xab\x00\xff\x7f";
    check_two(state, NIGH_FORMAT_NPY, 1, bytes, 128 + 6);
}

static void test_other_bytes(void **state) {
    check_two(state, NIGH_FORMAT_U8BIN, 1, "\x02\x00\x00\x00\x03\x00\x00\x00\x01\x23\xab\x00\xff\x7f", 14);
    check_two(state, NIGH_FORMAT_RAW, 1, "\x01\x23\xab\x00\xff\x7f", 6);
    check_two(state, NIGH_FORMAT_HEX, 1, "first\t0123ab\n2\t00ff7f\n", 22);
    check_two(state, NIGH_FORMAT_HEX, 0, "0123ab\n00ff7f\n", 14);
}

/* The header stays a multiple of 64 with the largest numbers it can hold. */
static void test_npy_large_header(void **state) {
    struct memory_sink sink = {0};
    nigh_stream stream = memory_sink_stream(&sink);
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_NPY, 65536, UINT64_MAX - 1);
    options.stream = &stream;
    nigh_signature_writer *writer;
    nigh_error error;
    assert_int_equal(nigh_signature_writer_open(*state, "-", &options, &writer, NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_finish(writer, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "0 of the 18446744073709551614 rows it was opened for");
    nigh_signature_writer_close(writer);
    free(sink.bytes);
}

/* A number of rows that only the end tells gives the bytes that one known before gives; a stream cannot have it. */
static void test_unknown_rows(void **state) {
    static const nigh_signature_format formats[] = {NIGH_FORMAT_NPY, NIGH_FORMAT_U8BIN, NIGH_FORMAT_RAW,
                                                    NIGH_FORMAT_HEX};
    char *folder = scratch_new();
    char *known = path_in(folder, "known");
    char *unknown = path_in(folder, "unknown");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        for (uint64_t rows = 0; rows < 3; rows++) {
            const nigh_document document = {.size = sizeof(nigh_document), .signature = (const uint8_t *)"ab"};
            for (int told = 0; told < 2; told++) {
                nigh_signature_writer_options options = options_for(formats[i], 16, told ? rows : UINT64_MAX);
                nigh_signature_writer *writer;
                nigh_error error;
                assert_ok(nigh_signature_writer_open(*state, told ? known : unknown, &options, &writer, &error),
                          &error);
                for (uint64_t row = 0; row < rows; row++)
                    assert_ok(nigh_signature_writer_add(writer, &document, &error), &error);
                assert_ok(nigh_signature_writer_finish(writer, &error), &error);
                nigh_signature_writer_close(writer);
            }
            struct bytes a = file_read_all(known);
            struct bytes b = file_read_all(unknown);
            assert_int_equal(a.length, b.length);
            assert_memory_equal(a.data, b.data, a.length);
            free(a.data);
            free(b.data);
        }
        struct memory_sink sink = {0};
        nigh_stream stream = memory_sink_stream(&sink);
        nigh_signature_writer_options options = options_for(formats[i], 16, UINT64_MAX);
        nigh_signature_writer *writer;
        options.stream = &stream;
        nigh_status expected = formats[i] == NIGH_FORMAT_NPY || formats[i] == NIGH_FORMAT_U8BIN ? NIGH_EINVAL : NIGH_OK;
        assert_int_equal(nigh_signature_writer_open(*state, "-", &options, &writer, NULL), expected);
        nigh_signature_writer_close(writer);
        free(sink.bytes);
    }
    free(known);
    free(unknown);
    scratch_free(folder);
}

static void expect_file(const char *path, const char *text) {
    struct bytes bytes = file_read_all(path);
    assert_int_equal(bytes.length, strlen(text));
    assert_memory_equal(bytes.data, text, bytes.length);
    free(bytes.data);
}

static void test_path(void **state) {
    static const char *const paths[] = {"out.npy", "./out.U8BIN", "out.hex", "out.tsv", "out.raw"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 2);
        nigh_signature_writer *writer;
        char taken[40];
        char temporary[40];
        (void)snprintf(taken, sizeof taken, "%s.nigh.tmp", paths[i]);
        (void)snprintf(temporary, sizeof temporary, "%s.nigh.1.tmp", paths[i]);
        file_write_all(paths[i], "before", 6);
        assert_int_equal(nigh_file_system_posix()->make_directory(NULL, taken), 0);
        assert_int_equal(nigh_signature_writer_open(*state, paths[i], &options, &writer, NULL), NIGH_OK);
        assert_int_equal(nigh_signature_writer_add(writer, &two[0], NULL), NIGH_OK);
        assert_int_equal(nigh_signature_writer_add(writer, &two[1], NULL), NIGH_OK);
        expect_file(paths[i], "before");
        assert_true(path_exists(temporary));
        assert_int_equal(nigh_signature_writer_finish(writer, NULL), NIGH_OK);
        nigh_signature_writer_close(writer);
        assert_false(path_exists(temporary));
        assert_int_equal(remove(taken), 0); /* still the folder */
        nigh_signature_reader_options reading;
        nigh_signature_reader_options_init(&reading);
        if (i == 4) reading.format = NIGH_FORMAT_RAW;
        reading.width_bits = 24;
        assert_int_equal(read_signatures(*state, paths[i], &reading).rows, 2);
    }
}

/* Each has a file of its own, and the name goes to one whole file after the other. */
static void test_two_writers(void **state) {
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 1);
    nigh_signature_writer *writers[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(nigh_signature_writer_open(*state, "two.hex", &options, &writers[i], NULL), NIGH_OK);
    assert_true(path_exists("two.hex.nigh.2.tmp"));
    nigh_signature_writer_close(writers[1]);
    assert_false(path_exists("two.hex.nigh.1.tmp"));
    assert_int_equal(nigh_signature_writer_add(writers[0], &two[0], NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_add(writers[2], &two[1], NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_finish(writers[0], NULL), NIGH_OK);
    nigh_signature_writer_close(writers[0]);
    expect_file("two.hex", "first\t0123ab\n");
    assert_true(path_exists("two.hex.nigh.2.tmp"));
    assert_int_equal(nigh_signature_writer_finish(writers[2], NULL), NIGH_OK);
    nigh_signature_writer_close(writers[2]);
    expect_file("two.hex", "2\t00ff7f\n");
    assert_false(path_exists("two.hex.nigh.tmp"));
    assert_false(path_exists("two.hex.nigh.2.tmp"));
}

/* Of a writer that was killed: nobody has it locked. */
static void test_leftover(void **state) {
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 1);
    nigh_signature_writer *writer;
    file_write_all("left.hex.nigh.tmp", "half", 4);
    assert_int_equal(nigh_signature_writer_open(*state, "left.hex", &options, &writer, NULL), NIGH_OK);
    assert_false(path_exists("left.hex.nigh.1.tmp"));
    assert_int_equal(nigh_signature_writer_add(writer, &two[0], NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_finish(writer, NULL), NIGH_OK);
    nigh_signature_writer_close(writer);
    expect_file("left.hex", "first\t0123ab\n");
    assert_false(path_exists("left.hex.nigh.tmp"));
}

static void test_names_taken(void **state) {
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 1);
    nigh_signature_writer *writer;
    nigh_error error;
    const nigh_file_system *files = nigh_file_system_posix();
    assert_int_equal(files->make_directory(NULL, "taken.hex.nigh.tmp"), 0);
    for (int i = 1; i < 100; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "taken.hex.nigh.%d.tmp", i);
        assert_int_equal(files->make_directory(NULL, name), 0);
    }
    assert_int_equal(nigh_signature_writer_open(*state, "taken.hex", &options, &writer, NULL), NIGH_EIO);
    assert_int_equal(nigh_signature_writer_open(*state, "taken.hex", &options, &writer, &error), NIGH_EIO);
    assert_string_equal(error.file, "taken.hex.nigh.99.tmp");
    assert_string_equal(error.why, "cannot create: File exists");
    assert_true(path_exists("taken.hex.nigh.tmp"));
    assert_true(path_exists("taken.hex.nigh.99.tmp"));
}

static void test_close_without_finish(void **state) {
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 2);
    nigh_signature_writer *writer;
    assert_int_equal(nigh_signature_writer_open(*state, "new.npy", &options, &writer, NULL), NIGH_OK);
    assert_true(path_exists("new.npy.nigh.tmp"));
    assert_int_equal(nigh_signature_writer_add(writer, &two[0], NULL), NIGH_OK);
    nigh_signature_writer_close(writer);
    assert_false(path_exists("new.npy"));
    assert_false(path_exists("new.npy.nigh.tmp"));
    nigh_signature_writer_close(NULL);
}

static void test_row_count(void **state) {
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 1);
    nigh_signature_writer *writer;
    nigh_error error;
    assert_int_equal(nigh_signature_writer_open(*state, "n.npy", &options, &writer, NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_finish(writer, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "0 of the 1 rows it was opened for");
    assert_int_equal(nigh_signature_writer_add(writer, &two[0], NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_add(writer, &two[1], &error), NIGH_EINVAL);
    assert_string_equal(error.why, "more than the 1 rows it was opened for");
    assert_int_equal(nigh_signature_writer_finish(writer, NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_finish(writer, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "the file is finished already");
    assert_int_equal(nigh_signature_writer_add(writer, &two[0], &error), NIGH_EINVAL);
    nigh_signature_writer_close(writer);
    assert_true(path_exists("n.npy"));
}

static void test_hex_documents(void **state) {
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 24, 2);
    nigh_signature_writer *writer;
    nigh_error error;
    nigh_document document = two[0];
    assert_int_equal(nigh_signature_writer_open(*state, "h.hex", &options, &writer, NULL), NIGH_OK);
    document.id_length = 0;
    assert_int_equal(nigh_signature_writer_add(writer, &document, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "id is empty");
    document.signature = NULL;
    assert_int_equal(nigh_signature_writer_add(writer, &document, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "a document without a signature");
    assert_int_equal(nigh_signature_writer_add(writer, &two[0], &error), NIGH_OK);
    document = two[1];
    document.id = NULL;
    assert_int_equal(nigh_signature_writer_add(writer, &document, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "a document without an id after some with");
    assert_int_equal(nigh_signature_writer_add(writer, &two[1], &error), NIGH_OK);
    assert_int_equal(nigh_signature_writer_finish(writer, &error), NIGH_OK);
    nigh_signature_writer_close(writer);
    struct bytes bytes = file_read_all("h.hex");
    assert_int_equal(bytes.length, 22);
    assert_memory_equal(bytes.data, "first\t0123ab\n2\t00ff7f\n", 22);
    free(bytes.data);
}

static void test_hex_id_after_none(void **state) {
    struct memory_sink sink = {0};
    nigh_stream stream = memory_sink_stream(&sink);
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_HEX, 24, 2);
    options.stream = &stream;
    nigh_signature_writer *writer;
    nigh_error error;
    nigh_document document = {.size = sizeof(nigh_document), .signature = two[0].signature};
    assert_int_equal(nigh_signature_writer_open(*state, "-", &options, &writer, NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_add(writer, &document, NULL), NIGH_OK);
    assert_int_equal(nigh_signature_writer_add(writer, &two[1], &error), NIGH_EINVAL);
    assert_string_equal(error.why, "a document with an id after some without");
    nigh_signature_writer_close(writer);
    free(sink.bytes);
}

static void test_options(void **state) {
    nigh_stream deaf = {0};
    const struct {
        const char *path;
        nigh_signature_format format;
        uint32_t width_bits;
        uint64_t rows;
        const nigh_stream *stream;
        nigh_status status;
        const char *message;
    } cases[] = {
        {"bad.bin", NIGH_FORMAT_AUTO, 24, 2, NULL, NIGH_EINVAL,
         "'bad.bin': the name does not end in that of a signature format, such as .npy"},
        {"bad.sig", NIGH_FORMAT_AUTO, 24, 2, NULL, NIGH_EINVAL, "'bad.sig': TopSig files are read but not written"},
        {"bad.npy", (nigh_signature_format)9, 24, 2, NULL, NIGH_EINVAL, "9 is no signature format"},
        {"bad.npy", NIGH_FORMAT_NPY, 0, 2, NULL, NIGH_EINVAL, "a width of 0 bits; it must be from 1 to 65536"},
        {"bad.npy", NIGH_FORMAT_NPY, 65537, 2, NULL, NIGH_EINVAL, "a width of 65537 bits; it must be from 1 to 65536"},
        {"bad.u8bin", NIGH_FORMAT_AUTO, 24, UINT64_C(1) << 32, NULL, NIGH_ELIMIT,
         "'bad.u8bin': 4294967296 rows; u8bin holds at most 4294967295"},
        {"-", NIGH_FORMAT_NPY, 24, 2, &deaf, NIGH_EINVAL, "a stream that cannot be written"},
        {"none/bad.npy", NIGH_FORMAT_AUTO, 24, 2, NULL, NIGH_ENOTFOUND,
         "'none/bad.npy.nigh.tmp': cannot create: No such file or directory"},
        {NULL, NIGH_FORMAT_NPY, 24, 2, NULL, NIGH_EINVAL, "no path of a signature file"},
        {"", NIGH_FORMAT_NPY, 24, 2, NULL, NIGH_ENOTFOUND, "'': cannot create: the path is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_signature_writer_options options = options_for(cases[i].format, cases[i].width_bits, cases[i].rows);
        options.stream = cases[i].stream;
        nigh_signature_writer *writer;
        nigh_error error;
        char message[800];
        assert_int_equal(nigh_signature_writer_open(*state, cases[i].path, &options, &writer, &error), cases[i].status);
        assert_null(writer);
        (void)nigh_error_format(&error, message, sizeof message);
        assert_string_equal(message, cases[i].message);
    }
    assert_false(path_exists("bad.npy"));
    assert_false(path_exists("bad.npy.nigh.tmp"));
}

/* A stream that is full: the failure is told once it shows, and from then on. */
static void test_full_stream(void **state) {
    static uint8_t signature[8192];
    struct memory_sink sink = {.fail_at = 1000};
    nigh_stream stream = memory_sink_stream(&sink);
    nigh_signature_writer_options options = options_for(NIGH_FORMAT_RAW, 65536, 1000);
    options.stream = &stream;
    nigh_signature_writer *writer;
    nigh_error error;
    nigh_document document = {.size = sizeof(nigh_document), .signature = signature};
    assert_int_equal(nigh_signature_writer_open(*state, "-", &options, &writer, NULL), NIGH_OK);
    nigh_status status = NIGH_OK;
    for (int i = 0; i < 1000 && status == NIGH_OK; i++) status = nigh_signature_writer_add(writer, &document, &error);
    assert_int_equal(status, NIGH_EIO);
    assert_string_equal(error.why, "cannot write: No space left on device");
    assert_int_equal(nigh_signature_writer_add(writer, &document, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "writing it has failed before");
    assert_int_equal(nigh_signature_writer_finish(writer, &error), NIGH_EINVAL);
    nigh_signature_writer_close(writer);
    free(sink.bytes);
}

static void test_no_rows(void **state) {
    static const char *const paths[] = {"e.npy", "e.u8bin", "e.hex"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        nigh_signature_writer_options options = options_for(NIGH_FORMAT_AUTO, 1024, 0);
        nigh_signature_writer *writer;
        assert_int_equal(nigh_signature_writer_open(*state, paths[i], &options, &writer, NULL), NIGH_OK);
        assert_int_equal(nigh_signature_writer_finish(writer, NULL), NIGH_OK);
        nigh_signature_writer_close(writer);
        struct reading result = read_signatures(*state, paths[i], NULL);
        assert_int_equal(result.status, NIGH_END);
        assert_int_equal(result.info.rows, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_bytes),
        cmocka_unit_test(test_other_bytes),
        cmocka_unit_test(test_npy_large_header),
        cmocka_unit_test(test_unknown_rows),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_two_writers),
        cmocka_unit_test(test_leftover),
        cmocka_unit_test(test_names_taken),
        cmocka_unit_test(test_close_without_finish),
        cmocka_unit_test(test_row_count),
        cmocka_unit_test(test_hex_documents),
        cmocka_unit_test(test_hex_id_after_none),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_full_stream),
        cmocka_unit_test(test_no_rows),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
