/* SPDX-License-Identifier: Apache-2.0 */
/* Which segments a commit merges, and what that costs over the life of a collection, by simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collection/merge_plan.h"

#define MOST UINT32_MAX

/* A collection that grows by commits, as sizes only. */
struct life {
    struct nigh__merge_part parts[256];
    uint32_t count, most;
    uint64_t written;
};

static void commit(struct life *life, uint64_t documents) {
    struct nigh__merge_run run;
    assert_true(life->count < 256);
    life->parts[life->count++] = (struct nigh__merge_part){.documents = documents};
    life->written += documents;
    if (nigh__merge_tiered(life->parts, life->count, &run)) {
        uint64_t sum = 0;
        assert_int_equal(run.first + run.count, life->count);
        for (uint32_t i = run.first; i < life->count; i++) sum += life->parts[i].documents;
        life->written += sum;
        life->count = run.first;
        life->parts[life->count++] = (struct nigh__merge_part){.documents = sum};
    }
    if (life->count > life->most) life->most = life->count;
}

static void hundred_million_are_written_six_times(void **state) {
    (void)state;
    struct life life = {.count = 0};
    for (uint32_t i = 0; i < 100000; i++) commit(&life, 1000);
    assert_true(life.written <= UINT64_C(600000000));
    assert_true(life.written > UINT64_C(200000000)); /* it does merge */
    assert_true(life.most <= 9 * 6);
}

static void any_sizes_leave_few_segments(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 20; seed++) {
        struct life life = {.count = 0};
        uint32_t random = seed;
        uint64_t documents = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            random = random * 1664525u + 1013904223u;
            const uint64_t size = UINT64_C(1) + ((random >> 8) % 7 == 0 ? (random >> 12) % 5000 : (random >> 12) % 50);
            documents += size;
            commit(&life, size);
        }
        assert_true(life.most <= 9 * 9);
        assert_true(life.written <= 9 * documents);
    }
}

static void a_thousand_equal_ones_become_one(void **state) {
    (void)state;
    struct life life = {.count = 0};
    for (uint32_t i = 0; i < 1000; i++) commit(&life, 100);
    assert_int_equal(life.count, 1);
    assert_true(life.written <= UINT64_C(100) * 1000 * 4);
}

/* Cascades are one run: what would be merged twice is written once. */
static void a_cascade_is_one_run(void **state) {
    (void)state;
    struct nigh__merge_part parts[19];
    struct nigh__merge_run run;
    for (int i = 0; i < 9; i++) parts[i] = (struct nigh__merge_part){.documents = 10};
    for (int i = 9; i < 19; i++) parts[i] = (struct nigh__merge_part){.documents = 1};
    assert_true(nigh__merge_tiered(parts, 19, &run));
    assert_int_equal(run.first, 0);
    assert_int_equal(run.count, 19);
    assert_false(nigh__merge_tiered(parts, 18, &run));
}

static void other_shapes_are_left_alone(void **state) {
    (void)state;
    struct nigh__merge_part parts[24];
    struct nigh__merge_run run;
    for (int i = 0; i < 24; i++) parts[i] = (struct nigh__merge_part){.documents = 5, .shape = i < 12};
    assert_true(nigh__merge_tiered(parts, 24, &run));
    assert_int_equal(run.first, 12);
    assert_true(nigh__merge_whole(parts, 24, 0, MOST, &run));
    assert_int_equal(run.first, 0);
    assert_int_equal(run.count, 12);
    assert_true(nigh__merge_whole(parts, 24, 12, MOST, &run));
    assert_int_equal(run.first, 12);
    assert_int_equal(run.count, 12);
    assert_false(nigh__merge_whole(parts, 24, 24, MOST, &run));
    /* One without documents fits any. */
    parts[11] = (struct nigh__merge_part){.documents = 0, .shape = UINT32_MAX};
    assert_true(nigh__merge_whole(parts, 24, 11, MOST, &run));
    assert_int_equal(run.first, 11);
    assert_int_equal(run.count, 13);
}

static void a_segment_has_a_limit(void **state) {
    (void)state;
    const struct nigh__merge_part parts[] = {
        {.documents = 60}, {.documents = 50}, {.documents = 40}, {.documents = 20}};
    struct nigh__merge_run run;
    assert_true(nigh__merge_whole(parts, 4, 0, 100, &run));
    assert_int_equal(run.first, 1);
    assert_int_equal(run.count, 2);
    assert_false(nigh__merge_whole(parts, 4, 3, 100, &run));
}

static void hollow_segments_are_written_anew(void **state) {
    (void)state;
    struct nigh__merge_part parts[] = {{.documents = 1000}, {.documents = 100, .deleted = 51}, {.documents = 9}};
    struct nigh__merge_run run;
    assert_true(nigh__merge_tiered(parts, 3, &run));
    assert_int_equal(run.first, 1);
    assert_int_equal(run.count, 1);
    parts[1].deleted = 50;
    assert_false(nigh__merge_tiered(parts, 3, &run));
    /* When asked for, any deleted document goes. */
    parts[1].deleted = 1;
    parts[0].shape = parts[2].shape = 7;
    assert_true(nigh__merge_whole(parts, 3, 0, MOST, &run));
    assert_int_equal(run.first, 1);
    assert_int_equal(run.count, 1);
    assert_false(nigh__merge_whole(parts, 3, 2, MOST, &run));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_million_are_written_six_times), cmocka_unit_test(any_sizes_leave_few_segments),
        cmocka_unit_test(a_thousand_equal_ones_become_one),      cmocka_unit_test(a_cascade_is_one_run),
        cmocka_unit_test(other_shapes_are_left_alone),           cmocka_unit_test(a_segment_has_a_limit),
        cmocka_unit_test(hollow_segments_are_written_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
