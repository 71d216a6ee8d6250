/* SPDX-License-Identifier: Apache-2.0 */
/* Lessons made of plain matrices, and eigenvectors as a textbook has them, for tests of learning. */
#ifndef NIGH_TESTS_MATRIX_SUPPORT_H
#define NIGH_TESTS_MATRIX_SUPPORT_H

#include "learn/lesson.h"

/* A lesson and what it points to; options may be changed until it is used. */
struct matrix_lesson {
    struct nigh__lesson lesson;
    nigh_learn_options options;
};

/* Of a matrix in rows, where 0 is no posting; class of a row UINT32_MAX: none.  To be freed. */
struct matrix_lesson *matrix_lesson_new(const nigh_context *context, const double *matrix, uint32_t rows,
                                        uint32_t features, const uint32_t *row_classes, uint32_t classes);
void matrix_lesson_free(struct matrix_lesson *made);

/* Documents of a few topics: row i is of class i % classes, whose words it has more often.  To be freed. */
double *topic_matrix(uint32_t rows, uint32_t features, uint32_t classes, uint64_t seed);

/*
 * Jacobi's rotations: `matrix`, symmetric, becomes diagonal; `vectors` gets the eigenvectors one after the other,
 * and `values` their values, descending.
 */
void jacobi(uint32_t order, double *matrix, double *vectors, double *values);

/* |a . b| of vectors of length 1: 1 where they are one direction. */
double alignment(const double *a, const double *b, uint32_t order);

#endif
