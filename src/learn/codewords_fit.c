/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression on codewords.  X are the rows, t times idf and made unit length; m the codeword of a
 * row's kind.  Each bit b has coefficients a_b of its own, which make least
 *
 *     f_b = sum over labelled rows i of  u_i / 2 max(0, 1 - m_ib (X a_b)_i)^2   +   ridge / 2 |a_b|^2
 *
 * the squared hinge: a row is asked to be on its side of 0 by 1, and not to be no further than
 * that, as least squares would ask.  Kinds of many rows weigh more, but not by as much: u_i is
 * one over the square root of the rows of its kind, all u adding up to 1.
 *
 * Conjugate gradients (Polak and Ribiere), all bits at once, each with steps of its own:
 *
 *     rows      Z += alpha D,  E = slope of f by Z       take_step
 *     features  A += alpha P,  G = X' E + ridge A        find_gradients
 *               P = beta P - G                           find_directions
 *     rows      D = X P                                  find_moves
 *               f' and f'' along P                       sum_along
 *
 * Along P the function is known from Z and D without another look at X, and it is convex and of
 * pieces of parabolas, so that Newton's way between two brackets finds its bottom in a few steps.
 *
 *     rows      | 256 | 256 | ...         a thread takes the next piece; sums of a piece are its
 *     features  | 64 | 64 | ...           own, and are added up in their order, whatever threads
 *
 * Cost.  Two multiplications and additions for each posting and bit in an iteration; memory is
 * 8 bytes a posting, and 12 for each bit of each row and each feature.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "learn/codewords.h"
#include "learn/s3h.h"
#include "signature/model.h"

#define LONGEST 1024u /* postings that are summed in single precision */
#define FEATURES_A_PIECE 64u
#define ROWS_A_PIECE 256u
#define LANES 8u                        /* most widths are multiples */
#define WORK_A_THREAD UINT64_C(1000000) /* postings times bits: below, another thread costs more than it saves */
#define LINE_STEPS 4u
#define FLAT 0.05   /* a slope this part of the first is the bottom of the line */
#define ENOUGH 1e-4 /* an iteration that gains less than this part of what is left is the last */

struct fit {
    const struct nigh__lesson *lesson;
    const struct nigh__kinds *kinds;
    const int8_t *codewords;
    const double *idf;
    double ridge;
    uint32_t width;
    float *row_weights;     /* u, of each kind */
    float *values;          /* X by rows, as the lesson's `columns` */
    float *column_values;   /* and by features, as its `column_rows` */
    float *coefficients;    /* A: `width` of each feature, */
    float *gradients;       /* G, */
    float *directions;      /* and P */
    float *sums;            /* Z: `width` of each row, */
    float *moves;           /* D, */
    float *slopes;          /* and E, of rows without a label always 0 */
    double *pieces;         /* sums of pieces, up to three of each bit */
    double *totals;         /* and of all */
    float *steps;           /* alpha, of each bit */
    float *keeps;           /* beta */
    double *low, *high;     /* where alpha is between */
    double *along, *across; /* |P|^2 and P.A */
    double *squares;        /* |G|^2 of the iteration before */
    double *first_slopes;   /* of the line */
    void (*piece)(struct fit *fit, uint32_t begin, uint32_t end);
    uint32_t count, step; /* rows or features, in pieces of `step` */
};

/* -------------------------------------------------------------- threads -- */

static nigh_status do_piece(void *user, const struct nigh__items *items) {
    struct fit *fit = user;
    fit->piece(fit, (uint32_t)items->first, (uint32_t)items->end);
    return NIGH_OK;
}

static void run(struct fit *fit, uint32_t count, uint32_t step, uint64_t work_there_is,
                void (*piece)(struct fit *fit, uint32_t begin, uint32_t end)) {
    const uint64_t useful = work_there_is / WORK_A_THREAD + 1;
    NIGH__ASSERT(step > 0);
    fit->piece = piece;
    fit->count = count;
    fit->step = step;
    struct nigh__parallel parallel = {.threads = (uint32_t)nigh__smaller(useful, fit->lesson->threads)};
    (void)nigh__parallel_run(&parallel, count, step, do_piece, fit, NULL);
}

/* Adds up `sums` numbers of each bit over all pieces into totals. */
static void add_pieces(struct fit *fit, uint32_t sums) {
    const size_t length = (size_t)sums * fit->width;
    const double *piece = fit->pieces;
    memset(fit->totals, 0, length * sizeof *fit->totals);
    for (uint64_t at = 0; at < fit->count; at += fit->step, piece += length)
        for (size_t i = 0; i < length; i++) fit->totals[i] += piece[i];
}

static uint64_t postings_of(const struct nigh__lesson *lesson) { return lesson->begins[lesson->rows]; }

static void over_rows(struct fit *fit, uint64_t work_a_row, uint32_t sums,
                      void (*piece)(struct fit *fit, uint32_t begin, uint32_t end)) {
    run(fit, fit->lesson->rows, ROWS_A_PIECE, work_a_row * fit->width, piece);
    add_pieces(fit, sums);
}

static void over_features(struct fit *fit, uint64_t work_there_is, uint32_t sums,
                          void (*piece)(struct fit *fit, uint32_t begin, uint32_t end)) {
    run(fit, fit->lesson->features, FEATURES_A_PIECE, work_there_is * fit->width, piece);
    add_pieces(fit, sums);
}

/* ----------------------------------------------------------------- rows -- */

/* What a row weighs and is asked for; NULL: it has no label. */
static const int8_t *target_of(const struct fit *fit, uint32_t row, float *weight) {
    const uint32_t kind = fit->kinds->of_rows[row];
    if (kind == NIGH__NO_KIND) return NULL;
    *weight = fit->row_weights[kind];
    return fit->codewords + (size_t)kind * fit->width;
}

/* A row at hand, for whole lanes of it and for the bits left over. */
struct fit_row {
    const int8_t *target;
    const float *steps, *moves;
    float *sums, *slopes;
    float weight;
};

/* False: it has no label. */
static bool row_at(const struct fit *fit, uint32_t number, struct fit_row *out) {
    const size_t at = (size_t)number * fit->width;
    out->target = target_of(fit, number, &out->weight);
    out->steps = fit->steps;
    out->moves = fit->moves + at;
    out->sums = fit->sums + at;
    out->slopes = fit->slopes + at;
    return out->target != NULL;
}

static void store_sums(double *piece, const float *sums, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) piece[i] = (double)sums[i];
}

static inline void step_bits(const struct fit_row *row, uint32_t from, uint32_t count, float *losses) {
    for (uint32_t b = from; b < from + count; b++) {
        const float sum = row->sums[b] + row->steps[b] * row->moves[b];
        const float gap = 1 - (float)row->target[b] * sum;
        const float open = gap > 0 ? gap : 0;
        row->sums[b] = sum;
        row->slopes[b] = -row->weight * (float)row->target[b] * open;
        losses[b] += row->weight * open * open / 2;
    }
}

/* Z += alpha D, E, and the losses. */
static void take_step(struct fit *fit, uint32_t begin, uint32_t end) {
    const uint32_t width = fit->width;
    float losses[NIGH__MODEL_MAX_BITS] = {0};
    for (uint32_t i = begin; i < end; i++) {
        struct fit_row row;
        if (!row_at(fit, i, &row)) continue;
        uint32_t at = 0;
        for (; at + LANES <= width; at += LANES) step_bits(&row, at, LANES, losses);
        step_bits(&row, at, width - at, losses);
    }
    store_sums(fit->pieces + (size_t)(begin / ROWS_A_PIECE) * width, losses, width);
}

static void find_moves(struct fit *fit, uint32_t begin, uint32_t end) {
    const struct nigh__lesson *lesson = fit->lesson;
    for (uint32_t i = begin; i < end; i++) {
        if (fit->kinds->of_rows[i] == NIGH__NO_KIND) continue;
        nigh__s3h_gather(lesson->columns + lesson->begins[i], fit->values + lesson->begins[i],
                         lesson->begins[i + 1] - lesson->begins[i], fit->directions, fit->width,
                         fit->moves + (size_t)i * fit->width);
    }
}

static inline void derive_bits(const struct fit_row *row, uint32_t from, uint32_t count, float *first, float *second) {
    for (uint32_t b = from; b < from + count; b++) {
        const float gap = 1 - (float)row->target[b] * (row->sums[b] + row->steps[b] * row->moves[b]);
        const float open = gap > 0 ? row->moves[b] : 0;
        first[b] -= row->weight * (float)row->target[b] * gap * open;
        second[b] += row->weight * open * open;
    }
}

/* First and second derivative of the losses by alpha. */
static void sum_along(struct fit *fit, uint32_t begin, uint32_t end) {
    const uint32_t width = fit->width;
    float derivatives[2 * NIGH__MODEL_MAX_BITS] = {0};
    float *first = derivatives, *second = derivatives + width;
    for (uint32_t i = begin; i < end; i++) {
        struct fit_row row;
        if (!row_at(fit, i, &row)) continue;
        uint32_t at = 0;
        for (; at + LANES <= width; at += LANES) derive_bits(&row, at, LANES, first, second);
        derive_bits(&row, at, width - at, first, second);
    }
    store_sums(fit->pieces + (size_t)(begin / ROWS_A_PIECE) * 2 * width, derivatives, 2 * width);
}

/* ------------------------------------------------------------- features -- */

/* A row of X' E. */
static void pull_feature(const struct fit *fit, uint32_t feature, double *pulls) {
    const struct nigh__lesson *lesson = fit->lesson;
    float sums[NIGH__MODEL_MAX_BITS];
    memset(pulls, 0, fit->width * sizeof *pulls);
    for (uint64_t at = lesson->column_begins[feature], end = lesson->column_begins[feature + 1]; at < end;) {
        const uint64_t count = end - at < LONGEST ? end - at : LONGEST;
        nigh__s3h_gather(lesson->column_rows + at, fit->column_values + at, count, fit->slopes, fit->width, sums);
        for (uint32_t b = 0; b < fit->width; b++) pulls[b] += (double)sums[b];
        at += count;
    }
}

/* A += alpha P, G, and of each bit |G|^2, G.(G - the G before) and |A|^2. */
static void find_gradients(struct fit *fit, uint32_t begin, uint32_t end) {
    const uint32_t width = fit->width;
    double *piece = fit->pieces + (size_t)(begin / FEATURES_A_PIECE) * 3 * width;
    double pulls[NIGH__MODEL_MAX_BITS];
    memset(piece, 0, (size_t)3 * width * sizeof *piece);
    for (uint32_t f = begin; f < end; f++) {
        float *coefficients = fit->coefficients + (size_t)f * width, *gradients = fit->gradients + (size_t)f * width;
        const float *directions = fit->directions + (size_t)f * width;
        pull_feature(fit, f, pulls);
        for (uint32_t b = 0; b < width; b++) {
            coefficients[b] += fit->steps[b] * directions[b];
            const double size = (double)coefficients[b];
            const double gradient = pulls[b] + fit->ridge * size;
            piece[b] += gradient * gradient;
            piece[b + width] += gradient * (gradient - (double)gradients[b]);
            piece[b + 2 * width] += size * size;
            gradients[b] = (float)gradient;
        }
    }
}

/* P = beta P - G, and of each bit |P|^2 and P.A. */
static void find_directions(struct fit *fit, uint32_t begin, uint32_t end) {
    const uint32_t width = fit->width;
    double *piece = fit->pieces + (size_t)(begin / FEATURES_A_PIECE) * 2 * width;
    memset(piece, 0, (size_t)2 * width * sizeof *piece);
    for (uint32_t f = begin; f < end; f++) {
        const float *coefficients = fit->coefficients + (size_t)f * width;
        const float *gradients = fit->gradients + (size_t)f * width;
        float *directions = fit->directions + (size_t)f * width;
        for (uint32_t b = 0; b < width; b++) {
            directions[b] = fit->keeps[b] * directions[b] - gradients[b];
            piece[b] += (double)directions[b] * (double)directions[b];
            piece[b + width] += (double)directions[b] * (double)coefficients[b];
        }
    }
}

/* ------------------------------------------------------------ iterations -- */

/* One step of Newton's for each bit, kept between the brackets.  True: all are at the bottom. */
static bool improve_steps(struct fit *fit, bool is_first) {
    bool is_done = true;
    for (uint32_t b = 0; b < fit->width; b++) {
        const double at = (double)fit->steps[b];
        const double slope = fit->totals[b] + fit->ridge * (fit->across[b] + at * fit->along[b]);
        const double curve = fit->totals[b + fit->width] + fit->ridge * fit->along[b];
        if (is_first) fit->first_slopes[b] = slope;
        if (!(curve > 0) || fabs(slope) <= FLAT * fabs(fit->first_slopes[b]) * !is_first) continue;
        is_done = false;
        *(slope < 0 ? &fit->low[b] : &fit->high[b]) = at;
        double to = at - slope / curve;
        if (!(to > fit->low[b] && to < fit->high[b]))
            to = isfinite(fit->high[b]) ? (fit->low[b] + fit->high[b]) / 2 : fit->low[b];
        fit->steps[b] = (float)to;
    }
    return is_done;
}

static void search_line(struct fit *fit) {
    const uint32_t width = fit->width;
    for (uint32_t b = 0; b < width; b++) fit->low[b] = 0, fit->high[b] = INFINITY, fit->steps[b] = 0;
    for (uint32_t step = 0; step < LINE_STEPS; step++) {
        over_rows(fit, fit->lesson->rows, 2, sum_along);
        if (improve_steps(fit, step == 0)) return;
    }
}

/* Takes the step, finds the gradients there and how much of the last directions to keep.  Returns f, mean over bits. */
static double arrive(struct fit *fit) {
    const uint32_t width = fit->width;
    double value = 0;
    over_rows(fit, fit->lesson->rows, 1, take_step);
    for (uint32_t b = 0; b < width; b++) value += fit->totals[b];
    over_features(fit, postings_of(fit->lesson), 3, find_gradients);
    for (uint32_t b = 0; b < width; b++) {
        value += fit->ridge / 2 * fit->totals[b + 2 * width];
        fit->keeps[b] = fit->squares[b] > 0 ? (float)fmax(0, fit->totals[b + width] / fit->squares[b]) : 0;
        fit->squares[b] = fit->totals[b];
    }
    return value / width;
}

static void depart(struct fit *fit) {
    over_features(fit, fit->lesson->features, 2, find_directions);
    double *totals = fit->totals;
    memcpy(fit->along, totals, fit->width * sizeof *totals);
    memcpy(fit->across, totals + fit->width, fit->width * sizeof *totals);
    over_rows(fit, postings_of(fit->lesson), 0, find_moves);
    search_line(fit);
}

/* Starts where the coefficients are that were learned before: A = 0, and a step of 1 to them. */
static void begin(struct fit *fit, const struct nigh__learned *learned) {
    for (uint32_t f = 0; f < fit->lesson->features; f++) {
        const size_t at = (size_t)f * fit->width;
        for (uint32_t b = 0; b < fit->width; b++)
            fit->directions[at + b] = (float)(learned->coefficients[at + b] / fit->idf[f]);
    }
    for (uint32_t b = 0; b < fit->width; b++) fit->steps[b] = 1;
    over_rows(fit, postings_of(fit->lesson), 0, find_moves);
}

static nigh_status iterate(struct fit *fit, struct nigh__learned *learned, nigh_error *error) {
    const nigh_learn_options *options = fit->lesson->options;
    begin(fit, learned);
    double last = learned->objective = -arrive(fit);
    if (learned->iterations == 0) learned->objective_start = last;
    while (learned->iterations < options->iterations) {
        if (fit->lesson->progress != NULL &&
            nigh__progress_tick(fit->lesson->progress, "learning", learned->iterations, options->iterations))
            return nigh__progress_cancelled(error);
        depart(fit);
        learned->objective = -arrive(fit);
        learned->iterations++;
        if (!isfinite(learned->objective))
            return nigh__fail(error, NIGH_ECORRUPT, "learning diverged: no finite objective after iteration %" PRIu32,
                              learned->iterations);
        learned->stopped = options->iteration != NULL &&
                           options->iteration(options->user, learned->iterations, learned->objective) != 0;
        if (learned->stopped || learned->objective - last <= ENOUGH * -last) break;
        last = learned->objective;
    }
    return NIGH_OK;
}

/* --------------------------------------------------------------- outcome -- */

/* A bit that all rows have alike tells nothing; where most are so, the model has collapsed. */
static bool has_collapsed(const struct fit *fit) {
    uint32_t dead = 0;
    for (uint32_t b = 0; b < fit->width; b++) {
        uint32_t up = 0, labelled = 0;
        for (uint32_t i = 0; i < fit->lesson->rows; i++) {
            if (fit->kinds->of_rows[i] == NIGH__NO_KIND) continue;
            labelled++;
            up += fit->sums[(size_t)i * fit->width + b] > 0;
        }
        dead += up == 0 || up == labelled;
    }
    return dead > fit->width / 2;
}

static void hand_over(const struct fit *fit, struct nigh__learned *learned) {
    learned->largest_weight = 0;
    for (uint32_t f = 0; f < fit->lesson->features; f++) {
        for (uint32_t b = 0; b < fit->width; b++) {
            const size_t at = (size_t)f * fit->width + b;
            learned->coefficients[at] = (double)fit->coefficients[at] * fit->idf[f];
            learned->largest_weight = fmax(learned->largest_weight, fabs(learned->coefficients[at]));
        }
    }
    learned->collapsed = has_collapsed(fit);
}

/* ---------------------------------------------------------------- making -- */

/* The most pieces that sums are made of, and sums a bit. */
static uint64_t piece_room(const struct nigh__lesson *lesson) {
    const uint64_t of_rows = ((uint64_t)lesson->rows / ROWS_A_PIECE + 1) * 2;
    const uint64_t of_features = ((uint64_t)lesson->features / FEATURES_A_PIECE + 1) * 3;
    return of_rows > of_features ? of_rows : of_features;
}

uint64_t nigh__codewords_fit_bytes(const struct nigh__lesson *lesson) {
    const uint64_t width = lesson->options->width_bits;
    return postings_of(lesson) * 2 * sizeof(float) +
           ((uint64_t)lesson->rows + lesson->features) * width * 3 * sizeof(float) +
           piece_room(lesson) * width * sizeof(double) + (uint64_t)lesson->rows * sizeof(double);
}

static bool allocate(struct fit *fit) {
    const struct nigh__lesson *lesson = fit->lesson;
    const nigh_context *context = lesson->context;
    const size_t width = fit->width, by_features = lesson->features * width, by_rows = lesson->rows * width;
    fit->row_weights = nigh__alloc(context, fit->kinds->count, sizeof(float));
    fit->values = nigh__alloc_large(context, (size_t)postings_of(lesson), sizeof(float));
    fit->column_values = nigh__alloc_large(context, (size_t)postings_of(lesson), sizeof(float));
    fit->coefficients = nigh__alloc_zero(context, by_features, sizeof(float));
    fit->gradients = nigh__alloc_zero(context, by_features, sizeof(float));
    fit->directions = nigh__alloc_zero(context, by_features, sizeof(float));
    fit->sums = nigh__alloc_zero(context, by_rows, sizeof(float));
    fit->moves = nigh__alloc_zero(context, by_rows, sizeof(float));
    fit->slopes = nigh__alloc_zero(context, by_rows, sizeof(float));
    fit->pieces = nigh__alloc(context, (size_t)piece_room(lesson) * width, sizeof(double));
    fit->totals = nigh__alloc_zero(context, 9 * width, sizeof(double));
    fit->steps = nigh__alloc_zero(context, 2 * width, sizeof(float));
    if (fit->totals == NULL || fit->steps == NULL) return false;
    fit->keeps = fit->steps + width;
    fit->low = fit->totals + 3 * width;
    fit->high = fit->totals + 4 * width;
    fit->along = fit->totals + 5 * width;
    fit->across = fit->totals + 6 * width;
    fit->squares = fit->totals + 7 * width;
    fit->first_slopes = fit->totals + 8 * width;
    return fit->row_weights != NULL && fit->values != NULL && fit->column_values != NULL && fit->coefficients != NULL &&
           fit->gradients != NULL && fit->directions != NULL && fit->sums != NULL && fit->moves != NULL &&
           fit->slopes != NULL && fit->pieces != NULL;
}

static void release(struct fit *fit) {
    const nigh_context *context = fit->lesson->context;
    nigh__free(context, fit->row_weights);
    nigh__free(context, fit->values);
    nigh__free(context, fit->column_values);
    nigh__free(context, fit->coefficients);
    nigh__free(context, fit->gradients);
    nigh__free(context, fit->directions);
    nigh__free(context, fit->sums);
    nigh__free(context, fit->moves);
    nigh__free(context, fit->slopes);
    nigh__free(context, fit->pieces);
    nigh__free(context, fit->totals);
    nigh__free(context, fit->steps);
}

static void weigh_kinds(struct fit *fit) {
    double all = 0;
    for (uint32_t k = 0; k < fit->kinds->count; k++) all += sqrt(fit->kinds->sizes[k]);
    for (uint32_t k = 0; k < fit->kinds->count; k++)
        fit->row_weights[k] = (float)(1 / (sqrt(fit->kinds->sizes[k]) * all));
}

/* X both ways. */
static nigh_status scale_rows(struct fit *fit, nigh_error *error) {
    const struct nigh__lesson *lesson = fit->lesson;
    double *scales = nigh__alloc(lesson->context, lesson->rows, sizeof *scales);
    if (scales == NULL) return nigh__no_memory(error, "to learn codewords");
    for (uint32_t i = 0; i < lesson->rows; i++) {
        double square = 0;
        for (uint64_t k = lesson->begins[i]; k < lesson->begins[i + 1]; k++) {
            const double value = lesson->values[k] * fit->idf[lesson->columns[k]];
            square += value * value;
        }
        scales[i] = square > 0 ? 1 / sqrt(square) : 0;
        for (uint64_t k = lesson->begins[i]; k < lesson->begins[i + 1]; k++)
            fit->values[k] = (float)(lesson->values[k] * fit->idf[lesson->columns[k]] * scales[i]);
    }
    for (uint32_t f = 0; f < lesson->features; f++)
        for (uint64_t k = lesson->column_begins[f]; k < lesson->column_begins[f + 1]; k++)
            fit->column_values[k] = (float)(lesson->column_values[k] * fit->idf[f] * scales[lesson->column_rows[k]]);
    nigh__free(lesson->context, scales);
    return NIGH_OK;
}

nigh_status nigh__codewords_fit(const struct nigh__lesson *lesson, const struct nigh__kinds *kinds,
                                const int8_t *codewords, const double *idf, double ridge, struct nigh__learned *learned,
                                nigh_error *error) {
    struct fit fit = {.lesson = lesson,
                      .kinds = kinds,
                      .codewords = codewords,
                      .idf = idf,
                      .ridge = ridge,
                      .width = lesson->options->width_bits};
    nigh_status status = NIGH_ENOMEM;
    if (allocate(&fit))
        status = scale_rows(&fit, error);
    else
        (void)nigh__no_memory(error, "to learn codewords");
    if (status == NIGH_OK) {
        weigh_kinds(&fit);
        status = iterate(&fit, learned, error);
    }
    if (status == NIGH_OK) hand_over(&fit, learned);
    release(&fit);
    return status;
}
