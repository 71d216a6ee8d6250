/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast search of slice lists against the plain one, and what both claim against
 * every distance: over many widths, breadths, budgets and kinds of signatures.
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

#include "base/context.h"
#include "base/rng.h"
#include "kernel/hamming.h"
#include "scan/nearest.h"
#include "slices/slice_search.h"

struct set {
    nigh_context *context;
    uint64_t *rows;
    uint32_t count, words, width_bits;
    struct nigh__slices slices;
    uint32_t *distances; /* of one query to all */
};

static uint32_t below(struct nigh__rng *rng, uint32_t limit) { return (uint32_t)(nigh__rng_next(rng) % limit); }

static void clear_tail(uint64_t *row, uint32_t width_bits) {
    if (width_bits % 64 != 0) row[width_bits / 64] &= (UINT64_C(1) << width_bits % 64) - 1;
}

static void flip(struct nigh__rng *rng, uint64_t *row, uint32_t width_bits, uint32_t flips) {
    for (; flips != 0; flips--) {
        const uint32_t bit = below(rng, width_bits);
        row[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
}

/* Signatures of one kind: random, clustered, crowded around one, or with most slices the same. */
static void make_rows(struct set *set, struct nigh__rng *rng, uint32_t kind) {
    const uint32_t centres = kind == 1 ? 20 : 1;
    uint64_t *centre = calloc((size_t)centres * set->words, sizeof *centre);
    assert_non_null(centre);
    for (size_t i = 0; i < (size_t)centres * set->words; i++) centre[i] = nigh__rng_next(rng);
    for (uint32_t r = 0; r < set->count; r++) {
        uint64_t *row = set->rows + (size_t)r * set->words;
        for (uint32_t w = 0; w < set->words; w++) {
            row[w] = kind == 0 ? nigh__rng_next(rng) : centre[(size_t)(r % centres) * set->words + w];
        }
        if (kind == 1) flip(rng, row, set->width_bits, below(rng, set->width_bits / 2));
        if (kind == 2) flip(rng, row, set->width_bits, below(rng, 9));
        if (kind == 3) row[0] = nigh__rng_next(rng);
        clear_tail(row, set->width_bits);
    }
    free(centre);
}

static void set_up(struct set *set, struct nigh__rng *rng, uint32_t kind, uint32_t count, uint32_t width_bits,
                   uint32_t slice_width) {
    set->count = count;
    set->width_bits = width_bits;
    set->words = nigh__row_words(width_bits);
    set->rows = calloc((size_t)count * set->words, sizeof *set->rows);
    set->distances = calloc(count, sizeof *set->distances);
    assert_true(set->rows != NULL && set->distances != NULL);
    make_rows(set, rng, kind);
    struct nigh__slices_job job = {.context = set->context, .rows = set->rows, .count = count, .threads = 1};
    assert_true(nigh__slicing_make(width_bits, slice_width, &job.slicing));
    assert_int_equal(nigh__slices_in_memory(&job, &set->slices, NULL), NIGH_OK);
}

static void tear_down(struct set *set) {
    uint32_t *numbers;
    memcpy(&numbers, &set->slices.numbers, sizeof numbers);
    nigh__free(set->context, numbers);
    free(set->rows);
    free(set->distances);
}

static struct nigh__slice_query some_query(const struct set *set, struct nigh__rng *rng, const uint64_t *words) {
    static const uint32_t ks[] = {1, 2, 10, 100, NIGH_ALL};
    static const uint32_t limits[] = {0, 1, 5, 20, 60, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct nigh__slice_query query = {.words = words, .k = ks[below(rng, 5)], .limit = limits[below(rng, 8)]};
    query.breadth = below(rng, set->slices.slicing.most_bits > 10 ? 4 : 6);
    query.admit = below(rng, 3) == 0 ? below(rng, query.breadth + 1) : query.breadth;
    query.slices = below(rng, 3) == 0 ? 1 + below(rng, set->slices.slicing.count) : set->slices.slicing.count;
    query.candidates = below(rng, 3) == 0 ? UINT32_MAX : 1 + below(rng, below(rng, 2) == 0 ? 30 : set->count + 2);
    query.postings = below(rng, 3) == 0 ? below(rng, 4 * set->count) : NIGH_ALL_64;
    if (below(rng, 8) == 0) query.postings = below(rng, 40);
    if (below(rng, 2) == 0) query.top = query.breadth + 1 + below(rng, 6);
    return query;
}

/* What was compared is not told; but a row nearer than `below` that belongs to the answer must be in it. */
static void check_claim(const struct set *set, const struct nigh__slice_query *query,
                        const struct nigh__slice_answer *answer) {
    const uint64_t *keys = answer->keys.data;
    const size_t found = answer->keys.count;
    assert_true(answer->below <= query->limit);
    assert_true(query->k == NIGH_ALL || found <= query->k);
    for (size_t i = 0; i < found; i++) {
        const uint32_t row = nigh__key_number(keys[i]);
        assert_true(i == 0 || keys[i - 1] < keys[i]);
        assert_true(row < set->count && set->distances[row] == nigh__key_distance(keys[i]));
        assert_true(nigh__key_distance(keys[i]) < query->limit);
    }
    const uint64_t last = query->k != NIGH_ALL && found == query->k ? keys[found - 1] : UINT64_MAX;
    size_t at = 0;
    for (uint32_t d = 0; d < answer->below && d <= set->width_bits; d++) {
        for (uint32_t row = 0; row < set->count; row++) {
            if (set->distances[row] != d || nigh__key(d, row) > last) continue;
            assert_true(at < found && keys[at] == nigh__key(d, row));
            at++;
        }
    }
}

static void check_query(const struct set *set, struct nigh__slice_scratch *scratch, struct nigh__slice_scratch *other,
                        const struct nigh__slice_query *query, struct nigh__slice_answer answers[3]) {
    (void)set->context->hamming->rows(query->words, set->rows, set->count, set->words, set->distances);
    nigh_error error;
    assert_int_equal(nigh__slice_search(scratch, &set->slices, set->rows, query, &answers[0], &error), NIGH_OK);
    assert_int_equal(
        nigh__slice_search_plain(other, &set->slices, set->rows, query, NIGH__SCORE_BOUND, &answers[1], &error),
        NIGH_OK);
    assert_int_equal(answers[0].below, answers[1].below);
    assert_int_equal(answers[0].keys.count, answers[1].keys.count);
    if (answers[0].keys.count != 0)
        assert_memory_equal(answers[0].keys.data, answers[1].keys.data, answers[0].keys.count * sizeof(uint64_t));
    assert_true(answers[0].lists == answers[1].lists && answers[0].postings == answers[1].postings);
    assert_true(answers[0].skipped == answers[1].skipped && answers[0].postings <= query->postings);
    assert_int_equal(
        nigh__slice_search_plain(other, &set->slices, set->rows, query, NIGH__SCORE_PAPER, &answers[2], &error),
        NIGH_OK);
    check_claim(set, query, &answers[0]);
    check_claim(set, query, &answers[2]);
}

static void check_set(nigh_context *context, struct nigh__rng *rng, struct nigh__slice_scratch *scratch[2],
                      uint32_t round) {
    static const uint32_t widths[] = {8, 24, 64, 120, 256, 1024, 1000, 9, 31, 63, 65, 127, 1023};
    struct set set = {.context = context};
    const uint32_t width_bits = widths[below(rng, sizeof widths / sizeof widths[0])];
    const uint32_t most = width_bits < 14 ? width_bits : 14;
    const uint32_t count = round % 16 == 0 ? below(rng, 3) + 1 : 20 + below(rng, round % 5 == 0 ? 150000 : 3000);
    set_up(&set, rng, below(rng, 4), width_bits > 256 && count > 30000 ? 30000 : count, width_bits,
           4 + below(rng, most - 3));
    struct nigh__slice_answer answers[3] = {
        {.keys = NIGH__ARRAY(uint64_t)}, {.keys = NIGH__ARRAY(uint64_t)}, {.keys = NIGH__ARRAY(uint64_t)}};
    uint64_t *words = calloc(set.words, sizeof *words);
    assert_non_null(words);
    for (uint32_t q = 0; q < 12; q++) {
        memcpy(words, set.rows + (size_t)below(rng, set.count) * set.words, set.words * sizeof *words);
        if (q % 3 != 0) flip(rng, words, width_bits, below(rng, q % 3 == 1 ? 6 : width_bits / 2));
        const struct nigh__slice_query query = some_query(&set, rng, words);
        check_query(&set, scratch[0], scratch[1], &query, answers);
    }
    for (size_t a = 0; a < 3; a++) nigh__array_release(context, &answers[a].keys);
    free(words);
    tear_down(&set);
}

static void run(const char *kernel, uint32_t rounds) {
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.kernel = kernel;
    nigh_context *context;
    assert_int_equal(nigh_context_new(&options, &context, NULL), NIGH_OK);
    struct nigh__slice_scratch *scratch[2];
    for (size_t i = 0; i < 2; i++) assert_int_equal(nigh__slice_scratch_new(context, &scratch[i], NULL), NIGH_OK);
    struct nigh__rng rng = {.state = 5};
    for (uint32_t round = 0; round < rounds; round++) check_set(context, &rng, scratch, round);
    for (size_t i = 0; i < 2; i++) nigh__slice_scratch_free(scratch[i]);
    nigh_context_free(context);
}

static void test_random(void **state) {
    (void)state;
    const char *sanitize = getenv("NIGH_SANITIZE");
    run(NULL, sanitize != NULL && *sanitize != 0 ? 30 : 70);
}

static void test_generic(void **state) {
    (void)state;
    run("generic", 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_generic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
