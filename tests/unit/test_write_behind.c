/* SPDX-License-Identifier: Apache-2.0 */
/* Writing by a thread of its own: the same bytes as without, and what fails is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/replacement.h"
#include "base/rng.h"
#include "support/support.h"

#define LENGTH ((size_t)7 << 19) /* a few buffers and a half */

/* Writes the bytes in pieces of any length, and closes the file with or without having failed. */
static nigh_status write_pieces(nigh_context *context, const char *path, const uint8_t *bytes, nigh_error *error) {
    struct nigh__replacement replacement = {0};
    struct nigh__output output = {0};
    struct nigh__rng rng = {7};
    nigh_status status = nigh__replacement_open(context, path, &replacement, error);
    if (status == NIGH_OK) status = nigh__output_init(context, &replacement.file, NULL, path, &output, error);
    if (status == NIGH_OK) status = nigh__output_write_behind(&output, error);
    for (size_t at = 0, length; status == NIGH_OK && at < LENGTH; at += length) {
        length = (size_t)(nigh__rng_next(&rng) % (LENGTH / 5));
        if (length > LENGTH - at) length = LENGTH - at;
        status = nigh__output_add(&output, bytes + at, length, error);
        if (status == NIGH_OK) assert_int_equal(nigh__output_length(&output), at + length);
    }
    if (status == NIGH_OK) status = nigh__output_flush(&output, error);
    if (status == NIGH_OK) status = nigh__replacement_finish(&replacement, error);
    nigh__output_release(&output);
    nigh__replacement_release(context, &replacement);
    return status;
}

static uint8_t *make_bytes(void) {
    uint8_t *bytes = malloc(LENGTH);
    struct nigh__rng rng = {11};
    assert_non_null(bytes);
    for (size_t i = 0; i < LENGTH; i++) bytes[i] = (uint8_t)nigh__rng_next(&rng);
    return bytes;
}

static void test_same_bytes(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "out");
    uint8_t *bytes = make_bytes();
    nigh_error error;
    assert_ok(write_pieces(*state, path, bytes, &error), &error);
    struct bytes written = file_read_all(path);
    assert_int_equal(written.length, LENGTH);
    assert_memory_equal(written.data, bytes, LENGTH);
    free(written.data);
    free(bytes);
    free(path);
    scratch_free(folder);
}

/* Each write fails once: it is told by the call after it or by the last, and no file is left. */
static void test_failing(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "out");
    uint8_t *bytes = make_bytes();
    nigh_status status = NIGH_EIO;
    uint64_t at = 0;
    (void)state;
    for (; status != NIGH_OK; at++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_WRITE;
        files.fail_at = at;
        files.error = ENOSPC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error;
        status = write_pieces(context, path, bytes, &error);
        assert_true(status == NIGH_OK || (status == NIGH_EIO && error.system_errno == ENOSPC));
        assert_int_equal(files.open_files, 0);
        assert_int_equal(path_exists(path), status == NIGH_OK);
        nigh_context_free(context);
    }
    assert_int_equal(at, 5); /* four buffers, and none that failed */
    free(bytes);
    free(path);
    scratch_free(folder);
}

static void test_no_memory(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "out");
    uint8_t *bytes = make_bytes();
    nigh_status status = NIGH_ENOMEM;
    (void)state;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const int64_t before = memory.live;
        nigh_error error;
        memory.fail_at = memory.calls + at;
        status = write_pieces(context, path, bytes, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        assert_int_equal(memory.live, before);
        nigh_context_free(context);
    }
    free(bytes);
    free(path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
