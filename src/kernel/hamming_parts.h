/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel variants share: the widths that get code of their own, the
 * batch that is made of calls for one query, and the ends that are too short
 * for wide registers.  Included by src/kernel/ alone.
 */
#ifndef NIGH_KERNEL_HAMMING_PARTS_H
#define NIGH_KERNEL_HAMMING_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel/hamming.h"

extern const struct nigh__hamming nigh__hamming_generic;
#if defined(__x86_64__)
extern const struct nigh__hamming nigh__hamming_popcnt;
extern const struct nigh__hamming nigh__hamming_avx2;
extern const struct nigh__hamming nigh__hamming_avx512;
#define NIGH__TARGET_AVX2 __attribute__((target("avx2,popcnt")))
#else
#define NIGH__TARGET_AVX2
#endif
#if defined(__aarch64__)
extern const struct nigh__hamming nigh__hamming_neon;
#endif

#define NIGH__INLINE static inline __attribute__((always_inline))

/*
 * Loops over registers must be unrolled, or the registers live in memory.
 * clang does so unasked; gcc does not at -O2.
 */
#if defined(__clang__)
#define NIGH__UNROLL8
#define NIGH__UNROLL4
#else
#define NIGH__UNROLL8 _Pragma("GCC unroll 8")
#define NIGH__UNROLL4 _Pragma("GCC unroll 4")
#endif

/*
 * Runs `body` with the number of words known to the compiler for the widths
 * that matter (64 to 4,096 bits), and as a variable for all others.
 */
#define NIGH__SWITCH_WORDS(words, body) \
    switch (words) {                    \
    case 1:                             \
        return body(1);                 \
    case 2:                             \
        return body(2);                 \
    case 4:                             \
        return body(4);                 \
    case 6:                             \
        return body(6);                 \
    case 8:                             \
        return body(8);                 \
    case 12:                            \
        return body(12);                \
    case 16:                            \
        return body(16);                \
    case 24:                            \
        return body(24);                \
    case 32:                            \
        return body(32);                \
    case 64:                            \
        return body(64);                \
    default:                            \
        return body(words);             \
    }

/*
 * A query that is alone reads rows in the order of memory, wide ones from two places, a few
 * from each in turn, and asks for memory ahead: so many bytes in all.  hamming.c says why.
 */
#define NIGH__MAX_PLACES 2u
#define NIGH__AHEAD 8192u

NIGH__INLINE size_t nigh__places(size_t words) { return words > 32 ? NIGH__MAX_PLACES : 1; }

/* Of the first of rows that are compared together, what is asked for: in each place its share ahead. */
NIGH__INLINE const char *nigh__ahead_of(const uint64_t *row, size_t words) {
    return (const char *)row + NIGH__AHEAD / nigh__places(words);
}

/* Rows of one place, where `count` rows are taken `step` at a time; what does not divide is left for the end. */
NIGH__INLINE size_t nigh__place_rows(size_t count, size_t step, size_t words) {
    return count / (nigh__places(words) * step) * step;
}

/* The first row of step number `turn`. */
NIGH__INLINE size_t nigh__place_row(size_t turn, size_t step, size_t place_rows, size_t words) {
    const size_t places = nigh__places(words);
    return turn % places * place_rows + turn / places * step;
}

NIGH__INLINE void nigh__ahead(const void *address, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)address + i, 0, 3);
}

/* The last 1 to 7 bytes of a string, as a word. */
NIGH__INLINE uint64_t nigh__load_tail(const uint8_t *bytes, size_t count) {
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return word;
}

/* As nigh__hamming.rows, but that `query` is whatever the batch is made of. */
typedef uint32_t nigh__rows_function(const void *query, const uint64_t *rows, size_t count, size_t words,
                                     uint32_t *distances);

/* `stream` is `rows` for a query that is alone: from several places, reading ahead. */
struct nigh__rows_functions {
    nigh__rows_function *rows, *stream;
};

/*
 * A batch made of calls for one query, which streams.  For more, a block of rows stays in the
 * first-level cache while all queries pass over it, and each pass asks for its
 * share of the block that comes next, so that memory and arithmetic overlap.
 *
 * Queries are `query_bytes` apart, and each is handed to the functions as it is.
 * Rows are counted from `first_row` in the hits.
 */
size_t nigh__batch_by_rows(const struct nigh__rows_functions *functions, const void *queries, size_t query_bytes,
                           size_t query_count, const uint64_t *rows, size_t count, size_t words, size_t first_row,
                           const uint32_t *limits, struct nigh__hit *hits);

#endif
