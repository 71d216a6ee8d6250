/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/pairs.h"

#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "eval/eval_options.h"

static const char *const length_names[NIGH__LENGTHS] = {"all", "1-31", "32-127", "128-511", "512+"};

const char *nigh_eval_length_class_name(nigh_eval_length_class length) {
    return (unsigned)length < NIGH__LENGTHS ? length_names[length] : NULL;
}

static nigh_eval_pairs *pairs_new(const nigh_eval_corpus *corpus) {
    const size_t distances = (size_t)corpus->width_bits + 1;
    nigh_eval_pairs *pairs = nigh__alloc_zero(corpus->context, 1, sizeof *pairs);
    if (pairs == NULL) return NULL;
    *pairs = (nigh_eval_pairs){.context = corpus->context,
                               .width_bits = corpus->width_bits,
                               .documents = corpus->entries.count,
                               .svg = NIGH__ARRAY(char)};
    pairs->pairs = nigh__alloc_zero(corpus->context, NIGH__LENGTHS * distances, sizeof *pairs->pairs);
    pairs->alike = nigh__alloc_zero(corpus->context, NIGH__LENGTHS * distances, sizeof *pairs->alike);
    pairs->cosine = nigh__alloc_zero(corpus->context, distances, sizeof *pairs->cosine);
    if (pairs->pairs != NULL && pairs->alike != NULL && pairs->cosine != NULL) return pairs;
    nigh_eval_pairs_free(pairs);
    return NULL;
}

void nigh_eval_pairs_free(nigh_eval_pairs *pairs) {
    if (pairs == NULL) return;
    const nigh_context *context = pairs->context;
    nigh__free(context, pairs->pairs);
    nigh__free(context, pairs->alike);
    nigh__free(context, pairs->cosine);
    nigh__array_release(context, &pairs->svg);
    nigh__free(context, pairs);
}

/* Makes class 0 the sum of the others, and every count that of its distance and all nearer. */
static void sum_up(uint64_t *counts, uint32_t width_bits) {
    for (uint32_t length = 1; length < NIGH__LENGTHS; length++) {
        const uint64_t *some = nigh__histogram(counts, width_bits, length);
        for (uint32_t d = 0; d <= width_bits; d++) counts[d] += some[d];
    }
    for (uint32_t length = 0; length < NIGH__LENGTHS; length++) {
        uint64_t *within = nigh__histogram(counts, width_bits, length);
        for (uint32_t d = 1; d <= width_bits; d++) within[d] += within[d - 1];
    }
}

nigh_status nigh_eval_pairs_measure(const nigh_eval_corpus *evaluation, const nigh_eval_pairs_options *options,
                                    nigh_eval_pairs **out, nigh_error *error) {
    *out = NULL;
    struct nigh__measuring measuring = {.corpus = evaluation};
    nigh_status status = nigh__options_copy(&nigh__eval_pairs_options_shape, &measuring.options, options, error);
    if (status != NIGH_OK) return status;
    if (!(measuring.options.alike > 0 && measuring.options.alike <= 1))
        return nigh__fail(error, NIGH_EINVAL, "pairs are alike from a value above 0 and up to 1 on");
    measuring.threads = nigh__threads_resolve(measuring.options.threads);
    nigh__progress_init(&measuring.progress, measuring.options.progress);
    nigh_eval_pairs *pairs = measuring.pairs = pairs_new(evaluation);
    if (pairs == NULL) return nigh__no_memory(error, "for the pairs");
    pairs->threshold = measuring.options.alike;
    pairs->labelled = measuring.options.labels != NULL;
    status = pairs->labelled ? nigh__pairs_label(&measuring, error) : nigh__pairs_join(&measuring, error);
    if (status == NIGH_OK) status = nigh__pairs_count(&measuring, error);
    if (status != NIGH_OK) {
        nigh_eval_pairs_free(pairs);
        return status;
    }
    sum_up(pairs->pairs, pairs->width_bits);
    sum_up(pairs->alike, pairs->width_bits);
    *out = pairs;
    return NIGH_OK;
}

/* -------------------------------------------------------------- reading -- */

void nigh_eval_pairs_describe(const nigh_eval_pairs *pairs, nigh_eval_length_class length, nigh_eval_pairs_info *out) {
    nigh_eval_pairs_info info = {.size = sizeof info};
    info.documents = pairs->documents;
    info.width_bits = pairs->width_bits;
    info.labels_missing = pairs->labels_missing;
    if ((unsigned)length < NIGH__LENGTHS) {
        info.pairs = nigh__histogram(pairs->pairs, pairs->width_bits, length)[pairs->width_bits];
        info.alike = nigh__histogram(pairs->alike, pairs->width_bits, length)[pairs->width_bits];
    }
    nigh__info_copy(out, &info, sizeof info);
}

static nigh_eval_pairs_row row_of(const nigh_eval_pairs *pairs, uint32_t length, uint32_t distance) {
    const uint64_t *within = nigh__histogram(pairs->pairs, pairs->width_bits, length);
    const uint64_t *alike = nigh__histogram(pairs->alike, pairs->width_bits, length);
    const struct nigh__mean *mean = &pairs->cosine[distance];
    const bool known = length == NIGH_EVAL_LENGTH_ALL && mean->count > 0;
    const struct nigh__quality quality = nigh__quality(within[distance], alike[distance], alike[pairs->width_bits]);
    nigh_eval_pairs_row row = {.size = sizeof row};
    row.distance = distance;
    row.pairs_within = within[distance];
    row.alike_within = alike[distance];
    row.pairs = within[distance] - (distance == 0 ? 0 : within[distance - 1]);
    row.alike = alike[distance] - (distance == 0 ? 0 : alike[distance - 1]);
    row.precision = quality.precision;
    row.recall = quality.recall;
    row.f1 = quality.f1;
    row.cosine = known ? mean->mean : -1;
    row.cosine_error = known ? nigh__mean_error(mean, row.pairs) : 0;
    return row;
}

nigh_status nigh_eval_pairs_at(const nigh_eval_pairs *pairs, nigh_eval_length_class length, uint32_t distance,
                               nigh_eval_pairs_row *out) {
    if ((unsigned)length >= NIGH__LENGTHS || distance > pairs->width_bits) return NIGH_END;
    const nigh_eval_pairs_row row = row_of(pairs, length, distance);
    nigh__info_copy(out, &row, sizeof row);
    return NIGH_OK;
}

nigh_status nigh_eval_pairs_best(const nigh_eval_pairs *pairs, nigh_eval_length_class length,
                                 nigh_eval_pairs_row *out) {
    nigh_eval_pairs_row best = {.f1 = -1};
    if ((unsigned)length >= NIGH__LENGTHS) return NIGH_END;
    if (nigh__histogram(pairs->alike, pairs->width_bits, length)[pairs->width_bits] == 0) return NIGH_END;
    for (uint32_t d = 0; d <= pairs->width_bits; d++) {
        const nigh_eval_pairs_row row = row_of(pairs, length, d);
        if (row.f1 > best.f1) best = row;
    }
    nigh__info_copy(out, &best, sizeof best);
    return NIGH_OK;
}
