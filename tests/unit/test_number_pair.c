/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of numbers on both sides of 2^32: what is packed comes back, and records sort as the pairs do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number_pair.h"
#include "base/rng.h"
#include "base/word_sort.h"
#include "join/join.h"
#include "support/support.h"

#define COUNT 5000u

/* Often near 0, 2^32 or the limit, where things go wrong. */
static uint64_t random_number(struct nigh__rng *rng, uint64_t limit) {
    const uint64_t marks[] = {0, NIGH__HALF_WORD_NUMBERS - 3, NIGH__MAX_NUMBERS - 8};
    const uint64_t kind = nigh__rng_next(rng) % 4;
    const uint64_t number = kind == 3 ? nigh__rng_next(rng) : marks[kind] + nigh__rng_next(rng) % 6;
    return number % limit;
}

static void test_words(void **state) {
    (void)state;
    assert_int_equal(nigh__number_pair_words(0), 1);
    assert_int_equal(nigh__number_pair_words(UINT64_C(1) << 32), 1);
    assert_int_equal(nigh__number_pair_words((UINT64_C(1) << 32) + 1), 2);
}

static void check_packing(uint32_t words, uint64_t limit) {
    struct nigh__rng rng = {.state = words};
    uint64_t *records = calloc(COUNT, words * sizeof *records);
    uint64_t *scratch = calloc(COUNT, words * sizeof *scratch);
    assert_true(records != NULL && scratch != NULL);
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t first = random_number(&rng, limit);
        const uint64_t second = random_number(&rng, limit);
        nigh__number_pair_pack(words, first, second, records + i * words);
        const struct nigh__number_pair pair = nigh__number_pair_unpack(words, records + i * words);
        assert_int_equal(pair.first, first);
        assert_int_equal(pair.second, second);
    }
    const uint64_t *sorted = nigh__words_sort(records, scratch, COUNT, words, words, 1);
    for (size_t i = 1; i < COUNT; i++) {
        const struct nigh__number_pair a = nigh__number_pair_unpack(words, sorted + (i - 1) * words);
        const struct nigh__number_pair b = nigh__number_pair_unpack(words, sorted + i * words);
        assert_true(a.first < b.first || (a.first == b.first && a.second <= b.second));
    }
    free(records);
    free(scratch);
}

static void test_packing(void **state) {
    (void)state;
    check_packing(1, NIGH__HALF_WORD_NUMBERS);
    check_packing(2, NIGH__MAX_NUMBERS);
}

/* Pairs of a join with a distance: in one word, in two, in three. */
static void test_join_records(void **state) {
    (void)state;
    const struct {
        uint64_t limit;
        struct nigh__join join;
    } cases[] = {
        {1000, {.row_bits = 10, .distance_bits = 9, .number_words = 1, .pair_words = 1}},
        {NIGH__HALF_WORD_NUMBERS, {.row_bits = 32, .distance_bits = 9, .number_words = 1, .pair_words = 2}},
        {NIGH__MAX_NUMBERS, {.row_bits = 38, .distance_bits = 9, .number_words = 2, .pair_words = 3}},
    };
    struct nigh__rng rng = {.state = 3};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t record[3];
            const uint64_t first = random_number(&rng, cases[c].limit);
            const uint64_t second = random_number(&rng, cases[c].limit);
            const uint32_t distance = (uint32_t)(nigh__rng_next(&rng) % 512);
            nigh__join_pack(&cases[c].join, first, second, distance, record);
            const nigh_pair pair = nigh__join_unpack(&cases[c].join, record);
            assert_int_equal(pair.first, first);
            assert_int_equal(pair.second, second);
            assert_int_equal(pair.distance, distance);
        }
    }
}

static void test_limit(void **state) {
    (void)state;
    nigh_error error;
    assert_int_equal(nigh__numbers_check(NIGH__MAX_NUMBERS, "rows", &error), NIGH_OK);
    assert_int_equal(nigh__numbers_check(NIGH__MAX_NUMBERS + 1, "rows", &error), NIGH_ELIMIT);
    assert_string_equal(error.why, "more than 274877906943 rows at once");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_join_records),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
