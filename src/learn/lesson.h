/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What methods learn from, and what they give back.
 *
 *     labelled documents --chi-squared--> lesson --method--> learned --signature/model.h--> model
 *
 * A lesson is a sparse matrix of the documents to learn from and the chosen features, rows
 * and columns both ways, values 1 + ln c; documents with no chosen feature are not in it.
 */
#ifndef NIGH_LEARN_LESSON_H
#define NIGH_LEARN_LESSON_H

#include "learn/labelled.h"

struct nigh__lesson {
    const nigh_context *context;
    const nigh_learn_options *options; /* with the defaults filled in */
    uint32_t threads;
    struct nigh__progress *progress; /* cancels */
    uint32_t rows, features;
    uint32_t classes;          /* as the labelled documents number them; some may have no row */
    const uint32_t *documents; /* number of each row in the labelled documents, ascending */
    const uint64_t *begins;    /* of rows: rows + 1 */
    const uint32_t *columns;   /* ascending within a row */
    const double *values;
    const uint64_t *column_begins; /* the same matrix by features: features + 1 */
    const uint32_t *column_rows;   /* ascending within a column */
    const double *column_values;
    const uint32_t *column_counts; /* what they are made of: c, at most NIGH__MODEL_MAX_COUNT */
    const uint64_t *class_begins;  /* rows + 1 */
    const uint32_t *row_classes;   /* ascending; none: not labelled */
    const uint32_t *chosen;        /* number of each feature in the labelled documents */
    const uint64_t *hashes;        /* of each feature */
    const double *chi;             /* the largest chi-squared over classes of each feature */
    uint32_t labelled;             /* rows with a class */
    uint32_t classes_used;         /* classes that have a row, */
    uint32_t classes_lone;         /* and those that have just one */
    uint32_t class_most;           /* rows of the largest class */
    uint64_t bytes;                /* of memory, all of this and the labelled documents */
};

/*
 * The caller's options, shorter or longer than ours, with the defaults filled in (memory_bytes too; l1 and l2
 * below 0 stay for the method); those filled in already stay as they are.  NIGH_EINVAL for what makes no sense.
 */
nigh_status nigh__learn_options_fill(const nigh_learn_options *options, nigh_learn_options *out, nigh_error *error);
/* Whether a feature's value is its count, by these options and their method, for learning and for signing. */
bool nigh__learn_counts(const nigh_learn_options *options);
/* Whether a method learns from labels. */
bool nigh__learn_needs_labels(nigh_learn_method method);

/*
 * Picks the documents of part TRAIN (where there are parts) or all, keeps the labels of a
 * `share` of them (1: all; by a seeded draw), and the best features by chi-squared over the
 * labelled ones (the largest over classes, by presence; ties by number), or by documents where
 * the method needs no labels and there are none.  Checks that the labels do.
 *
 * `options` are copied, with the defaults filled in; `labelled` must outlive the lesson.
 * Returns NIGH_EINVAL for options, and for labels that do not do; NIGH_ELIMIT over memory_bytes; NIGH_ENOMEM.
 */
nigh_status nigh__lesson_make(const struct nigh__labelled *labelled, const nigh_learn_options *options, double share,
                              struct nigh__lesson **out, nigh_error *error);
void nigh__lesson_free(struct nigh__lesson *lesson); /* accepts NULL */

/* NIGH_ELIMIT where what is held and `more` bytes are over memory_bytes; for methods, before they allocate. */
nigh_status nigh__lesson_allows(const struct nigh__lesson *lesson, uint64_t more, nigh_error *error);

/* V of a feature: +1 or -1 for each bit, as signature/simhash.c derives them of the hash. */
void nigh__lesson_signs(uint64_t hash, uint32_t width_bits, int8_t *signs);

/* Lambdas are told in lines as whole numbers, "%.0f" of millionths, so that no locale shows; larger ones as this. */
#define NIGH__LEARN_MAX_TOLD 1e12

/* Arrays are of the lesson's context, by features as in the lesson; nigh__learned_release() frees them. */
struct nigh__learned {
    uint32_t form;         /* enum nigh__model_form */
    double *weights;       /* form 0 */
    double *coefficients;  /* form 1: features times width_bits */
    uint32_t anchors;      /* form 2, as in nigh__model_parts; */
    uint32_t *anchor_rows; /* rows of the lesson */
    double delta_squared;
    double *offsets, *omega;
    uint32_t iterations;
    double objective, objective_start;
    double largest_weight;
    bool collapsed, stopped;
    char lines[512]; /* what it was learned with, as "key=value" lines */
};
void nigh__learned_release(const nigh_context *context, struct nigh__learned *learned);

/*
 * One function a method.  *out is zero before and to be released after, also where it fails: NIGH_ENOMEM,
 * NIGH_ECANCELLED, NIGH_ECORRUPT where numbers went astray.
 */
nigh_status nigh__learn_codewords(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error);
nigh_status nigh__learn_s3h(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error);
nigh_status nigh__learn_flat(const struct nigh__lesson *lesson, struct nigh__learned *out,
                             nigh_error *error); /* simhash, chi */
nigh_status nigh__learn_ssh(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error);
nigh_status nigh__learn_klsh(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error);

/* By the method of the lesson's options; learn/learn.c. */
nigh_status nigh__learn_lesson(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error);
/* The model of what was learned, made in `context`, which may be another than the lesson's. */
nigh_status nigh__learned_model(const nigh_context *context, const struct nigh__labelled *labelled,
                                const struct nigh__lesson *lesson, const struct nigh__learned *learned,
                                nigh_model **out, nigh_error *error);

/*
 * Pairs of labelled rows that share a class (sign +1) or do not (-1), drawn by the seed, as the
 * symmetric matrix S in rows: of row i the others at begins[i] .. begins[i + 1), in the order in which
 * they were drawn; a pair that was drawn twice is there twice.  For s3h and ssh.
 */
struct nigh__pairing {
    uint64_t *begins; /* rows + 1 */
    uint32_t *others;
    int8_t *signs;
    uint64_t attractions, repulsions; /* drawn: Np is their sum */
};
nigh_status nigh__pairing_make(const struct nigh__lesson *lesson, struct nigh__pairing *out, nigh_error *error);
/* Bytes that making it takes, of which it keeps most. */
uint64_t nigh__pairing_bytes(const struct nigh__lesson *lesson);
void nigh__pairing_release(const nigh_context *context, struct nigh__pairing *pairing);

#endif
