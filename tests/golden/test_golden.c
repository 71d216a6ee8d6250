/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collections kept from version 1 of the format.  Every later version must read
 * them, and this one must still write the very same bytes: a difference is a
 * change of the format, which docs/format.md says how to make.  Those with ids
 * from before the id lookup had a key are only read.
 *
 * `test_golden --make FOLDER` writes them anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

struct golden {
    const char *name;
    struct recipe recipe;
    uint64_t commits[3];   /* documents in each; 0 ends */
    uint32_t slice_width;  /* of slice lists, for segments of 5 signatures or more; 0: none */
    uint32_t graph_degree; /* 0: no graph */
    bool tuned;
    bool before_keys; /* of id lookups: written otherwise now */
    bool before_led;  /* graphs in which edges need not lead to each node: made otherwise now */
    bool columns;     /* of segments of 5 signatures or more */
    bool ranked;      /* tuned for queries that do not count every bit once */
    bool tables;      /* of segments of 5 signatures or more, */
    nigh_tables_form form;
    bool living; /* some documents are deleted, in two commits */
};

static const struct golden goldens[] = {
    {.name = "v1-named.nigh",
     .recipe = {.width_bits = 72, .seed = 1, .distinct = 9, .ids = true, .metadata = true},
     .commits = {12, 7},
     .before_keys = true},
    {.name = "v1-numbered.nigh", .recipe = {.width_bits = 1024, .seed = 2}, .commits = {5, 3, 1}},
    {.name = "v1-weighted.nigh",
     .recipe = {.width_bits = 40,
                .seed = 3,
                .distinct = 6,
                .ids = true,
                .metadata = true,
                .weights = true,
                .vocabulary = "to the store a vocabulary is bytes\n"},
     .commits = {7, 4},
     .before_keys = true},
    {.name = "v1-learned.nigh",
     .recipe = {.width_bits = 32,
                .seed = 5,
                .ids = true,
                .vocabulary = "words\n",
                .model = "to the store a model is bytes\n"},
     .commits = {3, 2},
     .before_keys = true},
    {.name = "v1-sliced.nigh",
     .recipe = {.width_bits = 72, .seed = 4, .distinct = 40, .ids = true},
     .commits = {60, 20, 2},
     .slice_width = 7,
     .before_keys = true},
    {.name = "v1-graph.nigh",
     .recipe = {.width_bits = 136, .seed = 6, .distinct = 80, .ids = true},
     .commits = {120, 20, 2},
     .graph_degree = 8,
     .before_keys = true},
    {.name = "v1-tuned.nigh",
     .recipe = {.width_bits = 40, .seed = 7, .distinct = 50, .weights = true},
     .commits = {80, 20, 2},
     .slice_width = 6,
     .tuned = true},
    {.name = "v1-keyed.nigh",
     .recipe = {.width_bits = 32,
                .seed = 8,
                .distinct = 6,
                .ids = true,
                .metadata = true,
                .vocabulary = "words\n",
                .model = "to the store a model is bytes\n"},
     .commits = {9, 4}},
    {.name = "v1-keyed-graph.nigh",
     .recipe = {.width_bits = 136, .seed = 9, .distinct = 80, .ids = true},
     .commits = {120, 20, 2},
     .slice_width = 7,
     .graph_degree = 8,
     .before_led = true},
    {.name = "v1-led-graph.nigh",
     .recipe = {.width_bits = 136, .seed = 9, .distinct = 80, .ids = true},
     .commits = {120, 20, 2},
     .slice_width = 7,
     .graph_degree = 8},
    {.name = "v1-padded.nigh",
     .recipe = {.width_bits = 63, .seed = 10, .distinct = 40, .ids = true, .weights = true},
     .commits = {60, 20, 2},
     .slice_width = 8,
     .graph_degree = 8,
     .before_led = true},
    {.name = "v1-led-padded.nigh",
     .recipe = {.width_bits = 63, .seed = 10, .distinct = 40, .ids = true, .weights = true},
     .commits = {60, 20, 2},
     .slice_width = 8,
     .graph_degree = 8},
    {.name = "v1-floats.nigh", .recipe = {.width_bits = 24, .seed = 8, .thresholds = true}, .commits = {4, 3}},
    {.name = "v1-columns.nigh", .recipe = {.width_bits = 16, .seed = 10}, .commits = {1100, 20, 2}, .columns = true},
    {.name = "v1-tuned-ranked.nigh",
     .recipe = {.width_bits = 24, .seed = 11, .distinct = 50, .weights = true},
     .commits = {60, 20, 2},
     .columns = true,
     .tuned = true,
     .ranked = true},
    {.name = "v1-tables.nigh",
     .recipe = {.width_bits = 72, .seed = 12, .distinct = 90},
     .commits = {120, 20, 2},
     .tables = true},
    {.name = "v1-sorted.nigh",
     .recipe = {.width_bits = 64, .seed = 13, .distinct = 90},
     .commits = {120, 20, 2},
     .tables = true,
     .form = NIGH_TABLES_SORTED},
    {.name = "v1-living.nigh",
     .recipe = {.width_bits = 32, .seed = 12, .distinct = 20, .ids = true, .metadata = true},
     .commits = {200, 30, 9},
     .living = true},
    {.name = "v1-masked.nigh",
     .recipe = {.width_bits = 44, .seed = 12, .distinct = 40, .masks = true},
     .commits = {60, 20, 2},
     .graph_degree = 8,
     .before_led = true},
    {.name = "v1-led-masked.nigh",
     .recipe = {.width_bits = 44, .seed = 12, .distinct = 40, .masks = true},
     .commits = {60, 20, 2},
     .graph_degree = 8},
    {.name = "v1-values.nigh",
     .recipe = {.width_bits = 40, .seed = 14, .distinct = 30, .values = true},
     .commits = {60, 20, 2}},
};
#define GOLDENS (sizeof goldens / sizeof goldens[0])

static void make_lists(nigh_context *context, const char *path, const struct golden *golden) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_error error;
    options.slice_width = golden->slice_width;
    options.min_rows = 5;
    assert_ok(nigh_lists_build(context, path, &options, NULL, &error), &error);
}

static void make_graph(nigh_context *context, const char *path, const struct golden *golden) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    nigh_error error;
    options.degree = golden->graph_degree;
    options.neighbours = 12;
    options.trees = 2;
    options.passes = 2;
    options.masks = golden->recipe.masks;
    options.sample_step = golden->recipe.masks ? 3 : 0;
    options.min_rows = 5;
    assert_ok(nigh_graph_build(context, path, &options, NULL, &error), &error);
}

static void make_columns(nigh_context *context, const char *path) {
    nigh_columns_options options;
    nigh_columns_options_init(&options);
    nigh_error error;
    options.min_rows = 5;
    assert_ok(nigh_columns_build(context, path, &options, NULL, &error), &error);
}

static void make_tables(nigh_context *context, const char *path, const struct golden *golden) {
    nigh_tables_options options;
    nigh_tables_options_init(&options);
    nigh_error error;
    options.form = golden->form;
    options.rotations = 2;
    options.min_rows = 5;
    assert_ok(nigh_tables_build(context, path, &options, NULL, &error), &error);
}

/* A number of its own in every field. */
static const nigh_tuning golden_tuning = {.size = sizeof golden_tuning,
                                          .method = NIGH_SEARCH_SLICES,
                                          .probe = NIGH_PROBE_DIRECTED,
                                          .k = 7,
                                          .breadth = (uint32_t)NIGH_DEFAULT,
                                          .candidates = 300,
                                          .sketch_bits = 192,
                                          .effort = 50,
                                          .patience = 20,
                                          .postings = 1234,
                                          .probes = 567,
                                          .slice_width = 6,
                                          .target_recall = 0.5,
                                          .target_cdr = 0.625,
                                          .target_seconds = 0.125,
                                          .target_bytes = 1000000,
                                          .queries = 500,
                                          .recall = 0.75,
                                          .recall_low = 0.6875,
                                          .recall_high = 0.8125,
                                          .cdr = 0.9375,
                                          .cdr_low = 0.875,
                                          .cdr_high = 0.96875,
                                          .median = 0.0625,
                                          .percentile_99 = 0.25,
                                          .memory_bytes = 54321,
                                          .documents = 102,
                                          .sequence = 3,
                                          .slack = NIGH_DEFAULT};

/* The other one, with what it alone can say. */
static nigh_tuning golden_ranked(void) {
    nigh_tuning tuning = golden_tuning;
    tuning.method = NIGH_SEARCH_COLUMNS;
    tuning.probe = NIGH_PROBE_AUTO;
    tuning.asked = NIGH_TUNED_RANKED;
    tuning.slack = 1.25;
    return tuning;
}

/* Of the first segment runs in the first commit and more in the second, of the second a bitmap; of the third none. */
static bool is_deleted(uint64_t document) {
    if (document < 200) return document < 5 || document == 77 || document >= 190;
    return document < 230 && document % 2 == 0;
}

static void delete_documents(nigh_context *context, const char *path, const struct golden *golden, uint64_t from,
                             uint64_t to) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    for (uint64_t d = from; d < to; d++) {
        char id[RECIPE_MAX_TEXT];
        if (!is_deleted(d)) continue;
        assert_ok(nigh_writer_delete(writer, id, recipe_id(&golden->recipe, d, id), &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

/* Ids and signatures of those that live, and nothing of the others. */
static void expect_living(nigh_context *context, const char *path, const struct golden *golden) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, 239);
    assert_int_equal(info.deleted, 31);
    for (uint64_t d = 0; d < info.documents; d++) {
        char id[RECIPE_MAX_TEXT];
        uint8_t wanted[4];
        uint8_t there[4];
        uint64_t found = 0;
        const size_t length = recipe_id(&golden->recipe, d, id);
        recipe_signature(&golden->recipe, d, wanted);
        assert_int_equal(nigh_collection_find(collection, id, length, &found, &error),
                         is_deleted(d) ? NIGH_ENOTFOUND : NIGH_OK);
        assert_int_equal(nigh_collection_signature(collection, d, there, &error),
                         is_deleted(d) ? NIGH_EINVAL : NIGH_OK);
        if (is_deleted(d)) continue;
        assert_int_equal(found, d);
        assert_memory_equal(there, wanted, sizeof wanted);
    }
    nigh_collection_close(collection);
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
}

static uint64_t make(nigh_context *context, const char *path, const struct golden *golden) {
    uint64_t total = 0;
    for (size_t i = 0; i < 3 && golden->commits[i] != 0; i++) {
        nigh_error error;
        assert_ok(recipe_add(context, path, &golden->recipe, total, golden->commits[i], &error), &error);
        total += golden->commits[i];
    }
    if (golden->living) {
        delete_documents(context, path, golden, 0, 100);
        delete_documents(context, path, golden, 100, total);
    }
    if (golden->slice_width != 0) make_lists(context, path, golden);
    if (golden->graph_degree != 0) make_graph(context, path, golden);
    if (golden->columns) make_columns(context, path);
    if (golden->tables) make_tables(context, path, golden);
    if (golden->tuned) {
        nigh_error error;
        assert_ok(nigh_tuning_store(context, path, &golden_tuning, &error), &error);
    }
    if (golden->ranked) {
        nigh_error error;
        const nigh_tuning tuning = golden_ranked();
        assert_ok(nigh_tuning_store(context, path, &tuning, &error), &error);
    }
    return total;
}

static char *kept_path(const struct golden *golden) {
    const char *source = getenv("NIGH_SOURCE_DIR");
    if (source == NULL) fail_msg("NIGH_SOURCE_DIR is not set; run this through ctest");
    char *folder = path_in(source, "tests/golden");
    char *path = path_in(folder, golden->name);
    free(folder);
    return path;
}

static void expect_beside(nigh_context *context, const char *path, const struct golden *golden) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    nigh_tuning tuning = {.size = sizeof tuning};
    assert_int_equal(nigh_collection_tuning(collection, &tuning, NULL), golden->tuned ? NIGH_OK : NIGH_ENOTFOUND);
    if (golden->tuned) expect_same_tuning(&tuning, &golden_tuning);
    const nigh_tuning ranked = golden_ranked();
    assert_int_equal(nigh_collection_tuning_ranked(collection, &tuning, NULL),
                     golden->ranked ? NIGH_OK : NIGH_ENOTFOUND);
    if (golden->ranked) expect_same_tuning(&tuning, &ranked);
    nigh_collection_close(collection);
    assert_int_equal(info.sliced_segments, golden->slice_width == 0 ? 0 : 2);
    assert_int_equal(info.damaged_lists, 0);
    assert_int_equal(info.graph_segments, golden->graph_degree == 0 ? 0 : 2);
    assert_int_equal(info.damaged_graphs, 0);
    assert_int_equal(info.column_segments, golden->columns ? 2 : 0);
    assert_int_equal(info.damaged_columns, 0);
    assert_int_equal(info.table_segments, golden->tables ? 2 : 0);
    assert_int_equal(info.damaged_tables, 0);
}

static void kept_collections_open(void **state) {
    (void)state;
    nigh_context *context = context_new();
    for (size_t i = 0; i < GOLDENS; i++) {
        char *path = kept_path(&goldens[i]);
        const uint64_t *commits = goldens[i].commits;
        if (goldens[i].living)
            expect_living(context, path, &goldens[i]);
        else
            recipe_expect(context, path, &goldens[i].recipe, commits[0] + commits[1] + commits[2]);
        nigh_error error;
        assert_ok(read_everything(context, path, &error), &error);
        expect_beside(context, path, &goldens[i]);
        free(path);
    }
    nigh_context_free(context);
}

static void the_bytes_are_the_same(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    for (size_t i = 0; i < GOLDENS; i++) {
        if (goldens[i].before_keys || goldens[i].before_led) continue;
        char *kept = kept_path(&goldens[i]);
        char *fresh = path_in(scratch, goldens[i].name);
        (void)make(context, fresh, &goldens[i]);
        char *wanted = tree_digest(kept);
        char *got = tree_digest(fresh);
        assert_string_equal(got, wanted);
        free(wanted);
        free(got);
        free(kept);
        free(fresh);
    }
    scratch_free(scratch);
    nigh_context_free(context);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--make") == 0) {
        nigh_context *context = context_new();
        for (size_t i = 0; i < GOLDENS; i++) {
            if (goldens[i].before_keys || goldens[i].before_led) continue;
            char *path = path_in(argv[2], goldens[i].name);
            (void)make(context, path, &goldens[i]);
            free(path);
        }
        nigh_context_free(context);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_collections_open),
        cmocka_unit_test(the_bytes_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
