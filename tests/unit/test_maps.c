/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A newer state takes over what the one before it has in common with it: it goes with the last of the two, whichever
 * that is, and opening costs what is new.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/collection.h"
#include "collection/selection.h"
#include "collection/sidecar.h"
#include "finder/lookup.h"
#include "graph/graph.h"
#include "nigh.h"
#include "sketch/sketches.h"
#include "support/support.h"

#define ROWS 400u

static void add(const struct collection_place *place, uint64_t first) {
    nigh_writer_options options;
    nigh_tables_options tables;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.merge = 0;
    assert_ok(nigh_writer_open(place->context, place->path, &options, &writer, &error), &error);
    for (uint64_t i = first; i < first + ROWS; i++) {
        const uint64_t row = nigh__mix(i);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&row};
        assert_ok(nigh_writer_add(writer, &document, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    nigh_tables_options_init(&tables);
    tables.min_rows = 1;
    tables.keep = 1;
    assert_ok(nigh_tables_build(place->context, place->path, &tables, NULL, &error), &error);
}

static nigh_collection *open_after(const struct collection_place *place, const nigh_collection *before, int load) {
    nigh_open_options options;
    nigh_collection *collection = NULL;
    nigh_error error;
    nigh_open_options_init(&options);
    options.load = load;
    options.before = before;
    assert_ok(nigh_collection_open(place->context, place->path, &options, &collection, &error), &error);
    return collection;
}

static void delete_first(const struct collection_place *place) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.merge = 0;
    assert_ok(nigh_writer_open(place->context, place->path, &options, &writer, &error), &error);
    assert_ok(nigh_writer_delete(writer, "0", 1, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

/* All documents are read, and found by tables. */
static void expect_whole(const nigh_collection *collection, uint64_t documents) {
    nigh_search_options options;
    nigh_error error;
    nigh_search_options_init(&options);
    options.k = 1;
    options.radius = 0;
    options.method = NIGH_SEARCH_TABLES;
    for (uint64_t i = 0; i < documents; i++) {
        const uint64_t wanted = nigh__mix(i);
        uint64_t row;
        size_t count;
        nigh_results *results = NULL;
        assert_ok(nigh_collection_signature(collection, i, (uint8_t *)&row, &error), &error);
        assert_int_equal(row, wanted);
        assert_ok(nigh_search(collection, (const uint8_t *)&wanted, 1, &options, &results, &error), &error);
        const nigh_match *matches = nigh_results_matches(results, 0, &count);
        assert_int_equal(count, 1);
        assert_int_equal(matches[0].document, i);
        nigh_results_free(results);
    }
}

static const struct nigh__sidecar *tables_of(const nigh_collection *collection, uint32_t segment) {
    return collection->segments[segment]->sidecars[NIGH__SIDECAR_TABLES];
}

static void the_last_one_keeps_them(void **state) {
    struct collection_place *place = *state;
    add(place, 0);
    nigh_collection *before = open_after(place, NULL, 0);
    add(place, ROWS);
    for (int first = 0; first < 2; first++) {
        nigh_collection *newer = open_after(place, before, 0);
        assert_ptr_equal(newer->segments[0]->map, before->segments[0]->map);
        assert_ptr_equal(tables_of(newer, 0)->map, tables_of(before, 0)->map);
        assert_true(newer->segments[0]->known && !newer->segments[1]->known);
        expect_whole(newer, 2 * (uint64_t)ROWS);
        nigh_collection_close(first == 0 ? newer : before);
        expect_whole(first == 0 ? before : newer, first == 0 ? ROWS : 2 * (uint64_t)ROWS);
        if (first == 1) nigh_collection_close(newer);
    }
}

/* Memory of one's own is not shared, nor is anything between collections. */
static void others_are_left(void **state) {
    struct collection_place *place = *state;
    add(place, 0);
    nigh_collection *mapped = open_after(place, NULL, 0);
    nigh_collection *loaded = open_after(place, mapped, 1);
    const uint8_t *const map = mapped->segments[0]->map;
    assert_true(loaded->segments[0]->loaded && loaded->segments[0]->map != map);
    nigh_collection *after_loaded = open_after(place, loaded, 0);
    assert_true(!after_loaded->segments[0]->known && after_loaded->segments[0]->map != loaded->segments[0]->map);
    nigh_collection_close(after_loaded);
    mapped->segments[0]->header.checksum++; /* as if it were another file */
    nigh_collection *newer = open_after(place, mapped, 0);
    assert_true(newer->segments[0]->map != map);
    expect_whole(newer, ROWS);
    nigh_collection_close(newer);
    nigh_collection_close(loaded);
    nigh_collection_close(mapped);
}

static void another_context_is_refused(void **state) {
    struct collection_place *place = *state;
    nigh_context *other = context_new();
    nigh_open_options options;
    nigh_collection *collection = NULL;
    nigh_error error;
    add(place, 0);
    nigh_collection *before = open_after(place, NULL, 0);
    nigh_open_options_init(&options);
    options.before = before;
    assert_int_equal(nigh_collection_open(other, place->path, &options, &collection, &error), NIGH_EINVAL);
    assert_null(collection);
    nigh_collection_close(before);
    nigh_context_free(other);
}

/* Files beside a segment may be made anew while it stays. */
static void new_tables_are_seen(void **state) {
    struct collection_place *place = *state;
    nigh_tables_options tables;
    nigh_error error;
    add(place, 0);
    nigh_collection *before = open_after(place, NULL, 0);
    nigh_tables_options_init(&tables);
    tables.min_rows = 1;
    tables.radius = 1; /* another than the default */
    assert_ok(nigh_tables_build(place->context, place->path, &tables, NULL, &error), &error);
    nigh_collection *newer = open_after(place, before, 0);
    assert_ptr_equal(newer->segments[0]->map, before->segments[0]->map);
    assert_true(tables_of(newer, 0)->map != tables_of(before, 0)->map);
    assert_false(tables_of(newer, 0)->known);
    expect_whole(newer, ROWS);
    nigh_collection_close(before);
    expect_whole(newer, ROWS);
    nigh_collection_close(newer);
}

/* What is deleted is read where it is new; the first of each is the same object. */
static void deletions_are_shared(void **state) {
    struct collection_place *place = *state;
    add(place, 0);
    add(place, ROWS);
    nigh_collection *whole = open_after(place, NULL, 0);
    delete_first(place);
    nigh_collection *fewer = open_after(place, whole, 0);
    assert_null(whole->segments[0]->living);
    assert_non_null(fewer->segments[0]->living);
    assert_ptr_equal(fewer->segments[0]->map, whole->segments[0]->map);
    assert_int_equal(fewer->deleted, 1);
    add(place, 2 * (uint64_t)ROWS);
    nigh_collection *newer = open_after(place, fewer, 0);
    assert_ptr_equal(newer->segments[0]->living, fewer->segments[0]->living);
    nigh_collection_close(fewer);
    nigh_collection_close(whole);
    assert_int_equal(newer->deleted, 1);
    assert_int_equal(newer->segments[0]->living->document_count, ROWS - 1);
    nigh_collection_close(newer);
}

static const uint64_t *sketches_of(const nigh_collection *collection, uint32_t segment) {
    const uint64_t *words = NULL;
    nigh_error error;
    assert_ok(
        nigh__sketches_get(nigh__sketches_of(collection), collection->segments[segment], segment, 1, &words, &error),
        &error);
    return words;
}

static void memory_of_searches_goes_on(void **state) {
    struct collection_place *place = *state;
    add(place, 0);
    nigh_collection *before = open_after(place, NULL, 0);
    const uint64_t *const words = sketches_of(before, 0);
    struct nigh__object_pool *const pool = nigh__graph_pool(before);
    add(place, ROWS);
    nigh_collection *newer = open_after(place, before, 0);
    assert_ptr_equal(nigh__graph_pool(newer), pool);
    nigh_collection_close(before);
    assert_ptr_equal(sketches_of(newer, 0), words);
    assert_int_equal(words[ROWS - 1], nigh__mix(ROWS - 1));
    assert_int_equal(sketches_of(newer, 1)[0], nigh__mix(ROWS));
    nigh_collection_close(newer);
}

/* ------------------------------------------------------------------- costs -- */

#define SEGMENTS 12u

/* Calls of the kinds that opening makes. */
static uint64_t calls_of(const struct collection_place *place, struct faulty_files *files, unsigned kinds,
                         const nigh_collection *before) {
    files->kinds = kinds;
    files->calls = 0;
    nigh_collection *collection = open_after(place, before, 0);
    const uint64_t calls = files->calls;
    nigh_collection_close(collection);
    return calls;
}

static void it_costs_what_is_new(void **state) {
    struct collection_place *place = *state;
    struct faulty_files files;
    for (uint64_t i = 0; i < SEGMENTS; i++) add(place, i * ROWS);
    faulty_files_init(&files);
    nigh_context *context = context_with(&files.table, NULL, NULL);
    const struct collection_place counted = {.context = context, .path = place->path};
    nigh_collection *before = open_after(&counted, NULL, 0);
    assert_int_equal(before->segment_count, SEGMENTS);
    assert_int_equal(files.live_maps, 2 * SEGMENTS); /* a segment, and its tables */
    const uint64_t opens = calls_of(&counted, &files, FAULT_OPEN, NULL);
    const uint64_t reads = calls_of(&counted, &files, FAULT_READ, NULL);
    assert_int_equal(calls_of(&counted, &files, FAULT_MAP, before), 0);
    assert_int_equal(calls_of(&counted, &files, FAULT_OPEN, before), opens - SEGMENTS);
    assert_true(calls_of(&counted, &files, FAULT_READ, before) < reads / 3);
    add(place, SEGMENTS * (uint64_t)ROWS);
    assert_int_equal(calls_of(&counted, &files, FAULT_MAP, before), 2);
    nigh_collection *newer = open_after(&counted, before, 0);
    assert_int_equal(files.live_maps, 2 * (SEGMENTS + 1));
    nigh_collection_close(before);
    assert_int_equal(files.live_maps, 2 * (SEGMENTS + 1));
    expect_whole(newer, (SEGMENTS + 1) * (uint64_t)ROWS);
    nigh_collection_close(newer);
    assert_int_equal(files.live_maps, 0);
    nigh_context_free(context);
}

/* Whichever allocation fails: the state before is whole, and nothing stays of the newer one. */
static void no_memory_leaves_nothing(void **state) {
    struct collection_place *place = *state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_open_options options;
    nigh_error error;
    for (uint64_t i = 0; i < 3; i++) add(place, i * ROWS);
    delete_first(place);
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const struct collection_place counted = {.context = context, .path = place->path};
    nigh_collection *before = open_after(&counted, NULL, 0);
    (void)sketches_of(before, 0);
    const int64_t live = memory.live;
    nigh_open_options_init(&options);
    options.before = before;
    bool failed = true;
    for (uint64_t number = 0; failed; number++) {
        const uint64_t fail_at = memory.calls + number;
        nigh_collection *newer = NULL;
        memory.fail_at = fail_at;
        const nigh_status status = nigh_collection_open(context, place->path, &options, &newer, &error);
        memory.fail_at = UINT64_MAX;
        failed = memory.calls > fail_at;
        assert_true(status == NIGH_OK || (failed && status == NIGH_ENOMEM)); /* it may do without what it knew */
        nigh_collection_close(newer);
        assert_int_equal(memory.live, live);
    }
    assert_int_equal(sketches_of(before, 0)[0], nigh__mix(0));
    nigh_collection_close(before);
    nigh_context_free(context);
}

/* ----------------------------------------------------------------- threads -- */

#define STATES 8u

static void *search_and_close(void *argument) {
    nigh_collection *collection = argument;
    expect_whole(collection, ROWS);
    (void)sketches_of(collection, 0);
    nigh_collection_close(collection);
    return NULL;
}

/* Each state is searched and closed by a thread while the next is opened from it, and one more beside. */
static void states_are_used_meanwhile(void **state) {
    struct collection_place *place = *state;
    pthread_t threads[STATES];
    add(place, 0);
    nigh_collection *before = open_after(place, NULL, 0);
    for (unsigned i = 0; i < STATES; i++) {
        add(place, (i + 1) * (uint64_t)ROWS);
        nigh_collection *newer = open_after(place, before, 0);
        assert_int_equal(pthread_create(&threads[i], NULL, search_and_close, newer), 0);
        newer = open_after(place, before, 0); /* nobody else has this one */
        nigh_collection_close(before);
        before = newer;
    }
    for (unsigned i = 0; i < STATES; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    expect_whole(before, (STATES + 1) * (uint64_t)ROWS);
    nigh_collection_close(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_one_keeps_them, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(others_are_left, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(another_context_is_refused, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(new_tables_are_seen, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(deletions_are_shared, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(memory_of_searches_goes_on, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(it_costs_what_is_new, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(no_memory_leaves_nothing, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(states_are_used_meanwhile, collection_place_setup, collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
