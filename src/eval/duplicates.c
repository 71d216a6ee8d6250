/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring how near-copies are found: the order of the steps, and reading back what they found. */
#include "eval/duplicates.h"

#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/threads.h"
#include "document/document_options.h"
#include "eval/eval_options.h"
#include "eval/metric.h"
#include "text/text_options.h"

static void ignore_problem(void *user, const nigh_error *problem) {
    (void)user;
    (void)problem;
}

/* ------------------------------------------------------------------- steps -- */

static nigh_status read_corpus(struct nigh__judging *judging, nigh_error *error) {
    nigh_eval_duplicates *duplicates = judging->duplicates;
    nigh_eval_corpus_options options;
    nigh__options_defaults(&nigh__eval_corpus_options_shape, &options);
    nigh_signer *signer = NULL;
    nigh_text_reader *reader = NULL;
    options.threads = judging->threads;
    options.limit = judging->options.limit;
    options.memory_bytes = judging->options.memory_bytes;
    options.progress = judging->options.progress;
    nigh_status status = nigh_signer_new(duplicates->context, &judging->signer, &signer, error);
    if (status == NIGH_OK)
        status = nigh_text_reader_open(duplicates->context, judging->paths, judging->path_count, &judging->reading,
                                       &reader, error);
    if (status == NIGH_OK) status = nigh_eval_corpus_new(signer, reader, &options, &duplicates->corpus, error);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    if (status != NIGH_OK) return status;
    nigh_eval_corpus_describe(duplicates->corpus, &duplicates->info.signing);
    return nigh__duplicates_originals(duplicates, error);
}

static nigh_status find_truth(struct nigh__judging *judging, nigh_error *error) {
    nigh_eval_duplicates *duplicates = judging->duplicates;
    const double begin = nigh__clock();
    const nigh_status status = nigh__duplicates_truth(judging, error);
    duplicates->info.truth_seconds = nigh__clock() - begin;
    duplicates->info.documents = duplicates->count;
    duplicates->info.copies = duplicates->corpus->entries.count - duplicates->count;
    duplicates->info.pairs = duplicates->truth.count;
    return status;
}

static nigh_status measure(struct nigh__judging *judging, nigh_error *error) {
    nigh_status status = read_corpus(judging, error);
    if (status == NIGH_OK) status = find_truth(judging, error);
    if (status == NIGH_OK) status = nigh__duplicates_dedup(judging, error);
    if (status == NIGH_OK) status = nigh__duplicates_radius(judging, error);
    return status == NIGH_OK ? nigh__duplicates_lsh(judging, error) : status;
}

nigh_status nigh__duplicates_add(nigh_eval_duplicates *duplicates, nigh_eval_duplicates_row row, nigh_error *error) {
    nigh_eval_duplicates_row *place = nigh__array_add(duplicates->context, &duplicates->rows, 1);
    if (place == NULL) return nigh__no_memory(error, "for what was measured");
    const struct nigh__quality quality = nigh__quality(row.found, row.right, duplicates->truth.count);
    row.recall = quality.recall;
    row.precision = quality.precision;
    row.f1 = quality.f1;
    row.candidate_precision = nigh__quality(row.candidates, row.right, duplicates->truth.count).precision;
    *place = row;
    return NIGH_OK;
}

/* ------------------------------------------------------------------ public -- */

/* Everything that is not for judging is let go. */
static void forget_corpus(nigh_eval_duplicates *duplicates) {
    nigh_eval_corpus_free(duplicates->corpus);
    nigh__free(duplicates->context, duplicates->documents);
    nigh__free(duplicates->context, duplicates->originals);
    nigh__array_release(duplicates->context, &duplicates->truth);
    nigh__array_release(duplicates->context, &duplicates->labels);
    duplicates->corpus = NULL;
    duplicates->documents = duplicates->originals = NULL;
}

void nigh_eval_duplicates_free(nigh_eval_duplicates *duplicates) {
    if (duplicates == NULL) return;
    forget_corpus(duplicates);
    nigh__array_release(duplicates->context, &duplicates->rows);
    nigh__free(duplicates->context, duplicates);
}

static nigh_eval_duplicates *duplicates_new(nigh_context *context) {
    nigh_eval_duplicates *duplicates = nigh__alloc_zero(context, 1, sizeof *duplicates);
    if (duplicates == NULL) return NULL;
    duplicates->context = context;
    duplicates->truth = (struct nigh__array)NIGH__ARRAY(uint64_t);
    duplicates->rows = (struct nigh__array)NIGH__ARRAY(nigh_eval_duplicates_row);
    duplicates->labels = (struct nigh__array)NIGH__ARRAY(struct nigh__label);
    duplicates->info = (nigh_eval_duplicates_info){.size = sizeof(nigh_eval_duplicates_info)};
    duplicates->info.signing = (nigh_signing_info){.size = sizeof(nigh_signing_info)};
    return duplicates;
}

static nigh_status check(struct nigh__judging *judging, nigh_error *error) {
    if (!(judging->options.threshold > 0 && judging->options.threshold <= 1))
        return nigh__fail(error, NIGH_EINVAL, "near-copies have a Jaccard index above 0 and up to 1");
    for (size_t i = 0; i < judging->path_count; i++) {
        if (strcmp(judging->paths[i], "-") == 0)
            return nigh__fail(error, NIGH_EINVAL, "documents are read many times; a stream cannot be");
    }
    return NIGH_OK;
}

static nigh_status judging_init(struct nigh__judging *judging, const nigh_text_reader_options *reading,
                                const nigh_eval_duplicates_options *options, nigh_error *error) {
    nigh_status status = nigh__options_copy(&nigh__eval_duplicates_options_shape, &judging->options, options, error);
    if (status == NIGH_OK)
        status = nigh__options_copy(&nigh__text_reader_options_shape, &judging->reading, reading, error);
    if (status == NIGH_OK)
        status = nigh__options_copy(&nigh__signer_options_shape, &judging->signer, judging->options.features, error);
    if (judging->signer.features == NIGH_FEATURES_AUTO) judging->signer.features = NIGH_FEATURES_NGRAMS;
    judging->signer.scheme = NIGH_SCHEME_MINHASH;
    judging->signer.weights = NIGH_WEIGHTS_AUTO;
    judging->signer.width_bits = 0;
    judging->again = judging->reading;
    judging->again.problem = ignore_problem;
    judging->threads = nigh__threads_resolve(judging->options.threads);
    nigh__progress_init(&judging->progress, judging->options.progress);
    return status == NIGH_OK ? check(judging, error) : status;
}

nigh_status nigh_eval_duplicates_measure(nigh_context *context, const char *const *paths, size_t count,
                                         const nigh_text_reader_options *reading,
                                         const nigh_eval_duplicates_options *options, nigh_eval_duplicates **out,
                                         nigh_error *error) {
    *out = NULL;
    struct nigh__judging judging = {.paths = paths, .path_count = count};
    nigh_status status = judging_init(&judging, reading, options, error);
    if (status != NIGH_OK) return status;
    judging.duplicates = duplicates_new(context);
    if (judging.duplicates == NULL) return nigh__no_memory(error, "for what is measured");
    status = measure(&judging, error);
    if (status != NIGH_OK) {
        nigh_eval_duplicates_free(judging.duplicates);
        return status;
    }
    forget_corpus(judging.duplicates);
    *out = judging.duplicates;
    return NIGH_OK;
}

void nigh_eval_duplicates_describe(const nigh_eval_duplicates *duplicates, nigh_eval_duplicates_info *out) {
    nigh__info_copy(out, &duplicates->info, sizeof duplicates->info);
}

nigh_status nigh_eval_duplicates_at(const nigh_eval_duplicates *duplicates, size_t index,
                                    nigh_eval_duplicates_row *out) {
    if (index >= duplicates->rows.count) return NIGH_END;
    const nigh_eval_duplicates_row *row = (const nigh_eval_duplicates_row *)duplicates->rows.data + index;
    nigh__info_copy(out, row, sizeof *row);
    return NIGH_OK;
}

nigh_status nigh_eval_duplicates_band_at(const nigh_eval_duplicates *duplicates, size_t index,
                                         nigh_eval_duplicates_band *out) {
    if (index >= duplicates->band_count) return NIGH_END;
    nigh__info_copy(out, &duplicates->bands[index], sizeof duplicates->bands[index]);
    return NIGH_OK;
}
