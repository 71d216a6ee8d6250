/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "collection/segment_copy.h"

#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/keep_keys.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/selection.h"

nigh_status nigh__segment_copier_init(const nigh_context *context, uint32_t width_bits,
                                      struct nigh__segment_copier *out, nigh_error *error) {
    *out = (struct nigh__segment_copier){
        .context = context,
        .signature = nigh__alloc(context, nigh__row_bytes(width_bits), 1),
        .mask = nigh__alloc(context, nigh__row_bytes(width_bits), 1),
        .weights = nigh__alloc(context, width_bits, 1),
        .id = NIGH__ARRAY(char),
        .metadata = NIGH__ARRAY(char),
        .band_keys = NIGH__ARRAY(uint32_t),
    };
    nigh__text_cache_init(&out->texts);
    for (uint32_t i = 0; i < NIGH_MAX_KEEP_KEYS; i++) out->value_texts[i] = (struct nigh__array)NIGH__ARRAY(char);
    if (out->signature != NULL && out->mask != NULL && out->weights != NULL) return NIGH_OK;
    nigh__segment_copier_release(out);
    return nigh__no_memory(error, "for a document");
}

void nigh__segment_copier_release(struct nigh__segment_copier *copier) {
    nigh__free(copier->context, copier->signature);
    nigh__free(copier->context, copier->mask);
    nigh__free(copier->context, copier->weights);
    nigh__array_release(copier->context, &copier->id);
    nigh__array_release(copier->context, &copier->metadata);
    nigh__array_release(copier->context, &copier->band_keys);
    for (uint32_t i = 0; i < NIGH_MAX_KEEP_KEYS; i++) nigh__array_release(copier->context, &copier->value_texts[i]);
    nigh__text_cache_release(copier->context, &copier->texts);
}

/* Reads what has a length of its own: once, and where the room was too small once more. */
typedef nigh_status reader(const struct nigh__segment *segment, uint32_t document, void *buffer, size_t capacity,
                           size_t *length, nigh_error *error);

static nigh_status read_id(const struct nigh__segment *segment, uint32_t document, void *buffer, size_t capacity,
                           size_t *length, nigh_error *error) {
    return nigh__segment_id(segment, document, buffer, capacity, length, error);
}

static nigh_status read_whole(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                              uint32_t document, reader *read, struct nigh__array *room, size_t *length,
                              nigh_error *error) {
    *length = 0;
    nigh_status status = read(segment, document, room->data, room->count, length, error);
    if (status != NIGH_OK || *length < room->count) return status;
    if (nigh__array_room(copier->context, room, *length + 1) == NULL) return nigh__no_memory(error, "for a document");
    return read(segment, document, room->data, room->count, length, error);
}

/* Keys lie by band; those of a block of documents are read at once. */
static nigh_status read_keys(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                             uint32_t document, nigh_document *out, nigh_error *error) {
    const uint32_t bands = nigh__segment_key_count(segment);
    const uint32_t block = document / NIGH__KEY_BLOCK;
    nigh_status status = NIGH_OK;
    if (bands == 0) return NIGH_OK;
    if (copier->keys_segment != segment || copier->keys_block != block) {
        copier->keys_segment = NULL;
        uint32_t *keys = nigh__array_room(copier->context, &copier->band_keys, (size_t)bands * NIGH__KEY_BLOCK);
        if (keys == NULL) return nigh__no_memory(error, "for the keys of documents");
        uint32_t count;
        for (uint32_t band = 0; band < bands && status == NIGH_OK; band++)
            status = nigh__segment_keys(segment, band, block, keys + (size_t)band * NIGH__KEY_BLOCK, &count, error);
        if (status != NIGH_OK) return status;
        copier->keys_segment = segment;
        copier->keys_block = block;
    }
    const uint32_t *keys = (const uint32_t *)copier->band_keys.data + document % NIGH__KEY_BLOCK;
    for (uint32_t band = 0; band < bands; band++) copier->keys[band] = keys[(size_t)band * NIGH__KEY_BLOCK];
    out->keys = copier->keys;
    out->key_count = bands;
    return NIGH_OK;
}

static nigh_status read_texts(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                              uint32_t document, nigh_document *out, nigh_error *error) {
    if (segment->text_offsets == NULL) return NIGH_OK;
    return nigh__segment_text(segment, document, &copier->texts, &out->text, &out->text_length, error);
}

static nigh_status find_columns(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                                nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (copier->columns_segment == segment) return NIGH_OK;
    copier->value_count = nigh__keep_keys_count(segment->scheme);
    for (uint32_t i = 0; i < copier->value_count && status == NIGH_OK; i++)
        status = nigh__segment_column(segment, i, &copier->columns[i], error);
    copier->columns_segment = status == NIGH_OK ? segment : NULL;
    return status;
}

static nigh_status read_values(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                               uint32_t document, nigh_document *out, nigh_error *error) {
    if (segment->values == NULL) return NIGH_OK;
    nigh_status status = find_columns(copier, segment, error);
    out->values = copier->values;
    out->value_count = copier->value_count;
    for (uint32_t i = 0; i < copier->value_count && status == NIGH_OK; i++)
        status = nigh__segment_value(segment, &copier->columns[i], document, &copier->values[i],
                                     &copier->value_texts[i], error);
    return status;
}

/* That of its row: the first document of a row in a part is the first of it in what they become. */
static nigh_status read_mask(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                             uint32_t document, nigh_document *out, nigh_error *error) {
    if (segment->masks == NULL) return NIGH_OK;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    const uint32_t row = NIGH__ONCE(segment->document_rows[document]);
    const bool sound = row < segment->signatures;
    if (sound)
        memcpy(copier->mask, segment->masks + (size_t)row * segment->words, nigh__row_bytes(segment->width_bits));
    nigh__guard_leave(&guard);
    out->mask = copier->mask;
    return sound ? NIGH_OK
                 : nigh__segment_corrupt(segment, NIGH__SECTION_DOCUMENT_ROWS, document, "a row number is too large",
                                         error);
}

/* *out points into the copier, up to the next call. */
static nigh_status read_document(struct nigh__segment_copier *copier, const struct nigh__segment *segment,
                                 uint32_t document, nigh_document *out, nigh_error *error) {
    *out = (nigh_document){.size = sizeof *out, .signature = copier->signature};
    nigh_status status = nigh__segment_signature(segment, document, copier->signature, error);
    if (status == NIGH_OK && segment->id_offsets != NULL)
        status = read_whole(copier, segment, document, read_id, &copier->id, &out->id_length, error);
    if (status == NIGH_OK && segment->id_offsets != NULL) out->id = copier->id.data;
    if (status == NIGH_OK && segment->metadata_offsets != NULL)
        status = read_whole(copier, segment, document, nigh__segment_metadata, &copier->metadata, &out->metadata_length,
                            error);
    if (status == NIGH_OK) out->metadata = copier->metadata.data;
    if (status == NIGH_OK && segment->weights != NULL) {
        status = nigh__segment_weights(segment, document, copier->weights, error);
        out->weights = copier->weights;
    }
    if (status == NIGH_OK) status = read_mask(copier, segment, document, out, error);
    if (status == NIGH_OK) status = read_texts(copier, segment, document, out, error);
    if (status == NIGH_OK) status = read_keys(copier, segment, document, out, error);
    if (status == NIGH_OK) status = read_values(copier, segment, document, out, error);
    return status;
}

nigh_status nigh__segment_copy(struct nigh__segment_copier *copier, const struct nigh__segment *from,
                               struct nigh__segment_writer *to, struct nigh__progress *progress, uint64_t *copied,
                               uint64_t total, nigh_error *error) {
    nigh_document document;
    for (uint32_t i = 0; i < from->documents; i++) {
        if (!nigh__selection_has(from->living, i)) continue;
        nigh_status status = read_document(copier, from, i, &document, error);
        if (status == NIGH_OK) status = nigh__segment_writer_add(to, &document, error);
        if (status == NIGH_OK && nigh__progress_tick(progress, "merging", ++*copied, total))
            status = nigh__progress_cancelled(error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}
