/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-supervised simhash (Jiang and Sun, 2011): simhash whose features have learned weights.
 *
 * The directions of simhash stay as they are; sought is one weight for each feature, such
 * that documents of a class agree in their bits and others do not, and that bits differ over
 * all documents.  s3h_objective.c has what is maximised, by L-BFGS, and s3h_contribution.c
 * what stands for a document.
 *
 *     lesson --contribution--> G --L-BFGS--> w --times s_f--> weights of the model
 *
 * While learning, a document's class tells which features speak for it, through nu; a query has
 * no class, so each weight is stored times s_f, the nu to be expected.  The paper stores w.
 *
 * Where it starts.  w = 0 is a stationary point and gives no bits at all; simhash, w = 1, is the
 * start, and what is found is never worse by the objective.  Where words occur once, as in titles,
 * and without feature contribution, sums there are whole numbers, and many are just 1, where they
 * begin to be clipped: then the objective has a kink, its gradient leads nowhere, and no step is
 * better.  A little below, at 0.9, which gives the same bits, it has none.
 *
 * What l2 means.  Scaling G by a and w by 1/a changes nothing but |w|^2, so l2 is taken in units
 * of the mean squared norm of the rows of G.  On newsgroups, with 16 to 64 bits, 0.05 is best or
 * nearly so; from 0.2 on signatures get worse, and far above it the weights go to 0 together,
 * which is reported.  Without feature contribution the objective is a poor guide, and best is
 * what hardly leaves the start: with l2 next to nothing most sums stay clipped, and still.
 * With paper_lambda l2 is in the scale of the objective as it stands in the paper, 0.5 there.
 */
#include "learn/s3h.h"

#include <inttypes.h>
#include <lbfgs.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "signature/model.h"

#define USUAL_L1 4.0
#define USUAL_L2 0.05
#define PAPER_L2 0.5    /* in the scale of G; the paper's threshold only scales w, see s3h_objective.c */
#define USUAL_L2_F 1e-5 /* without feature contribution: the less it learns the better */
#define CORRECTIONS 10  /* steps that L-BFGS remembers */
#define ENOUGH 1e-7     /* a step that gains less than this part of the objective is the last */
#define MIN_SUM 1e-3    /* of the largest weight on a row of usual length; with less, all went to 0 together */

static const double starts[] = {1, 0.9}; /* all weights; the second where no step from the first is better */

/* --------------------------------------------------------------- problem -- */

void nigh__s3h_release(struct nigh__s3h *problem) {
    const nigh_context *context = problem->lesson->context;
    nigh__free(context, problem->values);
    nigh__free(context, problem->column_values);
    nigh__free(context, problem->shares);
    nigh__free(context, problem->signs);
    nigh__free(context, problem->directions);
    nigh__free(context, problem->pair_signs);
    nigh__free(context, problem->clipped);
    nigh__free(context, problem->slopes);
    nigh__free(context, problem->pieces);
    nigh__pairing_release(context, &problem->pairing);
}

static bool allocate(struct nigh__s3h *problem) {
    const struct nigh__lesson *lesson = problem->lesson;
    const nigh_context *context = lesson->context;
    const size_t postings = (size_t)lesson->begins[lesson->rows];
    const size_t by_features = (size_t)lesson->features * problem->width;
    const size_t by_rows = (size_t)lesson->rows * problem->width;
    problem->values = nigh__alloc_large(context, postings, sizeof(float));
    problem->column_values = nigh__alloc_large(context, postings, sizeof(float));
    problem->shares = nigh__alloc(context, lesson->features, sizeof(double));
    problem->signs = nigh__alloc_large(context, by_features, 1);
    problem->directions = nigh__alloc_large(context, by_features, sizeof(float));
    problem->clipped = nigh__alloc_large(context, by_rows, sizeof(float));
    problem->slopes = nigh__alloc_large(context, by_rows, sizeof(float));
    problem->pieces = nigh__alloc(context, lesson->rows / NIGH__S3H_ROWS_A_PIECE + 1, sizeof(double));
    return problem->values != NULL && problem->column_values != NULL && problem->shares != NULL &&
           problem->signs != NULL && problem->directions != NULL && problem->clipped != NULL &&
           problem->slopes != NULL && problem->pieces != NULL;
}

/* What allocate(), the pairs and L-BFGS take. */
static uint64_t bytes_needed(const struct nigh__s3h *problem) {
    const struct nigh__lesson *lesson = problem->lesson;
    const nigh_learn_options *options = lesson->options;
    const uint64_t pairs = (uint64_t)options->attraction_pairs + options->repulsion_pairs;
    const uint64_t vectors = (UINT64_C(2) * CORRECTIONS + 8) * sizeof(double);
    return lesson->begins[lesson->rows] * 2 * sizeof(float) + nigh__pairing_bytes(lesson) + pairs * 2 * sizeof(float) +
           (uint64_t)lesson->rows * (2 * sizeof(float) * problem->width + sizeof(uint64_t)) +
           (uint64_t)lesson->features * (problem->width * (1 + sizeof(float)) + vectors);
}

static nigh_status pair_up(struct nigh__s3h *problem, nigh_error *error) {
    const struct nigh__lesson *lesson = problem->lesson;
    const struct nigh__pairing *pairing = &problem->pairing;
    const nigh_status status = nigh__pairing_make(lesson, &problem->pairing, error);
    if (status != NIGH_OK) return status;
    const uint64_t count = pairing->begins[lesson->rows];
    problem->pair_signs = nigh__alloc_large(lesson->context, count, sizeof(float));
    if (problem->pair_signs == NULL) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < count; i++) problem->pair_signs[i] = pairing->signs[i];
    return NIGH_OK;
}

static nigh_status fill(struct nigh__s3h *problem, nigh_error *error) {
    const struct nigh__lesson *lesson = problem->lesson;
    if (!allocate(problem)) {
        (void)nigh__fail(error, NIGH_ENOMEM, "out of memory");
        return NIGH_ENOMEM;
    }
    for (uint32_t f = 0; f < lesson->features; f++)
        nigh__lesson_signs(lesson->hashes[f], problem->width, problem->signs + (size_t)f * problem->width);
    nigh_status status = nigh__s3h_contribute(problem, error);
    return status == NIGH_OK ? pair_up(problem, error) : status;
}

static double asked_l2(const nigh_learn_options *options) {
    if (options->l2 >= 0) return options->l2;
    if (options->paper_lambda > 0) return PAPER_L2;
    return options->method == NIGH_LEARN_S3H_F ? USUAL_L2_F : USUAL_L2;
}

nigh_status nigh__s3h_new(const struct nigh__lesson *lesson, struct nigh__s3h *out, nigh_error *error) {
    const nigh_learn_options *options = lesson->options;
    *out = (struct nigh__s3h){.lesson = lesson, .width = options->width_bits};
    nigh_status status = nigh__lesson_allows(lesson, bytes_needed(out), error);
    if (status != NIGH_OK) return status;
    status = fill(out, error);
    if (status != NIGH_OK) {
        nigh__s3h_release(out);
        return status;
    }
    out->l1 = options->l1 < 0 ? USUAL_L1 : options->l1;
    out->l2 = asked_l2(options) * (options->paper_lambda > 0 ? 1 : out->mean_square);
    return NIGH_OK;
}

/* ---------------------------------------------------------------- search -- */

struct search {
    struct nigh__s3h *problem;
    struct nigh__learned *learned;
    double *best; /* weights; their objective is learned->objective */
    double last;  /* objective of the last iteration */
    bool started, cancelled, diverged;
};

static void keep_best(struct search *search, const double *weights, double value) {
    struct nigh__learned *learned = search->learned;
    if (search->started && value <= learned->objective) return;
    if (!search->started) learned->objective_start = search->last = value;
    search->started = true;
    learned->objective = value;
    memcpy(search->best, weights, search->problem->lesson->features * sizeof *weights);
}

/* L-BFGS minimises.  Once there is a reason to stop its line search is told so by a slope of nothing. */
static lbfgsfloatval_t evaluate(void *user, const lbfgsfloatval_t *weights, lbfgsfloatval_t *gradient, const int count,
                                const lbfgsfloatval_t step) {
    struct search *search = user;
    const struct nigh__lesson *lesson = search->problem->lesson;
    (void)step;
    search->cancelled =
        search->cancelled ||
        nigh__progress_tick(lesson->progress, "learning", search->learned->iterations, lesson->options->iterations);
    if (search->cancelled || search->diverged) {
        memset(gradient, 0, (size_t)count * sizeof *gradient);
        return 0;
    }
    const double value = nigh__s3h_evaluate(search->problem, weights, gradient);
    search->diverged = !isfinite(value);
    if (!search->diverged) keep_best(search, weights, value);
    for (int f = 0; f < count; f++) gradient[f] = -gradient[f];
    return search->diverged ? 0 : -value;
}

/* After each iteration; non-zero ends the search. */
static int iterated(void *user, const lbfgsfloatval_t *weights, const lbfgsfloatval_t *gradient,
                    const lbfgsfloatval_t value, const lbfgsfloatval_t weight_norm, const lbfgsfloatval_t gradient_norm,
                    const lbfgsfloatval_t step, int count, int iteration, int evaluations) {
    struct search *search = user;
    const nigh_learn_options *options = search->problem->lesson->options;
    (void)weights, (void)gradient, (void)weight_norm, (void)gradient_norm, (void)step, (void)count, (void)evaluations;
    if (search->cancelled || search->diverged) return 1;
    const double gain = -value - search->last;
    search->last = -value;
    search->learned->iterations = (uint32_t)iteration;
    search->learned->stopped =
        options->iteration != NULL && options->iteration(options->user, (uint32_t)iteration, -value) != 0;
    return search->learned->stopped || gain <= ENOUGH * fabs(value);
}

/* What L-BFGS ended with matters little (a line search that finds no better point, say), for the best is kept. */
static nigh_status check_climb(const struct search *search, int code, nigh_error *error) {
    if (search->cancelled) return nigh__progress_cancelled(error);
    if (code == LBFGSERR_OUTOFMEMORY) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    if (search->diverged)
        return nigh__fail(error, NIGH_ECORRUPT,
                          "the optimisation diverged: no finite objective after iteration %" PRIu32,
                          search->learned->iterations);
    if (!search->started) return nigh__fail(error, NIGH_ECORRUPT, "the optimisation did not begin: code %d", code);
    return NIGH_OK;
}

static nigh_status climb_from(struct search *search, double start, lbfgsfloatval_t *weights, nigh_error *error) {
    const struct nigh__lesson *lesson = search->problem->lesson;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = CORRECTIONS;
    parameters.max_iterations = lesson->options->iterations < INT_MAX ? (int)lesson->options->iterations : INT_MAX;
    for (uint32_t f = 0; f < lesson->features; f++) weights[f] = start;
    search->started = false;
    return check_climb(search, lbfgs((int)lesson->features, weights, NULL, evaluate, iterated, search, &parameters),
                       error);
}

static nigh_status climb(struct search *search, nigh_error *error) {
    lbfgsfloatval_t *weights = lbfgs_malloc((int)search->problem->lesson->features);
    nigh_status status = NIGH_OK;
    if (weights == NULL) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    for (size_t i = 0; i < sizeof starts / sizeof starts[0] && status == NIGH_OK; i++)
        if (search->learned->iterations == 0) status = climb_from(search, starts[i], weights, error);
    lbfgs_free(weights);
    return status;
}

/* --------------------------------------------------------------- outcome -- */

static void judge(const struct nigh__s3h *problem, struct nigh__learned *learned) {
    for (uint32_t f = 0; f < problem->lesson->features; f++)
        learned->largest_weight = fmax(learned->largest_weight, fabs(learned->weights[f]));
    learned->collapsed = learned->largest_weight * sqrt(problem->mean_square) < MIN_SUM;
}

static double millionths(double value) { return 1e6 * fmin(value, NIGH__LEARN_MAX_TOLD); }

static void describe(const struct nigh__s3h *problem, struct nigh__learned *learned) {
    const nigh_learn_options *options = problem->lesson->options;
    (void)snprintf(
        learned->lines, sizeof learned->lines,
        "as-paper=%d\nattractions=%" PRIu64 "\ncount-contribution=%d\niterations=%" PRIu32 "\nl1-millionths=%.0f\n"
        "l2-millionths=%.0f\npaper-lambda=%d\nrepulsions=%" PRIu64 "\n",
        options->as_paper != 0, problem->pairing.attractions, options->count_contribution > 0, learned->iterations,
        millionths(problem->l1), millionths(asked_l2(options)), options->paper_lambda > 0, problem->pairing.repulsions);
}

static nigh_status learn(struct nigh__s3h *problem, struct nigh__learned *out, nigh_error *error) {
    struct search search = {.problem = problem, .learned = out, .best = out->weights};
    const nigh_status status = climb(&search, error);
    if (status != NIGH_OK) return status;
    judge(problem, out);
    describe(problem, out);
    if (problem->lesson->options->as_paper == 0)
        for (uint32_t f = 0; f < problem->lesson->features; f++) out->weights[f] *= problem->shares[f];
    return NIGH_OK;
}

nigh_status nigh__learn_s3h(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error) {
    struct nigh__s3h problem;
    nigh_status status = nigh__s3h_new(lesson, &problem, error);
    if (status != NIGH_OK) return status;
    out->form = NIGH__MODEL_WEIGHTS;
    out->weights = nigh__alloc(lesson->context, lesson->features, sizeof *out->weights);
    if (out->weights != NULL)
        status = learn(&problem, out, error);
    else
        status = nigh__fail(error, NIGH_ENOMEM, "out of memory");
    nigh__s3h_release(&problem);
    if (status == NIGH_OK) return NIGH_OK;
    nigh__free(lesson->context, out->weights);
    out->weights = NULL;
    return status;
}
