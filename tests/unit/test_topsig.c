/* SPDX-License-Identifier: Apache-2.0 */
/* TopSig by hand: what one term gives, that positions are even, and that the cache changes nothing but the time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "signature/project.h"
#include "signature/topsig.h"
#include "support/support.h"

static struct nigh__projector *projector_new(const nigh_context *context, uint32_t width_bits, uint32_t density) {
    struct nigh__projector *projector;
    nigh_error error;
    assert_ok(nigh__projector_new(context, NIGH_SCHEME_TOPSIG, width_bits, density, 0, &projector, &error), &error);
    return projector;
}

static void project(struct nigh__projector *projector, const struct nigh__bag *bag) {
    nigh_error error;
    assert_ok(nigh__project(projector, bag, &error), &error);
}

/* How many sums are `value`. */
static uint32_t count_of(const struct nigh__projector *projector, uint32_t width_bits, int32_t value) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < width_bits; j++) count += nigh__project_sums(projector)[j] == value;
    return count;
}

static void test_one_term(void **state) {
    static const struct {
        uint32_t width_bits, density, half;
    } cases[] = {
        {1024, 21, 24},
        {1024, 0, 24},
        {1024, 1, 512},
        {1024, 2, 256},
        {64, 21, 1},
        {8, 21, 1},
        {8, 1, 4},
        {8, 2, 2},
        {1000, 21, 23},
        {1000, 1, 500},
        {72, 3, 12},
        {1024, UINT32_MAX, 1},
        {4096, 21, 97},
        {65536, 21, 1560},
        {65528, 7, 4680},
        {2048, 512, 2},
        {8, UINT32_MAX / 2, 1},
        {65536, 1, 32768},
        {65528, 1, 32764},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t width_bits = cases[i].width_bits;
        struct nigh__projector *projector = projector_new(*state, width_bits, cases[i].density);
        for (uint64_t term = 0; term < 3; term++) {
            const uint64_t hash = nigh__mix(term);
            const struct nigh__bag bag = {.hashes = &hash, .weights = (const uint32_t[]){77}, .count = 1};
            project(projector, &bag);
            assert_int_equal(count_of(projector, width_bits, 77), cases[i].half);
            assert_int_equal(count_of(projector, width_bits, -77), cases[i].half);
            assert_int_equal(count_of(projector, width_bits, 0), width_bits - 2 * cases[i].half);
        }
        nigh__projector_free(projector);
    }
}

/* The first positions of a term as the definition gives them; a doubled one would be skipped, but there is none. */
static void test_positions(void **state) {
    static const uint32_t widths[] = {1024, 1000};
    const uint64_t hash = 5;
    for (int w = 0; w < 2; w++) {
        struct nigh__projector *projector = projector_new(*state, widths[w], 250); /* two positions of each sign */
        const struct nigh__bag bag = {.hashes = &hash, .weights = (const uint32_t[]){1}, .count = 1};
        project(projector, &bag);
        const uint64_t state0 = nigh__mix(hash);
        const uint64_t first = nigh__mix(state0);
        const uint64_t second = nigh__mix(state0 + UINT64_C(0x9e3779b97f4a7c15));
        const uint64_t by16[] = {first & 0xffff, first >> 16 & 0xffff, first >> 32 & 0xffff, first >> 48};
        const uint64_t by32[] = {first & UINT32_MAX, first >> 32, second & UINT32_MAX, second >> 32};
        for (int i = 0; i < 4; i++) {
            const uint64_t position = w == 0 ? by16[i] * 1024 >> 16 : by32[i] * 1000 >> 32;
            assert_int_equal(nigh__project_sums(projector)[position], i < 2 ? 1 : -1);
        }
        nigh__projector_free(projector);
    }
}

/* Every position equally often, with either sign, within five standard deviations. */
static void test_even(void **state) {
    enum { TERMS = 20000, MAX = 1024 };
    static const uint32_t widths[] = {1024, 1000, 40, 8};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const uint32_t width_bits = widths[w];
        struct nigh__projector *projector = projector_new(*state, width_bits, 21);
        uint32_t plus[MAX] = {0};
        uint32_t minus[MAX] = {0};
        for (uint64_t term = 0; term < TERMS; term++) {
            const uint64_t hash = nigh__mix(term);
            const struct nigh__bag bag = {.hashes = &hash, .weights = (const uint32_t[]){1}, .count = 1};
            project(projector, &bag);
            for (uint32_t j = 0; j < width_bits; j++) {
                plus[j] += nigh__project_sums(projector)[j] == 1;
                minus[j] += nigh__project_sums(projector)[j] == -1;
            }
        }
        const uint32_t half = width_bits < 84 ? 1 : width_bits / 42;
        const double share = (double)half / width_bits;
        const double allowed = 5 * sqrt(TERMS * share * (1 - share));
        for (uint32_t j = 0; j < width_bits; j++) {
            assert_true(fabs(plus[j] - TERMS * share) < allowed);
            assert_true(fabs(minus[j] - TERMS * share) < allowed);
        }
        nigh__projector_free(projector);
    }
}

/* ------------------------------------------------------------------------ cache */

#define FEATURES 400u

struct features {
    uint64_t hashes[FEATURES];
    uint32_t weights[FEATURES];
    uint32_t numbers[FEATURES];
};

/* Hashes that are those of the numbers, whose order is not that of the features. */
static struct nigh__bag features_fill(struct features *features, uint32_t spread, uint64_t meaning) {
    for (uint32_t i = 0; i < FEATURES; i++) {
        features->numbers[i] = i * 7 % FEATURES * spread;
        features->hashes[i] = nigh__mix(features->numbers[i] + meaning);
        features->weights[i] = 64 + i;
    }
    return (struct nigh__bag){
        .hashes = features->hashes, .weights = features->weights, .numbers = features->numbers, .count = FEATURES};
}

static void assert_same_sums(struct nigh__projector *cached, struct nigh__projector *plain, uint32_t width_bits,
                             const struct nigh__bag *bag) {
    struct nigh__bag numberless = *bag;
    numberless.numbers = NULL;
    project(cached, bag);
    project(plain, &numberless);
    assert_memory_equal(nigh__project_sums(cached), nigh__project_sums(plain), width_bits * sizeof(int32_t));
}

static void test_cache(void **state) {
    static const uint32_t widths[] = {64, 1024, 1000, 65536};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        struct nigh__projector *cached = projector_new(*state, widths[w], 21);
        struct nigh__projector *plain = projector_new(*state, widths[w], 21);
        struct features features;
        /* The cache grows, is used, and meets numbers that it has no room for, to the largest there is. */
        static const uint32_t spreads[] = {1, 1, 100, 10, 1000, UINT32_MAX / FEATURES, 1};
        for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
            const struct nigh__bag bag = features_fill(&features, spreads[i], 0);
            assert_same_sums(cached, plain, widths[w], &bag);
        }
        features.numbers[3] = UINT32_MAX;
        const struct nigh__bag bag = {features.hashes, features.weights, features.numbers, FEATURES, 0};
        assert_same_sums(cached, plain, widths[w], &bag);
        nigh__projector_free(cached);
        nigh__projector_free(plain);
    }
}

static void test_generations(void **state) {
    struct nigh__projector *cached = projector_new(*state, 1024, 21);
    struct nigh__projector *plain = projector_new(*state, 1024, 21);
    struct features features;
    static const uint32_t generations[] = {0, 5, 5, 6, 0};
    for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++) {
        struct nigh__bag bag = features_fill(&features, 3, UINT64_C(1000000) * generations[i]);
        bag.generation = generations[i];
        assert_same_sums(cached, plain, 1024, &bag);
    }
    /* That the cache is used at all: with the same generation it does not look at the hashes. */
    struct nigh__bag bag = features_fill(&features, 3, 0);
    project(cached, &bag);
    int32_t sums[1024];
    memcpy(sums, nigh__project_sums(cached), sizeof sums);
    memset(features.hashes, 0, sizeof features.hashes);
    project(cached, &bag);
    assert_memory_equal(nigh__project_sums(cached), sums, sizeof sums);
    nigh__projector_free(cached);
    nigh__projector_free(plain);
}

/* Memory is taken for higher numbers only, never more than the limit, and where there is none nothing breaks. */
static void test_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t live = memory.live;
    struct nigh__projector *projector = projector_new(context, 1024, 21);
    struct features features;
    struct nigh__bag bag = features_fill(&features, 1, 0);
    nigh_error error;
    memory.fail_at = memory.calls;
    assert_int_equal(nigh__project(projector, &bag, &error), NIGH_ENOMEM);
    memory.fail_at = UINT64_MAX;
    project(projector, &bag);
    int32_t sums[1024];
    memcpy(sums, nigh__project_sums(projector), sizeof sums);
    const uint64_t calls = memory.calls;
    project(projector, &bag);
    assert_int_equal(memory.calls, calls);

    features.numbers[0] = NIGH__TOPSIG_TERMS - 1;
    memory.fail_at = memory.calls;
    assert_int_equal(nigh__project(projector, &bag, &error), NIGH_ENOMEM);
    memory.fail_at = UINT64_MAX;
    features.numbers[0] = NIGH__TOPSIG_TERMS; /* beyond the limit: nothing is taken */
    const uint64_t before = memory.calls;
    project(projector, &bag);
    assert_int_equal(memory.calls, before);
    assert_memory_equal(nigh__project_sums(projector), sums, sizeof sums);
    nigh__projector_free(projector);
    assert_int_equal(memory.live, live);
    nigh_context_free(context);
}

/* Remembers the largest piece of memory that was asked for. */
static void *measured_allocate(void *user, size_t size, size_t alignment) {
    size_t *largest = user;
    if (size > *largest) *largest = size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void measured_release(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

static void test_limit(void **state) {
    (void)state;
    static const struct { uint32_t width_bits, density; } cases[] = {{1024, 21}, {65536, 21}, {65536, 2}, {8, 21}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t largest = 0;
        const nigh_allocator allocator = {.user = &largest, .allocate = measured_allocate, .release = measured_release};
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct nigh__projector *projector = projector_new(context, cases[i].width_bits, cases[i].density);
        for (uint32_t number = 1; number < NIGH__TOPSIG_TERMS * 8; number += number) {
            const uint64_t hash = number;
            const struct nigh__bag bag = {&hash, (const uint32_t[]){1}, &number, 1, 0};
            project(projector, &bag);
        }
        assert_true(largest <= NIGH__TOPSIG_CACHE_BYTES);
        nigh__projector_free(projector);
        nigh_context_free(context);
    }
}

/*
 * So many draws that the 16-bit marks begin anew.  One term comes back just when its
 * mark does, and must not meet the marks it left; another fills the time between.
 */
static void check_many_draws(const nigh_context *context, uint32_t period) {
    enum { COUNT = 140000, BITS = 1024 };
    uint64_t *hashes = malloc(COUNT * sizeof *hashes);
    uint32_t *weights = malloc(COUNT * sizeof *weights);
    if (hashes == NULL || weights == NULL) abort();
    for (uint32_t i = 0; i < COUNT; i++) {
        hashes[i] = i % period == 0 ? 1 : 2;
        weights[i] = 1;
    }
    struct nigh__projector *projector = projector_new(context, BITS, BITS);
    const struct nigh__bag bag = {.hashes = hashes, .weights = weights, .count = COUNT};
    project(projector, &bag);
    int32_t sums[BITS];
    memcpy(sums, nigh__project_sums(projector), sizeof sums);
    const uint32_t totals[] = {3, COUNT - 3};
    const struct nigh__bag same = {.hashes = (const uint64_t[]){1, 2}, .weights = totals, .count = 2};
    project(projector, &same);
    assert_memory_equal(nigh__project_sums(projector), sums, sizeof sums);
    nigh__projector_free(projector);
    free(hashes);
    free(weights);
}

static void test_many_draws(void **state) {
    check_many_draws(*state, 65535);
    check_many_draws(*state, 65536);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_term),   cmocka_unit_test(test_positions),   cmocka_unit_test(test_even),
        cmocka_unit_test(test_cache),      cmocka_unit_test(test_generations), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_many_draws), cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
