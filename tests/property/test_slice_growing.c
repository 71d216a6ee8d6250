/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain search that adds ring after ring against one that starts over with each breadth: the same answers, after the
 * same breadth, whatever the widths, k, candidates, admit and limit; and no list read twice.  And the rules for what
 * need not be compared after a ring, by their definitions.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "slices/slice_search.h"
#include "support/support.h"

#define ROUNDS 120u
#define ROWS 1500u
#define MAX_WORDS 4u

/* Rows around a few centres, the query near one of them. */
static void fill(struct nigh__rng *rng, uint32_t width_bits, uint64_t *rows, uint64_t *query) {
    const uint32_t words = nigh__row_words(width_bits);
    for (uint32_t row = 0; row <= ROWS; row++) {
        uint64_t *out = row == ROWS ? query : rows + (size_t)row * words;
        const uint64_t centre = nigh__rng_next(rng) % 9;
        for (uint32_t w = 0; w < words; w++) {
            out[w] = nigh__mix(centre * 100 + w);
            uint64_t turned = UINT64_MAX; /* an eighth of the bits */
            for (int i = 0; i < 3; i++) turned &= nigh__rng_next(rng);
            if (centre < 7) out[w] ^= turned;
        }
        if (width_bits % 64 != 0) out[words - 1] &= (UINT64_C(1) << width_bits % 64) - 1;
    }
}

/* Whatever the caller wants to know of an answer: here that it has k, the k-th near enough for its breadth. */
struct wish {
    uint32_t k, distance, times;
};

static bool enough(void *user, uint32_t breadth, const struct nigh__slice_answer *answer) {
    struct wish *wish = user;
    const uint64_t *keys = answer->keys.data;
    wish->times++;
    return answer->keys.count >= wish->k && keys[wish->k - 1] >> 32 <= (uint64_t)wish->distance + breadth;
}

struct both {
    struct nigh__slice_scratch *scratch;
    struct nigh__slices slices;
    const uint64_t *rows;
};

/* Starts over with every breadth. */
static uint32_t search_anew(const struct both *both, const struct nigh__slice_query *query, struct wish *wish,
                            struct nigh__slice_answer *answer) {
    struct nigh__slice_query now = *query;
    nigh_error error;
    for (now.breadth = 0;; now.breadth++) {
        now.admit = query->admit < now.breadth ? query->admit : now.breadth;
        assert_ok(
            nigh__slice_search_plain(both->scratch, &both->slices, both->rows, &now, NIGH__SCORE_PAPER, answer, &error),
            &error);
        if (enough(wish, now.breadth, answer) || now.breadth >= query->breadth) return now.breadth;
    }
}

static void compare(const nigh_context *context, const struct both *both, const struct nigh__slice_query *query,
                    uint32_t distance) {
    struct nigh__slice_answer grown = {.keys = NIGH__ARRAY(uint64_t)}, anew = {.keys = NIGH__ARRAY(uint64_t)};
    struct wish wishes[2] = {{query->k, distance, 0}, {query->k, distance, 0}};
    uint32_t breadth = 99;
    nigh_error error;
    assert_ok(nigh__slice_search_growing(both->scratch, &both->slices, both->rows, query, enough, &wishes[0], &grown,
                                         &breadth, &error),
              &error);
    assert_int_equal(breadth, search_anew(both, query, &wishes[1], &anew));
    assert_int_equal(wishes[0].times, wishes[1].times);
    assert_int_equal(grown.keys.count, anew.keys.count);
    if (anew.keys.count != 0) assert_memory_equal(grown.keys.data, anew.keys.data, anew.keys.count * sizeof(uint64_t));
    assert_int_equal(grown.below, anew.below);
    assert_int_equal(grown.seen, anew.seen);
    assert_int_equal(grown.lists, anew.lists);
    assert_int_equal(grown.postings, anew.postings);
    assert_true(grown.compared >= anew.compared);
    nigh__array_release(context, &grown.keys);
    nigh__array_release(context, &anew.keys);
}

static void test_rings_add_up(void **state) {
    struct nigh__rng rng = {.state = 23};
    uint64_t *rows = malloc(sizeof(uint64_t) * ROWS * MAX_WORDS), words[MAX_WORDS];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t width = 16 + (uint32_t)(nigh__rng_next(&rng) % (64 * MAX_WORDS - 15));
        const uint32_t slice_width = 4 + (uint32_t)(nigh__rng_next(&rng) % 9);
        struct both both = {.rows = rows};
        nigh_error error;
        fill(&rng, width, rows, words);
        struct nigh__slices_job job = {.context = *state, .rows = rows, .count = ROWS, .threads = 1};
        assert_true(nigh__slicing_make(width, slice_width, &job.slicing));
        assert_ok(nigh__slices_in_memory(&job, &both.slices, &error), &error);
        assert_ok(nigh__slice_scratch_new(*state, &both.scratch, &error), &error);
        for (uint32_t i = 0; i < 4; i++) {
            const uint64_t draw = nigh__rng_next(&rng);
            const struct nigh__slice_query query = {
                .words = words,
                .k = 1 + (uint32_t)(draw % 20),
                .limit = draw >> 8 & 1 ? UINT32_MAX : width / 3,
                .breadth = (uint32_t)((draw >> 10) % (both.slices.slicing.most_bits + 1)),
                .admit = draw >> 16 & 1 ? UINT32_MAX : (uint32_t)((draw >> 18) % 4),
                .candidates = draw >> 24 & 1 ? 20 + (uint32_t)((draw >> 26) % 100) : UINT32_MAX,
                .slices = both.slices.slicing.count,
                .postings = NIGH_ALL_64,
            };
            compare(*state, &both, &query, (uint32_t)((draw >> 40) % (width / 4)));
        }
        nigh__slice_scratch_free(both.scratch);
        nigh__free(*state, both.slices.owned);
    }
    free(rows);
}

/* --------------------------------------------------------------------- culling */

/* What is known of a row after a ring, slice by slice. */
static void look_at(const struct both *both, const uint64_t *words, uint32_t row, uint32_t ring, uint32_t *optimistic,
                    uint32_t *pessimistic, uint32_t *distance, bool *seen) {
    const struct nigh__slicing *slicing = &both->slices.slicing;
    *optimistic = *pessimistic = *distance = 0;
    *seen = false;
    for (uint32_t s = 0; s < slicing->count; s++) {
        const struct nigh__slice slice = nigh__slicing_at(slicing, ROWS, s);
        const uint64_t *own = both->rows + (size_t)row * nigh__row_words(slicing->width_bits);
        const uint32_t apart =
            (uint32_t)__builtin_popcount(nigh__slice_value(own, slice) ^ nigh__slice_value(words, slice));
        *distance += apart;
        *optimistic += apart <= ring ? apart : ring + 1;
        *pessimistic += apart <= ring ? apart : slice.bits;
        *seen = *seen || apart <= ring;
    }
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Both rules by their definitions: rows sorted by optimistic distance, the k-th found anew for each. */
static void cull_plainly(const struct both *both, const struct nigh__slice_query *query, uint32_t ring,
                         uint64_t *by_pessimistic, uint64_t *by_distance) {
    static uint64_t rows[ROWS], pessimistic[ROWS], compared[ROWS];
    size_t count = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t optimistic, worst, distance;
        bool seen;
        look_at(both, query->words, row, ring, &optimistic, &worst, &distance, &seen);
        pessimistic[row] = worst;
        if (seen) rows[count++] = (uint64_t)optimistic << 32 | distance;
    }
    qsort(pessimistic, ROWS, sizeof *pessimistic, by_number);
    qsort(rows, count, sizeof *rows, by_number);
    *by_pessimistic = *by_distance = 0;
    for (size_t i = 0; i < count; i++) *by_pessimistic += rows[i] >> 32 <= pessimistic[query->k - 1];
    for (size_t i = 0, next; i < count; i = next) {
        if (i >= query->k && rows[i] >> 32 > compared[query->k - 1]) break;
        for (next = i; next < count && rows[next] >> 32 == rows[i] >> 32; next++) compared[next] = (uint32_t)rows[next];
        qsort(compared, next, sizeof *compared, by_number);
        *by_distance = next;
    }
}

/* The rule of the papers never compares fewer than ours. */
static void test_culling(void **state) {
    struct nigh__rng rng = {.state = 24};
    uint64_t *rows = malloc(sizeof(uint64_t) * ROWS * MAX_WORDS), words[MAX_WORDS], saved = 0;
    for (uint32_t round = 0; round < 40; round++) {
        const uint32_t width = 16 + (uint32_t)(nigh__rng_next(&rng) % (64 * MAX_WORDS - 15));
        struct both both = {.rows = rows};
        struct nigh__slice_ring rings[NIGH__SLICES_MAX_BREADTH + 1];
        nigh_error error;
        fill(&rng, width, rows, words);
        struct nigh__slices_job job = {.context = *state, .rows = rows, .count = ROWS, .threads = 1};
        assert_true(nigh__slicing_make(width, 4 + (uint32_t)(nigh__rng_next(&rng) % 9), &job.slicing));
        assert_ok(nigh__slices_in_memory(&job, &both.slices, &error), &error);
        assert_ok(nigh__slice_scratch_new(*state, &both.scratch, &error), &error);
        const struct nigh__slice_query query = {.words = words,
                                                .k = 1 + (uint32_t)(nigh__rng_next(&rng) % 30),
                                                .breadth = both.slices.slicing.most_bits,
                                                .slices = both.slices.slicing.count};
        assert_ok(nigh__slice_rings(both.scratch, &both.slices, rows, &query, rings, &error), &error);
        for (uint32_t ring = 0; ring <= query.breadth; ring++) {
            uint64_t by_pessimistic, by_distance;
            cull_plainly(&both, &query, ring, &by_pessimistic, &by_distance);
            assert_int_equal(rings[ring].by_pessimistic, by_pessimistic);
            assert_int_equal(rings[ring].by_distance, by_distance);
            assert_true(by_distance <= by_pessimistic);
            assert_true(rings[ring].by_score <= rings[ring].seen);
            saved += by_pessimistic - by_distance;
        }
        nigh__slice_scratch_free(both.scratch);
        nigh__free(*state, both.slices.owned);
    }
    assert_true(saved > 0);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rings_add_up), cmocka_unit_test(test_culling)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
