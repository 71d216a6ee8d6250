/* SPDX-License-Identifier: Apache-2.0 */
/* tier: full */
#define _GNU_SOURCE
/*
 * The join against a double loop: widths, radii, copies, one side and two, budgets.
 * Whatever the threads, the memory and the kernel, the pairs are the same, in order; and
 * also where numbers of rows take a word each, as they do past 2^32 rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "join/join.h"
#include "support/support.h"

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

/* -------------------------------------------------------------------- cases */

struct rows {
    uint8_t *bytes;
    size_t count;
    uint32_t width_bits;
};

/*
 * Rows around a few centres, each a few bits off, `copies` in ten the same as an earlier one; `shared` bits at the
 * beginning are those of all.
 */
static struct rows rows_make(uint32_t width_bits, size_t count, size_t centres, uint32_t most_flips, uint32_t copies,
                             uint32_t shared, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    const size_t bytes = nigh_signature_bytes(width_bits);
    struct rows rows = {.bytes = allocate(count, bytes), .count = count, .width_bits = width_bits};
    for (size_t i = 0; i < count; i++) {
        uint8_t *row = rows.bytes + i * bytes;
        if (i > 0 && nigh__rng_next(&rng) % 10 < copies) {
            memcpy(row, rows.bytes + nigh__rng_next(&rng) % i * bytes, bytes);
            continue;
        }
        struct nigh__rng centre = {.state = seed + 1000 + nigh__rng_next(&rng) % centres};
        for (size_t b = 0; b < bytes; b++) row[b] = (uint8_t)(b < shared / 8 ? 0x5a : nigh__rng_next(&centre));
        for (uint64_t flips = nigh__rng_next(&rng) % (most_flips + 1); flips > 0; flips--) {
            const uint32_t bit = shared + (uint32_t)(nigh__rng_next(&rng) % (width_bits - shared));
            row[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        padding_clear(row, 1, width_bits);
    }
    return rows;
}

static uint32_t distance_of(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint32_t distance = 0;
    for (size_t i = 0; i < bytes; i++) distance += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
    return distance;
}

struct pairs {
    nigh_pair *pairs;
    size_t count, capacity;
};

static void pairs_add(struct pairs *pairs, uint64_t first, uint64_t second, uint32_t distance) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity * 2 + 1024;
        pairs->pairs = realloc(pairs->pairs, pairs->capacity * sizeof *pairs->pairs);
        if (pairs->pairs == NULL) abort();
    }
    pairs->pairs[pairs->count++] = (nigh_pair){.first = first, .second = second, .distance = distance};
}

static int collect(void *user, const nigh_pair *pair) {
    pairs_add(user, pair->first, pair->second, pair->distance);
    return 0;
}

/* --------------------------------------------------------------- the oracle */

/* Of each row, the first one equal to it and how many there are. */
struct group {
    size_t first, size;
};

static struct group *groups_of(const struct rows *rows) {
    const size_t bytes = nigh_signature_bytes(rows->width_bits);
    struct group *groups = allocate(rows->count, sizeof *groups);
    for (size_t i = 0; i < rows->count; i++) {
        groups[i].first = i;
        for (size_t j = 0; j < i; j++) {
            if (groups[j].first != j || memcmp(rows->bytes + i * bytes, rows->bytes + j * bytes, bytes) != 0) continue;
            groups[i].first = j;
            break;
        }
        groups[groups[i].first].size++;
    }
    return groups;
}

static bool is_told(const struct group *a, size_t i, const struct group *b, size_t j, bool self, size_t copies) {
    const bool first_crowd = a[a[i].first].size > copies;
    const bool second_crowd = b[b[j].first].size > copies;
    const bool first = a[i].first == i;
    const bool second = b[j].first == j;
    if (!first_crowd && !second_crowd) return true;
    if (!self) return first || second;
    if (a[i].first == a[j].first) return first || second;
    return (first || !first_crowd) && (second || !second_crowd);
}

static uint64_t expect_pairs(const struct rows *a, const struct rows *b, uint32_t radius, size_t copies,
                             struct pairs *out) {
    const bool self = b == NULL;
    const struct rows *second = self ? a : b;
    const size_t bytes = nigh_signature_bytes(a->width_bits);
    struct group *a_groups = groups_of(a);
    struct group *b_groups = self ? a_groups : groups_of(b);
    uint64_t untold = 0;
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = self ? i + 1 : 0; j < second->count; j++) {
            const uint32_t distance = distance_of(a->bytes + i * bytes, second->bytes + j * bytes, bytes);
            if (distance > radius) continue;
            if (is_told(a_groups, i, b_groups, j, self, copies))
                pairs_add(out, i, j, distance);
            else
                untold++;
        }
    }
    if (!self) free(b_groups);
    free(a_groups);
    return untold;
}

/* -------------------------------------------------------------------- trials */

struct trial {
    nigh_context *context;
    const char *folder;
    const struct rows *a, *b;
    nigh_join_options options;
    uint64_t narrow_count; /* more rows than so many have numbers of a word each */
};

static nigh_join_result join(const struct trial *trial, struct pairs *out) {
    nigh_join_options options = trial->options;
    nigh_join_result result = {.size = sizeof result};
    nigh_error error = {0};
    options.width_bits = trial->a->width_bits;
    options.temporary = trial->folder;
    options.pair = collect;
    options.user = out;
    assert_ok(nigh__join_from(trial->context, trial->a->bytes, trial->a->count,
                              trial->b == NULL ? NULL : trial->b->bytes, trial->b == NULL ? 0 : trial->b->count,
                              trial->narrow_count, &options, &result, &error),
              &error);
    assert_int_equal(result.pairs, out->count);
    assert_int_equal(result.rows, trial->a->count + (trial->b == NULL ? 0 : trial->b->count));
    return result;
}

static void expect_same(const struct pairs *got, const struct pairs *expected, const char *what) {
    const size_t count = got->count < expected->count ? got->count : expected->count;
    for (size_t i = 0; i < count; i++) {
        const nigh_pair *g = &got->pairs[i];
        const nigh_pair *e = &expected->pairs[i];
        if (g->first == e->first && g->second == e->second && g->distance == e->distance) continue;
        fail_msg("%s: pair %zu is (%llu, %llu) at %u, not (%llu, %llu) at %u", what, i, (unsigned long long)g->first,
                 (unsigned long long)g->second, g->distance, (unsigned long long)e->first,
                 (unsigned long long)e->second, e->distance);
    }
    if (got->count != expected->count) fail_msg("%s: %zu pairs, not %zu", what, got->count, expected->count);
}

/* The whole of the threads and memories of a case. */
static void check(struct trial *trial, const char *what) {
    static const uint32_t threads[] = {1, 2, 5};
    static const uint64_t memories[] = {UINT64_C(1) << 30, 1};
    struct pairs expected = {0};
    const size_t copies = trial->options.copies == 0 ? 1000 : trial->options.copies;
    const uint64_t untold = expect_pairs(trial->a, trial->b, trial->options.radius, copies, &expected);
    for (size_t t = 0; t < 3; t++) {
        for (size_t m = 0; m < 4; m++) {
            struct pairs got = {0};
            trial->options.threads = threads[t];
            trial->options.memory_bytes = memories[m % 2];
            trial->narrow_count = m < 2 ? NIGH__HALF_WORD_NUMBERS : 0;
            const nigh_join_result result = join(trial, &got);
            expect_same(&got, &expected, what);
            assert_int_equal(result.copies_untold, untold);
            assert_int_equal(result.truncated, 0);
            free(got.pairs);
        }
    }
    free(expected.pairs);
}

static void check_case(nigh_context *context, const char *folder, uint32_t width, uint32_t radius, size_t count,
                       uint32_t copies_in_ten, uint32_t shared, uint64_t seed) {
    char what[120];
    struct rows a = rows_make(width, count, count / 20 + 1, radius + 3, copies_in_ten, shared, seed);
    struct rows b = rows_make(width, count / 3 + 1, count / 20 + 1, radius + 3, copies_in_ten, shared, seed);
    for (size_t i = 0; i < b.count; i++) b.bytes[i * nigh_signature_bytes(width)] ^= (uint8_t)(i % 3);
    padding_clear(b.bytes, b.count, width);
    struct trial trial = {.context = context, .folder = folder, .a = &a};
    nigh_join_options_init(&trial.options);
    trial.options.radius = radius;
    trial.options.copies = copies_in_ten >= 9 ? 7 : 0;
    for (unsigned two = 0; two < 2; two++) {
        (void)snprintf(what, sizeof what, "width %u, radius %u, %zu rows, copies %u, shared %u, %u sides", width,
                       radius, count, copies_in_ten, shared, two + 1);
        trial.b = two == 0 ? NULL : &b;
        check(&trial, what);
    }
    free(a.bytes);
    free(b.bytes);
}

static void test_join_equals_the_double_loop(void **state) {
    static const struct {
        uint32_t width, radius;
    } cases[] = {{8, 0},    {8, 3},    {8, 8},     {16, 1},  {24, 2},  {32, 2},  {40, 3},   {64, 0},
                 {64, 1},   {64, 2},   {64, 3},    {64, 4},  {64, 5},  {64, 8},  {64, 9},   {64, 20},
                 {64, 63},  {64, 100}, {72, 3},    {128, 1}, {128, 3}, {128, 7}, {200, 12}, {256, 10},
                 {256, 36}, {1024, 3}, {1000, 30}, {1, 0},   {1, 1},   {2, 1},   {7, 2},    {9, 1},
                 {31, 2},   {33, 3},   {63, 3},    {63, 5},  {65, 3},  {127, 3}, {1023, 9}};
    char *folder = scratch_new();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        check_case(*state, folder, cases[c].width, cases[c].radius, 1, 0, 0, c);
        check_case(*state, folder, cases[c].width, cases[c].radius, 150, 3, 0, c + 1);
        check_case(*state, folder, cases[c].width, cases[c].radius, 500, 9, 0, c + 2);
    }
    scratch_free(folder);
}

/* So many rows that tables are made, and buckets of which some are divided. */
static void test_join_of_many(void **state) {
    char *folder = scratch_new();
    check_case(*state, folder, 64, 3, 6000, 1, 0, 1);
    check_case(*state, folder, 64, 2, 6000, 1, 24, 2);
    check_case(*state, folder, 64, 3, 6000, 1, 40, 3);
    check_case(*state, folder, 32, 1, 6000, 1, 16, 4);
    check_case(*state, folder, 128, 3, 6000, 1, 64, 5);
    check_case(*state, folder, 256, 6, 4000, 1, 0, 6);
    check_case(*state, folder, 256, 3, 6000, 1, 192, 7);
    check_case(*state, folder, 64, 1, 6000, 1, 48, 8);
    check_case(*state, folder, 63, 3, 6000, 1, 0, 9);
    check_case(*state, folder, 33, 1, 6000, 1, 16, 10);
    check_case(*state, folder, 127, 3, 6000, 1, 64, 11);
    scratch_free(folder);
}

/* ------------------------------------------------------------- shared prefixes */

#define SAMPLE_STEP 10007u

struct sampled {
    uint64_t pairs, sum;
};

static int add_sampled(void *user, const nigh_pair *pair) {
    struct sampled *sampled = user;
    if (pair->first % SAMPLE_STEP != 0 && pair->second % SAMPLE_STEP != 0) return 0;
    sampled->pairs++;
    sampled->sum += nigh__mix(nigh__mix(pair->first) ^ pair->second) ^ pair->distance;
    return 0;
}

/* The pairs of every so many rows, by comparing these with all. */
static struct sampled expect_sampled(const struct rows *rows, uint32_t radius) {
    const size_t bytes = nigh_signature_bytes(rows->width_bits);
    struct sampled expected = {0};
    for (size_t i = 0; i < rows->count; i += SAMPLE_STEP) {
        for (size_t j = 0; j < rows->count; j++) {
            if (j == i || (j < i && j % SAMPLE_STEP == 0)) continue;
            nigh_pair pair = {.first = i < j ? i : j, .second = i < j ? j : i};
            pair.distance = distance_of(rows->bytes + i * bytes, rows->bytes + j * bytes, bytes);
            if (pair.distance <= radius) (void)add_sampled(&expected, &pair);
        }
    }
    return expected;
}

/* Crowds that agree in all bits but the last 64 or 32. */
static void test_join_of_crowds_with_a_long_prefix(void **state) {
    static const struct {
        uint32_t width, shared;
        size_t count;
    } cases[] = {{256, 192, 200000}, {64, 32, 1000000}};
    for (size_t c = 0; c < 2; c++) {
        struct rows rows = rows_make(cases[c].width, cases[c].count, cases[c].count / 4, 5, 0, cases[c].shared, c);
        const struct sampled expected = expect_sampled(&rows, 3);
        struct sampled got = {0};
        nigh_join_options options;
        nigh_join_options_init(&options);
        nigh_join_result result = {.size = sizeof result};
        nigh_error error = {0};
        options.width_bits = cases[c].width;
        options.pair = add_sampled;
        options.user = &got;
        assert_ok(nigh_join(*state, rows.bytes, rows.count, NULL, 0, &options, &result, &error), &error);
        assert_int_equal(result.truncated, 0);
        assert_true(result.compared < rows.count * 20000);
        assert_true(expected.pairs > 10);
        assert_int_equal(got.pairs, expected.pairs);
        assert_int_equal(got.sum, expected.sum);
        free(rows.bytes);
    }
}

/* ------------------------------------------------------------------- budgets */

/* What is cut is cut the same way by any number of threads and in any memory; all that is told is true. */
static void test_join_cuts_the_same_everywhere(void **state) {
    char *folder = scratch_new();
    static const struct { uint32_t width, radius; } cases[] = {{64, 3}, {64, 1}, {32, 2}, {128, 2}, {256, 3}, {16, 7}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct rows a = rows_make(cases[c].width, 5000, 400, 4, 1, cases[c].width == 16 ? 0 : 16, c);
        struct rows b = rows_make(cases[c].width, 2000, 400, 4, 1, cases[c].width == 16 ? 0 : 16, c);
        for (unsigned two = 0; two < 2; two++) {
            struct trial trial = {.context = *state, .folder = folder, .a = &a, .b = two ? &b : NULL};
            nigh_join_options_init(&trial.options);
            struct pairs all = {0};
            struct pairs cut = {0};
            trial.options.radius = cases[c].radius;
            trial.options.threads = 1;
            trial.narrow_count = NIGH__HALF_WORD_NUMBERS;
            const nigh_join_result whole = join(&trial, &all);
            trial.options.bucket_budget = 300;
            const nigh_join_result part = join(&trial, &cut);
            if (whole.tables > 0) {
                assert_int_equal(whole.truncated, 0);
                assert_true(part.truncated > 0);
                assert_true(cut.count < all.count);
                assert_true(part.compared < whole.compared || two == 1);
            }
            for (unsigned way = 0; way < 4; way++) {
                struct pairs again = {0};
                trial.options.threads = way == 1 ? 3 : 1;
                trial.options.memory_bytes = way == 0 ? 0 : 1;
                if (way == 3) trial.narrow_count = 0;
                const nigh_join_result result = join(&trial, &again);
                expect_same(&again, &cut, "cut");
                assert_int_equal(result.truncated, part.truncated);
                free(again.pairs);
            }
            for (size_t i = 0, j = 0; i < cut.count; i++) { /* a part of the whole */
                while (j < all.count && memcmp(&all.pairs[j], &cut.pairs[i], sizeof cut.pairs[i]) != 0) j++;
                assert_true(j < all.count);
            }
            free(all.pairs);
            free(cut.pairs);
        }
        free(a.bytes);
        free(b.bytes);
    }
    scratch_free(folder);
}

static void test_join_with_every_kernel(void **state) {
    (void)state;
    char *folder = scratch_new();
    const char *name;
    int usable = 0;
    for (size_t i = 0; (name = nigh_kernel_name(i, &usable)) != NULL; i++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, name);
        for (uint32_t radius = 0; radius < 10; radius++) check_case(context, folder, 64, radius, 700, 2, 0, radius);
        check_case(context, folder, 192, 5, 700, 2, 0, 1);
        nigh_context_free(context);
    }
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join_equals_the_double_loop),
        cmocka_unit_test(test_join_of_many),
        cmocka_unit_test(test_join_of_crowds_with_a_long_prefix),
        cmocka_unit_test(test_join_cuts_the_same_everywhere),
        cmocka_unit_test(test_join_with_every_kernel),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
