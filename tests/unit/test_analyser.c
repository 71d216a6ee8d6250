/* SPDX-License-Identifier: Apache-2.0 */
/* The fast way: numbers, remembering, forgetting, memory, words that look alike to a hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/analysis_support.h"
#include "support/support.h"
#include "text/word_table.h"

static void test_numbers(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "en", true, true);
    const uint32_t *numbers;
    size_t count;
    static const char text[] = "house the Houses garden HOUSE housing gardens";
    assert_int_equal(nigh__analyse(pair.analyser, text, sizeof text - 1, &numbers, &count, NULL), NIGH_OK);
    static const uint32_t expected[] = {1, 1, 2, 1, 1, 2};
    assert_int_equal(count, 6);
    assert_memory_equal(numbers, expected, sizeof expected);
    assert_int_equal(pair.analyser->terms, 3);
    assert_int_equal(pair.analyser->hashes[2], nigh__hash_seeded("garden", 6, 7));
    assert_int_equal(nigh__analyse(pair.analyser, "", 0, &numbers, &count, NULL), NIGH_OK);
    assert_int_equal(count, 0);
    assert_int_equal(nigh__analyse(pair.analyser, "the", 3, &numbers, &count, NULL), NIGH_OK);
    assert_int_equal(count, 0);
    assert_int_equal(nigh__analyse(pair.analyser, "garden", 6, &numbers, &count, NULL), NIGH_OK);
    assert_int_equal(numbers[0], 2);
    assert_int_equal(pair.analyser->generation, 0);
    analysis_pair_release(&pair);
}

/* The seed changes the hashes and nothing else. */
static void test_seed(void **state) {
    struct nigh__analysis analysis = {.seed = 1};
    struct nigh__analyser *first, *second;
    assert_int_equal(nigh__analyser_new(*state, &analysis, &first, NULL), NIGH_OK);
    analysis.seed = 2;
    assert_int_equal(nigh__analyser_new(*state, &analysis, &second, NULL), NIGH_OK);
    const uint32_t *numbers;
    size_t count;
    assert_int_equal(nigh__analyse(first, "a b a", 5, &numbers, &count, NULL), NIGH_OK);
    assert_int_equal(count, 3);
    assert_int_equal(nigh__analyse(second, "a b a", 5, &numbers, &count, NULL), NIGH_OK);
    assert_int_equal(numbers[2], 1);
    assert_true(first->hashes[1] != second->hashes[1]);
    nigh__analyser_free(first);
    nigh__analyser_free(second);
}

/* `words` different words of `width` letters and a space each, from number `first` on; to be freed. */
static char *many_words(size_t first, size_t words, size_t width) {
    char *text = malloc(words * (width + 1) + 1);
    assert_non_null(text);
    char *at = text;
    for (size_t i = first; i < first + words; i++) {
        size_t number = i;
        for (size_t digit = 0; digit < width; digit++, number /= 36)
            at[digit] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        at[width] = ' ';
        at += width + 1;
    }
    return text;
}

static void test_forgetting(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct analysis_pair pair;
    analysis_pair_init(&pair, context, "none", true, true);
    const size_t words = NIGH__ANALYSER_TERMS / 2;
    for (size_t i = 0; i < 5; i++) {
        char *text = many_words(i * words, words, 5);
        const uint32_t *numbers;
        size_t count;
        assert_int_equal(nigh__analyse(pair.analyser, text, words * 6, &numbers, &count, NULL), NIGH_OK);
        assert_int_equal(count, words);
        for (size_t word = 0; word < count; word += 97)
            assert_int_equal(pair.analyser->hashes[numbers[word]], nigh__hash_seeded(text + 6 * word, 5, 7));
        free(text);
        assert_int_equal(pair.analyser->generation, i < 3 ? 0 : 1);
        assert_int_equal(pair.analyser->terms, 1 + words * (i < 3 ? i + 1 : i - 2));
    }
    analysis_pair_release(&pair);
    nigh_context_free(context);
    assert_int_equal(memory.live, 0);
}

/* More words than the table of words holds, then the first ones again: the same numbers. */
static void test_overflow(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "none", true, true);
    const size_t words = 800000;
    char *text = many_words(0, words, 5);
    char *twice = malloc(2 * words * 6);
    assert_non_null(twice);
    memcpy(twice, text, words * 6);
    memcpy(twice + words * 6, text, words * 6);
    const uint32_t *numbers;
    size_t count;
    assert_int_equal(nigh__analyse(pair.analyser, twice, 2 * words * 6, &numbers, &count, NULL), NIGH_OK);
    assert_int_equal(count, 2 * words);
    for (size_t i = 0; i < words; i++) {
        assert_int_equal(numbers[i], i + 1);
        assert_int_equal(numbers[words + i], i + 1);
    }
    free(text);
    free(twice);
    analysis_pair_release(&pair);
}

/* Counts what is asked for at the same time. */
struct meter {
    size_t live, peak;
};

/* The size stands before the memory, as far as the alignment asks for. */
static void *meter_allocate(void *user, size_t size, size_t alignment) {
    struct meter *meter = user;
    if (alignment < 64) alignment = 64;
    char *memory = aligned_alloc(alignment, (size + 2 * alignment - 1) / alignment * alignment);
    if (memory == NULL) abort();
    const size_t sizes[2] = {size, alignment};
    memcpy(memory + alignment - sizeof sizes, sizes, sizeof sizes);
    meter->live += size;
    if (meter->live > meter->peak) meter->peak = meter->live;
    return memory + alignment;
}

static void meter_release(void *user, void *pointer) {
    struct meter *meter = user;
    if (pointer == NULL) return;
    size_t sizes[2];
    memcpy(sizes, (char *)pointer - sizeof sizes, sizeof sizes);
    meter->live -= sizes[0];
    free((char *)pointer - sizes[1]);
}

/* 16 MiB of words that are all different stay under 256 MB, and are given back. */
static void test_memory(void **state) {
    (void)state;
    struct meter meter = {0, 0};
    nigh_allocator allocator = {.user = &meter, .allocate = meter_allocate, .release = meter_release};
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct analysis_pair pair;
    analysis_pair_init(&pair, context, "en", true, true);
    const size_t words = (16 << 20) / 6;
    char *text = many_words(0, words, 5);
    const uint32_t *numbers;
    size_t count;
    assert_int_equal(nigh__analyse(pair.analyser, text, words * 6, &numbers, &count, NULL), NIGH_OK);
    assert_true(count > words - 1000);
    print_message("peak %zu MB for %zu words\n", meter.peak >> 20, words);
    assert_true(meter.peak < (size_t)256 << 20);
    assert_int_equal(nigh__analyse(pair.analyser, "small", 5, &numbers, &count, NULL), NIGH_OK);
    print_message("%zu KB afterwards\n", meter.live >> 10);
    assert_true(meter.live < (size_t)1 << 20);
    free(text);
    analysis_pair_release(&pair);
    nigh_context_free(context);
    assert_int_equal(meter.live, 0);
}

/* Two long words with one hash are two words: their keys are made equal here. */
static void test_equal_keys(void **state) {
    struct nigh__word_table table;
    assert_int_equal(nigh__word_table_init(*state, &table, NULL), NIGH_OK);
    static const uint8_t first[] = "a rather long word", second[] = "another long words";
    const size_t length = sizeof first - 1;
    assert_int_equal(length, sizeof second - 1);
    const struct nigh__word_key key = nigh__word_key(&table, first, length);
    uint32_t value = 0;
    const uint32_t one = 1, two[] = {2, 3};
    assert_false(nigh__word_table_find(&table, key, nigh__word_slot(&table, key), first, length, &value));
    assert_int_equal(nigh__word_table_add(&table, &key, first, length, &one, 1, NULL), NIGH_OK);
    assert_false(nigh__word_table_find(&table, key, nigh__word_slot(&table, key), second, length, &value));
    assert_int_equal(nigh__word_table_add(&table, &key, second, length, two, 2, NULL), NIGH_OK);
    assert_true(nigh__word_table_find(&table, key, nigh__word_slot(&table, key), first, length, &value));
    assert_int_equal(value, 1);
    assert_true(nigh__word_table_find(&table, key, nigh__word_slot(&table, key), second, length, &value));
    assert_true(value >= NIGH__SEVERAL);
    const uint32_t *list = (const uint32_t *)table.lists.data + (value - NIGH__SEVERAL);
    assert_int_equal(list[0], 2);
    assert_memory_equal(list + 1, two, sizeof two);
    nigh__word_table_release(&table);
}

static char *mixed_text(void) {
    char *text = calloc(1, 200000);
    assert_non_null(text);
    size_t length = 0;
    for (unsigned i = 0; i < 3000; i++)
        length += (size_t)sprintf(text + length, "w%u %x\u00e9 verylongwordnumber%u ", i, i, i % 7);
    return text;
}

/* Every allocation fails once: an error, no leak, and the next call gives the right answer. */
static void test_no_memory(void **state) {
    (void)state;
    char *text = mixed_text();
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        int64_t live = memory.live;
        struct nigh__analysis analysis = {.seed = 1};
        struct nigh__analyser *analyser;
        const uint32_t *numbers;
        size_t count = 0;
        memory.fail_at = memory.calls + fail_at;
        nigh_status status = nigh__analyser_new(context, &analysis, &analyser, NULL);
        if (status == NIGH_OK) {
            status = nigh__analyse(analyser, text, strlen(text), &numbers, &count, NULL);
            failed = memory.calls > memory.fail_at;
            assert_int_equal(nigh__analyse(analyser, text, strlen(text), &numbers, &count, NULL), NIGH_OK);
            assert_int_equal(count, 9000);
            assert_int_equal(analyser->terms, 6008);
        }
        assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_OK);
        nigh__analyser_free(analyser);
        assert_int_equal(memory.live, live);
        nigh_context_free(context);
    }
    free(text);
}

/* The plain kernel gives the same. */
static void test_kernels(void **state) {
    char *text = mixed_text();
    nigh_context *plain = context_with(NULL, NULL, "generic");
    struct analysis_pair first, second;
    analysis_pair_init(&first, *state, "en", true, true);
    analysis_pair_init(&second, plain, "en", true, true);
    char *spelled = analysis_spelled(&second, text, strlen(text));
    assert_true(analysis_agrees(&first, text, strlen(text), spelled));
    assert_true(analysis_agrees(&second, text, strlen(text), spelled));
    free(spelled);
    free(text);
    analysis_pair_release(&first);
    analysis_pair_release(&second);
    nigh_context_free(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_seed),    cmocka_unit_test(test_forgetting),
        cmocka_unit_test(test_overflow),  cmocka_unit_test(test_memory),  cmocka_unit_test(test_equal_keys),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
