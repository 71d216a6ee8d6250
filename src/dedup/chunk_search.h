/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of queries held against a block of sorted fingerprints, in one of three ways.  chunk_search.c has them. */
#ifndef NIGH_DEDUP_CHUNK_SEARCH_H
#define NIGH_DEDUP_CHUNK_SEARCH_H

#include "dedup/chunk_file.h"
#include "index/distinct.h"
#include "index/tables.h"
#include "index/weak.h"

/* A match as two words that sort as they should: query << 32 | distance, then the number of the fingerprint. */
struct nigh__chunk_hit {
    uint64_t query_distance;
    uint64_t number;
};

/* What one thread found in its share of a block. */
struct nigh__chunk_finds {
    struct nigh__array hits; /* of struct nigh__chunk_hit; a match may come repeatedly */
    struct nigh__found found;
    bool failed; /* out of memory */
};

/* The batch, prepared once for all chunks. */
struct nigh__chunk_batch {
    const nigh_context *context;
    nigh_batch_options options; /* complete */
    const uint64_t *queries;
    uint32_t count;
    uint8_t *answered; /* of each query: it needs no more; changes between blocks only */
    uint32_t answered_count;
    uint64_t *keys; /* of psm: prefix << 32 | query, ascending; owned */
    size_t key_count;
    uint32_t keys_answered;         /* queries answered when the keys were last gone through */
    struct nigh__distinct distinct; /* of tables */
    struct nigh__tables *tables;
};

/* The options are whole; their pointers and `queries` must outlive it. */
nigh_status nigh__chunk_batch_init(struct nigh__chunk_batch *batch, nigh_error *error);
void nigh__chunk_batch_release(struct nigh__chunk_batch *batch);

/* Leaves out what belongs to queries that are answered, where that is worth it.  Between blocks. */
void nigh__chunk_batch_shrink(struct nigh__chunk_batch *batch);

/* Rows [begin, end) of a block. */
void nigh__chunk_batch_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                              uint32_t begin, uint32_t end, struct nigh__chunk_finds *finds);

#endif
