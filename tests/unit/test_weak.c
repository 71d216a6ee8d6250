/* SPDX-License-Identifier: Apache-2.0 */
/* Weak bits: the costs of weights, the first combinations, and what they are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/normal.h"
#include "finder/weak.h"

static void test_normal_tail(void **state) {
    (void)state;
    double points[NIGH__TAIL_POINTS];
    nigh__normal_tail(points);
    for (int i = 0; i < NIGH__TAIL_POINTS; i++) {
        const double expected = 0.5 * erfc(i / (double)NIGH__TAIL_STEPS / sqrt(2.0));
        const double tolerance = i < 8 * NIGH__TAIL_STEPS ? 1e-6 : 2e-2;
        assert_true(fabs(points[i] - expected) <= tolerance * expected);
    }
    assert_true(fabs(nigh__normal_tail_at(points, 0.3) - 0.5 * erfc(0.3 / sqrt(2.0))) < 1e-5);
    assert_true(nigh__normal_tail_at(points, 1e9) == points[NIGH__TAIL_POINTS - 1]);
    assert_true(nigh__normal_tail_at(points, 10) == points[NIGH__TAIL_POINTS - 1]);
}

static void test_costs(void **state) {
    (void)state;
    static const uint32_t widths[] = {8, 64, 1024, 65536};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        for (int model = 0; model < 2; model++) {
            uint32_t costs[256];
            nigh__weak_costs((nigh_weak_model)model, widths[i], costs);
            assert_int_equal(costs[0], 0);
            for (int w = 1; w < 256; w++) assert_true(costs[w] > costs[w - 1]);
            assert_true(costs[255] < NIGH__MAX_WEAK_COST);
        }
    }
    uint32_t linear[256];
    nigh__weak_costs(NIGH_WEAK_LINEAR, 64, linear); /* |all W| is 8 deviations, 1,024 units */
    assert_int_equal(linear[128], (uint32_t)(-log(1 - 1.0 / 8) * 1048576 + 0.5));
    uint32_t gaussian[256];
    nigh__weak_costs(NIGH_WEAK_GAUSSIAN, 64, gaussian); /* of a weight of one deviation */
    const double tail = 0.5 * erfc(1 / sqrt(2.0));
    assert_in_range(gaussian[128], (uint32_t)(log((1 - tail) / tail) * 65536) - 2,
                    (uint32_t)(log((1 - tail) / tail) * 65536) + 2);
}

/* The paper's example in small: costs 1, 2, 4 and up to two bits. */
static void test_by_hand(void **state) {
    (void)state;
    static const uint32_t costs[] = {4, 1, 2};
    static const uint32_t expected[] = {0, 2, 4, 6, 1, 3, 5};
    static const uint64_t sums[] = {0, 1, 2, 3, 4, 5, 6};
    _Alignas(16) uint8_t scratch[4096];
    struct nigh__weak_state *weak = nigh__weak_begin(costs, 3, 2, scratch, sizeof scratch);
    uint32_t mask;
    uint64_t cost;
    for (size_t i = 0; i < 7; i++) {
        assert_true(nigh__weak_next(weak, &mask, &cost));
        assert_int_equal(mask, expected[i]);
        assert_int_equal(cost, sums[i]);
    }
    assert_false(nigh__weak_next(weak, &mask, &cost));
    assert_false(nigh__weak_next(weak, &mask, &cost));
}

static void test_extremes(void **state) {
    (void)state;
    uint32_t costs[32];
    uint32_t masks[NIGH__MAX_PROBES];
    for (int i = 0; i < 32; i++) costs[i] = UINT32_MAX; /* sums need more than 32 bits */
    const size_t bytes = nigh__weak_scratch(32, 32, NIGH__MAX_PROBES);
    void *scratch = aligned_alloc(16, (bytes + 15) / 16 * 16);
    assert_non_null(scratch);
    assert_int_equal(nigh__weak_list(costs, 32, 32, NIGH__MAX_PROBES, masks, scratch, bytes), NIGH__MAX_PROBES);
    assert_int_equal(masks[0], 0);
    for (size_t i = 1; i <= 32; i++) assert_int_equal(masks[i], UINT32_C(1) << (i - 1));
    assert_int_equal(masks[33], 3);
    assert_int_equal(nigh__weak_list(costs, 32, 0, 10, masks, scratch, bytes), 1); /* radius 0 */
    assert_int_equal(nigh__weak_list(costs, 1, 3, 10, masks, scratch, bytes), 2);  /* one bit */
    free(scratch);
}

static void test_shape_limits(void **state) {
    (void)state;
    struct nigh__weak_shape shape;
    assert_false(nigh__weak_shape_init(&shape, 20, 3, 0));
    assert_false(nigh__weak_shape_init(&shape, 20, 3, NIGH__SHAPE_MAX_PROBES + 1));
    for (uint32_t bits = 1; bits <= 32; bits++)
        for (uint32_t most = 0; most <= 32; most++)
            assert_true(nigh__weak_shape_init(&shape, bits, most, NIGH__SHAPE_MAX_PROBES));
    assert_true(nigh__weak_shape_init(&shape, 23, 3, 15));
    assert_int_equal(shape.steps, 30); /* weak.c says so */
    assert_true(nigh__weak_shape_init(&shape, 23, 3, 48));
    assert_int_equal(shape.steps, 126);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_tail), cmocka_unit_test(test_costs),        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_extremes),    cmocka_unit_test(test_shape_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
