/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight keys a register.  AVX2 cannot count bits, but "at most h" needs no count: a
 * number with its lowest set bit cleared h times is 0 exactly where it had no more.
 * x & (x - 1) clears it, two operations; up to four times that is cheaper than
 * counting by a table of sixteen, which takes ten.
 */
#include "kernel/near_parts.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/cpu.h"

#define TARGET __attribute__((target("avx2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))

#define MAX_CLEARED 4u

INLINE __m256i load(const uint32_t *keys) { return _mm256_loadu_si256((const __m256i *)(const void *)keys); }

/* Bits set in each of eight numbers. */
INLINE __m256i bits_in(__m256i x) {
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, /* of 0 to 15 */
                                            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(0x0f);
    __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(counts, _mm256_and_si256(x, low)),
                                    _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
    __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* All ones where the key is near. */
INLINE __m256i are_near(__m256i keys, __m256i key, uint32_t most) {
    __m256i x = _mm256_xor_si256(keys, key);
    if (most > MAX_CLEARED) return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)most + 1), bits_in(x));
    const __m256i minus_one = _mm256_set1_epi32(-1);
    for (uint32_t i = 0; i < most; i++) x = _mm256_and_si256(x, _mm256_add_epi32(x, minus_one));
    return _mm256_cmpeq_epi32(x, _mm256_setzero_si256());
}

/* Writes down the positions of the keys that are near. */
INLINE size_t note(__m256i near, size_t first, uint32_t *positions, size_t found) {
    uint32_t set = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(near));
    for (; set != 0; set &= set - 1) positions[found++] = (uint32_t)first + (uint32_t)__builtin_ctz(set);
    return found;
}

/* All ones for the first `count` (under 8) numbers of a register. */
INLINE __m256i first_of(size_t count) {
    static const int32_t masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(masks + 8 - count));
}

INLINE size_t find_within(const uint32_t *keys, size_t count, __m256i key, uint32_t most, uint32_t *positions) {
    size_t found = 0;
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m256i a = are_near(load(keys + i), key, most);
        __m256i b = are_near(load(keys + i + 8), key, most);
        __m256i c = are_near(load(keys + i + 16), key, most);
        __m256i d = are_near(load(keys + i + 24), key, most);
        __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        if (__builtin_expect(_mm256_testz_si256(any, any), 1)) continue;
        found = note(a, i, positions, found);
        found = note(b, i + 8, positions, found);
        found = note(c, i + 16, positions, found);
        found = note(d, i + 24, positions, found);
    }
    for (; i + 8 <= count; i += 8) found = note(are_near(load(keys + i), key, most), i, positions, found);
    const __m256i mask = first_of(count - i);
    __m256i last = _mm256_maskload_epi32((const int *)(const void *)(keys + i), mask);
    return note(_mm256_and_si256(are_near(last, key, most), mask), i, positions, found);
}

TARGET static size_t find(const uint32_t *keys, size_t count, uint32_t key, uint32_t most, uint32_t *positions) {
    const __m256i all = _mm256_set1_epi32((int)key);
    const uint32_t bounded = most < 32 ? most : 32;
#define BODY(bits) find_within(keys, count, all, bits, positions)
    NIGH__SWITCH_MAX(bounded, BODY)
#undef BODY
}

/* -------------------------------------------------------------------- buckets */

/*
 * A register that begins with a short bucket may reach into the next cache line, which
 * nobody has asked for: waiting for it takes longer than all else.  So where the bucket
 * ends before the line does, the register ends there too.  Returns by how many numbers it
 * begins earlier; `room` are left in the line, and `lanes` fit into the register.
 */
INLINE size_t earlier_by(size_t count, size_t room, size_t lanes) {
    return ((room < lanes) & (count <= room)) != 0 ? lanes - room : 0;
}

INLINE uint64_t worth_within(const struct nigh__bucket *buckets, size_t count, uint32_t most) {
    uint64_t set = 0;
    for (size_t b = 0; b < count; b++) {
        const size_t there = buckets[b].count < 8 ? buckets[b].count : 8;
        const size_t room = (64 - (uintptr_t)buckets[b].keys % 64) / sizeof(uint32_t);
        const size_t earlier = earlier_by(there, room, 8);
        const __m256i mask = _mm256_andnot_si256(first_of(earlier), first_of(earlier + there));
        const int *keys = (const int *)(const void *)buckets[b].keys - earlier;
        const __m256i key = _mm256_set1_epi32((int)buckets[b].key);
        __m256i near = are_near(_mm256_maskload_epi32(keys, mask), key, most);
        const uint64_t worth = !_mm256_testz_si256(near, mask) | (buckets[b].count > NIGH__SHORT_BUCKET);
        set |= worth << b;
    }
    return set;
}

TARGET static uint64_t worth(const struct nigh__bucket *buckets, size_t count, uint32_t most) {
    const uint32_t bounded = most < 32 ? most : 32;
#define BODY(bits) worth_within(buckets, count, bits)
    NIGH__SWITCH_MAX(bounded, BODY)
#undef BODY
}

INLINE __m256i words_near(__m256i words, __m256i word, uint32_t most) {
    __m256i x = _mm256_xor_si256(words, word);
    if (most > MAX_CLEARED) {
        const __m256i halves = bits_in(x);
        const __m256i bits = _mm256_add_epi32(halves, _mm256_srli_epi64(halves, 32)); /* in the lower half */
        const __m256i low = _mm256_and_si256(bits, _mm256_set1_epi64x(UINT32_MAX));
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x((int64_t)most + 1), low);
    }
    const __m256i minus_one = _mm256_set1_epi64x(-1);
    for (uint32_t i = 0; i < most; i++) x = _mm256_and_si256(x, _mm256_add_epi64(x, minus_one));
    return _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
}

/* All ones for the first `count` (up to 4) words of a register. */
INLINE __m256i first_words(size_t count) {
    static const int64_t masks[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(masks + 4 - count));
}

INLINE uint64_t words_within(const struct nigh__word_bucket *buckets, size_t count, __m256i word, uint32_t most) {
    uint64_t set = 0;
    for (size_t b = 0; b < count; b++) {
        const size_t there = buckets[b].count < 4 ? buckets[b].count : 4;
        const size_t room = (64 - (uintptr_t)buckets[b].words % 64) / sizeof(uint64_t);
        const size_t earlier = earlier_by(there, room, 4);
        const __m256i mask = _mm256_andnot_si256(first_words(earlier), first_words(earlier + there));
        const long long *words = (const long long *)(const void *)buckets[b].words - earlier;
        __m256i near = words_near(_mm256_maskload_epi64(words, mask), word, most);
        const uint64_t worth = !_mm256_testz_si256(near, mask) | (buckets[b].count > NIGH__SHORT_WORDS);
        set |= worth << b;
    }
    return set;
}

TARGET static uint64_t worth_words(const struct nigh__word_bucket *buckets, size_t count, uint64_t word,
                                   uint32_t most) {
    const __m256i all = _mm256_set1_epi64x((int64_t)word);
    const uint32_t bounded = most < 64 ? most : 64;
#define BODY(bits) words_within(buckets, count, all, bits)
    NIGH__SWITCH_MAX(bounded, BODY)
#undef BODY
}

const struct nigh__near nigh__near_avx2 = {
    .name = "avx2", .needs = NIGH__CPU_AVX2, .find = find, .worth = worth, .worth_words = worth_words};

#endif
