/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Batches against files of chunks where very many fingerprints and queries are equal,
 * or near each other, or share a prefix: what they compare, the memory they take, and
 * that the answers stay what they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "finder/chunk_file.h"
#include "support/support.h"

static const nigh_finder_method methods[] = {NIGH_FINDER_SCAN, NIGH_FINDER_TABLES, NIGH_FINDER_PSM};

/* Memory with a limit; before each piece stands where it begins, and its size. */
struct limited {
    size_t live, peak, most;
};

struct before {
    void *start;
    size_t size;
};

static void *limited_allocate(void *user, size_t size, size_t alignment) {
    struct limited *memory = user;
    const size_t gap = alignment < 64 ? 64 : alignment;
    const size_t now = __atomic_add_fetch(&memory->live, size, __ATOMIC_RELAXED);
    void *start = NULL;
    if (now > memory->most || posix_memalign(&start, gap, gap + size) != 0) {
        __atomic_sub_fetch(&memory->live, size, __ATOMIC_RELAXED);
        return NULL;
    }
    size_t peak = __atomic_load_n(&memory->peak, __ATOMIC_RELAXED);
    while (now > peak)
        if (__atomic_compare_exchange_n(&memory->peak, &peak, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
    const struct before before = {start, size};
    memcpy((uint8_t *)start + gap - sizeof before, &before, sizeof before);
    return (uint8_t *)start + gap;
}

static void limited_release(void *user, void *pointer) {
    struct limited *memory = user;
    struct before before;
    if (pointer == NULL) return;
    memcpy(&before, (uint8_t *)pointer - sizeof before, sizeof before);
    __atomic_sub_fetch(&memory->live, before.size, __ATOMIC_RELAXED);
    free(before.start);
}

struct crowd {
    struct limited memory;
    nigh_context *context;
    char *folder, *path;
    nigh_chunks *chunks;
    uint64_t *rows, *queries;
    uint8_t *weights;
    size_t count; /* of rows, and of queries */
};

static void crowd_init(struct crowd *crowd, size_t count) {
    *crowd = (struct crowd){.memory = {.most = (size_t)1 << 28}, .count = count};
    const nigh_allocator allocator = {&crowd->memory, limited_allocate, limited_release};
    crowd->context = context_with(NULL, &allocator, NULL);
    crowd->folder = scratch_new();
    crowd->path = path_in(crowd->folder, "crowd");
    crowd->rows = calloc(count, 8);
    crowd->queries = calloc(count, 8);
    uint8_t *weights = calloc(count, 64);
    crowd->weights = weights;
    assert_true(crowd->rows != NULL && crowd->queries != NULL);
    if (weights == NULL) {
        fail();
        return;
    }
    for (size_t i = 0; i < count * 64; i++) weights[i] = (uint8_t)(i % 64);
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_error error;
    assert_ok(nigh_chunks_open(crowd->context, crowd->path, &options, &crowd->chunks, &error), &error);
}

static void crowd_append(struct crowd *crowd) {
    nigh_error error;
    assert_ok(nigh_chunks_append(crowd->chunks, (const uint8_t *)crowd->rows, crowd->count, NULL, &error), &error);
}

static void crowd_release(struct crowd *crowd) {
    nigh_chunks_close(crowd->chunks);
    nigh_context_free(crowd->context);
    assert_int_equal(crowd->memory.live, 0);
    free(crowd->rows);
    free(crowd->queries);
    free(crowd->weights);
    free(crowd->path);
    scratch_free(crowd->folder);
}

static nigh_batch_options options_of(const struct crowd *crowd, nigh_finder_method method, nigh_find_mode mode) {
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    options.method = method;
    options.mode = mode;
    options.weights = crowd->weights;
    options.prefix_bits = 12;
    options.probes = 4;
    options.threads = 2;
    return options;
}

static nigh_results *match(struct crowd *crowd, const nigh_batch_options *options, nigh_results_info *info) {
    nigh_results *results = NULL;
    nigh_error error;
    crowd->memory.peak = crowd->memory.live;
    assert_ok(
        nigh_chunks_match(crowd->chunks, (const uint8_t *)crowd->queries, crowd->count, options, &results, &error),
        &error);
    *info = (nigh_results_info){.size = sizeof(nigh_results_info)};
    nigh_results_describe(results, info);
    return results;
}

/* Equal fingerprints and equal queries: each pair is one comparison in all, and takes no memory of its own. */
static void test_equal(void **state) {
    (void)state;
    struct crowd crowd;
    crowd_init(&crowd, 20000);
    for (size_t i = 0; i < crowd.count; i++) crowd.rows[i] = crowd.queries[i] = UINT64_C(0x123456789abcdef);
    crowd_append(&crowd);
    crowd_append(&crowd);
    for (int run = 0; run < 6; run++) {
        const nigh_find_mode mode = run < 3 ? NIGH_FIND_FIRST : NIGH_FIND_ANY;
        const nigh_batch_options options = options_of(&crowd, methods[run % 3], mode);
        nigh_results_info info;
        nigh_results *results = match(&crowd, &options, &info);
        assert_true(info.distances < 100 && info.truncated == 0);
        assert_int_equal(info.matches, crowd.count);
        for (size_t q = 0; q < crowd.count; q++) {
            size_t count;
            const nigh_match *found = nigh_results_matches(results, q, &count);
            assert_true(count == 1 && found->document == 0 && found->distance == 0);
        }
        assert_true(crowd.memory.peak - crowd.memory.live < (size_t)16 << 20);
        nigh_results_free(results);
    }
    crowd_release(&crowd);
}

/* With `all` there is a match for every pair: these take memory, and little else does. */
static void test_equal_all(void **state) {
    (void)state;
    struct crowd crowd;
    crowd_init(&crowd, 2000);
    for (size_t i = 0; i < crowd.count; i++) crowd.rows[i] = crowd.queries[i] = UINT64_MAX;
    crowd_append(&crowd);
    for (size_t m = 0; m < 3; m++) {
        nigh_batch_options options = options_of(&crowd, methods[m], NIGH_FIND_ALL);
        options.bucket_budget = 1; /* equal ones are one */
        nigh_results_info info;
        nigh_results *results = match(&crowd, &options, &info);
        assert_true(info.matches == crowd.count * crowd.count && info.truncated == 0 && info.distances < 100);
        for (size_t q = 0; q < crowd.count; q += 99) {
            size_t count;
            const nigh_match *found = nigh_results_matches(results, q, &count);
            assert_int_equal(count, crowd.count);
            for (size_t i = 0; i < count; i++) assert_int_equal(found[i].document, i);
        }
        const size_t needed = crowd.count * crowd.count * sizeof(nigh_match);
        assert_true(crowd.memory.peak < needed + needed / 4 + ((size_t)10 << 20));
        nigh_results_free(results);
    }
    crowd_release(&crowd);
}

/* All within a few bits of each other, and all different: one match for a query is kept, whoever finds it. */
static void test_near(void **state) {
    (void)state;
    struct crowd crowd;
    crowd_init(&crowd, 6000);
    struct nigh__rng rng = {3};
    for (size_t i = 0; i < crowd.count; i++) {
        crowd.rows[i] = UINT64_C(0xabc) << 52 | UINT64_C(1) << nigh__rng_next(&rng) % 50;
        crowd.rows[i] |= UINT64_C(1) << nigh__rng_next(&rng) % 50;
        crowd.queries[i] = UINT64_C(0xabc) << 52 | UINT64_C(1) << nigh__rng_next(&rng) % 50;
        crowd.queries[i] |= UINT64_C(1) << nigh__rng_next(&rng) % 50;
    }
    crowd_append(&crowd);
    for (int run = 0; run < 6; run++) {
        const nigh_find_mode mode = run < 3 ? NIGH_FIND_FIRST : NIGH_FIND_ANY;
        nigh_batch_options options = options_of(&crowd, methods[run % 3], mode);
        nigh_results_info info;
        nigh_results_info alone;
        options.radius = 4;
        nigh_results *results = match(&crowd, &options, &info);
        assert_true(crowd.memory.peak < (size_t)24 << 20);
        options.threads = 1;
        nigh_results *others = match(&crowd, &options, &alone);
        assert_int_equal(info.distances, alone.distances);
        if (mode == NIGH_FIND_ANY && run % 3 != 1) assert_true(info.distances < UINT64_C(2000) * 600); /* a tile each */
        for (size_t q = 0; q < crowd.count; q++) {
            size_t count;
            size_t other_count;
            const nigh_match *found = nigh_results_matches(results, q, &count);
            const nigh_match *other = nigh_results_matches(others, q, &other_count);
            assert_true(count == 1 && other_count == 1);
            assert_memory_equal(found, other, sizeof *found);
            if (mode == NIGH_FIND_FIRST) assert_int_equal(found->document, 0); /* all are within 4 bits */
        }
        nigh_results_free(results);
        nigh_results_free(others);
    }
    crowd_release(&crowd);
}

/* A crowd that shares its prefix, and has no other likeness, over several blocks: no more than the budget. */
static void test_budget(void **state) {
    (void)state;
    struct crowd crowd;
    enum { ROWS = NIGH__BLOCK_FINGERPRINTS + 40000, QUERIES = 10 };
    crowd_init(&crowd, ROWS);
    struct nigh__rng rng = {4};
    for (size_t i = 0; i < ROWS; i++) crowd.rows[i] = nigh__rng_next(&rng) >> 12;
    crowd_append(&crowd);
    for (size_t i = 0; i < QUERIES; i++) crowd.queries[i] = nigh__rng_next(&rng) >> 12;
    crowd.count = QUERIES;
    static const uint64_t budgets[] = {100, 1,   NIGH__BLOCK_FINGERPRINTS, NIGH__BLOCK_FINGERPRINTS + 7, ROWS - 1,
                                       0,   ROWS};
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++)
        for (uint32_t threads = 1; threads < 4; threads += 2) {
            nigh_batch_options options = options_of(&crowd, NIGH_FINDER_PSM, NIGH_FIND_ALL);
            options.bucket_budget = budgets[i];
            options.threads = threads;
            options.probes = 1;
            nigh_results_info info;
            nigh_results_free(match(&crowd, &options, &info));
            const uint64_t budget = budgets[i] == 0 ? 1 << 18 : budgets[i];
            assert_int_equal(info.distances, QUERIES * (budget < ROWS ? budget : ROWS));
            assert_int_equal(info.truncated, budget < ROWS ? QUERIES : 0);
            assert_int_equal(info.exact, 0);
        }
    /* The other way round: fingerprints look into tables of many queries. */
    crowd.count = 20000;
    memcpy(crowd.queries, crowd.rows, crowd.count * 8);
    nigh_batch_options options = options_of(&crowd, NIGH_FINDER_TABLES, NIGH_FIND_FIRST);
    options.bucket_budget = 3;
    nigh_results_info info;
    nigh_results_free(match(&crowd, &options, &info));
    assert_true(info.truncated > 0 && info.exact == 0);
    crowd_release(&crowd);
}

static void assert_same_matches(const nigh_results *a, const nigh_results *b, size_t queries) {
    for (size_t q = 0; q < queries; q++) {
        size_t count;
        size_t other_count;
        const nigh_match *found = nigh_results_matches(a, q, &count);
        const nigh_match *other = nigh_results_matches(b, q, &other_count);
        assert_int_equal(count, other_count);
        for (size_t i = 0; i < count; i++)
            assert_true(found[i].document == other[i].document && found[i].distance == other[i].distance);
    }
}

/* Very many of both that share 16 bits, wherever these are, and few of them near: about linear, and nothing missed. */
static void test_shared_bits(void **state) {
    (void)state;
    struct crowd crowd;
    crowd_init(&crowd, 12000);
    struct nigh__rng rng = {5};
    for (size_t i = 0; i < crowd.count; i++) {
        crowd.rows[i] = nigh__rng_next(&rng) >> 16 | UINT64_C(0xbeef) << 48;
        crowd.queries[i] = nigh__rng_next(&rng) >> 16 | UINT64_C(0xbeef) << 48;
        if (i % 3 != 0) continue;
        crowd.queries[i] = crowd.rows[nigh__rng_next(&rng) % (i + 1)];
        for (int flip = 0; flip < 3; flip++) crowd.queries[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 48;
    }
    crowd_append(&crowd);
    crowd_append(&crowd);
    for (int run = 0; run < 9; run++) {
        nigh_batch_options options = options_of(&crowd, NIGH_FINDER_SCAN, (nigh_find_mode)(run / 3));
        nigh_results_info info;
        nigh_results *expected = match(&crowd, &options, &info);
        assert_true(info.matches >= crowd.count / 3);
        options.method = methods[run % 3];
        options.threads = 3;
        options.probes = 1;
        nigh_results *results = match(&crowd, &options, &info);
        assert_same_matches(expected, results, crowd.count);
        assert_int_equal(info.truncated, 0);
        if (run % 3 != 0) assert_true(info.distances < 200 * crowd.count);
        nigh_results_free(expected);
        nigh_results_free(results);
    }
    crowd_release(&crowd);
}

/* A crowd that cannot be divided, all of it being near, has a budget for each look-up, and says so. */
static void test_near_budget(void **state) {
    (void)state;
    struct crowd crowd;
    crowd_init(&crowd, 9000);
    struct nigh__rng rng = {6};
    for (size_t i = 0; i < crowd.count; i++) {
        crowd.rows[i] = crowd.queries[i] = UINT64_C(0xabc) << 52;
        for (int flip = 0; flip < 3; flip++) {
            crowd.rows[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 50;
            crowd.queries[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 50;
        }
    }
    crowd_append(&crowd);
    for (size_t m = 1; m < 3; m++) {
        nigh_results_info infos[2];
        for (uint32_t threads = 1; threads < 3; threads++) {
            nigh_batch_options options = options_of(&crowd, methods[m], NIGH_FIND_FIRST);
            options.bucket_budget = 1000;
            options.threads = threads;
            nigh_results_free(match(&crowd, &options, &infos[threads - 1]));
        }
        assert_true(infos[0].truncated > 0 && infos[0].exact == 0);
        assert_true(infos[0].distances <= UINT64_C(1000) * 4 * crowd.count);
        assert_int_equal(infos[0].distances, infos[1].distances);
        assert_int_equal(infos[0].truncated, infos[1].truncated);
    }
    crowd_release(&crowd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),  cmocka_unit_test(test_equal_all),   cmocka_unit_test(test_near),
        cmocka_unit_test(test_budget), cmocka_unit_test(test_shared_bits), cmocka_unit_test(test_near_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
