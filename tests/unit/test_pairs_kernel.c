/* SPDX-License-Identifier: Apache-2.0 */
/* Every kernel that compares rows with rows by 32 bits, against a plain loop: sizes around the lanes, any radius, hits
 * cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/pairs_kernel.h"

#define MAX_ROWS 70u
#define MAX_HITS (MAX_ROWS * MAX_ROWS + MAX_ROWS * NIGH__PAIRS_QUERIES)

static uint32_t bits_of(uint32_t x) {
    uint32_t bits = 0;
    for (; x != 0; x &= x - 1) bits++;
    return bits;
}

/* Random rows of few different bits, so that some pairs are near. */
static void fill(uint32_t *rows, size_t count, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    for (size_t i = 0; i < count; i++) {
        const uint64_t draw = nigh__rng_next(&rng);
        rows[i] = (uint32_t)draw & (uint32_t)(draw >> 32) & (draw % 3 == 0 ? 0x11111111u : UINT32_MAX);
    }
    memset(rows + count, 0, NIGH__PAIRS_PADDING * sizeof *rows);
}

static void expect_hits(const struct nigh__pairs *kernel, const struct nigh__pair_task *task, size_t capacity) {
    static struct nigh__pair_hit hits[MAX_HITS];
    static uint8_t found[MAX_ROWS][MAX_ROWS];
    memset(found, 0, sizeof found);
    for (size_t next = 0; next < task->query_count;) {
        const size_t before = next;
        const size_t count = kernel->find(task, &next, hits, capacity);
        assert_true(next > before && count <= capacity);
        for (size_t i = 0; i < count; i++) {
            assert_true(hits[i].query < next && hits[i].row < task->row_count);
            assert_int_equal(found[hits[i].query][hits[i].row]++, 0);
        }
    }
    for (size_t q = 0; q < task->query_count; q++)
        for (size_t r = 0; r < task->row_count; r++) {
            const bool near = bits_of(task->queries[q] ^ task->rows[r]) <= task->radius;
            assert_int_equal(found[q][r], near && (!task->self || r > q));
        }
}

static void test_every_kernel(void **state) {
    (void)state;
    uint32_t queries[MAX_ROWS + NIGH__PAIRS_PADDING];
    uint32_t rows[MAX_ROWS + NIGH__PAIRS_PADDING];
    size_t kernels = 0;
    for (size_t v = 0; nigh__pairs_at(v) != NULL; v++) {
        const struct nigh__pairs *kernel = nigh__pairs_at(v);
        if ((kernel->needs & ~nigh__cpu_features()) != 0) continue;
        kernels++;
        for (uint32_t radius = 0; radius <= 8; radius++)
            for (size_t count = 1; count <= MAX_ROWS; count += count < 20 ? 1 : 13) {
                fill(queries, count, (size_t)radius * 100 + count);
                fill(rows, MAX_ROWS + 1 - count, radius + count * 7);
                struct nigh__pair_task task = {.queries = queries, .query_count = count, .radius = radius};
                task.rows = rows;
                task.row_count = MAX_ROWS + 1 - count;
                expect_hits(kernel, &task, MAX_HITS);
                expect_hits(kernel, &task, task.row_count * NIGH__PAIRS_QUERIES); /* a step at a time */
                task.rows = queries;
                task.row_count = count;
                task.self = true;
                expect_hits(kernel, &task, MAX_HITS);
            }
    }
    assert_true(kernels >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
