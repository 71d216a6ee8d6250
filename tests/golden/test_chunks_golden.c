/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of chunks kept from version 1 of their format.  v1-silent.chunks was made before files said how they were
 * signed; v1-signed.chunks says it.  Both must open, and the second must still be written with the very same bytes.
 *
 * `test_chunks_golden --make FILE` writes it anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define VOCABULARY "to the chunks a vocabulary is bytes\n"
#define SCHEME "kind=simhash\nvocabulary=00000000000000ab\n"

static const uint64_t first_rows[] = {0xefcdab8967452301, 0x1032547698badcfe, 0xff00000000000000};
static const uint64_t second_rows[] = {UINT64_MAX, 0};

static char *golden_path(const char *name) {
    const char *source = getenv("NIGH_SOURCE_DIR");
    if (source == NULL) fail_msg("NIGH_SOURCE_DIR is not set; run this through ctest");
    char *folder = path_in(source, "tests/golden");
    char *path = path_in(folder, name);
    free(folder);
    return path;
}

static nigh_chunks *open_chunks(nigh_context *context, const char *path, bool writable) {
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    nigh_error error;
    nigh_chunks *chunks = NULL;
    options.writable = writable;
    assert_ok(nigh_chunks_open(context, path, &options, &chunks, &error), &error);
    return chunks;
}

static void append(nigh_chunks *chunks, const uint64_t *rows, size_t count) {
    nigh_error error;
    assert_ok(nigh_chunks_append(chunks, (const uint8_t *)rows, count, NULL, &error), &error);
}

static void make_signed(nigh_context *context, const char *path) {
    const nigh_chunks_origin origin = {
        .size = sizeof origin, .scheme = SCHEME, .vocabulary = {VOCABULARY, sizeof VOCABULARY - 1, 0xab}};
    nigh_error error;
    nigh_chunks *chunks = open_chunks(context, path, true);
    assert_ok(nigh_chunks_declare(chunks, &origin, &error), &error);
    append(chunks, first_rows, 3);
    append(chunks, second_rows, 2);
    nigh_chunks_close(chunks);
}

/* Each row is found under its number. */
static void check_rows(nigh_context *context, const char *name, const char *scheme) {
    char *path = golden_path(name);
    nigh_chunks *chunks = open_chunks(context, path, false);
    uint64_t queries[5];
    memcpy(queries, first_rows, sizeof first_rows);
    memcpy(queries + 3, second_rows, sizeof second_rows);
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    options.radius = 0;
    nigh_error error;
    nigh_results *results = NULL;
    assert_ok(nigh_chunks_match(chunks, (const uint8_t *)queries, 5, &options, &results, &error), &error);
    for (size_t i = 0; i < 5; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        assert_int_equal(count, 1);
        assert_int_equal(matches[0].document, i);
    }
    if (scheme == NULL)
        assert_null(nigh_chunks_scheme(chunks));
    else
        assert_string_equal(nigh_chunks_scheme(chunks), scheme);
    nigh_results_free(results);
    nigh_chunks_close(chunks);
    assert_ok(nigh_chunks_check(context, path, NULL, NULL, &error), &error);
    free(path);
}

static void test_open(void **state) {
    check_rows(*state, "v1-silent.chunks", NULL);
    check_rows(*state, "v1-signed.chunks", "bits=64\n" SCHEME);
}

static void test_same_bytes(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "made.chunks");
    char *golden = golden_path("v1-signed.chunks");
    make_signed(*state, path);
    struct bytes made = file_read_all(path);
    struct bytes kept = file_read_all(golden);
    assert_int_equal(made.length, kept.length);
    assert_memory_equal(made.data, kept.data, kept.length);
    free(made.data);
    free(kept.data);
    free(golden);
    free(path);
    scratch_free(folder);
}

/* A file of before is appended to as before, and takes whatever is declared. */
static void test_append_to_silent(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "old.chunks");
    char *golden = golden_path("v1-silent.chunks");
    const nigh_chunks_origin origin = {.size = sizeof origin, .scheme = "kind=minhash\n"};
    nigh_chunks_info info = {.size = sizeof info};
    nigh_error error;
    struct bytes kept = file_read_all(golden);
    file_write_all(path, kept.data, kept.length);
    free(kept.data);
    nigh_chunks *chunks = open_chunks(context, path, true);
    assert_ok(nigh_chunks_declare(chunks, &origin, &error), &error);
    append(chunks, second_rows, 1);
    nigh_chunks_close(chunks);
    chunks = open_chunks(context, path, false);
    nigh_chunks_describe(chunks, &info);
    assert_int_equal(info.fingerprints, 6);
    assert_int_equal(info.says_scheme, 0);
    nigh_chunks_close(chunks);
    assert_ok(nigh_chunks_check(context, path, NULL, NULL, &error), &error);
    free(golden);
    free(path);
    scratch_free(folder);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_append_to_silent),
    };
    if (count == 3 && strcmp(arguments[1], "--make") == 0) {
        nigh_context *context = NULL;
        if (nigh_context_new(NULL, &context, NULL) != NIGH_OK) return 2;
        make_signed(context, arguments[2]);
        nigh_context_free(context);
        return 0;
    }
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
