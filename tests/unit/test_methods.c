/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods: whose each option is, who is asked for by what, and which of them takes a segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scan/cost_model.h"
#include "search/methods.h"
#include "search/search_options.h"
#include "support/support.h"

#define WIDTH 128u
#define DOCUMENTS 5000u
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What every method goes by, or none; `method` is what chooses one. */
static const struct nigh__search_option common[] = {
    NIGH__SEARCH_OPTION(size),
    NIGH__SEARCH_OPTION(k),
    NIGH__SEARCH_OPTION(radius),
    NIGH__SEARCH_OPTION(threads),
    {"progress", offsetof(nigh_search_options, progress), sizeof(void *)},
    NIGH__SEARCH_OPTION(masks),
    NIGH__SEARCH_OPTION(method),
    NIGH__SEARCH_OPTION(weights),
};

#define END(field) (offsetof(nigh_search_options, field) + sizeof(((nigh_search_options *)NULL)->field))

/* What lies between fields. */
static const struct {
    size_t first, end;
} padding[] = {{END(threads), offsetof(nigh_search_options, progress)},
               {END(probe), offsetof(nigh_search_options, probes)},
               {END(patience), sizeof(nigh_search_options)}};

/* As a search has them once it has taken them from the caller. */
static nigh_search_options default_options(void) {
    nigh_search_options options;
    nigh__options_defaults(&nigh__search_options_shape, &options);
    return options;
}

static void mark(const struct nigh__search_option *options, size_t count, uint8_t mark, uint8_t *bytes) {
    for (size_t i = 0; i < count; i++) memset(bytes + options[i].offset, mark, options[i].size);
}

/* A field that is added to the options must be taken by somebody, or nobody would see that it was said. */
static void test_every_option_is_taken(void **state) {
    nigh_search_options numbers; /* every one NIGH_DEFAULT, all bits set */
    nigh_search_options_init(&numbers);
    uint8_t bytes[sizeof(nigh_search_options)] = {0};
    size_t count;
    const struct nigh__search_method *const *methods = nigh__search_methods(&count);
    (void)state;
    for (size_t m = 0; m < count; m++) mark(methods[m]->options, methods[m]->option_count, 1, bytes);
    for (size_t i = 0; i < COUNT(common); i++) assert_int_equal(bytes[common[i].offset], 0);
    mark(common, COUNT(common), 2, bytes);
    for (size_t at = 0; at < sizeof bytes; at++) assert_true(bytes[at] != 0 || ((const uint8_t *)&numbers)[at] == 0);
    for (size_t i = 0; i < COUNT(padding); i++) memset(bytes + padding[i].first, 3, padding[i].end - padding[i].first);
    for (size_t at = 0; at < sizeof bytes; at++) assert_int_not_equal(bytes[at], 0);
}

static void test_names_and_numbers(void **state) {
    size_t count;
    const struct nigh__search_method *const *methods = nigh__search_methods(&count);
    uint32_t asked = 1u << NIGH_SEARCH_AUTO;
    (void)state;
    assert_ptr_equal(methods[0], &nigh__scan_method);
    for (size_t m = 0; m < count; m++) {
        for (size_t n = 0; n < m; n++) assert_string_not_equal(methods[m]->name, methods[n]->name);
        assert_int_equal(asked & methods[m]->asked_by, 0);
        assert_int_not_equal(methods[m]->asked_by, 0);
        assert_true(methods[m]->estimate != NULL && methods[m]->run != NULL);
        assert_true(methods[m]->batch_queries >= 1 && (m == 0 || methods[m]->prepare != NULL));
        asked |= methods[m]->asked_by;
    }
    assert_int_equal(asked, (2u << NIGH_SEARCH_COLUMNS) - 1);
}

/* Any byte of an option that is not as by default says how; what every method goes by does not. */
static void test_said(void **state) {
    const nigh_search_options defaults = default_options();
    size_t count;
    const struct nigh__search_method *const *methods = nigh__search_methods(&count);
    (void)state;
    assert_false(nigh__search_said(&defaults));
    for (size_t m = 0; m < count; m++) {
        for (uint32_t i = 0; i < methods[m]->option_count; i++) {
            nigh_search_options options = defaults;
            ((uint8_t *)&options)[methods[m]->options[i].offset + methods[m]->options[i].size - 1] ^= 1;
            assert_true(nigh__search_said(&options));
        }
    }
    nigh_search_options options = defaults;
    options.k = 3;
    options.radius = 4;
    options.threads = 2;
    options.weights = (const uint8_t *)"";
    assert_false(nigh__search_said(&options));
    options.method = NIGH_SEARCH_SCAN;
    assert_true(nigh__search_said(&options));
}

/* ------------------------------------------------------------------- the choice */

struct place {
    nigh_context *context;
    char *folder, *path;
    nigh_collection *collection;
};

/* A segment with lists and a graph. */
static void place_init(struct place *place, nigh_context *context) {
    const struct recipe recipe = {.width_bits = WIDTH, .documents = DOCUMENTS, .seed = 5};
    nigh_lists_options lists;
    nigh_graph_options graph;
    nigh_lists_options_init(&lists);
    nigh_graph_options_init(&graph);
    nigh_error error;
    *place = (struct place){.context = context, .folder = scratch_new()};
    place->path = path_in(place->folder, "c.nigh");
    lists.min_rows = graph.min_rows = 1;
    assert_ok(recipe_add(context, place->path, &recipe, 0, DOCUMENTS, &error), &error);
    assert_ok(nigh_lists_build(context, place->path, &lists, NULL, &error), &error);
    assert_ok(nigh_graph_build(context, place->path, &graph, NULL, &error), &error);
    assert_ok(nigh_collection_open(context, place->path, NULL, &place->collection, &error), &error);
}

static void place_release(struct place *place) {
    nigh_collection_close(place->collection);
    scratch_free(place->folder);
    free(place->path);
}

/* The name of the method that takes the segment. */
static const char *chosen(const struct place *place, const nigh_search_options *options) {
    struct nigh__way way;
    nigh_error error;
    assert_ok(nigh__search_check(place->collection, options, &error), &error);
    assert_ok(nigh__way_choose(&way, place->collection, place->collection->segments[0], NULL, options, &error), &error);
    const char *name = way.method == NULL ? "scan" : way.method->name;
    assert_int_equal(way.method == NULL, way.prepared == NULL);
    assert_int_equal(way.batch_queries, (way.method == NULL ? &nigh__scan_method : way.method)->batch_queries);
    nigh__way_release(&way);
    return name;
}

static void test_asked_for_is_taken(void **state) {
    static const struct {
        nigh_search_method method;
        const char *name;
    } cases[] = {{NIGH_SEARCH_SCAN, "scan"},
                 {NIGH_SEARCH_SLICES_PLAIN, "slices"},
                 {NIGH_SEARCH_SKETCH, "sketch"},
                 {NIGH_SEARCH_GRAPH, "graph"}};
    struct place place;
    place_init(&place, *state);
    for (size_t i = 0; i < COUNT(cases); i++) {
        nigh_search_options options = default_options();
        options.method = cases[i].method;
        assert_string_equal(chosen(&place, &options), cases[i].name);
    }
    nigh_search_options options = default_options();
    nigh_error error;
    options.method = (nigh_search_method)(NIGH_SEARCH_COLUMNS + 1);
    assert_int_equal(nigh__search_check(place.collection, &options, &error), NIGH_EINVAL);
    options.method = (nigh_search_method)32;
    assert_int_equal(nigh__search_check(place.collection, &options, &error), NIGH_EINVAL);
    place_release(&place);
}

/* One step of a graph costs less than this scan, two cost more; some lists and one candidate cost less. */
static void test_what_pays_is_taken(void **state) {
    struct place place;
    place_init(&place, *state);
    const double scan_cost = nigh__scan_cost(WIDTH / 64, DOCUMENTS);
    assert_true(scan_cost > NIGH__COST_GRAPH_STEP && scan_cost < 2 * NIGH__COST_GRAPH_STEP);
    nigh_search_options options = default_options();
    options.k = 1;
    assert_string_equal(chosen(&place, &options), "scan");
    options.effort = 2;
    assert_string_equal(chosen(&place, &options), "scan");
    options.effort = 1;
    assert_string_equal(chosen(&place, &options), "graph");
    options.sketch_bits = 64; /* sketches are only for those who ask for them */
    assert_string_equal(chosen(&place, &options), "graph");
    options.candidates = 1; /* who says this has lists in mind */
    assert_string_equal(chosen(&place, &options), "slices");
    options.method = NIGH_SEARCH_GRAPH;
    assert_string_equal(chosen(&place, &options), "graph");
    place_release(&place);
}

/* Options that a graph, or lists too, cannot go by. */
static void test_what_cannot_is_passed_over(void **state) {
    uint8_t mask[WIDTH / 8] = {255};
    struct place place;
    place_init(&place, *state);
    nigh_search_options options = default_options();
    options.k = options.effort = 1;
    options.masks = mask;
    assert_string_equal(chosen(&place, &options), "scan");
    options.masks = NULL;
    options.k = NIGH_ALL;
    options.radius = 1;
    assert_string_not_equal(chosen(&place, &options), "graph");
    place_release(&place);
}

/* Those of a finder are the same constants, in seconds. */
static void test_costs(void **state) {
    nigh_costs costs = {.size = sizeof costs};
    (void)state;
    nigh_costs_default(&costs);
    assert_true(costs.compare == 0.12e-9 && costs.scan_byte == 0.026e-9 && costs.whole == 1.35e-9);
    assert_true(costs.hit == 300e-9 && costs.read_bytes == 500e6);
    assert_true(nigh__scan_cost(16, 1000000) == 0.08 * 16 * 1000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_is_taken),
        cmocka_unit_test(test_names_and_numbers),
        cmocka_unit_test(test_said),
        cmocka_unit_test(test_asked_for_is_taken),
        cmocka_unit_test(test_what_pays_is_taken),
        cmocka_unit_test(test_what_cannot_is_passed_over),
        cmocka_unit_test(test_costs),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
