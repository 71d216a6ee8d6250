/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as they lie in files, through the library's own calls: making, keeping and removing them, files that lie
 * under right checksums or are cut short while they are looked up, memory and disks that fail.  Both forms.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/collection.h"
#include "finder/stored.h"
#include "support/forge.h"
#include "support/sidecar_support.h"

#define FIRST_FILE "tables-00000000000000000001"
#define ROWS 1500u
#define IN_SECOND 10u
#define WIDTH 72u
#define RADIUS 3u
#define QUERIES 300u /* more than a batch */

static nigh_tables_options options_of(nigh_tables_form form) {
    nigh_tables_options options;
    nigh_tables_options_init(&options);
    options.form = form;
    options.min_rows = 1;
    options.threads = 1;
    return options;
}

static nigh_tables_result build(const struct with_sidecar *w, const nigh_tables_options *options) {
    nigh_tables_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_tables_build(w->context, w->path, options, &result, &error), &error);
    return result;
}

static int set_up(void **state) {
    *state = with_sidecar_new("tables", ROWS);
    return 0;
}

static int set_up_form(void **state, nigh_tables_form form) {
    struct with_sidecar *w = with_sidecar_new("tables", ROWS);
    const nigh_tables_options options = options_of(form);
    (void)build(w, &options);
    *state = w;
    return 0;
}

static int set_up_permuted(void **state) { return set_up_form(state, NIGH_TABLES_PERMUTED); }
static int set_up_sorted(void **state) { return set_up_form(state, NIGH_TABLES_SORTED); }

static int tear_down(void **state) {
    with_sidecar_free(*state);
    return 0;
}

static nigh_status check(const struct with_sidecar *w, nigh_error *error) {
    return nigh_collection_check(w->context, w->path, NULL, NULL, error);
}

/* Rows that are there, with up to three bits changed. */
static void queries_make(const struct with_sidecar *w, uint8_t *queries) {
    for (uint32_t q = 0; q < QUERIES; q++) {
        recipe_signature(&w->recipe, (uint64_t)q * 5, queries + q * WIDTH / 8);
        for (uint32_t bit = 0; bit < q % 4; bit++) queries[q * WIDTH / 8 + (q + bit) % 9] ^= (uint8_t)(1u << q % 8);
    }
}

static nigh_search_options by_tables(uint32_t threads) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_TABLES;
    options.radius = RADIUS;
    options.k = NIGH_ALL;
    options.threads = threads;
    return options;
}

static nigh_status search_with(const nigh_collection *collection, const struct with_sidecar *w, uint32_t threads,
                               nigh_error *error) {
    static uint8_t weights[QUERIES * WIDTH]; /* all alike: those of bits that differ are as good as any */
    uint8_t queries[QUERIES * WIDTH / 8];
    nigh_search_options options = by_tables(threads);
    nigh_results *results = NULL;
    queries_make(w, queries);
    memset(weights, 9, sizeof weights);
    options.weights = weights;
    const nigh_status status = nigh_search(collection, queries, QUERIES, &options, &results, error);
    assert_int_equal(results != NULL, status == NIGH_OK);
    nigh_results_free(results);
    return status;
}

/* Whatever it says, it ends. */
static nigh_status search_all(const struct with_sidecar *w, nigh_error *error) {
    nigh_collection *collection;
    assert_ok(nigh_collection_open(w->context, w->path, NULL, &collection, error), error);
    const nigh_status status = search_with(collection, w, 2, error);
    nigh_collection_close(collection);
    return status;
}

/* -------------------------------------------------------------------------- making -- */

static void made_kept_and_removed(void **state) {
    struct with_sidecar *w = *state;
    nigh_tables_options options = options_of(NIGH_TABLES_PERMUTED);
    nigh_segment_info segments[2];
    nigh_error error;
    options.min_rows = 100;
    nigh_tables_result result = build(w, &options);
    assert_int_equal(result.built, 1);
    assert_int_equal(result.without, 1);
    nigh_collection_info info = with_sidecar_describe(w, segments);
    assert_int_equal(info.table_segments, 1);
    assert_int_equal(info.damaged_tables, 0);
    assert_int_equal(info.table_bytes, result.bytes);
    assert_int_equal(segments[0].table_bytes, file_length(w->first));
    assert_int_equal(segments[0].tables, 4);
    assert_int_equal(segments[0].table_form, NIGH_TABLES_PERMUTED);
    assert_int_equal(segments[0].table_radius, RADIUS);
    assert_int_equal(segments[1].tables, 0);
    assert_false(path_exists(w->second));

    options.min_rows = 1; /* the first is sound, and stays */
    result = build(w, &options);
    assert_int_equal(result.built, 1);
    assert_int_equal(result.kept, 1);
    options.radius = 4; /* of another radius they are others */
    result = build(w, &options);
    assert_int_equal(result.built, 2);
    (void)with_sidecar_describe(w, segments);
    assert_int_equal(segments[1].table_radius, 4);
    assert_int_equal(segments[1].tables, 5);
    options.form = NIGH_TABLES_SORTED;
    options.rotations = 2;
    result = build(w, &options);
    assert_int_equal(result.built, 2);
    (void)with_sidecar_describe(w, segments);
    assert_int_equal(segments[0].table_form, NIGH_TABLES_SORTED);
    assert_int_equal(segments[0].tables, 2);
    assert_true(segments[0].table_probes > 0);
    options.rebuild = 1;
    assert_int_equal(build(w, &options).built, 2);

    options.rebuild = 0;
    options.min_rows = 100; /* the second loses what it has, unless all shall stay */
    options.keep = 1;
    assert_int_equal(build(w, &options).kept, 2);
    options.keep = 0;
    assert_int_equal(build(w, &options).without, 1);
    assert_false(path_exists(w->second));
    assert_ok(check(w, &error), &error);
    assert_ok(nigh_tables_remove(w->context, w->path, &error), &error);
    assert_false(path_exists(w->first));
    assert_int_equal(search_all(w, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NO_TABLES);
    assert_ok(nigh_tables_remove(w->context, w->path, &error), &error);
}

static void damaged_ones_are_made_anew(void **state) {
    struct with_sidecar *w = *state;
    nigh_segment_info segments[2];
    (void)with_sidecar_describe(w, segments);
    nigh_tables_options options = options_of((nigh_tables_form)segments[0].table_form);
    nigh_error error;
    struct bytes whole = file_read_all(w->first);
    whole.data[5000] ^= 1;
    file_write_all(w->first, whole.data, whole.length);
    options.keep = 1;
    assert_int_equal(build(w, &options).built, 0);
    assert_int_equal(check(w, &error), NIGH_ECORRUPT);
    options.keep = 0;
    assert_int_equal(build(w, &options).built, 1);
    assert_ok(check(w, &error), &error);
    file_write_all(w->first, whole.data, 100); /* or cannot be opened at all */
    assert_int_equal(with_sidecar_describe(w, NULL).damaged_tables, 1);
    options.keep = 1;
    assert_int_equal(build(w, &options).built, 1);
    assert_ok(check(w, &error), &error);
    free(whole.data);
}

/* The same bytes for any number of threads, and as many as are told. */
static void same_bytes_for_any_threads(void **state) {
    (void)state;
    static const uint32_t widths[] = {8, 64, 72, 32, 128};
    static const uint32_t counts[] = {1, 3, 63, 513, 1025, 110000}; /* the last is sorted by several threads */
    nigh_context *context = context_new();
    for (size_t i = 0; i < 2 * sizeof counts / sizeof counts[0]; i++) {
        const uint32_t count = counts[i / 2];
        const uint32_t width = count > 200 && widths[i % 5] == 8 ? 64 : widths[i % 5];
        const struct recipe recipe = {.width_bits = width, .seed = i, .distinct = count > 200 ? 0 : 200};
        nigh_tables_options options = options_of(i % 2 == 0 ? NIGH_TABLES_PERMUTED : NIGH_TABLES_SORTED);
        char *scratch = scratch_new();
        char *path = path_in(scratch, "c.nigh");
        char *file = path_in(path, FIRST_FILE);
        nigh_collection_info info = {.size = sizeof info};
        nigh_collection *collection;
        nigh_error error;
        struct bytes first = {NULL, 0};
        assert_ok(recipe_add(context, path, &recipe, 0, count, &error), &error);
        options.rebuild = 1;
        options.rotations = 1 + (uint32_t)i % 3;
        for (options.threads = 1; options.threads <= 3; options.threads++) {
            assert_ok(nigh_tables_build(context, path, &options, NULL, &error), &error);
            struct bytes now = file_read_all(file);
            if (first.data == NULL) {
                first = now;
                continue;
            }
            assert_int_equal(now.length, first.length);
            assert_memory_equal(now.data, first.data, first.length);
            free(now.data);
        }
        assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
        nigh_collection_describe(collection, &info);
        nigh_collection_close(collection);
        assert_int_equal(first.length, NIGH__SECTIONS_START + 64 + nigh_tables_bytes(info.signatures, width, &options) +
                                           sizeof(struct nigh__segment_footer));
        assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
        free(first.data);
        free(file);
        free(path);
        scratch_free(scratch);
    }
    assert_int_equal(nigh_tables_bytes(0, 64, NULL), 0);
    assert_int_equal(nigh_tables_bytes(UINT64_C(1) << 40, 64, NULL), 0);
    assert_int_equal(nigh_tables_bytes(1, 0, NULL), 0);
    assert_int_equal(nigh_tables_bytes(10000000, 64, NULL), UINT64_C(4) * 4 * (65536 + 16 + 20000000));
    nigh_context_free(context);
}

static void radii(void **state) {
    (void)state;
    assert_int_equal(nigh_tables_default_radius(64), 3);
    assert_int_equal(nigh_tables_default_radius(128), 6);
    assert_int_equal(nigh_tables_default_radius(8), 1);
    nigh_tables_options options = options_of(NIGH_TABLES_PERMUTED);
    options.radius = 3; /* four blocks of 8 bits would have crowds in their buckets: ten tables of 12 bits */
    assert_int_equal(nigh_tables_bytes(10000000, 32, &options), UINT64_C(10) * 4 * (4096 + 16 + 20000000));
}

static void expect_unmade(const struct with_sidecar *w, const nigh_tables_options *options, const char *why) {
    nigh_error error;
    char *before = tree_digest(w->path);
    assert_int_equal(nigh_tables_build(w->context, w->path, options, NULL, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, why));
    char *after = tree_digest(w->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void what_cannot_be_made(void **state) {
    struct with_sidecar *w = *state;
    nigh_tables_options options = options_of(NIGH_TABLES_PERMUTED);
    options.radius = 16;
    expect_unmade(w, &options, "find all within 15 bits at most, not 16");
    options.blocks = 5;
    options.leading = 2;
    options.radius = 4;
    expect_unmade(w, &options, "2 of 5 blocks find all within 3 bits, not 4");
    options.leading = 5;
    options.radius = (uint32_t)NIGH_DEFAULT;
    expect_unmade(w, &options, "make no tables");
    options.form = NIGH_TABLES_SORTED;
    options.rotations = 4;
    expect_unmade(w, &options, "do not make sorted tables");
    options.rotations = 1;
    options.recall = 1;
    expect_unmade(w, &options, "a recall of 1");
    options.form = (nigh_tables_form)7;
    expect_unmade(w, &options, "there is no form 7 of tables");
}

/* ---------------------------------------------------------------------------- lies -- */

/* The file with a word of 4 bytes changed, under right checksums. */
static void forge_word(const struct with_sidecar *w, const struct bytes *whole, uint64_t offset, uint32_t word) {
    const uint64_t checksum = with_sidecar_checksum(w);
    uint8_t *copy = malloc(whole->length);
    assert_non_null(copy);
    memcpy(copy, whole->data, whole->length);
    memcpy(copy + offset, &word, sizeof word);
    forge_sidecar(copy, whole->length, checksum);
    file_write_all(w->first, copy, whole->length);
    free(copy);
}

#define FACTS NIGH__SECTIONS_START
#define TABLES (NIGH__SECTIONS_START + 64)

/* Facts that cannot be are found at opening: the segment is as good as without. */
static void facts_that_cannot_be(void **state) {
    struct with_sidecar *w = *state;
    struct bytes whole = file_read_all(w->first);
    nigh_error error;
    for (uint32_t field = 0; field < 8; field++) {
        static const uint32_t lies[] = {0, 3, 7, 100, 5000, UINT32_MAX};
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            uint32_t right;
            memcpy(&right, whole.data + FACTS + (size_t)4 * field, sizeof right);
            const bool fits = lies[i] == right || (field == 6 && right != 0 && lies[i] != 0 && lies[i] <= 4096) ||
                              (field == 3 && right != 0 && lies[i] <= WIDTH);
            if (fits && lies[i] != right) continue; /* of sorted tables: another number of probes, another radius */
            forge_word(w, &whole, FACTS + 4 * field, lies[i]);
            assert_int_equal(with_sidecar_describe(w, NULL).damaged_tables, fits ? 0 : 1);
            const nigh_status expected = fits ? NIGH_OK : NIGH_ECORRUPT;
            assert_int_equal(check(w, &error), expected);
            assert_int_equal(search_all(w, &error), expected);
        }
    }
    free(whole.data);
}

/* A check makes the tables anew and finds each wrong word; a search finds a number that points outside, if it meets it.
 */
static void wrong_tables_under_right_checksums(void **state) {
    struct with_sidecar *w = *state;
    struct bytes whole = file_read_all(w->first);
    struct nigh__rng rng = {.state = 5};
    const uint64_t words = (whole.length - TABLES - sizeof(struct nigh__segment_footer)) / 4;
    nigh_error error;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 300; i++) {
        const uint64_t at = TABLES + 4 * (nigh__rng_next(&rng) % words);
        uint32_t word;
        memcpy(&word, whole.data + at, sizeof word);
        forge_word(w, &whole, at, i % 3 == 0 ? UINT32_MAX - i : i % 3 == 1 ? word ^ 1 : word + 4000);
        assert_int_equal(check(w, &error), NIGH_ECORRUPT);
        assert_string_equal(error.why, "a table does not match the signatures");
        assert_true(error.offset >= at && error.offset < at + 4);
        const nigh_status status = search_all(w, &error);
        assert_true(status == NIGH_OK || status == NIGH_ECORRUPT);
        refused += status == NIGH_ECORRUPT;
    }
    assert_true(refused > 20);
    file_write_all(w->first, whole.data, whole.length);
    assert_ok(check(w, &error), &error);
    assert_ok(search_all(w, &error), &error);
    free(whole.data);
}

/* The file of another segment, and any bit flipped or end cut off. */
static void damage_is_reported(void **state) {
    struct with_sidecar *w = *state;
    struct bytes whole = file_read_all(w->first);
    struct bytes other = file_read_all(w->second);
    struct nigh__rng rng = {.state = 77};
    nigh_error error;
    file_write_all(w->first, other.data, other.length);
    assert_int_equal(search_all(w, &error), NIGH_EMISMATCH);
    assert_int_equal(check(w, &error), NIGH_EMISMATCH);
    for (int i = 0; i < 200; i++) {
        const size_t at = (size_t)(nigh__rng_next(&rng) % (i % 2 == 0 ? whole.length : 300));
        const uint8_t flipped = (uint8_t)(1u << nigh__rng_next(&rng) % 8);
        if (i % 3 == 0) {
            file_write_all(w->first, whole.data, at);
        } else {
            whole.data[at] ^= flipped;
            file_write_all(w->first, whole.data, whole.length);
            whole.data[at] ^= flipped;
        }
        assert_int_not_equal(check(w, &error), NIGH_OK);
        assert_non_null(strstr(error.file, FIRST_FILE));
        (void)search_all(w, &error);
    }
    free(whole.data);
    free(other.data);
}

static nigh_status build_anew(nigh_context *context, const char *path, nigh_error *error) {
    nigh_tables_options options = options_of(NIGH_TABLES_PERMUTED);
    options.rebuild = 1;
    return nigh_tables_build(context, path, &options, NULL, error);
}

static uint64_t segments_with(const nigh_collection_info *info) { return info->table_segments; }

static uint64_t damaged(const nigh_collection_info *info) { return info->damaged_tables; }

static const struct sidecar_kind kind = {.file = FIRST_FILE,
                                         .build = build_anew,
                                         .remove = nigh_tables_remove,
                                         .search = search_with,
                                         .segments = segments_with,
                                         .damaged = damaged,
                                         .cut = 8192};

static void files_cut_short(void **state) { with_sidecar_cut_short(*state, &kind); }

/* ------------------------------------------------------------------------ failures -- */

static void memory_runs_out_while_searching(void **state) { with_sidecar_search_without_memory(*state, &kind); }

static void memory_runs_out_while_making(void **state) {
    struct with_sidecar *w = *state;
    for (uint64_t n = 0;; n++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const nigh_tables_options options = options_of(n % 2 == 0 ? NIGH_TABLES_PERMUTED : NIGH_TABLES_SORTED);
        nigh_error error;
        char *before = tree_digest(w->path);
        memory.fail_at = memory.calls + n / 2;
        const nigh_status status = nigh_tables_build(context, w->path, &options, NULL, &error);
        char *after = tree_digest(w->path);
        if (status != NIGH_OK) {
            assert_int_equal(status, NIGH_ENOMEM);
            assert_string_equal(before, after);
        }
        free(before);
        free(after);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status == NIGH_OK) {
            assert_true(n > 20);
            return;
        }
    }
}

static void changing_survives_every_fault(void **state) { with_sidecar_change_with_faults(*state, &kind); }

/* Adding documents leaves tables as they are, and the new segment is scanned: the answer is exact all the same. */
static void a_commit_leaves_tables_alone(void **state) {
    struct with_sidecar *w = *state;
    nigh_error error;
    nigh_collection *collection;
    nigh_results *results;
    nigh_results_info told = {.size = sizeof told};
    nigh_search_options options = by_tables(1);
    uint8_t query[WIDTH / 8];
    size_t count;
    assert_ok(recipe_add(w->context, w->path, &w->recipe, ROWS + IN_SECOND, 700, &error), &error);
    const nigh_collection_info info = with_sidecar_describe(w, NULL);
    assert_int_equal(info.segments, 3);
    assert_int_equal(info.table_segments, 2);
    assert_ok(check(w, &error), &error);
    recipe_signature(&w->recipe, ROWS + IN_SECOND + 5, query);
    query[2] ^= 5;
    options.method = NIGH_SEARCH_AUTO;
    assert_ok(nigh_collection_open(w->context, w->path, NULL, &collection, &error), &error);
    assert_ok(nigh_search(collection, query, 1, &options, &results, &error), &error);
    const nigh_match *matches = nigh_results_matches(results, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(matches[0].document, ROWS + IN_SECOND + 5);
    assert_int_equal(matches[0].distance, 2);
    nigh_results_describe(results, &told);
    assert_int_equal(told.exact, 1);
    assert_true(told.distances >= 700 && told.distances < 2210);
    nigh_results_free(results);
    nigh_collection_close(collection);
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    assert_true(done <= total);
    return 1;
}

static void cancelled(void **state) {
    struct with_sidecar *w = *state;
    const nigh_progress progress = {.report = stop_at_once};
    nigh_tables_options options = options_of(NIGH_TABLES_PERMUTED);
    nigh_error error;
    char *before = tree_digest(w->path);
    options.rebuild = 1;
    options.progress = &progress;
    assert_int_equal(nigh_tables_build(w->context, w->path, &options, NULL, &error), NIGH_ECANCELLED);
    options.form = NIGH_TABLES_SORTED;
    assert_int_equal(nigh_tables_build(w->context, w->path, &options, NULL, &error), NIGH_ECANCELLED);
    char *after = tree_digest(w->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* ------------------------------------------------------------------------- refused -- */

static void expect_invalid(const struct with_sidecar *w, const nigh_search_options *options, const char *why) {
    const uint8_t query[WIDTH / 8] = {0};
    nigh_collection *collection;
    nigh_results *results;
    nigh_error error;
    assert_ok(nigh_collection_open(w->context, w->path, NULL, &collection, &error), &error);
    assert_int_equal(nigh_search(collection, query, 1, options, &results, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, why));
    nigh_collection_close(collection);
}

static void refused_by_permuted(void **state) {
    struct with_sidecar *w = *state;
    nigh_search_options options = by_tables(1);
    const uint8_t mask[WIDTH / 8] = {1};
    options.radius = RADIUS + 1;
    expect_invalid(w, &options, "its tables find all within 3 bits, not 4");
    options.radius = NIGH_ALL;
    expect_invalid(w, &options, "give one");
    options.radius = RADIUS;
    options.masks = mask;
    expect_invalid(w, &options, "do not go with masks");
}

static void refused_by_sorted(void **state) {
    struct with_sidecar *w = *state;
    nigh_search_options options = by_tables(1);
    uint8_t weights[WIDTH] = {0};
    expect_invalid(w, &options, "for queries whose bits have weights");
    options.weights = weights;
    options.stop = NIGH_STOP_CERTAIN;
    expect_invalid(w, &options, "cannot give certain answers");
}

#define PERMUTED(test) cmocka_unit_test_setup_teardown(test, set_up_permuted, tear_down)
#define SORTED(test) cmocka_unit_test_setup_teardown(test, set_up_sorted, tear_down)
#define WITHOUT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITHOUT(made_kept_and_removed),
        PERMUTED(damaged_ones_are_made_anew),
        SORTED(damaged_ones_are_made_anew),
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(radii),
        WITHOUT(what_cannot_be_made),
        PERMUTED(facts_that_cannot_be),
        SORTED(facts_that_cannot_be),
        PERMUTED(wrong_tables_under_right_checksums),
        SORTED(wrong_tables_under_right_checksums),
        PERMUTED(damage_is_reported),
        SORTED(damage_is_reported),
        PERMUTED(files_cut_short),
        SORTED(files_cut_short),
        PERMUTED(memory_runs_out_while_searching),
        SORTED(memory_runs_out_while_searching),
        WITHOUT(memory_runs_out_while_making),
        PERMUTED(changing_survives_every_fault),
        PERMUTED(a_commit_leaves_tables_alone),
        PERMUTED(cancelled),
        PERMUTED(refused_by_permuted),
        SORTED(refused_by_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
