/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances in some of the bits only: those that a mask has set.  A short text
 * says nothing about most bits of a sparse signature, and to count these would
 * find other short texts instead of alike ones.
 */
#ifndef NIGH_KERNEL_MASKED_H
#define NIGH_KERNEL_MASKED_H

#include "kernel/hamming.h"

struct nigh__masked {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /* As nigh__hamming.batch, with a mask of `words` words for each query. */
    size_t (*batch)(const uint64_t *queries, const uint64_t *masks, size_t query_count, const uint64_t *rows,
                    size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__masked *nigh__masked_at(size_t index);

/* The best entry that this CPU can run and that goes with the distance kernel of that name.  NULL: the best. */
const struct nigh__masked *nigh__masked_choose(const char *name);

#endif
