/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of 256 bits: a block is counted in two halves, and either may be left early. */
#include "base/cpu.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))
#define LANE_BYTES 32
#define PARITY(a, b, c) ((a) ^ (b) ^ (c))
#define MAJORITY(a, b, c) (((b) & (c)) | ((a) & ((b) ^ (c))))
#define MAJORITY_INV(a, b, c) ((~(b) & ~(c)) | ((a) & ((b) ^ (c))))
#define IS_ZERO(a) (_mm256_testz_si256((__m256i)(a), (__m256i)(a)) != 0)
#define COUNT_COLUMNS count_avx2

#include "kernel/column_adder_parts.h"

const struct nigh__column_adder nigh__column_adder_avx2 = {
    .name = "avx2", .needs = NIGH__CPU_AVX2 | NIGH__CPU_POPCNT, .count = count_avx2};

#else

typedef int nigh__no_avx2_columns; /* a file must hold something */

#endif
