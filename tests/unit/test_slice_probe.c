/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directed searches: against a plain one, lists looked up, ordered and scored one after the other; the model they go
 * by, fitted, stored, and forged; and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "collection/collection.h"
#include "slices/slice_directed.h"
#include "slices/slice_search.h"
#include "support/bits_to_turn.h"
#include "support/forge.h"
#include "support/support.h"

/* -------------------------------------------------------------------- a plain search */

#define ROUNDS 60u

struct list {
    uint64_t place; /* worth, then where it is */
    const uint32_t *ids;
    uint32_t length, worth;
};

struct plain {
    const struct nigh__slices *slices;
    const uint64_t *rows;
    const struct nigh__slice_query *query;
    struct list *lists;
    size_t count;
    uint64_t postings;
};

static int by_place(const void *a, const void *b) {
    const uint64_t x = ((const struct list *)a)->place;
    const uint64_t y = ((const struct list *)b)->place;
    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One probe after the other, as the heap gives them. */
static void plain_lists(nigh_context *context, struct plain *plain) {
    struct nigh__probe_heap heap = {0};
    const struct nigh__slice_query *query = plain->query;
    struct nigh__probe_slice *sorted = malloc(query->slices * sizeof *sorted);
    nigh_error error;
    uint64_t probe;
    plain->lists = malloc((query->probes + 1) * sizeof *plain->lists);
    for (uint32_t s = 0; s < query->slices; s++) {
        const struct nigh__slice at = nigh__slicing_at(&plain->slices->slicing, plain->slices->rows, s);
        nigh__probe_slice_init(&sorted[s], query->costs, query->weights + at.start, at.bits);
    }
    assert_ok(nigh__probe_heap_begin(context, &heap, sorted, query->slices, &error), &error);
    for (uint64_t i = 0; i < query->probes && nigh__probe_heap_next(context, &heap, &probe, &error) == NIGH_OK; i++) {
        const struct nigh__slice at =
            nigh__slicing_at(&plain->slices->slicing, plain->slices->rows, nigh__probe_slice(probe));
        const uint32_t value = nigh__slice_value(query->words, at) ^ nigh__probe_mask(probe);
        const uint32_t *starts = plain->slices->numbers + at.starts;
        struct list *list = &plain->lists[plain->count];
        list->ids = starts + (UINT64_C(1) << at.bits) + 1 + starts[value];
        list->length = starts[value + 1] - starts[value];
        list->worth = nigh__directed_worth(nigh__probe_cost(probe), list->length);
        list->place = (uint64_t)list->worth << 48 | (uint64_t)(list->ids - plain->slices->numbers);
        plain->count += list->length != 0;
        plain->postings += list->length;
    }
    free(sorted);
    nigh__array_release(context, &heap.nodes);
}

/* By worth as long as all of a worth fit, and of the next those that fit. */
static void plain_budget(struct plain *plain) {
    uint64_t left = plain->query->postings;
    if (plain->postings <= left) return;
    qsort(plain->lists, plain->count, sizeof *plain->lists, by_place);
    size_t kept = 0;
    bool full = false;
    for (size_t first = 0, end; first < plain->count && !full; first = end) {
        uint64_t sum = 0;
        for (end = first; end < plain->count && plain->lists[end].worth == plain->lists[first].worth; end++)
            sum += plain->lists[end].length;
        full = sum > left;
        for (size_t i = first; i < end; i++) {
            if (plain->lists[i].length > left) continue;
            left -= plain->lists[i].length;
            plain->lists[kept++] = plain->lists[i];
        }
    }
    plain->count = kept;
    plain->postings = plain->query->postings - left;
}

/* The k nearest of the M rows of the highest scores, of equal ones the lower; returns how many. */
static size_t plain_answer(struct plain *plain, uint32_t words, uint64_t *keys) {
    const uint32_t rows = plain->slices->rows;
    uint32_t *scores = calloc(rows + 1, sizeof *scores);
    uint64_t *order = malloc((rows + 1) * sizeof *order);
    size_t count = 0;
    for (size_t l = 0; l < plain->count; l++)
        for (uint32_t i = 0; i < plain->lists[l].length; i++)
            scores[plain->lists[l].ids[i]] += nigh__directed_score(rows, plain->lists[l].worth);
    for (uint32_t row = 0; row < rows; row++)
        if (scores[row] != 0) order[count++] = (uint64_t)(255 - (scores[row] < 255 ? scores[row] : 255)) << 32 | row;
    qsort(order, count, sizeof *order, by_number);
    if (count > plain->query->candidates) count = plain->query->candidates;
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = (uint32_t)order[i];
        uint32_t distance = 0;
        for (uint32_t w = 0; w < words; w++)
            distance += (uint32_t)__builtin_popcountll(plain->rows[(size_t)row * words + w] ^ plain->query->words[w]);
        order[i] = (uint64_t)distance << 32 | row;
    }
    qsort(order, count, sizeof *order, by_number);
    if (count > plain->query->k) count = plain->query->k;
    memcpy(keys, order, count * sizeof *keys);
    free(order);
    free(scores);
    return count;
}

static void fill_rows(struct nigh__rng *rng, uint64_t *rows, uint32_t count, uint32_t words, uint32_t width_bits) {
    for (size_t i = 0; i < (size_t)count * words; i++) {
        rows[i] = nigh__mix(nigh__rng_next(rng) % 7 * 1000 + i % words);
        if (nigh__rng_next(rng) % 2 == 0) rows[i] ^= few_bits(rng);
        if (i % words == words - 1 && width_bits % 64 != 0) rows[i] &= (UINT64_C(1) << width_bits % 64) - 1;
    }
}

static void compare(nigh_context *context, struct nigh__slice_scratch *scratch, struct nigh__rng *rng, uint32_t round) {
    const uint32_t width_bits = 8 * (8 + (uint32_t)(nigh__rng_next(rng) % 20));
    const uint32_t words = nigh__row_words(width_bits);
    const uint32_t count = 200 + (uint32_t)(nigh__rng_next(rng) % (round % 6 == 0 ? 30000 : 2000));
    uint64_t *rows = malloc((size_t)(count + 1) * words * sizeof *rows); /* the last one asks */
    uint8_t *weights = malloc(width_bits);
    struct nigh__bit_costs costs;
    struct nigh__slices slices;
    nigh_error error;
    fill_rows(rng, rows, count + 1, words, width_bits);
    nigh__bit_costs_default(&costs);
    for (uint32_t i = 0; i < width_bits; i++) weights[i] = round % 5 == 0 ? 7 : (uint8_t)nigh__rng_next(rng);
    struct nigh__slices_job job = {.context = context, .rows = rows, .count = count, .threads = 1};
    assert_true(nigh__slicing_make(width_bits, 5 + (uint32_t)(nigh__rng_next(rng) % 8), &job.slicing));
    assert_ok(nigh__slices_in_memory(&job, &slices, &error), &error);
    const struct nigh__slice_query query = {.words = rows + (size_t)count * words,
                                            .k = 1 + (uint32_t)(nigh__rng_next(rng) % 20),
                                            .limit = UINT32_MAX,
                                            .candidates = 20 + (uint32_t)(nigh__rng_next(rng) % 200),
                                            .slices = 1 + (uint32_t)(nigh__rng_next(rng) % slices.slicing.count),
                                            .postings = round % 4 == 0 ? NIGH_ALL_64 : nigh__rng_next(rng) % 3000,
                                            .weights = weights,
                                            .costs = &costs,
                                            .probes = 1 + nigh__rng_next(rng) % 800};
    struct plain plain = {.slices = &slices, .rows = rows, .query = &query};
    struct nigh__slice_answer answer = {.keys = NIGH__ARRAY(uint64_t)};
    uint64_t keys[20];
    plain_lists(context, &plain);
    plain_budget(&plain);
    const size_t found = plain_answer(&plain, words, keys);
    assert_ok(nigh__slice_search(scratch, &slices, rows, &query, &answer, &error), &error);
    assert_int_equal(answer.postings, plain.postings);
    assert_int_equal(answer.keys.count, found);
    if (found != 0) assert_memory_equal(answer.keys.data, keys, found * sizeof *keys);
    assert_int_equal(answer.below, 0); /* nothing is proven */
    nigh__array_release(context, &answer.keys);
    nigh__free(context, slices.owned);
    free(plain.lists);
    free(weights);
    free(rows);
}

static void it_finds_what_a_plain_one_does(void **state) {
    struct nigh__rng rng = {.state = 21};
    struct nigh__slice_scratch *scratch;
    nigh_error error;
    assert_ok(nigh__slice_scratch_new(*state, &scratch, &error), &error);
    for (uint32_t round = 0; round < ROUNDS; round++) compare(*state, scratch, &rng, round);
    nigh__slice_scratch_free(scratch);
}

/* --------------------------------------------------------------------------- the model */

static void costs_descend_as_shares_do(void **state) {
    struct nigh__bit_counts counts = {{0}, {0}};
    struct nigh__bit_costs costs;
    struct nigh__bit_costs usual;
    (void)state;
    nigh__bit_costs_default(&usual);
    nigh__bit_costs_from(&counts, &costs);
    assert_memory_equal(&costs, &usual, sizeof costs);
    for (uint32_t w = 0; w < NIGH__BIT_COSTS; w++) {
        assert_true(usual.of[w].flip <= NIGH__MAX_FLIP && usual.of[w].keep <= NIGH__MAX_KEEP);
        if (w > 0) assert_true(usual.of[w].flip >= usual.of[w - 1].flip && usual.of[w].keep <= usual.of[w - 1].keep);
    }
    counts.all[10] = counts.all[20] = counts.all[30] = counts.all[40] = 1000;
    counts.differing[10] = 250; /* joined with the next, .3 */
    counts.differing[20] = 350;
    counts.differing[30] = 100;
    nigh__bit_costs_from(&counts, &costs);
    assert_int_equal(costs.of[0].flip, 54); /* 64 ln(.7 / .3) */
    assert_int_equal(costs.of[29].flip, 54);
    assert_int_equal(costs.of[29].keep, 1462);
    assert_int_equal(costs.of[30].flip, 140);
    assert_int_equal(costs.of[39].flip, 140);
    assert_true(costs.of[40].flip > 400 && costs.of[255].flip == costs.of[40].flip);
    for (uint32_t w = 0; w < NIGH__BIT_COSTS; w++) counts.differing[w] = counts.all[w] = UINT64_C(1) << 40;
    nigh__bit_costs_from(&counts, &costs);
    assert_int_equal(costs.of[0].flip, 0);
}

/* ------------------------------------------------------------------------ collections */

#define WIDTH 128u
#define QUERIES 70u

static const struct recipe recipe = {.width_bits = WIDTH, .seed = 3, .distinct = 900, .weights = true};

struct place {
    nigh_context *context;
    char *folder, *path;
    uint8_t queries[QUERIES * WIDTH / 8];
    uint8_t weights[QUERIES * WIDTH];
};

static void build_lists(struct place *place, uint32_t threads, uint32_t built) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_lists_result result = {.size = sizeof result};
    nigh_error error;
    options.slice_width = 8;
    options.min_rows = 1;
    options.threads = threads;
    assert_ok(nigh_lists_build(place->context, place->path, &options, &result, &error), &error);
    assert_int_equal(result.built, built);
}

static void place_init(struct place *place, nigh_context *context) {
    struct nigh__rng rng = {.state = 4};
    nigh_error error;
    place->context = context;
    place->folder = scratch_new();
    place->path = path_in(place->folder, "c.nigh");
    assert_ok(recipe_add(context, place->path, &recipe, 0, 1000, &error), &error);
    assert_ok(recipe_add(context, place->path, &recipe, 1000, 300, &error), &error);
    for (uint32_t q = 0; q < QUERIES; q++) recipe_signature(&recipe, q, place->queries + q * WIDTH / 8);
    for (size_t i = 0; i < sizeof place->weights; i++) place->weights[i] = (uint8_t)nigh__rng_next(&rng);
}

static void place_release(struct place *place) {
    scratch_free(place->folder);
    free(place->path);
}

static nigh_search_options directed(const struct place *place) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SLICES;
    options.probe = NIGH_PROBE_DIRECTED;
    options.postings = NIGH_ALL_64;
    options.probes = 40;
    options.weights = place->weights;
    return options;
}

static nigh_status search(const struct place *place, size_t count, const nigh_search_options *options,
                          nigh_results **results, nigh_error *error) {
    nigh_collection *collection;
    nigh_error open_error;
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &open_error), &open_error);
    const nigh_status status = nigh_search(collection, place->queries, count, options, results, error);
    nigh_collection_close(collection);
    return status;
}

static void threads_and_batches_do_not_matter(void **state) {
    struct place place;
    nigh_error error;
    nigh_results *all;
    nigh_results_info info = {.size = sizeof info};
    place_init(&place, *state);
    build_lists(&place, 3, 2);
    nigh_search_options options = directed(&place);
    options.threads = 4;
    assert_ok(search(&place, QUERIES, &options, &all, &error), &error);
    nigh_results_describe(all, &info);
    assert_int_equal(info.lists, 2 * 40 * QUERIES);
    assert_int_equal(info.exact_queries, 0);
    options.threads = 1;
    for (size_t q = 0; q < QUERIES; q++) {
        nigh_results *one;
        size_t count = 0;
        size_t expected_count = 0;
        struct place alone = place;
        memcpy(alone.queries, place.queries + q * WIDTH / 8, WIDTH / 8);
        options.weights = place.weights + q * WIDTH;
        assert_ok(search(&alone, 1, &options, &one, &error), &error);
        const nigh_match *matches = nigh_results_matches(one, 0, &count);
        const nigh_match *expected = nigh_results_matches(all, q, &expected_count);
        assert_int_equal(count, expected_count);
        if (count != 0) assert_memory_equal(matches, expected, count * sizeof *matches);
        nigh_results_free(one);
    }
    nigh_results_free(all);
    place_release(&place);
}

/* The same costs from any number of threads; lists from before there were any are made anew once. */
static void the_model_is_fitted_and_kept(void **state) {
    struct place place;
    nigh_error error;
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection *collection;
    place_init(&place, *state);
    build_lists(&place, 1, 2);
    char *path = path_in(place.path, "slices-00000000000000000001");
    struct bytes before = file_read_all(path);
    build_lists(&place, 1, 0);
    assert_ok(nigh_lists_remove(place.context, place.path, &error), &error);
    build_lists(&place, 5, 2);
    struct bytes after = file_read_all(path);
    assert_int_equal(before.length, after.length);
    assert_memory_equal(before.data, after.data, before.length);
    assert_ok(nigh_collection_open(place.context, place.path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.fitted_segments, 2);
    nigh_collection_close(collection);
    free(before.data);
    free(after.data);
    free(path);
    place_release(&place);
}

static void a_forged_model_is_refused(void **state) {
    struct place place;
    nigh_error error;
    nigh_collection *collection;
    nigh_results *results;
    place_init(&place, *state);
    build_lists(&place, 1, 2);
    assert_ok(nigh_collection_open(place.context, place.path, NULL, &collection, &error), &error);
    const struct nigh__sidecar *sidecar = collection->segments[0]->sidecars[NIGH__SIDECAR_SLICES];
    const uint64_t checksum = sidecar->header.segment_checksum;
    assert_int_equal(sidecar->table[1].type, NIGH__SECTION_BIT_COSTS);
    const uint64_t at = sidecar->table[1].offset + 100 * sizeof(uint32_t); /* what weight 100 costs */
    nigh_collection_close(collection);
    char *path = path_in(place.path, "slices-00000000000000000001");
    struct bytes file = file_read_all(path);
    for (uint64_t half = 0; half < 2; half++) {
        uint8_t *copy = malloc(file.length);
        memcpy(copy, file.data, file.length);
        copy[at + 2 * half + 1] = 0xff;
        forge_sidecar(copy, file.length, checksum);
        file_write_all(path, copy, file.length);
        nigh_search_options options = directed(&place);
        assert_int_equal(search(&place, 1, &options, &results, &error), NIGH_ECORRUPT);
        assert_string_equal(error.why, "a bit costs more than any can");
        assert_int_equal(error.offset, at);
        options.method = NIGH_SEARCH_AUTO; /* as good as without lists */
        options.probe = NIGH_PROBE_AUTO;
        assert_ok(search(&place, 1, &options, &results, &error), &error);
        nigh_results_free(results);
        free(copy);
    }
    free(file.data);
    free(path);
    place_release(&place);
}

static void what_makes_no_sense_is_refused(void **state) {
    struct place place;
    nigh_results *results;
    nigh_error error;
    place_init(&place, *state);
    build_lists(&place, 1, 2);
    nigh_search_options options[9];
    for (size_t i = 0; i < 9; i++) options[i] = directed(&place);
    options[0].weights = NULL;
    options[1].breadth = 1;
    options[2].admit = 0;
    options[3].stop = NIGH_STOP_CERTAIN;
    options[4].k = NIGH_ALL;
    options[5].method = NIGH_SEARCH_SLICES_PLAIN;
    options[6].masks = place.queries;
    options[7].masks = place.queries;
    options[7].method = NIGH_SEARCH_AUTO;
    options[8].probe = (nigh_search_probe)3;
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(search(&place, 1, &options[i], &results, &error), NIGH_EINVAL);
        assert_null(results);
    }
    /* A ball where nothing says otherwise, though there are weights; and with probes without end, all lists. */
    nigh_search_options ball = directed(&place);
    nigh_results_info info = {.size = sizeof info};
    ball.probe = NIGH_PROBE_BALL;
    ball.breadth = 0;
    assert_ok(search(&place, 1, &ball, &results, &error), &error);
    nigh_results_describe(results, &info);
    assert_int_equal(info.lists, 2 * WIDTH / 8);
    nigh_results_free(results);
    nigh_search_options all = directed(&place);
    all.probes = NIGH_ALL_64;
    assert_ok(search(&place, 1, &all, &results, &error), &error);
    nigh_results_describe(results, &info);
    assert_int_equal(info.lists, 2 * 256 * WIDTH / 8);
    nigh_results_free(results);
    place_release(&place);
}

/* Each allocation of making lists with a model, and of a directed search with a budget, fails once. */
static void memory_may_run_out(void **state) {
    struct place place;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_status status = NIGH_ENOMEM;
    place_init(&place, *state);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_search_options options = directed(&place);
    options.postings = 30;
    options.probes = 200;
    options.threads = 1;
    const int64_t live = memory.live;
    for (uint64_t n = 0; status != NIGH_OK; n++) {
        nigh_lists_options lists;
        nigh_lists_options_init(&lists);
        nigh_collection *collection = NULL;
        nigh_results *results = NULL;
        nigh_error error;
        lists.slice_width = 8;
        lists.min_rows = 1;
        lists.rebuild = 1;
        lists.threads = 1;
        memory.fail_at = memory.calls + n;
        status = nigh_lists_build(context, place.path, &lists, NULL, &error);
        if (status == NIGH_OK) status = nigh_collection_open(context, place.path, NULL, &collection, &error);
        if (status == NIGH_OK) status = nigh_search(collection, place.queries, 3, &options, &results, &error);
        memory.fail_at = UINT64_MAX;
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        assert_true((results != NULL) == (status == NIGH_OK));
        nigh_results_free(results);
        nigh_collection_close(collection);
        assert_int_equal(memory.live, live);
        assert_true(n < 2000);
    }
    nigh_context_free(context);
    place_release(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_what_a_plain_one_does),
        cmocka_unit_test(costs_descend_as_shares_do),
        cmocka_unit_test(threads_and_batches_do_not_matter),
        cmocka_unit_test(the_model_is_fitted_and_kept),
        cmocka_unit_test(a_forged_model_is_refused),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
