/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All pairs of a corpus, counted by distance and length class.
 *
 * Random pairs would not do: among n documents there are n (n - 1) / 2, hardly
 * any of them alike, and a sample of a million has next to none of those.  So
 * nothing that is counted is estimated:
 *
 *     pairs at each distance   every distance is computed (distances.c); a scan
 *                              does a billion of short ones a second
 *     alike pairs among them   found exactly by a join over what is particular
 *                              to a document (alike.c), or given as labels
 *
 * and only the mean cosine at a distance h is an estimate: over `sample` pairs
 * drawn evenly from the n_h at that distance, without replacement, so that it is
 * unbiased, with the standard error sqrt(s^2 / m (1 - m / n_h)).
 */
#ifndef NIGH_EVAL_PAIRS_H
#define NIGH_EVAL_PAIRS_H

#include "base/progress.h"
#include "eval/corpus.h"
#include "eval/metric.h"

#define NIGH__LENGTHS 5u /* the classes, and all of them together as number 0 */

struct nigh_eval_pairs {
    const nigh_context *context;
    uint32_t width_bits;
    uint64_t documents;
    uint64_t *pairs;           /* [NIGH__LENGTHS][width_bits + 1]; once all is done, with those nearer */
    uint64_t *alike;           /* the same */
    struct nigh__mean *cosine; /* [width_bits + 1] */
    uint64_t labels_missing;
    double threshold;
    bool labelled;
    struct nigh__array svg; /* of char: the last plot */
};

static inline uint64_t *nigh__histogram(uint64_t *counts, uint32_t width_bits, uint32_t length) {
    return counts + (size_t)length * (width_bits + 1);
}

/* What the steps of a measurement share. */
struct nigh__measuring {
    const nigh_eval_corpus *corpus;
    nigh_eval_pairs_options options;
    uint32_t threads; /* at least 1 */
    struct nigh__progress progress;
    nigh_eval_pairs *pairs; /* being filled, but for class 0 */
};

/* The class of a pair is that of the shorter text. */
static inline uint32_t nigh__pair_length(const nigh_eval_corpus *corpus, uint32_t a, uint32_t b) {
    const uint32_t length_a = (uint32_t)nigh__corpus_entry(corpus, a)->length;
    const uint32_t length_b = (uint32_t)nigh__corpus_entry(corpus, b)->length;
    return length_a < length_b ? length_a : length_b;
}

/* Fills in pairs, and cosine. */
nigh_status nigh__pairs_count(struct nigh__measuring *measuring, nigh_error *error);
/* Fill in alike: pairs of a cosine of options.alike or more; or by the labels. */
nigh_status nigh__pairs_join(struct nigh__measuring *measuring, nigh_error *error);
nigh_status nigh__pairs_label(struct nigh__measuring *measuring, nigh_error *error);

#endif
