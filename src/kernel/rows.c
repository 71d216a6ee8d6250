/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a variant, the way through the rows, which all variants share, and the portable one.
 *
 * A million blocks are rows of 125 KB, and a query of three words has a dozen of them: what it
 * costs is what it reads.  With a third of the bits set a line of 512 has come to be zero after
 * some eight rows, and then the others need not be read there.
 */
#include "kernel/rows.h"

#include <string.h>

#include "kernel/features.h"
#include "kernel/rows_parts.h"

#define WORDS (NIGH__ROWS_LINE / 8)

/* ------------------------------------------------------------ all of them -- */

/* The next rows; where there are fewer than four, one of them again, which is in the cache. */
static void step_rows(const uint8_t *const *rows, size_t count, const uint8_t *out[NIGH__ROWS_STEP]) {
    for (size_t i = 0; i < NIGH__ROWS_STEP; i++) out[i] = rows[i < count ? i : count - 1];
}

static uint64_t step_bytes(size_t rows, uint64_t lines) {
    if (rows > NIGH__ROWS_STEP) rows = NIGH__ROWS_STEP;
    return (uint64_t)rows * (uint64_t)__builtin_popcountll(lines) * NIGH__ROWS_LINE;
}

bool nigh__rows_by_pieces(nigh__rows_first *first, nigh__rows_more *more, const uint8_t *const *rows, size_t count,
                          size_t from, size_t bytes, uint8_t *out, uint64_t *touched) {
    const uint8_t *step[NIGH__ROWS_STEP];
    bool any = false;
    for (size_t at = 0; at < bytes; at += NIGH__ROWS_PIECE) {
        const size_t left = (bytes - at) / NIGH__ROWS_LINE;
        uint64_t lines = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
        step_rows(rows, count, step);
        *touched += step_bytes(count, lines);
        lines = first(step, from + at, lines, out + at);
        for (size_t row = NIGH__ROWS_STEP; row < count && lines != 0; row += NIGH__ROWS_STEP) {
            step_rows(rows + row, count - row, step);
            *touched += step_bytes(count - row, lines);
            lines = more(step, from + at, lines, out + at);
        }
        any |= lines != 0;
    }
    return any;
}

/* --------------------------------------------------------------- portable -- */

static uint64_t line_and(const uint8_t *const *rows, size_t from, uint64_t words[WORDS]) {
    uint64_t any = 0;
    for (size_t row = 0; row < NIGH__ROWS_STEP; row++) {
        uint64_t more[WORDS];
        memcpy(more, rows[row] + from, sizeof more);
        for (size_t w = 0; w < WORDS; w++) words[w] &= more[w];
    }
    for (size_t w = 0; w < WORDS; w++) any |= words[w];
    return any;
}

static uint64_t first_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    uint64_t left = 0;
    for (unsigned line = 0; line < 64 && lines >> line != 0; line++) {
        uint64_t words[WORDS];
        memset(words, 0xff, sizeof words);
        const uint64_t any = line_and(rows, from + (size_t)line * NIGH__ROWS_LINE, words);
        memcpy(out + (size_t)line * NIGH__ROWS_LINE, words, sizeof words);
        left |= (uint64_t)(any != 0) << line;
    }
    return left;
}

static uint64_t more_rows(const uint8_t *const *rows, size_t from, uint64_t lines, uint8_t *out) {
    uint64_t left = 0;
    for (; lines != 0; lines &= lines - 1) {
        const unsigned line = (unsigned)__builtin_ctzll(lines);
        uint64_t words[WORDS];
        memcpy(words, out + (size_t)line * NIGH__ROWS_LINE, sizeof words);
        const uint64_t any = line_and(rows, from + (size_t)line * NIGH__ROWS_LINE, words);
        memcpy(out + (size_t)line * NIGH__ROWS_LINE, words, sizeof words);
        left |= (uint64_t)(any != 0) << line;
    }
    return left;
}

static bool intersect(const uint8_t *const *rows, size_t count, size_t from, size_t bytes, uint8_t *out,
                      uint64_t *touched) {
    return nigh__rows_by_pieces(first_rows, more_rows, rows, count, from, bytes, out, touched);
}

/* Bits of neighbours added up, by two, four and eight; the product adds the bytes. */
static uint64_t word_bits(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return word * UINT64_C(0x0101010101010101) >> 56;
}

static uint64_t count_bits(const uint8_t *bits, size_t bytes) {
    uint64_t count = 0;
    for (size_t at = 0; at < bytes; at += sizeof count) {
        uint64_t word;
        memcpy(&word, bits + at, sizeof word);
        count += word_bits(word);
    }
    return count;
}

static const struct nigh__rows rows_generic = {
    .name = "generic", .needs = 0, .intersect = intersect, .count = count_bits};

/* ----------------------------------------------------------------- choice -- */

static const struct nigh__rows *const variants[] = {
#if defined(__x86_64__)
    &nigh__rows_avx512,
    &nigh__rows_avx2,
#elif defined(__aarch64__)
    &nigh__rows_neon,
#endif
    &rows_generic,
};

NIGH__KERNEL_CHOICE(nigh__rows)
