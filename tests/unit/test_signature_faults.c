/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing signature files while every call to the system, and every
 * request for memory, fails in turn: each must come out as an error, keep
 * nothing, and leave the file that was there as it was.
 */
#include <errno.h>
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

#define TARGET "./out.hex"
#define TEMPORARY "./out.hex.nigh.tmp"
#define NEXT_TEMPORARY "./out.hex.nigh.1.tmp"

static nigh_status write_target(nigh_context *context, nigh_error *error) {
    nigh_signature_writer_options options;
    nigh_signature_writer_options_init(&options);
    options.width_bits = 16;
    options.rows = 3;
    nigh_signature_writer *writer;
    nigh_document document = {
        .size = sizeof(nigh_document), .signature = (const uint8_t *)"\x12\x34", .id = "id", .id_length = 2};
    nigh_status status = nigh_signature_writer_open(context, TARGET, &options, &writer, error);
    for (int i = 0; i < 3 && status == NIGH_OK; i++) status = nigh_signature_writer_add(writer, &document, error);
    if (status == NIGH_OK) status = nigh_signature_writer_finish(writer, error);
    nigh_signature_writer_close(writer);
    return status;
}

static void expect_target(const char *text) {
    struct bytes bytes = file_read_all(TARGET);
    assert_int_equal(bytes.length, strlen(text));
    assert_memory_equal(bytes.data, text, bytes.length);
    free(bytes.data);
}

#define BEFORE "before"
#define AFTER "id\t1234\nid\t1234\nid\t1234\n"

/*
 * The calls of a writer: open of what may be a leftover, and to create (of a name
 * that is taken, then of the next), lock, write, sync, rename, open and sync of the directory.  Up to the rename the
 * old file stays; the one under the name that was taken always does.
 */
static void test_writer_files(void **state) {
    (void)state;
    static const struct {
        const char *message, *target;
    } calls[] = {
        {"", AFTER},
        {"'./out.hex.nigh.tmp': cannot create: Input/output error", BEFORE},
        {"", AFTER},
        {"'./out.hex.nigh.1.tmp': cannot create: Input/output error", BEFORE},
        {"", AFTER},
        {"'./out.hex.nigh.1.tmp': cannot write: Input/output error", BEFORE},
        {"'./out.hex.nigh.1.tmp': cannot sync: Input/output error", BEFORE},
        {"'./out.hex.nigh.1.tmp': cannot rename: Input/output error", BEFORE},
        {"'.': cannot open: Input/output error", AFTER},
        {"'.': cannot sync: Input/output error", AFTER},
        {"", AFTER},
    };
    for (size_t call = 0; call < sizeof calls / sizeof calls[0]; call++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.fail_at = call;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error = {0};
        file_write_all(TARGET, BEFORE, strlen(BEFORE));
        assert_int_equal(nigh_file_system_posix()->make_directory(NULL, TEMPORARY), 0);
        nigh_status status = write_target(context, &error);
        assert_string_equal(status == NIGH_OK ? "" : error_text(&error), calls[call].message);
        expect_target(calls[call].target);
        assert_true(path_exists(TEMPORARY));
        assert_false(path_exists(NEXT_TEMPORARY));
        assert_int_equal(files.open_files, 0);
        nigh_context_free(context);
        assert_int_equal(remove(TEMPORARY), 0);
    }
}

/* No space left, however often it is asked: nothing of ours stays behind. */
static void test_writer_full(void **state) {
    (void)state;
    struct faulty_files files;
    faulty_files_init(&files);
    files.kinds = FAULT_WRITE;
    files.fail_at = 0;
    files.error = ENOSPC;
    files.sticky = true;
    nigh_context *context = context_with(&files.table, NULL, NULL);
    nigh_error error = {0};
    file_write_all(TARGET, BEFORE, strlen(BEFORE));
    assert_int_equal(write_target(context, &error), NIGH_EIO);
    assert_string_equal(error_text(&error), "'./out.hex.nigh.tmp': cannot write: No space left on device");
    assert_int_equal(error.system_errno, ENOSPC);
    expect_target(BEFORE);
    assert_false(path_exists(TEMPORARY));
    nigh_context_free(context);
}

static void inputs_make(nigh_signature_reader_options *options) {
    file_write_all("in.hex", "00112233445566\n778899aabbccdd\n", 30);
    file_write_all("ids.txt", "the first\nthe second\n", 21);
    options->ids_path = "ids.txt";
}

static void test_reader_files(void **state) {
    (void)state;
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    inputs_make(&options);
    for (uint64_t call = 0;; call++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.fail_at = call;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        struct reading result = read_signatures(context, "in.hex", &options);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(result.status, files.failed_kind == 0 ? NIGH_END : NIGH_EIO);
        if (files.failed_kind != 0) continue;
        assert_int_equal(result.rows, 2);
        assert_true(call >= 6); /* two opens, a length, a read and an end of each */
        break;
    }
}

static void test_reader_memory(void **state) {
    (void)state;
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    inputs_make(&options);
    for (uint64_t call = 1;; call++) { /* 0 is the context's */
        struct faulty_memory memory = {.fail_at = call};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct reading result = read_signatures(context, "in.hex", &options);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        assert_int_equal(result.status, memory.calls > call ? NIGH_ENOMEM : NIGH_END);
        if (result.status == NIGH_END) break;
    }
}

static void test_writer_memory(void **state) {
    (void)state;
    for (uint64_t call = 1;; call++) {
        struct faulty_memory memory = {.fail_at = call};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        file_write_all(TARGET, BEFORE, strlen(BEFORE));
        nigh_status status = write_target(context, NULL);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        assert_int_equal(status, memory.calls > call ? NIGH_ENOMEM : NIGH_OK);
        assert_false(path_exists(TEMPORARY));
        if (status == NIGH_OK) break;
    }
    expect_target(AFTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_files),  cmocka_unit_test(test_writer_full),   cmocka_unit_test(test_reader_files),
        cmocka_unit_test(test_reader_memory), cmocka_unit_test(test_writer_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
