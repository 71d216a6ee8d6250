/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzzers of a whole store share.  The input is its one file, a segment or a group of
 * terms; a manifest is made that names it, once as the bytes are and once with every
 * checksum made right, so that numbers out of bounds are reached.
 */
#ifndef NIGH_TESTS_STORE_TARGET_H
#define NIGH_TESTS_STORE_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "collection/format.h"
#include "fuzz/fuzz.h"
#include "nigh.h"
#include "support/forge.h"
#include "support/memory_files.h"

#define STORE_MANIFEST_SIZE (sizeof(struct nigh__manifest_header) + sizeof(struct nigh__manifest_entry))
#define STORE_MAX_BYTES (1u << 20)

struct store_target {
    const char *file_name, *manifest_magic;
    size_t header_size;
    /* What a manifest says of the file: all of the entry but its number, and the width. */
    uint32_t (*name)(const uint8_t *file, struct nigh__manifest_entry *entry);
    void (*forge)(uint8_t *file, size_t length, struct nigh__manifest_entry *entry);
    void (*read)(nigh_context *context); /* the store is "c" */
};

/* Of a segment: what it says of itself. */
static inline uint32_t store_name_segment(const uint8_t *file, struct nigh__manifest_entry *entry) {
    struct nigh__segment_header header;
    memcpy(&header, file, sizeof header);
    entry->file_length = header.file_length;
    entry->documents = header.documents;
    entry->header_checksum = header.checksum;
    return header.width_bits;
}

static void store_read(const struct store_target *target, nigh_context *context, struct memory_files *files) {
    struct nigh__manifest_entry entry = {.number = 1};
    const uint32_t width_bits = target->name(files->bytes[0], &entry);
    struct nigh__manifest_header header = {.version = NIGH__FORMAT_VERSION,
                                           .endian_mark = NIGH__ENDIAN_MARK,
                                           .sequence = 1,
                                           .next_segment = 2,
                                           .documents = entry.documents,
                                           .width_bits = width_bits,
                                           .segment_count = 1};
    memcpy(header.magic, target->manifest_magic, NIGH__MAGIC_SIZE);
    memcpy(files->bytes[1], &header, sizeof header);
    memcpy(files->bytes[1] + sizeof header, &entry, sizeof entry);
    forge_manifest(files->bytes[1], STORE_MANIFEST_SIZE);
    target->read(context);
}

static int store_run(const struct store_target *target, const uint8_t *data, size_t size) {
    if (size < target->header_size || size > STORE_MAX_BYTES) return 0;
    uint8_t manifest[STORE_MANIFEST_SIZE];
    struct memory_files files = {.names = {target->file_name, "manifest-00000000000000000001"},
                                 .length = {size, STORE_MANIFEST_SIZE}};
    files.bytes[0] = aligned_alloc(64, (size + 63) / 64 * 64);
    files.bytes[1] = manifest;
    if (files.bytes[0] == NULL) abort();
    memcpy(files.bytes[0], data, size);

    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    store_read(target, context, &files);
    struct nigh__manifest_entry ignored;
    target->forge(files.bytes[0], size, &ignored);
    store_read(target, context, &files);
    nigh_context_free(context);
    free(files.bytes[0]);
    return 0;
}

#endif
