/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel against a count of single bits, at every length and alignment,
 * with the bytes ending on a page that may not be read: one byte too far and
 * the test dies.  Kernels that this CPU cannot run are named and left out.
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

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/hamming.h"
#include "nigh.h"
#include "support/kernel_support.h"

#define MAX_BYTES 8192u
#define ARENA_BYTES ((size_t)2 << 20)

static uint32_t distance_by_bits(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint32_t distance = 0;
    for (size_t i = 0; i < bytes; i++) {
        for (int bit = 0; bit < 8; bit++) distance += ((a[i] ^ b[i]) >> bit) & 1;
    }
    return distance;
}

/* The next kernel that runs here; NULL at the end. */
static const struct nigh__hamming *next_kernel(size_t *index) {
    for (const struct nigh__hamming *kernel; (kernel = nigh__hamming_at(*index)) != NULL;) {
        (*index)++;
        if ((kernel->needs & ~nigh__cpu_features()) == 0) return kernel;
        print_message("           %s: not on this CPU, skipped\n", kernel->name);
    }
    return NULL;
}

/* ------------------------------------------------------------------ registry */

static void test_registry(void **state) {
    (void)state;
    size_t count = 0;
    for (; nigh__hamming_at(count) != NULL; count++) {
        int usable = -1;
        const struct nigh__hamming *kernel = nigh__hamming_at(count);
        assert_string_equal(nigh_kernel_name(count, &usable), kernel->name);
        assert_string_equal(nigh_kernel_name(count, NULL), kernel->name);
        assert_int_equal(usable, (kernel->needs & ~nigh__cpu_features()) == 0);
        assert_ptr_equal(nigh__hamming_choose(kernel->name), usable ? kernel : NULL);
    }
    assert_true(count >= 1);
    assert_string_equal(nigh__hamming_at(count - 1)->name, "generic");
    assert_int_equal(nigh__hamming_at(count - 1)->needs, 0);
    assert_null(nigh_kernel_name(count, NULL));
    assert_null(nigh__hamming_choose("abacus"));
    size_t index = 0;
    assert_ptr_equal(nigh__hamming_choose(NULL), next_kernel(&index));
}

static void test_distance_through_a_context(void **state) {
    (void)state;
    const uint8_t a[3] = {0xff, 0x00, 0x81};
    const uint8_t b[3] = {0x00, 0x00, 0x01};
    for (size_t i = 0; nigh_kernel_name(i, NULL) != NULL; i++) {
        nigh_context_options options;
        nigh_context_options_init(&options);
        options.kernel = nigh_kernel_name(i, NULL);
        nigh_context *context = NULL;
        int usable = 0;
        (void)nigh_kernel_name(i, &usable);
        if (!usable) {
            assert_int_equal(nigh_context_new(&options, &context, NULL), NIGH_EINVAL);
            continue;
        }
        assert_int_equal(nigh_context_new(&options, &context, NULL), NIGH_OK);
        assert_string_equal(nigh_context_kernel(context), options.kernel);
        assert_int_equal(nigh_distance(context, a, b, 3), 9);
        assert_int_equal(nigh_distance(context, a, b, 0), 0);
        nigh_context_free(context);
    }
}

/* ---------------------------------------------------------------------- pair */

/* All lengths to 300, then some up to the longest. */
static size_t next_length(size_t length) {
    static const size_t later[] = {311, 511, 512, 513, 1000, 1024, 2047, 4096, 4100, 8191, MAX_BYTES};
    if (length < 300) return length + 1;
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        if (later[i] > length) return later[i];
    }
    return SIZE_MAX;
}

static void test_pair(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 1};
    struct arena a;
    struct arena b;
    arena_init(&a, MAX_BYTES + 64, &rng);
    arena_init(&b, MAX_BYTES + 64, &rng);
    const struct nigh__hamming *kernel;
    for (size_t index = 0; (kernel = next_kernel(&index)) != NULL;) {
        for (size_t length = 0; length != SIZE_MAX; length = next_length(length)) {
            /* Both at the end, then each at every other alignment. */
            for (size_t back = 0; back < 64; back++) {
                const uint8_t *x = a.end - length - back;
                const uint8_t *y = b.end - length - (back * 7) % 64;
                uint32_t expected = distance_by_bits(x, y, length);
                if (kernel->pair(x, y, length) != expected || kernel->pair(y, x, length) != expected)
                    fail_msg("%s: %zu bytes, %zu from the end", kernel->name, length, back);
            }
        }
    }
    arena_release(&a);
    arena_release(&b);
}

/* ---------------------------------------------------------------------- rows */

static void check_rows(const struct nigh__hamming *kernel, const struct arena *rows, const struct arena *query,
                       size_t words, size_t count) {
    const uint64_t *from = (const uint64_t *)(const void *)(rows->end - count * words * 8);
    const uint64_t *q = (const uint64_t *)(const void *)(query->end - words * 8);
    uint32_t distances[72];
    uint32_t smallest = UINT32_MAX;
    memset(distances, 0xee, sizeof distances);
    uint32_t returned = kernel->rows(q, from, count, words, distances);
    for (size_t i = 0; i < count; i++) {
        uint32_t expected = distance_by_bits((const uint8_t *)q, (const uint8_t *)(from + i * words), words * 8);
        if (expected < smallest) smallest = expected;
        if (distances[i] != expected)
            fail_msg("%s: row %zu of %zu, %zu words: %u, not %u", kernel->name, i, count, words, distances[i],
                     expected);
    }
    assert_int_equal(distances[count], 0xeeeeeeee);
    assert_int_equal(returned, smallest);
}

static void test_rows(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 2};
    struct arena rows;
    struct arena query;
    arena_init(&rows, ARENA_BYTES, &rng);
    arena_init(&query, MAX_BYTES, &rng);
    const struct nigh__hamming *kernel;
    for (size_t index = 0; (kernel = next_kernel(&index)) != NULL;) {
        for (size_t words = 1; words <= 1024; words = next_words(words)) {
            const size_t step = words <= 20 ? 1 : words <= 70 ? 7 : 23;
            for (size_t count = 0; count <= 70; count += step) check_rows(kernel, &rows, &query, words, count);
        }
    }
    arena_release(&rows);
    arena_release(&query);
}

/* Nothing may overflow on the way to the greatest distance there is. */
static void test_rows_at_the_extremes(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 3};
    struct arena rows;
    arena_init(&rows, ARENA_BYTES, &rng);
    memset(rows.start, 0xff, (size_t)(rows.end - rows.start));
    static const uint64_t zeros[1024];
    const struct nigh__hamming *kernel;
    for (size_t index = 0; (kernel = next_kernel(&index)) != NULL;) {
        for (size_t words = 1; words <= 1024; words = next_words(words)) {
            uint32_t distances[9];
            const uint64_t *from = (const uint64_t *)(const void *)(rows.end - 9 * words * 8);
            assert_int_equal(kernel->rows(zeros, from, 9, words, distances), 64 * words);
            for (size_t i = 0; i < 9; i++) assert_int_equal(distances[i], 64 * words);
            assert_int_equal(kernel->rows(from, from, 9, words, distances), 0);
            assert_int_equal(kernel->pair((const uint8_t *)zeros, (const uint8_t *)from, words * 8), 64 * words);
        }
    }
    arena_release(&rows);
}

/* --------------------------------------------------------------------- batch */

struct batch_case {
    const struct nigh__hamming *kernel;
    const uint64_t *queries;
    size_t query_count;
    const uint64_t *rows;
    size_t count;
    size_t words;
    uint32_t limits[NIGH__BATCH_QUERIES];
};

static void check_batch(const struct batch_case *c, struct nigh__hit *hits, const uint32_t *expected) {
    size_t found = c->kernel->batch(c->queries, c->query_count, c->rows, c->count, c->words, c->limits, hits);
    const struct expected_hits want = {c->kernel->name, c->words, c->query_count, c->count, c->limits, expected};
    check_hits(&want, hits, found);
}

/* What the definition finds, and every kernel must. */
static void check_batch_of_all(struct batch_case *c, struct nigh__rng *rng, struct nigh__hit *hits,
                               uint32_t *expected) {
    const struct nigh__hamming *portable = nigh__hamming_choose("generic");
    for (size_t q = 0; q < c->query_count; q++) {
        (void)portable->rows(c->queries + q * c->words, c->rows, c->count, c->words, expected + q * c->count);
        c->limits[q] = pick_limit(rng, expected + q * c->count, c->count);
    }
    for (size_t index = 0; (c->kernel = nigh__hamming_at(index)) != NULL; index++) {
        if ((c->kernel->needs & ~nigh__cpu_features()) == 0) check_batch(c, hits, expected);
    }
}

/* Rows that are a query but for some words in a row: near or far, early or late, is all there is. */
static void fill_with_windows(const struct batch_case *c, uint64_t *rows, struct nigh__rng *rng) {
    for (size_t r = 0; r < c->count; r++) {
        const uint64_t *query = c->queries + nigh__rng_next(rng) % c->query_count * c->words;
        const size_t first = nigh__rng_next(rng) % c->words;
        const size_t end = first + nigh__rng_next(rng) % (c->words - first + 1);
        uint64_t flips = nigh__rng_next(rng);
        flips &= nigh__rng_next(rng);
        for (size_t w = 0; w < c->words; w++) rows[r * c->words + w] = query[w] ^ (w >= first && w < end ? flips : 0);
    }
}

static void test_batch(void **state) {
    const bool windows = *state != NULL;
    static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 48, 64, 65, 100, 129};
    static const size_t counts[] = {0, 1, 63, 64, 65, 128, 191, 300};
    static const size_t query_counts[] = {1, 2, 3, 4, 5, 7, 8, 33, 64};
    struct nigh__rng rng = {.state = 4};
    struct arena rows;
    struct arena queries;
    arena_init(&rows, ARENA_BYTES, &rng);
    arena_init(&queries, (size_t)NIGH__BATCH_QUERIES * MAX_BYTES, &rng);
    struct nigh__hit *hits = allocate(NIGH__BATCH_QUERIES, 300 * sizeof *hits);
    uint32_t *expected = allocate(NIGH__BATCH_QUERIES, 300 * sizeof *expected);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            for (size_t m = 0; m < sizeof query_counts / sizeof query_counts[0]; m++) {
                struct batch_case c = {.words = widths[w], .count = counts[n], .query_count = query_counts[m]};
                uint64_t *from = (uint64_t *)(void *)(rows.end - c.count * c.words * 8);
                c.rows = from;
                c.queries = (const uint64_t *)(const void *)(queries.end - c.query_count * c.words * 8);
                if (windows) fill_with_windows(&c, from, &rng);
                check_batch_of_all(&c, &rng, hits, expected);
            }
        }
    }
    free(expected);
    free(hits);
    arena_release(&rows);
    arena_release(&queries);
}

/* The widest rows, equal and opposite, for a batch that is large enough for every special way. */
static void test_batch_at_the_extremes(void **state) {
    (void)state;
    enum { QUERIES = 6, ROWS = 64 };
    struct nigh__rng rng = {.state = 5};
    struct arena rows;
    arena_init(&rows, (size_t)ROWS * MAX_BYTES, &rng);
    uint64_t *queries = allocate((size_t)QUERIES * 1024, 8);
    struct nigh__hit hits[QUERIES * ROWS];
    const struct nigh__hamming *kernel;
    for (size_t index = 0; (kernel = next_kernel(&index)) != NULL;) {
        for (size_t words = 1; words <= 1024; words *= 2) {
            const uint64_t *from = (const uint64_t *)(const void *)(rows.end - ROWS * words * 8);
            const uint32_t widest = (uint32_t)(64 * words);
            memset(rows.start, 0xff, (size_t)(rows.end - rows.start));
            memset(queries, 0, QUERIES * words * 8);
            memset(queries + words, 0xff, words * 8);
            const uint32_t limits[QUERIES] = {widest, 1, widest + 1, UINT32_MAX, 0, widest};
            size_t found = kernel->batch(queries, QUERIES, from, ROWS, words, limits, hits);
            assert_int_equal(found, 3 * ROWS);
            for (size_t h = 0; h < found; h++) assert_int_equal(hits[h].distance, hits[h].query == 1 ? 0 : widest);
        }
    }
    free(queries);
    arena_release(&rows);
}

int main(void) {
    static char windows[] = "windows";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_distance_through_a_context),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_at_the_extremes),
        cmocka_unit_test(test_batch),
        {"test_batch_of_windows", test_batch, NULL, NULL, windows},
        cmocka_unit_test(test_batch_at_the_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
