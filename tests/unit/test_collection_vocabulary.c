/* SPDX-License-Identifier: Apache-2.0 */
/* A real vocabulary on its way into a collection and back; what the store does with its bytes is in collection_weights.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "text/vocabulary.h"

/* Three features in two documents; `more` makes it another one. */
static nigh_vocabulary *make_vocabulary(nigh_context *context, uint32_t more) {
    const struct nigh__tally first[] = {{.hash = 11, .count = 2}, {.hash = 7, .count = 1 + more}};
    const struct nigh__tally second[] = {{.hash = 7, .count = 3}, {.hash = 5, .count = 1}};
    struct nigh__counter *counter;
    nigh_vocabulary *vocabulary;
    nigh_error error;
    assert_ok(nigh__counter_new(context, (uint64_t)64 << 20, &counter, &error), &error);
    assert_ok(nigh__counter_add(counter, first, 2, &error), &error);
    assert_ok(nigh__counter_add(counter, second, 2, &error), &error);
    assert_ok(nigh__counter_finish(counter, "features=words\n", &vocabulary, &error), &error);
    nigh__counter_free(counter);
    return vocabulary;
}

static nigh_status write_one(nigh_context *context, const char *path, const nigh_vocabulary *vocabulary,
                             nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.vocabulary = nigh_vocabulary_attachment(vocabulary);
    nigh_writer *writer;
    nigh_status status = nigh_writer_open(context, path, &options, &writer, error);
    if (status != NIGH_OK) return status;
    const uint8_t signature[8] = {1};
    nigh_document document = {.size = sizeof(nigh_document), .signature = signature};
    status = nigh_writer_add(writer, &document, error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, NULL, error);
    nigh_writer_close(writer);
    return status;
}

static void expect_same_bytes(const nigh_vocabulary *a, const nigh_vocabulary *b) {
    size_t length = 0;
    size_t other_length = 0;
    const void *bytes = nigh_vocabulary_bytes(a, &length);
    const void *other_bytes = nigh_vocabulary_bytes(b, &other_length);
    assert_int_equal(length, other_length);
    assert_memory_equal(bytes, other_bytes, length);
}

static void it_comes_back(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    nigh_vocabulary *vocabulary = make_vocabulary(context, 0);
    nigh_vocabulary *other = make_vocabulary(context, 1);
    nigh_error error;
    assert_ok(write_one(context, path, vocabulary, &error), &error);
    assert_ok(write_one(context, path, vocabulary, &error), &error);
    assert_int_equal(write_one(context, path, other, &error), NIGH_EMISMATCH);

    nigh_collection *collection;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_vocabulary *back;
    assert_ok(nigh_collection_vocabulary(collection, &back, &error), &error);
    nigh_collection_close(collection); /* the copy needs neither the collection nor its files */
    remove_tree(path);
    expect_same_bytes(back, vocabulary);
    assert_ok(write_one(context, path, back, &error), &error);
    nigh_vocabulary_free(back);
    nigh_vocabulary_free(other);
    nigh_vocabulary_free(vocabulary);
    free(path);
    scratch_free(scratch);
    nigh_context_free(context);
}

/* Bytes that the store keeps gladly and that are no vocabulary: the error says where they are. */
static void what_is_none(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    struct recipe recipe = {.width_bits = 64, .vocabulary = "not a vocabulary"};
    nigh_error error;
    assert_ok(recipe_add(context, path, &recipe, 0, 1, &error), &error);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_vocabulary *none;
    assert_int_not_equal(nigh_collection_vocabulary(collection, &none, &error), NIGH_OK);
    assert_null(none);
    assert_non_null(strstr(error.file, "segment-00000000000000000001"));
    assert_int_not_equal(error.offset, NIGH_NO_OFFSET);
    nigh_collection_close(collection);
    free(path);
    scratch_free(scratch);
    nigh_context_free(context);
}

static void memory_may_run_out(void **state) {
    (void)state;
    nigh_context *healthy = context_new();
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    nigh_vocabulary *vocabulary = make_vocabulary(healthy, 0);
    nigh_error error;
    assert_ok(write_one(healthy, path, vocabulary, &error), &error);
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t n = 0; status == NIGH_ENOMEM; n++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_collection *collection;
        assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
        memory.fail_at = memory.calls + n;
        nigh_vocabulary *back = NULL;
        status = nigh_collection_vocabulary(collection, &back, &error);
        assert_int_equal(back == NULL, status != NIGH_OK);
        if (n < 2) assert_int_equal(status, NIGH_ENOMEM); /* the copy, and what it is parsed into */
        nigh_vocabulary_free(back);
        nigh_collection_close(collection);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
    assert_ok(status, &error);
    nigh_vocabulary_free(vocabulary);
    free(path);
    scratch_free(scratch);
    nigh_context_free(healthy);
}

/* A scheme that names a vocabulary comes with it and no other. */
static void test_named(void **state) {
    nigh_context *context = context_new();
    (void)state;
    char *folder = scratch_new();
    char *path = path_in(folder, "c.nigh");
    nigh_vocabulary *right = make_vocabulary(context, 0);
    nigh_vocabulary *wrong = make_vocabulary(context, 1);
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    nigh_writer *writer;
    nigh_error error;
    char scheme[64];
    (void)snprintf(scheme, sizeof scheme, "kind=topsig\nvocabulary=%016llx\n",
                   (unsigned long long)nigh__vocabulary_name(right));
    options.width_bits = 64;
    options.scheme = scheme;
    assert_int_equal(nigh_writer_open(context, path, &options, &writer, &error), NIGH_EMISMATCH);
    assert_null(nigh_vocabulary_attachment(NULL).bytes);
    options.vocabulary = nigh_vocabulary_attachment(wrong);
    assert_int_equal(nigh_writer_open(context, path, &options, &writer, &error), NIGH_EMISMATCH);
    assert_false(path_exists(path));
    options.vocabulary = nigh_vocabulary_attachment(right);
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    nigh_writer_close(writer);
    nigh_vocabulary_free(right);
    nigh_vocabulary_free(wrong);
    free(path);
    scratch_free(folder);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
