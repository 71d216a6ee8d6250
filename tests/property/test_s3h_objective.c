/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objective of semi-supervised simhash against the same written down densely, and its gradient
 * against differences of that, for random lessons and points.  Between kinks f is quadratic, so that
 * a central difference is exact however large its step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "learn/s3h.h"
#include "support/lesson_support.h"
#include "support/support.h"

#define STEP 1e-3

static double clip(double value) { return value > 1 ? 1 : value < -1 ? -1 : value; }

/* Z, rows times width. */
static void project(const struct nigh__s3h *problem, const double *weights, double *sums) {
    const struct nigh__lesson *lesson = problem->lesson;
    memset(sums, 0, (size_t)lesson->rows * problem->width * sizeof *sums);
    for (uint32_t i = 0; i < lesson->rows; i++)
        for (uint64_t k = lesson->begins[i]; k < lesson->begins[i + 1]; k++)
            for (uint32_t j = 0; j < problem->width; j++)
                sums[i * problem->width + j] += (double)problem->values[k] * weights[lesson->columns[k]] *
                                                problem->signs[(size_t)lesson->columns[k] * problem->width + j];
}

static double dense(const struct nigh__s3h *problem, const double *weights, double *sums) {
    const struct nigh__lesson *lesson = problem->lesson;
    const struct nigh__pairing *pairing = &problem->pairing;
    const uint32_t width = problem->width;
    double pairs = 0, spread = 0, square = 0;
    project(problem, weights, sums);
    for (uint32_t i = 0; i < lesson->rows; i++) {
        for (uint32_t j = 0; j < width; j++) {
            const double p = clip(sums[i * width + j]);
            spread += p * p;
            for (uint64_t k = pairing->begins[i]; k < pairing->begins[i + 1]; k++)
                pairs += pairing->signs[k] * p * clip(sums[pairing->others[k] * width + j]);
        }
    }
    for (uint32_t f = 0; f < lesson->features; f++) square += weights[f] * weights[f];
    return pairs / 2 / (double)(pairing->attractions + pairing->repulsions) + problem->l1 / 2 / lesson->rows * spread -
           problem->l2 / 2 * square;
}

/* No sum of a row with this feature is so near to 1 that the step passes it. */
static bool is_smooth(const struct nigh__s3h *problem, const double *sums, uint32_t feature) {
    const struct nigh__lesson *lesson = problem->lesson;
    for (uint64_t k = lesson->column_begins[feature]; k < lesson->column_begins[feature + 1]; k++)
        for (uint32_t j = 0; j < problem->width; j++)
            if (fabs(fabs(sums[lesson->column_rows[k] * problem->width + j]) - 1) <
                2 * STEP * lesson->column_values[k] + 1e-5)
                return false;
    return true;
}

static uint32_t check(const struct nigh__s3h *problem, double *weights, const double *gradient, double value) {
    const struct nigh__lesson *lesson = problem->lesson;
    const size_t all = (size_t)lesson->rows * problem->width;
    double *sums = malloc(all * sizeof *sums), *moved = malloc(all * sizeof *moved);
    uint32_t checked = 0;
    const double expected = dense(problem, weights, sums);
    assert_true(fabs(value - expected) <= 1e-5 * fmax(1, fabs(expected)));
    for (uint32_t f = 0; f < lesson->features; f++) {
        if (!is_smooth(problem, sums, f)) continue;
        const double weight = weights[f];
        weights[f] = weight + STEP;
        const double above = dense(problem, weights, moved);
        weights[f] = weight - STEP;
        const double below = dense(problem, weights, moved);
        weights[f] = weight;
        assert_true(fabs((above - below) / (2 * STEP) - gradient[f]) <= 1e-5 * fmax(1, fabs(gradient[f])));
        checked++;
    }
    free(sums);
    free(moved);
    return checked;
}

/* At a point of this size: 0.02 leaves hardly a sum clipped, 1 most of them. */
static uint32_t check_at(struct nigh__s3h *problem, struct nigh__rng *rng, double scale) {
    const uint32_t features = problem->lesson->features;
    double *weights = calloc(features, sizeof *weights), *gradient = malloc(features * sizeof *gradient);
    if (weights == NULL || gradient == NULL) abort();
    for (uint32_t f = 0; f < features; f++)
        weights[f] = scale * ((double)(nigh__rng_next(rng) >> 32) / 2147483648.0 - 0.5);
    const double value = nigh__s3h_evaluate(problem, weights, gradient);
    const uint32_t checked = check(problem, weights, gradient, value);
    free(weights);
    free(gradient);
    return checked;
}

static void test_objective(void **state) {
    static const uint32_t widths[] = {8, 32, 72, 1, 9, 63};
    static const double scales[] = {0.02, 0.3, 1};
    uint32_t checked = 0, possible = 0;
    for (uint32_t round = 0; round < 9; round++) {
        struct nigh__rng rng = {round};
        const struct lesson_recipe recipe = {.seed = round,
                                             .rows = 20 + round * 5,
                                             .features = 30,
                                             .classes = 2 + round % 3,
                                             .length = 3 + round,
                                             .own_percent = 30,
                                             .bare_percent = round % 2 * 30,
                                             .two_percent = round % 4 * 10};
        struct made_lesson *made = lesson_made(*state, &recipe);
        struct nigh__s3h problem;
        nigh_error error;
        made->options.width_bits = widths[round % 6];
        made->options.method = round % 3 == 2 ? NIGH_LEARN_S3H_F : NIGH_LEARN_S3H;
        made->options.as_paper = round / 3 == 1;
        made->options.l2 = 0.02;
        assert_ok(nigh__s3h_new(&made->lesson, &problem, &error), &error);
        for (size_t s = 0; s < 3; s++) checked += check_at(&problem, &rng, scales[s]);
        possible += 3 * recipe.features;
        nigh__s3h_release(&problem);
        lesson_unmade(made);
    }
    assert_true(checked > possible / 2);
}

/* Columns longer than what is summed in single precision at once. */
static void test_long_columns(void **state) {
    const struct lesson_recipe recipe = {
        .seed = 5, .rows = 2500, .features = 4, .classes = 2, .length = 6, .own_percent = 30, .bare_percent = 20};
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct nigh__s3h problem;
    struct nigh__rng rng = {1};
    nigh_error error;
    made->options.width_bits = 8;
    made->options.method = NIGH_LEARN_S3H;
    assert_ok(nigh__s3h_new(&made->lesson, &problem, &error), &error);
    assert_true(made->lesson.column_begins[1] > 1024);
    assert_int_equal(check_at(&problem, &rng, 0.02), recipe.features);
    nigh__s3h_release(&problem);
    lesson_unmade(made);
}

static void test_gather(void **state) {
    (void)state;
    struct nigh__rng rng = {11};
    float matrix[50 * 104], scales[40], sums[104];
    uint32_t which[40];
    for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; i++) matrix[i] = (float)(nigh__rng_next(&rng) % 1000) / 64;
    for (uint32_t width = 1; width <= 104; width++) {
        for (uint32_t count = 0; count <= 40; count += 13) {
            for (uint32_t k = 0; k < count; k++) {
                which[k] = (uint32_t)(nigh__rng_next(&rng) % 50);
                scales[k] = (float)(nigh__rng_next(&rng) % 64) / 8;
            }
            nigh__s3h_gather(which, scales, count, matrix, width, sums);
            for (uint32_t j = 0; j < width; j++) {
                double expected = 0; /* the numbers are such that sums are exact */
                for (uint32_t k = 0; k < count; k++)
                    expected += (double)scales[k] * (double)matrix[(size_t)which[k] * width + j];
                assert_true((double)sums[j] == expected);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objective),
        cmocka_unit_test(test_long_columns),
        cmocka_unit_test(test_gather),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
