/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of queries against chunks of fingerprints, and what its threads find: all ways to search share these. */
#ifndef NIGH_FINDER_CHUNK_BATCH_H
#define NIGH_FINDER_CHUNK_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/sorter.h"
#include "finder/chunk_file.h"
#include "finder/distinct.h"
#include "finder/tables.h"

#define NIGH__CHUNK_NO_BEST UINT64_MAX

/* A match as two words that sort as they should: query << 32 | distance, then the number of the fingerprint. */
struct nigh__chunk_hit {
    uint64_t query_distance;
    uint64_t number;
};

/*
 * Where hits go that are too many for memory: sorted on the disk.  Threads take turns.
 */
struct nigh__chunk_spill {
    pthread_mutex_t lock;
    struct nigh__sorter *sorter;
    size_t most; /* hits that a thread keeps before it gives them away */
    nigh_status status;
    nigh_error error;
};

/* What one thread found in its share of a block. */
struct nigh__chunk_finds {
    struct nigh__array hits;   /* of struct nigh__chunk_hit: with `all` */
    struct nigh__array recent; /* of uint32_t: else, queries that got their first match from this thread */
    struct nigh__array words;  /* of uint64_t: what tables found, to sort it */
    struct nigh__found found;
    struct nigh__array places; /* of uint32_t: of a crowd, see chunk_crowd.c */
    struct nigh__array rows;   /* of uint64_t: the same */
    bool failed;               /* out of memory */
};

/*
 * The batch, prepared once for all chunks.  Queries that are equal in all that counts
 * are one from then on, so that a crowd of them takes no longer.
 */
struct nigh__chunk_batch {
    const nigh_context *context;
    nigh_batch_options options; /* complete */
    const uint64_t *queries;    /* as given; once prepared, those that differ */
    uint32_t count;             /* of them */
    uint32_t given;
    uint32_t *of_given;     /* of each query given, which of `queries` it is; NULL: the same */
    uint64_t *words;        /* of psm: `queries`; owned */
    _Atomic uint64_t *best; /* of each query, not with `all`: nigh__chunk_best() of its match so far */
    uint8_t *answered;      /* of each query: it needs no more; changes between blocks only */
    uint32_t answered_count;
    uint64_t prefix;  /* of psm: of the last row of the block before, in the same chunk */
    uint64_t carried; /* so many rows of it were there; 0: none, or another chunk's */
    uint64_t *keys;   /* of psm: prefix << 32 | query, ascending; owned */
    size_t key_count;
    uint32_t keys_answered;         /* queries answered when the keys were last gone through */
    struct nigh__distinct distinct; /* of the queries */
    struct nigh__tables *tables;
    struct nigh__chunk_deal *deal;   /* of tables: where the bits of queries and rows go; NULL: they stay */
    uint64_t *dealt;                 /* the queries so; owned */
    struct nigh__chunk_spill *spill; /* of `all`, where matches are handed out; NULL: they stay in memory */
    bool budget_default;             /* nobody has said how much a look-up may compare */
};

/*
 * Less is better, and two matches of a query are never alike: with `any`, the row of
 * the block and the distance; with `first`, the number in the chunk and the distance.
 */
static inline uint64_t nigh__chunk_best(uint32_t place, uint32_t distance) { return (uint64_t)place << 8 | distance; }

/* Gives the hits that a thread has found to the sorter, where there is one.  False: that failed, and the spill says
 * why. */
bool nigh__chunk_hits_spill(const struct nigh__chunk_batch *batch, struct nigh__chunk_finds *finds);

/* A match, and whether the look-up may end with it. */
void nigh__chunk_hit_add(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t row,
                         uint32_t query, uint32_t distance, struct nigh__chunk_finds *finds);
static inline bool nigh__chunk_enough(const struct nigh__chunk_batch *batch, const struct nigh__chunk_finds *finds) {
    return batch->options.mode == NIGH_FIND_ANY || finds->failed;
}

/* Whether rows of the block from `row` on cannot answer a query: it has its match, in a block before or, with `any`,
 * in a row before. */
static inline bool nigh__chunk_settled(const struct nigh__chunk_batch *batch, uint32_t query, uint32_t row) {
    if (batch->answered[query] != 0) return true;
    if (batch->options.mode != NIGH_FIND_ANY) return false;
    const uint64_t best = atomic_load_explicit(&batch->best[query], memory_order_relaxed);
    return best != NIGH__CHUNK_NO_BEST && best >> 8 < row;
}

#endif
