/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The parts of the exact search: the sort, the k best, and the scan of a matrix
 * in memory against a plain loop over all rows, for every kernel and any number
 * of threads; cancelling, running out of memory, and rows that vanish.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "scan/scan.h"
#include "support/support.h"

/* The analyzer does not know that a failed assertion ends the test. */
static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* ------------------------------------------------------------ sort and nearest */

static void test_keys_sort(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 11};
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    static const size_t counts[] = {0, 1, 2, 3, 10, 511, 512, 513, 5000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            uint64_t *keys = allocate(counts[c], sizeof *keys);
            uint64_t *expected = allocate(counts[c], sizeof *keys);
            for (size_t i = 0; i < counts[c]; i++) {
                uint64_t x = nigh__rng_next(&rng);
                keys[i] = kind == 0   ? x
                          : kind == 1 ? nigh__key((uint32_t)(x % 5), (uint32_t)i)
                          : kind == 2 ? 7
                                      : ~x >> 40;
            }
            memcpy(expected, keys, counts[c] * sizeof *keys);
            qsort(expected, counts[c], sizeof *keys, compare_keys);
            /* Once with memory to spare, once without. */
            memory.fail_at = kind % 2 == 0 ? UINT64_MAX : memory.calls;
            nigh__keys_sort(context, keys, counts[c]);
            memory.fail_at = UINT64_MAX;
            assert_memory_equal(keys, expected, counts[c] * sizeof *keys);
            free(keys);
            free(expected);
        }
    }
    nigh_context_free(context);
    assert_int_equal(memory.live, 0);
}

static void test_nearest_keeps_the_first_of_equals(void **state) {
    (void)state;
    nigh_context *context = context_new();
    struct nigh__nearest nearest;
    nigh__nearest_init(&nearest, 3, 10);
    static const uint32_t distances[] = {10, 9, 9, 11, 9, 9, 4, 9, 4, 4, 4, 3};
    for (uint32_t i = 0; i < sizeof distances / sizeof distances[0]; i++)
        assert_true(nigh__nearest_add(context, &nearest, distances[i], i));
    assert_int_equal(nearest.keys.count, 3);
    assert_int_equal(nearest.limit, 4);
    nigh__keys_sort(context, nearest.keys.data, nearest.keys.count);
    const uint64_t *keys = nearest.keys.data;
    assert_int_equal(keys[0], nigh__key(3, 11));
    assert_int_equal(keys[1], nigh__key(4, 6));
    assert_int_equal(keys[2], nigh__key(4, 8));
    nigh__nearest_release(context, &nearest);
    nigh_context_free(context);
}

/* A huge k must not cost memory by itself. */
static void test_nearest_grows_as_needed(void **state) {
    (void)state;
    nigh_context *context = context_new();
    struct nigh__nearest nearest;
    nigh__nearest_init(&nearest, UINT32_MAX - 1, UINT32_MAX);
    for (uint32_t i = 0; i < 100; i++) assert_true(nigh__nearest_add(context, &nearest, 100 - i, i));
    assert_int_equal(nearest.keys.count, 100);
    assert_true(nearest.keys.capacity < 1000);
    nigh__nearest_release(context, &nearest);
    nigh_context_free(context);
}

/* ------------------------------------------------------------------- the scan */

/* A matrix, queries, and what a plain loop finds. */
struct field {
    uint32_t count;
    uint32_t words;
    size_t query_count;
    uint64_t *rows;
    uint64_t *queries;
    uint64_t *all; /* for each query, keys of all rows, sorted */
};

/* `variety` bits of each word vary: few bits make few distances and many ties. */
static void field_init(struct field *field, uint32_t count, uint32_t words, size_t query_count, unsigned variety,
                       uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    const uint64_t mask = variety >= 64 ? UINT64_MAX : (UINT64_C(1) << variety) - 1;
    *field = (struct field){.count = count, .words = words, .query_count = query_count};
    field->rows = aligned_alloc(64, ((size_t)count * words * 8 + 64) & ~(size_t)63);
    field->queries = aligned_alloc(64, (query_count * words * 8 + 64) & ~(size_t)63);
    field->all = malloc((count * query_count + 1) * sizeof *field->all);
    assert_true(field->rows != NULL && field->queries != NULL && field->all != NULL);
    for (size_t i = 0; i < (size_t)count * words; i++) field->rows[i] = nigh__rng_next(&rng) & mask;
    for (size_t i = 0; i < query_count * words; i++) field->queries[i] = nigh__rng_next(&rng) & mask;
    for (size_t q = 0; q < query_count; q++) {
        for (uint32_t r = 0; r < count; r++) {
            uint32_t distance = 0;
            for (uint32_t w = 0; w < words; w++)
                distance +=
                    (uint32_t)__builtin_popcountll(field->rows[(size_t)r * words + w] ^ field->queries[q * words + w]);
            field->all[q * count + r] = nigh__key(distance, r);
        }
        qsort(field->all + q * count, count, sizeof *field->all, compare_keys);
    }
}

static void field_release(struct field *field) {
    free(field->rows);
    free(field->queries);
    free(field->all);
}

static void check_scan(const nigh_context *context, const struct field *field, uint32_t k, uint32_t radius,
                       uint32_t threads) {
    uint32_t limits[NIGH__BATCH_QUERIES];
    struct nigh__array found[NIGH__BATCH_QUERIES];
    for (size_t q = 0; q < NIGH__BATCH_QUERIES; q++) {
        limits[q] = radius == NIGH_ALL ? UINT32_MAX : radius + 1;
        found[q] = (struct nigh__array)NIGH__ARRAY(uint64_t);
    }
    const struct nigh__scan scan = {.context = context,
                                    .rows = field->rows,
                                    .count = field->count,
                                    .words = field->words,
                                    .queries = field->queries,
                                    .query_count = field->query_count,
                                    .limits = limits,
                                    .k = k,
                                    .threads = threads};
    nigh_error error;
    assert_ok(nigh__scan(&scan, found, &error), &error);
    for (size_t q = 0; q < field->query_count; q++) {
        const uint64_t *expected = field->all + q * field->count;
        size_t count = 0;
        while (count < field->count && count < k && nigh__key_distance(expected[count]) < limits[q]) count++;
        if (found[q].count != count || (count != 0 && memcmp(found[q].data, expected, count * sizeof *expected) != 0))
            fail_msg("%s: %u rows of %u words, query %zu of %zu, k %u, radius %u, %u threads",
                     nigh_context_kernel(context), field->count, field->words, q, field->query_count, k, radius,
                     threads);
        nigh__array_release(context, &found[q]);
    }
}

static void check_field(const struct field *field) {
    const uint32_t width = field->words * 64;
    const uint32_t ks[] = {1, 2, 10, 100, field->count == 0 ? 1 : field->count, field->count + 5, NIGH_ALL};
    const uint32_t radii[] = {0, 3, width / 4, width / 2, width, NIGH_ALL};
    static const uint32_t threads[] = {1, 2, 3, 7};
    for (size_t kernel = 0; nigh_kernel_name(kernel, NULL) != NULL; kernel++) {
        int usable = 0;
        const char *name = nigh_kernel_name(kernel, &usable);
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, name);
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            for (size_t j = 0; j < sizeof radii / sizeof radii[0]; j++)
                check_scan(context, field, ks[i], radii[j], threads[(i + j) % 4]);
        }
        nigh_context_free(context);
    }
}

static void test_scan_against_a_plain_loop(void **state) {
    (void)state;
    static const struct {
        uint32_t count, words;
        size_t queries;
        unsigned variety;
    } cases[] = {
        {0, 3, 2, 64},  {1, 1, 1, 64},    {5, 16, 3, 64},    {64, 2, 64, 64}, {777, 1, 1, 3},  {777, 1, 9, 64},
        {777, 4, 5, 1}, {1500, 16, 1, 2}, {1500, 16, 8, 64}, {900, 17, 6, 2}, {130, 64, 5, 8}, {2000, 8, 64, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct field field;
        field_init(&field, cases[i].count, cases[i].words, cases[i].queries, cases[i].variety, 100 + i);
        check_field(&field);
        field_release(&field);
    }
}

/* Enough rows that several threads really run and blocks reach their full size. */
static void test_scan_of_many_rows(void **state) {
    (void)state;
    struct field field;
    field_init(&field, 70001, 16, 3, 2, 200);
    nigh_context *context = context_new();
    for (uint32_t threads = 1; threads <= 7; threads += 2) {
        check_scan(context, &field, 100, NIGH_ALL, threads);
        check_scan(context, &field, NIGH_ALL, 12, threads);
        check_scan(context, &field, 50000, NIGH_ALL, threads);
    }
    field_release(&field);

    /* One query alone takes another way through the kernels. */
    field_init(&field, 70001, 2, 1, 20, 201);
    for (size_t kernel = 0; nigh_kernel_name(kernel, NULL) != NULL; kernel++) {
        int usable = 0;
        const char *name = nigh_kernel_name(kernel, &usable);
        if (!usable) continue;
        nigh_context *other = context_with(NULL, NULL, name);
        check_scan(other, &field, 1000, NIGH_ALL, 1);
        check_scan(other, &field, NIGH_ALL, 7, 2);
        nigh_context_free(other);
    }
    nigh_context_free(context);
    field_release(&field);
}

/* ------------------------------------------------------------------- accidents */

static int refuse(void *user, const char *stage, uint64_t done, uint64_t total) {
    assert_string_equal(stage, "searching");
    assert_true(done <= total);
    (*(int *)user)++;
    return 1;
}

/* Four queries, the 1,000 nearest of each, one thread; and the answer, where there is one, is the right one. */
static nigh_status scan_four(const nigh_context *context, const struct field *field, struct nigh__progress *progress) {
    const uint32_t limits[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct nigh__array found[4] = {NIGH__ARRAY(uint64_t), NIGH__ARRAY(uint64_t), NIGH__ARRAY(uint64_t),
                                   NIGH__ARRAY(uint64_t)};
    assert_int_equal(field->query_count, 4);
    const struct nigh__scan scan = {.context = context,
                                    .rows = field->rows,
                                    .count = field->count,
                                    .words = field->words,
                                    .queries = field->queries,
                                    .query_count = 4,
                                    .limits = limits,
                                    .k = 1000,
                                    .threads = 1,
                                    .progress = progress,
                                    .progress_total = (uint64_t)field->count * 4};
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = nigh__scan(&scan, found, &error);
    assert_int_equal(error.status, status);
    for (size_t q = 0; q < 4; q++) {
        if (status == NIGH_OK)
            assert_memory_equal(found[q].data, field->all + q * field->count, 1000 * sizeof(uint64_t));
        nigh__array_release(context, &found[q]);
    }
    return status;
}

static void test_cancelling(void **state) {
    (void)state;
    struct field field;
    field_init(&field, 5000, 16, 4, 64, 300);
    nigh_context *context = context_new();
    int calls = 0;
    const nigh_progress callback = {.report = refuse, .user = &calls};
    struct nigh__progress progress;
    nigh__progress_init(&progress, &callback);
    assert_int_equal(scan_four(context, &field, &progress), NIGH_ECANCELLED);
    assert_int_equal(calls, 1);
    nigh_context_free(context);
    field_release(&field);
}

static void test_running_out_of_memory(void **state) {
    (void)state;
    struct field field;
    field_init(&field, 3000, 4, 4, 64, 400);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t live = memory.live;
    const uint64_t before = memory.calls;
    assert_int_equal(scan_four(context, &field, NULL), NIGH_OK);
    const uint64_t calls = memory.calls - before;
    uint64_t survived = 0;
    for (uint64_t n = 0; n < calls; n++) {
        memory.fail_at = memory.calls + n;
        nigh_status status = scan_four(context, &field, NULL);
        if (status == NIGH_OK) survived++;
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        assert_int_equal(memory.live, live);
    }
    assert_true(calls > 10);
    assert_int_equal(survived, 4); /* four sorts do without their scratch */
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
    field_release(&field);
}

/* Valgrind cannot enlarge the stack for a signal, so it must be large enough before there is one. */
static void enlarge_the_stack(void) {
    volatile char deep[262144];
    for (size_t i = 0; i < sizeof deep; i += 512) deep[i] = 1;
}

/* A mapped file that loses its second half during the search. */
static void test_rows_that_vanish(void **state) {
    (void)state;
    enum { ROWS = 20000, WORDS = 16 };
    enlarge_the_stack();
    const size_t length = (size_t)ROWS * WORDS * 8;
    char *folder = scratch_new();
    char *path = path_in(folder, "rows");
    FILE *file = fopen(path, "w+b");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)length), 0);
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fileno(file), 0);
    assert_true(map != MAP_FAILED);
    nigh_context *context = context_new();
    nigh_error error = {.status = NIGH_OK};
    assert_ok(nigh_fault_guard_install(&error), &error);
    const uint64_t queries[5 * WORDS] = {1, 2, 3};
    const uint32_t limits[5] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (unsigned round = 0; round < 4; round++) {
        if (round == 2) assert_int_equal(ftruncate(fileno(file), (off_t)(length / 2)), 0);
        struct nigh__array found[5] = {NIGH__ARRAY(uint64_t), NIGH__ARRAY(uint64_t), NIGH__ARRAY(uint64_t),
                                       NIGH__ARRAY(uint64_t), NIGH__ARRAY(uint64_t)};
        const struct nigh__scan scan = {.context = context,
                                        .rows = map,
                                        .count = ROWS,
                                        .words = WORDS,
                                        .map = map,
                                        .map_length = length,
                                        .queries = queries,
                                        .query_count = 5,
                                        .limits = limits,
                                        .k = 10,
                                        .threads = 1 + round % 2 * 2};
        assert_int_equal(nigh__scan(&scan, found, &error), round < 2 ? NIGH_OK : NIGH_EIO);
        for (size_t q = 0; q < 5; q++) nigh__array_release(context, &found[q]);
    }
    nigh_context_free(context);
    (void)munmap(map, length);
    (void)fclose(file);
    free(path);
    scratch_free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_sort),
        cmocka_unit_test(test_nearest_keeps_the_first_of_equals),
        cmocka_unit_test(test_nearest_grows_as_needed),
        cmocka_unit_test(test_scan_against_a_plain_loop),
        cmocka_unit_test(test_scan_of_many_rows),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_running_out_of_memory),
        cmocka_unit_test(test_rows_that_vanish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
