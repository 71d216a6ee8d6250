/* SPDX-License-Identifier: Apache-2.0 */
/* The result of learning: calls the method, checks what it learned, and turns it into a model. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/key_lines.h"
#include "base/status.h"
#include "learn/lesson.h"
#include "signature/model.h"
#include "text/weight.h"

#define MAX_LINES 4096u

/* ---------------------------------------------------------------- learning */

static nigh_status learn(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error) {
    switch (lesson->options->method) {
    case NIGH_LEARN_CODEWORDS:
        return nigh__learn_codewords(lesson, out, error);
    case NIGH_LEARN_S3H:
    case NIGH_LEARN_S3H_F:
        return nigh__learn_s3h(lesson, out, error);
    case NIGH_LEARN_SIMHASH:
    case NIGH_LEARN_CHI:
        return nigh__learn_flat(lesson, out, error);
    case NIGH_LEARN_SSH:
        return nigh__learn_ssh(lesson, out, error);
    case NIGH_LEARN_KLSH:
        return nigh__learn_klsh(lesson, out, error);
    }
    return nigh__fail(error, NIGH_EINVAL, "there is no learning method %d", (int)lesson->options->method);
}

static bool all_finite(const double *numbers, size_t count) {
    for (size_t i = 0; numbers != NULL && i < count; i++)
        if (!isfinite(numbers[i])) return false;
    return true;
}

static bool is_finite(const struct nigh__lesson *lesson, const struct nigh__learned *learned) {
    const size_t bits = lesson->options->width_bits;
    return isfinite(learned->objective) && isfinite(learned->delta_squared) &&
           all_finite(learned->weights, lesson->features) &&
           all_finite(learned->coefficients, bits * lesson->features) && all_finite(learned->offsets, bits) &&
           all_finite(learned->omega, bits * learned->anchors);
}

static const char *what_to_change(nigh_learn_method method) {
    switch (method) {
    case NIGH_LEARN_CODEWORDS:
        return "fewer iterations, or a larger l2, may help";
    case NIGH_LEARN_S3H:
    case NIGH_LEARN_S3H_F:
        return "a smaller l1, or fewer iterations, may help";
    case NIGH_LEARN_SSH:
        return "a smaller l1 may help";
    case NIGH_LEARN_KLSH:
        return "fewer anchors may help";
    case NIGH_LEARN_SIMHASH:
    case NIGH_LEARN_CHI:
        break;
    }
    return "fewer features may help";
}

nigh_status nigh__learn_lesson(const struct nigh__lesson *lesson, struct nigh__learned *out, nigh_error *error) {
    *out = (struct nigh__learned){0};
    nigh_status status = learn(lesson, out, error);
    if (status == NIGH_OK && !is_finite(lesson, out)) {
        const nigh_learn_method method = lesson->options->method;
        status = nigh__fail(error, NIGH_ECORRUPT, "learning by %s diverged, to numbers without bounds: %s",
                            nigh_learn_method_name(method), what_to_change(method));
    }
    if (status != NIGH_OK) nigh__learned_release(lesson->context, out);
    return status;
}

void nigh__learned_release(const nigh_context *context, struct nigh__learned *learned) {
    nigh__free(context, learned->weights);
    nigh__free(context, learned->coefficients);
    nigh__free(context, learned->anchor_rows);
    nigh__free(context, learned->offsets);
    nigh__free(context, learned->omega);
    *learned = (struct nigh__learned){0};
}

/* ------------------------------------------------------------------ model */

/* The anchors of a model are rows of the lesson, in whole units. */
struct anchors {
    uint32_t *begins, *features, *values;
};

static uint32_t whole_units(double value) { return (uint32_t)(value * NIGH__WEIGHT_UNIT + 0.5); }

static nigh_status anchors_make(const struct nigh__lesson *lesson, const struct nigh__learned *learned,
                                struct anchors *out, nigh_error *error) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < learned->anchors; i++)
        all += lesson->begins[learned->anchor_rows[i] + 1] - lesson->begins[learned->anchor_rows[i]];
    if (all > UINT32_MAX) return nigh__fail(error, NIGH_ELIMIT, "the anchors have more than 2^32 features");
    out->begins = nigh__alloc(lesson->context, (size_t)learned->anchors + 1, sizeof *out->begins);
    out->features = nigh__alloc(lesson->context, all, sizeof *out->features);
    out->values = nigh__alloc(lesson->context, all, sizeof *out->values);
    if (out->begins == NULL || out->features == NULL || out->values == NULL)
        return nigh__no_memory(error, "for what was learned");
    uint32_t at = 0;
    for (uint32_t i = 0; i < learned->anchors; i++) {
        const uint32_t row = learned->anchor_rows[i];
        out->begins[i] = at;
        for (uint64_t k = lesson->begins[row]; k < lesson->begins[row + 1]; k++, at++) {
            out->features[at] = lesson->columns[k];
            out->values[at] = whole_units(lesson->values[k]);
        }
    }
    out->begins[learned->anchors] = at;
    return NIGH_OK;
}

static void anchors_release(const nigh_context *context, struct anchors *anchors) {
    nigh__free(context, anchors->begins);
    nigh__free(context, anchors->features);
    nigh__free(context, anchors->values);
}

/* Copies the method's lines, but for those whose keys are ours. */
static void copy_lines(const char *from, const char *ours, char *out) {
    while (*from != '\0') {
        const char *end = strchr(from, '\n');
        const size_t length = end == NULL ? strlen(from) : (size_t)(end - from) + 1;
        char key[64], value[256], named[72];
        bool is_ours = false;
        if (nigh__key_line_cut(from, key, sizeof key, value, sizeof value)) {
            (void)snprintf(named, sizeof named, "%s=", key);
            is_ours = nigh__key_lines_find(ours, named) != NULL;
        }
        if (!is_ours) memcpy(out, from, length), out += length;
        from += length;
    }
    *out = '\0';
}

/* Nine digits behind a point, whatever the locale. */
static void print_objective(double value, char *out, size_t size) {
    const double most = fmin(fabs(value), NIGH__LEARN_MAX_TOLD);
    uint64_t whole = (uint64_t)most, billionths = (uint64_t)((most - (double)whole) * 1e9 + 0.5);
    if (billionths == 1000000000) whole++, billionths = 0;
    (void)snprintf(out, size, "%s%" PRIu64 ".%09" PRIu64, value < 0 ? "-" : "", whole, billionths);
}

static nigh_status make_lines(const struct nigh__lesson *lesson, const struct nigh__learned *learned, char **out,
                              nigh_error *error) {
    char own[512], objective[40];
    print_objective(learned->objective, objective, sizeof objective);
    (void)snprintf(own, sizeof own,
                   "classes=%" PRIu32 "\ndocuments=%" PRIu32 "\niterations=%" PRIu32 "\nlabelled=%" PRIu32
                   "\nlone-classes=%" PRIu32 "\nmethod=%s\nobjective=%s\n",
                   lesson->classes_used, lesson->rows, learned->iterations, lesson->labelled, lesson->classes_lone,
                   nigh_learn_method_name(lesson->options->method), objective);
    char others[sizeof learned->lines];
    copy_lines(learned->lines, own, others);
    return nigh__key_lines_merge(lesson->context, own, others, MAX_LINES, "what a method says of a model", out, error);
}

static nigh_status list_names(const struct nigh__labelled *labelled, const struct nigh__lesson *lesson,
                              const char ***out, nigh_error *error) {
    const char **names = nigh__alloc(lesson->context, lesson->features, sizeof *names);
    *out = names;
    if (names == NULL) return nigh__no_memory(error, "for what was learned");
    for (uint32_t f = 0; f < lesson->features; f++) names[f] = nigh__labelled_feature_name(labelled, lesson->chosen[f]);
    return NIGH_OK;
}

nigh_status nigh__learned_model(const nigh_context *context, const struct nigh__labelled *labelled,
                                const struct nigh__lesson *lesson, const struct nigh__learned *learned,
                                nigh_model **out, nigh_error *error) {
    struct anchors anchors = {0};
    const char **names = NULL;
    char *lines = NULL;
    *out = NULL;
    nigh_status status = list_names(labelled, lesson, &names, error);
    if (status == NIGH_OK) status = make_lines(lesson, learned, &lines, error);
    if (status == NIGH_OK && learned->form == NIGH__MODEL_ANCHORS)
        status = anchors_make(lesson, learned, &anchors, error);
    if (status == NIGH_OK) {
        const struct nigh__model_parts parts = {
            .form = (enum nigh__model_form)learned->form,
            .method = lesson->options->method,
            .width_bits = lesson->options->width_bits,
            .plan = labelled->plan,
            .counts = nigh__learn_counts(lesson->options),
            .lines = lines,
            .features = lesson->features,
            .hashes = lesson->hashes,
            .names = names,
            .weights = learned->weights,
            .coefficients = learned->coefficients,
            .anchors = learned->anchors,
            .anchor_begins = anchors.begins,
            .anchor_features = anchors.features,
            .anchor_values = anchors.values,
            .delta_squared = learned->delta_squared,
            .offsets = learned->offsets,
            .omega = learned->omega,
        };
        status = nigh__model_make(context, &parts, out, error);
    }
    anchors_release(lesson->context, &anchors);
    nigh__free(lesson->context, lines);
    nigh__free(lesson->context, names);
    return status;
}
