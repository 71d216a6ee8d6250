/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NEON counts the bits of sixteen bytes in one instruction.  The counts of a
 * row are summed as bytes; four rows are then added across together, by
 * additions of neighbours that halve their number each time.
 */
#include "kernel/hamming_parts.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "base/cpu.h"

/* 31 bytes of at most 8 fit into one; 16 leaves room and divides the usual widths. */
#define VECTORS_AT_ONCE 16

NIGH__INLINE uint8x16_t load(const uint64_t *words) { return vreinterpretq_u8_u64(vld1q_u64(words)); }

NIGH__INLINE uint8x16_t byte_distances(uint8x16_t a, uint8x16_t b) { return vcntq_u8(veorq_u8(a, b)); }

/* One word, where a row has an odd number of them. */
NIGH__INLINE uint8x16_t load_one(const uint64_t *word) {
    return vreinterpretq_u8_u64(vcombine_u64(vld1_u64(word), vdup_n_u64(0)));
}

/* Four sums of 32 bits for one row. */
NIGH__INLINE uint32x4_t row_sums(const uint64_t *query, const uint64_t *row, size_t words) {
    const size_t vectors = words / 2;
    uint32x4_t sums = vdupq_n_u32(0);
    for (size_t start = 0; start < vectors; start += VECTORS_AT_ONCE) {
        const size_t end = vectors - start < VECTORS_AT_ONCE ? vectors : start + VECTORS_AT_ONCE;
        uint8x16_t bytes = vdupq_n_u8(0);
        for (size_t v = start; v < end; v++)
            bytes = vaddq_u8(bytes, byte_distances(load(query + 2 * v), load(row + 2 * v)));
        sums = vpadalq_u16(sums, vpaddlq_u8(bytes));
    }
    if (words % 2 != 0)
        sums = vpadalq_u16(sums, vpaddlq_u8(byte_distances(load_one(query + words - 1), load_one(row + words - 1))));
    return sums;
}

NIGH__INLINE uint32x4_t four_rows(const uint64_t *query, const uint64_t *rows, size_t words) {
    uint32x4_t first = vpaddq_u32(row_sums(query, rows, words), row_sums(query, rows + words, words));
    uint32x4_t second = vpaddq_u32(row_sums(query, rows + 2 * words, words), row_sums(query, rows + 3 * words, words));
    return vpaddq_u32(first, second);
}

NIGH__INLINE uint32_t rows_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
                                uint32_t *distances, bool stream) {
    const size_t place = nigh__place_rows(count, 4);
    const size_t turns = stream ? place * NIGH__PLACES / 4 : count / 4;
    uint32x4_t smallest = vdupq_n_u32(UINT32_MAX);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t i = stream ? nigh__place_row(turn, 4, place) : turn * 4;
        if (stream) nigh__ahead((const char *)(rows + i * words) + NIGH__AHEAD, 32 * words);
        uint32x4_t four = four_rows(query, rows + i * words, words);
        vst1q_u32(distances + i, four);
        smallest = vminq_u32(smallest, four);
    }
    uint32_t least = vminvq_u32(smallest);
    for (size_t i = turns * 4; i < count; i++) {
        distances[i] = vaddvq_u32(row_sums(query, rows + i * words, words));
        if (distances[i] < least) least = distances[i];
    }
    return least;
}

static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
#define BODY(w) rows_body(query, rows, count, (w), distances, false)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static uint32_t rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
#define BODY(w) rows_body(query, rows, count, (w), distances, true)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint32x4_t sums = vdupq_n_u32(0);
    for (; bytes >= 16; a += 16, b += 16, bytes -= 16)
        sums = vpadalq_u16(sums, vpaddlq_u8(byte_distances(vld1q_u8(a), vld1q_u8(b))));
    uint8_t rest_a[16] = {0};
    uint8_t rest_b[16] = {0};
    memcpy(rest_a, a, bytes);
    memcpy(rest_b, b, bytes);
    sums = vpadalq_u16(sums, vpaddlq_u8(byte_distances(vld1q_u8(rest_a), vld1q_u8(rest_b))));
    return vaddvq_u32(sums);
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__batch_by_rows(rows_plain, rows_stream, queries, words * sizeof *queries, query_count, rows, count,
                               words, 0, limits, hits);
}

const struct nigh__hamming nigh__hamming_neon = {"neon", NIGH__CPU_NEON, pair, rows_plain, batch};

#else

typedef int nigh__no_neon_kernel; /* a file must hold something */

#endif
