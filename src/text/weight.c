/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of features. What the vocabulary says about a term is looked up once and kept by
 * the term's number, and so are the logarithms of small counts. What remains for each
 * feature is one multiplication.
 */
#include "text/weight.h"

#include "base/logarithm.h"
#include "base/memory.h"
#include "base/status.h"
#include "text/vocabulary.h"

#define SMALL_COUNTS 1024
#define AHEAD 16

/* Of a term: ln(T / F) or ln(D / d), whichever the kind needs. */
#define RARITY_UNASKED (-1.0) /* the vocabulary was not asked yet */
#define RARITY_UNKNOWN (-2.0) /* it does not know the term */

struct nigh__weigher {
    const nigh_context *context;
    nigh_weight_kind kind;
    const nigh_vocabulary *vocabulary;
    double ln_whole; /* ln T or ln D */
    double ln_small[SMALL_COUNTS];
    uint32_t log_small[SMALL_COUNTS]; /* weights by the logarithm */
    double *rarities;                 /* by number of the term */
    size_t rarity_capacity;
    uint32_t generation;
    struct nigh__array weights; /* of uint32_t */
};

/* The comparisons keep it within what an integer holds. */
static uint32_t whole_units(double weight) {
    weight = weight * NIGH__WEIGHT_UNIT + 0.5;
    if (!(weight >= 1.0)) return 1;
    if (weight >= (double)NIGH__WEIGHT_MAX) return NIGH__WEIGHT_MAX;
    return (uint32_t)weight;
}

nigh_status nigh__weigher_new(const nigh_context *context, nigh_weight_kind kind, const nigh_vocabulary *vocabulary,
                              struct nigh__weigher **out, nigh_error *error) {
    *out = NULL;
    struct nigh__weigher *weigher = nigh__alloc_zero(context, 1, sizeof *weigher);
    if (weigher == NULL) return nigh__no_memory(error, "for weights");
    weigher->context = context;
    weigher->kind = kind;
    weigher->vocabulary = vocabulary;
    weigher->weights = (struct nigh__array)NIGH__ARRAY(uint32_t);
    for (int c = 1; c < SMALL_COUNTS; c++) {
        weigher->ln_small[c] = nigh__ln(c);
        weigher->log_small[c] = whole_units(1.0 + weigher->ln_small[c]);
    }
    if (vocabulary != NULL) {
        uint64_t whole = kind == NIGH_WEIGHTS_TFIDF ? nigh__vocabulary_documents(vocabulary)
                                                    : nigh__vocabulary_occurrences(vocabulary);
        weigher->ln_whole = whole > 0 ? nigh__ln((double)whole) : 0.0;
    }
    *out = weigher;
    return NIGH_OK;
}

void nigh__weigher_free(struct nigh__weigher *weigher) {
    if (weigher == NULL) return;
    const nigh_context *context = weigher->context;
    nigh__free(context, weigher->rarities);
    nigh__array_release(context, &weigher->weights);
    nigh__free(context, weigher);
}

static double ln_count(const struct nigh__weigher *weigher, uint32_t count) {
    return count < SMALL_COUNTS ? weigher->ln_small[count] : nigh__ln(count);
}

/* ----------------------------------------------------- by the collection -- */

static double ask_rarity(const struct nigh__weigher *weigher, uint64_t hash) {
    struct nigh__occurrence found = nigh__vocabulary_find(weigher->vocabulary, hash);
    uint32_t share = weigher->kind == NIGH_WEIGHTS_TFIDF ? found.documents : found.occurrences;
    if (share == 0) return RARITY_UNKNOWN;
    double rarity = weigher->ln_whole - nigh__ln(share);
    return rarity > 0.0 ? rarity : 0.0;
}

static nigh_status reserve_rarities(struct nigh__weigher *weigher, const struct nigh__features *features,
                                    nigh_error *error) {
    uint32_t most = 0;
    for (size_t i = 0; i < features->count; i++)
        if (features->numbers[i] > most) most = features->numbers[i];
    const bool forgotten = features->generation != weigher->generation;
    if (most >= weigher->rarity_capacity) {
        size_t capacity = (size_t)most + most / 2 + 1024;
        double *rarities = nigh__alloc_table(weigher->context, capacity, sizeof *rarities);
        if (rarities == NULL) return nigh__no_memory(error, "for weights");
        for (size_t i = 0; i < weigher->rarity_capacity; i++) rarities[i] = weigher->rarities[i];
        for (size_t i = weigher->rarity_capacity; i < capacity; i++) rarities[i] = RARITY_UNASKED;
        nigh__free(weigher->context, weigher->rarities);
        weigher->rarities = rarities;
        weigher->rarity_capacity = capacity;
    }
    for (size_t i = 0; forgotten && i < weigher->rarity_capacity; i++) weigher->rarities[i] = RARITY_UNASKED;
    weigher->generation = features->generation;
    return NIGH_OK;
}

/* The rarity of feature i: kept, or asked for. */
static double rarity_of(struct nigh__weigher *weigher, const struct nigh__features *features, size_t i) {
    if (features->numbers == NULL) return ask_rarity(weigher, features->hashes[i]);
    double *kept = &weigher->rarities[features->numbers[i]];
    if (*kept == RARITY_UNASKED) *kept = ask_rarity(weigher, features->hashes[i]);
    return *kept;
}

/* A macro, because gcc drops the call of a function that does nothing but this. */
#define PREFETCH_RARITY(weigher, features, i)                                 \
    do {                                                                      \
        if ((features)->numbers != NULL && (i) < (features)->count)           \
            __builtin_prefetch(&(weigher)->rarities[(features)->numbers[i]]); \
    } while (0)

static void weigh_tfidf(struct nigh__weigher *weigher, const struct nigh__features *features, uint32_t *weights) {
    for (size_t i = 0; i < features->count; i++) {
        PREFETCH_RARITY(weigher, features, i + AHEAD);
        double rarity = rarity_of(weigher, features, i);
        if (rarity == RARITY_UNKNOWN) rarity = weigher->ln_whole;
        weights[i] = whole_units((1.0 + ln_count(weigher, features->counts[i])) * rarity);
    }
}

static void weigh_likelihood(struct nigh__weigher *weigher, const struct nigh__features *features, uint32_t *weights) {
    const double ln_total = nigh__ln((double)features->total);
    for (size_t i = 0; i < features->count; i++) {
        PREFETCH_RARITY(weigher, features, i + AHEAD);
        const double rarity = rarity_of(weigher, features, i);
        const double ratio = rarity == RARITY_UNKNOWN ? weigher->ln_whole - ln_total
                                                      : ln_count(weigher, features->counts[i]) - ln_total + rarity;
        weights[i] = whole_units((features->counts[i] - 0.5) * ratio);
    }
}

/* ------------------------------------------------------ by the document -- */

static void weigh_tf(const struct nigh__features *features, uint32_t *weights) {
    for (size_t i = 0; i < features->count; i++) weights[i] = whole_units(features->counts[i]);
}

static void weigh_log(const struct nigh__weigher *weigher, const struct nigh__features *features, uint32_t *weights) {
    for (size_t i = 0; i < features->count; i++) {
        const uint32_t count = features->counts[i];
        weights[i] = count < SMALL_COUNTS ? weigher->log_small[count] : whole_units(1.0 + nigh__ln(count));
    }
}

nigh_status nigh__weigh(struct nigh__weigher *weigher, const struct nigh__features *features, const uint32_t **weights,
                        nigh_error *error) {
    bool asks = weigher->kind == NIGH_WEIGHTS_TFIDF || weigher->kind == NIGH_WEIGHTS_LIKELIHOOD;
    weigher->weights.count = 0;
    uint32_t *out = nigh__array_add(weigher->context, &weigher->weights, features->count);
    if (out == NULL && features->count > 0) return nigh__no_memory(error, "for weights");
    if (asks && features->numbers != NULL) {
        nigh_status status = reserve_rarities(weigher, features, error);
        if (status != NIGH_OK) return status;
    }
    switch (weigher->kind) {
    case NIGH_WEIGHTS_TFIDF:
        weigh_tfidf(weigher, features, out);
        break;
    case NIGH_WEIGHTS_LIKELIHOOD:
        weigh_likelihood(weigher, features, out);
        break;
    case NIGH_WEIGHTS_LOG:
        weigh_log(weigher, features, out);
        break;
    case NIGH_WEIGHTS_AUTO:
    case NIGH_WEIGHTS_TF:
        weigh_tf(features, out);
        break;
    }
    *weights = out;
    return NIGH_OK;
}

/* What was asked for a weight need not be asked again; the kind that counts documents asks for another number. */
bool nigh__weigher_knows(struct nigh__weigher *weigher, const struct nigh__features *features, size_t i) {
    if (weigher->kind == NIGH_WEIGHTS_LIKELIHOOD) return rarity_of(weigher, features, i) != RARITY_UNKNOWN;
    return weigher->vocabulary == NULL ||
           nigh__vocabulary_find(weigher->vocabulary, features->hashes[i]).occurrences > 0;
}
