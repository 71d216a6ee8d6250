/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objective of the paper (8) and its gradient (10), in sparse form.  With N rows, Np
 * pairs, S the symmetric matrix of their signs, and G from s3h_contribution.c:
 *
 *     Z = (G o w) V        P = clip(Z, -1, 1)
 *     f = <P, S P> / (2 Np) + l1 / (2 N) |P|^2 - l2 / 2 |w|^2
 *     E = S P / Np + l1 / N P, but 0 where |Z| > 1
 *     gradient of f by w_f = sum over bits j of V_fj (G^T E)_fj  -  l2 w_f
 *
 * The paper's threshold is a scale of w and nothing else, so it is 1.
 *
 *     rows      | 256 | 256 | ...    Z and P; then E and parts of f; a thread takes the next piece
 *     features  | 64 | 64 | ...      w V; in the end the gradient, from the matrix by features
 *
 * No two threads add to one number.  A row and a feature are always summed in the same order,
 * and the parts of f are added up in theirs, so f and gradient do not depend on the threads.
 *
 * Cost.  Two multiplications and additions for each posting and bit, one for Z and one for the
 * gradient, and an addition for each pair and bit, twice.  Single precision is enough for sums
 * as short as these; a long column is cut and goes on in double precision.
 */
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "learn/s3h.h"
#include "signature/model.h"

#define LONGEST 1024u /* postings that are summed in single precision */
#define FEATURES_A_PIECE 64u
#define LANES 8u                        /* most widths are multiples */
#define WORK_A_THREAD UINT64_C(1000000) /* postings times bits: below, another thread costs more than it saves */

/* ---------------------------------------------------------- sparse sums -- */

/* Vectors of the compiler's own: eight of four stay in registers on any CPU that has some. */
typedef float four __attribute__((vector_size(16)));

static inline four load(const float *from) {
    four value;
    memcpy(&value, from, sizeof value);
    return value;
}

static void gather_32(const uint32_t *which, const float *scales, uint64_t count, const float *matrix, uint32_t width,
                      float *sums) {
    four a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (uint64_t k = 0; k < count; k++) {
        const float *row = matrix + (size_t)which[k] * width;
        const float scale = scales[k];
        a += scale * load(row), b += scale * load(row + 4), c += scale * load(row + 8), d += scale * load(row + 12);
        e += scale * load(row + 16), f += scale * load(row + 20), g += scale * load(row + 24),
            h += scale * load(row + 28);
    }
    const four all[] = {a, b, c, d, e, f, g, h};
    memcpy(sums, all, sizeof all);
}

static void gather_8(const uint32_t *which, const float *scales, uint64_t count, const float *matrix, uint32_t width,
                     float *sums) {
    four a = {0}, b = a;
    for (uint64_t k = 0; k < count; k++) {
        const float *row = matrix + (size_t)which[k] * width;
        a += scales[k] * load(row);
        b += scales[k] * load(row + 4);
    }
    const four all[] = {a, b};
    memcpy(sums, all, sizeof all);
}

static void gather_1(const uint32_t *which, const float *scales, uint64_t count, const float *matrix, uint32_t width,
                     float *sum) {
    float a = 0;
    for (uint64_t k = 0; k < count; k++) a += scales[k] * matrix[(size_t)which[k] * width];
    *sum = a;
}

void nigh__s3h_gather(const uint32_t *which, const float *scales, uint64_t count, const float *matrix, uint32_t width,
                      float *sums) {
    uint32_t j = 0;
    for (; j + 32 <= width; j += 32) gather_32(which, scales, count, matrix + j, width, sums + j);
    for (; j + LANES <= width; j += LANES) gather_8(which, scales, count, matrix + j, width, sums + j);
    for (; j < width; j++) gather_1(which, scales, count, matrix + j, width, sums + j);
}

/* -------------------------------------------------------------- threads -- */

struct job {
    struct nigh__s3h *problem;
    const double *weights;
    double *gradient;
    void (*piece)(const struct job *job, uint32_t begin, uint32_t end);
    uint32_t count, step; /* rows or features, in pieces of `step` */
};

static nigh_status do_piece(void *user, const struct nigh__items *items) {
    const struct job *job = user;
    job->piece(job, (uint32_t)items->first, (uint32_t)items->end);
    return NIGH_OK;
}

static void run(struct job *job, uint32_t count, uint32_t step,
                void (*piece)(const struct job *job, uint32_t begin, uint32_t end)) {
    NIGH__ASSERT(step > 0);
    job->piece = piece;
    job->count = count;
    job->step = step;
    const struct nigh__lesson *lesson = job->problem->lesson;
    const uint64_t work_there_is = lesson->begins[lesson->rows] * job->problem->width / WORK_A_THREAD + 1;
    struct nigh__parallel parallel = {.threads = (uint32_t)nigh__smaller(work_there_is, lesson->threads)};
    (void)nigh__parallel_run(&parallel, count, step, do_piece, job, NULL);
}

/* --------------------------------------------------------------- pieces -- */

/* w V */
static void direct(const struct job *job, uint32_t begin, uint32_t end) {
    const struct nigh__s3h *problem = job->problem;
    for (uint32_t f = begin; f < end; f++) {
        const int8_t *signs = problem->signs + (size_t)f * problem->width;
        float *direction = problem->directions + (size_t)f * problem->width;
        const float weight = (float)job->weights[f];
        for (uint32_t j = 0; j < problem->width; j++) direction[j] = signs[j] > 0 ? weight : -weight;
    }
}

/* Within 1 of 0.  What is no number stays so, and shows in the objective. */
static inline void clip_some(const float *sums, uint32_t count, float *out) {
    for (uint32_t k = 0; k < count; k++) {
        const float below = 1 < sums[k] ? 1 : sums[k];
        out[k] = -1 > below ? -1 : below;
    }
}

static void clip(const float *sums, uint32_t width, float *out) {
    uint32_t j = 0;
    for (; j + LANES <= width; j += LANES) clip_some(sums + j, LANES, out + j);
    clip_some(sums + j, width - j, out + j);
}

/* Z, where E will be, and P. */
static void project(const struct job *job, uint32_t begin, uint32_t end) {
    const struct nigh__s3h *problem = job->problem;
    const struct nigh__lesson *lesson = problem->lesson;
    for (uint32_t i = begin; i < end; i++) {
        float *sums = problem->slopes + (size_t)i * problem->width;
        nigh__s3h_gather(lesson->columns + lesson->begins[i], problem->values + lesson->begins[i],
                         lesson->begins[i + 1] - lesson->begins[i], problem->directions, problem->width, sums);
        clip(sums, problem->width, problem->clipped + (size_t)i * problem->width);
    }
}

/* E in place of Z, and what these rows add to f. */
static void slope(const struct job *job, uint32_t begin, uint32_t end) {
    const struct nigh__s3h *problem = job->problem;
    const struct nigh__pairing *pairing = &problem->pairing;
    const double pair = 1 / (double)(pairing->attractions + pairing->repulsions);
    const double spread = problem->l1 / problem->lesson->rows;
    float others[NIGH__MODEL_MAX_BITS]; /* a row of S P */
    double sum = 0;
    for (uint32_t i = begin; i < end; i++) {
        const float *p = problem->clipped + (size_t)i * problem->width;
        float *z = problem->slopes + (size_t)i * problem->width;
        nigh__s3h_gather(pairing->others + pairing->begins[i], problem->pair_signs + pairing->begins[i],
                         pairing->begins[i + 1] - pairing->begins[i], problem->clipped, problem->width, others);
        for (uint32_t j = 0; j < problem->width; j++) {
            const double rise = pair * (double)others[j] + spread * (double)p[j];
            sum += (double)p[j] * rise;
            z[j] = z[j] == p[j] ? (float)rise : 0;
        }
    }
    problem->pieces[begin / NIGH__S3H_ROWS_A_PIECE] = sum / 2;
}

/* The sum over bits of V (G^T E) for one feature. */
static double climb_feature(const struct nigh__s3h *problem, uint32_t feature) {
    const struct nigh__lesson *lesson = problem->lesson;
    const int8_t *signs = problem->signs + (size_t)feature * problem->width;
    float sums[NIGH__MODEL_MAX_BITS];
    double total = 0;
    for (uint64_t at = lesson->column_begins[feature], end = lesson->column_begins[feature + 1]; at < end;) {
        const uint64_t count = end - at < LONGEST ? end - at : LONGEST;
        nigh__s3h_gather(lesson->column_rows + at, problem->column_values + at, count, problem->slopes, problem->width,
                         sums);
        for (uint32_t j = 0; j < problem->width; j++) total += signs[j] > 0 ? (double)sums[j] : -(double)sums[j];
        at += count;
    }
    return total;
}

static void climb(const struct job *job, uint32_t begin, uint32_t end) {
    for (uint32_t f = begin; f < end; f++)
        job->gradient[f] = climb_feature(job->problem, f) - job->problem->l2 * job->weights[f];
}

double nigh__s3h_evaluate(struct nigh__s3h *problem, const double *weights, double *gradient) {
    const struct nigh__lesson *lesson = problem->lesson;
    struct job job = {.problem = problem, .weights = weights, .gradient = gradient};
    run(&job, lesson->features, FEATURES_A_PIECE, direct);
    run(&job, lesson->rows, NIGH__S3H_ROWS_A_PIECE, project);
    run(&job, lesson->rows, NIGH__S3H_ROWS_A_PIECE, slope);
    run(&job, lesson->features, FEATURES_A_PIECE, climb);
    double value = 0, square = 0;
    for (uint32_t at = 0; at < lesson->rows; at += NIGH__S3H_ROWS_A_PIECE)
        value += problem->pieces[at / NIGH__S3H_ROWS_A_PIECE];
    for (uint32_t f = 0; f < lesson->features; f++) square += weights[f] * weights[f];
    return value - problem->l2 / 2 * square;
}
