/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a variant, and the portable one. */
#include "kernel/pairs_kernel.h"

#include "kernel/features.h"
#include "kernel/pairs_kernel_parts.h"

/* Bits of a word, eight counts in its bytes added up at last. */
static uint32_t bits_of(uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}

static size_t find(const struct nigh__pair_task *task, size_t *next, struct nigh__pair_hit *hits, size_t capacity) {
    const size_t needed = task->row_count * NIGH__PAIRS_QUERIES;
    size_t found = 0;
    for (; *next < task->query_count && needed <= capacity - found; (*next)++) {
        const uint32_t query = task->queries[*next];
        for (size_t row = task->self ? *next + 1 : 0; row < task->row_count; row++) {
            if (bits_of(query ^ task->rows[row]) > task->radius) continue;
            hits[found++] = (struct nigh__pair_hit){.query = (uint32_t)*next, .row = (uint32_t)row};
        }
    }
    return found;
}

static const struct nigh__pairs pairs_generic = {.name = "generic", .needs = 0, .find = find};

static const struct nigh__pairs *const variants[] = {
#if defined(__x86_64__)
    &nigh__pairs_avx512,
    &nigh__pairs_avx2,
#endif
    &pairs_generic,
};

NIGH__KERNEL_CHOICE(nigh__pairs)
