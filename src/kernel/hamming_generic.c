/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portable kernel: the definition of what the others compute, and what
 * runs where nothing better does.  Bits are counted by adding neighbours, in
 * fields of 2, 4 and 8 bits; the bytes of up to 31 words are summed before the
 * fields are added up, which is the expensive part.
 */
#include "kernel/hamming_parts.h"

/* Each byte of the result is the number of bits set in that byte. */
NIGH__INLINE uint64_t byte_counts(uint64_t x) {
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    return (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* Adds up the eight bytes of a word, to at most 8 * 255. */
NIGH__INLINE uint32_t sum_of_bytes(uint64_t x) {
    x = (x & UINT64_C(0x00ff00ff00ff00ff)) + ((x >> 8) & UINT64_C(0x00ff00ff00ff00ff));
    return (uint32_t)((x * UINT64_C(0x0001000100010001)) >> 48);
}

/* 31 words of at most 8 a byte are 248: the most that a byte holds. */
#define WORDS_AT_ONCE 31

NIGH__INLINE uint32_t row_distance(const uint64_t *a, const uint64_t *b, size_t words) {
    uint32_t distance = 0;
    for (size_t start = 0; start < words; start += WORDS_AT_ONCE) {
        size_t end = words - start < WORDS_AT_ONCE ? words : start + WORDS_AT_ONCE;
        uint64_t bytes = 0;
        for (size_t i = start; i < end; i++) bytes += byte_counts(a[i] ^ b[i]);
        distance += sum_of_bytes(bytes);
    }
    return distance;
}

static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint32_t distance = 0;
    for (; bytes >= 8; a += 8, b += 8, bytes -= 8) {
        uint64_t x;
        uint64_t y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        distance += sum_of_bytes(byte_counts(x ^ y));
    }
    return distance + sum_of_bytes(byte_counts(nigh__load_tail(a, bytes) ^ nigh__load_tail(b, bytes)));
}

NIGH__INLINE uint32_t rows_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
                                uint32_t *distances) {
    uint32_t smallest = UINT32_MAX;
    for (size_t i = 0; i < count; i++, rows += words) {
        uint32_t distance = row_distance(query, rows, words);
        distances[i] = distance;
        if (distance < smallest) smallest = distance;
    }
    return smallest;
}

/* From one place or two, four rows at a time. */
NIGH__INLINE uint32_t stream_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
                                  uint32_t *distances) {
    const size_t place = nigh__place_rows(count, 4, words);
    uint32_t smallest = UINT32_MAX;
    for (size_t turn = 0; turn < place * nigh__places(words) / 4; turn++) {
        const size_t i = nigh__place_row(turn, 4, place, words);
        nigh__ahead(nigh__ahead_of(rows + i * words, words), 32 * words);
        uint32_t least = rows_body(query, rows + i * words, 4, words, distances + i);
        if (least < smallest) smallest = least;
    }
    const size_t done = place * nigh__places(words);
    uint32_t least = rows_body(query, rows + done * words, count - done, words, distances + done);
    return least < smallest ? least : smallest;
}

static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
#define BODY(w) rows_body(query, rows, count, (w), distances)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static uint32_t rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
    return stream_body(query, rows, count, words, distances);
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__batch_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries,
                               words * sizeof *queries, query_count, rows, count, words, 0, limits, hits);
}

const struct nigh__hamming nigh__hamming_generic = {"generic", 0, pair, rows_plain, batch};
