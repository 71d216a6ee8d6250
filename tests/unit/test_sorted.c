/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted tables: what they find is what a loop over rows and combinations finds, for any width, plan and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "finder/sorted.h"
#include "support/support.h"

enum { ROWS = 3000, QUERIES = 300 };

struct data {
    uint32_t width_bits, words;
    uint64_t *rows;
    uint64_t *queries;
    uint8_t *weights;
};

static void *room(size_t count, size_t size) {
    void *pointer = calloc(count, size);
    assert_non_null(pointer);
    return pointer;
}

static void bit_flip(uint64_t *row, uint32_t bit) { row[bit / 64] ^= UINT64_C(1) << bit % 64; }

/* Random rows, and queries that are one of them with some bits flipped. */
static struct data data_new(uint32_t width_bits, uint64_t seed) {
    struct data data = {.width_bits = width_bits, .words = (width_bits + 63) / 64};
    struct nigh__rng rng = {seed};
    data.rows = room(ROWS, (size_t)data.words * 8);
    data.queries = room(QUERIES, (size_t)data.words * 8);
    data.weights = room(QUERIES, width_bits);
    for (size_t i = 0; i < ROWS; i++)
        for (uint32_t bit = 0; bit < width_bits; bit++)
            if ((nigh__rng_next(&rng) & 1) != 0) bit_flip(data.rows + i * data.words, bit);
    for (size_t q = 0; q < QUERIES; q++) {
        uint64_t *query = data.queries + q * data.words;
        memcpy(query, data.rows + nigh__rng_next(&rng) % ROWS * data.words, (size_t)data.words * 8);
        for (uint64_t flips = nigh__rng_next(&rng) % 5; flips > 0; flips--)
            bit_flip(query, (uint32_t)(nigh__rng_next(&rng) % width_bits));
        for (uint32_t bit = 0; bit < width_bits; bit++)
            data.weights[q * width_bits + bit] = (uint8_t)(nigh__rng_next(&rng) % 9);
    }
    return data;
}

static void data_free(struct data *data) {
    free(data->rows);
    free(data->queries);
    free(data->weights);
}

static uint32_t distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < words; i++) sum += (uint32_t)__builtin_popcountll(a[i] ^ b[i]);
    return sum;
}

/* Whether one of the tables finds the row, by the definition. */
static bool reachable(const struct data *data, const struct nigh__sorted_plan *plan, size_t query, size_t row,
                      uint32_t radius) {
    static _Alignas(16) uint8_t scratch[1 << 17];
    static uint32_t masks[NIGH__MAX_PROBES];
    uint32_t costs[256];
    nigh__weak_costs(plan->model, data->width_bits, costs);
    const uint32_t bits = plan->prefix_bits < data->width_bits ? plan->prefix_bits : data->width_bits;
    for (uint32_t table = 0; table < plan->rotations; table++) {
        uint32_t bit_costs[NIGH__MAX_PREFIX_BITS];
        uint32_t differing = 0;
        for (uint32_t i = 0; i < bits; i++) {
            const uint32_t bit = (data->width_bits * table / plan->rotations + i) % data->width_bits;
            bit_costs[i] = costs[data->weights[query * data->width_bits + bit]];
            const uint64_t x = data->queries[query * data->words + bit / 64] ^ data->rows[row * data->words + bit / 64];
            differing |= (uint32_t)(x >> bit % 64 & 1) << i;
        }
        const size_t count = nigh__weak_list(bit_costs, bits, radius, plan->probes, masks, scratch, sizeof scratch);
        for (size_t i = 0; i < count; i++)
            if (masks[i] == differing) return true;
    }
    return false;
}

static struct nigh__found find(nigh_context *context, const struct data *data, const struct nigh__sorted_plan *plan,
                               const struct nigh__lookup *lookup, uint32_t threads) {
    const struct nigh__lookup_rows rows = {data->rows, ROWS, data->words, data->width_bits};
    struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
    struct nigh__sorted *sorted = NULL;
    nigh_error error;
    assert_ok(nigh__sorted_new(context, &rows, plan, threads, NULL, &sorted, &error), &error);
    assert_ok(nigh__sorted_find(sorted, lookup, &found, &error), &error);
    nigh__sorted_free(context, sorted);
    return found;
}

static struct nigh__lookup lookup_of(const struct data *data, uint32_t radius) {
    return (struct nigh__lookup){.queries = data->queries,
                                 .weights = data->weights,
                                 .count = QUERIES,
                                 .radius = radius,
                                 .budget = UINT64_C(1) << 22};
}

static bool hit_there(const struct nigh__found *found, size_t query, size_t row, uint32_t bits) {
    const struct nigh__hit *hits = found->hits.data;
    for (size_t i = 0; i < found->hits.count; i++)
        if (hits[i].query == query && hits[i].row == row && hits[i].distance == bits) return true;
    return false;
}

static void expect_all(const struct data *data, const struct nigh__sorted_plan *plan, const struct nigh__found *found,
                       uint32_t radius) {
    size_t expected = 0;
    for (size_t q = 0; q < QUERIES; q++)
        for (size_t r = 0; r < ROWS; r++) {
            const uint32_t bits = distance(data->queries + q * data->words, data->rows + r * data->words, data->words);
            if (bits > radius || !reachable(data, plan, q, r, radius)) continue;
            assert_true(hit_there(found, q, r, bits));
            expected++;
        }
    assert_true(expected > QUERIES / 8);
    const struct nigh__hit *hits = found->hits.data;
    for (size_t i = 1; i < found->hits.count; i++) assert_true(hits[i - 1].query <= hits[i].query);
    if (plan->rotations == 1) assert_int_equal(found->hits.count, expected);
    assert_true(found->hits.count >= expected);
    assert_int_equal(found->truncated, 0);
}

static const struct {
    uint32_t width_bits;
    uint32_t radius;
    struct nigh__sorted_plan plan;
} cases[] = {
    {64, 3, {.prefix_bits = 12, .probes = 15, .rotations = 1}},
    {64, 3, {.prefix_bits = 12, .probes = 15, .rotations = 1, .model = NIGH_WEAK_LINEAR}},
    {64, 3, {.prefix_bits = 10, .probes = 100, .rotations = 2}},
    {64, 2, {.prefix_bits = 23, .probes = 48, .rotations = 3}},
    {64, 9, {.prefix_bits = 2, .probes = 3, .rotations = 1}},
    {64, 0, {.prefix_bits = 18, .probes = 5, .rotations = 1}},
    {16, 1, {.prefix_bits = 20, .probes = 17, .rotations = 3}},
    {24, 2, {.prefix_bits = 20, .probes = 6, .rotations = 3}},
    {72, 3, {.prefix_bits = 13, .probes = 33, .rotations = 2}},
    {200, 4, {.prefix_bits = 12, .probes = 64, .rotations = 3}},
    {8, 1, {.prefix_bits = 8, .probes = 4096, .rotations = 1}},
};

static void test_finds(void **state) {
    nigh_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct data data = data_new(cases[i].width_bits, i);
        struct nigh__lookup lookup = lookup_of(&data, cases[i].radius);
        struct nigh__found found = find(context, &data, &cases[i].plan, &lookup, 1 + (uint32_t)i % 3);
        print_message("case %zu: %zu hits\n", i, found.hits.count);
        expect_all(&data, &cases[i].plan, &found, cases[i].radius);
        /* one at a time, which goes another way, comes to the same */
        size_t singly = 0;
        struct nigh__found alone = {.hits = NIGH__ARRAY(struct nigh__hit)};
        const struct nigh__lookup_rows rows = {data.rows, ROWS, data.words, data.width_bits};
        struct nigh__sorted *sorted = NULL;
        assert_int_equal(nigh__sorted_new(context, &rows, &cases[i].plan, 1, NULL, &sorted, NULL), NIGH_OK);
        for (size_t q = 0; q < QUERIES; q++) {
            struct nigh__lookup one = lookup;
            one.queries += q * data.words;
            one.weights += q * data.width_bits;
            one.count = 1;
            alone.hits.count = 0;
            assert_int_equal(nigh__sorted_find(sorted, &one, &alone, NULL), NIGH_OK);
            singly += alone.hits.count;
        }
        assert_int_equal(singly, found.hits.count);
        nigh__sorted_free(context, sorted);
        nigh__array_release(context, &alone.hits);
        nigh__array_release(context, &found.hits);
        data_free(&data);
    }
}

/* With `any` each query that has a hit has one. */
static void test_any(void **state) {
    nigh_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct data data = data_new(cases[i].width_bits, i + 100);
        struct nigh__lookup lookup = lookup_of(&data, cases[i].radius);
        struct nigh__found all = find(context, &data, &cases[i].plan, &lookup, 1);
        lookup.any = true;
        struct nigh__found any = find(context, &data, &cases[i].plan, &lookup, 1);
        const struct nigh__hit *hits = all.hits.data;
        size_t at = 0;
        for (size_t j = 0; j < any.hits.count; j++) {
            const struct nigh__hit *hit = (const struct nigh__hit *)any.hits.data + j;
            while (at < all.hits.count && hits[at].query < hit->query) at++;
            assert_int_equal(hits[at].query, hit->query);
            assert_true(j == 0 || hit[-1].query < hit->query);
            assert_true(hit_there(&all, hit->query, hit->row, hit->distance));
        }
        size_t queries = 0;
        for (size_t j = 0; j < all.hits.count; j++) queries += j == 0 || hits[j].query != hits[j - 1].query;
        assert_int_equal(any.hits.count, queries);
        nigh__array_release(context, &all.hits);
        nigh__array_release(context, &any.hits);
        data_free(&data);
    }
}

/* A crowd in one bucket is cut at the budget, and said so. */
static void test_budget(void **state) {
    nigh_context *context = *state;
    for (uint32_t width_bits = 64; width_bits <= 128; width_bits += 64) {
        struct data data = data_new(width_bits, 5);
        for (size_t i = 0; i < (size_t)ROWS * data.words; i++) data.rows[i] = i * 1000003 & ~UINT64_C(0xfff);
        memset(data.queries, 0, (size_t)QUERIES * data.words * 8);
        struct nigh__sorted_plan plan = {.prefix_bits = 8, .probes = 1, .rotations = 1};
        struct nigh__lookup lookup = lookup_of(&data, width_bits);
        struct nigh__found found = find(context, &data, &plan, &lookup, 1);
        assert_int_equal(found.hits.count, ROWS * QUERIES);
        nigh__array_release(context, &found.hits);
        lookup.budget = 100;
        found = find(context, &data, &plan, &lookup, 1);
        assert_int_equal(found.hits.count, 100 * QUERIES);
        assert_int_equal(found.truncated, QUERIES);
        nigh__array_release(context, &found.hits);
        data_free(&data);
    }
}

static void test_without_numbers(void **state) {
    nigh_context *context = *state;
    struct data data = data_new(64, 9);
    struct nigh__sorted_plan plan = {.prefix_bits = 12, .probes = 15, .rotations = 1};
    struct nigh__lookup lookup = lookup_of(&data, 3);
    struct nigh__found with = find(context, &data, &plan, &lookup, 1);
    const uint64_t bytes = nigh__sorted_bytes(ROWS, 64, &plan);
    plan.without_numbers = true;
    assert_int_equal(bytes - nigh__sorted_bytes(ROWS, 64, &plan), 4 * nigh__table_lines(ROWS));
    struct nigh__found without = find(context, &data, &plan, &lookup, 1);
    assert_int_equal(with.hits.count, without.hits.count);
    const struct nigh__hit *hits = without.hits.data;
    for (size_t i = 0; i < without.hits.count; i++) assert_int_equal(hits[i].row, UINT32_MAX);
    nigh__array_release(context, &with.hits);
    nigh__array_release(context, &without.hits);
    data_free(&data);
}

static void test_bad_plans(void **state) {
    nigh_context *context = *state;
    static const struct nigh__sorted_plan bad[] = {
        {.prefix_bits = 0, .probes = 1, .rotations = 1},
        {.prefix_bits = 33, .probes = 1, .rotations = 1},
        {.prefix_bits = 8, .probes = 0, .rotations = 1},
        {.prefix_bits = 8, .probes = NIGH__MAX_PROBES + 1, .rotations = 1},
        {.prefix_bits = 8, .probes = 1, .rotations = 4},
    };
    const struct nigh__lookup_rows rows = {.words = 1, .width_bits = 64};
    struct nigh__sorted *sorted;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(nigh__sorted_new(context, &rows, &bad[i], 1, NULL, &sorted, NULL), NIGH_EINVAL);
    assert_int_equal(nigh__sorted_prefix_bits(0), 1);
    assert_int_equal(nigh__sorted_prefix_bits(10000000), 23);
    assert_int_equal(nigh__sorted_prefix_bits(UINT32_MAX), 31);
}

/* No rows, and memory that ends at each allocation. */
static void test_memory(void **state) {
    (void)state;
    struct data data = data_new(64, 11);
    struct nigh__lookup_rows rows = {data.rows, ROWS, 1, 64};
    const struct nigh__sorted_plan plan = {.prefix_bits = 12, .probes = 100, .rotations = 2};
    const struct nigh__lookup lookup = lookup_of(&data, 3);
    bool succeeded = false;
    for (uint64_t fail_at = 0; !succeeded; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
        struct nigh__sorted *sorted = NULL;
        memory.fail_at = memory.calls + fail_at;
        nigh_status status = nigh__sorted_new(context, &rows, &plan, 1, NULL, &sorted, NULL);
        if (status == NIGH_OK) status = nigh__sorted_find(sorted, &lookup, &found, NULL);
        succeeded = status == NIGH_OK;
        assert_true(succeeded || status == NIGH_ENOMEM);
        nigh__sorted_free(context, sorted);
        nigh__array_release(context, &found.hits);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
    }
    nigh_context *context = context_new();
    struct nigh__sorted *sorted = NULL;
    struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
    rows.count = 0;
    assert_int_equal(nigh__sorted_new(context, &rows, &plan, 4, NULL, &sorted, NULL), NIGH_OK);
    assert_int_equal(nigh__sorted_find(sorted, &lookup, &found, NULL), NIGH_OK);
    assert_int_equal(found.hits.count, 0);
    nigh__sorted_free(context, sorted);
    nigh_context_free(context);
    data_free(&data);
}

/* Many rows, built by threads: the tables are the same, since the hits come in the same order. */
static void test_threads(void **state) {
    nigh_context *context = *state;
    enum { MANY = 150000 };
    uint64_t *rows_of = room(MANY, 8);
    struct nigh__rng rng = {3};
    for (size_t i = 0; i < MANY; i++) rows_of[i] = nigh__rng_next(&rng) & ~UINT64_C(0xff0);
    struct data data = data_new(64, 12);
    const struct nigh__lookup_rows rows = {rows_of, MANY, 1, 64};
    const struct nigh__sorted_plan plan = {.prefix_bits = 14, .probes = 8, .rotations = 2};
    const struct nigh__lookup lookup = lookup_of(&data, 20);
    struct nigh__found found[2] = {{.hits = NIGH__ARRAY(struct nigh__hit)}, {.hits = NIGH__ARRAY(struct nigh__hit)}};
    for (int i = 0; i < 2; i++) {
        struct nigh__sorted *sorted = NULL;
        assert_int_equal(nigh__sorted_new(context, &rows, &plan, i == 0 ? 1 : 7, NULL, &sorted, NULL), NIGH_OK);
        assert_int_equal(nigh__sorted_find(sorted, &lookup, &found[i], NULL), NIGH_OK);
        nigh__sorted_free(context, sorted);
    }
    assert_int_equal(found[0].hits.count, found[1].hits.count);
    assert_true(found[0].hits.count > 100);
    assert_memory_equal(found[0].hits.data, found[1].hits.data, found[0].hits.count * sizeof(struct nigh__hit));
    for (int i = 0; i < 2; i++) nigh__array_release(context, &found[i].hits);
    data_free(&data);
    free(rows_of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),     cmocka_unit_test(test_any),    cmocka_unit_test(test_budget),
        cmocka_unit_test(test_bad_plans), cmocka_unit_test(test_memory), cmocka_unit_test(test_without_numbers),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
