/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every variant of adding up columns against one row and one bit at a time: all numbers of planes, halves and whole
 * groups, doublings, both polarities, bounds that come down and that go up again, and columns that end where memory
 * does.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/column_adder.h"

#define COLUMNS 64u
#define BLOCK_BYTES ((size_t)COLUMNS * NIGH__COLUMN_BYTES)
#define AREA ((size_t)65536) /* of whatever page size a multiple, and more than BLOCK_BYTES */
#define MAX_GROUPS 60u
#define HALF (NIGH__COLUMN_GROUP / 2)

/* One case, and what is expected of it. */
struct trial {
    struct nigh__column_group groups[MAX_GROUPS];
    struct nigh__column_groups all;
    uint32_t checks;
    uint32_t greatest[MAX_GROUPS]; /* that stays at each check */
    struct nigh__column_bound bounds[MAX_GROUPS];
    bool left[NIGH__COLUMN_ROWS];
    uint32_t counts[NIGH__COLUMN_ROWS];
    uint32_t left_count;
};

static uint8_t *area_make(void) {
    uint8_t *memory = mmap(NULL, 2 * AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + AREA, AREA, PROT_NONE), 0);
    return memory + AREA; /* here it ends */
}

static void area_free(uint8_t *end) { assert_int_equal(munmap(end - AREA, 2 * AREA), 0); }

/* Bits that are set with a chance of share / 256: all columns differ in few rows, in most, or in either. */
static void fill(struct nigh__rng *rng, uint8_t *block, uint32_t share) {
    memset(block, 0, BLOCK_BYTES);
    for (size_t i = 0; i < BLOCK_BYTES * 8; i++)
        block[i / 8] = (uint8_t)(block[i / 8] | ((nigh__rng_next(rng) >> 20 & 255) < share) << i % 8);
}

static bool differs(const uint8_t *block, uint32_t offset, uint32_t row, bool inverted) {
    return (block[offset + row / 8] >> row % 8 & 1) != inverted;
}

/* ------------------------------------------------------------------- what is asked -- */

/* What the counters can come to after a group, each row differing in all there is. */
static uint32_t most_after(uint32_t before, const struct nigh__column_group *group) {
    return (before << group->doublings) + (group->single ? HALF : NIGH__COLUMN_GROUP);
}

/* Groups until the counters need exactly `planes`, or there is no room for more groups; `planes` 8: at most. */
static void draw_groups(struct nigh__rng *rng, struct trial *trial, uint32_t planes) {
    uint32_t most = 0;
    trial->all = (struct nigh__column_groups){.groups = trial->groups, .planes = planes};
    while (trial->all.count < MAX_GROUPS) {
        const uint64_t draw = nigh__rng_next(rng);
        struct nigh__column_group group = {.inverted = draw & 3,
                                           .single = (draw >> 2) % 3 == 0,
                                           .doublings = (uint8_t)((draw >> 4) % 4 == 0 ? (draw >> 6) % 4 : 0),
                                           .checked = (draw >> 10) % 3 == 0};
        if (trial->all.count == 0) group.doublings = 0;
        for (uint32_t i = 0; i < NIGH__COLUMN_GROUP; i++)
            group.offsets[i] = (uint32_t)(nigh__rng_next(rng) % COLUMNS) * NIGH__COLUMN_BYTES;
        if (most_after(most, &group) >> planes != 0) break;
        most = most_after(most, &group);
        trial->groups[trial->all.count++] = group;
    }
    trial->groups[trial->all.count - 1].checked = 1;
}

static void set_bound(struct nigh__column_bound *bound, uint32_t greatest) {
    const uint32_t words = (1u << NIGH__COLUMN_PLANES) - 1 - greatest;
    for (uint32_t p = 0; p < NIGH__COLUMN_PLANES; p++) bound->words[p] = (words >> p & 1) != 0 ? UINT64_MAX : 0;
}

static uint32_t count_group(const uint8_t *block, const struct nigh__column_group *group, uint32_t row) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < (group->single ? HALF : NIGH__COLUMN_GROUP); i++)
        count += differs(block, group->offsets[i], row, (group->inverted >> i / HALF & 1) != 0);
    return count;
}

/* Bounds round what the rows have come to by then: `wide` in parts of 256 of them stay, more or less. */
static void draw_bounds(struct nigh__rng *rng, struct trial *trial, const uint8_t *block, uint32_t wide) {
    uint32_t counts[NIGH__COLUMN_ROWS] = {0};
    trial->checks = 0;
    for (uint32_t g = 0; g < trial->all.count; g++) {
        const struct nigh__column_group *group = &trial->groups[g];
        for (uint32_t row = 0; row < NIGH__COLUMN_ROWS; row++)
            counts[row] = (counts[row] << group->doublings) + count_group(block, group, row);
        if (!group->checked) continue;
        const uint32_t some = counts[nigh__rng_next(rng) % NIGH__COLUMN_ROWS];
        const uint32_t other = counts[nigh__rng_next(rng) % NIGH__COLUMN_ROWS];
        const bool greater = nigh__rng_next(rng) % 256 < wide;
        trial->greatest[trial->checks] = (some > other) == greater ? some : other;
        set_bound(&trial->bounds[trial->checks], trial->greatest[trial->checks]);
        trial->checks++;
    }
}

/* The definition. */
static void expect(struct trial *trial, const uint8_t *block) {
    trial->left_count = 0;
    for (uint32_t row = 0; row < NIGH__COLUMN_ROWS; row++) {
        uint32_t count = 0;
        uint32_t check = 0;
        bool left = true;
        for (uint32_t g = 0; g < trial->all.count; g++) {
            count = (count << trial->groups[g].doublings) + count_group(block, &trial->groups[g], row);
            if (trial->groups[g].checked && count > trial->greatest[check++]) left = false;
        }
        trial->left[row] = left;
        trial->counts[row] = count;
        trial->left_count += left;
    }
}

/* --------------------------------------------------------------------- the variants -- */

static void check_counts(const struct trial *trial, const struct nigh__column_counts *counts) {
    for (uint32_t row = 0; row < NIGH__COLUMN_ROWS; row++) {
        assert_int_equal(counts->left[row / 64] >> row % 64 & 1, trial->left[row]);
        if (!trial->left[row]) continue;
        uint32_t count = 0;
        for (uint32_t p = 0; p < trial->all.planes; p++)
            count |= (uint32_t)(counts->planes[p][row / 64] >> row % 64 & 1) << p;
        assert_int_equal(count, trial->counts[row]);
    }
}

/* Whatever is asked for ahead, which may be what cannot be read. */
static void check(const struct nigh__column_adder *kernel, const struct trial *trial, const uint8_t *block,
                  const uint8_t *ahead) {
    struct nigh__column_counts counts;
    memset(&counts, 0xaa, sizeof counts);
    assert_int_equal(kernel->count(block, ahead, &trial->all, trial->bounds, &counts), trial->left_count);
    if (trial->left_count > 0) check_counts(trial, &counts);
}

static void check_all(const struct trial *trial, const uint8_t *block, const uint8_t *end) {
    const uint8_t *const aheads[] = {NULL, block, end};
    for (size_t v = 0; nigh__column_adder_at(v) != NULL; v++) {
        const struct nigh__column_adder *kernel = nigh__column_adder_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0) continue;
        for (size_t i = 0; i < sizeof aheads / sizeof aheads[0]; i++) check(kernel, trial, block, aheads[i]);
    }
}

static void test_variants(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 11};
    uint8_t *end = area_make();
    uint8_t *block = end - BLOCK_BYTES;
    static struct trial trial;
    static const uint32_t wide[] = {0, 128, 256};
    uint32_t some_left = 0;
    for (uint32_t planes = 8; planes <= NIGH__COLUMN_PLANES; planes++) {
        for (uint32_t round = 0; round < 24; round++) {
            fill(&rng, block, (uint32_t)(nigh__rng_next(&rng) % 257));
            draw_groups(&rng, &trial, planes);
            draw_bounds(&rng, &trial, block, wide[round % 3]);
            expect(&trial, block);
            some_left += trial.left_count > 0 && trial.left_count < NIGH__COLUMN_ROWS;
            check_all(&trial, block, end);
        }
    }
    assert_in_range(some_left, 50, UINT32_MAX); /* the bounds are worth something */
    area_free(end);
}

/* Every row differs in all, or in nothing: the greatest count there can be, and the least. */
static void test_extremes(void **state) {
    (void)state;
    uint8_t *end = area_make();
    uint8_t *block = end - BLOCK_BYTES;
    struct trial trial = {.all = {.groups = trial.groups, .planes = 8}, .checks = 1};
    for (uint32_t count = 1; count <= 15; count++) { /* of 16 columns each, within eight planes */
        trial.all.count = count;
        for (uint32_t g = 0; g < count; g++) {
            trial.groups[g] = (struct nigh__column_group){.inverted = 2, .checked = g + 1 == count};
            for (uint32_t i = 0; i < NIGH__COLUMN_GROUP; i++) trial.groups[g].offsets[i] = i * NIGH__COLUMN_BYTES;
        }
        memset(block, 0xff, BLOCK_BYTES / COLUMNS * HALF);
        memset(block + BLOCK_BYTES / COLUMNS * HALF, 0, BLOCK_BYTES / COLUMNS * (COLUMNS - HALF));
        for (int below = 0; below < 2; below++) {
            trial.greatest[0] = NIGH__COLUMN_GROUP * count - (uint32_t)below;
            set_bound(&trial.bounds[0], trial.greatest[0]);
            expect(&trial, block);
            assert_int_equal(trial.left_count, below ? 0 : NIGH__COLUMN_ROWS);
            check_all(&trial, block, end);
        }
    }
    area_free(end);
}

static void test_choice(void **state) {
    (void)state;
    assert_non_null(nigh__column_adder_choose(NULL));
    assert_string_equal(nigh__column_adder_choose("generic")->name, "generic");
    assert_string_equal(nigh__column_adder_choose("no such kernel")->name, "generic");
    for (size_t v = 0; nigh__column_adder_at(v) != NULL; v++)
        if ((nigh__column_adder_at(v)->needs & ~nigh__cpu_features()) != 0)
            print_message("%s: not on this CPU\n", nigh__column_adder_at(v)->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_extremes),
                                       cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
