/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of any x86-64 of the last fifteen years: the popcnt instruction, 64 bits at a time. */
#include "kernel/hamming_parts.h"

#if defined(__x86_64__)

#include "base/cpu.h"

#define TARGET __attribute__((target("popcnt")))
#define INLINE TARGET NIGH__INLINE

/* Two sums, so that additions do not wait for each other. */
INLINE uint32_t row_distance(const uint64_t *a, const uint64_t *b, size_t words) {
    uint64_t even = 0;
    uint64_t odd = 0;
    size_t i = 0;
    NIGH__UNROLL8
    for (; i + 2 <= words; i += 2) {
        even += (uint64_t)__builtin_popcountll(a[i] ^ b[i]);
        odd += (uint64_t)__builtin_popcountll(a[i + 1] ^ b[i + 1]);
    }
    if (i < words) even += (uint64_t)__builtin_popcountll(a[i] ^ b[i]);
    return (uint32_t)(even + odd);
}

TARGET static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint64_t distance = 0;
    for (; bytes >= 8; a += 8, b += 8, bytes -= 8) {
        uint64_t x;
        uint64_t y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        distance += (uint64_t)__builtin_popcountll(x ^ y);
    }
    distance += (uint64_t)__builtin_popcountll(nigh__load_tail(a, bytes) ^ nigh__load_tail(b, bytes));
    return (uint32_t)distance;
}

INLINE uint32_t rows_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
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
INLINE uint32_t stream_body(const uint64_t *query, const uint64_t *rows, size_t count, size_t words,
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

TARGET static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words,
                                  uint32_t *distances){
#define BODY(w) rows_body(query, rows, count, (w), distances)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

TARGET static uint32_t
    rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
#define BODY(w) stream_body(query, rows, count, (w), distances)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__batch_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries,
                               words * sizeof *queries, query_count, rows, count, words, 0, limits, hits);
}

const struct nigh__hamming nigh__hamming_popcnt = {"popcnt", NIGH__CPU_POPCNT, pair, rows_plain, batch};

#else

typedef int nigh__no_popcnt_kernel; /* a file must hold something */

#endif
