/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Slice lists against lists made bit by bit: any width of signatures and slices, rows that are random, clustered, all
 * equal or nearly constant, few and enough for buckets; and the same numbers from any number of threads.  A file that
 * is cut short meanwhile is an error.
 */
#include <inttypes.h>
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

#include "base/memory.h"
#include "base/rng.h"
#include "slices/slices.h"
#include "support/support.h"

#define ROUNDS 250u

enum kind { RANDOM, CLUSTERED, EQUAL, SPARSE, COUNTING, KINDS };

static void fill_row(struct nigh__rng *rng, enum kind kind, uint32_t number, uint64_t *row, uint32_t width_bits) {
    const uint32_t words = nigh__row_words(width_bits);
    for (uint32_t w = 0; w < words; w++) {
        if (kind == RANDOM) row[w] = nigh__rng_next(rng);
        if (kind == CLUSTERED) row[w] = nigh__mix(nigh__rng_next(rng) % 5 * 100 + w);
        if (kind == EQUAL) row[w] = nigh__mix(w);
        if (kind == SPARSE) row[w] = nigh__rng_next(rng) & nigh__mix(nigh__rng_next(rng)) & 0x8421842184218421u;
        if (kind == COUNTING) row[w] = number;
    }
    if (kind == CLUSTERED) row[nigh__rng_next(rng) % words] ^= UINT64_C(1) << nigh__rng_next(rng) % 64;
    if (width_bits % 64 != 0) row[words - 1] &= (UINT64_C(1) << width_bits % 64) - 1;
}

static uint64_t *make_rows(struct nigh__rng *rng, enum kind kind, uint32_t count, uint32_t width_bits) {
    const uint32_t words = nigh__row_words(width_bits);
    uint64_t *rows = malloc((size_t)count * words * sizeof *rows + 1);
    assert_non_null(rows);
    for (uint32_t i = 0; i < count; i++) fill_row(rng, kind, i, rows + (size_t)i * words, width_bits);
    return rows;
}

/* Bit by bit, knowing nothing of words. */
static uint32_t plain_value(const uint64_t *row, uint32_t start, uint32_t bits) {
    const uint8_t *bytes = (const uint8_t *)row;
    uint32_t value = 0;
    for (uint32_t i = 0; i < bits; i++) {
        const uint32_t bit = start + i;
        value |= (uint32_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    }
    return value;
}

/* Goes once through the numbers of a slice of so many bits; returns what follows them. */
static const uint32_t *expect_slice(const uint64_t *rows, uint32_t count, uint32_t words, uint32_t start, uint32_t bits,
                                    const uint32_t *numbers) {
    const size_t values = (size_t)1 << bits;
    const uint32_t *ids = numbers + values + 1;
    uint8_t *seen = calloc(count + 1, 1);
    assert_non_null(seen);
    assert_int_equal(numbers[0], 0);
    assert_int_equal(numbers[values], count);
    for (size_t value = 0; value < values; value++) {
        if (numbers[value] > numbers[value + 1]) fail_msg("starts descend at %zu", value);
        for (uint32_t i = numbers[value]; i < numbers[value + 1]; i++) {
            if (ids[i] >= count || seen[ids[i]]) fail_msg("id %" PRIu32 " at %" PRIu32, ids[i], i);
            seen[ids[i]] = 1;
            if (i > numbers[value] && ids[i - 1] >= ids[i]) fail_msg("ids descend at %" PRIu32, i);
            if (plain_value(rows + (size_t)ids[i] * words, start, bits) != value)
                fail_msg("id %" PRIu32 " in the list of %zu", ids[i], value);
        }
    }
    free(seen); /* each list is part of 0..count, which they cover: so every row was seen once */
    return ids + count;
}

static void expect_lists(const uint64_t *rows, uint32_t count, uint32_t width_bits, uint32_t slice_width,
                         const uint32_t *numbers) {
    const uint32_t slices = (width_bits + slice_width - 1) / slice_width;
    uint32_t start = 0;
    for (uint32_t i = 0; i < slices; i++) {
        const uint32_t bits = width_bits / slices + (i < width_bits % slices);
        numbers = expect_slice(rows, count, nigh__row_words(width_bits), start, bits, numbers);
        start += bits;
    }
    assert_int_equal(start, width_bits);
}

static uint32_t *make(nigh_context *context, const uint64_t *rows, uint32_t count, uint32_t width_bits,
                      uint32_t slice_width, uint32_t threads, uint64_t *length) {
    struct nigh__slices slices;
    nigh_error error;
    struct nigh__slices_job job = {.context = context, .rows = rows, .count = count, .threads = threads};
    assert_true(nigh__slicing_make(width_bits, slice_width, &job.slicing));
    *length = nigh__slicing_numbers(&job.slicing, count);
    assert_int_equal(*length * 4, nigh_slices_bytes(count, width_bits, slice_width));
    assert_ok(nigh__slices_in_memory(&job, &slices, &error), &error);
    return slices.owned;
}

static void compare(nigh_context *context, struct nigh__rng *rng, enum kind kind, uint32_t count, uint32_t width_bits,
                    uint32_t slice_width) {
    static const uint32_t threads[] = {2, 3, 7};
    uint64_t *rows = make_rows(rng, kind, count, width_bits);
    uint64_t length;
    uint64_t other_length;
    uint32_t *numbers = make(context, rows, count, width_bits, slice_width, 1, &length);
    expect_lists(rows, count, width_bits, slice_width, numbers);
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        uint32_t *other = make(context, rows, count, width_bits, slice_width, threads[t], &other_length);
        assert_int_equal(length, other_length);
        assert_memory_equal(numbers, other, (size_t)length * sizeof *numbers);
        nigh__free(context, other);
    }
    nigh__free(context, numbers);
    free(rows);
}

/* Widths as they come; wide slices seldom, since they are as large whatever they hold. */
static uint32_t random_slice_width(struct nigh__rng *rng, uint32_t width_bits) {
    const uint32_t most = nigh__rng_next(rng) % 16 == 0 ? 17 : 12;
    const uint32_t width = NIGH_MIN_SLICE_WIDTH + (uint32_t)(nigh__rng_next(rng) % (most - 3));
    return width < width_bits ? width : width_bits;
}

static void lists_are_those_of_the_rows(void **state) {
    struct nigh__rng rng = {.state = 17};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t most = round % 4 == 0 ? 512 : round % 4 == 1 ? 8 : 64;
        const uint32_t width_bits = 4 + (uint32_t)(nigh__rng_next(&rng) % (8 * most - 3));
        const uint32_t count = (uint32_t)(nigh__rng_next(&rng) % (round % 8 == 0 ? 3 : 160000 / width_bits + 40));
        compare(*state, &rng, (enum kind)(round % KINDS), count, width_bits, random_slice_width(&rng, width_bits));
    }
}

/* Several threads only from some thousand rows on. */
static void threads_make_the_same(void **state) {
    struct nigh__rng rng = {.state = 18};
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        compare(*state, &rng, (enum kind)kind, 70000, 64, 8 + kind);
        compare(*state, &rng, (enum kind)kind, 9000, 200, 11);
    }
}

static void buckets_make_the_same(void **state) {
    struct nigh__rng rng = {.state = 19};
    for (uint32_t kind = 0; kind < KINDS; kind++)
        compare(*state, &rng, (enum kind)kind, (1u << 18) + 77, 40, kind == 0 ? 20 : 16 + kind);
    compare(*state, &rng, RANDOM, (1u << 18) + 1, 32, 16);
}

static void widest_slices_work(void **state) {
    struct nigh__rng rng = {.state = 20};
    compare(*state, &rng, RANDOM, 500, 24, 24);
    compare(*state, &rng, CLUSTERED, 500, 24, 22);
}

/* Half of the rows are there; the rest of the map is past the end of the file. */
static void rows_that_cannot_be_read_are_an_error(void **state) {
    const size_t length = (size_t)100000 * 8;
    char *scratch = scratch_new();
    char *path = path_in(scratch, "rows");
    nigh_error error = {.status = NIGH_OK};
    assert_ok(nigh_fault_guard_install(&error), &error);
    FILE *file = fopen(path, "w+b");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)length), 0);
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fileno(file), 0);
    assert_true(map != MAP_FAILED);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct nigh__slices slices;
        struct nigh__slices_job job = {
            .context = *state, .rows = map, .count = 100000, .threads = threads, .map = map, .map_length = length};
        assert_true(nigh__slicing_make(64, 8, &job.slicing));
        assert_int_equal(ftruncate(fileno(file), (off_t)length), 0);
        assert_ok(nigh__slices_in_memory(&job, &slices, &error), &error);
        nigh__free(*state, slices.owned);
        assert_int_equal(ftruncate(fileno(file), (off_t)length / 2), 0);
        assert_int_equal(nigh__slices_in_memory(&job, &slices, &error), NIGH_EIO);
        assert_int_equal(error.status, NIGH_EIO);
    }
    assert_int_equal(munmap(map, length), 0);
    assert_int_equal(fclose(file), 0);
    free(path);
    scratch_free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_those_of_the_rows),
        cmocka_unit_test(threads_make_the_same),
        cmocka_unit_test(buckets_make_the_same),
        cmocka_unit_test(widest_slices_work),
        cmocka_unit_test(rows_that_cannot_be_read_are_an_error),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
