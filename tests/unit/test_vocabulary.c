/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Counting words: against a plain count, with any threads, exact and as a sketch; and bytes that are no vocabulary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/support.h"
#include "support/text_support.h"
#include "text/vocabulary.h"

#define LINES 3000

static nigh_vocabulary *count(nigh_context *context, const char *text, uint32_t threads, uint64_t memory) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_vocabulary_options counting;
    nigh_vocabulary_options_init(&counting);
    struct text_input input;
    nigh_vocabulary *vocabulary;
    nigh_error error;
    counting.threads = threads;
    counting.memory_bytes = memory;
    assert_ok(text_input_open(context, text, NULL, &input, &error), &error);
    assert_ok(nigh_vocabulary_count(context, &options, input.reader, &counting, &vocabulary, &error), &error);
    text_input_close(&input);
    return vocabulary;
}

/* How often the word occurs in the text, and in how many lines, by looking at all of it. */
static struct nigh__occurrence count_plainly(const char *text, const char *word) {
    struct nigh__occurrence found = {0, 0};
    const size_t length = strlen(word);
    const char *begin = text; /* of a word */
    uint32_t here = 0;        /* in this line */
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != ' ' && *at != '\n') continue;
        here += (size_t)(at - begin) == length && memcmp(begin, word, length) == 0;
        begin = at + 1;
        if (*at != '\n') continue;
        found.occurrences += here;
        found.documents += here > 0;
        here = 0;
    }
    return found;
}

static void test_counts(void **state) {
    char *text = text_lines(7, LINES);
    nigh_vocabulary *vocabulary = count(*state, text, 1, 0);
    nigh_vocabulary_info info = {.size = sizeof info};
    nigh_vocabulary_describe(vocabulary, &info);
    assert_int_equal(info.documents, LINES);
    assert_int_equal(info.sketch, 0);
    uint64_t tokens = 0;
    for (const char *at = text; *at != '\0'; at++) tokens += *at == ' ' || *at == '\n';
    assert_int_equal(info.occurrences, tokens);
    for (unsigned i = 0; i < 60; i++) {
        char word[16];
        (void)snprintf(word, sizeof word, "w%u", i < 12 ? i : i * 83);
        struct nigh__occurrence expected = count_plainly(text, word);
        struct nigh__occurrence found = nigh__vocabulary_find(vocabulary, nigh__hash_seeded(word, strlen(word), 0));
        assert_int_equal(found.occurrences, expected.occurrences);
        assert_int_equal(found.documents, expected.documents);
    }
    assert_int_equal(nigh__vocabulary_find(vocabulary, 12345).occurrences, 0);
    nigh_vocabulary_free(vocabulary);
    free(text);
}

static void expect_equal(const nigh_vocabulary *a, const nigh_vocabulary *b) {
    size_t a_length;
    size_t b_length;
    const void *a_bytes = nigh_vocabulary_bytes(a, &a_length);
    const void *b_bytes = nigh_vocabulary_bytes(b, &b_length);
    assert_int_equal(a_length, b_length);
    assert_memory_equal(a_bytes, b_bytes, a_length);
}

static void test_threads(void **state) {
    char *text = text_lines(8, LINES);
    for (uint64_t memory = 0; memory <= 65536; memory += 65536) { /* 64 KB hold 1,024 terms: a sketch */
        nigh_vocabulary *one = count(*state, text, 1, memory);
        for (uint32_t threads = 2; threads <= 5; threads += 3) {
            nigh_vocabulary *many = count(*state, text, threads, memory);
            expect_equal(one, many);
            nigh_vocabulary_free(many);
        }
        nigh_vocabulary_free(one);
    }
    free(text);
}

/* The lines of a text cut into parts, counted apart and merged: as counted at once, exact, as a sketch, or some of
 * each. */
static void test_merge(void **state) {
    nigh_context *context = *state;
    char *text = text_lines(8, LINES);
    const size_t cuts[] = {0, strlen(text) / 50, strlen(text) / 3, strlen(text)};
    for (uint64_t memory = 0; memory <= 256 << 10; memory += 64 << 10) {
        nigh_vocabulary *parts[3];
        for (int i = 0; i < 3; i++) {
            size_t begin = cuts[i];
            size_t end = cuts[i + 1];
            while (begin > 0 && text[begin - 1] != '\n') begin++;
            while (text[end - 1] != '\n') end++;
            char *part = strndup(text + begin, end - begin);
            parts[i] = count(context, part, 1, memory);
            free(part);
        }
        nigh_vocabulary_options options;
        nigh_vocabulary_options_init(&options);
        options.memory_bytes = memory;
        nigh_vocabulary *once = count(context, text, 1, memory);
        for (int order = 0; order < 2; order++) {
            const nigh_vocabulary *const given[] = {parts[order ? 2 : 0], parts[1], parts[order ? 0 : 2]};
            nigh_vocabulary *merged;
            nigh_error error;
            assert_ok(nigh_vocabulary_merge(context, given, 3, &options, &merged, &error), &error);
            expect_equal(once, merged);
            nigh_vocabulary_free(merged);
        }
        for (int i = 0; i < 3; i++) nigh_vocabulary_free(parts[i]);
        nigh_vocabulary_free(once);
    }
    free(text);
}

static void test_merge_refuses(void **state) {
    nigh_context *context = *state;
    char *text = text_lines(8, LINES);
    nigh_vocabulary *wide = count(context, text, 1, 128 << 10);
    nigh_vocabulary *narrow = count(context, text, 1, 64 << 10);
    const nigh_vocabulary *const sizes[] = {wide, narrow};
    nigh_vocabulary *merged;
    nigh_error error;
    assert_int_equal(nigh_vocabulary_merge(context, sizes, 2, NULL, &merged, &error), NIGH_EMISMATCH);
    assert_null(merged);
    assert_int_equal(nigh_vocabulary_merge(context, sizes, 0, NULL, &merged, &error), NIGH_EINVAL);
    nigh_vocabulary_free(wide);
    nigh_vocabulary_free(narrow);
    free(text);
}

static void test_sketch(void **state) {
    char *text = text_lines(9, LINES);
    nigh_vocabulary *exact = count(*state, text, 1, 0);
    nigh_vocabulary *sketch = count(*state, text, 1, 256 << 10); /* 4,096 terms of the 5,000 */
    nigh_vocabulary_info info = {.size = sizeof info};
    nigh_vocabulary_describe(sketch, &info);
    assert_int_equal(info.sketch, 1);
    assert_int_equal(info.documents, LINES);
    uint64_t over = 0;
    for (unsigned i = 0; i < 5000; i++) {
        char word[16];
        (void)snprintf(word, sizeof word, "w%u", i);
        uint64_t hash = nigh__hash_seeded(word, strlen(word), 0);
        struct nigh__occurrence true_count = nigh__vocabulary_find(exact, hash);
        struct nigh__occurrence bound = nigh__vocabulary_find(sketch, hash);
        assert_true(bound.occurrences >= true_count.occurrences);
        assert_true(bound.documents >= true_count.documents);
        over += bound.occurrences - true_count.occurrences;
    }
    /* e T / n for each on average would be far more than what four rows leave. */
    assert_true(over < 5000 * info.occurrences / 1024);
    nigh_vocabulary_free(exact);
    nigh_vocabulary_free(sketch);
    free(text);
}

static void test_files(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "words");
    char *text = text_lines(10, 50);
    nigh_vocabulary *vocabulary = count(*state, text, 1, 0);
    nigh_vocabulary *loaded;
    nigh_error error;
    assert_ok(nigh_vocabulary_save(vocabulary, path, &error), &error);
    assert_ok(nigh_vocabulary_load(*state, path, &loaded, &error), &error);
    expect_equal(vocabulary, loaded);
    assert_string_equal(nigh__vocabulary_analysis(loaded), nigh__vocabulary_analysis(vocabulary));
    nigh_vocabulary_free(loaded);
    file_write_all(path, "nonsense", 8);
    assert_int_equal(nigh_vocabulary_load(*state, path, &loaded, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error.file, "words"));
    assert_null(loaded);
    assert_int_equal(nigh_vocabulary_load(*state, folder, &loaded, &error), NIGH_EIO);
    nigh_vocabulary_free(vocabulary);
    free(text);
    free(path);
    scratch_free(folder);
}

/* Any byte that is not as it was, and any length that is not the whole, is noticed. */
static void test_damage(void **state) {
    char *text = text_lines(11, 3);
    nigh_vocabulary *vocabulary = count(*state, text, 1, 0);
    nigh_vocabulary *parsed = NULL;
    nigh_error error;
    size_t length;
    const uint8_t *bytes = nigh_vocabulary_bytes(vocabulary, &length);
    uint8_t *copy = malloc(length + 8);
    assert_non_null(copy);
    for (size_t i = 0; i < length; i++) {
        memcpy(copy, bytes, length);
        copy[i] ^= (uint8_t)(1u << i % 8);
        nigh_status status = nigh_vocabulary_parse(*state, copy, length, &parsed, &error);
        if (status == NIGH_OK) fail_msg("byte %zu changed and nobody noticed", i);
        assert_null(parsed);
        memset(copy + length, 0, 8);
        assert_int_not_equal(nigh_vocabulary_parse(*state, bytes, i, &parsed, &error), NIGH_OK);
    }
    memcpy(copy, bytes, length);
    memset(copy + length, 0, 8);
    assert_int_equal(nigh_vocabulary_parse(*state, copy, length + 8, &parsed, &error), NIGH_ECORRUPT);
    copy[8] = 2;
    assert_int_equal(nigh_vocabulary_parse(*state, copy, length, &parsed, &error), NIGH_EVERSION);
    free(copy);
    nigh_vocabulary_free(vocabulary);
    free(text);
}

static nigh_status count_with(nigh_context *context, const char *text) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_vocabulary_options counting;
    nigh_vocabulary_options_init(&counting);
    struct text_input input;
    nigh_vocabulary *vocabulary = NULL;
    nigh_error error;
    counting.threads = 1;
    nigh_status status = text_input_open(context, text, NULL, &input, &error);
    if (status == NIGH_OK) {
        status = nigh_vocabulary_count(context, &options, input.reader, &counting, &vocabulary, &error);
        text_input_close(&input);
    }
    nigh_vocabulary_free(vocabulary);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    char *text = text_lines(12, 200);
    assert_int_equal(count_with(context, text), NIGH_OK);
    uint64_t calls = memory.calls;
    for (uint64_t at = 1; at < calls; at++) {
        memory.fail_at = memory.calls + at - 1;
        int64_t live = memory.live;
        nigh_status status = count_with(context, text);
        assert_true(status == NIGH_ENOMEM || status == NIGH_OK);
        assert_true(memory.live == live);
    }
    memory.fail_at = UINT64_MAX;
    free(text);
    nigh_context_free(context);
}

/* Hashes that agree in their low bits, as strangers can make them: counting stays linear. */
static void test_flooding(void **state) {
    enum { TERMS = 100000 };
    struct nigh__tally *tallies = calloc(TERMS, sizeof *tallies);
    struct nigh__counter *counter;
    nigh_vocabulary *vocabulary;
    nigh_error error;
    assert_non_null(tallies);
    for (uint64_t i = 0; i < TERMS; i++) tallies[i] = (struct nigh__tally){.hash = (i << 40) | 5, .count = 1};
    assert_ok(nigh__counter_new(*state, 0, &counter, &error), &error);
    clock_t before = clock();
    assert_ok(nigh__counter_add(counter, tallies, TERMS, &error), &error);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 5); /* some milliseconds; all in one place it was 16 s */
    assert_ok(nigh__counter_finish(counter, "", &vocabulary, &error), &error);
    assert_int_equal(nigh__vocabulary_find(vocabulary, (UINT64_C(77) << 40) | 5).occurrences, 1);
    nigh_vocabulary_free(vocabulary);
    nigh__counter_free(counter);
    free(tallies);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_threads), cmocka_unit_test(test_merge),
        cmocka_unit_test(test_merge_refuses), cmocka_unit_test(test_sketch),  cmocka_unit_test(test_files),
        cmocka_unit_test(test_damage),        cmocka_unit_test(test_memory),  cmocka_unit_test(test_flooding),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
