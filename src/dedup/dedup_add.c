/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the kept documents to a collection, with their bits, their keys and their texts, so that
 * later documents can be compared with them. This takes one more pass over the input. What a
 * thread makes of a document travels as
 *
 *     struct made | signature | keys of the bands, uint32_t each | id | snippet | text | values
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/value.h"
#include "dedup/dedup_options.h"
#include "dedup/pass.h"
#include "signature/band_keys.h"
#include "signature/snippet.h"

struct made {
    uint64_t text_hash;
    uint32_t id_length, snippet_length;
    uint64_t text_length;
    size_t values_length; /* packed (base/value.h) */
};

struct adding {
    nigh_dedup *dedup;
    nigh_writer *writer;
    nigh_dedup_add_options options;
    uint32_t keys[NIGH__MAX_BANDS];
    nigh_value values[NIGH_MAX_KEEP_KEYS];
    char id[NIGH_MAX_ID_LENGTH];
};

/* ----------------------------------------------------------------- working -- */

static nigh_status work(struct nigh__pass_worker *worker, const nigh_text *text, const struct nigh__features *features,
                        struct nigh__array *product, nigh_error *error) {
    const struct adding *adding = worker->step->user;
    const nigh_context *context = worker->context;
    uint8_t row[NIGH__BAND_BITS / 8];
    uint8_t whole[NIGH__MAX_BANDS * sizeof(uint64_t)];
    uint32_t keys[NIGH__MAX_BANDS];
    struct made made = {.text_hash = nigh__hash(text->text, text->text_length),
                        .id_length = (uint32_t)nigh__smaller(text->id_length, NIGH_MAX_ID_LENGTH),
                        .text_length = text->text_length,
                        .values_length = nigh__values_size(text->values, text->value_count)};
    nigh_status status = nigh__pass_sign(worker, text, features, row, whole, error);
    if (status != NIGH_OK) return status;
    nigh__bands_keep(whole, worker->plan->bands, keys);
    const size_t most = nigh__smaller(adding->options.snippet, text->text_length);
    const size_t begin = product->count;
    bool good = nigh__bytes_append(context, product, &made, sizeof made) &&
                nigh__bytes_append(context, product, row, sizeof row) &&
                nigh__bytes_append(context, product, keys, worker->plan->bands * sizeof keys[0]) &&
                nigh__bytes_append(context, product, text->id, made.id_length);
    char *snippet = good && most > 0 ? nigh__array_add(context, product, most) : NULL;
    if (snippet != NULL) {
        made.snippet_length = (uint32_t)nigh__snippet_make(text->text, text->text_length, snippet, most);
        product->count -= most - made.snippet_length;
    }
    good = good && (most == 0 || snippet != NULL) &&
           nigh__bytes_append(context, product, text->text, text->text_length) &&
           nigh__values_append(context, product, text->values, text->value_count);
    if (!good) return nigh__no_memory(error, "to add documents");
    memcpy((uint8_t *)product->data + begin, &made, sizeof made);
    return NIGH_OK;
}

/* ------------------------------------------------------------------ taking -- */

size_t nigh__dedup_mark_id(const char *id, size_t id_length, uint64_t text_hash, char *out) {
    char mark[16];
    const int length = snprintf(mark, sizeof mark, "~%08" PRIx32, (uint32_t)(text_hash >> 32));
    const size_t kept = nigh__smaller(id_length, NIGH_MAX_ID_LENGTH - (size_t)length);
    memcpy(out, id, kept);
    memcpy(out + kept, mark, (size_t)length);
    return kept + (size_t)length;
}

static nigh_status add_renamed(struct adding *adding, nigh_document *document, uint64_t text_hash, nigh_error *error) {
    document->id_length = nigh__dedup_mark_id(document->id, document->id_length, text_hash, adding->id);
    document->id = adding->id;
    return nigh_writer_add(adding->writer, document, error);
}

static nigh_status take(void *user, uint64_t number, const nigh_text *text, const uint8_t *product, size_t length,
                        nigh_error *error) {
    struct adding *adding = user;
    const size_t key_bytes = adding->dedup->plan->bands * sizeof adding->keys[0];
    struct made made;
    nigh_document document = {.size = sizeof document, .key_count = adding->dedup->plan->bands, .keys = adding->keys};
    (void)text;
    (void)length;
    memcpy(&made, product, sizeof made);
    document.signature = product + sizeof made;
    memcpy(adding->keys, document.signature + NIGH__BAND_BITS / 8, key_bytes);
    document.id = (const char *)document.signature + NIGH__BAND_BITS / 8 + key_bytes;
    document.id_length = made.id_length;
    document.metadata = made.snippet_length == 0 ? NULL : document.id + made.id_length;
    document.metadata_length = made.snippet_length;
    document.text = document.id + made.id_length + made.snippet_length;
    document.text_length = (size_t)made.text_length;
    (void)nigh__values_unpack((const uint8_t *)document.text + document.text_length, made.values_length, adding->values,
                              &document.value_count);
    if (document.value_count > 0) document.values = adding->values;
    nigh_status status = nigh_writer_add(adding->writer, &document, error);
    const bool renamed = status == NIGH_EEXISTS;
    if (renamed) status = add_renamed(adding, &document, made.text_hash, error);
    if (status == NIGH_OK && adding->options.added != NULL) {
        const nigh_dedup_added added = {
            .number = number, .id = document.id, .id_length = document.id_length, .renamed = renamed};
        adding->options.added(adding->options.user, &added);
    }
    return status;
}

/* ------------------------------------------------------------------ adding -- */

nigh_status nigh_dedup_add(nigh_dedup *dedup, nigh_writer *writer, const nigh_dedup_add_options *options,
                           nigh_error *error) {
    if (dedup->plan == NULL || dedup->options.method != NIGH_DEDUP_MINHASH)
        return nigh__fail(error, NIGH_EINVAL, "only documents that were compared by minhash have keys to be kept by");
    const nigh_context *context = dedup->context;
    struct adding *adding = nigh__alloc_zero(context, 1, sizeof *adding);
    if (adding == NULL) return nigh__no_memory(error, "to add documents");
    adding->dedup = dedup;
    adding->writer = writer;
    uint64_t *kept = NULL;
    nigh_status status = nigh__options_copy(&nigh__dedup_add_options_shape, &adding->options, options, error);
    if (status == NIGH_OK) {
        kept = nigh__bits_new(context, dedup->documents.count, error);
        status = kept == NULL ? NIGH_ENOMEM : NIGH_OK;
    }
    for (uint64_t i = 0; status == NIGH_OK && i < dedup->documents.count; i++)
        if (nigh__dedup_document(dedup, i)->kept == i) nigh__bit_set(kept, i);
    const struct nigh__pass_step step = {
        .stage = "adding", .projects = true, .work = work, .take = take, .user = adding};
    if (status == NIGH_OK) status = nigh__pass_run(dedup, dedup->plan, &step, kept, error);
    nigh__free(context, kept);
    nigh__free(context, adding);
    return status;
}
