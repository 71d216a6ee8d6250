/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codewords for classes and regression on them: codewords.c has the method, codewords_kinds.c
 * which documents are alike, codewords_choose.c the codewords, codewords_fit.c the regression,
 * codewords_guess.c what to make of rows without a label.
 */
#ifndef NIGH_LEARN_CODEWORDS_H
#define NIGH_LEARN_CODEWORDS_H

#include "learn/lesson.h"

#define NIGH__NO_KIND UINT32_MAX

/* A kind is a set of classes that rows have; where each row has one class, the class. */
struct nigh__kinds {
    uint32_t count;
    uint32_t *of_rows;    /* of each row; NIGH__NO_KIND: not labelled */
    uint32_t *sizes;      /* rows of each kind */
    uint32_t *first_rows; /* whose classes are those of the kind; ascending */
};

/* Both may be released after a failure.  NIGH_ENOMEM. */
nigh_status nigh__kinds_find(const struct nigh__lesson *lesson, struct nigh__kinds *out, nigh_error *error);
void nigh__kinds_release(const nigh_context *context, struct nigh__kinds *kinds); /* accepts zeros */

/*
 * The codeword of each kind: `width_bits` of +1 or -1, from the seed alone and not the threads.  NIGH_ENOMEM,
 * NIGH_ECANCELLED.
 */
nigh_status nigh__codewords_choose(const struct nigh__lesson *lesson, const struct nigh__kinds *kinds, int8_t **out,
                                   nigh_error *error);
/* Bytes that it takes. */
uint64_t nigh__codewords_choose_bytes(const struct nigh__lesson *lesson, uint32_t kinds);

/*
 * The coefficients that lead rows to the codewords of their kinds, times `idf`, into learned->coefficients, with
 * what there is to say of it; from those that are there already, which are 0 at first, and with as many
 * iterations as are left.  NIGH_ENOMEM, NIGH_ECANCELLED, NIGH_ECORRUPT.
 */
nigh_status nigh__codewords_fit(const struct nigh__lesson *lesson, const struct nigh__kinds *kinds,
                                const int8_t *codewords, const double *idf, double ridge, struct nigh__learned *learned,
                                nigh_error *error);
/* Bytes that fitting takes. */
uint64_t nigh__codewords_fit_bytes(const struct nigh__lesson *lesson);

/* Gives rows without a label a kind where these coefficients are clear about it.  Returns how many. */
uint32_t nigh__codewords_guess(const struct nigh__lesson *lesson, struct nigh__kinds *kinds, const int8_t *codewords,
                               const double *idf, const double *coefficients);

#endif
