/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near-copies by signatures within a radius, without a look at the texts.
 *
 * Recall is exact: every true pair's distance is computed.  Candidates are counted
 * by comparing all rows; where that would be more than MAX_COMPARED, only every
 * s-th row is held against all others, and the count and the time are scaled up and
 * said to be estimated.  64 bits within 3 and 6 go through nigh_join(), for that is
 * how one would do it, and its time is that of the method.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "eval/duplicates.h"
#include "join/join_options.h"
#include "kernel/hamming.h"
#include "signature/signature_options.h"
#include "text/text_options.h"

#define MAX_COMPARED (UINT64_C(1) << 31)
#define BLOCK 512u /* rows that stay in the cache */
#define MAX_BITS 256u
#define ROWS_AT_ONCE 16u

/* Signatures of one scheme. */
struct signatures {
    struct nigh__counting_context counting;
    uint32_t width_bits;
    uint32_t words;
    uint32_t count;
    struct nigh__array rows;      /* of uint64_t */
    uint32_t *row_of;             /* of each original; NIGH__NO_ORIGINAL: it has none */
    double seconds;               /* of reading and signing */
    uint64_t right[MAX_BITS + 1]; /* true pairs at each distance */
    uint64_t unsigned_pairs;      /* true pairs of which one has no signature */
    uint64_t all[MAX_BITS + 1];   /* pairs at each distance, maybe estimated */
    double scan_seconds;
    bool estimated;
};

/* ---------------------------------------------------------------- signing -- */

static bool add_row(const struct nigh__judging *judging, struct signatures *signatures, const nigh_signed *row) {
    const nigh_eval_duplicates *duplicates = judging->duplicates;
    const uint32_t original = nigh__original_find(duplicates, row->number);
    if (original == NIGH__NO_ORIGINAL || nigh__original(duplicates, original)->number != row->number) return true;
    uint64_t *place = nigh__array_add(signatures->counting.context, &signatures->rows, signatures->words);
    if (place == NULL) return false;
    memset(place, 0, signatures->words * sizeof *place);
    memcpy(place, row->document->signature, nigh__row_bytes(signatures->width_bits));
    signatures->row_of[original] = signatures->count++;
    return true;
}

static nigh_status read_rows(const struct nigh__judging *judging, struct signatures *signatures, nigh_signing *signing,
                             nigh_error *error) {
    for (;;) {
        nigh_signed row = {.size = sizeof row};
        const nigh_status status = nigh_signing_next(signing, &row, error);
        if (status != NIGH_OK) return status == NIGH_END ? NIGH_OK : status;
        if (!add_row(judging, signatures, &row)) return nigh__no_memory(error, "for signatures to be measured");
    }
}

static nigh_status sign_all(const struct nigh__judging *judging, const nigh_signer_options *options,
                            struct signatures *signatures, nigh_error *error) {
    nigh_context *context = signatures->counting.context;
    nigh_signing_options signing_options;
    nigh__options_defaults(&nigh__signing_options_shape, &signing_options);
    nigh_signer *signer = NULL;
    nigh_text_reader *reader = NULL;
    nigh_signing *signing = NULL;
    const double begin = nigh__clock();
    signing_options.threads = judging->threads;
    signing_options.limit = judging->options.limit;
    signing_options.progress = judging->options.progress;
    nigh_status status = nigh_signer_new(context, options, &signer, error);
    if (status == NIGH_OK) {
        signatures->width_bits = nigh_signer_width(signer);
        signatures->words = (signatures->width_bits + 63) / 64;
        status = nigh_text_reader_open(context, judging->paths, judging->path_count, &judging->again, &reader, error);
    }
    if (status == NIGH_OK) status = nigh_signing_open(signer, reader, &signing_options, &signing, error);
    if (status == NIGH_OK) status = read_rows(judging, signatures, signing, error);
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    signatures->seconds = nigh__clock() - begin;
    return status;
}

static const uint64_t *row_at(const struct signatures *signatures, uint32_t row) {
    return (const uint64_t *)signatures->rows.data + (size_t)row * signatures->words;
}

static void count_right(const nigh_eval_duplicates *duplicates, struct signatures *signatures) {
    const uint64_t *truth = duplicates->truth.data;
    for (size_t i = 0; i < duplicates->truth.count; i++) {
        const uint32_t a = signatures->row_of[truth[i] >> 32];
        const uint32_t b = signatures->row_of[(uint32_t)truth[i]];
        if (a == NIGH__NO_ORIGINAL || b == NIGH__NO_ORIGINAL)
            signatures->unsigned_pairs++;
        else
            signatures->right[duplicates->context->hamming->pair((const uint8_t *)row_at(signatures, a),
                                                                 (const uint8_t *)row_at(signatures, b),
                                                                 nigh__row_bytes(signatures->width_bits))]++;
    }
}

static nigh_status signatures_make(const struct nigh__judging *judging, const nigh_signer_options *options,
                                   struct signatures *signatures, nigh_error *error) {
    const nigh_eval_duplicates *duplicates = judging->duplicates;
    *signatures = (struct signatures){.rows = NIGH__ARRAY(uint64_t)};
    nigh_status status = nigh__counting_context_init(&signatures->counting, duplicates->context, error);
    if (status != NIGH_OK) return status;
    signatures->row_of = nigh__alloc(duplicates->context, duplicates->count, sizeof *signatures->row_of);
    if (signatures->row_of == NULL) return nigh__no_memory(error, "for signatures to be measured");
    for (uint32_t o = 0; o < duplicates->count; o++) signatures->row_of[o] = NIGH__NO_ORIGINAL;
    status = sign_all(judging, options, signatures, error);
    if (status == NIGH_OK) count_right(duplicates, signatures);
    return status;
}

static void signatures_release(const nigh_eval_duplicates *duplicates, struct signatures *signatures) {
    if (signatures->counting.context != NULL) nigh__array_release(signatures->counting.context, &signatures->rows);
    nigh__free(duplicates->context, signatures->row_of);
    nigh__counting_context_release(&signatures->counting);
}

/* --------------------------------------------------------------- counting -- */

struct scan {
    struct nigh__judging *judging;
    const struct signatures *signatures;
    uint32_t stride; /* every so many rows are held against the others; 1: each against those after it */
    uint64_t (*counts)[MAX_BITS + 1];
    struct nigh__parallel parallel;
};

static void count_row(const struct scan *scan, uint32_t row, uint64_t *counts) {
    const struct signatures *signatures = scan->signatures;
    const struct nigh__hamming *hamming = scan->judging->duplicates->context->hamming;
    uint32_t distances[BLOCK];
    for (uint32_t at = scan->stride == 1 ? row + 1 : 0; at < signatures->count; at += BLOCK) {
        const uint32_t count = signatures->count - at < BLOCK ? signatures->count - at : BLOCK;
        (void)hamming->rows(row_at(signatures, row), row_at(signatures, at), count, signatures->words, distances);
        for (uint32_t i = 0; i < count; i++) counts[distances[i]]++;
    }
    if (scan->stride > 1) counts[0]--; /* itself */
}

static uint32_t samples_of(const struct scan *scan) {
    return (scan->signatures->count + scan->stride - 1) / scan->stride;
}

static nigh_status count_some(void *user, const struct nigh__items *items) {
    struct scan *scan = user;
    for (uint64_t s = items->first; s < items->end; s++)
        count_row(scan, (uint32_t)s * scan->stride, scan->counts[items->thread]);
    (void)nigh__parallel_did(&scan->parallel, items->thread, items->end - items->first);
    return NIGH_OK;
}

static void sum_up(const struct scan *scan, struct signatures *signatures) {
    const uint32_t samples = samples_of(scan);
    const double scale = scan->stride == 1 ? 1 : (double)signatures->count / samples / 2;
    for (uint32_t d = 0; d <= MAX_BITS; d++) {
        uint64_t sum = 0;
        for (uint32_t t = 0; t < scan->judging->threads; t++) sum += scan->counts[t][d];
        signatures->all[d] = (uint64_t)((double)sum * scale + 0.5);
    }
    signatures->scan_seconds *= scale;
    signatures->estimated = scan->stride > 1;
}

/* Pairs at each distance. */
static nigh_status count_all(struct nigh__judging *judging, struct signatures *signatures, nigh_error *error) {
    const nigh_context *context = judging->duplicates->context;
    const uint64_t rows = signatures->count;
    struct scan scan = {.judging = judging,
                        .signatures = signatures,
                        .stride = 1,
                        .parallel = {.threads = judging->threads, .progress = &judging->progress}};
    const double begin = nigh__clock();
    if (rows * rows / 2 > MAX_COMPARED) scan.stride = (uint32_t)((rows * rows + MAX_COMPARED - 1) / MAX_COMPARED);
    scan.counts = nigh__alloc_zero(context, judging->threads, sizeof *scan.counts);
    if (scan.counts == NULL) return nigh__no_memory(error, "for signatures to be measured");
    nigh__parallel_stage(&scan.parallel, "comparing", samples_of(&scan));
    const nigh_status status =
        nigh__parallel_run(&scan.parallel, samples_of(&scan), ROWS_AT_ONCE, count_some, &scan, error);
    signatures->scan_seconds = nigh__clock() - begin;
    sum_up(&scan, signatures);
    nigh__free(context, scan.counts);
    return status;
}

/* ------------------------------------------------------------------- rows -- */

static uint64_t within(const uint64_t *counts, uint32_t radius) {
    uint64_t sum = 0;
    for (uint32_t d = 0; d <= radius && d <= MAX_BITS; d++) sum += counts[d];
    return sum;
}

/* The smallest radius that finds such a share of the true pairs; the width where none does. */
static uint32_t radius_for(const struct signatures *signatures, double recall) {
    const uint64_t wanted = within(signatures->right, MAX_BITS) + signatures->unsigned_pairs;
    uint32_t radius = 0;
    while (radius < signatures->width_bits && (double)within(signatures->right, radius) < recall * (double)wanted)
        radius++;
    return radius;
}

static nigh_eval_duplicates_row row_for(const struct signatures *signatures, const char *name, uint32_t radius) {
    nigh_eval_duplicates_row row = {.size = sizeof row};
    (void)snprintf(row.method, sizeof row.method, "%s", name);
    row.width_bits = signatures->width_bits;
    row.radius = radius;
    row.right = within(signatures->right, radius);
    row.sign_seconds = signatures->seconds;
    return row;
}

static nigh_status add_scanned(const struct nigh__judging *judging, const struct signatures *signatures,
                               const char *name, uint32_t radius, nigh_error *error) {
    nigh_eval_duplicates_row row = row_for(signatures, name, radius);
    row.found = within(signatures->all, radius);
    if (row.found < row.right) row.found = row.right; /* an estimate may be too low */
    row.candidates = row.found;
    row.estimated = signatures->estimated;
    row.find_seconds = signatures->scan_seconds;
    row.bytes = atomic_load(&signatures->counting.peak);
    return nigh__duplicates_add(judging->duplicates, row, error);
}

static int ignore_pair(void *user, const nigh_pair *pair) {
    (void)user;
    (void)pair;
    return 0;
}

static nigh_status add_joined(const struct nigh__judging *judging, const struct signatures *signatures,
                              const char *name, uint32_t radius, nigh_error *error) {
    nigh_eval_duplicates_row row = row_for(signatures, name, radius);
    nigh_join_options options;
    nigh__options_defaults(&nigh__join_options_shape, &options);
    nigh_join_result result = {.size = sizeof result};
    const double begin = nigh__clock();
    options.width_bits = signatures->width_bits;
    options.radius = radius;
    options.threads = judging->threads;
    options.temporary = judging->options.temporary;
    options.pair = ignore_pair;
    options.progress = judging->options.progress;
    const nigh_status status = nigh_join(signatures->counting.context, signatures->rows.data, signatures->count, NULL,
                                         0, &options, &result, error);
    if (status != NIGH_OK) return status;
    row.find_seconds = nigh__clock() - begin;
    row.found = row.candidates = result.pairs + result.copies_untold;
    row.truncated = result.truncated;
    row.bytes = atomic_load(&signatures->counting.peak);
    return nigh__duplicates_add(judging->duplicates, row, error);
}

/* ---------------------------------------------------------------- schemes -- */

static nigh_status simhash_narrow(struct nigh__judging *judging, const nigh_signer_options *options, const char *name,
                                  nigh_error *error) {
    static const uint32_t radii[] = {3, 6};
    struct signatures signatures;
    nigh_status status = signatures_make(judging, options, &signatures, error);
    for (size_t i = 0; status == NIGH_OK && i < 2; i++)
        status = add_joined(judging, &signatures, name, radii[i], error);
    signatures_release(judging->duplicates, &signatures);
    return status;
}

static nigh_status simhash_wide(struct nigh__judging *judging, const nigh_signer_options *options, const char *name,
                                nigh_error *error) {
    static const double recalls[] = {.95, .99};
    struct signatures signatures;
    nigh_status status = signatures_make(judging, options, &signatures, error);
    if (status == NIGH_OK) status = count_all(judging, &signatures, error);
    for (size_t i = 0; status == NIGH_OK && i < 2; i++)
        status = add_scanned(judging, &signatures, name, radius_for(&signatures, recalls[i]), error);
    signatures_release(judging->duplicates, &signatures);
    return status;
}

/* What is customary: every word as it stands, by how often it occurs. */
static nigh_status simhash_customary(struct nigh__judging *judging, nigh_error *error) {
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = 64;
    options.features = NIGH_FEATURES_WORDS;
    options.weights = NIGH_WEIGHTS_TF;
    options.language = "none";
    options.seed = judging->signer.seed;
    return simhash_narrow(judging, &options, "simhash of plain words", error);
}

static nigh_status simhashes(struct nigh__judging *judging, bool words, nigh_error *error) {
    nigh_signer_options options = judging->signer;
    const char *name = words ? "simhash of words" : "simhash of the features";
    nigh_status status = NIGH_OK;
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = 64;
    if (words) {
        options.features = NIGH_FEATURES_WORDS;
        options.feature_length = 0;
        options.stemming = options.stop_words = -1;
        status = simhash_narrow(judging, &options, name, error);
    }
    while (status == NIGH_OK && options.width_bits < MAX_BITS) {
        options.width_bits *= 2;
        status = simhash_wide(judging, &options, name, error);
    }
    return status;
}

static nigh_status minhash_bits(struct nigh__judging *judging, nigh_error *error) {
    static const uint32_t radii[] = {24, 30, 36, 42};
    nigh_signer_options options = judging->signer;
    struct signatures signatures;
    options.width_bits = 256;
    nigh_status status = signatures_make(judging, &options, &signatures, error);
    judging->minhash_seconds = signatures.seconds;
    if (status == NIGH_OK) status = count_all(judging, &signatures, error);
    for (size_t i = 0; status == NIGH_OK && i < sizeof radii / sizeof radii[0]; i++)
        status = add_scanned(judging, &signatures, "MinHash bits", radii[i], error);
    signatures_release(judging->duplicates, &signatures);
    return status;
}

nigh_status nigh__duplicates_radius(struct nigh__judging *judging, nigh_error *error) {
    nigh_status status = simhash_customary(judging, error);
    if (status == NIGH_OK) status = simhashes(judging, true, error);
    if (status == NIGH_OK) status = simhashes(judging, false, error);
    return status == NIGH_OK ? minhash_bits(judging, error) : status;
}
