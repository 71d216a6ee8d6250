/* SPDX-License-Identifier: Apache-2.0 */
/* Signers: schemes as lines and back, options that make no sense, and what a text gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "support/text_support.h"

static nigh_status make(nigh_context *context, const nigh_signer_options *options, char *scheme, size_t capacity) {
    nigh_signer *signer = NULL;
    nigh_error error;
    nigh_status status = nigh_signer_new(context, options, &signer, &error);
    if (status == NIGH_OK) (void)snprintf(scheme, capacity, "%s", nigh_signer_scheme(signer));
    assert_true((status == NIGH_OK) == (signer != NULL));
    nigh_signer_free(signer);
    return status;
}

/* Lines, parsed into options, give the same lines. */
static void test_schemes(void **state) {
    static const struct nigh_signer_options cases[] = {
        {.scheme = NIGH_SCHEME_SIMHASH, .stemming = -1, .stop_words = -1},
        {.scheme = NIGH_SCHEME_MINHASH, .stemming = -1, .stop_words = -1, .width_bits = 512, .seed = UINT64_MAX},
        {.scheme = NIGH_SCHEME_TOPSIG, .weights = NIGH_WEIGHTS_LOG, .density = 7, .stemming = 0, .stop_words = 1},
        {.scheme = NIGH_SCHEME_SIMHASH,
         .features = NIGH_FEATURES_CHARS,
         .feature_length = 7,
         .stemming = -1,
         .stop_words = -1,
         .language = "german",
         .split = NIGH_SPLIT_SENTENCE,
         .max_terms = 99,
         .min_terms = 3},
        {.scheme = NIGH_SCHEME_SIMHASH,
         .features = NIGH_FEATURES_NGRAMS,
         .stemming = 1,
         .stop_words = 0,
         .language = "fr",
         .weights = NIGH_WEIGHTS_TF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_signer_options options = cases[i];
        char first[1200];
        char second[1200];
        char with_bits[1300];
        nigh_error error;
        options.size = sizeof options;
        assert_int_equal(make(*state, &options, first, sizeof first), NIGH_OK);
        (void)snprintf(with_bits, sizeof with_bits, "bits=%u\n%s", options.width_bits == 0 ? 64 : options.width_bits,
                       first);
        nigh_signer_options parsed;
        nigh_signer_options_init(&parsed);
        assert_ok(nigh_signer_options_parse(with_bits, &parsed, &error), &error);
        assert_int_equal(make(*state, &parsed, second, sizeof second), NIGH_OK);
        assert_string_equal(first, second);
    }
}

static void test_scheme_text(void **state) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    char scheme[1200];
    options.scheme = NIGH_SCHEME_SIMHASH;
    assert_int_equal(make(*state, &options, scheme, sizeof scheme), NIGH_OK);
    assert_string_equal(scheme, "features=words\nlanguage=en\nseed=0\nstemming=on\nstop-words=out\nkind=simhash\n"
                                "version=1\nweights=log\n");
}

static void test_parse_refuses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        nigh_status status;
    } cases[] = {
        {"kind=signatures\n", NIGH_ENOTFOUND},
        {"author=me\nkind=signatures\n", NIGH_ENOTFOUND},
        {"bits=64\n", NIGH_ENOTFOUND},
        {"", NIGH_ENOTFOUND},
        {"kind=taught\n", NIGH_EVERSION},
        {"kind=simhash\nnonsense", NIGH_EFORMAT},
        {"kind=simhash\nversion=2\n", NIGH_EVERSION},
        {"kind=simhash\nversion=0\n", NIGH_EVERSION},
        {"colour=red\nkind=simhash\n", NIGH_EVERSION},
        {"features=ngrams\nkind=simhash\n", NIGH_EVERSION},
        {"features=ngrams:0\nkind=simhash\n", NIGH_EVERSION},
        {"features=words:2\nkind=simhash\n", NIGH_EVERSION},
        {"kind=simhash\nseed=18446744073709551616\n", NIGH_EVERSION},
        {"kind=simhash\nstemming=maybe\n", NIGH_EVERSION},
        {"kind=simhash\nlanguage=klingon\n", NIGH_EVERSION},
        {"bits=1048576\nkind=simhash\n", NIGH_EVERSION},
        {"kind=simhash\nsplit=softly\n", NIGH_EVERSION},
        {"kind=simhash\nweights=heavy\n", NIGH_EVERSION},
        {"density=\nkind=topsig\n", NIGH_EVERSION},
        {"features=ngrams:3\nkind=simhash\n", NIGH_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_signer_options options;
        nigh_signer_options_init(&options);
        nigh_error error;
        nigh_status status = nigh_signer_options_parse(cases[i].text, &options, &error);
        if (status != cases[i].status) fail_msg("'%s' gives %s", cases[i].text, nigh_status_name(status));
    }
}

static void test_new_refuses(void **state) {
    static const struct nigh_signer_options cases[] = {
        {.scheme = (nigh_scheme_kind)9},
        {.weights = (nigh_weight_kind)9},
        {.split = (nigh_split_kind)9, .weights = NIGH_WEIGHTS_LOG},
        {.features = (nigh_feature_kind)9},
        {.scheme = NIGH_SCHEME_MINHASH, .weights = NIGH_WEIGHTS_TF},
        {.scheme = NIGH_SCHEME_SIMHASH, .density = 4},
        {.scheme = NIGH_SCHEME_SIMHASH, .width_bits = 65537},
        {.scheme = NIGH_SCHEME_TOPSIG, .weights = NIGH_WEIGHTS_LOG, .width_bits = 1},
        {.scheme = NIGH_SCHEME_SIMHASH, .features = NIGH_FEATURES_NGRAMS, .feature_length = 17},
        {.scheme = NIGH_SCHEME_SIMHASH, .features = NIGH_FEATURES_CHARS, .feature_length = 65},
        {.scheme = NIGH_SCHEME_SIMHASH, .features = NIGH_FEATURES_WORDS, .feature_length = 2},
        {.scheme = NIGH_SCHEME_SIMHASH, .language = "klingon"},
        {.scheme = NIGH_SCHEME_SIMHASH, .split = NIGH_SPLIT_HARD, .min_terms = 9, .max_terms = 8},
        {.scheme = NIGH_SCHEME_TOPSIG}, /* likelihood, without a vocabulary */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_signer_options options = cases[i];
        char scheme[1200];
        options.size = sizeof options;
        if (make(*state, &options, scheme, sizeof scheme) != NIGH_EINVAL) fail_msg("case %zu was not refused", i);
    }
}

static void test_vocabulary_must_fit(void **state) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_vocabulary *vocabulary;
    struct text_input input;
    nigh_error error;
    char scheme[1200];
    assert_ok(text_input_open(*state, "some words\nof some lines\n", NULL, &input, &error), &error);
    assert_ok(nigh_vocabulary_count(*state, &options, input.reader, NULL, &vocabulary, &error), &error);
    text_input_close(&input);
    options.vocabulary = vocabulary;
    assert_int_equal(make(*state, &options, scheme, sizeof scheme), NIGH_OK);
    assert_non_null(strstr(scheme, "vocabulary="));
    assert_true(nigh_signer_needs_vocabulary(&options));
    options.language = "de";
    assert_int_equal(make(*state, &options, scheme, sizeof scheme), NIGH_EMISMATCH);
    options.language = NULL;
    options.seed = 1;
    assert_int_equal(make(*state, &options, scheme, sizeof scheme), NIGH_EMISMATCH);
    options.weights = NIGH_WEIGHTS_LOG; /* needs none, and then none is named */
    assert_int_equal(make(*state, &options, scheme, sizeof scheme), NIGH_OK);
    assert_null(strstr(scheme, "vocabulary="));
    assert_false(nigh_signer_needs_vocabulary(&options));
    nigh_vocabulary_free(vocabulary);
}

/* Case, punctuation and inflection do not matter; a text without a word has no signature. */
static void test_sign(void **state) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_signer *signer;
    nigh_error error;
    uint8_t a[128];
    uint8_t b[128];
    uint8_t weights[1024];
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = 1024;
    assert_ok(nigh_signer_new(*state, &options, &signer, &error), &error);
    assert_int_equal(nigh_signer_width(signer), 1024);
    assert_ok(nigh_signer_sign(signer, "Dogs and CATS", 13, a, weights, &error), &error);
    assert_ok(nigh_signer_sign(signer, "the cat; a dog!", 15, b, NULL, &error), &error);
    assert_memory_equal(a, b, sizeof a);
    memset(b, 0xaa, sizeof b);
    assert_int_equal(nigh_signer_sign(signer, "of the and", 10, b, weights, &error), NIGH_ENOTFOUND);
    for (size_t i = 0; i < sizeof b; i++) assert_int_equal(b[i], 0xaa);
    /* Two features of equal weight: a sum is 0, +2 or -2; of 0 the bit is 0 and the weight too. */
    unsigned zero = 0;
    for (size_t i = 0; i < 1024; i++) zero += weights[i] == 0;
    assert_true(zero > 400 && zero < 624);
    nigh_signer_free(signer);
}

static void test_default_radius(void **state) {
    (void)state;
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_SIMHASH, 64), 3);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_SIMHASH, 128), 6);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_SIMHASH, 8), 0);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_MINHASH, 256), 36);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_MINHASH, 128), 18);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_MINHASH, NIGH_MAX_WIDTH_BITS), NIGH_MAX_WIDTH_BITS / 64 * 9);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_TOPSIG, 1024), NIGH_ALL);
    assert_int_equal(nigh_default_radius(NIGH_SCHEME_LEARNED, 64), NIGH_ALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes),
        cmocka_unit_test(test_scheme_text),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_new_refuses),
        cmocka_unit_test(test_vocabulary_must_fit),
        cmocka_unit_test(test_sign),
        cmocka_unit_test(test_default_radius),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
