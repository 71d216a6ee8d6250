/* SPDX-License-Identifier: Apache-2.0 */
/* Every bit counts one; counting_neon.h says how. */
#include "kernel/counting_neon.h"

#if defined(__aarch64__)

#include "base/cpu.h"

static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
    const struct nigh__asked asked = {.query = query};
#define BODY(w) rows_body(&asked, 0, rows, count, (w), distances, false)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static uint32_t rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
    const struct nigh__asked asked = {.query = query};
#define BODY(w) rows_body(&asked, 0, rows, count, (w), distances, true)
    NIGH__SWITCH_WORDS(words, BODY)
#undef BODY
}

static uint32_t pair(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint32x4_t sums = vdupq_n_u32(0);
    for (; bytes >= 16; a += 16, b += 16, bytes -= 16)
        sums = vpadalq_u16(sums, vpaddlq_u8(vcntq_u8(veorq_u8(vld1q_u8(a), vld1q_u8(b)))));
    uint8_t rest_a[16] = {0};
    uint8_t rest_b[16] = {0};
    memcpy(rest_a, a, bytes);
    memcpy(rest_b, b, bytes);
    sums = vpadalq_u16(sums, vpaddlq_u8(vcntq_u8(veorq_u8(vld1q_u8(rest_a), vld1q_u8(rest_b)))));
    return vaddvq_u32(sums);
}

static size_t batch(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__batch_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries,
                               words * sizeof *queries, query_count, rows, count, words, 0, limits, hits);
}

const struct nigh__hamming nigh__hamming_neon = {"neon", NIGH__CPU_NEON, pair, rows_plain, batch};

#else

typedef int nigh__no_neon_kernel; /* a file must hold something */

#endif
