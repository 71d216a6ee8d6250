/* SPDX-License-Identifier: Apache-2.0 */
/* The measures against values worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/metric.h"

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-12)

static void test_quality(void **state) {
    (void)state;
    /* 8 returned, 6 of them right, of 10 that should be: 3/4, 3/5, and 2 * 45/100 / (27/20) = 2/3. */
    struct nigh__quality some = nigh__quality(8, 6, 10);
    assert_near(some.precision, 0.75);
    assert_near(some.recall, 0.6);
    assert_near(some.f1, 2.0 / 3);
    struct nigh__quality nothing_found = nigh__quality(0, 0, 5);
    assert_near(nothing_found.precision, 1);
    assert_near(nothing_found.recall, 0);
    assert_near(nothing_found.f1, 0);
    struct nigh__quality nothing_right = nigh__quality(5, 0, 5);
    assert_near(nothing_right.precision, 0);
    assert_near(nothing_right.f1, 0);
    struct nigh__quality nothing_wanted = nigh__quality(4, 0, 0);
    assert_near(nothing_wanted.recall, 1);
    struct nigh__quality nothing_at_all = nigh__quality(0, 0, 0);
    assert_near(nothing_at_all.f1, 1);
    assert_near(nigh__quality(UINT64_MAX, UINT64_MAX, UINT64_MAX).f1, 1);
}

static void test_average_precision(void **state) {
    (void)state;
    /* Relevant at ranks 1, 3 and 6, and one that never came: (1/1 + 2/3 + 3/6 + 0) / 4 = 13/24. */
    static const uint64_t ranks[] = {1, 3, 6};
    assert_near(nigh__average_precision(ranks, 3, 4), 13.0 / 24);
    assert_near(nigh__average_precision(ranks, 3, 3), 13.0 / 18);
    assert_near(nigh__average_precision(ranks, 1, 1), 1);
    assert_near(nigh__average_precision(ranks, 0, 7), 0);
    assert_near(nigh__average_precision(ranks, 0, 0), 0);
}

/* Those that tie count as the mean over all their orders, here of four with two relevant behind one of two. */
static void test_ties(void **state) {
    (void)state;
    double sum = 0;
    unsigned orders = 0;
    for (unsigned marks = 0; marks < 16; marks++) {
        if (__builtin_popcount(marks) != 2) continue;
        double good = 1;
        for (unsigned place = 0; place < 4; place++) {
            good += marks >> place & 1;
            if ((marks >> place & 1) != 0) sum += good / (2 + place + 1);
        }
        orders++;
    }
    assert_true(fabs(nigh__tied_precisions(2, 1, 4, 2) - sum / orders) < 1e-12);
    assert_true(fabs(nigh__tied_precisions(0, 0, 1, 1) - 1) < 1e-12);
    assert_true(fabs(nigh__tied_precisions(0, 0, 2, 1) - 0.75) < 1e-12);
    assert_true(nigh__tied_precisions(5, 2, 7, 0) == 0);
    assert_true(nigh__tied_precisions(0, 0, 0, 0) == 0);
}

static void test_precision_at(void **state) {
    (void)state;
    static const uint64_t ranks[] = {1, 3, 10, 11, 40};
    assert_near(nigh__precision_at(ranks, 5, 10), 0.3);
    assert_near(nigh__precision_at(ranks, 5, 11), 4.0 / 11);
    assert_near(nigh__precision_at(ranks, 5, 100), 0.05);
    assert_near(nigh__precision_at(ranks, 0, 10), 0);
}

static void test_mean(void **state) {
    (void)state;
    /* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared differences 32, so s^2 = 32/7. */
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct nigh__mean mean = {0};
    assert_near(nigh__mean_error(&mean, 100), 0);
    for (size_t i = 0; i < 8; i++) nigh__mean_add(&mean, values[i]);
    assert_near(mean.mean, 5);
    assert_near(mean.squares, 32);
    /* Eight of sixteen: half of the uncertainty of a sample with replacement. */
    assert_near(nigh__mean_error(&mean, 16), sqrt(32.0 / 7 / 8 / 2));
    assert_near(nigh__mean_error(&mean, 8), 0);
    struct nigh__mean one = {0};
    nigh__mean_add(&one, 0.5);
    assert_near(nigh__mean_error(&one, 100), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quality), cmocka_unit_test(test_average_precision),
        cmocka_unit_test(test_ties),    cmocka_unit_test(test_precision_at),
        cmocka_unit_test(test_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
