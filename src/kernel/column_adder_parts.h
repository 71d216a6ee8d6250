/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of kernel/column_adder.h over registers of any width.  A variant defines
 *
 *     TARGET                what the compiler may use
 *     LANE_BYTES            of a register
 *     PARITY(a, b, c)       a ^ b ^ c
 *     MAJORITY(a, b, c)     two of them at least
 *     MAJORITY_INV(a, b, c) the same of a and what b and c are not
 *     IS_ZERO(a)
 *
 * and includes this, once a file, for COUNT_COLUMNS(): a function of the kernel's signature.
 */
#include <stdbool.h>

#include "kernel/column_adder.h"
#include "kernel/hamming_parts.h"

#define INLINE TARGET NIGH__INLINE
#define LOW 4 /* planes 1, 2, 4, 8 */

#if defined(__clang__)
#define UNROLL16
#else
#define UNROLL16 _Pragma("GCC unroll 16")
#endif

typedef uint64_t lanes __attribute__((vector_size(LANE_BYTES)));

extern const struct nigh__column_adder nigh__column_adder_avx2;
extern const struct nigh__column_adder nigh__column_adder_avx512;

INLINE lanes load_column(const uint8_t *part, uint32_t offset) {
    lanes column;
    memcpy(&column, part + offset, sizeof column);
    return column;
}

/* Eight columns into the planes 1, 2, 4; what is carried out of them counts 8. */
INLINE lanes add_eight(const uint8_t *part, const uint32_t *offsets, bool inverted, lanes *low) {
    lanes twos[4], fours[2];
    NIGH__UNROLL4
    for (size_t i = 0; i < 4; i++) {
        const lanes a = load_column(part, offsets[2 * i]);
        const lanes b = load_column(part, offsets[2 * i + 1]);
        twos[i] = inverted ? MAJORITY_INV(low[0], a, b) : MAJORITY(low[0], a, b);
        low[0] = PARITY(low[0], a, b); /* turning both changes nothing */
    }
    NIGH__UNROLL4
    for (size_t i = 0; i < 2; i++) {
        fours[i] = MAJORITY(low[1], twos[2 * i], twos[2 * i + 1]);
        low[1] = PARITY(low[1], twos[2 * i], twos[2 * i + 1]);
    }
    const lanes eights = MAJORITY(low[2], fours[0], fours[1]);
    low[2] = PARITY(low[2], fours[0], fours[1]);
    return eights;
}

/* The polarity is known to the compiler, or it would be asked for each column. */
INLINE lanes add_half(const uint8_t *part, const uint32_t *offsets, bool inverted, lanes *low) {
    return inverted ? add_eight(part, offsets, true, low) : add_eight(part, offsets, false, low);
}

INLINE void double_counts(lanes *low, lanes *high, size_t high_planes) {
    UNROLL16
    for (size_t i = high_planes - 1; i > 0; i--) high[i] = high[i - 1];
    high[0] = low[3];
    low[3] = low[2];
    low[2] = low[1];
    low[1] = low[0];
    low[0] = (lanes){0};
}

INLINE void add_group(const uint8_t *part, const struct nigh__column_group *group, lanes *low, lanes *high,
                      size_t high_planes) {
    for (uint32_t i = group->doublings; i > 0; i--) double_counts(low, high, high_planes);
    const lanes a = add_half(part, group->offsets, (group->inverted & 1) != 0, low);
    lanes b = {0};
    if (!group->single) b = add_half(part, group->offsets + 8, (group->inverted & 2) != 0, low);
    lanes carry = MAJORITY(low[3], a, b);
    low[3] = PARITY(low[3], a, b);
    UNROLL16
    for (size_t i = 0; i < high_planes; i++) {
        const lanes more = high[i] & carry;
        high[i] ^= carry;
        carry = more;
    }
}

/* A word in every place of a register. */
INLINE lanes spread(uint64_t word) {
    const lanes zeros = {0};
    return zeros + word;
}

/* The rows whose counts are not above a bound. */
INLINE lanes rows_within(const struct nigh__column_bound *bound, const lanes *low, const lanes *high,
                         size_t high_planes) {
    lanes above = {0};
    NIGH__UNROLL4
    for (size_t i = 0; i < LOW; i++) above = MAJORITY(above, low[i], spread(bound->words[i]));
    UNROLL16
    for (size_t i = 0; i < high_planes; i++) above = MAJORITY(above, high[i], spread(bound->words[LOW + i]));
    return ~above;
}

INLINE void ask_for(const uint8_t *ahead, const struct nigh__column_group *group) {
    UNROLL16
    for (size_t i = 0; i < NIGH__COLUMN_GROUP; i++) __builtin_prefetch(ahead + group->offsets[i], 0, 2);
}

/* As many rows as a register has bits, of which the first are the bytes from `at` on. */
INLINE uint32_t count_part(const uint8_t *part, const uint8_t *ahead, const struct nigh__column_groups *groups,
                           const struct nigh__column_bound *bounds, size_t high_planes, size_t at,
                           struct nigh__column_counts *out) {
    lanes low[LOW] = {{0}}, high[NIGH__COLUMN_PLANES - LOW] = {{0}};
    lanes left = ~(lanes){0};
    for (uint32_t g = 0; g < groups->count; g++) {
        if (ahead != NULL) ask_for(ahead, &groups->groups[g]);
        add_group(part, &groups->groups[g], low, high, high_planes);
        if (!groups->groups[g].checked) continue;
        left &= rows_within(bounds++, low, high, high_planes); /* a later bound may be wider */
        if (IS_ZERO(left)) return 0;
    }
    memcpy((uint8_t *)out->left + at, &left, sizeof left);
    for (size_t i = 0; i < LOW; i++) memcpy((uint8_t *)out->planes[i] + at, &low[i], sizeof left);
    for (size_t i = 0; i < high_planes; i++) memcpy((uint8_t *)out->planes[LOW + i] + at, &high[i], sizeof left);
    uint32_t count = 0;
    for (size_t i = 0; i < LANE_BYTES / 8; i++) count += (uint32_t)__builtin_popcountll(left[i]);
    return count;
}

INLINE uint32_t count_block(const uint8_t *block, const uint8_t *ahead, const struct nigh__column_groups *groups,
                            const struct nigh__column_bound *bounds, size_t high_planes,
                            struct nigh__column_counts *out) {
    uint32_t count = 0;
    for (size_t at = 0; at < NIGH__COLUMN_BYTES; at += LANE_BYTES) {
        const uint32_t some = count_part(block + at, at == 0 ? ahead : NULL, groups, bounds, high_planes, at, out);
        if (some == 0) memset((uint8_t *)out->left + at, 0, LANE_BYTES);
        count += some;
    }
    return count;
}

/* With the number of planes known to the compiler, or they would live in memory. */
TARGET static uint32_t COUNT_COLUMNS(const uint8_t *block, const uint8_t *ahead,
                                     const struct nigh__column_groups *groups, const struct nigh__column_bound *bounds,
                                     struct nigh__column_counts *out) {
    switch ((groups->planes - LOW + 1) / 2) {
    case 2:
        return count_block(block, ahead, groups, bounds, 4, out);
    case 3:
        return count_block(block, ahead, groups, bounds, 6, out);
    case 4:
        return count_block(block, ahead, groups, bounds, 8, out);
    case 5:
        return count_block(block, ahead, groups, bounds, 10, out);
    default:
        return count_block(block, ahead, groups, bounds, NIGH__COLUMN_PLANES - LOW, out);
    }
}
