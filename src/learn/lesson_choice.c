/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing features by chi-squared.  Of N labelled documents n_c are of class c, and d
 * have a feature, A of them of that class; presence alone counts:
 *
 *     chi^2 = N (A (N - d - n_c + A) - (d - A) (n_c - A))^2 / (d (N - d) n_c (N - n_c))
 *
 * and a feature is worth the largest over the classes.  A table of features times classes
 * would not fit where both are many, so we go feature by feature over the documents that
 * have it, and touch only the classes of these.  Of those untouched (A = 0) chi^2 grows with
 * n_c, so it is enough to look at the largest of them: that takes one step more than there
 * are touched ones.
 *
 * Cost: linear in the features of all documents, 4 bytes for each of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "learn/lesson_parts.h"

#define BLOCK 4096u /* features a thread takes at once */

/* Documents by features: the transpose of what was read, of those features that are in enough of them. */
struct postings {
    uint64_t *begins;    /* features + 1 */
    uint32_t *documents; /* as the pupils are numbered */
    uint32_t *counts;    /* of documents that have each feature */
    bool by_label;       /* only labelled documents count */
};

struct scoring {
    const struct nigh__pupils *pupils;
    const struct postings *postings;
    const uint32_t *by_size; /* classes, the largest first */
    double *scores;          /* below 0: it is in too few documents */
    uint32_t *found;         /* a row of classes for each thread */
    uint32_t *touched;
};

/* --------------------------------------------------------------- postings */

static bool is_counted(const struct nigh__pupils *pupils, const struct postings *postings, uint32_t pupil) {
    return !postings->by_label || pupils->has_label[pupil] != 0;
}

static void count_documents(const struct nigh__pupils *pupils, struct postings *postings) {
    const struct nigh__labelled *labelled = pupils->labelled;
    for (uint32_t p = 0; p < pupils->count; p++) {
        if (!is_counted(pupils, postings, p)) continue;
        const uint32_t d = pupils->documents[p];
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++)
            postings->counts[labelled->counts[i].feature]++;
    }
}

static void fill_postings(const struct nigh__pupils *pupils, const struct postings *postings, uint32_t min_documents,
                          uint64_t *next) {
    const struct nigh__labelled *labelled = pupils->labelled;
    for (uint32_t p = 0; p < pupils->count; p++) {
        if (!is_counted(pupils, postings, p)) continue;
        const uint32_t d = pupils->documents[p];
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++) {
            const uint32_t feature = labelled->counts[i].feature;
            if (postings->counts[feature] >= min_documents) postings->documents[next[feature]++] = p;
        }
    }
}

static void postings_release(const nigh_context *context, struct postings *postings) {
    nigh__free(context, postings->begins);
    nigh__free(context, postings->documents);
    nigh__free(context, postings->counts);
}

/* Which documents have each feature; only needed where there are classes. */
static nigh_status list_documents(const struct nigh__pupils *pupils, const nigh_learn_options *options,
                                  struct postings *out, nigh_error *error) {
    const nigh_context *context = pupils->context;
    const uint32_t features = pupils->labelled->features;
    out->begins = nigh__alloc(context, (size_t)features + 1, sizeof *out->begins);
    uint64_t *next = nigh__alloc(context, (size_t)features + 1, sizeof *next);
    nigh_status status = out->begins == NULL || next == NULL ? nigh__no_memory(error, "to choose features") : NIGH_OK;
    uint64_t all = 0;
    for (uint32_t f = 0; status == NIGH_OK && f < features; f++) {
        out->begins[f] = next[f] = all;
        if (out->counts[f] >= options->min_documents) all += out->counts[f];
    }
    const uint64_t bytes = all * sizeof *out->documents + (uint64_t)features * 28;
    if (status == NIGH_OK) status = nigh__lesson_afford(pupils->labelled, options, bytes, error);
    if (status == NIGH_OK) {
        out->begins[features] = all;
        out->documents = nigh__alloc(context, all, sizeof *out->documents);
        if (out->documents == NULL) status = nigh__no_memory(error, "to choose features");
    }
    if (status == NIGH_OK) fill_postings(pupils, out, options->min_documents, next);
    nigh__free(context, next);
    return status;
}

/* ------------------------------------------------------------ chi-squared */

static double chi_squared(double all, double with, double size, double both) {
    const double below = with * (all - with) * size * (all - size);
    if (!(below > 0)) return 0;
    const double apart = both * (all - with - size + both) - (with - both) * (size - both);
    return all * apart * apart / below;
}

/* Counts the feature's documents in each class, takes the largest chi-squared, and clears the counts. */
static double score_feature(const struct scoring *scoring, uint32_t feature, uint32_t *found, uint32_t *touched) {
    const struct nigh__pupils *pupils = scoring->pupils;
    const struct nigh__labelled *labelled = pupils->labelled;
    const struct postings *postings = scoring->postings;
    uint32_t count = 0;
    for (uint64_t i = postings->begins[feature]; i < postings->begins[feature + 1]; i++) {
        const uint32_t d = pupils->documents[postings->documents[i]];
        for (uint64_t k = labelled->class_begins[d]; k < labelled->class_begins[d + 1]; k++) {
            const uint32_t class = labelled->document_classes[k];
            if (found[class]++ == 0) touched[count++] = class;
        }
    }
    const double all = pupils->with_label, with = postings->counts[feature];
    double best = 0;
    for (uint32_t i = 0; i < labelled->classes; i++) {
        const uint32_t class = scoring->by_size[i];
        if (found[class] > 0) continue;
        best = chi_squared(all, with, pupils->class_sizes[class], 0);
        break;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double chi = chi_squared(all, with, pupils->class_sizes[touched[i]], found[touched[i]]);
        if (chi > best) best = chi;
        found[touched[i]] = 0;
    }
    return best;
}

static void score_thread(void *user, uint32_t thread) {
    const struct scoring *scoring = user;
    const struct nigh__labelled *labelled = scoring->pupils->labelled;
    uint32_t *found = scoring->found + (size_t)thread * labelled->classes;
    uint32_t *touched = scoring->touched + (size_t)thread * labelled->classes;
    const uint32_t step = scoring->pupils->threads * BLOCK;
    for (uint64_t begin = (uint64_t)thread * BLOCK; begin < labelled->features; begin += step) {
        for (uint64_t f = begin; f < begin + BLOCK && f < labelled->features; f++)
            if (scoring->scores[f] >= 0) scoring->scores[f] = score_feature(scoring, (uint32_t)f, found, touched);
    }
}

/* Classes by size, the largest first, ties by number. */
static nigh_status sort_classes(const struct nigh__pupils *pupils, uint32_t *out, nigh_error *error) {
    const uint32_t classes = pupils->labelled->classes;
    uint64_t *keys = nigh__alloc(pupils->context, classes, 2 * sizeof *keys);
    if (keys == NULL) return nigh__no_memory(error, "to choose features");
    for (uint32_t c = 0; c < classes; c++) keys[c] = (uint64_t)~pupils->class_sizes[c] << 32 | c;
    const uint64_t *sorted = nigh__words_sort(keys, keys + classes, classes, 1, 1, 1);
    for (uint32_t c = 0; c < classes; c++) out[c] = (uint32_t)sorted[c];
    nigh__free(pupils->context, keys);
    return NIGH_OK;
}

static nigh_status score_by_classes(const struct nigh__pupils *pupils, const nigh_learn_options *options,
                                    struct postings *postings, double *scores, nigh_error *error) {
    const nigh_context *context = pupils->context;
    const size_t classes = pupils->labelled->classes;
    nigh_status status = list_documents(pupils, options, postings, error);
    uint32_t *by_size = nigh__alloc(context, classes, sizeof *by_size);
    uint32_t *found = nigh__alloc_zero(context, classes * pupils->threads, sizeof *found);
    uint32_t *touched = nigh__alloc(context, classes * pupils->threads, sizeof *touched);
    if (status == NIGH_OK && (by_size == NULL || found == NULL || touched == NULL))
        status = nigh__no_memory(error, "to choose features");
    if (status == NIGH_OK) status = sort_classes(pupils, by_size, error);
    if (status == NIGH_OK) {
        struct scoring scoring = {pupils, postings, by_size, scores, found, touched};
        nigh__threads_run(pupils->threads, score_thread, &scoring);
    }
    nigh__free(context, by_size);
    nigh__free(context, found);
    nigh__free(context, touched);
    return status;
}

/* --------------------------------------------------------------- choosing */

/* Scores are not below 0, so their bits are in the order of their values. */
static uint64_t score_bits(double score) {
    uint64_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits;
}

/* The least score among the best `wanted`, of those not below 0; *above: how many are better. */
static nigh_status find_threshold(const struct nigh__pupils *pupils, const double *scores, uint32_t candidates,
                                  uint32_t wanted, double *threshold, uint32_t *above, nigh_error *error) {
    uint64_t *keys = nigh__alloc(pupils->context, candidates, 2 * sizeof *keys);
    if (keys == NULL) return nigh__no_memory(error, "to choose features");
    size_t count = 0;
    for (uint32_t f = 0; f < pupils->labelled->features; f++)
        if (scores[f] >= 0) keys[count++] = ~score_bits(scores[f]);
    const uint64_t *sorted = nigh__words_sort(keys, keys + candidates, candidates, 1, 1, pupils->threads);
    const uint64_t bits = ~sorted[wanted - 1];
    memcpy(threshold, &bits, sizeof bits);
    for (*above = 0; sorted[*above] != sorted[wanted - 1];) (*above)++;
    nigh__free(pupils->context, keys);
    return NIGH_OK;
}

static nigh_status take_best(const struct nigh__pupils *pupils, const double *scores, uint32_t candidates,
                             const nigh_learn_options *options, struct nigh__choice *out, nigh_error *error) {
    const nigh_context *context = pupils->context;
    const uint32_t features = pupils->labelled->features;
    const uint32_t wanted = candidates < options->max_features ? candidates : options->max_features;
    double threshold;
    uint32_t above;
    nigh_status status = find_threshold(pupils, scores, candidates, wanted, &threshold, &above, error);
    if (status != NIGH_OK) return status;
    out->features = nigh__alloc(context, wanted, sizeof *out->features);
    out->chi = nigh__alloc(context, wanted, sizeof *out->chi);
    out->places = nigh__alloc(context, features, sizeof *out->places);
    if (out->features == NULL || out->chi == NULL || out->places == NULL)
        return nigh__no_memory(error, "to choose features");
    uint32_t ties = wanted - above; /* so many of those at the threshold, the first by number */
    for (uint32_t f = 0; f < features; f++) {
        out->places[f] = NIGH__NOT_CHOSEN;
        if (scores[f] < threshold || (scores[f] <= threshold && ties == 0)) continue;
        if (scores[f] <= threshold) ties--;
        out->places[f] = out->count;
        out->features[out->count] = f;
        out->chi[out->count++] = scores[f];
    }
    return NIGH_OK;
}

/* Where there are fewer than two classes nothing tells them apart: then by the documents that have it. */
static nigh_status score_and_take(const struct nigh__pupils *pupils, const nigh_learn_options *options,
                                  struct postings *postings, double *scores, struct nigh__choice *out,
                                  nigh_error *error) {
    const uint32_t features = pupils->labelled->features;
    uint32_t candidates = 0;
    count_documents(pupils, postings);
    for (uint32_t f = 0; f < features; f++) {
        scores[f] = postings->counts[f] >= options->min_documents ? (double)postings->counts[f] : -1;
        candidates += scores[f] >= 0;
    }
    if (candidates == 0)
        return nigh__fail(error, NIGH_EINVAL,
                          "no feature is in %u %sdocuments or more: give more documents, or lower min_documents",
                          options->min_documents, postings->by_label ? "labelled " : "");
    nigh_status status = NIGH_OK;
    if (postings->by_label) status = score_by_classes(pupils, options, postings, scores, error);
    if (status == NIGH_OK) status = take_best(pupils, scores, candidates, options, out, error);
    for (uint32_t i = 0; i < out->count && !postings->by_label; i++) out->chi[i] = 0;
    return status;
}

nigh_status nigh__choose_features(const struct nigh__pupils *pupils, const nigh_learn_options *options,
                                  struct nigh__choice *out, nigh_error *error) {
    const nigh_context *context = pupils->context;
    const uint32_t features = pupils->labelled->features;
    struct postings postings = {.by_label = pupils->classes_used > 1};
    *out = (struct nigh__choice){0};
    postings.counts = nigh__alloc_zero(context, features, sizeof *postings.counts);
    double *scores = nigh__alloc(context, features, sizeof *scores);
    nigh_status status = postings.counts == NULL || scores == NULL
                             ? nigh__no_memory(error, "to choose features")
                             : score_and_take(pupils, options, &postings, scores, out, error);
    nigh__free(context, scores);
    postings_release(context, &postings);
    return status;
}

void nigh__choice_release(const nigh_context *context, struct nigh__choice *choice) {
    nigh__free(context, choice->features);
    nigh__free(context, choice->chi);
    nigh__free(context, choice->places);
    *choice = (struct nigh__choice){0};
}
