/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of ANDing rows against one bit at a time, up to where memory ends. */
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
#include "kernel/rows.h"

#define MAX_ROWS 13u
#define MAX_BYTES ((size_t)64 * 150)
#define AREA ((size_t)65536) /* of whatever page size a multiple, and more than MAX_BYTES */

static uint8_t *areas[MAX_ROWS + 1]; /* a row ends where its area does; behind it nothing can be read */

static void areas_make(void) {
    for (size_t i = 0; i <= MAX_ROWS; i++) {
        uint8_t *memory = mmap(NULL, 2 * AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(memory, MAP_FAILED);
        assert_int_equal(mprotect(memory + AREA, AREA, PROT_NONE), 0);
        areas[i] = memory + AREA;
    }
}

static void areas_free(void) {
    for (size_t i = 0; i <= MAX_ROWS; i++) assert_int_equal(munmap(areas[i] - AREA, 2 * AREA), 0);
}

/* Bytes whose bits are set with a chance of share / 256, in stretches of which some are empty. */
static void fill(struct nigh__rng *rng, uint8_t *row, size_t bytes, uint32_t share) {
    bool empty = false;
    memset(row, 0, bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (i % 64 == 0) empty = nigh__rng_next(rng) % 4 == 0;
        for (unsigned bit = 0; bit < 8 && !empty; bit++)
            row[i] = (uint8_t)(row[i] | ((nigh__rng_next(rng) >> 20 & 255) < share) << bit);
    }
}

/* The definition: a line is read from a row while the fours of rows before it leave a bit. */
static bool expect(const uint8_t *const *rows, size_t count, size_t from, size_t bytes, uint8_t *out,
                   uint64_t *touched) {
    bool any = false;
    for (size_t line = 0; line < bytes; line += 64) {
        bool left = true;
        memset(out + line, 0xff, 64);
        for (size_t row = 0; row < count && left; row++) {
            *touched += 64;
            for (size_t i = 0; i < 64; i++) out[line + i] &= rows[row][from + line + i];
            if (row % 4 != 3) continue;
            left = false;
            for (size_t i = 0; i < 64; i++) left |= out[line + i] != 0;
        }
        for (size_t i = 0; i < 64; i++) any |= out[line + i] != 0;
    }
    return any;
}

static void check(const struct nigh__rows *kernel) {
    static uint8_t expected[MAX_BYTES];
    struct nigh__rng rng = {.state = 7};
    for (uint32_t round = 0; round < 150; round++) {
        const size_t lines = 1 + nigh__rng_next(&rng) % (MAX_BYTES / 64);
        const size_t count = 1 + nigh__rng_next(&rng) % MAX_ROWS;
        const uint32_t share = (uint32_t)(nigh__rng_next(&rng) % 257);
        const uint8_t *rows[MAX_ROWS];
        const size_t from = nigh__rng_next(&rng) % lines * 64;
        const size_t bytes = lines * 64 - from;
        uint8_t *out = areas[MAX_ROWS] - bytes;
        for (size_t i = 0; i < count; i++) {
            fill(&rng, areas[i] - lines * 64, lines * 64, share);
            rows[i] = areas[i] - lines * 64;
        }
        uint64_t touched = 5;
        uint64_t expected_touched = 5;
        memset(out, 0xaa, bytes);
        const bool any = expect(rows, count, from, bytes, expected, &expected_touched);
        assert_int_equal(kernel->intersect(rows, count, from, bytes, out, &touched), any);
        assert_memory_equal(out, expected, bytes);
        assert_int_equal(touched, expected_touched);
        uint64_t bits = 0;
        for (size_t i = 0; i < lines * 512; i++) bits += (unsigned)rows[0][i / 8] >> i % 8 & 1u;
        assert_int_equal(kernel->count(rows[0], lines * 64), bits);
    }
}

static void test_variants(void **state) {
    (void)state;
    areas_make();
    for (size_t v = 0; nigh__rows_at(v) != NULL; v++) {
        const struct nigh__rows *kernel = nigh__rows_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0)
            print_message("%s: not on this CPU\n", kernel->name);
        else
            check(kernel);
    }
    areas_free();
}

static void test_choice(void **state) {
    (void)state;
    assert_non_null(nigh__rows_choose(NULL));
    assert_string_equal(nigh__rows_choose("generic")->name, "generic");
    assert_string_equal(nigh__rows_choose("no such kernel")->name, "generic");
    nigh_context *context;
    assert_int_equal(nigh_context_new(NULL, &context, NULL), NIGH_OK);
    assert_ptr_equal(context->rows, nigh__rows_choose(nigh_context_kernel(context)));
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
