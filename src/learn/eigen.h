/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eigenvectors of symmetric matrices: all of a small one by LAPACK, the first few of a large
 * one, which is known by its products alone, by ARPACK.
 *
 *     all    n^3 time, 3 n^2 doubles
 *     few    2 k + 20 vectors of n doubles, some hundreds of products
 *
 * Signs are fixed: the component that is largest in absolute value (the first of several) is
 * positive.  The last bits of a vector depend on the BLAS that is installed, and on the CPU it
 * was made for, so two machines may learn models that differ there.  A model is a file, though,
 * and signing with it is exact everywhere.
 */
#ifndef NIGH_LEARN_EIGEN_H
#define NIGH_LEARN_EIGEN_H

#include <stdint.h>

#include "base/progress.h"
#include "nigh.h"

#define NIGH__EIGEN_MAX_DENSE 32000u /* LAPACK counts its 2 n^2 doubles in 32 bits */

/*
 * All of them.  `matrix`, order times order, becomes the vectors, one after the other; `values` ascend.
 * NIGH_ENOMEM; NIGH_EINVAL for an order of 0 or over the above; NIGH_ECORRUPT where it holds what is no number.
 */
nigh_status nigh__eigen_all(const nigh_context *context, uint32_t order, double *matrix, double *values,
                            nigh_error *error);

struct nigh__eigen_matrix {
    uint32_t order;
    /* out = matrix times in, `order` numbers each. */
    void (*multiply)(void *user, const double *in, double *out);
    void *user;
};

/* How many vectors the search for `count` of a matrix of this order keeps; 0: use nigh__eigen_all(). */
uint32_t nigh__eigen_few_kept(uint32_t order, uint32_t count);

/*
 * Those of the `count` largest values (by sign, not by size), descending, into `values` and `vectors`, which have
 * room for nigh__eigen_few_kept() of them; *found, at most count, is how many there are.  The search starts with a
 * vector drawn by the seed.  `progress` (or NULL) cancels.  One search at a time: others wait, for ARPACK keeps its
 * state in static variables.  NIGH_ENOMEM, NIGH_ECANCELLED, NIGH_ECORRUPT.
 */
nigh_status nigh__eigen_few(const nigh_context *context, const struct nigh__eigen_matrix *matrix, uint32_t count,
                            uint64_t seed, struct nigh__progress *progress, double *vectors, double *values,
                            uint32_t *found, uint32_t *iterations, nigh_error *error);

#endif
