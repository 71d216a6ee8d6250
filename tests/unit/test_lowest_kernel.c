/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant against the definition, at every width and with rows that repeat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/lowest.h"

#define ROWS 40u
#define MAX_WIDTH 33u

/* Small ones, so that some are equal, and large ones, for whoever compares with a sign. */
static uint64_t value(struct nigh__rng *rng) {
    const uint64_t random = nigh__rng_next(rng);
    return random % 3 == 0 ? random : random % 3 == 1 ? random % 5 : UINT64_MAX - random % 5;
}

static void check(const struct nigh__lowest *kernel) {
    for (size_t width = 1; width <= MAX_WIDTH; width++) {
        struct nigh__rng rng = {.state = width};
        uint64_t *table = malloc(ROWS * width * sizeof *table); /* exact, so that sanitizers see what is past it */
        uint64_t *values = malloc(width * sizeof *values);
        uint64_t expected[ROWS * MAX_WIDTH];
        uint32_t rows[100];
        assert_non_null(table);
        assert_non_null(values);
        for (size_t i = 0; i < ROWS * width; i++) table[i] = expected[i] = value(&rng);
        for (size_t j = 0; j < width; j++) values[j] = value(&rng);
        const size_t count = nigh__rng_next(&rng) % 100;
        for (size_t i = 0; i < count; i++) rows[i] = (uint32_t)(nigh__rng_next(&rng) % ROWS);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < width; j++)
                if (values[j] < expected[rows[i] * width + j]) expected[rows[i] * width + j] = values[j];
        kernel->lower(table, width, rows, count, values);
        assert_memory_equal(table, expected, ROWS * width * sizeof *table);
        free(table);
        free(values);
    }
}

static void test_variants(void **state) {
    (void)state;
    for (size_t v = 0; nigh__lowest_at(v) != NULL; v++) {
        const struct nigh__lowest *kernel = nigh__lowest_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0)
            print_message("%s: not on this CPU\n", kernel->name);
        else
            check(kernel);
    }
}

static void test_choice(void **state) {
    (void)state;
    assert_non_null(nigh__lowest_choose(NULL));
    assert_string_equal(nigh__lowest_choose("generic")->name, "generic");
    assert_string_equal(nigh__lowest_choose("no such kernel")->name, "generic");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
