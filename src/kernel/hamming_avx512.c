/* SPDX-License-Identifier: Apache-2.0 */
/* Every bit counts one; counting_avx512.h says how. */
#include "kernel/counting_avx512.h"

#if defined(__x86_64__)

#include "base/cpu.h"

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
    __m512i sums = _mm512_setzero_si512();
    for (; bytes >= 64; a += 64, b += 64, bytes -= 64) sums = _mm512_add_epi64(sums, word_distances(load(a), load(b)));
    if (bytes > 0) {
        const __mmask64 mask = (__mmask64)(UINT64_MAX >> (64 - bytes));
        sums =
            _mm512_add_epi64(sums, word_distances(_mm512_maskz_loadu_epi8(mask, a), _mm512_maskz_loadu_epi8(mask, b)));
    }
    return (uint32_t)_mm512_reduce_add_epi64(sums);
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__batch_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries,
                               words * sizeof *queries, query_count, rows, count, words, 0, limits, hits);
}

const struct nigh__hamming nigh__hamming_avx512 = {"avx512", NIGH__CPU_AVX512_POPCNT, pair, rows_plain, batch};

#else

typedef int nigh__no_avx512_kernel; /* a file must hold something */

#endif
