/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning: tune_sample.c has the queries and their truth, tune_measure.c measures a setting,
 * tune.c searches for the best.
 */
#ifndef NIGH_SEARCH_TUNE_H
#define NIGH_SEARCH_TUNE_H

#include "base/memory.h"
#include "base/progress.h"
#include "collection/collection.h"

enum nigh__tune_half { NIGH__TUNE_CHOOSE, NIGH__TUNE_REPORT };

struct nigh__tuner {
    const nigh_collection *collection;
    const nigh_context *context;
    nigh_tune_options options;
    struct nigh__progress progress;
    uint64_t steps, step; /* queries to ask in all, about, and asked */
    double margin;        /* by which a target must be reached, in parts of half an interval */

    /* The sample: queries 0, 2, ... choose, and 1, 3, ... report. */
    size_t count;
    uint8_t *signatures; /* owned */
    uint8_t *weights;    /* owned; NULL: none */
    uint64_t *own;       /* owned; NULL: the queries are no documents */
    nigh_eval_truth *truth;

    /* Of each query of a half, while it is measured. */
    double *seconds, *recalls, *cdrs;
    nigh_match *found;
};

/* Whether the bits of queries count differently, so that they are answered in other ways. */
static inline bool nigh__tune_is_ranked(const nigh_tune_options *options) {
    return options->masks != NULL || options->rank == NIGH_RANK_WEIGHTED;
}

/* Whether a setting misses nothing. */
static inline bool nigh__tune_is_exact(const nigh_search_options *search) {
    return search->method == NIGH_SEARCH_SCAN || (search->method == NIGH_SEARCH_COLUMNS && search->slack < 0);
}

/* A mean over queries and its 95 % confidence interval. */
struct nigh__tune_interval {
    double mean, low, high;
};

struct nigh__tune_measure {
    struct nigh__tune_interval recall, cdr;
    double median, percentile_99;
    size_t queries;
    bool slow; /* it took longer than was allowed, and was not measured to the end */
    bool poor; /* it would not have reached the targets, the same */
};

/* To be released, also after a failure. */
nigh_status nigh__tuner_init(struct nigh__tuner *tuner, nigh_error *error);
void nigh__tuner_release(struct nigh__tuner *tuner);

/*
 * Searches with the queries of one half.  Ends early where the median is above `most_seconds` (0: any will do), and
 * where `hopeful` is set and the targets are out of reach.
 */
nigh_status nigh__tune_measure(struct nigh__tuner *tuner, enum nigh__tune_half half, const nigh_search_options *search,
                               double most_seconds, bool hopeful, struct nigh__tune_measure *out, nigh_error *error);

/* Whether the targets are reached with the margin; and whether they cannot be, for the upper ends are below. */
bool nigh__tune_reached(const struct nigh__tuner *tuner, const struct nigh__tune_measure *measure);
bool nigh__tune_hopeless(const nigh_tune_options *options, const struct nigh__tune_measure *measure);

#endif
