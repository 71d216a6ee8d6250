/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions: which bits of a filter a term sets, k of 0 .. m - 1.
 *
 *     bloom    position j is a hash of the term and j, modulo m
 *     coca     position j is the least of (a_j d + b_j) mod P over the blocks d that have the term, numbered
 *              from 1, modulo m; P = 2^61 - 1.  Terms that occur together have positions in common, so that
 *              a block sets fewer bits
 *     hybrid   terms of one block: the number of that block, and no bits at all; terms of more than theta
 *              blocks: `frequent_hashes` positions as of bloom; the others as of coca
 *
 * The positions of coca and hybrid depend on the blocks there were, so they are kept, and stay:
 * documents that come later find a term's positions as they are, and a term that is new then takes
 * those that its blocks there give.
 */
#ifndef NIGH_TERMS_POSITIONS_H
#define NIGH_TERMS_POSITIONS_H

#include "terms/blocks.h"
#include "terms/filter_shape.h"

/* How a term is kept. */
enum nigh__term_kind { NIGH__TERM_POSITIONS = 0, NIGH__TERM_HASHED = 1, NIGH__TERM_SINGLE = 2 };

struct nigh__positions {
    const nigh_context *context;
    struct nigh__filter_shape shape;
    uint32_t terms;
    uint8_t *kinds;      /* enum nigh__term_kind of each */
    uint8_t *known;      /* a bit each: it has had its positions before, and keeps them */
    uint32_t *positions; /* shape.hashes a term; of SINGLE the first is its block, from 0 among these blocks */
};

/* ceil(log2 values): how many bits one of so many values takes. */
uint32_t nigh__bits_of(uint64_t values);
/* How a term is kept that so many of so many blocks have, and of which nothing is known from before. */
enum nigh__term_kind nigh__term_kind_of(const struct nigh__filter_shape *shape, uint32_t frequency, uint64_t blocks);

/*
 * The positions that hashes of a term give: of bloom `hashes`, of hybrid `frequent_hashes` of them.  May repeat.
 * Position j is nigh__mix(hash ^ nigh__mix(seed + j)) mod m.
 */
void nigh__hashed_positions(const struct nigh__filter_shape *shape, uint64_t hash, uint32_t *out);

/*
 * Positions of the terms of blocks.  `first_block` is added to the numbers of the blocks (groups
 * before this one).  `known`, of which terms may be NULL, gives those that have positions already,
 * by number of the term here; they stay.  By several threads, the same for any number of them.
 */
struct nigh__known_positions {
    void *user;
    /* True with kind (POSITIONS or HASHED) and positions where the term is known from before.  On the calling thread.
     */
    bool (*find)(void *user, uint64_t hash, enum nigh__term_kind *kind, uint32_t *positions);
};
nigh_status nigh__positions_make(const struct nigh__blocks *blocks, const struct nigh__filter_shape *shape,
                                 uint64_t first_block, const struct nigh__known_positions *known, uint32_t threads,
                                 struct nigh__progress *progress, struct nigh__positions **out, nigh_error *error);
void nigh__positions_free(struct nigh__positions *positions); /* accepts NULL */

/* How many positions a term sets, and where they are; 0 of a single one. */
static inline uint32_t nigh__positions_count(const struct nigh__positions *positions, uint32_t term) {
    const struct nigh__filter_shape *shape = &positions->shape;
    const uint8_t kind = positions->kinds[term];
    return kind == NIGH__TERM_SINGLE ? 0 : kind == NIGH__TERM_HASHED ? shape->frequent_hashes : shape->hashes;
}
static inline bool nigh__positions_known(const struct nigh__positions *positions, uint32_t term) {
    return (positions->known[term / 8] >> term % 8 & 1) != 0;
}
static inline const uint32_t *nigh__positions_of(const struct nigh__positions *positions, uint32_t term) {
    return positions->positions + (size_t)term * positions->shape.hashes;
}

/* --------------------------------------------------------------- errors, choice */

/* Counted over blocks evenly drawn: a term that a block has not, but its filter says it has, is false. */
struct nigh__filter_error {
    double mean, deviation, least, most; /* FP / |W| over blocks */
    double quantiles[3];                 /* of it: a tenth of the blocks is below, half, nine tenths */
    double weighted;                     /* a term as often as blocks have it */
    double by_queries;                   /* by `weights`, where given */
    double by_frequency[4];              /* terms of 1, 2 to 10, 11 to 100, and more blocks */
    double fill;
    double independent; /* mean (by_queries where there are weights), were all positions drawn independently */
};
/* `weights` of each term, or NULL; not all 0.  The same for any number of threads. */
nigh_status nigh__filter_error_measure(const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                                       uint32_t sample, uint64_t seed, const double *weights, uint32_t threads,
                                       struct nigh__filter_error *out, nigh_error *error);

/*
 * What of the options can be told to be wrong without documents: NIGH_EINVAL.  (A term of bits_per_term is 64 bits at
 * most, and either this or false_positives is given.)
 */
nigh_status nigh__filter_options_check(const nigh_terms_options *options, nigh_error *error);

/*
 * Fills in what is 0 in the shape (bits, hashes, frequent_hashes, theta) by the options or, where these are 0 too,
 * by search for the options' target and goal; kind and seed are the shape's.  *expected is the error for the goal,
 * measured on a sample; negative: there are no terms to tell by.  NIGH_EINVAL where the target takes more than 64
 * bits a term, with the best that can be had.
 */
nigh_status nigh__filter_choose(const struct nigh__blocks *blocks, const nigh_terms_options *options,
                                struct nigh__progress *progress, struct nigh__filter_shape *shape, double *expected,
                                nigh_error *error);

#endif
