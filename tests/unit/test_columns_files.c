/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns as they lie in files, through the library's own calls: making, keeping and removing them, files that lie
 * under right checksums or are cut short while they are searched, memory and disks that fail.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
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
#include "columns/columns.h"
#include "support/forge.h"
#include "support/sidecar_support.h"

#define FIRST_FILE "columns-00000000000000000001"
#define ROWS 1500u /* of the first segment: two super-blocks */
#define IN_SECOND 10u
#define WIDTH 72u
#define QUERIES 140u /* more than a batch */

static nigh_columns_options options_of(uint32_t threads) {
    nigh_columns_options options;
    nigh_columns_options_init(&options);
    options.min_rows = 1;
    options.threads = threads;
    return options;
}

static nigh_columns_result build(const struct with_sidecar *w, const nigh_columns_options *options) {
    nigh_columns_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_columns_build(w->context, w->path, options, &result, &error), &error);
    return result;
}

static int set_up(void **state) {
    *state = with_sidecar_new("columns", ROWS);
    return 0;
}

static int set_up_built(void **state) {
    struct with_sidecar *w = with_sidecar_new("columns", ROWS);
    const nigh_columns_options options = options_of(1);
    (void)build(w, &options);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    with_sidecar_free(*state);
    return 0;
}

static nigh_status check(const struct with_sidecar *w, nigh_error *error) {
    return nigh_collection_check(w->context, w->path, NULL, NULL, error);
}

static void queries_make(const struct with_sidecar *w, uint8_t *queries) {
    for (uint32_t q = 0; q < QUERIES; q++) {
        recipe_signature(&w->recipe, (uint64_t)q * 9, queries + q * WIDTH / 8);
        queries[q * WIDTH / 8 + q % 9] ^= (uint8_t)(q % 3 == 0 ? 0 : 0x15);
    }
}

static nigh_search_options by_columns(uint32_t threads) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_COLUMNS;
    options.threads = threads;
    return options;
}

static nigh_status search_with(const nigh_collection *collection, const struct with_sidecar *w, uint32_t threads,
                               nigh_error *error) {
    uint8_t queries[QUERIES * WIDTH / 8];
    const nigh_search_options options = by_columns(threads);
    nigh_results *results = NULL;
    queries_make(w, queries);
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
    nigh_columns_options options = options_of(1);
    nigh_segment_info segments[2];
    nigh_error error;
    options.min_rows = 100;
    nigh_columns_result result = build(w, &options);
    assert_int_equal(result.built, 1);
    assert_int_equal(result.without, 1);
    nigh_collection_info info = with_sidecar_describe(w, segments);
    assert_int_equal(info.column_segments, 1);
    assert_int_equal(info.damaged_columns, 0);
    assert_int_equal(info.column_bytes, result.bytes);
    assert_int_equal(segments[0].column_bytes, file_length(w->first));
    assert_int_equal(segments[1].column_bytes, 0);
    assert_false(path_exists(w->second));

    options.min_rows = 1; /* the first is sound, and stays */
    result = build(w, &options);
    assert_int_equal(result.built, 1);
    assert_int_equal(result.kept, 1);
    assert_int_equal(result.bytes, file_length(w->first) + file_length(w->second));
    options.rebuild = 1;
    result = build(w, &options);
    assert_int_equal(result.built, 2);
    assert_int_equal(result.kept, 0);

    options.rebuild = 0;
    options.min_rows = 100; /* the second loses what it has, unless all shall stay */
    options.keep = 1;
    result = build(w, &options);
    assert_int_equal(result.kept, 2);
    options.keep = 0;
    result = build(w, &options);
    assert_int_equal(result.without, 1);
    assert_false(path_exists(w->second));
    assert_ok(check(w, &error), &error);

    assert_ok(nigh_columns_remove(w->context, w->path, &error), &error);
    assert_false(path_exists(w->first));
    assert_int_equal(search_all(w, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NO_COLUMNS);
    assert_ok(nigh_columns_remove(w->context, w->path, &error), &error);
}

/* What is damaged is made anew; `keep` does not look. */
static void damaged_ones_are_made_anew(void **state) {
    struct with_sidecar *w = *state;
    nigh_columns_options options = options_of(1);
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
    assert_int_equal(with_sidecar_describe(w, NULL).damaged_columns, 1);
    options.keep = 1;
    assert_int_equal(build(w, &options).built, 1);
    assert_ok(check(w, &error), &error);
    free(whole.data);
}

static void same_bytes_for_any_threads(void **state) {
    (void)state;
    static const uint32_t widths[] = {8, 64, 72, 200, 1024};
    static const uint32_t counts[] = {1, 63, 512, 513, 1024, 1025, 20000}; /* the last is more than a window */
    nigh_context *context = context_new();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t width = counts[i] > 256 && i % 5 == 0 ? 1024 : widths[i % 5];
        const struct recipe recipe = {.width_bits = width, .seed = i};
        char *scratch = scratch_new();
        char *path = path_in(scratch, "c.nigh");
        char *file = path_in(path, FIRST_FILE);
        nigh_error error;
        struct bytes first = {NULL, 0};
        assert_ok(recipe_add(context, path, &recipe, 0, counts[i], &error), &error);
        for (uint32_t threads = 1; threads <= 3; threads++) {
            nigh_columns_options options = options_of(threads);
            options.rebuild = 1;
            assert_ok(nigh_columns_build(context, path, &options, NULL, &error), &error);
            struct bytes now = file_read_all(file);
            if (first.data == NULL) {
                first = now;
                continue;
            }
            assert_int_equal(now.length, first.length);
            assert_memory_equal(now.data, first.data, first.length);
            free(now.data);
        }
        assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
        free(first.data);
        free(file);
        free(path);
        scratch_free(scratch);
    }
    nigh_context_free(context);
}

/* The file is as large as nigh_columns_bytes() says, beside what every file beside a segment has. */
static void bytes_are_told(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 1024, 1025, 3000};
    nigh_context *context = context_new();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const struct recipe recipe = {.width_bits = 64 + 8 * (uint32_t)i, .seed = 3};
        const nigh_columns_options options = options_of(1);
        char *scratch = scratch_new();
        char *path = path_in(scratch, "c.nigh");
        char *file = path_in(path, FIRST_FILE);
        nigh_error error;
        assert_ok(recipe_add(context, path, &recipe, 0, counts[i], &error), &error);
        assert_ok(nigh_columns_build(context, path, &options, NULL, &error), &error);
        assert_int_equal(file_length(file), NIGH__SECTIONS_START + nigh_columns_bytes(counts[i], recipe.width_bits) +
                                                sizeof(struct nigh__segment_footer));
        free(file);
        free(path);
        scratch_free(scratch);
    }
    assert_int_equal(nigh_columns_bytes(0, 64), 0);
    assert_int_equal(nigh_columns_bytes(1, 1024), 1026 * 128);
    assert_int_equal(nigh_columns_bytes(UINT64_C(1) << 40, 64), 0);
    assert_int_equal(nigh_columns_bytes(1, 0), 0);
    assert_int_equal(nigh_columns_bytes(1, NIGH_MAX_WIDTH_BITS + 8), 0);
    assert_int_equal(nigh_columns_bytes(UINT64_C(4000000000), 1024), UINT64_C(3906250) * 1026 * 128);
    nigh_context_free(context);
}

/* A collection without documents has nothing to turn. */
static void of_nothing(void **state) {
    (void)state;
    const struct recipe recipe = {.width_bits = 64};
    const nigh_columns_options options = options_of(1);
    const nigh_search_options search = by_columns(1);
    nigh_columns_result result = {.size = sizeof result};
    nigh_context *context = context_new();
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    const uint8_t query[8] = {0};
    nigh_collection *collection;
    nigh_results *results;
    nigh_error error;
    size_t count = 1;
    assert_ok(recipe_add(context, path, &recipe, 0, 0, &error), &error);
    assert_ok(nigh_columns_build(context, path, &options, &result, &error), &error);
    assert_int_equal(result.built, 0);
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    assert_ok(nigh_search(collection, query, 1, &search, &results, &error), &error);
    (void)nigh_results_matches(results, 0, &count);
    assert_int_equal(count, 0);
    nigh_results_free(results);
    nigh_collection_close(collection);
    nigh_context_free(context);
    free(path);
    scratch_free(scratch);
}

/* ---------------------------------------------------------------------------- lies -- */

/* The file with one byte changed, under right checksums. */
static void forge_byte(const struct with_sidecar *w, const struct bytes *whole, uint64_t offset, uint8_t change) {
    const uint64_t checksum = with_sidecar_checksum(w);
    uint8_t *copy = malloc(whole->length);
    assert_non_null(copy);
    memcpy(copy, whole->data, whole->length);
    copy[offset] ^= change;
    forge_sidecar(copy, whole->length, checksum);
    file_write_all(w->first, copy, whole->length);
    free(copy);
}

/* A check makes the columns anew and finds each wrong bit; a search finds them where they are in an answer. */
static void wrong_columns_under_right_checksums(void **state) {
    struct with_sidecar *w = *state;
    struct bytes whole = file_read_all(w->first);
    nigh_error error;
    const uint64_t super = nigh__columns_layout_of(ROWS, WIDTH).super_bytes;
    const struct {
        uint64_t offset; /* in the section */
        bool searched;   /* every query that counts the row gets a wrong distance */
    } lies[] = {
        {0, false},
        {nigh__column_offset(WIDTH - 1) + 64, false}, /* the last column of a block */
        {super + nigh__column_offset(3), false},      /* the second super-block */
        {super + 64, false},                          /* rows past the last: 1,536 to 1,543 */
        {nigh__column_offset(WIDTH), true},           /* padding: added wherever a group is not full */
        {nigh__column_offset(WIDTH + 1) + 127, false},
        {2 * super - 1, false},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        forge_byte(w, &whole, NIGH__SECTIONS_START + lies[i].offset, 0xff);
        assert_int_equal(check(w, &error), NIGH_ECORRUPT);
        assert_string_equal(error.why, "a column does not match the signatures");
        assert_int_equal(error.offset, NIGH__SECTIONS_START + lies[i].offset);
        assert_non_null(strstr(error.file, FIRST_FILE));
        const nigh_status status = search_all(w, &error);
        assert_true(status == NIGH_OK || status == NIGH_ECORRUPT);
        if (lies[i].searched) assert_int_equal(status, NIGH_ECORRUPT);
    }
    file_write_all(w->first, whole.data, whole.length);
    assert_ok(check(w, &error), &error);
    assert_ok(search_all(w, &error), &error);
    free(whole.data);
}

static void expect_refused(const struct with_sidecar *w, nigh_status expected) {
    nigh_error error;
    nigh_collection *collection;
    nigh_search_options options;
    nigh_results *results;
    uint8_t query[WIDTH / 8];
    nigh_search_options_init(&options);
    recipe_signature(&w->recipe, 3, query);
    options.masks = query;
    assert_int_equal(search_all(w, &error), expected);
    assert_non_null(strstr(error.file, FIRST_FILE));
    assert_int_equal(check(w, &error), expected);
    assert_ok(nigh_collection_open(w->context, w->path, NULL, &collection, &error), &error); /* who leaves the choice */
    assert_ok(nigh_search(collection, query, 1, &options, &results, &error), &error);        /* gets the scan */
    nigh_results_free(results);
    nigh_collection_close(collection);
}

/* Super-blocks of other rows, of a later version say; another count of them; and the file of another segment. */
static void of_another_kind(void **state) {
    struct with_sidecar *w = *state;
    struct bytes whole = file_read_all(w->first);
    struct bytes other = file_read_all(w->second);
    forge_byte(w, &whole, offsetof(struct nigh__sidecar_header, parameter) + 1, 4 ^ 8); /* 2,048 */
    expect_refused(w, NIGH_ECORRUPT);
    assert_int_equal(with_sidecar_describe(w, NULL).damaged_columns, 1);
    forge_byte(w, &whole, 64, 1 ^ 2); /* a section of another type */
    expect_refused(w, NIGH_ECORRUPT);
    forge_byte(w, &whole, 64 + offsetof(struct nigh__section_entry, count), 3); /* one super-block is missing */
    expect_refused(w, NIGH_ECORRUPT);
    forge_byte(w, &whole, offsetof(struct nigh__sidecar_header, kind), 3 ^ 1); /* slice lists */
    expect_refused(w, NIGH_ECORRUPT);
    file_write_all(w->first, other.data, other.length);
    expect_refused(w, NIGH_EMISMATCH);
    free(whole.data);
    free(other.data);
}

/* Any bit flipped and any end cut off is found, and whatever a search says of it is not wrong. */
static void damage_is_reported(void **state) {
    struct with_sidecar *w = *state;
    struct bytes whole = file_read_all(w->first);
    struct nigh__rng rng = {.state = 77};
    nigh_error error;
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
}

/* ----------------------------------------------------------------------- cut short -- */

static nigh_status build_anew(nigh_context *context, const char *path, nigh_error *error) {
    nigh_columns_options options = options_of(1);
    options.rebuild = 1;
    return nigh_columns_build(context, path, &options, NULL, error);
}

static uint64_t segments_with(const nigh_collection_info *info) { return info->column_segments; }

static uint64_t damaged(const nigh_collection_info *info) { return info->damaged_columns; }

static const struct sidecar_kind kind = {.file = FIRST_FILE,
                                         .build = build_anew,
                                         .remove = nigh_columns_remove,
                                         .search = search_with,
                                         .segments = segments_with,
                                         .damaged = damaged,
                                         .cut = 4096};

static void files_cut_short(void **state) { with_sidecar_cut_short(*state, &kind); }

/* ------------------------------------------------------------------------ failures -- */

static void memory_runs_out_while_searching(void **state) { with_sidecar_search_without_memory(*state, &kind); }

static void memory_runs_out_while_making(void **state) {
    struct with_sidecar *w = *state;
    const nigh_columns_options options = options_of(1);
    for (uint64_t n = 0;; n++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_error error;
        char *before = tree_digest(w->path);
        memory.fail_at = memory.calls + n;
        const nigh_status status = nigh_columns_build(context, w->path, &options, NULL, &error);
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
            assert_true(n > 10);
            return;
        }
    }
}

static void changing_survives_every_fault(void **state) { with_sidecar_change_with_faults(*state, &kind); }

/* What cannot be read is no failure of opening, and a check tells. */
static void opening_survives_every_fault(void **state) {
    struct with_sidecar *w = *state;
    uint64_t without = 0;
    for (uint64_t n = 0;; n++) {
        struct faulty_files files;
        nigh_error error;
        nigh_collection *collection;
        faulty_files_init(&files);
        files.fail_at = n;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        if (nigh_collection_open(context, w->path, NULL, &collection, &error) == NIGH_OK) {
            nigh_collection_info info = {.size = sizeof info};
            nigh_collection_describe(collection, &info);
            nigh_collection_close(collection);
            assert_int_equal(info.damaged_columns, files.failed_kind != 0);
            without += info.damaged_columns;
        }
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        assert_int_equal(files.live_maps, 0);
        if (files.failed_kind == 0) break;
    }
    assert_true(without >= 10); /* open, length, two or three reads and the map, of two files */
}

/* Adding documents leaves columns as they are, and the new segment is scanned. */
static void a_commit_leaves_columns_alone(void **state) {
    struct with_sidecar *w = *state;
    nigh_error error;
    assert_ok(recipe_add(w->context, w->path, &w->recipe, ROWS + IN_SECOND, 700, &error), &error);
    const nigh_collection_info info = with_sidecar_describe(w, NULL);
    assert_int_equal(info.segments, 3);
    assert_int_equal(info.column_segments, 2);
    assert_ok(check(w, &error), &error);
    assert_ok(search_all(w, &error), &error);
}

struct patience {
    uint32_t left;
    bool past_the_end;
};

static int stop_in_time(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct patience *patience = user;
    (void)stage;
    if (done > total) patience->past_the_end = true; /* told later: a test cannot leave the library from here */
    return patience->left-- == 0;
}

static int look(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct patience *patience = user;
    (void)stage;
    patience->left++;
    if (done > total) patience->past_the_end = true;
    return 0;
}

/* Also in a super-block that is not full, which is all there is. */
static void progress_stays_within_its_total(void **state) {
    struct with_sidecar *w = *state;
    const struct recipe few = {.width_bits = WIDTH, .seed = 3};
    const nigh_columns_options columns = options_of(1);
    nigh_error error;
    nigh_collection *collection;
    nigh_results *results;
    uint8_t queries[QUERIES * WIDTH / 8];
    queries_make(w, queries);
    remove_tree(w->path);
    assert_ok(recipe_add(w->context, w->path, &few, 0, 100, &error), &error);
    assert_ok(nigh_columns_build(w->context, w->path, &columns, NULL, &error), &error);
    assert_ok(nigh_collection_open(w->context, w->path, NULL, &collection, &error), &error);
    for (int slack = -1; slack <= 1; slack += 2) {
        struct patience patience = {.left = 0};
        const nigh_progress progress = {.report = look, .user = &patience};
        nigh_search_options options = by_columns(1);
        options.progress = &progress;
        options.slack = slack;
        assert_ok(nigh_search(collection, queries, QUERIES, &options, &results, &error), &error);
        nigh_results_free(results);
        assert_true(patience.left > 0);
        assert_false(patience.past_the_end);
    }
    nigh_collection_close(collection);
}

static void cancelled(void **state) {
    struct with_sidecar *w = *state;
    nigh_error error;
    nigh_collection *collection;
    uint8_t queries[QUERIES * WIDTH / 8];
    queries_make(w, queries);
    assert_ok(nigh_collection_open(w->context, w->path, NULL, &collection, &error), &error);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (int slack = -1; slack <= 1; slack += 2) {
            struct patience patience = {.left = 0};
            const nigh_progress progress = {.report = stop_in_time, .user = &patience};
            nigh_search_options options = by_columns(threads);
            nigh_results *results;
            options.progress = &progress;
            options.slack = slack;
            assert_int_equal(nigh_search(collection, queries, QUERIES, &options, &results, &error), NIGH_ECANCELLED);
            assert_null(results);
            assert_false(patience.past_the_end);
        }
    }
    nigh_collection_close(collection);
    char *before = tree_digest(w->path);
    struct patience patience = {.left = 0};
    const nigh_progress progress = {.report = stop_in_time, .user = &patience};
    nigh_columns_options options = options_of(1);
    options.rebuild = 1;
    options.progress = &progress;
    assert_int_equal(nigh_columns_build(w->context, w->path, &options, NULL, &error), NIGH_ECANCELLED);
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

static void slack_is_refused(void **state) {
    struct with_sidecar *w = *state;
    nigh_search_options options = by_columns(1);
    options.slack = 1;
    options.k = NIGH_ALL;
    expect_invalid(w, &options, "with slack nothing is certain");
    options.k = 10;
    options.stop = NIGH_STOP_CERTAIN;
    expect_invalid(w, &options, "with slack nothing is certain");
    options.stop = NIGH_STOP_BREADTH;
    static const double others[] = {INFINITY, NAN, -2, -.5};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        options.slack = others[i];
        expect_invalid(w, &options, "slack must be");
    }
}

#define WITH_COLUMNS(test) cmocka_unit_test_setup_teardown(test, set_up_built, tear_down)
#define WITHOUT_COLUMNS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITHOUT_COLUMNS(made_kept_and_removed),
        WITH_COLUMNS(damaged_ones_are_made_anew),
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(bytes_are_told),
        cmocka_unit_test(of_nothing),
        WITH_COLUMNS(wrong_columns_under_right_checksums),
        WITH_COLUMNS(of_another_kind),
        WITH_COLUMNS(damage_is_reported),
        WITH_COLUMNS(files_cut_short),
        WITH_COLUMNS(memory_runs_out_while_searching),
        WITHOUT_COLUMNS(memory_runs_out_while_making),
        WITH_COLUMNS(changing_survives_every_fault),
        WITH_COLUMNS(opening_survives_every_fault),
        WITH_COLUMNS(a_commit_leaves_columns_alone),
        WITH_COLUMNS(progress_stays_within_its_total),
        WITH_COLUMNS(cancelled),
        WITH_COLUMNS(slack_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
