/* SPDX-License-Identifier: Apache-2.0 */
/* Semi-supervised simhash: contribution by hand, what training reaches, and every way in which it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "learn/learn_options.h"
#include "learn/s3h.h"
#include "signature/model.h"
#include "support/learners.h"
#include "support/lesson_support.h"
#include "support/support.h"

static const struct lesson_recipe small = {
    .seed = 7, .rows = 240, .features = 200, .classes = 4, .length = 12, .own_percent = 30, .bare_percent = 10};

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fmax(1, fabs(b)); }

/* ----------------------------------------------------------- contribution */

/*
 * Rows:  0: {f0: 1, f1: 2} of class 0    1: {f0: 3} of class 1    2: {f1: 1, f2: 1} of both
 *        3: {f0: 1, f2: 2, f3: 5} not labelled
 * nu:    f0: 1/4, 3/4    f1: 3/4, 1/4 (of 2 + 1 + 1)    f2: 1/2, 1/2    f3: none
 */
static const uint64_t hand_begins[] = {0, 2, 3, 5, 8};
static const uint32_t hand_columns[] = {0, 1, 0, 1, 2, 0, 2, 3};
static const double hand_values[] = {1, 2, 3, 1, 1, 1, 2, 5};
static const uint64_t hand_column_begins[] = {0, 3, 5, 7, 8};
static const uint32_t hand_column_rows[] = {0, 1, 3, 0, 2, 2, 3, 3};
static const double hand_column_values[] = {1, 3, 1, 2, 1, 1, 2, 5};
/* Occurrences, by columns.  nu of them:  f0: 1/2, 1/2    f1: 5/6, 1/6    f2: 1/2, 1/2    f3: none */
static const uint32_t hand_column_counts[] = {2, 2, 9, 4, 1, 3, 7, 5};
static const uint64_t hand_class_begins[] = {0, 1, 2, 4, 4};
static const uint32_t hand_classes[] = {0, 1, 0, 1};

static void contribute_by(nigh_context *context, const nigh_learn_options *options, float *values, float *column_values,
                          double *shares, double *mean_square) {
    const struct nigh__lesson lesson = {.context = context,
                                        .options = options,
                                        .rows = 4,
                                        .features = 4,
                                        .classes = 2,
                                        .begins = hand_begins,
                                        .columns = hand_columns,
                                        .values = hand_values,
                                        .column_begins = hand_column_begins,
                                        .column_rows = hand_column_rows,
                                        .column_values = hand_column_values,
                                        .column_counts = hand_column_counts,
                                        .class_begins = hand_class_begins,
                                        .row_classes = hand_classes};
    struct nigh__s3h problem = {.lesson = &lesson, .values = values, .column_values = column_values, .shares = shares};
    nigh_error error;
    assert_ok(nigh__s3h_contribute(&problem, &error), &error);
    *mean_square = problem.mean_square;
}

static void contribute(nigh_context *context, nigh_learn_method method, int as_paper, float *values,
                       float *column_values, double *shares, double *mean_square) {
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.method = method;
    options.as_paper = as_paper;
    contribute_by(context, &options, values, column_values, shares, mean_square);
}

static void test_contribution(void **state) {
    float values[8], column_values[8];
    double shares[4], square;
    contribute(*state, NIGH_LEARN_S3H, 0, values, column_values, shares, &square);
    static const double expected_shares[] = {0.625, 0.625, 0.5, 0};
    static const double expected[] = {0.25, 1.5, 2.25, 0.5, 0.5, 0.625, 1, 0};
    static const double by_columns[] = {0.25, 2.25, 0.625, 1.5, 0.5, 0.5, 1, 0};
    double sum = 0;
    for (int f = 0; f < 4; f++) assert_true(near(shares[f], expected_shares[f]));
    for (int i = 0; i < 8; i++) {
        assert_true(near((double)values[i], expected[i]));
        assert_true(near((double)column_values[i], by_columns[i]));
        sum += expected[i] * expected[i];
    }
    assert_true(near(square, sum / 4));

    contribute(*state, NIGH_LEARN_S3H, 1, values, column_values, shares, &square);
    static const double as_paper[] = {0.25, 1.5, 2.25, 0.5, 0.5, 1, 2, 5};
    for (int i = 0; i < 8; i++) assert_true(near((double)values[i], as_paper[i]));
    assert_true(near((double)column_values[7], 5));

    contribute(*state, NIGH_LEARN_S3H_F, 0, values, column_values, shares, &square);
    for (int i = 0; i < 8; i++) assert_true(near((double)values[i], hand_values[i]));
    for (int i = 0; i < 8; i++) assert_true(near((double)column_values[i], hand_column_values[i]));
    for (int f = 0; f < 4; f++) assert_true(near(shares[f], 1));
}

/* As published, switch by switch. */
static void test_counts(void **state) {
    static const struct {
        nigh_learn_method method;
        int as_paper, count_contribution, count_values;
        double expected[8], shares[4];
    } cases[] = {
        {NIGH_LEARN_S3H, 0, 1, 0, {.5, 5 / 3.0, 1.5, .5, .5, .5, 1, 0}, {.5, 26 / 36.0, .5, 0}},
        {NIGH_LEARN_S3H, 0, 0, 1, {.5, 3, 1.5, .5, 1.5, 9 * .625, 3.5, 0}, {.625, .625, .5, 0}},
        {NIGH_LEARN_S3H, 1, 1, 1, {1, 10 / 3.0, 1, .5, 1.5, 9, 7, 5}, {.5, 26 / 36.0, .5, 0}},
        {NIGH_LEARN_S3H_F, 1, 1, 1, {2, 4, 2, 1, 3, 9, 7, 5}, {1, 1, 1, 1}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        float values[8], column_values[8];
        double shares[4], square;
        nigh_learn_options options;
        nigh__options_defaults(&nigh__learn_options_shape, &options);
        options.method = cases[c].method;
        options.as_paper = cases[c].as_paper;
        options.count_contribution = cases[c].count_contribution;
        options.count_values = cases[c].count_values;
        contribute_by(*state, &options, values, column_values, shares, &square);
        for (int i = 0; i < 8; i++) assert_true(near((double)values[i], cases[c].expected[i]));
        for (int f = 0; f < 4; f++) assert_true(near(shares[f], cases[c].shares[f]));
        assert_true(near((double)column_values[3], cases[c].expected[1]));
    }
}

/* l2 of the paper is in the scale of its objective, ours in that of the documents. */
static void test_lambda(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct nigh__s3h problem;
    nigh_error error;
    static const struct {
        int paper_lambda;
        double asked, expected;
        bool scaled;
    } cases[] = {{0, -1, 0.05, true}, {1, -1, 0.5, false}, {0, 0.3, 0.3, true}, {1, 0.3, 0.3, false}};
    made->options.method = NIGH_LEARN_S3H;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        made->options.paper_lambda = cases[c].paper_lambda;
        made->options.l2 = cases[c].asked;
        assert_ok(nigh__s3h_new(&made->lesson, &problem, &error), &error);
        assert_true(problem.l1 == 4);
        assert_true(near(problem.l2, cases[c].expected * (cases[c].scaled ? problem.mean_square : 1)));
        assert_false(near(problem.mean_square, 1));
        nigh__s3h_release(&problem);
    }
    lesson_unmade(made);
}

/* --------------------------------------------------------------- training */

static void test_training_helps(void **state) {
    static const nigh_learn_method methods[] = {NIGH_LEARN_S3H, NIGH_LEARN_S3H_F};
    for (size_t m = 0; m < 2; m++) {
        for (int as_paper = 0; as_paper < 2; as_paper++) {
            struct made_lesson *made = lesson_made(*state, &small);
            struct learner_watch watch = {.last = -DBL_MAX};
            struct nigh__learned learned = {0}, plain = {0};
            nigh_error error;
            made->options.method = methods[m];
            made->options.as_paper = as_paper;
            made->options.iteration = learner_watch_iteration;
            made->options.user = &watch;
            assert_ok(nigh__learn_s3h(&made->lesson, &learned, &error), &error);
            assert_int_equal(learned.form, NIGH__MODEL_WEIGHTS);
            assert_true(learned.objective > learned.objective_start);
            assert_true(learned.objective >= watch.last);
            assert_int_equal(learned.iterations, watch.calls);
            assert_in_range(learned.iterations, 2, 60);
            assert_false(learned.collapsed || learned.stopped);
            assert_non_null(strstr(learned.lines, "l1-millionths=4000000\n"));
            made->options.method = NIGH_LEARN_SIMHASH;
            assert_ok(nigh__learn_flat(&made->lesson, &plain, &error), &error);
            const double before = lesson_margin(made, plain.weights), after = lesson_margin(made, learned.weights);
            assert_true(after > before * (methods[m] == NIGH_LEARN_S3H ? 1.3 : 1.0));
            nigh__learned_release(*state, &learned);
            nigh__learned_release(*state, &plain);
            lesson_unmade(made);
        }
    }
}

/* By default weights are stored times s_f, which needs no label of the query; the search is the same for both. */
static void test_stored_weights(void **state) {
    struct lesson_recipe recipe = small;
    recipe.bare_percent = 0;
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct nigh__learned ours = {0}, paper = {0};
    struct nigh__s3h problem;
    nigh_error error;
    made->options.method = NIGH_LEARN_S3H;
    made->options.iterations = 5;
    assert_ok(nigh__learn_s3h(&made->lesson, &ours, &error), &error);
    made->options.as_paper = 1;
    assert_ok(nigh__learn_s3h(&made->lesson, &paper, &error), &error);
    assert_ok(nigh__s3h_new(&made->lesson, &problem, &error), &error);
    assert_true(ours.objective == paper.objective);
    double largest = 0;
    for (uint32_t f = 0; f < recipe.features; f++) {
        assert_true(near(ours.weights[f], paper.weights[f] * problem.shares[f]));
        largest = fmax(largest, fabs(paper.weights[f]));
    }
    assert_true(ours.largest_weight == largest && paper.largest_weight == largest);
    nigh__s3h_release(&problem);
    nigh__learned_release(*state, &ours);
    nigh__learned_release(*state, &paper);
    lesson_unmade(made);
}

static void test_threads(void **state) {
    const struct lesson_recipe recipe = {
        .seed = 3, .rows = 2100, .features = 500, .classes = 5, .length = 60, .own_percent = 20, .bare_percent = 20};
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct nigh__learned learned[3];
    nigh_error error;
    made->options.method = NIGH_LEARN_S3H;
    made->options.iterations = 4;
    for (uint32_t t = 0; t < 3; t++) {
        learned[t] = (struct nigh__learned){0};
        made->lesson.threads = t + 1;
        assert_ok(nigh__learn_s3h(&made->lesson, &learned[t], &error), &error);
        assert_true(learned[t].objective == learned[0].objective);
        assert_memory_equal(learned[t].weights, learned[0].weights, recipe.features * sizeof(double));
    }
    for (uint32_t t = 0; t < 3; t++) nigh__learned_release(*state, &learned[t]);
    lesson_unmade(made);
}

/* ----------------------------------------------------------------- endings */

static void test_stopped(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct learner_watch watch = {.stop_after = 3, .last = -DBL_MAX};
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.method = NIGH_LEARN_S3H;
    made->options.iteration = learner_watch_iteration;
    made->options.user = &watch;
    assert_ok(nigh__learn_s3h(&made->lesson, &learned, &error), &error);
    assert_true(learned.stopped);
    assert_int_equal(learned.iterations, 3);
    assert_true(learned.objective >= watch.last && learned.objective > learned.objective_start);
    for (uint32_t f = 0; f < small.features; f++) assert_true(isfinite(learned.weights[f]));
    nigh__learned_release(*state, &learned);
    lesson_unmade(made);
}

static void test_diverged(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.method = NIGH_LEARN_S3H;
    made->options.l1 = DBL_MAX;
    assert_int_equal(nigh__learn_s3h(&made->lesson, &learned, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error.why, "diverged"));
    assert_null(learned.weights);
    lesson_unmade(made);
}

static void test_collapsed(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.method = NIGH_LEARN_S3H;
    made->options.l2 = 1e4;
    assert_ok(nigh__learn_s3h(&made->lesson, &learned, &error), &error);
    assert_true(learned.collapsed);
    assert_true(learned.largest_weight < 1e-3);
    nigh__learned_release(*state, &learned);
    lesson_unmade(made);
}

static void test_refuses(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    made->options.method = NIGH_LEARN_S3H;
    learner_expect_cancelled(nigh__learn_s3h, &made->lesson);
    made->options.memory_bytes = 100000;
    learner_expect_refusal(nigh__learn_s3h, &made->lesson, NIGH_ELIMIT);
    lesson_unmade(made);
}

static void test_no_memory(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    made->options.iterations = 2;
    made->options.method = NIGH_LEARN_S3H;
    learner_expect_faults_borne(nigh__learn_s3h, &made->lesson, 10);
    made->options.method = NIGH_LEARN_CHI;
    learner_expect_faults_borne(nigh__learn_flat, &made->lesson, 1);
    lesson_unmade(made);
}

/* -------------------------------------------------------------------- flat */

static void test_flat(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct nigh__learned ones = {0}, chi = {0};
    nigh_error error;
    made->options.method = NIGH_LEARN_SIMHASH;
    assert_ok(nigh__learn_flat(&made->lesson, &ones, &error), &error);
    made->options.method = NIGH_LEARN_CHI;
    assert_ok(nigh__learn_flat(&made->lesson, &chi, &error), &error);
    double largest = 0;
    for (uint32_t f = 0; f < small.features; f++) {
        assert_true(ones.weights[f] == 1);
        assert_true(chi.weights[f] == made->lesson.chi[f]);
        largest = fmax(largest, chi.weights[f]);
    }
    assert_true(ones.largest_weight == 1 && chi.largest_weight == largest);
    assert_int_equal(chi.form, NIGH__MODEL_WEIGHTS);
    nigh__learned_release(*state, &ones);
    nigh__learned_release(*state, &chi);
    lesson_unmade(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contribution),   cmocka_unit_test(test_training_helps),
        cmocka_unit_test(test_stored_weights), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stopped),        cmocka_unit_test(test_diverged),
        cmocka_unit_test(test_collapsed),      cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_flat),
        cmocka_unit_test(test_counts),         cmocka_unit_test(test_lambda),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
