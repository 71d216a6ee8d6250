/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learning from beginning to end: documents, the lesson, the method, the model. Everything
 * but the model is made in a context of our own, which counts its memory.
 */
#include <string.h>

#include "base/clock.h"
#include "base/counting_context.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "learn/lesson.h"
#include "signature/model.h"

#define SIGNED 1024u /* documents that are looked at, at most, to see whether a model tells them apart */

struct learning {
    nigh_learn_options options;
    struct nigh__counting_context counting;
    struct nigh__labelled *labelled;
    struct nigh__lesson *lesson;
    struct nigh__learned learned;
    nigh_learn_result result;
};

/* --------------------------------------------------------------- collapse */

/* The features of a document as the signer would find them. */
static void features_of(const struct nigh__labelled *labelled, uint32_t document, uint64_t *hashes, uint32_t *counts,
                        struct nigh__features *out) {
    const uint64_t begin = labelled->begins[document];
    const size_t count = (size_t)(labelled->begins[document + 1] - begin);
    *out = (struct nigh__features){.hashes = hashes, .counts = counts, .count = count};
    for (size_t i = 0; i < count; i++) {
        hashes[i] = labelled->hashes[labelled->counts[begin + i].feature];
        counts[i] = labelled->counts[begin + i].count;
        out->total += counts[i];
    }
}

/* How often the most frequent of some numbers occurs. */
static uint32_t largest_crowd(uint64_t *numbers, uint64_t *scratch, uint32_t count) {
    const uint64_t *sorted = nigh__words_sort(numbers, scratch, count, 1, 1, 1);
    uint32_t most = 0, run = 0;
    for (uint32_t i = 0; i < count; i++) {
        run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > most) most = run;
    }
    return most;
}

struct sample {
    uint64_t hashes[2 * SIGNED]; /* of signatures, and room to sort them */
    uint8_t signature[NIGH__MODEL_MAX_BITS / 8];
    struct nigh__model_projector *projector;
    uint64_t *feature_hashes; /* as many as the longest document has */
    uint32_t *feature_counts;
};

static nigh_status sample_new(const struct learning *learning, const nigh_model *model, struct sample **out,
                              nigh_error *error) {
    const nigh_context *context = learning->counting.context;
    const struct nigh__labelled *labelled = learning->labelled;
    size_t longest = 0;
    for (uint32_t d = 0; d < labelled->documents; d++) {
        const size_t count = (size_t)(labelled->begins[d + 1] - labelled->begins[d]);
        if (count > longest) longest = count;
    }
    struct sample *sample = *out = nigh__alloc_zero(context, 1, sizeof *sample);
    if (sample != NULL) sample->feature_hashes = nigh__alloc(context, longest, sizeof *sample->feature_hashes);
    if (sample != NULL) sample->feature_counts = nigh__alloc(context, longest, sizeof *sample->feature_counts);
    if (sample == NULL || sample->feature_hashes == NULL || sample->feature_counts == NULL)
        return nigh__no_memory(error, "to look at a model");
    return nigh__model_projector_new(context, model, &sample->projector, error);
}

static void sample_free(const nigh_context *context, struct sample *sample) {
    if (sample == NULL) return;
    nigh__model_projector_free(sample->projector);
    nigh__free(context, sample->feature_hashes);
    nigh__free(context, sample->feature_counts);
    nigh__free(context, sample);
}

/*
 * Whether `crowd` of `count` documents are too many to look the same.  Those of the largest class
 * should, by a model that does well; of the others not more than half may look as they do.
 */
static bool is_crowded(const struct nigh__lesson *lesson, uint32_t count, uint32_t crowd) {
    const uint64_t alike = lesson->labelled == 0 ? 0 : (uint64_t)count * lesson->class_most / lesson->labelled;
    return crowd > alike + (count - alike) / 2;
}

/* Signs documents here and there.  A model has collapsed where most of them look the same, or get no bits. */
static nigh_status sign_sample(const struct learning *learning, struct sample *sample, bool *collapsed,
                               nigh_error *error) {
    const struct nigh__lesson *lesson = learning->lesson;
    const uint32_t count = lesson->rows < SIGNED ? lesson->rows : SIGNED;
    uint32_t blank = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct nigh__features features;
        const uint32_t row = (uint32_t)((uint64_t)i * lesson->rows / count);
        features_of(learning->labelled, lesson->documents[row], sample->feature_hashes, sample->feature_counts,
                    &features);
        nigh_status status = nigh__model_project(sample->projector, &features, error);
        if (status != NIGH_OK && status != NIGH_ENOTFOUND) return status;
        blank += status == NIGH_ENOTFOUND;
        memset(sample->signature, 0, sizeof sample->signature);
        if (status == NIGH_OK) nigh__model_bits(sample->projector, sample->signature);
        sample->hashes[i] = nigh__hash(sample->signature, sizeof sample->signature);
    }
    const uint32_t crowd = largest_crowd(sample->hashes, sample->hashes + SIGNED, count);
    *collapsed = count >= 2 && (is_crowded(lesson, count, crowd) || blank > count / 2);
    return NIGH_OK;
}

static nigh_status look_at_model(const struct learning *learning, const nigh_model *model, bool *collapsed,
                                 nigh_error *error) {
    struct sample *sample = NULL;
    nigh_status status = sample_new(learning, model, &sample, error);
    if (status == NIGH_OK) status = sign_sample(learning, sample, collapsed, error);
    sample_free(learning->counting.context, sample);
    return status;
}

/* ---------------------------------------------------------------- learning */

static nigh_status learn(struct learning *learning, nigh_text_reader *reader, nigh_error *error) {
    const struct nigh__labelled_options reading = {.learning = &learning->options};
    const double begin = nigh__clock();
    nigh_status status = nigh__labelled_read(learning->counting.context, reader, &reading, &learning->labelled, error);
    const double read = nigh__clock();
    learning->result.seconds_read = read - begin;
    if (status == NIGH_OK)
        status = nigh__lesson_make(learning->labelled, &learning->options, 1, &learning->lesson, error);
    if (status == NIGH_OK) status = nigh__learn_lesson(learning->lesson, &learning->learned, error);
    learning->result.seconds_learn = nigh__clock() - read;
    return status;
}

static void tell(struct learning *learning, bool collapsed, nigh_learn_result *out) {
    nigh_learn_result *result = &learning->result;
    const struct nigh__learned *learned = &learning->learned;
    result->documents = learning->lesson->rows;
    result->labelled = learning->lesson->labelled;
    result->classes = learning->lesson->classes_used;
    result->terms = learning->labelled->features;
    result->features = learning->lesson->features;
    result->iterations = learned->iterations;
    result->objective = learned->objective;
    result->objective_start = learned->objective_start;
    result->largest_weight = learned->largest_weight;
    result->collapsed = learned->collapsed || collapsed;
    result->stopped = learned->stopped;
    result->peak_bytes = learning->counting.peak;
    result->reader = learning->labelled->reader;
    nigh__info_copy(out, result, sizeof *result);
}

nigh_status nigh_learn(nigh_context *context, nigh_text_reader *reader, const nigh_learn_options *options,
                       nigh_model **out, nigh_learn_result *result, nigh_error *error) {
    *out = NULL;
    struct learning learning = {.result = {.size = sizeof(nigh_learn_result)}};
    nigh_model *model = NULL;
    bool collapsed = false;
    nigh_status status = nigh__learn_options_fill(options, &learning.options, error);
    if (status == NIGH_OK) status = nigh__counting_context_init(&learning.counting, context, error);
    if (status == NIGH_OK) status = learn(&learning, reader, error);
    if (status == NIGH_OK)
        status = nigh__learned_model(context, learning.labelled, learning.lesson, &learning.learned, &model, error);
    if (status == NIGH_OK) status = look_at_model(&learning, model, &collapsed, error);
    if (status == NIGH_OK && result != NULL) tell(&learning, collapsed, result);
    if (learning.lesson != NULL) nigh__learned_release(learning.counting.context, &learning.learned);
    nigh__lesson_free(learning.lesson);
    nigh__labelled_free(learning.labelled);
    nigh__counting_context_release(&learning.counting);
    if (status == NIGH_OK)
        *out = model;
    else
        nigh_model_free(model);
    return status;
}
