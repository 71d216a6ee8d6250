/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Files made of sections, read with suspicion.  Opening shows that every section lies
 * inside the file; the checks compare the bytes of sections with their checksums, and
 * all bytes that belong to none with zero.
 */
#include "collection/sections.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/status.h"

#define LENGTH_AT offsetof(struct nigh__segment_header, file_length)
#define CHECKSUM_AT offsetof(struct nigh__segment_header, checksum)
#define SHORTEST_FILE (NIGH__SECTIONS_START + sizeof(struct nigh__segment_footer))
#define CHUNK ((uint64_t)4 << 20)
#define NO_PROBLEM UINT64_MAX

/* ----------------------------------------------------------------- reading */

nigh_status nigh__sections_length_check(const char *path, uint64_t length, uint64_t in_header, nigh_error *error) {
    if (length == in_header && length >= SHORTEST_FILE && length % NIGH__SECTION_ALIGNMENT == 0) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, path, LENGTH_AT, "the file has %llu bytes, its header says %llu",
                         (unsigned long long)length, (unsigned long long)in_header);
}

static uint64_t head_checksum(struct nigh__hasher *hasher, const void *header, const struct nigh__section_entry *table,
                              uint32_t count) {
    nigh__hasher_reset(hasher);
    nigh__hasher_add(hasher, header, CHECKSUM_AT);
    nigh__hasher_add(hasher, table, count * sizeof *table);
    return nigh__hasher_value(hasher);
}

nigh_status nigh__sections_head_check(const struct nigh__file *file, const void *header,
                                      const struct nigh__section_entry *table, uint32_t count, nigh_error *error) {
    struct nigh__hasher *hasher = nigh__hasher_new(file->context);
    if (hasher == NULL) return nigh__no_memory(error, "for a checksum");
    const uint64_t checksum = head_checksum(hasher, header, table, count);
    nigh__hasher_free(file->context, hasher);
    if (checksum == nigh__load64((const uint8_t *)header + CHECKSUM_AT)) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, file->path, CHECKSUM_AT, "the header fails its checksum");
}

nigh_status nigh__sections_place_check(const char *path, const struct nigh__section_entry *entry, uint32_t index,
                                       uint64_t file_length, uint64_t *end, nigh_error *error) {
    const uint64_t at = NIGH__TABLE_AT + index * sizeof *entry;
    const uint64_t limit = file_length - sizeof(struct nigh__segment_footer);
    if (entry->type == 0 || entry->reserved != 0 || entry->zero != 0)
        return nigh__fail_at(error, NIGH_ECORRUPT, path, at, "an entry of the section table is malformed");
    if (entry->offset % NIGH__SECTION_ALIGNMENT != 0 || entry->offset < *end)
        return nigh__fail_at(error, NIGH_ECORRUPT, path, at, "section %u is misplaced", entry->type);
    if (!nigh__range_fits(entry->offset, entry->length, limit))
        return nigh__fail_at(error, NIGH_ECORRUPT, path, at, "section %u ends past the file", entry->type);
    *end = entry->offset + entry->length;
    return NIGH_OK;
}

nigh_status nigh__sections_footer_check(const struct nigh__file *file, uint64_t file_length, uint64_t header_checksum,
                                        nigh_error *error) {
    struct nigh__segment_footer footer;
    const uint64_t at = file_length - sizeof footer;
    nigh_status status = nigh__file_read(file, at, &footer, sizeof footer, error);
    if (status != NIGH_OK) return status;
    if (memcmp(footer.magic, NIGH__FOOTER_MAGIC, NIGH__MAGIC_SIZE) != 0 || footer.file_length != file_length ||
        footer.header_checksum != header_checksum)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, at, "the footer does not fit the header");
    return NIGH_OK;
}

/* ---------------------------------------------------------------- checking */

nigh_status nigh__sections_cut(const char *path, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EIO, path, NIGH_NO_OFFSET,
                         "the file was cut short or could not be read while in use");
}

/* Adds [offset, offset + length) to the hasher; false after a fault. */
static bool hash_part(const struct nigh__sections *sections, struct nigh__hasher *hasher, uint64_t offset,
                      uint64_t length) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, sections->map, sections->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    nigh__hasher_add(hasher, sections->map + offset, (size_t)length);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status check_sum(const struct nigh__sections *sections, const struct nigh__section_entry *entry,
                             struct nigh__hasher *hasher, struct nigh__progress *progress, nigh_error *error) {
    nigh__hasher_reset(hasher);
    for (uint64_t done = 0; done < entry->length;) {
        const uint64_t part = entry->length - done < CHUNK ? entry->length - done : CHUNK;
        if (!hash_part(sections, hasher, entry->offset + done, part)) return nigh__sections_cut(sections->path, error);
        done += part;
        if (nigh__progress_tick(progress, "verifying", entry->offset + done, sections->length))
            return nigh__progress_cancelled(error);
    }
    if (nigh__hasher_value(hasher) == entry->checksum) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, sections->path, entry->offset, "section %u fails its checksum",
                         entry->type);
}

nigh_status nigh__sections_check_sums(const struct nigh__sections *sections, struct nigh__progress *progress,
                                      nigh_error *error) {
    struct nigh__hasher *hasher = nigh__hasher_new(sections->context);
    if (hasher == NULL) return nigh__no_memory(error, "for a checksum");
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < sections->count && status == NIGH_OK; i++)
        status = check_sum(sections, &sections->table[i], hasher, progress, error);
    nigh__hasher_free(sections->context, hasher);
    return status;
}

/* The first byte in [begin, end) that is not zero, or NO_PROBLEM.  Inside a guard. */
static uint64_t first_set_byte(const uint8_t *map, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at++)
        if (map[at] != 0) return at;
    return NO_PROBLEM;
}

static uint64_t walk_gaps(const struct nigh__sections *sections) {
    const uint64_t footer = sections->length - sizeof(struct nigh__segment_footer);
    uint64_t begin = NIGH__TABLE_AT + sections->count * sizeof sections->table[0];
    for (uint32_t i = 0; i < sections->count; i++) {
        const uint64_t problem = first_set_byte(sections->map, begin, sections->table[i].offset);
        if (problem != NO_PROBLEM) return problem;
        begin = sections->table[i].offset + sections->table[i].length;
    }
    const uint64_t problem = first_set_byte(sections->map, begin, footer);
    if (problem != NO_PROBLEM) return problem;
    return first_set_byte(sections->map, footer + offsetof(struct nigh__segment_footer, zero), sections->length);
}

nigh_status nigh__sections_check_gaps(const struct nigh__sections *sections, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, sections->map, sections->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__sections_cut(sections->path, error);
    const uint64_t problem = walk_gaps(sections);
    nigh__guard_leave(&guard);
    if (problem == NO_PROBLEM) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, sections->path, problem, "a byte between sections is not zero");
}

/* ----------------------------------------------------------------- writing */

nigh_status nigh__section_writer_init(const nigh_context *context, struct nigh__file *file,
                                      struct nigh__section_writer *out, nigh_error *error) {
    memset(out, 0, sizeof *out);
    out->context = context;
    nigh_status status = nigh__output_init(context, file, NULL, file->path, &out->output, error);
    if (status != NIGH_OK) return status;
    out->output.offset = NIGH__SECTIONS_START; /* the header's place is left open */
    out->hasher = nigh__hasher_new(context);
    return out->hasher == NULL ? nigh__no_memory(error, "for a checksum") : NIGH_OK;
}

/* Zeros up to where a section or the footer may begin. */
static nigh_status align(struct nigh__section_writer *writer, nigh_error *error) {
    static const uint8_t zeros[NIGH__SECTION_ALIGNMENT];
    const uint64_t length = nigh__output_length(&writer->output);
    const uint64_t start = nigh__round_up(length, NIGH__SECTION_ALIGNMENT);
    writer->output.hasher = NULL;
    return nigh__output_add(&writer->output, zeros, (size_t)(start - length), error);
}

nigh_status nigh__section_begin(struct nigh__section_writer *writer, uint32_t type, nigh_error *error) {
    nigh_status status = align(writer, error);
    if (status != NIGH_OK) return status;
    const uint64_t start = nigh__output_length(&writer->output);
    writer->table[writer->count] = (struct nigh__section_entry){.type = type, .offset = start};
    nigh__hasher_reset(writer->hasher);
    writer->output.hasher = writer->hasher;
    return NIGH_OK;
}

void nigh__section_end(struct nigh__section_writer *writer, uint64_t count) {
    struct nigh__section_entry *entry = &writer->table[writer->count++];
    entry->length = nigh__output_length(&writer->output) - entry->offset;
    entry->count = count;
    entry->checksum = nigh__hasher_value(writer->hasher);
    writer->output.hasher = NULL;
}

nigh_status nigh__section_write(struct nigh__section_writer *writer, uint32_t type, const void *items, uint64_t count,
                                size_t item_size, nigh_error *error) {
    nigh_status status = nigh__section_begin(writer, type, error);
    if (status == NIGH_OK && count > 0)
        status = nigh__output_add(&writer->output, items, (size_t)count * item_size, error);
    if (status == NIGH_OK) nigh__section_end(writer, count);
    return status;
}

nigh_status nigh__section_writer_finish(struct nigh__section_writer *writer, void *header, nigh_error *error) {
    uint8_t front[NIGH__SECTIONS_START] = {0};
    struct nigh__segment_footer footer = {.magic = {0}};
    nigh_status status = align(writer, error);
    if (status != NIGH_OK) return status;
    uint8_t *bytes = header;
    footer.file_length = nigh__output_length(&writer->output) + sizeof footer;
    nigh__store64(bytes + LENGTH_AT, footer.file_length);
    footer.header_checksum = head_checksum(writer->hasher, header, writer->table, writer->count);
    nigh__store64(bytes + CHECKSUM_AT, footer.header_checksum);
    memcpy(footer.magic, NIGH__FOOTER_MAGIC, NIGH__MAGIC_SIZE);
    memcpy(front, header, NIGH__TABLE_AT);
    memcpy(front + NIGH__TABLE_AT, writer->table, writer->count * sizeof writer->table[0]);

    status = nigh__output_add(&writer->output, &footer, sizeof footer, error);
    if (status == NIGH_OK) status = nigh__output_flush(&writer->output, error);
    if (status == NIGH_OK) status = nigh__file_write(writer->output.file, 0, front, sizeof front, error);
    return status;
}

void nigh__section_writer_release(struct nigh__section_writer *writer) {
    if (writer->context == NULL) return;
    nigh__output_release(&writer->output);
    nigh__hasher_free(writer->context, writer->hasher);
    writer->hasher = NULL;
}
