/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of any number of bits: every way to search a collection against a loop over all documents, at widths
 * around those of bytes and words; whatever takes signatures in refuses bits that are set past the width; and where
 * such bits stand on disk they are found, and no answer rests on them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/collection.h"
#include "support/support.h"

enum { SEGMENT = 350, DOCUMENTS = 2 * SEGMENT, QUERIES = 24, TUNING = 40, K = 10, MAX_BITS = 1023, MAX_BYTES = 128 };

static const uint32_t widths[] = {1, 2, 3, 5, 6, 7, 9, 31, 33, 63, 65, 127, 1000, MAX_BITS};

struct world {
    nigh_context *context;
    char *folder, *path;
    uint32_t width_bits;
    size_t bytes;
    uint8_t signatures[DOCUMENTS * MAX_BYTES];
    uint8_t queries[QUERIES * MAX_BYTES];
    uint8_t weights[QUERIES * MAX_BITS];
    nigh_match truth[QUERIES][DOCUMENTS]; /* nearest first */
    nigh_collection *collection;
};

/* ------------------------------------------------------------------- the world */

/* A fifth are random, the others a few bits from one of 30, or copies. */
static void draw_row(const struct world *world, struct nigh__rng *rng, uint8_t *out) {
    const uint64_t centre = nigh__rng_next(rng) % 5 == 0 ? nigh__rng_next(rng) : nigh__rng_next(rng) % 30;
    struct nigh__rng bits = {.state = nigh__mix(centre)};
    for (size_t i = 0; i < world->bytes; i++) out[i] = (uint8_t)nigh__rng_next(&bits);
    for (uint64_t flips = nigh__rng_next(rng) % (2 + world->width_bits / 8); flips > 0; flips--) {
        const uint64_t bit = nigh__rng_next(rng) % world->width_bits;
        out[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    padding_clear(out, 1, world->width_bits);
}

/* Bit by bit, so that nothing past the width could count. */
static uint32_t distance_of(const struct world *world, const uint8_t *a, const uint8_t *b) {
    uint32_t distance = 0;
    for (uint32_t i = 0; i < world->width_bits; i++) distance += (uint32_t)(a[i / 8] ^ b[i / 8]) >> i % 8 & 1;
    return distance;
}

static void find_truth(struct world *world) {
    for (size_t q = 0; q < QUERIES; q++) {
        for (size_t d = 0; d < DOCUMENTS; d++)
            world->truth[q][d] = (nigh_match){.document = d,
                                              .distance = distance_of(world, world->queries + q * world->bytes,
                                                                      world->signatures + d * world->bytes)};
        qsort(world->truth[q], DOCUMENTS, sizeof *world->truth[q], compare_matches);
    }
}

/* Two segments with a graph, and with lists where there is room for a slice. */
static void build(struct world *world) {
    nigh_error error;
    nigh_lists_options lists;
    nigh_graph_options graph;
    nigh_lists_options_init(&lists);
    nigh_graph_options_init(&graph);
    lists.min_rows = graph.min_rows = 1;
    lists.slice_width = world->width_bits < 8 ? NIGH_MIN_SLICE_WIDTH : 8;
    if (nigh_slices_count(world->width_bits, lists.slice_width) != 0)
        assert_ok(nigh_lists_build(world->context, world->path, &lists, NULL, &error), &error);
    else
        assert_int_equal(nigh_lists_build(world->context, world->path, &lists, NULL, &error), NIGH_EINVAL);
    nigh_graph_result made = {.size = sizeof made};
    assert_ok(nigh_graph_build(world->context, world->path, &graph, &made, &error), &error);
    assert_int_equal(made.built, 2);
    assert_ok(nigh_collection_check(world->context, world->path, NULL, NULL, &error), &error);
}

static struct world *world_new(uint32_t width_bits) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->context = context_new();
    world->folder = scratch_new();
    world->path = path_in(world->folder, "c.nigh");
    world->width_bits = width_bits;
    world->bytes = nigh_signature_bytes(width_bits);
    struct nigh__rng rng = {.state = width_bits};
    for (size_t d = 0; d < DOCUMENTS; d++) draw_row(world, &rng, world->signatures + d * world->bytes);
    for (size_t q = 0; q < QUERIES; q++) draw_row(world, &rng, world->queries + q * world->bytes);
    for (size_t i = 0; i < sizeof world->weights; i++) world->weights[i] = (uint8_t)nigh__rng_next(&rng);
    find_truth(world);
    for (size_t s = 0; s < 2; s++)
        signatures_add(world->context, world->path, width_bits, world->signatures + s * SEGMENT * world->bytes,
                       SEGMENT);
    return world;
}

static void world_open(struct world *world, bool verify) {
    nigh_error error;
    nigh_open_options options;
    nigh_open_options_init(&options);
    options.verify = verify;
    assert_ok(nigh_collection_open(world->context, world->path, &options, &world->collection, &error), &error);
}

static void world_free(struct world *world) {
    nigh_collection_close(world->collection);
    nigh_context_free(world->context);
    scratch_free(world->folder);
    free(world->path);
    free(world);
}

/* ------------------------------------------------------------------- searching */

struct way {
    nigh_search_method method;
    nigh_search_stop stop;
    bool weighted, exact;
};

/* Every distance is true, what is proven is there; returns how many of the K nearest distances were met. */
static size_t check_answer(const struct world *world, const struct way *way, const nigh_results *results, size_t q) {
    size_t count = 0;
    size_t right = 0;
    const nigh_match *truth = world->truth[q];
    const nigh_match *matches = nigh_results_matches(results, q, &count);
    nigh_proof proof = {.size = sizeof proof};
    nigh_error error;
    assert_ok(nigh_results_proof(results, q, &proof, &error), &error);
    if (way->exact && !proof.exact) fail_msg("%u bits, method %d: not exact", world->width_bits, (int)way->method);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *row = world->signatures + matches[i].document * world->bytes;
        assert_int_equal(matches[i].distance, distance_of(world, world->queries + q * world->bytes, row));
        right += matches[i].distance <= truth[K - 1].distance;
    }
    for (size_t i = 0; i < K && truth[i].distance < proof.below; i++)
        if (i >= count || compare_matches(&matches[i], &truth[i]) != 0)
            fail_msg("%u bits, method %d, query %zu: match %zu", world->width_bits, (int)way->method, q, i);
    return right;
}

static void check_way(const struct world *world, const struct way *way) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = K;
    options.method = way->method;
    options.stop = way->stop;
    if (way->weighted) options.weights = world->weights;
    if (way->method == NIGH_SEARCH_GRAPH) options.effort = SEGMENT;
    if (way->method == NIGH_SEARCH_SKETCH) options.candidates = 2 * K;
    nigh_results *results;
    nigh_error error;
    size_t right = 0;
    assert_ok(nigh_search(world->collection, world->queries, QUERIES, &options, &results, &error), &error);
    for (size_t q = 0; q < QUERIES; q++) right += check_answer(world, way, results, q);
    if (way->exact) assert_int_equal(right, QUERIES * K);
    if (way->method == NIGH_SEARCH_GRAPH && right < QUERIES * K * 98 / 100)
        fail_msg("%u bits: the graph finds %zu of %d", world->width_bits, right, QUERIES * K);
    nigh_results_free(results);
}

static nigh_results *search_masked(const struct world *world, const uint8_t *masks) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = K;
    options.masks = masks;
    nigh_results *results;
    nigh_error error;
    assert_ok(nigh_search(world->collection, world->queries, QUERIES, &options, &results, &error), &error);
    return results;
}

/* What a mask says of bits past the width does not matter. */
static void check_masks(const struct world *world) {
    uint8_t masks[QUERIES * MAX_BYTES], cleared[QUERIES * MAX_BYTES];
    memset(masks, 0xff, sizeof masks);
    for (size_t q = 0; q < QUERIES; q++) masks[q * world->bytes] = (uint8_t)(q | 1 | 0x80);
    memcpy(cleared, masks, sizeof masks);
    padding_clear(cleared, QUERIES, world->width_bits);
    nigh_results *one = search_masked(world, masks), *other = search_masked(world, cleared);
    for (size_t q = 0; q < QUERIES; q++) {
        size_t count, other_count;
        nigh_scale scale = {.size = sizeof scale}, other_scale = {.size = sizeof scale};
        const nigh_match *matches = nigh_results_matches(one, q, &count);
        const nigh_match *others = nigh_results_matches(other, q, &other_count);
        assert_int_equal(count, other_count);
        assert_memory_equal(matches, others, count * sizeof *matches);
        nigh_error error;
        assert_ok(nigh_results_scale(one, q, &scale, &error), &error);
        assert_ok(nigh_results_scale(other, q, &other_scale, &error), &error);
        assert_memory_equal(&scale, &other_scale, sizeof scale);
        assert_true(scale.whole <= world->width_bits);
    }
    nigh_results_free(one);
    nigh_results_free(other);
}

/* The scan finds all of it, by every query's own mask. */
static void test_tuning_by_masks(void **state) {
    (void)state;
    struct world *world = world_new(63);
    nigh_error error;
    nigh_tuning tuning = {.size = sizeof tuning};
    nigh_tune_options options;
    nigh_tune_options_init(&options);
    uint8_t masks[TUNING * 8];
    struct nigh__rng rng = {.state = 7};
    for (size_t i = 0; i < sizeof masks; i++) masks[i] = (uint8_t)nigh__rng_next(&rng);
    options.queries = world->signatures;
    options.query_count = TUNING;
    options.masks = masks;
    options.methods = 1u << NIGH_SEARCH_SCAN;
    world_open(world, false);
    assert_ok(nigh_tune(world->collection, &options, &tuning, NULL, &error), &error);
    assert_true(tuning.recall == 1);
    world_free(world);
}

static void test_every_way(void **state) {
    (void)state;
    static const struct way ways[] = {
        {NIGH_SEARCH_SCAN, NIGH_STOP_BREADTH, false, true},
        {NIGH_SEARCH_AUTO, NIGH_STOP_CERTAIN, false, true},
        {NIGH_SEARCH_SKETCH, NIGH_STOP_BREADTH, false, false},
        {NIGH_SEARCH_GRAPH, NIGH_STOP_BREADTH, false, false},
        {NIGH_SEARCH_SLICES, NIGH_STOP_CERTAIN, false, true},
        {NIGH_SEARCH_SLICES, NIGH_STOP_BREADTH, false, false},
        {NIGH_SEARCH_SLICES, NIGH_STOP_BREADTH, true, false},
        {NIGH_SEARCH_SLICES_PLAIN, NIGH_STOP_CERTAIN, false, true},
    };
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        struct world *world = world_new(widths[w]);
        build(world);
        world_open(world, true);
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            const bool lists = ways[i].method == NIGH_SEARCH_SLICES || ways[i].method == NIGH_SEARCH_SLICES_PLAIN;
            if (lists && widths[w] < NIGH_MIN_SLICE_WIDTH) continue;
            check_way(world, &ways[i]);
        }
        check_masks(world);
        world_free(world);
    }
}

/* ------------------------------------------------------------------- refusing */

static void expect_padding(nigh_status status, const nigh_error *error, const char *why) {
    assert_int_equal(status, NIGH_EINVAL);
    assert_string_equal(error->why, why);
}

/* What holds rows in memory; row 0 is sound, row 1 is not. */
static void test_rows_are_refused(void **state) {
    nigh_context *context = *state;
    const uint8_t rows[16] = {[15] = 0x80};
    const char *row = "row 1 has bits set past the width of 63", *query = "query 1 has bits set past the width of 63";
    nigh_error error;
    nigh_finder *finder = NULL;
    nigh_growing_finder *growing = NULL;
    nigh_results *results = NULL;
    nigh_dedup *dedup = NULL;
    nigh_placed placed[2];
    nigh_growing_info info = {.size = sizeof info};
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.width_bits = 63;
    expect_padding(nigh_finder_new(context, rows, 2, &options, &finder, &error), &error, row);
    assert_ok(nigh_finder_new(context, rows, 1, &options, &finder, &error), &error);
    expect_padding(nigh_finder_find(finder, rows, 2, NULL, &results, &error), &error, query);
    nigh_finder_free(finder);
    assert_ok(nigh_growing_finder_new(context, &options, &growing, &error), &error);
    expect_padding(nigh_growing_finder_find(growing, rows, 2, NULL, &results, &error), &error, query);
    expect_padding(nigh_growing_finder_add(growing, rows, 2, &error), &error, row);
    expect_padding(nigh_growing_finder_find_or_add(growing, rows, 2, NULL, placed, &error), &error, row);
    nigh_growing_finder_describe(growing, &info);
    assert_int_equal(info.rows, 0);
    nigh_growing_finder_free(growing);
    expect_padding(nigh_dedup_rows(context, rows, 2, 63, NULL, &dedup, &error), &error, row);
}

static void test_writers_refuse(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new(), *path = path_in(folder, "c.nigh"), *file = path_in(folder, "x.hex");
    const uint8_t sound[8] = {[7] = 0x7f}, padded[8] = {[7] = 0x80};
    nigh_document document = {.size = sizeof document, .signature = padded};
    nigh_error error;
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 63;
    nigh_writer *writer;
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    const char *why = "a signature has bits set past the width of 63";
    expect_padding(nigh_writer_add(writer, &document, &error), &error, why);
    document.signature = sound;
    assert_ok(nigh_writer_add(writer, &document, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);

    nigh_collection *collection;
    nigh_results *results;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    expect_padding(nigh_search(collection, padded, 1, NULL, &results, &error), &error,
                   "query 0 has bits set past the width of 63");
    nigh_collection_close(collection);

    nigh_signature_writer_options to;
    nigh_signature_writer_options_init(&to);
    to.width_bits = 63;
    nigh_signature_writer *out;
    assert_ok(nigh_signature_writer_open(context, file, &to, &out, &error), &error);
    document.signature = padded;
    expect_padding(nigh_signature_writer_add(out, &document, &error), &error, why);
    nigh_signature_writer_close(out);
    scratch_free(folder);
    free(path);
    free(file);
}

/* ----------------------------------------------------------------- files of others */

/* Three rows of 64 bits, the last of which has bit 63 set, read as 63 bits. */
static void test_files_are_refused(void **state) {
    static const char *const names[] = {"x.npy", "x.u8bin", "x.raw", "x.hex"};
    nigh_context *context = *state;
    char *folder = scratch_new();
    for (size_t f = 0; f < sizeof names / sizeof names[0]; f++) {
        char *path = path_in(folder, names[f]);
        nigh_error error;
        nigh_signature_writer_options to;
        nigh_signature_writer_options_init(&to);
        to.width_bits = 64;
        nigh_signature_writer *out;
        assert_ok(nigh_signature_writer_open(context, path, &to, &out, &error), &error);
        for (unsigned i = 0; i < 3; i++) {
            const uint8_t row[8] = {(uint8_t)i, [7] = i == 2 ? 0x80 : 0x7f};
            const nigh_document document = {.size = sizeof document, .signature = row};
            assert_ok(nigh_signature_writer_add(out, &document, &error), &error);
        }
        assert_ok(nigh_signature_writer_finish(out, &error), &error);
        nigh_signature_writer_close(out);

        nigh_signature_reader_options from;
        nigh_signature_reader_options_init(&from);
        from.width_bits = 63;
        if (f == 2) from.format = NIGH_FORMAT_RAW;
        nigh_signature_reader *reader;
        nigh_document got = {.size = sizeof got};
        nigh_signature_info info = {.size = sizeof info};
        assert_ok(nigh_signature_reader_open(context, path, &from, &reader, &error), &error);
        nigh_signature_reader_describe(reader, &info);
        assert_int_equal(info.width_bits, 63);
        for (unsigned i = 0; i < 2; i++) assert_ok(nigh_signature_reader_next(reader, &got, &error), &error);
        assert_int_equal(nigh_signature_reader_next(reader, &got, &error), NIGH_EFORMAT);
        assert_string_equal(error.file, path);
        assert_string_equal(error.why, "row 3 has bits set past the width of 63");
        nigh_signature_reader_close(reader);
        from.width_bits = 56; /* another number of bytes */
        if (info.format != NIGH_FORMAT_RAW)
            assert_int_equal(nigh_signature_reader_open(context, path, &from, &reader, &error), NIGH_EMISMATCH);
        free(path);
    }
    scratch_free(folder);
}

/* ------------------------------------------------------------------------ damage */

/* Sets the last bit of the last byte of a row's words; the map shows it at once. */
static void damage(const struct nigh__segment *segment, uint64_t row, uint8_t byte, long back) {
    FILE *file = fopen(segment->path, "r+b");
    assert_non_null(file);
    const long end = (long)(segment->sections[NIGH__SECTION_SIGNATURES].offset + (row + 1) * segment->words * 8);
    assert_int_equal(fseek(file, end - back, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fclose(file), 0);
}

static void test_padding_on_disk(void **state) {
    (void)state;
    struct world *world = world_new(63);
    nigh_error error;
    uint8_t *before = world->signatures + 7;
    world_open(world, false);
    damage(world->collection->segments[0], 0, (uint8_t)(*before | 0x80), 1);

    nigh_results *results;
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = 1;
    assert_int_equal(nigh_search(world->collection, world->signatures, 1, &options, &results, &error), NIGH_ECORRUPT);
    assert_string_equal(error.why, "bits past the width are set");
    uint8_t row[8];
    assert_int_equal(nigh_collection_signature(world->collection, 0, row, &error), NIGH_ECORRUPT);
    assert_ok(nigh_collection_signature(world->collection, SEGMENT, row, &error), &error);
    nigh_check_result found = {.size = sizeof found};
    assert_int_equal(nigh_collection_check(world->context, world->path, NULL, &found, &error), NIGH_ECORRUPT);
    nigh_open_options verify;
    nigh_open_options_init(&verify);
    verify.verify = 1;
    nigh_collection *other;
    assert_int_equal(nigh_collection_open(world->context, world->path, &verify, &other, &error), NIGH_ECORRUPT);
    damage(world->collection->segments[0], 0, *before, 1);
    assert_ok(nigh_collection_check(world->context, world->path, NULL, &found, &error), &error);
    world_free(world);
}

/* ----------------------------------------------------------------------- making */

/* Generated ones are those of the next multiple of 64 bits, cut. */
static void test_generated_are_cut(void **state) {
    (void)state;
    nigh_generator_options options, whole;
    nigh_generator_options_init(&options);
    options.count = 1000;
    for (int weak = 0; weak < 2; weak++) {
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            uint8_t narrow[MAX_BYTES], wide[MAX_BYTES], weights[MAX_BITS], more[1024];
            nigh_error error;
            options.width_bits = widths[w];
            options.weak_flips = weak;
            whole = options;
            whole.width_bits = (widths[w] + 63) / 64 * 64;
            for (uint64_t number = 0; number < 50; number++) {
                assert_ok(nigh_generate_weighted(&options, number, narrow, weights, &error), &error);
                assert_ok(nigh_generate_weighted(&whole, number, wide, more, &error), &error);
                padding_clear(wide, 1, widths[w]);
                assert_memory_equal(narrow, wide, nigh_signature_bytes(widths[w]));
                assert_memory_equal(weights, more, widths[w]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way),         cmocka_unit_test(test_tuning_by_masks),
        cmocka_unit_test(test_rows_are_refused),  cmocka_unit_test(test_writers_refuse),
        cmocka_unit_test(test_files_are_refused), cmocka_unit_test(test_padding_on_disk),
        cmocka_unit_test(test_generated_are_cut),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
