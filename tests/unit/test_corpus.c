/* SPDX-License-Identifier: Apache-2.0 */
/* Documents in, answers out: what the short path does must equal what its pieces do by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

static const char documents[] = "{\"id\": \"flood\", \"text\": \"A flood in the valley took three bridges\"}\n"
                                "{\"id\": \"again\", \"text\": \"A flood in the valley took three bridges\"}\n"
                                "{\"id\": \"cat\", \"text\": \"The cat slept on the warm mat all day\"}\n"
                                "{\"id\": \"flood\", \"text\": \"another text under an id that is there\"}\n"
                                "{\"id\": \"rain\", \"text\": \"Rain fell on the hills and the valley for a week\"}\n";

struct place {
    nigh_context *context;
    char *folder, *input, *path;
};

static int place_setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    place->context = context_new();
    place->folder = scratch_new();
    place->input = path_in(place->folder, "news.jsonl");
    place->path = path_in(place->folder, "news.nigh");
    file_write_all(place->input, documents, sizeof documents - 1);
    *state = place;
    return 0;
}

static int place_teardown(void **state) {
    struct place *place = *state;
    nigh_context_free(place->context);
    scratch_free(place->folder);
    free(place->input);
    free(place->path);
    free(place);
    return 0;
}

static nigh_status add(struct place *place, const nigh_index_options *options, nigh_index_result *result,
                       nigh_error *error) {
    const char *const inputs[] = {place->input};
    return nigh_index_documents(place->context, place->path, inputs, 1, NULL, options, result, error);
}

static nigh_collection *open_collection(const struct place *place) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &error), &error);
    return collection;
}

/* ----------------------------------------------------------------- adding */

static void count_repeat(void *user, const nigh_signed *document) {
    assert_memory_equal(document->document->id, "flood", document->document->id_length);
    ++*(uint32_t *)user;
}

static void test_what_is_added_is_told(void **state) {
    struct place *place = *state;
    nigh_index_options options;
    nigh_index_result result = {.size = sizeof result};
    nigh_error error;
    uint32_t repeats = 0;
    nigh_index_options_init(&options);
    options.repeated = count_repeat;
    options.user = &repeats;
    assert_ok(add(place, &options, &result, &error), &error);
    assert_int_equal(repeats, 1);
    assert_int_equal(result.repeated, 1);
    assert_int_equal(result.commit.added, 4);
    assert_int_equal(result.commit.distinct, 3);
    assert_int_equal(result.commit.first_document, 0);
    assert_int_equal(result.commit.documents, 4);
    assert_int_equal(result.commit.sequence, 1);
    assert_int_equal(result.commit.width_bits, 1024);
    assert_int_equal(result.width_bits, 1024);
    assert_int_equal(result.signing.reader.documents, 5);
    nigh_collection *collection = open_collection(place);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, result.commit.documents);
    assert_int_equal(info.bytes, result.commit.bytes);
    assert_int_equal(info.sequence, result.commit.sequence);
    nigh_collection_close(collection);
    /* The second time all are there: nothing is added, and the state is the old one. */
    assert_ok(add(place, NULL, &result, &error), &error);
    assert_int_equal(result.commit.added, 0);
    assert_int_equal(result.repeated, 5);
    assert_int_equal(result.commit.sequence, 1);
    assert_int_equal(result.commit.documents, 4);
    assert_int_equal(result.commit.bytes, info.bytes);
}

static void test_a_collection_says_how(void **state) {
    struct place *place = *state;
    nigh_index_options options;
    nigh_index_result result = {.size = sizeof result};
    nigh_signer_options signer;
    nigh_error error;
    nigh_index_options_init(&options);
    nigh_signer_options_init(&signer);
    signer.scheme = NIGH_SCHEME_SIMHASH;
    options.signer = &signer;
    assert_ok(add(place, &options, &result, &error), &error);
    assert_int_equal(result.commit.width_bits, 64);
    file_write_all(place->input, "{\"id\": \"new\", \"text\": \"something new\"}\n", 39);
    assert_ok(add(place, NULL, &result, &error), &error);
    assert_int_equal(result.commit.added, 1);
    assert_int_equal(result.commit.first_document, 4);
    signer.seed = 9;
    char *before = tree_digest(place->path);
    assert_int_equal(add(place, &options, &result, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "its signatures have"));
    char *after = tree_digest(place->path);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static int refuse(void *user, const nigh_index_result *so_far) {
    (void)user;
    assert_int_equal(so_far->commit.added, 4);
    return 1;
}

static void test_all_or_nothing(void **state) {
    struct place *place = *state;
    nigh_index_options options;
    nigh_error error;
    nigh_index_options_init(&options);
    options.strict = 1;
    assert_int_equal(add(place, &options, NULL, &error), NIGH_EEXISTS);
    assert_false(path_exists(place->path));
    nigh_index_options_init(&options);
    options.before_commit = refuse;
    assert_int_equal(add(place, &options, NULL, &error), NIGH_ECANCELLED);
    assert_false(path_exists(place->path));
    file_write_all(place->input, "", 0);
    assert_int_equal(add(place, NULL, NULL, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NO_DOCUMENT);
    assert_false(path_exists(place->path));
    remove_tree(place->input);
    assert_int_equal(add(place, NULL, NULL, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NONE);
    const char *const pipes[] = {"-"};
    const nigh_stream stream = {0};
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.stream = &stream;
    assert_int_equal(nigh_index_documents(place->context, place->path, pipes, 1, &reading, NULL, NULL, &error),
                     NIGH_EINVAL);
    assert_int_equal(error.reason, NIGH_REASON_ONE_PASS);
}

/* The documents above as a source of the caller's. */
struct lines {
    size_t next;
};

static nigh_status next_line(void *user, nigh_text *out, nigh_error *error) {
    static const char *const ids[] = {"flood", "again", "cat", "flood", "rain"};
    static const char *const texts[] = {
        "A flood in the valley took three bridges", "A flood in the valley took three bridges",
        "The cat slept on the warm mat all day", "another text under an id that is there",
        "Rain fell on the hills and the valley for a week"};
    struct lines *lines = user;
    (void)error;
    if (lines->next == 5) return NIGH_END;
    out->id = ids[lines->next];
    out->id_length = strlen(out->id);
    out->text = texts[lines->next++];
    out->text_length = strlen(out->text);
    return NIGH_OK;
}

static nigh_status first_line(void *user, nigh_error *error) {
    (void)error;
    ((struct lines *)user)->next = 0;
    return NIGH_OK;
}

static void test_a_source_is_indexed_as_a_file(void **state) {
    struct place *place = *state;
    struct lines lines = {0};
    nigh_source source;
    nigh_error error;
    nigh_source_init(&source);
    source.user = &lines;
    source.next = next_line;
    assert_int_equal(nigh_index_source(place->context, place->path, &source, NULL, NULL, NULL, &error), NIGH_EINVAL);
    assert_int_equal(error.reason, NIGH_REASON_ONE_PASS);
    source.rewind = first_line;
    assert_ok(nigh_index_source(place->context, place->path, &source, NULL, NULL, NULL, &error), &error);
    char *of_source = tree_digest(place->path);
    remove_tree(place->path);
    assert_ok(add(place, NULL, NULL, &error), &error);
    char *of_file = tree_digest(place->path);
    assert_string_equal(of_source, of_file);
    free(of_source);
    free(of_file);
}

/* ----------------------------------------------------------------- asking */

/* By hand: sign, mask, search. */
static nigh_results *ask_by_hand(const nigh_collection *collection, const char *text) {
    nigh_signer *signer;
    nigh_results *results;
    nigh_search_options options;
    nigh_error error;
    uint8_t signature[128], weights[1024], mask[128];
    nigh_search_options_init(&options);
    assert_ok(nigh_collection_signer(collection, &signer, &error), &error);
    assert_ok(nigh_signer_sign(signer, text, strlen(text), signature, weights, &error), &error);
    assert_int_not_equal(nigh_signer_mask(signer, weights, mask), 0);
    options.masks = mask;
    options.weights = weights;
    options.rank = NIGH_RANK_WEIGHTED;
    assert_ok(nigh_search(collection, signature, 1, &options, &results, &error), &error);
    nigh_signer_free(signer);
    return results;
}

static void expect_same(const nigh_results *a, size_t query_a, const nigh_results *b, size_t query_b) {
    size_t count_a, count_b;
    const nigh_match *matches_a = nigh_results_matches(a, query_a, &count_a);
    const nigh_match *matches_b = nigh_results_matches(b, query_b, &count_b);
    assert_int_equal(count_a, count_b);
    for (size_t i = 0; i < count_a; i++) {
        assert_int_equal(matches_a[i].document, matches_b[i].document);
        assert_int_equal(matches_a[i].distance, matches_b[i].distance);
    }
}

static void test_texts_ask_as_by_hand(void **state) {
    struct place *place = *state;
    static const char *const texts[] = {"flood in the valley", "the of and", "cat on a mat", "xyzzy"};
    nigh_results *together, *alone;
    nigh_error error;
    assert_ok(add(place, NULL, NULL, &error), &error);
    nigh_collection *collection = open_collection(place);
    assert_ok(nigh_search_texts(collection, texts, NULL, 4, NULL, &together, &error), &error);
    for (size_t i = 0; i < 4; i++) {
        assert_ok(nigh_search_text(collection, texts[i], NULL, &alone, &error), &error);
        expect_same(together, i, alone, 0);
        if (i == 0 || i == 2) {
            nigh_results *by_hand = ask_by_hand(collection, texts[i]);
            size_t count;
            assert_int_equal(nigh_results_matches(by_hand, 0, &count)[0].document, i == 0 ? 0 : 2);
            expect_same(by_hand, 0, alone, 0);
            nigh_results_free(by_hand);
        }
        nigh_results_free(alone);
    }
    size_t count;
    (void)nigh_results_matches(together, 1, &count);
    assert_int_equal(count, 0); /* stop words ask nothing */
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(together, &info);
    assert_int_equal(info.queries, 4);
    assert_int_equal(info.exact, 1);
    nigh_results_free(together);
    nigh_collection_close(collection);
}

/* In all bits a short text finds other short texts; lengths need no terminator. */
static void test_bits_and_lengths(void **state) {
    struct place *place = *state;
    static const char *const text = "flood in the valley, and nothing else";
    const size_t length = 19;
    nigh_search_options options;
    nigh_results *masked, *all;
    nigh_error error;
    nigh_search_options_init(&options);
    assert_ok(add(place, NULL, NULL, &error), &error);
    nigh_collection *collection = open_collection(place);
    assert_ok(nigh_search_texts(collection, &text, &length, 1, &options, &masked, &error), &error);
    nigh_results *by_hand = ask_by_hand(collection, "flood in the valley");
    expect_same(masked, 0, by_hand, 0);
    options.rank = NIGH_RANK_BITS;
    nigh_results_free(masked);
    assert_ok(nigh_search_texts(collection, &text, &length, 1, &options, &masked, &error), &error);
    options.all_bits = 1;
    assert_ok(nigh_search_texts(collection, &text, &length, 1, &options, &all, &error), &error);
    size_t count;
    assert_true(nigh_results_matches(all, 0, &count)[0].distance > nigh_results_matches(masked, 0, &count)[0].distance);
    nigh_results_free(masked);
    nigh_results_free(by_hand);
    nigh_results_free(all);
    options.masks = (const uint8_t *)text;
    assert_int_equal(nigh_search_text(collection, text, &options, &all, &error), NIGH_EINVAL);
    nigh_collection_close(collection);
}

static nigh_search_rank rank_of(const nigh_collection *collection, const char *text, const nigh_search_options *how) {
    nigh_results *results;
    nigh_error error;
    nigh_scale scale = {.size = sizeof scale};
    assert_ok(nigh_search_text(collection, text, how, &results, &error), &error);
    assert_ok(nigh_results_scale(results, 0, &scale, &error), &error);
    nigh_results_free(results);
    return scale.rank;
}

/* Weighted is usual of topsig alone, however many bits a text touches, and where nothing is said that needs bits. */
static void test_which_ranking(void **state) {
    struct place *place = *state;
    char long_text[4000];
    nigh_search_options options;
    nigh_error error;
    size_t used = 0;
    for (int i = 0; i < 400; i++) used += (size_t)snprintf(long_text + used, sizeof long_text - used, "w%dx ", i);
    nigh_search_options_init(&options);
    assert_ok(add(place, NULL, NULL, &error), &error);
    nigh_collection *collection = open_collection(place);
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_WEIGHTED);
    assert_int_equal(rank_of(collection, long_text, &options), NIGH_RANK_WEIGHTED);
    options.radius = 40;
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_BITS);
    options.rank = NIGH_RANK_WEIGHTED;
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_WEIGHTED);
    options.rank = NIGH_RANK_AUTO;
    options.radius = NIGH_ALL;
    options.all_bits = 1;
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_BITS);
    options.method = NIGH_SEARCH_SKETCH;
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_BITS);
    nigh_collection_close(collection);
}

static void index_by(struct place *place, nigh_scheme_kind scheme) {
    nigh_signer_options signing;
    nigh_index_options indexing;
    nigh_error error;
    nigh_signer_options_init(&signing);
    nigh_index_options_init(&indexing);
    signing.scheme = scheme;
    indexing.signer = &signing;
    assert_ok(add(place, &indexing, NULL, &error), &error);
}

static void test_ranking_of_other_schemes(void **state) {
    struct place *place = *state;
    nigh_search_options options;
    nigh_results *results;
    nigh_error error;
    nigh_search_options_init(&options);
    index_by(place, NIGH_SCHEME_SIMHASH);
    nigh_collection *collection = open_collection(place);
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_BITS);
    options.rank = NIGH_RANK_WEIGHTED;
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_WEIGHTED);
    nigh_collection_close(collection);
    remove_tree(place->path);
    index_by(place, NIGH_SCHEME_MINHASH);
    collection = open_collection(place);
    assert_int_equal(nigh_search_text(collection, "flood in the valley", &options, &results, &error), NIGH_EINVAL);
    assert_null(results);
    assert_string_equal(error.why, "minhash bits have no weights to rank by");
    options.rank = NIGH_RANK_AUTO;
    assert_int_equal(rank_of(collection, "flood in the valley", &options), NIGH_RANK_BITS);
    nigh_collection_close(collection);
}

static void test_signatures_of_the_callers_own(void **state) {
    struct place *place = *state;
    const uint8_t signatures[16] = {1, 2, 3};
    nigh_signer *signer;
    nigh_results *results;
    nigh_error error;
    signatures_add(place->context, place->path, 64, signatures, 2);
    nigh_collection *collection = open_collection(place);
    assert_int_equal(nigh_collection_signer(collection, &signer, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NOT_OF_TEXT);
    assert_null(signer);
    assert_int_equal(nigh_search_text(collection, "flood", NULL, &results, &error), NIGH_ENOTFOUND);
    assert_null(results);
    nigh_collection_close(collection);
    assert_int_equal(add(place, NULL, NULL, &error), NIGH_ENOTFOUND);
    assert_int_equal(error.reason, NIGH_REASON_NOT_OF_TEXT);
}

struct walk {
    size_t seen, stop_after;
};

static int step(void *user, size_t query, const nigh_match *match) {
    struct walk *walk = user;
    (void)match;
    assert_int_equal(query, 0);
    return ++walk->seen == walk->stop_after ? 7 : 0;
}

static void test_each(void **state) {
    struct place *place = *state;
    nigh_results *results;
    nigh_error error;
    assert_ok(add(place, NULL, NULL, &error), &error);
    nigh_collection *collection = open_collection(place);
    assert_ok(nigh_search_text(collection, "valley", NULL, &results, &error), &error);
    struct walk all = {0}, some = {.stop_after = 2};
    assert_int_equal(nigh_results_each(results, step, &all), 0);
    assert_int_equal(all.seen, 4);
    assert_int_equal(nigh_results_each(results, step, &some), 7);
    assert_int_equal(some.seen, 2);
    nigh_results_free(results);
    nigh_collection_close(collection);
}

/* ----------------------------------------------------------------- memory */

static nigh_status ask_with(nigh_context *context, const char *path, nigh_error *error) {
    nigh_collection *collection = NULL;
    nigh_results *results = NULL;
    static const char *const texts[] = {"flood in the valley", "the of"};
    nigh_status status = nigh_collection_open(context, path, NULL, &collection, error);
    if (status == NIGH_OK) status = nigh_search_texts(collection, texts, NULL, 2, NULL, &results, error);
    nigh_results_free(results);
    nigh_collection_close(collection);
    return status;
}

/* Each allocation fails once: nothing leaks, nothing is half there. */
static void test_memory_runs_out(void **state) {
    struct place *place = *state;
    nigh_error error;
    assert_ok(add(place, NULL, NULL, &error), &error);
    for (uint64_t fail_at = 0;; fail_at++) {
        struct faulty_memory memory = {.fail_at = fail_at};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context_options options;
        nigh_context *context = NULL;
        nigh_context_options_init(&options);
        options.allocator = allocator;
        nigh_status status = nigh_context_new(&options, &context, &error);
        if (status == NIGH_OK) status = ask_with(context, place->path, &error);
        nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (status == NIGH_OK) break;
        assert_int_equal(status, NIGH_ENOMEM);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_added_is_told, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_a_collection_says_how, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_all_or_nothing, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_a_source_is_indexed_as_a_file, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_texts_ask_as_by_hand, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_bits_and_lengths, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_which_ranking, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_ranking_of_other_schemes, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_signatures_of_the_callers_own, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_each, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(test_memory_runs_out, place_setup, place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
