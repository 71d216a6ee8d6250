/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment reader against any bytes.  The input is a segment file; it is put
 * into a collection that lives in memory, with a manifest that names it, once
 * as it is and once with every checksum made right.  Everything is then read.
 */
#include "collection/collection.h"
#include "collection/texts.h"
#include "fuzz/store_target.h"

/* Reading takes time in proportion to the documents; a fuzzer wants short runs. */
#define MAX_DOCUMENTS 2000
#define MAX_SINGLE_TEXTS 20

/* ----------------------------------------------------------------- reading */

/* Reads every byte, so that a sanitizer sees one that is not there. */
static void touch(const void *bytes, size_t length) {
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++) sum ^= ((const uint8_t *)bytes)[i];
    __asm__ volatile("" : : "r"(sum));
}

static void read_documents(const nigh_collection *collection, const nigh_collection_info *info) {
    static char text[NIGH_MAX_ID_LENGTH + 1];
    static uint8_t signature[NIGH_MAX_WIDTH_BITS / 8];
    static uint8_t weights[NIGH_MAX_WIDTH_BITS];
    for (uint64_t i = 0; i < info->documents && i < MAX_DOCUMENTS; i++) {
        size_t length = 0;
        uint64_t found;
        if (nigh_collection_id(collection, i, text, sizeof text, &length, NULL) == NIGH_OK)
            (void)nigh_collection_find(collection, text, length, &found, NULL);
        (void)nigh_collection_metadata(collection, i, text, sizeof text, &length, NULL);
        (void)nigh_collection_signature(collection, i, signature, NULL);
        (void)nigh_collection_weights(collection, i, weights, NULL);
    }
}

/* By one cache, as those read who compare texts; and each by itself, which unpacks its block again. */
static void read_texts(const nigh_collection *collection, const struct nigh__segment *segment) {
    struct nigh__text_cache cache;
    nigh__text_cache_init(&cache);
    for (uint32_t i = 0; i < segment->documents && i < MAX_DOCUMENTS && segment->text_offsets != NULL; i++) {
        const char *text = NULL;
        char buffer[100];
        size_t length = 0;
        if (nigh__segment_text(segment, i, &cache, &text, &length, NULL) == NIGH_OK && length > 0) touch(text, length);
        if (i < MAX_SINGLE_TEXTS) (void)nigh_collection_text(collection, i, buffer, sizeof buffer, &length, NULL);
    }
    nigh__text_cache_release(segment->context, &cache);
}

static void read_keys(const struct nigh__segment *segment) {
    static uint32_t keys[NIGH__KEY_BLOCK];
    const uint32_t bands = nigh__segment_key_count(segment);
    for (uint64_t first = 0; first < segment->documents && bands > 0; first += NIGH__KEY_BLOCK) {
        for (uint32_t band = 0; band < bands; band++) {
            uint32_t count = 0;
            if (nigh__segment_keys(segment, band, (uint32_t)(first / NIGH__KEY_BLOCK), keys, &count, NULL) == NIGH_OK)
                touch(keys, count * sizeof keys[0]);
        }
    }
}

static void read_values(const nigh_collection *collection, const nigh_collection_info *info) {
    static char text[NIGH_MAX_VALUE_LENGTH];
    for (uint32_t key = 0; key < info->keep_keys; key++) {
        nigh_key_info told = {.size = sizeof told};
        nigh_value value;
        (void)nigh_collection_key(collection, key, &told, NULL);
        for (uint64_t i = 0; i < info->documents && i < MAX_SINGLE_TEXTS; i++)
            (void)nigh_collection_value(collection, i, key, &value, text, sizeof text, NULL);
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
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    read_documents(collection, &info);
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        read_texts(collection, collection->segments[i]);
        read_keys(collection->segments[i]);
    }
    read_values(collection, &info);
    read_vocabulary(collection);
    read_model(collection);
    static const uint8_t query[NIGH_MAX_WIDTH_BITS / 8];
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.threads = 1;
    options.k = NIGH_ALL;
    nigh_results *results = NULL;
    (void)nigh_search(collection, query, 1, &options, &results, NULL);
    nigh_results_free(results);
    nigh_collection_close(collection);
    (void)nigh_collection_check(context, "c", NULL, NULL, NULL);
}

/* Of blocks of texts too, so that what is not packed reaches what unpacks it. */
static void forge(uint8_t *file, size_t length, struct nigh__manifest_entry *entry) {
    forge_texts(file, length);
    forge_segment(file, length, entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct store_target target = {.file_name = "segment-00000000000000000001",
                                               .manifest_magic = NIGH__MANIFEST_MAGIC,
                                               .header_size = sizeof(struct nigh__segment_header),
                                               .name = store_name_segment,
                                               .forge = forge,
                                               .read = read_collection};
    return store_run(&target, data, size);
}
