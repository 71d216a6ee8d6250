/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distance kernels: what they have to do, which there are, and the choice.
 *
 * The work.  A scan compares a query with every row: read a row, xor, count the
 * bits, see whether they are few enough.  Reading sets the limit for one query:
 *
 *     1,024 bits are 128 bytes; at 25 GB/s a core gets 195 M rows a second, one
 *     every 17 cycles at 3.2 GHz, and has those 17 cycles to count 1,024 bits
 *
 * and counting sets it for many, which share the reading.  Hence two functions.
 * `rows` is the arithmetic for one query and nothing else.  `batch` is the scan:
 * it reads each row once for all queries, asks early for the rows that come
 * next, and gives back only what is near enough.
 *
 *     entry     one query                         many queries
 *     avx512    VPOPCNTDQ, eight rows together    the same, rows in the cache
 *     avx2      a shuffle as table of sixteen     rows turned on their side
 *     popcnt    64 bits at a time                 the same, rows in the cache
 *     neon      CNT, four rows together           the same, rows in the cache
 *     generic   adding neighbouring bits          the same, rows in the cache
 *
 * Reading.  A core has few requests for memory under way at once, the hardware's
 * own prefetching stops at the end of each 4 KB page, and arithmetic in between
 * makes both worse.  So a query that is alone asks for each line 8 KB before it is
 * needed, in the loop that counts.  Rows of more than 2,048 bits are read from two
 * places, 4 KB ahead in each:
 *
 *     rows   |------------------------|------------------------|
 *             ^ 0, 2, 4, ...           ^ 1, 3, 5, ...       some rows of each in turn
 *
 * Measured on Zen 5, shares of the fastest plain read that we could write (49 GB/s of one
 * core), 1,024 bits: avx512 .84 from four places 1 KB ahead, as it was, .88 from two and
 * 4 KB, .92 from one and 8 KB; avx2 .57, .91 and .92; popcnt .60, .63 and .72, where counting
 * is the limit.  4,096 bits: avx512 .75, .82 and .66; avx2 .48, .91 and .91.  Eight places or
 * 12 KB lose again, and so does asking for a whole block at once: the requests fill the
 * queue of misses, and what was to overlap waits behind them.
 *
 * Counting.  Measured on Zen 3 (3.24 GHz, no AVX-512), cycles for a row of 1,024
 * bits from the cache: generic 35, popcnt 15, avx2 10.3; in batches of 8 and 64
 * avx2 5.5 and 3.8 for near rows, 7.2 and 5.0 where all are far.
 *
 * Tried and left out:
 *   - popcnt beside AVX2, a quarter of each row in the integer units: 8.8 instead
 *     of 9.8 cycles with gcc -O3, but 12 to 16 with gcc -O2 or clang.  One query
 *     waits for memory anyway, and batches have the better way.
 *   - carry-save adders (Harley and Seal) for wide rows: 36 to 38 cycles for 4,096
 *     bits instead of 37 to 40.  A step costs five operations and saves a count of
 *     six; with AVX-512's three-way logic it would pay, but there the count itself
 *     is one instruction.
 *
 * A new variant is one file with a struct nigh__hamming and one line below.
 * tests/unit/test_hamming.c then compares it with single bits at every length
 * and alignment, with bytes that end where memory does.
 */
#include "kernel/hamming.h"

#include <stdbool.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "kernel/hamming_parts.h"

static const struct nigh__hamming *const kernels[] = {
#if defined(__x86_64__)
    &nigh__hamming_avx512,
    &nigh__hamming_avx2,
    &nigh__hamming_popcnt,
#elif defined(__aarch64__)
    &nigh__hamming_neon,
#endif
    &nigh__hamming_generic,
};

#define KERNELS (sizeof kernels / sizeof kernels[0])

const struct nigh__hamming *nigh__hamming_at(size_t index) { return index < KERNELS ? kernels[index] : NULL; }

static bool usable(const struct nigh__hamming *kernel, uint32_t features) { return (kernel->needs & ~features) == 0; }

const struct nigh__hamming *nigh__hamming_choose(const char *name) {
    const uint32_t features = nigh__cpu_features();
    for (size_t i = 0; i < KERNELS; i++) {
        if (usable(kernels[i], features) && (name == NULL || strcmp(name, kernels[i]->name) == 0)) return kernels[i];
    }
    return NULL;
}

const char *nigh_kernel_name(size_t index, int *usable_here) {
    if (index >= KERNELS) return NULL;
    if (usable_here != NULL) *usable_here = usable(kernels[index], nigh__cpu_features());
    return kernels[index]->name;
}

uint32_t nigh_distance(const nigh_context *context, const uint8_t *a, const uint8_t *b, size_t bytes) {
    return context->hamming->pair(a, b, bytes);
}
