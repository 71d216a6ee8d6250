/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routines of ARPACK that the library calls; see late.h.  The linker names one that is missing here.  Fortran has
 * no header: the length of each string comes behind all arguments.
 */
#include "late.h"

/* NOLINTBEGIN(readability-function-size): Fortran's functions have as many parameters */

#define ARPACK LATE_LIBARPACK

void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
             double *workl, const int *lworkl, int *info, size_t bmat_length, size_t which_length);
void dseupd_(const int *rvec, const char *howmny, int *select, double *d, double *z, const int *ldz,
             const double *sigma, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
             double *workl, const int *lworkl, int *info, size_t howmny_length, size_t bmat_length,
             size_t which_length);

LATE_VOID(ARPACK, dsaupd_,
          (int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
           double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
           double *workl, const int *lworkl, int *info, size_t bmat_length, size_t which_length),
          (ido, bmat, n, which, nev, tol, resid, ncv, v, ldv, iparam, ipntr, workd, workl, lworkl, info, bmat_length,
           which_length))
LATE_VOID(ARPACK, dseupd_,
          (const int *rvec, const char *howmny, int *select, double *d, double *z, const int *ldz, const double *sigma,
           const char *bmat, const int *n, const char *which, const int *nev, const double *tol, double *resid,
           const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl,
           const int *lworkl, int *info, size_t howmny_length, size_t bmat_length, size_t which_length),
          (rvec, howmny, select, d, z, ldz, sigma, bmat, n, which, nev, tol, resid, ncv, v, ldv, iparam, ipntr, workd,
           workl, lworkl, info, howmny_length, bmat_length, which_length))

/* NOLINTEND(readability-function-size) */
