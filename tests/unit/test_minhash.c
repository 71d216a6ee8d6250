/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MinHash: the definition for one feature, and what the signatures are for:
 * distances that tell the Jaccard similarity, as exactly as 256 independent
 * functions would.  All is seeded; the bounds are five standard deviations.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "signature/project.h"
#include "support/support.h"

#define FUNCTIONS 256u

static struct nigh__projector *projector_new(const nigh_context *context, uint32_t width_bits, uint64_t seed) {
    struct nigh__projector *projector;
    nigh_error error;
    assert_ok(nigh__projector_new(context, NIGH_SCHEME_MINHASH, width_bits, 0, seed, &projector, &error), &error);
    return projector;
}

static void project(struct nigh__projector *projector, const uint64_t *hashes, size_t count) {
    const struct nigh__bag bag = {.hashes = hashes, .count = count};
    nigh_error error;
    assert_ok(nigh__project(projector, &bag, &error), &error);
}

static void test_one_feature(void **state) {
    const uint64_t hash = 42;
    const uint64_t seed = 9;
    struct nigh__projector *projector = projector_new(*state, 72, seed);
    project(projector, &hash, 1);
    uint8_t signature[9];
    nigh__project_bits(projector, signature);
    for (uint64_t i = 0; i < 72; i++) {
        const uint64_t random = nigh__mix(nigh__mix(seed) + i * UINT64_C(0x9e3779b97f4a7c15));
        const uint32_t key = (uint32_t)(nigh__mix(hash) >> 32);
        const uint32_t value = ((uint32_t)random | 1) * key + (uint32_t)(random >> 32);
        assert_int_equal(nigh__project_minima(projector)[i], value);
        assert_int_equal(signature[i / 8] >> i % 8 & 1, value * UINT32_C(0x9e3779b1) >> 31);
    }
    assert_null(nigh__project_sums(projector));
    uint8_t weights[72];
    nigh__project_weights(projector, weights);
    for (int j = 0; j < 72; j++) assert_int_equal(weights[j], 255);
    nigh__projector_free(projector);
}

/* Order and repetition say nothing about a set; an element more can only lower a minimum. */
static void test_set(void **state) {
    enum { COUNT = 700 };
    uint64_t hashes[COUNT + 1];
    uint64_t turned[2 * COUNT];
    for (uint64_t i = 0; i <= COUNT; i++) hashes[i] = nigh__mix(i);
    for (uint64_t i = 0; i < COUNT; i++) turned[i] = turned[COUNT + i] = hashes[COUNT - 1 - i];
    struct nigh__projector *a = projector_new(*state, FUNCTIONS, 0);
    struct nigh__projector *b = projector_new(*state, FUNCTIONS, 0);
    project(a, hashes, COUNT);
    project(b, turned, sizeof turned / sizeof turned[0]);
    assert_memory_equal(nigh__project_minima(a), nigh__project_minima(b), FUNCTIONS * sizeof(uint32_t));
    project(b, hashes, COUNT + 1);
    for (uint32_t i = 0; i < FUNCTIONS; i++) assert_true(nigh__project_minima(b)[i] <= nigh__project_minima(a)[i]);
    nigh__projector_free(a);
    nigh__projector_free(b);
}

static void test_seed(void **state) {
    uint64_t hashes[100];
    for (uint64_t i = 0; i < 100; i++) hashes[i] = nigh__mix(i);
    struct nigh__projector *a = projector_new(*state, FUNCTIONS, 0);
    struct nigh__projector *b = projector_new(*state, FUNCTIONS, 1);
    project(a, hashes, 100);
    project(b, hashes, 100);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        assert_int_not_equal(nigh__project_minima(a)[i], nigh__project_minima(b)[i]);
    nigh__projector_free(a);
    nigh__projector_free(b);
}

static void test_bands(void **state) {
    uint64_t hashes[101];
    for (uint64_t i = 0; i < 101; i++) hashes[i] = nigh__mix(i);
    struct nigh__projector *a = projector_new(*state, FUNCTIONS, 0);
    struct nigh__projector *b = projector_new(*state, FUNCTIONS, 0);
    project(a, hashes, 100);
    project(b, hashes + 1, 100);
    static const struct { uint32_t bands, rows; } shapes[] = {{32, 8}, {64, 4}, {256, 1}, {1, 256}, {9, 13}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        uint64_t a_keys[FUNCTIONS];
        uint64_t b_keys[FUNCTIONS];
        nigh__minhash_bands(a, shapes[s].bands, shapes[s].rows, a_keys);
        nigh__minhash_bands(b, shapes[s].bands, shapes[s].rows, b_keys);
        for (uint32_t i = 0; i < shapes[s].bands; i++) {
            const uint32_t *a_rows = nigh__project_minima(a) + (size_t)i * shapes[s].rows;
            const uint32_t *b_rows = nigh__project_minima(b) + (size_t)i * shapes[s].rows;
            const size_t bytes = shapes[s].rows * sizeof(uint32_t);
            assert_int_equal(a_keys[i], nigh__hash(a_rows, bytes));
            assert_int_equal(a_keys[i] == b_keys[i], memcmp(a_rows, b_rows, bytes) == 0);
        }
    }
    nigh__projector_free(a);
    nigh__projector_free(b);
}

/* ---------------------------------------------------------------------- quality */

/* What pairs of sets with a known Jaccard similarity show; squares are of the differences from what is expected. */
struct seen {
    double jaccard;
    double equal, equal_squared;       /* minima that are equal, as a share */
    double distance, distance_squared; /* bits that differ */
};

static void pair_measure(struct nigh__projector *projector, const uint64_t *hashes, size_t size, size_t shared,
                         struct seen *seen) {
    uint32_t minima[FUNCTIONS];
    uint8_t bits[2][FUNCTIONS / 8];
    project(projector, hashes, size);
    memcpy(minima, nigh__project_minima(projector), sizeof minima);
    nigh__project_bits(projector, bits[0]);
    project(projector, hashes + (size - shared), size);
    nigh__project_bits(projector, bits[1]);
    double equal = 0, distance = 0;
    for (uint32_t i = 0; i < FUNCTIONS; i++) equal += minima[i] == nigh__project_minima(projector)[i];
    for (uint32_t i = 0; i < FUNCTIONS / 8; i++) distance += __builtin_popcount((unsigned)(bits[0][i] ^ bits[1][i]));
    const double equal_off = equal / FUNCTIONS - seen->jaccard;
    const double distance_off = distance - FUNCTIONS * (1 - seen->jaccard) / 2;
    seen->equal += equal_off;
    seen->equal_squared += equal_off * equal_off;
    seen->distance += distance_off;
    seen->distance_squared += distance_off * distance_off;
}

static void check_seen(const struct seen *seen, size_t size, unsigned trials) {
    const double equal_variance = seen->jaccard * (1 - seen->jaccard) / FUNCTIONS;
    const double differ = (1 - seen->jaccard) / 2;
    const double distance_variance = FUNCTIONS * differ * (1 - differ);
    const double spread = 5 * sqrt(2.0 / trials); /* of a variance, as a share */
    const double equal_ratio = seen->equal_squared / trials / equal_variance;
    const double distance_ratio = seen->distance_squared / trials / distance_variance;
    if (fabs(seen->equal / trials) > 5 * sqrt(equal_variance / trials) || fabs(equal_ratio - 1) > spread)
        fail_msg("sets of %zu, J %.3f: estimate off by %.5f, variance %.3f of the binomial's", size, seen->jaccard,
                 seen->equal / trials, equal_ratio);
    if (fabs(seen->distance / trials) > 5 * sqrt(distance_variance / trials) || fabs(distance_ratio - 1) > spread)
        fail_msg("sets of %zu, J %.3f: distance off by %.3f, variance %.3f of the binomial's", size, seen->jaccard,
                 seen->distance / trials, distance_ratio);
}

static void check_similarity(const nigh_context *context, size_t size, double jaccard, unsigned trials) {
    const size_t shared = (size_t)(2 * (double)size * jaccard / (1 + jaccard) + 0.5);
    const size_t all = 2 * size - shared;
    uint64_t *hashes = malloc(all * sizeof *hashes);
    assert_non_null(hashes);
    struct seen seen = {.jaccard = (double)shared / (double)all};
    struct nigh__projector *projector = projector_new(context, FUNCTIONS, 0);
    struct nigh__rng rng = {.state = size};
    for (unsigned t = 0; t < trials; t++) {
        for (size_t i = 0; i < all; i++) hashes[i] = nigh__rng_next(&rng);
        pair_measure(projector, hashes, size, shared, &seen);
    }
    check_seen(&seen, size, trials);
    nigh__projector_free(projector);
    free(hashes);
}

static void test_similarity(void **state) {
    static const double jaccards[] = {0.5, 0.8, 0.95};
    for (int j = 0; j < 3; j++) {
        check_similarity(*state, 20, jaccards[j], 20000);
        check_similarity(*state, 300, jaccards[j], 4000);
        check_similarity(*state, 20000, jaccards[j], 150);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_feature), cmocka_unit_test(test_set),        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_bands),       cmocka_unit_test(test_similarity),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
