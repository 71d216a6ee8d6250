/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What learned signatures are compared with: the inverted list, which returns every document that
 * shares a feature, and the exact cosine of tf-idf vectors, over the chosen features and over all.
 * Both use postings of the answers:
 *
 *     feature f   | answer : weight | answer : weight | ...      at begins[f] .. begins[f + 1)
 *
 * Cosines are compared in units of 2^-31, so that rounding decides no order but by a
 * tie, and those that tie count as if their order were drawn, as do those with a cosine
 * of 0, which come last.
 *
 * Where lookup is measured, so is what asking the lists takes: of the inverted list to all that
 * it returns, of the cosine to the 10 best, term at a time.  Of an answer that is met for the first
 * time the number is noted, without a branch, so that nothing goes over all answers.
 */
#include <math.h>

#include "base/logarithm.h"
#include "base/status.h"
#include "eval/learned.h"
#include "eval/metric.h"
#include "scan/nearest.h"

#define UNITS 2147483648.0
#define BEST 10u /* by cosine, where the time of a query is measured */

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

/* What one query needs of memory. */
struct desk {
    uint64_t *keys;   /* of all answers; only ranking them all takes these */
    double *products; /* the same */
    float *sums;      /* of each answer, 0 between queries */
    uint32_t *met;    /* the answers of a query; room for one more */
    uint8_t *is_met;  /* of each answer, 0 between queries */
    uint8_t *marks;   /* of the relevant ones */
};

/* Bytes of a desk, zero at first; `ranks`: with what ranking all answers takes. */
static size_t desk_bytes(const struct nigh__trial *trial, bool ranks) {
    const size_t ranking = ranks ? sizeof(uint64_t) + sizeof(double) : 0;
    return (size_t)trial->answers * (ranking + sizeof(float) + sizeof(uint32_t) + 2) + sizeof(uint32_t);
}

static struct desk desk_at(const struct nigh__trial *trial, void *memory, bool ranks) {
    const size_t answers = trial->answers;
    struct desk desk = {.sums = memory};
    if (ranks) {
        desk.keys = memory;
        desk.products = (void *)(desk.keys + answers);
        desk.sums = (void *)(desk.products + answers);
    }
    desk.met = (void *)(desk.sums + answers);
    desk.is_met = (uint8_t *)(desk.met + answers + 1);
    desk.marks = desk.is_met + answers;
    return desk;
}

/* All answers that share a feature with the document, each once; returns how many. */
static uint32_t find_sharing(const struct postings *postings, uint32_t document, const struct desk *desk) {
    const struct nigh__labelled *labelled = postings->trial->labelled;
    uint32_t count = 0;
    for (uint64_t i = labelled->begins[document]; i < labelled->begins[document + 1]; i++) {
        const uint32_t feature = labelled->counts[i].feature;
        for (uint64_t k = postings->begins[feature]; k < postings->begins[feature + 1]; k++) {
            const uint32_t answer = postings->postings[k].answer;
            desk->met[count] = answer;
            count += 1u - desk->is_met[answer];
            desk->is_met[answer] = 1;
        }
    }
    for (uint32_t i = 0; i < count; i++) desk->is_met[desk->met[i]] = 0;
    return count;
}

/* The precision of the first `count` answers met. */
static void score_met(const struct nigh__trial *trial, uint32_t query, const struct desk *desk, uint32_t count,
                      struct nigh__score *score) {
    uint64_t good = 0;
    (void)nigh__trial_mark(trial, query, 1, desk->marks);
    for (uint32_t i = 0; i < count; i++) good += desk->marks[desk->met[i]];
    (void)nigh__trial_mark(trial, query, 0, desk->marks);
    score->returned = count;
    score->precision = count == 0 ? 0 : (double)good / count;
}

/* ------------------------------------------------------------------ asking -- */

/* Lists, and the way to ask them. */
struct lists {
    const struct postings *postings;
    uint32_t (*find)(const struct postings *postings, uint32_t document, const struct desk *desk);
    struct desk desk; /* of the one who is timed; others have theirs in their thread's scratch */
};

static nigh_status ask_lists(const void *user, void *scratch, uint32_t query, struct nigh__score *score,
                             nigh_error *error) {
    const struct lists *lists = user;
    const struct nigh__trial *trial = lists->postings->trial;
    const struct desk desk = desk_at(trial, scratch, false);
    (void)error;
    score_met(trial, query, &desk, lists->find(lists->postings, trial->query_documents[query], &desk), score);
    return NIGH_OK;
}

static nigh_status find_timed(void *user, uint32_t query, nigh_error *error) {
    const struct lists *lists = user;
    (void)error;
    (void)lists->find(lists->postings, lists->postings->trial->query_documents[query], &lists->desk);
    return NIGH_OK;
}

static nigh_status time_lists(struct lists *lists, struct nigh__outcome *out, nigh_error *error) {
    const struct postings *postings = lists->postings;
    const struct nigh__trial *trial = postings->trial;
    const uint64_t features = trial->labelled->features;
    void *memory = nigh__alloc_zero(trial->context, 1, desk_bytes(trial, false));
    if (memory == NULL) return nigh__no_memory(error, "for the references");
    lists->desk = desk_at(trial, memory, false);
    out->lookup_bytes = postings->begins[features] * sizeof *postings->postings +
                        features * (sizeof *postings->begins + sizeof *postings->idf);
    const nigh_status status = nigh__trial_time(trial, find_timed, lists, &out->lookup_seconds, error);
    nigh__free(trial->context, memory);
    return status;
}

/* What the lists return, and where lookup is measured what that takes. */
static nigh_status measure_lists(struct lists *lists, const char *stage, struct nigh__outcome *out, nigh_error *error) {
    const struct nigh__trial *trial = lists->postings->trial;
    const struct nigh__asking asking = {
        .trial = trial, .ask = ask_lists, .user = lists, .scratch_bytes = desk_bytes(trial, false), .stage = stage};
    const nigh_status status = nigh__trial_ask(&asking, out, error);
    return status == NIGH_OK && trial->lookup != NIGH_EVAL_LOOKUP_OFF ? time_lists(lists, out, error) : status;
}

nigh_status nigh__trial_inverted(const struct nigh__trial *trial, const struct nigh__lesson *lesson,
                                 struct nigh__outcome *out, nigh_error *error) {
    struct postings postings = {.trial = trial};
    struct lists lists = {.postings = &postings, .find = find_sharing};
    nigh_status status = postings_make(&postings, lesson, error);
    if (status == NIGH_OK) status = measure_lists(&lists, "inverted list", out, error);
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

static uint64_t cosine_key(double cosine, uint32_t answer) {
    return nigh__key((uint32_t)(UINT32_C(1) << 31) - (uint32_t)((cosine < 1 ? cosine : 1) * UNITS), answer);
}

static nigh_status ask_cosine(const void *user, void *scratch, uint32_t query, struct nigh__score *score,
                              nigh_error *error) {
    const struct postings *postings = user;
    const struct nigh__trial *trial = postings->trial;
    const uint32_t d = trial->query_documents[query];
    const struct desk desk = desk_at(trial, scratch, true);
    const double norm = query_norm(postings, d);
    const uint32_t relevant = nigh__trial_mark(trial, query, 1, desk.marks);
    (void)error;
    for (uint32_t a = 0; a < trial->answers; a++) desk.products[a] = 0;
    add_products(postings, d, desk.products);
    for (uint32_t a = 0; a < trial->answers; a++) desk.keys[a] = cosine_key(desk.products[a] / norm, a);
    nigh__keys_sort(trial->context, desk.keys, trial->answers);
    score->average_precision = precisions_of(desk.keys, trial->answers, desk.marks) / relevant;
    (void)nigh__trial_mark(trial, query, 0, desk.marks);
    return NIGH_OK;
}

/* Adds up the products of those that share a feature, which `met` then lists.  A word that all have has no weight. */
static uint32_t accumulate(const struct postings *postings, uint32_t document, const struct desk *desk) {
    const struct nigh__labelled *labelled = postings->trial->labelled;
    uint32_t count = 0;
    for (uint64_t i = labelled->begins[document]; i < labelled->begins[document + 1]; i++) {
        const uint32_t feature = labelled->counts[i].feature;
        const float weight = (float)tf_idf(postings, &labelled->counts[i]);
        if (!(weight > 0)) continue;
        for (uint64_t k = postings->begins[feature]; k < postings->begins[feature + 1]; k++) {
            const struct posting *posting = &postings->postings[k];
            desk->met[count] = posting->answer;
            count += !(desk->sums[posting->answer] > 0);
            desk->sums[posting->answer] += weight * posting->weight;
        }
    }
    return count;
}

/* Puts a key in its place among the BEST smallest, which are sorted. */
static void keep_smallest(uint64_t *best, uint32_t *count, uint64_t key) {
    if (*count == BEST && key >= best[BEST - 1]) return;
    uint32_t at = *count < BEST ? (*count)++ : BEST - 1;
    for (; at > 0 && best[at - 1] > key; at--) best[at] = best[at - 1];
    best[at] = key;
}

/* The best by cosine, at the front of `met`; returns how many, BEST at most. */
static uint32_t find_best(const struct postings *postings, uint32_t document, const struct desk *desk) {
    const double norm = query_norm(postings, document);
    const uint32_t met = accumulate(postings, document, desk);
    uint64_t best[BEST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < met; i++) {
        keep_smallest(best, &count, cosine_key((double)desk->sums[desk->met[i]] / norm, desk->met[i]));
        desk->sums[desk->met[i]] = 0;
    }
    for (uint32_t i = 0; i < count; i++) desk->met[i] = nigh__key_number(best[i]);
    return count;
}

static nigh_status look_up_best(const struct postings *postings, struct nigh__outcome *out, nigh_error *error) {
    struct lists lists = {.postings = postings, .find = find_best};
    const double map = out->map; /* of the ranking, which the 10 best do not tell */
    const nigh_status status = measure_lists(&lists, "tf-idf cosine", out, error);
    out->map = map;
    return status;
}

nigh_status nigh__trial_cosine(const struct nigh__trial *trial, const struct nigh__lesson *lesson,
                               struct nigh__outcome *out, nigh_error *error) {
    struct postings postings = {.trial = trial};
    const struct nigh__asking asking = {.trial = trial,
                                        .ask = ask_cosine,
                                        .user = &postings,
                                        .scratch_bytes = desk_bytes(trial, true),
                                        .stage = "tf-idf cosine"};
    nigh_status status = postings_make(&postings, lesson, error);
    if (status == NIGH_OK && trial->lookup != NIGH_EVAL_LOOKUP_ONLY) status = nigh__trial_ask(&asking, out, error);
    out->empty = 0; /* all are ranked */
    if (status == NIGH_OK && trial->lookup != NIGH_EVAL_LOOKUP_OFF) status = look_up_best(&postings, out, error);
    postings_release(&postings);
    return status;
}
