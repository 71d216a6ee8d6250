/* SPDX-License-Identifier: Apache-2.0 */
/* Every bit counts one; counting_avx2.h says how, for one query, and hamming_avx2_batch.c for many. */
#include "kernel/counting_avx2.h"

#if defined(__x86_64__)

#include "base/cpu.h"
#include "kernel/hamming_avx2.h"

TARGET static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words,
                                  uint32_t *distances) {
    const struct nigh__asked asked = {.query = query};
#define BODY(w) rows_body(&asked, 0, rows, count, (w), distances, false)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

TARGET static uint32_t rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words,
                                   uint32_t *distances) {
    const struct nigh__asked asked = {.query = query};
#define BODY(w) rows_body(&asked, 0, rows, count, (w), distances, true)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

TARGET static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    __m256i sums = _mm256_setzero_si256();
    for (; bytes >= 32; a += 32, b += 32, bytes -= 32)
        sums = _mm256_add_epi64(sums, quarter_sums(byte_counts(_mm256_xor_si256(load(a), load(b)))));
    uint32_t distance = total(sums);
    for (; bytes >= 8; a += 8, b += 8, bytes -= 8) {
        uint64_t x;
        uint64_t y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        distance += (uint32_t)__builtin_popcountll(x ^ y);
    }
    return distance + (uint32_t)__builtin_popcountll(nigh__load_tail(a, bytes) ^ nigh__load_tail(b, bytes));
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    size_t done = 0;
    size_t found = 0;
    if (nigh__avx2_tiles_pay(query_count, words)) {
        done = count - count % NIGH__TILE_ROWS;
        found = nigh__avx2_tiles(queries, query_count, rows, done, words, limits, hits);
    }
    return found + nigh__batch_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries,
                                       words * sizeof *queries, query_count, rows + done * words, count - done, words,
                                       done, limits, hits + found);
}

const struct nigh__hamming nigh__hamming_avx2 = {"avx2", NIGH__CPU_AVX2, pair, rows_plain, batch};

#else

typedef int nigh__no_avx2_kernel; /* a file must hold something */

#endif
