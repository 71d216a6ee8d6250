/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permuted tables against comparing everything: all cuts into up to eight blocks, all
 * radii that they are exact for, several widths, crowds, threads, every kernel.
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

#include "base/rng.h"
#include "finder/tables.h"
#include "support/support.h"

#define QUERIES 40u

struct world {
    struct nigh__lookup_rows rows;
    uint64_t *words;
    uint64_t *queries;
};

static void flip(uint64_t *row, uint32_t bit) { row[bit / 64] ^= UINT64_C(1) << bit % 64; }

static void random_row(struct nigh__rng *rng, uint64_t *row, uint32_t width_bits) {
    const uint32_t words = (width_bits + 63) / 64;
    for (uint32_t w = 0; w < words; w++) row[w] = nigh__rng_next(rng);
    if (width_bits % 64 != 0) row[words - 1] &= (UINT64_C(1) << width_bits % 64) - 1;
}

/* Rows around a few centres, up to twelve bits away; queries up to nine from a row. */
static void world_init(struct world *world, uint32_t width_bits, uint32_t count, uint64_t seed) {
    const uint32_t words = (width_bits + 63) / 64;
    struct nigh__rng rng = {.state = seed};
    world->words = calloc((size_t)count * words + 1, sizeof *world->words);
    world->queries = calloc((size_t)QUERIES * words, sizeof *world->queries);
    assert_non_null(world->words);
    assert_non_null(world->queries);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *row = world->words + (size_t)i * words;
        if (i < 7 || i % 3 == 0) {
            random_row(&rng, row, width_bits);
            continue;
        }
        memcpy(row, world->words + nigh__rng_next(&rng) % 7 * words, words * sizeof *row);
        for (uint64_t flips = nigh__rng_next(&rng) % 13; flips != 0; flips--)
            flip(row, (uint32_t)(nigh__rng_next(&rng) % width_bits));
    }
    for (uint32_t q = 0; q < QUERIES; q++) {
        uint64_t *query = world->queries + (size_t)q * words;
        random_row(&rng, query, width_bits);
        if (count == 0 || q % 5 == 0) continue;
        memcpy(query, world->words + nigh__rng_next(&rng) % count * words, words * sizeof *query);
        for (uint64_t flips = nigh__rng_next(&rng) % 10; flips != 0; flips--)
            flip(query, (uint32_t)(nigh__rng_next(&rng) % width_bits));
    }
    world->rows = (struct nigh__lookup_rows){
        .words_of_rows = world->words, .count = count, .words = words, .width_bits = width_bits};
}

static void world_release(struct world *world) {
    free(world->words);
    free(world->queries);
}

static uint32_t distance(const struct world *world, uint32_t query, uint32_t row) {
    uint32_t bits = 0;
    for (uint32_t w = 0; w < world->rows.words; w++)
        bits += (uint32_t)__builtin_popcountll(world->queries[query * world->rows.words + w] ^
                                               world->words[(size_t)row * world->rows.words + w]);
    return bits;
}

/* Whether all hits are true and by query, and, where `exact`, all that are within the radius are there. */
static void expect(const struct world *world, const struct nigh__found *found, uint32_t radius, bool exact) {
    const struct nigh__hit *hits = found->hits.data;
    size_t next = 0;
    uint8_t *seen = calloc(world->rows.count + 1u, 1);
    assert_non_null(seen);
    for (uint32_t q = 0; q < QUERIES; q++) {
        memset(seen, 0, world->rows.count + 1u);
        for (; next < found->hits.count && hits[next].query == q; next++) {
            assert_in_range(hits[next].row, 0, world->rows.count - 1u);
            assert_int_equal(hits[next].distance, distance(world, q, hits[next].row));
            assert_true(hits[next].distance <= radius);
            seen[hits[next].row] = 1;
        }
        for (uint32_t r = 0; exact && r < world->rows.count; r++) {
            if (seen[r] != (distance(world, q, r) <= radius))
                fail_msg("width %u, %u rows, radius %u: query %u, row %u", world->rows.width_bits, world->rows.count,
                         radius, q, r);
        }
    }
    assert_int_equal(next, found->hits.count);
    free(seen);
}

static struct nigh__lookup lookup_of(const struct world *world, uint32_t radius) {
    return (struct nigh__lookup){
        .queries = world->queries, .count = QUERIES, .radius = radius, .budget = UINT64_C(1) << 22};
}

static void check(nigh_context *context, const struct world *world, uint32_t blocks, uint32_t leading,
                  uint32_t threads) {
    nigh_error error;
    struct nigh__tables *tables;
    assert_ok(nigh__tables_new(context, &world->rows, blocks, leading, threads, NULL, &tables, &error), &error);
    for (uint32_t radius = 0; radius <= blocks - leading + 3; radius++) {
        const struct nigh__lookup lookup = lookup_of(world, radius);
        struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
        assert_ok(nigh__tables_find(tables, &lookup, &found, &error), &error);
        expect(world, &found, radius, radius <= blocks - leading);
        assert_int_equal(found.probes, QUERIES * nigh__tables_count(blocks, leading));
        assert_int_equal(found.truncated, 0);
        nigh__array_release(context, &found.hits);
    }
    nigh__tables_free(context, tables);
}

static void test_cuts(void **state) {
    static const uint32_t widths[] = {8, 16, 64, 72, 128, 256, 1024};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        struct world world;
        world_init(&world, widths[w], 300, widths[w]);
        for (uint32_t blocks = 2; blocks <= 8; blocks++)
            for (uint32_t leading = 1; leading < blocks; leading++)
                check(*state, &world, blocks, leading, 1 + (blocks + leading) % 3);
        world_release(&world);
    }
}

static void test_many_blocks(void **state) {
    static const uint32_t cuts[][2] = {{16, 1}, {16, 2}, {16, 14}, {16, 15}, {9, 4}, {13, 11}};
    struct world world;
    world_init(&world, 200, 400, 5);
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        if (nigh__tables_count(cuts[c][0], cuts[c][1]) <= NIGH__MAX_TABLES)
            check(*state, &world, cuts[c][0], cuts[c][1], 2);
    }
    world_release(&world);
}

static void test_few_rows(void **state) {
    for (uint32_t count = 0; count < 12; count++) {
        struct world world;
        world_init(&world, 64, count, count);
        check(*state, &world, 4, 1, 5);
        check(*state, &world, 5, 2, 5);
        world_release(&world);
    }
}

static void test_kernels(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 64, 5000, 8);
    int usable = 0;
    for (size_t k = 0; nigh_kernel_name(k, &usable) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, nigh_kernel_name(k, NULL));
        check(context, &world, 4, 1, 1);
        check(context, &world, 5, 2, 3);
        nigh_context_free(context);
    }
    world_release(&world);
}

/* ----------------------------------------------------------------- one hit, budgets */

static void test_any(void **state) {
    struct world world;
    world_init(&world, 64, 4000, 9);
    nigh_error error;
    struct nigh__tables *tables;
    assert_ok(nigh__tables_new(*state, &world.rows, 4, 1, 1, NULL, &tables, &error), &error);
    struct nigh__lookup lookup = lookup_of(&world, 3);
    lookup.any = true;
    struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
    assert_ok(nigh__tables_find(tables, &lookup, &found, &error), &error);
    expect(&world, &found, 3, false);
    assert_true(found.probes < (uint64_t)QUERIES * 4); /* a query that has a hit goes no further */
    const struct nigh__hit *hits = found.hits.data;
    size_t next = 0;
    for (uint32_t q = 0; q < QUERIES; q++) {
        bool there = false;
        for (uint32_t r = 0; r < world.rows.count; r++) there = there || distance(&world, q, r) <= 3;
        assert_int_equal(there, next < found.hits.count && hits[next].query == q);
        while (next < found.hits.count && hits[next].query == q) next++;
    }
    nigh__array_release(*state, &found.hits);
    nigh__tables_free(*state, tables);
    world_release(&world);
}

/* A crowd with the first block in common; the tables of other blocks are as usual. */
static void test_budget(void **state) {
    struct world world;
    world_init(&world, 64, 5000, 10);
    for (uint32_t r = 0; r < world.rows.count; r++) world.words[r] &= ~UINT64_C(0xffff);
    for (uint32_t q = 0; q < QUERIES; q++) world.queries[q] &= ~UINT64_C(0xffff);
    nigh_error error;
    struct nigh__tables *tables;
    assert_ok(nigh__tables_new(*state, &world.rows, 4, 1, 1, NULL, &tables, &error), &error);
    struct nigh__lookup lookup = lookup_of(&world, 3);
    struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
    lookup.budget = 5000;
    assert_ok(nigh__tables_find(tables, &lookup, &found, &error), &error);
    assert_int_equal(found.truncated, 0);
    expect(&world, &found, 3, true);
    nigh__array_release(*state, &found.hits);
    found = (struct nigh__found){.hits = NIGH__ARRAY(struct nigh__hit)};
    lookup.budget = 4999;
    assert_ok(nigh__tables_find(tables, &lookup, &found, &error), &error);
    assert_int_equal(found.truncated, QUERIES);
    assert_true(found.compared >= (uint64_t)QUERIES * 4999);
    expect(&world, &found, 3, false);
    nigh__array_release(*state, &found.hits);
    nigh__tables_free(*state, tables);
    world_release(&world);
}

/* ---------------------------------------------------------------------- sizes */

static void test_sizes(void **state) {
    (void)state;
    assert_int_equal(nigh__tables_count(4, 1), 4);
    assert_int_equal(nigh__tables_count(5, 2), 10);
    assert_int_equal(nigh__tables_count(16, 2), 120);
    assert_int_equal(nigh__tables_count(16, 14), 120);
    assert_int_equal(nigh__tables_count(9, 4), 126);
    assert_int_equal(nigh__tables_count(10, 5), UINT32_MAX);
    assert_int_equal(nigh__tables_count(16, 8), UINT32_MAX);
    assert_int_equal(nigh__tables_index_bits(10000000, 64, 4, 1), 16);
    assert_int_equal(nigh__tables_index_bits(60000000, 64, 5, 2), 24);
    assert_int_equal(nigh__tables_index_bits(1024, 1024, 4, 1), 9);
    assert_int_equal(nigh__tables_index_bits(0, 64, 4, 1), 0);
    assert_int_equal(nigh__tables_index_bits(1000, 8, 8, 7), 7);
    /* 32 bytes a row, and 8 more for the row itself. */
    assert_in_range(nigh__tables_bytes(10000000, 64, 4, 1), 320000000, 323000000);
}

static void test_refused(void **state) {
    static const uint32_t cuts[][2] = {{4, 0}, {4, 4}, {4, 5}, {17, 1}, {9, 1}, {16, 8}};
    struct world world;
    world_init(&world, 8, 10, 1);
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        nigh_error error;
        struct nigh__tables *tables;
        assert_int_equal(nigh__tables_new(*state, &world.rows, cuts[c][0], cuts[c][1], 1, NULL, &tables, &error),
                         NIGH_EINVAL);
        assert_null(tables);
    }
    world_release(&world);
}

/* An allocator that knows how much it has given out and not got back. */
struct ledger {
    uint64_t bytes;
    struct {
        void *pointer;
        size_t size;
    } entries[512];
};

static void *ledger_allocate(void *user, size_t size, size_t alignment) {
    struct ledger *ledger = user;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    void *pointer = aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
    size_t at = 0;
    while (ledger->entries[at].pointer != NULL) assert_true(++at < 512);
    ledger->entries[at].pointer = pointer;
    ledger->entries[at].size = size;
    ledger->bytes += size;
    return pointer;
}

static void ledger_release(void *user, void *pointer) {
    struct ledger *ledger = user;
    for (size_t at = 0; pointer != NULL && at < 512; at++) {
        if (ledger->entries[at].pointer != pointer) continue;
        ledger->entries[at].pointer = NULL;
        ledger->bytes -= ledger->entries[at].size;
    }
    free(pointer);
}

static void test_prediction(void **state) {
    (void)state;
    static struct ledger ledger;
    const nigh_allocator allocator = {.user = &ledger, .allocate = ledger_allocate, .release = ledger_release};
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct world world;
    world_init(&world, 128, 3000, 1);
    const uint64_t before = ledger.bytes;
    for (uint32_t blocks = 2; blocks <= 8; blocks++) {
        nigh_error error;
        struct nigh__tables *tables;
        assert_ok(nigh__tables_new(context, &world.rows, blocks, blocks / 2, 1, NULL, &tables, &error), &error);
        assert_int_equal(ledger.bytes - before, nigh__tables_bytes(3000, 128, blocks, blocks / 2));
        nigh__tables_free(context, tables);
        assert_int_equal(ledger.bytes, before);
    }
    world_release(&world);
    nigh_context_free(context);
}

static void test_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct world world;
    world_init(&world, 64, 500, 4);
    const int64_t live = memory.live;
    bool complete = false;
    for (uint64_t fail_at = 0; !complete; fail_at++) {
        nigh_error error;
        struct nigh__tables *tables;
        struct nigh__found found = {.hits = NIGH__ARRAY(struct nigh__hit)};
        const struct nigh__lookup lookup = lookup_of(&world, 12);
        memory.calls = 0;
        memory.fail_at = fail_at;
        nigh_status status = nigh__tables_new(context, &world.rows, 4, 2, 1, NULL, &tables, &error);
        if (status == NIGH_OK) status = nigh__tables_find(tables, &lookup, &found, &error);
        complete = memory.calls <= fail_at;
        assert_int_equal(status, complete ? NIGH_OK : NIGH_ENOMEM);
        nigh__array_release(context, &found.hits);
        nigh__tables_free(context, tables);
        assert_int_equal(memory.live, live);
    }
    world_release(&world);
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),    cmocka_unit_test(test_many_blocks), cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_any),         cmocka_unit_test(test_budget),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_refused),     cmocka_unit_test(test_prediction),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
