/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Making fingerprints, and asking for their near-copies; see fingerprints.h. */
#include "fingerprints.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/threads.h"

#define THREADS 2u         /* for making them */
#define ONE_MATCHED_IN 25u /* queries */

/* ------------------------------------------------------------------- the data -- */

struct making {
    const struct fingerprints *prints;
    nigh_generator_options options;
};

static void make_share(void *user, uint32_t thread) {
    const struct making *making = user;
    const struct fingerprints *prints = making->prints;
    nigh_error error;
    for (uint64_t i = thread; i < prints->rows; i += THREADS)
        measure_must(nigh_generate(&making->options, i, prints->row_bytes + i * FINGERPRINT_BYTES, &error), &error,
                     "generating");
    for (uint64_t q = thread; q < prints->made; q += THREADS)
        measure_must(nigh_generate_weighted(&making->options, prints->rows + q,
                                            prints->query_bytes + q * FINGERPRINT_BYTES,
                                            prints->weights + q * FINGERPRINT_BITS, &error),
                     &error, "generating");
}

void fingerprints_make(struct fingerprints *prints) {
    struct making making = {.prints = prints};
    nigh_generator_options_init(&making.options);
    making.options.count = prints->rows;
    making.options.seed = prints->seed;
    making.options.width_bits = FINGERPRINT_BITS;
    making.options.weak_flips = 1;
    prints->made = prints->queries + prints->queries / 4;
    prints->row_bytes = measure_allocate(prints->rows, FINGERPRINT_BYTES);
    prints->query_bytes = measure_allocate(prints->made, FINGERPRINT_BYTES);
    prints->weights = measure_allocate(prints->made, FINGERPRINT_BITS);
    prints->truth = measure_allocate(prints->made, sizeof *prints->truth);
    nigh__threads_run(THREADS, make_share, &making);
}

void fingerprints_free(struct fingerprints *prints) {
    free(prints->row_bytes);
    free(prints->query_bytes);
    free(prints->weights);
    free(prints->truth);
}

/* ------------------------------------------------------------------ the truth -- */

/* Keeps a query with a match only while they are one in 25; the others all, until there are enough. */
static void keep_some(struct fingerprints *prints, const nigh_results *results) {
    size_t kept = 0;
    size_t matched = 0;
    for (size_t q = 0; q < prints->made && kept < prints->queries; q++) {
        size_t count = 0;
        (void)nigh_results_matches(results, q, &count);
        if (count > 0 && matched * ONE_MATCHED_IN > kept) continue;
        memmove(prints->query_bytes + kept * FINGERPRINT_BYTES, prints->query_bytes + q * FINGERPRINT_BYTES,
                FINGERPRINT_BYTES);
        memmove(prints->weights + kept * FINGERPRINT_BITS, prints->weights + q * FINGERPRINT_BITS, FINGERPRINT_BITS);
        prints->truth[kept++] = (uint32_t)count;
        matched += count > 0;
    }
    prints->queries = kept;
}

/* Of some queries all rows are compared. */
static void check_truth(const struct fingerprints *prints) {
    for (size_t q = 0; q < FINGERPRINTS_CHECKED && q < prints->queries; q++) {
        uint64_t query;
        uint32_t found = 0;
        memcpy(&query, prints->query_bytes + q * FINGERPRINT_BYTES, sizeof query);
        for (uint64_t i = 0; i < prints->rows; i++) {
            uint64_t row;
            memcpy(&row, prints->row_bytes + i * FINGERPRINT_BYTES, sizeof row);
            found += (uint32_t)__builtin_popcountll(row ^ query) <= prints->radius;
        }
        if (found != prints->truth[q]) measure_fail("the tables", "do not find what a plain loop finds");
    }
}

void fingerprints_thin(struct fingerprints *prints, const nigh_finder *exact) {
    nigh_results *results = NULL;
    (void)fingerprints_find(prints, prints->made, exact, NIGH_FIND_ALL, &results);
    keep_some(prints, results);
    nigh_results_free(results);
    check_truth(prints);
}

void fingerprints_know(struct fingerprints *prints, const nigh_finder *exact) {
    nigh_results *results = NULL;
    (void)fingerprints_find(prints, prints->queries, exact, NIGH_FIND_ALL, &results);
    for (size_t q = 0; q < prints->queries; q++) {
        size_t count = 0;
        (void)nigh_results_matches(results, q, &count);
        prints->truth[q] = (uint32_t)count;
    }
    nigh_results_free(results);
    check_truth(prints);
}

struct fingerprint_matches fingerprints_truth(const struct fingerprints *prints, size_t count) {
    struct fingerprint_matches sum = {0, 0};
    for (size_t q = 0; q < count; q++) {
        sum.matched += prints->truth[q] > 0;
        sum.matches += prints->truth[q];
    }
    return sum;
}

double fingerprints_recall(const struct fingerprints *prints, size_t count, const nigh_results *results,
                           nigh_find_mode mode) {
    const struct fingerprint_matches truth = fingerprints_truth(prints, count);
    struct fingerprint_matches found = {0, 0};
    for (size_t q = 0; q < count; q++) {
        size_t matches = 0;
        (void)nigh_results_matches(results, q, &matches);
        if (matches > prints->truth[q]) measure_fail("a finder", "found what is not there");
        found.matches += matches;
        found.matched += matches > 0;
    }
    if (truth.matched == 0) return 1;
    return mode == NIGH_FIND_ALL ? (double)found.matches / (double)truth.matches
                                 : (double)found.matched / (double)truth.matched;
}

/* ------------------------------------------------------------------- finders -- */

nigh_finder *fingerprints_finder(const struct fingerprints *prints, const struct finder_setting *setting,
                                 nigh_finder_info *info) {
    const bool psm = setting->method == NIGH_FINDER_PSM;
    nigh_error error;
    nigh_finder *finder = NULL;
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = setting->method;
    options.width_bits = FINGERPRINT_BITS;
    options.radius = prints->radius;
    options.blocks = setting->blocks;
    options.leading = setting->leading;
    options.probes = setting->probes;
    options.rotations = setting->rotations;
    options.prefix_bits = setting->prefix_bits;
    options.model = setting->model;
    options.without_numbers = psm && setting->rotations == 1;
    options.recall = !psm ? 1 : setting->recall > 0 ? setting->recall : 0.5;
    options.threads = 1;
    measure_must(nigh_finder_new(prints->context, prints->row_bytes, prints->rows, &options, &finder, &error), &error,
                 "building");
    *info = (nigh_finder_info){.size = sizeof(nigh_finder_info)};
    nigh_finder_describe(finder, info);
    return finder;
}

double fingerprints_find(const struct fingerprints *prints, size_t count, const nigh_finder *finder,
                         nigh_find_mode mode, nigh_results **out) {
    nigh_error error;
    nigh_find_options options;
    nigh_find_options_init(&options);
    options.mode = mode;
    options.weights = prints->weights;
    options.threads = 1;
    const double start = measure_now();
    measure_must(nigh_finder_find(finder, prints->query_bytes, count, &options, out, &error), &error, "finding");
    return measure_now() - start;
}

/* ------------------------------------------------------------------- batches -- */

nigh_chunks *fingerprints_chunks(const struct fingerprints *prints, const char *path, size_t chunk) {
    nigh_error error;
    nigh_chunks *chunks = NULL;
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    (void)unlink(path);
    measure_must(nigh_chunks_open(prints->context, path, &options, &chunks, &error), &error, "opening chunks");
    for (uint64_t at = 0; at < prints->rows; at += chunk) {
        const size_t count = prints->rows - at < chunk ? (size_t)(prints->rows - at) : chunk;
        measure_must(nigh_chunks_append(chunks, prints->row_bytes + at * FINGERPRINT_BYTES, count, NULL, &error),
                     &error, "appending");
    }
    return chunks;
}

double fingerprints_match(const struct fingerprints *prints, size_t count, nigh_chunks *chunks,
                          const struct finder_setting *setting, nigh_find_mode mode, nigh_results **out) {
    nigh_error error;
    nigh_batch_options options;
    nigh_batch_options_init(&options);
    options.method = setting->method;
    options.mode = mode;
    options.radius = prints->radius;
    options.weights = prints->weights;
    options.probes = setting->probes;
    options.recall = setting->recall > 0 ? setting->recall : 1;
    options.threads = 1;
    const double start = measure_now();
    measure_must(nigh_chunks_match(chunks, prints->query_bytes, count, &options, out, &error), &error, "matching");
    return measure_now() - start;
}
