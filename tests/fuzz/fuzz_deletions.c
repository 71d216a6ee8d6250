/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of deleted documents against any bytes.  The first byte of the input says how many the manifest claims,
 * the rest is the file; it is named by the manifest of a collection whose segment is always the same
 * (sidecar_target.h), once as it is and once with every checksum made right, so that runs and bitmaps that cannot be
 * are reached.  What is opened is searched, and has as many documents less as it says.
 */
#include "collection/sidecar.h"
#include "fuzz/sidecar_target.h"

#define NAME "deleted-00000000000000000002"

static void search_all_ways(const nigh_collection *collection) {
    for (unsigned way = 0; way < 4; way++) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.threads = 1;
        options.k = way % 2 == 0 ? NIGH_ALL : 3;
        options.radius = way == 0 ? 9 : NIGH_ALL;
        options.method = way == 3 ? NIGH_SEARCH_SCAN : NIGH_SEARCH_AUTO;
        if (options.k != NIGH_ALL || options.radius != NIGH_ALL) sidecar_search_once(collection, &options);
    }
}

static void read_collection(nigh_context *context, uint64_t deleted) {
    nigh_collection *collection;
    const nigh_status checked = nigh_collection_check(context, "c", NULL, NULL, NULL);
    const nigh_status status = nigh_collection_open(context, "c", NULL, &collection, NULL);
    if ((checked == NIGH_OK) != (status == NIGH_OK)) abort();
    if (status != NIGH_OK) return;
    uint64_t living = 0;
    for (uint64_t d = 0; d < SIDECAR_DOCUMENTS; d++) living += nigh_collection_lives(collection, d) != 0;
    if (living + deleted != SIDECAR_DOCUMENTS) abort();
    search_all_ways(collection);
    nigh_collection_close(collection);
}

/* A manifest that names the segment, and the file as what is deleted of it. */
static void name_both(const struct memory_files *plain, struct memory_files *files, uint64_t deleted, uint8_t *out) {
    struct nigh__manifest_header header;
    struct nigh__living_entry entry = {.deletions = {.number = 2, .deleted = deleted}};
    struct nigh__sidecar_header sidecar = {.version = 0};
    memcpy(&header, plain->bytes[SIDECAR_MANIFEST], sizeof header);
    memcpy(&entry.segment, plain->bytes[SIDECAR_MANIFEST] + sizeof header, sizeof entry.segment);
    if (files->length[SIDECAR_FILE] >= sizeof sidecar) memcpy(&sidecar, files->bytes[SIDECAR_FILE], sizeof sidecar);
    entry.deletions.file_length = files->length[SIDECAR_FILE];
    entry.deletions.header_checksum = sidecar.checksum;
    header.incompatible = NIGH__FEATURE_LIVING;
    header.next_segment = 3;
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, &entry, sizeof entry);
    forge_manifest(out, sizeof header + sizeof entry);
    files->bytes[SIDECAR_MANIFEST] = out;
    files->length[SIDECAR_MANIFEST] = sizeof header + sizeof entry;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > (1u << 20)) return 0;
    const uint64_t deleted = data[0] % SIDECAR_DOCUMENTS + 1;
    const struct memory_files *plain = sidecar_collection(NAME);
    struct memory_files files = *plain;
    uint8_t manifest[sizeof(struct nigh__manifest_header) + sizeof(struct nigh__living_entry)];
    files.length[SIDECAR_FILE] = size - 1;
    files.bytes[SIDECAR_FILE] = aligned_alloc(64, (size + 63) / 64 * 64);
    if (files.bytes[SIDECAR_FILE] == NULL) abort();
    memcpy(files.bytes[SIDECAR_FILE], data + 1, size - 1);
    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    struct nigh__segment_header segment;
    memcpy(&segment, files.bytes[SIDECAR_SEGMENT], sizeof segment);
    for (int forged = 0; forged < 2; forged++) {
        if (forged != 0) forge_sidecar(files.bytes[SIDECAR_FILE], size - 1, segment.checksum);
        name_both(plain, &files, deleted, manifest);
        read_collection(context, deleted);
    }
    nigh_context_free(context);
    free(files.bytes[SIDECAR_FILE]);
    return 0;
}
