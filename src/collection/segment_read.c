/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Reading the sections of an open segment.  The file is shared memory that
 * anyone who may write it can change under us, so every number is copied out
 * once, compared with its bound, and used from the copy.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/sections.h"
#include "collection/segment.h"

nigh_status nigh__segment_cut(const struct nigh__segment *segment, nigh_error *error) {
    return nigh__sections_cut(segment->path, error);
}

nigh_status nigh__segment_corrupt(const struct nigh__segment *segment, enum nigh__section_type type, uint64_t index,
                                  const char *why, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->sections[type];
    uint64_t item_size = entry->count == 0 ? 1 : entry->length / entry->count;
    return nigh__fail_at(error, NIGH_ECORRUPT, segment->path, entry->offset + index * item_size, "%s", why);
}

bool nigh__segment_group(const struct nigh__segment *segment, uint32_t row, uint32_t *first, uint32_t *count) {
    uint32_t start = NIGH__ONCE(segment->group_starts[row]);
    uint32_t end = NIGH__ONCE(segment->group_starts[row + 1]);
    if (start >= end || end > segment->documents) return false;
    *first = start;
    *count = end - start;
    return true;
}

/* Where item `index` of a pair of offset and byte sections lies; false where the offsets lie.  Inside a guard. */
static bool item_range(const uint64_t *offsets, uint64_t bytes_length, uint32_t index, uint64_t most, uint64_t *start,
                       uint64_t *length) {
    uint64_t begin = NIGH__ONCE(offsets[index]);
    uint64_t end = NIGH__ONCE(offsets[index + 1]);
    if (begin > end || end > bytes_length || end - begin > most) return false;
    *start = begin;
    *length = end - begin;
    return true;
}

bool nigh__segment_id_range(const struct nigh__segment *segment, uint32_t document, uint64_t *start, uint64_t *length) {
    return item_range(segment->id_offsets, segment->sections[NIGH__SECTION_ID_BYTES].length, document,
                      NIGH_MAX_ID_LENGTH, start, length);
}

/* What reading something untrusted ends with. */
enum found { FOUND, NOT_FOUND, LIES };

/* Copies at most `capacity` bytes with the NUL; what is copied is what is checked. */
static enum found copy_id(const struct nigh__segment *segment, uint32_t document, char *buffer, size_t capacity,
                          size_t *length) {
    uint64_t start;
    uint64_t whole;
    if (!nigh__segment_id_range(segment, document, &start, &whole)) return LIES;
    *length = (size_t)whole;
    if (whole == 0) return LIES;
    if (capacity == 0) return FOUND;
    size_t part = whole < capacity ? (size_t)whole : capacity - 1;
    memcpy(buffer, segment->id_bytes + start, part);
    buffer[part] = '\0';
    const bool any = (segment->header.incompatible & NIGH__FEATURE_ANY_IDS) != 0;
    return any || nigh__id_is_line(buffer, part) ? FOUND : LIES;
}

nigh_status nigh__segment_id(const struct nigh__segment *segment, uint32_t document, char *buffer, size_t capacity,
                             size_t *length, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    enum found found = copy_id(segment, document, buffer, capacity, length);
    nigh__guard_leave(&guard);
    if (found == FOUND) return NIGH_OK;
    return nigh__segment_corrupt(segment, NIGH__SECTION_ID_OFFSETS, document, "an id is malformed or misplaced", error);
}

/* Inside a guard: what changes here must not be a local of the function that set it. */
static bool copy_metadata(const struct nigh__segment *segment, uint32_t document, void *buffer, size_t capacity,
                          size_t *length) {
    uint64_t start;
    uint64_t whole;
    if (!item_range(segment->metadata_offsets, segment->sections[NIGH__SECTION_METADATA_BYTES].length, document,
                    NIGH_MAX_METADATA_LENGTH, &start, &whole))
        return false;
    if (capacity != 0) memcpy(buffer, segment->metadata_bytes + start, whole < capacity ? (size_t)whole : capacity);
    *length = (size_t)whole;
    return true;
}

nigh_status nigh__segment_metadata(const struct nigh__segment *segment, uint32_t document, void *buffer,
                                   size_t capacity, size_t *length, nigh_error *error) {
    *length = 0;
    if (segment->metadata_offsets == NULL) return NIGH_OK;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    const bool sound = copy_metadata(segment, document, buffer, capacity, length);
    nigh__guard_leave(&guard);
    if (!sound)
        return nigh__segment_corrupt(segment, NIGH__SECTION_METADATA_OFFSETS, document,
                                     "the offset of metadata is wrong", error);
    return NIGH_OK;
}

nigh_status nigh__segment_signature(const struct nigh__segment *segment, uint32_t document, uint8_t *out,
                                    nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    uint32_t row = NIGH__ONCE(segment->document_rows[document]);
    const bool sound = row < segment->signatures;
    const bool padded = sound && nigh__segment_padded(segment, row);
    if (padded) memcpy(out, segment->rows + (size_t)row * segment->words, nigh__row_bytes(segment->width_bits));
    nigh__guard_leave(&guard);
    if (!sound)
        return nigh__segment_corrupt(segment, NIGH__SECTION_DOCUMENT_ROWS, document, "the row of a document is wrong",
                                     error);
    return padded ? NIGH_OK : nigh__segment_corrupt(segment, NIGH__SECTION_SIGNATURES, row, NIGH__PADDING_SET, error);
}

/* Opening has compared the section's length with documents and width, so there is no number to doubt here. */
nigh_status nigh__segment_weights(const struct nigh__segment *segment, uint32_t document, uint8_t *out,
                                  nigh_error *error) {
    if (segment->weights == NULL) return NIGH_ENOTFOUND;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    memcpy(out, segment->weights + (size_t)document * segment->width_bits, segment->width_bits);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

/* Copies what it keeps; false after a fault. */
static bool copy_kept(const struct nigh__segment *segment, enum nigh__attachment kind, uint8_t *out, size_t length) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    memcpy(out, segment->kept[kind], length);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status kept_damaged(const struct nigh__segment *segment, enum nigh__attachment kind, nigh_error *error) {
    static const char *const damaged[] = {"the vocabulary fails its checksum", "the model fails its checksum",
                                          "the thresholds fail their checksum"};
    return nigh__segment_corrupt(segment, nigh__attachment_section(kind), 0, damaged[kind], error);
}

/* What is compared with the checksum is the copy, which nobody else can change. */
nigh_status nigh__segment_attachment(const struct nigh__segment *segment, enum nigh__attachment kind, uint8_t **bytes,
                                     size_t *length, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->sections[nigh__attachment_section(kind)];
    *bytes = NULL;
    *length = (size_t)entry->length; /* of a mapping that is there, so it fits */
    uint8_t *copy = nigh__alloc(segment->context, *length, 1);
    if (copy == NULL)
        return nigh__fail(error, NIGH_ENOMEM, "no memory for a %s of %zu bytes", nigh__attachment_name(kind), *length);
    nigh_status status = NIGH_OK;
    if (!copy_kept(segment, kind, copy, *length))
        status = nigh__segment_cut(segment, error);
    else if (nigh__hash(copy, *length) != entry->checksum)
        status = kept_damaged(segment, kind, error);
    if (status == NIGH_OK)
        *bytes = copy;
    else
        nigh__free(segment->context, copy);
    return status;
}

/* Compares it with as many bytes. */
static nigh_status compare_kept(const struct nigh__segment *segment, enum nigh__attachment kind,
                                const nigh_attachment *wanted, bool *equal, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    *equal = memcmp(segment->kept[kind], wanted->bytes, wanted->length) == 0;
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

bool nigh__segment_keeps_as(const struct nigh__segment *a, const struct nigh__segment *b, enum nigh__attachment kind) {
    const struct nigh__section_entry *one = &a->sections[nigh__attachment_section(kind)];
    const struct nigh__section_entry *other = &b->sections[nigh__attachment_section(kind)];
    return one->checksum == other->checksum && one->length == other->length;
}

nigh_status nigh__segment_keeps(const struct nigh__segment *segment, enum nigh__attachment kind,
                                const nigh_attachment *wanted, nigh_error *error) {
    const struct nigh__section_entry *entry = &segment->sections[nigh__attachment_section(kind)];
    bool equal = false;
    if (entry->length == wanted->length) {
        nigh_status status = compare_kept(segment, kind, wanted, &equal, error);
        if (status != NIGH_OK) return status;
        /* The same once: it is the section that has changed since. */
        if (!equal && nigh__hash(wanted->bytes, wanted->length) == entry->checksum)
            return kept_damaged(segment, kind, error);
    }
    if (equal) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, segment->path, entry->offset,
                         "the collection was signed with another %s", nigh__attachment_name(kind));
}

/* Inside a guard.  Ends after `slots` steps at the latest, whatever the table holds. */
static enum found walk_lookup(const struct nigh__segment *segment, const char *id, size_t id_length, uint32_t *document,
                              uint64_t *slot) {
    uint64_t slots = segment->sections[NIGH__SECTION_ID_LOOKUP].count;
    uint64_t at = nigh__hash_table_home(nigh__id_hash(&segment->id_key, id, id_length), slots);
    for (uint64_t step = 0; step < slots; step++, at = (at + 1) & (slots - 1)) {
        uint32_t value = NIGH__ONCE(segment->id_lookup[at]);
        if (value == 0) return NOT_FOUND;
        uint64_t start;
        uint64_t length;
        *slot = at;
        if (value > segment->documents || !nigh__segment_id_range(segment, value - 1, &start, &length)) return LIES;
        if (length != id_length || memcmp(segment->id_bytes + start, id, id_length) != 0) continue;
        *document = value - 1;
        return FOUND;
    }
    return NOT_FOUND;
}

nigh_status nigh__segment_find(const struct nigh__segment *segment, const char *id, size_t id_length,
                               uint32_t *document, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    uint64_t slot = 0;
    enum found found = walk_lookup(segment, id, id_length, document, &slot);
    nigh__guard_leave(&guard);
    if (found == LIES)
        return nigh__segment_corrupt(segment, NIGH__SECTION_ID_LOOKUP, slot, "an entry of the id lookup is wrong",
                                     error);
    return found == FOUND ? NIGH_OK : NIGH_ENOTFOUND;
}
