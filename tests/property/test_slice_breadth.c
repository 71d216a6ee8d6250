/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More breadth finds no less (Chappell et al., 2015, figure 2): of the true ten nearest
 * the share that is among M candidates, for widths of signatures and slices and every
 * breadth that a slice has.  Scores of eight bits once stayed at 255 for most rows from
 * some breadth on, and candidates were then whatever stood first.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "scan/nearest.h"
#include "slices/slice_search.h"
#include "support/support.h"

#define ROWS 1500u
#define QUERIES 12u
#define NEAREST 10u
#define CANDIDATES 60u
#define CENTRES 12u
#define MAX_WORDS 16u
#define MAX_BREADTH 12u
#define CHANCE 0.04 /* that a share of 120 may fall by */

struct world {
    uint32_t width_bits, words;
    uint64_t rows[ROWS + QUERIES][MAX_WORDS]; /* the queries behind the others */
    uint64_t packed[ROWS * MAX_WORDS];
    uint32_t truth[QUERIES]; /* the distance of the tenth */
};

/* About a quarter of the bits of a centre are turned. */
static void row_make(struct nigh__rng *rng, uint32_t words, uint64_t *row) {
    const uint64_t centre = nigh__rng_next(rng) % CENTRES;
    for (uint32_t w = 0; w < words; w++) {
        const uint64_t half = nigh__rng_next(rng);
        row[w] = nigh__mix(centre * MAX_WORDS + w + 1) ^ (half & nigh__rng_next(rng));
    }
}

static uint32_t distance_of(const struct world *world, const uint64_t *a, const uint64_t *b) {
    uint32_t sum = 0;
    for (uint32_t w = 0; w < world->words; w++) sum += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
    return sum;
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void world_make(struct world *world, uint32_t width_bits) {
    struct nigh__rng rng = {.state = width_bits};
    uint32_t distances[ROWS];
    world->width_bits = width_bits;
    world->words = width_bits / 64;
    for (uint32_t i = 0; i < ROWS + QUERIES; i++) row_make(&rng, world->words, world->rows[i]);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t w = 0; w < world->words; w++) world->packed[i * world->words + w] = world->rows[i][w];
    for (uint32_t q = 0; q < QUERIES; q++) {
        for (uint32_t i = 0; i < ROWS; i++) distances[i] = distance_of(world, world->rows[i], world->rows[ROWS + q]);
        qsort(distances, ROWS, sizeof *distances, ascending);
        world->truth[q] = distances[NEAREST - 1];
    }
}

/* The share of answers that are as near as the tenth nearest. */
static double recall_of(const nigh_context *context, const struct world *world, struct nigh__slice_scratch *scratch,
                        const struct nigh__slices *slices, uint32_t breadth) {
    struct nigh__slice_answer answer = {.keys = NIGH__ARRAY(uint64_t)};
    uint32_t found = 0;
    nigh_error error;
    for (uint32_t q = 0; q < QUERIES; q++) {
        const struct nigh__slice_query query = {.words = world->rows[ROWS + q],
                                                .k = NEAREST,
                                                .limit = UINT32_MAX,
                                                .breadth = breadth,
                                                .admit = breadth,
                                                .candidates = CANDIDATES,
                                                .slices = slices->slicing.count,
                                                .postings = NIGH_ALL_64};
        assert_ok(nigh__slice_search(scratch, slices, world->packed, &query, &answer, &error), &error);
        const uint64_t *keys = answer.keys.data;
        for (size_t i = 0; i < answer.keys.count; i++) found += nigh__key_distance(keys[i]) <= world->truth[q];
    }
    nigh__array_release(context, &answer.keys);
    return (double)(found < QUERIES * NEAREST ? found : QUERIES * NEAREST) / (QUERIES * NEAREST);
}

static void expect_no_fall(nigh_context *context, const struct world *world, uint32_t slice_width) {
    struct nigh__slices slices;
    struct nigh__slice_scratch *scratch = NULL;
    nigh_error error;
    struct nigh__slices_job job = {.context = context, .rows = world->packed, .count = ROWS, .threads = 1};
    assert_true(nigh__slicing_make(world->width_bits, slice_width, &job.slicing));
    assert_ok(nigh__slices_in_memory(&job, &slices, &error), &error);
    assert_ok(nigh__slice_scratch_new(context, &scratch, &error), &error);
    double best = 0;
    for (uint32_t breadth = 0; breadth < slice_width && breadth <= MAX_BREADTH; breadth++) {
        const double recall = recall_of(context, world, scratch, &slices, breadth);
        if (recall < best - CHANCE)
            fail_msg("%" PRIu32 " bits in slices of %" PRIu32 ", breadth %" PRIu32 ": recall %.3f after %.3f",
                     world->width_bits, slice_width, breadth, recall, best);
        best = recall > best ? recall : best;
    }
    assert_true(best > 0.9); /* all bits of a slice say all there is to know of it */
    nigh__slice_scratch_free(scratch);
    nigh__free(context, slices.owned);
}

static void more_breadth_finds_no_less(void **state) {
    static const uint32_t widths[] = {64, 128, 256, 512, 1024};
    static const uint32_t slice_widths[] = {6, 8, 11, 14};
    struct world *world = malloc(sizeof *world);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        world_make(world, widths[w]);
        for (size_t s = 0; s < sizeof slice_widths / sizeof slice_widths[0]; s++)
            expect_no_fall(*state, world, slice_widths[s]);
    }
    free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_breadth_finds_no_less)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
