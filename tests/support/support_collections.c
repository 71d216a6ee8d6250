/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Small collections whose every byte is known. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "collection/collection.h"
#include "collection/texts.h"
#include "support/support.h"

const char *error_text(const nigh_error *error) {
    static char text[1024];
    (void)nigh_error_format(error, text, sizeof text);
    return text;
}

void support_assert_ok(nigh_status status, const nigh_error *error, const char *call, const char *file, int line) {
    if (status == NIGH_OK) return;
    print_error("%s: %s (%s)\n", call, error_text(error), nigh_status_name(status));
    _fail(file, line);
}

nigh_context *context_with(const nigh_file_system *files, const nigh_allocator *allocator, const char *kernel) {
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.file_system = files;
    if (allocator != NULL) options.allocator = *allocator;
    options.kernel = kernel;
    nigh_context *context;
    nigh_error error;
    assert_ok(nigh_context_new(&options, &context, &error), &error);
    return context;
}

nigh_context *context_new(void) { return context_with(NULL, NULL, NULL); }

int context_setup(void **state) {
    *state = context_new();
    return 0;
}

int collection_place_setup(void **state) {
    struct collection_place *place = malloc(sizeof *place);
    place->context = context_new();
    place->scratch = scratch_new();
    place->path = path_in(place->scratch, "c.nigh");
    *state = place;
    return 0;
}

int collection_place_teardown(void **state) {
    struct collection_place *place = *state;
    nigh_context_free(place->context);
    free(place->path);
    scratch_free(place->scratch);
    free(place);
    return 0;
}

int context_teardown(void **state) {
    nigh_context_free(*state);
    return 0;
}

void padding_clear(uint8_t *rows, size_t count, uint32_t width_bits) {
    const size_t bytes = nigh_signature_bytes(width_bits);
    for (size_t i = 0; i < count; i++)
        for (size_t bit = width_bits; bit < 8 * bytes; bit++) rows[i * bytes + bit / 8] &= (uint8_t) ~(1u << bit % 8);
}

void recipe_signature(const struct recipe *recipe, uint64_t number, uint8_t *out) {
    uint64_t which = recipe->distinct == 0 ? number : nigh__mix(recipe->seed ^ number) % recipe->distinct;
    struct nigh__rng rng = {.state = nigh__mix(recipe->seed * 31 + which)};
    for (uint32_t i = 0; i < nigh_signature_bytes(recipe->width_bits); i++) out[i] = (uint8_t)nigh__rng_next(&rng);
    /* Narrow ones would repeat by chance: the number itself makes them differ. */
    if (recipe->distinct == 0)
        for (uint32_t i = 0; i < 4 && i < nigh_signature_bytes(recipe->width_bits); i++)
            out[i] = (uint8_t)(number >> (8 * i));
    padding_clear(out, 1, recipe->width_bits);
}

size_t recipe_id(const struct recipe *recipe, uint64_t number, char out[RECIPE_MAX_TEXT]) {
    uint64_t hash = nigh__mix(recipe->seed ^ ~number);
    const char *form = hash % 3 == 0   ? "%" PRIu64
                       : hash % 3 == 1 ? "doc-%" PRIu64
                                       : "http://example.org/\xc3\xa9/%" PRIu64;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return (size_t)snprintf(out, RECIPE_MAX_TEXT, form, number);
#pragma GCC diagnostic pop
}

/* Every third document has some. */
size_t recipe_metadata(const struct recipe *recipe, uint64_t number, char out[RECIPE_MAX_TEXT]) {
    if (!recipe->metadata || number % 3 != 1) return 0;
    return (size_t)snprintf(out, RECIPE_MAX_TEXT, "about %" PRIu64, nigh__mix(number));
}

/* Simple enough to be said again elsewhere: tests/oracle holds the golden collection against it. */
void recipe_weights(const struct recipe *recipe, uint64_t number, uint8_t *out) {
    for (uint32_t bit = 0; bit < recipe->width_bits; bit++)
        out[bit] = (uint8_t)(recipe->seed + 31 * number + 7 * (uint64_t)bit);
}

/* As simple: two bits of three. */
void recipe_mask(const struct recipe *recipe, uint64_t number, uint8_t *out) {
    memset(out, 0, nigh_signature_bytes(recipe->width_bits));
    for (uint32_t bit = 0; bit < recipe->width_bits; bit++)
        if ((recipe->seed + 31 * number + 7 * (uint64_t)bit) % 3 != 0) out[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* Some empty, most short, and some so long that forty of them are more than a block. */
size_t recipe_text(const struct recipe *recipe, uint64_t number, char out[RECIPE_MAX_LONG_TEXT]) {
    struct nigh__rng rng = {.state = nigh__mix(recipe->seed * 7 + number)};
    const size_t length = number % 5 == 2 ? 12000 + number % 4000 : number % 5 == 3 ? 0 : number * 37 % 700;
    for (size_t i = 0; i < length; i++) out[i] = (char)(' ' + nigh__rng_next(&rng) % 64);
    return length;
}

uint32_t recipe_key(const struct recipe *recipe, uint64_t number, uint32_t band) {
    return (uint32_t)nigh__mix(recipe->seed + number * NIGH_MAX_KEYS + band);
}

const char *const recipe_keep_keys[RECIPE_KEEP_KEYS] = {"lang", "year", "a.b c"};

void recipe_values(const struct recipe *recipe, uint64_t number, nigh_value out[RECIPE_KEEP_KEYS]) {
    static const char *const texts[] = {"en", "de", "", "2024", "fr \xc3\xa9", "zu"};
    const uint64_t random = nigh__mix(recipe->seed + number);
    const char *text = texts[random % 6];
    memset(out, 0, RECIPE_KEEP_KEYS * sizeof *out);
    if (random >> 8 & 7) out[0] = (nigh_value){.type = NIGH_VALUE_TEXT, .text = text, .length = (uint32_t)strlen(text)};
    if (random >> 11 & 3) out[1] = (nigh_value){.type = NIGH_VALUE_INTEGER, .integer = (int64_t)(random >> 16 & 511)};
    if ((random >> 13 & 3) == 1) out[2] = (nigh_value){.type = NIGH_VALUE_REAL, .real = (double)(number % 300) / 4};
    if ((random >> 13 & 3) == 2) out[2] = out[0];
}

static void add_text(const struct recipe *recipe, uint64_t number, char *text, uint32_t *keys, nigh_document *out) {
    if (recipe->texts) {
        out->text_length = recipe_text(recipe, number, text);
        out->text = text;
    }
    for (uint32_t band = 0; band < recipe->keys; band++) keys[band] = recipe_key(recipe, number, band);
    out->keys = recipe->keys == 0 ? NULL : keys;
    out->key_count = recipe->keys;
}

static nigh_status add_all(nigh_writer *writer, const struct recipe *recipe, uint64_t first, uint64_t count,
                           nigh_error *error) {
    uint8_t *signature = malloc(nigh_signature_bytes(recipe->width_bits));
    uint8_t *weights = malloc(recipe->width_bits);
    uint8_t *mask = malloc(nigh_signature_bytes(recipe->width_bits));
    char *text = malloc(RECIPE_MAX_LONG_TEXT);
    uint32_t keys[NIGH_MAX_KEYS];
    nigh_value values[RECIPE_KEEP_KEYS];
    nigh_status status = NIGH_OK;
    for (uint64_t i = first; i < first + count && status == NIGH_OK; i++) {
        char id[RECIPE_MAX_TEXT];
        char metadata[RECIPE_MAX_TEXT];
        nigh_document document = {.size = sizeof(nigh_document), .signature = signature, .metadata = metadata};
        recipe_signature(recipe, i, signature);
        if (recipe->ids) {
            document.id_length = recipe_id(recipe, i, id);
            document.id = id;
        }
        document.metadata_length = recipe_metadata(recipe, i, metadata);
        if (recipe->weights) {
            recipe_weights(recipe, i, weights);
            document.weights = weights;
        }
        if (recipe->values) {
            recipe_values(recipe, i, values);
            document.values = values;
            document.value_count = RECIPE_KEEP_KEYS;
        }
        if (recipe->masks) {
            recipe_mask(recipe, i, mask);
            document.mask = mask;
        }
        add_text(recipe, i, text, keys, &document);
        status = nigh_writer_add(writer, &document, error);
    }
    free(text);
    free(mask);
    free(weights);
    free(signature);
    return status;
}

void signatures_add(nigh_context *context, const char *path, uint32_t width_bits, const uint8_t *signatures,
                    uint64_t count) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    nigh_writer *writer;
    nigh_error error;
    options.width_bits = width_bits;
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    for (uint64_t i = 0; i < count; i++) {
        const nigh_document document = {.size = sizeof(nigh_document),
                                        .signature = signatures + i * nigh_signature_bytes(width_bits)};
        assert_ok(nigh_writer_add(writer, &document, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

int compare_matches(const void *a, const void *b) {
    const nigh_match *x = a;
    const nigh_match *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

static nigh_attachment attachment_of(const char *text) {
    return (nigh_attachment){.bytes = text, .length = text == NULL ? 0 : strlen(text)};
}

static nigh_thresholds *recipe_thresholds(nigh_context *context, const struct recipe *recipe) {
    nigh_thresholds *thresholds;
    nigh_error error;
    double *values = calloc(recipe->width_bits, sizeof *values);
    for (uint32_t i = 0; values != NULL && i < recipe->width_bits; i++) values[i] = i / 4.0 - 3;
    assert_ok(nigh_thresholds_new(context, values, recipe->width_bits, &thresholds, &error), &error);
    free(values);
    return thresholds;
}

nigh_status recipe_add(nigh_context *context, const char *path, const struct recipe *recipe, uint64_t first,
                       uint64_t count, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = recipe->width_bits;
    options.scheme = recipe->scheme;
    if (recipe->apart) options.merge = 0;
    if (recipe->values) {
        options.keep_keys = recipe_keep_keys;
        options.keep_key_count = RECIPE_KEEP_KEYS;
    }
    nigh_writer *writer;
    options.vocabulary = attachment_of(recipe->vocabulary);
    options.model = attachment_of(recipe->model);
    nigh_thresholds *thresholds = recipe->thresholds ? recipe_thresholds(context, recipe) : NULL;
    options.thresholds = thresholds;
    nigh_status status = nigh_writer_open(context, path, &options, &writer, error);
    if (status == NIGH_OK) status = add_all(writer, recipe, first, count, error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, NULL, error);
    nigh_writer_close(writer);
    nigh_thresholds_free(thresholds);
    return status;
}

static void expect_document(const nigh_collection *collection, const struct recipe *recipe, uint64_t number,
                            uint8_t *wanted, uint8_t *got) {
    nigh_error error;
    char text[RECIPE_MAX_TEXT];
    char buffer[RECIPE_MAX_TEXT];
    size_t length = 0;
    recipe_signature(recipe, number, wanted);
    assert_ok(nigh_collection_signature(collection, number, got, &error), &error);
    assert_memory_equal(got, wanted, nigh_signature_bytes(recipe->width_bits));

    if (recipe->ids)
        (void)recipe_id(recipe, number, text);
    else
        (void)snprintf(text, sizeof text, "%" PRIu64, number);
    assert_ok(nigh_collection_id(collection, number, buffer, sizeof buffer, &length, &error), &error);
    assert_string_equal(buffer, text);
    assert_int_equal(length, strlen(text));
    uint64_t found = UINT64_MAX;
    assert_ok(nigh_collection_find(collection, text, strlen(text), &found, &error), &error);
    assert_int_equal(found, number);

    size_t metadata = recipe_metadata(recipe, number, text);
    assert_ok(nigh_collection_metadata(collection, number, buffer, sizeof buffer, &length, &error), &error);
    assert_int_equal(length, metadata);
    assert_memory_equal(buffer, text, metadata);
}

static void expect_weights(const nigh_collection *collection, const struct recipe *recipe, uint64_t number) {
    nigh_error error;
    uint8_t *wanted = malloc(NIGH_MAX_WIDTH_BITS);
    uint8_t *got = malloc(NIGH_MAX_WIDTH_BITS);
    nigh_status status = nigh_collection_weights(collection, number, got, &error);
    if (recipe->weights) {
        assert_ok(status, &error);
        recipe_weights(recipe, number, wanted);
        assert_memory_equal(got, wanted, recipe->width_bits);
    } else {
        assert_int_equal(status, NIGH_ENOTFOUND);
    }
    free(wanted);
    free(got);
}

static void expect_text(const nigh_collection *collection, const struct recipe *recipe, uint64_t number) {
    nigh_error error;
    size_t length = 0;
    char *wanted = malloc(RECIPE_MAX_LONG_TEXT);
    char *got = malloc(RECIPE_MAX_LONG_TEXT);
    const nigh_status status = nigh_collection_text(collection, number, got, RECIPE_MAX_LONG_TEXT, &length, &error);
    if (recipe->texts) {
        assert_ok(status, &error);
        assert_int_equal(length, recipe_text(recipe, number, wanted));
        assert_memory_equal(got, wanted, length);
    } else {
        assert_int_equal(status, NIGH_ENOTFOUND);
    }
    free(wanted);
    free(got);
}

static void expect_keys(const nigh_collection *collection, const struct recipe *recipe) {
    uint32_t *keys = malloc(NIGH__KEY_BLOCK * sizeof *keys);
    nigh_error error;
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        assert_true(segment->documents <= NIGH__KEY_BLOCK || recipe->keys == 0);
        assert_int_equal(nigh__segment_key_count(segment), segment->documents == 0 ? 0 : recipe->keys);
        for (uint32_t band = 0; band < nigh__segment_key_count(segment); band++) {
            uint32_t count = 0;
            assert_ok(nigh__segment_keys(segment, band, 0, keys, &count, &error), &error);
            assert_int_equal(count, segment->documents);
            for (uint32_t document = 0; document < count; document++)
                assert_int_equal(keys[document], recipe_key(recipe, segment->first_document + document, band));
        }
    }
    free(keys);
}

static void expect_values(const nigh_collection *collection, const struct recipe *recipe, uint64_t number) {
    nigh_value wanted[RECIPE_KEEP_KEYS];
    recipe_values(recipe, number, wanted);
    for (uint32_t key = 0; key < RECIPE_KEEP_KEYS; key++) {
        char text[RECIPE_MAX_TEXT];
        nigh_value got;
        nigh_error error;
        assert_ok(nigh_collection_value(collection, number, key, &got, text, sizeof text, &error), &error);
        if (wanted[key].type == NIGH_VALUE_REAL && got.type == NIGH_VALUE_INTEGER) /* a whole number is one */
            got = (nigh_value){.type = NIGH_VALUE_REAL, .real = (double)got.integer};
        assert_int_equal(got.type, wanted[key].type);
        assert_true(got.integer == wanted[key].integer && got.real == wanted[key].real);
        assert_int_equal(got.length, wanted[key].length);
        if (got.length > 0) assert_memory_equal(got.text, wanted[key].text, got.length);
    }
}

static void expect_kept(const nigh_collection *collection, const struct recipe *recipe, enum nigh__attachment kind,
                        uint64_t bytes) {
    const char *wanted = kind == NIGH__ATTACHMENT_MODEL ? recipe->model : recipe->vocabulary;
    const struct nigh__segment *segment = nigh__collection_keeper(collection, kind);
    assert_int_equal(segment == NULL, wanted == NULL);
    assert_int_equal(bytes, wanted == NULL ? 0 : strlen(wanted));
    if (segment == NULL) return;
    nigh_error error;
    uint8_t *got;
    size_t length = 0;
    assert_ok(nigh__segment_attachment(segment, kind, &got, &length, &error), &error);
    assert_int_equal(length, bytes);
    assert_memory_equal(got, wanted, length);
    nigh__free(segment->context, got);
}

void recipe_expect(nigh_context *context, const char *path, const struct recipe *recipe, uint64_t count) {
    nigh_error error;
    nigh_collection *collection;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, count);
    assert_int_equal(info.width_bits, recipe->width_bits);
    uint8_t *wanted = malloc(nigh_signature_bytes(recipe->width_bits));
    uint8_t *got = malloc(nigh_signature_bytes(recipe->width_bits));
    assert_int_equal(info.has_weights, recipe->weights && count != 0);
    for (uint64_t i = 0; i < count; i++) {
        expect_document(collection, recipe, i, wanted, got);
        expect_weights(collection, recipe, i);
        expect_text(collection, recipe, i);
        if (recipe->values) expect_values(collection, recipe, i);
    }
    assert_int_equal(info.keep_keys, recipe->values ? RECIPE_KEEP_KEYS : 0);
    expect_keys(collection, recipe);
    expect_kept(collection, recipe, NIGH__ATTACHMENT_VOCABULARY, info.vocabulary_bytes);
    expect_kept(collection, recipe, NIGH__ATTACHMENT_MODEL, info.model_bytes);
    free(wanted);
    free(got);
    nigh_collection_close(collection);
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
}

static nigh_status read_documents(const nigh_collection *collection, const nigh_collection_info *info,
                                  nigh_error *error) {
    uint8_t *signature = malloc(NIGH_MAX_WIDTH_BITS / 8);
    uint8_t *weights = malloc(NIGH_MAX_WIDTH_BITS);
    char *text = malloc(NIGH_MAX_ID_LENGTH + 1);
    nigh_status worst = NIGH_OK;
    for (uint64_t i = 0; i < info->documents; i++) {
        size_t length = 0;
        uint64_t found;
        if (!nigh_collection_lives(collection, i)) continue;
        nigh_status status = nigh_collection_id(collection, i, text, NIGH_MAX_ID_LENGTH + 1, &length, error);
        if (status == NIGH_OK) status = nigh_collection_find(collection, text, length, &found, error);
        if (status == NIGH_OK) status = nigh_collection_signature(collection, i, signature, error);
        if (status == NIGH_OK)
            status = nigh_collection_metadata(collection, i, text, NIGH_MAX_ID_LENGTH, &length, error);
        if (status == NIGH_OK) status = nigh_collection_weights(collection, i, weights, error);
        if (status == NIGH_ENOTFOUND) status = NIGH_OK; /* without weights */
        if (status == NIGH_OK) status = nigh_collection_text(collection, i, text, NIGH_MAX_ID_LENGTH, &length, error);
        if (status == NIGH_ENOTFOUND) status = NIGH_OK; /* without texts */
        if (status != NIGH_OK) worst = status;
    }
    free(weights);
    free(signature);
    free(text);
    return worst;
}

/* As bytes: whether they are a vocabulary or a model is not the store's business. */
static nigh_status read_kept(const nigh_collection *collection, enum nigh__attachment kind, nigh_error *error) {
    const struct nigh__segment *segment = nigh__collection_keeper(collection, kind);
    if (segment == NULL) return NIGH_OK;
    uint8_t *bytes;
    size_t length;
    nigh_status status = nigh__segment_attachment(segment, kind, &bytes, &length, error);
    nigh__free(segment->context, bytes);
    return status;
}

nigh_tuning sample_tuning(uint64_t documents, uint64_t sequence) {
    return (nigh_tuning){.size = sizeof(nigh_tuning),
                         .method = NIGH_SEARCH_SKETCH,
                         .k = 10,
                         .breadth = (uint32_t)NIGH_DEFAULT,
                         .candidates = 40,
                         .sketch_bits = 64,
                         .effort = (uint32_t)NIGH_DEFAULT,
                         .patience = (uint32_t)NIGH_DEFAULT,
                         .target_recall = 0.5,
                         .queries = 100,
                         .recall = 0.6,
                         .recall_low = 0.55,
                         .recall_high = 0.65,
                         .cdr = 0.9,
                         .cdr_low = 0.89,
                         .cdr_high = 0.91,
                         .median = 1e-4,
                         .percentile_99 = 2e-4,
                         .memory_bytes = 12345,
                         .documents = documents,
                         .sequence = sequence,
                         .slack = NIGH_DEFAULT};
}

/* There are two gaps, before what was asked for and before the slack. */
void expect_same_tuning(const nigh_tuning *a, const nigh_tuning *b) {
    const size_t gap = offsetof(nigh_tuning, slice_width) + sizeof a->slice_width;
    const size_t rest = offsetof(nigh_tuning, target_recall);
    assert_memory_equal(a, b, gap);
    const size_t end = offsetof(nigh_tuning, asked) + sizeof a->asked;
    assert_memory_equal(&a->target_recall, &b->target_recall, end - rest);
    assert_true(a->slack >= b->slack && a->slack <= b->slack);
}

static nigh_status search_everything(const nigh_collection *collection, const nigh_collection_info *info,
                                     nigh_error *error) {
    uint8_t *query = calloc(2, nigh_signature_bytes(info->width_bits));
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = NIGH_ALL;
    options.threads = 1;
    nigh_results *results = NULL;
    nigh_status status = nigh_search(collection, query, 2, &options, &results, error);
    nigh_results_free(results);
    free(query);
    return status;
}

/* Values, and a condition that looks at all of them. */
static nigh_status read_values(const nigh_collection *collection, const nigh_collection_info *info, nigh_error *error) {
    static char text[NIGH_MAX_VALUE_LENGTH];
    nigh_status status = NIGH_OK;
    for (uint32_t key = 0; key < info->keep_keys && status == NIGH_OK; key++) {
        nigh_key_info told = {.size = sizeof told};
        status = nigh_collection_key(collection, key, &told, error);
        for (uint64_t i = 0; i < info->documents && status == NIGH_OK; i++) {
            nigh_value value;
            if (nigh_collection_lives(collection, i))
                status = nigh_collection_value(collection, i, key, &value, text, sizeof text, error);
        }
    }
    if (status != NIGH_OK || info->keep_keys != RECIPE_KEEP_KEYS) return status;
    nigh_search_options options;
    nigh_filter *filter = NULL;
    nigh_search_options_init(&options);
    options.where = "not lang = en or year < 100 and 'a.b c' in (de, 1.25, 7)";
    status = nigh_filter_new(collection, &options, &filter, error);
    nigh_filter_free(filter);
    return status;
}

nigh_status read_everything(nigh_context *context, const char *path, nigh_error *error) {
    nigh_collection *collection;
    nigh_status status = nigh_collection_open(context, path, NULL, &collection, error);
    if (status != NIGH_OK) return status;
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    status = read_documents(collection, &info, error);
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS && status == NIGH_OK; kind++)
        status = read_kept(collection, kind, error);
    if (status == NIGH_OK) status = read_values(collection, &info, error);
    nigh_status searched = search_everything(collection, &info, error);
    nigh_collection_close(collection);
    return status != NIGH_OK ? status : searched;
}
