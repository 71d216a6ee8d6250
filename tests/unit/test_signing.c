/* SPDX-License-Identifier: Apache-2.0 */
/* Signing by several threads: the order, the problems, the limits, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/support.h"
#include "support/text_support.h"

/* What comes of signing a text. */
struct outcome {
    nigh_status status;
    uint64_t hash; /* of all that was given out */
    nigh_signing_info info;
    uint64_t problems;
    nigh_error error;
};

static uint64_t hash_row(uint64_t hash, const nigh_signed *row, const nigh_signer *signer, bool weights) {
    hash = nigh__hash_seeded(row->document->signature, nigh_signer_width(signer) / 8, hash);
    hash = nigh__hash_seeded(row->document->id, row->document->id_length, hash);
    hash = nigh__hash_seeded(row->document->metadata, row->document->metadata_length, hash);
    if (weights) hash = nigh__hash_seeded(row->document->weights, nigh_signer_width(signer), hash);
    uint64_t numbers[] = {row->number, row->line, row->text_offset, row->text_length};
    return nigh__hash_seeded(numbers, sizeof numbers, hash);
}

static struct outcome sign(nigh_context *context, const char *text, const nigh_text_reader_options *reading,
                           nigh_signer *signer, const nigh_signing_options *options) {
    struct outcome outcome = {.info = {.size = sizeof(nigh_signing_info)}};
    struct text_input input;
    nigh_signing *signing;
    nigh_signed row = {.size = sizeof row};
    assert_ok(text_input_open(context, text, reading, &input, &outcome.error), &outcome.error);
    assert_ok(nigh_signing_open(signer, input.reader, options, &signing, &outcome.error), &outcome.error);
    while ((outcome.status = nigh_signing_next(signing, &row, &outcome.error)) == NIGH_OK)
        outcome.hash = hash_row(outcome.hash, &row, signer, options->keep_weights);
    assert_int_equal(nigh_signing_next(signing, &row, &outcome.error), outcome.status); /* it stays */
    nigh_signing_describe(signing, &outcome.info);
    outcome.problems = input.problems;
    nigh_signing_close(signing);
    text_input_close(&input);
    return outcome;
}

static nigh_signer *signer_new(nigh_context *context, nigh_split_kind split) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_signer *signer;
    nigh_error error;
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.split = split;
    options.max_terms = split == NIGH_SPLIT_NONE ? 0 : 20;
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    return signer;
}

static nigh_signing_options with_threads(uint32_t threads) {
    nigh_signing_options options;
    nigh_signing_options_init(&options);
    options.threads = threads;
    options.keep_weights = 1;
    options.snippet = 30;
    return options;
}

static void test_threads(void **state) {
    char *text = text_lines(3, 20000); /* some dozen batches */
    for (int split = NIGH_SPLIT_NONE; split <= NIGH_SPLIT_HARD; split += NIGH_SPLIT_HARD) {
        nigh_signer *signer = signer_new(*state, (nigh_split_kind)split);
        nigh_signing_options options = with_threads(1);
        struct outcome one = sign(*state, text, NULL, signer, &options);
        assert_int_equal(one.status, NIGH_END);
        assert_int_equal(one.info.reader.documents, 20000);
        assert_true(one.info.signed_rows == 20000 || split != NIGH_SPLIT_NONE);
        for (uint32_t threads = 2; threads <= 7; threads += 1) {
            options = with_threads(threads);
            struct outcome many = sign(*state, text, NULL, signer, &options);
            assert_int_equal(many.status, NIGH_END);
            assert_true(many.hash == one.hash);
            assert_int_equal(many.info.signed_rows, one.info.signed_rows);
            assert_int_equal(many.info.reader.bytes_text, one.info.reader.bytes_text);
        }
        nigh_signer_free(signer);
    }
    free(text);
}

/* Closing in the middle, with all threads busy. */
static void test_early_close(void **state) {
    char *text = text_lines(4, 20000);
    nigh_signer *signer = signer_new(*state, NIGH_SPLIT_NONE);
    for (int rows = 0; rows < 3; rows++) {
        nigh_signing_options options = with_threads(3);
        struct text_input input;
        nigh_signing *signing;
        nigh_signed row = {.size = sizeof row};
        nigh_error error;
        assert_ok(text_input_open(*state, text, NULL, &input, &error), &error);
        assert_ok(nigh_signing_open(signer, input.reader, &options, &signing, &error), &error);
        for (int i = 0; i < rows; i++) assert_ok(nigh_signing_next(signing, &row, &error), &error);
        nigh_signing_close(signing);
        text_input_close(&input);
    }
    nigh_signer_free(signer);
    free(text);
}

static const char mixed[] = "{\"id\":\"a\",\"text\":\"first document\"}\n"
                            "{\"id\":\"b\",\"text\":\"broken\n"
                            "{\"id\":\"c\",\"body\":\"no text\"}\n"
                            "\n"
                            "{\"id\":\"d\",\"text\":\"of the\"}\n"
                            "{\"id\":\"e\",\"text\":\"fifth document\"}\n"
                            "not json\n";

static void test_problems(void **state) {
    nigh_signer *signer = signer_new(*state, NIGH_SPLIT_NONE);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.format = NIGH_TEXT_JSONL;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        nigh_signing_options options = with_threads(threads);
        reading.strict = 0;
        reading.max_errors = 2;
        struct outcome outcome = sign(*state, mixed, &reading, signer, &options);
        assert_int_equal(outcome.status, NIGH_END);
        assert_int_equal(outcome.info.signed_rows, 2);
        assert_int_equal(outcome.info.reader.missing, 1);
        assert_int_equal(outcome.info.empty, 1);
        assert_int_equal(outcome.info.reader.problems, 2);
        assert_int_equal(outcome.problems, 2);
        reading.max_errors = 1;
        outcome = sign(*state, mixed, &reading, signer, &options);
        assert_int_equal(outcome.status, NIGH_ELIMIT);
        assert_int_equal(outcome.info.signed_rows, 2);
        reading.strict = 1;
        outcome = sign(*state, mixed, &reading, signer, &options);
        assert_int_equal(outcome.status, NIGH_EFORMAT);
        assert_int_equal(outcome.error.line, 2);
        assert_int_equal(outcome.info.signed_rows, 1);
    }
    nigh_signer_free(signer);
}

static void test_limit(void **state) {
    char *text = text_lines(5, 5000);
    nigh_signer *signer = signer_new(*state, NIGH_SPLIT_NONE);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        nigh_signing_options options = with_threads(threads);
        options.limit = 3210;
        struct outcome outcome = sign(*state, text, NULL, signer, &options);
        assert_int_equal(outcome.status, NIGH_END);
        assert_int_equal(outcome.info.signed_rows, 3210);
    }
    nigh_signer_free(signer);
    free(text);
}

/* The snippet is cut between characters and has no line ends. */
static void test_snippet(void **state) {
    nigh_signer *signer = signer_new(*state, NIGH_SPLIT_NONE);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.format = NIGH_TEXT_PLAIN;
    for (uint32_t length = 0; length < 30; length++) {
        nigh_signing_options options = with_threads(1);
        struct text_input input;
        nigh_signing *signing;
        nigh_signed row = {.size = sizeof row};
        nigh_error error;
        options.snippet = length;
        assert_ok(text_input_open(*state, " \n one \t\r\n caf\xc3\xa9  \xe2\x82\xac \xf0\x9f\x98\x80 end\n", &reading,
                                  &input, &error),
                  &error);
        assert_ok(nigh_signing_open(signer, input.reader, &options, &signing, &error), &error);
        assert_ok(nigh_signing_next(signing, &row, &error), &error);
        static const char whole[] = "one caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 end";
        size_t got = row.document->metadata_length;
        assert_true(got <= length && got < sizeof whole);
        assert_memory_equal(row.document->metadata, whole, got);
        assert_true(got == 0 || whole[got - 1] != ' ');
        assert_true(((unsigned char)whole[got] & 0xc0) != 0x80); /* a character begins there, or it is the end */
        if (length >= sizeof whole - 1) assert_int_equal(got, sizeof whole - 1);
        nigh_signing_close(signing);
        text_input_close(&input);
    }
    nigh_signer_free(signer);
}

/* Passages go by the id of their document and where they are; those without a word are counted. */
static void test_passages(void **state) {
    static const char text[] = "{\"id\":\"a\",\"text\":\"One word. Of the and of the. Two words\"}\n"
                               "{\"id\":\"b\",\"text\":\"short\"}\n";
    static const char *const ids[] = {"a#0-10", "a#29-38", "b"};
    nigh_signer_options signer_options;
    nigh_signer_options_init(&signer_options);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    nigh_signing_options options = with_threads(1);
    nigh_signing_info info = {.size = sizeof info};
    struct text_input input;
    nigh_signer *signer;
    nigh_signing *signing;
    nigh_signed row = {.size = sizeof row};
    nigh_error error;
    reading.format = NIGH_TEXT_JSONL;
    signer_options.scheme = NIGH_SCHEME_SIMHASH;
    signer_options.split = NIGH_SPLIT_SENTENCE;
    signer_options.min_terms = 1;
    signer_options.max_terms = 5;
    assert_ok(nigh_signer_new(*state, &signer_options, &signer, &error), &error);
    assert_ok(text_input_open(*state, text, &reading, &input, &error), &error);
    assert_ok(nigh_signing_open(signer, input.reader, &options, &signing, &error), &error);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(nigh_signing_next(signing, &row, &error), &error);
        char id[64];
        (void)snprintf(id, sizeof id, "%.*s", (int)row.document->id_length, row.document->id);
        assert_string_equal(id, ids[i]);
    }
    assert_int_equal(nigh_signing_next(signing, &row, &error), NIGH_END);
    nigh_signing_describe(signing, &info);
    assert_int_equal(info.signed_rows, 3);
    assert_int_equal(info.empty, 1);
    assert_int_equal(info.reader.documents, 2);
    nigh_signing_close(signing);
    text_input_close(&input);
    nigh_signer_free(signer);
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    return ++*(int *)user > 0;
}

static void test_cancelling(void **state) {
    char *text = text_lines(6, 20000);
    nigh_signer *signer = signer_new(*state, NIGH_SPLIT_NONE);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        int asked = 0;
        nigh_progress progress = {.report = stop_at_once, .user = &asked};
        nigh_signing_options options = with_threads(threads);
        options.progress = &progress;
        struct outcome outcome = sign(*state, text, NULL, signer, &options);
        assert_int_equal(outcome.status, NIGH_ECANCELLED);
        assert_int_equal(asked, 1);
    }
    nigh_signer_free(signer);
    free(text);
}

static nigh_status sign_small(nigh_context *context, nigh_error *error) {
    nigh_signer_options signer_options;
    nigh_signer_options_init(&signer_options);
    nigh_signing_options options = with_threads(1);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    nigh_signer *signer = NULL;
    nigh_signing *signing = NULL;
    struct text_input input = {0};
    nigh_signed row = {.size = sizeof row};
    reading.format = NIGH_TEXT_JSONL;
    signer_options.scheme = NIGH_SCHEME_SIMHASH;
    nigh_status status = nigh_signer_new(context, &signer_options, &signer, error);
    if (status == NIGH_OK) status = text_input_open(context, mixed, &reading, &input, error);
    if (status == NIGH_OK) status = nigh_signing_open(signer, input.reader, &options, &signing, error);
    while (status == NIGH_OK) status = nigh_signing_next(signing, &row, error);
    nigh_signing_close(signing);
    text_input_close(&input);
    nigh_signer_free(signer);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_error error;
    uint64_t before = memory.calls;
    assert_int_equal(sign_small(context, &error), NIGH_END);
    uint64_t calls = memory.calls - before;
    for (uint64_t at = 0; at < calls; at++) {
        memory.fail_at = memory.calls + at;
        int64_t live = memory.live;
        nigh_status status = sign_small(context, &error);
        if (status != NIGH_ENOMEM && status != NIGH_END)
            fail_msg("allocation %llu: %s", (unsigned long long)at, error_text(&error));
        assert_true(memory.live == live);
    }
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_early_close), cmocka_unit_test(test_problems),
        cmocka_unit_test(test_limit),    cmocka_unit_test(test_snippet),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_passages), cmocka_unit_test(test_cancelling),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
