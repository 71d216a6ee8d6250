/* SPDX-License-Identifier: Apache-2.0 */
/* Writing texts and keys; texts.h draws them.  In memory stay 8 bytes a document, and a block of each. */
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"
#include "collection/texts.h"

#define BLOCK_BYTES ((size_t)64 << 10)

void nigh__texts_writer_init(const nigh_context *context, const struct nigh__file *directory, uint64_t number,
                             struct nigh__texts_writer *out) {
    *out = (struct nigh__texts_writer){.context = context,
                                       .directory = directory,
                                       .number = number,
                                       .offsets = NIGH__ARRAY(uint64_t),
                                       .blocks = NIGH__ARRAY(struct nigh__text_block),
                                       .raw = NIGH__ARRAY(char),
                                       .room = NIGH__ARRAY(char),
                                       .key_block = NIGH__ARRAY(uint32_t),
                                       .turned = NIGH__ARRAY(uint32_t)};
}

void nigh__texts_writer_release(struct nigh__texts_writer *writer) {
    if (writer->context == NULL) return;
    nigh__spool_release(&writer->packed);
    nigh__spool_release(&writer->keys);
    nigh__array_release(writer->context, &writer->offsets);
    nigh__array_release(writer->context, &writer->blocks);
    nigh__array_release(writer->context, &writer->raw);
    nigh__array_release(writer->context, &writer->room);
    nigh__array_release(writer->context, &writer->key_block);
    nigh__array_release(writer->context, &writer->turned);
}

static nigh_status no_memory(nigh_error *error) { return nigh__no_memory(error, "for the texts of a segment"); }

/* ------------------------------------------------------------------ texts -- */

/* Where the next text begins, unpacked. */
static uint64_t texts_end(const struct nigh__texts_writer *writer) {
    return writer->offsets.count == 0 ? 0 : ((const uint64_t *)writer->offsets.data)[writer->offsets.count - 1];
}

static struct nigh__text_block *add_block(struct nigh__texts_writer *writer, uint64_t begin) {
    struct nigh__text_block *block = nigh__array_add(writer->context, &writer->blocks, 1);
    if (block != NULL)
        *block = (struct nigh__text_block){
            .begin = begin, .offset = writer->packed.file.open ? nigh__spool_length(&writer->packed) : 0};
    return block;
}

/* Packs the block at hand, where that makes it smaller. */
static nigh_status end_block(struct nigh__texts_writer *writer, nigh_error *error) {
    const struct nigh__codec *codec = writer->context->extensions->codec;
    const size_t length = writer->raw.count;
    const void *bytes = writer->raw.data;
    size_t packed = 0;
    struct nigh__text_block *block = add_block(writer, texts_end(writer) - length);
    writer->room.count = 0;
    void *room = nigh__array_add(writer->context, &writer->room, length);
    if (block == NULL || room == NULL) return no_memory(error);
    if (codec->number != NIGH__CODEC_NONE) packed = codec->pack(room, length, bytes, length);
    block->codec = packed == 0 ? NIGH__CODEC_NONE : codec->number;
    if (packed == 0)
        packed = length;
    else
        bytes = room;
    block->checksum = nigh__hash(bytes, packed);
    writer->raw.count = 0;
    return nigh__spool_append(&writer->packed, bytes, packed, error);
}

static nigh_status add_text(struct nigh__texts_writer *writer, const char *text, size_t length, nigh_error *error) {
    nigh_status status = nigh__spool_open(writer->directory, writer->number, ".texts.tmp", &writer->packed, error);
    if (status != NIGH_OK) return status;
    if (writer->offsets.count == 0) {
        uint64_t *first = nigh__array_add(writer->context, &writer->offsets, 1);
        if (first == NULL) return no_memory(error);
        *first = 0;
    }
    const uint64_t begin = texts_end(writer);
    uint64_t *end = nigh__array_add(writer->context, &writer->offsets, 1);
    if (end == NULL) return no_memory(error);
    *end = begin + length;
    if (!nigh__bytes_append(writer->context, &writer->raw, text, length)) return no_memory(error);
    return writer->raw.count >= BLOCK_BYTES ? end_block(writer, error) : NIGH_OK;
}

/* ------------------------------------------------------------------- keys -- */

/* The keys of a block of documents, those of one band together. */
static nigh_status end_key_block(struct nigh__texts_writer *writer, nigh_error *error) {
    const uint32_t bands = writer->key_count;
    const size_t documents = writer->key_block.count / bands;
    const uint32_t *keys = writer->key_block.data;
    writer->turned.count = 0;
    uint32_t *turned = nigh__array_add(writer->context, &writer->turned, writer->key_block.count);
    if (turned == NULL) return no_memory(error);
    for (size_t i = 0; i < documents; i++)
        for (uint32_t band = 0; band < bands; band++) turned[band * documents + i] = keys[i * bands + band];
    const size_t bytes = writer->key_block.count * sizeof *turned;
    writer->key_block.count = 0;
    return nigh__spool_append(&writer->keys, turned, bytes, error);
}

static nigh_status add_keys(struct nigh__texts_writer *writer, const uint32_t *keys, uint32_t count,
                            nigh_error *error) {
    nigh_status status = nigh__spool_open(writer->directory, writer->number, ".keys.tmp", &writer->keys, error);
    if (status != NIGH_OK) return status;
    NIGH__ASSERT(writer->key_count == 0 || writer->key_count == count);
    writer->key_count = count;
    uint32_t *place = nigh__array_add(writer->context, &writer->key_block, count);
    if (place == NULL) return no_memory(error);
    memcpy(place, keys, count * sizeof *keys);
    return writer->key_block.count == (size_t)NIGH__KEY_BLOCK * count ? end_key_block(writer, error) : NIGH_OK;
}

nigh_status nigh__texts_writer_add(struct nigh__texts_writer *writer, const nigh_document *document,
                                   nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (document->text != NULL) status = add_text(writer, document->text, document->text_length, error);
    if (status == NIGH_OK && document->keys != NULL && document->key_count > 0)
        status = add_keys(writer, document->keys, document->key_count, error);
    return status;
}

/* --------------------------------------------------------------- sections -- */

static nigh_status write_array(struct nigh__section_writer *sections, enum nigh__section_type type,
                               const struct nigh__array *items, nigh_error *error) {
    return nigh__section_write(sections, type, items->data, items->count, items->item_size, error);
}

static nigh_status write_texts(struct nigh__texts_writer *writer, struct nigh__section_writer *sections,
                               nigh_error *error) {
    nigh_status status = writer->raw.count > 0 ? end_block(writer, error) : NIGH_OK;
    if (status != NIGH_OK) return status;
    if (add_block(writer, texts_end(writer)) == NULL) return no_memory(error); /* the end of the last */
    status = write_array(sections, NIGH__SECTION_TEXT_OFFSETS, &writer->offsets, error);
    if (status == NIGH_OK) status = write_array(sections, NIGH__SECTION_TEXT_BLOCKS, &writer->blocks, error);
    if (status == NIGH_OK) status = nigh__spool_write(&writer->packed, sections, NIGH__SECTION_TEXT_BYTES, 1, error);
    return status;
}

nigh_status nigh__texts_writer_finish(struct nigh__texts_writer *writer, struct nigh__section_writer *sections,
                                      nigh_error *error) {
    nigh_status status = writer->packed.file.open ? write_texts(writer, sections, error) : NIGH_OK;
    if (status != NIGH_OK || !writer->keys.file.open) return status;
    if (writer->key_block.count > 0) status = end_key_block(writer, error);
    return status == NIGH_OK ? nigh__spool_write(&writer->keys, sections, NIGH__SECTION_KEYS, sizeof(uint32_t), error)
                             : status;
}
