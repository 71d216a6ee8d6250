/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak combinations against all combinations there are, made one by one and sorted:
 * random costs, many of them equal or zero, any number of bits and flips.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "finder/weak.h"

#define MAX_BITS 20
#define MAX_FLIPS 4
#define MAX_COMBINATIONS 6196 /* of 20 bits, up to 4 of them */

struct entry {
    uint64_t cost;
    uint32_t mask;
};

static int entry_compare(const void *a, const void *b) {
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->mask < y->mask ? -1 : x->mask > y->mask;
}

static size_t all_combinations(const uint32_t *costs, uint32_t bits, uint32_t most, struct entry *out) {
    size_t count = 0;
    for (uint32_t mask = 0; mask >> bits == 0; mask++) {
        if ((uint32_t)__builtin_popcount(mask) > most) continue;
        uint64_t cost = 0;
        for (uint32_t bit = 0; bit < bits; bit++) cost += (mask >> bit & 1) != 0 ? costs[bit] : 0;
        assert_true(count < MAX_COMBINATIONS);
        out[count++] = (struct entry){cost, mask};
    }
    qsort(out, count, sizeof *out, entry_compare);
    return count;
}

/* A few kinds: all alike, few values, with zeros, wide. */
static void random_costs(struct nigh__rng *rng, uint32_t *costs) {
    static const uint32_t ranges[] = {1, 2, 4, 17, 1000, NIGH__MAX_WEAK_COST};
    const uint32_t range = ranges[nigh__rng_next(rng) % (sizeof ranges / sizeof ranges[0])];
    for (uint32_t i = 0; i < NIGH__MAX_PREFIX_BITS; i++) costs[i] = (uint32_t)(nigh__rng_next(rng) % range);
}

static void check_heap(const uint32_t *costs, uint32_t bits, uint32_t most, const struct entry *expected, size_t count,
                       void *scratch, size_t scratch_bytes) {
    struct nigh__weak_state *state = nigh__weak_begin(costs, bits, most, scratch, scratch_bytes);
    for (size_t i = 0; i < count; i++) {
        uint32_t mask;
        uint64_t cost;
        assert_true(nigh__weak_next(state, &mask, &cost));
        assert_int_equal(mask, expected[i].mask);
        assert_int_equal(cost, expected[i].cost);
    }
    uint32_t mask;
    uint64_t cost;
    assert_false(nigh__weak_next(state, &mask, &cost));
}

static void check_shape(const uint32_t *costs, uint32_t bits, uint32_t most, const struct entry *expected, size_t count,
                        uint32_t probes) {
    struct nigh__weak_shape shape;
    uint32_t masks[NIGH__SHAPE_MAX_PROBES];
    assert_true(nigh__weak_shape_init(&shape, bits, most, probes));
    assert_int_equal(shape.probes, probes < count ? probes : count);
    nigh__weak_shape_list(&shape, costs, masks);
    for (size_t i = 0; i < shape.probes; i++) assert_int_equal(masks[i], expected[i].mask);
}

static void test_against_all(void **state) {
    (void)state;
    static struct entry expected[MAX_COMBINATIONS];
    const size_t scratch_bytes = nigh__weak_scratch(MAX_BITS, MAX_FLIPS, MAX_COMBINATIONS);
    void *scratch = aligned_alloc(16, (scratch_bytes + 15) / 16 * 16);
    assert_non_null(scratch);
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct nigh__rng rng = {seed};
        uint32_t costs[NIGH__MAX_PREFIX_BITS];
        random_costs(&rng, costs);
        const uint32_t bits = seed % 40 == 0 ? MAX_BITS : 1 + (uint32_t)(nigh__rng_next(&rng) % 14);
        const uint32_t most = (uint32_t)(nigh__rng_next(&rng) % (MAX_FLIPS + 1));
        const uint32_t probes = 1 + (uint32_t)(nigh__rng_next(&rng) % NIGH__SHAPE_MAX_PROBES);
        print_message("seed %u: %u bits, %u flips, %u probes\n", (unsigned)seed, bits, most, probes);
        const size_t count = all_combinations(costs, bits, most, expected);
        check_heap(costs, bits, most, expected, count, scratch, scratch_bytes);
        check_shape(costs, bits, most, expected, count, probes);
    }
    free(scratch);
}

/* More bits than can be tried out: the two ways agree, and scratch for k is enough for k. */
static void test_ways_agree(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct nigh__rng rng = {seed << 32};
        uint32_t costs[NIGH__MAX_PREFIX_BITS];
        random_costs(&rng, costs);
        const uint32_t bits = 1 + (uint32_t)(nigh__rng_next(&rng) % NIGH__MAX_PREFIX_BITS);
        const uint32_t most = (uint32_t)(nigh__rng_next(&rng) % 8);
        const uint32_t probes = 1 + (uint32_t)(nigh__rng_next(&rng) % NIGH__SHAPE_MAX_PROBES);
        const size_t scratch_bytes = nigh__weak_scratch(bits, most, probes);
        void *scratch = aligned_alloc(16, (scratch_bytes + 15) / 16 * 16);
        assert_non_null(scratch);
        uint32_t listed[NIGH__SHAPE_MAX_PROBES];
        uint32_t shaped[NIGH__SHAPE_MAX_PROBES];
        struct nigh__weak_shape shape;
        const size_t count = nigh__weak_list(costs, bits, most, probes, listed, scratch, scratch_bytes);
        assert_true(nigh__weak_shape_init(&shape, bits, most, probes));
        assert_int_equal(shape.probes, count);
        nigh__weak_shape_list(&shape, costs, shaped);
        assert_memory_equal(listed, shaped, count * sizeof listed[0]);
        free(scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all),
        cmocka_unit_test(test_ways_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
