/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routine of LAPACK that the library calls; see late.h.  The linker names one that is missing here.  Fortran has
 * no header: the length of each string comes behind all arguments.
 */
#include "late.h"

/* NOLINTBEGIN(readability-function-size): Fortran's functions have as many parameters */

#define LAPACK LATE_LIBLAPACK

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, size_t jobz_length, size_t uplo_length);

LATE_VOID(LAPACK, dsyevd_,
          (const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
           const int *lwork, int *iwork, const int *liwork, int *info, size_t jobz_length, size_t uplo_length),
          (jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info, jobz_length, uplo_length))

/* NOLINTEND(readability-function-size) */
