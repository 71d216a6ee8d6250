/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expected recall: what it must be at the ends, how it must grow, that it is the
 * same everywhere, and that a second simulation, written without care for speed and
 * with the C library's functions, gets the same within its error.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "finder/recall.h"
#include "support/support.h"

static void test_ends(void **state) {
    (void)state;
    /* Equal rows are found by the first look-up. */
    assert_true(nigh__recall_expected(64, 0, 20, 1, 1, NIGH_WEAK_GAUSSIAN) == 1);
    assert_int_equal(nigh__recall_probes(64, 0, 20, 1, 1, NIGH_WEAK_GAUSSIAN), 1);
    /* 1 + 8 + 28 + 56 combinations are all there are. */
    assert_true(nigh__recall_expected(64, 3, 8, 93, 1, NIGH_WEAK_GAUSSIAN) == 1);
    assert_true(nigh__recall_expected(64, 3, 8, 93, 1, NIGH_WEAK_LINEAR) == 1);
    assert_true(nigh__recall_expected(64, 3, 20, 0, 1, NIGH_WEAK_GAUSSIAN) == 0);
    /* More than the combinations that are tried at most. */
    assert_int_equal(nigh__recall_probes(64, 40, 32, 1, 1, NIGH_WEAK_GAUSSIAN), 0);
}

static void test_growth(void **state) {
    (void)state;
    for (uint32_t rotations = 1; rotations <= 3; rotations++) {
        double narrower = 1;
        for (uint32_t bits = 12; bits <= 28; bits += 4) {
            struct nigh__recall_curve curve;
            nigh__recall_draw(64, 3, bits, rotations, NIGH_WEAK_GAUSSIAN, &curve);
            for (uint32_t k = 1; k < 200; k++)
                assert_true(nigh__recall_at(&curve, k) <= nigh__recall_at(&curve, k + 1));
            const double recall = nigh__recall_at(&curve, 15);
            assert_true(recall > 0.7 && recall < narrower + 0.005);
            narrower = recall;
            if (rotations > 1) assert_true(recall > nigh__recall_expected(64, 3, bits, 15, 1, NIGH_WEAK_GAUSSIAN));
            /* The fewest: one less is not enough. */
            const uint32_t probes = nigh__recall_reach(&curve, 0.95);
            assert_true(nigh__recall_at(&curve, probes) >= 0.95);
            assert_true(nigh__recall_at(&curve, probes - 1) < 0.95);
            assert_int_equal(probes, nigh__recall_probes(64, 3, bits, 0.95, rotations, NIGH_WEAK_GAUSSIAN));
        }
    }
}

/* Odd ones end, and give a share. */
static void test_any_width(void **state) {
    (void)state;
    static const uint32_t cases[][3] = {{8, 3, 8},     {8, 8, 32},     {24, 24, 24},      {256, 36, 20},
                                        {1024, 3, 20}, {65536, 3, 32}, {65536, 65536, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double recall = nigh__recall_expected(cases[i][0], cases[i][1], cases[i][2], 64, 2, NIGH_WEAK_GAUSSIAN);
        assert_true(recall > 0 && recall <= 1);
    }
}

/* What is chosen by it must be the same on every machine. */
static void test_pinned(void **state) {
    (void)state;
    assert_int_equal(nigh__recall_probes(64, 3, 23, 0.90, 1, NIGH_WEAK_GAUSSIAN), 23);
    assert_int_equal(nigh__recall_probes(64, 3, 23, 0.97, 1, NIGH_WEAK_GAUSSIAN), 72);
    assert_int_equal(nigh__recall_probes(64, 3, 23, 0.98, 2, NIGH_WEAK_GAUSSIAN), 12);
    assert_int_equal(nigh__recall_probes(256, 20, 20, 0.90, 3, NIGH_WEAK_LINEAR), 4);
}

/*
 * No promise that real documents do not keep: queries that found a match, measured by
 * `nigh eval psm` on descriptions of vulnerabilities, short texts, which are the
 * hardest, and with ten million generated rows.  Within the error of the samples.
 */
static void test_kept(void **state) {
    static const struct {
        uint32_t prefix_bits, probes, rotations;
        double found;
    } measured[] = {{16, 16, 1, 0.9536}, {16, 64, 1, 0.9923}, {20, 16, 1, 0.9090}, {20, 64, 1, 0.9790},
                    {24, 64, 1, 0.9539}, {19, 48, 1, 0.978},  {23, 15, 1, 0.903},  {23, 48, 1, 0.956},
                    {23, 8, 2, 0.968},   {23, 15, 2, 0.985},  {19, 8, 2, 0.982}};
    (void)state;
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        const double expected = nigh__recall_expected(64, 3, measured[i].prefix_bits, measured[i].probes,
                                                      measured[i].rotations, NIGH_WEAK_GAUSSIAN);
        assert_true(expected < measured[i].found + 0.005 && expected > measured[i].found - 0.06);
    }
}

/* ------------------------------------------------------- the other simulation */

#define WIDTH 64u
#define PREFIX 18u
#define PROBES 24u

static double uniform(struct nigh__rng *rng) { return ((double)(nigh__rng_next(rng) >> 11) + 0.5) * 0x1p-53; }

static double normal(struct nigh__rng *rng) {
    const double radius = sqrt(-2 * log(uniform(rng)));
    return radius * cos(6.283185307179586 * uniform(rng));
}

/* A query and a near-copy; returns how many bits differ. */
static uint32_t draw(struct nigh__rng *rng, uint8_t weights[WIDTH], bool flipped[WIDTH]) {
    const double correlation = 1 - 0.2 * sqrt(uniform(rng)); /* in proportion to what it is below 1 */
    uint32_t flips = 0;
    for (uint32_t i = 0; i < WIDTH; i++) {
        const double sum = normal(rng);
        const double copy = correlation * sum + sqrt(1 - correlation * correlation) * normal(rng);
        const double weight = 128 * fabs(sum) + 0.5;
        weights[i] = (uint8_t)(weight < 255 ? weight : 255);
        flipped[i] = (sum < 0) != (copy < 0);
        flips += flipped[i];
    }
    return flips;
}

static void test_against_another(void **state) {
    enum { SAMPLES = 4000 };
    uint32_t costs[256];
    uint32_t masks[PROBES];
    struct nigh__rng rng = {.state = 7};
    const size_t scratch_bytes = nigh__weak_scratch(PREFIX, 3, PROBES);
    void *scratch = aligned_alloc(16, (scratch_bytes + 15) / 16 * 16);
    uint32_t found = 0;
    (void)state;
    assert_non_null(scratch);
    nigh__weak_costs(NIGH_WEAK_GAUSSIAN, WIDTH, costs);
    for (uint32_t samples = 0; samples < SAMPLES;) {
        uint8_t weights[WIDTH];
        bool flipped[WIDTH];
        const uint32_t flips = draw(&rng, weights, flipped);
        if (flips == 0 || flips > 3) continue;
        uint32_t bit_costs[PREFIX];
        uint32_t wanted = 0;
        for (uint32_t i = 0; i < PREFIX; i++) {
            bit_costs[i] = costs[weights[i]];
            if (flipped[i]) wanted |= UINT32_C(1) << i;
        }
        const size_t count = nigh__weak_list(bit_costs, PREFIX, 3, PROBES, masks, scratch, scratch_bytes);
        for (size_t i = 0; i < count; i++) found += masks[i] == wanted;
        samples++;
    }
    free(scratch);
    const double expected = nigh__recall_expected(WIDTH, 3, PREFIX, PROBES, 1, NIGH_WEAK_GAUSSIAN);
    assert_true(fabs((double)found / SAMPLES - expected) < 0.015); /* three deviations of both together */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),   cmocka_unit_test(test_growth),          cmocka_unit_test(test_any_width),
        cmocka_unit_test(test_pinned), cmocka_unit_test(test_against_another), cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
