/* SPDX-License-Identifier: Apache-2.0 */
/* A newer state looks at the mappings of the one before it: these go with the last of the two, whichever that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/maps.h"
#include "collection/sidecar.h"
#include "finder/lookup.h"
#include "nigh.h"
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

static nigh_collection *open_state(const struct collection_place *place, int load) {
    nigh_open_options options;
    nigh_collection *collection = NULL;
    nigh_error error;
    nigh_open_options_init(&options);
    options.load = load;
    assert_ok(nigh_collection_open(place->context, place->path, &options, &collection, &error), &error);
    return collection;
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
    nigh_collection *before = open_state(place, 0);
    add(place, ROWS);
    for (int first = 0; first < 2; first++) {
        nigh_collection *newer = open_state(place, 0);
        nigh__maps_share(newer, before);
        nigh__maps_touch(newer);
        assert_ptr_equal(newer->segments[0]->map, before->segments[0]->map);
        assert_ptr_equal(tables_of(newer, 0)->map, tables_of(before, 0)->map);
        assert_null(newer->segments[1]->users);
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
    nigh_collection *mapped = open_state(place, 0);
    nigh_collection *loaded = open_state(place, 1);
    const uint8_t *const map = mapped->segments[0]->map;
    nigh__maps_share(mapped, loaded);
    assert_ptr_equal(mapped->segments[0]->map, map);
    nigh__maps_share(loaded, mapped);
    assert_true(loaded->segments[0]->map != map);
    mapped->segments[0]->header.checksum++; /* as if it were another file */
    nigh_collection *newer = open_state(place, 0);
    nigh__maps_share(newer, mapped);
    assert_true(newer->segments[0]->map != map);
    expect_whole(newer, ROWS);
    nigh_collection_close(newer);
    nigh_collection_close(loaded);
    nigh_collection_close(mapped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_one_keeps_them, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(others_are_left, collection_place_setup, collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
