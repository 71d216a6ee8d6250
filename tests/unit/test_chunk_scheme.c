/* SPDX-License-Identifier: Apache-2.0 */
/* Files of chunks that say how they were signed: declaring, refusing, signing by it, failures at every call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "finder/chunk_file.h"
#include "support/support.h"

#define VOCABULARY "some bytes that stand for a vocabulary\n"
#define SCHEME "kind=simhash\nvocabulary=00000000000000ab\nweights=tf-idf\n"

static const uint64_t rows[] = {1, 2, 3, 4, 5};
static const nigh_chunks_origin origin = {
    .size = sizeof origin, .scheme = SCHEME, .vocabulary = {VOCABULARY, sizeof VOCABULARY - 1, 0xab}};

static nigh_chunks *open_chunks(nigh_context *context, const char *path, bool writable) {
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    nigh_error error;
    nigh_chunks *chunks = NULL;
    options.writable = writable;
    assert_ok(nigh_chunks_open(context, path, &options, &chunks, &error), &error);
    return chunks;
}

static nigh_status append(nigh_chunks *chunks, nigh_error *error) {
    return nigh_chunks_append(chunks, (const uint8_t *)rows, 5, NULL, error);
}

static void make_signed(nigh_context *context, const char *path) {
    nigh_error error;
    nigh_chunks *chunks = open_chunks(context, path, true);
    assert_null(nigh_chunks_scheme(chunks));
    assert_ok(nigh_chunks_declare(chunks, &origin, &error), &error);
    assert_ok(append(chunks, &error), &error);
    assert_ok(append(chunks, &error), &error);
    nigh_chunks_close(chunks);
}

static nigh_status declare(nigh_chunks *chunks, const char *scheme, nigh_error *error) {
    nigh_chunks_origin other = origin;
    other.scheme = scheme;
    return nigh_chunks_declare(chunks, &other, error);
}

static void test_refuse(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "signed.chunks");
    nigh_error error;
    make_signed(*state, path);
    nigh_chunks *chunks = open_chunks(*state, path, true);
    nigh_chunks_info info = {.size = sizeof info};
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.says_scheme, 1);
    assert_int_equal(info.vocabulary_bytes, sizeof VOCABULARY - 1);
    assert_string_equal(nigh_chunks_scheme(chunks), "bits=64\n" SCHEME);
    assert_int_equal(append(chunks, &error), NIGH_EMISMATCH); /* nobody has said how */
    assert_int_equal(declare(chunks, "kind=simhash\nvocabulary=00000000000000ab\nweights=log\n", &error),
                     NIGH_EMISMATCH);
    assert_non_null(strstr(error.why, "weights=tf-idf"));
    assert_non_null(strstr(error.why, "weights=log"));
    assert_int_equal(append(chunks, &error), NIGH_EMISMATCH);
    assert_int_equal(declare(chunks, NULL, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error.why, "kind=signatures"));
    assert_int_equal(declare(chunks, "kind=simhash\nvocabulary=00000000000000ac\n", &error), NIGH_EMISMATCH);
    assert_int_equal(declare(chunks, "text-key=body\n" SCHEME, &error), NIGH_OK); /* no bit depends on keys */
    assert_ok(append(chunks, &error), &error);
    nigh_chunks_close(chunks);
    assert_ok(nigh_chunks_check(*state, path, NULL, NULL, &error), &error);
    free(path);
    scratch_free(folder);
}

/* Undeclared, a file says nothing, and takes anything; signatures of the caller's own can be said too. */
static void test_own(void **state) {
    char *folder = scratch_new();
    char *silent = path_in(folder, "silent.chunks");
    char *own = path_in(folder, "own.chunks");
    nigh_error error;
    nigh_chunks *chunks = open_chunks(*state, silent, true);
    assert_ok(append(chunks, &error), &error);
    assert_ok(nigh_chunks_declare(chunks, &origin, &error), &error);
    assert_ok(append(chunks, &error), &error);
    assert_null(nigh_chunks_scheme(chunks));
    nigh_chunks_close(chunks);
    chunks = open_chunks(*state, own, true);
    assert_ok(declare(chunks, NULL, &error), &error);
    assert_ok(append(chunks, &error), &error);
    nigh_chunks_close(chunks);
    chunks = open_chunks(*state, own, true);
    assert_string_equal(nigh_chunks_scheme(chunks), "bits=64\nkind=signatures\n");
    assert_ok(append(chunks, &error), &error); /* who says nothing has signatures of their own */
    nigh_signer *signer = NULL;
    assert_int_equal(nigh_chunks_signer(chunks, &signer, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NOT_OF_TEXT);
    nigh_chunks_close(chunks);
    free(silent);
    free(own);
    scratch_free(folder);
}

static nigh_status first_append(const char *path, struct faulty_files *files) {
    nigh_context *context = context_with(&files->table, NULL, NULL);
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *chunks = NULL;
    nigh_status status = nigh_chunks_open(context, path, &options, &chunks, NULL);
    if (status == NIGH_OK) status = nigh_chunks_declare(chunks, &origin, NULL);
    if (status == NIGH_OK) status = append(chunks, NULL);
    nigh_chunks_close(chunks);
    nigh_context_free(context);
    assert_int_equal(files->open_files, 0);
    return status;
}

/* Each call of the first append fails once, or from there on: the file has neither origin nor chunk, or both. */
static void check_faults(nigh_context *context, bool sticky) {
    bool succeeded = false;
    for (uint64_t fail_at = 0; !succeeded; fail_at++) {
        char *folder = scratch_new();
        char *path = path_in(folder, "signed.chunks");
        struct faulty_files files;
        faulty_files_init(&files);
        files.fail_at = fail_at;
        files.sticky = sticky;
        files.error = ENOSPC;
        const nigh_status status = first_append(path, &files);
        succeeded = files.failed_kind == 0;
        nigh_chunks_info info = {.size = sizeof info};
        nigh_error error;
        nigh_chunks *chunks = open_chunks(context, path, true);
        nigh_chunks_describe(chunks, &info);
        assert_int_equal(info.says_scheme, info.chunks > 0);
        if (status == NIGH_OK) assert_int_equal(info.chunks, 1);
        assert_ok(nigh_chunks_declare(chunks, &origin, &error), &error);
        assert_ok(append(chunks, &error), &error);
        nigh_chunks_close(chunks);
        assert_ok(nigh_chunks_check(context, path, NULL, NULL, &error), &error);
        free(path);
        scratch_free(folder);
    }
}

static void test_faults(void **state) {
    check_faults(*state, false);
    check_faults(*state, true);
}

/* Every byte of what counts, turned: the check names it, or it is in a gap. */
static void test_damage(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "signed.chunks");
    make_signed(*state, path);
    struct bytes good = file_read_all(path);
    for (size_t at = 0; at < good.length; at++) {
        const bool gap = at < NIGH__CHUNKS_START && at % 4096 >= 64;
        if (gap) continue;
        nigh_error error = {.status = NIGH_OK};
        good.data[at] ^= 0x20;
        file_write_all(path, good.data, good.length);
        good.data[at] ^= 0x20;
        const nigh_status status = nigh_chunks_check(*state, path, NULL, NULL, &error);
        if (status == NIGH_OK) continue; /* zeros that fill up a part */
        assert_true(status == NIGH_ECORRUPT || status == NIGH_EVERSION || status == NIGH_EFORMAT);
        assert_true(error.offset <= at);
        assert_true(at < NIGH__CHUNKS_START || error.offset >= NIGH__CHUNKS_START);
    }
    free(good.data);
    free(path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
