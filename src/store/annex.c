/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Opening annexes.  Header, table and footer are read into memory of our own, so that
 * what was checked cannot change afterwards; only then is the file mapped.
 */
#include "store/annex.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"
#include "store/header.h"
#include "store/sections.h"

/* What is shared with segments stands at the same places. */
#define AT(field) (offsetof(struct nigh__annex_header, field) == offsetof(struct nigh__segment_header, field))
_Static_assert(AT(version) && AT(endian_mark) && AT(incompatible) && AT(file_length) && AT(checksum), "format");
#undef AT
_Static_assert(NIGH__ANNEX_SECTIONS <= NIGH__MAX_SECTIONS, "format");

static nigh_status corrupt(const struct nigh__file *file, uint64_t offset, const char *why, nigh_error *error) {
    return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset, "%s", why);
}

static nigh_status read_head(const struct nigh__file *file, struct nigh__annex *annex, nigh_error *error) {
    struct nigh__annex_header *header = &annex->header;
    nigh_status status = nigh__file_read(file, 0, header, sizeof *header, error);
    if (status == NIGH_OK)
        status = nigh__header_check(file->path, header, NIGH__ANNEX_MAGIC, "file beside a segment", error);
    if (status == NIGH_OK) status = nigh__sections_length_check(file->path, annex->length, header->file_length, error);
    if (status != NIGH_OK) return status;
    if (header->section_count > NIGH__ANNEX_SECTIONS)
        return corrupt(file, offsetof(struct nigh__annex_header, section_count), "too many sections", error);
    status = nigh__file_read(file, NIGH__TABLE_AT, annex->table, header->section_count * sizeof annex->table[0], error);
    if (status == NIGH_OK) status = nigh__sections_head_check(file, header, annex->table, header->section_count, error);
    if (status == NIGH_OK) status = nigh__features_check(file->path, header->incompatible, error);
    return status;
}

/* Whether it is what was asked for, once it is known to be whole. */
static nigh_status belongs(const struct nigh__file *file, const struct nigh__annex_header *header,
                           const struct nigh__segment *segment, enum nigh__annex_kind kind, nigh_error *error) {
    if (header->kind != (uint32_t)kind)
        return corrupt(file, offsetof(struct nigh__annex_header, kind), "of another kind than its name says", error);
    if (header->zero != 0)
        return corrupt(file, offsetof(struct nigh__annex_header, zero), "a byte of the header is not zero", error);
    if (header->segment_checksum != segment->header.checksum)
        return nigh__fail_at(error, NIGH_EMISMATCH, file->path, offsetof(struct nigh__annex_header, segment_checksum),
                             "made from another segment than the one of its number");
    return NIGH_OK;
}

static nigh_status check_table(const struct nigh__file *file, const struct nigh__annex *annex, nigh_error *error) {
    uint64_t end = NIGH__SECTIONS_START;
    for (uint32_t i = 0; i < annex->header.section_count; i++) {
        nigh_status status =
            nigh__sections_place_check(file->path, &annex->table[i], i, annex->header.file_length, &end, error);
        if (status != NIGH_OK) return status;
        for (uint32_t j = 0; j < i; j++)
            if (annex->table[j].type == annex->table[i].type)
                return nigh__fail_at(error, NIGH_ECORRUPT, file->path, NIGH__TABLE_AT + i * sizeof annex->table[0],
                                     "section %u is there twice", annex->table[i].type);
    }
    return NIGH_OK;
}

static nigh_status read_and_map(const struct nigh__file *file, const struct nigh__segment *segment,
                                enum nigh__annex_kind kind, struct nigh__annex *annex, nigh_error *error) {
    nigh_status status = nigh__file_length(file, &annex->length, error);
    if (status == NIGH_OK) status = read_head(file, annex, error);
    if (status == NIGH_OK) status = belongs(file, &annex->header, segment, kind, error);
    if (status == NIGH_OK) status = check_table(file, annex, error);
    if (status == NIGH_OK)
        status = nigh__sections_footer_check(file, annex->header.file_length, annex->header.checksum, error);
    if (status == NIGH_OK) status = nigh__file_map(file, annex->length, &annex->map, error);
    return status;
}

static nigh_status open_in(const struct nigh__file *directory, const struct nigh__segment *segment,
                           enum nigh__annex_kind kind, struct nigh__annex *annex, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__annex_name(name, kind, segment->number, "");
    annex->path = nigh__path_join(annex->context, directory->path, name);
    if (annex->path == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a path");
    struct nigh__file file;
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, error);
    if (status != NIGH_OK) return status;
    status = read_and_map(&file, segment, kind, annex, error);
    nigh__file_release(&file);
    return status;
}

nigh_status nigh__annex_open(const struct nigh__file *directory, const struct nigh__segment *segment,
                             enum nigh__annex_kind kind, struct nigh__annex **out, nigh_error *error) {
    *out = NULL;
    struct nigh__annex *annex = nigh__alloc_zero(directory->context, 1, sizeof *annex);
    if (annex == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for the header of %s", nigh__annex_title(kind));
    annex->context = directory->context;
    nigh_error problem;
    nigh_status status = open_in(directory, segment, kind, annex, &problem);
    if (status == NIGH_OK) {
        *out = annex;
        return NIGH_OK;
    }
    nigh__annex_close(annex);
    if (status != NIGH_ENOTFOUND && error != NULL) *error = problem;
    return status;
}

void nigh__annex_close(struct nigh__annex *annex) {
    if (annex == NULL) return;
    nigh__file_unmap(annex->context, annex->map, annex->length, annex->loaded);
    nigh__free(annex->context, annex->path);
    nigh__free(annex->context, annex);
}

static const struct nigh__section_entry *find_section(const struct nigh__annex *annex, uint32_t type, uint32_t *index) {
    for (*index = 0; *index < annex->header.section_count; ++*index)
        if (annex->table[*index].type == type) return &annex->table[*index];
    return NULL;
}

const void *nigh__annex_section(const struct nigh__annex *annex, uint32_t type, uint64_t count, size_t item_size,
                                nigh_error *error) {
    uint32_t index;
    const struct nigh__section_entry *entry = find_section(annex, type, &index);
    if (entry == NULL) {
        (void)nigh__fail_at(error, NIGH_ECORRUPT, annex->path, NIGH__TABLE_AT, "section %u is missing", type);
        return NULL;
    }
    uint64_t length;
    if (!nigh__multiply64(count, item_size, &length) || entry->count != count || entry->length != length) {
        (void)nigh__fail_at(error, NIGH_ECORRUPT, annex->path, NIGH__TABLE_AT + index * sizeof *entry,
                            "section %u has the wrong size", type);
        return NULL;
    }
    return annex->map + entry->offset;
}

uint64_t nigh__annex_section_count(const struct nigh__annex *annex, uint32_t type) {
    uint32_t index;
    const struct nigh__section_entry *entry = find_section(annex, type, &index);
    return entry == NULL ? 0 : entry->count;
}

nigh_status nigh__annex_guarded(const struct nigh__segment *segment, const struct nigh__annex *annex,
                                nigh_status (*body)(void *user, nigh_error *error), void *user, nigh_error *error) {
    struct nigh__guard outer;
    struct nigh__guard inner;
    nigh__guard_enter(&outer, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&outer)) return nigh__segment_cut(segment, error);
    nigh__guard_enter(&inner, annex->map, annex->length);
    if (NIGH__GUARD_FAULTED(&inner)) {
        nigh__guard_leave(&outer);
        return nigh__annex_cut(annex, error);
    }
    const nigh_status status = body(user, error);
    nigh__guard_leave(&inner);
    nigh__guard_leave(&outer);
    return status;
}

nigh_status nigh__annex_cut(const struct nigh__annex *annex, nigh_error *error) {
    return nigh__sections_cut(annex->path, error);
}

nigh_status nigh__annex_lies(const struct nigh__annex *annex, uint32_t type, uint64_t index, size_t item_size,
                             const char *why, nigh_error *error) {
    uint32_t place;
    const struct nigh__section_entry *entry = find_section(annex, type, &place);
    return nigh__fail_at(error, NIGH_ECORRUPT, annex->path,
                         entry == NULL ? NIGH_NO_OFFSET : entry->offset + index * item_size, "%s", why);
}

nigh_status nigh__annex_check_sums(const struct nigh__annex *annex, struct nigh__progress *progress,
                                   nigh_error *error) {
    const struct nigh__sections sections = {.context = annex->context,
                                            .path = annex->path,
                                            .map = annex->map,
                                            .length = annex->length,
                                            .table = annex->table,
                                            .count = annex->header.section_count};
    nigh_status status = nigh__sections_check_sums(&sections, progress, error);
    return status == NIGH_OK ? nigh__sections_check_gaps(&sections, error) : status;
}
