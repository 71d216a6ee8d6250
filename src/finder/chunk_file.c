/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of sorted chunks: opening, reading in sequence, appending.
 *
 * Appending changes nothing that counts until one write of 64 bytes:
 *
 *     1. what an interrupted append has left behind the end is cut off
 *     2. the chunk, before the first one how it was signed, is written behind the end, and synced
 *     3. the state that does not count, of the two, is written anew, and synced:
 *        from here on the chunk is there
 *     4. the other state is written too, in case the first is ever damaged
 *
 * An end of the process or of the power before 3 leaves the old state, which ends
 * before the chunk; in the middle of 3, a state with a wrong checksum, and the other
 * one counts; afterwards, the new one.  Both are never written without a sync in
 * between, and they lie in pages of their own.  Readers need no lock: nothing within
 * the length that they have seen is ever written again.
 *
 * A new file is made by writing the same bytes always, so that a file which begins
 * with the magic and holds only a part of these, the rest zero, is known as one whose
 * making was interrupted.  One of zeros alone may be anybody's.  Versions before this made files that cannot say how
 * they were signed; these stay as they are, and are appended to as before.
 */
#include "finder/chunk_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "collection/format.h"
#include "collection/scheme.h"
#include "finder/finder_options.h"

#define CHECKED_BYTES 56u     /* of each header, before its checksum */
#define FINGERPRINT_BYTES 12u /* with its number */
#define OWN_SCHEME "bits=64\nkind=signatures\n"

uint64_t nigh__block_length(uint32_t count) {
    return sizeof(struct nigh__block_header) + UINT64_C(8) * count + nigh__round_up(UINT64_C(4) * count, 8) + 8;
}

uint64_t nigh__chunk_length(uint64_t count) {
    const uint64_t full = count / NIGH__BLOCK_FINGERPRINTS;
    const uint32_t rest = (uint32_t)(count % NIGH__BLOCK_FINGERPRINTS);
    const uint64_t length = sizeof(struct nigh__chunk_header) + full * nigh__block_length(NIGH__BLOCK_FINGERPRINTS) +
                            (rest > 0 ? nigh__block_length(rest) : 0);
    return nigh__round_up(length, NIGH__CHUNK_ALIGNMENT);
}

static uint64_t checksum_of(const void *header) { return nigh__hash(header, CHECKED_BYTES); }

static nigh_status corrupt(const nigh_chunks *chunks, uint64_t offset, const char *why, nigh_error *error) {
    return nigh__fail_at(error, NIGH_ECORRUPT, chunks->file.path, offset, "%s", why);
}

/* ----------------------------------------------------------------------- opening */

static struct nigh__chunks_header fresh_header(uint32_t features) {
    struct nigh__chunks_header header = {.version = NIGH__CHUNKS_VERSION,
                                         .endian_mark = NIGH__ENDIAN_MARK,
                                         .incompatible = features,
                                         .width_bits = 64,
                                         .block = NIGH__BLOCK_FINGERPRINTS};
    memcpy(header.magic, NIGH__CHUNKS_MAGIC, sizeof header.magic);
    header.checksum = checksum_of(&header);
    return header;
}

/* What a file without chunks holds, NIGH__CHUNKS_START bytes. */
static void fresh_file(uint32_t features, uint8_t *bytes) {
    const struct nigh__chunks_header header = fresh_header(features);
    struct nigh__chunks_state state = {.sequence = 1, .length = NIGH__CHUNKS_START};
    state.checksum = checksum_of(&state);
    memset(bytes, 0, NIGH__CHUNKS_START);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + NIGH__CHUNK_STATE_AT(0), &state, sizeof state);
    memcpy(bytes + NIGH__CHUNK_STATE_AT(1), &state, sizeof state);
}

static nigh_status fresh_write(nigh_chunks *chunks, nigh_error *error) {
    uint8_t bytes[NIGH__CHUNKS_START];
    fresh_file(NIGH__CHUNKS_FEATURE_ORIGIN, bytes);
    nigh_status status = nigh__file_write(&chunks->file, 0, bytes, sizeof bytes, error);
    if (status == NIGH_OK) status = nigh__file_sync(&chunks->file, error);
    if (status == NIGH_OK) status = nigh__parent_sync(chunks->context, chunks->file.path, error);
    return status;
}

/* Whether `found` is the beginning of a fresh file with nothing or zeros where bytes have not arrived. */
static bool is_unfinished(const uint8_t *found, size_t length, uint32_t features) {
    uint8_t expected[NIGH__CHUNKS_START];
    const size_t magic = sizeof(((struct nigh__chunks_header *)NULL)->magic);
    fresh_file(features, expected);
    if (length == sizeof expected && memcmp(found, expected, sizeof expected) == 0) return false;
    for (size_t i = 0; i < length; i++)
        if (found[i] != expected[i] && (found[i] != 0 || i < magic)) return false;
    return length == 0 || length >= magic;
}

/* Of this version, or of one before. */
static nigh_status find_unfinished(const nigh_chunks *chunks, bool *unfinished, nigh_error *error) {
    uint8_t found[NIGH__CHUNKS_START];
    const size_t length = (size_t)chunks->file_length;
    *unfinished = false;
    if (chunks->file_length > NIGH__CHUNKS_START) return NIGH_OK;
    nigh_status status = nigh__file_read(&chunks->file, 0, found, length, error);
    if (status != NIGH_OK) return status;
    *unfinished = is_unfinished(found, length, NIGH__CHUNKS_FEATURE_ORIGIN) || is_unfinished(found, length, 0);
    return NIGH_OK;
}

static nigh_status header_check(nigh_chunks *chunks, nigh_error *error) {
    struct nigh__chunks_header header;
    const char *path = chunks->file.path;
    const struct nigh__chunks_header expected = fresh_header(0);
    if (chunks->file_length < sizeof header)
        return nigh__fail_at(error, NIGH_EFORMAT, path, 0, "not a file of chunks: %" PRIu64 " bytes",
                             chunks->file_length);
    nigh_status status = nigh__file_read(&chunks->file, 0, &header, sizeof header, error);
    if (status != NIGH_OK) return status;
    if (memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
        return nigh__fail_at(error, NIGH_EFORMAT, path, 0, "not a file of chunks: wrong magic");
    if (header.endian_mark != expected.endian_mark)
        return corrupt(chunks, offsetof(struct nigh__chunks_header, endian_mark), "the endianness mark is wrong",
                       error);
    if (header.version > NIGH__CHUNKS_VERSION)
        return nigh__fail_at(error, NIGH_EVERSION, path, offsetof(struct nigh__chunks_header, version),
                             "version %" PRIu32 " of files of chunks; this version of nigh reads up to %u",
                             header.version, NIGH__CHUNKS_VERSION);
    if (header.checksum != checksum_of(&header)) return corrupt(chunks, 0, "the header's checksum is wrong", error);
    const uint32_t unknown = header.incompatible & ~NIGH__CHUNKS_FEATURE_ORIGIN;
    if (unknown != 0)
        return nigh__fail_at(error, NIGH_EVERSION, path, offsetof(struct nigh__chunks_header, incompatible),
                             "uses features that this version of nigh does not know (bits 0x%" PRIx32 ")", unknown);
    if (header.version == 0 || header.width_bits != 64 || header.block != NIGH__BLOCK_FINGERPRINTS)
        return corrupt(chunks, 0, "the header is not one that nigh writes", error);
    if (chunks->file_length < NIGH__CHUNKS_START)
        return corrupt(chunks, chunks->file_length, "the file ends within its header", error);
    chunks->has_origin = header.incompatible != 0;
    return NIGH_OK;
}

/* The counts are no more than there is room for, so that nothing can overflow that adds to them. */
bool nigh__chunks_state_valid(const nigh_chunks *chunks, const struct nigh__chunks_state *state) {
    const uint64_t origin = chunks->has_origin ? state->origin : 0;
    if (state->checksum != checksum_of(state) || state->sequence == 0) return false;
    if (state->length < NIGH__CHUNKS_START || state->length % NIGH__CHUNK_ALIGNMENT != 0) return false;
    if (origin % NIGH__CHUNK_ALIGNMENT != 0 || origin > state->length - NIGH__CHUNKS_START) return false;
    const uint64_t bytes = state->length - NIGH__CHUNKS_START - origin;
    return state->chunks <= state->fingerprints && state->chunks <= bytes / sizeof(struct nigh__chunk_header) &&
           state->fingerprints <= bytes / FINGERPRINT_BYTES;
}

static nigh_status state_choose(nigh_chunks *chunks, bool *chosen, nigh_error *error) {
    bool found = false;
    for (int slot = 0; slot < 2; slot++) {
        struct nigh__chunks_state state;
        nigh_status status = nigh__file_read(&chunks->file, NIGH__CHUNK_STATE_AT(slot), &state, sizeof state, error);
        if (status != NIGH_OK) return status;
        if (!nigh__chunks_state_valid(chunks, &state) || (found && state.sequence <= chunks->state.sequence)) continue;
        chunks->state = state;
        if (!chunks->has_origin) chunks->state.origin = 0;
        chunks->slot = slot;
        found = true;
    }
    *chosen = found;
    return NIGH_OK;
}

/* A writer may have renewed one state while it was read, and then the other: but hardly both twice. */
static nigh_status state_load(nigh_chunks *chunks, nigh_error *error) {
    bool found = false;
    nigh_status status = state_choose(chunks, &found, error);
    if (status == NIGH_OK && !found) status = state_choose(chunks, &found, error);
    if (status != NIGH_OK) return status;
    if (!found) return corrupt(chunks, NIGH__CHUNK_STATE_AT(0), "both states are damaged", error);
    status = nigh__file_length(&chunks->file, &chunks->file_length, error);
    if (status != NIGH_OK) return status;
    if (chunks->file_length < chunks->state.length)
        return nigh__fail_at(error, NIGH_ECORRUPT, chunks->file.path, chunks->file_length,
                             "the file ends here; %" PRIu64 " bytes expected", chunks->state.length);
    chunks->uncertain = false;
    return NIGH_OK;
}

nigh_status nigh__chunks_settle(nigh_chunks *chunks, nigh_error *error) {
    nigh_status status = chunks->uncertain ? state_load(chunks, error) : NIGH_OK;
    if (status != NIGH_OK || chunks->state.origin == 0 || chunks->origin.checksum != 0) return status;
    return nigh__origin_read(&chunks->file, NIGH__CHUNKS_START, chunks->state.origin, &chunks->origin, error);
}

/* How it was signed, where it says so. */
static nigh_status origin_load(nigh_chunks *chunks, nigh_error *error) {
    uint8_t *scheme = NULL;
    if (chunks->state.origin == 0) return NIGH_OK;
    nigh_status status =
        nigh__origin_read(&chunks->file, NIGH__CHUNKS_START, chunks->state.origin, &chunks->origin, error);
    if (status == NIGH_OK)
        status =
            nigh__origin_fetch(&chunks->file, NIGH__CHUNKS_START, &chunks->origin, NIGH__ORIGIN_SCHEME, &scheme, error);
    if (status != NIGH_OK) return status;
    chunks->scheme = (char *)scheme;
    if (strlen(chunks->scheme) == chunks->origin.lengths[NIGH__ORIGIN_SCHEME] && nigh__scheme_sound(chunks->scheme, 64))
        return NIGH_OK;
    return corrupt(chunks, nigh__origin_part_at(NIGH__CHUNKS_START, &chunks->origin, NIGH__ORIGIN_SCHEME),
                   "the scheme is not one that nigh writes", error);
}

static nigh_status lock_file(const nigh_chunks *chunks, nigh_error *error) {
    const nigh_file_system *files = chunks->context->files;
    const int failed = files->lock(files->user, chunks->file.handle);
    if (failed == 0) return NIGH_OK;
    if (failed == EWOULDBLOCK)
        return nigh__fail_at(error, NIGH_EBUSY, chunks->file.path, NIGH_NO_OFFSET, "another process is writing to it");
    return nigh__fail_system(error, failed, chunks->file.path, "lock");
}

/* For writing; made where there is none.  Someone else may make it between two looks. */
static nigh_status open_to_write(nigh_chunks *chunks, const char *path, nigh_error *error) {
    nigh_error why;
    nigh_status status = nigh__file_open(chunks->context, path, NIGH_OPEN_UPDATE, &chunks->file, &why);
    if (status == NIGH_ENOTFOUND) {
        status = nigh__file_open(chunks->context, path, NIGH_OPEN_CREATE, &chunks->file, &why);
        if (status != NIGH_OK && why.system_errno == EEXIST)
            status = nigh__file_open(chunks->context, path, NIGH_OPEN_UPDATE, &chunks->file, &why);
    }
    if (status == NIGH_OK) return lock_file(chunks, error);
    if (error != NULL) *error = why;
    return status;
}

static nigh_status open_file(nigh_chunks *chunks, const char *path, nigh_error *error) {
    nigh_status status = chunks->writable
                             ? open_to_write(chunks, path, error)
                             : nigh__file_open(chunks->context, path, NIGH_OPEN_REGULAR, &chunks->file, error);
    if (status == NIGH_OK) status = nigh__file_length(&chunks->file, &chunks->file_length, error);
    bool unfinished = false;
    if (status == NIGH_OK && chunks->writable) status = find_unfinished(chunks, &unfinished, error);
    if (status == NIGH_OK && unfinished) {
        status = fresh_write(chunks, error);
        chunks->file_length = NIGH__CHUNKS_START;
    }
    if (status == NIGH_OK) status = header_check(chunks, error);
    if (status == NIGH_OK) status = state_load(chunks, error);
    return status == NIGH_OK ? origin_load(chunks, error) : status;
}

nigh_status nigh_chunks_open(nigh_context *context, const char *path, const nigh_chunks_options *options,
                             nigh_chunks **out, nigh_error *error) {
    *out = NULL;
    nigh_chunks_options known;
    nigh_status status = nigh__options_copy(&nigh__chunks_options_shape, &known, options, error);
    if (status != NIGH_OK) return status;
    nigh_chunks *chunks = nigh__alloc_zero(context, 1, sizeof *chunks);
    if (chunks == NULL) return nigh__no_memory(error, "for a file of chunks");
    chunks->context = context;
    chunks->writable = known.writable != 0;
    status = open_file(chunks, path, error);
    if (status == NIGH_OK)
        *out = chunks;
    else
        nigh_chunks_close(chunks);
    return status;
}

void nigh_chunks_close(nigh_chunks *chunks) {
    if (chunks == NULL) return;
    nigh__file_release(&chunks->file);
    nigh__free(chunks->context, chunks->scheme);
    nigh__free(chunks->context, chunks);
}

void nigh_chunks_describe(const nigh_chunks *chunks, nigh_chunks_info *out) {
    nigh_chunks_info info = {.size = sizeof info};
    info.fingerprints = chunks->state.fingerprints;
    info.chunks = chunks->state.chunks;
    info.bytes = chunks->state.length;
    info.leftover_bytes = chunks->file_length - chunks->state.length;
    info.width_bits = 64;
    info.says_scheme = chunks->state.origin > 0;
    if (info.says_scheme) {
        info.vocabulary_bytes = chunks->origin.lengths[NIGH__ORIGIN_VOCABULARY];
        info.model_bytes = chunks->origin.lengths[NIGH__ORIGIN_MODEL];
    }
    nigh__info_copy(out, &info, sizeof info);
}

/* ----------------------------------------------------------------------- reading */

bool nigh__chunk_block_init(const nigh_context *context, struct nigh__chunk_block *block) {
    *block = (struct nigh__chunk_block){0};
    block->bytes = nigh__alloc_aligned(context, (size_t)nigh__block_length(NIGH__BLOCK_FINGERPRINTS), 1, 64);
    block->places = nigh__alloc(context, NIGH__BLOCK_FINGERPRINTS + 1, sizeof *block->places);
    if (block->bytes != NULL && block->places != NULL) return true;
    nigh__chunk_block_release(context, block);
    return false;
}

void nigh__chunk_block_release(const nigh_context *context, struct nigh__chunk_block *block) {
    nigh__free(context, block->bytes);
    nigh__free(context, block->places);
    *block = (struct nigh__chunk_block){0};
}

void nigh__chunk_reader_init(const nigh_chunks *chunks, struct nigh__chunk_reader *reader) {
    *reader = (struct nigh__chunk_reader){.chunks = chunks, .offset = NIGH__CHUNKS_START + chunks->state.origin};
}

static nigh_status read_chunk_header(struct nigh__chunk_reader *reader, nigh_error *error) {
    const nigh_chunks *chunks = reader->chunks;
    const struct nigh__chunks_state *state = &chunks->state;
    struct nigh__chunk_header *header = &reader->header;
    const uint64_t at = reader->offset;
    if (!nigh__range_fits(at, sizeof *header, state->length))
        return corrupt(chunks, at, "the chunks end before all of them are there", error);
    nigh_status status = nigh__file_read(&chunks->file, at, header, sizeof *header, error);
    if (status != NIGH_OK) return status;
    if (memcmp(header->magic, NIGH__CHUNK_MAGIC, sizeof header->magic) != 0)
        return corrupt(chunks, at, "no chunk begins here", error);
    if (header->checksum != checksum_of(header))
        return corrupt(chunks, at, "the chunk header's checksum is wrong", error);
    if (header->number != reader->chunk || header->first != reader->read)
        return corrupt(chunks, at, "a chunk is not where it belongs", error);
    if (header->count == 0 || header->count > NIGH__MAX_CHUNK_FINGERPRINTS ||
        header->count > state->fingerprints - reader->read || header->length != nigh__chunk_length(header->count) ||
        !nigh__range_fits(at, header->length, state->length))
        return corrupt(chunks, at, "a chunk has another size than the file has room for", error);
    reader->left = header->count;
    reader->block = 0;
    reader->last = 0;
    reader->offset += sizeof *header;
    return NIGH_OK;
}

/* Ascending, from the block before too, and no number that the chunk does not have. */
static bool block_in_order(const struct nigh__chunk_reader *reader, const struct nigh__chunk_block *block) {
    uint64_t wrong = block->rows[0] < reader->last;
    for (uint32_t i = 1; i < block->count; i++) wrong |= block->rows[i] < block->rows[i - 1];
    const uint32_t limit = (uint32_t)reader->header.count;
    for (uint32_t i = 0; i < block->count; i++) wrong |= block->numbers[i] >= limit;
    return wrong == 0;
}

static nigh_status block_check(const struct nigh__chunk_reader *reader, const struct nigh__chunk_block *block,
                               uint64_t length, nigh_error *error) {
    struct nigh__block_header header;
    memcpy(&header, block->bytes, sizeof header);
    const uint8_t *end = (const uint8_t *)block->bytes + length - 8;
    if (nigh__load64(end) != nigh__hash(block->bytes, (size_t)length - 8))
        return corrupt(reader->chunks, reader->offset, "the block's checksum is wrong", error);
    if (header.chunk != reader->chunk || header.block != reader->block || header.count != block->count)
        return corrupt(reader->chunks, reader->offset, "a block is not where it belongs", error);
    if (!block_in_order(reader, block))
        return corrupt(reader->chunks, reader->offset, "the block is not sorted, or numbers others than its chunk's",
                       error);
    return NIGH_OK;
}

/* Keeps the first of equal rows, in place: each is then compared once, however many there are. */
static void block_collapse(struct nigh__chunk_block *block) {
    uint64_t *rows = (uint64_t *)block->bytes + sizeof(struct nigh__block_header) / 8;
    uint32_t equal = 0;
    for (uint32_t i = 1; i < block->count; i++) equal += rows[i] == rows[i - 1];
    block->starts = NULL;
    if (equal == 0) return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        if (kept > 0 && rows[i] == rows[kept - 1]) continue;
        rows[kept] = rows[i];
        block->places[kept++] = i;
    }
    block->places[kept] = block->count;
    block->starts = block->places;
    block->count = kept;
}

static nigh_status read_block(struct nigh__chunk_reader *reader, struct nigh__chunk_block *block, nigh_error *error) {
    block->count = reader->left < NIGH__BLOCK_FINGERPRINTS ? (uint32_t)reader->left : NIGH__BLOCK_FINGERPRINTS;
    const uint64_t length = nigh__block_length(block->count);
    nigh_status status = nigh__file_read(&reader->chunks->file, reader->offset, block->bytes, (size_t)length, error);
    if (status != NIGH_OK) return status;
    block->rows = (const uint64_t *)block->bytes + sizeof(struct nigh__block_header) / 8;
    block->numbers = (const uint32_t *)(const void *)(block->rows + block->count);
    block->first = reader->header.first;
    status = block_check(reader, block, length, error);
    if (status != NIGH_OK) return status;
    reader->offset += length;
    reader->left -= block->count;
    reader->read += block->count;
    reader->block++;
    reader->last = block->rows[block->count - 1];
    block->ends_chunk = reader->left == 0;
    if (block->ends_chunk) {
        reader->offset = nigh__round_up(reader->offset, NIGH__CHUNK_ALIGNMENT);
        reader->chunk++;
    }
    block_collapse(block);
    return NIGH_OK;
}

/* After the last chunk. */
static nigh_status read_end(const struct nigh__chunk_reader *reader, nigh_error *error) {
    const struct nigh__chunks_state *state = &reader->chunks->state;
    if (reader->read == state->fingerprints && reader->offset == state->length) return NIGH_END;
    return corrupt(reader->chunks, reader->offset, "more follows the last chunk", error);
}

nigh_status nigh__chunk_reader_next(struct nigh__chunk_reader *reader, struct nigh__chunk_block *block,
                                    nigh_error *error) {
    if (reader->left == 0 && reader->chunk == reader->chunks->state.chunks) return read_end(reader, error);
    nigh_status status = reader->left == 0 ? read_chunk_header(reader, error) : NIGH_OK;
    return status == NIGH_OK ? read_block(reader, block, error) : status;
}

/* --------------------------------------------------------------------- appending */

/* From header to header, once: nothing is put behind chunks that are not what the state says. */
static nigh_status walk_headers(nigh_chunks *chunks, nigh_error *error) {
    struct nigh__chunk_reader reader;
    nigh__chunk_reader_init(chunks, &reader);
    while (!chunks->walked && reader.chunk < chunks->state.chunks) {
        const uint64_t at = reader.offset;
        nigh_status status = read_chunk_header(&reader, error);
        if (status != NIGH_OK) return status;
        reader.offset = at + reader.header.length;
        reader.read += reader.header.count;
        reader.chunk++;
    }
    nigh_status status = chunks->walked ? NIGH_END : read_end(&reader, error);
    if (status != NIGH_END) return status;
    chunks->walked = true;
    return NIGH_OK;
}

/* Cuts off what does not count.  Where that fails it stays, and harms nobody. */
void nigh__chunks_cut_leftover(nigh_chunks *chunks) {
    const nigh_file_system *files = chunks->context->files;
    if (files->truncate != NULL) (void)files->truncate(files->user, chunks->file.handle, chunks->state.length);
    (void)nigh__file_length(&chunks->file, &chunks->file_length, NULL);
    if (chunks->file_length < chunks->state.length) chunks->file_length = chunks->state.length;
}

/* records: pairs of a fingerprint and its number, sorted. */
static uint64_t block_fill(uint8_t *bytes, const struct nigh__block_header *header, const uint64_t *records) {
    const uint64_t length = nigh__block_length(header->count);
    uint8_t *rows = bytes + sizeof *header;
    uint8_t *numbers = rows + (size_t)header->count * 8;
    memcpy(bytes, header, sizeof *header);
    nigh__store64(bytes + length - 16, 0); /* where there may be a gap */
    for (uint32_t i = 0; i < header->count; i++) {
        nigh__store64(rows + (size_t)i * 8, records[2 * (size_t)i]);
        nigh__store32(numbers + (size_t)i * 4, (uint32_t)records[2 * (size_t)i + 1]);
    }
    nigh__store64(bytes + length - 8, nigh__hash(bytes, (size_t)length - 8));
    return length;
}

static nigh_status write_end(const nigh_chunks *chunks, uint64_t offset, uint64_t end, nigh_error *error) {
    static const uint8_t zeros[NIGH__CHUNK_ALIGNMENT];
    return nigh__file_write(&chunks->file, offset, zeros, (size_t)(end - offset), error);
}

static nigh_status write_blocks(const nigh_chunks *chunks, uint64_t at, const uint64_t *records, size_t count,
                                uint8_t *bytes, struct nigh__progress *progress, nigh_error *error) {
    uint64_t offset = at + sizeof(struct nigh__chunk_header);
    struct nigh__block_header header = {.chunk = chunks->state.chunks};
    for (size_t done = 0; done < count; done += header.count) {
        if (nigh__progress_tick(progress, "writing", done, count)) return nigh__progress_cancelled(error);
        header.count = (uint32_t)nigh__smaller(count - done, NIGH__BLOCK_FINGERPRINTS);
        const uint64_t length = block_fill(bytes, &header, records + 2 * done);
        nigh_status status = nigh__file_write(&chunks->file, offset, bytes, (size_t)length, error);
        if (status != NIGH_OK) return status;
        offset += length;
        header.block++;
    }
    return write_end(chunks, offset, at + nigh__chunk_length(count), error);
}

static nigh_status write_chunk(const nigh_chunks *chunks, uint64_t at, const uint64_t *records, size_t count,
                               struct nigh__progress *progress, nigh_error *error) {
    struct nigh__chunk_header header = {.number = chunks->state.chunks,
                                        .first = chunks->state.fingerprints,
                                        .count = count,
                                        .length = nigh__chunk_length(count)};
    memcpy(header.magic, NIGH__CHUNK_MAGIC, sizeof header.magic);
    header.checksum = checksum_of(&header);
    struct nigh__chunk_block block;
    if (!nigh__chunk_block_init(chunks->context, &block)) return nigh__no_memory(error, "for a block of fingerprints");
    nigh_status status = nigh__file_write(&chunks->file, at, &header, sizeof header, error);
    if (status == NIGH_OK) status = write_blocks(chunks, at, records, count, block.bytes, progress, error);
    if (status == NIGH_OK) status = nigh__file_sync(&chunks->file, error);
    nigh__chunk_block_release(chunks->context, &block);
    return status;
}

/* Puts the state of before back into a slot that may have got the new one. */
static void take_back(nigh_chunks *chunks, int slot) {
    chunks->uncertain = true;
    chunks->walked = false;
    if (nigh__file_write(&chunks->file, NIGH__CHUNK_STATE_AT(slot), &chunks->state, sizeof chunks->state, NULL) ==
        NIGH_OK)
        (void)nigh__file_sync(&chunks->file, NULL);
}

static nigh_status commit(nigh_chunks *chunks, uint64_t origin, size_t count, nigh_error *error) {
    struct nigh__chunks_state state = chunks->state;
    const int slot = 1 - chunks->slot;
    state.sequence++;
    state.chunks++;
    state.fingerprints += count;
    state.length += origin + nigh__chunk_length(count);
    state.origin += origin;
    state.checksum = checksum_of(&state);
    nigh_status status = nigh__file_write(&chunks->file, NIGH__CHUNK_STATE_AT(slot), &state, sizeof state, error);
    if (status == NIGH_OK) status = nigh__file_sync(&chunks->file, error);
    if (status != NIGH_OK) {
        take_back(chunks, slot);
        return status;
    }
    (void)nigh__file_write(&chunks->file, NIGH__CHUNK_STATE_AT(chunks->slot), &state, sizeof state, NULL);
    chunks->state = state;
    chunks->slot = slot;
    return NIGH_OK;
}

/* Before the first chunk, how it was signed; *length: so many bytes, 0 where nothing is due. */
static nigh_status write_origin(const nigh_chunks *chunks, uint64_t *length, nigh_error *error) {
    const nigh_attachment *kept = chunks->kept;
    *length = 0;
    if (!chunks->declared || chunks->state.chunks > 0 || chunks->state.origin > 0) return NIGH_OK;
    const struct nigh__origin_parts parts = {
        {chunks->scheme, kept[NIGH__ATTACHMENT_VOCABULARY].bytes, kept[NIGH__ATTACHMENT_MODEL].bytes},
        {strlen(chunks->scheme), kept[NIGH__ATTACHMENT_VOCABULARY].length, kept[NIGH__ATTACHMENT_MODEL].length}};
    const uint64_t lengths[NIGH__ORIGIN_PARTS] = {parts.lengths[0], parts.lengths[1], parts.lengths[2]};
    nigh_status status = nigh__origin_write(&chunks->file, chunks->state.length, &parts, error);
    return status == NIGH_OK && !nigh__origin_length(lengths, length) ? NIGH_ELIMIT : status;
}

static nigh_status append_sorted(nigh_chunks *chunks, const uint64_t *records, size_t count,
                                 struct nigh__progress *progress, nigh_error *error) {
    uint64_t origin = 0;
    nigh__chunks_cut_leftover(chunks);
    nigh_status status = write_origin(chunks, &origin, error);
    if (status == NIGH_OK) status = write_chunk(chunks, chunks->state.length + origin, records, count, progress, error);
    if (status == NIGH_OK) status = commit(chunks, origin, count, error);
    if (status != NIGH_OK && !chunks->uncertain) nigh__chunks_cut_leftover(chunks);
    if (status != NIGH_OK) return status;
    (void)nigh__file_length(&chunks->file, &chunks->file_length, NULL);
    if (chunks->file_length < chunks->state.length) chunks->file_length = chunks->state.length;
    return NIGH_OK;
}

static nigh_status append_check(const nigh_chunks *chunks, size_t count, nigh_error *error) {
    const char *path = chunks->file.path;
    uint64_t sum;
    if (!chunks->writable)
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET, "the file was not opened for writing");
    if (chunks->state.origin > 0 && !chunks->declared && strncmp(chunks->scheme, OWN_SCHEME, strlen(OWN_SCHEME)) != 0)
        return nigh__fail_at(error, NIGH_EMISMATCH, path, NIGH_NO_OFFSET,
                             "its signatures were made from text; say how these were made");
    if (count > NIGH__MAX_CHUNK_FINGERPRINTS)
        return nigh__fail_at(error, NIGH_ELIMIT, path, NIGH_NO_OFFSET, "%zu fingerprints; a chunk has %u at most",
                             count, NIGH__MAX_CHUNK_FINGERPRINTS);
    if (!nigh__add64(chunks->state.length, nigh__chunk_length(count), &sum) || sum > INT64_MAX ||
        !nigh__add64(chunks->state.fingerprints, count, &sum))
        return nigh__fail_at(error, NIGH_ELIMIT, path, NIGH_NO_OFFSET, "the file would be too long");
    if (chunks->state.sequence == UINT64_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, path, NIGH__CHUNK_STATE_AT(chunks->slot),
                             "no sequence number is left for another append");
    return NIGH_OK;
}

nigh_status nigh_chunks_append(nigh_chunks *chunks, const uint8_t *rows, size_t count, const nigh_progress *progress,
                               nigh_error *error) {
    const nigh_context *context = chunks->context;
    nigh_status status = nigh__chunks_settle(chunks, error);
    if (status == NIGH_OK) status = append_check(chunks, count, error);
    if (status == NIGH_OK && count > 0) status = walk_headers(chunks, error);
    if (status != NIGH_OK || count == 0) return status;
    struct nigh__progress state;
    nigh__progress_init(&state, progress);
    uint64_t *records = nigh__alloc(context, count, 2 * sizeof *records);
    uint64_t *scratch = nigh__alloc(context, count, 2 * sizeof *scratch);
    if (records != NULL && scratch != NULL) {
        for (size_t i = 0; i < count; i++) {
            records[2 * i] = nigh__load64(rows + 8 * i);
            records[2 * i + 1] = i;
        }
        const uint64_t *sorted = nigh__words_sort(records, scratch, count, 2, 1, nigh__threads_resolve(0));
        status = append_sorted(chunks, sorted, count, &state, error);
    } else {
        status = nigh__fail(error, NIGH_ENOMEM, "no memory to sort %zu fingerprints", count);
    }
    nigh__free(context, records);
    nigh__free(context, scratch);
    return status;
}
