/* SPDX-License-Identifier: Apache-2.0 */
/* Ids from a file of their own: one a line, as many as there are rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/signature_support.h"
#include "support/support.h"

/* Reads `signatures` as the named file with `ids` beside it. */
static struct reading ids_read(void **state, const char *name, const char *signatures, size_t length, const char *ids) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.ids_path = "ids.txt";
    file_write_all(name, signatures, length);
    file_write_all("ids.txt", ids, strlen(ids));
    return read_signatures(*state, name, &options);
}

#define TWO_ROWS "\x02\x00\x00\x00\x01\x00\x00\x00xy"
#define NO_ROWS "\x00\x00\x00\x00\x01\x00\x00\x00"

static void test_given(void **state) {
    file_write_all("x.u8bin", TWO_ROWS, 10);
    file_write_all("ids.txt", "one\r\ntwo and more", 17);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.ids_path = "ids.txt";
    nigh_signature_reader *reader;
    nigh_signature_info info = {.size = sizeof info};
    nigh_document document = {.size = sizeof document};
    assert_int_equal(nigh_signature_reader_open(*state, "x.u8bin", &options, &reader, NULL), NIGH_OK);
    nigh_signature_reader_describe(reader, &info);
    assert_int_equal(info.has_ids, 1);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
    assert_int_equal(document.signature[0], 'x');
    assert_int_equal(document.id_length, 3);
    assert_memory_equal(document.id, "one", 3);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
    assert_int_equal(document.signature[0], 'y');
    assert_int_equal(document.id_length, 12);
    assert_memory_equal(document.id, "two and more", 12);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
    assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
    nigh_signature_reader_close(reader);
}

static void test_override(void **state) {
    struct reading own = ids_read(state, "x.hex", "a\t00\nb\t11\n", 10, "a\nb\n");
    struct reading other = ids_read(state, "x.hex", "a\t00\nb\t11\n", 10, "c\nd\n");
    struct reading added = ids_read(state, "x.hex", "00\n11\n", 6, "c\nd\n");
    assert_int_equal(own.rows, 2);
    assert_int_not_equal(own.hash, other.hash);
    assert_int_equal(other.hash, added.hash);
}

static void test_none(void **state) {
    struct reading none = ids_read(state, "x.u8bin", NO_ROWS, 8, "");
    assert_int_equal(none.status, NIGH_END);
    assert_int_equal(none.info.has_ids, 0);
}

static void test_bad(void **state) {
    static const struct {
        const char *name, *signatures;
        size_t length;
        const char *ids, *message;
    } cases[] = {
        {"x.u8bin", TWO_ROWS, 10, "one\n", "'ids.txt': 1 ids for 2 signatures"},
        {"x.u8bin", TWO_ROWS, 10, "", "'ids.txt': 0 ids for 2 signatures"},
        {"x.u8bin", TWO_ROWS, 10, "a\nb\nc\nd\n", "'ids.txt': 4 ids for 2 signatures"},
        {"x.u8bin", TWO_ROWS, 10, "a\nb\nc\td\n", "'ids.txt', line 3: id holds a tab"},
        {"x.u8bin", NO_ROWS, 8, "a\n", "'ids.txt': 1 ids for 0 signatures"},
        {"x.hex", "00\n11\n", 6, "a\n", "'ids.txt': 1 ids, but more signatures"},
        {"x.hex", "00\n11\n", 6, "a\nb\nc", "'ids.txt': 3 ids for 2 signatures"},
        {"x.u8bin", TWO_ROWS, 10, "a\n\nb\n", "'ids.txt', line 2: empty line"},
        {"x.u8bin", TWO_ROWS, 10, "a\nb\n\n", "'ids.txt', line 3: empty line"},
        {"x.u8bin", TWO_ROWS, 10, "\r\nb\n", "'ids.txt', line 1: empty line"},
        {"x.u8bin", TWO_ROWS, 10, "a\nb\tc\n", "'ids.txt', line 2: id holds a tab"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading result = ids_read(state, cases[i].name, cases[i].signatures, cases[i].length, cases[i].ids);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, NIGH_EFORMAT);
    }
}

static void test_bytes(void **state) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.ids_path = "ids.txt";
    file_write_all("x.u8bin", TWO_ROWS, 10);
    file_write_all("ids.txt", "a\nb\0c\n", 6);
    assert_string_equal(read_signatures(*state, "x.u8bin", &options).message, "'ids.txt', line 2: id holds a NUL byte");
    char *longest = malloc(65538);
    assert_non_null(longest);
    memset(longest, 'x', 65538);
    longest[65536] = longest[65535] = '\n';
    longest[65537] = 'y';
    file_write_all("ids.txt", longest, 65536);
    assert_string_equal(read_signatures(*state, "x.u8bin", &options).message, "'ids.txt': 1 ids for 2 signatures");
    longest[65535] = 'x';
    file_write_all("ids.txt", longest, 65538);
    assert_string_equal(read_signatures(*state, "x.u8bin", &options).message,
                        "'ids.txt', line 1: id is longer than 65535 bytes");
    free(longest);
    options.ids_path = "none.txt";
    struct reading missing = read_signatures(*state, "x.u8bin", &options);
    assert_int_equal(missing.status, NIGH_ENOTFOUND);
    assert_string_equal(missing.message, "'none.txt': cannot open: No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given), cmocka_unit_test(test_override), cmocka_unit_test(test_none),
        cmocka_unit_test(test_bad),   cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
