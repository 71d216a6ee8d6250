/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Sets of signatures to search, and the truth about them. */
#include "slices_set.h"
#include "seen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static size_t row_bytes(const struct slices_set *set) { return set->bits / 8; }

/* -------------------------------------------------------------------- copies -- */

/* Keeps the first of equal rows. */
static void drop_copies(struct slices_set *set) {
    const size_t bytes = row_bytes(set);
    struct seen seen = {.mask = 1};
    while (seen.mask < set->count * 2) seen.mask *= 2;
    seen.slots = measure_allocate((size_t)seen.mask, sizeof *seen.slots);
    seen.mask--;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        const uint8_t *row = set->rows + i * bytes;
        if (seen_before(&seen, nigh__hash(row, bytes))) continue;
        if (kept != i) memcpy(set->rows + kept * bytes, row, bytes);
        kept++;
    }
    free(seen.slots);
    set->count = kept;
}

/* ------------------------------------------------------------------ generated -- */

void slices_set_generate(struct slices_set *set, nigh_context *context, uint64_t documents, size_t queries,
                         uint64_t seed) {
    nigh_error error;
    nigh_generator_options options = NIGH_GENERATOR_OPTIONS_INIT;
    options.count = documents;
    options.seed = seed;
    *set = (struct slices_set){.context = context,
                               .name = "clustered",
                               .documents = documents,
                               .count = documents,
                               .bits = options.width_bits,
                               .query_count = queries};
    const size_t bytes = row_bytes(set);
    set->rows = measure_allocate((size_t)documents, bytes);
    set->queries = measure_allocate(queries, bytes);
    for (uint64_t i = 0; i < documents; i++)
        measure_must(nigh_generate(&options, i, set->rows + i * bytes, &error), &error, "generating");
    for (uint64_t q = 0; q < queries; q++)
        measure_must(nigh_generate(&options, documents + q, set->queries + q * bytes, &error), &error, "generating");
    drop_copies(set);
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

static void add_row(struct slices_set *set, uint64_t *capacity, const uint8_t *signature) {
    const size_t bytes = row_bytes(set);
    if (set->count == *capacity) {
        *capacity = *capacity == 0 ? 4096 : *capacity * 2;
        uint8_t *more = realloc(set->rows, (size_t)*capacity * bytes);
        if (more == NULL) measure_fail("memory", "there is not enough");
        set->rows = more;
    }
    memcpy(set->rows + set->count++ * bytes, signature, bytes);
}

static void sign_all(struct slices_set *set, nigh_signer *signer, char *const *paths, size_t count) {
    nigh_error error;
    nigh_signing *signing = NULL;
    nigh_signed document;
    uint64_t capacity = 0;
    nigh_status status;
    nigh_text_reader *reader = open_reader(set->context, paths, count);
    measure_must(nigh_signing_open(signer, reader, NULL, &signing, &error), &error, "signing");
    while ((status = nigh_signing_next(signing, &document, &error)) == NIGH_OK)
        add_row(set, &capacity, document.document.signature);
    if (status != NIGH_END) measure_must(status, &error, "signing");
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
}

/* Moves evenly chosen rows to the queries. */
static void hold_out(struct slices_set *set, size_t queries) {
    const size_t bytes = row_bytes(set);
    if (set->count < queries * 2 + SLICES_K) measure_fail(set->name, "too few documents for so many queries");
    set->queries = measure_allocate(queries, bytes);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        const uint8_t *row = set->rows + i * bytes;
        if (set->query_count < queries && i == set->query_count * set->count / queries) {
            memcpy(set->queries + set->query_count++ * bytes, row, bytes);
            continue;
        }
        if (kept != i) memcpy(set->rows + kept * bytes, row, bytes);
        kept++;
    }
    set->count = kept;
}

void slices_set_sign(struct slices_set *set, nigh_context *context, char *const *paths, size_t path_count,
                     size_t queries) {
    nigh_error error;
    nigh_signer *signer = NULL;
    nigh_signer_options options = NIGH_SIGNER_OPTIONS_INIT;
    nigh_vocabulary *vocabulary = count_words(context, &options, paths, path_count);
    options.vocabulary = vocabulary;
    measure_must(nigh_signer_new(context, &options, &signer, &error), &error, "signing");
    *set = (struct slices_set){.context = context, .name = "documents", .bits = nigh_signer_width(signer)};
    sign_all(set, signer, paths, path_count);
    nigh_signer_free(signer);
    nigh_vocabulary_free(vocabulary);
    set->documents = set->count;
    drop_copies(set);
    hold_out(set, queries);
}

/* ----------------------------------------------------------------------- part -- */

void slices_set_part(struct slices_set *part, const struct slices_set *whole, uint64_t count) {
    const size_t bytes = row_bytes(whole);
    *part = *whole;
    part->count = count < whole->count ? count : whole->count;
    part->truth = NULL;
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

static void write_collection(const struct slices_set *set) {
    nigh_error error;
    nigh_writer *writer = NULL;
    nigh_writer_options options = NIGH_WRITER_OPTIONS_INIT;
    options.width_bits = set->bits;
    measure_must(nigh_writer_open(set->context, set->collection_path, &options, &writer, &error), &error, "writing");
    for (uint64_t i = 0; i < set->count; i++) {
        const nigh_document document = {.signature = set->rows + i * row_bytes(set)};
        measure_must(nigh_writer_add(writer, &document, &error), &error, "writing");
    }
    measure_must(nigh_writer_commit(writer, &error), &error, "writing");
    nigh_writer_close(writer);
}

static void find_truth(struct slices_set *set) {
    nigh_error error;
    nigh_truth *truth = NULL;
    nigh_truth_options options = NIGH_TRUTH_OPTIONS_INIT;
    options.k = SLICES_K;
    nigh_collection *collection = slices_set_open(set);
    measure_must(nigh_truth_new(collection, set->queries, set->query_count, &options, &truth, &error), &error,
                 "finding the truth");
    set->truth = measure_allocate(set->query_count, SLICES_K * sizeof *set->truth);
    for (size_t q = 0; q < set->query_count; q++) {
        size_t count = 0;
        const nigh_match *matches = nigh_truth_matches(truth, q, &count);
        if (count != SLICES_K) measure_fail(set->name, "too few rows");
        for (size_t i = 0; i < SLICES_K; i++) set->truth[q * SLICES_K + i] = matches[i].distance;
    }
    nigh_truth_free(truth);
    nigh_collection_close(collection);
}

void slices_set_place(struct slices_set *set, const char *folder, bool plain) {
    (void)snprintf(set->collection_path, SLICES_PATH, "%.64s/%.16s-%" PRIu64 ".nigh", folder, set->name, set->count);
    (void)snprintf(set->rows_path, SLICES_PATH, "%.64s/%.16s-%" PRIu64 ".rows", folder, set->name, set->count);
    (void)snprintf(set->queries_path, SLICES_PATH, "%.64s/%.16s-%" PRIu64 ".queries", folder, set->name, set->count);
    write_collection(set);
    find_truth(set);
    if (!plain) return;
    write_file(set->rows_path, set->rows, (size_t)set->count * row_bytes(set));
    write_file(set->queries_path, set->queries, set->query_count * row_bytes(set));
}

void slices_set_free(struct slices_set *set) {
    free(set->rows);
    free(set->queries);
    free(set->truth);
    *set = (struct slices_set){0};
}

nigh_collection *slices_set_open(const struct slices_set *set) {
    nigh_error error;
    nigh_collection *collection = NULL;
    measure_must(nigh_collection_open(set->context, set->collection_path, NULL, &collection, &error), &error,
                 "opening");
    return collection;
}

double slices_set_lists(const struct slices_set *set, uint32_t width, uint32_t threads, uint64_t *bytes) {
    nigh_error error;
    nigh_lists_options options = NIGH_LISTS_OPTIONS_INIT;
    nigh_lists_result result = NIGH_LISTS_RESULT_INIT;
    options.slice_width = width;
    options.least_rows = 1;
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
    for (size_t p = 0; p < SLICES_K; p++) {
        truth_sum += truth[p];
        found_sum += found[p];
        sum += found_sum == 0 ? 1 : (double)truth_sum / (double)found_sum;
    }
    return sum / SLICES_K;
}

struct slices_quality slices_set_judge(const struct slices_set *set, const uint32_t *distances) {
    struct slices_quality quality = {0};
    for (size_t q = 0; q < set->query_count; q++) {
        const uint32_t *truth = set->truth + q * SLICES_K;
        const uint32_t *found = distances + q * SLICES_K;
        quality.cdr += cdr_of(truth, found);
        for (size_t i = 0; i < SLICES_K; i++) quality.recall += found[i] <= truth[SLICES_K - 1];
    }
    quality.cdr /= (double)set->query_count;
    quality.recall /= (double)(set->query_count * SLICES_K);
    return quality;
}
