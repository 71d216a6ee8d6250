/* SPDX-License-Identifier: Apache-2.0 */
/* Four registers a line. */
#include "kernel/rows_parts.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "base/cpu.h"

static inline uint8x16x4_t both(uint8x16x4_t a, uint8x16x4_t b) {
    for (unsigned part = 0; part < 4; part++) a.val[part] = vandq_u8(a.val[part], b.val[part]);
    return a;
}

static inline uint8x16x4_t four(const uint8_t *const *rows, size_t at) {
    return both(both(vld1q_u8_x4(rows[0] + at), vld1q_u8_x4(rows[1] + at)),
                both(vld1q_u8_x4(rows[2] + at), vld1q_u8_x4(rows[3] + at)));
}

/* Returns whether any bit is set. */
static inline uint64_t store(uint8x16x4_t line, uint8_t *out) {
    const uint8x16_t any = vorrq_u8(vorrq_u8(line.val[0], line.val[1]), vorrq_u8(line.val[2], line.val[3]));
    vst1q_u8_x4(out, line);
    return (uint64_t)(vmaxvq_u8(any) != 0);
}

static uint64_t first_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    const size_t bytes = (size_t)__builtin_popcountll(lines) * NIGH__ROWS_LINE; /* they are the first so many */
    uint64_t left = 0;
    for (size_t at = 0; at < bytes; at += NIGH__ROWS_LINE)
        left |= store(four(rows, from + at), out + at) << at / NIGH__ROWS_LINE;
    return left;
}

static uint64_t more_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    uint64_t left = 0;
    for (; lines != 0; lines &= lines - 1) {
        const unsigned number = (unsigned)__builtin_ctzll(lines);
        uint8_t *place = out + (size_t)number * NIGH__ROWS_LINE;
        const uint8x16x4_t line = four(rows, from + (size_t)number * NIGH__ROWS_LINE);
        left |= store(both(line, vld1q_u8_x4(place)), place) << number;
    }
    return left;
}

static bool intersect(const uint8_t *const *rows, size_t count, size_t from, size_t bytes, uint8_t *out,
                      uint64_t *touched) {
    return nigh__rows_by_pieces(first_rows, more_rows, rows, count, from, bytes, out, touched);
}

static uint64_t count_bits(const uint8_t *bits, size_t bytes) {
    uint64_t count = 0;
    for (size_t at = 0; at < bytes; at += 16) count += vaddlvq_u8(vcntq_u8(vld1q_u8(bits + at)));
    return count;
}

const struct nigh__rows nigh__rows_neon = {
    .name = "neon", .needs = NIGH__CPU_NEON, .intersect = intersect, .count = count_bits};

#endif
