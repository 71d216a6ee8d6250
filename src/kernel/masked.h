/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances in some of the bits only: those that a mask has set.  A short text
 * says nothing about most bits of a sparse signature, and to count these would
 * find other short texts instead of alike ones.
 */
#ifndef NIGH_KERNEL_MASKED_H
#define NIGH_KERNEL_MASKED_H

#include "kernel/hamming.h"

/* As nigh__hamming.batch, with a mask of `words` words for each query. */
typedef size_t nigh__masked_batch(const uint64_t *queries, const uint64_t *masks, size_t query_count,
                                  const uint64_t *rows, size_t count, size_t words, const uint32_t *limits,
                                  struct nigh__hit *hits);

/* What goes with a kernel of hamming.h, by its name. */
nigh__masked_batch *nigh__masked_choose(const char *hamming);

#endif
