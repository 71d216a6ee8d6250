/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * nigh_search() by slice lists against a loop over all documents.  Whatever the way it
 * takes: distances are true, what is said to be proven is so, a certain search is the
 * scan's answer ties and all, and no number of threads and no batch changes anything.
 */
#include <inttypes.h>
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
#include "support/support.h"

#define QUERIES 12u

enum kind {
    RANDOM,
    CLUSTERED, /* round few centres, at every distance up to a third of the width */
    COPIES,    /* few distinct signatures, each many times */
    CROWDED    /* all share all but their last bits: every list but few holds everything */
};

static const char *const kind_names[] = {"random", "clustered", "copies", "crowded"};

struct shape {
    enum kind kind;
    uint32_t width_bits;
    uint32_t segments[4]; /* documents of each; 0: no more */
    uint32_t slice_width;
    uint64_t min_rows;
};

struct world {
    const struct shape *shape;
    char *folder, *path;
    uint32_t bytes;
    uint64_t documents;
    uint8_t *signatures;
    uint8_t *queries;
    nigh_match *truth[QUERIES]; /* all documents, nearest first */
    nigh_context *context;
    nigh_collection *collection;
};

/* ----------------------------------------------------------------- the collection */

static void fill(uint8_t *out, uint32_t bytes, uint64_t seed) {
    struct nigh__rng rng = {.state = nigh__mix(seed)};
    for (uint32_t i = 0; i < bytes; i++) out[i] = (uint8_t)nigh__rng_next(&rng);
}

static void flip(uint8_t *out, uint32_t bits, uint32_t flips, uint64_t seed) {
    struct nigh__rng rng = {.state = nigh__mix(seed)};
    for (uint32_t i = 0; i < flips; i++) {
        const uint32_t bit = (uint32_t)(nigh__rng_next(&rng) % bits);
        out[bit / 8] = (uint8_t)(out[bit / 8] ^ 1u << bit % 8);
    }
}

static void make_signature(const struct shape *shape, uint64_t number, uint8_t *out) {
    const uint32_t bytes = (uint32_t)nigh_signature_bytes(shape->width_bits);
    const uint64_t draw = nigh__mix(number * 77 + shape->width_bits);
    switch (shape->kind) {
    case RANDOM:
        fill(out, bytes, draw);
        break;
    case CLUSTERED:
        fill(out, bytes, draw % 20);
        flip(out, shape->width_bits, (uint32_t)(draw >> 32) % (shape->width_bits / 3), draw);
        break;
    case COPIES:
        fill(out, bytes, draw % 7);
        flip(out, shape->width_bits, (uint32_t)(draw >> 32) % 6, draw % 97);
        break;
    case CROWDED:
        fill(out, bytes, 1);
        fill(out + bytes - 3, 3, draw);
        break;
    }
    padding_clear(out, 1, shape->width_bits);
}

static void write_segments(struct world *world) {
    const uint8_t *next = world->signatures;
    for (uint32_t s = 0; s < 4 && world->shape->segments[s] != 0; s++) {
        signatures_add(world->context, world->path, world->shape->width_bits, next, world->shape->segments[s]);
        next += (size_t)world->shape->segments[s] * world->bytes;
    }
}

static nigh_match *all_by_distance(const struct world *world, const uint8_t *query) {
    nigh_match *all = calloc(world->documents, sizeof *all);
    assert_non_null(all);
    for (uint64_t d = 0; d < world->documents; d++) {
        all[d].document = d;
        for (uint32_t i = 0; i < world->bytes; i++) {
            const unsigned differing = (unsigned)(query[i] ^ world->signatures[d * world->bytes + i]);
            all[d].distance += (uint32_t)__builtin_popcount(differing);
        }
    }
    qsort(all, world->documents, sizeof *all, compare_matches);
    return all;
}

/* A stored document, and near it, and somewhere. */
static void make_queries(struct world *world) {
    world->queries = malloc((size_t)QUERIES * world->bytes);
    assert_non_null(world->queries);
    for (uint32_t q = 0; q < QUERIES; q++) {
        uint8_t *query = world->queries + (size_t)q * world->bytes;
        memcpy(query, world->signatures + nigh__mix(q) % world->documents * world->bytes, world->bytes);
        if (q % 4 == 1) flip(query, world->shape->width_bits, 1 + q / 4, q);
        if (q % 4 == 2) flip(query, world->shape->width_bits, world->shape->width_bits / 8, q);
        if (q % 4 == 3) fill(query, world->bytes, 12345 + q);
        padding_clear(query, 1, world->shape->width_bits);
        world->truth[q] = all_by_distance(world, query);
    }
}

static void world_init(struct world *world, const struct shape *shape) {
    *world = (struct world){.shape = shape, .bytes = (uint32_t)nigh_signature_bytes(shape->width_bits)};
    for (uint32_t s = 0; s < 4; s++) world->documents += shape->segments[s];
    world->folder = scratch_new();
    world->path = path_in(world->folder, "c.nigh");
    world->signatures = malloc(world->documents * world->bytes);
    assert_non_null(world->signatures);
    for (uint64_t d = 0; d < world->documents; d++) make_signature(shape, d, world->signatures + d * world->bytes);
    world->context = context_new();
    write_segments(world);
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = shape->slice_width;
    options.min_rows = shape->min_rows;
    nigh_lists_result built = {.size = sizeof built};
    nigh_error error;
    assert_ok(nigh_lists_build(world->context, world->path, &options, &built, &error), &error);
    assert_true(built.built > 0);
    assert_ok(nigh_collection_open(world->context, world->path, NULL, &world->collection, &error), &error);
    make_queries(world);
}

static void world_release(struct world *world) {
    for (uint32_t q = 0; q < QUERIES; q++) free(world->truth[q]);
    nigh_collection_close(world->collection);
    nigh_context_free(world->context);
    scratch_free(world->folder);
    free(world->path);
    free(world->signatures);
    free(world->queries);
}

/* -------------------------------------------------------------------- the checks */

static void complain(const struct world *world, const nigh_search_options *options, size_t q, const char *what) {
    fail_msg("%s, %u bits, slices of %u: query %zu, k %u, radius %d, method %d, stop %d, breadth %d, admit %d, "
             "candidates %d, slices %d, postings %" PRId64 ", %u threads: %s",
             kind_names[world->shape->kind], world->shape->width_bits, world->shape->slice_width, q, options->k,
             (int)options->radius, (int)options->method, (int)options->stop, (int)options->breadth, (int)options->admit,
             (int)options->candidates, (int)options->slices, (int64_t)options->postings, options->threads, what);
}

/* How many of the true answers there are. */
static size_t expected_count(const struct world *world, const nigh_search_options *options, size_t q) {
    size_t count = 0;
    while (count < world->documents && count < options->k &&
           (options->radius == NIGH_ALL || world->truth[q][count].distance <= options->radius))
        count++;
    return count;
}

/* The distance of every match is the true one, they are in order, and none comes twice. */
static bool sound(const struct world *world, size_t q, const nigh_match *matches, size_t count) {
    const uint8_t *query = world->queries + q * world->bytes;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_matches(&matches[i - 1], &matches[i]) >= 0) return false;
        uint32_t distance = 0;
        for (uint32_t b = 0; b < world->bytes; b++)
            distance += (uint32_t)__builtin_popcount(
                (unsigned)(query[b] ^ world->signatures[matches[i].document * world->bytes + b]));
        if (distance != matches[i].distance) return false;
    }
    return true;
}

static void check_query(const struct world *world, const nigh_search_options *options, const nigh_results *results,
                        size_t q) {
    const size_t expected = expected_count(world, options, q);
    const nigh_match *truth = world->truth[q];
    size_t count = 0;
    const nigh_match *matches = nigh_results_matches(results, q, &count);
    nigh_proof proof = {.size = sizeof proof};
    nigh_error error;
    assert_ok(nigh_results_proof(results, q, &proof, &error), &error);
    if (!sound(world, q, matches, count)) complain(world, options, q, "unsound");
    if (count > expected) complain(world, options, q, "too many");
    if ((proof.exact != 0) != (proof.below == NIGH_ALL)) complain(world, options, q, "a proof at odds with itself");
    for (size_t i = 0; i < expected && truth[i].distance < proof.below; i++)
        if (i >= count || compare_matches(&matches[i], &truth[i]) != 0) complain(world, options, q, "the proof lies");
    if (options->stop == NIGH_STOP_CERTAIN && !proof.exact) complain(world, options, q, "not certain");
    if (options->method == NIGH_SEARCH_SCAN && (!proof.exact || proof.breadth != NIGH_ALL))
        complain(world, options, q, "the scan is exact");
}

static nigh_results *search(const struct world *world, const nigh_search_options *options, size_t first, size_t count) {
    nigh_results *results;
    nigh_error error;
    assert_ok(nigh_search(world->collection, world->queries + first * world->bytes, count, options, &results, &error),
              &error);
    return results;
}

static void check_same(const struct world *world, const nigh_search_options *options, const nigh_results *results,
                       size_t query, const nigh_results *others, size_t other_query) {
    size_t count = 0;
    size_t other_count = 0;
    const nigh_match *matches = nigh_results_matches(results, query, &count);
    const nigh_match *other = nigh_results_matches(others, other_query, &other_count);
    nigh_proof proof = {.size = sizeof proof};
    nigh_proof other_proof = {.size = sizeof other_proof};
    (void)nigh_results_proof(results, query, &proof, NULL);
    (void)nigh_results_proof(others, other_query, &other_proof, NULL);
    if (count != other_count || memcmp(matches, other, count * sizeof *matches) != 0)
        complain(world, options, query, "threads or batches change the answer");
    if (proof.exact != other_proof.exact || proof.below != other_proof.below || proof.breadth != other_proof.breadth)
        complain(world, options, query, "threads or batches change the proof");
}

struct totals {
    uint64_t queries, exact, listed, scanned;
};

/* One setting, with one thread and all queries; then other threads, and one by one. */
static void check_setting(const struct world *world, nigh_search_options options, struct totals *totals) {
    options.threads = 1;
    nigh_results *results = search(world, &options, 0, QUERIES);
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    uint64_t exact = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        nigh_proof proof = {.size = sizeof proof};
        check_query(world, &options, results, q);
        (void)nigh_results_proof(results, q, &proof, NULL);
        exact += proof.exact != 0;
        totals->listed += proof.breadth != NIGH_ALL;
    }
    assert_int_equal(info.exact_queries, exact);
    assert_int_equal(info.exact, exact == QUERIES);
    totals->queries += QUERIES;
    totals->exact += exact;
    totals->scanned += info.scanned;
    options.threads = 2 + (options.k + options.breadth) % 3;
    nigh_results *others = search(world, &options, 0, QUERIES);
    for (size_t q = 0; q < QUERIES; q++) check_same(world, &options, results, q, others, q);
    nigh_results_free(others);
    const size_t one = (options.k + options.candidates + options.breadth) % QUERIES;
    others = search(world, &options, one, 1);
    check_same(world, &options, results, one, others, 0);
    nigh_results_free(others);
    nigh_results_free(results);
}

/* -------------------------------------------------------------------- the tests */

static const struct shape shapes[] = {
    {RANDOM, 64, {900, 40, 500}, 8, 100},
    {RANDOM, 512, {700}, 7, 1},
    {CLUSTERED, 256, {1200, 30, 300, 1}, 7, 20},
    {CLUSTERED, 1032, {300, 300}, 6, 1},
    {CLUSTERED, 64, {2000}, 11, 1},
    {COPIES, 128, {600, 300, 900}, 10, 10},
    {COPIES, 8, {300, 200}, 4, 1},
    {CROWDED, 256, {800, 20}, 8, 100},
    {RANDOM, 63, {900, 40, 500}, 8, 100}, /* the paper's; 8 slices, of which 7 have 8 bits and one has 7 */
    {CLUSTERED, 63, {1500}, 16, 1},
    {COPIES, 9, {300, 200}, 4, 1}, /* three slices of 3 bits */
    {COPIES, 5, {60}, 4, 1},
    {CLUSTERED, 127, {800, 300}, 9, 1},
    {CLUSTERED, 1023, {300, 300}, 7, 1},
};

static uint32_t slices_of(const struct shape *shape) {
    return nigh_slices_count(shape->width_bits, shape->slice_width);
}

/* Every method and every rule, for every k and radius; the rest drawn. */
static void check_shape(const struct shape *shape, struct totals *totals) {
    struct world world;
    world_init(&world, shape);
    const uint32_t n = (uint32_t)world.documents;
    const uint32_t ks[] = {1, 2, 10, 100, n, n + 7, NIGH_ALL - 1, NIGH_ALL};
    const uint32_t radii[] = {NIGH_ALL, 0, 3, slices_of(shape), shape->width_bits / 4, shape->width_bits};
    const uint64_t budgets[] = {0, NIGH_ALL_64, NIGH_ALL_64, 1, n / 8 + 1, UINT64_C(10) * n};
    struct nigh__rng rng = {.state = shape->width_bits * 10 + shape->kind};
    for (size_t i = 0; i < sizeof ks / sizeof ks[0] * (sizeof radii / sizeof radii[0]); i++) {
        if ((i / 8 + i % 8 + shape->width_bits / 64) % 2 != 0) continue; /* every other is enough */
        for (uint32_t method = 0; method < 4; method++) {
            nigh_search_options options;
            nigh_search_options_init(&options);
            options.k = ks[i % 8];
            options.radius = radii[i / 8];
            options.method = (nigh_search_method)method;
            const uint64_t draw = nigh__rng_next(&rng);
            options.stop = draw % 2 == 0 ? NIGH_STOP_CERTAIN : NIGH_STOP_BREADTH;
            if (method == NIGH_SEARCH_SLICES_PLAIN && draw % 3 == 0) options.stop = NIGH_STOP_SEEN;
            options.postings = budgets[(draw >> 8) % 6];
            if ((draw >> 16) % 3 != 0) options.breadth = (uint32_t)((draw >> 20) % (shape->slice_width / 2 + 1));
            if ((draw >> 24) % 4 == 0 && options.breadth != (uint32_t)NIGH_DEFAULT)
                options.admit = (uint32_t)((draw >> 28) % (options.breadth + 1));
            if ((draw >> 32) % 3 == 0 && options.k < n) options.candidates = options.k + (uint32_t)((draw >> 36) % 64);
            if ((draw >> 44) % 4 == 0) options.slices = 1 + (uint32_t)((draw >> 48) % slices_of(shape));
            check_setting(&world, options, totals);
        }
    }
    world_release(&world);
}

static void test_every_way_of_searching(void **state) {
    (void)state;
    struct totals totals = {0};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) check_shape(&shapes[i], &totals);
    /* All of it happened: by lists and not, proven and not. */
    assert_true(totals.listed > totals.queries / 4 && totals.listed < totals.queries);
    assert_true(totals.exact > totals.queries / 4 && totals.exact < totals.queries);
    assert_true(totals.scanned > totals.queries / 10);
}

/* Near-copies in signatures so wide that a certain search by lists costs less than the scan, and takes them. */
static void test_certain_by_lists(void **state) {
    (void)state;
    static const struct shape shape = {CLUSTERED, 1024, {30000}, 14, 1};
    struct world world;
    world_init(&world, &shape);
    nigh_search_options options;
    nigh_search_options_init(&options);
    struct totals totals = {0};
    options.stop = NIGH_STOP_CERTAIN;
    options.k = 1;
    options.candidates = 50;
    check_setting(&world, options, &totals);
    assert_int_equal(totals.exact, QUERIES);
    assert_true(totals.listed >= QUERIES / 3 && totals.scanned > 0 && totals.scanned < QUERIES);
    options.k = NIGH_ALL;
    options.candidates = (uint32_t)NIGH_DEFAULT;
    options.radius = 60;
    totals = (struct totals){0};
    check_setting(&world, options, &totals);
    assert_int_equal(totals.listed, QUERIES);
    assert_int_equal(totals.exact, QUERIES);
    options.radius = 500;
    totals = (struct totals){0};
    check_setting(&world, options, &totals);
    assert_int_equal(totals.scanned, QUERIES);
    world_release(&world);
}

/* The work of a query in nanoseconds as slices/slice_use.c counts them. */
static double work(const nigh_results *results, uint32_t words) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    return 25.0 * (double)info.lists + 2.0 * (double)info.postings + 0.08 * words * (double)info.distances;
}

/* All signatures share most slices: lists as long as the collection, which must not cost more than reading it twice. */
static void test_crowds_cost_little(void **state) {
    (void)state;
    static const struct shape shape = {CROWDED, 1024, {40000}, 12, 1};
    struct world world;
    world_init(&world, &shape);
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.threads = 1;
    options.method = NIGH_SEARCH_SCAN;
    nigh_results *results = search(&world, &options, 0, QUERIES);
    const double scan = work(results, 16);
    nigh_results_free(results);
    for (int stop = NIGH_STOP_BREADTH; stop <= NIGH_STOP_CERTAIN; stop++) {
        for (int method = NIGH_SEARCH_AUTO; method <= NIGH_SEARCH_SLICES; method += 2) {
            for (uint32_t i = 0; i < 10; i++) {
                const uint32_t breadth = i / 2;
                options.k = i % 2 == 0 ? 10 : NIGH_ALL;
                options.radius = i % 2 == 0 ? NIGH_ALL : 8;
                options.method = (nigh_search_method)method;
                options.stop = (nigh_search_stop)stop;
                options.breadth = breadth == 4 ? (uint32_t)NIGH_DEFAULT : breadth;
                results = search(&world, &options, 0, QUERIES);
                const double taken = work(results, 16);
                for (size_t q = 0; q < QUERIES; q++) check_query(&world, &options, results, q);
                nigh_results_free(results);
                if (taken > 2.1 * scan)
                    fail_msg("method %d, stop %d, breadth %u: %.1f times the scan", method, stop, breadth,
                             taken / scan);
            }
        }
    }
    world_release(&world);
}

/* All within a radius that the breadth proves are all, however long the lists are: by the scan where they do not fit.
 */
static void test_all_within_a_radius(void **state) {
    (void)state;
    static const struct shape shape = {CROWDED, 1024, {40000}, 16, 1};
    struct world world;
    world_init(&world, &shape);
    for (int method = NIGH_SEARCH_AUTO; method <= NIGH_SEARCH_SLICES; method += 2) {
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.method = (nigh_search_method)method;
        options.k = NIGH_ALL;
        options.radius = 10;
        nigh_results *results = search(&world, &options, 0, QUERIES);
        for (size_t q = 0; q < QUERIES; q++) {
            nigh_proof proof = {.size = sizeof proof};
            size_t count = 0;
            (void)nigh_results_matches(results, q, &count);
            (void)nigh_results_proof(results, q, &proof, NULL);
            check_query(&world, &options, results, q);
            if (!proof.exact || count != expected_count(&world, &options, q))
                complain(&world, &options, q, "not all within the radius");
        }
        nigh_results_free(results);
    }
    world_release(&world);
}

/* Someone cuts a file while it is searched: both are guarded. */
static void test_files_cut_short(void **state) {
    (void)state;
    static const struct shape shape = {RANDOM, 256, {2000}, 8, 1};
    static const char *const names[] = {"slices-", "segment-"};
    const char *sanitize = getenv("NIGH_SANITIZE");
    if (sanitize != NULL && strstr(sanitize, "thread") != NULL) skip(); /* it takes the jump for a handler at work */
    nigh_error error;
    assert_ok(nigh_fault_guard_install(&error), &error);
    for (int which = 0; which < 2; which++) {
        struct world world;
        world_init(&world, &shape);
        nigh_search_options options;
        nigh_search_options_init(&options);
        options.method = NIGH_SEARCH_SLICES;
        options.postings = NIGH_ALL_64;
        char *file = file_named_like(world.path, names[which]);
        assert_int_equal(truncate(file, 4096), 0);
        for (options.threads = 1; options.threads <= 3; options.threads++) {
            nigh_results *results;
            assert_int_equal(nigh_search(world.collection, world.queries, QUERIES, &options, &results, &error),
                             NIGH_EIO);
            assert_null(results);
            assert_non_null(strstr(error.file, names[which]));
        }
        free(file);
        world_release(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_of_searching), cmocka_unit_test(test_certain_by_lists),
        cmocka_unit_test(test_crowds_cost_little),     cmocka_unit_test(test_all_within_a_radius),
        cmocka_unit_test(test_files_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
