/* SPDX-License-Identifier: Apache-2.0 */
/* Files of stages; stage_file.h draws them. */
#include "stages/stage_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"

static const char magic[8] = "NIGHSTAG";

#define HEADER_BYTES 64u
#define CHECKSUM_AT 56u
#define INDEX_WORDS 4u
#define BLOCK_WORDS ((size_t)8 << 10)
#define MIN_BLOCK_WORDS ((size_t)256)
#define BUFFERED_WORDS ((size_t)8 << 20) /* of all sections, while they have the least */
#define MAX_BLOCK_WORDS (UINT64_C(1) << 32)

/* The words of an entry of the index. */
enum { SECTION, OFFSET, WORDS, CHECKSUM };

static uint64_t header_checksum(const uint8_t *header, const uint64_t *index, size_t words) {
    return nigh__hash_seeded(index, words * sizeof *index, nigh__hash(header, CHECKSUM_AT));
}

/* ---------------------------------------------------------------- writing -- */

nigh_status nigh__stage_writer_open(const nigh_context *context, const char *path,
                                    const struct nigh__stage_label *label, uint32_t sections,
                                    struct nigh__stage_writer *out, nigh_error *error) {
    static const uint8_t nothing[HEADER_BYTES];
    *out = (struct nigh__stage_writer){
        .context = context, .label = *label, .sections = sections, .index = NIGH__ARRAY(uint64_t)};
    out->block_words = BLOCK_WORDS;
    while (out->block_words > MIN_BLOCK_WORDS && out->block_words * sections > BUFFERED_WORDS) out->block_words /= 2;
    out->buffers = nigh__alloc_zero(context, sections, sizeof *out->buffers);
    if (out->buffers == NULL) return nigh__no_memory(error, "to write a stage");
    nigh_status status = nigh__replacement_open(context, path, &out->replacement, error);
    if (status == NIGH_OK)
        status = nigh__output_init(context, &out->replacement.file, NULL, out->replacement.path, &out->output, error);
    return status == NIGH_OK ? nigh__output_add(&out->output, nothing, sizeof nothing, error) : status;
}

static nigh_status put_block(struct nigh__stage_writer *writer, uint32_t section, const uint64_t *words, size_t count,
                             nigh_error *error) {
    uint64_t *entry = nigh__array_add(writer->context, &writer->index, INDEX_WORDS);
    if (entry == NULL) return nigh__no_memory(error, "to write a stage");
    entry[SECTION] = section;
    entry[OFFSET] = nigh__output_length(&writer->output);
    entry[WORDS] = count;
    entry[CHECKSUM] = nigh__hash(words, count * sizeof *words);
    return nigh__output_add(&writer->output, words, count * sizeof *words, error);
}

static nigh_status empty_buffer(struct nigh__stage_writer *writer, uint32_t section, nigh_error *error) {
    struct nigh__stage_buffer *buffer = &writer->buffers[section];
    if (buffer->used == 0) return NIGH_OK;
    nigh_status status = put_block(writer, section, buffer->words, buffer->used, error);
    buffer->used = 0;
    return status;
}

nigh_status nigh__stage_add(struct nigh__stage_writer *writer, uint32_t section, const uint64_t *words, size_t count,
                            nigh_error *error) {
    NIGH__ASSERT(section < writer->sections);
    struct nigh__stage_buffer *buffer = &writer->buffers[section];
    nigh_status status = NIGH_OK;
    if (count > writer->block_words - buffer->used) status = empty_buffer(writer, section, error);
    if (status != NIGH_OK || count == 0) return status;
    if (count > writer->block_words) return put_block(writer, section, words, count, error);
    if (buffer->words == NULL) buffer->words = nigh__alloc(writer->context, writer->block_words, sizeof *words);
    if (buffer->words == NULL) return nigh__no_memory(error, "to write a stage");
    memcpy(buffer->words + buffer->used, words, count * sizeof *words);
    buffer->used += count;
    return NIGH_OK;
}

static void make_header(const struct nigh__stage_writer *writer, uint64_t index_at, uint8_t *header) {
    const uint64_t *index = writer->index.data;
    memcpy(header, magic, sizeof magic);
    nigh__store32(header + 8, NIGH__STAGE_VERSION);
    nigh__store32(header + 12, writer->label.stage);
    nigh__store64(header + 16, writer->label.plan);
    nigh__store32(header + 24, writer->label.shard);
    nigh__store32(header + 28, writer->label.shards);
    nigh__store64(header + 32, index_at);
    nigh__store64(header + 40, writer->index.count / INDEX_WORDS);
    nigh__store64(header + 48, writer->sections);
    nigh__store64(header + CHECKSUM_AT, header_checksum(header, index, writer->index.count));
}

nigh_status nigh__stage_writer_finish(struct nigh__stage_writer *writer, nigh_error *error) {
    uint8_t header[HEADER_BYTES];
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < writer->sections; i++) status = empty_buffer(writer, i, error);
    if (status != NIGH_OK) return status;
    make_header(writer, nigh__output_length(&writer->output), header);
    if (writer->index.count > 0)
        status = nigh__output_add(&writer->output, writer->index.data, writer->index.count * sizeof(uint64_t), error);
    if (status == NIGH_OK) status = nigh__output_flush(&writer->output, error);
    if (status == NIGH_OK) status = nigh__file_write(&writer->replacement.file, 0, header, sizeof header, error);
    return status == NIGH_OK ? nigh__replacement_finish(&writer->replacement, error) : status;
}

void nigh__stage_writer_release(struct nigh__stage_writer *writer) {
    if (writer->context == NULL) return;
    for (uint32_t i = 0; writer->buffers != NULL && i < writer->sections; i++)
        nigh__free(writer->context, writer->buffers[i].words);
    nigh__free(writer->context, writer->buffers);
    nigh__array_release(writer->context, &writer->index);
    nigh__output_release(&writer->output);
    nigh__replacement_release(writer->context, &writer->replacement);
    *writer = (struct nigh__stage_writer){.context = NULL};
}

/* ---------------------------------------------------------------- reading -- */

static nigh_status fail(const struct nigh__stage_reader *reader, nigh_status status, uint64_t offset, const char *why,
                        nigh_error *error) {
    return nigh__fail_at(error, status, reader->file.path, offset, "%s", why);
}

/* Whether it is what it should be. */
static nigh_status check_label(const struct nigh__stage_reader *reader, const struct nigh__stage_label *wanted,
                               uint32_t sections, nigh_error *error) {
    const struct nigh__stage_label *label = &reader->label;
    if (label->stage != wanted->stage)
        return fail(reader, NIGH_EMISMATCH, NIGH_NO_OFFSET, "is the file of another stage", error);
    if (wanted->plan != 0 && label->plan != wanted->plan)
        return fail(reader, NIGH_EMISMATCH, NIGH_NO_OFFSET, "is of another plan", error);
    if (wanted->shards != 0 && (label->shard != wanted->shard || label->shards != wanted->shards))
        return nigh__fail_at(error, NIGH_EMISMATCH, reader->file.path, NIGH_NO_OFFSET, "is shard %u/%u, not %u/%u",
                             label->shard, label->shards, wanted->shard, wanted->shards);
    if (sections != 0 && reader->sections != sections)
        return nigh__fail_at(error, NIGH_EMISMATCH, reader->file.path, NIGH_NO_OFFSET, "has %u sections, not %u",
                             reader->sections, sections);
    return NIGH_OK;
}

static nigh_status read_index(struct nigh__stage_reader *reader, const uint8_t *header, uint64_t length,
                              nigh_error *error) {
    const uint64_t at = nigh__load64(header + 32);
    const uint64_t blocks = nigh__load64(header + 40);
    uint64_t bytes;
    if (!nigh__multiply64(blocks, INDEX_WORDS * sizeof(uint64_t), &bytes) || at < HEADER_BYTES || at > length ||
        bytes != length - at)
        return fail(reader, NIGH_ECORRUPT, 32, "the index is not where it should be", error);
    reader->blocks = (size_t)blocks;
    reader->index = nigh__alloc(reader->context, (size_t)blocks * INDEX_WORDS, sizeof *reader->index);
    if (reader->index == NULL) return nigh__no_memory(error, "to read a stage");
    nigh_status status = nigh__file_read(&reader->file, at, reader->index, (size_t)bytes, error);
    if (status != NIGH_OK) return status;
    if (header_checksum(header, reader->index, reader->blocks * INDEX_WORDS) != nigh__load64(header + CHECKSUM_AT))
        return fail(reader, NIGH_ECORRUPT, CHECKSUM_AT, "the header or the index failed its checksum", error);
    for (size_t i = 0; i < reader->blocks; i++) {
        const uint64_t *entry = reader->index + i * INDEX_WORDS;
        if (entry[SECTION] >= reader->sections || entry[WORDS] == 0 || entry[WORDS] > MAX_BLOCK_WORDS ||
            entry[OFFSET] < HEADER_BYTES || !nigh__range_fits(entry[OFFSET], entry[WORDS] * sizeof(uint64_t), at))
            return fail(reader, NIGH_ECORRUPT, at + i * INDEX_WORDS * sizeof(uint64_t), "a block is out of place",
                        error);
    }
    return NIGH_OK;
}

static nigh_status read_header(struct nigh__stage_reader *reader, uint8_t *header, uint64_t *length,
                               nigh_error *error) {
    nigh_status status = nigh__file_length(&reader->file, length, error);
    if (status != NIGH_OK) return status;
    if (*length < HEADER_BYTES) return fail(reader, NIGH_EFORMAT, 0, "is not a file of a stage", error);
    status = nigh__file_read(&reader->file, 0, header, HEADER_BYTES, error);
    if (status != NIGH_OK) return status;
    if (memcmp(header, magic, sizeof magic) != 0)
        return fail(reader, NIGH_EFORMAT, 0, "is not a file of a stage", error);
    if (nigh__load32(header + 8) != NIGH__STAGE_VERSION)
        return nigh__fail_at(error, NIGH_EVERSION, reader->file.path, 8, "is of version %u; this one knows %u",
                             nigh__load32(header + 8), NIGH__STAGE_VERSION);
    reader->label = (struct nigh__stage_label){.stage = nigh__load32(header + 12),
                                               .plan = nigh__load64(header + 16),
                                               .shard = nigh__load32(header + 24),
                                               .shards = nigh__load32(header + 28)};
    const uint64_t sections = nigh__load64(header + 48);
    if (sections > NIGH__STAGE_MAX_SECTIONS) return fail(reader, NIGH_ECORRUPT, 48, "has too many sections", error);
    reader->sections = (uint32_t)sections;
    return NIGH_OK;
}

nigh_status nigh__stage_reader_open(const nigh_context *context, const char *path,
                                    const struct nigh__stage_label *label, uint32_t sections,
                                    struct nigh__stage_reader *out, nigh_error *error) {
    uint8_t header[HEADER_BYTES];
    uint64_t length = 0;
    *out = (struct nigh__stage_reader){.context = context, .room = NIGH__ARRAY(uint64_t)};
    nigh_status status = nigh__file_open(context, path, NIGH_OPEN_REGULAR, &out->file, error);
    if (status == NIGH_OK) status = read_header(out, header, &length, error);
    if (status == NIGH_OK) status = read_index(out, header, length, error);
    if (status == NIGH_OK) status = check_label(out, label, sections, error);
    if (status != NIGH_OK) nigh__stage_reader_release(out);
    return status;
}

void nigh__stage_reader_release(struct nigh__stage_reader *reader) {
    if (reader->context == NULL) return;
    nigh__file_release(&reader->file);
    nigh__free(reader->context, reader->index);
    nigh__array_release(reader->context, &reader->room);
    *reader = (struct nigh__stage_reader){.context = NULL};
}

void nigh__stage_begin(struct nigh__stage_reader *reader, uint32_t section) {
    NIGH__ASSERT(section < reader->sections);
    reader->section = section;
    reader->next = 0;
}

static nigh_status read_block(struct nigh__stage_reader *reader, size_t block, const uint64_t **words, size_t *count,
                              nigh_error *error) {
    const uint64_t *entry = reader->index + block * INDEX_WORDS;
    *count = (size_t)entry[WORDS];
    uint64_t *room = nigh__array_room(reader->context, &reader->room, *count);
    if (room == NULL) return nigh__no_memory(error, "to read a stage");
    nigh_status status = nigh__file_read(&reader->file, entry[OFFSET], room, *count * sizeof *room, error);
    if (status == NIGH_OK && nigh__hash(room, *count * sizeof *room) != entry[CHECKSUM])
        status = fail(reader, NIGH_ECORRUPT, entry[OFFSET], "a block failed its checksum", error);
    *words = room;
    return status;
}

nigh_status nigh__stage_next(struct nigh__stage_reader *reader, size_t record_words, const uint64_t **words,
                             size_t *count, nigh_error *error) {
    while (reader->next < reader->blocks && reader->index[reader->next * INDEX_WORDS] != reader->section)
        reader->next++;
    if (reader->next == reader->blocks) return NIGH_END;
    const size_t block = reader->next++;
    nigh_status status = read_block(reader, block, words, count, error);
    if (status != NIGH_OK || record_words == 0) return status;
    if (*count % record_words != 0)
        return fail(reader, NIGH_ECORRUPT, reader->index[block * INDEX_WORDS + OFFSET], "a record is cut in two",
                    error);
    *count /= record_words;
    return NIGH_OK;
}

nigh_status nigh__stage_check(struct nigh__stage_reader *reader, nigh_error *error) {
    const uint64_t *words;
    size_t count;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < reader->blocks; i++)
        status = read_block(reader, i, &words, &count, error);
    return status;
}

uint64_t nigh__stage_words(const struct nigh__stage_reader *reader, uint32_t section) {
    uint64_t words = 0;
    for (size_t i = 0; i < reader->blocks; i++)
        words += reader->index[i * INDEX_WORDS] == section ? reader->index[i * INDEX_WORDS + WORDS] : 0;
    return words;
}
