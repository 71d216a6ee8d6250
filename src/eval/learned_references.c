/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What learned signatures are held against: the inverted list, which returns every
 * document that shares a feature, and the exact cosine of tf-idf vectors, over the
 * chosen features and over all.  Both go through postings of the answers:
 *
 *     feature f   | answer : weight | answer : weight | ...      at begins[f] .. begins[f + 1)
 *
 * Cosines are compared in units of 2^-31, so that rounding decides no order but by a
 * tie, and those that tie count as if their order were drawn, as do those with a cosine
 * of 0, which come last.
 */
#include <math.h>

#include "base/logarithm.h"
#include "base/status.h"
#include "eval/learned.h"
#include "eval/metric.h"
#include "scan/nearest.h"

#define UNITS 2147483648.0

struct posting {
    uint32_t answer;
    float weight; /* tf-idf over the norm of the answer */
};

struct postings {
    const struct nigh__trial *trial;
    uint8_t *chosen;  /* of each feature; NULL: all are */
    uint64_t *begins; /* features + 1 */
    struct posting *postings;
    double *idf; /* of each feature; 0: no answer has it */
};

/* ---------------------------------------------------------------- postings -- */

static bool is_chosen(const struct postings *postings, uint32_t feature) {
    return postings->chosen == NULL || postings->chosen[feature];
}

static double tf_idf(const struct postings *postings, const struct nigh__count *count) {
    return (1 + nigh__ln(count->count)) * postings->idf[count->feature];
}

/* How many answers have each feature, at its begin + 2; as the lists of classes are made. */
static void count_features(struct postings *postings) {
    const struct nigh__trial *trial = postings->trial;
    const struct nigh__labelled *labelled = trial->labelled;
    for (uint32_t a = 0; a < trial->answers; a++) {
        const uint32_t d = trial->answer_documents[a];
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++)
            if (is_chosen(postings, labelled->counts[i].feature)) postings->begins[labelled->counts[i].feature + 2]++;
    }
    for (uint32_t f = 0; f < labelled->features; f++) {
        const uint64_t having = postings->begins[f + 2];
        postings->idf[f] = having == 0 ? 0 : nigh__ln((double)trial->answers / (double)having);
        postings->begins[f + 2] += postings->begins[f + 1];
    }
}

static void fill_postings(const struct postings *postings) {
    const struct nigh__trial *trial = postings->trial;
    const struct nigh__labelled *labelled = trial->labelled;
    for (uint32_t a = 0; a < trial->answers; a++) {
        const uint32_t d = trial->answer_documents[a];
        double norm = 0;
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++) {
            const double weight =
                is_chosen(postings, labelled->counts[i].feature) ? tf_idf(postings, &labelled->counts[i]) : 0;
            norm += weight * weight;
        }
        norm = norm > 0 ? sqrt(norm) : 1;
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++) {
            const struct nigh__count *count = &labelled->counts[i];
            if (!is_chosen(postings, count->feature)) continue;
            postings->postings[postings->begins[count->feature + 1]++] =
                (struct posting){.answer = a, .weight = (float)(tf_idf(postings, count) / norm)};
        }
    }
}

static nigh_status postings_make(struct postings *postings, const struct nigh__lesson *lesson, nigh_error *error) {
    const struct nigh__labelled *labelled = postings->trial->labelled;
    const nigh_context *context = postings->trial->context;
    const size_t features = labelled->features;
    postings->begins = nigh__alloc_zero(context, features + 2, sizeof *postings->begins);
    postings->idf = nigh__alloc_zero(context, features, sizeof *postings->idf);
    if (lesson != NULL) postings->chosen = nigh__alloc_zero(context, features, 1);
    if (postings->begins == NULL || postings->idf == NULL || (lesson != NULL && postings->chosen == NULL))
        return nigh__no_memory(error, "for the references");
    for (uint32_t f = 0; lesson != NULL && f < lesson->features; f++) postings->chosen[lesson->chosen[f]] = 1;
    count_features(postings);
    postings->postings = nigh__alloc_large(context, postings->begins[features + 1], sizeof *postings->postings);
    if (postings->postings == NULL) return nigh__no_memory(error, "for the references");
    fill_postings(postings);
    return NIGH_OK;
}

static void postings_release(const struct postings *postings) {
    const nigh_context *context = postings->trial->context;
    nigh__free(context, postings->chosen);
    nigh__free(context, postings->begins);
    nigh__free(context, postings->postings);
    nigh__free(context, postings->idf);
}

/* ----------------------------------------------------------- inverted list -- */

/* A thread's scratch: marks of the relevant answers, and of those met. */
static void ask_inverted(const void *user, void *scratch, uint32_t query, struct nigh__score *score) {
    const struct postings *postings = user;
    const struct nigh__trial *trial = postings->trial;
    const struct nigh__labelled *labelled = trial->labelled;
    const uint32_t d = trial->query_documents[query];
    uint8_t *marks = scratch;
    uint8_t *met = marks + trial->answers;
    uint64_t good = 0;
    (void)nigh__trial_mark(trial, query, 1, marks);
    for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++) {
        const uint32_t feature = labelled->counts[i].feature;
        for (uint64_t k = postings->begins[feature]; k < postings->begins[feature + 1]; k++)
            met[postings->postings[k].answer] = 1;
    }
    for (uint32_t a = 0; a < trial->answers; a++) {
        score->returned += met[a];
        good += met[a] & marks[a];
        met[a] = 0;
    }
    score->precision = score->returned == 0 ? 0 : (double)good / (double)score->returned;
    (void)nigh__trial_mark(trial, query, 0, marks);
}

nigh_status nigh__trial_inverted(const struct nigh__trial *trial, const struct nigh__lesson *lesson,
                                 struct nigh__outcome *out, nigh_error *error) {
    struct postings postings = {.trial = trial};
    const struct nigh__asking asking = {.trial = trial,
                                        .ask = ask_inverted,
                                        .user = &postings,
                                        .scratch_bytes = 2 * (size_t)trial->answers,
                                        .stage = "inverted list"};
    nigh_status status = postings_make(&postings, lesson, error);
    if (status == NIGH_OK) status = nigh__trial_ask(&asking, out, error);
    postings_release(&postings);
    return status;
}

/* ------------------------------------------------------------------ cosine -- */

static void add_products(const struct postings *postings, uint32_t document, double *products) {
    const struct nigh__labelled *labelled = postings->trial->labelled;
    for (uint64_t i = labelled->begins[document]; i < labelled->begins[document + 1]; i++) {
        const struct nigh__count *count = &labelled->counts[i];
        const uint64_t end = postings->begins[count->feature + 1];
        const double weight = tf_idf(postings, count);
        for (uint64_t k = postings->begins[count->feature]; k < end; k++)
            products[postings->postings[k].answer] += weight * (double)postings->postings[k].weight;
    }
}

static double query_norm(const struct postings *postings, uint32_t document) {
    const struct nigh__labelled *labelled = postings->trial->labelled;
    double norm = 0;
    for (uint64_t i = labelled->begins[document]; i < labelled->begins[document + 1]; i++) {
        const double weight = tf_idf(postings, &labelled->counts[i]);
        norm += weight * weight;
    }
    return norm > 0 ? sqrt(norm) : 1;
}

/* The sum of the precisions at marked answers; keys are sorted, and those of one distance tie. */
static double precisions_of(const uint64_t *keys, uint32_t count, const uint8_t *marks) {
    double sum = 0;
    uint64_t good_before = 0;
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        uint64_t good = 0;
        for (end = begin; end < count && nigh__key_distance(keys[end]) == nigh__key_distance(keys[begin]); end++)
            good += marks[nigh__key_number(keys[end])];
        sum += nigh__tied_precisions(begin, good_before, end - begin, good);
        good_before += good;
    }
    return sum;
}

/* A thread's scratch: keys and products of all answers, and marks of the relevant ones. */
static void ask_cosine(const void *user, void *scratch, uint32_t query, struct nigh__score *score) {
    const struct postings *postings = user;
    const struct nigh__trial *trial = postings->trial;
    const uint32_t d = trial->query_documents[query];
    uint64_t *keys = scratch;
    double *products = (void *)(keys + trial->answers);
    uint8_t *marks = (uint8_t *)(products + trial->answers);
    const double norm = query_norm(postings, d);
    const uint32_t relevant = nigh__trial_mark(trial, query, 1, marks);
    for (uint32_t a = 0; a < trial->answers; a++) products[a] = 0;
    add_products(postings, d, products);
    for (uint32_t a = 0; a < trial->answers; a++) {
        const double cosine = products[a] / norm;
        keys[a] = nigh__key((uint32_t)(UINT32_C(1) << 31) - (uint32_t)((cosine < 1 ? cosine : 1) * UNITS), a);
    }
    nigh__keys_sort(trial->context, keys, trial->answers);
    score->average_precision = precisions_of(keys, trial->answers, marks) / relevant;
    (void)nigh__trial_mark(trial, query, 0, marks);
}

nigh_status nigh__trial_cosine(const struct nigh__trial *trial, const struct nigh__lesson *lesson,
                               struct nigh__outcome *out, nigh_error *error) {
    struct postings postings = {.trial = trial};
    const struct nigh__asking asking = {.trial = trial,
                                        .ask = ask_cosine,
                                        .user = &postings,
                                        .scratch_bytes =
                                            (size_t)trial->answers * (sizeof(uint64_t) + sizeof(double) + 1),
                                        .stage = "tf-idf cosine"};
    nigh_status status = postings_make(&postings, lesson, error);
    if (status == NIGH_OK) status = nigh__trial_ask(&asking, out, error);
    out->empty = 0; /* all are ranked */
    postings_release(&postings);
    return status;
}
