/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching slice lists: small examples whose answers can be told by hand, rings, lists
 * that lie, memory that runs out, and a table of scores that a fault left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "scan/nearest.h"
#include "slices/slice_parts.h"
#include "slices/slice_search.h"
#include "support/support.h"

struct set {
    nigh_context *context;
    uint64_t *rows; /* of one word */
    struct nigh__slices slices;
    uint32_t *numbers; /* those of the slices */
    struct nigh__slice_scratch *scratch;
    struct nigh__slice_answer answer;
};

static void set_up(struct set *set, uint32_t count, uint32_t width_bits, uint32_t slice_width) {
    *set = (struct set){.answer.keys = NIGH__ARRAY(uint64_t)};
    assert_int_equal(nigh_context_new(NULL, &set->context, NULL), NIGH_OK);
    set->rows = calloc(count, sizeof *set->rows);
    assert_non_null(set->rows);
    struct nigh__rng rng = {.state = 1};
    for (uint32_t i = 0; i < count; i++) set->rows[i] = nigh__rng_next(&rng) >> (64 - width_bits);
    assert_int_equal(nigh__slice_scratch_new(set->context, &set->scratch, NULL), NIGH_OK);
    set->slices.rows = count;
    assert_true(nigh__slicing_make(width_bits, slice_width, &set->slices.slicing));
}

static void make_lists(struct set *set) {
    const struct nigh__slices_job job = {.context = set->context,
                                         .rows = set->rows,
                                         .count = set->slices.rows,
                                         .slicing = set->slices.slicing,
                                         .threads = 1};
    assert_int_equal(nigh__slices_in_memory(&job, &set->slices, NULL), NIGH_OK);
    memcpy(&set->numbers, &set->slices.numbers, sizeof set->numbers);
}

static void tear_down(struct set *set) {
    nigh__array_release(set->context, &set->answer.keys);
    nigh__slice_scratch_free(set->scratch);
    nigh__free(set->context, set->numbers);
    nigh_context_free(set->context);
    free(set->rows);
}

static struct nigh__slice_query query_for(const struct set *set, const uint64_t *words) {
    return (struct nigh__slice_query){.words = words,
                                      .k = 3,
                                      .limit = UINT32_MAX,
                                      .breadth = 1,
                                      .admit = 1,
                                      .candidates = 100,
                                      .slices = set->slices.slicing.count,
                                      .postings = NIGH_ALL_64};
}

static uint64_t key_at(const struct set *set, size_t i) {
    assert_true(i < set->answer.keys.count);
    return ((const uint64_t *)set->answer.keys.data)[i];
}

/* Four slices of eight bits; rows at known places. */
static void known_set(struct set *set) {
    set_up(set, 6, 32, 8);
    set->rows[0] = 0x00000000;
    set->rows[1] = 0x00000001; /* 1 bit: seen in all slices */
    set->rows[2] = 0x03030303; /* 2 bits in each slice: not seen at breadth 1 */
    set->rows[3] = 0x000000ff; /* 8 bits, in one slice */
    set->rows[4] = 0xffffff00; /* 24 bits */
    set->rows[5] = 0x01010101; /* 4 bits */
    make_lists(set);
}

static void test_known(void **state) {
    (void)state;
    struct set set;
    known_set(&set);
    const uint64_t zero = 0;
    struct nigh__slice_query query = query_for(&set, &zero);
    assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    assert_int_equal(set.answer.keys.count, 3);
    assert_true(key_at(&set, 0) == nigh__key(0, 0));
    assert_true(key_at(&set, 1) == nigh__key(1, 1));
    assert_true(key_at(&set, 2) == nigh__key(4, 5));
    assert_int_equal(set.answer.below, 5); /* 4 (1 + 1) would hold, but beyond the third nobody looks */
    assert_int_equal(set.answer.lists, 4 * 9);
    query.k = NIGH_ALL;
    assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    assert_int_equal(set.answer.keys.count, 5); /* all but row 2 */
    assert_int_equal(set.answer.below, 8);
    query.limit = 4;
    assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    assert_int_equal(set.answer.keys.count, 2);
    assert_int_equal(set.answer.below, 4);
    tear_down(&set);
}

/* j = 0 leaves out row 5, which is seen at one bit only; one candidate leaves out all but row 0. */
static void test_left_out(void **state) {
    (void)state;
    struct set set;
    known_set(&set);
    const uint64_t zero = 0;
    struct nigh__slice_query query = query_for(&set, &zero);
    query.k = NIGH_ALL;
    query.admit = 0;
    assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    assert_int_equal(set.answer.keys.count, 4);
    assert_int_equal(set.answer.below, 4);
    query.admit = 1;
    query.candidates = 1;
    query.top = 2;
    assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    assert_int_equal(set.answer.keys.count, 1);
    assert_int_equal(set.answer.below, 1); /* the score of row 1 is 3 * 2 + 1 */
    query.candidates = 100;
    query.postings = 0;
    assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    assert_int_equal(set.answer.keys.count, 0);
    assert_int_equal(set.answer.below, 0);
    assert_true(set.answer.skipped != 0 && set.answer.postings == 0);
    tear_down(&set);
}

static void test_rings(void **state) {
    (void)state;
    struct set set;
    known_set(&set);
    const uint64_t zero = 0;
    struct nigh__slice_query query = query_for(&set, &zero);
    query.k = 2;
    query.breadth = 8;
    struct nigh__slice_ring rings[9];
    assert_int_equal(nigh__slice_rings(set.scratch, &set.slices, set.rows, &query, rings, NULL), NIGH_OK);
    assert_int_equal(rings[0].seen, 4); /* 0, 1, 3, 4 */
    assert_int_equal(rings[0].complete, 1);
    assert_int_equal(rings[0].pessimistic, 8); /* of row 1: three slices the same, one not seen */
    assert_int_equal(rings[0].optimistic, 1);  /* of row 3 */
    assert_false(rings[0].certain || rings[0].determined);
    assert_int_equal(rings[0].by_pessimistic, 4); /* 0, 1, 3 and 4: all are optimistically within 8 */
    assert_int_equal(rings[0].by_distance, 3);    /* 0, then 1 and 3; the second is 1 bit away then, and 4 at least 3 */
    assert_int_equal(rings[0].by_score, 3);
    assert_int_equal(rings[1].by_pessimistic, 2);
    assert_int_equal(rings[1].by_distance, 2);
    assert_int_equal(rings[1].by_score, 2);
    assert_int_equal(rings[1].seen, 5);
    assert_int_equal(rings[1].complete, 3); /* 0, 1, 5 */
    assert_int_equal(rings[1].pessimistic, 1);
    assert_int_equal(rings[1].optimistic, 2);
    assert_true(rings[1].certain && rings[1].determined);
    assert_int_equal(rings[8].complete, 6);
    assert_int_equal(rings[8].postings, 6 * 4);
    assert_int_equal(rings[8].lists, 256 * 4);
    tear_down(&set);
}

/* ------------------------------------------------------------------------ lies */

static void expect_either(struct set *set, bool lie) {
    const uint64_t words = set->rows[7];
    struct nigh__slice_query query = query_for(set, &words);
    query.breadth = query.admit = set->slices.slicing.most_bits; /* every list */
    nigh_error error = {0};
    nigh_status status = nigh__slice_search(set->scratch, &set->slices, set->rows, &query, &set->answer, &error);
    assert_int_equal(status, lie ? NIGH_ECORRUPT : NIGH_OK);
    assert_true(!lie || error.why[0] != 0);
    status = nigh__slice_search_plain(set->scratch, &set->slices, set->rows, &query, NIGH__SCORE_BOUND, &set->answer,
                                      &error);
    assert_int_equal(status, lie ? NIGH_ECORRUPT : NIGH_OK);
    struct nigh__slice_ring rings[NIGH__SLICES_MAX_BREADTH + 1];
    status = nigh__slice_rings(set->scratch, &set->slices, set->rows, &query, rings, &error);
    assert_int_equal(status, lie ? NIGH_ECORRUPT : NIGH_OK);
}

/* Every number of the lists in turn is made one that cannot be; the search after it finds a clean table. */
static void test_lies(void **state) {
    (void)state;
    struct set set;
    set_up(&set, 100, 20, 5);
    make_lists(&set);
    const uint64_t count = nigh__slicing_numbers(&set.slices.slicing, 100);
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t number = set.numbers[i];
        static const uint32_t lies[] = {101, 0x7fffffff, UINT32_MAX};
        for (size_t l = 0; l < 3; l++) {
            set.numbers[i] = lies[l];
            expect_either(&set, true);
        }
        set.numbers[i] = number;
        if (i % 16 == 0) expect_either(&set, false);
    }
    tear_down(&set);
}

/* Lists that name a row again and again are wrong, but no number in them is. */
static void test_same_row(void **state) {
    (void)state;
    struct set set;
    set_up(&set, 5000, 20, 5);
    make_lists(&set);
    for (uint32_t s = 0; s < set.slices.slicing.count; s++) {
        const struct nigh__slice slice = nigh__slicing_at(&set.slices.slicing, 5000, s);
        for (uint32_t i = 0; i < 5000; i++) set.numbers[slice.starts + 33 + i] = i % 2;
    }
    for (uint32_t all = 0; all < 2; all++) {
        const uint64_t words = set.rows[7];
        struct nigh__slice_query query = query_for(&set, &words);
        query.breadth = query.admit = 3 + all;
        query.candidates = all != 0 ? UINT32_MAX : 100;
        query.postings = all != 0 ? NIGH_ALL_64 : 150;
        assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
    }
    expect_either(&set, false);
    tear_down(&set);
}

/* ---------------------------------------------------------------------- faults */

/* What a jump out of a search leaves: scores in the table. */
static void test_dirty(void **state) {
    (void)state;
    struct set set;
    known_set(&set);
    const uint64_t zero = 0;
    const struct nigh__slice_query query = query_for(&set, &zero);
    for (size_t round = 0; round < 3; round++) {
        assert_int_equal(nigh__slice_search(set.scratch, &set.slices, set.rows, &query, &set.answer, NULL), NIGH_OK);
        assert_true(key_at(&set, 2) == nigh__key(4, 5));
        assert_false(set.scratch->dirty);
        memset(set.scratch->scores, 200, set.scratch->score_count);
        set.scratch->dirty = true;
    }
    tear_down(&set);
}

static nigh_status search_with(nigh_context *context, const struct set *set, bool plain) {
    struct nigh__slice_scratch *scratch;
    nigh_error error;
    nigh_status status = nigh__slice_scratch_new(context, &scratch, &error);
    struct nigh__slice_answer answer = {.keys = NIGH__ARRAY(uint64_t)};
    const uint64_t words = set->rows[3];
    for (uint32_t round = 0; status == NIGH_OK && round < 4; round++) {
        struct nigh__slice_query query = query_for(set, &words);
        query.breadth = query.admit = round % 2;
        query.k = round == 3 ? NIGH_ALL : 5;
        query.candidates = round > 1 ? UINT32_MAX : 100;
        query.postings = round == 1 ? 200 : NIGH_ALL_64;
        status = plain ? nigh__slice_search_plain(scratch, &set->slices, set->rows, &query, NIGH__SCORE_PAPER, &answer,
                                                  &error)
                       : nigh__slice_search(scratch, &set->slices, set->rows, &query, &answer, &error);
    }
    nigh__array_release(context, &answer.keys);
    nigh__slice_scratch_free(scratch);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    struct set set;
    set_up(&set, 3000, 40, 7);
    make_lists(&set);
    for (uint32_t plain = 0; plain < 2; plain++) {
        nigh_status status = NIGH_ENOMEM;
        for (uint64_t fail_at = 1; status != NIGH_OK; fail_at++) {
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            nigh_context_options options;
            nigh_context_options_init(&options);
            options.allocator = faulty_memory_allocator(&memory);
            nigh_context *context;
            assert_int_equal(nigh_context_new(&options, &context, NULL), NIGH_OK);
            memory.fail_at = fail_at;
            status = search_with(context, &set, plain != 0);
            assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
            assert_true(fail_at > 3 || status == NIGH_ENOMEM);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
        }
    }
    tear_down(&set);
}

/* -------------------------------------------------------------------- estimates */

static void test_estimates(void **state) {
    (void)state;
    struct nigh__slices slices = {.rows = 1000000};
    assert_true(nigh__slicing_make(1024, 16, &slices.slicing));
    assert_true(nigh__slice_lists(&slices.slicing, 64, 2) == 64 * 137);
    assert_true(nigh__slice_lists(&slices.slicing, 1, 28) == 65536);
    assert_true(nigh__slice_postings(&slices, 64, 16) == 64e6);
    assert_true(nigh__slicing_make(24, 5, &slices.slicing)); /* four of five bits, one of four */
    assert_true(nigh__slice_lists(&slices.slicing, 5, 1) == 4 * 6 + 5);
    for (uint32_t width = 4; width <= 28; width++) {
        struct nigh__slice_query query = {.words = NULL};
        assert_true(nigh__slicing_make(1024, width, &slices.slicing));
        nigh__slice_defaults(&slices, 10, &query);
        assert_true(query.candidates >= 10 && query.admit <= query.breadth && query.postings != 0);
        assert_int_equal(query.slices, slices.slicing.count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),     cmocka_unit_test(test_left_out),  cmocka_unit_test(test_rings),
        cmocka_unit_test(test_lies),      cmocka_unit_test(test_same_row),  cmocka_unit_test(test_dirty),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
