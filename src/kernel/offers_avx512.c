/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks tell who of a row comes before, 16 at a time, so that nothing of the way to a
 * place is guessed:
 *
 *     before    nearer, or as near and with a smaller id: as many as the place
 *     known     as near, and the same id
 *
 * Those from the place on move up by a lane, the last of a register to the first of the
 * next one.  Registers are written whole, as the next offer reads them: a processor hands
 * that on at once, where it waits for memory after a write under a mask.
 */
#include "kernel/offers_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

#define LANES NIGH__OFFER_LANES

_Static_assert(LANES == 16, "a register of ids");

/* The lanes of a register that are there, of so many left. */
INLINE __mmask16 lanes(size_t left) { return (__mmask16)(left < LANES ? (1u << left) - 1 : 0xffffu); }

INLINE __m512i load_ids(const uint32_t *ids) { return _mm512_loadu_si512(ids); }
INLINE __m256i load_distances(const uint16_t *distances) {
    return _mm256_loadu_si256((const __m256i *)(const void *)distances);
}

/* From `place` on, all move up; what is pushed out of the last one of `count` is gone. */
INLINE void put(uint32_t *ids, uint16_t *distances, size_t count, size_t place, uint32_t id, uint16_t distance) {
    const __m256i up = _mm256_set_epi16(30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15);
    __m512i ids_before = _mm512_setzero_si512();
    __m256i distances_before = _mm256_setzero_si256();
    __mmask16 here = (__mmask16)(1u << place % LANES);
    __mmask16 moving = (__mmask16)(0xffffu << place % LANES);
    for (size_t at = place / LANES * LANES; at < count; at += LANES, moving = 0xffffu, here = 0) {
        const __mmask16 changed = moving & lanes(count - at);
        const __m512i old_ids = load_ids(ids + at);
        const __m256i old_distances = load_distances(distances + at);
        __m512i new_ids = _mm512_mask_alignr_epi32(old_ids, changed, old_ids, ids_before, 15);
        __m256i new_distances = _mm256_mask_mov_epi16(old_distances, changed,
                                                      _mm256_permutex2var_epi16(distances_before, up, old_distances));
        new_ids = _mm512_mask_set1_epi32(new_ids, here, (int)(id | NIGH__OFFER_MARK));
        new_distances = _mm256_mask_set1_epi16(new_distances, here, (short)distance);
        _mm512_storeu_si512(ids + at, new_ids);
        _mm256_storeu_si256((__m256i *)(void *)(distances + at), new_distances);
        ids_before = old_ids;
        distances_before = old_distances;
    }
}

TARGET static enum nigh__offer_outcome offer(uint32_t *ids, uint16_t *distances, size_t count, uint32_t id,
                                             uint16_t distance) {
    const __m512i unmarked = _mm512_set1_epi32((int)~NIGH__OFFER_MARK);
    const __m512i all_ids = _mm512_set1_epi32((int)id);
    const __m256i all_distances = _mm256_set1_epi16((short)distance);
    size_t place = 0;
    uint32_t known = 0;
    for (size_t at = 0; at < count; at += LANES) {
        const __mmask16 there = lanes(count - at);
        const __m256i row = load_distances(distances + at);
        const __m512i row_ids = _mm512_and_si512(load_ids(ids + at), unmarked);
        const __mmask16 as_near = _mm256_mask_cmpeq_epu16_mask(there, row, all_distances);
        const __mmask16 nearer = _mm256_mask_cmplt_epu16_mask(there, row, all_distances);
        known |= _mm512_mask_cmpeq_epu32_mask(as_near, row_ids, all_ids);
        const uint32_t before = nearer | (uint32_t)_mm512_mask_cmplt_epu32_mask(as_near, row_ids, all_ids);
        place += (size_t)_mm_popcnt_u32(before);
    }
    if (known != 0) return NIGH__OFFER_KNOWN;
    if (place == count) return NIGH__OFFER_TOO_FAR;
    put(ids, distances, count, place, id, distance);
    return NIGH__OFFER_TAKEN;
}

TARGET static size_t within(const uint32_t *distances, const uint32_t *limits, size_t count, uint32_t limit,
                            uint32_t *positions) {
    const __m512i least = _mm512_set1_epi32((int)limit);
    __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    size_t found = 0;
    for (size_t i = 0; i < count; i += LANES) {
        const __mmask16 there = lanes(count - i);
        const __m512i most = _mm512_max_epu32(_mm512_maskz_loadu_epi32(there, limits + i), least);
        const __mmask16 near =
            _mm512_mask_cmple_epu32_mask(there, _mm512_maskz_loadu_epi32(there, distances + i), most);
        _mm512_storeu_si512(positions + found, _mm512_maskz_compress_epi32(near, numbers)); /* into the padding */
        found += (size_t)_mm_popcnt_u32(near);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(LANES));
    }
    return found;
}

const struct nigh__offers nigh__offers_avx512 = {
    .name = "avx512", .needs = NIGH__CPU_AVX512_POPCNT, .offer = offer, .within = within};

#endif
