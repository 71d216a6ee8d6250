/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading documents to be measured.  The product of a document, in the pipeline,
 * is packed at any alignment:
 *
 *     struct head | signature | weights of bits, where kept | id | hashes of its features | weights of them
 */
#include "eval/corpus.h"

#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "document/pipeline.h"
#include "document/split.h"
#include "eval/eval_options.h"
#include "kernel/hamming.h"
#include "scan/nearest.h"
#include "signature/signer.h"
#include "text/weight.h"

#define DEFAULT_MEMORY (UINT64_C(4) << 30)

struct head {
    uint64_t words; /* of the text, stop words included */
    uint64_t text;  /* hash of it */
    uint32_t id_length;
    uint32_t features;
};

/* -------------------------------------------------------------- working -- */

/* What the work is about. */
struct reading {
    const struct nigh__signer_plan *plan;
    size_t weight_bytes; /* for the bits of a document; 0: not kept */
};

struct worker {
    const struct nigh__signer_plan *plan;
    size_t weight_bytes;
    struct nigh__signer_worker *signer;
    struct nigh__featurer *featurer; /* the same features, counted */
    struct nigh__featurer *words;    /* for the length of a text, alike for all schemes */
    struct nigh__weigher *weigher;   /* NULL: every feature counts 1 */
};

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    const struct reading *reading = user;
    const struct nigh__signer_plan *plan = reading->plan;
    struct nigh__feature_plan counted = plan->features;
    const struct nigh__feature_plan plain = {.kind = NIGH_FEATURES_WORDS, .repeats = true};
    struct worker *worker = nigh__alloc_zero(plan->context, 1, sizeof *worker);
    *out = worker;
    if (worker == NULL) return nigh__no_memory(error, "for the documents");
    worker->plan = plan;
    worker->weight_bytes = reading->weight_bytes;
    counted.repeats = false;
    nigh_status status = nigh__signer_worker_new(plan, &worker->signer, error);
    if (status == NIGH_OK) status = nigh__featurer_new(plan->context, &counted, &worker->featurer, error);
    if (status == NIGH_OK) status = nigh__featurer_new(plan->context, &plain, &worker->words, error);
    if (status == NIGH_OK && plan->weights != NIGH_WEIGHTS_AUTO)
        status = nigh__weigher_new(plan->context, plan->weights, plan->vocabulary, &worker->weigher, error);
    return status;
}

static void worker_free(void *user, void *given) {
    const struct reading *reading = user;
    struct worker *worker = given;
    if (worker == NULL) return;
    nigh__signer_worker_free(worker->signer);
    nigh__featurer_free(worker->featurer);
    nigh__featurer_free(worker->words);
    nigh__weigher_free(worker->weigher);
    nigh__free(reading->plan->context, worker);
}

static nigh_status add_product(struct worker *worker, const nigh_text *text, struct head head,
                               const struct nigh__features *features, struct nigh__array *product, nigh_error *error) {
    const size_t signature = nigh__row_bytes(worker->plan->width_bits);
    const uint32_t *weights = NULL;
    if (worker->weigher != NULL) {
        nigh_status status = nigh__weigh(worker->weigher, features, &weights, error);
        if (status != NIGH_OK) return status;
    }
    const size_t hash_bytes = features->count * sizeof(uint64_t);
    const size_t weight_bytes = features->count * sizeof(uint32_t);
    uint8_t *at =
        nigh__array_add(worker->plan->context, product,
                        sizeof head + signature + worker->weight_bytes + text->id_length + hash_bytes + weight_bytes);
    if (at == NULL) return nigh__no_memory(error, "for the documents");
    memcpy(at, &head, sizeof head);
    nigh__signer_worker_bits(worker->signer, at + sizeof head);
    at += sizeof head + signature;
    if (worker->weight_bytes > 0) nigh__signer_worker_weights(worker->signer, at);
    at += worker->weight_bytes;
    memcpy(at, text->id, text->id_length);
    memcpy(at + text->id_length, features->hashes, hash_bytes);
    at += text->id_length + hash_bytes;
    for (size_t i = 0; i < features->count; i++) {
        const uint32_t weight = weights == NULL ? 1 : weights[i];
        memcpy(at + i * sizeof weight, &weight, sizeof weight);
    }
    return NIGH_OK;
}

static nigh_status work(void *given, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct worker *worker = given;
    struct nigh__features features;
    nigh_status status = nigh__signer_worker_sign(worker->signer, text->text, text->text_length, error);
    if (status != NIGH_OK) return status;
    status = nigh__featurer_find(worker->words, text->text, text->text_length, &features, error);
    if (status != NIGH_OK) return status;
    struct head head = {.words = features.total,
                        .text = nigh__hash(text->text, text->text_length),
                        .id_length = (uint32_t)text->id_length};
    status = nigh__featurer_find(worker->featurer, text->text, text->text_length, &features, error);
    if (status != NIGH_OK) return status;
    if (features.count >= UINT32_MAX) return nigh__fail(error, NIGH_ELIMIT, "a document of too many features");
    head.features = (uint32_t)features.count;
    return add_product(worker, text, head, &features, product, error);
}

/* ------------------------------------------------------------ gathering -- */

static nigh_eval_length_class length_class(uint64_t words) {
    return words < 32    ? NIGH_EVAL_LENGTH_BELOW_32
           : words < 128 ? NIGH_EVAL_LENGTH_BELOW_128
           : words < 512 ? NIGH_EVAL_LENGTH_BELOW_512
                         : NIGH_EVAL_LENGTH_512_UP;
}

/* Copies to the end of an array; false: out of memory. */
static bool append(const nigh_context *context, struct nigh__array *array, const uint8_t *bytes, size_t count) {
    void *place = nigh__array_add(context, array, count);
    if (place == NULL) return false;
    memcpy(place, bytes, count * array->item_size);
    return true;
}

static bool gather(nigh_eval_corpus *corpus, const struct nigh__product *product, size_t weight_bytes,
                   struct nigh__array *weights) {
    const nigh_context *context = corpus->context;
    const uint8_t *at = product->bytes;
    struct head head;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    struct nigh__entry *entry = nigh__array_add(context, &corpus->entries, 1);
    uint64_t *row = nigh__array_add(context, &corpus->rows, corpus->words);
    if (entry == NULL || row == NULL) return false;
    *entry = (struct nigh__entry){.number = product->text.number,
                                  .text = head.text,
                                  .id = corpus->ids.count,
                                  .id_length = head.id_length,
                                  .length = length_class(head.words),
                                  .terms = corpus->terms.count,
                                  .term_count = head.features};
    memset(row, 0, corpus->words * sizeof *row);
    memcpy(row, at, nigh__row_bytes(corpus->width_bits));
    at += nigh__row_bytes(corpus->width_bits);
    if (weight_bytes > 0 && !append(context, &corpus->weights, at, weight_bytes)) return false;
    at += weight_bytes;
    const uint8_t *hashes = at + head.id_length;
    return append(context, &corpus->ids, at, head.id_length) &&
           append(context, &corpus->terms, hashes, head.features) &&
           append(context, weights, hashes + (size_t)head.features * sizeof(uint64_t), head.features);
}

static uint64_t bytes_kept(const nigh_eval_corpus *corpus) {
    return corpus->entries.count * sizeof(struct nigh__entry) + corpus->rows.count * sizeof(uint64_t) +
           corpus->weights.count + corpus->ids.count + corpus->terms.count * sizeof(uint64_t);
}

static nigh_status gather_all(nigh_eval_corpus *corpus, struct nigh__pipeline *pipeline,
                              const nigh_eval_corpus_options *options, struct nigh__array *weights, nigh_error *error) {
    const uint64_t memory = options->memory_bytes == 0 ? DEFAULT_MEMORY : options->memory_bytes;
    struct nigh__progress progress;
    struct nigh__product product;
    nigh__progress_init(&progress, options->progress);
    corpus->info.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    while (options->limit == 0 || corpus->entries.count < options->limit) {
        nigh_status status = nigh__pipeline_next(pipeline, &product, error);
        if (status == NIGH_END) break;
        if (status != NIGH_OK) return status;
        if (!gather(corpus, &product, options->keep_weights ? corpus->width_bits : 0, weights))
            return nigh__no_memory(error, "for the documents");
        if (bytes_kept(corpus) > memory || corpus->entries.count > UINT32_MAX - 1)
            return nigh__fail(error, NIGH_ELIMIT, "%zu documents take more than %llu MiB to measure; take fewer",
                              corpus->entries.count, (unsigned long long)(memory >> 20));
        nigh__pipeline_describe(pipeline, &corpus->info.reader, &corpus->info.empty);
        if (nigh__reading_tick(&progress, "signing", &corpus->info.reader)) return nigh__progress_cancelled(error);
    }
    nigh__pipeline_describe(pipeline, &corpus->info.reader, &corpus->info.empty);
    corpus->info.signed_rows = corpus->entries.count;
    return NIGH_OK;
}

static nigh_status index_ids(nigh_eval_corpus *corpus, nigh_error *error) {
    const char *ids = corpus->ids.data;
    uint64_t *keys = nigh__array_add(corpus->context, &corpus->by_id, corpus->entries.count);
    if (keys == NULL) return nigh__no_memory(error, "for the documents");
    for (uint32_t d = 0; d < nigh__corpus_count(corpus); d++) {
        const struct nigh__entry *entry = nigh__corpus_entry(corpus, d);
        keys[d] = (nigh__hash(ids + entry->id, entry->id_length) & ~(uint64_t)UINT32_MAX) | d;
    }
    nigh__keys_sort(corpus->context, keys, corpus->by_id.count);
    return NIGH_OK;
}

bool nigh__corpus_find(const nigh_eval_corpus *corpus, const char *id, size_t length, uint32_t *document) {
    const uint64_t *keys = corpus->by_id.data;
    const uint64_t wanted = nigh__hash(id, length) & ~(uint64_t)UINT32_MAX;
    const size_t count = corpus->by_id.count;
    for (size_t i = nigh__words_find(keys, count, wanted); i < count && keys[i] - wanted <= UINT32_MAX; i++) {
        *document = nigh__key_number(keys[i]);
        const struct nigh__entry *entry = nigh__corpus_entry(corpus, *document);
        if (entry->id_length == length && memcmp((const char *)corpus->ids.data + entry->id, id, length) == 0)
            return true;
    }
    return false;
}

uint32_t nigh__corpus_distance(const nigh_eval_corpus *corpus, uint32_t a, uint32_t b) {
    return corpus->context->hamming->pair((const uint8_t *)nigh__corpus_row(corpus, a),
                                          (const uint8_t *)nigh__corpus_row(corpus, b),
                                          nigh__row_bytes(corpus->width_bits));
}

/* --------------------------------------------------------------- public -- */

static nigh_eval_corpus *corpus_new(const struct nigh__signer_plan *plan, const char *scheme) {
    nigh_eval_corpus *corpus = nigh__alloc_zero(plan->context, 1, sizeof *corpus);
    if (corpus == NULL) return NULL;
    *corpus = (nigh_eval_corpus){.context = plan->context,
                                 .width_bits = plan->width_bits,
                                 .words = (plan->width_bits + 63) / 64,
                                 .entries = NIGH__ARRAY(struct nigh__entry),
                                 .rows = NIGH__ARRAY(uint64_t),
                                 .weights = NIGH__ARRAY(uint8_t),
                                 .ids = NIGH__ARRAY(char),
                                 .terms = NIGH__ARRAY(uint64_t),
                                 .by_id = NIGH__ARRAY(uint64_t),
                                 .info = {.size = sizeof(nigh_signing_info)}};
    corpus->scheme = nigh__string_copy(plan->context, scheme);
    if (corpus->scheme != NULL) return corpus;
    nigh_eval_corpus_free(corpus);
    return NULL;
}

static nigh_status fill(nigh_eval_corpus *corpus, const struct nigh__signer_plan *plan, nigh_text_reader *reader,
                        const nigh_eval_corpus_options *options, nigh_error *error) {
    struct reading reading = {.plan = plan, .weight_bytes = options->keep_weights ? plan->width_bits : 0};
    const struct nigh__pipeline_work measuring = {&reading, worker_new, worker_free, work, NULL};
    struct nigh__pipeline *pipeline = NULL;
    struct nigh__array weights = NIGH__ARRAY(uint32_t);
    nigh_status status = nigh__pipeline_open(reader, &measuring, options->threads, options->progress, &pipeline, error);
    if (status == NIGH_OK) status = gather_all(corpus, pipeline, options, &weights, error);
    nigh__pipeline_close(pipeline);
    if (status == NIGH_OK) status = index_ids(corpus, error);
    if (status == NIGH_OK) status = nigh__vectors_build(corpus, &weights, error);
    nigh__array_release(corpus->context, &weights);
    return status;
}

nigh_status nigh_eval_corpus_new(nigh_signer *signer, nigh_text_reader *reader, const nigh_eval_corpus_options *options,
                                 nigh_eval_corpus **out, nigh_error *error) {
    *out = NULL;
    nigh_eval_corpus_options known;
    nigh_status status = nigh__options_copy(&nigh__eval_corpus_options_shape, &known, options, error);
    if (status != NIGH_OK) return status;
    const struct nigh__signer_plan *plan = nigh__signer_plan(signer);
    if (plan->split != NIGH_SPLIT_NONE)
        return nigh__fail(error, NIGH_EINVAL, "documents are measured as a whole; the signer splits them");
    nigh_eval_corpus *corpus = corpus_new(plan, nigh_signer_scheme(signer));
    if (corpus == NULL) return nigh__no_memory(error, "for the documents");
    status = fill(corpus, plan, reader, &known, error);
    if (status != NIGH_OK) {
        nigh_eval_corpus_free(corpus);
        return status;
    }
    *out = corpus;
    return NIGH_OK;
}

void nigh_eval_corpus_describe(const nigh_eval_corpus *evaluation, nigh_signing_info *out) {
    nigh__info_copy(out, &evaluation->info, sizeof evaluation->info);
}

void nigh_eval_corpus_free(nigh_eval_corpus *evaluation) {
    if (evaluation == NULL) return;
    const nigh_context *context = evaluation->context;
    nigh__free(context, evaluation->scheme);
    nigh__array_release(context, &evaluation->entries);
    nigh__array_release(context, &evaluation->rows);
    nigh__array_release(context, &evaluation->weights);
    nigh__array_release(context, &evaluation->ids);
    nigh__array_release(context, &evaluation->terms);
    nigh__array_release(context, &evaluation->by_id);
    nigh__dictionary_free(context, evaluation->dictionary);
    nigh__free(context, evaluation);
}
