/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing what a reader reads, by several threads, in order.  The product of a
 * document is its id and a row for it, or for each of its passages:
 *
 *     struct head | id | values | row | row | ...
 *     row: struct row | signature | weights, where kept | mark | snippet | keys | text
 *
 * packed, at any alignment: the structs are copied out, the rest is read in
 * place.  The mark is what a passage has behind its document's id, "#BEGIN-END";
 * the two are put together when the row goes out, for an id of 64 KB in each of
 * a hundred thousand rows would be more than memory holds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/value.h"
#include "document/pipeline.h"
#include "signature/band_keys.h"
#include "signature/signature_options.h"
#include "signature/signer.h"
#include "signature/snippet.h"
#include "text/passage.h"

struct head {
    uint64_t empty; /* passages without a feature */
    size_t id_length;
    size_t values_length; /* packed: of every row (base/value.h) */
};

/* Where the rows begin. */
static size_t rows_at(const struct head *head) { return sizeof *head + head->id_length + head->values_length; }

struct row {
    uint64_t text_offset, text_length;
    uint32_t mark_length, snippet_length;
    uint32_t key_count;
    uint32_t kept_length; /* of the text; 0 where it is not kept */
    uint64_t unknown;     /* not zero: no feature of it is in the vocabulary */
};

#define MARK_SIZE 48 /* two numbers of 64 bits, and what is around them */

struct nigh_signing {
    nigh_document document; /* the one given out */
    uint32_t keys[NIGH__MAX_BANDS];
    nigh_value values[NIGH_MAX_KEEP_KEYS]; /* of the document at hand */
    uint32_t value_count;
    bool splits; /* documents into passages */
    const nigh_context *context;
    const struct nigh__signer_plan *plan;
    nigh_signing_options options;
    struct nigh__pipeline *pipeline;
    struct nigh__product product; /* of the document at hand */
    struct head head;
    size_t next_row; /* offset in it */
    char *id;        /* room for one with its mark; NULL where there are no passages */
    uint64_t documents;
    uint64_t rows;
    uint64_t empty; /* passages, of documents that have others */
};

/* -------------------------------------------------------------- working -- */

struct worker {
    const struct nigh_signing *signing;
    struct nigh__signer_worker *signer;
    struct nigh__array passages; /* of struct nigh__passage */
    bool empty;                  /* what was signed had no feature, and is kept all the same */
};

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    const struct nigh_signing *signing = user;
    struct worker *worker = nigh__alloc_zero(signing->context, 1, sizeof *worker);
    *out = worker;
    if (worker == NULL) return nigh__no_memory(error, "to sign");
    worker->signing = signing;
    worker->passages = (struct nigh__array)NIGH__ARRAY(struct nigh__passage);
    return nigh__signer_worker_new(signing->plan, &worker->signer, error);
}

static void worker_free(void *user, void *given) {
    const struct nigh_signing *signing = user;
    struct worker *worker = given;
    if (worker == NULL) return;
    nigh__signer_worker_free(worker->signer);
    nigh__array_release(signing->context, &worker->passages);
    nigh__free(signing->context, worker);
}

/* "#BEGIN-END", which goes behind the id of a passage; "" where the document is in one piece. */
static size_t passage_mark(const struct nigh__passage *passage, size_t whole, char *mark, size_t capacity) {
    if (passage->length == whole) return 0;
    int length = snprintf(mark, capacity, "#%zu-%zu", passage->begin, passage->begin + passage->length);
    return (size_t)length;
}

/* Appends keys, where the signer has a threshold, and the text. */
static bool add_text(const struct worker *worker, const nigh_text *text, const struct nigh__passage *passage,
                     const uint32_t *keys, struct nigh__array *product, struct row *row) {
    const struct nigh__signer_plan *plan = worker->signing->plan;
    row->key_count = plan->bands;
    row->kept_length = (uint32_t)passage->length;
    return nigh__bytes_append(plan->context, product, keys, plan->bands * sizeof keys[0]) &&
           nigh__bytes_append(plan->context, product, text->text + passage->begin, passage->length);
}

/* The bits of what was signed, and how sure they are; of near-copies the bits, and the keys that are kept. */
static void put_bits(const struct worker *worker, const nigh_text *text, const struct nigh__passage *passage,
                     uint8_t *signature, uint8_t *weights, uint32_t *keys) {
    const struct nigh__signer_plan *plan = worker->signing->plan;
    if (worker->signing->options.keep_texts && plan->bands > 0) {
        uint8_t whole[NIGH__MAX_BANDS * sizeof(uint64_t)];
        nigh__bands_sign(worker->empty ? NULL : nigh__signer_worker_projector(worker->signer),
                         text->text + passage->begin, passage->length, plan->bands, plan->band_rows, signature, whole);
        nigh__bands_keep(whole, plan->bands, keys);
        return;
    }
    nigh__signer_worker_bits(worker->signer, signature);
    if (weights != NULL) nigh__signer_worker_weights(worker->signer, weights);
}

/* Appends the row of a passage that has been signed. */
static nigh_status add_row(struct worker *worker, const nigh_text *text, const struct nigh__passage *passage,
                           struct nigh__array *product, nigh_error *error) {
    const struct nigh_signing *signing = worker->signing;
    const size_t signature = nigh__row_bytes(signing->plan->width_bits);
    const size_t weights = signing->options.keep_weights ? signing->plan->width_bits : 0;
    const size_t snippet = nigh__smaller(signing->options.snippet, passage->length);
    char mark[MARK_SIZE];
    uint32_t keys[NIGH__MAX_BANDS];
    struct row row = {.text_offset = passage->begin,
                      .text_length = passage->length,
                      .unknown = nigh__signer_worker_unknown(worker->signer)};
    row.mark_length = (uint32_t)passage_mark(passage, text->text_length, mark, sizeof mark);
    uint8_t *place =
        nigh__array_add(signing->context, product, sizeof row + signature + weights + row.mark_length + snippet);
    if (place == NULL) return nigh__no_memory(error, "to sign");

    const size_t begin = (size_t)(place - (uint8_t *)product->data);
    uint8_t *at = place + sizeof row;
    put_bits(worker, text, passage, at, weights > 0 ? at + signature : NULL, keys);
    at += signature + weights;
    memcpy(at, mark, row.mark_length);
    at += row.mark_length;
    if (snippet > 0)
        row.snippet_length =
            (uint32_t)nigh__snippet_make(text->text + passage->begin, passage->length, (char *)at, snippet);
    product->count -= snippet - row.snippet_length; /* it may have come out shorter */
    if (signing->options.keep_texts && !add_text(worker, text, passage, keys, product, &row))
        return nigh__no_memory(error, "to sign");
    memcpy((uint8_t *)product->data + begin, &row, sizeof row);
    return NIGH_OK;
}

/* Appends the head of a document; *head is written once more when its rows are known. */
static nigh_status add_head(struct worker *worker, const nigh_text *text, struct nigh__array *product,
                            struct head *head, nigh_error *error) {
    *head = (struct head){.id_length = nigh__smaller(text->id_length, NIGH_MAX_ID_LENGTH),
                          .values_length = nigh__values_size(text->values, text->value_count)};
    uint8_t *place =
        nigh__array_add(worker->signing->context, product, sizeof *head + head->id_length + head->values_length);
    if (place == NULL) return nigh__no_memory(error, "to sign");
    memcpy(place, head, sizeof *head);
    memcpy(place + sizeof *head, text->id, head->id_length);
    nigh__values_pack(text->values, text->value_count, place + sizeof *head + head->id_length);
    return NIGH_OK;
}

static nigh_status sign_passage(struct worker *worker, const nigh_text *text, const struct nigh__passage *passage,
                                struct nigh__array *product, nigh_error *error) {
    nigh_status status = nigh__signer_worker_sign(worker->signer, text->text + passage->begin, passage->length, error);
    worker->empty = status == NIGH_ENOTFOUND && worker->signing->options.keep_texts && worker->signing->plan->bands > 0;
    return status == NIGH_OK || worker->empty ? add_row(worker, text, passage, product, error) : status;
}

/* A row for each passage that has a feature. */
static nigh_status sign_passages(struct worker *worker, const nigh_text *text, struct nigh__array *product,
                                 struct head *head, nigh_error *error) {
    const struct nigh__signer_plan *plan = worker->signing->plan;
    worker->passages.count = 0;
    nigh_status status = nigh__passages_find(plan->context, text->text, text->text_length, plan->split, plan->min_terms,
                                             plan->max_terms, &worker->passages, error);
    const struct nigh__passage *passages = worker->passages.data;
    for (size_t i = 0; status == NIGH_OK && i < worker->passages.count; i++) {
        status = sign_passage(worker, text, &passages[i], product, error);
        if (status != NIGH_ENOTFOUND) continue;
        head->empty++;
        status = NIGH_OK;
    }
    return status;
}

static nigh_status work(void *given, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct worker *worker = given;
    const struct nigh__passage whole = {.begin = 0, .length = text->text_length};
    const size_t begin = product->count;
    struct head head;
    nigh_status status = add_head(worker, text, product, &head, error);
    if (status != NIGH_OK) return status;
    if (!worker->signing->splits) return sign_passage(worker, text, &whole, product, error);
    status = sign_passages(worker, text, product, &head, error);
    if (status != NIGH_OK) return status;
    memcpy((uint8_t *)product->data + begin, &head, sizeof head);
    return product->count > begin + rows_at(&head) ? NIGH_OK : NIGH_ENOTFOUND;
}

/* ------------------------------------------------------------ consuming -- */

nigh_status nigh_signing_open(nigh_signer *signer, nigh_text_reader *reader, const nigh_signing_options *options,
                              nigh_signing **out, nigh_error *error) {
    *out = NULL;
    nigh_signing_options known;
    nigh_status status = nigh__options_copy(&nigh__signing_options_shape, &known, options, error);
    if (status != NIGH_OK) return status;
    if (known.keep_texts && known.keep_weights && nigh__signer_plan(signer)->bands > 0)
        return nigh__fail(error, NIGH_EINVAL, "near-copies have no weights");
    if (known.snippet > NIGH_MAX_METADATA_LENGTH)
        return nigh__fail(error, NIGH_EINVAL, "a snippet of %u bytes; at most %u", known.snippet,
                          (unsigned)NIGH_MAX_METADATA_LENGTH);
    const struct nigh__signer_plan *plan = nigh__signer_plan(signer);
    nigh_signing *signing = nigh__alloc_zero(plan->context, 1, sizeof *signing);
    if (signing == NULL) return nigh__no_memory(error, "to sign");
    *signing = (nigh_signing){.context = plan->context, .plan = plan, .options = known};
    const struct nigh__pipeline_work signing_work = {signing, worker_new, worker_free, work, NULL};
    signing->splits = plan->split != NIGH_SPLIT_NONE && !known.whole;
    if (signing->splits) {
        signing->id = nigh__alloc(plan->context, (size_t)NIGH_MAX_ID_LENGTH, 1);
        if (signing->id == NULL) status = nigh__no_memory(error, "to sign");
    }
    if (status == NIGH_OK)
        status = nigh__pipeline_open(reader, &signing_work, known.threads, known.progress, &signing->pipeline, error);
    if (status != NIGH_OK) {
        nigh_signing_close(signing);
        return status;
    }
    *out = signing;
    return NIGH_OK;
}

/* The id of the document with the mark of a passage behind it, cut where both are too long together. */
static void show_id(nigh_signing *signing, const char *mark, size_t mark_length, nigh_document *out) {
    const char *id = (const char *)signing->product.bytes + sizeof signing->head;
    out->id = id;
    out->id_length = signing->head.id_length;
    if (mark_length == 0) return;
    const size_t kept = nigh__smaller(signing->head.id_length, NIGH_MAX_ID_LENGTH - mark_length);
    memcpy(signing->id, id, kept);
    memcpy(signing->id + kept, mark, mark_length);
    out->id = signing->id;
    out->id_length = kept + mark_length;
}

/* Keys are copied to where they are aligned. */
static const uint8_t *show_text(nigh_signing *signing, const struct row *row, const uint8_t *at,
                                nigh_document *document) {
    const size_t bytes = row->key_count * sizeof signing->keys[0];
    memcpy(signing->keys, at, bytes);
    document->key_count = row->key_count;
    document->keys = row->key_count == 0 ? NULL : signing->keys;
    document->text = (const char *)at + bytes;
    document->text_length = row->kept_length;
    return at + bytes + row->kept_length;
}

static void show_row(nigh_signing *signing, nigh_signed *out) {
    const uint8_t *at = signing->product.bytes + signing->next_row;
    const nigh_text *text = &signing->product.text;
    struct row row;
    memcpy(&row, at, sizeof row);
    nigh_document *document = &signing->document;
    *document = (nigh_document){.size = sizeof *document, .value_count = signing->value_count};
    if (signing->value_count > 0) document->values = signing->values;
    const nigh_signed shown = {.document = document,
                               .number = text->number,
                               .source = text->source,
                               .offset = text->offset,
                               .line = text->line,
                               .text_offset = row.text_offset,
                               .text_length = row.text_length,
                               .unknown = row.unknown != 0};
    at += sizeof row;
    document->signature = at;
    at += nigh__row_bytes(signing->plan->width_bits);
    if (signing->options.keep_weights) {
        document->weights = at;
        at += signing->plan->width_bits;
    }
    show_id(signing, (const char *)at, row.mark_length, document);
    at += row.mark_length;
    if (row.snippet_length > 0) document->metadata = at;
    document->metadata_length = row.snippet_length;
    at += row.snippet_length;
    if (signing->options.keep_texts) at = show_text(signing, &row, at, document);
    signing->next_row = (size_t)(at - signing->product.bytes);
    signing->rows++;
    nigh__info_copy(out, &shown, sizeof shown);
}

nigh_status nigh_signing_next(nigh_signing *signing, nigh_signed *out, nigh_error *error) {
    if (signing->options.limit_passages != 0 && signing->rows == signing->options.limit_passages) return NIGH_END;
    if (signing->next_row == signing->product.length) {
        if (signing->options.limit != 0 && signing->documents == signing->options.limit) return NIGH_END;
        nigh_status status = nigh__pipeline_next(signing->pipeline, &signing->product, error);
        signing->next_row = 0;
        if (status != NIGH_OK) {
            signing->product.length = 0;
            return status;
        }
        signing->documents++;
        memcpy(&signing->head, signing->product.bytes, sizeof signing->head);
        signing->next_row = rows_at(&signing->head);
        (void)nigh__values_unpack(signing->product.bytes + sizeof signing->head + signing->head.id_length,
                                  signing->head.values_length, signing->values, &signing->value_count);
        signing->empty += signing->head.empty;
    }
    show_row(signing, out);
    return NIGH_OK;
}

void nigh_signing_describe(const nigh_signing *signing, nigh_signing_info *out) {
    nigh_signing_info info = {.size = sizeof info};
    info.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    nigh__pipeline_describe(signing->pipeline, &info.reader, &info.empty);
    info.empty += signing->empty;
    info.signed_rows = signing->rows;
    nigh__info_copy(out, &info, sizeof info);
}

void nigh_signing_close(nigh_signing *signing) {
    if (signing == NULL) return;
    nigh__pipeline_close(signing->pipeline);
    nigh__free(signing->context, signing->id);
    nigh__free(signing->context, signing);
}
