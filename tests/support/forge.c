/* SPDX-License-Identifier: Apache-2.0 */
/* Right checksums over wrong bytes. */
#include "support/forge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "collection/id_key.h"
#include "collection/sidecar.h"
#include "terms/terms_format.h"

/* Both headers keep their checksum at 56 and let it cover what follows at 64. */
#define COVERED 56u
#define HEADER 64u

static uint64_t header_checksum(const uint8_t *bytes, size_t rest) {
    uint8_t *covered = malloc(COVERED + rest);
    if (covered == NULL) abort();
    memcpy(covered, bytes, COVERED);
    memcpy(covered + COVERED, bytes + HEADER, rest);
    uint64_t hash = nigh__hash(covered, COVERED + rest);
    free(covered);
    return hash;
}

static void forge_sections(uint8_t *bytes, size_t length, uint64_t sections) {
    for (uint64_t i = 0; i < sections; i++) {
        struct nigh__section_entry entry;
        uint8_t *at = bytes + HEADER + i * sizeof entry;
        memcpy(&entry, at, sizeof entry);
        if (entry.offset > length || entry.length > length - entry.offset) continue;
        entry.checksum = nigh__hash(bytes + entry.offset, entry.length);
        memcpy(at, &entry, sizeof entry);
    }
}

/* The footer repeats two numbers of the header. */
static void forge_footer(uint8_t *bytes, size_t length, uint64_t file_length, uint64_t checksum) {
    struct nigh__segment_footer footer;
    uint8_t *footer_at = bytes + length - sizeof footer;
    memcpy(&footer, footer_at, sizeof footer);
    footer.header_checksum = checksum;
    footer.file_length = file_length;
    memcpy(footer_at, &footer, sizeof footer);
}

/* The checksums of the sections, and the header's over them. */
static uint64_t forge_table(uint8_t *bytes, size_t length, uint32_t section_count) {
    const uint64_t sections = section_count > NIGH__MAX_SECTIONS ? NIGH__MAX_SECTIONS : section_count;
    forge_sections(bytes, length, sections);
    return header_checksum(bytes, sections * sizeof(struct nigh__section_entry));
}

/* The section of a type, where it is there and inside. */
static bool find_section(const uint8_t *bytes, size_t length, uint32_t type, struct nigh__section_entry *out) {
    for (size_t i = 0; i < NIGH__MAX_SECTIONS; i++) {
        memcpy(out, bytes + HEADER + i * sizeof *out, sizeof *out);
        if (out->type == type) return out->offset <= length && out->length <= length - out->offset;
    }
    return false;
}

/* The key of the id lookup is a checksum too. */
static void forge_id_key(uint8_t *bytes, size_t length) {
    struct nigh__section_entry id_bytes;
    struct nigh__section_entry offsets;
    struct nigh__section_entry key;
    if (!find_section(bytes, length, NIGH__SECTION_ID_BYTES, &id_bytes) ||
        !find_section(bytes, length, NIGH__SECTION_ID_OFFSETS, &offsets) ||
        !find_section(bytes, length, NIGH__SECTION_ID_KEY, &key) || key.length < sizeof(uint64_t))
        return;
    struct nigh__keyed_hasher hasher;
    nigh__id_key_init(&hasher);
    nigh__keyed_hasher_add(&hasher, bytes + id_bytes.offset, id_bytes.length);
    nigh__keyed_hasher_add(&hasher, bytes + offsets.offset, offsets.length);
    const uint64_t value = nigh__keyed_hasher_value(&hasher);
    memcpy(bytes + key.offset, &value, sizeof value);
}

void forge_segment(uint8_t *bytes, size_t length, struct nigh__manifest_entry *entry) {
    struct nigh__segment_header header;
    if (length < NIGH__SECTIONS_START + sizeof(struct nigh__segment_footer)) return;
    forge_id_key(bytes, length);
    memcpy(&header, bytes, sizeof header);
    header.checksum = forge_table(bytes, length, header.section_count);
    memcpy(bytes, &header, sizeof header);
    forge_footer(bytes, length, header.file_length, header.checksum);
    entry->header_checksum = header.checksum;
    entry->documents = header.documents;
    entry->file_length = header.file_length;
}

void forge_texts(uint8_t *bytes, size_t length) {
    struct nigh__section_entry blocks;
    struct nigh__section_entry packed;
    if (length < NIGH__SECTIONS_START || !find_section(bytes, length, NIGH__SECTION_TEXT_BLOCKS, &blocks) ||
        !find_section(bytes, length, NIGH__SECTION_TEXT_BYTES, &packed))
        return;
    for (uint64_t at = 0; at + 2 * sizeof(struct nigh__text_block) <= blocks.length;
         at += sizeof(struct nigh__text_block)) {
        struct nigh__text_block both[2];
        memcpy(both, bytes + blocks.offset + at, sizeof both);
        if (both[0].offset > both[1].offset || both[1].offset > packed.length) continue;
        both[0].checksum =
            nigh__hash(bytes + packed.offset + both[0].offset, (size_t)(both[1].offset - both[0].offset));
        memcpy(bytes + blocks.offset + at, both, sizeof both[0]);
    }
}

void forge_sidecar(uint8_t *bytes, size_t length, uint64_t segment_checksum) {
    struct nigh__sidecar_header header;
    if (length < NIGH__SECTIONS_START + sizeof(struct nigh__segment_footer)) return;
    memcpy(&header, bytes, sizeof header);
    header.segment_checksum = segment_checksum;
    memcpy(bytes, &header, sizeof header);
    header.checksum = forge_table(bytes, length, header.section_count);
    memcpy(bytes, &header, sizeof header);
    forge_footer(bytes, length, header.file_length, header.checksum);
}

void forge_terms(uint8_t *bytes, size_t length, struct nigh__manifest_entry *entry) {
    struct nigh__terms_header header;
    if (length < NIGH__SECTIONS_START + sizeof(struct nigh__segment_footer)) return;
    memcpy(&header, bytes, sizeof header);
    header.checksum = forge_table(bytes, length, header.section_count);
    memcpy(bytes, &header, sizeof header);
    forge_footer(bytes, length, header.file_length, header.checksum);
    entry->header_checksum = header.checksum;
    entry->documents = header.documents;
    entry->file_length = header.file_length;
}

void forge_manifest(uint8_t *bytes, size_t length) {
    uint64_t checksum = header_checksum(bytes, length - HEADER);
    memcpy(bytes + COVERED, &checksum, sizeof checksum);
}
