/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain reading, in the ways that may be the fastest: wide loads into eight
 * independent accumulators, with the hardware's own prefetching or with ours,
 * and from one place or from four at once.
 */
#include "plain_read.h"

#include <stdint.h>

#include "base/cpu.h"
#include "kernel/hamming_parts.h"
#include "measure.h"

#define STEP 256u /* bytes a round: eight registers */

typedef uint64_t wide __attribute__((vector_size(32), may_alias));

/* Keeps the compiler from leaving out what it is not told the use of. */
static void use(const wide *sums) {
    uint64_t all = 0;
    for (size_t i = 0; i < 8; i++) all |= sums[i][0] | sums[i][1] | sums[i][2] | sums[i][3];
    __asm__ volatile("" : : "r"(all));
}

NIGH__INLINE void round_of_eight(wide *sums, const wide *from, size_t ahead) {
    if (ahead != 0) nigh__ahead((const char *)from + ahead, STEP);
    NIGH__UNROLL8
    for (size_t i = 0; i < 8; i++) sums[i] |= from[i];
}

NIGH__INLINE void read_body(const char *memory, size_t bytes, size_t places, size_t ahead) {
    wide sums[8] = {{0}};
    const size_t each = bytes / places / STEP * STEP;
    for (size_t at = 0; at < each; at += STEP) {
        for (size_t place = 0; place < places; place++)
            round_of_eight(sums, (const wide *)(const void *)(memory + place * each + at), ahead);
    }
    use(sums);
}

NIGH__TARGET_AVX2 static void read_wide(const char *memory, size_t bytes) { read_body(memory, bytes, 1, 0); }
NIGH__TARGET_AVX2 static void read_wide_ahead(const char *memory, size_t bytes) { read_body(memory, bytes, 1, 2048); }
NIGH__TARGET_AVX2 static void read_wide_places(const char *memory, size_t bytes) { read_body(memory, bytes, 4, 0); }
static void read_portable(const char *memory, size_t bytes) { read_body(memory, bytes, 1, 0); }

static const struct {
    const char *name;
    uint32_t needs;
    void (*read)(const char *memory, size_t bytes);
} ways[PLAIN_READS] = {
    {"wide loads", NIGH__CPU_AVX2, read_wide},
    {"wide loads, prefetching", NIGH__CPU_AVX2, read_wide_ahead},
    {"wide loads, four places", NIGH__CPU_AVX2, read_wide_places},
    {"portable loads", 0, read_portable},
};

const char *plain_read_name(size_t way) { return ways[way].name; }

double plain_read(size_t way, const void *memory, size_t bytes) {
    if ((ways[way].needs & ~nigh__cpu_features()) != 0) way = PLAIN_READS - 1;
    double start = measure_now();
    ways[way].read(memory, bytes);
    return measure_now() - start;
}
