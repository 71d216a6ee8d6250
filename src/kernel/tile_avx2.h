/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile: 64 rows turned on their side, so that one look-up of half a byte serves 32 of
 * them; and the sums of such look-ups.  hamming_avx2_batch.c draws it.
 */
#ifndef NIGH_KERNEL_TILE_AVX2_H
#define NIGH_KERNEL_TILE_AVX2_H

#include "kernel/hamming_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/hamming_avx2.h"

#define TARGET NIGH__TARGET_AVX2
#define INLINE TARGET NIGH__INLINE

#define GROUPS 2 /* registers of 32 rows each in a tile */
#define GROUP_ROWS 32
#define PASS_WORDS 16u
#define ROUND_NIBBLES 6  /* twice the three that a byte holds: fewer rounds */
#define PASS_NIBBLES 258 /* 16 words of 16, up to whole rounds */
#define FLUSH_NIBBLES 60 /* whole rounds; times 4 it fits into a byte */

_Static_assert(NIGH__TILE_ROWS == GROUPS * GROUP_ROWS, "a tile");

INLINE size_t whole_rounds(size_t nibbles) { return (nibbles + ROUND_NIBBLES - 1) / ROUND_NIBBLES * ROUND_NIBBLES; }

/* ------------------------------------------------------------------- turning */

struct tile {
    __m256i nibbles[PASS_NIBBLES][GROUPS];
};

/* Up to 16 bytes of rows i and i + 16, one in each half. */
INLINE __m256i two_rows(const uint8_t *rows, size_t stride, size_t i, bool half) {
    const __m128i *lower = (const __m128i *)(const void *)(rows + i * stride);
    const __m128i *upper = (const __m128i *)(const void *)(rows + (i + 16) * stride);
    __m128i a = half ? _mm_loadl_epi64(lower) : _mm_loadu_si128(lower);
    __m128i b = half ? _mm_loadl_epi64(upper) : _mm_loadu_si128(upper);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

/*
 * Turns eight rows on their side, in both halves of the registers: interleaving
 * the bytes of registers i and i + 4 into registers 2i and 2i + 1, three times
 * over, leaves byte 2k of all eight rows and then byte 2k + 1 in register k.
 */
INLINE void turn_eight(__m256i x[8]) {
    __m256i y[8];
    NIGH__UNROLL4
    for (size_t stage = 0; stage < 3; stage++) {
        NIGH__UNROLL4
        for (size_t i = 0; i < 4; i++) {
            y[2 * i] = _mm256_unpacklo_epi8(x[i], x[i + 4]);
            y[2 * i + 1] = _mm256_unpackhi_epi8(x[i], x[i + 4]);
        }
        NIGH__UNROLL8
        for (size_t i = 0; i < 8; i++) x[i] = y[i];
    }
}

INLINE void put_nibbles(__m256i bytes, __m256i (*nibbles)[GROUPS], size_t group) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    nibbles[0][group] = _mm256_and_si256(bytes, low_half);
    nibbles[1][group] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
}

/* Turns 16 bytes (8 where `half`) of 32 rows into the nibbles of one group, from *nibbles on. */
INLINE void turn_group(const uint8_t *rows, size_t stride, bool half, __m256i (*nibbles)[GROUPS], size_t group) {
    __m256i even[8];
    __m256i odd[8];
    NIGH__UNROLL8
    for (size_t i = 0; i < 8; i++) even[i] = two_rows(rows, stride, 2 * i, half);
    turn_eight(even);
    /* Without this the compilers work on all sixteen at once, and have too few registers. */
    __asm__ volatile("" : : "r"(even) : "memory");
    NIGH__UNROLL8
    for (size_t i = 0; i < 8; i++) odd[i] = two_rows(rows, stride, 2 * i + 1, half);
    turn_eight(odd);
    NIGH__UNROLL8
    for (size_t k = 0; k < 8; k++) {
        if (half && k >= 4) break; /* bytes 8 to 15 */
        put_nibbles(_mm256_unpacklo_epi8(even[k], odd[k]), nibbles + 4 * k, group);
        put_nibbles(_mm256_unpackhi_epi8(even[k], odd[k]), nibbles + 4 * k + 2, group);
    }
}

/* Returns the number of nibbles, whole rounds; those that pad are zero. */
TARGET static inline size_t tile_turn(__m256i (*nibbles)[GROUPS], const uint8_t *rows, size_t stride, size_t words) {
    for (size_t group = 0; group < GROUPS; group++) {
        const uint8_t *from = rows + group * GROUP_ROWS * stride;
        for (size_t w = 0; w + 2 <= words; w += 2) turn_group(from + w * 8, stride, false, nibbles + w * 16, group);
        if (words % 2 != 0) turn_group(from + (words - 1) * 8, stride, true, nibbles + (words - 1) * 16, group);
    }
    const size_t count = whole_rounds(words * 16);
    for (size_t n = words * 16; n < count; n++) {
        for (size_t group = 0; group < GROUPS; group++) nibbles[n][group] = _mm256_setzero_si256();
    }
    return count;
}

/* ----------------------------------------------------------------- the tables */

#define BITS4(n) (((n)&1) + (((n) >> 1) & 1) + (((n) >> 2) & 1) + (((n) >> 3) & 1))

/* 256 tables, by two nibbles: the first and 16 times the second.  The file defines ANSWER(pair, n). */
#define ANSWERS4(pair, n) ANSWER(pair, n), ANSWER(pair, (n) + 1), ANSWER(pair, (n) + 2), ANSWER(pair, (n) + 3)
#define TABLE(pair) \
    { ANSWERS4(pair, 0), ANSWERS4(pair, 4), ANSWERS4(pair, 8), ANSWERS4(pair, 12) }
#define TABLES4(pair) TABLE(pair), TABLE((pair) + 1), TABLE((pair) + 2), TABLE((pair) + 3)
#define TABLES16(pair) TABLES4(pair), TABLES4((pair) + 4), TABLES4((pair) + 8), TABLES4((pair) + 12)
#define TABLES64(pair) TABLES16(pair), TABLES16((pair) + 16), TABLES16((pair) + 32), TABLES16((pair) + 48)

#define TABLE_SIZE 16
#define NIGH__TABLES \
    { TABLES64(0), TABLES64(64), TABLES64(128), TABLES64(192) }

/* Where the tables of 16 nibbles begin, from two words, in the order of a tile: low half of a byte, then high. */
INLINE __m256i word_offsets(uint64_t first, uint64_t second) {
    const __m128i low_half = _mm_set1_epi8(0x0f);
    __m128i x = _mm_cvtsi64_si128((long long)first);
    __m128i y = _mm_cvtsi64_si128((long long)second);
    __m128i low = _mm_or_si128(_mm_and_si128(x, low_half), _mm_slli_epi16(_mm_and_si128(y, low_half), 4));
    __m128i high = _mm_or_si128(_mm_and_si128(_mm_srli_epi16(x, 4), low_half), _mm_andnot_si128(low_half, y));
    return _mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(low, high)), 4); /* times TABLE_SIZE */
}

INLINE __m256i table_at(const uint8_t (*tables)[TABLE_SIZE], uint16_t offset) {
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)((const char *)tables + offset)));
}

/* ------------------------------------------------------------------- the sums */

/*
 * Of one query, 16 bits a row.  What is added up are registers of bytes, once as
 * they are, as if two rows were one number, and once shifted so that the odd
 * rows are left: `both` - 256 `odd` are the even rows.
 */
struct tile_sums {
    __m256i both[GROUPS];
    __m256i odd[GROUPS];
};

INLINE __m256i even_rows(__m256i both, __m256i odd) { return _mm256_sub_epi16(both, _mm256_slli_epi16(odd, 8)); }

INLINE void widen(struct tile_sums *sums, size_t group, __m256i bytes) {
    sums->both[group] = _mm256_add_epi16(sums->both[group], bytes);
    sums->odd[group] = _mm256_add_epi16(sums->odd[group], _mm256_srli_epi16(bytes, 8));
}

/* Of two queries that share their look-ups. */
struct pair_sums {
    struct tile_sums of[2];
};

/* Moves the sums of bytes, a = F + 16 S and b = S, to 16 bits. */
INLINE void flush_pair(struct pair_sums *sums, size_t group, __m256i a, __m256i b) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    widen(&sums->of[0], group, _mm256_sub_epi8(a, _mm256_andnot_si256(low_half, _mm256_slli_epi16(b, 4))));
    widen(&sums->of[1], group, b);
}

/* Looks up three nibbles of all rows, each in a table for both queries; hamming_avx2_batch.c has the sums. */
INLINE void add_three(const __m256i (*nibbles)[GROUPS], __m256i t0, __m256i t1, __m256i t2, __m256i *a, __m256i *b) {
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    NIGH__UNROLL4
    for (size_t g = 0; g < GROUPS; g++) {
        __m256i p = _mm256_shuffle_epi8(t0, nibbles[0][g]);
        p = _mm256_add_epi8(p, _mm256_shuffle_epi8(t1, nibbles[1][g]));
        p = _mm256_add_epi8(p, _mm256_shuffle_epi8(t2, nibbles[2][g]));
        a[g] = _mm256_add_epi8(a[g], p);
        b[g] = _mm256_add_epi8(b[g], _mm256_and_si256(_mm256_srli_epi16(p, 4), low_half));
    }
}

/* ------------------------------------------------------------------- the hits */

/* A limit in the 16 bits of the sums; no distance is above 65,534. */
static inline uint16_t bound_of(uint32_t limit) { return limit > UINT16_MAX ? UINT16_MAX : (uint16_t)limit; }

/* Whether some row of the tile is nearer than the limit, which is what most tiles have none of. */
INLINE bool any_below(const struct tile_sums *sums, uint16_t limit) {
    const __m256i bound = _mm256_set1_epi16((short)limit);
    __m256i below = _mm256_setzero_si256();
    NIGH__UNROLL4
    for (size_t g = 0; g < GROUPS; g++) {
        const __m256i odd = sums->odd[g];
        below = _mm256_or_si256(below, _mm256_subs_epu16(bound, even_rows(sums->both[g], odd)));
        below = _mm256_or_si256(below, _mm256_subs_epu16(bound, odd));
    }
    return !_mm256_testz_si256(below, below);
}

/* Even and odd rows of a group back in order. */
INLINE void put_in_order(__m256i even, __m256i odd, uint16_t out[GROUP_ROWS]) {
    __m256i lower = _mm256_unpacklo_epi16(even, odd); /* rows 0 to 7 and 16 to 23 */
    __m256i upper = _mm256_unpackhi_epi16(even, odd); /* rows 8 to 15 and 24 to 31 */
    _mm256_storeu_si256((__m256i *)(void *)out, _mm256_permute2x128_si256(lower, upper, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(out + 16), _mm256_permute2x128_si256(lower, upper, 0x31));
}

TARGET static inline size_t tile_hits(const struct tile_sums *sums, uint32_t query, uint16_t bound, size_t first_row,
                                      struct nigh__hit *hits) {
    if (!any_below(sums, bound)) return 0;
    uint16_t distances[NIGH__TILE_ROWS];
    for (size_t g = 0; g < GROUPS; g++)
        put_in_order(even_rows(sums->both[g], sums->odd[g]), sums->odd[g], distances + g * GROUP_ROWS);
    size_t found = 0;
    for (size_t r = 0; r < NIGH__TILE_ROWS; r++) {
        if (distances[r] < bound) hits[found++] = (struct nigh__hit){query, (uint32_t)(first_row + r), distances[r]};
    }
    return found;
}

#endif

#endif
