/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of slice lists against any bytes.  The input is a file of slice lists; it
 * is put beside a segment that is always the same, in a collection that lives in memory,
 * once as it is and once with every checksum made right and made to belong to the
 * segment, so that starts and rows out of bounds are reached.  Then everything is
 * searched in every way that uses lists, and checked.
 *
 * The seeds are the lists of that segment, with slices of several widths.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "nigh.h"
#include "support/forge.h"
#include "support/memory_files.h"
#include "support/support.h"

#define SEGMENT_NAME "segment-00000000000000000001"
#define MANIFEST_NAME "manifest-00000000000000000001"
#define SLICES_NAME "slices-00000000000000000001"

/* As the first segment of tests/golden/v1-sliced.nigh. */
static const struct recipe recipe = {.width_bits = 72, .seed = 4, .distinct = 40, .ids = true};
#define DOCUMENTS 60u

enum { SEGMENT, MANIFEST, SLICES };

/* ----------------------------------------------------------------- searching */

static void search_once(const nigh_collection *collection, const nigh_search_options *options) {
    enum { QUERIES = 3 };
    uint8_t queries[QUERIES * 9];
    recipe_signature(&recipe, 7, queries); /* one that is there, one near it, and one far from all */
    memcpy(queries + 9, queries, 9);
    queries[13] ^= 0x21;
    memset(queries + 18, 0, 9);
    nigh_results *results = NULL;
    if (nigh_search(collection, queries, QUERIES, options, &results, NULL) == NIGH_OK) {
        nigh_proof proof = NIGH_PROOF_INIT;
        size_t count;
        for (size_t i = 0; i < QUERIES; i++) {
            (void)nigh_results_matches(results, i, &count);
            (void)nigh_results_proof(results, i, &proof, NULL);
        }
    }
    nigh_results_free(results);
}

static void search_all_ways(const nigh_collection *collection) {
    static const nigh_search_method methods[] = {NIGH_SEARCH_AUTO, NIGH_SEARCH_SLICES, NIGH_SEARCH_SLICES_PLAIN};
    for (unsigned way = 0; way < 18; way++) {
        nigh_search_options options = NIGH_SEARCH_OPTIONS_INIT;
        options.threads = 1;
        options.method = methods[way % 3];
        options.breadth = way / 3 % 3; /* 0, 1, 2 */
        options.stop = way < 9 ? NIGH_STOP_BREADTH : NIGH_STOP_CERTAIN;
        if (way % 2 == 1) {
            options.k = NIGH_ALL;
            options.radius = 9;
        }
        if (way % 5 == 4) options.postings = 20;
        search_once(collection, &options);
    }
}

static void read_collection(nigh_context *context) {
    nigh_collection *collection;
    /* Whatever is wrong with lists, the collection opens. */
    if (nigh_collection_open(context, "c", NULL, &collection, NULL) != NIGH_OK) abort();
    nigh_collection_info info = NIGH_COLLECTION_INFO_INIT;
    nigh_segment_info segment = NIGH_SEGMENT_INFO_INIT;
    nigh_collection_describe(collection, &info);
    if (info.sliced_segments + info.damaged_lists != 1) abort();
    (void)nigh_collection_segment(collection, 0, &segment, NULL);
    if ((segment.slices != 0) != (info.sliced_segments != 0)) abort();
    search_all_ways(collection);
    nigh_collection_close(collection);
    (void)nigh_collection_check(context, "c", NULL, NULL, NULL);
}

/* Made once, by the library itself. */
static const struct memory_files *collection_files(void) {
    static struct memory_files files = {.names = {SEGMENT_NAME, MANIFEST_NAME, SLICES_NAME}};
    if (files.bytes[SEGMENT] != NULL) return &files;
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    nigh_context *context;
    if (nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    if (recipe_add(context, path, &recipe, 0, DOCUMENTS, NULL) != NIGH_OK) abort();
    for (int i = SEGMENT; i <= MANIFEST; i++) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > (1u << 20)) return 0;
    struct memory_files files = *collection_files();
    files.length[SLICES] = size;
    files.bytes[SLICES] = aligned_alloc(64, (size + 64) / 64 * 64);
    if (files.bytes[SLICES] == NULL) abort();
    if (size > 0) memcpy(files.bytes[SLICES], data, size);

    const nigh_file_system table = memory_files_table(&files);
    nigh_context_options options = NIGH_CONTEXT_OPTIONS_INIT;
    options.file_system = &table;
    nigh_context *context;
    if (nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    read_collection(context);
    struct nigh__segment_header segment;
    memcpy(&segment, files.bytes[SEGMENT], sizeof segment);
    forge_annex(files.bytes[SLICES], size, segment.checksum);
    read_collection(context);
    nigh_context_free(context);
    free(files.bytes[SLICES]);
    return 0;
}
