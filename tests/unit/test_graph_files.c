/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as they lie in files, through the library's own calls: numbers that lie under right checksums, files cut short
 * while they are searched, memory that runs out, and the same answers whoever helps.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collection/collection.h"
#include "graph/graph.h"
#include "support/forge.h"
#include "support/support.h"

#define FIRST "graph-00000000000000000001"
#define SEGMENT "segment-00000000000000000001"
#define WIDTH 128u
#define ROWS 1500u
#define QUERIES 150u /* more than a batch of the scan */

static const struct recipe recipe = {.width_bits = WIDTH, .seed = 9, .ids = true};

struct fixture {
    nigh_context *context;
    char *scratch;
    char *path;
    char *graph;
    char *segment;
    uint8_t queries[QUERIES * WIDTH / 8];
};

/* Three segments: two with graphs, one too small for its own. */
static int set_up(void **state) {
    struct fixture *f = malloc(sizeof *f);
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    nigh_error error;
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "c.nigh");
    f->graph = path_in(f->path, FIRST);
    f->segment = path_in(f->path, SEGMENT);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, ROWS, &error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, ROWS, 300, &error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, ROWS + 300, 7, &error), &error);
    options.min_rows = 100;
    options.degree = 12;
    assert_ok(nigh_graph_build(f->context, f->path, &options, NULL, &error), &error);
    for (uint32_t q = 0; q < QUERIES; q++) {
        recipe_signature(&recipe, (uint64_t)q * 11, f->queries + q * WIDTH / 8);
        f->queries[q * WIDTH / 8 + q % 16] ^= (uint8_t)(q % 3 == 0 ? 0 : 0x15);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->context);
    free(f->path);
    free(f->graph);
    free(f->segment);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

static nigh_search_options by_graph(uint32_t threads) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_GRAPH;
    options.effort = 40;
    options.threads = threads;
    return options;
}

/* ---------------------------------------------------------------------------- lies -- */

struct lie {
    uint32_t section;
    uint32_t index; /* of 4 bytes each */
    uint32_t value;
    bool at_opening; /* a search cannot begin */
    const char *why; /* what a check says of it */
};

static nigh_status check(struct fixture *f, nigh_error *error) {
    return nigh_collection_check(f->context, f->path, NULL, NULL, error);
}

/* Whatever it says, it ends. */
static nigh_status search_all(struct fixture *f, uint32_t effort, nigh_error *error) {
    nigh_collection *collection;
    nigh_search_options options = by_graph(2);
    nigh_results *results = NULL;
    options.effort = effort;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, error), error);
    const nigh_status status = nigh_search(collection, f->queries, QUERIES, &options, &results, error);
    nigh_results_free(results);
    nigh_collection_close(collection);
    return status;
}

static struct nigh__section_entry entry_of(const struct bytes *file, uint32_t section) {
    struct nigh__section_entry entry;
    for (size_t at = 64;; at += sizeof entry) {
        memcpy(&entry, file->data + at, sizeof entry);
        if (entry.type == section) return entry;
    }
}

static uint64_t place_of(const struct bytes *file, uint32_t section, uint64_t index) {
    return entry_of(file, section).offset + 4 * index;
}

static uint32_t count_of(const struct bytes *file, uint32_t section) { return (uint32_t)entry_of(file, section).count; }

static uint32_t number_at(const struct bytes *file, uint32_t section, uint64_t index) {
    uint32_t number;
    memcpy(&number, file->data + place_of(file, section, index), sizeof number);
    return number;
}

static uint64_t segment_checksum(const struct fixture *f) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    const uint64_t checksum = collection->segments[0]->header.checksum;
    nigh_collection_close(collection);
    return checksum;
}

/* The graph with one number changed, under right checksums. */
static void forge_number(const struct fixture *f, const struct bytes *whole, uint64_t checksum, uint32_t section,
                         uint32_t index, uint32_t value) {
    uint8_t *copy = malloc(whole->length);
    assert_non_null(copy);
    memcpy(copy, whole->data, whole->length);
    memcpy(copy + place_of(whole, section, index), &value, sizeof value);
    forge_sidecar(copy, whole->length, checksum);
    file_write_all(f->graph, copy, whole->length);
    free(copy);
}

static void tell(struct fixture *f, const struct bytes *whole, uint64_t checksum, const struct lie *lie) {
    nigh_error error = {.status = NIGH_OK};
    forge_number(f, whole, checksum, lie->section, lie->index, lie->value);
    assert_int_equal(check(f, &error), NIGH_ECORRUPT);
    assert_string_equal(error.why, lie->why);
    if (lie->section != NIGH__GRAPH_SKETCHES) assert_int_equal(error.offset, place_of(whole, lie->section, lie->index));
    const nigh_status status = search_all(f, ROWS, &error);
    assert_true(status == NIGH_ECORRUPT || (status == NIGH_OK && !lie->at_opening));
}

static void lies_under_right_checksums(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    const uint64_t checksum = segment_checksum(f);
    struct bytes whole = file_read_all(f->graph);
    const uint32_t lists = number_at(&whole, NIGH__GRAPH_FACTS, 0) << number_at(&whole, NIGH__GRAPH_FACTS, 1);
    const uint32_t edges = number_at(&whole, NIGH__GRAPH_EDGE_STARTS, ROWS);
    const uint32_t seeds = number_at(&whole, NIGH__GRAPH_SEED_STARTS, lists);
    const uint32_t groups = count_of(&whole, NIGH__GRAPH_GROUP_STARTS) - 1;
    const uint32_t centres = count_of(&whole, NIGH__GRAPH_CENTRE_NODES);
    const struct lie lies[] = {
        {NIGH__GRAPH_FACTS, 0, 100, true, "more slices than a signature has"},
        {NIGH__GRAPH_FACTS, 0, UINT32_MAX, true, "more slices than a signature has"},
        {NIGH__GRAPH_FACTS, 1, 0, true, "slices of a width that cannot be"},
        {NIGH__GRAPH_FACTS, 1, 25, true, "slices of a width that cannot be"},
        {NIGH__GRAPH_FACTS, 2, 1025, true, "lists of seeds longer than they can be"},
        {NIGH__GRAPH_FACTS, 3, 0, true, "sketches longer than a signature, or of nothing"},
        {NIGH__GRAPH_FACTS, 3, 3, true, "sketches longer than a signature, or of nothing"},
        {NIGH__GRAPH_FACTS, 9, UINT32_MAX, true, "more found than there were"},
        {NIGH__GRAPH_FACTS, 12, 129, true, "a distance of more bits than there are"},
        {NIGH__GRAPH_FACTS, 13, 3, true, "centres longer than a signature, or than they can be"},
        {NIGH__GRAPH_FACTS, 14, 2, true, "neighbours found in an unknown way"},
        {NIGH__GRAPH_FACTS, 15, 4097, true, "a sample of fewer nodes than it can be of"},
        {NIGH__GRAPH_ORDER, 5, ROWS, false, "a row number is too large"},
        {NIGH__GRAPH_ORDER, 5, number_at(&whole, NIGH__GRAPH_ORDER, 4), false, "two nodes are the same row"},
        {NIGH__GRAPH_EDGE_STARTS, 0, 1, false, "edges lie outside their section"},
        {NIGH__GRAPH_EDGES, 3, ROWS, false, "an edge leads to no node"},
        {NIGH__GRAPH_EDGES, 1, 0, false, "an edge leads back to its own node"},
        {NIGH__GRAPH_EDGES, 1, number_at(&whole, NIGH__GRAPH_EDGES, 0), false, "an edge is there twice"},
        {NIGH__GRAPH_SEED_STARTS, 0, 1, false, "seeds lie outside their section"},
        {NIGH__GRAPH_SEED_STARTS, lists, seeds - 1, false, "there are seeds of no list"},
        {NIGH__GRAPH_SEEDS, 0, ROWS, false, "a seed is no node"},
        {NIGH__GRAPH_CENTRE_NODES, 0, ROWS, false, "a centre is no node"},
        {NIGH__GRAPH_GROUP_STARTS, 0, 1, false, "centres lie outside their section"},
        {NIGH__GRAPH_GROUP_STARTS, groups, centres - 1, false, "there are centres of no group"},
        {NIGH__GRAPH_SKETCHES, 8, ~number_at(&whole, NIGH__GRAPH_SKETCHES, 8), false,
         "a sketch does not match its signature"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) tell(f, &whole, checksum, &lies[i]);
    /* Told of the node before, whose edges end there. */
    const struct {
        uint32_t section, index, value;
        const char *why;
    } ends[] = {
        {NIGH__GRAPH_EDGE_STARTS, ROWS, edges + 1, "edges lie outside their section"},
        {NIGH__GRAPH_EDGE_STARTS, ROWS, edges - 1, "there are edges of no node"},
        {NIGH__GRAPH_EDGE_STARTS, 1, 13, "a node has too many edges"},
        {NIGH__GRAPH_SEED_STARTS, lists, seeds + 1, "seeds lie outside their section"},
        {NIGH__GRAPH_SEED_STARTS, 1, seeds, "a list of seeds is too long"},
        {NIGH__GRAPH_GROUP_STARTS, groups, centres + 1, "centres lie outside their section"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        forge_number(f, &whole, checksum, ends[i].section, ends[i].index, ends[i].value);
        assert_int_equal(check(f, &error), NIGH_ECORRUPT);
        assert_string_equal(error.why, ends[i].why);
        (void)search_all(f, ROWS, &error);
    }
    file_write_all(f->graph, whole.data, whole.length);
    assert_ok(check(f, &error), &error);
    assert_ok(search_all(f, ROWS, &error), &error);
    free(whole.data);
}

/* Of rows that are longer than eight words. */
static void centres_have_eight_words(void **state) {
    struct fixture *f = *state;
    const struct recipe wide = {.width_bits = 640, .seed = 9, .ids = true};
    const struct lie lie = {NIGH__GRAPH_FACTS, 13, 9, true, "centres longer than a signature, or than they can be"};
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    nigh_error error = {.status = NIGH_OK};
    scratch_free(f->path);
    f->path = path_in(f->scratch, "c.nigh");
    options.min_rows = 100;
    assert_ok(recipe_add(f->context, f->path, &wide, 0, 300, &error), &error);
    assert_ok(nigh_graph_build(f->context, f->path, &options, NULL, &error), &error);
    struct bytes whole = file_read_all(f->graph);
    assert_int_equal(number_at(&whole, lie.section, lie.index), 8);
    forge_number(f, &whole, segment_checksum(f), lie.section, lie.index, lie.value);
    assert_int_equal(check(f, &error), NIGH_ECORRUPT);
    assert_string_equal(error.why, lie.why);
    free(whole.data);
}

/* Where the facts say that there are no centres, none are looked for; where they are of another length, it is a lie. */
static void without_centres(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    const uint64_t checksum = segment_checksum(f);
    struct bytes whole = file_read_all(f->graph);
    for (uint32_t words = 0; words < 2; words++) { /* of 2 that there are */
        forge_number(f, &whole, checksum, NIGH__GRAPH_FACTS, 13, words);
        assert_int_equal(check(f, &error), words == 0 ? NIGH_OK : NIGH_ECORRUPT);
        assert_int_equal(search_all(f, ROWS, &error), words == 0 ? NIGH_OK : NIGH_ECORRUPT);
    }
    file_write_all(f->graph, whole.data, whole.length);
    free(whole.data);
}

/* ---------------------------------------------------------------------- the sample -- */

/* The same rows with masks, and a graph of these with a sample of two super-blocks. */
static void make_masked(struct fixture *f) {
    struct recipe masked = recipe;
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    nigh_error error;
    masked.masks = true;
    scratch_free(f->path);
    f->path = path_in(f->scratch, "c.nigh");
    options.min_rows = 100;
    options.masks = 1;
    options.sample_step = 1;
    assert_ok(recipe_add(f->context, f->path, &masked, 0, ROWS, &error), &error);
    assert_ok(nigh_graph_build(f->context, f->path, &options, NULL, &error), &error);
    assert_ok(check(f, &error), &error);
}

/* Some bits of each query; with a sample of all nodes a walk begins from the nearest. */
static nigh_status search_masked(const struct fixture *f, const nigh_collection *collection, nigh_search_method method,
                                 uint32_t threads, nigh_results **results, nigh_error *error) {
    uint8_t masks[QUERIES * WIDTH / 8];
    nigh_search_options options = by_graph(threads);
    for (size_t i = 0; i < sizeof masks; i++) masks[i] = (uint8_t)(i * 37 + i / 16);
    options.method = method;
    options.masks = masks;
    if (method != NIGH_SEARCH_GRAPH) options.effort = (uint32_t)NIGH_DEFAULT;
    return nigh_search(collection, f->queries, QUERIES, &options, results, error);
}

static void begins_from_the_nearest_of_the_sample(void **state) {
    struct fixture *f = *state;
    nigh_collection *collection;
    nigh_results *scanned;
    nigh_error error;
    make_masked(f);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    assert_ok(search_masked(f, collection, NIGH_SEARCH_SCAN, 1, &scanned, &error), &error);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        nigh_results *walked;
        assert_ok(search_masked(f, collection, NIGH_SEARCH_GRAPH, threads, &walked, &error), &error);
        for (size_t q = 0; q < QUERIES; q++) { /* of equally near ones others may be there */
            size_t many;
            size_t some;
            const nigh_match *x = nigh_results_matches(scanned, q, &many);
            const nigh_match *y = nigh_results_matches(walked, q, &some);
            assert_int_equal(many, some);
            for (size_t i = 0; i < many; i++) assert_int_equal(x[i].distance, y[i].distance);
        }
        nigh_results_free(walked);
    }
    nigh_results_free(scanned);
    nigh_collection_close(collection);
}

static void the_sample_is_that_of_the_nodes(void **state) {
    struct fixture *f = *state;
    nigh_collection *collection;
    nigh_results *results = NULL;
    nigh_error error = {.status = NIGH_OK};
    make_masked(f);
    struct bytes whole = file_read_all(f->graph);
    const uint64_t checksum = segment_checksum(f);
    const uint32_t ends[] = {0, 2 * 130 * 32 - 1}; /* of two super-blocks of 130 columns, 32 numbers each */
    for (size_t i = 0; i < 2; i++) {
        const uint32_t at = ends[i];
        forge_number(f, &whole, checksum, NIGH__GRAPH_SAMPLE, at, ~number_at(&whole, NIGH__GRAPH_SAMPLE, at));
        assert_int_equal(check(f, &error), NIGH_ECORRUPT);
        assert_string_equal(error.why, "the sample does not match its nodes");
        assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
        assert_ok(search_masked(f, collection, NIGH_SEARCH_GRAPH, 2, &results, &error), &error); /* poorer, not wrong */
        nigh_results_free(results);
        nigh_collection_close(collection);
    }
    forge_number(f, &whole, checksum, NIGH__GRAPH_FACTS, 15, 2); /* of which there would be one super-block */
    assert_int_equal(check(f, &error), NIGH_ECORRUPT);
    free(whole.data);
}

/* ----------------------------------------------------------------------- cut short -- */

static void sample_cut_short(void **state) {
    struct fixture *f = *state;
    const char *sanitize = getenv("NIGH_SANITIZE");
    if (sanitize != NULL && strstr(sanitize, "thread") != NULL) skip();
    nigh_collection *collection;
    nigh_results *results;
    nigh_error error;
    make_masked(f);
    assert_ok(nigh_fault_guard_install(&error), &error);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    assert_int_equal(truncate(f->graph, 4096), 0);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(search_masked(f, collection, NIGH_SEARCH_GRAPH, threads, &results, &error), NIGH_EIO);
        assert_null(results);
        assert_non_null(strstr(error.file, FIRST));
    }
    nigh_collection_close(collection);
}

/* Someone cuts a file while it is searched: both are guarded, and the search after it is well. */
static void files_cut_short(void **state) {
    struct fixture *f = *state;
    const char *sanitize = getenv("NIGH_SANITIZE");
    if (sanitize != NULL && strstr(sanitize, "thread") != NULL) skip(); /* it takes the jump for a handler at work */
    nigh_error error;
    assert_ok(nigh_fault_guard_install(&error), &error);
    for (int which = 0; which < 2; which++) {
        char *file = which == 0 ? f->graph : f->segment;
        struct bytes whole = file_read_all(file);
        nigh_collection *collection;
        assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
        for (uint32_t threads = 1; threads <= 3; threads++) {
            const nigh_search_options options = by_graph(threads);
            nigh_results *results;
            assert_int_equal(truncate(file, 4096), 0);
            assert_int_equal(nigh_search(collection, f->queries, QUERIES, &options, &results, &error), NIGH_EIO);
            assert_null(results);
            assert_non_null(strstr(error.file, which == 0 ? FIRST : SEGMENT));
            FILE *again = fopen(file, "r+b"); /* the same file, whole again */
            assert_non_null(again);
            assert_int_equal(fwrite(whole.data, 1, whole.length, again), whole.length);
            assert_int_equal(fclose(again), 0);
            assert_ok(nigh_search(collection, f->queries, QUERIES, &options, &results, &error), &error);
            nigh_results_free(results);
        }
        nigh_collection_close(collection);
        free(whole.data);
    }
}

/* --------------------------------------------------------------------- the answers -- */

static void expect_same(const nigh_results *a, size_t first_a, const nigh_results *b, size_t count) {
    for (size_t q = 0; q < count; q++) {
        size_t many;
        size_t some;
        const nigh_match *x = nigh_results_matches(a, first_a + q, &many);
        const nigh_match *y = nigh_results_matches(b, q, &some);
        assert_int_equal(many, some);
        if (many > 0) assert_memory_equal(x, y, many * sizeof *x);
    }
}

/* Threads, batches, and searches at once. */
static void the_same_whoever_helps(void **state) {
    struct fixture *f = *state;
    nigh_collection *collection;
    nigh_results *alone;
    nigh_error error;
    nigh_search_options options = by_graph(1);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    assert_ok(nigh_search(collection, f->queries, QUERIES, &options, &alone, &error), &error);
    for (options.threads = 1; options.threads <= 4; options.threads++) {
        for (size_t count = 1; count <= QUERIES; count = 3 * count + 2) {
            nigh_results *some;
            assert_ok(nigh_search(collection, f->queries + 7 * WIDTH / 8, count - 1, &options, &some, &error), &error);
            expect_same(alone, 7, some, count - 1);
            nigh_results_free(some);
        }
        nigh_results *all;
        assert_ok(nigh_search(collection, f->queries, QUERIES, &options, &all, &error), &error);
        expect_same(alone, 0, all, QUERIES);
        nigh_results_free(all);
    }
    nigh_results_free(alone);
    nigh_collection_close(collection);
}

/* With an effort as large as all of it, it is the scan; also for one signature, the narrowest, and k beyond all. */
static void all_the_effort_is_the_scan(void **state) {
    (void)state;
    static const uint32_t widths[] = {8, 64, 72, 1000};
    static const uint32_t counts[] = {1, 2, 3, 65, 200};
    nigh_context *context = context_new();
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            const struct recipe small = {.width_bits = widths[w], .seed = c, .distinct = counts[c]};
            char *scratch = scratch_new();
            char *path = path_in(scratch, "c.nigh");
            nigh_graph_options options;
            nigh_graph_options_init(&options);
            nigh_collection *collection;
            nigh_error error;
            uint8_t query[128];
            options.min_rows = 1;
            assert_ok(recipe_add(context, path, &small, 0, (uint64_t)2 * counts[c], &error), &error);
            assert_ok(nigh_graph_build(context, path, &options, NULL, &error), &error);
            assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
            assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
            recipe_signature(&small, 1, query);
            query[0] ^= 1;
            nigh_search_options scan;
            nigh_search_options_init(&scan);
            nigh_search_options walk = by_graph(1);
            scan.method = NIGH_SEARCH_SCAN;
            walk.patience = 0;
            walk.effort = NIGH_ALL;
            for (scan.k = 1; scan.k < 1000; scan.k *= 9) {
                nigh_results *scanned;
                nigh_results *walked;
                nigh_proof proof = {.size = sizeof proof};
                walk.k = scan.k;
                assert_ok(nigh_search(collection, query, 1, &scan, &scanned, &error), &error);
                assert_ok(nigh_search(collection, query, 1, &walk, &walked, &error), &error);
                assert_ok(nigh_results_proof(walked, 0, &proof, &error), &error);
                if (proof.exact) expect_same(scanned, 0, walked, 1);
                if (scan.k >= 2 * counts[c] || widths[w] <= 256) assert_int_equal(proof.exact, 1);
                nigh_results_free(scanned);
                nigh_results_free(walked);
            }
            nigh_collection_close(collection);
            free(path);
            scratch_free(scratch);
        }
    }
    nigh_context_free(context);
}

/* An answer that cannot be bettered in a later segment is as sure as it was. */
static void nothing_is_nearer_than_equal(void **state) {
    struct fixture *f = *state;
    nigh_collection *collection;
    nigh_results *results;
    nigh_error error;
    nigh_proof proof = {.size = sizeof proof};
    nigh_search_options options = by_graph(1);
    options.k = 1;
    options.effort = NIGH_ALL;
    options.patience = 0;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    assert_ok(nigh_search(collection, f->queries, 1, &options, &results, &error), &error);
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    assert_in_range(info.steps, 1, ROWS); /* of the first segment alone */
    assert_ok(nigh_results_proof(results, 0, &proof, &error), &error);
    assert_int_equal(proof.exact, 1);
    nigh_results_free(results);
    nigh_collection_close(collection);
}

/* ------------------------------------------------------------------------ failures -- */

static void memory_that_runs_out(void **state) {
    struct fixture *f = *state;
    uint64_t failed = 0;
    for (uint64_t i = 0;; i++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_collection *collection;
        nigh_results *results;
        nigh_error error;
        const nigh_search_options options = by_graph(1);
        assert_ok(nigh_collection_open(context, f->path, NULL, &collection, &error), &error);
        memory.fail_at = memory.calls + i;
        const nigh_status status = nigh_search(collection, f->queries, QUERIES, &options, &results, &error);
        memory.fail_at = UINT64_MAX;
        nigh_results_free(results);
        if (status != NIGH_OK) {
            assert_int_equal(status, NIGH_ENOMEM);
            assert_int_equal(error.status, NIGH_ENOMEM);
            assert_null(results);
            failed++;
            assert_ok(nigh_search(collection, f->queries, 3, &options, &results, &error), &error);
            nigh_results_free(results);
        }
        nigh_collection_close(collection);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status == NIGH_OK) break;
    }
    assert_true(failed > 10);
}

struct patience {
    uint32_t left;
};

static int stop_in_time(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct patience *patience = user;
    (void)stage;
    assert_true(done <= total);
    return patience->left-- == 0;
}

static void cancelled(void **state) {
    struct fixture *f = *state;
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct patience patience = {.left = 0};
        const nigh_progress progress = {.report = stop_in_time, .user = &patience};
        nigh_search_options options = by_graph(threads);
        nigh_results *results;
        options.progress = &progress;
        assert_int_equal(nigh_search(collection, f->queries, QUERIES, &options, &results, &error), NIGH_ECANCELLED);
        assert_null(results);
    }
    nigh_collection_close(collection);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(lies_under_right_checksums),
        WITH_FIXTURE(centres_have_eight_words),
        WITH_FIXTURE(without_centres),
        WITH_FIXTURE(files_cut_short),
        WITH_FIXTURE(sample_cut_short),
        WITH_FIXTURE(begins_from_the_nearest_of_the_sample),
        WITH_FIXTURE(the_sample_is_that_of_the_nodes),
        WITH_FIXTURE(the_same_whoever_helps),
        cmocka_unit_test(all_the_effort_is_the_scan),
        WITH_FIXTURE(nothing_is_nearer_than_equal),
        WITH_FIXTURE(memory_that_runs_out),
        WITH_FIXTURE(cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
