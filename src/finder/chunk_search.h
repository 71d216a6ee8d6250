/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of queries compared with a block of sorted fingerprints, in one of three ways. chunk_search.c has them. */
#ifndef NIGH_FINDER_CHUNK_SEARCH_H
#define NIGH_FINDER_CHUNK_SEARCH_H

#include "finder/chunk_batch.h"
#include "finder/weak.h"

/* The options are whole; their pointers and `queries` must outlive it. */
nigh_status nigh__chunk_batch_init(struct nigh__chunk_batch *batch, nigh_error *error);
void nigh__chunk_batch_release(struct nigh__chunk_batch *batch);

/* Leaves out what belongs to queries that are answered, where that is worth it.  Between blocks. */
void nigh__chunk_batch_shrink(struct nigh__chunk_batch *batch);

/* Remembers what the look-ups of the next block must know of this one. */
void nigh__chunk_batch_carry(struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block);

/*
 * The share [begin, end) of a block's work, which is cut into block->count parts: rows,
 * or as great a part of the queries.  Shares may be searched at the same time.
 */
void nigh__chunk_batch_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                              uint32_t begin, uint32_t end, struct nigh__chunk_finds *finds);

#endif
