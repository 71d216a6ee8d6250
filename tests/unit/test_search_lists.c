/* SPDX-License-Identifier: Apache-2.0 */
/* nigh_search() with slice lists where something is wrong: options, lists, files, memory, or nobody waits any more. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define WIDTH 128u
#define DOCUMENTS 600u

static const struct recipe recipe = {.width_bits = WIDTH, .documents = DOCUMENTS, .seed = 3, .distinct = 400};

struct place {
    nigh_context *context;
    char *folder, *path;
    nigh_collection *collection;
    uint8_t query[2 * WIDTH / 8];
};

static void place_open(struct place *place) {
    nigh_error error;
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &place->collection, &error), &error);
}

/* Two segments; with lists of 8-bit slices where a width is given. */
static void place_init(struct place *place, nigh_context *context, uint32_t slice_width) {
    *place = (struct place){.context = context};
    place->folder = scratch_new();
    place->path = path_in(place->folder, "c.nigh");
    nigh_error error;
    assert_ok(recipe_add(context, place->path, &recipe, 0, 400, &error), &error);
    assert_ok(recipe_add(context, place->path, &recipe, 400, 200, &error), &error);
    if (slice_width != 0) {
        nigh_lists_options options;
        nigh_lists_options_init(&options);
        options.slice_width = slice_width;
        options.min_rows = 1;
        nigh_lists_result result = {.size = sizeof result};
        assert_ok(nigh_lists_build(context, place->path, &options, &result, &error), &error);
        assert_int_equal(result.built, 2);
    }
    recipe_signature(&recipe, 5, place->query);
    recipe_signature(&recipe, 450, place->query + WIDTH / 8);
    place_open(place);
}

static void place_release(struct place *place) {
    nigh_collection_close(place->collection);
    scratch_free(place->folder);
    free(place->path);
}

static nigh_search_options by_lists(void) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SLICES;
    options.postings = NIGH_ALL_64;
    options.threads = 1;
    return options;
}

static void expect(const struct place *place, const nigh_search_options *options, nigh_status status, const char *why) {
    nigh_results *results;
    nigh_error error = {.status = NIGH_OK};
    assert_int_equal(nigh_search(place->collection, place->query, 2, options, &results, &error), status);
    assert_null(results);
    assert_int_equal(error.status, status);
    char text[400];
    error.file[0] = '\0';
    (void)nigh_error_format(&error, text, sizeof text);
    assert_string_equal(text, why);
}

static void test_options_that_make_no_sense(void **state) {
    struct place place;
    place_init(&place, *state, 8);
    const nigh_search_options good = by_lists();
    nigh_search_options bad = good;
    bad.method = (nigh_search_method)8;
    expect(&place, &bad, NIGH_EINVAL, "there is no search method 8");
    bad = good;
    bad.stop = (nigh_search_stop)3;
    expect(&place, &bad, NIGH_EINVAL, "there is no rule 3 to end a search");
    bad.stop = NIGH_STOP_SEEN;
    expect(&place, &bad, NIGH_EINVAL,
           "only a plain search of slice lists can end when its answers are seen everywhere");
    bad = good;
    bad.breadth = 9;
    expect(&place, &bad, NIGH_EINVAL, "a breadth of 9 is more than the 8 bits of a slice");
    bad.method = NIGH_SEARCH_AUTO;
    bad.breadth = 29;
    expect(&place, &bad, NIGH_EINVAL, "a breadth of 29 is more than the 28 bits a slice may have");
    bad = good;
    bad.breadth = 2;
    bad.admit = 3;
    expect(&place, &bad, NIGH_EINVAL, "signatures admitted up to 3 bits, beyond the breadth of 2");
    bad = good;
    bad.candidates = 9;
    expect(&place, &bad, NIGH_EINVAL, "9 candidates cannot give 10 documents");
    bad.candidates = 0;
    bad.k = NIGH_ALL;
    expect(&place, &bad, NIGH_EINVAL, "candidates must be at least 1");
    bad = good;
    bad.slices = 0;
    expect(&place, &bad, NIGH_EINVAL, "slices must be at least 1");
    bad.slices = 17;
    expect(&place, &bad, NIGH_EINVAL, "17 slices asked for, and signatures are cut into 16");
    bad = good;
    bad.masks = place.query;
    expect(&place, &bad, NIGH_EINVAL, "slice lists cannot be searched in some of the bits only, nor by weights");
    place_release(&place);
}

static void test_masks_are_scanned(void **state) {
    struct place place;
    place_init(&place, *state, 8);
    uint8_t masks[2 * WIDTH / 8];
    memset(masks, 0x0f, sizeof masks);
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.masks = masks;
    nigh_results *results;
    nigh_error error;
    nigh_results_info info = {.size = sizeof info};
    assert_ok(nigh_search(place.collection, place.query, 2, &options, &results, &error), &error);
    nigh_results_describe(results, &info);
    assert_int_equal(info.exact, 1);
    assert_int_equal(info.lists, 0);
    assert_int_equal(info.scanned, 2);
    nigh_results_free(results);
    place_release(&place);
}

static void test_a_collection_without_lists(void **state) {
    static const char why[] = "has no slice lists; nigh_lists_build() adds them";
    struct place place;
    place_init(&place, *state, 0);
    nigh_search_options options = by_lists();
    expect(&place, &options, NIGH_ENOTFOUND, why);
    options.method = NIGH_SEARCH_SLICES_PLAIN;
    expect(&place, &options, NIGH_ENOTFOUND, why);
    options.method = NIGH_SEARCH_AUTO;
    nigh_results *results;
    nigh_error error;
    nigh_results_info info = {.size = sizeof info};
    nigh_proof proof = {.size = sizeof proof};
    assert_ok(nigh_search(place.collection, place.query, 2, &options, &results, &error), &error);
    nigh_results_describe(results, &info);
    assert_int_equal(info.exact_queries, 2);
    assert_int_equal(info.scanned, 0);
    assert_ok(nigh_results_proof(results, 1, &proof, &error), &error);
    assert_true(proof.exact && proof.below == NIGH_ALL && proof.breadth == NIGH_ALL);
    assert_int_equal(nigh_results_proof(results, 2, &proof, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "there is no answer to query 2");
    nigh_results_free(results);
    place_release(&place);
}

/* A file of the first segment, by what its name begins with. */
static char *first_named(const struct place *place, const char *prefix) {
    for (unsigned number = 0; number < 4; number++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s-%020u", prefix, number);
        char *path = path_in(place->path, name);
        if (path_exists(path)) return path;
        free(path);
    }
    fail_msg("there is no file %s-...", prefix);
    return NULL;
}

/* Lists that cannot be opened are an error to who demands them, and nothing to who does not. */
static void test_damaged_lists(void **state) {
    struct place place;
    place_init(&place, *state, 8);
    char *lists = first_named(&place, "slices");
    struct bytes bytes = file_read_all(lists);
    nigh_collection_close(place.collection);
    bytes.data[41] ^= 1;
    file_write_all(lists, bytes.data, bytes.length);
    place_open(&place);
    nigh_search_options options = by_lists();
    nigh_results *results;
    nigh_error error;
    const nigh_status status = nigh_search(place.collection, place.query, 2, &options, &results, &error);
    assert_int_equal(status, NIGH_ECORRUPT);
    assert_null(results);
    assert_non_null(strstr(error.file, "slices-"));
    options.method = NIGH_SEARCH_AUTO;
    assert_ok(nigh_search(place.collection, place.query, 2, &options, &results, &error), &error);
    nigh_results_free(results);
    free(bytes.data);
    free(lists);
    place_release(&place);
}

/* A lie that only shows when it is read: every row number beyond the rows. */
static void test_lists_that_lie(void **state) {
    struct place place;
    place_init(&place, *state, 8);
    char *lists = first_named(&place, "slices");
    struct bytes bytes = file_read_all(lists);
    memset(bytes.data + 4096 + (size_t)4 * 257, 0xff, (size_t)4 * 100); /* ids of slice 0 */
    file_write_all(lists, bytes.data, bytes.length);
    nigh_collection_close(place.collection);
    place_open(&place);
    nigh_search_options options = by_lists();
    options.breadth = 8;
    nigh_results *results;
    nigh_error error;
    for (int method = NIGH_SEARCH_SLICES; method <= NIGH_SEARCH_SLICES_PLAIN; method++) {
        options.method = (nigh_search_method)method;
        for (options.threads = 1; options.threads <= 2; options.threads++) {
            assert_int_equal(nigh_search(place.collection, place.query, 2, &options, &results, &error), NIGH_ECORRUPT);
            assert_null(results);
            assert_non_null(strstr(error.file, "slices-"));
        }
    }
    free(bytes.data);
    free(lists);
    place_release(&place);
}

/* Remembers the largest piece that was asked for. */
static size_t largest;

static void *allocate_and_note(void *user, size_t size, size_t alignment) {
    (void)user;
    if (size > largest) largest = size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release_noted(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

static size_t largest_piece(const struct place *place, nigh_search_method method) {
    nigh_search_options options = by_lists();
    nigh_results *results;
    nigh_error error;
    options.method = method;
    options.breadth = 8;
    largest = 0;
    assert_ok(nigh_search(place->collection, place->query, 1, &options, &results, &error), &error);
    nigh_results_free(results);
    return largest;
}

/* Lists that name one signature over and over make no score, and nothing that is counted by it, larger than it can be.
 */
static void test_lists_that_repeat(void **state) {
    (void)state;
    const nigh_allocator allocator = {.allocate = allocate_and_note, .release = release_noted};
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct place place;
    place_init(&place, context, 8);
    const size_t fast = largest_piece(&place, NIGH_SEARCH_SLICES);
    const size_t plain = largest_piece(&place, NIGH_SEARCH_SLICES_PLAIN);
    char *lists = first_named(&place, "slices");
    struct bytes bytes = file_read_all(lists);
    const size_t slice = (bytes.length - 4096 - 64) / 16 / 4 * 4;
    for (size_t i = 0; i < 16; i++) memset(bytes.data + 4096 + i * slice + (size_t)4 * 257, 0, slice - (size_t)4 * 257);
    nigh_collection_close(place.collection);
    file_write_all(lists, bytes.data, bytes.length);
    place_open(&place);
    assert_int_equal(largest_piece(&place, NIGH_SEARCH_SLICES), fast);
    assert_int_equal(largest_piece(&place, NIGH_SEARCH_SLICES_PLAIN), plain);
    free(bytes.data);
    free(lists);
    place_release(&place);
    nigh_context_free(context);
}

/* One that searches, by a collection that others share or by one it opens each time. */
struct searcher {
    const struct place *place;
    const nigh_results *expected;
    bool opens;
    uint32_t wrong;
    pthread_t thread;
};

static bool same_answer(const nigh_results *a, const nigh_results *b) {
    for (size_t q = 0; q < 2; q++) {
        size_t count = 0;
        size_t other_count = 0;
        const nigh_match *matches = nigh_results_matches(a, q, &count);
        const nigh_match *others = nigh_results_matches(b, q, &other_count);
        if (count != other_count || memcmp(matches, others, count * sizeof *matches) != 0) return false;
    }
    return true;
}

static void *search_on(void *user) {
    struct searcher *searcher = user;
    const struct place *place = searcher->place;
    nigh_search_options options = by_lists();
    options.stop = NIGH_STOP_CERTAIN;
    for (int i = 0; i < 60; i++) {
        nigh_collection *own = NULL;
        nigh_results *results = NULL;
        options.threads = 1 + (uint32_t)i % 2;
        nigh_status status = NIGH_OK;
        if (searcher->opens) status = nigh_collection_open(place->context, place->path, NULL, &own, NULL);
        if (status == NIGH_OK)
            status = nigh_search(searcher->opens ? own : place->collection, place->query, 2, &options, &results, NULL);
        const bool none = own != NULL && status == NIGH_ENOTFOUND; /* they have just been removed */
        searcher->wrong += !none && (status != NIGH_OK || !same_answer(results, searcher->expected));
        nigh_results_free(results);
        nigh_collection_close(own);
    }
    return NULL;
}

/* Lists are made anew, in one width after the other, and removed, while others search. */
static void test_searched_while_lists_change(void **state) {
    struct place place;
    place_init(&place, *state, 8);
    nigh_search_options scan;
    nigh_search_options_init(&scan);
    nigh_results *expected;
    nigh_error error;
    scan.method = NIGH_SEARCH_SCAN;
    assert_ok(nigh_search(place.collection, place.query, 2, &scan, &expected, &error), &error);
    struct searcher searchers[3];
    for (size_t i = 0; i < 3; i++) {
        searchers[i] = (struct searcher){.place = &place, .expected = expected, .opens = i == 0};
        assert_int_equal(pthread_create(&searchers[i].thread, NULL, search_on, &searchers[i]), 0);
    }
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < 40; i++) {
        nigh_lists_options options;
        nigh_lists_options_init(&options);
        options.min_rows = 1;
        options.slice_width = 4 + i % 9;
        status = i % 5 == 4 ? nigh_lists_remove(place.context, place.path, &error)
                            : nigh_lists_build(place.context, place.path, &options, NULL, &error);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(searchers[i].thread, NULL), 0);
        assert_int_equal(searchers[i].wrong, 0);
    }
    assert_ok(status, &error);
    nigh_results_free(expected);
    place_release(&place);
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    assert_true(done <= total);
    return 1;
}

static void test_cancelling(void **state) {
    struct place place;
    place_init(&place, *state, 8);
    const nigh_progress progress = {.report = stop};
    nigh_search_options options = by_lists();
    options.progress = &progress;
    nigh_results *results;
    nigh_error error;
    assert_int_equal(nigh_search(place.collection, place.query, 2, &options, &results, &error), NIGH_ECANCELLED);
    assert_null(results);
    place_release(&place);
}

static void test_running_out_of_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct place place;
    place_init(&place, context, 8);
    nigh_collection_close(place.collection); /* opened again for each, for a search leaves tables to the next */
    const int64_t live = memory.live;
    for (int method = NIGH_SEARCH_SLICES; method <= NIGH_SEARCH_SLICES_PLAIN; method++) {
        nigh_search_options options = by_lists();
        options.method = (nigh_search_method)method;
        options.stop = NIGH_STOP_CERTAIN;
        options.k = 300;
        uint64_t refused = 0;
        for (uint64_t n = 0; n < 120; n++) {
            nigh_results *results;
            nigh_error error;
            assert_ok(nigh_collection_open(context, place.path, NULL, &place.collection, &error), &error);
            memory.fail_at = memory.calls + n;
            const nigh_status status = nigh_search(place.collection, place.query, 2, &options, &results, &error);
            memory.fail_at = UINT64_MAX;
            assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
            refused += status == NIGH_ENOMEM;
            nigh_results_free(results);
            nigh_collection_close(place.collection);
            place.collection = NULL;
            assert_int_equal(memory.live, live);
        }
        assert_true(refused > 15 && refused < 120);
    }
    place_release(&place);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_that_make_no_sense),
        cmocka_unit_test(test_masks_are_scanned),
        cmocka_unit_test(test_a_collection_without_lists),
        cmocka_unit_test(test_damaged_lists),
        cmocka_unit_test(test_lists_that_lie),
        cmocka_unit_test(test_lists_that_repeat),
        cmocka_unit_test(test_searched_while_lists_change),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
