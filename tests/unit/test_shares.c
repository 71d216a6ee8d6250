/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that threads share: every item once, a failure that ends it, and a caller who has enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/shares.h"
#include "support/support.h"

enum { ITEMS = 1000, THREADS = 4 };

struct tally {
    _Atomic uint32_t done[ITEMS];
    uint32_t fails_at;
};

static nigh_status count(void *user, uint32_t thread, uint32_t item) {
    struct tally *tally = user;
    if (thread >= THREADS || item >= ITEMS) return NIGH_EINVAL;
    if (item == tally->fails_at) return NIGH_ENOMEM;
    atomic_fetch_add(&tally->done[item], 1);
    return NIGH_OK;
}

static nigh_status run(struct tally *tally, uint32_t threads, uint32_t items, const nigh_progress *callback) {
    struct nigh__progress progress;
    nigh__progress_init(&progress, callback);
    const struct nigh__shares shares = {
        .threads = threads, .count = items, .progress = &progress, .stage = "counting", .work = count, .user = tally};
    return nigh__shares_run(&shares);
}

static void test_each_once(void **state) {
    static const uint32_t sizes[] = {0, 1, 63, 64, 65, ITEMS};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint32_t threads = 1; threads <= THREADS; threads++) {
            struct tally tally = {.fails_at = UINT32_MAX};
            assert_int_equal(run(&tally, threads, sizes[i], NULL), NIGH_OK);
            for (uint32_t j = 0; j < ITEMS; j++) assert_int_equal(atomic_load(&tally.done[j]), j < sizes[i]);
        }
    }
}

static void test_failure(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= THREADS; threads++) {
        struct tally tally = {.fails_at = 77};
        assert_int_equal(run(&tally, threads, ITEMS, NULL), NIGH_ENOMEM);
        assert_int_equal(atomic_load(&tally.done[77]), 0);
        if (threads == 1) assert_int_equal(atomic_load(&tally.done[78]), 0);
    }
}

static int enough(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    return done <= total;
}

static void test_cancelled(void **state) {
    const nigh_progress callback = {.report = enough};
    struct tally tally = {.fails_at = UINT32_MAX};
    (void)state;
    assert_int_equal(run(&tally, 1, ITEMS, &callback), NIGH_ECANCELLED);
    assert_int_equal(atomic_load(&tally.done[ITEMS - 1]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
