/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near-copies, and how they are found.
 *
 *     documents  --copies dropped-->  originals 0, 1, 2, ...
 *     originals  --every pair of a high Jaccard index-->  truth: keys (a << 32 | b), a < b, sorted
 *
 * and then a row for each method: nigh dedup (duplicates_dedup.c), signatures within
 * a radius (duplicates_radius.c), bands of min-wise hashes (duplicates_bands.c).
 * The truth (duplicates_truth.c) knows the sets of features alone, so it owes
 * nothing to what it judges.
 */
#ifndef NIGH_EVAL_DUPLICATES_H
#define NIGH_EVAL_DUPLICATES_H

#include "base/counting_context.h"
#include "base/progress.h"
#include "eval/corpus.h"

#define NIGH__NO_ORIGINAL UINT32_MAX
#define NIGH__LABEL_BANDS 7u

struct nigh_eval_duplicates {
    nigh_context *context;
    nigh_eval_corpus *corpus;  /* NULL once all is measured */
    uint32_t count;            /* originals */
    uint32_t *documents;       /* of each original, its document of the corpus */
    uint32_t *originals;       /* of each document of the corpus, its original */
    struct nigh__array truth;  /* of uint64_t */
    struct nigh__array rows;   /* of nigh_eval_duplicates_row */
    struct nigh__array labels; /* of struct nigh__label */
    nigh_eval_duplicates_band bands[NIGH__LABEL_BANDS];
    uint32_t band_count; /* 0: there are no labels */
    nigh_eval_duplicates_info info;
};

/* A labelled pair. */
struct nigh__label {
    uint64_t key;   /* of its originals; of a copy both are the same */
    double value;   /* as labelled */
    double jaccard; /* by the features at hand */
};

/* What the steps share. */
struct nigh__judging {
    nigh_eval_duplicates *duplicates;
    nigh_eval_duplicates_options options;
    nigh_signer_options signer; /* minhash of the features that count */
    const char *const *paths;
    size_t path_count;
    nigh_text_reader_options reading; /* as given: for the first pass alone */
    nigh_text_reader_options again;   /* without reports of problems */
    struct nigh__progress progress;
    uint32_t threads;
    double minhash_seconds; /* that reading and hashing took, for all that begins so */
};

static inline uint64_t nigh__pair_key(uint32_t a, uint32_t b) {
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static inline const struct nigh__entry *nigh__original(const nigh_eval_duplicates *duplicates, uint32_t original) {
    return nigh__corpus_entry(duplicates->corpus, duplicates->documents[original]);
}

/* The original of a record of the input; NIGH__NO_ORIGINAL: it is not there, or has no feature. */
uint32_t nigh__original_find(const nigh_eval_duplicates *duplicates, uint64_t number);

/* Shared features over all features of the two, 1 of one and the same. */
double nigh__original_jaccard(const nigh_eval_duplicates *duplicates, uint32_t a, uint32_t b);

/* Finds the originals among the documents of the corpus. */
nigh_status nigh__duplicates_originals(nigh_eval_duplicates *duplicates, nigh_error *error);

/* Fills in truth. */
nigh_status nigh__duplicates_truth(struct nigh__judging *judging, nigh_error *error);

/* Adds a row; found and right, candidates and seconds are told, the rest follows. */
nigh_status nigh__duplicates_add(nigh_eval_duplicates *duplicates, nigh_eval_duplicates_row row, nigh_error *error);

/* The rows of each kind of method, and the bands of labels. */
nigh_status nigh__duplicates_dedup(struct nigh__judging *judging, nigh_error *error);
nigh_status nigh__duplicates_radius(struct nigh__judging *judging, nigh_error *error);
nigh_status nigh__duplicates_lsh(struct nigh__judging *judging, nigh_error *error);

#endif
