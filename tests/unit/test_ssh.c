/* SPDX-License-Identifier: Apache-2.0 */
/* Semi-supervised hashing, against the adjusted covariance written down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "learn/eigen.h"
#include "learn/lesson.h"
#include "signature/model.h"
#include "support/learners.h"
#include "support/matrix_support.h"
#include "support/support.h"

#define LAMBDA 0.3

static double *doubles(size_t count) {
    double *made = calloc(count, sizeof *made);
    assert_non_null(made);
    return made;
}

/* What the features are multiplied by, done to the matrix. */
static double *scaled_matrix(const struct nigh__lesson *lesson, const double *matrix, double *factors) {
    double *made = doubles((size_t)lesson->rows * lesson->features);
    for (size_t f = 0; f < lesson->features; f++) {
        const double in_rows = (double)(lesson->column_begins[f + 1] - lesson->column_begins[f]);
        factors[f] = lesson->options->as_paper ? 1 : log(1 + lesson->rows / in_rows);
        for (size_t row = 0; row < lesson->rows; row++)
            made[row * lesson->features + f] = factors[f] * matrix[row * lesson->features + f];
    }
    return made;
}

static struct matrix_lesson *topics(const nigh_context *context, double *matrix, uint32_t rows, uint32_t features) {
    uint32_t *classes = malloc(rows * sizeof *classes);
    assert_non_null(classes);
    for (uint32_t row = 0; row < rows; row++) classes[row] = row % 5 == 4 ? UINT32_MAX : row % 4;
    struct matrix_lesson *made = matrix_lesson_new(context, matrix, rows, features, classes, 4);
    made->options.l1 = LAMBDA;
    free(classes);
    return made;
}

/* M as the paper has it: X'SX / Np + lambda X'X / N with X centred, by plain loops. */
static double *plain_matrix(const struct nigh__lesson *lesson, const double *unscaled) {
    double *factors = doubles(lesson->features), *matrix = scaled_matrix(lesson, unscaled, factors);
    const size_t rows = lesson->rows, features = lesson->features;
    double *centred = doubles(rows * features), *pulled = doubles(rows * features),
           *made = doubles(features * features);
    struct nigh__pairing pairing = {0};
    nigh_error error;
    assert_ok(nigh__pairing_make(lesson, &pairing, &error), &error);
    const double pairs = (double)(pairing.attractions + pairing.repulsions);
    for (size_t f = 0; f < features; f++) {
        double mean = 0;
        for (size_t row = 0; row < rows; row++) mean += matrix[row * features + f] / (double)rows;
        for (size_t row = 0; row < rows; row++) centred[row * features + f] = matrix[row * features + f] - mean;
    }
    for (size_t row = 0; row < rows; row++) {
        for (size_t f = 0; f < features; f++) {
            for (uint64_t at = pairing.begins[row]; at < pairing.begins[row + 1]; at++)
                pulled[row * features + f] += pairing.signs[at] * centred[pairing.others[at] * features + f] / pairs;
            pulled[row * features + f] += LAMBDA * centred[row * features + f] / (double)rows;
        }
    }
    for (size_t f = 0; f < features; f++) {
        for (size_t row = 0; row < rows; row++) {
            for (size_t g = 0; g < features; g++)
                made[f * features + g] += centred[row * features + f] * pulled[row * features + g];
        }
    }
    nigh__pairing_release(lesson->context, &pairing);
    free(factors);
    free(matrix);
    free(centred);
    free(pulled);
    return made;
}

/* What the middle of a direction must be. */
static double plain_middle(const struct nigh__lesson *lesson, const double *matrix, const double *direction) {
    double middle = 0;
    for (size_t row = 0; row < lesson->rows; row++) {
        double sum = 0, weight = 0;
        for (size_t f = 0; f < lesson->features; f++) {
            sum += matrix[row * lesson->features + f] * direction[f];
            weight += matrix[row * lesson->features + f];
        }
        middle += sum / weight / lesson->rows;
    }
    return middle;
}

/* The learned coefficients are a direction, up to its sign, less its middle. */
static void expect_direction(const struct nigh__lesson *lesson, const double *unscaled,
                             const struct nigh__learned *learned, uint32_t bit, const double *direction) {
    double *factors = doubles(lesson->features), *matrix = scaled_matrix(lesson, unscaled, factors);
    const double middle = plain_middle(lesson, matrix, direction);
    double same = 0, turned = 0;
    for (size_t f = 0; f < lesson->features; f++) {
        const double got = learned->coefficients[f * lesson->options->width_bits + bit];
        same = fmax(same, fabs(got - factors[f] * (direction[f] - middle)));
        turned = fmax(turned, fabs(got + factors[f] * (direction[f] - middle)));
    }
    assert_true(fmin(same, turned) < 1e-6);
    free(factors);
    free(matrix);
}

static void check_few_features(const nigh_context *context, int as_paper) {
    enum { ROWS = 90, FEATURES = 30 };
    double *matrix = topic_matrix(ROWS, FEATURES, 4, 1);
    struct matrix_lesson *made = topics(context, matrix, ROWS, FEATURES);
    made->options.as_paper = as_paper;
    double *plain = plain_matrix(&made->lesson, matrix), values[FEATURES];
    double *vectors = doubles((size_t)FEATURES * FEATURES);
    struct nigh__learned learned = {0};
    nigh_error error;
    jacobi(FEATURES, plain, vectors, values);
    assert_ok(nigh__learn_ssh(&made->lesson, &learned, &error), &error);
    assert_int_equal(learned.form, NIGH__MODEL_COEFFICIENTS);
    double sum = 0;
    for (uint32_t bit = 0; bit < 8; bit++) {
        assert_true(values[bit] > 0);
        sum += values[bit];
        expect_direction(&made->lesson, matrix, &learned, bit, vectors + (size_t)bit * FEATURES);
    }
    assert_true(fabs(sum - learned.objective) < 1e-9);
    assert_false(learned.collapsed);
    assert_non_null(strstr(learned.lines, "eigenvectors=8\n"));
    nigh__learned_release(context, &learned);
    matrix_lesson_free(made);
    free(vectors);
    free(plain);
    free(matrix);
}

static void test_few_features_equal_jacobi(void **state) {
    check_few_features(*state, 0);
    check_few_features(*state, 1);
}

static void test_many_features_equal_dense(void **state) {
    enum { ROWS = 300, FEATURES = 420 };
    double *matrix = topic_matrix(ROWS, FEATURES, 4, 2);
    struct matrix_lesson *made = topics(*state, matrix, ROWS, FEATURES);
    double *plain = plain_matrix(&made->lesson, matrix), *values = doubles(FEATURES);
    struct nigh__learned learned = {0};
    nigh_error error;
    assert_ok(nigh__eigen_all(*state, FEATURES, plain, values, &error), &error);
    assert_ok(nigh__learn_ssh(&made->lesson, &learned, &error), &error);
    for (uint32_t bit = 0; bit < 8; bit++)
        expect_direction(&made->lesson, matrix, &learned, bit, plain + (size_t)(FEATURES - 1 - bit) * FEATURES);
    nigh__learned_release(*state, &learned);
    matrix_lesson_free(made);
    free(values);
    free(plain);
    free(matrix);
}

static void check_threads(const nigh_context *context, uint32_t rows, uint32_t features) {
    double *matrix = topic_matrix(rows, features, 4, 3);
    struct matrix_lesson *made = topics(context, matrix, rows, features);
    struct nigh__learned learned[3] = {{0}};
    const uint32_t threads[3] = {1, 2, 7};
    nigh_error error;
    assert_true(made->lesson.begins[rows] > 30000); /* else one thread is all that is used */
    for (int i = 0; i < 3; i++) {
        made->lesson.threads = threads[i];
        assert_ok(nigh__learn_ssh(&made->lesson, &learned[i], &error), &error);
        assert_memory_equal(learned[0].coefficients, learned[i].coefficients, (size_t)features * 8 * sizeof(double));
    }
    for (int i = 0; i < 3; i++) nigh__learned_release(context, &learned[i]);
    matrix_lesson_free(made);
    free(matrix);
}

static void test_threads(void **state) {
    check_threads(*state, 450, 410);
    check_threads(*state, 1500, 150);
}

/* Three kinds of documents span two directions; the other bits are simhash's. */
static void test_more_bits_than_directions(void **state) {
    enum { ROWS = 30, FEATURES = 12 };
    double *kinds = topic_matrix(3, FEATURES, 3, 4), *matrix = doubles((size_t)ROWS * FEATURES);
    for (size_t row = 0; row < ROWS; row++)
        memcpy(matrix + row * FEATURES, kinds + row % 3 * FEATURES, FEATURES * sizeof *matrix);
    uint32_t classes[ROWS];
    for (uint32_t row = 0; row < ROWS; row++) classes[row] = row % 3;
    struct matrix_lesson *made = matrix_lesson_new(*state, matrix, ROWS, FEATURES, classes, 3);
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.width_bits = 16;
    assert_ok(nigh__learn_ssh(&made->lesson, &learned, &error), &error);
    assert_non_null(strstr(learned.lines, "eigenvectors=2\n"));
    for (uint32_t bit = 2; bit < 16; bit++) {
        double direction[FEATURES];
        for (uint32_t f = 0; f < FEATURES; f++) {
            int8_t signs[16];
            nigh__lesson_signs(made->lesson.hashes[f], 16, signs);
            direction[f] = signs[bit];
        }
        expect_direction(&made->lesson, matrix, &learned, bit, direction);
    }
    nigh__learned_release(*state, &learned);
    matrix_lesson_free(made);
    free(kinds);
    free(matrix);
}

static void test_nothing_to_tell_apart(void **state) {
    enum { ROWS = 20, FEATURES = 450 };
    double *matrix = doubles((size_t)ROWS * FEATURES);
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++) matrix[i] = i % FEATURES % 3 == 0 ? 1.7 : 0;
    uint32_t classes[ROWS];
    for (uint32_t row = 0; row < ROWS; row++) classes[row] = row % 2;
    struct matrix_lesson *many = matrix_lesson_new(*state, matrix, ROWS, FEATURES, classes, 2);
    learner_expect_refusal(nigh__learn_ssh, &many->lesson, NIGH_EINVAL);
    matrix_lesson_free(many);
    free(matrix);
}

static void test_refuses(void **state) {
    enum { ROWS = 50, FEATURES = 500 };
    double *matrix = topic_matrix(ROWS, FEATURES, 4, 5);
    struct matrix_lesson *made = topics(*state, matrix, ROWS, FEATURES);
    made->options.l1 = NAN;
    learner_expect_refusal(nigh__learn_ssh, &made->lesson, NIGH_EINVAL);
    made->options.l1 = -1;
    made->options.memory_bytes = 1000;
    learner_expect_refusal(nigh__learn_ssh, &made->lesson, NIGH_ELIMIT);
    const uint32_t pairs = made->options.attraction_pairs;
    made->options.memory_bytes = 64 << 20;
    made->options.attraction_pairs = UINT32_MAX; /* which would take 72 GiB */
    learner_expect_refusal(nigh__learn_ssh, &made->lesson, NIGH_ELIMIT);
    made->options.attraction_pairs = pairs;
    made->options.memory_bytes = 0;
    learner_expect_cancelled(nigh__learn_ssh, &made->lesson);
    made->lesson.rows = 0;
    learner_expect_refusal(nigh__learn_ssh, &made->lesson, NIGH_EINVAL);
    matrix_lesson_free(made);
    free(matrix);
}

static void test_memory_runs_out(void **state) {
    double *matrix = topic_matrix(60, 40, 4, 6);
    struct matrix_lesson *made = topics(*state, matrix, 60, 40);
    learner_expect_faults_borne(nigh__learn_ssh, &made->lesson, 5);
    matrix_lesson_free(made);
    free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_features_equal_jacobi),
        cmocka_unit_test(test_many_features_equal_dense),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_more_bits_than_directions),
        cmocka_unit_test(test_nothing_to_tell_apart),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
