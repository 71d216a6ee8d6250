/* SPDX-License-Identifier: Apache-2.0 */
/* Eigenvectors: LAPACK's against Jacobi's rotations, ARPACK's against LAPACK's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/threads.h"
#include "learn/eigen.h"
#include "support/matrix_support.h"
#include "support/support.h"

/* Symmetric, with values of both signs, of rank `rank`. */
static double *random_symmetric(uint32_t order, uint32_t rank, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    double *half = malloc((size_t)order * rank * sizeof *half), *matrix = calloc((size_t)order * order, sizeof *matrix);
    assert_non_null(half);
    assert_non_null(matrix);
    for (size_t i = 0; i < (size_t)order * rank; i++) half[i] = (double)(nigh__rng_next(&rng) >> 12) * 0x1p-51 - 1;
    for (size_t i = 0; i < order; i++) {
        for (size_t j = 0; j < order; j++) {
            for (size_t k = 0; k < rank; k++)
                matrix[i * order + j] +=
                    (k % 3 == 2 ? -1.0 : 1.0 + (double)k) * half[i * rank + k] * half[j * rank + k];
        }
    }
    free(half);
    return matrix;
}

static void multiply_plain(void *user, const double *in, double *out) {
    const double *matrix = user;
    const size_t order = (size_t)matrix[0];
    for (size_t i = 0; i < order; i++) {
        out[i] = 0;
        for (size_t j = 0; j < order; j++) out[i] += matrix[1 + i * order + j] * in[j];
    }
}

/* For multiply_plain: the order, then the matrix. */
static double *with_order(const double *matrix, uint32_t order) {
    double *made = malloc(((size_t)order * order + 1) * sizeof *made);
    assert_non_null(made);
    made[0] = order;
    memcpy(made + 1, matrix, (size_t)order * order * sizeof *made);
    return made;
}

static void test_all_equal_jacobi(void **state) {
    enum { ORDER = 24 };
    double *matrix = random_symmetric(ORDER, ORDER, 3), *copy = malloc((size_t)ORDER * ORDER * sizeof *copy);
    double vectors[ORDER * ORDER], expected[ORDER], values[ORDER];
    nigh_error error;
    assert_non_null(copy);
    memcpy(copy, matrix, (size_t)ORDER * ORDER * sizeof *copy);
    jacobi(ORDER, copy, vectors, expected);
    assert_ok(nigh__eigen_all(*state, ORDER, matrix, values, &error), &error);
    for (uint32_t i = 0; i < ORDER; i++) {
        const double *vector = matrix + (size_t)(ORDER - 1 - i) * ORDER;
        assert_true(fabs(values[ORDER - 1 - i] - expected[i]) < 1e-9 * fabs(expected[0]));
        assert_true(alignment(vector, vectors + (size_t)i * ORDER, ORDER) > 1 - 1e-9);
        double largest = 0;
        for (uint32_t k = 0; k < ORDER; k++) largest = fabs(vector[k]) > fabs(largest) ? vector[k] : largest;
        assert_true(largest > 0);
    }
    free(matrix);
    free(copy);
}

static void check_few(const nigh_context *context, uint32_t order, uint32_t rank, uint32_t count) {
    double *matrix = random_symmetric(order, rank, order), *product = with_order(matrix, order);
    const uint32_t kept = nigh__eigen_few_kept(order, count);
    double *all_values = malloc(order * sizeof *all_values), *values = malloc(kept * sizeof *values);
    double *vectors = malloc((size_t)kept * order * sizeof *vectors);
    struct nigh__eigen_matrix known = {.order = order, .multiply = multiply_plain, .user = product};
    uint32_t found, iterations;
    nigh_error error;
    if (all_values == NULL || values == NULL || vectors == NULL) abort();
    assert_ok(nigh__eigen_few(context, &known, count, 5, NULL, vectors, values, &found, &iterations, &error), &error);
    assert_ok(nigh__eigen_all(context, order, matrix, all_values, &error), &error);
    assert_int_equal(found, count);
    for (uint32_t i = 0; i < found; i++) {
        assert_true(fabs(values[i] - all_values[order - 1 - i]) < 1e-8 * fabs(all_values[order - 1]));
        const double *expected = matrix + (size_t)(order - 1 - i) * order;
        if (all_values[order - 1 - i] > 1e-6 * all_values[order - 1])
            for (size_t k = 0; k < order; k++) assert_true(fabs(vectors[i * (size_t)order + k] - expected[k]) < 1e-6);
    }
    free(matrix);
    free(product);
    free(all_values);
    free(values);
    free(vectors);
}

static void test_few_equal_all(void **state) { check_few(*state, 150, 150, 8); }

/* Lanczos comes to the end of what the matrix spans, and has to start anew. */
static void test_few_of_low_rank(void **state) { check_few(*state, 150, 12, 8); }

static void test_few_over_the_rank(void **state) { check_few(*state, 150, 5, 8); }

struct seekers {
    const nigh_context *context;
    double *product;
    double vectors[2][36 * 100], values[2][36];
    nigh_status statuses[2];
};

static void seek(void *user, uint32_t thread) {
    struct seekers *seekers = user;
    struct nigh__eigen_matrix known = {.order = 100, .multiply = multiply_plain, .user = seekers->product};
    uint32_t found, iterations;
    nigh_error error;
    for (int i = 0; i < 5; i++)
        seekers->statuses[thread] = nigh__eigen_few(seekers->context, &known, 8, 1, NULL, seekers->vectors[thread],
                                                    seekers->values[thread], &found, &iterations, &error);
}

static void test_two_searches_at_once(void **state) {
    double *matrix = random_symmetric(100, 100, 2);
    struct seekers *seekers = calloc(1, sizeof *seekers);
    assert_non_null(seekers);
    seekers->context = *state;
    seekers->product = with_order(matrix, 100);
    nigh__threads_run(2, seek, seekers);
    assert_int_equal(seekers->statuses[0], NIGH_OK);
    assert_int_equal(seekers->statuses[1], NIGH_OK);
    assert_memory_equal(seekers->vectors[0], seekers->vectors[1], (size_t)8 * 100 * sizeof(double));
    free(seekers->product);
    free(seekers);
    free(matrix);
}

static void test_refuses(void **state) {
    double matrix[4] = {1, 0, 0, NAN}, values[2];
    uint32_t found, iterations;
    nigh_error error;
    assert_int_equal(nigh__eigen_all(*state, 2, matrix, values, &error), NIGH_ECORRUPT);
    assert_int_equal(nigh__eigen_all(*state, 0, matrix, values, &error), NIGH_EINVAL);
    assert_int_equal(nigh__eigen_all(*state, NIGH__EIGEN_MAX_DENSE + 1, matrix, values, &error), NIGH_EINVAL);
    struct nigh__eigen_matrix known = {.order = 2, .multiply = multiply_plain, .user = matrix};
    assert_int_equal(nigh__eigen_few_kept(2, 1), 0);
    assert_int_equal(nigh__eigen_few(*state, &known, 1, 1, NULL, matrix, values, &found, &iterations, &error),
                     NIGH_EINVAL);
}

static void multiply_nothing(void *user, const double *in, double *out) {
    const uint32_t *order = user;
    (void)in;
    for (uint32_t i = 0; i < *order; i++) out[i] = 0;
}

/* A matrix of zeros has eigenvectors, all of value 0; it must come to an end. */
static void test_zeros(void **state) {
    uint32_t order = 60, found, iterations;
    double *vectors = malloc((size_t)30 * 60 * sizeof *vectors), values[30];
    struct nigh__eigen_matrix known = {.order = order, .multiply = multiply_nothing, .user = &order};
    nigh_error error;
    assert_non_null(vectors);
    nigh_status status = nigh__eigen_few(*state, &known, 5, 1, NULL, vectors, values, &found, &iterations, &error);
    assert_true(status == NIGH_OK || status == NIGH_ECORRUPT);
    for (uint32_t i = 0; i < found; i++) assert_true(fabs(values[i]) < 1e-12);
    free(vectors);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    double *matrix = random_symmetric(100, 100, 2), *product = with_order(matrix, 100);
    double *vectors = malloc((size_t)36 * 100 * sizeof *vectors), *again = malloc((size_t)100 * 100 * sizeof *again);
    double values[100];
    struct nigh__eigen_matrix known = {.order = 100, .multiply = multiply_plain, .user = product};
    if (vectors == NULL || again == NULL) abort();
    for (uint64_t fail_at = 0, failed = 1; failed != 0; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const int64_t before = memory.live;
        uint32_t found, iterations;
        nigh_error error;
        memcpy(again, matrix, (size_t)100 * 100 * sizeof *again);
        memory.fail_at = memory.calls + fail_at;
        nigh_status few = nigh__eigen_few(context, &known, 8, 1, NULL, vectors, values, &found, &iterations, &error);
        nigh_status all = nigh__eigen_all(context, 100, again, values, &error);
        failed = few != NIGH_OK || all != NIGH_OK;
        assert_true((few == NIGH_OK || few == NIGH_ENOMEM) && (all == NIGH_OK || all == NIGH_ENOMEM));
        assert_int_equal(memory.live, before);
        assert_true(failed || fail_at == 7); /* five of the few, two of all */
        nigh_context_free(context);
    }
    free(matrix);
    free(product);
    free(vectors);
    free(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_equal_jacobi),
        cmocka_unit_test(test_few_equal_all),
        cmocka_unit_test(test_few_of_low_rank),
        cmocka_unit_test(test_few_over_the_rank),
        cmocka_unit_test(test_two_searches_at_once),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
