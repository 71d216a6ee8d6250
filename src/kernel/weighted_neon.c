/* SPDX-License-Identifier: Apache-2.0 */
/* Bits count what planes say; counting_neon.h says how. */
#include "kernel/counting_neon.h"
#include "kernel/weighted_parts.h"

#if defined(__aarch64__)

#include "base/cpu.h"

#define MASKED(w) BODY(1, w)
#define WEIGHTED(w) BODY(NIGH__PLANES, w)

static uint32_t rows_plain(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
    const struct nigh__asked *asked = query;
#define BODY(planes, w) rows_body(asked, (planes), rows, count, (w), distances, false)
    NIGH__SWITCH_PLANES(asked->plane_count, words, BODY, MASKED, WEIGHTED)
#undef BODY
}

static uint32_t rows_stream(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances) {
    const struct nigh__asked *asked = query;
#define BODY(planes, w) rows_body(asked, (planes), rows, count, (w), distances, true)
    NIGH__SWITCH_PLANES(asked->plane_count, words, BODY, MASKED, WEIGHTED)
#undef BODY
}

static size_t batch(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                    const uint64_t *rows, size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits) {
    return nigh__weighted_by_rows(&(const struct nigh__rows_functions){rows_plain, rows_stream}, queries, planes,
                                  query_count, rows, count, words, 0, limits, hits);
}

static uint32_t one(const uint64_t *query, const uint64_t *planes, uint32_t plane_count, const uint64_t *row,
                    size_t words) {
    const struct nigh__asked asked = {query, planes, plane_count};
#define BODY(p, w) vaddvq_u32(row_sums(&asked, (p), row, (w)))
    NIGH__SWITCH_PLANES(plane_count, words, BODY, MASKED, WEIGHTED)
#undef BODY
}

static struct nigh__two_distances pair(const uint64_t *a, const uint64_t *mask_a, const uint64_t *b,
                                       const uint64_t *mask_b, size_t words) {
    const struct nigh__asked under_a = {a, mask_a, 1};
    const struct nigh__asked under_b = {a, mask_b, 1};
    return (struct nigh__two_distances){vaddvq_u32(row_sums(&under_a, 1, b, words)),
                                        vaddvq_u32(row_sums(&under_b, 1, b, words))};
}

const struct nigh__weighted nigh__weighted_neon = {
    .name = "neon", .needs = NIGH__CPU_NEON, .batch = batch, .one = one, .pair = pair};

#else

typedef int nigh__no_weighted_neon; /* a file must hold something */

#endif
