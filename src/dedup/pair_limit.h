/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the pairs that are listed when all are wanted. A crowd of m documents has m (m -
 * 1) / 2 pairs, so if there would be more than the limit
 *
 *     first    of many copies of one text only pairs with the first are told: of more
 *              than 1,000 in any case, then of more than 100, of 10, of any
 *     then     each document is listed with as many candidates behind it, the best
 *              first, as there is room for: the window
 *
 * Candidates are read twice; the first time they are counted here. Which pairs are listed
 * depends only on the candidates and the limit. Which documents stay depends on neither.
 */
#ifndef NIGH_DEDUP_PAIR_LIMIT_H
#define NIGH_DEDUP_PAIR_LIMIT_H

#include "dedup/deduplication.h"

#define NIGH__PAIR_LIMIT_LEVELS 4u
#define NIGH__PAIR_LIMIT_DEGREES 65536u

/* Pairs of so many copies of one text that are told, where more than `copies` have only those with the first. */
static inline uint64_t nigh__copies_pairs(uint64_t size, uint32_t copies) {
    return size > copies ? size - 1 : size * (size - 1) / 2;
}

struct nigh__pair_limit {
    const nigh_dedup *dedup;
    uint64_t pairs[NIGH__PAIR_LIMIT_LEVELS]; /* that would be told, by how many copies may have all of theirs */
    uint64_t *degrees; /* how many documents have so many candidates behind them, or more; owned */
    uint64_t document; /* whose candidates go by */
    uint64_t degree;   /* so many of them did */
    /* The choice. */
    uint32_t copies; /* of more copies than so many only pairs with the first */
    uint64_t window;
};

nigh_status nigh__pair_limit_init(const nigh_dedup *dedup, struct nigh__pair_limit *out, nigh_error *error);
void nigh__pair_limit_release(struct nigh__pair_limit *listing);

/* A candidate pair of the first documents of their sets; those of one `better` come together. */
void nigh__pair_limit_count(struct nigh__pair_limit *listing, uint64_t better, uint64_t worse);
/* After the last. */
void nigh__pair_limit_choose(struct nigh__pair_limit *listing);

#endif
