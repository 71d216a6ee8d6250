/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-supervised hashing (Wang, Kumar and Chang, 2010): a bit is on which side of the middle
 * a document lies along one of the first eigenvectors of the adjusted covariance
 *
 *     M = X'S X / Np  +  lambda X'X / N
 *
 * X are the N rows, each feature times ln(1 + N / its rows), with their mean taken off; S is +1
 * for a pair of documents of one class and
 * -1 for one of two, Np pairs in all.  Each term is a mean, over pairs and over rows, so that
 * lambda weighs them alike whatever their numbers.  M is never written down, but for few
 * features: X stays sparse, the mean is taken off in the product, and
 *
 *     M v:    u = X v   by rows        z = (S / Np + lambda / N) u   by rows        X'z   by columns
 *
 * each number is summed by one thread in the order of the matrix, so that all thread counts
 * give the same.  A product costs two looks at X and one at S; some hundreds are needed.
 *
 * The paper has features as they are, which as_paper asks for; then words that are everywhere
 * make most of the covariance.  The factor is part of the coefficients in the end.
 *
 * The middle.  Signing sums t_f a_f and knows no offset, and an offset would suit documents of
 * the usual length alone.  So the middle is one for each unit of a document's weight: with
 * y = sum of t_f a_f and T = sum of t_f, the mean c of y / T over the rows is taken off every
 * coefficient, and a bit is y - c T > 0.
 *
 * Directions that separate nothing.  M has at most as many positive values as there are rows
 * or features; along the other directions documents do not differ, or differ as pairs do not
 * want it.  Bits beyond are those of simhash, as the seed gives them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/logarithm.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "learn/eigen.h"
#include "learn/lesson.h"
#include "signature/model.h"

#define MAX_DENSE 400u       /* features: up to here the matrix is written down */
#define WORTH_A_THREAD 30000 /* postings */
#define USUAL_LAMBDA 0.05
#define PAPER_LAMBDA 1.0
#define NOTHING 1e-9 /* a value below this part of the mean squared length is none */

struct ssh {
    const struct nigh__lesson *lesson;
    struct nigh__pairing pairing;
    double lambda, pair_factor, row_factor;
    uint32_t threads;
    double mean_square; /* of the rows' lengths, and how much of it is not their mean's */
    double variance;
    double *factors; /* of features */
    double *mean;    /* of features, before that */
    double *scaled;  /* `in` of the product that is being made, times the factors */
    double *u, *z;   /* of rows */
    double *out;
    double shift, total;
    double *vectors, *values; /* vector i, of as many as were made room for */
    uint32_t found;           /* of positive value, the first ones */
};

/* ------------------------------------------------------------ the product -- */

/* The first of `count` rows, or columns, that begins in the share of this thread or behind it. */
static uint32_t share_begin(const uint64_t *begins, uint32_t count, uint32_t thread, uint32_t threads) {
    if (thread >= threads) return count;
    uint64_t target = begins[count] / threads * thread;
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (begins[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void make_positions(void *user, uint32_t thread) {
    struct ssh *ssh = user;
    const struct nigh__lesson *lesson = ssh->lesson;
    uint32_t end = share_begin(lesson->begins, lesson->rows, thread + 1, ssh->threads);
    for (uint32_t row = share_begin(lesson->begins, lesson->rows, thread, ssh->threads); row < end; row++) {
        double sum = 0;
        for (uint64_t at = lesson->begins[row]; at < lesson->begins[row + 1]; at++)
            sum += lesson->values[at] * ssh->scaled[lesson->columns[at]];
        ssh->u[row] = sum - ssh->shift;
    }
}

static void make_pulls(void *user, uint32_t thread) {
    struct ssh *ssh = user;
    const struct nigh__pairing *pairing = &ssh->pairing;
    const uint64_t rows = ssh->lesson->rows;
    uint32_t end = (uint32_t)(rows * (thread + 1) / ssh->threads);
    for (uint32_t row = (uint32_t)(rows * thread / ssh->threads); row < end; row++) {
        double sum = 0;
        for (uint64_t at = pairing->begins[row]; at < pairing->begins[row + 1]; at++)
            sum += pairing->signs[at] * ssh->u[pairing->others[at]];
        ssh->z[row] = ssh->pair_factor * sum + ssh->row_factor * ssh->u[row];
    }
}

static void make_product(void *user, uint32_t thread) {
    struct ssh *ssh = user;
    const struct nigh__lesson *lesson = ssh->lesson;
    const uint64_t *begins = lesson->column_begins;
    uint32_t end = share_begin(begins, lesson->features, thread + 1, ssh->threads);
    for (uint32_t feature = share_begin(begins, lesson->features, thread, ssh->threads); feature < end; feature++) {
        double sum = 0;
        for (uint64_t at = begins[feature]; at < begins[feature + 1]; at++)
            sum += lesson->column_values[at] * ssh->z[lesson->column_rows[at]];
        ssh->out[feature] = ssh->factors[feature] * (sum - ssh->mean[feature] * ssh->total);
    }
}

static void scale(struct ssh *ssh, const double *in) {
    for (uint32_t feature = 0; feature < ssh->lesson->features; feature++)
        ssh->scaled[feature] = ssh->factors[feature] * in[feature];
}

static void multiply(void *user, const double *in, double *out) {
    struct ssh *ssh = user;
    scale(ssh, in);
    ssh->out = out;
    ssh->shift = 0;
    for (uint32_t feature = 0; feature < ssh->lesson->features; feature++)
        ssh->shift += ssh->mean[feature] * ssh->scaled[feature];
    nigh__threads_run(ssh->threads, make_positions, ssh);
    nigh__threads_run(ssh->threads, make_pulls, ssh);
    ssh->total = 0;
    for (uint32_t row = 0; row < ssh->lesson->rows; row++) ssh->total += ssh->z[row];
    nigh__threads_run(ssh->threads, make_product, ssh);
}

/* ------------------------------------------------------------ the vectors -- */

static bool is_dense(const struct nigh__lesson *lesson) {
    return lesson->features <= MAX_DENSE || nigh__eigen_few_kept(lesson->features, lesson->options->width_bits) == 0;
}

/* How many vectors are held at once. */
static uint64_t vectors_kept(const struct nigh__lesson *lesson) {
    return is_dense(lesson) ? lesson->features : nigh__eigen_few_kept(lesson->features, lesson->options->width_bits);
}

/* All of them, of a matrix that is the products of the unit vectors; the last ones are moved to the front. */
static nigh_status find_dense(struct ssh *ssh, struct nigh__learned *learned, nigh_error *error) {
    const struct nigh__lesson *lesson = ssh->lesson;
    const size_t order = lesson->features;
    for (size_t i = 0; i < order; i++) {
        double *unit = ssh->values; /* as long as a vector, and not yet needed */
        for (size_t f = 0; f < order; f++) unit[f] = f == i;
        multiply(ssh, unit, ssh->vectors + i * order);
        if (lesson->progress != NULL && nigh__progress_tick(lesson->progress, "eigenvectors", i, order))
            return nigh__progress_cancelled(error);
    }
    nigh_status status = nigh__eigen_all(lesson->context, lesson->features, ssh->vectors, ssh->values, error);
    if (status != NIGH_OK) return status;
    for (size_t i = 0; i < order / 2; i++) {
        double value = ssh->values[i];
        ssh->values[i] = ssh->values[order - 1 - i];
        ssh->values[order - 1 - i] = value;
        double *low = ssh->vectors + i * order, *high = ssh->vectors + (order - 1 - i) * order;
        for (size_t f = 0; f < order; f++) {
            double kept = low[f];
            low[f] = high[f];
            high[f] = kept;
        }
    }
    learned->iterations = 1;
    ssh->found = lesson->features < lesson->options->width_bits ? lesson->features : lesson->options->width_bits;
    return NIGH_OK;
}

static nigh_status find_few(struct ssh *ssh, struct nigh__learned *learned, nigh_error *error) {
    const struct nigh__lesson *lesson = ssh->lesson;
    const struct nigh__eigen_matrix matrix = {.order = lesson->features, .multiply = multiply, .user = ssh};
    return nigh__eigen_few(lesson->context, &matrix, lesson->options->width_bits, lesson->options->seed,
                           lesson->progress, ssh->vectors, ssh->values, &ssh->found, &learned->iterations, error);
}

static nigh_status all_alike(nigh_error *error) {
    return nigh__fail(error, NIGH_EINVAL,
                      "ssh finds nothing that tells documents apart: to the chosen features all are alike");
}

/* The vectors of positive value. */
static nigh_status find_vectors(struct ssh *ssh, struct nigh__learned *learned, nigh_error *error) {
    const double least = NOTHING * ssh->mean_square;
    if (!(ssh->variance > least)) return all_alike(error); /* ARPACK cannot start on a matrix of zeros */
    nigh_status status = is_dense(ssh->lesson) ? find_dense(ssh, learned, error) : find_few(ssh, learned, error);
    if (status != NIGH_OK) return status;
    while (ssh->found > 0 && !(ssh->values[ssh->found - 1] > least)) ssh->found--;
    if (ssh->found == 0) return all_alike(error);
    for (uint32_t i = 0; i < ssh->found; i++) learned->objective += ssh->values[i];
    return NIGH_OK;
}

/* ----------------------------------------------------- the coefficients -- */

/* The mean over the rows of what a direction gives for a unit of weight; *constant: all have the same bit by it. */
static double middle_of(struct ssh *ssh, const double *direction, bool *constant) {
    const struct nigh__lesson *lesson = ssh->lesson;
    scale(ssh, direction);
    ssh->shift = 0;
    nigh__threads_run(ssh->threads, make_positions, ssh);
    double sum = 0;
    for (uint32_t row = 0; row < lesson->rows; row++) {
        double weight = 0;
        for (uint64_t at = lesson->begins[row]; at < lesson->begins[row + 1]; at++)
            weight += lesson->values[at] * ssh->factors[lesson->columns[at]];
        ssh->z[row] = weight > 0 ? ssh->u[row] / weight : 0;
        sum += ssh->z[row];
    }
    const double middle = sum / lesson->rows;
    uint32_t above = 0;
    for (uint32_t row = 0; row < lesson->rows; row++) above += ssh->z[row] > middle;
    *constant = above == 0 || above == lesson->rows;
    return middle;
}

/* The bits for which there is no vector. */
static void fill_simhash(const struct nigh__lesson *lesson, uint32_t first, double *coefficients) {
    const uint32_t bits = lesson->options->width_bits;
    int8_t signs[NIGH__MODEL_MAX_BITS];
    for (uint32_t feature = 0; feature < lesson->features; feature++) {
        nigh__lesson_signs(lesson->hashes[feature], bits, signs);
        for (uint32_t bit = first; bit < bits; bit++) coefficients[(size_t)feature * bits + bit] = signs[bit];
    }
}

/* The direction of a bit; those without a vector take the room of the first one, which has been used by then. */
static const double *direction_of(struct ssh *ssh, uint32_t bit, const double *coefficients) {
    const struct nigh__lesson *lesson = ssh->lesson;
    if (bit < ssh->found) return ssh->vectors + (size_t)bit * lesson->features;
    for (uint32_t feature = 0; feature < lesson->features; feature++)
        ssh->vectors[feature] = coefficients[(size_t)feature * lesson->options->width_bits + bit];
    return ssh->vectors;
}

static nigh_status fill_coefficients(struct ssh *ssh, struct nigh__learned *learned, nigh_error *error) {
    const struct nigh__lesson *lesson = ssh->lesson;
    const uint32_t bits = lesson->options->width_bits;
    uint32_t constants = 0;
    if (ssh->found < bits) fill_simhash(lesson, ssh->found, learned->coefficients);
    for (uint32_t bit = 0; bit < bits; bit++) {
        bool constant;
        const double *direction = direction_of(ssh, bit, learned->coefficients);
        const double middle = middle_of(ssh, direction, &constant);
        constants += constant;
        for (uint32_t feature = 0; feature < lesson->features; feature++) {
            double coefficient = ssh->factors[feature] * (direction[feature] - middle);
            learned->coefficients[(size_t)feature * bits + bit] = coefficient;
            if (fabs(coefficient) > learned->largest_weight) learned->largest_weight = fabs(coefficient);
        }
        if (lesson->progress != NULL && nigh__progress_tick(lesson->progress, "bits", bit, bits))
            return nigh__progress_cancelled(error);
    }
    learned->collapsed = constants > bits / 2;
    return NIGH_OK;
}

/* -------------------------------------------------------------- the whole -- */

static nigh_status no_memory(nigh_error *error) {
    (void)nigh__fail(error, NIGH_ENOMEM, "out of memory while learning by ssh");
    return NIGH_ENOMEM;
}

/* The vectors, LAPACK's two times as much beside them, the coefficients, and the pairs. */
static nigh_status check_memory(const struct nigh__lesson *lesson, nigh_error *error) {
    const uint64_t features = lesson->features;
    const uint64_t doubles = vectors_kept(lesson) * features * (is_dense(lesson) ? 3 : 1) +
                             features * lesson->options->width_bits + 2 * (uint64_t)lesson->rows;
    return nigh__lesson_allows(lesson, doubles * sizeof(double) + nigh__pairing_bytes(lesson), error);
}

/* Factors and means of features, and the mean squared length of a row. */
static void measure_features(struct ssh *ssh) {
    const struct nigh__lesson *lesson = ssh->lesson;
    for (uint32_t feature = 0; feature < lesson->features; feature++) {
        const uint64_t begin = lesson->column_begins[feature], end = lesson->column_begins[feature + 1];
        const double in_rows = end > begin ? (double)(end - begin) : 1;
        const double factor = lesson->options->as_paper ? 1 : nigh__ln(1 + lesson->rows / in_rows);
        double sum = 0, squares = 0;
        for (uint64_t at = begin; at < end; at++) {
            sum += lesson->column_values[at];
            squares += lesson->column_values[at] * lesson->column_values[at];
        }
        ssh->factors[feature] = factor;
        ssh->mean[feature] = sum / lesson->rows;
        ssh->mean_square += factor * factor * squares / lesson->rows;
        ssh->variance += factor * factor * (squares / lesson->rows - ssh->mean[feature] * ssh->mean[feature]);
    }
}

static nigh_status ssh_init(struct ssh *ssh, nigh_error *error) {
    const struct nigh__lesson *lesson = ssh->lesson;
    const nigh_context *context = lesson->context;
    const size_t kept = (size_t)vectors_kept(lesson);
    ssh->mean = nigh__alloc_zero(context, lesson->features, sizeof *ssh->mean);
    ssh->factors = nigh__alloc(context, lesson->features, sizeof *ssh->factors);
    ssh->scaled = nigh__alloc(context, lesson->features, sizeof *ssh->scaled);
    ssh->u = nigh__alloc(context, lesson->rows, sizeof *ssh->u);
    ssh->z = nigh__alloc(context, lesson->rows, sizeof *ssh->z);
    ssh->values = nigh__alloc_zero(context, kept, sizeof *ssh->values);
    if (ssh->mean == NULL || ssh->factors == NULL || ssh->scaled == NULL || ssh->u == NULL || ssh->z == NULL ||
        ssh->values == NULL)
        return no_memory(error);
    ssh->vectors = nigh__alloc_large(context, kept * lesson->features, sizeof *ssh->vectors);
    if (ssh->vectors == NULL) return no_memory(error);
    measure_features(ssh);
    ssh->threads = lesson->begins[lesson->rows] < WORTH_A_THREAD ? 1 : lesson->threads;
    nigh_status status = nigh__pairing_make(lesson, &ssh->pairing, error);
    const uint64_t pairs = ssh->pairing.attractions + ssh->pairing.repulsions;
    ssh->pair_factor = pairs == 0 ? 0 : 1 / (double)pairs;
    ssh->row_factor = ssh->lambda / lesson->rows;
    return status;
}

static void ssh_release(struct ssh *ssh) {
    const nigh_context *context = ssh->lesson->context;
    nigh__pairing_release(context, &ssh->pairing);
    nigh__free(context, ssh->mean);
    nigh__free(context, ssh->factors);
    nigh__free(context, ssh->scaled);
    nigh__free(context, ssh->u);
    nigh__free(context, ssh->z);
    nigh__free(context, ssh->values);
    nigh__free(context, ssh->vectors);
}

static void describe(const struct ssh *ssh, struct nigh__learned *learned) {
    (void)snprintf(learned->lines, sizeof learned->lines,
                   "as-paper=%d\nattractions=%" PRIu64 "\neigenvectors=%u\nl1-millionths=%.0f\nrepulsions=%" PRIu64
                   "\n",
                   ssh->lesson->options->as_paper != 0, ssh->pairing.attractions, ssh->found,
                   1e6 * fmin(ssh->lambda, NIGH__LEARN_MAX_TOLD), ssh->pairing.repulsions);
}

nigh_status nigh__learn_ssh(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error) {
    const double asked = lesson->options->l1;
    if (!isfinite(asked)) return nigh__fail(error, NIGH_EINVAL, "lambda of ssh is not a number");
    if (lesson->rows == 0 || lesson->features == 0)
        return nigh__fail(error, NIGH_EINVAL, "ssh has no documents to learn from");
    nigh_status status = check_memory(lesson, error);
    if (status != NIGH_OK) return status;
    struct ssh ssh = {.lesson = lesson,
                      .lambda = asked >= 0                  ? asked
                                : lesson->options->as_paper ? PAPER_LAMBDA
                                                            : USUAL_LAMBDA};
    out->form = NIGH__MODEL_COEFFICIENTS;
    out->coefficients =
        nigh__alloc_large(lesson->context, (size_t)lesson->features * lesson->options->width_bits, sizeof(double));
    status = out->coefficients == NULL ? no_memory(error) : ssh_init(&ssh, error);
    if (status == NIGH_OK) status = find_vectors(&ssh, out, error);
    if (status == NIGH_OK) status = fill_coefficients(&ssh, out, error);
    if (status == NIGH_OK) describe(&ssh, out);
    ssh_release(&ssh);
    return status; /* what it holds the caller releases */
}
