/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a segment.  Header, table, scheme and footer are read into memory of
 * our own, so that what was checked cannot change afterwards; only then is the
 * file mapped and pointers into it are made.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/directory.h"
#include "collection/header.h"
#include "collection/scheme.h"
#include "collection/sections.h"
#include "collection/segment.h"
#include "collection/selection.h"
#include "collection/sidecar.h"
#include "collection/texts.h"

static nigh_status corrupt(const struct nigh__file *file, uint64_t offset, const char *why, nigh_error *error) {
    return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset, "%s", why);
}

static nigh_status read_head(const struct nigh__file *file, struct nigh__segment *segment, nigh_error *error) {
    nigh_status status = nigh__file_read(file, 0, &segment->header, sizeof segment->header, error);
    if (status == NIGH_OK)
        status = nigh__header_check(file->path, &segment->header, NIGH__SEGMENT_MAGIC, "segment", error);
    const struct nigh__segment_header *header = &segment->header;
    if (status == NIGH_OK)
        status = nigh__sections_length_check(file->path, segment->length, header->file_length, error);
    if (status != NIGH_OK) return status;
    if (header->section_count > NIGH__MAX_SECTIONS)
        return corrupt(file, offsetof(struct nigh__segment_header, section_count), "too many sections", error);
    status =
        nigh__file_read(file, NIGH__TABLE_AT, segment->table, header->section_count * sizeof segment->table[0], error);
    if (status == NIGH_OK)
        status = nigh__sections_head_check(file, header, segment->table, header->section_count, error);
    if (status == NIGH_OK)
        status = nigh__features_check(file->path, header->incompatible, NIGH__SEGMENT_FEATURES, error);
    return status;
}

/* The counts in the header, which bound everything else. */
static nigh_status check_counts(const struct nigh__file *file, const struct nigh__segment_header *header,
                                nigh_error *error) {
    nigh_status status =
        nigh__width_check(file->path, offsetof(struct nigh__segment_header, width_bits), header->width_bits, error);
    if (status != NIGH_OK) return status;
    if (header->documents > NIGH__MAX_DOCUMENTS)
        return corrupt(file, offsetof(struct nigh__segment_header, documents), "too many documents", error);
    if (header->signatures > header->documents || (header->signatures == 0) != (header->documents == 0))
        return corrupt(file, offsetof(struct nigh__segment_header, signatures),
                       "the number of signatures does not fit the number of documents", error);
    return NIGH_OK;
}

/* How many items a section has and how large each is.  Sections of bytes may have any number. */
struct shape {
    uint64_t item_size;
    uint64_t count;
    bool any_count;
};

static struct shape shape_of(const struct nigh__segment_header *header, uint32_t type) {
    uint64_t row_size = (uint64_t)nigh__row_words(header->width_bits) * 8;
    switch (type) {
    case NIGH__SECTION_SIGNATURES:
    case NIGH__SECTION_MASKS:
        return (struct shape){row_size, header->signatures, false};
    case NIGH__SECTION_GROUP_STARTS:
        return (struct shape){4, header->signatures + 1, false};
    case NIGH__SECTION_GROUP_DOCUMENTS:
    case NIGH__SECTION_DOCUMENT_ROWS:
        return (struct shape){4, header->documents, false};
    case NIGH__SECTION_ID_OFFSETS:
    case NIGH__SECTION_METADATA_OFFSETS:
    case NIGH__SECTION_TEXT_OFFSETS:
        return (struct shape){8, header->documents + 1, false};
    case NIGH__SECTION_ID_KEY:
        return (struct shape){8, 1, false};
    case NIGH__SECTION_ID_LOOKUP:
    case NIGH__SECTION_KEYS:
        return (struct shape){4, 0, true};
    case NIGH__SECTION_TEXT_BLOCKS:
        return (struct shape){sizeof(struct nigh__text_block), 0, true};
    case NIGH__SECTION_WEIGHTS:
        return (struct shape){header->width_bits, header->documents, false};
    default:
        return (struct shape){1, 0, true};
    }
}

/* One entry of the table; `end` is where the section before it ended. */
static nigh_status check_entry(const struct nigh__file *file, const struct nigh__segment *segment, uint32_t index,
                               uint64_t *end, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->table[index];
    nigh_status status = nigh__sections_place_check(file->path, entry, index, segment->header.file_length, end, error);
    if (status != NIGH_OK) return status;
    if (entry->type >= NIGH__SECTION_KNOWN) return NIGH_OK; /* of a later version, and not needed */

    struct shape shape = shape_of(&segment->header, entry->type);
    uint64_t length;
    if (!nigh__multiply64(entry->count, shape.item_size, &length) || length != entry->length ||
        (!shape.any_count && entry->count != shape.count))
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, NIGH__TABLE_AT + index * sizeof *entry,
                             "section %u has the wrong size", entry->type);
    return NIGH_OK;
}

/* Takes the table in, each known section once. */
static nigh_status take_sections(const struct nigh__file *file, struct nigh__segment *segment, nigh_error *error) {
    uint64_t end = NIGH__SECTIONS_START;
    for (uint32_t i = 0; i < segment->header.section_count; i++) {
        nigh_status status = check_entry(file, segment, i, &end, error);
        if (status != NIGH_OK) return status;
        uint32_t type = segment->table[i].type;
        if (type >= NIGH__SECTION_KNOWN) continue;
        if (segment->sections[type].offset != 0)
            return nigh__fail_at(error, NIGH_ECORRUPT, file->path, NIGH__TABLE_AT + i * sizeof segment->table[0],
                                 "section %u is there twice", type);
        segment->sections[type] = segment->table[i];
    }
    return NIGH_OK;
}

static bool has(const struct nigh__segment *segment, enum nigh__section_type type) {
    return segment->sections[type].offset != 0;
}

/* Ids, the lookup, and its key, which a segment from before there were keys has not. */
static nigh_status check_id_presence(const struct nigh__file *file, const struct nigh__segment *segment,
                                     nigh_error *error) {
    const bool ids = has(segment, NIGH__SECTION_ID_OFFSETS);
    const bool keyed = (segment->header.incompatible & NIGH__FEATURE_KEYED_IDS) != 0;
    if (ids != has(segment, NIGH__SECTION_ID_BYTES) || ids != has(segment, NIGH__SECTION_ID_LOOKUP))
        return corrupt(file, NIGH__TABLE_AT, "sections 6, 7 and 8 go together", error);
    if (keyed != has(segment, NIGH__SECTION_ID_KEY) || (keyed && !ids))
        return corrupt(file, NIGH__TABLE_AT, "section 18 does not go with the ids", error);
    const uint64_t slots = segment->sections[NIGH__SECTION_ID_LOOKUP].count;
    if (ids && (slots <= segment->documents || slots > (UINT64_C(1) << 32) || (slots & (slots - 1)) != 0))
        return corrupt(file, NIGH__TABLE_AT, "the id lookup has the wrong size", error);
    return NIGH_OK;
}

/* Which sections must be there, and which only together. */
static nigh_status check_presence(const struct nigh__file *file, const struct nigh__segment *segment,
                                  nigh_error *error) {
    for (uint32_t type = NIGH__SECTION_SCHEME; type <= NIGH__SECTION_DOCUMENT_ROWS; type++)
        if (!has(segment, type))
            return nigh__fail_at(error, NIGH_ECORRUPT, file->path, NIGH__TABLE_AT, "section %u is missing", type);
    nigh_status status = check_id_presence(file, segment, error);
    if (status != NIGH_OK) return status;
    if (has(segment, NIGH__SECTION_METADATA_OFFSETS) != has(segment, NIGH__SECTION_METADATA_BYTES))
        return corrupt(file, NIGH__TABLE_AT, "sections 9 and 10 go together", error);
    if (!nigh__texts_fit(segment->sections, segment->documents))
        return corrupt(file, NIGH__TABLE_AT, "sections 14 to 17 do not go together", error);
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++) {
        const uint64_t length = segment->sections[nigh__attachment_section(kind)].length;
        if (has(segment, nigh__attachment_section(kind)) && (length == 0 || length > NIGH__MAX_KEPT_LENGTH))
            return nigh__fail_at(error, NIGH_ECORRUPT, file->path, NIGH__TABLE_AT, "the %s has the wrong size",
                                 nigh__attachment_name(kind));
    }
    return NIGH_OK;
}

static nigh_status read_scheme(const struct nigh__file *file, struct nigh__segment *segment, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->sections[NIGH__SECTION_SCHEME];
    if (entry->length > NIGH__MAX_SCHEME_LENGTH) return corrupt(file, entry->offset, "the scheme is too long", error);
    segment->scheme = nigh__alloc(file->context, entry->length + 1, 1);
    if (segment->scheme == NULL) return nigh__no_memory(error, "for a scheme");
    nigh_status status = nigh__file_read(file, entry->offset, segment->scheme, entry->length, error);
    if (status != NIGH_OK) return status;
    segment->scheme[entry->length] = '\0';
    if (nigh__hash(segment->scheme, entry->length) != entry->checksum)
        return corrupt(file, entry->offset, "the scheme fails its checksum", error);
    if (strlen(segment->scheme) != entry->length)
        return corrupt(file, entry->offset, "the scheme holds a zero byte", error);
    if (!nigh__scheme_sound(segment->scheme, segment->width_bits))
        return corrupt(file, entry->offset, "the scheme is malformed", error);
    if (has(segment, NIGH__SECTION_VALUES) && (nigh__keep_keys_count(segment->scheme) == 0 || segment->documents == 0))
        return corrupt(file, NIGH__TABLE_AT, "section 21 does not go with the scheme, or with no documents", error);
    return NIGH_OK;
}

static nigh_status read_id_key(const struct nigh__file *file, struct nigh__segment *segment, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->sections[NIGH__SECTION_ID_KEY];
    if (!has(segment, NIGH__SECTION_ID_KEY)) return NIGH_OK;
    uint64_t value;
    nigh_status status = nigh__file_read(file, entry->offset, &value, sizeof value, error);
    if (status != NIGH_OK) return status;
    if (nigh__hash(&value, sizeof value) != entry->checksum)
        return corrupt(file, entry->offset, "the key of the id lookup fails its checksum", error);
    segment->id_key = (struct nigh__id_key){.keyed = true, .value = value};
    return NIGH_OK;
}

/* Everything that can be checked without touching a section but the scheme and the key of the id lookup. */
static nigh_status read_and_check(const struct nigh__file *file, const struct nigh__manifest_entry *wanted,
                                  struct nigh__segment *segment, nigh_error *error) {
    nigh_status status = nigh__file_length(file, &segment->length, error);
    if (status == NIGH_OK) status = read_head(file, segment, error);
    if (status == NIGH_OK) status = check_counts(file, &segment->header, error);
    if (status != NIGH_OK) return status;
    if (segment->header.checksum != wanted->header_checksum || segment->header.documents != wanted->documents ||
        segment->header.file_length != wanted->file_length)
        return corrupt(file, 0, "not the segment that the manifest names", error);
    segment->documents = (uint32_t)segment->header.documents;
    segment->signatures = (uint32_t)segment->header.signatures;
    segment->width_bits = segment->header.width_bits;
    segment->words = nigh__row_words(segment->header.width_bits);
    status = take_sections(file, segment, error);
    if (status == NIGH_OK) status = check_presence(file, segment, error);
    if (status == NIGH_OK) status = read_scheme(file, segment, error);
    if (status == NIGH_OK) status = read_id_key(file, segment, error);
    if (status == NIGH_OK)
        status = nigh__sections_footer_check(file, segment->header.file_length, segment->header.checksum, error);
    return status;
}

static const void *section_start(const struct nigh__segment *segment, enum nigh__section_type type) {
    uint64_t offset = segment->sections[type].offset;
    return offset == 0 ? NULL : segment->map + offset;
}

/* Sections begin at multiples of 64 in a mapping that begins at a page, so every pointer is aligned. */
void nigh__segment_point(struct nigh__segment *segment) {
    segment->rows = section_start(segment, NIGH__SECTION_SIGNATURES);
    segment->group_starts = section_start(segment, NIGH__SECTION_GROUP_STARTS);
    segment->group_documents = section_start(segment, NIGH__SECTION_GROUP_DOCUMENTS);
    segment->document_rows = section_start(segment, NIGH__SECTION_DOCUMENT_ROWS);
    segment->id_offsets = section_start(segment, NIGH__SECTION_ID_OFFSETS);
    segment->id_bytes = section_start(segment, NIGH__SECTION_ID_BYTES);
    segment->id_lookup = section_start(segment, NIGH__SECTION_ID_LOOKUP);
    segment->metadata_offsets = section_start(segment, NIGH__SECTION_METADATA_OFFSETS);
    segment->metadata_bytes = section_start(segment, NIGH__SECTION_METADATA_BYTES);
    segment->weights = section_start(segment, NIGH__SECTION_WEIGHTS);
    segment->masks = section_start(segment, NIGH__SECTION_MASKS);
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++)
        segment->kept[kind] = section_start(segment, nigh__attachment_section(kind));
    segment->text_offsets = section_start(segment, NIGH__SECTION_TEXT_OFFSETS);
    segment->text_blocks = section_start(segment, NIGH__SECTION_TEXT_BLOCKS);
    segment->text_bytes = section_start(segment, NIGH__SECTION_TEXT_BYTES);
    segment->keys = section_start(segment, NIGH__SECTION_KEYS);
    segment->values = section_start(segment, NIGH__SECTION_VALUES);
}

static nigh_status open_and_map(const struct nigh__file *directory, const struct nigh__manifest_entry *entry,
                                struct nigh__segment *segment, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__segment_name(name, entry->number, "");
    segment->path = nigh__path_join(segment->context, directory->path, name);
    if (segment->path == NULL) return nigh__no_memory(error, "for a path");
    struct nigh__file file;
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, error);
    if (status != NIGH_OK) return status;
    status = read_and_check(&file, entry, segment, error);
    if (status == NIGH_OK) status = nigh__file_map(&file, segment->length, &segment->map, error);
    nigh__file_release(&file);
    if (status != NIGH_OK) return status;
    nigh__segment_point(segment);
    segment->users = nigh__map_users_new(segment->context);
    return segment->users == NULL ? nigh__no_memory(error, "for a segment") : NIGH_OK;
}

nigh_status nigh__segment_open(const struct nigh__file *directory, const struct nigh__manifest_entry *entry,
                               struct nigh__segment **out, nigh_error *error) {
    *out = NULL;
    struct nigh__segment *segment = nigh__alloc_zero(directory->context, 1, sizeof *segment);
    if (segment == NULL) return nigh__no_memory(error, "for a segment");
    segment->context = directory->context;
    segment->number = entry->number;
    nigh_status status = open_and_map(directory, entry, segment, error);
    if (status == NIGH_OK)
        *out = segment;
    else
        nigh__segment_close(segment);
    return status;
}

bool nigh__segment_is(const struct nigh__segment *segment, const struct nigh__manifest_entry *entry) {
    return segment->number == entry->number && segment->length == entry->file_length &&
           segment->documents == entry->documents && segment->header.checksum == entry->header_checksum;
}

/* A copy of all that is not owned; what is, it has none of yet. */
static struct nigh__segment *copy_plain(const struct nigh__segment *before) {
    struct nigh__segment *segment = nigh__alloc(before->context, 1, sizeof *segment);
    if (segment == NULL) return NULL;
    *segment = *before;
    segment->path = segment->scheme = NULL;
    segment->living = NULL;
    segment->deletions = (struct nigh__deletions_entry){.number = 0};
    for (unsigned kind = 0; kind < NIGH__SIDECAR_KINDS; kind++) {
        segment->sidecars[kind] = NULL;
        segment->sidecar_problems[kind] = (nigh_error){.status = NIGH_OK};
    }
    segment->users = nigh__map_join(before->users);
    segment->known = true;
    return segment;
}

nigh_status nigh__segment_again(const struct nigh__file *directory, const struct nigh__segment *before,
                                struct nigh__segment **out, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    struct nigh__segment *segment = copy_plain(before);
    *out = NULL;
    if (segment == NULL) return nigh__no_memory(error, "for a segment");
    nigh__segment_name(name, segment->number, "");
    segment->path = nigh__path_join(segment->context, directory->path, name);
    segment->scheme = nigh__string_copy(segment->context, before->scheme);
    if (segment->path != NULL && segment->scheme != NULL) {
        *out = segment;
        return NIGH_OK;
    }
    nigh__segment_close(segment);
    return nigh__no_memory(error, "for a segment");
}

struct nigh__living_entry nigh__segment_entry(const struct nigh__segment *segment) {
    return (struct nigh__living_entry){.segment = {.number = segment->number,
                                                   .file_length = segment->length,
                                                   .documents = segment->documents,
                                                   .header_checksum = segment->header.checksum},
                                       .deletions = segment->deletions};
}

/*
 * Whatever is wrong with lists, there is a way without them, so it is remembered and no failure.  Only where memory
 * has run out does that help nobody.
 */
nigh_status nigh__segment_open_sidecar(const struct nigh__file *directory, const struct nigh__sidecar_kind *kind,
                                       const struct nigh__segment *before, struct nigh__segment *segment,
                                       nigh_error *error) {
    const struct nigh__sidecar *had = before == NULL ? NULL : before->sidecars[kind->number];
    struct nigh__sidecar **place = &segment->sidecars[kind->number];
    nigh_error *problem = &segment->sidecar_problems[kind->number];
    if (had != NULL && nigh__sidecar_again(directory, segment, kind, had, place)) return NIGH_OK;
    nigh_status status = nigh__sidecar_open(directory, segment, kind, place, problem);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status == NIGH_OK) status = kind->fits(segment, problem);
    if (status == NIGH_OK) return NIGH_OK;
    nigh__sidecar_close(*place);
    *place = NULL;
    if (status != NIGH_ENOMEM) return NIGH_OK;
    if (error != NULL) *error = *problem;
    return status;
}

void nigh__segment_close(struct nigh__segment *segment) {
    if (segment == NULL) return;
    for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) nigh__sidecar_close(segment->sidecars[kind]);
    nigh__map_leave(segment->context, segment->map, segment->length, segment->loaded, segment->users);
    nigh__selection_free(segment->living);
    nigh__free(segment->context, segment->path);
    nigh__free(segment->context, segment->scheme);
    nigh__free(segment->context, segment);
}
