/* SPDX-License-Identifier: Apache-2.0 */
/* Packing sets of deleted documents, and unpacking them without trusting the file. */
#include "collection/deletions.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/directory.h"
#include "collection/selection.h"
#include "collection/sidecar.h"

static const struct nigh__sidecar_kind deletions_kind = {
    .number = NIGH__DELETIONS_KIND, .prefix = "deleted-", .title = "deleted documents"};

/* ------------------------------------------------------------------ packing */

/* Seven bits a byte, the lowest first; all but the last have the eighth bit. */
static size_t put_number(uint8_t *bytes, uint64_t number) {
    size_t count = 0;
    for (; number >= 128; number >>= 7) bytes[count++] = (uint8_t)(number | 128);
    bytes[count++] = (uint8_t)number;
    return count;
}

/* The first document from `at` on that lives, or does not; `end` where there is none. */
static uint32_t next_document(const uint64_t *living, uint32_t at, uint32_t end, bool lives) {
    while (at < end) {
        const uint64_t word = (lives ? living[at / 64] : ~living[at / 64]) >> at % 64;
        if (word != 0) {
            const uint64_t found = (uint64_t)at + (uint64_t)__builtin_ctzll(word);
            return found < end ? (uint32_t)found : end;
        }
        const uint64_t next = ((uint64_t)at | 63) + 1;
        at = next < end ? (uint32_t)next : end;
    }
    return end;
}

#define RUN_BYTES 10u /* of two numbers below 2^33, at most */

/* The runs of documents that do not live.  False: no memory, or they take `most` bytes or more. */
static bool pack_runs(const nigh_context *context, const uint64_t *living, uint32_t documents, size_t most,
                      struct nigh__array *out) {
    uint32_t end = 0; /* of the run before */
    for (;;) {
        const uint32_t first = next_document(living, end, documents, false);
        if (first == documents) return true;
        const uint32_t last = next_document(living, first, documents, true);
        uint8_t bytes[RUN_BYTES];
        size_t count = put_number(bytes, 2 * (uint64_t)(first - end) + (last - first > 1));
        if (last - first > 1) count += put_number(bytes + count, last - first - 2);
        if (out->count + count >= most || !nigh__bytes_append(context, out, bytes, count)) return false;
        end = last;
    }
}

static nigh_status write_section(struct nigh__sidecar_writer *writer, const void *bytes, size_t length,
                                 nigh_error *error) {
    nigh_status status = nigh__sidecar_section_begin(writer, NIGH__DELETIONS_SECTION, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_add(writer, bytes, length, error);
    if (status == NIGH_OK) status = nigh__sidecar_section_end(writer, length, error);
    return status;
}

/* The bitmap has the deleted ones, and none past the last. */
static nigh_status write_bitmap(const nigh_context *context, struct nigh__sidecar_writer *writer,
                                const uint64_t *living, uint32_t documents, nigh_error *error) {
    const size_t words = nigh__bitmap_words(documents);
    uint64_t *deleted = nigh__bitmap_full(context, documents);
    if (deleted == NULL) return nigh__no_memory(error, "for deleted documents");
    for (size_t i = 0; i < words; i++) deleted[i] &= ~living[i];
    const nigh_status status = write_section(writer, deleted, words * sizeof *deleted, error);
    nigh__free(context, deleted);
    return status;
}

static nigh_status write_set(const struct nigh__file *directory, const struct nigh__segment *segment, uint64_t number,
                             const uint64_t *living, struct nigh__deletions_entry *entry, nigh_error *error) {
    const nigh_context *context = directory->context;
    struct nigh__array runs = NIGH__ARRAY(uint8_t);
    const size_t bitmap_bytes = nigh__bitmap_words(segment->documents) * sizeof(uint64_t);
    const bool packed = pack_runs(context, living, segment->documents, bitmap_bytes + 1, &runs);
    struct nigh__sidecar_writer *writer;
    nigh_status status =
        nigh__sidecar_writer_open_numbered(directory, segment, &deletions_kind, number,
                                           packed ? NIGH__DELETIONS_RUNS : NIGH__DELETIONS_BITMAP, &writer, error);
    if (status == NIGH_OK)
        status = packed ? write_section(writer, runs.data, runs.count, error)
                        : write_bitmap(context, writer, living, segment->documents, error);
    if (status == NIGH_OK) status = nigh__sidecar_writer_finish(writer, &entry->file_length, error);
    if (status == NIGH_OK) entry->header_checksum = nigh__sidecar_writer_header(writer)->checksum;
    nigh__sidecar_writer_close(writer);
    nigh__array_release(context, &runs);
    return status;
}

nigh_status nigh__deletions_write(const struct nigh__file *directory, const struct nigh__segment *segment,
                                  uint64_t number, const uint64_t *living, struct nigh__deletions_entry *entry,
                                  nigh_error *error) {
    *entry = (struct nigh__deletions_entry){
        .number = number, .deleted = segment->documents - nigh__bitmap_count(living, segment->documents)};
    nigh_status status = write_set(directory, segment, number, living, entry, error);
    if (status != NIGH_OK) return status;
    status = nigh__sidecar_publish(directory, number, &deletions_kind, error);
    if (status != NIGH_OK) nigh__sidecar_discard(directory, number, &deletions_kind);
    return status;
}

/* ---------------------------------------------------------------- unpacking */

/* A set on its way out of a file; `why` is what is wrong with it, at byte `at`. */
struct unpacking {
    const struct nigh__segment *segment;
    const struct nigh__sidecar *file;
    const uint8_t *bytes;
    uint64_t length;
    uint64_t *living;
    uint64_t at;
    const char *why;
};

/* False where it does not end, is longer than it must be, or does not fit 35 bits. */
static bool take_number(struct unpacking *unpacking, uint64_t *out) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 35 && unpacking->at < unpacking->length; shift += 7) {
        const uint8_t byte = NIGH__ONCE(unpacking->bytes[unpacking->at]);
        unpacking->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte >= 128) continue;
        *out = number;
        return byte != 0 || shift == 0;
    }
    return false;
}

static void remove_run(uint64_t *living, uint64_t first, uint64_t end) {
    for (; first < end && first % 64 != 0; first++) nigh__bitmap_remove(living, first);
    for (; end - first >= 64; first += 64) living[first / 64] = 0;
    for (; first < end; first++) nigh__bitmap_remove(living, first);
}

static void unpack_runs(struct unpacking *unpacking) {
    const uint64_t documents = unpacking->segment->documents;
    for (uint64_t end = 0; unpacking->at < unpacking->length;) {
        uint64_t gap;
        uint64_t rest = 0;
        unpacking->why = "an impossible run of deleted documents";
        if (!take_number(unpacking, &gap)) return;
        const bool longer = (gap & 1) != 0;
        gap >>= 1;
        if (longer && !take_number(unpacking, &rest)) return;
        const uint64_t length = longer ? rest + 2 : 1;
        if ((gap == 0 && end != 0) || gap > documents - end || length > documents - end - gap) return;
        remove_run(unpacking->living, end + gap, end + gap + length);
        end += gap + length;
        unpacking->why = NULL;
    }
}

static void unpack_bitmap(struct unpacking *unpacking) {
    const size_t words = nigh__bitmap_words(unpacking->segment->documents);
    unpacking->why = "a bitmap of another size";
    if (unpacking->length != words * sizeof(uint64_t)) return;
    unpacking->why = "a document is deleted that does not exist";
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, unpacking->bytes + i * sizeof word, sizeof word);
        if ((word & ~unpacking->living[i]) != 0) return;
        unpacking->living[i] &= ~word;
    }
    unpacking->why = NULL;
}

static nigh_status corrupt(const struct nigh__sidecar *file, uint64_t at, const char *why, nigh_error *error) {
    return nigh__sidecar_corrupt(file, NIGH__DELETIONS_SECTION, at, 1, why, error);
}

/* Inside guards. */
static nigh_status unpack(void *user, nigh_error *error) {
    struct unpacking *unpacking = user;
    if (unpacking->file->header.parameter == NIGH__DELETIONS_RUNS)
        unpack_runs(unpacking);
    else if (unpacking->file->header.parameter == NIGH__DELETIONS_BITMAP)
        unpack_bitmap(unpacking);
    else
        unpacking->why = "an unknown form";
    return unpacking->why == NULL ? NIGH_OK : corrupt(unpacking->file, unpacking->at, unpacking->why, error);
}

static nigh_status read_set(const struct nigh__segment *segment, const struct nigh__sidecar *file, uint64_t deleted,
                            uint64_t *living, nigh_error *error) {
    struct unpacking unpacking = {.segment = segment, .file = file, .living = living};
    unpacking.length = nigh__sidecar_section_count(file, NIGH__DELETIONS_SECTION);
    unpacking.bytes = nigh__sidecar_section(file, NIGH__DELETIONS_SECTION, unpacking.length, 1, error);
    if (unpacking.bytes == NULL) return NIGH_ECORRUPT;
    const nigh_status status = nigh__sidecar_guarded(segment, file, unpack, &unpacking, error);
    if (status != NIGH_OK || segment->documents - nigh__bitmap_count(living, segment->documents) == deleted)
        return status;
    return corrupt(file, 0, "the number of deleted documents is not that of the manifest", error);
}

nigh_status nigh__deletions_read(const struct nigh__file *directory, const struct nigh__segment *segment,
                                 const struct nigh__deletions_entry *entry, uint64_t **living, nigh_error *error) {
    struct nigh__progress silent;
    struct nigh__sidecar *file;
    *living = NULL;
    nigh__progress_init(&silent, NULL);
    nigh_status status = nigh__sidecar_open_numbered(directory, segment, &deletions_kind, entry->number, &file, error);
    if (status != NIGH_OK) return status == NIGH_EMISMATCH ? NIGH_ECORRUPT : status;
    if (file->header.checksum != entry->header_checksum || file->length != entry->file_length)
        status = nigh__fail_at(error, NIGH_ECORRUPT, file->path, 0, "not the deletions that the manifest names");
    if (status == NIGH_OK) status = nigh__sidecar_check_sums(file, &silent, error);
    if (status == NIGH_OK) *living = nigh__bitmap_full(segment->context, segment->documents);
    if (status == NIGH_OK && *living == NULL) status = nigh__no_memory(error, "for deleted documents");
    if (status == NIGH_OK) status = read_set(segment, file, entry->deleted, *living, error);
    nigh__sidecar_close(file);
    if (status == NIGH_OK) return NIGH_OK;
    nigh__free(segment->context, *living);
    *living = NULL;
    return status;
}

nigh_status nigh__segment_open_deletions(const struct nigh__file *directory, struct nigh__segment *segment,
                                         nigh_error *error) {
    uint64_t *living;
    if (segment->deletions.number == 0) return NIGH_OK;
    const nigh_status status = nigh__deletions_read(directory, segment, &segment->deletions, &living, error);
    return status == NIGH_OK ? nigh__selection_new(segment, living, &segment->living, error) : status;
}
