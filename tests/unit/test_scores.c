/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of "where the high scores are" against one look at a time, up to where memory ends. */
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

#include "base/context.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/scores.h"

#define PAGE ((size_t)65536) /* of whatever size, a multiple of it */
#define ROOM 1000u

/* All positions by repeated calls with so much room; each call must go on where the last one ended. */
static void expect(const struct nigh__scores *kernel, const uint8_t *scores, size_t end, uint8_t least, size_t room) {
    static uint32_t positions[ROOM + 1];
    size_t next = 0;
    for (size_t at = 0; at < end;) {
        const size_t before = at;
        positions[room] = 0xeeeeeeee;
        const size_t found = kernel->collect(scores, end, least, &at, positions, room);
        assert_int_equal(positions[room], 0xeeeeeeee);
        assert_true(at > before && at <= end && at % NIGH__SCORES_BLOCK == 0);
        assert_true(at == end || room - found < NIGH__SCORES_BLOCK);
        for (size_t i = 0; i < found; i++) {
            while (next < end && scores[next] < least) next++;
            assert_int_equal(positions[i], next);
            next++;
        }
        while (next < at && scores[next] < least) next++;
        assert_true(next >= at);
    }
}

static void check(const struct nigh__scores *kernel, uint8_t *memory_end) {
    static const uint8_t leasts[] = {1, 2, 3, 7, 127, 128, 129, 200, 254, 255};
    struct nigh__rng rng = {.state = 3};
    for (uint32_t round = 0; round < 60; round++) {
        const size_t end = NIGH__SCORES_BLOCK * (1 + nigh__rng_next(&rng) % 40);
        uint8_t *scores = memory_end - end;
        for (size_t i = 0; i < end; i++) {
            const uint64_t random = nigh__rng_next(&rng);
            scores[i] = random % (1 + round) != 0 ? (uint8_t)(random >> 8 & 3) : (uint8_t)(random >> 16);
        }
        for (size_t l = 0; l < sizeof leasts; l++) {
            expect(kernel, scores, end, leasts[l], ROOM);
            expect(kernel, scores, end, leasts[l], NIGH__SCORES_BLOCK);
            expect(kernel, scores, end, leasts[l], NIGH__SCORES_BLOCK + 13);
        }
    }
}

static void test_variants(void **state) {
    (void)state;
    uint8_t *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_NONE), 0);
    for (size_t v = 0; nigh__scores_at(v) != NULL; v++) {
        const struct nigh__scores *kernel = nigh__scores_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0)
            print_message("%s: not on this CPU\n", kernel->name);
        else
            check(kernel, memory + PAGE);
    }
    assert_int_equal(munmap(memory, 2 * PAGE), 0);
}

static void test_choice(void **state) {
    (void)state;
    assert_non_null(nigh__scores_choose(NULL));
    assert_string_equal(nigh__scores_choose("generic")->name, "generic");
    assert_string_equal(nigh__scores_choose("no such kernel")->name, "generic");
    nigh_context *context;
    assert_int_equal(nigh_context_new(NULL, &context, NULL), NIGH_OK);
    assert_ptr_equal(context->scores, nigh__scores_choose(nigh_context_kernel(context)));
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
