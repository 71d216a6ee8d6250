/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading manifests without trusting them, and writing them so that a crash at any moment leaves the old one or the
 * new one.
 */
#include "collection/manifest.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "collection/header.h"

static const char *magic_of(enum nigh__store_kind kind) {
    return kind == NIGH__STORE_TERMS ? NIGH__TERMS_MANIFEST_MAGIC : NIGH__MANIFEST_MAGIC;
}

/* Whole or not, it is somebody else's: to be told before anything is said to be damaged. */
static nigh_status check_kind(const struct nigh__file *directory, const struct nigh__manifest_header *header,
                              enum nigh__store_kind kind, nigh_error *error) {
    const enum nigh__store_kind other = kind == NIGH__STORE_TERMS ? NIGH__STORE_COLLECTION : NIGH__STORE_TERMS;
    if (memcmp(header->magic, magic_of(other), NIGH__MAGIC_SIZE) != 0) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EFORMAT, directory->path, NIGH_NO_OFFSET, "a %s, not a %s",
                         nigh__store_name(other), nigh__store_name(kind));
}

size_t nigh__manifest_entry_size(const struct nigh__manifest_header *header) {
    return (header->incompatible & NIGH__FEATURE_LIVING) != 0 ? sizeof(struct nigh__living_entry)
                                                              : sizeof(struct nigh__manifest_entry);
}

static uint64_t manifest_checksum(const struct nigh__manifest *manifest, struct nigh__hasher *hasher) {
    const size_t size = nigh__manifest_entry_size(&manifest->header);
    nigh__hasher_reset(hasher);
    nigh__hasher_add(hasher, &manifest->header, offsetof(struct nigh__manifest_header, checksum));
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) nigh__hasher_add(hasher, &manifest->entries[i], size);
    return nigh__hasher_value(hasher);
}

/* What the header must say before the entries are read. */
static nigh_status check_header(const struct nigh__file *file, enum nigh__store_kind kind,
                                const struct nigh__manifest_header *header, uint64_t sequence, uint64_t length,
                                nigh_error *error) {
    nigh_status status = nigh__header_check(file->path, header, magic_of(kind), "manifest", error);
    if (status != NIGH_OK) return status;
    if (header->segment_count > NIGH__MAX_SEGMENTS ||
        length != sizeof *header + header->segment_count * nigh__manifest_entry_size(header))
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offsetof(struct nigh__manifest_header, segment_count),
                             "%u segments do not fit a manifest of %llu bytes", header->segment_count,
                             (unsigned long long)length);
    if (header->sequence != sequence || sequence == 0)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offsetof(struct nigh__manifest_header, sequence),
                             "the sequence inside is not that of the name");
    return NIGH_OK;
}

/* ------------------------------------------------------------------ entries */

bool nigh__manifest_numbers(const nigh_context *context, const struct nigh__manifest *manifest,
                            struct nigh__array *out) {
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        const struct nigh__living_entry *entry = &manifest->entries[i];
        const bool deletions = entry->deletions.number != 0;
        uint64_t *numbers = nigh__array_add(context, out, deletions ? 2 : 1);
        if (numbers == NULL) return false;
        numbers[0] = entry->segment.number;
        if (deletions) numbers[1] = entry->deletions.number;
    }
    nigh__numbers_sort(out);
    return true;
}

/* What is said of deleted documents, also that it is nothing. */
static bool deletions_sound(const struct nigh__living_entry *entry) {
    const struct nigh__deletions_entry *deletions = &entry->deletions;
    if (deletions->number != 0) return deletions->deleted != 0 && deletions->deleted <= entry->segment.documents;
    return deletions->file_length == 0 && deletions->deleted == 0 && deletions->header_checksum == 0;
}

/* No number is there twice: it would be two files in one, or one segment counted twice. */
static nigh_status check_numbers(const struct nigh__file *file, const struct nigh__manifest *manifest,
                                 nigh_error *error) {
    const nigh_context *context = file->context;
    struct nigh__array numbers = NIGH__ARRAY(uint64_t);
    nigh_status status = NIGH_OK;
    if (!nigh__manifest_numbers(context, manifest, &numbers)) status = nigh__no_memory(error, "for a manifest");
    const uint64_t *sorted = numbers.data;
    for (size_t i = 0; i < numbers.count && status == NIGH_OK; i++)
        if (sorted[i] == 0 || sorted[i] >= manifest->header.next_segment || (i > 0 && sorted[i] == sorted[i - 1]))
            status = nigh__fail_at(error, NIGH_ECORRUPT, file->path, sizeof manifest->header,
                                   "a file is numbered 0, named twice, or newer than the manifest");
    nigh__array_release(context, &numbers);
    return status;
}

/* What one entry must say; `previous` is the number of the one before. */
static nigh_status check_entry(const struct nigh__file *file, const struct nigh__manifest *manifest, uint32_t index,
                               uint64_t previous, nigh_error *error) {
    const struct nigh__living_entry *entry = &manifest->entries[index];
    const uint64_t offset = sizeof manifest->header + index * nigh__manifest_entry_size(&manifest->header);
    const bool living = (manifest->header.incompatible & NIGH__FEATURE_LIVING) != 0;
    if (!living && (entry->segment.number <= previous || entry->segment.number >= manifest->header.next_segment))
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset, "segment numbers are out of order");
    if (entry->segment.documents > NIGH__MAX_DOCUMENTS)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset, "a segment has too many documents");
    if (!deletions_sound(entry))
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset + sizeof entry->segment,
                             "an impossible number or file of deleted documents");
    return NIGH_OK;
}

/* What the entries must say, once the checksum is right: an attacker can fix checksums. */
static nigh_status check_entries(const struct nigh__file *file, enum nigh__store_kind kind,
                                 const struct nigh__manifest *manifest, nigh_error *error) {
    uint64_t documents = 0;
    uint64_t previous = 0;
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < manifest->header.segment_count && status == NIGH_OK; i++) {
        status = check_entry(file, manifest, i, previous, error);
        documents += manifest->entries[i].segment.documents; /* 2^16 times 2^32 at most */
        previous = manifest->entries[i].segment.number;
    }
    if (status == NIGH_OK) status = check_numbers(file, manifest, error);
    if (status != NIGH_OK) return status;
    if (documents != manifest->header.documents)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offsetof(struct nigh__manifest_header, documents),
                             "the documents of the segments do not add up");
    if (kind == NIGH__STORE_TERMS) return NIGH_OK; /* its groups are held against the bits of a filter */
    return nigh__width_check(file->path, offsetof(struct nigh__manifest_header, width_bits),
                             manifest->header.width_bits, error);
}

/* Narrow entries come to stand in wide ones, the last first, so that none is overwritten before it has moved. */
static void widen(struct nigh__manifest *manifest) {
    const size_t size = sizeof(struct nigh__manifest_entry);
    const uint8_t *narrow = (const uint8_t *)manifest->entries;
    for (uint32_t i = manifest->header.segment_count; i-- > 0;) {
        struct nigh__living_entry entry = {.deletions = {.number = 0}};
        memcpy(&entry.segment, narrow + i * size, size);
        manifest->entries[i] = entry;
    }
}

static nigh_status read_entries(const nigh_context *context, const struct nigh__file *file, enum nigh__store_kind kind,
                                struct nigh__manifest *manifest, nigh_error *error) {
    const uint32_t count = manifest->header.segment_count;
    const size_t size = nigh__manifest_entry_size(&manifest->header);
    const uint32_t known = kind == NIGH__STORE_TERMS ? 0 : NIGH__FEATURE_LIVING;
    manifest->entries = nigh__alloc(context, count, sizeof *manifest->entries);
    struct nigh__hasher *hasher = nigh__hasher_new(context);
    nigh_status status = NIGH_OK;
    if (manifest->entries == NULL || hasher == NULL)
        status = nigh__fail(error, NIGH_ENOMEM, "no memory for a manifest of %u segments", count);
    if (status == NIGH_OK)
        status = nigh__file_read(file, sizeof manifest->header, manifest->entries, count * size, error);
    if (status == NIGH_OK && size != sizeof *manifest->entries) widen(manifest);
    if (status == NIGH_OK && manifest_checksum(manifest, hasher) != manifest->header.checksum)
        status = nigh__fail_at(error, NIGH_ECORRUPT, file->path, offsetof(struct nigh__manifest_header, checksum),
                               "the manifest fails its checksum");
    if (status == NIGH_OK) status = nigh__features_check(file->path, manifest->header.incompatible, known, error);
    if (status == NIGH_OK) status = check_entries(file, kind, manifest, error);
    nigh__hasher_free(context, hasher);
    return status;
}

nigh_status nigh__manifest_read(const struct nigh__file *directory, enum nigh__store_kind kind, uint64_t sequence,
                                struct nigh__manifest *out, nigh_error *error) {
    const nigh_context *context = directory->context;
    memset(out, 0, sizeof *out);
    char name[NIGH__NAME_SIZE];
    nigh__manifest_name(name, sequence, "");
    struct nigh__file file;
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, error);
    if (status != NIGH_OK) return status;

    uint64_t length = 0;
    status = nigh__file_length(&file, &length, error);
    if (status == NIGH_OK) status = nigh__file_read(&file, 0, &out->header, sizeof out->header, error);
    if (status == NIGH_OK) status = check_kind(directory, &out->header, kind, error);
    if (status == NIGH_OK) status = check_header(&file, kind, &out->header, sequence, length, error);
    if (status == NIGH_OK) status = read_entries(context, &file, kind, out, error);
    nigh__file_release(&file);
    if (status != NIGH_OK) nigh__manifest_release(context, out);
    return status;
}

static nigh_status none_found(const char *directory, enum nigh__store_kind kind, const struct nigh__listing *listing,
                              nigh_error *error) {
    const bool terms = kind == NIGH__STORE_TERMS;
    size_t others = terms ? listing->segments.count + listing->deletions.count : listing->terms.count;
    for (unsigned i = 1; terms && i < NIGH__SIDECAR_KINDS; i++) others += listing->sidecars[i].count;
    for (unsigned i = 0; terms && i < NIGH__EXTRAS; i++) others += listing->extras[i];
    if (listing->strangers != 0 || others != 0)
        return nigh__fail_at(error, NIGH_EFORMAT, directory, NIGH_NO_OFFSET, "not a nigh %s", nigh__store_name(kind));
    if ((terms ? listing->terms.count : listing->segments.count) != 0)
        return nigh__fail_at(error, NIGH_ENOTFOUND, directory, NIGH_NO_OFFSET,
                             "no manifest: nothing was ever committed, or it is lost");
    return nigh__fail_at(error, NIGH_ENOTFOUND, directory, NIGH_NO_OFFSET, "nothing was ever committed to this %s",
                         nigh__store_name(kind));
}

nigh_status nigh__manifest_newest(const struct nigh__file *directory, enum nigh__store_kind kind,
                                  const struct nigh__listing *listing, struct nigh__manifest *out, uint64_t *damaged,
                                  nigh_error *error) {
    *damaged = 0;
    if (listing->manifests.count == 0) return none_found(directory->path, kind, listing, error);
    nigh_error first = {.status = NIGH_OK};
    const uint64_t *sequences = listing->manifests.data;
    for (size_t i = 0; i < listing->manifests.count; i++) {
        nigh_error problem;
        nigh_status status = nigh__manifest_read(directory, kind, sequences[i], out, &problem);
        if (status == NIGH_OK) return NIGH_OK;
        if (first.status == NIGH_OK) first = problem;
        if (status != NIGH_ECORRUPT) {
            first = problem;
            break;
        }
        ++*damaged;
    }
    if (error != NULL) *error = first;
    return first.status;
}

void nigh__manifest_release(const nigh_context *context, struct nigh__manifest *manifest) {
    nigh__free(context, manifest->entries);
    manifest->entries = NULL;
}

/* Whether it says anything that takes the wide entries; where not it is written as it always was. */
static bool needs_living(const struct nigh__manifest *manifest) {
    uint64_t previous = 0;
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        const struct nigh__living_entry *entry = &manifest->entries[i];
        if (entry->deletions.number != 0 || entry->segment.number <= previous) return true;
        previous = entry->segment.number;
    }
    return false;
}

static nigh_status seal(const nigh_context *context, enum nigh__store_kind kind, struct nigh__manifest *manifest,
                        nigh_error *error) {
    struct nigh__manifest_header *header = &manifest->header;
    memcpy(header->magic, magic_of(kind), NIGH__MAGIC_SIZE);
    header->version = NIGH__FORMAT_VERSION;
    header->endian_mark = NIGH__ENDIAN_MARK;
    if (needs_living(manifest)) header->incompatible |= NIGH__FEATURE_LIVING;
    struct nigh__hasher *hasher = nigh__hasher_new(context);
    if (hasher == NULL) return nigh__no_memory(error, "for a checksum");
    header->checksum = manifest_checksum(manifest, hasher);
    nigh__hasher_free(context, hasher);
    return NIGH_OK;
}

/* The entries as they are written, one after the other: in one piece, for a file has but one moment to be whole. */
static nigh_status write_entries(const struct nigh__file *file, const struct nigh__manifest *manifest,
                                 nigh_error *error) {
    const size_t size = nigh__manifest_entry_size(&manifest->header);
    const uint32_t count = manifest->header.segment_count;
    uint8_t *packed = nigh__alloc(file->context, count, size);
    if (packed == NULL) return nigh__no_memory(error, "for a manifest");
    for (uint32_t i = 0; i < count; i++) memcpy(packed + i * size, &manifest->entries[i], size);
    nigh_status status = nigh__file_write(file, sizeof manifest->header, packed, count * size, error);
    nigh__free(file->context, packed);
    return status;
}

/* Writes and syncs the file; nothing is left of it after a failure. */
static nigh_status write_file(const struct nigh__file *directory, const char *name,
                              const struct nigh__manifest *manifest, nigh_error *error) {
    struct nigh__file file;
    nigh__file_remove_in(directory, name); /* left by a writer that died: we hold the lock */
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_CREATE, &file, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_write(&file, 0, &manifest->header, sizeof manifest->header, error);
    if (status == NIGH_OK) status = write_entries(&file, manifest, error);
    if (status == NIGH_OK) status = nigh__file_sync(&file, error);
    nigh__file_release(&file);
    if (status != NIGH_OK) nigh__file_remove_in(directory, name);
    return status;
}

nigh_status nigh__manifest_place(const struct nigh__file *directory, enum nigh__store_kind kind,
                                 struct nigh__manifest *manifest, bool *published, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    char temporary[NIGH__NAME_SIZE];
    nigh__manifest_name(name, manifest->header.sequence, "");
    nigh__manifest_name(temporary, manifest->header.sequence, ".tmp");
    *published = false;
    nigh_status status = seal(directory->context, kind, manifest, error);
    if (status == NIGH_OK) status = write_file(directory, temporary, manifest, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_rename_new_in(directory, temporary, name, error);
    if (status != NIGH_OK) nigh__file_remove_in(directory, temporary);
    *published = status == NIGH_OK;
    return status;
}

nigh_status nigh__manifest_write(const struct nigh__file *directory, enum nigh__store_kind kind,
                                 struct nigh__manifest *manifest, bool *published, nigh_error *error) {
    const nigh_status status = nigh__manifest_place(directory, kind, manifest, published, error);
    return status == NIGH_OK ? nigh__file_sync(directory, error) : status;
}
