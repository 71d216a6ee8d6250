/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document's sums by a model:
 *
 *     features of the text -> those that the model knows, and t = 1 + ln c, or c -> sums
 *
 * Which feature of the model a term is has to be found once: it is kept by the term's
 * number.  Sums of weights and coefficients are of whole numbers: in 32 bits as far as
 * these go, which the sum of the t tells, and then they are added to sums of 64.
 *
 *     |t a| <= t 2^15, so 32 bits hold features whose t add up to less than 2^16: a thousand that occur once,
 *     or of a model of counts two that occur 511 times, the most that counts
 */
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/projection.h"
#include "signature/model_parts.h"
#include "signature/project.h"
#include "signature/simhash.h"
#include "text/weight.h"

#define AHEAD 16
#define PIECE 1024u
#define PIECE_FACTORS 65535u /* what the t of a piece may add up to */

/* Of a term: */
#define UNASKED 0u
#define UNKNOWN 1u
#define KNOWN 2u /* and so on: the number of the feature and this */

struct nigh__model_projector {
    const nigh_context *context;
    const nigh_model *model;
    const struct nigh__projection *kernel;
    struct nigh__weigher *weigher;
    uint32_t width_bits;
    uint32_t padded; /* to whole groups */
    uint32_t *terms; /* by number of the term; a table of zeros */
    size_t term_capacity;
    uint32_t generation;
    struct nigh__array features; /* of uint32_t: those of the document that are known, */
    struct nigh__array counts;   /* and how often they occur */
    int32_t *piece;              /* sums of a piece; `padded` of them */
    int64_t *sums;               /* weights and coefficients: `padded` of them */
    double *real_sums;           /* anchors: width_bits of them */
    uint64_t *dots;              /* anchors */
    double *likeness;
};

/* ------------------------------------------------------- making and ending -- */

static bool make_room(struct nigh__model_projector *projector) {
    const nigh_context *context = projector->context;
    const uint32_t anchors = projector->model->shape.anchors;
    projector->piece = nigh__alloc_aligned(context, projector->padded, sizeof(int32_t), NIGH__CACHE_LINE);
    projector->sums = nigh__alloc_zero(context, projector->padded, sizeof(int64_t));
    projector->real_sums = nigh__alloc_zero(context, projector->padded, sizeof(double));
    projector->dots = nigh__alloc(context, anchors, sizeof *projector->dots);
    projector->likeness = nigh__alloc(context, anchors, sizeof *projector->likeness);
    return projector->piece != NULL && projector->sums != NULL && projector->real_sums != NULL &&
           projector->dots != NULL && projector->likeness != NULL;
}

nigh_status nigh__model_projector_new(const nigh_context *context, const nigh_model *model,
                                      struct nigh__model_projector **out, nigh_error *error) {
    *out = NULL;
    struct nigh__model_projector *projector = nigh__alloc_zero(context, 1, sizeof *projector);
    if (projector == NULL) return nigh__no_memory(error, "to sign by a model");
    const uint32_t width = model->shape.width_bits;
    projector->context = context;
    projector->model = model;
    projector->kernel = nigh__projection_choose(context->hamming->name);
    projector->width_bits = width;
    projector->padded = (width + NIGH__PROJECTION_GROUP - 1) / NIGH__PROJECTION_GROUP * NIGH__PROJECTION_GROUP;
    projector->features = (struct nigh__array)NIGH__ARRAY(uint32_t);
    projector->counts = (struct nigh__array)NIGH__ARRAY(uint32_t);
    nigh_status status = make_room(projector) ? NIGH_OK : nigh__no_memory(error, "to sign by a model");
    if (status == NIGH_OK)
        status = nigh__weigher_new(context, nigh__model_weighting(model), NULL, &projector->weigher, error);
    if (status == NIGH_OK)
        *out = projector;
    else
        nigh__model_projector_free(projector);
    return status;
}

void nigh__model_projector_free(struct nigh__model_projector *projector) {
    if (projector == NULL) return;
    const nigh_context *context = projector->context;
    nigh__weigher_free(projector->weigher);
    nigh__array_release(context, &projector->features);
    nigh__array_release(context, &projector->counts);
    nigh__free(context, projector->terms);
    nigh__free(context, projector->piece);
    nigh__free(context, projector->sums);
    nigh__free(context, projector->real_sums);
    nigh__free(context, projector->dots);
    nigh__free(context, projector->likeness);
    nigh__free(context, projector);
}

/* ----------------------------------------------------- what the model knows -- */

static nigh_status reserve_terms(struct nigh__model_projector *projector, const struct nigh__features *features,
                                 nigh_error *error) {
    uint32_t most = 0;
    for (size_t i = 0; i < features->count; i++)
        if (features->numbers[i] > most) most = features->numbers[i];
    if (features->generation != projector->generation && projector->terms != NULL)
        memset(projector->terms, 0, projector->term_capacity * sizeof *projector->terms);
    projector->generation = features->generation;
    if (most < projector->term_capacity) return NIGH_OK;
    const size_t capacity = (size_t)most + most / 2 + 1024;
    uint32_t *terms = nigh__alloc_table(projector->context, capacity, sizeof *terms);
    if (terms == NULL) return nigh__no_memory(error, "to sign by a model");
    if (projector->terms != NULL) memcpy(terms, projector->terms, projector->term_capacity * sizeof *terms);
    nigh__free(projector->context, projector->terms);
    projector->terms = terms;
    projector->term_capacity = capacity;
    return NIGH_OK;
}

static uint32_t ask(const nigh_model *model, uint64_t hash) {
    const uint32_t feature = nigh__model_find(model, hash);
    return feature == UINT32_MAX ? UNKNOWN : feature + KNOWN;
}

/* The known among the features, without a branch on whether one is; returns how many. */
static size_t pick(struct nigh__model_projector *projector, const struct nigh__features *features, uint32_t *known,
                   uint32_t *counts) {
    size_t found = 0;
    for (size_t i = 0; i < features->count; i++) {
        uint32_t term = UNASKED;
        if (features->numbers != NULL) {
            if (i + AHEAD < features->count) __builtin_prefetch(&projector->terms[features->numbers[i + AHEAD]]);
            term = projector->terms[features->numbers[i]];
        }
        if (term == UNASKED) {
            term = ask(projector->model, features->hashes[i]);
            if (features->numbers != NULL) projector->terms[features->numbers[i]] = term;
        }
        known[found] = term - KNOWN;
        counts[found] = features->counts[i];
        found += term >= KNOWN;
    }
    return found;
}

static void cap(uint32_t *counts, size_t count) {
    for (size_t i = 0; i < count; i++)
        counts[i] = counts[i] < NIGH__MODEL_MAX_COUNT ? counts[i] : NIGH__MODEL_MAX_COUNT;
}

/* ----------------------------------------------------------------- summing -- */

/* How many from the first on may be summed in 32 bits; one at least, for a t is far below what would not. */
static size_t piece_of(const uint32_t *factors, size_t count) {
    uint32_t total = 0;
    size_t piece = 0;
    while (piece < count && piece < PIECE && factors[piece] <= PIECE_FACTORS - total) total += factors[piece++];
    return piece;
}

/* As simhash has it, with weights of either sign: W = 2 * ones - total. */
static void add_weights(struct nigh__model_projector *projector, const uint32_t *known, const uint32_t *factors,
                        size_t count) {
    const nigh_model *model = projector->model;
    uint64_t hashes[PIECE];
    uint32_t weights[PIECE];
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t weight = (int32_t)factors[i] * model->values[known[i]];
        hashes[i] = model->hashes[known[i]];
        weights[i] = (uint32_t)weight;
        total += weight;
    }
    const struct nigh__bag bag = {.hashes = hashes, .weights = weights, .count = count};
    nigh__simhash_add(projector->kernel, &bag, projector->padded / 64, (uint32_t *)projector->piece);
    for (uint32_t j = 0; j < projector->width_bits; j++) projector->sums[j] += 2 * (int64_t)projector->piece[j] - total;
}

static void add_coefficients(struct nigh__model_projector *projector, const uint32_t *known, const uint32_t *factors,
                             size_t count) {
    projector->kernel->rows(projector->model->values, known, factors, count, projector->width_bits, projector->piece);
    for (uint32_t j = 0; j < projector->width_bits; j++) projector->sums[j] += projector->piece[j];
}

static void sum_all(struct nigh__model_projector *projector, const uint32_t *known, const uint32_t *factors,
                    size_t count) {
    memset(projector->sums, 0, projector->padded * sizeof *projector->sums);
    for (size_t at = 0, piece; at < count; at += piece) {
        piece = piece_of(factors + at, count - at);
        memset(projector->piece, 0, projector->padded * sizeof *projector->piece);
        if (projector->model->shape.form == NIGH__MODEL_WEIGHTS)
            add_weights(projector, known + at, factors + at, piece);
        else
            add_coefficients(projector, known + at, factors + at, piece);
    }
}

nigh_status nigh__model_project(struct nigh__model_projector *projector, const struct nigh__features *features,
                                nigh_error *error) {
    if (features->count == 0) return NIGH_ENOTFOUND;
    nigh_status status = features->numbers == NULL ? NIGH_OK : reserve_terms(projector, features, error);
    if (status != NIGH_OK) return status;
    projector->features.count = projector->counts.count = 0;
    uint32_t *known = nigh__array_add(projector->context, &projector->features, features->count);
    uint32_t *counts = nigh__array_add(projector->context, &projector->counts, features->count);
    if (known == NULL || counts == NULL) return nigh__no_memory(error, "to sign by a model");

    const size_t found = pick(projector, features, known, counts);
    if (found == 0) return NIGH_ENOTFOUND;
    if (nigh__model_weighting(projector->model) == NIGH_WEIGHTS_TF) cap(counts, found);
    const struct nigh__features weighed = {.counts = counts, .count = found};
    const uint32_t *factors;
    status = nigh__weigh(projector->weigher, &weighed, &factors, error);
    if (status != NIGH_OK) return status;
    if (projector->model->shape.form == NIGH__MODEL_ANCHORS)
        nigh__model_sum_anchors(projector->model, known, factors, found, projector->dots, projector->likeness,
                                projector->real_sums);
    else
        sum_all(projector, known, factors, found);
    return NIGH_OK;
}

/* ------------------------------------------------------------ what it gives -- */

void nigh__model_bits(const struct nigh__model_projector *projector, uint8_t *signature) {
    const bool real = projector->model->shape.form == NIGH__MODEL_ANCHORS;
    for (uint32_t i = 0; i < nigh__row_bytes(projector->width_bits); i++) {
        unsigned byte = 0;
        for (uint32_t j = 0; j < 8; j++) {
            const bool above = real ? projector->real_sums[i * 8 + j] > 0 : projector->sums[i * 8 + j] > 0;
            byte |= (unsigned)above << j;
        }
        signature[i] = (uint8_t)byte;
    }
}

/* Sums of 64 bits as 31, by one shift for all of them. */
static void narrow_sums(const int64_t *sums, uint32_t count, int32_t *out) {
    uint64_t all = 0;
    unsigned shift = 0;
    for (uint32_t j = 0; j < count; j++) all |= (uint64_t)(sums[j] < 0 ? -sums[j] : sums[j]);
    while (all >> shift > INT32_MAX) shift++;
    for (uint32_t j = 0; j < count; j++) {
        const int32_t size = (int32_t)((sums[j] < 0 ? -sums[j] : sums[j]) >> shift);
        out[j] = sums[j] < 0 ? -size : size;
    }
}

/* Doubles as 31 bits, by one power of two for all of them, so that nothing is rounded on the way but down. */
static void narrow_real_sums(const double *sums, uint32_t count, int32_t *out) {
    double largest = 0.0, scale = 1.0;
    for (uint32_t j = 0; j < count; j++) {
        const double size = sums[j] < 0 ? -sums[j] : sums[j];
        if (size > largest) largest = size;
    }
    while (largest > 0 && largest * scale >= 0x1p31) scale *= 0.5;
    while (largest > 0 && largest * scale < 0x1p30 && scale < 0x1p1000) scale *= 2.0;
    for (uint32_t j = 0; j < count; j++) out[j] = (int32_t)(sums[j] * scale);
}

void nigh__model_bit_weights(const struct nigh__model_projector *projector, uint8_t *weights) {
    int32_t narrow[NIGH__MODEL_MAX_BITS];
    const uint32_t width = projector->width_bits;
    if (projector->model->shape.form == NIGH__MODEL_ANCHORS)
        narrow_real_sums(projector->real_sums, width, narrow);
    else
        narrow_sums(projector->sums, width, narrow);
    nigh__weights_of_sums(narrow, width, weights);
}
