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

enum { COUNT = 900, TOPICS = 30, WORDS = 3, WIDTH = 64 * WORDS, K = 20, MEMBERS = 15, LEAST_NEW = 8 };

static bool bit_of(const uint64_t *row, uint32_t bit) { return (row[bit / 64] >> bit % 64 & 1) != 0; }

static uint32_t distance(const uint64_t *a, const uint64_t *b) {
    uint32_t bits = 0;
    for (uint32_t bit = 0; bit < WIDTH; bit++) bits += bit_of(a, bit) != bit_of(b, bit);
    return bits;
}

/* Topics, and a sixth of the bits flipped: what a topic is, no row says by itself. */
static uint64_t *make_rows(uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    uint64_t *rows = calloc((size_t)COUNT * WORDS, sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t bit = 0; bit < WIDTH; bit++) {
            const uint64_t topic = nigh__mix(seed * 1000 + i % TOPICS + (uint64_t)(bit / 64) * TOPICS);
            const bool flip = nigh__rng_next(&rng) % 6 == 0;
            if (((topic >> bit % 64 & 1) != 0) != flip) rows[i * WORDS + bit / 64] |= UINT64_C(1) << bit % 64;
        }
    return rows;
}

static void know_all(struct nigh__neighbours *neighbours, const nigh_context *context, const uint64_t *rows) {
    assert_true(nigh__neighbours_make(context, COUNT, K, K, false, neighbours));
    for (uint32_t u = 0; u < COUNT; u++)
        for (uint32_t v = 0; v < COUNT; v++)
            if (u != v) nigh__neighbours_offer(neighbours, u, v, distance(rows + u * WORDS, rows + v * WORDS));
}

/* ------------------------------------------------------------------ the plain way */

static void plain_row(const uint64_t *rows, const uint32_t *members, uint64_t *row) {
    memset(row, 0, WORDS * sizeof *row);
    for (uint32_t bit = 0; bit < WIDTH; bit++) {
        uint32_t set = 0;
        for (uint32_t m = 0; m < MEMBERS; m++) set += bit_of(rows + (size_t)members[m] * WORDS, bit);
        if (set > MEMBERS / 2) row[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

static uint32_t plain_centres(const struct nigh__neighbours *neighbours, const uint64_t *rows, uint32_t *nodes,
                              uint64_t *centre_rows) {
    bool covered[COUNT] = {false};
    uint32_t count = 0;
    for (uint32_t node = 0; node < COUNT; node++) {
        const uint32_t *ids = nigh__neighbours_ids(neighbours, node);
        uint32_t members[K + 1] = {node};
        uint32_t uncovered = 0;
        for (uint32_t i = 0; i < K; i++) members[i + 1] = ids[i] & ~NIGH__NEW;
        for (uint32_t i = 1; i <= K; i++) uncovered += !covered[members[i]];
        if (covered[node] || uncovered < LEAST_NEW) continue;
        for (uint32_t i = 0; i <= K; i++) covered[members[i]] = true;
        uint64_t *row = centre_rows + (size_t)count * WORDS;
        plain_row(rows, members, row);
        uint32_t best = 0;
        for (uint32_t m = 1; m < MEMBERS; m++)
            if (distance(rows + (size_t)members[m] * WORDS, row) < distance(rows + (size_t)members[best] * WORDS, row))
                best = m;
        nodes[count++] = members[best];
    }
    return count;
}

/* ---------------------------------------------------------------------- the tests */

static void equal_to_the_plain_way(void **state) {
    uint32_t nodes[COUNT];
    uint64_t *centre_rows = calloc((size_t)COUNT * WORDS, sizeof *centre_rows);
    for (uint64_t seed = 0; seed < 3; seed++) {
        uint64_t *rows = make_rows(seed);
        struct nigh__neighbours neighbours;
        know_all(&neighbours, *state, rows);
        const uint32_t count = plain_centres(&neighbours, rows, nodes, centre_rows);
        assert_in_range(count, TOPICS, COUNT / (LEAST_NEW + 1));
        for (uint32_t threads = 1; threads < 4; threads += 2) {
            struct nigh__crew crew = {.context = *state, .threads = threads};
            struct nigh__centres centres;
            assert_int_equal(nigh__centres_find(&crew, rows, WORDS, &neighbours, &centres), NIGH_OK);
            assert_int_equal(centres.count, count);
            assert_memory_equal(centres.nodes, nodes, count * sizeof *nodes);
            assert_int_equal(centres.words, WORDS);
            assert_memory_equal(centres.sketches, centre_rows, (size_t)count * WORDS * sizeof *centre_rows);
            nigh__centres_release(*state, &centres);
        }
        nigh__neighbours_release(*state, &neighbours);
        free(rows);
    }
    free(centre_rows);
}

/* A sixth of the bits, where two members differ in more than a quarter. */
static void the_middle_is_near_to_all(void **state) {
    uint64_t *rows = make_rows(5);
    struct nigh__neighbours neighbours;
    struct nigh__crew crew = {.context = *state, .threads = 1};
    struct nigh__centres centres;
    uint64_t sum = 0;
    know_all(&neighbours, *state, rows);
    assert_int_equal(nigh__centres_find(&crew, rows, WORDS, &neighbours, &centres), NIGH_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t nearest = WIDTH;
        for (uint32_t c = 0; c < centres.count; c++) {
            const uint32_t far = distance(rows + i * WORDS, centres.sketches + (size_t)c * WORDS);
            if (far < nearest) nearest = far;
        }
        sum += nearest;
    }
    assert_in_range(sum / COUNT, WIDTH / 8, WIDTH / 5);
    nigh__centres_release(*state, &centres);
    nigh__neighbours_release(*state, &neighbours);
    free(rows);
}

/* ------------------------------------------------------------------------ groups */

static uint32_t nearest_group(const uint64_t *groups, uint32_t count, const uint64_t *centre) {
    uint32_t nearest = 0;
    for (uint32_t g = 1; g < count; g++)
        if (distance(groups + g * WORDS, centre) < distance(groups + nearest * WORDS, centre)) nearest = g;
    return nearest;
}

static void plain_middles(const uint64_t *sketches, const uint32_t *group_of, uint32_t centres, uint64_t *groups,
                          uint32_t count) {
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t bit = 0; bit < WIDTH; bit++) {
            uint32_t set = 0;
            uint32_t all = 0;
            for (uint32_t c = 0; c < centres; c++) {
                all += group_of[c] == g;
                set += group_of[c] == g && bit_of(sketches + c * WORDS, bit);
            }
            const uint64_t mask = UINT64_C(1) << bit % 64;
            if (2 * set > all) groups[g * WORDS + bit / 64] |= mask;
            if (2 * set < all) groups[g * WORDS + bit / 64] &= ~mask;
        }
}

/* Evenly chosen, assigned and moved to their middle twice, assigned once more; centres then lie group by group. */
static void groups_equal_the_plain_way(void **state) {
    enum { CENTRES = 700, GROUPS = CENTRES / NIGH__CENTRES_A_GROUP + 1 };
    uint64_t *rows = make_rows(8);
    uint64_t groups[GROUPS * WORDS];
    uint32_t group_of[CENTRES];
    for (uint32_t g = 0; g < GROUPS; g++)
        memcpy(groups + g * WORDS, rows + (size_t)(g * CENTRES / GROUPS) * WORDS, WORDS * sizeof *rows);
    for (uint32_t round = 0; round < 3; round++) {
        if (round > 0) plain_middles(rows, group_of, CENTRES, groups, GROUPS);
        for (uint32_t c = 0; c < CENTRES; c++) group_of[c] = nearest_group(groups, GROUPS, rows + c * WORDS);
    }
    for (uint32_t threads = 1; threads < 4; threads += 2) {
        struct nigh__crew crew = {.context = *state, .threads = threads};
        struct nigh__centres centres = {.count = CENTRES, .words = WORDS};
        struct nigh__groups made;
        centres.nodes = nigh__alloc(*state, CENTRES, sizeof *centres.nodes);
        centres.sketches = nigh__alloc(*state, (size_t)CENTRES * WORDS, sizeof *centres.sketches);
        for (uint32_t c = 0; c < CENTRES; c++) centres.nodes[c] = 3 * c;
        memcpy(centres.sketches, rows, (size_t)CENTRES * WORDS * sizeof *rows);
        assert_int_equal(nigh__groups_make(&crew, &centres, &made), NIGH_OK);
        assert_int_equal(made.count, GROUPS);
        assert_memory_equal(made.sketches, groups, sizeof groups);
        uint32_t at = 0;
        for (uint32_t g = 0; g < GROUPS; g++) {
            assert_int_equal(made.starts[g], at);
            for (uint32_t c = 0; c < CENTRES; c++) {
                if (group_of[c] != g) continue;
                assert_int_equal(centres.nodes[at], 3 * c);
                assert_memory_equal(centres.sketches + at * WORDS, rows + c * WORDS, WORDS * sizeof *rows);
                at++;
            }
        }
        assert_int_equal(made.starts[GROUPS], CENTRES);
        nigh__free(*state, made.starts);
        nigh__free(*state, made.sketches);
        nigh__centres_release(*state, &centres);
    }
    free(rows);
}

/* Too few for a neighbourhood: none, and nothing to release. */
static void a_handful(void **state) {
    uint64_t *rows = make_rows(6);
    struct nigh__neighbours neighbours;
    struct nigh__crew crew = {.context = *state, .threads = 1};
    struct nigh__centres centres;
    assert_true(nigh__neighbours_make(*state, LEAST_NEW, LEAST_NEW, LEAST_NEW, false, &neighbours));
    for (uint32_t u = 0; u < LEAST_NEW; u++)
        for (uint32_t v = 0; v < LEAST_NEW; v++)
            if (u != v) nigh__neighbours_offer(&neighbours, u, v, distance(rows + u * WORDS, rows + v * WORDS));
    assert_int_equal(nigh__centres_find(&crew, rows, WORDS, &neighbours, &centres), NIGH_OK);
    assert_int_equal(centres.count, 0);
    nigh__centres_release(*state, &centres);
    nigh__neighbours_release(*state, &neighbours);
    free(rows);
}

static int set_up(void **state) {
    *state = context_new();
    return 0;
}

static int tear_down(void **state) {
    nigh_context_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_the_plain_way),
        cmocka_unit_test(the_middle_is_near_to_all),
        cmocka_unit_test(a_handful),
        cmocka_unit_test(groups_equal_the_plain_way),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
