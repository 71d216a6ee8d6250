/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-supervised simhash as a function to maximise: s3h.c has the method,
 * s3h_contribution.c what G is, s3h_objective.c the sums.
 */
#ifndef NIGH_LEARN_S3H_H
#define NIGH_LEARN_S3H_H

#include "learn/lesson.h"

#define NIGH__S3H_ROWS_A_PIECE 256u

struct nigh__s3h {
    const struct nigh__lesson *lesson;
    uint32_t width;               /* bits */
    double l1, l2;                /* of the objective; l2 in the scale of G */
    double mean_square;           /* of the rows of G: the mean of their squared norms */
    struct nigh__pairing pairing; /* S */
    float *values;                /* G by rows, as the lesson's `columns` */
    float *column_values;         /* and by features, as its `column_rows` */
    double *shares;               /* s_f = sum over classes of nu_fc^2; 1 where G is the lesson's matrix */
    int8_t *signs;                /* V: `width` of each feature */
    float *directions;            /* w V, of the same shape */
    float *pair_signs;            /* of S, as the pairing's `others` */
    float *clipped;               /* P: `width` of each row */
    float *slopes;                /* Z and then, in its place, E: what f gains where a sum grows */
    double *pieces;               /* parts of f, of so many rows each */
};

/*
 * All of it, ready to evaluate.  *out needs no release where it fails: NIGH_ENOMEM, NIGH_ELIMIT over
 * memory_bytes, as nigh__pairing_make().
 */
nigh_status nigh__s3h_new(const struct nigh__lesson *lesson, struct nigh__s3h *out, nigh_error *error);
void nigh__s3h_release(struct nigh__s3h *problem);

/* Fills in values, column_values, shares and mean_square; the arrays are there. */
nigh_status nigh__s3h_contribute(struct nigh__s3h *problem, nigh_error *error);

/* f at the weights, and its gradient; neither depends on the threads. */
double nigh__s3h_evaluate(struct nigh__s3h *problem, const double *weights, double *gradient);

/* sums[j] = sum of scales[k] * matrix[which[k]][j] over k, in this order; `width` a row. */
void nigh__s3h_gather(const uint32_t *which, const float *scales, uint64_t count, const float *matrix, uint32_t width,
                      float *sums);

#endif
