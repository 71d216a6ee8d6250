/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512 has an instruction for any function of three bits: a full adder is two, for a whole block at once. */
#include "base/cpu.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")))
#define LANE_BYTES 64
#define OF_THREE(a, b, c, table) (lanes) _mm512_ternarylogic_epi64((__m512i)(a), (__m512i)(b), (__m512i)(c), table)
#define PARITY(a, b, c) OF_THREE(a, b, c, 0x96)
#define MAJORITY(a, b, c) OF_THREE(a, b, c, 0xe8)
#define MAJORITY_INV(a, b, c) OF_THREE(a, b, c, 0x71)
#define IS_ZERO(a) (_mm512_test_epi64_mask((__m512i)(a), (__m512i)(a)) == 0)
#define COUNT_COLUMNS count_avx512

#include "kernel/column_adder_parts.h"

const struct nigh__column_adder nigh__column_adder_avx512 = {
    .name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .count = count_avx512};

#else

typedef int nigh__no_avx512_columns; /* a file must hold something */

#endif
