/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment reader against any bytes.  The input is a segment file; it is put
 * into a collection that lives in memory, with a manifest that names it, once
 * as it is and once with every checksum made right.  Everything is then read.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "nigh.h"
#include "support/forge.h"
#include "support/memory_files.h"

#define SEGMENT_NAME "segment-00000000000000000001"
#define MANIFEST_NAME "manifest-00000000000000000001"
#define MANIFEST_SIZE (sizeof(struct nigh__manifest_header) + sizeof(struct nigh__manifest_entry))
/* Reading takes time in proportion to the documents; a fuzzer wants short runs. */
#define MOST_DOCUMENTS 2000

enum { SEGMENT, MANIFEST };

/* ----------------------------------------------------------------- reading */

static void read_documents(const nigh_collection *collection, const nigh_collection_info *info) {
    static char text[NIGH_MAX_ID_LENGTH + 1];
    static uint8_t signature[NIGH_MAX_WIDTH_BITS / 8];
    static uint8_t weights[NIGH_MAX_WIDTH_BITS];
    for (uint64_t i = 0; i < info->documents && i < MOST_DOCUMENTS; i++) {
        size_t length = 0;
        uint64_t found;
        if (nigh_collection_id(collection, i, text, sizeof text, &length, NULL) == NIGH_OK)
            (void)nigh_collection_find(collection, text, length, &found, NULL);
        (void)nigh_collection_metadata(collection, i, text, sizeof text, &length, NULL);
        (void)nigh_collection_signature(collection, i, signature, NULL);
        (void)nigh_collection_weights(collection, i, weights, NULL);
    }
}

static void read_vocabulary(const nigh_collection *collection) {
    nigh_vocabulary *vocabulary = NULL;
    if (nigh_collection_vocabulary(collection, &vocabulary, NULL) == NIGH_OK) nigh_vocabulary_free(vocabulary);
}

static void read_model(const nigh_collection *collection) {
    nigh_model *model = NULL;
    if (nigh_collection_model(collection, &model, NULL) == NIGH_OK) nigh_model_free(model);
}

static void read_collection(nigh_context *context) {
    nigh_collection *collection;
    if (nigh_collection_open(context, "c", NULL, &collection, NULL) != NIGH_OK) return;
    nigh_collection_info info = NIGH_COLLECTION_INFO_INIT;
    nigh_collection_describe(collection, &info);
    read_documents(collection, &info);
    read_vocabulary(collection);
    read_model(collection);
    static const uint8_t query[NIGH_MAX_WIDTH_BITS / 8];
    nigh_search_options options = NIGH_SEARCH_OPTIONS_INIT;
    options.threads = 1;
    options.k = NIGH_ALL;
    nigh_results *results = NULL;
    (void)nigh_search(collection, query, 1, &options, &results, NULL);
    nigh_results_free(results);
    nigh_collection_close(collection);
    (void)nigh_collection_check(context, "c", NULL, NULL, NULL);
}

/* A manifest that says of the segment what the segment says of itself. */
static void make_manifest(uint8_t *out, const struct nigh__manifest_entry *entry, uint32_t width_bits) {
    struct nigh__manifest_header header = {.version = NIGH__FORMAT_VERSION,
                                           .endian_mark = NIGH__ENDIAN_MARK,
                                           .sequence = 1,
                                           .next_segment = 2,
                                           .documents = entry->documents,
                                           .width_bits = width_bits,
                                           .segment_count = 1};
    memcpy(header.magic, NIGH__MANIFEST_MAGIC, NIGH__MAGIC_SIZE);
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, entry, sizeof *entry);
    forge_manifest(out, MANIFEST_SIZE);
}

static void run(nigh_context *context, struct memory_files *files) {
    struct nigh__segment_header header;
    memcpy(&header, files->bytes[SEGMENT], sizeof header);
    struct nigh__manifest_entry entry = {.number = 1,
                                         .file_length = header.file_length,
                                         .documents = header.documents,
                                         .header_checksum = header.checksum};
    make_manifest(files->bytes[MANIFEST], &entry, header.width_bits);
    read_collection(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < sizeof(struct nigh__segment_header) || size > (1u << 20)) return 0;
    uint8_t manifest[MANIFEST_SIZE];
    struct memory_files files = {.names = {SEGMENT_NAME, MANIFEST_NAME}, .length = {size, MANIFEST_SIZE}};
    files.bytes[SEGMENT] = aligned_alloc(64, (size + 63) / 64 * 64);
    files.bytes[MANIFEST] = manifest;
    if (files.bytes[SEGMENT] == NULL) abort();
    memcpy(files.bytes[SEGMENT], data, size);

    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options = NIGH_CONTEXT_OPTIONS_INIT;
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    run(context, &files);
    struct nigh__manifest_entry ignored;
    forge_segment(files.bytes[SEGMENT], size, &ignored);
    run(context, &files);
    nigh_context_free(context);
    free(files.bytes[SEGMENT]);
    return 0;
}
