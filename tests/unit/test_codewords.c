/* SPDX-License-Identifier: Apache-2.0 */
/* Codewords: kinds by hand, how far words are apart, that fitting finds the bottom, and every way in which it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "base/rng.h"
#include "learn/codewords.h"
#include "learn/learn_options.h"
#include "signature/model.h"
#include "support/learners.h"
#include "support/lesson_support.h"
#include "support/support.h"

static const struct lesson_recipe small = {.seed = 7,
                                           .rows = 240,
                                           .features = 200,
                                           .classes = 4,
                                           .length = 12,
                                           .own_percent = 30,
                                           .bare_percent = 10,
                                           .two_percent = 10};

/* ------------------------------------------------------------------- kinds */

/* Rows of {0}, {0, 1}, nothing, {1}, {0}, {0, 1}, {2} */
static const uint64_t hand_class_begins[] = {0, 1, 3, 3, 4, 5, 7, 8};
static const uint32_t hand_classes[] = {0, 0, 1, 1, 0, 0, 1, 2};

static void test_kinds(void **state) {
    const struct nigh__lesson lesson = {.context = *state,
                                        .rows = 7,
                                        .labelled = 6,
                                        .classes = 3,
                                        .class_begins = hand_class_begins,
                                        .row_classes = hand_classes};
    static const uint32_t of_rows[] = {0, 1, NIGH__NO_KIND, 2, 0, 1, 3};
    static const uint32_t sizes[] = {2, 2, 1, 1}, first_rows[] = {0, 1, 3, 6};
    struct nigh__kinds kinds;
    nigh_error error;
    assert_ok(nigh__kinds_find(&lesson, &kinds, &error), &error);
    assert_int_equal(kinds.count, 4);
    assert_memory_equal(kinds.of_rows, of_rows, sizeof of_rows);
    assert_memory_equal(kinds.sizes, sizes, sizeof sizes);
    assert_memory_equal(kinds.first_rows, first_rows, sizeof first_rows);
    nigh__kinds_release(*state, &kinds);
}

/* ------------------------------------------------------------------- words */

/* Kind k has the classes of row k; all sizes are 1 but as given. */
struct words {
    nigh_learn_options options;
    struct nigh__lesson lesson;
    struct nigh__kinds kinds;
    int8_t *codewords;
};

static void words_choose(struct words *words, nigh_context *context, uint32_t width, uint32_t classes, uint32_t kinds,
                         const uint64_t *class_begins, const uint32_t *row_classes) {
    nigh_error error;
    nigh__options_defaults(&nigh__learn_options_shape, &words->options);
    words->options.width_bits = width;
    words->lesson = (struct nigh__lesson){.context = context,
                                          .options = &words->options,
                                          .rows = kinds,
                                          .labelled = kinds,
                                          .classes = classes,
                                          .class_begins = class_begins,
                                          .row_classes = row_classes};
    assert_ok(nigh__kinds_find(&words->lesson, &words->kinds, &error), &error);
    assert_int_equal(words->kinds.count, kinds);
    assert_ok(nigh__codewords_choose(&words->lesson, &words->kinds, &words->codewords, &error), &error);
    for (size_t i = 0; i < (size_t)kinds * width; i++) assert_int_equal(abs(words->codewords[i]), 1);
}

static void words_release(struct words *words) {
    nigh__free(words->lesson.context, words->codewords);
    nigh__kinds_release(words->lesson.context, &words->kinds);
}

/* How many bits two words differ in. */
static int apart(const struct words *words, uint32_t a, uint32_t b) {
    const uint32_t width = words->options.width_bits;
    int count = 0;
    for (uint32_t i = 0; i < width; i++) count += words->codewords[a * width + i] != words->codewords[b * width + i];
    return count;
}

static void test_words_apart(void **state) {
    static const uint64_t begins[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    static const uint32_t classes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    static const struct {
        uint32_t kinds, width;
        int least, most;
    } cases[] = {{2, 8, 8, 8},    {2, 512, 512, 512}, {3, 8, 4, 7},        {4, 32, 18, 24},
                 {8, 32, 15, 22}, {20, 32, 13, 22},   {20, 1024, 480, 590}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct words words;
        words_choose(&words, *state, cases[c].width, cases[c].kinds, cases[c].kinds, begins, classes);
        for (uint32_t a = 0; a < cases[c].kinds; a++)
            for (uint32_t b = 0; b < a; b++) assert_in_range(apart(&words, a, b), cases[c].least, cases[c].most);
        words_release(&words);
    }
}

/* {0}, {1}, {0, 1}, {2}: the third is between the first two, and far from the last. */
static void test_words_shared(void **state) {
    static const uint64_t begins[] = {0, 1, 2, 4, 5};
    static const uint32_t classes[] = {0, 1, 0, 1, 2};
    struct words words;
    words_choose(&words, *state, 64, 3, 4, begins, classes);
    assert_true(apart(&words, 0, 2) < apart(&words, 0, 1));
    assert_true(apart(&words, 1, 2) < apart(&words, 0, 1));
    assert_true(apart(&words, 3, 2) > 32 && apart(&words, 3, 0) >= 32 && apart(&words, 3, 1) >= 32);
    words_release(&words);
}

/* More kinds than can be chosen with care: { 2 p }, then { 2 p, 2 p + 1 }, then lone ones. */
static void test_words_many(void **state) {
    enum { PAIRS = 3000, LONE = 9000, KINDS = 2 * PAIRS + LONE };
    uint64_t *begins = malloc((KINDS + 1) * sizeof *begins);
    uint32_t *classes = malloc((KINDS + PAIRS) * sizeof *classes);
    struct words words;
    begins[0] = 0;
    for (uint32_t k = 0; k < KINDS; k++) {
        const uint32_t first = k < 2 * PAIRS ? k % PAIRS * 2 : k;
        uint64_t end = begins[k];
        classes[end++] = first;
        if (k >= PAIRS && k < 2 * PAIRS) classes[end++] = first + 1;
        begins[k + 1] = end;
    }
    words_choose(&words, *state, 64, KINDS, KINDS, begins, classes);
    double near[2] = {0}, far = 0;
    for (uint32_t p = 0; p < PAIRS; p++) {
        near[p >= PAIRS / 4] += apart(&words, p, PAIRS + p); /* the first of these are chosen with care */
        far += apart(&words, p, PAIRS + (p + 1) % PAIRS);
    }
    assert_true(near[0] < 20.0 * PAIRS / 4 && near[1] < 20.0 * 3 * PAIRS / 4);
    assert_true(near[0] > 12.0 * PAIRS / 4 && near[1] > 12.0 * 3 * PAIRS / 4);
    assert_true(far / PAIRS > 31 && far / PAIRS < 33);
    far = 0;
    for (uint32_t k = 2 * PAIRS; k + 1 < KINDS; k++) {
        assert_true(apart(&words, k, k + 1) > 8);
        far += apart(&words, k, k + 1);
    }
    assert_true(fabs(far / LONE - 32) < 0.5);
    words_release(&words);
    free(begins);
    free(classes);
}

/* ----------------------------------------------------------------- fitting */

/* Bit b of a row. */
static bool bit_of(const struct nigh__lesson *lesson, const double *coefficients, uint32_t row, uint32_t b) {
    double sum = 0;
    for (uint64_t k = lesson->begins[row]; k < lesson->begins[row + 1]; k++)
        sum += lesson->values[k] * coefficients[(size_t)lesson->columns[k] * lesson->options->width_bits + b];
    return sum > 0;
}

static uint32_t rows_apart(const struct nigh__lesson *lesson, const double *coefficients, uint32_t a, uint32_t b) {
    uint32_t count = 0;
    for (uint32_t bit = 0; bit < lesson->options->width_bits; bit++)
        count += bit_of(lesson, coefficients, a, bit) != bit_of(lesson, coefficients, b, bit);
    return count;
}

static void test_training_helps(void **state) {
    struct lesson_recipe recipe = small;
    recipe.bare_percent = 0;
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct learner_watch watch = {.last = -DBL_MAX};
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.iteration = learner_watch_iteration;
    made->options.user = &watch;
    assert_ok(nigh__learn_codewords(&made->lesson, &learned, &error), &error);
    assert_int_equal(learned.form, NIGH__MODEL_COEFFICIENTS);
    assert_true(fabs(learned.objective_start + 0.5) < 1e-5);
    assert_true(learned.objective > -0.1 && learned.objective == watch.last);
    assert_int_equal(learned.iterations, watch.calls);
    assert_false(learned.collapsed || learned.stopped);
    assert_non_null(strstr(learned.lines, "l2-billionths=50000\n"));
    double same = 0, other = 0;
    for (uint32_t a = 0; a < 60; a++) {
        for (uint32_t b = 0; b < a; b++) {
            const double distance = rows_apart(&made->lesson, learned.coefficients, a, b);
            *(made->true_classes[a] == made->true_classes[b] ? &same : &other) += distance;
        }
    }
    const double same_pairs = 4 * 15 * 14 / 2.0, pairs = 60 * 59 / 2.0;
    assert_true(same / same_pairs < 4 && other / (pairs - same_pairs) > 14);
    nigh__learned_release(*state, &learned);
    lesson_unmade(made);
}

/* Distances of rows without a label, of two classes less of one, in bits. */
static double bare_margin(const struct made_lesson *made, const double *coefficients) {
    const struct nigh__lesson *lesson = &made->lesson;
    double sums[2] = {0}, counts[2] = {0};
    for (uint32_t a = 0; a < 200; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (lesson->class_begins[a] < lesson->class_begins[a + 1]) continue;
            if (lesson->class_begins[b] < lesson->class_begins[b + 1]) continue;
            const int differ = made->true_classes[a] != made->true_classes[b];
            sums[differ] += rows_apart(lesson, coefficients, a, b);
            counts[differ]++;
        }
    }
    return sums[1] / counts[1] - sums[0] / counts[0];
}

/* Rows without a label help where they can be guessed; not where a caller stops before. */
static void test_guesses(void **state) {
    const struct lesson_recipe recipe = {
        .seed = 9, .rows = 1000, .features = 600, .classes = 4, .length = 20, .own_percent = 35, .bare_percent = 95};
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct learner_watch watch = {.last = -DBL_MAX};
    struct nigh__learned with = {0}, without = {0};
    nigh_error error;
    assert_ok(nigh__learn_codewords(&made->lesson, &with, &error), &error);
    assert_null(strstr(with.lines, "guessed=0\n"));
    made->options.iteration = learner_watch_iteration;
    made->options.user = &watch;
    watch.stop_after = 8;
    assert_ok(nigh__learn_codewords(&made->lesson, &without, &error), &error);
    assert_true(without.stopped);
    assert_non_null(strstr(without.lines, "guessed=0\n"));
    assert_true(with.iterations > without.iterations);
    assert_true(bare_margin(made, with.coefficients) > 1.2 * bare_margin(made, without.coefficients));
    nigh__learned_release(*state, &with);
    nigh__learned_release(*state, &without);
    lesson_unmade(made);
}

/* The function that is to be made least, written down again: of coefficients with idf. */
static double loss_of(const struct nigh__lesson *lesson, const struct nigh__kinds *kinds, const int8_t *codewords,
                      const double *idf, double ridge, const double *coefficients) {
    const uint32_t width = lesson->options->width_bits;
    double all = 0, sum = 0;
    for (uint32_t k = 0; k < kinds->count; k++) all += sqrt(kinds->sizes[k]);
    for (uint32_t row = 0; row < lesson->rows; row++) {
        const uint32_t kind = kinds->of_rows[row];
        if (kind == NIGH__NO_KIND) continue;
        double square = 0;
        for (uint64_t k = lesson->begins[row]; k < lesson->begins[row + 1]; k++)
            square += pow(lesson->values[k] * idf[lesson->columns[k]], 2);
        for (uint32_t b = 0; b < width; b++) {
            double z = 0;
            for (uint64_t k = lesson->begins[row]; k < lesson->begins[row + 1]; k++)
                z += lesson->values[k] * coefficients[(size_t)lesson->columns[k] * width + b];
            const double gap = fmax(0, 1 - codewords[(size_t)kind * width + b] * z / sqrt(square));
            sum += gap * gap / 2 / sqrt(kinds->sizes[kind]) / all;
        }
    }
    for (size_t i = 0; i < (size_t)lesson->features * width; i++)
        sum += ridge / 2 * pow(coefficients[i] / idf[i / width], 2);
    return sum / width;
}

static void test_bottom(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct nigh__lesson *lesson = &made->lesson;
    struct nigh__learned learned = {0};
    struct nigh__kinds kinds;
    int8_t *codewords;
    double *idf = malloc(small.features * sizeof *idf);
    nigh_error error;
    made->options.width_bits = 8;
    made->options.iterations = 400;
    const size_t count = (size_t)small.features * 8;
    learned.coefficients = nigh__alloc_zero(*state, count, sizeof(double));
    for (uint32_t f = 0; f < small.features; f++) idf[f] = 1 + f % 5;
    assert_ok(nigh__kinds_find(lesson, &kinds, &error), &error);
    assert_ok(nigh__codewords_choose(lesson, &kinds, &codewords, &error), &error);
    assert_ok(nigh__codewords_fit(lesson, &kinds, codewords, idf, 1e-3, &learned, &error), &error);
    const double bottom = loss_of(lesson, &kinds, codewords, idf, 1e-3, learned.coefficients);
    assert_true(fabs(bottom + learned.objective) < 1e-5 * bottom);
    struct nigh__rng rng = {5};
    double *other = malloc(count * sizeof *other);
    for (int trial = 0; trial < 200; trial++) {
        const double step = pow(10, -(trial % 5) / 2.0 - 1);
        for (size_t i = 0; i < count; i++)
            other[i] = learned.coefficients[i] + step * ((double)(nigh__rng_next(&rng) >> 11) * 0x1p-52 - 1);
        assert_true(loss_of(lesson, &kinds, codewords, idf, 1e-3, other) > bottom * (step < 0.1 ? 1 - 1e-4 : 1.001));
        for (size_t i = 0; i < count; i++)
            other[i] = learned.coefficients[i] * (trial % 2 ? 1 + step / 3 : 1 - step / 3);
        assert_true(loss_of(lesson, &kinds, codewords, idf, 1e-3, other) > bottom * (1 - 1e-4));
    }
    free(other);
    free(idf);
    nigh__free(*state, codewords);
    nigh__kinds_release(*state, &kinds);
    nigh__learned_release(*state, &learned);
    lesson_unmade(made);
}

static void test_threads(void **state) {
    const struct lesson_recipe recipe = {
        .seed = 3, .rows = 2100, .features = 500, .classes = 5, .length = 60, .own_percent = 20, .bare_percent = 20};
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct nigh__learned learned[3];
    nigh_error error;
    made->options.iterations = 6;
    for (uint32_t t = 0; t < 3; t++) {
        learned[t] = (struct nigh__learned){0};
        made->lesson.threads = t + 1;
        assert_ok(nigh__learn_codewords(&made->lesson, &learned[t], &error), &error);
        assert_true(learned[t].objective == learned[0].objective);
        assert_memory_equal(learned[t].coefficients, learned[0].coefficients,
                            (size_t)recipe.features * 32 * sizeof(double));
    }
    for (uint32_t t = 0; t < 3; t++) nigh__learned_release(*state, &learned[t]);
    lesson_unmade(made);
}

/* ----------------------------------------------------------------- endings */

static void test_stopped(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    struct learner_watch watch = {.stop_after = 2, .last = -DBL_MAX};
    struct nigh__learned learned = {0};
    nigh_error error;
    made->options.iteration = learner_watch_iteration;
    made->options.user = &watch;
    assert_ok(nigh__learn_codewords(&made->lesson, &learned, &error), &error);
    assert_true(learned.stopped);
    assert_int_equal(learned.iterations, 2);
    assert_true(learned.objective == watch.last && learned.objective > learned.objective_start);
    nigh__learned_release(*state, &learned);
    lesson_unmade(made);
}

static void test_refuses(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    learner_expect_cancelled(nigh__learn_codewords, &made->lesson);
    made->options.memory_bytes = 100000;
    learner_expect_refusal(nigh__learn_codewords, &made->lesson, NIGH_ELIMIT);
    lesson_unmade(made);
}

static void test_no_memory(void **state) {
    struct made_lesson *made = lesson_made(*state, &small);
    made->options.iterations = 2;
    learner_expect_faults_borne(nigh__learn_codewords, &made->lesson, 20);
    lesson_unmade(made);
}

/* ------------------------------------------------------------ odd lessons */

/*
 * Rows:  0: {f0} of class 0    1: {f0} of class 0, the same    2: {f1} of class 1    3: {f1} of class 2, the same words
 *        4: {f2} of class 3, alone    5: {f3} not labelled
 */
static void test_odd(void **state) {
    static const uint64_t begins[] = {0, 1, 2, 3, 4, 5, 6}, column_begins[] = {0, 2, 4, 5, 6};
    static const uint32_t columns[] = {0, 0, 1, 1, 2, 3}, rows[] = {0, 1, 2, 3, 4, 5};
    static const double values[] = {1, 1, 1, 1, 1, 1};
    static const uint64_t class_begins[] = {0, 1, 2, 3, 4, 5, 5};
    static const uint32_t classes[] = {0, 0, 1, 2, 3};
    static const double ridges[] = {-1, 0, 1e6};
    static const uint32_t widths[] = {8, 16, 32, 64, 128, 256, 512, 1024, 3, 9, 63, 127, 1023};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const uint32_t width = widths[w];
        for (size_t r = 0; r < 3; r++) {
            nigh_learn_options options;
            nigh__options_defaults(&nigh__learn_options_shape, &options);
            options.width_bits = width;
            options.iterations = 60;
            options.l2 = ridges[r];
            const struct nigh__lesson lesson = {.context = *state,
                                                .options = &options,
                                                .threads = 1,
                                                .rows = 6,
                                                .labelled = 5,
                                                .features = 4,
                                                .classes = 5,
                                                .begins = begins,
                                                .columns = columns,
                                                .values = values,
                                                .column_begins = column_begins,
                                                .column_rows = rows,
                                                .column_values = values,
                                                .class_begins = class_begins,
                                                .row_classes = classes};
            struct nigh__learned learned = {0};
            nigh_error error;
            assert_ok(nigh__learn_codewords(&lesson, &learned, &error), &error);
            for (size_t i = 0; i < (size_t)4 * width; i++) assert_true(isfinite(learned.coefficients[i]));
            for (size_t b = 0; b < width; b++) assert_true(learned.coefficients[3 * (size_t)width + b] == 0);
            assert_int_equal(rows_apart(&lesson, learned.coefficients, 0, 1), 0);
            assert_in_range(rows_apart(&lesson, learned.coefficients, 0, 4), width / 2, width);
            nigh__learned_release(*state, &learned);
        }
    }
}

static void test_no_labels(void **state) {
    struct lesson_recipe recipe = small;
    recipe.bare_percent = 100;
    struct made_lesson *made = lesson_made(*state, &recipe);
    struct nigh__learned learned = {0};
    nigh_error error;
    assert_int_equal(nigh__learn_codewords(&made->lesson, &learned, &error), NIGH_EINVAL);
    lesson_unmade(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),          cmocka_unit_test(test_words_apart), cmocka_unit_test(test_words_shared),
        cmocka_unit_test(test_words_many),     cmocka_unit_test(test_bottom),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_training_helps), cmocka_unit_test(test_stopped),     cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_odd),         cmocka_unit_test(test_no_labels),
        cmocka_unit_test(test_guesses),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
