/* SPDX-License-Identifier: Apache-2.0 */
/* The batch of the AVX2 kernel: tiles of rows turned on their side.  hamming_avx2_batch.c says how. */
#ifndef NIGH_KERNEL_HAMMING_AVX2_H
#define NIGH_KERNEL_HAMMING_AVX2_H

#include <stdbool.h>

#include "kernel/hamming.h"

#define NIGH__TILE_ROWS 64u

/* Whether turning the rows costs less than it gains. */
bool nigh__avx2_tiles_pay(size_t query_count, size_t words);

/* nigh__hamming.batch for whole tiles: `count` is a multiple of NIGH__TILE_ROWS. */
size_t nigh__avx2_tiles(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                        const uint32_t *limits, struct nigh__hit *hits);

#endif
