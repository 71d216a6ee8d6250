/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbourhoods, their centres and groups of these, against a plain way to find them: bit by bit, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "graph/grouping.h"
#include "support/support.h"

enum { COUNT = 900, TOPICS = 30, MAX_WORDS = 10, MAX_K = 20, MEMBERS = 15, MIN_NEW = 8 };

static bool bit_of(const uint64_t *row, uint32_t bit) { return (row[bit / 64] >> bit % 64 & 1) != 0; }

static uint32_t distance(const uint64_t *a, const uint64_t *b, uint32_t words) {
    uint32_t bits = 0;
    for (uint32_t w = 0; w < words; w++) bits += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
    return bits;
}

/* Topics, and a sixth of the bits flipped: what a topic is, no row says by itself. */
static uint64_t *make_rows(uint32_t count, uint32_t words, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    uint64_t *rows = calloc((size_t)count * words, sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t bit = 0; bit < 64 * words; bit++) {
            const uint64_t topic = nigh__mix(seed * 1000 + i % TOPICS + (uint64_t)(bit / 64) * TOPICS);
            const bool flip = nigh__rng_next(&rng) % 6 == 0;
            if (((topic >> bit % 64 & 1) != 0) != flip) rows[(size_t)i * words + bit / 64] |= UINT64_C(1) << bit % 64;
        }
    return rows;
}

static void know_all(struct nigh__neighbours *neighbours, const nigh_context *context, const uint64_t *rows,
                     uint32_t count, uint32_t words, uint32_t k) {
    assert_true(nigh__neighbours_make(context, count, k, k, false, neighbours));
    for (uint32_t u = 0; u < count; u++)
        for (uint32_t v = 0; v < count; v++)
            if (u != v)
                nigh__neighbours_offer(neighbours, u, v,
                                       distance(rows + (size_t)u * words, rows + (size_t)v * words, words));
}

/* ------------------------------------------------------------------ the plain way */

static void plain_row(const uint64_t *rows, uint32_t words, const uint32_t *members, uint32_t count, uint64_t *row) {
    memset(row, 0, words * sizeof *row);
    for (uint32_t bit = 0; bit < 64 * words; bit++) {
        uint32_t set = 0;
        for (uint32_t m = 0; m < count; m++) set += bit_of(rows + (size_t)members[m] * words, bit);
        if (2 * set > count) row[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* Whole rows of centres, of which a sketch is the beginning. */
static uint32_t plain_centres(const struct nigh__neighbours *neighbours, const uint64_t *rows, uint32_t words,
                              uint32_t *nodes, uint64_t *centre_rows) {
    const uint32_t k = neighbours->k;
    const uint32_t most = k + 1 < MEMBERS ? k + 1 : MEMBERS;
    bool covered[COUNT] = {false};
    uint32_t count = 0;
    for (uint32_t node = 0; node < COUNT; node++) {
        const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
        uint32_t members[MAX_K + 1] = {node};
        uint32_t uncovered = 0;
        for (uint32_t i = 0; i < k; i++) members[i + 1] = ids[i] & ~NIGH__NEW;
        for (uint32_t i = 1; i <= k; i++) uncovered += !covered[members[i]];
        if (covered[node] || uncovered < MIN_NEW) continue;
        for (uint32_t i = 0; i <= k; i++) covered[members[i]] = true;
        const uint32_t odd = most % 2 == 0 ? most - 1 : most;
        uint64_t *row = centre_rows + (size_t)count * words;
        plain_row(rows, words, members, odd, row);
        uint32_t best = 0;
        for (uint32_t m = 1; m < odd; m++)
            if (distance(rows + (size_t)members[m] * words, row, words) <
                distance(rows + (size_t)members[best] * words, row, words))
                best = m;
        nodes[count++] = members[best];
    }
    return count;
}

/* ---------------------------------------------------------------------- centres */

static void expect_plain(const nigh_context *context, uint32_t words, uint32_t k, uint64_t seed) {
    static uint32_t nodes[COUNT];
    static uint64_t centre_rows[COUNT * MAX_WORDS];
    uint64_t *rows = make_rows(COUNT, words, seed);
    struct nigh__neighbours neighbours;
    know_all(&neighbours, context, rows, COUNT, words, k);
    const uint32_t count = plain_centres(&neighbours, rows, words, nodes, centre_rows);
    assert_in_range(count, TOPICS, COUNT / (MIN_NEW + 1));
    for (uint32_t threads = 1; threads < 4; threads += 2) {
        struct nigh__parallel parallel = {.context = context, .threads = threads};
        struct nigh__centres centres;
        assert_int_equal(nigh__centres_find(&parallel, rows, NULL, words, &neighbours, &centres), NIGH_OK);
        assert_int_equal(centres.count, count);
        assert_int_equal(centres.words, words < 8 ? words : 8);
        assert_memory_equal(centres.nodes, nodes, count * sizeof *nodes);
        for (uint32_t c = 0; c < count; c++)
            assert_memory_equal(centres.sketches + (size_t)c * centres.words, centre_rows + (size_t)c * words,
                                centres.words * sizeof *centre_rows);
        nigh__centres_release(context, &centres);
    }
    nigh__neighbours_release(context, &neighbours);
    free(rows);
}

/* Also where rows are longer than sketches, and where members are few, or an even number. */
static void equal_to_the_plain_way(void **state) {
    const uint32_t ks[] = {8, 9, 13, 14, MAX_K};
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) expect_plain(*state, 3, ks[i], i);
    expect_plain(*state, MAX_WORDS, MAX_K, 7);
}

/* A sixth of the bits, where two members differ in more than a quarter. */
static void the_middle_is_near_to_all(void **state) {
    enum { WORDS = 3 };
    uint64_t *rows = make_rows(COUNT, WORDS, 5);
    struct nigh__neighbours neighbours;
    struct nigh__parallel parallel = {.context = *state, .threads = 1};
    struct nigh__centres centres;
    uint64_t sum = 0;
    know_all(&neighbours, *state, rows, COUNT, WORDS, MAX_K);
    assert_int_equal(nigh__centres_find(&parallel, rows, NULL, WORDS, &neighbours, &centres), NIGH_OK);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t nearest = UINT32_MAX;
        for (size_t c = 0; c < centres.count; c++) {
            const uint32_t far = distance(rows + i * WORDS, centres.sketches + c * WORDS, WORDS);
            if (far < nearest) nearest = far;
        }
        sum += nearest;
    }
    assert_in_range(sum / COUNT, 64 * WORDS / 8, 64 * WORDS / 5);
    nigh__centres_release(*state, &centres);
    nigh__neighbours_release(*state, &neighbours);
    free(rows);
}

/* Eight have too few neighbours to be a neighbourhood, nine are one. */
static void a_handful(void **state) {
    for (uint32_t count = MIN_NEW; count <= MIN_NEW + 1; count++) {
        uint64_t *rows = make_rows(count, 1, 6);
        struct nigh__neighbours neighbours;
        struct nigh__parallel parallel = {.context = *state, .threads = 1};
        struct nigh__centres centres;
        know_all(&neighbours, *state, rows, count, 1, count - 1);
        assert_int_equal(nigh__centres_find(&parallel, rows, NULL, 1, &neighbours, &centres), NIGH_OK);
        assert_int_equal(centres.count, count - MIN_NEW);
        nigh__centres_release(*state, &centres);
        nigh__neighbours_release(*state, &neighbours);
        free(rows);
    }
}

/* ------------------------------------------------------------------------ groups */

static void plain_middles(const uint64_t *sketches, uint32_t words, const uint32_t *group_of, uint32_t centres,
                          uint64_t *groups, uint32_t count) {
    for (uint32_t bit = 0; bit < 64 * words; bit++) {
        int32_t *more = calloc(count, sizeof *more); /* that have the bit, than that have not */
        for (uint32_t c = 0; c < centres; c++) more[group_of[c]] += bit_of(sketches + (size_t)c * words, bit) ? 1 : -1;
        for (uint32_t g = 0; g < count; g++) {
            const uint64_t mask = UINT64_C(1) << bit % 64;
            if (more[g] > 0) groups[(size_t)g * words + bit / 64] |= mask;
            if (more[g] < 0) groups[(size_t)g * words + bit / 64] &= ~mask;
        }
        free(more);
    }
}

/* Evenly chosen, assigned and moved to their middle twice, assigned once more. */
static void plain_groups(const uint64_t *sketches, uint32_t words, uint32_t centres, uint64_t *groups, uint32_t count,
                         uint32_t *group_of) {
    for (uint32_t g = 0; g < count; g++)
        memcpy(groups + (size_t)g * words, sketches + (size_t)((uint64_t)g * centres / count) * words,
               words * sizeof(uint64_t));
    for (uint32_t round = 0; round < 3; round++) {
        if (round > 0) plain_middles(sketches, words, group_of, centres, groups, count);
        for (uint32_t c = 0; c < centres; c++) {
            uint32_t least = UINT32_MAX;
            for (uint32_t g = 0; g < count; g++) {
                const uint32_t far = distance(groups + (size_t)g * words, sketches + (size_t)c * words, words);
                if (far < least) group_of[c] = g;
                if (far < least) least = far;
            }
        }
    }
}

/* Centres then lie group by group, in each as they lay before. */
static void expect_in_order(const struct nigh__centres *centres, const struct nigh__groups *groups,
                            const uint64_t *sketches, const uint32_t *group_of) {
    uint32_t *next = calloc(groups->count, sizeof *next);
    const size_t words = centres->words;
    memcpy(next, groups->starts, groups->count * sizeof *next);
    for (uint32_t c = 0; c < centres->count; c++) {
        const size_t at = next[group_of[c]]++;
        assert_int_equal(centres->nodes[at], 3 * c);
        assert_memory_equal(centres->sketches + at * words, sketches + c * words, words * sizeof *sketches);
    }
    assert_int_equal(groups->starts[0], 0);
    for (uint32_t g = 0; g < groups->count; g++) assert_int_equal(next[g], groups->starts[g + 1]);
    free(next);
}

static struct nigh__centres given_centres(const nigh_context *context, const uint64_t *sketches, uint32_t count,
                                          uint32_t words) {
    struct nigh__centres centres = {.count = count, .words = words};
    centres.nodes = nigh__alloc(context, count, sizeof *centres.nodes);
    centres.sketches = nigh__alloc(context, (size_t)count * words, sizeof *centres.sketches);
    assert_true(centres.nodes != NULL && centres.sketches != NULL);
    for (uint32_t c = 0; c < count; c++) centres.nodes[c] = 3 * c;
    memcpy(centres.sketches, sketches, (size_t)count * words * sizeof *sketches);
    return centres;
}

/* Also more groups than are compared at once, of so few bits that many are as near. */
static void groups_equal_the_plain_way(void **state) {
    const struct { uint32_t centres, words; } cases[] = {{1, 2}, {23, 2}, {24, 2}, {700, 3}, {13000, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t count = cases[i].centres;
        const uint32_t words = cases[i].words;
        const uint32_t group_count = count / NIGH__CENTRES_A_GROUP + 1;
        uint64_t *rows = make_rows(count, words, 8);
        uint64_t *groups = calloc((size_t)group_count * words, sizeof *groups);
        uint32_t *group_of = calloc(count, sizeof *group_of);
        plain_groups(rows, words, count, groups, group_count, group_of);
        for (uint32_t threads = 1; threads < 4; threads += 2) {
            struct nigh__parallel parallel = {.context = *state, .threads = threads};
            struct nigh__centres centres = given_centres(*state, rows, count, words);
            struct nigh__groups made;
            assert_int_equal(nigh__groups_make(&parallel, &centres, &made), NIGH_OK);
            assert_int_equal(made.count, group_count);
            assert_memory_equal(made.sketches, groups, (size_t)group_count * words * sizeof *groups);
            expect_in_order(&centres, &made, rows, group_of);
            nigh__groups_release(*state, &made);
            nigh__centres_release(*state, &centres);
        }
        free(group_of);
        free(groups);
        free(rows);
    }
}

/* Someone asked to stop: nothing is lost. */
static void stopped(void **state) {
    uint64_t *rows = make_rows(COUNT, 1, 9);
    struct nigh__neighbours neighbours;
    struct nigh__parallel parallel = {.context = *state, .threads = 1};
    struct nigh__centres centres;
    struct nigh__groups groups;
    know_all(&neighbours, *state, rows, COUNT, 1, MAX_K);
    atomic_store(&parallel.cancelled, true);
    assert_int_equal(nigh__centres_find(&parallel, rows, NULL, 1, &neighbours, &centres), NIGH_ECANCELLED);
    nigh__centres_release(*state, &centres);
    centres = given_centres(*state, rows, COUNT, 1);
    assert_int_equal(nigh__groups_make(&parallel, &centres, &groups), NIGH_ECANCELLED);
    nigh__groups_release(*state, &groups);
    nigh__centres_release(*state, &centres);
    nigh__neighbours_release(*state, &neighbours);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_the_plain_way),
        cmocka_unit_test(the_middle_is_near_to_all),
        cmocka_unit_test(a_handful),
        cmocka_unit_test(groups_equal_the_plain_way),
        cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
