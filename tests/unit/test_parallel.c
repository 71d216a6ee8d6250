/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that threads share: every item once, the failure of the lowest item, and a caller who has enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/parallel.h"
#include "base/status.h"
#include "support/support.h"

enum { ITEMS = 1000, THREADS = 4, AT_ONCE = 64 };

struct tally {
    struct nigh__parallel parallel;
    _Atomic uint32_t done[ITEMS];
    uint32_t fails_from; /* this item and all after it */
    _Atomic uint32_t waiting;
    uint32_t together; /* items of which all are begun before one ends */
};

static nigh_status count(void *user, const struct nigh__items *items) {
    struct tally *tally = user;
    if (items->thread >= THREADS || items->first >= items->end || items->end > ITEMS) return NIGH_EINVAL;
    for (uint64_t i = items->first; i < items->end; i++) {
        if (i >= tally->fails_from) return nigh__fail(items->error, NIGH_ENOMEM, "item %u", (unsigned)i);
        atomic_fetch_add(&tally->done[i], 1);
        if (!nigh__parallel_did(&tally->parallel, items->thread, 1)) break;
    }
    return NIGH_OK;
}

static void tally_init(struct tally *tally, uint32_t threads, struct nigh__progress *progress) {
    *tally = (struct tally){.parallel = {.threads = threads, .progress = progress}, .fails_from = UINT32_MAX};
    nigh__parallel_stage(&tally->parallel, "counting", ITEMS);
}

static void test_each_once(void **state) {
    static const uint32_t sizes[] = {0, 1, 63, 64, 65, ITEMS};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint32_t threads = 1; threads <= THREADS; threads++) {
            struct tally tally;
            tally_init(&tally, threads, NULL);
            assert_int_equal(nigh__parallel_run(&tally.parallel, sizes[i], AT_ONCE, count, &tally, NULL), NIGH_OK);
            for (uint32_t j = 0; j < ITEMS; j++) assert_int_equal(atomic_load(&tally.done[j]), j < sizes[i]);
            assert_int_equal(atomic_load(&tally.parallel.done), sizes[i]);
        }
    }
}

/* A million items at once is one take, and does not overflow. */
static void test_at_once(void **state) {
    struct tally tally;
    (void)state;
    tally_init(&tally, THREADS, NULL);
    assert_int_equal(nigh__parallel_run(&tally.parallel, ITEMS, UINT64_MAX / 2, count, &tally, NULL), NIGH_OK);
    for (uint32_t j = 0; j < ITEMS; j++) assert_int_equal(atomic_load(&tally.done[j]), 1);
}

/* All items from 77 on fail, in whatever thread: what is told is 77, and all before it were done. */
static void test_failure(void **state) {
    (void)state;
    for (uint32_t at_once = 1; at_once <= AT_ONCE; at_once *= 4) {
        for (uint32_t threads = 1; threads <= THREADS; threads++) {
            nigh_error error;
            struct tally tally;
            tally_init(&tally, threads, NULL);
            tally.fails_from = 77;
            assert_int_equal(nigh__parallel_run(&tally.parallel, ITEMS, at_once, count, &tally, &error), NIGH_ENOMEM);
            assert_string_equal(error.why, "item 77");
            for (uint32_t j = 0; j < ITEMS; j++) assert_int_equal(atomic_load(&tally.done[j]), j < 77);
        }
    }
}

/* Each item waits until all are at work, and the lower end last: so every thread fails, 0 after the others. */
static nigh_status fail_in_turn(void *user, const struct nigh__items *items) {
    struct tally *tally = user;
    const uint32_t own = (uint32_t)items->first;
    atomic_fetch_add(&tally->waiting, 1);
    while (atomic_load(&tally->waiting) < tally->together) continue;
    while (atomic_load(&tally->waiting) < tally->together + (tally->together - 1 - own)) continue;
    (void)nigh__fail(items->error, NIGH_EIO, "item %u", own);
    atomic_fetch_add(&tally->waiting, 1);
    return NIGH_EIO;
}

static void test_lowest_failure(void **state) {
    nigh_error error;
    struct tally tally;
    (void)state;
    tally_init(&tally, THREADS, NULL);
    tally.together = THREADS;
    assert_int_equal(nigh__parallel_run(&tally.parallel, THREADS, 1, fail_in_turn, &tally, &error), NIGH_EIO);
    assert_string_equal(error.why, "item 0");
}

static int enough(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    return strcmp(stage, "counting") == 0 && done <= total;
}

static void test_cancelled(void **state) {
    const nigh_progress callback = {.report = enough};
    struct nigh__progress progress;
    struct tally tally;
    nigh_error error;
    (void)state;
    nigh__progress_init(&progress, &callback);
    tally_init(&tally, 1, &progress);
    assert_int_equal(nigh__parallel_run(&tally.parallel, ITEMS, AT_ONCE, count, &tally, &error), NIGH_ECANCELLED);
    assert_int_equal(error.status, NIGH_ECANCELLED);
    assert_int_equal(atomic_load(&tally.done[1]), 0);
    assert_int_equal(nigh__parallel_run(&tally.parallel, ITEMS, AT_ONCE, count, &tally, NULL), NIGH_ECANCELLED);
    assert_int_equal(atomic_load(&tally.done[1]), 0);
}

static int keep_done(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    assert_int_equal(total, ITEMS);
    *(uint64_t *)user = done;
    return 0;
}

/* What is done in several passes is told as a share of one. */
static void test_passes(void **state) {
    uint64_t told = 0;
    const nigh_progress callback = {.report = keep_done, .user = &told};
    struct nigh__progress progress;
    struct tally tally;
    (void)state;
    nigh__progress_init(&progress, &callback);
    tally_init(&tally, 1, &progress);
    tally.parallel.passes = 4;
    assert_true(nigh__parallel_did(&tally.parallel, 0, 400));
    assert_int_equal(told, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),      cmocka_unit_test(test_at_once),   cmocka_unit_test(test_failure),
        cmocka_unit_test(test_lowest_failure), cmocka_unit_test(test_cancelled), cmocka_unit_test(test_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
