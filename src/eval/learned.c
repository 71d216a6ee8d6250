/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures learned signatures, from reading documents to the rows of the table. Documents
 * are read once. What the seed changes is hashes of features, pairs, codewords and
 * anchors: for each seed the documents get the hashes that they would have been read with,
 * so that the model is the one that nigh_learn() makes under that seed. Who asks is the
 * same for all seeds.
 *
 * All memory is counted.  What a method takes is the lesson, which all methods of a seed
 * share, and what is live beside it at most while the method learns and its model is made.
 */
#include "eval/learned.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/counting_context.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "eval/eval_options.h"
#include "learn/learn_options.h"
#include "signature/model.h"

#define DEFAULT_SEEDS 3u
#define MAX_SEEDS 1000u
#define DEFAULT_RADIUS 3u
#define DEFAULT_FEATURES 10000u
#define ONE_ASKS_OF 5u /* where documents do not say what they are for */
#define REFERENCES 2u  /* by chosen features; one more goes by all */

struct measurement {
    nigh_eval_learned_options options;
    nigh_learn_options learning;
    struct nigh__progress progress;
    struct nigh__counting_context counting;
    struct nigh__labelled *labelled;
    const uint64_t *read_hashes; /* what is the labelled documents' own, and goes back before they are freed */
    const uint8_t *read_parts;
    uint64_t *hashes;
    uint8_t *parts;
    struct nigh__trial trial;
    uint64_t before; /* bytes that were live before the lesson */
    nigh_eval_learned *result;
};

/* ----------------------------------------------------------------- options -- */

static nigh_status check_lists(const nigh_eval_learned_options *options, nigh_error *error) {
    if (options->method_count == 0 || options->width_count == 0)
        return nigh__fail(error, NIGH_EINVAL, "there are no methods or no widths to measure");
    for (size_t i = 0; i < options->method_count; i++)
        if (nigh_learn_method_name(options->methods[i]) == NULL)
            return nigh__fail(error, NIGH_EINVAL, "there is no learning method %d", (int)options->methods[i]);
    for (size_t i = 0; i < options->width_count; i++)
        if (options->widths[i] == 0 || options->widths[i] > NIGH__MODEL_MAX_BITS)
            return nigh__fail(error, NIGH_EINVAL, "a model has 1 to %u bits, not %u", NIGH__MODEL_MAX_BITS,
                              options->widths[i]);
    for (size_t i = 0; i < options->width_count; i++)
        if (options->radius > options->widths[i])
            return nigh__fail(error, NIGH_EINVAL, "a radius of %u bits is beyond signatures of %u bits",
                              options->radius, options->widths[i]);
    if (options->lookup < NIGH_EVAL_LOOKUP_OFF || options->lookup > NIGH_EVAL_LOOKUP_ONLY)
        return nigh__fail(error, NIGH_EINVAL, "lookup takes 0, 1 or 2, not %d", (int)options->lookup);
    for (size_t i = 0; options->features != NULL && i < options->feature_count; i++)
        if (options->features[i] == 0)
            return nigh__fail(error, NIGH_EINVAL, "there is nothing to learn from 0 features");
    return NIGH_OK;
}

static nigh_status take_options(struct measurement *measurement, const nigh_eval_learned_options *given,
                                nigh_error *error) {
    nigh_eval_learned_options *options = &measurement->options;
    nigh_learn_options *learning = &measurement->learning;
    nigh_status status = nigh__options_copy(&nigh__eval_learned_options_shape, options, given, error);
    if (status == NIGH_OK) status = nigh__options_copy(&nigh__learn_options_shape, learning, options->learning, error);
    if (status == NIGH_OK) status = check_lists(options, error);
    if (status != NIGH_OK) return status;
    if (options->seeds == 0) options->seeds = DEFAULT_SEEDS;
    if (options->radius == 0) options->radius = DEFAULT_RADIUS;
    if (options->labelled == 0) options->labelled = 1;
    if (learning->max_features == 0) learning->max_features = DEFAULT_FEATURES;
    if (options->features == NULL || options->feature_count == 0) {
        options->features = &learning->max_features;
        options->feature_count = 1;
    }
    if (options->seeds > MAX_SEEDS) return nigh__fail(error, NIGH_EINVAL, "up to %u seeds can be measured", MAX_SEEDS);
    if (!(options->labelled > 0 && options->labelled <= 1))
        return nigh__fail(error, NIGH_EINVAL, "the share of labels to keep is above 0 and up to 1");
    return NIGH_OK;
}

/* -------------------------------------------------------------------- rows -- */

static size_t rows_of_features(const nigh_eval_learned_options *options) {
    return options->method_count * options->width_count + (options->references ? REFERENCES : 0);
}

static struct nigh__learned_row *row_at(const nigh_eval_learned *learned, size_t index) {
    return (struct nigh__learned_row *)learned->rows.data + index;
}

static nigh_status rows_new(const struct measurement *measurement, nigh_error *error) {
    nigh_eval_learned *result = measurement->result;
    const size_t count = measurement->options.feature_count * rows_of_features(&measurement->options) +
                         (measurement->options.references ? 1 : 0);
    if (nigh__array_add(result->context, &result->rows, count) == NULL)
        return nigh__no_memory(error, "to measure what was learned");
    for (size_t i = 0; i < count; i++)
        *row_at(result, i) = (struct nigh__learned_row){.row = {.size = sizeof(nigh_eval_learned_row)}};
    return NIGH_OK;
}

static double spread_of(const struct nigh__mean *mean) {
    return mean->count < 2 ? 0 : sqrt(mean->squares / (double)(mean->count - 1));
}

static void row_add(struct nigh__learned_row *row, const char *name, uint32_t features, uint32_t width_bits,
                    const struct nigh__outcome *outcome) {
    nigh_eval_learned_row *out = &row->row;
    nigh__mean_add(&row->map, outcome->map);
    nigh__mean_add(&row->precision, outcome->precision);
    nigh__mean_add(&row->returned, outcome->returned);
    nigh__mean_add(&row->empty, outcome->empty);
    nigh__mean_add(&row->intra, outcome->intra);
    nigh__mean_add(&row->inter, outcome->inter);
    nigh__mean_add(&row->seconds, outcome->seconds);
    nigh__mean_add(&row->sign_rate, outcome->sign_rate);
    nigh__mean_add(&row->lookup_seconds, outcome->lookup_seconds);
    nigh__mean_add(&row->scan_seconds, outcome->scan_seconds);
    (void)snprintf(out->method, sizeof out->method, "%s", name);
    out->features = features;
    out->width_bits = width_bits;
    if (out->seeds == 0 || outcome->iterations < out->iterations) out->iterations = outcome->iterations;
    out->collapsed += outcome->collapsed;
    out->seeds++;
    out->map = row->map.mean;
    out->map_spread = spread_of(&row->map);
    out->precision = row->precision.mean;
    out->precision_spread = spread_of(&row->precision);
    out->returned = row->returned.mean;
    out->empty = row->empty.mean;
    out->intra = row->intra.mean;
    out->inter = row->inter.mean;
    out->seconds = row->seconds.mean;
    out->sign_rate = row->sign_rate.mean;
    if (outcome->peak_bytes > out->peak_bytes) out->peak_bytes = outcome->peak_bytes;
    out->lookup_seconds = row->lookup_seconds.mean;
    out->scan_seconds = row->scan_seconds.mean;
    if (outcome->lookup_bytes > out->lookup_bytes) out->lookup_bytes = outcome->lookup_bytes;
    if (outcome->tables > out->tables) out->tables = outcome->tables;
}

/* ---------------------------------------------------------------- learning -- */

/* Learns and makes the model, with the clock running and memory counted. */
static nigh_status learn(struct measurement *measurement, struct nigh__lesson *lesson, nigh_model **model,
                         struct nigh__outcome *outcome, nigh_error *error) {
    struct nigh__counting_context *counting = &measurement->counting;
    struct nigh__learned learned = {0};
    atomic_store(&counting->peak, atomic_load(&counting->live));
    const double began = nigh__clock();
    nigh_status status = nigh__learn_lesson(lesson, &learned, error);
    if (status == NIGH_OK && learned.stopped && measurement->learning.iteration == NULL)
        status = nigh__progress_cancelled(error);
    if (status == NIGH_OK)
        status = nigh__learned_model(counting->context, measurement->labelled, lesson, &learned, model, error);
    outcome->seconds = nigh__clock() - began;
    outcome->iterations = learned.iterations;
    outcome->collapsed = learned.collapsed;
    outcome->peak_bytes = atomic_load(&counting->peak) - measurement->before;
    nigh__learned_release(lesson->context, &learned);
    return status;
}

static nigh_status try_method(struct measurement *measurement, struct nigh__lesson *lesson,
                              const nigh_learn_options *learning, struct nigh__learned_row *row, nigh_error *error) {
    const nigh_learn_options *usual = lesson->options;
    struct nigh__outcome outcome = {0};
    nigh_model *model = NULL;
    lesson->options = learning;
    nigh_status status = learn(measurement, lesson, &model, &outcome, error);
    lesson->options = usual;
    if (status == NIGH_OK) status = nigh__trial_signatures(&measurement->trial, model, &outcome, error);
    if (status == NIGH_OK)
        row_add(row, nigh_learn_method_name(learning->method), lesson->features, learning->width_bits, &outcome);
    nigh_model_free(model);
    return status;
}

static nigh_status try_methods(struct measurement *measurement, struct nigh__lesson *lesson, size_t first_row,
                               nigh_error *error) {
    const nigh_eval_learned_options *options = &measurement->options;
    nigh_learn_options learning = *lesson->options;
    nigh_status status = NIGH_OK;
    for (size_t m = 0; status == NIGH_OK && m < options->method_count; m++) {
        for (size_t w = 0; status == NIGH_OK && w < options->width_count; w++) {
            learning.method = options->methods[m];
            learning.width_bits = options->widths[w];
            status = try_method(measurement, lesson, &learning,
                                row_at(measurement->result, first_row + m * options->width_count + w), error);
        }
    }
    return status;
}

/* Those by chosen features; they hardly depend on the seed, and are measured with the first. */
static nigh_status try_references(struct measurement *measurement, const struct nigh__lesson *lesson, size_t first_row,
                                  nigh_error *error) {
    struct nigh__outcome inverted = {0};
    struct nigh__outcome cosine = {0};
    nigh_status status = nigh__trial_inverted(&measurement->trial, lesson, &inverted, error);
    if (status == NIGH_OK) status = nigh__trial_cosine(&measurement->trial, lesson, &cosine, error);
    if (status != NIGH_OK) return status;
    row_add(row_at(measurement->result, first_row), "inverted list", lesson->features, 0, &inverted);
    row_add(row_at(measurement->result, first_row + 1), "tf-idf cosine", lesson->features, 0, &cosine);
    return NIGH_OK;
}

static nigh_status try_all_features(struct measurement *measurement, nigh_error *error) {
    struct nigh__outcome cosine = {0};
    const nigh_status status = nigh__trial_cosine(&measurement->trial, NULL, &cosine, error);
    if (status == NIGH_OK)
        row_add(row_at(measurement->result, measurement->result->rows.count - 1), "tf-idf cosine, all features",
                measurement->labelled->features, 0, &cosine);
    return status;
}

/* ------------------------------------------------------------------- seeds -- */

static nigh_status take_seed(struct measurement *measurement, uint64_t seed, nigh_error *error) {
    struct nigh__labelled *labelled = measurement->labelled;
    labelled->hashes = measurement->read_hashes;
    labelled->plan.analysis.seed = measurement->learning.seed;
    if (seed == measurement->learning.seed) return NIGH_OK;
    const nigh_status status = nigh__labelled_reseed(labelled, seed, measurement->hashes, error);
    labelled->hashes = measurement->hashes;
    labelled->plan.analysis.seed = seed;
    return status;
}

/* One number of features under one seed. */
static nigh_status try_seed(struct measurement *measurement, uint32_t features, uint32_t number, size_t first_row,
                            nigh_error *error) {
    const nigh_eval_learned_options *options = &measurement->options;
    nigh_learn_options learning = measurement->learning;
    struct nigh__lesson *lesson = NULL;
    learning.seed += number;
    learning.max_features = features;
    learning.method = NIGH_LEARN_S3H; /* which needs labels, as the measuring does */
    learning.width_bits = options->widths[0];
    nigh_status status = take_seed(measurement, learning.seed, error);
    measurement->before = atomic_load(&measurement->counting.live);
    if (status == NIGH_OK)
        status = nigh__lesson_make(measurement->labelled, &learning, options->labelled, &lesson, error);
    if (status != NIGH_OK) return status;
    const nigh_learn_options *usual = lesson->options;
    lesson->progress = &measurement->progress;
    if (measurement->result->info.features < lesson->features) measurement->result->info.features = lesson->features;
    status = try_methods(measurement, lesson, first_row, error);
    if (status == NIGH_OK && options->references && number == 0)
        status = try_references(measurement, lesson, first_row + rows_of_features(options) - REFERENCES, error);
    lesson->options = usual;
    nigh__lesson_free(lesson);
    return status;
}

static nigh_status try_all(struct measurement *measurement, nigh_error *error) {
    const nigh_eval_learned_options *options = &measurement->options;
    nigh_status status = rows_new(measurement, error);
    for (uint32_t s = 0; status == NIGH_OK && s < options->seeds; s++)
        for (size_t f = 0; status == NIGH_OK && f < options->feature_count; f++)
            status = try_seed(measurement, options->features[f], s, f * rows_of_features(options), error);
    if (status == NIGH_OK && options->references) status = try_all_features(measurement, error);
    return status;
}

/* ----------------------------------------------------------------- reading -- */

/* Where documents do not say what they are for, one in five asks. */
static void split(const struct measurement *measurement) {
    struct nigh__labelled *labelled = measurement->labelled;
    for (uint32_t d = 0; d < labelled->documents; d++) {
        const uint64_t drawn = nigh__mix(measurement->learning.seed ^ nigh__mix(d));
        measurement->parts[d] = drawn % ONE_ASKS_OF == 0 ? NIGH__PART_TEST : NIGH__PART_TRAIN;
    }
    labelled->parts = measurement->parts;
    labelled->has_parts = true;
}

static nigh_status read_documents(struct measurement *measurement, nigh_text_reader *reader, nigh_error *error) {
    const struct nigh__labelled_options reading = {.learning = &measurement->learning,
                                                   .strip_headers = measurement->options.strip_headers != 0};
    const nigh_context *context = measurement->counting.context;
    const nigh_status status = nigh__labelled_read(context, reader, &reading, &measurement->labelled, error);
    if (status != NIGH_OK) return status;
    struct nigh__labelled *labelled = measurement->labelled;
    measurement->read_hashes = labelled->hashes;
    measurement->read_parts = labelled->parts;
    measurement->hashes = nigh__alloc(context, labelled->features, sizeof *measurement->hashes);
    measurement->parts = nigh__alloc(context, labelled->documents, 1);
    if (measurement->hashes == NULL || measurement->parts == NULL)
        return nigh__no_memory(error, "to measure what was learned");
    if (!labelled->has_parts) split(measurement);
    return NIGH_OK;
}

static void fill_info(const struct measurement *measurement) {
    nigh_eval_learned_info *info = &measurement->result->info;
    info->documents = measurement->trial.answers;
    info->queries = measurement->trial.queries;
    info->unlabelled = measurement->trial.unlabelled_count;
    info->classes = measurement->labelled->classes;
    info->terms = measurement->labelled->features;
    info->radius = measurement->options.radius;
    info->reader = measurement->labelled->reader;
}

static nigh_status measure(struct measurement *measurement, nigh_text_reader *reader, nigh_error *error) {
    nigh_status status = nigh__counting_context_init(&measurement->counting, measurement->result->context, error);
    if (status == NIGH_OK) status = read_documents(measurement, reader, error);
    if (status != NIGH_OK) return status;
    measurement->trial = (struct nigh__trial){.context = measurement->counting.context,
                                              .labelled = measurement->labelled,
                                              .progress = &measurement->progress,
                                              .threads = nigh__threads_resolve(measurement->learning.threads),
                                              .radius = measurement->options.radius,
                                              .lookup = measurement->options.lookup};
    status = nigh__trial_make(&measurement->trial, measurement->options.queries, error);
    if (status == NIGH_OK) fill_info(measurement);
    if (status == NIGH_OK) status = try_all(measurement, error);
    nigh__trial_release(&measurement->trial);
    return status;
}

static void release(struct measurement *measurement) {
    if (measurement->labelled != NULL) {
        measurement->labelled->hashes = measurement->read_hashes;
        measurement->labelled->parts = measurement->read_parts;
        nigh__free(measurement->counting.context, measurement->hashes);
        nigh__free(measurement->counting.context, measurement->parts);
        nigh__labelled_free(measurement->labelled);
    }
    nigh__counting_context_release(&measurement->counting);
}

/* ------------------------------------------------------------------ public -- */

nigh_status nigh_eval_learned_measure(nigh_context *context, nigh_text_reader *reader,
                                      const nigh_eval_learned_options *options, nigh_eval_learned **out,
                                      nigh_error *error) {
    *out = NULL;
    struct measurement measurement = {0};
    nigh_status status = take_options(&measurement, options, error);
    if (status != NIGH_OK) return status;
    nigh_eval_learned *result = nigh__alloc_zero(context, 1, sizeof *result);
    if (result == NULL) return nigh__no_memory(error, "to measure what was learned");
    *result = (nigh_eval_learned){.context = context,
                                  .info = {.size = sizeof(nigh_eval_learned_info)},
                                  .rows = NIGH__ARRAY(struct nigh__learned_row),
                                  .svg = NIGH__ARRAY(char)};
    measurement.result = result;
    nigh__progress_init(&measurement.progress, measurement.learning.progress);
    status = measure(&measurement, reader, error);
    release(&measurement);
    if (status == NIGH_OK)
        *out = result;
    else
        nigh_eval_learned_free(result);
    return status;
}

void nigh_eval_learned_describe(const nigh_eval_learned *learned, nigh_eval_learned_info *out) {
    nigh__info_copy(out, &learned->info, sizeof learned->info);
}

nigh_status nigh_eval_learned_at(const nigh_eval_learned *learned, size_t index, nigh_eval_learned_row *out) {
    if (index >= learned->rows.count) return NIGH_END;
    const nigh_eval_learned_row *row = &row_at(learned, index)->row;
    nigh__info_copy(out, row, sizeof *row);
    return NIGH_OK;
}

void nigh_eval_learned_free(nigh_eval_learned *learned) {
    if (learned == NULL) return;
    nigh__array_release(learned->context, &learned->rows);
    nigh__array_release(learned->context, &learned->svg);
    nigh__free(learned->context, learned);
}
