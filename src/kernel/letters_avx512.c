/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block at a time.  Comparisons give its masks right away, and edges are the numbers 0 to 63
 * with those left out that are none: one instruction brings the others together.
 */
#include "kernel/letters_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* Which bytes are among `count` from `first` on. */
INLINE __mmask64 are_among(__m512i bytes, char first, char count) {
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(first)), _mm512_set1_epi8(count));
}

TARGET static void look(const uint8_t *text, size_t blocks, uint8_t *lower, struct nigh__letter_masks *masks) {
    const __m512i bit = _mm512_set1_epi8(0x20);
    for (size_t block = 0; block < blocks; block++, text += 64, lower += 64) {
        const __m512i bytes = _mm512_loadu_si512(text);
        const __mmask64 letters = are_among(_mm512_or_si512(bytes, bit), 'a', 26);
        _mm512_storeu_si512(lower, _mm512_mask_blend_epi8(letters, bytes, _mm512_or_si512(bytes, bit)));
        masks[block].words = letters | are_among(bytes, '0', 10);
        masks[block].high = _mm512_movepi8_mask(bytes);
    }
}

/* Thirty-two places of one byte, as places from the first block on. */
INLINE void put(__m256i places, __m512i base, uint16_t *edges) {
    _mm512_storeu_si512(edges, _mm512_add_epi16(_mm512_cvtepu8_epi16(places), base));
}

TARGET static size_t edges_avx512(const struct nigh__letter_masks *masks, size_t blocks, uint16_t *edges) {
    uint8_t counting[NIGH__LETTER_BLOCK];
    for (unsigned i = 0; i < NIGH__LETTER_BLOCK; i++) counting[i] = (uint8_t)i;
    const __m512i numbers = _mm512_loadu_si512(counting);
    uint16_t *edge = edges;
    uint64_t before = 0;
    for (size_t block = 0; block < blocks; block++) {
        const uint64_t changes = nigh__letter_changes(masks + block, &before);
        const __m512i places = _mm512_maskz_compress_epi8(changes, numbers);
        const __m512i base = _mm512_set1_epi16((short)(block * NIGH__LETTER_BLOCK));
        const int count = __builtin_popcountll(changes);
        put(_mm512_castsi512_si256(places), base, edge);
        if (count > 32) put(_mm512_extracti64x4_epi64(places, 1), base, edge + 32);
        edge += count;
    }
    return (size_t)(edge - edges);
}

const struct nigh__letters nigh__letters_avx512 = {
    .name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .look = look, .edges = edges_avx512};

#endif
