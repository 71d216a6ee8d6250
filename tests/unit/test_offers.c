/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of offers to rows against a plain list, at all lengths, up to where memory ends. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/offers.h"

#define PAGE ((size_t)65536) /* of whatever size, a multiple of it */
#define MAX 200u

/* ----------------------------------------------------------------------- offer -- */

/* A row as the kernel sees it, at the end of its memory, and the same as keys. */
struct row {
    uint32_t *ids;
    uint16_t *distances;
    size_t count, room;
    uint64_t keys[MAX];
    bool marked[MAX];
};

static void row_begin(struct row *row, uint8_t *ids_end, uint8_t *distances_end, size_t count) {
    row->count = count;
    row->room = (count + NIGH__OFFER_LANES - 1) / NIGH__OFFER_LANES * NIGH__OFFER_LANES;
    row->ids = (uint32_t *)(void *)ids_end - row->room;
    row->distances = (uint16_t *)(void *)distances_end - row->room;
    memset(row->ids, 0, row->room * sizeof *row->ids); /* behind the last one is what would come before all */
    memset(row->distances, 0, row->room * sizeof *row->distances);
    for (size_t i = 0; i < count; i++) {
        row->ids[i] = 0x7fffffff;
        row->distances[i] = UINT16_MAX;
        row->keys[i] = (uint64_t)UINT16_MAX << 32 | 0x7fffffff;
        row->marked[i] = false;
    }
}

static enum nigh__offer_outcome offer_plainly(struct row *row, uint64_t key) {
    size_t place = 0;
    while (place < row->count && row->keys[place] < key) place++;
    if (place == row->count) return NIGH__OFFER_TOO_FAR;
    if (row->keys[place] == key) return NIGH__OFFER_KNOWN;
    for (size_t i = row->count - 1; i > place; i--) {
        row->keys[i] = row->keys[i - 1];
        row->marked[i] = row->marked[i - 1];
    }
    row->keys[place] = key;
    row->marked[place] = true;
    return NIGH__OFFER_TAKEN;
}

static void expect_row(const struct row *row) {
    for (size_t i = 0; i < row->room; i++) {
        const uint64_t key = i < row->count ? row->keys[i] : 0;
        const uint32_t mark = i < row->count && row->marked[i] ? NIGH__OFFER_MARK : 0;
        assert_int_equal(row->ids[i], (uint32_t)key | mark);
        assert_int_equal(row->distances[i], key >> 32);
    }
}

/* Some lose their marks, as old ones do. */
static void unmark_some(struct row *row, struct nigh__rng *rng) {
    for (size_t i = 0; i < row->count; i++) {
        if (nigh__rng_next(rng) % 3 != 0) continue;
        row->ids[i] &= ~NIGH__OFFER_MARK;
        row->marked[i] = false;
    }
}

static void check_offers(const struct nigh__offers *kernel, uint8_t *ids_end, uint8_t *distances_end) {
    struct nigh__rng rng = {.state = 5};
    uint32_t outcomes[3] = {0};
    for (size_t count = 1; count <= MAX; count++) {
        struct row row;
        row_begin(&row, ids_end, distances_end, count);
        for (uint32_t i = 0; i < 400; i++) {
            const uint64_t random = nigh__rng_next(&rng);
            const uint32_t spread = count % 3 == 0   ? 4
                                    : count % 3 == 1 ? 300
                                                     : 65536; /* many ties, few, all there are */
            const uint32_t id = (uint32_t)(random >> 32) % (count % 2 == 0 ? 60 : 0x7fffffff);
            const uint64_t distance = i % 40 == 7 ? UINT16_MAX : (random ^ random >> 20) % spread;
            const enum nigh__offer_outcome expected = offer_plainly(&row, distance << 32 | id);
            assert_int_equal(kernel->offer(row.ids, row.distances, count, id, (uint16_t)distance), expected);
            expect_row(&row);
            outcomes[expected]++;
            if (i % 50 == 49) unmark_some(&row, &rng);
        }
    }
    for (size_t i = 0; i < 3; i++) assert_in_range(outcomes[i], 1000, 400 * MAX);
}

/* ---------------------------------------------------------------------- within -- */

static void check_within(const struct nigh__offers *kernel, uint8_t *distances_end, uint8_t *limits_end) {
    struct nigh__rng rng = {.state = 6};
    for (size_t count = 0; count <= MAX; count++) {
        uint32_t *distances = (uint32_t *)(void *)distances_end - count;
        uint32_t *limits = (uint32_t *)(void *)limits_end - count;
        for (size_t i = 0; i < count; i++) {
            distances[i] = (uint32_t)(nigh__rng_next(&rng) % (count % 7 == 0 ? UINT32_MAX : 100));
            limits[i] = (uint32_t)(nigh__rng_next(&rng) % (count % 5 == 0 ? UINT32_MAX : 90));
        }
        const uint32_t all[] = {0, 1, 40, 99, 100, UINT16_MAX, UINT32_MAX};
        for (size_t l = 0; l < sizeof all / sizeof all[0]; l++) {
            uint32_t positions[MAX + NIGH__OFFER_PADDING + 1];
            positions[count + NIGH__OFFER_PADDING] = 0xeeeeeeee;
            const size_t found = kernel->within(distances, limits, count, all[l], positions);
            assert_int_equal(positions[count + NIGH__OFFER_PADDING], 0xeeeeeeee);
            size_t expected = 0;
            for (uint32_t i = 0; i < count; i++) {
                if (distances[i] > all[l] && distances[i] > limits[i]) continue;
                assert_true(expected < found);
                assert_int_equal(positions[expected++], i);
            }
            assert_int_equal(found, expected);
        }
    }
}

/* -------------------------------------------------------------------------- all -- */

/* So much memory, and none behind it. */
static uint8_t *guarded(void) {
    uint8_t *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_NONE), 0);
    return memory;
}

static void test_variants(void **state) {
    (void)state;
    uint8_t *one = guarded();
    uint8_t *two = guarded();
    for (size_t v = 0; nigh__offers_at(v) != NULL; v++) {
        const struct nigh__offers *kernel = nigh__offers_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0) {
            print_message("%s: not on this CPU\n", kernel->name);
            continue;
        }
        check_offers(kernel, one + PAGE, two + PAGE);
        check_within(kernel, one + PAGE, two + PAGE);
    }
    assert_int_equal(munmap(one, 2 * PAGE), 0);
    assert_int_equal(munmap(two, 2 * PAGE), 0);
}

static void test_choice(void **state) {
    (void)state;
    assert_string_equal(nigh__offers_choose("generic")->name, "generic");
    assert_string_equal(nigh__offers_choose("popcnt")->name, "generic");
    assert_int_equal(nigh__offers_choose(NULL)->needs & ~nigh__cpu_features(), 0);
    if ((nigh__cpu_features() & NIGH__CPU_AVX2) != 0) assert_string_equal(nigh__offers_choose("avx2")->name, "avx2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
