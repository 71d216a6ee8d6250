/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Sets of signatures to search, and the truth about them. */
#include "nearest_set.h"
#include "seen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"

static size_t row_bytes(const struct nearest_set *set) { return set->bits / 8; }

/* -------------------------------------------------------------------- copies -- */

static void move_row(struct nearest_set *set, uint64_t to, uint64_t from) {
    const size_t bytes = row_bytes(set);
    if (to == from) return;
    memcpy(set->rows + to * bytes, set->rows + from * bytes, bytes);
    if (set->weights != NULL) memcpy(set->weights + to * set->bits, set->weights + from * set->bits, set->bits);
}

/* Keeps the first of equal rows. */
static void drop_copies(struct nearest_set *set) {
    const size_t bytes = row_bytes(set);
    struct seen seen = {.mask = 1};
    while (seen.mask < set->count * 2) seen.mask *= 2;
    seen.slots = measure_allocate((size_t)seen.mask, sizeof *seen.slots);
    seen.mask--;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < set->count; i++)
        if (!seen_before(&seen, nigh__hash(set->rows + i * bytes, bytes))) move_row(set, kept++, i);
    free(seen.slots);
    set->count = kept;
}

/* ------------------------------------------------------------------ generated -- */

#define GENERATED_BITS 1024u

static void begin_generated(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted,
                            const char *name, uint32_t bits) {
    *set = (struct nearest_set){.context = context,
                                .name = name,
                                .documents = wanted->documents,
                                .count = wanted->documents,
                                .bits = bits,
                                .query_count = wanted->queries};
    set->rows = measure_allocate((size_t)set->count, row_bytes(set));
    set->queries = measure_allocate(set->query_count, row_bytes(set));
}

void nearest_set_generate(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted) {
    nigh_error error;
    nigh_generator_options options;
    nigh_generator_options_init(&options);
    options.count = wanted->documents;
    options.seed = wanted->seed;
    options.weak_flips = wanted->weak;
    options.width_bits = GENERATED_BITS;
    begin_generated(set, context, wanted, wanted->weak ? "weak" : "clustered", GENERATED_BITS);
    if (wanted->weights) {
        set->weights = measure_allocate((size_t)set->count, set->bits);
        set->query_weights = measure_allocate(set->query_count, set->bits);
    }
    for (uint64_t i = 0; i < set->count + set->query_count; i++) {
        const bool asks = i >= set->count;
        const uint64_t at = asks ? i - set->count : i;
        uint8_t *weights = asks ? set->query_weights : set->weights;
        measure_must(nigh_generate_weighted(&options, i, (asks ? set->queries : set->rows) + at * row_bytes(set),
                                            weights == NULL ? NULL : weights + at * set->bits, &error),
                     &error, "generating");
    }
    drop_copies(set);
}

static void draw_bits(struct nigh__rng *rng, uint8_t *out, size_t bytes) {
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        const uint64_t word = nigh__rng_next(rng);
        memcpy(out + i, &word, sizeof word);
    }
}

void nearest_set_draw(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted) {
    struct nigh__rng rng = {.state = wanted->seed};
    begin_generated(set, context, wanted, "random", GENERATED_BITS);
    draw_bits(&rng, set->rows, (size_t)set->count * row_bytes(set));
    draw_bits(&rng, set->queries, set->query_count * row_bytes(set));
}

/* -------------------------------------------------------- rows one by one, held out -- */

static uint8_t *grown(uint8_t *memory, size_t bytes) {
    uint8_t *more = realloc(memory, bytes);
    if (more == NULL) measure_fail("memory", "there is not enough");
    return more;
}

static void add_row(struct nearest_set *set, uint64_t *capacity, const nigh_document *document) {
    const size_t bytes = row_bytes(set);
    const bool weighted = document->weights != NULL;
    if (set->count == *capacity) {
        *capacity = *capacity == 0 ? 4096 : *capacity * 2;
        set->rows = grown(set->rows, (size_t)*capacity * bytes);
        if (weighted) set->weights = grown(set->weights, (size_t)*capacity * set->bits);
    }
    memcpy(set->rows + set->count * bytes, document->signature, bytes);
    if (weighted) memcpy(set->weights + set->count * set->bits, document->weights, set->bits);
    set->count++;
}

/*
 * Moves evenly chosen rows to the queries, every other one to their second half: files
 * come one after the other, and both halves are to have some of each.
 */
static void hold_out(struct nearest_set *set, size_t queries) {
    const size_t bytes = row_bytes(set);
    if (set->count < queries * 2 + NEAREST_K) measure_fail(set->name, "too few documents for so many queries");
    set->queries = measure_allocate(queries, bytes);
    if (set->weights != NULL) set->query_weights = measure_allocate(queries, set->bits);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        if (set->query_count == queries || i != set->query_count * set->count / queries) {
            move_row(set, kept++, i);
            continue;
        }
        const size_t at = set->query_count % 2 == 0 ? set->query_count / 2 : queries - 1 - set->query_count / 2;
        memcpy(set->queries + at * bytes, set->rows + i * bytes, bytes);
        if (set->weights != NULL) memcpy(set->query_weights + at * set->bits, set->weights + i * set->bits, set->bits);
        set->query_count++;
    }
    set->count = kept;
}

static void finish_growing(struct nearest_set *set, size_t queries) {
    set->documents = set->count;
    drop_copies(set);
    hold_out(set, queries);
}

/* --------------------------------------------------------------------- signed -- */

static nigh_text_reader *open_reader(nigh_context *context, char *const *paths, size_t count) {
    nigh_error error;
    nigh_text_reader *reader = NULL;
    const char **names = measure_allocate(count, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = paths[i];
    measure_must(nigh_text_reader_open(context, names, count, NULL, &reader, &error), &error, "reading");
    free(names);
    return reader;
}

static nigh_vocabulary *count_words(nigh_context *context, const nigh_signer_options *options, char *const *paths,
                                    size_t count) {
    nigh_error error;
    nigh_vocabulary *vocabulary = NULL;
    nigh_text_reader *reader = open_reader(context, paths, count);
    measure_must(nigh_vocabulary_count(context, options, reader, NULL, &vocabulary, &error), &error, "counting");
    nigh_text_reader_close(reader);
    return vocabulary;
}

static void sign_all(struct nearest_set *set, const struct nearest_wanted *wanted, nigh_signer *signer,
                     char *const *paths, size_t count) {
    nigh_error error;
    nigh_signing *signing = NULL;
    nigh_signed document = {.size = sizeof document};
    nigh_status status;
    uint64_t capacity = 0;
    nigh_signing_options options;
    nigh_signing_options_init(&options);
    options.keep_weights = wanted->weights;
    options.limit = wanted->documents;
    nigh_text_reader *reader = open_reader(set->context, paths, count);
    measure_must(nigh_signing_open(signer, reader, &options, &signing, &error), &error, "signing");
    while ((status = nigh_signing_next(signing, &document, &error)) == NIGH_OK)
        add_row(set, &capacity, document.document);
    if (status != NIGH_END) measure_must(status, &error, "signing");
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
}

void nearest_set_sign(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted,
                      char *const *paths, size_t path_count) {
    nigh_error error;
    nigh_signer *signer = NULL;
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_vocabulary *vocabulary = count_words(context, &options, paths, path_count);
    options.vocabulary = vocabulary;
    measure_must(nigh_signer_new(context, &options, &signer, &error), &error, "signing");
    *set = (struct nearest_set){.context = context, .name = "documents", .bits = nigh_signer_width(signer)};
    sign_all(set, wanted, signer, paths, path_count);
    nigh_signer_free(signer);
    nigh_vocabulary_free(vocabulary);
    finish_growing(set, wanted->queries);
}

void nearest_set_read(struct nearest_set *set, nigh_context *context, const struct nearest_wanted *wanted,
                      const char *path) {
    nigh_error error;
    nigh_signature_reader *reader = NULL;
    nigh_signature_info info = {.size = sizeof info};
    nigh_document document = {.size = sizeof document};
    nigh_status status = NIGH_OK;
    uint64_t capacity = 0;
    measure_must(nigh_signature_reader_open(context, path, NULL, &reader, &error), &error, "reading");
    nigh_signature_reader_describe(reader, &info);
    *set = (struct nearest_set){.context = context, .name = "signatures", .bits = info.width_bits};
    if (set->bits % 64 != 0) measure_fail(path, "its width is no multiple of 64 bits, which the peers need");
    const uint64_t most = wanted->documents == 0 ? UINT64_MAX : wanted->documents;
    while (set->count < most && (status = nigh_signature_reader_next(reader, &document, &error)) == NIGH_OK)
        add_row(set, &capacity, &document);
    if (status != NIGH_END) measure_must(status, &error, "reading");
    nigh_signature_reader_close(reader);
    finish_growing(set, wanted->queries);
}

/* ----------------------------------------------------------------------- part -- */

void nearest_set_part(struct nearest_set *part, const struct nearest_set *whole, uint64_t count) {
    const size_t bytes = row_bytes(whole);
    *part = *whole;
    part->count = count < whole->count ? count : whole->count;
    part->truth = NULL;
    part->weights = part->query_weights = NULL;
    part->rows = measure_allocate((size_t)part->count, bytes);
    part->queries = measure_allocate(part->query_count, bytes);
    memcpy(part->queries, whole->queries, part->query_count * bytes);
    for (uint64_t i = 0; i < part->count; i++)
        memcpy(part->rows + i * bytes, whole->rows + i * whole->count / part->count * bytes, bytes);
}

/* --------------------------------------------------------------------- places -- */

static void write_file(const char *path, const uint8_t *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        measure_fail(path, "cannot be written");
}

static void write_collection(const struct nearest_set *set) {
    nigh_error error;
    nigh_writer *writer = NULL;
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = set->bits;
    measure_must(nigh_writer_open(set->context, set->collection_path, &options, &writer, &error), &error, "writing");
    for (uint64_t i = 0; i < set->count; i++) {
        const nigh_document document = {.size = sizeof(nigh_document),
                                        .signature = set->rows + i * row_bytes(set),
                                        .weights = set->weights == NULL ? NULL : set->weights + i * set->bits};
        measure_must(nigh_writer_add(writer, &document, &error), &error, "writing");
    }
    measure_must(nigh_writer_commit(writer, NULL, &error), &error, "writing");
    nigh_writer_close(writer);
}

static void find_truth(struct nearest_set *set) {
    nigh_error error;
    nigh_eval_truth *truth = NULL;
    nigh_eval_truth_options options;
    nigh_eval_truth_options_init(&options);
    options.k = NEAREST_K;
    nigh_collection *collection = nearest_set_open(set, false);
    measure_must(nigh_eval_truth_new(collection, set->queries, set->query_count, &options, &truth, &error), &error,
                 "finding the truth");
    set->truth = measure_allocate(set->query_count, NEAREST_K * sizeof *set->truth);
    for (size_t q = 0; q < set->query_count; q++) {
        size_t count = 0;
        const nigh_match *matches = nigh_eval_truth_matches(truth, q, &count);
        if (count != NEAREST_K) measure_fail(set->name, "too few rows");
        for (size_t i = 0; i < NEAREST_K; i++) set->truth[q * NEAREST_K + i] = matches[i].distance;
    }
    nigh_eval_truth_free(truth);
    nigh_collection_close(collection);
}

void nearest_set_place(struct nearest_set *set, const char *folder, bool plain) {
    (void)snprintf(set->collection_path, NEAREST_PATH, "%.64s/%.16s-%" PRIu64 ".nigh", folder, set->name, set->count);
    (void)snprintf(set->rows_path, NEAREST_PATH, "%.64s/%.16s-%" PRIu64 ".rows", folder, set->name, set->count);
    (void)snprintf(set->queries_path, NEAREST_PATH, "%.64s/%.16s-%" PRIu64 ".queries", folder, set->name, set->count);
    write_collection(set);
    find_truth(set);
    if (!plain) return;
    write_file(set->rows_path, set->rows, (size_t)set->count * row_bytes(set));
    write_file(set->queries_path, set->queries, set->query_count * row_bytes(set));
}

void nearest_set_free(struct nearest_set *set) {
    free(set->rows);
    free(set->queries);
    free(set->weights);
    free(set->query_weights);
    free(set->truth);
    *set = (struct nearest_set){0};
}

nigh_collection *nearest_set_open(const struct nearest_set *set, bool load) {
    nigh_error error;
    nigh_open_options options;
    nigh_open_options_init(&options);
    nigh_collection *collection = NULL;
    options.load = load;
    measure_must(nigh_collection_open(set->context, set->collection_path, &options, &collection, &error), &error,
                 "opening");
    return collection;
}

double nearest_set_lists(const struct nearest_set *set, uint32_t width, uint32_t threads, uint64_t *bytes) {
    nigh_error error;
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_lists_result result = {.size = sizeof result};
    options.slice_width = width;
    options.min_rows = 1;
    options.rebuild = 1;
    options.threads = threads;
    const double start = measure_now();
    measure_must(nigh_lists_build(set->context, set->collection_path, &options, &result, &error), &error,
                 "making lists");
    const double seconds = measure_now() - start;
    *bytes = result.bytes;
    return seconds;
}

/* -------------------------------------------------------------------- quality -- */

static double cdr_of(const uint32_t *truth, const uint32_t *found) {
    uint64_t truth_sum = 0;
    uint64_t found_sum = 0;
    double sum = 0;
    for (size_t p = 0; p < NEAREST_K; p++) {
        truth_sum += truth[p];
        found_sum += found[p];
        sum += found_sum == 0 ? 1 : (double)truth_sum / (double)found_sum;
    }
    return sum / NEAREST_K;
}

struct nearest_quality nearest_set_judge(const struct nearest_set *set, size_t first, size_t count,
                                         const uint32_t *distances) {
    struct nearest_quality quality = {0};
    for (size_t q = 0; q < count; q++) {
        const uint32_t *truth = set->truth + (first + q) * NEAREST_K;
        const uint32_t *found = distances + q * NEAREST_K;
        quality.cdr += cdr_of(truth, found);
        for (size_t i = 0; i < NEAREST_K; i++) quality.recall += found[i] <= truth[NEAREST_K - 1];
    }
    quality.cdr /= (double)count;
    quality.recall /= (double)(count * NEAREST_K);
    return quality;
}
