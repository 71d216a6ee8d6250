/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel for masked and weighted distances against a count of single bits, for every
 * number of planes, with rows, queries and planes that end on a page that may not be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/weighted.h"
#include "support/kernel_support.h"

#define MAX_WORDS 1024u
#define SOME 19u /* rows: two eights and some */
#define ROWS 300u

/* The next kernel that runs here; NULL at the end. */
static const struct nigh__weighted *next_kernel(size_t *index) {
    for (const struct nigh__weighted *kernel; (kernel = nigh__weighted_at(*index)) != NULL;) {
        (*index)++;
        if ((kernel->needs & ~nigh__cpu_features()) == 0) return kernel;
        print_message("           %s: not on this CPU, skipped\n", kernel->name);
    }
    return NULL;
}

static bool bit_at(const uint64_t *words, size_t bit) { return (words[bit / 64] >> bit % 64 & 1) != 0; }

static uint32_t distance_by_bits(const uint64_t *query, const uint64_t *planes, uint32_t plane_count,
                                 const uint64_t *row, size_t words) {
    uint32_t distance = 0;
    for (size_t bit = 0; bit < words * 64; bit++) {
        if (bit_at(query, bit) == bit_at(row, bit)) continue;
        for (uint32_t p = 0; p < plane_count; p++) distance += (uint32_t)bit_at(planes + p * words, bit) << p;
    }
    return distance;
}

/* ------------------------------------------------------------------ registry */

static void test_registry(void **state) {
    (void)state;
    size_t count = 0;
    for (const struct nigh__weighted *kernel; (kernel = nigh__weighted_at(count)) != NULL; count++) {
        const bool usable = (kernel->needs & ~nigh__cpu_features()) == 0;
        if (usable) assert_ptr_equal(nigh__weighted_choose(kernel->name), kernel);
        assert_true(kernel->batch != NULL && kernel->one != NULL && kernel->pair != NULL);
        /* Where there is a distance kernel for a CPU, there is one for these: else a masked search would be slower. */
        assert_string_equal(nigh__hamming_at(count)->name, kernel->name);
    }
    assert_null(nigh__hamming_at(count));
    assert_string_equal(nigh__weighted_at(count - 1)->name, "generic");
    assert_ptr_equal(nigh__weighted_choose("abacus"), nigh__weighted_at(count - 1));
    assert_string_equal(nigh__weighted_choose(NULL)->name, nigh__hamming_choose(NULL)->name);
}

/* -------------------------------------------------------------- one and pair */

static void check_one(const struct nigh__weighted *kernel, const struct arena memory[3], size_t words) {
    const uint64_t *query = arena_words(&memory[0], words);
    const uint64_t *row = arena_words(&memory[1], words);
    for (uint32_t count = 1; count <= NIGH__PLANES; count++) {
        const uint64_t *planes = arena_words(&memory[2], count * words);
        const uint32_t expected = distance_by_bits(query, planes, count, row, words);
        if (kernel->one(query, planes, count, row, words) != expected)
            fail_msg("%s: %zu words, %u planes", kernel->name, words, count);
    }
}

static void check_pair(const struct nigh__weighted *kernel, const struct arena memory[3], size_t words) {
    const uint64_t *a = arena_words(&memory[0], words);
    const uint64_t *b = arena_words(&memory[1], words);
    const uint64_t *mask_a = arena_words(&memory[2], words);
    const uint64_t *mask_b = mask_a - words; /* the other mask ends where this one begins */
    for (int turn = 0; turn < 2; turn++) {
        const struct nigh__two_distances found = kernel->pair(a, mask_a, b, mask_b, words);
        if (found.under_a != distance_by_bits(a, mask_a, 1, b, words) ||
            found.under_b != distance_by_bits(a, mask_b, 1, b, words))
            fail_msg("%s: pair of %zu words", kernel->name, words);
        const uint64_t *other = mask_a;
        mask_a = mask_b;
        mask_b = other;
    }
}

/* Rows that end at a guard page, all by one call. */
static void check_pairs(const struct nigh__weighted *kernel, const struct arena memory[3], size_t words) {
    const uint64_t *one = arena_words(&memory[0], words);
    const uint64_t *mask = arena_words(&memory[1], words);
    const size_t most = (size_t)NIGH__PLANES / 2 * MAX_WORDS / words;
    const size_t count = most < SOME ? most : SOME;
    const uint64_t *masks = arena_words(&memory[2], count * words);
    const uint64_t *rows = masks - count * words;
    uint32_t under_one[SOME];
    uint32_t under_row[SOME];
    nigh__weighted_pairs(kernel, one, mask, rows, masks, count, words, under_one, under_row);
    for (size_t i = 0; i < count; i++)
        if (under_one[i] != distance_by_bits(one, mask, 1, rows + i * words, words) ||
            under_row[i] != distance_by_bits(one, masks + i * words, 1, rows + i * words, words))
            fail_msg("%s: pairs of %zu words", kernel->name, words);
}

/* The same of rows in the bits that planes say. */
static void check_rows(const struct nigh__weighted *kernel, const struct arena memory[3], size_t words) {
    const size_t most = MAX_WORDS / words;
    const size_t count = most < SOME ? most : SOME;
    const uint64_t *rows = arena_words(&memory[0], count * words);
    for (uint32_t planes = 1; planes <= NIGH__PLANES; planes++) {
        const struct nigh__asked asked = {arena_words(&memory[1], words), arena_words(&memory[2], planes * words),
                                          planes};
        uint32_t distances[SOME];
        uint32_t least = UINT32_MAX;
        const uint32_t smallest = nigh__weighted_rows(kernel, &asked, rows, count, words, distances);
        for (size_t i = 0; i < count; i++) {
            if (distances[i] != distance_by_bits(asked.query, asked.planes, planes, rows + i * words, words))
                fail_msg("%s: row %zu of %zu words by %u planes", kernel->name, i, words, planes);
            if (distances[i] < least) least = distances[i];
        }
        assert_int_equal(smallest, least);
        assert_int_equal(nigh__weighted_rows(kernel, &asked, rows, 0, words, distances), UINT32_MAX);
    }
}

static void test_one_and_pair(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 1};
    struct arena memory[3];
    arena_init(&memory[0], (size_t)MAX_WORDS * 8, &rng);
    arena_init(&memory[1], (size_t)MAX_WORDS * 8, &rng);
    arena_init(&memory[2], (size_t)NIGH__PLANES * MAX_WORDS * 8, &rng);
    const struct nigh__weighted *kernel;
    for (size_t index = 0; (kernel = next_kernel(&index)) != NULL;) {
        for (size_t words = 1; words <= MAX_WORDS; words = next_words(words)) {
            check_one(kernel, memory, words);
            check_pair(kernel, memory, words);
            check_pairs(kernel, memory, words);
            check_rows(kernel, memory, words);
        }
    }
    for (size_t i = 0; i < 3; i++) arena_release(&memory[i]);
}

/* --------------------------------------------------------------------- batch */

struct memory {
    struct arena rows, queries, planes;
    struct nigh__rng rng;
    struct nigh__hit *hits;
    uint32_t *expected;
};

static void memory_init(struct memory *memory, uint64_t seed) {
    memory->rng = (struct nigh__rng){.state = seed};
    arena_init(&memory->rows, (size_t)ROWS * 8 * 129, &memory->rng);
    arena_init(&memory->queries, (size_t)NIGH__BATCH_QUERIES * MAX_WORDS * 8, &memory->rng);
    arena_init(&memory->planes, (size_t)NIGH__BATCH_QUERIES * NIGH__PLANES * MAX_WORDS * 8, &memory->rng);
    memory->hits = allocate(NIGH__BATCH_QUERIES, ROWS * sizeof *memory->hits);
    memory->expected = allocate(NIGH__BATCH_QUERIES, ROWS * sizeof *memory->expected);
}

static void memory_release(struct memory *memory) {
    arena_release(&memory->rows);
    arena_release(&memory->queries);
    arena_release(&memory->planes);
    free(memory->hits);
    free(memory->expected);
}

/* Planes as texts make them: most words of a sparse one are empty, and so are whole planes of some queries. */
static void make_sparse(uint64_t *planes, size_t count, struct nigh__rng *rng) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t choice = nigh__rng_next(rng) % 8;
        planes[i] = choice < 4 ? 0 : UINT64_C(1) << nigh__rng_next(rng) % 64;
        if (choice == 7) planes[i] = nigh__rng_next(rng);
    }
}

static void check_batch(struct memory *memory, size_t words, size_t count, size_t query_count, uint32_t plane_count) {
    const struct nigh__weighted *portable = nigh__weighted_choose("generic");
    const uint64_t *rows = arena_words(&memory->rows, count * words);
    const uint64_t *queries = arena_words(&memory->queries, query_count * words);
    uint64_t *own = arena_words(&memory->planes, query_count * plane_count * words);
    const struct nigh__planes planes = {own, plane_count};
    uint32_t limits[NIGH__BATCH_QUERIES];
    if (nigh__rng_next(&memory->rng) % 2 == 0) make_sparse(own, query_count * plane_count * words, &memory->rng);
    for (size_t q = 0; q < query_count; q++) {
        uint32_t *expected = memory->expected + q * count;
        for (size_t r = 0; r < count; r++)
            expected[r] =
                portable->one(queries + q * words, own + q * plane_count * words, plane_count, rows + r * words, words);
        limits[q] = pick_limit(&memory->rng, expected, count);
    }
    for (size_t i = 0; nigh__weighted_at(i) != NULL; i++) {
        const struct nigh__weighted *kernel = nigh__weighted_at(i);
        if ((kernel->needs & ~nigh__cpu_features()) != 0) continue;
        const size_t found = kernel->batch(queries, &planes, query_count, rows, count, words, limits, memory->hits);
        const struct expected_hits want = {kernel->name, words, query_count, count, limits, memory->expected};
        check_hits(&want, memory->hits, found);
    }
}

/* Every width to 70 words with a few queries; the numbers of rows and queries differ from one to the next. */
static void test_batch_of_every_width(void **state) {
    (void)state;
    struct memory memory;
    memory_init(&memory, 2);
    for (size_t words = 1; words <= 70; words++) {
        for (uint32_t planes = 1; planes <= NIGH__PLANES; planes++) {
            check_batch(&memory, words, 64 + words % 9, 1 + words % 3, planes);
            check_batch(&memory, words, 128 + words % 7, 4 + words % 9, planes);
        }
    }
    for (uint32_t planes = 1; planes <= NIGH__PLANES; planes++) {
        check_batch(&memory, 129, 70, 9, planes);
        check_batch(&memory, MAX_WORDS, 20, 5, planes);
    }
    memory_release(&memory);
}

static void test_batch_of_every_count(void **state) {
    (void)state;
    static const size_t widths[] = {1, 2, 3, 4, 8, 16, 17, 33};
    static const size_t counts[] = {0, 1, 7, 8, 63, 64, 65, 128, ROWS};
    struct memory memory;
    memory_init(&memory, 3);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            check_batch(&memory, widths[w], counts[n], 1 + n, NIGH__PLANES);
            check_batch(&memory, widths[w], counts[n], NIGH__BATCH_QUERIES - n, 1 + n % NIGH__PLANES);
        }
    }
    for (size_t queries = 0; queries <= NIGH__BATCH_QUERIES; queries++) {
        check_batch(&memory, 16, 70, queries, 1);
        check_batch(&memory, 16, 70, queries, NIGH__PLANES);
    }
    memory_release(&memory);
}

/* Nothing may overflow on the way to the greatest distance there is, from few queries or many. */
static void test_extremes(void **state) {
    (void)state;
    enum { QUERIES = 9, FEW = 65 };
    uint64_t *zeros = allocate((size_t)QUERIES * MAX_WORDS, 8);
    uint64_t *ones = allocate((size_t)FEW * MAX_WORDS, 8);
    uint64_t *all = allocate((size_t)QUERIES * NIGH__PLANES * MAX_WORDS, 8);
    static struct nigh__hit hits[QUERIES * FEW + 1];
    memset(ones, 0xff, (size_t)FEW * MAX_WORDS * 8);
    memset(all, 0xff, (size_t)QUERIES * NIGH__PLANES * MAX_WORDS * 8);
    const struct nigh__weighted *kernel;
    for (size_t index = 0; (kernel = next_kernel(&index)) != NULL;) {
        for (size_t words = 1; words <= MAX_WORDS; words = next_words(words)) {
            const uint32_t planes_set = words % 2 == 0 ? NIGH__PLANES : 1 + (uint32_t)words % 3;
            const uint32_t widest = (uint32_t)(64 * words) * ((1u << planes_set) - 1);
            const uint32_t limits[QUERIES] = {widest, 1, widest + 1, UINT32_MAX, 0, widest, widest, widest, widest};
            const struct nigh__planes planes = {all, planes_set};
            assert_int_equal(kernel->batch(zeros, &planes, QUERIES, ones, FEW, words, limits, hits), 2 * FEW);
            for (size_t h = 0; h < (size_t)2 * FEW; h++) assert_int_equal(hits[h].distance, widest);
            assert_int_equal(kernel->one(zeros, all, planes_set, ones, words), widest);
        }
    }
    free(zeros);
    free(ones);
    free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_one_and_pair),
        cmocka_unit_test(test_batch_of_every_width),
        cmocka_unit_test(test_batch_of_every_count),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
