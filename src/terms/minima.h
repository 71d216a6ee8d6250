/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least values behind COCA's positions (Tirdad et al., 2011).  Function j of block d, numbered
 * from 1, is
 *
 *     v_j(d) = (a_j d + b_j) mod P,  P = 2^61 - 1
 *
 * where a_j is 1 + x mod (P - 1) and b_j is y mod P, of outputs 2j and 2j + 1 (x and y) of SplitMix64
 * started at nigh__mix(seed).  The minimum of v_j over the blocks of a term is the same for two terms
 * with probability |X and Y| / |X or Y|, X and Y being their blocks.  P must be far above the number of
 * blocks: with a P near it the functions are too few, and terms meet that have nothing in common.
 *
 * Functions are few and blocks many, so values are made once a block.  A minimum depends on no
 * order, so threads can have functions of their own, each with a table of its own:
 *
 *     values | of functions 0 .. 3, row after row, a row a term | of functions 4 .. 7 | ...
 *
 * Cost: an access to memory for each term of each block and thread, asked for ahead.
 */
#ifndef NIGH_TERMS_MINIMA_H
#define NIGH_TERMS_MINIMA_H

#include "terms/blocks.h"
#include "terms/filter_shape.h"

#define NIGH__UNRANKED UINT32_MAX

struct nigh__minima {
    const nigh_context *context;
    uint64_t *values; /* owned */
    uint32_t hashes, parts;
    uint32_t ranked; /* terms */
};

/*
 * Of the terms that have a rank, each another, below `ranked`; ranks[] is by number of the term, or
 * NIGH__UNRANKED.  A rank of which no block has the term has minima of UINT64_MAX.
 */
nigh_status nigh__minima_make(const struct nigh__blocks *blocks, const uint32_t *ranks, uint32_t ranked,
                              const struct nigh__filter_shape *shape, uint64_t first_block, uint32_t threads,
                              struct nigh__progress *progress, struct nigh__minima *out, nigh_error *error);
void nigh__minima_release(struct nigh__minima *minima); /* accepts zeros */

/* The first `hashes` minima of a term, modulo `bits`. */
void nigh__minima_positions(const struct nigh__minima *minima, uint32_t rank, uint32_t hashes, uint32_t bits,
                            uint32_t *out);

#endif
