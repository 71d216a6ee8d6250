/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzzers of files beside a segment share.  The input is such a file; it is put
 * beside a segment that is always the same, in a collection that lives in memory, once as
 * it is and once with every checksum made right and made to belong to the segment, so
 * that numbers out of bounds are reached.  Then it is searched in every way that uses it,
 * and checked.
 */
#ifndef NIGH_TESTS_SIDECAR_TARGET_H
#define NIGH_TESTS_SIDECAR_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "nigh.h"
#include "support/forge.h"
#include "support/memory_files.h"
#include "support/support.h"

#define SIDECAR_DOCUMENTS 60u
#define SIDECAR_WIDTH 72u
#define SIDECAR_QUERIES 3u /* of a search */

/* As the first segment of tests/golden/v1-sliced.nigh. */
static const struct recipe sidecar_recipe = {.width_bits = SIDECAR_WIDTH, .seed = 4, .distinct = 40, .ids = true};

enum { SIDECAR_SEGMENT, SIDECAR_MANIFEST, SIDECAR_FILE };

static void sidecar_search_once(const nigh_collection *collection, const nigh_search_options *options) {
    uint8_t queries[SIDECAR_QUERIES * SIDECAR_WIDTH / 8];
    recipe_signature(&sidecar_recipe, 7, queries); /* one that is there, one near it, and one far from all */
    memcpy(queries + 9, queries, 9);
    queries[13] ^= 0x21;
    memset(queries + 18, 0, 9);
    nigh_results *results = NULL;
    if (nigh_search(collection, queries, SIDECAR_QUERIES, options, &results, NULL) == NIGH_OK) {
        nigh_proof proof = {.size = sizeof proof};
        size_t count;
        for (size_t i = 0; i < SIDECAR_QUERIES; i++) {
            (void)nigh_results_matches(results, i, &count);
            (void)nigh_results_proof(results, i, &proof, NULL);
        }
    }
    nigh_results_free(results);
}

/* Made once, by the library itself. */
static const struct memory_files *sidecar_collection(const char *name) {
    static struct memory_files files = {.names = {"segment-00000000000000000001", "manifest-00000000000000000001"}};
    if (files.bytes[SIDECAR_SEGMENT] != NULL) return &files;
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    nigh_context *context;
    files.names[SIDECAR_FILE] = name;
    if (nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    if (recipe_add(context, path, &sidecar_recipe, 0, SIDECAR_DOCUMENTS, NULL) != NIGH_OK) abort();
    for (int i = SIDECAR_SEGMENT; i <= SIDECAR_MANIFEST; i++) {
        char *file = path_in(path, files.names[i]);
        struct bytes bytes = file_read_all(file);
        files.length[i] = bytes.length;
        files.bytes[i] = aligned_alloc(64, (bytes.length + 63) / 64 * 64);
        if (files.bytes[i] == NULL) abort();
        memcpy(files.bytes[i], bytes.data, bytes.length);
        free(bytes.data);
        free(file);
    }
    nigh_context_free(context);
    free(path);
    scratch_free(scratch);
    return &files;
}

/* Segments whose file of the kind is there, usable or not. */
typedef uint32_t sidecar_count(const nigh_collection_info *info);

/* Whatever is wrong with the file, the collection "c" opens. */
static void sidecar_read(nigh_context *context, sidecar_count *count, void (*search)(const nigh_collection *)) {
    nigh_collection *collection;
    if (nigh_collection_open(context, "c", NULL, &collection, NULL) != NIGH_OK) abort();
    nigh_collection_info info = {.size = sizeof info};
    nigh_segment_info segment = {.size = sizeof segment};
    nigh_collection_describe(collection, &info);
    if (count(&info) != 1) abort();
    (void)nigh_collection_segment(collection, 0, &segment, NULL);
    search(collection);
    nigh_collection_close(collection);
    (void)nigh_collection_check(context, "c", NULL, NULL, NULL);
}

/* Twice: as the bytes are, and made right. */
__attribute__((unused)) static int sidecar_run(const char *name, const uint8_t *data, size_t size, sidecar_count *count,
                                               void (*search)(const nigh_collection *)) {
    if (size > (1u << 20)) return 0;
    struct memory_files files = *sidecar_collection(name);
    files.length[SIDECAR_FILE] = size;
    files.bytes[SIDECAR_FILE] = aligned_alloc(64, (size + 64) / 64 * 64);
    if (files.bytes[SIDECAR_FILE] == NULL) abort();
    if (size > 0) memcpy(files.bytes[SIDECAR_FILE], data, size);

    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    sidecar_read(context, count, search);
    struct nigh__segment_header segment;
    memcpy(&segment, files.bytes[SIDECAR_SEGMENT], sizeof segment);
    forge_sidecar(files.bytes[SIDECAR_FILE], size, segment.checksum);
    sidecar_read(context, count, search);
    nigh_context_free(context);
    free(files.bytes[SIDECAR_FILE]);
    return 0;
}

#endif
