/* SPDX-License-Identifier: Apache-2.0 */
/* From documents to blocks of distinct terms: by hand, against the featurer, in pieces, by threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/filter_support.h"
#include "support/support.h"

struct opened {
    struct text_input input;
    struct nigh__block_reader *reader;
};

static void open_blocks(nigh_context *context, const char *text, const struct nigh__block_options *options,
                        struct opened *out) {
    nigh_error error;
    assert_ok(text_input_open(context, text, NULL, &out->input, &error), &error);
    assert_ok(nigh__block_reader_open(context, out->input.reader, options, &out->reader, &error), &error);
}

static void close_blocks(struct opened *opened) {
    nigh__block_reader_close(opened->reader);
    text_input_close(&opened->input);
}

static uint64_t hash_of(const char *word) { return nigh__hash_seeded(word, strlen(word), 5); }

static void expect_block(const struct nigh__blocks *blocks, uint32_t block, const char *const *words, size_t count) {
    assert_int_equal(blocks->begins[block + 1] - blocks->begins[block], count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t term = blocks->block_terms[blocks->begins[block] + i];
        assert_true(term < blocks->terms);
        assert_true(blocks->hashes[term] == hash_of(words[i]));
    }
}

static void test_by_hand(void **state) {
    struct nigh__blocks *blocks = blocks_of_lines(*state, "A b c, d b a e f g\n?!\nb h b\n", 3);
    assert_int_equal(blocks->documents, 3);
    assert_int_equal(blocks->blocks, 4);
    assert_int_equal(blocks->terms, 8);
    assert_int_equal(blocks->postings, 9);
    assert_int_equal(blocks->empty, 1);
    static const uint32_t first_blocks[] = {0, 3, 3, 4};
    assert_memory_equal(blocks->first_blocks, first_blocks, sizeof first_blocks);
    expect_block(blocks, 0, (const char *[]){"a", "b"}, 2);
    expect_block(blocks, 1, (const char *[]){"c", "d"}, 2);
    expect_block(blocks, 2, (const char *[]){"e", "f", "g"}, 3);
    expect_block(blocks, 3, (const char *[]){"b", "h"}, 2);
    static const uint32_t terms[] = {0, 1, 2, 3, 4, 5, 6, 1, 7};
    static const uint32_t frequencies[] = {1, 2, 1, 1, 1, 1, 1, 1};
    assert_memory_equal(blocks->block_terms, terms, sizeof terms);
    assert_memory_equal(blocks->frequencies, frequencies, sizeof frequencies);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(blocks->record_numbers[i], i);
        assert_int_equal(blocks->source_numbers[i], 0);
        assert_true(blocks->id_begins[i] < blocks->id_begins[i + 1]);
    }
    assert_int_equal(blocks->sources, 1);
    assert_string_equal(blocks->source_names[0], "-");
    assert_int_equal(blocks->reader.documents, 3);
    nigh__blocks_free(blocks);
    nigh__blocks_free(NULL);
}

/* A document's distinct terms as the featurer gives them, cut as the header says. */
static void expect_document(const struct nigh__blocks *blocks, uint32_t document, const struct nigh__features *features,
                            uint32_t most) {
    const uint32_t first = blocks->first_blocks[document];
    const uint32_t count = blocks->first_blocks[document + 1] - first;
    assert_int_equal(count, (features->count + most - 1) / most);
    const uint64_t begin = blocks->begins[first];
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(blocks->begins[first + i] - begin, features->count * i / count);
        assert_in_range(blocks->begins[first + i + 1] - blocks->begins[first + i], 1, most);
    }
    assert_int_equal(blocks->begins[first + count] - begin, features->count);
    for (size_t i = 0; i < features->count; i++)
        assert_true(blocks->hashes[blocks->block_terms[begin + i]] == features->hashes[i]);
}

/* Terms are numbered as they first occur, and their frequencies are what is counted. */
static void expect_terms(const struct nigh__blocks *blocks) {
    uint32_t *counts = calloc(blocks->terms + 1, sizeof *counts);
    uint32_t next = 0;
    for (uint64_t i = 0; i < blocks->postings; i++) {
        assert_true(blocks->block_terms[i] <= next);
        next += blocks->block_terms[i] == next;
        counts[blocks->block_terms[i]]++;
    }
    assert_int_equal(next, blocks->terms);
    assert_memory_equal(counts, blocks->frequencies, blocks->terms * sizeof *counts);
    free(counts);
}

/* Reads in pieces of so much memory and compares each document with its line; returns the number of pieces. */
static uint32_t expect_lines(nigh_context *context, const char *text, const struct nigh__block_options *options) {
    struct opened opened;
    struct nigh__featurer *featurer;
    struct nigh__blocks *blocks;
    nigh_error error;
    nigh_status status;
    uint32_t pieces = 0;
    uint64_t line = 0;
    bool more = true;
    open_blocks(context, text, options, &opened);
    assert_ok(nigh__featurer_new(context, &options->plan, &featurer, &error), &error);
    while ((status = nigh__block_reader_next(opened.reader, &blocks, &error)) == NIGH_OK) {
        assert_true(more);
        more = blocks->more;
        pieces++;
        expect_terms(blocks);
        assert_true(blocks->documents > 0);
        for (uint32_t document = 0; document < blocks->documents; document++, line++) {
            const char *end = strchr(text, '\n');
            struct nigh__features features;
            assert_ok(nigh__featurer_find(featurer, text, (size_t)(end - text), &features, &error), &error);
            expect_document(blocks, document, &features, options->block_terms);
            assert_int_equal(blocks->record_numbers[document], line);
            text = end + 1;
        }
        nigh__blocks_free(blocks);
    }
    assert_int_equal(status, NIGH_END);
    assert_null(blocks);
    assert_false(more);
    assert_int_equal(nigh__block_reader_next(opened.reader, &blocks, &error), NIGH_END); /* it stays */
    assert_true(options->limit == 0 ? *text == '\0' : line == options->limit);
    nigh__featurer_free(featurer);
    close_blocks(&opened);
    return pieces;
}

static void test_lines(void **state) {
    char *text = text_lines(1, 3000);
    static const uint32_t most[] = {1, 7, 400};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            struct nigh__block_options options = block_options(most[i], threads);
            assert_int_equal(expect_lines(*state, text, &options), 1);
            options.limit = 1000;
            assert_int_equal(expect_lines(*state, text, &options), 1);
            options.limit = 0;
            options.memory_bytes = 1 << 20;
            const uint32_t pieces = expect_lines(*state, text, &options);
            assert_in_range(pieces, 2, 100);
            options.memory_bytes = 1; /* one document fits, always */
            assert_int_equal(expect_lines(*state, text, &options), 3000);
        }
    }
    free(text);
}

/* Memory is what is said, once there is more than one document. */
static void test_memory(void **state) {
    (void)state;
    char *text = text_lines(2, 8000);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct nigh__block_options options = block_options(50, 1);
    options.memory_bytes = 2 << 20;
    struct opened opened;
    struct nigh__blocks *blocks;
    nigh_error error;
    open_blocks(context, text, &options, &opened);
    assert_ok(nigh__block_reader_next(opened.reader, &blocks, &error), &error);
    const uint64_t bytes = blocks->postings * 4 + blocks->terms * UINT64_C(12) + blocks->documents * UINT64_C(24);
    assert_true(blocks->more);
    assert_in_range(bytes, options.memory_bytes / 16, options.memory_bytes);
    nigh__blocks_free(blocks);
    close_blocks(&opened); /* with a document that waits */
    nigh_context_free(context);
    assert_int_equal(memory.live, 0);
    free(text);
}

static void test_bad_options(void **state) {
    struct text_input input;
    struct nigh__block_reader *reader;
    nigh_error error;
    assert_ok(text_input_open(*state, "a b\n", NULL, &input, &error), &error);
    struct nigh__block_options options = block_options(0, 1);
    assert_int_equal(nigh__block_reader_open(*state, input.reader, &options, &reader, &error), NIGH_EINVAL);
    options = block_options(1, 1);
    options.plan.kind = NIGH_FEATURES_NGRAMS;
    assert_int_equal(nigh__block_reader_open(*state, input.reader, &options, &reader, &error), NIGH_EINVAL);
    assert_null(reader);
    nigh__block_reader_close(NULL);
    text_input_close(&input);
}

static void test_nothing(void **state) {
    const struct nigh__block_options options = block_options(10, 1);
    struct opened opened;
    struct nigh__blocks *blocks;
    nigh_text_reader_info info;
    nigh_error error;
    open_blocks(*state, "", &options, &opened);
    assert_int_equal(nigh__block_reader_next(opened.reader, &blocks, &error), NIGH_END);
    nigh__block_reader_describe(opened.reader, &info);
    assert_int_equal(info.documents, 0);
    close_blocks(&opened);
}

/* A document of one block that no memory is asked for in advance for. */
static void test_large_document(void **state) {
    const size_t words = 300000;
    char *text = malloc(words * 8 + 2);
    size_t used = 0;
    for (size_t i = 0; i < words; i++) {
        for (size_t k = 0, n = i; k < 5; k++, n /= 26) text[used++] = (char)('a' + n % 26);
        text[used++] = ' ';
    }
    text[used++] = '\n';
    text[used] = '\0';
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 400);
    assert_int_equal(blocks->terms, words);
    assert_int_equal(blocks->blocks, 750);
    for (uint32_t i = 0; i < blocks->blocks; i++) assert_int_equal(blocks->begins[i + 1] - blocks->begins[i], 400);
    nigh__blocks_free(blocks);
    free(text);
}

static nigh_status read_all(nigh_context *context, const char *text, nigh_error *error) {
    struct nigh__block_options options = block_options(5, 1);
    struct text_input input;
    struct nigh__block_reader *reader = NULL;
    struct nigh__blocks *blocks = NULL;
    options.memory_bytes = 64 << 10;
    nigh_status status = text_input_open(context, text, NULL, &input, error);
    if (status != NIGH_OK) return status;
    status = nigh__block_reader_open(context, input.reader, &options, &reader, error);
    while (status == NIGH_OK) {
        status = nigh__block_reader_next(reader, &blocks, error);
        nigh__blocks_free(blocks);
    }
    nigh__block_reader_close(reader);
    text_input_close(&input);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    char *text = text_lines(3, 60);
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_error error;
        memory.fail_at = memory.calls + fail_at;
        const nigh_status status = read_all(context, text, &error);
        failed = memory.calls > memory.fail_at;
        assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_END);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_lines),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bad_options), cmocka_unit_test(test_nothing), cmocka_unit_test(test_large_document),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
