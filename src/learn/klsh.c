/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernelised locality-sensitive hashing (Kulis and Grauman, 2009), without labels: a bit is on
 * which side of a random hyperplane a document lies, in the space of the kernel
 *
 *     k(x, y) = exp(-|x - y|^2 / delta^2),   x and y documents divided by their lengths.
 *
 * A hyperplane there is a sum over p anchors, drawn from the rows: with K the anchors' kernel,
 * centred, and e_S that of t anchors drawn for this bit, omega = K^(-1/2) e_S; the mean of
 * t documents, once K^(-1/2) has made them round, is about normally distributed.
 *
 *     K --centred--> V diag(values) V'        omega_j = sqrt((p - 1) / t) V diag(values^-1/2) V' e_Sj
 *
 * Values near 0 are left out, as directions in which anchors do not differ; the constant
 * vector is always among them, so that each omega_j adds up to 0.  Of a document's kernel row,
 * centred as the anchors are, k(x, x_i) - mean_i k(x, x_i) - r_i + r with r_i the means of K's rows,
 * the second term and the last then vanish, and what is left of the centring is an offset:
 *
 *     W_j = sum of omega_ij k(x, x_i) - sum of omega_ij r_i
 *
 * Costs p^2 products of sparse rows, p^3 for the eigenvectors, and 3 p^2 doubles.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/exponential.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "learn/eigen.h"
#include "learn/lesson.h"
#include "signature/model.h"

#define USUAL_ANCHORS 500u
#define USUAL_SAMPLE 50u
#define NOTHING 1e-8 /* a value below this part of the first one is none */
#define MAX_ANCHORS NIGH__EIGEN_MAX_DENSE
#define WORTH_A_THREAD 100 /* anchors */

struct klsh {
    const struct nigh__lesson *lesson;
    uint32_t anchors, sample, threads;
    const uint32_t *rows; /* of the lesson, ascending */
    double *lengths;      /* of anchors */
    double *kernel;       /* anchors times anchors, then the eigenvectors */
    double *means;        /* of the kernel's rows */
    double *values;
    double *spread; /* threads times features: a row, with zeros between */
};

/* ------------------------------------------------------------ the anchors -- */

/* `count` of 0 .. total - 1, each set as likely as any other (Floyd, 1987), as flags. */
static void draw(struct nigh__rng *rng, uint32_t total, uint32_t count, uint8_t *drawn) {
    for (uint32_t i = 0; i < total; i++) drawn[i] = 0;
    for (uint32_t last = total - count; last < total; last++) {
        uint32_t pick = (uint32_t)(nigh__rng_next(rng) % ((uint64_t)last + 1));
        drawn[drawn[pick] ? last : pick] = 1;
    }
}

static nigh_status draw_anchors(struct klsh *klsh, struct nigh__rng *rng, struct nigh__learned *learned,
                                nigh_error *error) {
    const struct nigh__lesson *lesson = klsh->lesson;
    uint8_t *drawn = nigh__alloc(lesson->context, lesson->rows, 1);
    if (drawn == NULL) return nigh__fail(error, NIGH_ENOMEM, "out of memory for anchors");
    draw(rng, lesson->rows, klsh->anchors, drawn);
    uint32_t count = 0;
    for (uint32_t row = 0; row < lesson->rows; row++) {
        if (drawn[row]) learned->anchor_rows[count++] = row;
    }
    nigh__free(lesson->context, drawn);
    klsh->rows = learned->anchor_rows;
    for (uint32_t i = 0; i < klsh->anchors; i++) {
        double sum = 0;
        for (uint64_t at = lesson->begins[klsh->rows[i]]; at < lesson->begins[klsh->rows[i] + 1]; at++)
            sum += lesson->values[at] * lesson->values[at];
        klsh->lengths[i] = sqrt(sum);
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------- the kernel -- */

static double product_with(const struct nigh__lesson *lesson, uint32_t row, const double *spread) {
    double sum = 0;
    for (uint64_t at = lesson->begins[row]; at < lesson->begins[row + 1]; at++)
        sum += lesson->values[at] * spread[lesson->columns[at]];
    return sum;
}

/* |x - y|^2 of vectors of length 1 is twice 1 less their product. */
static double kernel_of(double product, double lengths, double delta_squared) {
    double cosine = lengths > 0 ? product / lengths : 0;
    return nigh__exp(-2 * (1 - (cosine > 1 ? 1 : cosine)) / delta_squared);
}

/* Every so many-th row up to its diagonal, each by one thread, both ways. */
static void fill_kernel(void *user, uint32_t thread) {
    struct klsh *klsh = user;
    const struct nigh__lesson *lesson = klsh->lesson;
    const size_t order = klsh->anchors;
    double *spread = klsh->spread + (size_t)thread * lesson->features;
    for (size_t i = thread; i < order; i += klsh->threads) {
        const uint64_t begin = lesson->begins[klsh->rows[i]], end = lesson->begins[klsh->rows[i] + 1];
        for (uint64_t at = begin; at < end; at++) spread[lesson->columns[at]] = lesson->values[at];
        for (size_t j = 0; j < i; j++) {
            double product = product_with(lesson, klsh->rows[j], spread);
            klsh->kernel[i * order + j] =
                kernel_of(product, klsh->lengths[i] * klsh->lengths[j], lesson->options->kernel_width);
            klsh->kernel[j * order + i] = klsh->kernel[i * order + j];
        }
        klsh->kernel[i * order + i] = 1;
        for (uint64_t at = begin; at < end; at++) spread[lesson->columns[at]] = 0;
    }
}

static void centre_kernel(struct klsh *klsh) {
    const size_t order = klsh->anchors;
    double whole = 0;
    for (size_t i = 0; i < order; i++) {
        double sum = 0;
        for (size_t j = 0; j < order; j++) sum += klsh->kernel[i * order + j];
        klsh->means[i] = sum / (double)order;
        whole += klsh->means[i];
    }
    whole /= (double)order;
    for (size_t i = 0; i < order; i++) {
        for (size_t j = 0; j < order; j++) klsh->kernel[i * order + j] += whole - klsh->means[i] - klsh->means[j];
    }
}

/* -------------------------------------------------------- the hyperplanes -- */

/* From values to their power -1/2, and 0 for those that are none; false: all are. */
static bool invert_values(struct klsh *klsh, uint32_t *kept) {
    /* The diagonal of a kernel is 1, so a first value below this is a kernel of documents that are all alike. */
    const double first = klsh->values[klsh->anchors - 1];
    *kept = 0;
    for (uint32_t i = 0; i < klsh->anchors; i++) {
        bool counts = first > NOTHING && klsh->values[i] > NOTHING * first;
        klsh->values[i] = counts ? 1 / sqrt(klsh->values[i]) : 0;
        *kept += counts;
    }
    return *kept > 0;
}

/* omega of one bit, whose anchors are flagged, into `omega`. */
static void make_omega(const struct klsh *klsh, const uint8_t *drawn, double *omega) {
    const size_t order = klsh->anchors;
    for (size_t i = 0; i < order; i++) omega[i] = 0;
    for (size_t vector = 0; vector < order; vector++) {
        if (klsh->values[vector] == 0) continue;
        const double *components = klsh->kernel + vector * order;
        double sum = 0;
        for (size_t i = 0; i < order; i++) sum += drawn[i] ? components[i] : 0;
        sum *= klsh->values[vector];
        for (size_t i = 0; i < order; i++) omega[i] += sum * components[i];
    }
    double mean = 0; /* 0, but for rounding */
    for (size_t i = 0; i < order; i++) mean += omega[i] / (double)order;
    const double scale = sqrt((double)(order - 1) / klsh->sample);
    for (size_t i = 0; i < order; i++) omega[i] = scale * (omega[i] - mean);
}

static nigh_status make_bits(const struct klsh *klsh, struct nigh__rng *rng, struct nigh__learned *learned,
                             nigh_error *error) {
    const struct nigh__lesson *lesson = klsh->lesson;
    const uint32_t bits = lesson->options->width_bits;
    uint8_t *drawn = nigh__alloc(lesson->context, klsh->anchors, 1);
    double *omega = nigh__alloc(lesson->context, klsh->anchors, sizeof *omega);
    nigh_status status = NIGH_OK;
    if (drawn == NULL || omega == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "out of memory for anchors");
        status = NIGH_ENOMEM;
    }
    for (uint32_t bit = 0; status == NIGH_OK && bit < bits; bit++) {
        draw(rng, klsh->anchors, klsh->sample, drawn);
        make_omega(klsh, drawn, omega);
        learned->offsets[bit] = 0;
        for (uint32_t i = 0; i < klsh->anchors; i++) {
            learned->offsets[bit] -= omega[i] * klsh->means[i];
            learned->omega[(size_t)i * bits + bit] = omega[i];
            if (fabs(omega[i]) > learned->largest_weight) learned->largest_weight = fabs(omega[i]);
        }
        if (lesson->progress != NULL && nigh__progress_tick(lesson->progress, "bits", bit, bits))
            status = nigh__progress_cancelled(error);
    }
    nigh__free(lesson->context, drawn);
    nigh__free(lesson->context, omega);
    return status;
}

/* -------------------------------------------------------------- the whole -- */

/* How many anchors and how many of them a bit: what was asked for, as far as there are rows. */
static nigh_status plan(struct klsh *klsh, nigh_error *error) {
    const struct nigh__lesson *lesson = klsh->lesson;
    const nigh_learn_options *options = lesson->options;
    const uint32_t anchors = options->anchors == 0 ? USUAL_ANCHORS : options->anchors;
    const uint32_t sample = options->anchor_sample == 0 ? USUAL_SAMPLE : options->anchor_sample;
    if (anchors < 2 || anchors > MAX_ANCHORS)
        return nigh__fail(error, NIGH_EINVAL, "klsh takes 2 to %u anchors, not %u", MAX_ANCHORS, anchors);
    if (lesson->rows < 2 || lesson->features == 0)
        return nigh__fail(error, NIGH_EINVAL, "klsh needs two documents or more");
    klsh->anchors = anchors < lesson->rows ? anchors : lesson->rows;
    /* All of them would add up to nothing, so where there are few, half of them. */
    klsh->sample = sample < klsh->anchors ? sample : klsh->anchors / 2;
    klsh->threads = klsh->anchors < WORTH_A_THREAD ? 1 : lesson->threads;
    const uint64_t doubles = 3 * (uint64_t)klsh->anchors * klsh->anchors + (uint64_t)klsh->threads * lesson->features +
                             (uint64_t)klsh->anchors * options->width_bits;
    return nigh__lesson_allows(lesson, doubles * sizeof(double), error);
}

static nigh_status klsh_init(struct klsh *klsh, struct nigh__learned *learned, nigh_error *error) {
    const struct nigh__lesson *lesson = klsh->lesson;
    const nigh_context *context = lesson->context;
    const size_t anchors = klsh->anchors, bits = lesson->options->width_bits;
    klsh->lengths = nigh__alloc(context, anchors, sizeof(double));
    klsh->means = nigh__alloc(context, anchors, sizeof(double));
    klsh->values = nigh__alloc(context, anchors, sizeof(double));
    klsh->kernel = nigh__alloc_large(context, anchors * anchors, sizeof(double));
    klsh->spread = nigh__alloc_zero(context, (size_t)klsh->threads * lesson->features, sizeof(double));
    learned->anchor_rows = nigh__alloc(context, anchors, sizeof(uint32_t));
    learned->offsets = nigh__alloc(context, bits, sizeof(double));
    learned->omega = nigh__alloc(context, anchors * bits, sizeof(double));
    if (klsh->lengths == NULL || klsh->means == NULL || klsh->values == NULL || klsh->kernel == NULL ||
        klsh->spread == NULL || learned->anchor_rows == NULL || learned->offsets == NULL || learned->omega == NULL)
        return nigh__fail(error, NIGH_ENOMEM, "out of memory while learning by klsh");
    return NIGH_OK;
}

static void klsh_release(struct klsh *klsh) {
    const nigh_context *context = klsh->lesson->context;
    nigh__free(context, klsh->lengths);
    nigh__free(context, klsh->means);
    nigh__free(context, klsh->values);
    nigh__free(context, klsh->kernel);
    nigh__free(context, klsh->spread);
}

static nigh_status learn(struct klsh *klsh, struct nigh__learned *learned, nigh_error *error) {
    const struct nigh__lesson *lesson = klsh->lesson;
    struct nigh__rng rng = {.state = lesson->options->seed};
    uint32_t kept = 0;
    nigh_status status = klsh_init(klsh, learned, error);
    if (status == NIGH_OK) status = draw_anchors(klsh, &rng, learned, error);
    if (status != NIGH_OK) return status;
    nigh__threads_run(klsh->threads, fill_kernel, klsh);
    centre_kernel(klsh);
    if (lesson->progress != NULL && nigh__progress_tick(lesson->progress, "eigenvectors", 0, 1))
        return nigh__progress_cancelled(error);
    status = nigh__eigen_all(lesson->context, klsh->anchors, klsh->kernel, klsh->values, error);
    if (status != NIGH_OK) return status;
    if (!invert_values(klsh, &kept))
        return nigh__fail(error, NIGH_EINVAL, "klsh finds nothing that tells documents apart: all anchors are alike");
    (void)snprintf(learned->lines, sizeof learned->lines,
                   "anchors=%u\neigenvectors=%u\nkernel-width-millionths=%.0f\nsample=%u\n", klsh->anchors, kept,
                   1e6 * lesson->options->kernel_width, klsh->sample);
    return make_bits(klsh, &rng, learned, error);
}

nigh_status nigh__learn_klsh(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error) {
    struct klsh klsh = {.lesson = lesson};
    nigh_status status = plan(&klsh, error);
    if (status != NIGH_OK) return status;
    out->form = NIGH__MODEL_ANCHORS;
    out->anchors = klsh.anchors;
    out->delta_squared = lesson->options->kernel_width;
    out->iterations = 1;
    status = learn(&klsh, out, error);
    klsh_release(&klsh);
    return status; /* what it holds the caller releases */
}
