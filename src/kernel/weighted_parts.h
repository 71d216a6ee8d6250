/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of weighted.h that have files of their own, and what they share.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_WEIGHTED_PARTS_H
#define NIGH_KERNEL_WEIGHTED_PARTS_H

#include "kernel/hamming_parts.h"
#include "kernel/weighted.h"

#if defined(__x86_64__)
extern const struct nigh__weighted nigh__weighted_avx512;
extern const struct nigh__weighted nigh__weighted_avx2;

/* The batch of AVX2, weighted_avx2_batch.c: whether turning the rows costs less than it gains. */
bool nigh__weighted_tiles_pay(uint32_t plane_count, size_t query_count, size_t words);

/* A batch under one plane, masked_avx2_batch.c: `count` is a multiple of NIGH__TILE_ROWS. */
size_t nigh__masked_tiles(const uint64_t *queries, const uint64_t *masks, size_t query_count, const uint64_t *rows,
                          size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits);

/* nigh__weighted.batch for as many rows as make whole tiles, which are *done; `wide` where AVX-512 may be used. */
size_t nigh__weighted_tiles(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                            const uint64_t *rows, size_t count, size_t words, const uint32_t *limits, bool wide,
                            struct nigh__hit *hits, size_t *done);
#endif
#if defined(__aarch64__)
extern const struct nigh__weighted nigh__weighted_neon;
#endif

/*
 * Returns body(planes, words) with the number of planes known to the compiler; for one (a mask) and for the most
 * (weights) also that of words, for the widths that matter.  The file defines for a body
 *
 *     #define MASKED(w) BODY(1, w)
 *     #define WEIGHTED(w) BODY(NIGH__PLANES, w)
 */
#define NIGH__SWITCH_PLANES(plane_count, words, body, masked, weighted) \
    if ((plane_count) == 1) {                                           \
        NIGH__SWITCH_WORDS(words, masked)                               \
    }                                                                   \
    if ((plane_count) == NIGH__PLANES) {                                \
        NIGH__SWITCH_WORDS(words, weighted)                             \
    }                                                                   \
    return (plane_count) == 2 ? body(2, words) : body(3, words);

/* nigh__batch_by_rows with functions whose query is a struct nigh__asked. */
size_t nigh__weighted_by_rows(const struct nigh__rows_functions *functions, const uint64_t *queries,
                              const struct nigh__planes *planes, size_t query_count, const uint64_t *rows, size_t count,
                              size_t words, size_t first_row, const uint32_t *limits, struct nigh__hit *hits);

#endif
