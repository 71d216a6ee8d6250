/* SPDX-License-Identifier: Apache-2.0 */
/* TopSig's files, both versions, and headers in which no number can be trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/signature_support.h"
#include "support/support.h"

struct topsig {
    uint32_t header_size, version, longest_name, width_bits;
};

static const struct topsig version_1 = {84, 1, 7, 32};
static const struct topsig version_2 = {88, 2, 7, 32};

static void header_add(struct memory_sink *file, struct topsig header) {
    static const char method[64] = "random indexing";
    size_t start = file->length;
    sink_u32(file, header.header_size);
    sink_u32(file, header.version);
    sink_u32(file, header.longest_name);
    sink_u32(file, header.width_bits);
    sink_u32(file, 21);
    if (header.version >= 2) sink_u32(file, 7);
    sink_add(file, method, sizeof method);
    while (file->length - start < header.header_size && header.header_size < 1000) sink_add(file, "", 1);
}

/* A record of version_1 and version_2: 8 + 32 + 4 bytes. */
static void record_add(struct memory_sink *file, const char *name, const char *signature) {
    char padded[8] = {0};
    memcpy(padded, name, strlen(name) < 8 ? strlen(name) : 8);
    sink_add(file, padded, sizeof padded);
    for (uint32_t i = 0; i < 8; i++) sink_u32(file, 1000 + i);
    sink_add(file, signature, 4);
}

static struct reading sink_read(void **state, struct memory_sink *file, uint32_t width_bits) {
    struct reading result = read_bytes(*state, "x.sig", NIGH_FORMAT_AUTO, width_bits, file->bytes, file->length);
    free(file->bytes);
    *file = (struct memory_sink){0};
    return result;
}

static void test_rows(void **state) {
    struct topsig longer = version_2;
    longer.header_size = 100;
    const struct topsig headers[] = {version_1, version_2, longer};
    for (size_t i = 0; i < 3; i++) {
        struct memory_sink file = {0};
        header_add(&file, headers[i]);
        record_add(&file, "first", "abcd");
        record_add(&file, "longest", "efgh");
        file_write_all("x.sig", file.bytes, file.length);
        nigh_signature_reader *reader;
        nigh_signature_info info = {.size = sizeof info};
        nigh_document document = {.size = sizeof document};
        assert_int_equal(nigh_signature_reader_open(*state, "x.sig", NULL, &reader, NULL), NIGH_OK);
        nigh_signature_reader_describe(reader, &info);
        assert_int_equal(info.format, NIGH_FORMAT_TOPSIG);
        assert_int_equal(info.rows, 2);
        assert_int_equal(info.width_bits, 32);
        assert_int_equal(info.has_ids, 1);
        assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
        assert_memory_equal(document.signature, "abcd", 4);
        assert_int_equal(document.id_length, 5);
        assert_memory_equal(document.id, "first", 5);
        assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_OK);
        assert_memory_equal(document.signature, "efgh", 4);
        assert_int_equal(document.id_length, 7);
        assert_int_equal(nigh_signature_reader_next(reader, &document, NULL), NIGH_END);
        nigh_signature_reader_close(reader);
        assert_int_equal(sink_read(state, &file, 32).rows, 2);
    }
}

static void test_no_records(void **state) {
    struct memory_sink file = {0};
    header_add(&file, version_2);
    struct reading result = sink_read(state, &file, 0);
    assert_int_equal(result.status, NIGH_END);
    assert_int_equal(result.info.rows, 0);
    assert_int_equal(result.info.has_ids, 0);
    assert_int_equal(result.info.width_bits, 32);
}

static void test_bad_headers(void **state) {
    static const struct {
        struct topsig header;
        const char *message;
    } cases[] = {
        {{83, 1, 7, 32}, "'x.sig', offset 0: not a TopSig file: the header size is 83"},
        {{84, 2, 7, 32}, "'x.sig', offset 0: not a TopSig file: the header size is 84"},
        {{0xffffffffu, 2, 7, 32}, "'x.sig', offset 0: not a TopSig file: the header size is -1"},
        {{65537, 2, 7, 32}, "'x.sig', offset 0: not a TopSig file: the header size is 65537"},
        {{88, 0, 7, 32}, "'x.sig', offset 4: not a TopSig file: the version is 0"},
        {{88, 3, 7, 32}, "'x.sig', offset 4: not a TopSig file: the version is 3"},
        {{88, 2, 0, 32}, "'x.sig', offset 8: not a TopSig file: the longest name is 0"},
        {{88, 2, 65536, 32}, "'x.sig', offset 8: not a TopSig file: the longest name is 65536"},
        {{88, 2, 0x80000000u, 32}, "'x.sig', offset 8: not a TopSig file: the longest name is -2147483648"},
        {{88, 2, 7, 0}, "'x.sig', offset 12: not a TopSig file: the width in bits is 0"},
        {{88, 2, 7, 33}, "'x.sig', offset 12: not a TopSig file: the width in bits is 33"},
        {{88, 2, 7, 65544}, "'x.sig', offset 12: not a TopSig file: the width in bits is 65544"},
        {{88, 2, 7, 0xfffffff8u}, "'x.sig', offset 12: not a TopSig file: the width in bits is -8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct memory_sink file = {0};
        header_add(&file, cases[i].header);
        record_add(&file, "name", "abcd");
        struct reading result = sink_read(state, &file, 0);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, NIGH_EFORMAT);
    }
}

static void test_cut(void **state) {
    struct memory_sink file = {0};
    header_add(&file, version_2);
    record_add(&file, "name", "abcd");
    for (size_t length = 0; length < file.length; length++) {
        struct reading result = read_bytes(*state, "x.sig", NIGH_FORMAT_AUTO, 0, file.bytes, length);
        if (length == 88) {
            assert_int_equal(result.status, NIGH_END);
            continue;
        }
        assert_int_equal(result.status, NIGH_EFORMAT);
        if (length == 15)
            assert_string_equal(result.message, "'x.sig', offset 15: file ends at byte 15, in its header");
        if (length == 87)
            assert_string_equal(result.message, "'x.sig', offset 87: file ends at byte 87, in its header");
        if (length == 89)
            assert_string_equal(result.message,
                                "'x.sig', offset 89: file ends at byte 89, inside a record of 44 bytes");
    }
    free(file.bytes);
}

static void test_bad_names(void **state) {
    static const struct {
        const char *name;
        const char *message;
    } cases[] = {
        {"endless!", "'x.sig', offset 132: name has no end in its 8 bytes"},
        {"", "'x.sig', offset 132: id is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct memory_sink file = {0};
        header_add(&file, version_2);
        record_add(&file, "fine", "abcd");
        record_add(&file, cases[i].name, "abcd");
        struct reading result = sink_read(state, &file, 0);
        assert_string_equal(result.message, cases[i].message);
        assert_int_equal(result.status, NIGH_EFORMAT);
        assert_int_equal(result.rows, 1);
    }
}

static void test_width(void **state) {
    struct memory_sink file = {0};
    header_add(&file, version_1);
    struct reading result = sink_read(state, &file, 64);
    assert_string_equal(result.message, "'x.sig': signatures have 32 bits, 64 were asked for");
    assert_int_equal(result.status, NIGH_EMISMATCH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_no_records), cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_cut),  cmocka_unit_test(test_bad_names),  cmocka_unit_test(test_width),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
