/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a segment against any bytes.  The first byte of the input chooses a condition, the rest is the section,
 * in a segment that is otherwise always the same; once under the checksums of another, and once with every checksum
 * made right.  Where the check finds nothing wrong, every value can be read, and the condition is true of the documents
 * that have such values; where it does, nothing is read that is not there.
 */
#include "fuzz/store_target.h"
#include "support/support.h"

#define DOCUMENTS 40u
#define KEYS RECIPE_KEEP_KEYS

static const struct recipe recipe = {.width_bits = 64, .seed = 5, .values = true};
static const char *const conditions[] = {"lang = en", "not year < 100 and lang in (de, '', 2024)", "'a.b c' >= 12.5",
                                         "year != 7 or 'a.b c' = zu", "lang <= zz"};
static const char *condition;

/* The first condition alone, by hand: the others are held against a loop in tests/property. */
static bool is_english(const nigh_value *value) {
    return value->type == NIGH_VALUE_TEXT && value->length == 2 && memcmp(value->text, "en", 2) == 0;
}

static void read_values(const nigh_collection *collection, const nigh_filter *filter, bool sound) {
    static char text[NIGH_MAX_VALUE_LENGTH];
    for (uint64_t i = 0; i < DOCUMENTS; i++)
        for (uint32_t key = 0; key < KEYS; key++) {
            nigh_value value;
            const nigh_status status = nigh_collection_value(collection, i, key, &value, text, sizeof text, NULL);
            if (sound && status != NIGH_OK) abort();
            if (!sound || filter == NULL || key != 0 || condition != conditions[0]) continue;
            if ((nigh_filter_has(filter, i) != 0) != is_english(&value)) abort();
        }
}

static void read_collection(nigh_context *context) {
    nigh_collection *collection;
    nigh_filter *filter = NULL;
    nigh_search_options options;
    const bool sound = nigh_collection_check(context, "c", NULL, NULL, NULL) == NIGH_OK;
    if (nigh_collection_open(context, "c", NULL, &collection, NULL) != NIGH_OK) return;
    nigh_search_options_init(&options);
    options.where = condition;
    if (nigh_filter_new(collection, &options, &filter, NULL) != NIGH_OK && sound) abort();
    read_values(collection, filter, sound);
    for (uint32_t key = 0; key < KEYS; key++) {
        nigh_key_info info = {.size = sizeof info};
        if (nigh_collection_key(collection, key, &info, NULL) != NIGH_OK && sound) abort();
    }
    nigh_filter_free(filter);
    nigh_collection_close(collection);
}

/* Made once, by the library itself; *section is the place of the entry of the values, which are its last section. */
static struct bytes plain_segment(struct nigh__section_entry *entry, size_t *place) {
    static struct bytes segment;
    if (segment.data == NULL) {
        char *scratch = scratch_new();
        char *path = path_in(scratch, "c.nigh");
        nigh_context *context;
        if (nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
        if (recipe_add(context, path, &recipe, 0, DOCUMENTS, NULL) != NIGH_OK) abort();
        char *file = path_in(path, "segment-00000000000000000001");
        segment = file_read_all(file);
        free(file);
        nigh_context_free(context);
        free(path);
        scratch_free(scratch);
    }
    struct nigh__segment_header header;
    memcpy(&header, segment.data, sizeof header);
    *place = sizeof header + (header.section_count - 1) * sizeof *entry;
    memcpy(entry, segment.data + *place, sizeof *entry);
    if (entry->type != NIGH__SECTION_VALUES) abort();
    return segment;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct store_target target = {.file_name = "segment-00000000000000000001",
                                               .manifest_magic = NIGH__MANIFEST_MAGIC,
                                               .header_size = sizeof(struct nigh__segment_header),
                                               .name = store_name_segment,
                                               .forge = forge_segment,
                                               .read = read_collection};
    struct nigh__section_entry entry;
    size_t place = 0;
    if (size < 1 || size > STORE_MAX_BYTES / 2) return 0;
    const struct bytes plain = plain_segment(&entry, &place);
    condition = conditions[data[0] % (sizeof conditions / sizeof conditions[0])];
    const size_t padded = (size - 1 + 63) / 64 * 64;
    const size_t length = (size_t)entry.offset + padded + sizeof(struct nigh__segment_footer);
    uint8_t *file = calloc(length, 1);
    if (file == NULL) abort();
    memcpy(file, plain.data, (size_t)entry.offset);
    memcpy(file + entry.offset, data + 1, size - 1);
    memcpy(file + length - sizeof(struct nigh__segment_footer), NIGH__FOOTER_MAGIC, NIGH__MAGIC_SIZE);
    entry.length = entry.count = size - 1;
    memcpy(file + place, &entry, sizeof entry);
    const uint64_t whole = length;
    memcpy(file + offsetof(struct nigh__segment_header, file_length), &whole, sizeof whole);
    memcpy(file + length - sizeof(struct nigh__segment_footer) + 8, &whole, sizeof whole);
    const int result = store_run(&target, file, length);
    free(file);
    return result;
}
