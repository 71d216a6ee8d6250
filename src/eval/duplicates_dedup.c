/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nigh dedup itself finds, run as a user would run it: by its public functions, from
 * the files, with all pairs listed. Its pairs have the numbers of documents; they are
 * turned into numbers of originals, so that copies of one text count once.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/dedup_options.h"
#include "eval/duplicates.h"
#include "eval/fields.h"
#include "scan/nearest.h"

#define WIDE 0.5 /* the threshold of the second run over labels */

/* One run. */
struct run {
    struct nigh__judging *judging;
    uint32_t *originals;     /* of the documents of the run */
    struct nigh__array keys; /* of uint64_t: its pairs, sorted, each once */
    nigh_dedup_info info;
    double seconds;
    uint64_t bytes;
};

/* -------------------------------------------------------------------- runs -- */

static int take_pair(void *user, const nigh_dedup_pair *pair) {
    struct run *run = user;
    const uint32_t a = run->originals[pair->first];
    const uint32_t b = run->originals[pair->second];
    if (a == b || a == NIGH__NO_ORIGINAL || b == NIGH__NO_ORIGINAL) return 0;
    uint64_t *key = nigh__array_add(run->judging->duplicates->context, &run->keys, 1);
    if (key == NULL) return 1;
    *key = nigh__pair_key(a, b);
    return 0;
}

static void sort_keys(struct run *run) {
    uint64_t *keys = run->keys.data;
    size_t kept = 0;
    nigh__keys_sort(run->judging->duplicates->context, keys, run->keys.count);
    for (size_t i = 0; i < run->keys.count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
    run->keys.count = kept;
}

static nigh_status take_pairs(struct run *run, nigh_dedup *dedup, nigh_error *error) {
    const nigh_eval_duplicates *duplicates = run->judging->duplicates;
    nigh_dedup_document document = {.size = sizeof document};
    run->originals = nigh__alloc(duplicates->context, run->info.documents, sizeof *run->originals);
    if (run->originals == NULL) return nigh__no_memory(error, "for the pairs of a deduplication");
    for (uint64_t d = 0; nigh_dedup_at(dedup, d, &document) == NIGH_OK; d++)
        run->originals[d] = nigh__original_find(duplicates, document.number);
    nigh_status status = nigh_dedup_pairs(dedup, take_pair, run, NULL, error);
    if (status == NIGH_ECANCELLED)
        status = nigh__no_memory(error, "for the pairs of a deduplication"); /* nothing else ends it */
    if (status == NIGH_OK) sort_keys(run);
    return status;
}

/* Whatever is returned, to be released. */
static nigh_status run_dedup(struct run *run, const nigh_dedup_options *options, nigh_error *error) {
    const struct nigh__judging *judging = run->judging;
    struct nigh__counting_context counting;
    nigh_dedup *dedup = NULL;
    nigh_status status = nigh__counting_context_init(&counting, judging->duplicates->context, error);
    if (status != NIGH_OK) return status;
    const double begin = nigh__clock();
    status =
        nigh_dedup_run(counting.context, judging->paths, judging->path_count, &judging->again, options, &dedup, error);
    run->seconds = nigh__clock() - begin;
    run->bytes = atomic_load(&counting.peak);
    run->info = (nigh_dedup_info){.size = sizeof(nigh_dedup_info)};
    if (status == NIGH_OK) {
        nigh_dedup_describe(dedup, &run->info);
        status = take_pairs(run, dedup, error);
    }
    nigh_dedup_free(dedup);
    nigh__counting_context_release(&counting);
    return status;
}

static void run_release(struct run *run) {
    nigh__free(run->judging->duplicates->context, run->originals);
    nigh__array_release(run->judging->duplicates->context, &run->keys);
}

static bool has_key(const struct nigh__array *keys, uint64_t key) {
    const uint64_t *sorted = keys->data;
    const size_t place = nigh__words_find(sorted, keys->count, key);
    return place < keys->count && sorted[place] == key;
}

static nigh_status add_run(const struct run *run, const char *name, nigh_error *error) {
    nigh_eval_duplicates *duplicates = run->judging->duplicates;
    nigh_eval_duplicates_row row = {.size = sizeof row};
    (void)snprintf(row.method, sizeof row.method, "%s", name);
    row.radius = NIGH_ALL;
    row.candidates = run->info.candidates;
    row.found = run->keys.count;
    for (size_t i = 0; i < run->keys.count; i++)
        row.right += has_key(&duplicates->truth, ((const uint64_t *)run->keys.data)[i]);
    if (row.candidates < row.found) row.candidates = row.found;
    row.sign_seconds = run->info.seconds[0];
    row.find_seconds = run->seconds - run->info.seconds[0];
    row.bytes = run->bytes;
    row.truncated = run->info.truncated;
    return nigh__duplicates_add(duplicates, row, error);
}

/* ------------------------------------------------------------------ labels -- */

static const double edges[NIGH__LABEL_BANDS + 1] = {.5, .6, .7, .8, .85, .9, .95, 1};

static nigh_status read_label(struct nigh__judging *judging, const struct nigh__fields *fields, nigh_error *error) {
    nigh_eval_duplicates *duplicates = judging->duplicates;
    double value = 0;
    uint32_t a = 0;
    uint32_t b = 0;
    if (fields->count != 3) return nigh__fields_fail(fields, error, "not ID, ID and VALUE with tabs between");
    if (!nigh__field_decimal(&fields->at[2], &value))
        return nigh__fields_fail(fields, error, "the value is not a number");
    if (!nigh__corpus_find(duplicates->corpus, fields->at[0].text, fields->at[0].length, &a) ||
        !nigh__corpus_find(duplicates->corpus, fields->at[1].text, fields->at[1].length, &b)) {
        duplicates->info.labels_missing++;
        return NIGH_OK;
    }
    struct nigh__label *label = nigh__array_add(duplicates->context, &duplicates->labels, 1);
    if (label == NULL) return nigh__no_memory(error, "for the pairs of a deduplication");
    a = duplicates->originals[a];
    b = duplicates->originals[b];
    *label = (struct nigh__label){nigh__pair_key(a, b), value, nigh__original_jaccard(duplicates, a, b)};
    return NIGH_OK;
}

static nigh_status read_labels(struct nigh__judging *judging, nigh_error *error) {
    struct nigh__fields fields;
    nigh_status status = nigh__fields_open(judging->duplicates->context, judging->options.labels, "\t", &fields, error);
    while (status == NIGH_OK && (status = nigh__fields_next(&fields, error)) == NIGH_OK)
        status = read_label(judging, &fields, error);
    nigh__fields_close(&fields);
    return status == NIGH_END ? NIGH_OK : status;
}

/* Counts the labelled pairs that a run found. */
static void count_labels(const struct run *run, double threshold, bool wide) {
    nigh_eval_duplicates *duplicates = run->judging->duplicates;
    const struct nigh__label *labels = duplicates->labels.data;
    for (size_t i = 0; i < duplicates->labels.count; i++) {
        uint32_t band = NIGH__LABEL_BANDS;
        while (band > 0 && labels[i].value < edges[band - 1]) band--;
        if (band == 0) continue;
        nigh_eval_duplicates_band *out = &duplicates->bands[band - 1];
        const bool copy = labels[i].key >> 32 == (uint32_t)labels[i].key;
        const bool alike = labels[i].jaccard >= threshold;
        const bool found = copy || has_key(&run->keys, labels[i].key);
        out->pairs += !wide;
        *(wide ? &out->alike_wide : &out->alike) += alike;
        *(wide ? &out->found_wide : &out->found) += alike && found;
    }
}

static void begin_bands(nigh_eval_duplicates *duplicates) {
    duplicates->band_count = NIGH__LABEL_BANDS;
    for (uint32_t i = 0; i < NIGH__LABEL_BANDS; i++) {
        duplicates->bands[i] = (nigh_eval_duplicates_band){.size = sizeof(nigh_eval_duplicates_band)};
        duplicates->bands[i].low = edges[i];
        duplicates->bands[i].high = edges[i + 1];
    }
}

static nigh_status run_wide(struct nigh__judging *judging, nigh_dedup_options options, nigh_error *error) {
    struct run run = {.judging = judging, .keys = NIGH__ARRAY(uint64_t)};
    options.threshold = WIDE;
    const nigh_status status = run_dedup(&run, &options, error);
    if (status == NIGH_OK) count_labels(&run, WIDE, true);
    run_release(&run);
    return status;
}

/* --------------------------------------------------------------------- all -- */

static nigh_status run_method(struct nigh__judging *judging, const nigh_dedup_options *options, const char *name,
                              bool labels, nigh_error *error) {
    struct run run = {.judging = judging, .keys = NIGH__ARRAY(uint64_t)};
    nigh_status status = run_dedup(&run, options, error);
    if (status == NIGH_OK) status = add_run(&run, name, error);
    if (status == NIGH_OK && labels) count_labels(&run, options->threshold, false);
    run_release(&run);
    return status;
}

nigh_status nigh__duplicates_dedup(struct nigh__judging *judging, nigh_error *error) {
    nigh_dedup_options options;
    nigh__options_defaults(&nigh__dedup_options_shape, &options);
    const bool labels = judging->options.labels != NULL;
    options.threshold = judging->options.threshold;
    options.signer = judging->options.features == NULL ? NULL : &judging->signer;
    options.all_pairs = 1;
    options.temporary = judging->options.temporary;
    options.limit = judging->options.limit;
    options.threads = judging->threads;
    options.progress = judging->options.progress;
    nigh_status status = NIGH_OK;
    if (labels) {
        begin_bands(judging->duplicates);
        status = read_labels(judging, error);
    }
    if (status == NIGH_OK) status = run_method(judging, &options, "nigh dedup", labels, error);
    if (status == NIGH_OK && labels) status = run_wide(judging, options, error);
    options.no_verify = 1;
    if (status == NIGH_OK) status = run_method(judging, &options, "nigh dedup --no-verify", false, error);
    options.no_verify = 0;
    options.method = NIGH_DEDUP_EXACT;
    return status == NIGH_OK ? run_method(judging, &options, "nigh dedup --method exact", false, error) : status;
}
