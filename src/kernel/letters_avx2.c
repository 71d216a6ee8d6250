/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thirty-two bytes at a time.  Bit 5 tells small letters from large ones, so one comparison finds both.
 * Edges are written eight at a time, whether there are as many or not: how often that happens can be
 * predicted, but not how many edges a block has.
 */
#include "kernel/letters_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* Whether a byte is one of `count` from `first` on.  Comparisons are signed: the range is moved to where they begin. */
INLINE __m256i is_among(__m256i bytes, char first, char count) {
    __m256i moved = _mm256_add_epi8(bytes, _mm256_set1_epi8((char)(-128 - first)));
    return _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(-128 + count)), moved);
}

INLINE uint64_t bits_of(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* Returns which bytes belong to words. */
INLINE __m256i half_look(__m256i bytes, uint8_t *lower) {
    const __m256i bit = _mm256_set1_epi8(0x20);
    __m256i letters = is_among(_mm256_or_si256(bytes, bit), 'a', 26);
    _mm256_storeu_si256((__m256i *)(void *)lower, _mm256_or_si256(bytes, _mm256_and_si256(letters, bit)));
    return _mm256_or_si256(letters, is_among(bytes, '0', 10));
}

TARGET static void look(const uint8_t *text, size_t blocks, uint8_t *lower, struct nigh__letter_masks *masks) {
    for (size_t block = 0; block < blocks; block++, text += 64, lower += 64) {
        __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)text);
        __m256i second = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
        masks[block].high = bits_of(first, second);
        masks[block].words = bits_of(half_look(first, lower), half_look(second, lower + 32));
    }
}

TARGET static size_t edges_avx2(const struct nigh__letter_masks *masks, size_t blocks, uint16_t *edges) {
    uint16_t *edge = edges;
    uint64_t before = 0;
    for (size_t block = 0; block < blocks; block++) {
        uint64_t changes = nigh__letter_changes(masks + block, &before);
        const unsigned base = (unsigned)(block * NIGH__LETTER_BLOCK);
        uint16_t *next = edge;
        edge += __builtin_popcountll(changes);
        while (next < edge) {
            for (unsigned i = 0; i < 8; i++, changes &= changes - 1)
                *next++ = (uint16_t)(base + (unsigned)__builtin_ctzll(changes | UINT64_C(1) << 63));
        }
    }
    return (size_t)(edge - edges);
}

const struct nigh__letters nigh__letters_avx2 = {
    .name = "avx2", .needs = NIGH__CPU_AVX2, .look = look, .edges = edges_avx2};

#endif
