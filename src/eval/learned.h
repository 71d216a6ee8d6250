/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well learned signatures bring documents of one class together.
 *
 *     documents --trial--> who asks, who answers, what is relevant
 *        each number of features, each seed:  a lesson
 *           each method, each width:  learned -> model -> signatures -> outcome
 *
 * An outcome is the mean over the queries, a row the mean of outcomes over the seeds.
 */
#ifndef NIGH_EVAL_LEARNED_H
#define NIGH_EVAL_LEARNED_H

#include "eval/metric.h"
#include "learn/lesson.h"

/*
 * Those that answer are the documents of part TRAIN, numbered in their order; those that
 * ask the documents of part TEST that share a class with one of these at least.
 */
struct nigh__trial {
    nigh_context *context;
    const struct nigh__labelled *labelled;
    struct nigh__progress *progress;
    uint32_t threads;
    uint32_t radius;
    nigh_eval_lookup lookup;
    uint32_t answers, queries;
    uint32_t *answer_documents; /* the number of each among the labelled documents */
    uint32_t *query_documents;
    uint64_t *class_begins;    /* classes + 1 */
    uint32_t *class_answers;   /* answers of each class, ascending */
    uint32_t *unlabelled;      /* answers without a class, */
    uint32_t unlabelled_count; /* so many */
};

/* Marks the relevant answers of a query with `mark`; returns how many there are, each counted once if `mark` is 1. */
uint32_t nigh__trial_mark(const struct nigh__trial *trial, uint32_t query, uint8_t mark, uint8_t *marks);

/* NIGH_EINVAL where nobody asks, or answers.  `most` queries, evenly chosen; 0: all.  Released by the caller either
 * way. */
nigh_status nigh__trial_make(struct nigh__trial *trial, uint32_t most, nigh_error *error);
void nigh__trial_release(struct nigh__trial *trial);

/* What one query found. */
struct nigh__score {
    double average_precision, precision;
    uint64_t returned;
    uint64_t intra, inter; /* sums of distances, */
    uint64_t intra_pairs, inter_pairs;
};

struct nigh__outcome {
    double map, precision, returned, empty, intra, inter;
    double seconds, sign_rate;
    uint64_t peak_bytes;
    uint32_t iterations;
    bool collapsed;
    double lookup_seconds, scan_seconds; /* these are 0 where lookup is not measured */
    uint64_t lookup_bytes;
    uint32_t tables;
};

/*
 * Runs ask(user, scratch, query, score) for every query, on all threads, each with scratch of
 * its own, zero at first; then the means, summed in the order of the queries.
 */
struct nigh__asking {
    const struct nigh__trial *trial;
    nigh_status (*ask)(const void *user, void *scratch, uint32_t query, struct nigh__score *score, nigh_error *error);
    const void *user;
    size_t scratch_bytes;
    const char *stage;
};
nigh_status nigh__trial_ask(const struct nigh__asking *asking, struct nigh__outcome *out, nigh_error *error);

/*
 * How long query(user, number) takes: the mean over some of the queries, evenly chosen, one after the other on this
 * thread, by its processor time; the best of some rounds.
 */
nigh_status nigh__trial_time(const struct nigh__trial *trial,
                             nigh_status (*query)(void *user, uint32_t number, nigh_error *error), void *user,
                             double *seconds, nigh_error *error);

/* Signatures of the answers, then of the queries. */
struct nigh__signed_rows {
    const struct nigh__trial *trial;
    uint32_t width_bits;
    size_t words; /* of a row */
    uint64_t *rows;
    uint8_t *missing; /* of each row: it has no signature */
};

/*
 * Finds the answers within the radius of each query by a finder: what that takes, and where nothing is ranked
 * what it finds.  learned_lookup.c
 */
nigh_status nigh__trial_lookup(const struct nigh__signed_rows *rows, struct nigh__outcome *out, nigh_error *error);

/* Signs all documents of the trial by the model and ranks them by distance; fills in the rest of *out but for learning.
 */
nigh_status nigh__trial_signatures(const struct nigh__trial *trial, const nigh_model *model, struct nigh__outcome *out,
                                   nigh_error *error);

/* Documents that share a chosen feature with the query: precision and how many. */
nigh_status nigh__trial_inverted(const struct nigh__trial *trial, const struct nigh__lesson *lesson,
                                 struct nigh__outcome *out, nigh_error *error);
/*
 * All ranked by the cosine of (1 + ln c) ln(D / d), over the lesson's features, or over all: `lesson` NULL.  With
 * lookup also the 10 best alone, by accumulators.
 */
nigh_status nigh__trial_cosine(const struct nigh__trial *trial, const struct nigh__lesson *lesson,
                               struct nigh__outcome *out, nigh_error *error);

/*
 * Gives the labelled documents the hashes that they would have been read with under another
 * seed: hashes depend on the text of a feature and the seed alone.  `hashes` has room for all features.
 */
nigh_status nigh__labelled_reseed(struct nigh__labelled *labelled, uint64_t seed, uint64_t *hashes, nigh_error *error);

/* ----------------------------------------------------------------- result -- */

/* Over the seeds so far. */
struct nigh__learned_row {
    nigh_eval_learned_row row;
    struct nigh__mean map, precision, returned, empty, intra, inter, seconds, sign_rate, lookup_seconds, scan_seconds;
};

struct nigh_eval_learned {
    const nigh_context *context;
    nigh_eval_learned_info info;
    struct nigh__array
        rows; /* of struct nigh__learned_row, by features, method and width; references behind each features */
    struct nigh__array svg; /* of char: the last plot */
};

#endif
