/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers labelled documents: threads find features, this numbers them, in the
 * order of the input, so that threads change nothing.
 *
 * Memory.  8 bytes for each feature of each document; for each different feature
 * its hash, its name and some 24 bytes to find it by, half of which go at the end.
 * Arrays double where they grow, and what that takes is counted before it happens.
 */
#include "learn/labelled.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"
#include "document/split.h"
#include "learn/labelled_parts.h"
#include "text/plan.h"
#include "text/term_table.h"
#include "text/text_options.h"

#define MAX_DOCUMENTS (UINT32_MAX - 1)

struct gathering {
    const nigh_context *context;
    uint64_t memory_bytes;
    struct nigh__term_table features, classes; /* numbers from 1 */
    struct nigh__array begins, counts, class_begins, document_classes, parts;
    struct nigh__array names, name_begins;        /* name_begins: 0: no name yet, for there stands "" */
    struct nigh__array class_names, class_places; /* text, and where each begins */
    bool has_parts;
};

#define ARRAYS 9

static void arrays_list(struct gathering *g, struct nigh__array *out[ARRAYS]) {
    struct nigh__array *list[ARRAYS] = {&g->begins, &g->counts,      &g->class_begins, &g->document_classes, &g->parts,
                                        &g->names,  &g->name_begins, &g->class_names,  &g->class_places};
    memcpy(out, list, sizeof list);
}

/* ----------------------------------------------------------------- memory */

/* What an array takes while `extra` items are added to it. */
static uint64_t array_bytes(const struct nigh__array *array, size_t extra) {
    size_t capacity = array->capacity;
    const size_t needed = array->count + extra;
    if (needed <= capacity) return (uint64_t)capacity * array->item_size;
    while (capacity < needed) capacity = capacity < 16 ? 16 : capacity * 2;
    return ((uint64_t)array->capacity + capacity) * array->item_size;
}

static uint64_t table_bytes(const struct nigh__term_table *table, size_t extra) {
    uint64_t slots = UINT64_C(1) << (64 - table->shift);
    uint64_t all = slots;
    while ((table->hashes.count + extra) * 2 > slots) slots *= 2, all = slots + slots / 2;
    return all * sizeof *table->slots + array_bytes(&table->hashes, extra);
}

/* Whether a document of so many features, bytes of labels and bytes of names may still be added. */
static nigh_status check_memory(struct gathering *g, size_t features, size_t labels, size_t names, nigh_error *error) {
    uint64_t bytes = table_bytes(&g->features, features) + table_bytes(&g->classes, labels / 2 + 1);
    bytes += array_bytes(&g->counts, features) + array_bytes(&g->name_begins, features);
    bytes += array_bytes(&g->names, names) + array_bytes(&g->class_names, labels + 1);
    bytes += array_bytes(&g->document_classes, labels / 2 + 1) + array_bytes(&g->class_places, labels / 2 + 1);
    bytes += array_bytes(&g->begins, 1) + array_bytes(&g->class_begins, 1) + array_bytes(&g->parts, 1);
    if (bytes <= g->memory_bytes) return NIGH_OK;
    return nigh__fail(error, NIGH_ELIMIT,
                      "%zu documents and their features take more than %" PRIu64
                      " MiB of memory: allow more, or learn from fewer documents",
                      g->parts.count + 1, g->memory_bytes >> 20);
}

/* ---------------------------------------------------------------- classes */

static nigh_status class_number(struct gathering *g, const char *name, size_t length, uint32_t *out,
                                nigh_error *error) {
    nigh_status status = nigh__term_table_find(&g->classes, nigh__hash(name, length), out, error);
    if (status != NIGH_OK) return status;
    *out -= 1;
    if (*out < g->class_places.count) return NIGH_OK;
    uint64_t *place = nigh__array_add(g->context, &g->class_places, 1);
    if (place == NULL) return nigh__no_memory(error, "for labelled documents");
    *place = g->class_names.count;
    char *copy = nigh__array_add(g->context, &g->class_names, length + 1);
    if (copy == NULL) return nigh__no_memory(error, "for labelled documents");
    memcpy(copy, name, length);
    copy[length] = '\0';
    return NIGH_OK;
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Those of one document, each once, ascending. */
static void settle_classes(struct gathering *g, size_t first) {
    uint32_t *classes = g->document_classes.data;
    const size_t count = g->document_classes.count;
    if (count - first < 2) return;
    qsort(classes + first, count - first, sizeof *classes, by_number);
    size_t kept = first + 1;
    for (size_t i = first + 1; i < count; i++)
        if (classes[i] != classes[kept - 1]) classes[kept++] = classes[i];
    g->document_classes.count = kept;
}

static nigh_status add_classes(struct gathering *g, const char *labels, size_t length, nigh_error *error) {
    const size_t first = g->document_classes.count;
    nigh_status status = NIGH_OK;
    for (size_t at = 0; at < length && status == NIGH_OK;) {
        const char *end = memchr(labels + at, '\n', length - at);
        const size_t line = end == NULL ? length - at : (size_t)(end - labels) - at;
        uint32_t class = 0;
        if (line > 0) {
            status = class_number(g, labels + at, line, &class, error);
            uint32_t *place = status == NIGH_OK ? nigh__array_add(g->context, &g->document_classes, 1) : NULL;
            if (status == NIGH_OK && place == NULL) status = nigh__no_memory(error, "for labelled documents");
            if (place != NULL) *place = class;
        }
        at += line + 1;
    }
    if (status == NIGH_OK) settle_classes(g, first);
    return status;
}

/* -------------------------------------------------------------- documents */

static nigh_status add_counts(struct gathering *g, const uint8_t *bytes, uint32_t count, nigh_error *error) {
    struct nigh__count *counts = nigh__array_add(g->context, &g->counts, count);
    if (counts == NULL) return nigh__no_memory(error, "for labelled documents");
    for (uint32_t i = 0; i < count; i++, bytes += NIGH__LABELLED_COUNT) {
        uint32_t number;
        nigh_status status = nigh__term_table_find(&g->features, nigh__load64(bytes), &number, error);
        if (status != NIGH_OK) return status;
        counts[i] = (struct nigh__count){.feature = number - 1, .count = nigh__load32(bytes + 8)};
    }
    const size_t unnamed = g->features.hashes.count - 1 - g->name_begins.count;
    uint64_t *begins = nigh__array_add(g->context, &g->name_begins, unnamed);
    if (begins == NULL) return nigh__no_memory(error, "for labelled documents");
    memset(begins, 0, unnamed * sizeof *begins);
    return NIGH_OK;
}

static nigh_status add_names(struct gathering *g, const uint8_t *bytes, size_t length, nigh_error *error) {
    for (size_t at = 0; at < length;) {
        const size_t name_length = bytes[at + 8];
        uint32_t number;
        nigh_status status = nigh__term_table_find(&g->features, nigh__load64(bytes + at), &number, error);
        if (status != NIGH_OK) return status;
        /* Where a spelled text was cut a word may be that is in no document: its number is never used. */
        uint64_t *begin = number <= g->name_begins.count ? (uint64_t *)g->name_begins.data + number - 1 : NULL;
        if (begin != NULL && *begin == 0) {
            *begin = g->names.count;
            char *name = nigh__array_add(g->context, &g->names, name_length + 1);
            if (name == NULL) return nigh__no_memory(error, "for labelled documents");
            memcpy(name, bytes + at + 9, name_length);
            name[name_length] = '\0';
        }
        at += 9 + name_length;
    }
    return NIGH_OK;
}

static nigh_status end_document(struct gathering *g, uint32_t part, nigh_error *error) {
    uint64_t *end = nigh__array_add(g->context, &g->begins, 1);
    if (end != NULL) *end = g->counts.count;
    uint64_t *class_end = nigh__array_add(g->context, &g->class_begins, 1);
    if (class_end != NULL) *class_end = g->document_classes.count;
    uint8_t *place = nigh__array_add(g->context, &g->parts, 1);
    if (end == NULL || class_end == NULL || place == NULL) return nigh__no_memory(error, "for labelled documents");
    *place = (uint8_t)part;
    g->has_parts = g->has_parts || part != NIGH__PART_SILENT;
    return NIGH_OK;
}

static nigh_status add_document(struct gathering *g, const struct nigh__product *product, nigh_error *error) {
    const uint8_t *bytes = product->bytes;
    const uint32_t count = nigh__load32(bytes), labels = nigh__load32(bytes + 4), names = nigh__load32(bytes + 8);
    const uint8_t *counts = bytes + NIGH__LABELLED_HEAD;
    const uint8_t *text = counts + (size_t)count * NIGH__LABELLED_COUNT;
    if (g->parts.count == MAX_DOCUMENTS)
        return nigh__fail(error, NIGH_ELIMIT, "more than 2^32 documents to learn from");
    nigh_status status = check_memory(g, count, labels, names, error);
    if (status == NIGH_OK) status = add_counts(g, counts, count, error);
    if (status == NIGH_OK) status = add_classes(g, (const char *)text, labels, error);
    if (status == NIGH_OK) status = add_names(g, text + labels, names, error);
    if (status == NIGH_OK) status = end_document(g, nigh__load32(bytes + 12), error);
    return status;
}

static nigh_status read_all(struct gathering *g, struct nigh__pipeline *pipeline, uint64_t limit, nigh_error *error) {
    struct nigh__product product;
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && (limit == 0 || g->parts.count < limit)) {
        status = nigh__pipeline_next(pipeline, &product, error);
        if (status == NIGH_OK) status = add_document(g, &product, error);
    }
    return status == NIGH_END ? NIGH_OK : status;
}

/* -------------------------------------------------------------- beginning */

static nigh_status gathering_init(struct gathering *g, const nigh_context *context, uint64_t memory_bytes,
                                  nigh_error *error) {
    *g = (struct gathering){.context = context,
                            .memory_bytes = memory_bytes,
                            .begins = NIGH__ARRAY(uint64_t),
                            .counts = NIGH__ARRAY(struct nigh__count),
                            .class_begins = NIGH__ARRAY(uint64_t),
                            .document_classes = NIGH__ARRAY(uint32_t),
                            .parts = NIGH__ARRAY(uint8_t),
                            .names = NIGH__ARRAY(char),
                            .name_begins = NIGH__ARRAY(uint64_t),
                            .class_names = NIGH__ARRAY(char),
                            .class_places = NIGH__ARRAY(uint64_t)};
    g->features.context = g->classes.context = context; /* so that both may be released */
    nigh_status status = nigh__term_table_init(context, &g->features, error);
    if (status == NIGH_OK) status = nigh__term_table_init(context, &g->classes, error);
    if (status != NIGH_OK) return status;
    uint64_t *begin = nigh__array_add(context, &g->begins, 1);
    uint64_t *class_begin = nigh__array_add(context, &g->class_begins, 1);
    char *nameless = nigh__array_add(context, &g->names, 1);
    if (begin == NULL || class_begin == NULL || nameless == NULL)
        return nigh__no_memory(error, "for labelled documents");
    *begin = *class_begin = 0;
    *nameless = '\0';
    return NIGH_OK;
}

static void gathering_release(struct gathering *g) {
    struct nigh__array *list[ARRAYS];
    arrays_list(g, list);
    for (size_t i = 0; i < ARRAYS; i++) nigh__array_release(g->context, list[i]);
    nigh__term_table_release(&g->features);
    nigh__term_table_release(&g->classes);
}

/* ----------------------------------------------------------------- ending */

/* Gives back what an array holds in reserve; where there is no memory to do so, it stays. */
static void array_trim(const nigh_context *context, struct nigh__array *array) {
    NIGH__ASSERT(array->count <= array->capacity);
    if (array->capacity - array->count <= array->count / 8) return;
    void *data = nigh__alloc(context, array->count, array->item_size);
    if (data == NULL) return;
    if (array->count > 0) memcpy(data, array->data, array->count * array->item_size);
    nigh__free(context, array->data);
    array->data = data;
    array->capacity = array->count;
}

static void *array_take(struct nigh__array *array) {
    void *data = array->data;
    *array = (struct nigh__array){.item_size = array->item_size};
    return data;
}

/* Where nobody says what it is for, all are to learn from; else those that do not say are for nothing. */
static void settle_parts(struct gathering *g) {
    uint8_t *parts = g->parts.data;
    for (size_t i = 0; i < g->parts.count; i++)
        if (parts[i] == NIGH__PART_SILENT) parts[i] = g->has_parts ? NIGH__PART_OTHER : NIGH__PART_TRAIN;
}

/* Who asks for parts of documents that have none has another key in mind. */
static nigh_status check_parts(const struct gathering *g, const char *part_key, nigh_error *error) {
    if (part_key == NULL || g->has_parts || g->parts.count == 0) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "none of %zu documents says under '%.80s' what it is for", g->parts.count,
                      part_key);
}

static nigh_status list_class_names(struct gathering *g, struct nigh__labelled *out, nigh_error *error) {
    const uint64_t *places = g->class_places.data;
    const char **names = nigh__alloc(g->context, g->class_places.count, sizeof *names);
    if (names == NULL) return nigh__no_memory(error, "for labelled documents");
    for (size_t i = 0; i < g->class_places.count; i++) names[i] = (const char *)g->class_names.data + places[i];
    out->class_names = names;
    return NIGH_OK;
}

static uint64_t bytes_held(struct gathering *g) {
    struct nigh__array *list[ARRAYS];
    arrays_list(g, list);
    uint64_t bytes = (uint64_t)g->features.hashes.capacity * sizeof(uint64_t);
    for (size_t i = 0; i < ARRAYS; i++) bytes += (uint64_t)list[i]->capacity * list[i]->item_size;
    return bytes + (uint64_t)g->class_places.count * sizeof(char *);
}

/* All that was gathered goes over to *out; *g may still be released. */
static nigh_status hand_over(struct gathering *g, struct nigh__labelled *out, nigh_error *error) {
    struct nigh__array *list[ARRAYS];
    arrays_list(g, list);
    nigh__free(g->context, g->features.slots); /* nobody asks for a hash any more */
    g->features.slots = NULL;
    for (size_t i = 0; i < ARRAYS; i++) array_trim(g->context, list[i]);
    array_trim(g->context, &g->features.hashes);
    settle_parts(g);
    nigh_status status = list_class_names(g, out, error);
    if (status != NIGH_OK) return status;
    out->bytes = bytes_held(g);
    out->documents = (uint32_t)g->parts.count;
    out->features = (uint32_t)g->name_begins.count;
    out->classes = (uint32_t)g->class_places.count;
    out->has_parts = g->has_parts;
    out->begins = array_take(&g->begins);
    out->counts = array_take(&g->counts);
    out->class_begins = array_take(&g->class_begins);
    out->document_classes = array_take(&g->document_classes);
    out->parts = array_take(&g->parts);
    out->hashes = (const uint64_t *)array_take(&g->features.hashes) + 1;
    out->names = array_take(&g->names);
    out->name_begins = array_take(&g->name_begins);
    out->class_text = array_take(&g->class_names);
    return NIGH_OK;
}

static nigh_status plan_reading(const nigh_context *context, nigh_text_reader *reader,
                                const struct nigh__labelled_options *options, struct nigh__labelled_plan *out,
                                nigh_error *error) {
    const nigh_learn_options *learning = options->learning;
    nigh_signer_options signer;
    nigh__options_defaults(&nigh__signer_options_shape, &signer);
    signer.scheme = NIGH_SCHEME_SIMHASH;
    signer.language = learning->language;
    signer.features = learning->features;
    signer.feature_length = learning->feature_length;
    signer.stemming = learning->stemming;
    signer.stop_words = learning->stop_words;
    signer.min_word_length = learning->min_word_length;
    signer.no_numbers = learning->no_numbers;
    signer.seed = learning->seed;
    *out = (struct nigh__labelled_plan){.context = context,
                                        .product_context = nigh__text_reader_context(reader),
                                        .strip_headers = options->strip_headers};
    return nigh__plan_features(&signer, &out->features, error);
}

static nigh_status gather(struct gathering *g, nigh_text_reader *reader, struct nigh__labelled_plan *plan,
                          const nigh_learn_options *learning, struct nigh__labelled *out, nigh_error *error) {
    const struct nigh__pipeline_work work = nigh__labelled_work(plan);
    struct nigh__pipeline *pipeline = NULL;
    out->plan = plan->features;
    out->reader.size = sizeof out->reader;
    nigh_status status = nigh__pipeline_open(reader, &work, learning->threads, learning->progress, &pipeline, error);
    if (status != NIGH_OK) return status;
    status = read_all(g, pipeline, learning->limit, error);
    nigh__pipeline_describe(pipeline, &out->reader, &out->empty);
    nigh__pipeline_close(pipeline);
    const nigh_text_reader_options *reading = nigh__text_reader_options(reader);
    if (reading->label_key != NULL) (void)snprintf(out->label_key, sizeof out->label_key, "%s", reading->label_key);
    if (status == NIGH_OK) status = check_parts(g, reading->part_key, error);
    return status == NIGH_OK ? hand_over(g, out, error) : status;
}

nigh_status nigh__labelled_read(const nigh_context *context, nigh_text_reader *reader,
                                const struct nigh__labelled_options *options, struct nigh__labelled **out,
                                nigh_error *error) {
    *out = NULL;
    struct nigh__labelled_plan plan;
    nigh_status status = plan_reading(context, reader, options, &plan, error);
    if (status != NIGH_OK) return status;
    struct nigh__labelled *labelled = nigh__alloc_zero(context, 1, sizeof *labelled);
    if (labelled == NULL) return nigh__no_memory(error, "for labelled documents");
    labelled->context = context;
    struct gathering g;
    const uint64_t memory_bytes = options->learning->memory_bytes;
    status = gathering_init(&g, context, memory_bytes == 0 ? NIGH__LEARN_MEMORY : memory_bytes, error);
    if (status == NIGH_OK) status = gather(&g, reader, &plan, options->learning, labelled, error);
    gathering_release(&g);
    if (status == NIGH_OK)
        *out = labelled;
    else
        nigh__labelled_free(labelled);
    return status;
}

/* The const of what is shown is for those who read it. */
static void release(const nigh_context *context, const void *pointer) {
    void *own;
    memcpy(&own, &pointer, sizeof own);
    nigh__free(context, own);
}

void nigh__labelled_free(struct nigh__labelled *labelled) {
    if (labelled == NULL) return;
    const nigh_context *context = labelled->context;
    const void *const parts[] = {labelled->begins,       labelled->counts,
                                 labelled->class_begins, labelled->document_classes,
                                 labelled->parts,        labelled->names,
                                 labelled->name_begins,  labelled->class_text,
                                 labelled->class_names,  labelled->hashes == NULL ? NULL : labelled->hashes - 1};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) release(context, parts[i]);
    nigh__free(context, labelled);
}

const char *nigh__labelled_feature_name(const struct nigh__labelled *labelled, uint32_t feature) {
    return labelled->names + labelled->name_begins[feature];
}
