/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trying filters on a sample, often: some blocks, evenly drawn by their lengths, and some terms,
 * drawn by their weights, so that those that weigh most are surely among them.
 *
 *     all blocks     which blocks have a term: its frequency, its minima (made once, for the most hashes)
 *     sample         filters of 256 blocks, tried with 2^14 terms; those of the blocks that are not among these
 *                    are numbered behind them, and only set bits
 *
 * A trial takes milliseconds, however large the collection is.
 */
#ifndef NIGH_TERMS_FILTER_TRIAL_H
#define NIGH_TERMS_FILTER_TRIAL_H

#include "terms/minima.h"
#include "terms/positions.h"

#define NIGH__TRIAL_MAX_THETA 1280u /* of hybrid: terms of more blocks have no minima here */

struct nigh__filter_trial {
    const nigh_context *context;
    struct nigh__blocks sample; /* its terms, those that are tried, are numbered anew; frequencies are of all blocks */
    uint32_t placed;            /* terms with those of the blocks */
    uint32_t all_blocks;
    double *weights; /* of the sample's terms */
    struct nigh__minima minima;
    struct nigh__positions positions; /* room for the most hashes */
    uint32_t threads;
    uint64_t *begins, *hashes; /* what the sample points to */
    uint32_t *block_terms, *frequencies;
};

/*
 * `weights` by number of the term, not all 0.  The shape says kind, seed, and in hashes the most there will be.
 * To be released, also after a failure.
 */
nigh_status nigh__filter_trial_init(const struct nigh__blocks *blocks, const double *weights,
                                    const struct nigh__filter_shape *shape, uint32_t threads,
                                    struct nigh__progress *progress, struct nigh__filter_trial *out, nigh_error *error);
void nigh__filter_trial_release(struct nigh__filter_trial *trial); /* accepts zeros */

/*
 * The error of a shape, by weight.  Where it is too small to be seen on the sample it is what independent
 * positions give, which co-occurring terms are never below.
 */
nigh_status nigh__filter_trial_run(struct nigh__filter_trial *trial, const struct nigh__filter_shape *shape,
                                   double *out, nigh_error *error);

#endif
