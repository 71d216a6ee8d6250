/* SPDX-License-Identifier: Apache-2.0 */
/* New documents in memory; see incoming.h. */
#include "corpus/incoming.h"

#include <string.h>

#include "base/limits.h"
#include "base/status.h"
#include "base/value.h"

void nigh__incoming_init(const nigh_context *context, uint32_t width_bits, struct nigh__incoming *incoming) {
    *incoming = (struct nigh__incoming){
        .context = context,
        .width_bits = width_bits,
        .signatures = NIGH__ARRAY(uint8_t),
        .weights = NIGH__ARRAY(uint8_t),
        .texts = NIGH__ARRAY(char),
        .ends = NIGH__ARRAY(struct nigh__text_ends),
    };
}

void nigh__incoming_release(struct nigh__incoming *incoming) {
    nigh__array_release(incoming->context, &incoming->signatures);
    nigh__array_release(incoming->context, &incoming->weights);
    nigh__array_release(incoming->context, &incoming->texts);
    nigh__array_release(incoming->context, &incoming->ends);
    incoming->count = 0;
}

static size_t texts_end(const struct nigh__incoming *incoming, size_t count) {
    const struct nigh__text_ends *ends = incoming->ends.data;
    return count == 0 ? 0 : ends[count - 1].values;
}

static bool append_all(struct nigh__incoming *incoming, const nigh_document *document) {
    const size_t id_length = document->id == NULL ? 0 : document->id_length;
    const size_t metadata_length = document->metadata == NULL ? 0 : document->metadata_length;
    if (!nigh__bytes_append(incoming->context, &incoming->signatures, document->signature,
                            nigh__row_bytes(incoming->width_bits)) ||
        !nigh__bytes_append(incoming->context, &incoming->weights, document->weights,
                            incoming->keep_weights ? incoming->width_bits : 0) ||
        !nigh__bytes_append(incoming->context, &incoming->texts, document->id, id_length) ||
        !nigh__bytes_append(incoming->context, &incoming->texts, document->metadata, metadata_length) ||
        !nigh__values_append(incoming->context, &incoming->texts, document->values, document->value_count))
        return false;
    struct nigh__text_ends *ends = nigh__array_add(incoming->context, &incoming->ends, 1);
    if (ends == NULL) return false;
    ends->values = incoming->texts.count;
    ends->metadata = ends->values - nigh__values_size(document->values, document->value_count);
    ends->id = ends->metadata - metadata_length;
    return true;
}

/* Back to what is counted, where one got in by half. */
static void cut_to_count(struct nigh__incoming *incoming) {
    incoming->signatures.count = incoming->count * nigh__row_bytes(incoming->width_bits);
    incoming->weights.count = incoming->keep_weights ? incoming->count * incoming->width_bits : 0;
    incoming->texts.count = texts_end(incoming, incoming->count);
    incoming->ends.count = incoming->count;
}

nigh_status nigh__incoming_add(struct nigh__incoming *incoming, const nigh_document *document, nigh_error *error) {
    if (append_all(incoming, document)) {
        incoming->count++;
        return NIGH_OK;
    }
    cut_to_count(incoming);
    return nigh__no_memory(error, "for new documents");
}

const uint8_t *nigh__incoming_rows(const struct nigh__incoming *incoming, size_t begin) {
    return begin < incoming->count
               ? (const uint8_t *)incoming->signatures.data + begin * nigh__row_bytes(incoming->width_bits)
               : NULL;
}

const uint8_t *nigh__incoming_weights(const struct nigh__incoming *incoming, size_t begin) {
    return incoming->keep_weights && begin < incoming->count
               ? (const uint8_t *)incoming->weights.data + begin * incoming->width_bits
               : NULL;
}

/* An id is never empty, so where there is nothing there is none. */
nigh_document nigh__incoming_document(const struct nigh__incoming *incoming, size_t index) {
    const struct nigh__text_ends *ends = (const struct nigh__text_ends *)incoming->ends.data + index;
    const char *texts = incoming->texts.data;
    const size_t begin = texts_end(incoming, index);
    nigh_document document = {.size = sizeof document,
                              .signature = nigh__incoming_rows(incoming, index),
                              .id_length = ends->id - begin,
                              .metadata_length = ends->metadata - ends->id,
                              .weights = nigh__incoming_weights(incoming, index)};
    if (document.id_length > 0) document.id = texts + begin;
    if (document.metadata_length > 0) document.metadata = texts + ends->id;
    return document;
}

uint32_t nigh__incoming_values(const struct nigh__incoming *incoming, size_t index, nigh_value *out) {
    const struct nigh__text_ends *ends = (const struct nigh__text_ends *)incoming->ends.data + index;
    const uint8_t *packed = (const uint8_t *)incoming->texts.data + ends->metadata;
    uint32_t count = 0;
    if (ends->values > ends->metadata) (void)nigh__values_unpack(packed, ends->values - ends->metadata, out, &count);
    return count;
}
