/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power fails before every single file call of a commit that deletes documents, that deletes more where some are
 * deleted already, and that puts new ones in the place of others.  Whatever is left (support/power_disk.h) must open
 * with the documents of before or those of after, with these where the commit had said that it was done, and check
 * sound; and the same commit made again leads to the state of after.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/living_support.h"
#include "support/power_disk.h"
#include "support/support.h"

#define TRIALS 12

static void expect_sound(nigh_context *context, const char *path) {
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_collection_check(context, path, NULL, &result, &error), &error);
    assert_int_equal(result.unlisted, 0);
}

struct states {
    char *contents[LIVING_STATES];
};

/* One way in which the power may have left it. */
static bool expect_left(nigh_context *healthy, const struct power_disk *disk, const struct states *states, uint32_t to,
                        bool committed, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    char *scratch = scratch_new();
    char *path = path_in(scratch, POWER_DISK_COLLECTION);
    nigh_error error;
    assert_true(power_disk_leave(disk, path, &rng));
    char *now = living_contents(healthy, path);
    const bool is_new = strcmp(now, states->contents[to]) == 0;
    assert_true(is_new || (!committed && strcmp(now, states->contents[to - 1]) == 0));
    expect_sound(healthy, path);
    free(now);
    assert_ok(living_change(healthy, path, to, &error), &error); /* a writer that comes later finds its way */
    now = living_contents(healthy, path);
    if (!is_new || to < 3) assert_string_equal(now, states->contents[to]);
    expect_sound(healthy, path);
    free(now);
    free(path);
    scratch_free(scratch);
    return is_new;
}

/* The commit that leads to state `to`, with the power failing before call `n`; false where it ended before. */
static bool one_round(uint64_t n, const struct states *states, uint32_t to, uint64_t seen[2]) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    living_make(context, POWER_DISK_COLLECTION, to - 1);
    power_disk_cut(disk, n);
    const bool committed = living_change(context, POWER_DISK_COLLECTION, to, &error) == NIGH_OK;
    const bool failed = power_disk_was_cut(disk);
    nigh_context_free(context);
    nigh_context *healthy = context_new();
    for (uint64_t trial = 0; trial < TRIALS; trial++)
        seen[expect_left(healthy, disk, states, to, committed, nigh__mix(n * 1000 + trial))]++;
    nigh_context_free(healthy);
    power_disk_free(disk);
    return failed;
}

static void power_fails_on_the_way_to(uint32_t to) {
    struct states states;
    nigh_context *healthy = context_new();
    char *scratch = scratch_new();
    for (uint32_t state = 0; state < LIVING_STATES; state++) {
        char name[8];
        (void)snprintf(name, sizeof name, "%u", state);
        char *path = path_in(scratch, name);
        living_make(healthy, path, state);
        states.contents[state] = living_contents(healthy, path);
        free(path);
    }
    uint64_t seen[2] = {0, 0};
    uint64_t n = 0;
    while (one_round(n, &states, to, seen)) n++;
    print_message("%" PRIu64 " moments: %" PRIu64 " times the old state, %" PRIu64 " times the new\n", n, seen[0],
                  seen[1]);
    assert_true(n > 20);
    assert_true(seen[0] > 0 && seen[1] > 0);
    for (uint32_t state = 0; state < LIVING_STATES; state++) free(states.contents[state]);
    scratch_free(scratch);
    nigh_context_free(healthy);
}

static void while_deleting(void **state) {
    (void)state;
    power_fails_on_the_way_to(1);
}

static void while_deleting_more(void **state) {
    (void)state;
    power_fails_on_the_way_to(2);
}

static void while_replacing(void **state) {
    (void)state;
    power_fails_on_the_way_to(3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_deleting),
        cmocka_unit_test(while_deleting_more),
        cmocka_unit_test(while_replacing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
