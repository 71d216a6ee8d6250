/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_search() against a loop over all documents: collections of several
 * segments with copies within and between them, every k and radius, any number
 * of threads, every kernel.  All must give the same matches in the same order.
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
#include "collection/collection.h"
#include "support/support.h"

/* A collection on disk, and the same in memory. */
struct world {
    char *folder;
    char *path;
    uint32_t width_bits;
    uint32_t bytes; /* of a signature */
    uint64_t documents;
    uint8_t *signatures;
    uint64_t seed; /* printed where a test fails */
};

/*
 * Documents draw from `distinct` signatures, whose bits differ from each other
 * in few places: many copies and many ties.
 */
static void world_init(struct world *world, uint32_t width_bits, uint32_t segments, uint32_t a_segment,
                       uint32_t distinct, uint64_t seed) {
    *world =
        (struct world){.width_bits = width_bits, .bytes = (uint32_t)nigh_signature_bytes(width_bits), .seed = seed};
    world->documents = (uint64_t)segments * a_segment;
    world->folder = scratch_new();
    world->path = path_in(world->folder, "c.nigh");
    world->signatures = malloc(world->documents * world->bytes + 1);
    assert_non_null(world->signatures);
    struct nigh__rng rng = {.state = seed};
    for (uint64_t d = 0; d < world->documents; d++) {
        uint64_t which = nigh__rng_next(&rng) % distinct;
        for (uint32_t i = 0; i < world->bytes; i++) {
            uint64_t noise = nigh__mix(seed + which * 4099 + i);
            world->signatures[d * world->bytes + i] = (uint8_t)(i % 3 == 0 ? noise & 0x11 : noise % 16 == 0);
        }
        padding_clear(world->signatures + d * world->bytes, 1, width_bits);
    }
}

static void world_release(struct world *world) {
    scratch_free(world->folder);
    free(world->path);
    free(world->signatures);
}

static void world_write(const struct world *world, nigh_context *context, uint32_t segments) {
    const uint64_t a_segment = world->documents / segments;
    for (uint32_t s = 0; s < segments; s++)
        signatures_add(context, world->path, world->width_bits, world->signatures + s * a_segment * world->bytes,
                       a_segment);
}

/* -------------------------------------------------------------------- the oracle */

/* What is compared: all bits, those of masks, all by their weights, those of masks by their weights. */
enum ranking { PLAIN, MASKED, WEIGHTED, BOTH, RANKINGS };

static bool bit_of(const uint8_t *bytes, uint32_t bit) { return (bytes[bit / 8] >> bit % 8 & 1) != 0; }

/* As nigh_search_rank defines it. */
static uint32_t level_of(int weight, int heaviest) {
    int best = 0;
    for (int level = 1; level <= 8; level++)
        if (level != 7 && abs(8 * weight - level * heaviest) < abs(8 * weight - best * heaviest)) best = level;
    return (uint32_t)best;
}

/* What each bit of a query counts; `mask` or `weights` NULL: there are none. */
static void levels_make(uint32_t *levels, uint32_t width, const uint8_t *mask, const uint8_t *weights) {
    int heaviest = 1;
    for (uint32_t j = 0; j < width; j++) levels[j] = mask == NULL || bit_of(mask, j);
    for (uint32_t j = 0; weights != NULL && j < width; j++)
        if (levels[j] != 0 && weights[j] > heaviest) heaviest = weights[j];
    for (uint32_t j = 0; weights != NULL && j < width; j++) levels[j] *= level_of(weights[j], heaviest);
}

/* All documents for a query, nearest first. */
static nigh_match *oracle(const struct world *world, const uint8_t *query, const uint32_t *levels) {
    nigh_match *all = calloc(world->documents + 1, sizeof *all);
    assert_non_null(all);
    for (uint64_t d = 0; d < world->documents; d++) {
        const uint8_t *signature = world->signatures + d * world->bytes;
        all[d].document = d;
        for (uint32_t j = 0; j < 8 * world->bytes; j++)
            if (bit_of(query, j) != bit_of(signature, j)) all[d].distance += levels[j];
    }
    qsort(all, world->documents, sizeof *all, compare_matches);
    return all;
}

/* How the answer is to be read. */
static void check_scale(const nigh_results *results, size_t q, const uint32_t *levels, uint32_t width,
                        enum ranking ranking) {
    nigh_scale scale = {.size = sizeof scale};
    uint32_t whole = 0;
    nigh_error error;
    for (uint32_t j = 0; j < width; j++) whole += levels[j];
    assert_ok(nigh_results_scale(results, q, &scale, &error), &error);
    assert_int_equal(scale.rank, ranking >= WEIGHTED ? NIGH_RANK_WEIGHTED : NIGH_RANK_BITS);
    assert_int_equal(scale.whole, whole);
    assert_true(scale.chance <= whole / 2);
}

static void check_query(const struct world *world, const nigh_results *results, size_t q, const nigh_match *all,
                        const nigh_search_options *options, const char *kernel) {
    size_t expected = 0;
    while (expected < world->documents && expected < options->k &&
           (options->radius == NIGH_ALL || all[expected].distance <= options->radius))
        expected++;
    size_t count = 0;
    const nigh_match *matches = nigh_results_matches(results, q, &count);
    assert_non_null(matches);
    if (count != expected || memcmp(matches, all, count * sizeof *matches) != 0)
        fail_msg("seed %" PRIu64 ": query %zu, k %u, radius %u, %u threads, %s: %zu matches, not %zu", world->seed, q,
                 options->k, options->radius, options->threads, kernel, count, expected);
}

/* -------------------------------------------------------------------- the tests */

static void columns_add(nigh_context *context, const char *path) {
    nigh_columns_options options;
    nigh_error error;
    nigh_columns_options_init(&options);
    options.min_rows = 1;
    assert_ok(nigh_columns_build(context, path, &options, NULL, &error), &error);
}

/* Most are 0, or none; something must count. */
static void draw_weights(const struct world *world, struct nigh__rng *rng, size_t q, const uint8_t *mask,
                         uint8_t *weights) {
    for (uint32_t j = 0; j < world->width_bits; j++) {
        const uint64_t draw = nigh__rng_next(rng);
        weights[j] = (uint8_t)(draw % 4 == 0 || q % 3 == 0 ? draw >> 8 : 0);
    }
    for (uint32_t i = 0; i < world->bytes; i++) {
        if (mask[i] == 0) continue;
        const uint32_t bit = 8 * i + (uint32_t)__builtin_ctz(mask[i]);
        if (bit < world->width_bits) weights[bit] |= 1;
    }
    weights[0] |= 1;
}

/* A signature of the world, or one that differs from it in two bits. */
static void draw_query(const struct world *world, struct nigh__rng *rng, size_t q, uint8_t *query) {
    if (world->documents == 0 || world->bytes == 0) abort();
    const uint64_t like = nigh__rng_next(rng) % world->documents;
    memcpy(query, world->signatures + like * world->bytes, world->bytes);
    /* Not 0: seen above; the analyzer loses it. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    if (q % 2 == 1) query[nigh__rng_next(rng) % world->bytes] ^= 5;
    padding_clear(query, 1, world->width_bits);
}

/* With masks of few bits, of many, of none and of all, and weights of which most are 0, or none. */
static void check_world(const struct world *world, const nigh_collection *collection, const char *kernel,
                        enum ranking ranking, nigh_search_method method) {
    const bool masked = ranking == MASKED || ranking == BOTH;
    const bool weighted = ranking >= WEIGHTED;
    static const uint32_t counts[] = {1, 2, 5, 70};
    static const uint32_t threads[] = {1, 2, 3, 7};
    const uint32_t width = world->width_bits;
    const uint32_t n = (uint32_t)world->documents;
    const uint32_t ks[] = {1, 2, 10, 100, n, n + 5, NIGH_ALL};
    const uint32_t radii[] = {0, 3, width / 2, width, NIGH_ALL};
    struct nigh__rng rng = {.state = world->seed + 1};
    uint8_t *queries = malloc((size_t)70 * world->bytes);
    uint8_t *masks = malloc((size_t)70 * world->bytes);
    uint8_t *weights = malloc((size_t)70 * width);
    uint32_t *levels = malloc((size_t)70 * width * sizeof *levels);
    nigh_match *all[70];
    assert_non_null(queries);
    assert_non_null(masks);
    assert_non_null(weights);
    assert_non_null(levels);
    for (size_t q = 0; q < 70; q++) {
        draw_query(world, &rng, q, queries + q * world->bytes);
        uint8_t *mask = masks + q * world->bytes;
        for (uint32_t i = 0; i < world->bytes; i++) {
            const uint64_t draw = nigh__rng_next(&rng);
            mask[i] = q % 4 == 0   ? (uint8_t)(draw & draw >> 8 & draw >> 16)
                      : q % 4 == 1 ? (uint8_t)(draw | draw >> 8)
                      : q % 4 == 2 ? 0xff
                                   : (uint8_t)(ranking == MASKED ? 0 : 1);
        }
        draw_weights(world, &rng, q, mask, weights + q * width);
        if (masked && weighted) mask[0] |= 1;
        levels_make(levels + q * width, width, masked ? mask : NULL, weighted ? weights + q * width : NULL);
        all[q] = oracle(world, queries + q * world->bytes, levels + q * width);
    }
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        for (size_t j = 0; j < sizeof radii / sizeof radii[0]; j++) {
            nigh_search_options options;
            nigh_search_options_init(&options);
            options.k = ks[i];
            options.radius = radii[j];
            options.threads = threads[(i + j) % 4];
            options.masks = masked ? masks : NULL;
            options.weights = weighted ? weights : NULL;
            options.rank = weighted ? NIGH_RANK_WEIGHTED : NIGH_RANK_AUTO;
            options.method = method;
            const size_t count = counts[(i * 3 + j) % 4];
            nigh_results *results;
            nigh_error error;
            assert_ok(nigh_search(collection, queries, count, &options, &results, &error), &error);
            for (size_t q = 0; q < count; q++) {
                check_query(world, results, q, all[q], &options, kernel);
                check_scale(results, q, levels + q * width, width, ranking);
            }
            nigh_results_free(results);
        }
    }
    for (size_t q = 0; q < 70; q++) free(all[q]);
    free(queries);
    free(masks);
    free(weights);
    free(levels);
}

static void test_against_a_plain_loop(void **state) {
    (void)state;
    static const struct {
        uint32_t width_bits, segments, a_segment, distinct;
    } cases[] = {
        {64, 1, 500, 40},  {64, 3, 200, 1000},  {8, 2, 300, 9},   {72, 4, 150, 30},  {1024, 3, 250, 60},
        {1032, 2, 130, 1}, {2048, 1, 300, 500}, {1, 2, 50, 2},    {7, 2, 200, 60},   {9, 1, 300, 99},
        {31, 2, 200, 99},  {63, 2, 200, 99},    {65, 2, 200, 99}, {127, 1, 300, 99}, {1023, 2, 150, 60},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world world;
        world_init(&world, cases[i].width_bits, cases[i].segments, cases[i].a_segment, cases[i].distinct, 1000 + i);
        nigh_context *writing = context_new();
        world_write(&world, writing, cases[i].segments);
        columns_add(writing, world.path);
        nigh_context_free(writing);
        for (size_t kernel = 0; nigh_kernel_name(kernel, NULL) != NULL; kernel++) {
            int usable = 0;
            const char *name = nigh_kernel_name(kernel, &usable);
            if (!usable) continue;
            nigh_context *context = context_with(NULL, NULL, name);
            nigh_collection *collection;
            nigh_error error;
            assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
            for (enum ranking ranking = PLAIN; ranking < RANKINGS; ranking++) {
                check_world(&world, collection, name, ranking, NIGH_SEARCH_SCAN);
                check_world(&world, collection, name, ranking, NIGH_SEARCH_COLUMNS);
            }
            nigh_collection_close(collection);
            nigh_context_free(context);
        }
        world_release(&world);
    }
}

static void test_what_results_say(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 128, 2, 100, 20, 7);
    nigh_context *context = context_new();
    world_write(&world, context, 2);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
    nigh_collection_info about = {.size = sizeof about};
    nigh_collection_describe(collection, &about);
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = 4;
    nigh_results *results;
    assert_ok(nigh_search(collection, world.signatures, 3, &options, &results, &error), &error);
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    assert_int_equal(info.queries, 3);
    assert_int_equal(info.matches, 12);
    assert_int_equal(info.distances, 3 * about.signatures);
    assert_int_equal(info.exact, 1);
    size_t count = 99;
    assert_null(nigh_results_matches(results, 3, &count));
    assert_int_equal(count, 0);
    nigh_results_free(results);
    nigh_results_free(NULL);

    /* No query is an answer too. */
    assert_ok(nigh_search(collection, NULL, 0, NULL, &results, &error), &error);
    assert_null(nigh_results_matches(results, 0, &count));
    nigh_results_free(results);

    options.k = 0;
    assert_int_equal(nigh_search(collection, world.signatures, 1, &options, &results, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "k must be at least 1");
    assert_null(results);
    assert_int_equal(nigh_search(collection, NULL, 1, NULL, &results, &error), NIGH_EINVAL);
    assert_null(results);
    nigh_collection_close(collection);
    nigh_context_free(context);
    world_release(&world);
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)stage;
    (void)done;
    (void)total;
    return 1;
}

static void test_cancelling(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 64, 1, 300, 300, 8);
    nigh_context *context = context_new();
    world_write(&world, context, 1);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
    const nigh_progress progress = {.report = stop};
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.progress = &progress;
    nigh_results *results;
    assert_int_equal(nigh_search(collection, world.signatures, 1, &options, &results, &error), NIGH_ECANCELLED);
    assert_null(results);
    nigh_collection_close(collection);
    nigh_context_free(context);
    world_release(&world);
}

static void test_an_empty_collection(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 64, 1, 0, 1, 9);
    nigh_context *context = context_new();
    world_write(&world, context, 1);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
    const uint8_t query[8] = {1};
    nigh_results *results;
    assert_ok(nigh_search(collection, query, 1, NULL, &results, &error), &error);
    size_t count = 99;
    assert_non_null(nigh_results_matches(results, 0, &count));
    assert_int_equal(count, 0);
    nigh_results_free(results);
    nigh_collection_close(collection);
    nigh_context_free(context);
    world_release(&world);
}

static void test_running_out_of_memory(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 64, 2, 400, 100, 10);
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    world_write(&world, context, 2);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = 600;
    options.threads = 1;
    uint8_t weights[128];
    uint32_t levels[64];
    for (uint32_t i = 0; i < 128; i++) weights[i] = (uint8_t)(3 * i);
    levels_make(levels, 64, NULL, weights);
    options.weights = weights;
    options.rank = NIGH_RANK_WEIGHTED;
    nigh_match *all = oracle(&world, world.signatures, levels);
    const int64_t live = memory.live;
    uint64_t refused = 0;
    for (uint64_t n = 0; n < 200; n++) {
        memory.fail_at = memory.calls + n;
        nigh_results *results;
        nigh_status status = nigh_search(collection, world.signatures, 2, &options, &results, &error);
        if (status == NIGH_OK) {
            check_query(&world, results, 0, all, &options, "short of memory");
        } else {
            assert_int_equal(status, NIGH_ENOMEM);
            refused++;
        }
        nigh_results_free(results);
        assert_int_equal(memory.live, live);
    }
    assert_true(refused > 20 && refused < 200);
    memory.fail_at = UINT64_MAX;
    free(all);
    nigh_collection_close(collection);
    nigh_context_free(context);
    world_release(&world);
}

/* --------------------------------------------------------- segments that lie */

/* Writes one number into a section of an open segment, through its file: the map shows it at once. */
static void falsify(const struct nigh__segment *segment, enum nigh__section_type type, uint64_t index, uint32_t value) {
    FILE *file = fopen(segment->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)(segment->sections[type].offset + index * 4), SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void expect_a_lie(const nigh_collection *collection, const uint8_t *query, uint32_t k) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = k;
    nigh_results *results;
    nigh_error error;
    assert_int_equal(nigh_search(collection, query, 1, &options, &results, &error), NIGH_ECORRUPT);
    assert_null(results);
    assert_true(error.offset != NIGH_NO_OFFSET && error.file[0] != '\0');
}

static void test_segments_that_lie(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 64, 1, 60, 6, 11);
    nigh_context *context = context_new();
    world_write(&world, context, 1);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
    const struct nigh__segment *segment = collection->segments[0];
    const uint32_t start = segment->group_starts[1];
    const uint32_t document = segment->group_documents[0];

    falsify(segment, NIGH__SECTION_GROUP_STARTS, 1, UINT32_MAX);
    expect_a_lie(collection, world.signatures, NIGH_ALL);
    expect_a_lie(collection, world.signatures, 1);
    falsify(segment, NIGH__SECTION_GROUP_STARTS, 1, 0);
    expect_a_lie(collection, world.signatures, NIGH_ALL);
    falsify(segment, NIGH__SECTION_GROUP_STARTS, 1, 60); /* the first row owns them all, the second less than none */
    expect_a_lie(collection, world.signatures, NIGH_ALL);
    falsify(segment, NIGH__SECTION_GROUP_STARTS, 1, start);

    falsify(segment, NIGH__SECTION_GROUP_DOCUMENTS, 0, 60);
    expect_a_lie(collection, world.signatures, NIGH_ALL);
    falsify(segment, NIGH__SECTION_GROUP_DOCUMENTS, 0, UINT32_MAX);
    expect_a_lie(collection, world.signatures, 1);
    falsify(segment, NIGH__SECTION_GROUP_DOCUMENTS, 0, document);

    nigh_results *results;
    assert_ok(nigh_search(collection, world.signatures, 1, NULL, &results, &error), &error);
    nigh_results_free(results);
    nigh_collection_close(collection);
    nigh_context_free(context);
    world_release(&world);
}

/* Rows that own the same documents, with a row between them that would tell but is too far to be asked. */
static void test_groups_that_overlap(void **state) {
    (void)state;
    struct world world;
    world_init(&world, 64, 1, 6, 1, 12);
    memset(world.signatures, 0, (size_t)6 * 8);
    for (size_t d = 0; d < 6; d++) world.signatures[d * 8] = d % 3 == 0 ? 0 : d % 3 == 1 ? 0xff : 1;
    nigh_context *context = context_new();
    world_write(&world, context, 1);
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
    assert_int_equal(collection->segments[0]->signatures, 3);
    falsify(collection->segments[0], NIGH__SECTION_GROUP_STARTS, 1, 6);
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = NIGH_ALL;
    options.radius = 3;
    nigh_results *results;
    assert_int_equal(nigh_search(collection, world.signatures, 1, &options, &results, &error), NIGH_ECORRUPT);
    assert_string_equal(error.why, "a document belongs to several signatures");
    nigh_collection_close(collection);
    nigh_context_free(context);
    world_release(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_plain_loop),
        cmocka_unit_test(test_what_results_say),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_an_empty_collection),
        cmocka_unit_test(test_running_out_of_memory),
        cmocka_unit_test(test_segments_that_lie),
        cmocka_unit_test(test_groups_that_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
