/* SPDX-License-Identifier: Apache-2.0 */
/* The measures themselves, apart from where their numbers come from. */
#ifndef NIGH_EVAL_METRIC_H
#define NIGH_EVAL_METRIC_H

#include <stddef.h>
#include <stdint.h>

struct nigh__quality {
    double precision, recall, f1;
};

/*
 * Of `wanted` things `found` were returned, `right` of them rightly.  Nothing
 * returned is no error, and nothing wanted leaves nothing to miss: 0 / 0 is 1.
 */
struct nigh__quality nigh__quality(uint64_t found, uint64_t right, uint64_t wanted);

/*
 * Average precision: the mean over all `relevant` documents of the precision at
 * the rank of each, 0 for one that was not returned.  `ranks` are those that
 * were, ascending, from 1.  0 where nothing is relevant.
 */
double nigh__average_precision(const uint64_t *ranks, size_t count, uint64_t relevant);

/*
 * What `all` documents that tie, `good` of them relevant, add to the sum of the precisions at relevant
 * documents, as expected if their order were drawn: they come after `before` others, `good_before` of
 * them relevant.  So the order of the input, which may be by class, earns nothing (McSherry and Najork, 2008).
 */
double nigh__tied_precisions(uint64_t before, uint64_t good_before, uint64_t all, uint64_t good);

/* The share of relevant documents among the first `depth`, also where fewer were returned. */
double nigh__precision_at(const uint64_t *ranks, size_t count, uint64_t depth);

/* Running mean and variance, by Welford's way. */
struct nigh__mean {
    uint64_t count;
    double mean;
    double squares; /* sum of the squared differences from the mean */
};

void nigh__mean_add(struct nigh__mean *mean, double value);

/* The standard error of the mean of a sample without replacement out of `whole`; 0 where it took all, or has one. */
double nigh__mean_error(const struct nigh__mean *mean, uint64_t whole);

#endif
