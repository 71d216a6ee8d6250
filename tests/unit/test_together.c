/* SPDX-License-Identifier: Apache-2.0 */
/* Several collections open as one answer as one collection that has all their documents, made by adopting them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define PARTS 3u
#define DOCUMENTS 600u
#define QUERIES 40u

/* Few signatures, so that there are ties within a collection and between them. */
static const struct recipe recipe = {
    .width_bits = 64, .ids = true, .metadata = true, .distinct = 90, .vocabulary = "words", .apart = true};
static const uint64_t ends[PARTS + 1] = {0, 70, 400, DOCUMENTS};

struct place {
    nigh_context *context;
    char *scratch, *whole;
    char *parts[PARTS];
};

static void delete_some(const struct place *place, const char *path, uint64_t first, uint64_t end) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.merge = 0;
    assert_ok(nigh_writer_open(place->context, path, &options, &writer, &error), &error);
    for (uint64_t d = first; d < end; d += 5) {
        char id[RECIPE_MAX_TEXT];
        const size_t length = recipe_id(&recipe, d, id);
        assert_ok(nigh_writer_delete(writer, id, length, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

static int set_up(void **state) {
    static const char *const names[PARTS] = {"a.nigh", "b.nigh", "c.nigh"};
    struct place *place = malloc(sizeof *place);
    nigh_error error;
    place->context = context_new();
    place->scratch = scratch_new();
    place->whole = path_in(place->scratch, "whole.nigh");
    for (uint32_t p = 0; p < PARTS; p++) {
        const uint64_t middle = (ends[p] + ends[p + 1]) / 2;
        place->parts[p] = path_in(place->scratch, names[p]);
        assert_ok(recipe_add(place->context, place->parts[p], &recipe, ends[p], middle - ends[p], &error), &error);
        assert_ok(recipe_add(place->context, place->parts[p], &recipe, middle, ends[p + 1] - middle, &error), &error);
    }
    delete_some(place, place->parts[1], ends[1], ends[2]);
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    struct place *place = *state;
    nigh_context_free(place->context);
    for (uint32_t p = 0; p < PARTS; p++) free(place->parts[p]);
    free(place->whole);
    scratch_free(place->scratch);
    free(place);
    return 0;
}

static nigh_status open_together(nigh_context *context, const struct place *place, nigh_collection **out,
                                 nigh_error *error) {
    return nigh_collection_open_together(context, (const char *const *)place->parts, PARTS, NULL, out, error);
}

static void expect_same_answers(const nigh_results *a, const nigh_results *b) {
    for (size_t q = 0; q < QUERIES; q++) {
        size_t count_a, count_b;
        nigh_proof proof_a = {.size = sizeof proof_a};
        nigh_proof proof_b = {.size = sizeof proof_b};
        const nigh_match *matches_a = nigh_results_matches(a, q, &count_a);
        const nigh_match *matches_b = nigh_results_matches(b, q, &count_b);
        assert_int_equal(count_a, count_b);
        assert_memory_equal(matches_a, matches_b, count_a * sizeof *matches_a);
        assert_ok(nigh_results_proof(a, q, &proof_a, NULL), NULL);
        assert_ok(nigh_results_proof(b, q, &proof_b, NULL), NULL);
        assert_memory_equal(&proof_a, &proof_b, sizeof proof_a);
    }
}

static void expect_same_search(const nigh_collection *a, const nigh_collection *b, const nigh_search_options *options) {
    uint8_t queries[QUERIES * 8];
    nigh_results *results_a, *results_b;
    nigh_error error;
    for (size_t q = 0; q < QUERIES; q++) {
        recipe_signature(&recipe, 31 * q, queries + 8 * q);
        queries[8 * q + q % 8] ^= (uint8_t)(q % 4);
    }
    assert_ok(nigh_search(a, queries, QUERIES, options, &results_a, &error), &error);
    assert_ok(nigh_search(b, queries, QUERIES, options, &results_b, &error), &error);
    expect_same_answers(results_a, results_b);
    nigh_results_free(results_a);
    nigh_results_free(results_b);
}

static void they_answer_as_one(void **state) {
    struct place *place = *state;
    nigh_collection *together, *whole;
    nigh_search_options options;
    nigh_error error;
    assert_ok(nigh_adopt(place->context, place->whole, (const char *const *)place->parts, PARTS, NULL, NULL, &error),
              &error);
    assert_ok(nigh_collection_open(place->context, place->whole, NULL, &whole, &error), &error);
    assert_ok(open_together(place->context, place, &together, &error), &error);
    nigh_search_options_init(&options);
    for (uint32_t k = 1; k <= 64; k *= 4) {
        options.k = k;
        expect_same_search(together, whole, &options);
    }
    options.k = NIGH_ALL;
    options.radius = 3;
    expect_same_search(together, whole, &options);
    nigh_collection_close(together);
    nigh_collection_close(whole);
}

static void documents_have_their_places(void **state) {
    struct place *place = *state;
    nigh_collection *together;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(open_together(place->context, place, &together, &error), &error);
    nigh_collection_describe(together, &info);
    assert_int_equal(info.documents, DOCUMENTS);
    assert_int_equal(info.deleted, (ends[2] - ends[1]) / 5);
    for (uint64_t d = 0; d < DOCUMENTS; d++) {
        nigh_member member = {.size = sizeof member};
        const uint32_t expected = d < ends[1] ? 0 : d < ends[2] ? 1 : 2;
        assert_ok(nigh_collection_member(together, d, &member, &error), &error);
        assert_int_equal(member.number, expected);
        assert_string_equal(member.path, place->parts[expected]);
        assert_int_equal(member.first_document, ends[expected]);
        assert_int_equal(member.documents, ends[expected + 1] - ends[expected]);
    }
    nigh_member none = {.size = sizeof none};
    assert_int_equal(nigh_collection_member(together, DOCUMENTS, &none, &error), NIGH_EINVAL);
    nigh_collection_close(together);
}

static void one_is_itself(void **state) {
    struct place *place = *state;
    nigh_collection *alone;
    nigh_member member = {.size = sizeof member};
    nigh_error error;
    assert_ok(
        nigh_collection_open_together(place->context, (const char *const *)&place->parts[2], 1, NULL, &alone, &error),
        &error);
    assert_ok(nigh_collection_member(alone, 7, &member, &error), &error);
    assert_int_equal(member.number, 0);
    assert_int_equal(member.documents, DOCUMENTS - ends[2]);
    assert_string_equal(member.path, place->parts[2]);
    nigh_collection_close(alone);
}

static void strangers_are_refused(void **state) {
    struct place *place = *state;
    struct recipe other = recipe;
    const char *paths[] = {place->parts[0], place->parts[1], place->parts[0]};
    nigh_collection *collection;
    nigh_error error;
    assert_int_equal(nigh_collection_open_together(place->context, paths, 0, NULL, &collection, &error), NIGH_EINVAL);
    assert_int_equal(nigh_collection_open_together(place->context, paths, 3, NULL, &collection, &error), NIGH_EEXISTS);
    assert_null(collection);
    other.vocabulary = "other words";
    assert_ok(recipe_add(place->context, place->whole, &other, 900, 10, &error), &error);
    paths[2] = place->whole;
    assert_int_equal(nigh_collection_open_together(place->context, paths, 3, NULL, &collection, &error),
                     NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "another vocabulary"));
    paths[2] = "nowhere.nigh";
    assert_int_equal(nigh_collection_open_together(place->context, paths, 3, NULL, &collection, &error),
                     NIGH_ENOTFOUND);
}

static void no_memory_leaves_nothing(void **state) {
    struct place *place = *state;
    for (uint64_t at = 0;; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        nigh_collection *collection;
        nigh_error error;
        memory.fail_at = memory.calls + at;
        const nigh_status status = open_together(context, place, &collection, &error);
        nigh_collection_close(collection);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status == NIGH_OK) break;
        assert_int_equal(status, NIGH_ENOMEM);
        assert_null(collection);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_answer_as_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(documents_have_their_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_is_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strangers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
