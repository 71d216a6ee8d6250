/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few routines of LAPACK and ARPACK that are used, by their Fortran names.  LAPACK's C
 * header is a package of its own, and ARPACK's is not installed everywhere; these names and
 * their arguments have not changed since 1996.  A string's length comes behind all arguments.
 *
 * Wrong arguments make LAPACK print and stop the program, so whoever calls checks first.
 */
#ifndef NIGH_LEARN_FORTRAN_H
#define NIGH_LEARN_FORTRAN_H

#include <stddef.h>

/* All eigenvalues, ascending, and vectors of a symmetric matrix, by divide and conquer. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, size_t jobz_length, size_t uplo_length);

/* Some eigenvalues of a symmetric matrix that only its products are known of: returns to ask for each of them. */
void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
             double *workl, const int *lworkl, int *info, size_t bmat_length, size_t which_length);

/* Their vectors, when it has come to its end. */
void dseupd_(const int *rvec, const char *howmny, int *select, double *d, double *z, const int *ldz,
             const double *sigma, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
             double *workl, const int *lworkl, int *info, size_t howmny_length, size_t bmat_length,
             size_t which_length);

#endif
