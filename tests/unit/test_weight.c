/* SPDX-License-Identifier: Apache-2.0 */
/* The logarithm that is the same everywhere, and the weights of features by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/logarithm.h"
#include "base/rng.h"
#include "support/support.h"
#include "text/vocabulary.h"
#include "text/weight.h"

static void test_logarithm(void **state) {
    (void)state;
    struct nigh__rng rng = {1};
    for (int i = 0; i < 200000; i++) {
        uint64_t draw = nigh__rng_next(&rng);
        double x = i % 2 == 0 ? (double)(draw >> 11) : 0.5 + (double)(draw >> 11) / 9007199254740992.0;
        if (x == 0.0) continue;
        double expected = log(x);
        double off = fabs(nigh__ln(x) - expected);
        if (off > 4e-16 * fabs(expected) && off > 2e-16) fail_msg("ln(%.17g) is off by %.3g", x, off);
    }
    assert_true(nigh__ln(1.0) == 0.0);
}

/* Bits, not values: another compiler or CPU that rounds differently would change signatures. */
static void test_logarithm_bits(void **state) {
    (void)state;
    static const struct {
        double x;
        uint64_t bits;
    } known[] = {{2, 0x3fe62e42fefa39ef},   {3, 0x3ff193ea7aad030a},   {10, 0x40026bb1bbb55515},
                 {1e6, 0x402ba18a998fffa0}, {0.7, 0xbfd6d3c324e13f4f}, {123456789, 0x4032a1a38bd0540a}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double value = nigh__ln(known[i].x);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (bits != known[i].bits) fail_msg("ln(%g) is %016llx", known[i].x, (unsigned long long)bits);
    }
}

/* ------------------------------------------------------------------ weights -- */

/* T = 100, D = 4: term 1 occurs 60 times in 4 documents, term 2 39 times in 2, term 3 once. */
static nigh_vocabulary *small_vocabulary(nigh_context *context) {
    static const struct nigh__tally documents[][3] = {
        {{1, 30, 0}, {2, 38, 0}, {3, 1, 0}}, {{1, 10, 0}, {2, 1, 0}}, {{1, 10, 0}}, {{1, 10, 0}}};
    static const size_t counts[] = {3, 2, 1, 1};
    struct nigh__counter *counter;
    nigh_vocabulary *vocabulary;
    nigh_error error;
    assert_ok(nigh__counter_new(context, 0, &counter, &error), &error);
    for (size_t i = 0; i < 4; i++) assert_ok(nigh__counter_add(counter, documents[i], counts[i], &error), &error);
    assert_ok(nigh__counter_finish(counter, "features=words\n", &vocabulary, &error), &error);
    nigh__counter_free(counter);
    return vocabulary;
}

/* A document of n = 10: term 1 five times, term 2 once, term 3 once, and term 4, which nobody knows, three times. */
static const uint64_t hashes[] = {1, 2, 3, 4};
static const uint32_t counts[] = {5, 1, 1, 3};
static const struct nigh__features document = {.hashes = hashes, .counts = counts, .count = 4, .total = 10};

static uint32_t units(double weight) { return weight * 64 + 0.5 >= 1 ? (uint32_t)(weight * 64 + 0.5) : 1; }

static void expect_weights(nigh_context *context, nigh_weight_kind kind, const nigh_vocabulary *vocabulary,
                           const double expected[4]) {
    struct nigh__weigher *weigher;
    nigh_error error;
    const uint32_t *weights;
    assert_ok(nigh__weigher_new(context, kind, vocabulary, &weigher, &error), &error);
    assert_ok(nigh__weigh(weigher, &document, &weights, &error), &error);
    for (size_t i = 0; i < 4; i++) assert_int_equal(weights[i], units(expected[i]));

    /* With numbers, the vocabulary is asked once and remembered, until a new generation. */
    uint32_t numbers[] = {7, 1, 900, 3};
    struct nigh__features numbered = document;
    numbered.numbers = numbers;
    for (uint32_t round = 0; round < 4; round++) {
        numbered.generation = round / 2;
        numbers[0] = round < 2 ? 7 : 1; /* a number that meant another term before */
        numbers[1] = round < 2 ? 1 : 7;
        assert_ok(nigh__weigh(weigher, &numbered, &weights, &error), &error);
        for (size_t i = 0; i < 4; i++) assert_int_equal(weights[i], units(expected[i]));
    }
    nigh__weigher_free(weigher);
}

static void test_weights(void **state) {
    nigh_vocabulary *vocabulary = small_vocabulary(*state);
    expect_weights(*state, NIGH_WEIGHTS_TF, NULL, (double[]){5, 1, 1, 3});
    expect_weights(*state, NIGH_WEIGHTS_LOG, NULL, (double[]){1 + log(5), 1, 1, 1 + log(3)});
    expect_weights(*state, NIGH_WEIGHTS_TFIDF, vocabulary, (double[]){0, log(2), log(4), (1 + log(3)) * log(4)});
    expect_weights(*state, NIGH_WEIGHTS_LIKELIHOOD, vocabulary,
                   (double[]){4.5 * log(0.5 / 0.6), 0.5 * log(0.1 / 0.39), 0.5 * log(0.1 / 0.01), 2.5 * log(10)});
    nigh_vocabulary_free(vocabulary);
}

static void test_most(void **state) {
    static const uint32_t many[] = {UINT32_MAX, 1, 1024, 1023};
    struct nigh__features huge = document;
    struct nigh__weigher *weigher;
    nigh_error error;
    const uint32_t *weights;
    huge.counts = many;
    assert_ok(nigh__weigher_new(*state, NIGH_WEIGHTS_TF, NULL, &weigher, &error), &error);
    assert_ok(nigh__weigh(weigher, &huge, &weights, &error), &error);
    assert_int_equal(weights[0], NIGH__WEIGHT_MAX);
    nigh__weigher_free(weigher);
    assert_ok(nigh__weigher_new(*state, NIGH_WEIGHTS_LOG, NULL, &weigher, &error), &error);
    assert_ok(nigh__weigh(weigher, &huge, &weights, &error), &error);
    assert_int_equal(weights[2], units(1 + log(1024))); /* beyond the table of small counts */
    assert_int_equal(weights[3], units(1 + log(1023)));
    nigh__weigher_free(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_logarithm_bits),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_most),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
