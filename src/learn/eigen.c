/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of LAPACK and ARPACK.  Both work in memory they are given, so that all of it comes
 * from the context; neither prints or stops as long as its arguments are right.
 */
#include "learn/eigen.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "learn/fortran.h"

#define TOLERANCE 1e-10 /* of an eigenvalue, relatively; vectors are then right to about its root or better */
#define MAX_RESTARTS 1000

/* ARPACK's variables are static: between its first call and its last nobody else may call. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

static void fix_sign(double *vector, uint32_t order) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < order; i++) {
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    }
    if (vector[largest] >= 0) return;
    for (uint32_t i = 0; i < order; i++) vector[i] = -vector[i];
}

static bool all_finite(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) return false;
    }
    return true;
}

/* ------------------------------------------------------------------- all -- */

nigh_status nigh__eigen_all(const nigh_context *context, uint32_t order, double *matrix, double *values,
                            nigh_error *error) {
    if (order == 0 || order > NIGH__EIGEN_MAX_DENSE)
        return nigh__fail(error, NIGH_EINVAL, "no eigenvectors of a dense matrix of order %u", order);
    if (!all_finite(matrix, (size_t)order * order))
        return nigh__fail(error, NIGH_ECORRUPT, "a matrix holds a value that is not a number");
    size_t n = order, work_length = 1 + 6 * n + 2 * n * n, whole_length = 3 + 5 * n;
    double *work = nigh__alloc_large(context, work_length, sizeof *work);
    int *whole = nigh__alloc(context, whole_length, sizeof *whole);
    int order_int = (int)order, work_int = (int)work_length, whole_int = (int)whole_length, info = 0;
    nigh_status status = NIGH_OK;
    if (work == NULL || whole == NULL)
        status = nigh__fail(error, NIGH_ENOMEM, "out of memory for eigenvectors of order %u", order);
    else
        dsyevd_("V", "L", &order_int, matrix, &order_int, values, work, &work_int, whole, &whole_int, &info, 1, 1);
    if (status == NIGH_OK && (info != 0 || !all_finite(values, n)))
        status = nigh__fail(error, NIGH_ECORRUPT, "eigenvectors of order %u were not found", order);
    for (size_t i = 0; status == NIGH_OK && i < n; i++) fix_sign(matrix + i * n, order);
    nigh__free(context, work);
    nigh__free(context, whole);
    return status;
}

/* ------------------------------------------------------------------- few -- */

/* What ARPACK works with; its names. */
struct search {
    const struct nigh__eigen_matrix *matrix;
    struct nigh__progress *progress;
    int n, nev, ncv, lworkl;
    double *v; /* the caller's vectors */
    double *resid, *workd, *workl;
    int *select;
    double *d;
    int iparam[11], ipntr[14];
    int info;
};

uint32_t nigh__eigen_few_kept(uint32_t order, uint32_t count) {
    uint64_t kept = 2 * (uint64_t)count + 20;
    return count == 0 || kept >= order ? 0 : (uint32_t)kept;
}

static void search_release(const nigh_context *context, struct search *search) {
    nigh__free(context, search->resid);
    nigh__free(context, search->workd);
    nigh__free(context, search->workl);
    nigh__free(context, search->select);
    nigh__free(context, search->d);
}

static nigh_status search_init(const nigh_context *context, uint32_t kept, uint64_t seed, struct search *search,
                               nigh_error *error) {
    size_t n = search->matrix->order, length = (size_t)kept * (kept + 8);
    search->resid = nigh__alloc(context, n, sizeof *search->resid);
    search->workd = nigh__alloc_zero(context, 3 * n, sizeof *search->workd);
    search->workl = nigh__alloc_zero(context, length, sizeof *search->workl);
    search->select = nigh__alloc_zero(context, kept, sizeof *search->select);
    search->d = nigh__alloc_zero(context, kept, sizeof *search->d);
    if (search->resid == NULL || search->workd == NULL || search->workl == NULL || search->select == NULL ||
        search->d == NULL)
        return nigh__fail(error, NIGH_ENOMEM, "out of memory for eigenvectors of order %zu", n);
    search->n = (int)n;
    search->ncv = (int)kept;
    search->lworkl = (int)length;
    search->iparam[0] = 1; /* shifts of its own */
    search->iparam[2] = MAX_RESTARTS;
    search->iparam[3] = 1;
    search->iparam[6] = 1; /* the plain problem */
    search->info = 1;      /* starts with what is in resid */
    struct nigh__rng rng = {.state = seed};
    for (size_t i = 0; i < n; i++) search->resid[i] = (double)(nigh__rng_next(&rng) >> 11) * 0x1p-52 - 1;
    return NIGH_OK;
}

/* Asks and answers until it is content, or gives up; false: cancelled. */
static bool search_run(struct search *search) {
    const double tolerance = TOLERANCE;
    int ido = 0;
    for (uint64_t products = 0;; products++) {
        dsaupd_(&ido, "I", &search->n, "LA", &search->nev, &tolerance, search->resid, &search->ncv, search->v,
                &search->n, search->iparam, search->ipntr, search->workd, search->workl, &search->lworkl, &search->info,
                1, 2);
        if (ido != 1 && ido != -1) return true;
        search->matrix->multiply(search->matrix->user, search->workd + search->ipntr[0] - 1,
                                 search->workd + search->ipntr[1] - 1);
        if (search->progress != NULL && nigh__progress_tick(search->progress, "eigenvectors", products, 0))
            return false;
    }
}

/* Vectors of what converged, ascending, in place of what it worked with.  False: there are none. */
static bool search_vectors(struct search *search) {
    const double tolerance = TOLERANCE, sigma = 0;
    const int wanted = 1;
    /* 1: too many restarts, 3: no more shifts; both leave what converged. */
    if ((search->info != 0 && search->info != 1 && search->info != 3) || search->iparam[4] < 1) return false;
    dseupd_(&wanted, "A", search->select, search->d, search->v, &search->n, &sigma, "I", &search->n, "LA", &search->nev,
            &tolerance, search->resid, &search->ncv, search->v, &search->n, search->iparam, search->ipntr,
            search->workd, search->workl, &search->lworkl, &search->info, 1, 1, 2);
    return search->info == 0 && search->iparam[4] >= 1;
}

static void swap_vectors(double *a, double *b, size_t order) {
    for (size_t i = 0; i < order; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* From ascending to descending. */
static void turn_over(struct search *search, uint32_t found, double *values) {
    size_t n = search->matrix->order;
    for (uint32_t i = 0; i < found; i++) values[i] = search->d[found - 1 - i];
    for (uint32_t i = 0; i < found / 2; i++) swap_vectors(search->v + i * n, search->v + (found - 1 - i) * n, n);
    for (uint32_t i = 0; i < found; i++) fix_sign(search->v + i * n, search->matrix->order);
}

nigh_status nigh__eigen_few(const nigh_context *context, const struct nigh__eigen_matrix *matrix, uint32_t count,
                            uint64_t seed, struct nigh__progress *progress, double *vectors, double *values,
                            uint32_t *found, uint32_t *iterations, nigh_error *error) {
    uint32_t kept = nigh__eigen_few_kept(matrix->order, count);
    *found = *iterations = 0;
    if (kept == 0) return nigh__fail(error, NIGH_EINVAL, "%u of %u eigenvectors are not few", count, matrix->order);
    struct search search = {.matrix = matrix, .progress = progress, .nev = (int)count, .v = vectors};
    nigh_status status = search_init(context, kept, seed, &search, error);
    if (status == NIGH_OK) {
        (void)pthread_mutex_lock(&arpack_lock);
        bool finished = search_run(&search);
        bool there = finished && search_vectors(&search);
        (void)pthread_mutex_unlock(&arpack_lock);
        if (!finished)
            status = nigh__progress_cancelled(error);
        else if (!there)
            status = nigh__fail(error, NIGH_ECORRUPT, "eigenvectors were not found (%d)", search.info);
    }
    if (status == NIGH_OK) {
        uint32_t converged = (uint32_t)search.iparam[4];
        *found = converged < count ? converged : count;
        *iterations = (uint32_t)search.iparam[2];
        turn_over(&search, *found, values);
        if (!all_finite(vectors, (size_t)*found * matrix->order))
            status = nigh__fail(error, NIGH_ECORRUPT, "eigenvectors were not found");
    }
    search_release(context, &search);
    return status;
}
