/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring the constants: they are there, they are sane, no failure leaks, and it
 * ends when asked to.  How true they are shows `nigh plan --measure`.  tier: full
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/support.h"

static void test_constants(void **state) {
    nigh_costs usual = {.size = sizeof usual};
    nigh_costs costs = {.size = sizeof costs};
    nigh_error error;
    nigh_costs_default(&usual);
    assert_ok(nigh_costs_measure(*state, NULL, &costs, &error), &error);
    const double *const there[] = {&usual.compare, &usual.miss,      &usual.permute,    &usual.enumerate, &usual.sort,
                                   &usual.fill,    &usual.scan_byte, &usual.read_bytes, &usual.query,     &usual.take,
                                   &usual.whole,   &usual.key,       &usual.visit,      &usual.load,      &usual.hit};
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        const size_t place = (size_t)((const char *)there[i] - (const char *)&usual);
        const double measured = *(const double *)(const void *)((const char *)&costs + place);
        assert_true(measured >= *there[i] / 21 && measured < *there[i] * 1000);
    }
}

/* Fields past the caller's struct are left alone. */
static void test_older_caller(void **state) {
    nigh_costs costs = {.size = offsetof(nigh_costs, sort), .sort = -1};
    nigh_error error;
    assert_ok(nigh_costs_measure(*state, NULL, &costs, &error), &error);
    assert_true(costs.compare > 0 && costs.sort == -1);
}

static void test_no_memory(void **state) {
    static const uint64_t places[] = {0, 1, 2, 3, 6, 20, 60};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_costs costs = {.size = sizeof costs};
        nigh_error error;
        const int64_t live = memory.live;
        memory.fail_at = memory.calls + places[i];
        assert_int_equal(nigh_costs_measure(context, NULL, &costs, &error), NIGH_ENOMEM);
        assert_int_equal(memory.live, live);
        assert_true(costs.compare == 0);
        nigh_context_free(context);
    }
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    return done <= total;
}

static void test_cancelled(void **state) {
    const nigh_progress progress = {.report = stop};
    nigh_costs costs = {.size = sizeof costs};
    nigh_error error;
    assert_int_equal(nigh_costs_measure(*state, &progress, &costs, &error), NIGH_ECANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_older_caller),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
