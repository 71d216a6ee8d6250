/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing filters from the documents: targets are met, what is given stays, what cannot be is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/filter_support.h"
#include "support/support.h"
#include "terms/terms_options.h"

static const nigh_filter_kind kinds[] = {NIGH_FILTER_HYBRID, NIGH_FILTER_BLOOM, NIGH_FILTER_COCA};

static nigh_terms_options options_of(nigh_filter_kind kind) {
    nigh_terms_options options;
    nigh__options_defaults(&nigh__terms_options_shape, &options);
    options.kind = kind;
    options.threads = 2;
    return options;
}

/* The shape chosen, checked to be one. */
static struct nigh__filter_shape choose(const struct nigh__blocks *blocks, const nigh_terms_options *options,
                                        double *expected) {
    struct nigh__filter_shape shape = {.kind = options->kind, .seed = 1};
    nigh_error error;
    assert_ok(nigh__filter_choose(blocks, options, NULL, &shape, expected, &error), &error);
    assert_ok(nigh__filter_shape_check(&shape, &error), &error);
    assert_int_equal(shape.kind, options->kind);
    assert_int_equal(shape.seed, 1);
    return shape;
}

static struct nigh__filter_error measure(const struct nigh__blocks *blocks, const struct nigh__filter_shape *shape,
                                         const double *weights) {
    struct nigh__positions *positions;
    struct nigh__filter_error measured;
    nigh_error error;
    assert_ok(nigh__positions_make(blocks, shape, 0, NULL, 2, NULL, &positions, &error), &error);
    assert_ok(nigh__filter_error_measure(blocks, positions, 1000, 1, weights, 2, &measured, &error), &error);
    nigh__positions_free(positions);
    return measured;
}

static struct nigh__blocks *usual_blocks(nigh_context *context) {
    char *text = topic_lines(1, 1000, 60);
    struct nigh__blocks *blocks = blocks_of_lines(context, text, 40);
    free(text);
    return blocks;
}

/* What is expected is what is then measured over many more blocks, and more bits err less. */
static void test_bits(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    for (size_t kind = 0; kind < 3; kind++) {
        double before = 1;
        for (uint32_t ratio = 2; ratio <= 8; ratio += 3) {
            nigh_terms_options options = options_of(kinds[kind]);
            double expected;
            options.bits_per_term = ratio;
            const struct nigh__filter_shape shape = choose(blocks, &options, &expected);
            const double mean = (double)blocks->postings / blocks->blocks;
            assert_true(fabs(shape.bits - ratio * mean) <= 0.5);
            const double measured = measure(blocks, &shape, NULL).mean;
            assert_true(fabs(measured / expected - 1) < 0.2);
            assert_true(measured < before);
            before = measured;
        }
    }
    nigh__blocks_free(blocks);
}

/* No one step away from what was chosen is much better. */
static void test_best(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    for (size_t kind = 0; kind < 3; kind++) {
        nigh_terms_options options = options_of(kinds[kind]);
        double expected;
        options.bits_per_term = 6;
        const struct nigh__filter_shape shape = choose(blocks, &options, &expected);
        const double best = measure(blocks, &shape, NULL).mean;
        for (uint32_t hashes = 1; hashes <= 20; hashes += 1 + hashes / 6) {
            struct nigh__filter_shape other = shape;
            if (hashes < shape.frequent_hashes) continue;
            other.hashes = hashes;
            assert_true(measure(blocks, &other, NULL).mean > best * 0.85);
        }
    }
    nigh__blocks_free(blocks);
}

static void test_targets(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    static const double targets[] = {0.2, 0}; /* 0: the usual 0.01 */
    for (size_t kind = 0; kind < 3; kind++) {
        uint32_t bits = 0;
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
            nigh_terms_options options = options_of(kinds[kind]);
            const double target = targets[i] == 0 ? 0.01 : targets[i];
            double expected, fewer;
            options.false_positives = targets[i];
            struct nigh__filter_shape shape = choose(blocks, &options, &expected);
            assert_true(expected <= target);
            assert_true(measure(blocks, &shape, NULL).mean < target * 1.25);
            assert_true(shape.bits >= bits);
            bits = shape.bits;
            options.false_positives = 0;
            options.bits_per_term = shape.bits / ((double)blocks->postings / blocks->blocks) * 0.9 - 0.25;
            if (options.bits_per_term <= 0) continue;
            (void)choose(blocks, &options, &fewer);
            assert_true(fewer > target); /* fewer bits would not do */
        }
    }
    nigh__blocks_free(blocks);
}

static void test_impossible_target(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    for (size_t kind = 0; kind < 3; kind++) {
        nigh_terms_options options = options_of(kinds[kind]);
        struct nigh__filter_shape shape = {.kind = kinds[kind]};
        double expected;
        nigh_error error;
        options.false_positives = 1e-30;
        assert_int_equal(nigh__filter_choose(blocks, &options, NULL, &shape, &expected, &error), NIGH_EINVAL);
        assert_non_null(strstr(error.why, "64 bits a term"));
    }
    nigh__blocks_free(blocks);
}

static void test_given_stays(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    nigh_terms_options options = options_of(NIGH_FILTER_HYBRID);
    double expected;
    options.bits_per_term = 8;
    options.hashes = 3;
    assert_int_equal(choose(blocks, &options, &expected).hashes, 3);
    options.hashes = 0;
    options.frequent_hashes = 5;
    assert_int_equal(choose(blocks, &options, &expected).frequent_hashes, 5);
    options.theta = 7777;
    struct nigh__filter_shape shape = choose(blocks, &options, &expected);
    assert_int_equal(shape.theta, 7777);
    assert_int_equal(shape.frequent_hashes, 5);
    shape = (struct nigh__filter_shape){.kind = NIGH_FILTER_HYBRID, .bits = 100, .hashes = 6};
    nigh_error error;
    assert_ok(nigh__filter_choose(blocks, &options, NULL, &shape, &expected, &error), &error);
    assert_int_equal(shape.bits, 100);
    assert_int_equal(shape.hashes, 6);
    nigh__blocks_free(blocks);
}

/* For frequent terms the hybrid makes other filters, and they are better for these. */
static void test_frequency(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    nigh_terms_options options = options_of(NIGH_FILTER_HYBRID);
    double uniform, frequency;
    options.bits_per_term = 6;
    const struct nigh__filter_shape for_all = choose(blocks, &options, &uniform);
    options.goal = NIGH_GOAL_FREQUENCY;
    const struct nigh__filter_shape for_frequent = choose(blocks, &options, &frequency);
    const struct nigh__filter_error all = measure(blocks, &for_all, NULL);
    const struct nigh__filter_error frequent = measure(blocks, &for_frequent, NULL);
    assert_true(frequent.weighted < all.weighted * 0.9);
    assert_true(all.mean < frequent.mean);
    assert_true(fabs(frequent.weighted / frequency - 1) < 0.2);
    nigh__blocks_free(blocks);
}

static void test_query_log(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    char *scratch = scratch_new();
    char *path = path_in(scratch, "queries");
    nigh_terms_options options = options_of(NIGH_FILTER_HYBRID);
    double common, rare;
    nigh_error error;
    struct nigh__filter_shape shape = {.kind = NIGH_FILTER_HYBRID};
    options.bits_per_term = 6;
    options.goal = NIGH_GOAL_QUERIES;
    options.query_log = path;
    assert_int_equal(nigh__filter_choose(blocks, &options, NULL, &shape, &common, &error), NIGH_ENOTFOUND);
    static const char unknown[] = "never heard\n-c1 OR -c2\n\n";
    file_write_all(path, unknown, sizeof unknown - 1);
    assert_int_equal(nigh__filter_choose(blocks, &options, NULL, &shape, &common, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "queries"));
    static const char frequent[] = "C1 c2 OR c3\nc4 c5 -t1x1\nc6 c7";
    file_write_all(path, frequent, sizeof frequent - 1);
    const struct nigh__filter_shape for_common = choose(blocks, &options, &common);
    static const char few[] = "t1x1 t2x2\nt3x3 OR t4x4\n";
    file_write_all(path, few, sizeof few - 1);
    (void)choose(blocks, &options, &rare);
    assert_true(rare < common); /* common words err more, whatever is done for them */
    options.goal = NIGH_GOAL_UNIFORM;
    options.query_log = NULL;
    double uniform;
    const struct nigh__filter_shape for_all = choose(blocks, &options, &uniform);
    double *weights = calloc(blocks->terms, sizeof *weights);
    for (uint32_t term = 0; term < blocks->terms; term++) weights[term] = blocks->frequencies[term] > 200;
    assert_true(measure(blocks, &for_common, weights).by_queries < measure(blocks, &for_all, weights).by_queries);
    free(weights);
    free(path);
    scratch_free(scratch);
    nigh__blocks_free(blocks);
}

/* More than a piece of the log is read whole, in whole lines. */
static void test_long_query_log(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    char *scratch = scratch_new();
    char *path = path_in(scratch, "queries");
    const size_t lines = 100000;
    char *log = malloc(lines * 24);
    size_t used = 0;
    for (size_t i = 0; i < lines; i++) used += (size_t)sprintf(log + used, "unknown %zu\n", i + 5000000);
    used += (size_t)sprintf(log + used, "c1");
    file_write_all(path, log, used);
    nigh_terms_options options = options_of(NIGH_FILTER_BLOOM);
    double expected;
    options.goal = NIGH_GOAL_QUERIES;
    options.query_log = path;
    (void)choose(blocks, &options, &expected);
    free(log);
    free(path);
    scratch_free(scratch);
    nigh__blocks_free(blocks);
}

static void test_bad_options(void **state) {
    struct nigh__blocks *blocks = blocks_of_lines(*state, "a b c\nb d\n", 4);
    nigh_terms_options bad[13];
    for (size_t i = 0; i < 13; i++) bad[i] = options_of(NIGH_FILTER_HYBRID);
    bad[0].kind = (nigh_filter_kind)4;
    bad[1].bits_per_term = -1;
    bad[2].bits_per_term = 64.5;
    bad[3].bits_per_term = NAN;
    bad[4].false_positives = -0.1;
    bad[5].false_positives = 1;
    bad[6].false_positives = NAN;
    bad[7].false_positives = 0.1, bad[7].bits_per_term = 4;
    bad[8].goal = (nigh_filter_goal)3;
    bad[9].goal = NIGH_GOAL_QUERIES;
    bad[10].hashes = NIGH__FILTER_MAX_HASHES + 1;
    bad[11].hashes = 2, bad[11].frequent_hashes = 3;
    bad[12].kind = NIGH_FILTER_COCA, bad[12].theta = 4;
    for (size_t i = 0; i < 13; i++) {
        struct nigh__filter_shape shape = {.kind = bad[i].kind};
        double expected;
        nigh_error error;
        assert_int_equal(nigh__filter_options_check(&bad[i], &error), NIGH_EINVAL);
        assert_int_equal(nigh__filter_choose(blocks, &bad[i], NULL, &shape, &expected, &error), NIGH_EINVAL);
    }
    nigh__blocks_free(blocks);
}

/* From nothing to very little: there is always a filter. */
static void test_small(void **state) {
    static const double ratios[] = {0.01, 0.8, 64};
    static const char *const texts[] = {"?!\n", "?\n!\n", "a\n", "a b c\n", "a\nb\n", "a a\na\na b\n"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct nigh__blocks *blocks = blocks_of_lines(*state, texts[t], 4);
        for (size_t kind = 0; kind < 3; kind++) {
            for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
                nigh_terms_options options = options_of(kinds[kind]);
                double expected = 7;
                options.bits_per_term = ratios[r];
                (void)choose(blocks, &options, &expected);
                assert_true(blocks->postings == 0 ? expected == -1 : expected >= 0 && expected <= 1);
            }
            nigh_terms_options options = options_of(kinds[kind]);
            double expected = 7;
            struct nigh__filter_shape shape = {.kind = kinds[kind]};
            nigh_error error;
            const nigh_status status = nigh__filter_choose(blocks, &options, NULL, &shape, &expected, &error);
            assert_true(status == NIGH_OK || status == NIGH_EINVAL);
        }
        nigh__blocks_free(blocks);
    }
}

/* A filter has 2^20 bits at most, however long a block is. */
static void test_long_blocks(void **state) {
    const size_t words = 40000;
    char *text = malloc(words * 8 + 2);
    size_t used = 0;
    for (size_t i = 0; i < words; i++) used += (size_t)sprintf(text + used, "w%zu ", i);
    memcpy(text + used, "\n", 2);
    struct nigh__blocks *blocks = blocks_of_lines(*state, text, 100000);
    nigh_terms_options options = options_of(NIGH_FILTER_BLOOM);
    struct nigh__filter_shape shape = {.kind = NIGH_FILTER_BLOOM};
    double expected;
    nigh_error error;
    options.bits_per_term = 60;
    assert_int_equal(nigh__filter_choose(blocks, &options, NULL, &shape, &expected, &error), NIGH_EINVAL);
    options.bits_per_term = 20;
    assert_int_equal(choose(blocks, &options, &expected).bits, 20 * words);
    options.bits_per_term = 0;
    options.false_positives = 1e-5;
    assert_in_range(choose(blocks, &options, &expected).bits, 20 * words, NIGH__FILTER_MAX_BITS);
    nigh__blocks_free(blocks);
    free(text);
}

static void test_threads(void **state) {
    struct nigh__blocks *blocks = usual_blocks(*state);
    for (size_t kind = 0; kind < 3; kind++) {
        nigh_terms_options options = options_of(kinds[kind]);
        double one, many;
        options.bits_per_term = 5;
        options.threads = 1;
        const struct nigh__filter_shape a = choose(blocks, &options, &one);
        options.threads = 7;
        const struct nigh__filter_shape b = choose(blocks, &options, &many);
        assert_true(a.kind == b.kind && a.bits == b.bits && a.hashes == b.hashes);
        assert_true(a.frequent_hashes == b.frequent_hashes && a.theta == b.theta && a.seed == b.seed);
        assert_true(one == many);
    }
    nigh__blocks_free(blocks);
}

static int refuse(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_cancel(void **state) {
    struct nigh__blocks *blocks = blocks_of_lines(*state, "a b\na\n", 12);
    for (size_t kind = 0; kind < 3; kind++) {
        const nigh_progress wish = {.report = refuse};
        const nigh_terms_options options = options_of(kinds[kind]);
        struct nigh__filter_shape shape = {.kind = kinds[kind]};
        struct nigh__progress progress;
        double expected;
        nigh_error error;
        nigh__progress_init(&progress, &wish);
        assert_int_equal(nigh__filter_choose(blocks, &options, &progress, &shape, &expected, &error), NIGH_ECANCELLED);
    }
    nigh__blocks_free(blocks);
}

static void test_no_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct nigh__blocks *blocks = blocks_of_lines(context, "a b c a\nb d e f\nb a\n", 3);
    char *scratch = scratch_new();
    char *path = path_in(scratch, "queries");
    file_write_all(path, "a b\n", 4);
    const int64_t live = memory.live;
    nigh_terms_options options = options_of(NIGH_FILTER_HYBRID);
    options.threads = 1;
    options.bits_per_term = 4;
    options.goal = NIGH_GOAL_QUERIES;
    options.query_log = path;
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct nigh__filter_shape shape = {.kind = NIGH_FILTER_HYBRID};
        double expected;
        nigh_error error;
        memory.fail_at = memory.calls + fail_at;
        const nigh_status status = nigh__filter_choose(blocks, &options, NULL, &shape, &expected, &error);
        failed = memory.calls > memory.fail_at;
        assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_OK);
        assert_int_equal(memory.live, live);
    }
    nigh__blocks_free(blocks);
    nigh_context_free(context);
    assert_int_equal(memory.live, 0);
    free(path);
    scratch_free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_best),
        cmocka_unit_test(test_targets),     cmocka_unit_test(test_impossible_target),
        cmocka_unit_test(test_given_stays), cmocka_unit_test(test_frequency),
        cmocka_unit_test(test_query_log),   cmocka_unit_test(test_long_query_log),
        cmocka_unit_test(test_bad_options), cmocka_unit_test(test_small),
        cmocka_unit_test(test_long_blocks), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_cancel),      cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
