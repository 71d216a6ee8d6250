/* SPDX-License-Identifier: Apache-2.0 */
/* Features of small texts, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "support/support.h"
#include "support/text_support.h"
#include "text/feature.h"

static struct nigh__featurer *featurer_new(nigh_context *context, nigh_feature_kind kind, uint32_t length,
                                           bool repeats) {
    struct nigh__feature_plan plan = {.kind = kind, .length = length, .repeats = repeats, .analysis = {.seed = 5}};
    struct nigh__featurer *featurer;
    nigh_error error;
    assert_ok(nigh__featurer_new(context, &plan, &featurer, &error), &error);
    return featurer;
}

static struct nigh__features find(struct nigh__featurer *featurer, const char *text) {
    struct nigh__features features;
    nigh_error error;
    assert_ok(nigh__featurer_find(featurer, text, strlen(text), &features, &error), &error);
    return features;
}

static uint64_t hash_of(const char *text) { return nigh__hash_seeded(text, strlen(text), 5); }

static uint64_t hash_of_three(const char *a, const char *b, const char *c) {
    return nigh__mix(nigh__mix(nigh__mix(5 ^ hash_of(a)) ^ hash_of(b)) ^ hash_of(c));
}

static void test_words(void **state) {
    struct nigh__featurer *featurer = featurer_new(*state, NIGH_FEATURES_WORDS, 0, false);
    for (int round = 0; round < 3; round++) { /* what the first round has learned changes nothing */
        struct nigh__features features = find(featurer, "To be, or not to be: that.");
        static const char *const words[] = {"to", "be", "or", "not", "that"};
        static const uint32_t counts[] = {2, 2, 1, 1, 1};
        assert_int_equal(features.count, 5);
        assert_int_equal(features.total, 7);
        assert_non_null(features.numbers);
        for (size_t i = 0; i < 5; i++) {
            assert_true(features.hashes[i] == hash_of(words[i]));
            assert_int_equal(features.counts[i], counts[i]);
        }
        assert_int_equal(find(featurer, " ?! ").count, 0);
        assert_int_equal(find(featurer, "").count, 0);
    }
    nigh__featurer_free(featurer);
}

static void test_ngrams(void **state) {
    struct nigh__featurer *featurer = featurer_new(*state, NIGH_FEATURES_NGRAMS, 3, false);
    struct nigh__features features = find(featurer, "a b c a b c a");
    assert_int_equal(features.count, 3);
    assert_int_equal(features.total, 5);
    assert_true(features.hashes[0] == hash_of_three("a", "b", "c"));
    assert_true(features.hashes[1] == hash_of_three("b", "c", "a"));
    assert_true(features.hashes[2] == hash_of_three("c", "a", "b"));
    assert_int_equal(features.counts[0], 2);
    assert_int_equal(features.counts[1], 2);
    assert_int_equal(features.counts[2], 1);
    features = find(featurer, "a b"); /* fewer words than a feature takes */
    assert_int_equal(features.count, 1);
    assert_true(features.hashes[0] == nigh__mix(nigh__mix(5 ^ hash_of("a")) ^ hash_of("b")));
    assert_int_equal(find(featurer, "...").count, 0);
    nigh__featurer_free(featurer);

    featurer = featurer_new(*state, NIGH_FEATURES_NGRAMS, 3, true);
    features = find(featurer, "a b c a b c a");
    assert_int_equal(features.count, 5); /* each occurrence */
    for (size_t i = 0; i < 5; i++) assert_int_equal(features.counts[i], 1);
    nigh__featurer_free(featurer);
}

static void test_chars(void **state) {
    struct nigh__featurer *featurer = featurer_new(*state, NIGH_FEATURES_CHARS, 3, false);
    struct nigh__features features = find(featurer, "Ab,  ÄB");
    static const char *const windows[] = {"ab ", "b ä", " äb"};
    assert_int_equal(features.count, 3);
    for (size_t i = 0; i < 3; i++) assert_true(features.hashes[i] == hash_of(windows[i]));
    features = find(featurer, "é");
    assert_int_equal(features.count, 1);
    assert_true(features.hashes[0] == hash_of("é"));
    assert_int_equal(find(featurer, "").count, 0);
    features = find(featurer, "aaaaa");
    assert_int_equal(features.count, 1);
    assert_int_equal(features.counts[0], 3);
    nigh__featurer_free(featurer);
}

/* Many texts after one another, with more and more words: as a fresh featurer sees each of them. */
static void test_again_and_again(void **state) {
    struct nigh__featurer *old = featurer_new(*state, NIGH_FEATURES_WORDS, 0, false);
    for (uint64_t seed = 0; seed < 40; seed++) {
        char *text = text_lines(seed, 1 + seed * 2);
        struct nigh__featurer *fresh = featurer_new(*state, NIGH_FEATURES_WORDS, 0, false);
        struct nigh__features a = find(old, text);
        struct nigh__features b = find(fresh, text);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.total, b.total);
        assert_memory_equal(a.hashes, b.hashes, a.count * sizeof *a.hashes);
        assert_memory_equal(a.counts, b.counts, a.count * sizeof *a.counts);
        nigh__featurer_free(fresh);
        free(text);
    }
    nigh__featurer_free(old);
}

/* More terms than an analyser keeps: it forgets between two texts, and the features stay right. */
static void test_forgetting(void **state) {
    const size_t words = NIGH__ANALYSER_TERMS + NIGH__ANALYSER_TERMS / 2;
    char *text = malloc(words * 8 + 1);
    assert_non_null(text);
    size_t used = 0;
    for (size_t i = 0; i < words; i++) {
        for (size_t k = i, digits = 0; digits < 6; digits++, k /= 20) text[used++] = (char)('a' + k % 20);
        text[used++] = ' ';
    }
    text[used] = '\0';
    struct nigh__featurer *featurer = featurer_new(*state, NIGH_FEATURES_WORDS, 0, false);
    assert_int_equal(find(featurer, text).count, words);
    struct nigh__features features = find(featurer, "small small text");
    assert_int_equal(features.count, 2);
    assert_true(features.hashes[0] == hash_of("small") && features.hashes[1] == hash_of("text"));
    assert_int_equal(features.counts[0], 2);
    assert_int_equal(find(featurer, text).count, words);
    nigh__featurer_free(featurer);
    free(text);
}

/* One character that stands for eighteen, a million times: features are cut off, not memory used up. */
static void test_unfolding(void **state) {
    enum { TIMES = 1500000 };
    char *text = malloc((size_t)TIMES * 3);
    nigh_error error;
    assert_non_null(text);
    for (size_t i = 0; i < TIMES; i++) memcpy(text + 3 * i, "\xef\xb7\xba", 3);
    for (int kind = NIGH_FEATURES_NGRAMS; kind <= NIGH_FEATURES_CHARS; kind++) {
        struct nigh__featurer *featurer = featurer_new(*state, (nigh_feature_kind)kind, 3, false);
        struct nigh__features features;
        assert_ok(nigh__featurer_find(featurer, text, (size_t)TIMES * 3, &features, &error), &error);
        assert_int_equal(features.total, NIGH__MAX_FEATURES);
        assert_true(features.count < 100);
        features = find(featurer, "a b c d"); /* and a small text is as ever */
        assert_int_equal(features.count, kind == NIGH_FEATURES_NGRAMS ? 2 : 5);
        nigh__featurer_free(featurer);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_ngrams),     cmocka_unit_test(test_chars),
        cmocka_unit_test(test_again_and_again), cmocka_unit_test(test_forgetting), cmocka_unit_test(test_unfolding),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
