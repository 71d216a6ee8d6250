/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication from end to end: options checked, the steps of deduplication.h that documents and signatures have in
 * common, those of signatures alone, and what is known.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/secret.h"
#include "base/status.h"
#include "base/threads.h"
#include "dedup/dedup_options.h"
#include "dedup/same.h"
#include "dedup/there.h"
#include "dedup/verify.h"

#define MIN_MEMORY (UINT64_C(1) << 20)
#define USUAL_BUDGET 2000u
#define USUAL_PAIRS 20u /* a document, where all are listed */
#define MIN_USUAL_PAIRS 2000000u

const struct nigh__dedup_narrow nigh__dedup_usual_narrow = {.numbers = NIGH__HALF_WORD_NUMBERS,
                                                            .keys = NIGH__BANDS_NARROW};

/* ---------------------------------------------------------------- options -- */

static nigh_status check_options(const nigh_dedup_options *options, nigh_error *error) {
    if ((unsigned)options->method > NIGH_DEDUP_SIMHASH)
        return nigh__fail(error, NIGH_EINVAL, "there is no method %d to find copies", (int)options->method);
    if ((unsigned)options->cluster > NIGH_CLUSTER_COMPLETE)
        return nigh__fail(error, NIGH_EINVAL, "there is no kind of clusters %d", (int)options->cluster);
    if ((unsigned)options->keep > NIGH_KEEP_SCORE)
        return nigh__fail(error, NIGH_EINVAL, "there is no rule %d for what to keep", (int)options->keep);
    if (!(options->threshold > 0 && options->threshold <= 1))
        return nigh__fail(error, NIGH_EINVAL, "a threshold of %g; it must be above 0 and at most 1",
                          options->threshold);
    if (options->against != NULL && (options->method != NIGH_DEDUP_MINHASH || options->cluster != NIGH_CLUSTER_KEPT ||
                                     options->keep != NIGH_KEEP_FIRST || options->all_pairs))
        return nigh__fail(
            error, NIGH_EINVAL,
            "documents are compared with a collection by minhash only, and only the first of near-copies can be kept");
    if (options->method == NIGH_DEDUP_EXACT && options->no_verify)
        return nigh__fail(error, NIGH_EINVAL, "the exact method cannot do without verifying");
    return NIGH_OK;
}

static nigh_status copy_strings(nigh_dedup *dedup, nigh_error *error) {
    nigh_dedup_options *options = &dedup->options;
    dedup->temporary = nigh__string_copy(dedup->context, options->temporary == NULL ? "/tmp" : options->temporary);
    if (options->score_key != NULL) dedup->score_key = nigh__string_copy(dedup->context, options->score_key);
    if (dedup->temporary == NULL || (options->score_key != NULL && dedup->score_key == NULL))
        return nigh__no_memory(error, "to deduplicate");
    options->temporary = dedup->temporary;
    options->score_key = dedup->score_key;
    return NIGH_OK;
}

nigh_status nigh__dedup_new(nigh_context *context, const nigh_dedup_options *options,
                            const struct nigh__dedup_narrow *narrow, nigh_dedup **out, nigh_error *error) {
    nigh_dedup_options known;
    nigh_status status = nigh__options_copy(&nigh__dedup_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_options(&known, error);
    if (status != NIGH_OK) return status;
    nigh_dedup *dedup = nigh__alloc_zero(context, 1, sizeof *dedup);
    if (dedup == NULL) return nigh__no_memory(error, "to deduplicate");
    *dedup = (nigh_dedup){.context = context,
                          .options = known,
                          .narrow = *narrow,
                          .documents = NIGH__ARRAY(struct nigh__duplicate),
                          .ids = NIGH__ARRAY(char),
                          .scores = NIGH__ARRAY(double),
                          .info = {.size = sizeof(nigh_dedup_info)}};
    dedup->info.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    if (known.memory_bytes == 0) dedup->options.memory_bytes = nigh__memory_usual();
    if (dedup->options.memory_bytes < MIN_MEMORY) dedup->options.memory_bytes = MIN_MEMORY;
    if (known.bucket_budget == 0) dedup->options.bucket_budget = USUAL_BUDGET;
    dedup->options.threads = nigh__threads_resolve(known.threads);
    *out = dedup;
    return copy_strings(dedup, error);
}

void nigh_dedup_free(nigh_dedup *dedup) {
    if (dedup == NULL) return;
    nigh_context *context = dedup->context;
    if (dedup->reading != NULL) dedup->reading->free(dedup);
    nigh__sorter_free(dedup->pairs);
    nigh__array_release(context, &dedup->documents);
    nigh__array_release(context, &dedup->ids);
    nigh__array_release(context, &dedup->scores);
    nigh__free(context, dedup->score_key);
    nigh__free(context, dedup->temporary);
    nigh__free(context, dedup);
}

/* ------------------------------------------------------------------- steps -- */

static nigh_status find_candidates(nigh_dedup *dedup, struct nigh__pass_plan *plan, struct nigh__gathered *gathered,
                                   struct nigh__candidates *candidates, nigh_error *error) {
    nigh_status status;
    if (dedup->reading == NULL || dedup->options.method == NIGH_DEDUP_SIMHASH)
        status = nigh__candidates_by_distance(candidates, gathered, dedup, plan->width_bits, plan->threads, error);
    else
        status = dedup->reading->find_candidates(candidates, gathered, dedup, plan, error);
    dedup->info.disk_bytes += nigh__bands_disk_bytes(&gathered->bands);
    nigh__bands_release(&gathered->bands);
    if (status == NIGH_OK) status = nigh__candidates_finish(candidates, error);
    dedup->info.disk_bytes += nigh__candidates_disk_bytes(candidates);
    return status;
}

static nigh_status verify_candidates(nigh_dedup *dedup, struct nigh__pass_plan *plan,
                                     const struct nigh__gathered *gathered, const struct nigh__order *order,
                                     struct nigh__there *there, struct nigh__candidates *candidates,
                                     nigh_error *error) {
    struct nigh__clusters clusters;
    nigh_status status = nigh__clusters_init(dedup->context, order->count, &clusters, error);
    if (status != NIGH_OK) return status;
    status = nigh__verify(dedup, plan, gathered, order, there, candidates, &clusters, error);
    nigh__clusters_release(&clusters);
    return status;
}

uint64_t nigh__dedup_pairs_limit(const nigh_dedup_options *options, uint64_t documents) {
    if (options->pairs_limit != 0) return options->pairs_limit;
    return documents < MIN_USUAL_PAIRS / USUAL_PAIRS ? MIN_USUAL_PAIRS : documents * USUAL_PAIRS;
}

/* What comes after gathering: the same for texts and signatures. */
nigh_status nigh__dedup_decide(nigh_dedup *dedup, struct nigh__pass_plan *plan, struct nigh__gathered *gathered,
                               nigh_error *error) {
    struct nigh__order order;
    struct nigh__candidates candidates = {.dedup = NULL};
    struct nigh__there there = {.collection = NULL};
    const double begin = nigh__clock();
    dedup->info.documents = dedup->documents.count;
    dedup->pair_words = dedup->documents.count <= dedup->narrow.numbers ? 1 : 2;
    dedup->options.pairs_limit = nigh__dedup_pairs_limit(&dedup->options, dedup->documents.count);
    dedup->verified = dedup->reading != NULL && !dedup->options.no_verify;
    nigh_status status = nigh__order_init(dedup, &order, error);
    if (status != NIGH_OK) return status;
    if (dedup->options.against != NULL && dedup->reading != NULL)
        status = dedup->reading->find_there(dedup, gathered, &order, plan->threads, &there, error);
    if (status == NIGH_OK) status = nigh__candidates_init(dedup, &order, &there, plan->threads, &candidates, error);
    if (status == NIGH_OK) status = find_candidates(dedup, plan, gathered, &candidates, error);
    dedup->info.seconds[1] = nigh__clock() - begin;
    if (status == NIGH_OK) status = verify_candidates(dedup, plan, gathered, &order, &there, &candidates, error);
    nigh__candidates_release(&candidates);
    nigh__there_release(dedup->context, &there);
    nigh__order_release(dedup->context, &order);
    return status;
}

/* -------------------------------------------------------------------- rows -- */

/* Room for so many rows; there are no signed ones yet. */
static nigh_status make_room_for_rows(nigh_dedup *dedup, size_t count, struct nigh__gathered *gathered,
                                      struct nigh__mark **marks, nigh_error *error) {
    const nigh_context *context = dedup->context;
    uint64_t *words = nigh__array_add(context, &gathered->rows, count * gathered->row_words);
    *marks = nigh__alloc(context, count, sizeof **marks);
    if (nigh__array_add(context, &dedup->documents, count) == NULL || words == NULL || *marks == NULL ||
        nigh__array_add(context, &gathered->signed_ones, count) == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %zu rows", count);
        return NIGH_ENOMEM;
    }
    memset(words, 0, count * gathered->row_words * sizeof *words);
    gathered->signed_ones.count = 0;
    return NIGH_OK;
}

/* The row becomes a document, of the set of the first that is equal. */
static void add_row(nigh_dedup *dedup, uint64_t row, uint64_t first, struct nigh__gathered *gathered) {
    *nigh__dedup_document(dedup, row) = (struct nigh__duplicate){
        .number = row, .copy_of = first, .next = NIGH__NO_DOCUMENT, .kept = row, .similarity = 1, .distance = NIGH_ALL};
    nigh__gather_join(dedup, row, first);
    if (first == row) ((uint64_t *)gathered->signed_ones.data)[gathered->signed_ones.count++] = row;
    dedup->info.copies += first != row;
}

/* A document for each row, and the first of those that are equal. */
static nigh_status list_rows(nigh_dedup *dedup, const uint8_t *rows, uint64_t count, size_t bytes,
                             struct nigh__gathered *gathered, nigh_error *error) {
    struct nigh__same same;
    struct nigh__mark *marks = NULL;
    const uint64_t secret = nigh__secret();
    nigh__same_init(dedup->context, &same);
    nigh_status status = make_room_for_rows(dedup, (size_t)count, gathered, &marks, error);
    for (uint64_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint8_t *row = rows + i * bytes;
        uint64_t first = i;
        memcpy((uint64_t *)gathered->rows.data + i * gathered->row_words, row, bytes);
        marks[i] = (struct nigh__mark){{nigh__hash_seeded(row, bytes, secret), nigh__hash_seeded(row, bytes, ~secret)}};
        status = nigh__same_find(&same, marks, i, &first, error);
        if (status == NIGH_OK) add_row(dedup, i, first, gathered);
    }
    nigh__free(dedup->context, marks);
    nigh__same_release(&same);
    return status;
}

static nigh_status run_rows(nigh_dedup *dedup, const uint8_t *rows, uint64_t count, uint32_t width_bits,
                            nigh_error *error) {
    struct nigh__pass_plan plan = {.width_bits = width_bits, .threads = dedup->options.threads};
    struct nigh__gathered gathered = {
        .rows = NIGH__ARRAY(uint64_t), .signed_ones = NIGH__ARRAY(uint64_t), .row_words = (width_bits + 63) / 64};
    const double begin = nigh__clock();
    nigh_status status = list_rows(dedup, rows, count, nigh__row_bytes(width_bits), &gathered, error);
    dedup->info.seconds[0] = nigh__clock() - begin;
    if (status == NIGH_OK) status = nigh__dedup_decide(dedup, &plan, &gathered, error);
    nigh__gathered_release(dedup->context, &gathered);
    return status;
}

/* Rows do not say how they were made; from 256 bits on they are likely to be MinHash bits. */
static uint32_t usual_distance(uint32_t width_bits) {
    return nigh_default_radius(width_bits < 256 ? NIGH_SCHEME_SIMHASH : NIGH_SCHEME_MINHASH, width_bits);
}

nigh_status nigh__dedup_rows(nigh_context *context, const uint8_t *rows, uint64_t count, uint32_t width_bits,
                             const nigh_dedup_options *options, const struct nigh__dedup_narrow *narrow,
                             nigh_dedup **out, nigh_error *error) {
    *out = NULL;
    nigh_dedup *dedup = NULL;
    nigh_status status = nigh__width_allowed(width_bits, error);
    if (status == NIGH_OK) status = nigh__numbers_check(count, "rows", error);
    if (status == NIGH_OK) status = nigh__padding_check(rows, count, width_bits, "row", error);
    if (status != NIGH_OK) return status;
    status = nigh__dedup_new(context, options, narrow, &dedup, error);
    if (status == NIGH_OK && dedup->options.against != NULL)
        status = nigh__fail(error, NIGH_EINVAL, "signatures have no texts to compare with a collection");
    if (status == NIGH_OK && dedup->options.keep != NIGH_KEEP_FIRST)
        status = nigh__fail(error, NIGH_EINVAL, "signatures have no length and no score: only the first can be kept");
    if (status == NIGH_OK) {
        dedup->options.signer = NULL;
        if (dedup->options.distance == NIGH__UNSET) dedup->options.distance = usual_distance(width_bits);
        status = run_rows(dedup, rows, count, width_bits, error);
    }
    if (status == NIGH_OK)
        *out = dedup;
    else
        nigh_dedup_free(dedup);
    return status;
}

nigh_status nigh_dedup_rows(nigh_context *context, const uint8_t *rows, uint64_t count, uint32_t width_bits,
                            const nigh_dedup_options *options, nigh_dedup **out, nigh_error *error) {
    return nigh__dedup_rows(context, rows, count, width_bits, options, &nigh__dedup_usual_narrow, out, error);
}

/* ------------------------------------------------------------------ telling -- */

void nigh_dedup_describe(const nigh_dedup *dedup, nigh_dedup_info *out) {
    nigh__info_copy(out, &dedup->info, sizeof dedup->info);
}

nigh_status nigh_dedup_at(const nigh_dedup *dedup, uint64_t document, nigh_dedup_document *out) {
    if (document >= dedup->documents.count) return NIGH_END;
    const struct nigh__duplicate *entry = nigh__dedup_document(dedup, document);
    nigh_dedup_document shown = {.id = dedup->reading == NULL ? NULL : (const char *)dedup->ids.data + entry->id,
                                 .id_length = entry->id_length,
                                 .number = entry->number,
                                 .cluster = entry->kept,
                                 .similarity = (double)entry->similarity,
                                 .text_length = entry->text_length,
                                 .keep = entry->kept == document,
                                 .copy = entry->copy_of != document,
                                 .there = NIGH_ALL_64,
                                 .distance = entry->distance};
    if ((entry->kept & NIGH__THERE) != 0) {
        shown.cluster = NIGH_ALL_64;
        shown.there = entry->kept & ~NIGH__THERE;
    }
    nigh__info_copy(out, &shown, sizeof shown);
    return NIGH_OK;
}
