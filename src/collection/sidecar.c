/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Opening sidecars.  Header, table and footer are read into memory of our own, so that
 * what was checked cannot change afterwards; only then is the file mapped.
 */
#include "collection/sidecar.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/directory.h"
#include "collection/header.h"
#include "collection/sections.h"

/* What is shared with segments stands at the same places. */
#define AT(field) (offsetof(struct nigh__sidecar_header, field) == offsetof(struct nigh__segment_header, field))
_Static_assert(AT(version) && AT(endian_mark) && AT(incompatible) && AT(file_length) && AT(checksum), "format");
#undef AT
_Static_assert(NIGH__SIDECAR_SECTIONS <= NIGH__MAX_SECTIONS, "format");

static nigh_status corrupt(const struct nigh__file *file, uint64_t offset, const char *why, nigh_error *error) {
    return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset, "%s", why);
}

static nigh_status read_head(const struct nigh__file *file, struct nigh__sidecar *sidecar, nigh_error *error) {
    struct nigh__sidecar_header *header = &sidecar->header;
    nigh_status status = nigh__file_read(file, 0, header, sizeof *header, error);
    if (status == NIGH_OK)
        status = nigh__header_check(file->path, header, NIGH__SIDECAR_MAGIC, "file beside a segment", error);
    if (status == NIGH_OK)
        status = nigh__sections_length_check(file->path, sidecar->length, header->file_length, error);
    if (status != NIGH_OK) return status;
    if (header->section_count > NIGH__SIDECAR_SECTIONS)
        return corrupt(file, offsetof(struct nigh__sidecar_header, section_count), "too many sections", error);
    status =
        nigh__file_read(file, NIGH__TABLE_AT, sidecar->table, header->section_count * sizeof sidecar->table[0], error);
    if (status == NIGH_OK)
        status = nigh__sections_head_check(file, header, sidecar->table, header->section_count, error);
    if (status == NIGH_OK) status = nigh__features_check(file->path, header->incompatible, 0, error);
    return status;
}

/* Whether it is what was asked for, once it is known to be whole. */
static nigh_status belongs(const struct nigh__file *file, const struct nigh__sidecar_header *header,
                           const struct nigh__segment *segment, const struct nigh__sidecar_kind *kind,
                           nigh_error *error) {
    if (header->kind != kind->number)
        return corrupt(file, offsetof(struct nigh__sidecar_header, kind), "of another kind than its name says", error);
    if (header->zero != 0)
        return corrupt(file, offsetof(struct nigh__sidecar_header, zero), "a byte of the header is not zero", error);
    if (header->segment_checksum != segment->header.checksum)
        return nigh__fail_at(error, NIGH_EMISMATCH, file->path, offsetof(struct nigh__sidecar_header, segment_checksum),
                             "made from another segment than the one of its number");
    return NIGH_OK;
}

static nigh_status check_table(const struct nigh__file *file, const struct nigh__sidecar *sidecar, nigh_error *error) {
    uint64_t end = NIGH__SECTIONS_START;
    for (uint32_t i = 0; i < sidecar->header.section_count; i++) {
        nigh_status status =
            nigh__sections_place_check(file->path, &sidecar->table[i], i, sidecar->header.file_length, &end, error);
        if (status != NIGH_OK) return status;
        for (uint32_t j = 0; j < i; j++)
            if (sidecar->table[j].type == sidecar->table[i].type)
                return nigh__fail_at(error, NIGH_ECORRUPT, file->path, NIGH__TABLE_AT + i * sizeof sidecar->table[0],
                                     "section %u is there twice", sidecar->table[i].type);
    }
    return NIGH_OK;
}

static nigh_status read_and_map(const struct nigh__file *file, const struct nigh__segment *segment,
                                const struct nigh__sidecar_kind *kind, struct nigh__sidecar *sidecar,
                                nigh_error *error) {
    nigh_status status = nigh__file_length(file, &sidecar->length, error);
    if (status == NIGH_OK) status = read_head(file, sidecar, error);
    if (status == NIGH_OK) status = belongs(file, &sidecar->header, segment, kind, error);
    if (status == NIGH_OK) status = check_table(file, sidecar, error);
    if (status == NIGH_OK)
        status = nigh__sections_footer_check(file, sidecar->header.file_length, sidecar->header.checksum, error);
    if (status == NIGH_OK) status = nigh__file_map(file, sidecar->length, &sidecar->map, error);
    if (status != NIGH_OK) return status;
    sidecar->users = nigh__map_users_new(sidecar->context);
    return sidecar->users == NULL ? nigh__fail(error, NIGH_ENOMEM, "no memory for the header of %s", kind->title)
                                  : NIGH_OK;
}

static nigh_status open_in(const struct nigh__file *directory, const struct nigh__segment *segment,
                           const struct nigh__sidecar_kind *kind, uint64_t number, struct nigh__sidecar *sidecar,
                           nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__sidecar_name(name, kind, number, "");
    sidecar->path = nigh__path_join(sidecar->context, directory->path, name);
    if (sidecar->path == NULL) return nigh__no_memory(error, "for a path");
    struct nigh__file file;
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, error);
    if (status != NIGH_OK) return status;
    status = read_and_map(&file, segment, kind, sidecar, error);
    nigh__file_release(&file);
    return status;
}

nigh_status nigh__sidecar_open_numbered(const struct nigh__file *directory, const struct nigh__segment *segment,
                                        const struct nigh__sidecar_kind *kind, uint64_t number,
                                        struct nigh__sidecar **out, nigh_error *error) {
    *out = NULL;
    struct nigh__sidecar *sidecar = nigh__alloc_zero(directory->context, 1, sizeof *sidecar);
    if (sidecar == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for the header of %s", kind->title);
    sidecar->context = directory->context;
    nigh_status status = open_in(directory, segment, kind, number, sidecar, error);
    if (status == NIGH_OK)
        *out = sidecar;
    else
        nigh__sidecar_close(sidecar);
    return status;
}

nigh_status nigh__sidecar_open(const struct nigh__file *directory, const struct nigh__segment *segment,
                               const struct nigh__sidecar_kind *kind, struct nigh__sidecar **out, nigh_error *error) {
    nigh_error problem;
    nigh_status status = nigh__sidecar_open_numbered(directory, segment, kind, segment->number, out, &problem);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND && error != NULL) *error = problem;
    return status;
}

/* Whether the file of a name has the header and the length of one that is open. */
static bool is_there(const struct nigh__file *directory, const char *name, const struct nigh__sidecar *before) {
    struct nigh__sidecar_header header;
    struct nigh__file file;
    uint64_t length = 0;
    if (nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, NULL) != NIGH_OK) return false;
    const bool there = nigh__file_length(&file, &length, NULL) == NIGH_OK && length == before->length &&
                       nigh__file_read(&file, 0, &header, sizeof header, NULL) == NIGH_OK &&
                       memcmp(&header, &before->header, sizeof header) == 0;
    nigh__file_release(&file);
    return there;
}

bool nigh__sidecar_again(const struct nigh__file *directory, const struct nigh__segment *segment,
                         const struct nigh__sidecar_kind *kind, const struct nigh__sidecar *before,
                         struct nigh__sidecar **out) {
    char name[NIGH__NAME_SIZE];
    nigh__sidecar_name(name, kind, segment->number, "");
    if (before->loaded || !is_there(directory, name, before)) return false;
    struct nigh__sidecar *sidecar = nigh__alloc(before->context, 1, sizeof *sidecar);
    if (sidecar == NULL) return false;
    *sidecar = *before;
    sidecar->users = nigh__map_join(before->users);
    sidecar->known = true;
    sidecar->path = nigh__path_join(before->context, directory->path, name);
    if (sidecar->path != NULL) {
        *out = sidecar;
        return true;
    }
    nigh__sidecar_close(sidecar);
    return false;
}

void nigh__sidecar_close(struct nigh__sidecar *sidecar) {
    if (sidecar == NULL) return;
    nigh__map_leave(sidecar->context, sidecar->map, sidecar->length, sidecar->loaded, sidecar->users);
    nigh__free(sidecar->context, sidecar->path);
    nigh__free(sidecar->context, sidecar);
}

static const struct nigh__section_entry *find_section(const struct nigh__sidecar *sidecar, uint32_t type,
                                                      uint32_t *index) {
    for (*index = 0; *index < sidecar->header.section_count; ++*index)
        if (sidecar->table[*index].type == type) return &sidecar->table[*index];
    return NULL;
}

const void *nigh__sidecar_section(const struct nigh__sidecar *sidecar, uint32_t type, uint64_t count, size_t item_size,
                                  nigh_error *error) {
    uint32_t index;
    const struct nigh__section_entry *entry = find_section(sidecar, type, &index);
    if (entry == NULL) {
        (void)nigh__fail_at(error, NIGH_ECORRUPT, sidecar->path, NIGH__TABLE_AT, "section %u is missing", type);
        return NULL;
    }
    uint64_t length;
    if (!nigh__multiply64(count, item_size, &length) || entry->count != count || entry->length != length) {
        (void)nigh__fail_at(error, NIGH_ECORRUPT, sidecar->path, NIGH__TABLE_AT + index * sizeof *entry,
                            "section %u has the wrong size", type);
        return NULL;
    }
    return sidecar->map + entry->offset;
}

nigh_status nigh__sidecar_copy(const struct nigh__sidecar *sidecar, uint32_t type, void *out, size_t item_size,
                               nigh_error *error) {
    const void *section = nigh__sidecar_section(sidecar, type, 1, item_size, error);
    if (section == NULL) return NIGH_ECORRUPT;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, sidecar->map, sidecar->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__sidecar_cut(sidecar, error);
    memcpy(out, section, item_size);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

uint64_t nigh__sidecar_section_count(const struct nigh__sidecar *sidecar, uint32_t type) {
    uint32_t index;
    const struct nigh__section_entry *entry = find_section(sidecar, type, &index);
    return entry == NULL ? 0 : entry->count;
}

nigh_status nigh__sidecar_guarded(const struct nigh__segment *segment, const struct nigh__sidecar *sidecar,
                                  nigh_status (*body)(void *user, nigh_error *error), void *user, nigh_error *error) {
    struct nigh__guard outer;
    struct nigh__guard inner;
    nigh__guard_enter(&outer, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&outer)) return nigh__segment_cut(segment, error);
    nigh__guard_enter(&inner, sidecar->map, sidecar->length);
    if (NIGH__GUARD_FAULTED(&inner)) {
        nigh__guard_leave(&outer);
        return nigh__sidecar_cut(sidecar, error);
    }
    const nigh_status status = body(user, error);
    nigh__guard_leave(&inner);
    nigh__guard_leave(&outer);
    return status;
}

nigh_status nigh__sidecar_cut(const struct nigh__sidecar *sidecar, nigh_error *error) {
    return nigh__sections_cut(sidecar->path, error);
}

nigh_status nigh__sidecar_corrupt(const struct nigh__sidecar *sidecar, uint32_t type, uint64_t index, size_t item_size,
                                  const char *why, nigh_error *error) {
    uint32_t place;
    const struct nigh__section_entry *entry = find_section(sidecar, type, &place);
    return nigh__fail_at(error, NIGH_ECORRUPT, sidecar->path,
                         entry == NULL ? NIGH_NO_OFFSET : entry->offset + index * item_size, "%s", why);
}

nigh_status nigh__sidecar_check_sums(const struct nigh__sidecar *sidecar, struct nigh__progress *progress,
                                     nigh_error *error) {
    const struct nigh__sections sections = {.context = sidecar->context,
                                            .path = sidecar->path,
                                            .map = sidecar->map,
                                            .length = sidecar->length,
                                            .table = sidecar->table,
                                            .count = sidecar->header.section_count};
    nigh_status status = nigh__sections_check_sums(&sections, progress, error);
    return status == NIGH_OK ? nigh__sections_check_gaps(&sections, error) : status;
}

/* How many bytes are as the file has them before one is not; false after a fault. */
static bool compare_guarded(const struct nigh__sidecar_comparison *comparison, const uint8_t *bytes, size_t length,
                            size_t *same) {
    const struct nigh__sidecar *sidecar = comparison->sidecar;
    const uint8_t *held = comparison->held + comparison->done;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, sidecar->map, sidecar->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    size_t count = 0;
    if (memcmp(held, bytes, length) == 0) count = length;
    while (count < length && held[count] == bytes[count]) count++;
    *same = count;
    nigh__guard_leave(&guard);
    return true;
}

nigh_status nigh__sidecar_compare(struct nigh__sidecar_comparison *comparison, const uint8_t *bytes, size_t length,
                                  nigh_error *error) {
    size_t same = 0;
    if (!compare_guarded(comparison, bytes, length, &same)) return nigh__sidecar_cut(comparison->sidecar, error);
    comparison->done += same;
    if (same == length) return NIGH_OK;
    return nigh__sidecar_corrupt(comparison->sidecar, comparison->type, comparison->done, 1, comparison->why, error);
}
