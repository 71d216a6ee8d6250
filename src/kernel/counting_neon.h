/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hamming_neon.c and weighted_neon.c share: the distances of one query to many rows,
 * where every bit counts one (no planes) or what the planes say.
 *
 * NEON counts the bits of sixteen bytes in one instruction.  The counts of a row are summed
 * as bytes, those of plane p shifted by p; four rows are then added across together, by
 * additions of neighbours that halve their number each time.
 */
#ifndef NIGH_KERNEL_COUNTING_NEON_H
#define NIGH_KERNEL_COUNTING_NEON_H

#include "kernel/hamming_parts.h"
#include "kernel/weighted.h"

#if defined(__aarch64__)

#include <arm_neon.h>

NIGH__INLINE uint8x16_t load(const uint64_t *words) { return vreinterpretq_u8_u64(vld1q_u64(words)); }

/* One word, where a row has an odd number of them. */
NIGH__INLINE uint8x16_t load_one(const uint64_t *word) {
    return vreinterpretq_u8_u64(vcombine_u64(vld1_u64(word), vdup_n_u64(0)));
}

/* Two words, or the last one. */
NIGH__INLINE uint8x16_t load_some(const uint64_t *words, size_t count) {
    return count == 2 ? load(words) : load_one(words);
}

/* What the bits of each byte that differ count, of words `first` and `first` + 1; how many planes the compiler knows.
 */
NIGH__INLINE uint8x16_t byte_distances(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row,
                                       size_t words, size_t first, size_t some) {
    const uint8x16_t differing = veorq_u8(load_some(asked->query + first, some), load_some(row + first, some));
    if (plane_count == 0) return vcntq_u8(differing);
    uint8x16_t sum = vdupq_n_u8(0);
    NIGH__UNROLL4
    for (uint32_t p = 0; p < plane_count; p++) {
        const uint8x16_t plane = load_some(asked->planes + p * words + first, some);
        sum = vaddq_u8(sum, vshlq_u8(vcntq_u8(vandq_u8(differing, plane)), vdupq_n_s8((int8_t)p)));
    }
    return sum;
}

/* Registers whose bytes may be added: 31 of at most 8 fit, 16 leaves room and divides the usual widths. */
NIGH__INLINE size_t vectors_at_once(uint32_t plane_count) {
    return plane_count < 2 ? 16 : 255 / (8 * ((1u << plane_count) - 1));
}

/* Four sums of 32 bits for one row. */
NIGH__INLINE uint32x4_t row_sums(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *row,
                                 size_t words) {
    const size_t vectors = words / 2;
    const size_t at_once = vectors_at_once(plane_count);
    uint32x4_t sums = vdupq_n_u32(0);
    for (size_t start = 0; start < vectors; start += at_once) {
        const size_t end = vectors - start < at_once ? vectors : start + at_once;
        uint8x16_t bytes = vdupq_n_u8(0);
        for (size_t v = start; v < end; v++)
            bytes = vaddq_u8(bytes, byte_distances(asked, plane_count, row, words, 2 * v, 2));
        sums = vpadalq_u16(sums, vpaddlq_u8(bytes));
    }
    if (words % 2 != 0)
        sums = vpadalq_u16(sums, vpaddlq_u8(byte_distances(asked, plane_count, row, words, words - 1, 1)));
    return sums;
}

NIGH__INLINE uint32x4_t four_rows(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *rows,
                                  size_t words) {
    uint32x4_t sums[4];
    NIGH__UNROLL4
    for (size_t j = 0; j < 4; j++) sums[j] = row_sums(asked, plane_count, rows + j * words, words);
    return vpaddq_u32(vpaddq_u32(sums[0], sums[1]), vpaddq_u32(sums[2], sums[3]));
}

/* nigh__rows_function; as one for a query that is alone where `stream` is set. */
NIGH__INLINE uint32_t rows_body(const struct nigh__asked *asked, uint32_t plane_count, const uint64_t *rows,
                                size_t count, size_t words, uint32_t *distances, bool stream) {
    const size_t place = nigh__place_rows(count, 4, words);
    const size_t turns = stream ? place * nigh__places(words) / 4 : count / 4;
    uint32x4_t smallest = vdupq_n_u32(UINT32_MAX);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 4, place, words) : turn * 4;
        if (stream) nigh__ahead(nigh__ahead_of(rows + i * words, words), 32 * words);
        uint32x4_t four = four_rows(asked, plane_count, rows + i * words, words);
        vst1q_u32(distances + i, four);
        smallest = vminq_u32(smallest, four);
    }
    uint32_t least = vminvq_u32(smallest);
    for (size_t i = turns * 4; i < count; i++) {
        distances[i] = vaddvq_u32(row_sums(asked, plane_count, rows + i * words, words));
        if (distances[i] < least) least = distances[i];
    }
    return least;
}

#endif

#endif
