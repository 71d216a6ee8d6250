/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finders against a loop over all rows: random and clustered rows, with copies, of
 * several widths; every exact method in every mode, any number of threads, every
 * kernel.  psm joins them with so few prefix bits that its probes are all there are,
 * and otherwise must find nothing that is not there.
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

#define QUERIES 150u

struct world {
    uint64_t seed; /* printed where a test fails */
    uint32_t width_bits;
    size_t bytes; /* of a row */
    uint32_t count;
    uint32_t radius;
    uint8_t *rows;
    uint8_t *queries;
    uint8_t *weights;
    nigh_match *truth; /* of all queries, one after the other */
    size_t ends[QUERIES];
};

static void flip_some(struct nigh__rng *rng, uint8_t *row, uint32_t width_bits, uint64_t most) {
    for (uint64_t flips = nigh__rng_next(rng) % (most + 1); flips != 0; flips--) {
        const uint64_t bit = nigh__rng_next(rng) % width_bits;
        row[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void fill_random(struct nigh__rng *rng, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)nigh__rng_next(rng);
}

/* A third random, a third near earlier ones, a third their copies. */
static void fill_rows(struct world *world, struct nigh__rng *rng) {
    for (uint32_t i = 0; i < world->count; i++) {
        uint8_t *row = world->rows + i * world->bytes;
        const uint64_t kind = nigh__rng_next(rng) % 3;
        if (i == 0 || kind == 0) {
            fill_random(rng, row, world->bytes);
            padding_clear(row, 1, world->width_bits);
            continue;
        }
        memcpy(row, world->rows + nigh__rng_next(rng) % i * world->bytes, world->bytes);
        if (kind == 1) flip_some(rng, row, world->width_bits, 8);
    }
}

static void find_truth(struct world *world) {
    world->truth = calloc((size_t)world->count * QUERIES + 1, sizeof *world->truth);
    assert_non_null(world->truth);
    size_t end = 0;
    for (uint32_t q = 0; q < QUERIES; q++) {
        const size_t start = end;
        for (uint32_t r = 0; r < world->count; r++) {
            uint32_t distance = 0;
            for (size_t b = 0; b < world->bytes; b++)
                distance += (uint32_t)__builtin_popcount(world->rows[r * world->bytes + b] ^
                                                         world->queries[q * world->bytes + b]);
            if (distance <= world->radius) world->truth[end++] = (nigh_match){.document = r, .distance = distance};
        }
        qsort(world->truth + start, end - start, sizeof *world->truth, compare_matches);
        world->ends[q] = end;
    }
}

static void world_init(struct world *world, uint64_t seed, uint32_t width_bits, uint32_t count, uint32_t radius) {
    *world = (struct world){.seed = seed,
                            .width_bits = width_bits,
                            .bytes = nigh_signature_bytes(width_bits),
                            .count = count,
                            .radius = radius};
    struct nigh__rng rng = {.state = seed};
    world->rows = malloc(count * world->bytes + 1);
    world->queries = malloc(QUERIES * world->bytes);
    world->weights = malloc((size_t)QUERIES * width_bits);
    assert_true(world->rows != NULL && world->queries != NULL && world->weights != NULL);
    fill_rows(world, &rng);
    fill_random(&rng, world->queries, QUERIES * world->bytes);
    padding_clear(world->queries, QUERIES, width_bits);
    fill_random(&rng, world->weights, (size_t)QUERIES * width_bits);
    for (uint32_t q = 0; count != 0 && q < QUERIES; q++) {
        if (q % 7 == 0) continue;
        uint8_t *query = world->queries + q * world->bytes;
        memcpy(query, world->rows + nigh__rng_next(&rng) % count * world->bytes, world->bytes);
        flip_some(&rng, query, width_bits, radius + 1);
    }
    find_truth(world);
}

static void world_release(struct world *world) {
    free(world->rows);
    free(world->queries);
    free(world->weights);
    free(world->truth);
}

/* ------------------------------------------------------------------- checking */

static bool is_true(const nigh_match *truth, size_t count, const nigh_match *match) {
    for (size_t i = 0; i < count; i++)
        if (memcmp(&truth[i], match, sizeof *match) == 0) return true;
    return false;
}

/* Whether the answer for one query is right; not `complete`: what is there is true. */
static bool is_right(const struct world *world, uint32_t q, const nigh_match *matches, size_t count,
                     nigh_find_mode mode, bool complete) {
    const size_t start = q == 0 ? 0 : world->ends[q - 1];
    const nigh_match *truth = world->truth + start;
    const size_t expected = world->ends[q] - start;
    for (size_t i = 0; i < count; i++) {
        if (!is_true(truth, expected, &matches[i])) return false;
        if (i > 0 && compare_matches(&matches[i - 1], &matches[i]) >= 0) return false;
    }
    if (mode != NIGH_FIND_ALL && count > 1) return false;
    if (!complete) return true;
    if (mode == NIGH_FIND_ALL) return count == expected;
    if (count != (expected != 0)) return false;
    for (size_t i = 0; mode == NIGH_FIND_FIRST && i < expected; i++)
        if (truth[i].document < matches[0].document) return false;
    return true;
}

static void check(const struct world *world, const nigh_finder *finder, uint32_t threads, bool complete,
                  const char *what) {
    for (int mode = NIGH_FIND_ALL; mode <= NIGH_FIND_ANY; mode++) {
        nigh_find_options options;
        nigh_find_options_init(&options);
        options.mode = (nigh_find_mode)mode;
        options.weights = world->weights;
        options.threads = threads;
        nigh_error error;
        nigh_results *results = NULL;
        assert_ok(nigh_finder_find(finder, world->queries, QUERIES, &options, &results, &error), &error);
        for (uint32_t q = 0; q < QUERIES; q++) {
            size_t count = 0;
            const nigh_match *matches = nigh_results_matches(results, q, &count);
            if (!is_right(world, q, matches, count, (nigh_find_mode)mode, complete))
                fail_msg("seed %" PRIu64 ": %s, width %u, %u rows, radius %u, mode %d, %u threads: query %u",
                         world->seed, what, world->width_bits, world->count, world->radius, mode, threads, q);
        }
        nigh_results_free(results);
    }
}

static void check_method(const struct world *world, nigh_context *context, const nigh_finder_options *options,
                         bool complete, const char *what) {
    static const uint32_t threads[] = {1, 2, 5};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        nigh_finder_options chosen = *options;
        chosen.width_bits = world->width_bits;
        chosen.radius = world->radius;
        chosen.threads = threads[t];
        nigh_error error;
        nigh_finder *finder = NULL;
        assert_ok(nigh_finder_new(context, world->rows, world->count, &chosen, &finder, &error), &error);
        check(world, finder, threads[t], complete, what);
        nigh_finder_free(finder);
    }
}

static void check_all(const struct world *world, nigh_context *context) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    check_method(world, context, &options, true, "auto");
    options.method = NIGH_FINDER_SCAN;
    check_method(world, context, &options, true, "scan");
    options.method = NIGH_FINDER_TABLES;
    const uint32_t most = world->width_bits < 8 ? world->width_bits : 8;
    if (most >= 2 && world->radius < most) check_method(world, context, &options, true, "tables");
    for (uint32_t leading = 1; most >= 2 && leading < 4 && world->radius + leading <= most; leading++) {
        options.blocks = world->radius + leading;
        options.leading = leading;
        if (options.blocks > leading) check_method(world, context, &options, true, "tables by hand");
    }
    nigh_finder_options_init(&options);
    options.method = NIGH_FINDER_TABLES;
    options.approximate = 1;
    options.blocks = 3;
    options.leading = 1;
    if (most >= 3) check_method(world, context, &options, world->radius <= 2, "approximate tables");
}

static void check_psm(const struct world *world, nigh_context *context) {
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = NIGH_FINDER_PSM;
    options.prefix_bits = world->width_bits < 8 ? world->width_bits : 8;
    options.probes = 256; /* all there are */
    for (uint32_t rotations = 1; rotations <= 3; rotations++) {
        options.rotations = rotations;
        check_method(world, context, &options, true, "psm with all probes");
    }
    options.probes = 5;
    options.prefix_bits = world->width_bits < 12 ? world->width_bits : 12;
    options.model = NIGH_WEAK_LINEAR;
    check_method(world, context, &options, false, "psm with few probes");
}

/* ---------------------------------------------------------------------- tests */

static void test_worlds(void **state) {
    static const uint32_t widths[] = {8, 24, 64, 128, 200, 256, 1024, 1, 2, 7, 9, 31, 33, 63, 65, 127, 1000, 1023};
    static const uint32_t counts[] = {0, 1, 9, 150, 600};
    uint64_t seed = 1;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++, seed++) {
            struct world world;
            world_init(&world, seed, widths[w], counts[c], (uint32_t)(seed % 6));
            check_all(&world, *state);
            check_psm(&world, *state);
            world_release(&world);
        }
    }
}

static void test_large_radius(void **state) {
    struct world world;
    world_init(&world, 1000, 64, 200, 70);
    check_all(&world, *state);
    world_release(&world);
}

static void test_kernels(void **state) {
    (void)state;
    int usable = 0;
    struct world world;
    world_init(&world, 2000, 64, 2000, 3);
    for (size_t k = 0; nigh_kernel_name(k, &usable) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, nigh_kernel_name(k, NULL));
        check_all(&world, context);
        check_psm(&world, context);
        nigh_context_free(context);
    }
    world_release(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worlds),
        cmocka_unit_test(test_large_radius),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
