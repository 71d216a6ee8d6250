/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The rule COMPLETE against its definition, by a loop over all pairs: each document joins
 * the first cluster all of whose members are alike to it.  Documents are edits of a few
 * templates, near the threshold as often as not; so are signatures.  And what a crowd
 * costs is counted in comparisons, which must grow with its number alone.
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
#include "support/soup.h"
#include "support/support.h"

#define MOST 1200u

/* ----------------------------------------------------------------- the truth */

typedef bool alike_function(const void *things, size_t a, size_t b);

/* The definition. */
static void define(const void *things, size_t count, alike_function *alike, uint64_t *kept) {
    for (size_t b = 0; b < count; b++) {
        kept[b] = b;
        for (size_t cluster = 0; cluster < b && kept[b] == b; cluster++) {
            bool fits = kept[cluster] == cluster;
            for (size_t a = cluster; a < b && fits; a++) fits = kept[a] != cluster || alike(things, a, b);
            if (fits) kept[b] = cluster;
        }
    }
}

static double threshold = 0.8;

static bool texts_alike(const void *things, size_t a, size_t b) {
    const struct soup *soup = things;
    return soup_same_text(soup, a, b) || soup_jaccard(soup, a, b) >= threshold;
}

static bool rows_alike(const void *things, size_t a, size_t b) {
    const uint64_t *rows = things;
    return __builtin_popcountll(rows[a] ^ rows[b]) <= 6;
}

static nigh_dedup_info info_of(const nigh_dedup *dedup) {
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_describe(dedup, &info);
    return info;
}

static uint64_t cluster_of(const nigh_dedup *dedup, uint64_t document) {
    nigh_dedup_document shown = {.size = sizeof shown};
    assert_int_equal(nigh_dedup_at(dedup, document, &shown), NIGH_OK);
    return shown.cluster;
}

/* --------------------------------------------------------------------- texts */

struct kitchen {
    char *folder, *path;
    struct soup soup;
};

/* Documents of one of `templates`, which are edits of one text, each with up to `edits` words of its own. */
static void kitchen_init(struct kitchen *kitchen, uint32_t count, uint32_t templates, uint32_t edits, uint64_t seed) {
    enum { LENGTH = 100 };
    *kitchen = (struct kitchen){.folder = scratch_new()};
    kitchen->path = path_in(kitchen->folder, "crowd.jsonl");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words[LENGTH];
        struct nigh__rng rng = {.state = seed * 1000 + i * 7919 % templates};
        for (uint32_t k = 0; k < LENGTH; k++) words[k] = k;
        for (uint32_t k = 0; k < 3; k++)
            words[nigh__rng_next(&rng) % LENGTH] = 1000 + (uint32_t)(nigh__rng_next(&rng) % 1000);
        rng.state = seed * 1000000 + i;
        for (uint64_t k = nigh__rng_next(&rng) % (edits + 1); k > 0; k--)
            words[nigh__rng_next(&rng) % LENGTH] = 2000 + (uint32_t)(nigh__rng_next(&rng) % 1000000);
        soup_add(&kitchen->soup, words, LENGTH - (uint32_t)(nigh__rng_next(&rng) % 3));
    }
    soup_write(&kitchen->soup, kitchen->path);
    print_message("%u documents of %u templates, seed %" PRIu64 "\n", count, templates, seed);
}

static void kitchen_release(struct kitchen *kitchen) {
    soup_release(&kitchen->soup);
    free(kitchen->path);
    scratch_free(kitchen->folder);
}

static nigh_dedup *run(nigh_context *context, const struct kitchen *kitchen, const nigh_dedup_options *options) {
    const char *path = kitchen->path;
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), &error);
    return dedup;
}

static nigh_dedup_options options_of(nigh_dedup_method method) {
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.cluster = NIGH_CLUSTER_COMPLETE;
    options.method = method;
    options.threshold = threshold;
    return options;
}

/* The exact method misses no candidate: what it says is the definition. */
static void test_definition(void **state) {
    static const double thresholds[] = {0.8, 0.7, 0.9, 0.6};
    static uint64_t kept[MOST];
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct kitchen kitchen;
        threshold = thresholds[seed % 4];
        kitchen_init(&kitchen, 300 + (uint32_t)seed * 20, 1 + (uint32_t)seed % 5, 1 + (uint32_t)seed % 4, seed);
        define(&kitchen.soup, kitchen.soup.count, texts_alike, kept);
        nigh_dedup_options options = options_of(NIGH_DEDUP_EXACT);
        nigh_dedup *dedup = run(*state, &kitchen, &options);
        assert_int_equal(info_of(dedup).truncated, 0);
        for (uint64_t i = 0; i < kitchen.soup.count; i++) assert_int_equal(cluster_of(dedup, i), kept[i]);
        nigh_dedup_free(dedup);
        kitchen_release(&kitchen);
    }
    threshold = 0.8;
}

/* All of a cluster are alike, and threads, memory and listing change nothing: also in crowds, and over the budget. */
static void test_meaning(void **state) {
    struct kitchen kitchen;
    kitchen_init(&kitchen, MOST, 5, 2, 99);
    for (uint64_t budget = 20; budget <= 2000; budget *= 10) {
        nigh_dedup_options options = options_of(NIGH_DEDUP_MINHASH);
        options.bucket_budget = budget;
        options.threads = 1;
        nigh_dedup *one = run(*state, &kitchen, &options);
        options.threads = 3;
        options.memory_bytes = 1 << 20;
        options.all_pairs = 1;
        nigh_dedup *other = run(*state, &kitchen, &options);
        const nigh_dedup_info info = info_of(one);
        print_message("budget %" PRIu64 ": %" PRIu64 " stay, %" PRIu64 " compared, %" PRIu64 " truncated\n", budget,
                      info.kept, info.verified, info.truncated);
        assert_int_equal(info.truncated > 0, budget == 20);
        assert_int_equal(info_of(other).truncated, info.truncated);
        for (uint64_t b = 0; b < MOST; b++) {
            assert_int_equal(cluster_of(one, b), cluster_of(other, b));
            for (uint64_t a = 0; a < b; a++)
                if (cluster_of(one, a) == cluster_of(one, b)) assert_true(texts_alike(&kitchen.soup, a, b));
        }
        nigh_dedup_free(one);
        nigh_dedup_free(other);
    }
    kitchen_release(&kitchen);
}

/* ---------------------------------------------------------------- signatures */

/* Signatures are taken at their word: the join finds all within the distance. */
static void test_rows(void **state) {
    static uint64_t kept[MOST];
    static uint64_t rows[MOST];
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct nigh__rng rng = {.state = seed};
        for (size_t i = 0; i < MOST; i++) {
            rows[i] = UINT64_C(0x0123456789abcdef) << seed * (i % seed);
            for (uint64_t k = nigh__rng_next(&rng) % 5; k > 0; k--) rows[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
        }
        define(rows, MOST, rows_alike, kept);
        nigh_dedup_options options = options_of(NIGH_DEDUP_MINHASH);
        options.distance = 6;
        nigh_dedup *dedup = NULL;
        nigh_error error;
        assert_ok(nigh_dedup_rows(*state, (const uint8_t *)rows, MOST, 64, &options, &dedup, &error), &error);
        assert_int_equal(info_of(dedup).truncated, 0);
        for (uint64_t i = 0; i < MOST; i++) assert_int_equal(cluster_of(dedup, i), kept[i]);
        nigh_dedup_free(dedup);
    }
}

/* Unverified MinHash bits: members are within the radius, and of a fit length. */
static void test_unverified(void **state) {
    struct kitchen kitchen;
    kitchen_init(&kitchen, MOST, 5, 2, 7);
    nigh_dedup_options options = options_of(NIGH_DEDUP_MINHASH);
    options.no_verify = 1;
    options.threads = 1;
    nigh_dedup *one = run(*state, &kitchen, &options);
    options.threads = 4;
    nigh_dedup *other = run(*state, &kitchen, &options);
    assert_in_range(info_of(one).kept, 5, MOST / 3);
    for (uint64_t i = 0; i < MOST; i++) assert_int_equal(cluster_of(one, i), cluster_of(other, i));
    nigh_dedup_free(one);
    nigh_dedup_free(other);
    kitchen_release(&kitchen);
}

/* --------------------------------------------------------------------- costs */

/* Comparisons of a crowd of one template; nearly all are one cluster. */
static uint64_t count_comparisons(nigh_context *context, uint32_t count, uint32_t edits) {
    struct kitchen kitchen;
    kitchen_init(&kitchen, count, 1, edits, 3);
    const nigh_dedup_options options = options_of(NIGH_DEDUP_MINHASH);
    nigh_dedup *dedup = run(context, &kitchen, &options);
    const nigh_dedup_info info = info_of(dedup);
    assert_in_range(info.kept, 1, 4); /* minhash misses a few */
    assert_int_equal(info.truncated, 0);
    nigh_dedup_free(dedup);
    kitchen_release(&kitchen);
    return info.verified;
}

/* Near enough to the first that it is a centre for all; and not, so that one must be found. */
static void test_crowd_costs(void **state) {
    for (uint32_t edits = 1; edits <= 2; edits++) {
        threshold = edits == 1 ? 0.8 : 0.7;
        const uint64_t few = count_comparisons(*state, 2000, edits);
        const uint64_t many = count_comparisons(*state, 8000, edits);
        print_message("%" PRIu64 " comparisons of 2,000, %" PRIu64 " of 8,000\n", few, many);
        assert_true(few < UINT64_C(2000) * 5);
        assert_true(many * 2 < few * 9); /* 4 times as many documents */
    }
    threshold = 0.8;
}

/* ------------------------------------------------------------------ failures */

/* Every allocation fails once, also those of centres; nothing is leaked. */
static void test_no_memory(void **state) {
    (void)state;
    struct kitchen kitchen;
    threshold = 0.7;
    kitchen_init(&kitchen, 60, 1, 2, 3);
    nigh_dedup_options options = options_of(NIGH_DEDUP_EXACT);
    options.threads = 1;
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t at = 0; status != NIGH_OK; at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const int64_t before = memory.live;
        const char *path = kitchen.path;
        nigh_dedup *dedup = NULL;
        nigh_error error;
        memory.fail_at = memory.calls + at;
        status = nigh_dedup_run(context, &path, 1, NULL, &options, &dedup, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        if (status == NIGH_OK) assert_int_equal(info_of(dedup).kept, 1);
        nigh_dedup_free(dedup);
        assert_int_equal(memory.live, before);
        nigh_context_free(context);
        assert_true(at < 5000);
    }
    threshold = 0.8;
    kitchen_release(&kitchen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition), cmocka_unit_test(test_meaning),     cmocka_unit_test(test_rows),
        cmocka_unit_test(test_unverified), cmocka_unit_test(test_crowd_costs), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
