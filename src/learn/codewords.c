/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codewords: the method of our own.  Each class gets a codeword, far from all others, and each
 * bit a linear regression that leads documents of a class to its codeword.
 *
 *     lesson --sets of classes--> kinds --> codewords --regression--> coefficients of the model
 *                                   ^                                   |
 *                                   +-- guesses for rows without label -+   once, where there are some
 *
 * Which bits are to be equal is decided before anything is learned from words, so that every bit
 * is a problem of its own, convex and with one solution, where pairs of documents would have many;
 * and what a bit asks is known: these classes against those.
 *
 * Words count by t = 1 + ln c times idf, which is folded into the coefficients: signing needs t
 * alone.  Rows are of unit length while learning, so that a long document weighs as much as a
 * short one; the sign of a sum does not depend on the length, and there is no offset.
 *
 * The constants were chosen by documents held out from those to learn from (every fifth of them), on
 * newsgroups, news and titles: the squared hinge is better than least squares and as good as the
 * logistic loss; ridge 1e-5 to 1e-4 are alike; each feature that is left out costs, those of a single
 * document too; neither leaving out rows nor features at random for each bit helps.
 */
#include "learn/codewords.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/logarithm.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/model.h"

#define USUAL_RIDGE 5e-5

/* Of every feature, over all rows. */
static void fill_idf(const struct nigh__lesson *lesson, double *idf) {
    for (uint32_t f = 0; f < lesson->features; f++) {
        const uint64_t documents = lesson->column_begins[f + 1] - lesson->column_begins[f];
        idf[f] = 1 + nigh__ln(((double)lesson->rows + 1) / ((double)documents + 1));
    }
}

static nigh_status check_memory(const struct nigh__lesson *lesson, uint32_t kinds, nigh_error *error) {
    const uint64_t width = lesson->options->width_bits;
    return nigh__lesson_allows(lesson,
                               nigh__codewords_fit_bytes(lesson) +
                                   (uint64_t)lesson->features * (width + 1) * sizeof(double) +
                                   nigh__codewords_choose_bytes(lesson, kinds),
                               error);
}

static double ridge_of(const nigh_learn_options *options) { return options->l2 < 0 ? USUAL_RIDGE : options->l2; }

static void describe(const struct nigh__lesson *lesson, uint32_t kinds, uint32_t guessed,
                     struct nigh__learned *learned) {
    (void)snprintf(learned->lines, sizeof learned->lines,
                   "guessed=%" PRIu32 "\niterations=%" PRIu32 "\nkinds=%" PRIu32 "\nl2-billionths=%.0f\n", guessed,
                   learned->iterations, kinds, 1e9 * fmin(ridge_of(lesson->options), NIGH__LEARN_MAX_TOLD));
}

/* Once, and once more with what it guesses of rows without a label. */
static nigh_status fit(const struct nigh__lesson *lesson, struct nigh__kinds *kinds, const int8_t *codewords,
                       const double *idf, struct nigh__learned *out, nigh_error *error) {
    const double ridge = ridge_of(lesson->options);
    uint32_t guessed = 0;
    nigh_status status = nigh__codewords_fit(lesson, kinds, codewords, idf, ridge, out, error);
    if (status != NIGH_OK) return status;
    if (!out->stopped) guessed = nigh__codewords_guess(lesson, kinds, codewords, idf, out->coefficients);
    if (guessed > 0) status = nigh__codewords_fit(lesson, kinds, codewords, idf, ridge, out, error);
    if (status == NIGH_OK) describe(lesson, kinds->count, guessed, out);
    return status;
}

static nigh_status learn(const struct nigh__lesson *lesson, struct nigh__kinds *kinds, struct nigh__learned *out,
                         nigh_error *error) {
    int8_t *codewords = NULL;
    double *idf = nigh__alloc(lesson->context, lesson->features, sizeof *idf);
    out->coefficients =
        nigh__alloc_zero(lesson->context, (size_t)lesson->features * lesson->options->width_bits, sizeof(double));
    nigh_status status =
        idf == NULL || out->coefficients == NULL ? nigh__no_memory(error, "to learn codewords") : NIGH_OK;
    if (status == NIGH_OK) status = nigh__codewords_choose(lesson, kinds, &codewords, error);
    if (status == NIGH_OK) {
        fill_idf(lesson, idf);
        status = fit(lesson, kinds, codewords, idf, out, error);
    }
    nigh__free(lesson->context, codewords);
    nigh__free(lesson->context, idf);
    return status;
}

nigh_status nigh__learn_codewords(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error) {
    struct nigh__kinds kinds;
    out->form = NIGH__MODEL_COEFFICIENTS;
    nigh_status status = nigh__kinds_find(lesson, &kinds, error);
    if (status == NIGH_OK && kinds.count == 0)
        status = nigh__fail(error, NIGH_EINVAL, "no document to learn from has a label");
    if (status == NIGH_OK) status = check_memory(lesson, kinds.count, error);
    if (status == NIGH_OK) status = learn(lesson, &kinds, out, error);
    nigh__kinds_release(lesson->context, &kinds);
    if (status == NIGH_OK) return NIGH_OK;
    nigh__free(lesson->context, out->coefficients);
    out->coefficients = NULL;
    return status;
}
