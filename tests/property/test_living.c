/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleted documents, and searches among some only, against a loop over those that are left: collections of several
 * segments with many copies and ties, of which few, half, nine in ten or nearly all are deleted in several commits;
 * every method, k and radius, plain, masked and weighted.  What is said to be exact must be the answer of a collection
 * that never had the others, what is not may miss some but nothing nearer than was proven, and nothing that is deleted
 * is ever found.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

#define TABLES_RADIUS 4u
#define QUERIES 12u
#define MAX_DOCUMENTS 2000u

struct world {
    char *folder, *path, *fresh;
    uint32_t width_bits, bytes, documents, segments;
    uint8_t *signatures;
    bool lives[MAX_DOCUMENTS];
    uint64_t seed;
    nigh_context *context;
};

static void draw_signature(const struct world *world, uint64_t which, uint8_t *out) {
    for (uint32_t i = 0; i < world->bytes; i++) {
        const uint64_t noise = nigh__mix(world->seed + which * 4099 + i);
        out[i] = (uint8_t)(i % 3 == 0 ? noise & 0x11 : noise % 16 == 0);
    }
    padding_clear(out, 1, world->width_bits);
}

static size_t id_of(uint64_t document, char out[32]) {
    return (size_t)snprintf(out, 32, "id-%" PRIu64, document * 7919 % 100003);
}

/* Adds documents from..to that live, with their ids. */
static void add_living(const struct world *world, const char *path, uint32_t from, uint32_t to) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.merge = 0; /* this is about what is deleted and still there */
    options.width_bits = world->width_bits;
    assert_ok(nigh_writer_open(world->context, path, &options, &writer, &error), &error);
    for (uint32_t d = from; d < to; d++) {
        char id[32];
        const nigh_document document = {.size = sizeof document,
                                        .signature = world->signatures + (size_t)d * world->bytes,
                                        .id = id,
                                        .id_length = id_of(d, id)};
        if (world->lives[d]) assert_ok(nigh_writer_add(writer, &document, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

static void build_beside(const struct world *world, const char *path) {
    nigh_lists_options lists;
    nigh_columns_options columns;
    nigh_error error;
    nigh_lists_options_init(&lists);
    nigh_columns_options_init(&columns);
    nigh_graph_options graph;
    nigh_graph_options_init(&graph);
    nigh_tables_options tables;
    nigh_tables_options_init(&tables);
    tables.radius = TABLES_RADIUS;
    lists.slice_width = 8;
    lists.min_rows = columns.min_rows = graph.min_rows = tables.min_rows = 1;
    assert_ok(nigh_lists_build(world->context, path, &lists, NULL, &error), &error);
    assert_ok(nigh_columns_build(world->context, path, &columns, NULL, &error), &error);
    assert_ok(nigh_graph_build(world->context, path, &graph, NULL, &error), &error);
    assert_ok(nigh_tables_build(world->context, path, &tables, NULL, &error), &error);
}

static void world_init(struct world *world, uint32_t width_bits, uint32_t segments, uint32_t documents,
                       uint32_t distinct, uint64_t seed) {
    *world = (struct world){.width_bits = width_bits, .documents = documents, .segments = segments, .seed = seed};
    world->bytes = (uint32_t)nigh_signature_bytes(width_bits);
    world->folder = scratch_new();
    world->path = path_in(world->folder, "c.nigh");
    world->fresh = path_in(world->folder, "fresh.nigh");
    world->signatures = malloc((size_t)documents * world->bytes + 1);
    world->context = context_new();
    assert_non_null(world->signatures);
    struct nigh__rng rng = {.state = seed};
    for (uint32_t d = 0; d < documents; d++) {
        draw_signature(world, nigh__rng_next(&rng) % distinct, world->signatures + (size_t)d * world->bytes);
        world->lives[d] = true;
    }
    for (uint32_t s = 0; s < segments; s++)
        add_living(world, world->path, documents / segments * s, documents / segments * (s + 1));
    build_beside(world, world->path);
}

static void world_release(struct world *world) {
    nigh_context_free(world->context);
    scratch_free(world->folder);
    free(world->path);
    free(world->fresh);
    free(world->signatures);
}

/* Deletes documents until about `share` in 100 are gone, in one commit; also early ones of many copies. */
static void delete_some(struct world *world, uint32_t share, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_commit commit = {.size = sizeof commit};
    nigh_error error;
    uint64_t deleted = 0;
    nigh_writer_options_init(&options);
    options.merge = 0; /* this is about what is deleted and still there */
    assert_ok(nigh_writer_open(world->context, world->path, &options, &writer, &error), &error);
    for (uint32_t d = 0; d < world->documents; d++) {
        char id[32];
        const size_t length = id_of(d, id);
        if (nigh__rng_next(&rng) % 100 >= share) continue;
        assert_int_equal(nigh_writer_delete(writer, id, length, &error), world->lives[d] ? NIGH_OK : NIGH_ENOTFOUND);
        assert_int_equal(nigh_writer_delete(writer, id, length, &error), NIGH_ENOTFOUND);
        deleted += world->lives[d];
        world->lives[d] = false;
    }
    assert_ok(nigh_writer_commit(writer, &commit, &error), &error);
    assert_int_equal(commit.deleted, deleted);
    assert_int_equal(commit.documents, world->documents);
    nigh_writer_close(writer);
    nigh_check_result checked = {.size = sizeof checked};
    assert_ok(nigh_collection_check(world->context, world->path, NULL, &checked, &error), &error);
    assert_int_equal(checked.leftovers + checked.unlisted, 0);
}

/* -------------------------------------------------------------------- the oracle */

enum ranking { PLAIN, MASKED, WEIGHTED, RANKINGS };

struct asking {
    uint8_t *queries, *masks, *weights;
    enum ranking ranking;
};

static bool bit_of(const uint8_t *bytes, uint32_t bit) { return (bytes[bit / 8] >> bit % 8 & 1) != 0; }

/* Weights are 0 or 8, of which the heaviest counts 8. */
static uint32_t counts(const struct world *world, const struct asking *asking, size_t q, uint32_t bit) {
    if (asking->ranking == MASKED) return bit_of(asking->masks + q * world->bytes, bit);
    if (asking->ranking == WEIGHTED) return asking->weights[q * world->width_bits + bit];
    return 1;
}

/* The documents that count for a query, nearest first; how many. */
static size_t oracle(const struct world *world, const struct asking *asking, size_t q, const bool *allowed,
                     nigh_match *out) {
    const uint8_t *query = asking->queries + q * world->bytes;
    size_t count = 0;
    for (uint32_t d = 0; d < world->documents; d++) {
        if (!world->lives[d] || (allowed != NULL && !allowed[d])) continue;
        nigh_match match = {.document = d};
        for (uint32_t bit = 0; bit < world->width_bits; bit++)
            if (bit_of(query, bit) != bit_of(world->signatures + (size_t)d * world->bytes, bit))
                match.distance += counts(world, asking, q, bit);
        out[count++] = match;
    }
    qsort(out, count, sizeof *out, compare_matches);
    return count;
}

static size_t wanted_of(const nigh_match *all, size_t count, const nigh_search_options *options) {
    size_t wanted = 0;
    while (wanted < count && wanted < options->k &&
           (options->radius == NIGH_ALL || all[wanted].distance <= options->radius))
        wanted++;
    return wanted;
}

/* Exact where it is said or must be; else true as far as it goes. */
static void check_answer(const struct world *world, const nigh_results *results, size_t q, const nigh_match *all,
                         size_t all_count, const nigh_search_options *options, bool must) {
    nigh_proof proof = {.size = sizeof proof};
    nigh_error error;
    size_t count = 0;
    const nigh_match *matches = nigh_results_matches(results, q, &count);
    const size_t wanted = wanted_of(all, all_count, options);
    assert_ok(nigh_results_proof(results, q, &proof, &error), &error);
    const bool same = count == wanted && (count == 0 || memcmp(matches, all, count * sizeof *all) == 0);
    if ((must || proof.exact) && (!proof.exact || !same))
        fail_msg("seed %" PRIu64 ": method %u, query %zu, k %u, radius %u: %zu matches, not %zu (%s)", world->seed,
                 (unsigned)options->method, q, options->k, options->radius, count, wanted,
                 proof.exact ? "exact" : "not exact");
    size_t place = 0; /* answers stand in the order of all */
    for (size_t i = 0; i < wanted; i++) {
        const bool found = place < count && memcmp(&matches[place], &all[i], sizeof *all) == 0;
        place += found;
        if (!found && all[i].distance < proof.below && place < count)
            fail_msg("seed %" PRIu64 ": method %u, query %zu, k %u: %u is nearer than %u and missing", world->seed,
                     (unsigned)options->method, q, options->k, all[i].distance, proof.below);
    }
    /* What was found beyond is of the others, farther away, each once. */
    for (size_t i = place, next = wanted; i < count; i++, next++) {
        while (next < all_count && memcmp(&matches[i], &all[next], sizeof *all) != 0) next++;
        assert_true(next < all_count);
    }
}

/* ------------------------------------------------------------------- the asking */

static void asking_init(const struct world *world, struct asking *asking, enum ranking ranking, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    asking->ranking = ranking;
    asking->queries = malloc((size_t)QUERIES * world->bytes);
    asking->masks = malloc((size_t)QUERIES * world->bytes);
    asking->weights = malloc((size_t)QUERIES * world->width_bits);
    if (asking->queries == NULL || asking->masks == NULL || asking->weights == NULL) abort();
    if (world->documents == 0 || world->bytes == 0) abort();
    for (size_t q = 0; q < QUERIES; q++) {
        uint8_t *query = asking->queries + q * world->bytes;
        memcpy(query, world->signatures + nigh__rng_next(&rng) % world->documents * world->bytes, world->bytes);
        if (q % 2 == 1) query[nigh__rng_next(&rng) % world->bytes] ^= 5;
        padding_clear(query, 1, world->width_bits);
        for (uint32_t i = 0; i < world->bytes; i++)
            asking->masks[q * world->bytes + i] = (uint8_t)(nigh__rng_next(&rng) | 1);
        for (uint32_t i = 0; i < world->width_bits; i++)
            asking->weights[q * world->width_bits + i] = i == 0 || nigh__rng_next(&rng) % 3 == 0 ? 8 : 0;
    }
}

static void asking_release(struct asking *asking) {
    free(asking->queries);
    free(asking->masks);
    free(asking->weights);
}

/* A filter: both ways to say it must come to the same, so that they take turns. */
struct allowing {
    const bool *allowed; /* NULL: no filter */
    uint64_t bits[MAX_DOCUMENTS / 64 + 1];
};

static int allow(void *user, uint64_t document) { return ((const struct allowing *)user)->allowed[document]; }

static void ask(const struct world *world, const nigh_collection *collection, const struct asking *asking,
                nigh_search_options *options, struct allowing *allowing, bool must) {
    static nigh_match all[MAX_DOCUMENTS];
    nigh_results *results;
    nigh_error error;
    options->masks = asking->ranking == MASKED ? asking->masks : NULL;
    options->weights = asking->ranking == WEIGHTED ? asking->weights : NULL;
    options->rank = asking->ranking == WEIGHTED ? NIGH_RANK_WEIGHTED : NIGH_RANK_BITS;
    options->threads = 1 + options->k % 3;
    options->among = allowing->allowed != NULL && options->k % 2 == 0 ? allowing->bits : NULL;
    options->allow = allowing->allowed != NULL && options->k % 2 == 1 ? allow : NULL;
    options->allow_user = allowing;
    assert_ok(nigh_search(collection, asking->queries, QUERIES, options, &results, &error), &error);
    for (size_t q = 0; q < QUERIES; q++) {
        const size_t count = oracle(world, asking, q, allowing->allowed, all);
        check_answer(world, results, q, all, count, options, must);
    }
    nigh_results_free(results);
}

static void ask_in_every_way(const struct world *world, const nigh_collection *collection, const struct asking *asking,
                             struct allowing *allowing, uint32_t k, uint32_t radius) {
    const bool plain = asking->ranking == PLAIN;
    for (unsigned method = NIGH_SEARCH_AUTO; method <= NIGH_SEARCH_COLUMNS; method++)
        for (unsigned stop = NIGH_STOP_BREADTH; stop <= NIGH_STOP_CERTAIN; stop++) {
            const bool lists = method == NIGH_SEARCH_SLICES || method == NIGH_SEARCH_SLICES_PLAIN;
            const bool needs_k = method == NIGH_SEARCH_SKETCH || method == NIGH_SEARCH_GRAPH;
            if ((lists || needs_k) && !plain) continue;
            if (needs_k && (k == NIGH_ALL || stop == NIGH_STOP_CERTAIN)) continue;
            nigh_search_options options;
            nigh_search_options_init(&options);
            options.method = (nigh_search_method)method;
            options.stop = (nigh_search_stop)stop;
            options.k = k;
            options.radius = radius;
            if (method == NIGH_SEARCH_SKETCH) {
                options.candidates = k + 20;
                options.sketch_bits = 64;
            }
            if (method == NIGH_SEARCH_GRAPH) options.effort = k + 30;
            if (lists) options.postings = NIGH_ALL_64;
            const bool must = stop == NIGH_STOP_CERTAIN || method == NIGH_SEARCH_SCAN || method == NIGH_SEARCH_COLUMNS;
            ask(world, collection, asking, &options, allowing, must);
        }
}

/* All within a radius that the tables guarantee, or the k nearest of these. */
static void ask_tables(const struct world *world, const nigh_collection *collection, const struct asking *asking,
                       struct allowing *allowing, uint32_t k, uint32_t radius) {
    nigh_search_options options;
    if (asking->ranking != PLAIN || radius > TABLES_RADIUS) return;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_TABLES;
    options.k = k;
    options.radius = radius;
    ask(world, collection, asking, &options, allowing, true);
}

static void ask_all(const struct world *world, const bool *allowed) {
    const uint32_t ks[] = {1, 3, 10, 77, NIGH_ALL};
    const uint32_t radii[] = {NIGH_ALL, 0, TABLES_RADIUS, world->width_bits / 3};
    struct allowing allowing = {.allowed = allowed};
    nigh_collection *collection;
    nigh_error error;
    for (uint32_t d = 0; allowed != NULL && d < world->documents; d++)
        if (allowed[d]) allowing.bits[d / 64] |= UINT64_C(1) << d % 64;
    assert_ok(nigh_collection_open(world->context, world->path, NULL, &collection, &error), &error);
    for (enum ranking ranking = PLAIN; ranking < RANKINGS; ranking++) {
        struct asking asking;
        asking_init(world, &asking, ranking, world->seed + ranking);
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
            for (size_t j = 0; j < sizeof radii / sizeof radii[0]; j++)
                if (ks[i] != NIGH_ALL || radii[j] != NIGH_ALL) {
                    ask_in_every_way(world, collection, &asking, &allowing, ks[i], radii[j]);
                    ask_tables(world, collection, &asking, &allowing, ks[i], radii[j]);
                }
        asking_release(&asking);
    }
    nigh_collection_close(collection);
}

/* ------------------------------------------------------------------- the tests */

/* A collection that never had what is deleted: the same ids at the same distances in the same order. */
static void compare_with_fresh(const struct world *world) {
    nigh_collection *living;
    nigh_collection *fresh;
    nigh_error error;
    struct asking asking;
    asking_init(world, &asking, PLAIN, world->seed);
    if (path_exists(world->fresh)) remove_tree(world->fresh);
    add_living(world, world->fresh, 0, world->documents);
    assert_ok(nigh_collection_open(world->context, world->path, NULL, &living, &error), &error);
    assert_ok(nigh_collection_open(world->context, world->fresh, NULL, &fresh, &error), &error);
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SCAN;
    for (options.k = 1; options.k < 100; options.k += 13) {
        nigh_results *a;
        nigh_results *b;
        assert_ok(nigh_search(living, asking.queries, QUERIES, &options, &a, &error), &error);
        assert_ok(nigh_search(fresh, asking.queries, QUERIES, &options, &b, &error), &error);
        for (size_t q = 0; q < QUERIES; q++) {
            size_t counts[2];
            const nigh_match *first = nigh_results_matches(a, q, &counts[0]);
            const nigh_match *second = nigh_results_matches(b, q, &counts[1]);
            assert_int_equal(counts[0], counts[1]);
            for (size_t i = 0; i < counts[0]; i++) {
                char ids[2][32];
                size_t length;
                assert_ok(nigh_collection_id(living, first[i].document, ids[0], 32, &length, &error), &error);
                assert_ok(nigh_collection_id(fresh, second[i].document, ids[1], 32, &length, &error), &error);
                assert_string_equal(ids[0], ids[1]);
                assert_int_equal(first[i].distance, second[i].distance);
            }
        }
        nigh_results_free(a);
        nigh_results_free(b);
    }
    nigh_collection_close(living);
    nigh_collection_close(fresh);
    asking_release(&asking);
}

static void expect_reading(const struct world *world) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    uint64_t deleted = 0;
    assert_ok(nigh_collection_open(world->context, world->path, NULL, &collection, &error), &error);
    for (uint32_t d = 0; d < world->documents; d++) {
        char id[32];
        char read[32];
        uint64_t found = 0;
        size_t length = id_of(d, id);
        deleted += !world->lives[d];
        assert_int_equal(nigh_collection_lives(collection, d), world->lives[d]);
        assert_int_equal(nigh_collection_find(collection, id, length, &found, &error),
                         world->lives[d] ? NIGH_OK : NIGH_ENOTFOUND);
        assert_int_equal(nigh_collection_id(collection, d, read, sizeof read, &length, &error),
                         world->lives[d] ? NIGH_OK : NIGH_EINVAL);
    }
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, world->documents);
    assert_int_equal(info.deleted, deleted);
    nigh_collection_close(collection);
}

static const struct {
    uint32_t width_bits, segments, documents, distinct;
} cases[] = {{64, 1, 300, 40}, {70, 3, 600, 500}, {256, 2, 1400, 200}, {128, 1, 1300, 1300}};
#define CASES (sizeof cases / sizeof cases[0])

static void deleted_documents_are_never_found(void **state) {
    static const uint32_t shares[] = {1, 20, 50, 80, 95, 100};
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct world world;
        world_init(&world, cases[i].width_bits, cases[i].segments, cases[i].documents, cases[i].distinct, 500 + i);
        for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
            delete_some(&world, shares[s], 900 + 10 * i + s);
            expect_reading(&world);
            if (s % 2 == 1 || (s == 0 && i + 1 == CASES))
                ask_all(&world, NULL); /* with few deleted a graph is walked */
            compare_with_fresh(&world);
        }
        world_release(&world);
    }
}

static void filters_are_as_if_there_were_no_others(void **state) {
    static const uint32_t shares[] = {90, 30, 3, 0};
    static bool allowed[MAX_DOCUMENTS];
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct world world;
        struct nigh__rng rng = {.state = 70 + i};
        world_init(&world, cases[i].width_bits, cases[i].segments, cases[i].documents, cases[i].distinct, 600 + i);
        for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
            for (uint32_t d = 0; d < world.documents; d++) allowed[d] = nigh__rng_next(&rng) % 100 < shares[s];
            if (s == 1) delete_some(&world, 30, 40 + i);
            if (s % 2 == i % 2) ask_all(&world, allowed);
        }
        world_release(&world);
    }
}

static void expect_replaced(const struct world *world, int round) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(world->context, world->path, NULL, &collection, &error), &error);
    for (uint32_t d = 0; d < 40; d++) {
        char id[32];
        uint8_t there[8];
        uint8_t signature[8];
        uint64_t document = 0;
        draw_signature(world, 1000 + d + 100 * (uint64_t)round, signature);
        assert_ok(nigh_collection_find(collection, id, id_of((uint64_t)d * 10, id), &document, &error), &error);
        assert_ok(nigh_collection_signature(collection, document, there, &error), &error);
        assert_memory_equal(there, signature, sizeof there);
    }
    nigh_collection_close(collection);
}

/* An id that is there gets the new signature; the old one is never found again, and comes back with nobody. */
static void documents_are_replaced(void **state) {
    struct world world;
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_commit commit = {.size = sizeof commit};
    nigh_error error;
    (void)state;
    world_init(&world, 64, 2, 400, 50, 77);
    nigh_writer_options_init(&options);
    options.merge = 0; /* this is about what is deleted and still there */
    options.width_bits = world.width_bits;
    for (int round = 0; round < 3; round++) {
        options.replace = 1;
        assert_ok(nigh_writer_open(world.context, world.path, &options, &writer, &error), &error);
        for (uint32_t d = 0; d < 40; d++) {
            char id[32];
            uint8_t signature[8];
            draw_signature(&world, 1000 + d + 100 * (uint64_t)round, signature);
            const nigh_document document = {
                .size = sizeof document, .signature = signature, .id = id, .id_length = id_of((uint64_t)d * 10, id)};
            assert_ok(nigh_writer_add(writer, &document, &error), &error);
            assert_int_equal(nigh_writer_add(writer, &document, &error), NIGH_EEXISTS); /* twice by one writer */
        }
        assert_ok(nigh_writer_commit(writer, &commit, &error), &error);
        nigh_writer_close(writer);
        assert_int_equal(commit.added, 40);
        assert_int_equal(commit.deleted, 40);
        assert_int_equal(commit.documents - commit.deleted_now, 400);
        expect_replaced(&world, round);
        assert_ok(nigh_collection_check(world.context, world.path, NULL, NULL, &error), &error);
    }
    world_release(&world);
}

/* Without a commit, without a collection, and to add by a writer that deletes: nothing changes. */
static void what_is_refused(void **state) {
    struct world world;
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    const uint8_t signature[8] = {0};
    const nigh_document document = {.size = sizeof document, .signature = signature};
    (void)state;
    world_init(&world, 64, 1, 100, 50, 78);
    char *before = tree_digest(world.path);
    nigh_writer_options_init(&options);
    options.merge = 0; /* this is about what is deleted and still there */
    assert_int_equal(nigh_writer_open(world.context, world.fresh, &options, &writer, &error), NIGH_ENOTFOUND);
    assert_false(path_exists(world.fresh));
    assert_ok(nigh_writer_open(world.context, world.path, &options, &writer, &error), &error);
    char id[32];
    assert_ok(nigh_writer_delete(writer, id, id_of(5, id), &error), &error);
    assert_int_equal(nigh_writer_delete(writer, "nobody", 6, &error), NIGH_ENOTFOUND);
    assert_int_equal(nigh_writer_add(writer, &document, &error), NIGH_EINVAL);
    nigh_writer_close(writer);
    assert_ok(nigh_writer_open(world.context, world.path, &options, &writer, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error); /* of nothing */
    nigh_writer_close(writer);
    char *after = tree_digest(world.path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    world_release(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deleted_documents_are_never_found),
        cmocka_unit_test(filters_are_as_if_there_were_no_others),
        cmocka_unit_test(documents_are_replaced),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
