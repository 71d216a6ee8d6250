/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition, in registers of 128 bits as the compiler has them on every CPU, NEON and
 * SSE2 among them; and the choice.
 */
#include "kernel/column_adder.h"

#include "base/cpu.h"
#include "kernel/features.h"

#define TARGET
#define LANE_BYTES 16
#define PARITY(a, b, c) ((a) ^ (b) ^ (c))
#define MAJORITY(a, b, c) (((b) & (c)) | ((a) & ((b) ^ (c))))
#define MAJORITY_INV(a, b, c) ((~(b) & ~(c)) | ((a) & ((b) ^ (c))))
#define IS_ZERO(a) (((a)[0] | (a)[1]) == 0)
#define COUNT_COLUMNS count_generic

#include "kernel/column_adder_parts.h"

static const struct nigh__column_adder columns_generic = {.name = "generic", .needs = 0, .count = count_generic};

static const struct nigh__column_adder *const variants[] = {
#if defined(__x86_64__)
    &nigh__column_adder_avx512,
    &nigh__column_adder_avx2,
#endif
    &columns_generic,
};

NIGH__KERNEL_CHOICE(nigh__column_adder)
