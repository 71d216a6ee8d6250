/* SPDX-License-Identifier: Apache-2.0 */
#include "signature/signer.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/band_keys.h"
#include "signature/model.h"
#include "text/plan.h"
#include "text/text_options.h"
#include "text/vocabulary.h"
#include "text/weight.h"

#define MAX_PASSAGE_TERMS 1000000u

/* ----------------------------------------------------------------- plan -- */

static uint32_t default_width(const nigh_signer_options *options) {
    const nigh_scheme_kind scheme = options->scheme;
    if (scheme == NIGH_SCHEME_LEARNED) return nigh__model_width(options->model);
    return scheme == NIGH_SCHEME_TOPSIG ? 1024 : scheme == NIGH_SCHEME_SIMHASH ? 64 : 256;
}

static nigh_weight_kind resolve_weights(const nigh_signer_options *options) {
    if (options->scheme == NIGH_SCHEME_MINHASH) return NIGH_WEIGHTS_AUTO;
    if (options->scheme == NIGH_SCHEME_LEARNED)
        return options->model == NULL ? NIGH_WEIGHTS_LOG : nigh__model_weighting(options->model);
    if (options->weights != NIGH_WEIGHTS_AUTO) return options->weights;
    return options->scheme == NIGH_SCHEME_TOPSIG ? NIGH_WEIGHTS_LIKELIHOOD : NIGH_WEIGHTS_LOG;
}

static bool needs_vocabulary(nigh_weight_kind weights) {
    return weights == NIGH_WEIGHTS_TFIDF || weights == NIGH_WEIGHTS_LIKELIHOOD;
}

int nigh_signer_needs_vocabulary(const nigh_signer_options *options) {
    nigh_signer_options known;
    return nigh__options_copy(&nigh__signer_options_shape, &known, options, NULL) == NIGH_OK &&
           needs_vocabulary(resolve_weights(&known));
}

static nigh_status check_scheme(const nigh_signer_options *options, nigh_error *error) {
    if ((unsigned)options->scheme > NIGH_SCHEME_LEARNED)
        return nigh__fail(error, NIGH_EINVAL, "there is no scheme %d", (int)options->scheme);
    if ((unsigned)options->weights > NIGH_WEIGHTS_LIKELIHOOD)
        return nigh__fail(error, NIGH_EINVAL, "there is no kind of weights %d", (int)options->weights);
    if (options->scheme == NIGH_SCHEME_MINHASH && options->weights != NIGH_WEIGHTS_AUTO)
        return nigh__fail(error, NIGH_EINVAL, "minhash takes a set of features and knows no weights");
    if (options->scheme == NIGH_SCHEME_LEARNED && options->weights != NIGH_WEIGHTS_AUTO &&
        options->weights != resolve_weights(options))
        return nigh__fail(error, NIGH_EINVAL, "a model has weights of its own, and says itself how words count");
    if (options->width_bits != 0 && !nigh__width_valid(options->width_bits))
        return nigh__width_allowed(options->width_bits, error);
    if (options->density != 0 && options->scheme != NIGH_SCHEME_TOPSIG)
        return nigh__fail(error, NIGH_EINVAL, "only topsig has a density");
    return NIGH_OK;
}

static nigh_status plan_split(const nigh_signer_options *options, struct nigh__signer_plan *plan, nigh_error *error) {
    if ((unsigned)options->split > NIGH_SPLIT_HARD)
        return nigh__fail(error, NIGH_EINVAL, "there is no way of splitting %d", (int)options->split);
    plan->split = options->split;
    if (plan->split == NIGH_SPLIT_NONE) return NIGH_OK;
    plan->max_terms = options->max_terms == 0 ? 256 : options->max_terms;
    plan->min_terms = options->min_terms == 0 ? (plan->max_terms + 3) / 4 : options->min_terms;
    if (plan->min_terms > plan->max_terms || plan->max_terms > MAX_PASSAGE_TERMS)
        return nigh__fail(error, NIGH_EINVAL, "passages of %u to %u terms; at most %u, and the least first",
                          plan->min_terms, plan->max_terms, MAX_PASSAGE_TERMS);
    return NIGH_OK;
}

static nigh_status plan_vocabulary(const nigh_signer_options *options, struct nigh__signer_plan *plan,
                                   nigh_error *error) {
    plan->weights = resolve_weights(options);
    if (!needs_vocabulary(plan->weights)) return NIGH_OK;
    if (options->vocabulary == NULL)
        return nigh__fail(error, NIGH_EINVAL, "these weights need a vocabulary, and there is none");
    char lines[NIGH__PLAN_LINES_SIZE];
    nigh__plan_lines(&plan->features, lines, sizeof lines);
    if (strcmp(lines, nigh__vocabulary_analysis(options->vocabulary)) != 0)
        return nigh__fail(error, NIGH_EMISMATCH,
                          "the vocabulary was made with other features, another language or another seed");
    plan->vocabulary = options->vocabulary;
    return NIGH_OK;
}

/* The first line in which two texts of the same keys differ, as both have it. */
static nigh_status tell_difference(const char *learned, const char *asked, nigh_error *error) {
    while (strncmp(learned, asked, strcspn(learned, "\n") + 1) == 0) {
        learned += strcspn(learned, "\n") + 1;
        asked += strcspn(asked, "\n") + 1;
    }
    return nigh__fail(error, NIGH_EMISMATCH, "the model was learned with %.*s, and %.*s is asked for",
                      (int)strcspn(learned, "\n"), learned, (int)strcspn(asked, "\n"), asked);
}

/* What the options leave open is the model's; what they say must agree with it. */
static nigh_status plan_model(const nigh_signer_options *options, struct nigh__signer_plan *plan, nigh_error *error) {
    if (options->model == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a learned scheme needs a model, and there is none");
    const uint32_t width = nigh__model_width(options->model);
    if (options->width_bits != 0 && options->width_bits != width)
        return nigh__fail(error, NIGH_EMISMATCH, "the model has %u bits, and %u are asked for", width,
                          options->width_bits);
    char learned[NIGH__PLAN_LINES_SIZE];
    char asked[NIGH__PLAN_LINES_SIZE];
    nigh_signer_options filled = *options;
    nigh__plan_fill_options(nigh__model_plan(options->model), &filled);
    nigh_status status = nigh__plan_features(&filled, &plan->features, error);
    if (status != NIGH_OK) return status;
    nigh__plan_all_lines(nigh__model_plan(options->model), learned, sizeof learned);
    nigh__plan_all_lines(&plan->features, asked, sizeof asked);
    if (strcmp(learned, asked) != 0) return tell_difference(learned, asked, error);
    plan->model = options->model;
    return NIGH_OK;
}

static nigh_status plan_threshold(const nigh_signer_options *options, struct nigh__signer_plan *plan,
                                  nigh_error *error) {
    if (options->threshold == 0) return NIGH_OK; /* NOLINT(clang-diagnostic-float-equal) */
    const double thousandths = options->threshold * 1000;
    if (!(options->threshold > 0 && options->threshold <= 1) || floor(thousandths + 0.5) < 1)
        return nigh__fail(error, NIGH_EINVAL, "a threshold of %g; it must be above 0 and at most 1",
                          options->threshold);
    if (plan->scheme != NIGH_SCHEME_MINHASH || plan->width_bits != NIGH__BAND_BITS || plan->split != NIGH_SPLIT_NONE)
        return nigh__fail(error, NIGH_EINVAL, "only whole documents by minhash of %u bits have a threshold",
                          NIGH__BAND_BITS);
    plan->threshold = (uint32_t)floor(thousandths + 0.5);
    if (fabs(thousandths - plan->threshold) > 1e-6)
        return nigh__fail(error, NIGH_EINVAL, "a threshold of %g; it goes in steps of .001", options->threshold);
    nigh__bands_choose(plan->threshold / 1000.0, &plan->bands, &plan->band_rows);
    return NIGH_OK;
}

nigh_status nigh__signer_plan_make(const nigh_context *context, const nigh_signer_options *options,
                                   struct nigh__signer_plan *out, nigh_error *error) {
    *out = (struct nigh__signer_plan){
        .context = context, .scheme = options->scheme, .reading_keys = options->reading_keys};
    nigh_status status = check_scheme(options, error);
    if (status == NIGH_OK && options->scheme == NIGH_SCHEME_LEARNED)
        status = plan_model(options, out, error);
    else if (status == NIGH_OK)
        status = nigh__plan_features(options, &out->features, error);
    if (status == NIGH_OK) status = plan_split(options, out, error);
    if (status == NIGH_OK) status = plan_vocabulary(options, out, error);
    if (status != NIGH_OK) return status;
    out->width_bits = options->width_bits == 0 ? default_width(options) : options->width_bits;
    if (options->scheme == NIGH_SCHEME_TOPSIG) out->density = options->density == 0 ? 21 : options->density;
    return plan_threshold(options, out, error);
}

/* --------------------------------------------------------------- worker -- */

struct nigh__signer_worker {
    const struct nigh__signer_plan *plan;
    struct nigh__featurer *featurer;
    struct nigh__model_projector *learned; /* NULL: there is no model; else there is nothing but this */
    struct nigh__weigher *weigher;         /* NULL: there are no weights */
    struct nigh__projector *projector;
    bool unknown; /* no feature of the last text is in the vocabulary */
};

static nigh_status projector_new(struct nigh__signer_worker *worker, nigh_error *error) {
    const struct nigh__signer_plan *plan = worker->plan;
    if (plan->model != NULL) return nigh__model_projector_new(plan->context, plan->model, &worker->learned, error);
    nigh_status status = NIGH_OK;
    if (plan->weights != NIGH_WEIGHTS_AUTO)
        status = nigh__weigher_new(plan->context, plan->weights, plan->vocabulary, &worker->weigher, error);
    if (status == NIGH_OK)
        status = nigh__projector_new(plan->context, plan->scheme, plan->width_bits, plan->density,
                                     plan->features.analysis.seed, &worker->projector, error);
    return status;
}

nigh_status nigh__signer_worker_new(const struct nigh__signer_plan *plan, struct nigh__signer_worker **out,
                                    nigh_error *error) {
    *out = NULL;
    struct nigh__signer_worker *worker = nigh__alloc_zero(plan->context, 1, sizeof *worker);
    if (worker == NULL) return nigh__no_memory(error, "for a signer");
    worker->plan = plan;
    nigh_status status = nigh__featurer_new(plan->context, &plan->features, &worker->featurer, error);
    if (status == NIGH_OK) status = projector_new(worker, error);
    if (status != NIGH_OK) {
        nigh__signer_worker_free(worker);
        return status;
    }
    *out = worker;
    return NIGH_OK;
}

void nigh__signer_worker_free(struct nigh__signer_worker *worker) {
    if (worker == NULL) return;
    nigh__featurer_free(worker->featurer);
    nigh__model_projector_free(worker->learned);
    nigh__weigher_free(worker->weigher);
    nigh__projector_free(worker->projector);
    nigh__free(worker->plan->context, worker);
}

/* Where there is no vocabulary nobody knows.  Of most texts the first feature is known. */
static bool all_unknown(struct nigh__weigher *weigher, const struct nigh__features *features) {
    for (size_t i = 0; i < features->count; i++)
        if (nigh__weigher_knows(weigher, features, i)) return false;
    return true;
}

bool nigh__signer_worker_unknown(const struct nigh__signer_worker *worker) { return worker->unknown; }

nigh_status nigh__signer_worker_sign(struct nigh__signer_worker *worker, const char *text, size_t length,
                                     nigh_error *error) {
    struct nigh__features features;
    struct nigh__bag bag = {0};
    nigh_status status = nigh__featurer_find(worker->featurer, text, length, &features, error);
    if (status != NIGH_OK) return status;
    if (features.count == 0) return NIGH_ENOTFOUND;
    if (worker->learned != NULL) return nigh__model_project(worker->learned, &features, error);
    worker->unknown = false;
    if (worker->weigher != NULL) {
        status = nigh__weigh(worker->weigher, &features, &bag.weights, error);
        if (status != NIGH_OK) return status;
        worker->unknown = all_unknown(worker->weigher, &features);
    }
    bag.hashes = features.hashes;
    bag.numbers = features.numbers;
    bag.count = features.count;
    bag.generation = features.generation;
    return nigh__project(worker->projector, &bag, error);
}

void nigh__signer_worker_bits(const struct nigh__signer_worker *worker, uint8_t *signature) {
    if (worker->learned != NULL)
        nigh__model_bits(worker->learned, signature);
    else
        nigh__project_bits(worker->projector, signature);
}

void nigh__signer_worker_weights(const struct nigh__signer_worker *worker, uint8_t *weights) {
    if (worker->learned != NULL)
        nigh__model_bit_weights(worker->learned, weights);
    else
        nigh__project_weights(worker->projector, weights);
}

const struct nigh__projector *nigh__signer_worker_projector(const struct nigh__signer_worker *worker) {
    return worker->projector;
}

/* --------------------------------------------------------------- public -- */

struct nigh_signer {
    struct nigh__signer_plan plan;
    char *scheme;                       /* owned */
    struct nigh__signer_worker *worker; /* for texts signed one at a time */
    nigh_vocabulary *vocabulary;        /* its own; NULL: whoever made it has it */
    nigh_model *model;                  /* the same */
};

nigh_status nigh_signer_new(nigh_context *context, const nigh_signer_options *options, nigh_signer **out,
                            nigh_error *error) {
    *out = NULL;
    nigh_signer_options known;
    nigh_status status = nigh__options_copy(&nigh__signer_options_shape, &known, options, error);
    if (status != NIGH_OK) return status;
    nigh_signer *signer = nigh__alloc_zero(context, 1, sizeof *signer);
    if (signer == NULL) return nigh__no_memory(error, "for a signer");
    status = nigh__signer_plan_make(context, &known, &signer->plan, error);
    signer->plan.context = context;
    if (status == NIGH_OK && (signer->scheme = nigh__signer_plan_lines(&signer->plan)) == NULL)
        status = nigh__no_memory(error, "for a scheme");
    if (status == NIGH_OK) status = nigh__signer_worker_new(&signer->plan, &signer->worker, error);
    if (status != NIGH_OK) {
        nigh_signer_free(signer);
        return status;
    }
    *out = signer;
    return NIGH_OK;
}

void nigh_signer_free(nigh_signer *signer) {
    if (signer == NULL) return;
    const nigh_context *context = signer->plan.context;
    nigh__signer_worker_free(signer->worker);
    nigh__free(context, signer->scheme);
    nigh_vocabulary_free(signer->vocabulary);
    nigh_model_free(signer->model);
    nigh__free(context, signer);
}

void nigh__signer_own(nigh_signer *signer, nigh_vocabulary *vocabulary, nigh_model *model) {
    signer->vocabulary = vocabulary;
    signer->model = model;
}

const char *nigh_signer_scheme(const nigh_signer *signer) { return signer->scheme; }
uint32_t nigh_signer_width(const nigh_signer *signer) { return signer->plan.width_bits; }
const struct nigh__signer_plan *nigh__signer_plan(const nigh_signer *signer) { return &signer->plan; }

/* Of other schemes every feature has a say in every bit. */
int nigh_signer_mask(const nigh_signer *signer, const uint8_t *weights, uint8_t *mask) {
    const uint32_t bits = signer->plan.width_bits;
    int partial = 0;
    memset(mask, UCHAR_MAX, nigh__row_bytes(bits));
    mask[nigh__row_bytes(bits) - 1] = nigh__last_byte_mask(bits);
    for (uint32_t i = 0; signer->plan.scheme == NIGH_SCHEME_TOPSIG && i < bits; i++) {
        if (weights[i] != 0) continue;
        mask[i / 8] = (uint8_t)(mask[i / 8] & ~(1u << i % 8));
        partial = 1;
    }
    return partial;
}

int nigh_signer_unknown(const nigh_signer *signer) { return nigh__signer_worker_unknown(signer->worker); }

nigh_status nigh_signer_sign(nigh_signer *signer, const char *text, size_t length, uint8_t *signature, uint8_t *weights,
                             nigh_error *error) {
    nigh_status status = nigh__signer_worker_sign(signer->worker, text, length, error);
    if (status == NIGH_ENOTFOUND)
        return nigh__fail(error, NIGH_ENOTFOUND, "the text has no words %s",
                          signer->plan.model == NULL ? "to sign" : "that the model knows");
    if (status != NIGH_OK) return status;
    nigh__signer_worker_bits(signer->worker, signature);
    if (weights != NULL) nigh__signer_worker_weights(signer->worker, weights);
    return NIGH_OK;
}
