/* SPDX-License-Identifier: Apache-2.0 */
/* Kernelised hashing: what omega must be, found the other way round. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "learn/lesson.h"
#include "signature/model.h"
#include "support/learners.h"
#include "support/matrix_support.h"
#include "support/support.h"

static double *doubles(size_t count) {
    double *made = calloc(count, sizeof *made);
    assert_non_null(made);
    return made;
}

static double kernel_of(const double *a, const double *b, uint32_t features, double delta_squared) {
    double aa = 0, bb = 0, distance = 0;
    for (uint32_t f = 0; f < features; f++) {
        aa += a[f] * a[f];
        bb += b[f] * b[f];
    }
    for (uint32_t f = 0; f < features; f++) {
        const double apart = a[f] / sqrt(aa) - b[f] / sqrt(bb);
        distance += apart * apart;
    }
    return exp(-distance / delta_squared);
}

/* The anchors' kernel, and the same centred. */
static void plain_kernels(const double *matrix, uint32_t features, const struct nigh__learned *learned, double *kernel,
                          double *centred) {
    const size_t p = learned->anchors;
    double *means = doubles(p), whole = 0;
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            const double *a = matrix + (size_t)learned->anchor_rows[i] * features;
            const double *b = matrix + (size_t)learned->anchor_rows[j] * features;
            kernel[i * p + j] = kernel_of(a, b, features, learned->delta_squared);
            means[i] += kernel[i * p + j] / (double)p;
        }
        whole += means[i] / (double)p;
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) centred[i * p + j] = kernel[i * p + j] - means[i] - means[j] + whole;
    free(means);
}

/* omega = c K^(-1/2) e_S with K centred, so K^(1/2) omega / c is e_S with its mean taken off: two values, t of one. */
static void expect_sample(const double *vectors, const double *values, const struct nigh__learned *learned,
                          uint32_t bits, uint32_t bit, uint32_t sample) {
    const size_t p = learned->anchors;
    double *back = doubles(p);
    for (size_t vector = 0; vector < p; vector++) {
        double sum = 0;
        for (size_t i = 0; i < p; i++) sum += vectors[vector * p + i] * learned->omega[i * bits + bit];
        sum *= sqrt(fmax(values[vector], 0)) / sqrt((double)(p - 1) / sample);
        for (size_t i = 0; i < p; i++) back[i] += sum * vectors[vector * p + i];
    }
    const double share = (double)sample / (double)p;
    uint32_t drawn = 0;
    for (size_t i = 0; i < p; i++) {
        const bool in = fabs(back[i] - (1 - share)) < 1e-7;
        assert_true(in || fabs(back[i] + share) < 1e-7);
        drawn += in;
    }
    assert_int_equal(drawn, sample);
    free(back);
}

static void check_kernel(const nigh_context *context, double width, uint32_t rows, uint32_t asked,
                         uint32_t asked_sample, uint32_t expected_anchors, uint32_t sample) {
    enum { FEATURES = 60, BITS = 16 };
    double *matrix = topic_matrix(rows, FEATURES, 4, 9);
    struct matrix_lesson *made = matrix_lesson_new(context, matrix, rows, FEATURES, NULL, 0);
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.width_bits = BITS;
    made->options.anchors = asked;
    made->options.anchor_sample = asked_sample;
    made->options.kernel_width = width;
    assert_ok(nigh__learn_klsh(&made->lesson, &learned, &error), &error);
    const uint32_t p = learned.anchors;
    assert_true(learned.delta_squared == width);
    assert_int_equal(learned.form, NIGH__MODEL_ANCHORS);
    assert_int_equal(p, expected_anchors);
    for (uint32_t i = 1; i < p; i++) assert_true(learned.anchor_rows[i - 1] < learned.anchor_rows[i]);
    assert_true(learned.anchor_rows[p - 1] < rows);
    double *kernel = doubles((size_t)p * p), *centred = doubles((size_t)p * p), *turned = doubles((size_t)p * p);
    double *vectors = doubles((size_t)p * p), *values = doubles(p);
    plain_kernels(matrix, FEATURES, &learned, kernel, centred);
    memcpy(turned, centred, (size_t)p * p * sizeof *turned);
    jacobi(p, turned, vectors, values);
    for (uint32_t bit = 0; bit < BITS; bit++) {
        expect_sample(vectors, values, &learned, BITS, bit, sample);
        for (uint32_t i = 0; i < p; i++) { /* the offset does what centring a document's kernel row does */
            double plain = 0, folded = learned.offsets[bit];
            for (uint32_t k = 0; k < p; k++) {
                plain += learned.omega[(size_t)k * BITS + bit] * centred[(size_t)i * p + k];
                folded += learned.omega[(size_t)k * BITS + bit] * kernel[(size_t)i * p + k];
            }
            assert_true(fabs(plain - folded) < 1e-9);
        }
    }
    nigh__learned_release(context, &learned);
    matrix_lesson_free(made);
    free(kernel);
    free(centred);
    free(turned);
    free(vectors);
    free(values);
    free(matrix);
}

static void check_omega(const nigh_context *context, uint32_t rows, uint32_t asked, uint32_t asked_sample,
                        uint32_t expected_anchors, uint32_t sample) {
    check_kernel(context, 0.5, rows, asked, asked_sample, expected_anchors, sample);
}

static void test_omega(void **state) { check_omega(*state, 70, 40, 10, 40, 10); }

static void test_kernel_width(void **state) {
    check_kernel(*state, 0.1, 70, 40, 10, 40, 10);
    check_kernel(*state, 3, 70, 40, 10, 40, 10);
}

static void test_more_anchors_than_rows(void **state) { check_omega(*state, 30, 500, 12, 30, 12); }

static void test_sample_of_all_is_half(void **state) {
    check_omega(*state, 30, 20, 20, 20, 10);
    check_omega(*state, 30, 500, 50, 30, 15);
    check_omega(*state, 2, 0, 0, 2, 1);
}

/* Bit for bit, of doubles too. */
static bool same_bytes(const void *a, const void *b, size_t length) { return memcmp(a, b, length) == 0; }

static void test_threads_and_seeds(void **state) {
    double *matrix = topic_matrix(300, 80, 4, 3);
    struct matrix_lesson *made = matrix_lesson_new(*state, matrix, 300, 80, NULL, 0);
    struct nigh__learned learned[4] = {{0}};
    nigh_error error;
    made->options.anchors = 150;
    made->options.anchor_sample = 20;
    for (uint32_t i = 0; i < 4; i++) {
        made->lesson.threads = i == 0 ? 1 : i * 2;
        made->options.seed = i == 3 ? 8 : 7;
        assert_ok(nigh__learn_klsh(&made->lesson, &learned[i], &error), &error);
        const bool same = same_bytes(learned[0].omega, learned[i].omega, (size_t)150 * 8 * sizeof(double)) &&
                          same_bytes(learned[0].offsets, learned[i].offsets, 8 * sizeof(double)) &&
                          same_bytes(learned[0].anchor_rows, learned[i].anchor_rows, 150 * sizeof(uint32_t));
        assert_int_equal(same, i != 3);
    }
    for (uint32_t i = 0; i < 4; i++) nigh__learned_release(*state, &learned[i]);
    matrix_lesson_free(made);
    free(matrix);
}

/* Twins make the kernel singular; what they do not differ in is left out. */
static void test_twins(void **state) {
    double *once = topic_matrix(10, 40, 4, 5), *matrix = doubles((size_t)20 * 40);
    for (size_t row = 0; row < 20; row++) memcpy(matrix + row * 40, once + row / 2 * 40, 40 * sizeof *matrix);
    struct matrix_lesson *made = matrix_lesson_new(*state, matrix, 20, 40, NULL, 0);
    struct nigh__learned learned = {0};
    nigh_error error;
    assert_ok(nigh__learn_klsh(&made->lesson, &learned, &error), &error);
    assert_non_null(strstr(learned.lines, "eigenvectors=9\n"));
    for (size_t i = 0; i < (size_t)20 * 8; i++) assert_true(fabs(learned.omega[i]) < 100);
    for (size_t bit = 0; bit < 8; bit++) /* twins count alike */
        for (size_t i = 0; i < 20; i += 2)
            assert_true(fabs(learned.omega[i * 8 + bit] - learned.omega[(i + 1) * 8 + bit]) < 1e-6);
    nigh__learned_release(*state, &learned);
    matrix_lesson_free(made);
    free(once);
    free(matrix);
}

static void test_refuses(void **state) {
    double *matrix = topic_matrix(30, 20, 4, 3), same[60];
    for (size_t i = 0; i < 60; i++) same[i] = 1.3;
    struct matrix_lesson *made = matrix_lesson_new(*state, matrix, 30, 20, NULL, 0);
    struct matrix_lesson *one = matrix_lesson_new(*state, matrix, 1, 20, NULL, 0);
    struct matrix_lesson *alike = matrix_lesson_new(*state, same, 6, 10, NULL, 0);
    learner_expect_refusal(nigh__learn_klsh, &one->lesson, NIGH_EINVAL);
    learner_expect_refusal(nigh__learn_klsh, &alike->lesson, NIGH_EINVAL);
    made->options.anchors = 1;
    learner_expect_refusal(nigh__learn_klsh, &made->lesson, NIGH_EINVAL);
    made->options.anchors = 60000;
    learner_expect_refusal(nigh__learn_klsh, &made->lesson, NIGH_EINVAL);
    made->options.anchors = 20;
    made->options.memory_bytes = 100;
    learner_expect_refusal(nigh__learn_klsh, &made->lesson, NIGH_ELIMIT);
    made->options.memory_bytes = 0;
    learner_expect_cancelled(nigh__learn_klsh, &made->lesson);
    matrix_lesson_free(made);
    matrix_lesson_free(one);
    matrix_lesson_free(alike);
    free(matrix);
}

static void test_memory_runs_out(void **state) {
    double *matrix = topic_matrix(40, 30, 4, 6);
    struct matrix_lesson *made = matrix_lesson_new(*state, matrix, 40, 30, NULL, 0);
    learner_expect_faults_borne(nigh__learn_klsh, &made->lesson, 5);
    matrix_lesson_free(made);
    free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_omega),
        cmocka_unit_test(test_kernel_width),
        cmocka_unit_test(test_more_anchors_than_rows),
        cmocka_unit_test(test_sample_of_all_is_half),
        cmocka_unit_test(test_threads_and_seeds),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
