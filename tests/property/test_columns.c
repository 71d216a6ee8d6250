/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of columns against the scan, and with a slack against its plain oracle: collections of several
 * super-blocks, crowds at one distance, rows that come nearest last, for all rankings, kernels and threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "collection/collection.h"
#include "columns/column_scan.h"
#include "support/support.h"

#define QUERIES 9u
#define MAX_WIDTH 512u

enum order { ANY, NEAREST_LAST, NEAREST_FIRST };

struct shape {
    uint32_t width_bits;
    uint32_t segments[3];
    uint32_t clusters; /* few, with members that differ little: crowds at one distance */
    enum order order;
};

static const struct shape shapes[] = {
    {64, {700}, 3, ANY},
    {128, {1024}, 7, NEAREST_LAST},
    {72, {1025}, 2, NEAREST_FIRST},
    {256, {20000}, 5, ANY},
    {200, {9000, 3}, 1, NEAREST_LAST},
    {512, {2050, 512, 1500}, 20, ANY},
    {128, {17000}, 4, NEAREST_LAST},
    {63, {900}, 3, ANY},
    {9, {300}, 2, ANY},
    {127, {2050, 5}, 4, NEAREST_LAST},
};

struct world {
    const struct shape *shape;
    uint32_t bytes;
    char *scratch;
    char *path;
    uint8_t *signatures;
    uint8_t queries[QUERIES * MAX_WIDTH / 8];
    uint8_t masks[QUERIES * MAX_WIDTH / 8];
    uint8_t weights[QUERIES * MAX_WIDTH];
};

static const uint8_t *sorted_by;
static size_t sorted_bytes;

static uint32_t distance_to_sorted(const uint8_t *row) {
    uint32_t distance = 0;
    for (size_t i = 0; i < sorted_bytes; i++) distance += (uint32_t)__builtin_popcount((unsigned)row[i] ^ sorted_by[i]);
    return distance;
}

static int nearer_last(const void *a, const void *b) {
    const uint32_t x = distance_to_sorted(a);
    const uint32_t y = distance_to_sorted(b);
    return x == y ? memcmp(a, b, sorted_bytes) : (x < y) - (x > y);
}

static int nearer_first(const void *a, const void *b) { return nearer_last(b, a); }

/* Members of a cluster differ from its centre in one bit of 16, more or less. */
static void world_rows(struct world *world, uint64_t rows, struct nigh__rng *rng) {
    const struct shape *shape = world->shape;
    uint8_t centres[32][MAX_WIDTH / 8];
    if (shape->clusters == 0) abort();
    for (uint32_t c = 0; c < shape->clusters; c++)
        for (uint32_t i = 0; i < world->bytes; i++) centres[c][i] = (uint8_t)(nigh__rng_next(rng) >> 24);
    for (uint64_t r = 0; r < rows; r++) {
        const uint8_t *centre = centres[nigh__rng_next(rng) % shape->clusters];
        for (uint32_t i = 0; i < world->bytes; i++) {
            const uint64_t draw = nigh__rng_next(rng);
            world->signatures[r * world->bytes + i] =
                (uint8_t)(centre[i] ^ (draw & draw >> 8 & draw >> 16 & (r % 3 == 0 ? UINT64_MAX : draw >> 24)));
        }
    }
    padding_clear(world->signatures, rows, shape->width_bits);
    sorted_by = centres[0];
    sorted_bytes = world->bytes;
    if (shape->order != ANY)
        qsort(world->signatures, rows, world->bytes, shape->order == NEAREST_LAST ? nearer_last : nearer_first);
    sorted_by = NULL;
}

/* Like a row, in few of the bits, in many, in all, or in none; with weights of which most are 0, or few. */
static void world_queries(struct world *world, uint64_t rows, struct nigh__rng *rng) {
    const uint32_t width = world->shape->width_bits;
    for (size_t q = 0; q < QUERIES; q++) {
        uint8_t *mask = world->masks + q * world->bytes;
        uint8_t *weights = world->weights + q * width;
        memcpy(world->queries + q * world->bytes, world->signatures + nigh__rng_next(rng) % rows * world->bytes,
               world->bytes);
        world->queries[q * world->bytes + q % world->bytes] ^= 0x15;
        padding_clear(world->queries + q * world->bytes, 1, width);
        for (uint32_t i = 0; i < world->bytes; i++) {
            const uint64_t draw = nigh__rng_next(rng);
            mask[i] = (uint8_t)(q % 4 == 0 ? draw & draw >> 8 : q % 4 == 1 ? draw | draw >> 8 : q % 4 == 2 ? 0xff : 0);
        }
        padding_clear(mask, 1, width);
        for (uint32_t j = 0; j < width; j++) {
            const uint64_t draw = nigh__rng_next(rng);
            weights[j] = (uint8_t)(draw % 3 == 0 || q % 3 == 0 ? draw >> 8 : 0);
        }
        weights[0] |= 1; /* something must count */
    }
}

static void columns_add(nigh_context *context, const char *path) {
    nigh_columns_options options;
    nigh_error error;
    nigh_columns_options_init(&options);
    options.min_rows = 1;
    assert_ok(nigh_columns_build(context, path, &options, NULL, &error), &error);
}

static void world_init(struct world *world, const struct shape *shape, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    *world = (struct world){
        .shape = shape, .bytes = (uint32_t)nigh_signature_bytes(shape->width_bits), .scratch = scratch_new()};
    const uint64_t rows = (uint64_t)shape->segments[0] + shape->segments[1] + shape->segments[2];
    world->path = path_in(world->scratch, "c.nigh");
    world->signatures = malloc(rows * world->bytes);
    assert_non_null(world->signatures);
    world_rows(world, rows, &rng);
    world_queries(world, rows, &rng);
    nigh_context *context = context_new();
    uint64_t first = 0;
    for (size_t s = 0; s < 3 && shape->segments[s] > 0; first += shape->segments[s++])
        signatures_add(context, world->path, shape->width_bits, world->signatures + first * world->bytes,
                       shape->segments[s]);
    columns_add(context, world->path);
    nigh_context_free(context);
}

static void world_release(struct world *world) {
    free(world->signatures);
    free(world->path);
    scratch_free(world->scratch);
}

/* The context with each kernel of this CPU in turn; NULL past the last. */
static nigh_context *context_of_kernel(size_t *kernel) {
    for (int usable = 0; nigh_kernel_name(*kernel, NULL) != NULL; ++*kernel) {
        const char *name = nigh_kernel_name(*kernel, &usable);
        if (usable) {
            ++*kernel;
            return context_with(NULL, NULL, name);
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- exact -- */

enum ranking { PLAIN, MASKED, WEIGHTED, BOTH, RANKINGS };

static nigh_search_options options_of(const struct world *world, enum ranking ranking) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    if (ranking == MASKED || ranking == BOTH) options.masks = world->masks;
    if (ranking >= WEIGHTED) {
        options.weights = world->weights;
        options.rank = NIGH_RANK_WEIGHTED;
    }
    return options;
}

/* Masks of nothing go with no weights. */
static uint32_t queries_of(enum ranking ranking) { return ranking == BOTH ? 3 : QUERIES; }

static void expect_same(const nigh_results *a, const nigh_results *b, size_t count, const char *kernel) {
    for (size_t q = 0; q < count; q++) {
        size_t many;
        size_t some;
        nigh_proof proof = {.size = sizeof proof};
        const nigh_match *x = nigh_results_matches(a, q, &many);
        const nigh_match *y = nigh_results_matches(b, q, &some);
        if (many != some || (many > 0 && memcmp(x, y, many * sizeof *x) != 0))
            fail_msg("query %zu differs from the scan, by %s", q, kernel);
        assert_ok(nigh_results_proof(b, q, &proof, NULL), &(nigh_error){0});
        assert_int_equal(proof.exact, 1);
    }
}

static void check_exact(const struct world *world, const nigh_collection *collection, enum ranking ranking,
                        const char *kernel) {
    static const uint32_t ks[] = {1, 10, 700, NIGH_ALL};
    const uint32_t width = world->shape->width_bits;
    const uint32_t radii[] = {NIGH_ALL, width / 16, ranking >= WEIGHTED ? width : 0};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            nigh_search_options options = options_of(world, ranking);
            if (ks[i] == NIGH_ALL && radii[j] == NIGH_ALL && world->shape->segments[0] > 2048) continue; /* long */
            nigh_results *scanned;
            nigh_error error;
            options.k = ks[i];
            options.radius = radii[j];
            options.method = NIGH_SEARCH_SCAN;
            assert_ok(nigh_search(collection, world->queries, queries_of(ranking), &options, &scanned, &error), &error);
            options.method = NIGH_SEARCH_COLUMNS;
            for (options.threads = 1 + (i + j) % 2; options.threads <= 3; options.threads += 2) {
                nigh_results *found;
                assert_ok(nigh_search(collection, world->queries, queries_of(ranking), &options, &found, &error),
                          &error);
                expect_same(scanned, found, queries_of(ranking), kernel);
                nigh_results_free(found);
            }
            nigh_results_free(scanned);
        }
    }
}

static void test_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct world world;
        world_init(&world, &shapes[i], 100 + i);
        size_t kernel = 0;
        for (nigh_context *context; (context = context_of_kernel(&kernel)) != NULL; nigh_context_free(context)) {
            nigh_collection *collection;
            nigh_error error;
            assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
            for (enum ranking ranking = PLAIN; ranking < RANKINGS; ranking++)
                check_exact(&world, collection, ranking, nigh_context_kernel(context));
            nigh_collection_close(collection);
        }
        world_release(&world);
    }
}

/* ------------------------------------------------------------------------ with a slack -- */

/* A segment, and plans of all queries in it. */
struct slack_case {
    const nigh_context *context;
    struct nigh__columns columns;
    struct nigh__column_plan plans[QUERIES];
    uint32_t limits[QUERIES];
};

static void slack_case_init(struct slack_case *one, const struct world *world, const nigh_context *context,
                            const struct nigh__segment *segment, enum ranking ranking) {
    nigh_error error;
    one->context = context;
    assert_ok(nigh__columns_of_segment(segment, &one->columns, &error), &error);
    for (size_t q = 0; q < QUERIES; q++) {
        uint64_t query[MAX_WIDTH / 64] = {0};
        uint64_t mask[MAX_WIDTH / 64] = {0};
        uint64_t planes[NIGH__PLANES * MAX_WIDTH / 64] = {0};
        memcpy(query, world->queries + q * world->bytes, world->bytes);
        memcpy(mask, world->masks + q * world->bytes, world->bytes);
        one->limits[q] = q % 4 == 3 ? world->shape->width_bits : UINT32_MAX;
        if (ranking >= WEIGHTED)
            (void)nigh__planes_weigh(world->weights + q * world->shape->width_bits, ranking == BOTH ? mask : NULL,
                                     world->shape->width_bits, planes);
        else
            memcpy(planes, mask, sizeof mask);
        const uint32_t plane_count = ranking == PLAIN ? 0 : ranking == MASKED ? 1 : NIGH__PLANES;
        assert_true(
            nigh__column_plan_init(&one->plans[q], context, world->shape->width_bits, query, planes, plane_count));
    }
}

static void slack_case_release(struct slack_case *one) {
    for (uint32_t q = 0; q < QUERIES; q++) nigh__column_plan_release(&one->plans[q]);
}

static struct nigh__column_scan scan_of(const struct slack_case *one, uint32_t first, uint32_t count, double slack,
                                        uint32_t k, uint32_t threads) {
    return (struct nigh__column_scan){.context = one->context,
                                      .columns = &one->columns,
                                      .plans = one->plans + first,
                                      .query_count = count,
                                      .limits = one->limits + first,
                                      .k = k,
                                      .slack = slack,
                                      .threads = threads};
}

static void answers_init(struct nigh__column_answer answers[QUERIES]) {
    for (uint32_t q = 0; q < QUERIES; q++) answers[q] = (struct nigh__column_answer){.keys = NIGH__ARRAY(uint64_t)};
}

static void answers_release(const nigh_context *context, struct nigh__column_answer answers[QUERIES]) {
    for (uint32_t q = 0; q < QUERIES; q++) nigh__array_release(context, &answers[q].keys);
}

/* `counts`: also how many rows were counted to their end. */
static void expect_same_answers(const struct nigh__column_answer *a, const struct nigh__column_answer *b,
                                uint32_t count, bool counts) {
    for (uint32_t q = 0; q < count; q++) {
        assert_int_equal(a[q].keys.count, b[q].keys.count);
        if (a[q].keys.count > 0)
            assert_memory_equal(a[q].keys.data, b[q].keys.data, a[q].keys.count * sizeof(uint64_t));
        if (counts) assert_int_equal(a[q].counted, b[q].counted);
    }
}

/* However many threads there are, alone and with others. */
static void check_against_plain(const struct slack_case *one, const struct nigh__column_answer *plain, double slack,
                                uint32_t k) {
    struct nigh__column_answer found[QUERIES];
    nigh_error error;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        const struct nigh__column_scan scan = scan_of(one, 0, QUERIES, slack, k, threads);
        answers_init(found);
        assert_ok(nigh__column_scan(&scan, found, &error), &error);
        expect_same_answers(plain, found, QUERIES, slack >= 0);
        answers_release(one->context, found);
    }
    for (uint32_t q = 0; q < QUERIES; q++) {
        const struct nigh__column_scan scan = scan_of(one, q, 1, slack, k, 1 + q % 2);
        answers_init(found);
        assert_ok(nigh__column_scan(&scan, found, &error), &error);
        expect_same_answers(plain + q, found, 1, slack >= 0);
        answers_release(one->context, found);
    }
}

/* Of the first kernel, kept to be compared with those of the others. */
static void check_slacks(const struct slack_case *one, uint32_t k) {
    static const double slacks[] = {-1, 0, .5, 1, 2, 100};
    struct nigh__column_answer exact[QUERIES];
    nigh_error error;
    for (size_t i = 0; i < sizeof slacks / sizeof slacks[0]; i++) {
        const struct nigh__column_scan scan = scan_of(one, 0, QUERIES, slacks[i], k, 1);
        struct nigh__column_answer plain[QUERIES];
        answers_init(plain);
        assert_ok(nigh__column_scan_plain(&scan, plain, &error), &error);
        check_against_plain(one, plain, slacks[i], k);
        if (i == 0) memcpy(exact, plain, sizeof exact);
        if (slacks[i] > 99) expect_same_answers(exact, plain, QUERIES, false);
        if (i > 0) answers_release(one->context, plain);
    }
    answers_release(one->context, exact);
}

static void test_slack(void **state) {
    (void)state;
    const char *sanitized = getenv("NIGH_SANITIZE");
    const bool slow = sanitized != NULL && sanitized[0] != '\0';
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct world world;
        if (slow && shapes[i].segments[0] > 9000) continue;
        world_init(&world, &shapes[i], 200 + i);
        size_t kernel = 0;
        for (nigh_context *context; (context = context_of_kernel(&kernel)) != NULL; nigh_context_free(context)) {
            nigh_collection *collection;
            nigh_error error;
            assert_ok(nigh_collection_open(context, world.path, NULL, &collection, &error), &error);
            for (enum ranking ranking = PLAIN; ranking < RANKINGS; ranking++) {
                struct slack_case one;
                slack_case_init(&one, &world, context, collection->segments[0], ranking);
                check_slacks(&one, ranking % 2 == 0 ? 10 : 200);
                slack_case_release(&one);
            }
            nigh_collection_close(collection);
        }
        world_release(&world);
    }
}

/* ------------------------------------------------------------------------------- order -- */

/* Every super-block is visited once. */
static void test_visits(void **state) {
    (void)state;
    static uint8_t seen[2000];
    for (uint32_t supers = 1; supers < sizeof seen; supers = supers < 70 ? supers + 1 : 2 * supers + 3) {
        memset(seen, 0, sizeof seen);
        for (uint32_t turn = 0; turn < supers; turn++) {
            const uint32_t super = nigh__column_visit(supers, turn);
            assert_in_range(super, 0, supers - 1);
            assert_int_equal(seen[super]++, 0);
        }
    }
}

/* ------------------------------------------------------------------------------- floor -- */

#define FLOOR_WIDTH 512u
#define FLOOR_ROWS 20000u
#define FLOOR_QUERIES 60u

/* Two hundred clusters, whose members differ from their centre in one bit of eight. */
static uint8_t *floor_rows(struct nigh__rng *rng) {
    static uint8_t centres[200 * FLOOR_WIDTH / 8];
    uint8_t *rows = malloc((size_t)FLOOR_ROWS * FLOOR_WIDTH / 8);
    assert_non_null(rows);
    for (size_t i = 0; i < sizeof centres; i++) centres[i] = (uint8_t)(nigh__rng_next(rng) >> 24);
    for (size_t r = 0; r < FLOOR_ROWS; r++) {
        const uint8_t *centre = centres + nigh__rng_next(rng) % 200 * FLOOR_WIDTH / 8;
        for (size_t i = 0; i < FLOOR_WIDTH / 8; i++) {
            const uint64_t draw = nigh__rng_next(rng);
            rows[r * FLOOR_WIDTH / 8 + i] = (uint8_t)(centre[i] ^ (draw & draw >> 8 & draw >> 16));
        }
    }
    return rows;
}

/* Of the ten nearest, the share that is found. */
static double recall_with(const nigh_collection *collection, const uint8_t *queries, const uint8_t *weights,
                          double slack) {
    nigh_search_options options;
    nigh_results *results[2];
    nigh_error error;
    uint32_t found = 0;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_COLUMNS;
    options.weights = weights;
    options.rank = NIGH_RANK_WEIGHTED;
    assert_ok(nigh_search(collection, queries, FLOOR_QUERIES, &options, &results[0], &error), &error);
    options.slack = slack;
    assert_ok(nigh_search(collection, queries, FLOOR_QUERIES, &options, &results[1], &error), &error);
    for (size_t q = 0; q < FLOOR_QUERIES; q++) {
        size_t many;
        size_t some;
        const nigh_match *truth = nigh_results_matches(results[0], q, &many);
        const nigh_match *match = nigh_results_matches(results[1], q, &some);
        nigh_proof proof = {.size = sizeof proof};
        assert_ok(nigh_results_proof(results[1], q, &proof, &error), &error);
        assert_int_equal(proof.exact, 0); /* nothing is claimed */
        for (size_t i = 0; i < some; i++) found += match[i].distance <= truth[many - 1].distance;
    }
    nigh_results_free(results[0]);
    nigh_results_free(results[1]);
    return found / (10.0 * FLOOR_QUERIES);
}

static void test_recall_floor(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 5};
    uint8_t *rows = floor_rows(&rng);
    static uint8_t queries[FLOOR_QUERIES * FLOOR_WIDTH / 8];
    static uint8_t weights[FLOOR_QUERIES * FLOOR_WIDTH];
    for (size_t q = 0; q < FLOOR_QUERIES; q++)
        memcpy(queries + q * FLOOR_WIDTH / 8, rows + nigh__rng_next(&rng) % FLOOR_ROWS * FLOOR_WIDTH / 8,
               FLOOR_WIDTH / 8);
    for (size_t i = 0; i < sizeof weights; i++) { /* of a short text: most bits are not touched */
        const uint64_t draw = nigh__rng_next(&rng);
        weights[i] = (uint8_t)(draw % 3 == 0 ? 20 + (draw >> 8) % 200 : 0);
    }
    char *scratch = scratch_new();
    char *path = path_in(scratch, "c.nigh");
    nigh_context *context = context_new();
    nigh_collection *collection;
    nigh_error error;
    signatures_add(context, path, FLOOR_WIDTH, rows, FLOOR_ROWS);
    columns_add(context, path);
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    const double one = recall_with(collection, queries, weights, 1);
    const double two = recall_with(collection, queries, weights, 2);
    print_message("recall with a slack of 1: %.3f; of 2: %.3f\n", one, two);
    assert_true(one >= .95);
    assert_true(two >= .995);
    nigh_collection_close(collection);
    nigh_context_free(context);
    free(rows);
    free(path);
    scratch_free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visits),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_recall_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
