/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures by a model, as users get them, and the ranking of all answers for each
 * query by distance.
 *
 * Average precision needs no sorting: of each distance it is counted how many answers,
 * and how many relevant ones, have it, and those of one distance count as if their order
 * were drawn (metric.h).  A document without a known feature has no
 * signature: it is found by nobody, and asking it finds nothing.
 */

#include "base/assert.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/status.h"
#include "eval/learned.h"
#include "eval/metric.h"
#include "kernel/hamming.h"
#include "signature/model.h"

#define ROWS_AT_ONCE 64u
#define TIMED 512u /* documents that one thread signs alone, for the rate: */
#define ROUNDS 3u  /* the best of so many, for others may want the processor */

struct signatures {
    struct nigh__signed_rows made;
    const struct nigh__trial *trial;
    const nigh_model *model;
    uint32_t *missing_answers;
    uint32_t missing_count;

    struct signer *signers; /* of each thread */
    uint32_t most_features; /* of a document */
    uint32_t begin;         /* sign from here */
    struct nigh__parallel parallel;
};

struct signer {
    struct nigh__model_projector *projector;
    uint64_t *hashes;
    uint32_t *counts, *numbers;
};

/* ----------------------------------------------------------------- signing -- */

static uint32_t document_of(const struct nigh__trial *trial, uint32_t row) {
    return row < trial->answers ? trial->answer_documents[row] : trial->query_documents[row - trial->answers];
}

static struct nigh__features gather_features(const struct nigh__labelled *labelled, uint32_t document,
                                             const struct signer *signer) {
    const uint64_t begin = labelled->begins[document];
    struct nigh__features features = {.hashes = signer->hashes,
                                      .counts = signer->counts,
                                      .numbers = signer->numbers,
                                      .count = (size_t)(labelled->begins[document + 1] - begin),
                                      .generation = 1};
    for (size_t i = 0; i < features.count; i++) {
        const struct nigh__count *count = &labelled->counts[begin + i];
        signer->hashes[i] = labelled->hashes[count->feature];
        signer->counts[i] = count->count;
        signer->numbers[i] = count->feature + 1;
        features.total += count->count;
    }
    return features;
}

static nigh_status sign_row(const struct signatures *signatures, const struct signer *signer, uint32_t row,
                            nigh_error *error) {
    const struct nigh__features features =
        gather_features(signatures->trial->labelled, document_of(signatures->trial, row), signer);
    const nigh_status status = nigh__model_project(signer->projector, &features, error);
    signatures->made.missing[row] = status == NIGH_ENOTFOUND;
    if (status == NIGH_OK)
        nigh__model_bits(signer->projector, (uint8_t *)(signatures->made.rows + row * signatures->made.words));
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

static nigh_status sign_some(void *user, const struct nigh__items *items) {
    struct signatures *signatures = user;
    const struct signer *signer = &signatures->signers[items->thread];
    nigh_status status = NIGH_OK;
    for (uint64_t i = items->first; i < items->end && status == NIGH_OK; i++)
        status = sign_row(signatures, signer, signatures->begin + (uint32_t)i, items->error);
    (void)nigh__parallel_did(&signatures->parallel, items->thread, items->end - items->first);
    return status;
}

/* The rows from `begin` up to `end`. */
static nigh_status sign_up_to(struct signatures *signatures, uint32_t threads, uint32_t begin, uint32_t end,
                              nigh_error *error) {
    NIGH__ASSERT(begin <= end && threads <= signatures->trial->threads);
    signatures->begin = begin;
    signatures->parallel = (struct nigh__parallel){.threads = threads, .progress = signatures->trial->progress};
    nigh__parallel_stage(&signatures->parallel, "signing", end);
    (void)nigh__parallel_did(&signatures->parallel, 0, begin);
    return nigh__parallel_run(&signatures->parallel, end - begin, ROWS_AT_ONCE, sign_some, signatures, error);
}

static nigh_status signers_new(struct signatures *signatures, nigh_error *error) {
    const struct nigh__trial *trial = signatures->trial;
    signatures->signers = nigh__alloc_zero(trial->context, trial->threads, sizeof *signatures->signers);
    if (signatures->signers == NULL) return nigh__no_memory(error, "for the signatures to measure");
    for (uint32_t t = 0; t < trial->threads; t++) {
        struct signer *signer = &signatures->signers[t];
        signer->hashes = nigh__alloc(trial->context, signatures->most_features, sizeof *signer->hashes);
        signer->counts = nigh__alloc(trial->context, signatures->most_features, sizeof *signer->counts);
        signer->numbers = nigh__alloc(trial->context, signatures->most_features, sizeof *signer->numbers);
        if (signer->hashes == NULL || signer->counts == NULL || signer->numbers == NULL)
            return nigh__no_memory(error, "for the signatures to measure");
        const nigh_status status =
            nigh__model_projector_new(trial->context, signatures->model, &signer->projector, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

static void signers_free(const struct signatures *signatures) {
    const struct nigh__trial *trial = signatures->trial;
    for (uint32_t t = 0; signatures->signers != NULL && t < trial->threads; t++) {
        const struct signer *signer = &signatures->signers[t];
        nigh__model_projector_free(signer->projector);
        nigh__free(trial->context, signer->hashes);
        nigh__free(trial->context, signer->counts);
        nigh__free(trial->context, signer->numbers);
    }
    nigh__free(trial->context, signatures->signers);
}

static nigh_status sign_all(struct signatures *signatures, struct nigh__outcome *out, nigh_error *error) {
    const struct nigh__trial *trial = signatures->trial;
    const uint32_t rows = trial->answers + trial->queries;
    const uint32_t alone = rows < TIMED ? rows : TIMED;
    nigh_status status = signers_new(signatures, error);
    for (uint32_t round = 0; status == NIGH_OK && round < ROUNDS; round++) {
        const double began = nigh__clock();
        status = sign_up_to(signatures, 1, 0, alone, error);
        const double seconds = nigh__clock() - began;
        if (seconds > 0 && alone / seconds > out->sign_rate) out->sign_rate = alone / seconds;
    }
    if (status == NIGH_OK) status = sign_up_to(signatures, trial->threads, alone, rows, error);
    signers_free(signatures);
    for (uint32_t a = 0; status == NIGH_OK && a < trial->answers; a++)
        if (signatures->made.missing[a]) signatures->missing_answers[signatures->missing_count++] = a;
    return status;
}

/* ----------------------------------------------------------------- ranking -- */

/* A thread's scratch: distances and marks of all answers, then counts by distance. */
struct rank_scratch {
    uint32_t *distances;
    uint32_t *all, *relevant; /* width_bits + 2 of each; the last is for those without a signature */
    uint8_t *marks;
};

static size_t scratch_bytes(const struct signatures *signatures) {
    const size_t counts = 2 * ((size_t)signatures->made.width_bits + 2);
    return ((size_t)signatures->trial->answers + counts) * sizeof(uint32_t) + signatures->trial->answers;
}

static struct rank_scratch scratch_of(const struct signatures *signatures, void *memory) {
    const size_t answers = signatures->trial->answers;
    uint32_t *numbers = memory;
    return (struct rank_scratch){.distances = numbers,
                                 .all = numbers + answers,
                                 .relevant = numbers + answers + signatures->made.width_bits + 2,
                                 .marks =
                                     (uint8_t *)(numbers + answers + 2 * ((size_t)signatures->made.width_bits + 2))};
}

static void count_distances(const struct signatures *signatures, const struct rank_scratch *scratch) {
    const uint32_t buckets = signatures->made.width_bits + 2;
    for (uint32_t i = 0; i < 2 * buckets; i++) scratch->all[i] = 0; /* and the relevant, which lie behind */
    for (uint32_t a = 0; a < signatures->trial->answers; a++) {
        scratch->all[scratch->distances[a]]++;
        scratch->relevant[scratch->distances[a]] += scratch->marks[a];
    }
}

/* What the counts tell without an order. */
static void score_counts(const struct signatures *signatures, const struct rank_scratch *scratch,
                         struct nigh__score *score) {
    const struct nigh__trial *trial = signatures->trial;
    uint64_t good = 0;
    for (uint32_t d = 0; d <= signatures->made.width_bits; d++) {
        score->intra += (uint64_t)d * scratch->relevant[d];
        score->inter += (uint64_t)d * (scratch->all[d] - scratch->relevant[d]);
        score->intra_pairs += scratch->relevant[d];
        score->inter_pairs += scratch->all[d] - scratch->relevant[d];
        if (d > trial->radius) continue;
        score->returned += scratch->all[d];
        good += scratch->relevant[d];
    }
    for (uint32_t i = 0; i < trial->unlabelled_count; i++) { /* of no class, they are of no two */
        const uint32_t distance = scratch->distances[trial->unlabelled[i]];
        if (distance > signatures->made.width_bits) continue;
        score->inter -= distance;
        score->inter_pairs--;
    }
    score->precision = score->returned == 0 ? 0 : (double)good / (double)score->returned;
}

/* Those of one distance tie; what has no signature is not ranked. */
static double score_order(const struct signatures *signatures, const struct rank_scratch *scratch, uint32_t relevant) {
    double sum = 0;
    uint64_t before = 0;
    uint64_t good_before = 0;
    for (uint32_t d = 0; d <= signatures->made.width_bits; d++) {
        sum += nigh__tied_precisions(before, good_before, scratch->all[d], scratch->relevant[d]);
        before += scratch->all[d];
        good_before += scratch->relevant[d];
    }
    return sum / relevant;
}

static nigh_status ask(const void *user, void *memory, uint32_t query, struct nigh__score *score, nigh_error *error) {
    const struct signatures *signatures = user;
    (void)error;
    const struct nigh__trial *trial = signatures->trial;
    const struct rank_scratch scratch = scratch_of(signatures, memory);
    const uint32_t row = trial->answers + query;
    if (signatures->made.missing[row]) return NIGH_OK;
    (void)trial->context->hamming->rows(signatures->made.rows + row * signatures->made.words, signatures->made.rows,
                                        trial->answers, signatures->made.words, scratch.distances);
    for (uint32_t i = 0; i < signatures->missing_count; i++)
        scratch.distances[signatures->missing_answers[i]] = signatures->made.width_bits + 1;
    const uint32_t relevant = nigh__trial_mark(trial, query, 1, scratch.marks);
    count_distances(signatures, &scratch);
    score_counts(signatures, &scratch, score);
    score->average_precision = score_order(signatures, &scratch, relevant);
    (void)nigh__trial_mark(trial, query, 0, scratch.marks);
    return NIGH_OK;
}

/* --------------------------------------------------------------------- all -- */

nigh_status nigh__trial_signatures(const struct nigh__trial *trial, const nigh_model *model, struct nigh__outcome *out,
                                   nigh_error *error) {
    const uint32_t rows = trial->answers + trial->queries;
    const uint32_t width_bits = nigh__model_width(model);
    struct signatures signatures = {
        .trial = trial,
        .model = model,
        .made = {.trial = trial, .width_bits = width_bits, .words = (width_bits + 63) / 64}};
    for (uint32_t row = 0; row < rows; row++) {
        const uint64_t *begins = &trial->labelled->begins[document_of(trial, row)];
        if (begins[1] - begins[0] > signatures.most_features)
            signatures.most_features = (uint32_t)(begins[1] - begins[0]);
    }
    signatures.made.rows = nigh__alloc_zero(trial->context, rows, signatures.made.words * sizeof *signatures.made.rows);
    signatures.made.missing = nigh__alloc_zero(trial->context, rows, 1);
    signatures.missing_answers = nigh__alloc(trial->context, trial->answers, sizeof(uint32_t));
    const bool room =
        signatures.made.rows != NULL && signatures.made.missing != NULL && signatures.missing_answers != NULL;
    nigh_status status =
        room ? sign_all(&signatures, out, error) : nigh__no_memory(error, "for the signatures to measure");
    const struct nigh__asking asking = {.trial = trial,
                                        .ask = ask,
                                        .user = &signatures,
                                        .scratch_bytes = scratch_bytes(&signatures),
                                        .stage = "ranking"};
    if (status == NIGH_OK && trial->lookup != NIGH_EVAL_LOOKUP_ONLY) status = nigh__trial_ask(&asking, out, error);
    if (status == NIGH_OK && trial->lookup != NIGH_EVAL_LOOKUP_OFF)
        status = nigh__trial_lookup(&signatures.made, out, error);
    nigh__free(trial->context, signatures.made.rows);
    nigh__free(trial->context, signatures.made.missing);
    nigh__free(trial->context, signatures.missing_answers);
    return status;
}
