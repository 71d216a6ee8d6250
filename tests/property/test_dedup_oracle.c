/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication against a loop over all pairs of word soups: the exact method finds
 * every pair and no other, minhash nearly all and no other; what is kept follows from
 * the pairs; and nothing depends on threads, memory or whether all pairs are asked for.
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

#define MAX_PAIRS 400000u

struct pairs {
    nigh_dedup_pair *list;
    size_t count;
};

struct outcome {
    struct pairs pairs;
    nigh_dedup_document *documents;
    nigh_dedup_info info;
};

static int collect(void *user, const nigh_dedup_pair *pair) {
    struct pairs *pairs = user;
    assert_true(pairs->count < MAX_PAIRS);
    assert_true(pair->first < pair->second);
    if (pairs->count > 0) {
        const nigh_dedup_pair *last = &pairs->list[pairs->count - 1];
        assert_true(last->first < pair->first || (last->first == pair->first && last->second < pair->second));
    }
    pairs->list[pairs->count++] = *pair;
    return 0;
}

static void outcome_of(nigh_dedup *dedup, struct outcome *out) {
    nigh_error error;
    uint64_t untold = 1;
    *out = (struct outcome){.info = {.size = sizeof(nigh_dedup_info)}};
    nigh_dedup_describe(dedup, &out->info);
    out->pairs.list = malloc(MAX_PAIRS * sizeof *out->pairs.list);
    out->documents = malloc((out->info.documents + 1) * sizeof *out->documents);
    assert_non_null(out->pairs.list);
    assert_non_null(out->documents);
    assert_ok(nigh_dedup_pairs(dedup, collect, &out->pairs, &untold, &error), &error);
    assert_int_equal(untold, 0);
    for (uint64_t i = 0; i < out->info.documents; i++) {
        out->documents[i].size = sizeof out->documents[i];
        assert_int_equal(nigh_dedup_at(dedup, i, &out->documents[i]), NIGH_OK);
        out->documents[i].id = NULL;
    }
    assert_int_equal(nigh_dedup_at(dedup, out->info.documents, &out->documents[out->info.documents]), NIGH_END);
}

static void outcome_release(struct outcome *outcome) {
    free(outcome->pairs.list);
    free(outcome->documents);
}

static void run(nigh_context *context, const char *path, const nigh_dedup_options *options, struct outcome *out) {
    nigh_error error;
    nigh_dedup *dedup;
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), &error);
    outcome_of(dedup, out);
    nigh_dedup_free(dedup);
}

/* ----------------------------------------------------------------- the truth */

static bool truly_alike(const struct soup *soup, size_t a, size_t b, double threshold) {
    return soup_same_text(soup, a, b) || soup_jaccard(soup, a, b) >= threshold;
}

/* Every pair given is true, with the right similarity; returns how many true ones there are. */
static size_t check_pairs(const struct soup *soup, const struct pairs *pairs, double threshold) {
    size_t truth = 0;
    size_t at = 0;
    for (size_t a = 0; a < soup->count; a++) {
        for (size_t b = a + 1; b < soup->count; b++) {
            const bool given = at < pairs->count && pairs->list[at].first == a && pairs->list[at].second == b;
            const bool alike = truly_alike(soup, a, b, threshold);
            truth += alike;
            if (!given) continue;
            assert_true(alike);
            assert_int_equal(pairs->list[at].copy, soup_same_text(soup, a, b));
            if (!pairs->list[at].copy)
                assert_true((float)pairs->list[at].similarity == (float)soup_jaccard(soup, a, b));
            at++;
        }
    }
    assert_int_equal(at, pairs->count);
    return truth;
}

static bool is_pair(const struct pairs *pairs, uint64_t a, uint64_t b) {
    const uint64_t first = a < b ? a : b;
    const uint64_t second = a < b ? b : a;
    size_t low = 0;
    size_t high = pairs->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const nigh_dedup_pair *pair = &pairs->list[middle];
        if (pair->first < first || (pair->first == first && pair->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    return low < pairs->count && pairs->list[low].first == first && pairs->list[low].second == second;
}

/* The rule KEPT, first come first kept, by the definition. */
static void check_kept(const struct outcome *outcome) {
    const uint64_t count = outcome->info.documents;
    uint64_t *kept = malloc((count + 1) * sizeof *kept);
    assert_non_null(kept);
    uint64_t stay = 0;
    for (uint64_t i = 0; i < count; i++) kept[i] = i;
    for (uint64_t i = 0; i < count; i++) {
        if (kept[i] != i) continue;
        stay++;
        for (uint64_t j = i + 1; j < count; j++)
            if (kept[j] == j && is_pair(&outcome->pairs, i, j)) kept[j] = i;
    }
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(outcome->documents[i].cluster, kept[i]);
        assert_int_equal(outcome->documents[i].keep, kept[i] == i);
    }
    assert_int_equal(outcome->info.kept, stay);
    free(kept);
}

/* --------------------------------------------------------------------- tests */

struct kitchen {
    char *folder;
    char *path;
    struct soup soup;
};

static void kitchen_init(struct kitchen *kitchen, size_t count, size_t length, unsigned share, uint64_t seed) {
    kitchen->folder = scratch_new();
    kitchen->path = path_in(kitchen->folder, "soup.jsonl");
    soup_init(&kitchen->soup, count, length, share, seed);
    soup_write(&kitchen->soup, kitchen->path);
    print_message("%zu documents of seed %" PRIu64 "\n", count, seed);
}

static void kitchen_release(struct kitchen *kitchen) {
    soup_release(&kitchen->soup);
    free(kitchen->path);
    scratch_free(kitchen->folder);
}

static void test_exact(void **state) {
    static const double thresholds[] = {0.8, 0.5, 0.9, 1.0, 0.05};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct kitchen kitchen;
        kitchen_init(&kitchen, 60 + seed * 40, 10 + seed * 15, 60, seed);
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.method = NIGH_DEDUP_EXACT;
        options.all_pairs = 1;
        options.threshold = thresholds[seed % 5];
        struct outcome outcome;
        run(*state, kitchen.path, &options, &outcome);
        assert_int_equal(outcome.info.documents, kitchen.soup.count);
        assert_int_equal(check_pairs(&kitchen.soup, &outcome.pairs, options.threshold), outcome.pairs.count);
        assert_int_equal(outcome.info.truncated, 0);
        check_kept(&outcome);
        outcome_release(&outcome);
        kitchen_release(&kitchen);
    }
}

static void test_minhash(void **state) {
    static const double thresholds[] = {0.8, 0.5, 0.6, 0.7, 0.4};
    size_t truth = 0;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct kitchen kitchen;
        kitchen_init(&kitchen, 500, 60 + seed * 30, 60, seed + 100);
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.all_pairs = 1;
        options.threshold = thresholds[seed % 5];
        struct outcome outcome;
        run(*state, kitchen.path, &options, &outcome);
        /* Each pair once to be listed, and at most once to decide. */
        assert_in_range(outcome.info.verified, outcome.info.candidates, 2 * outcome.info.candidates);
        truth += check_pairs(&kitchen.soup, &outcome.pairs, options.threshold);
        found += outcome.pairs.count;
        check_kept(&outcome);
        outcome_release(&outcome);
        kitchen_release(&kitchen);
    }
    print_message("minhash finds %zu of %zu pairs\n", found, truth);
    assert_true(truth > 1500);
    assert_true((double)found >= 0.99 * (double)truth);
}

static void assert_same_documents(const struct outcome *a, const struct outcome *b) {
    assert_int_equal(a->info.documents, b->info.documents);
    assert_int_equal(a->info.kept, b->info.kept);
    assert_int_equal(a->info.clusters, b->info.clusters);
    assert_int_equal(a->info.largest, b->info.largest);
    for (uint64_t i = 0; i < a->info.documents; i++) {
        assert_int_equal(a->documents[i].cluster, b->documents[i].cluster);
        assert_int_equal(a->documents[i].copy, b->documents[i].copy);
        assert_true(a->documents[i].similarity == b->documents[i].similarity);
    }
}

/* Threads, memory and all pairs make no difference, for no method, rule of clusters or of what is kept. */
static void test_same(void **state) {
    struct kitchen kitchen;
    kitchen_init(&kitchen, 3000, 120, 50, 77);
    for (unsigned way = 0; way < 12; way++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.method = (nigh_dedup_method)(way % 3);
        options.cluster = (nigh_cluster_rule)(way / 3 % 3);
        options.keep = (nigh_keep_rule)(way / 4);
        options.temporary = kitchen.folder;
        options.threads = 1;
        options.bucket_budget = way % 2 == 0 ? 0 : 5;
        struct outcome one;
        struct outcome other;
        run(*state, kitchen.path, &options, &one);
        options.threads = 5;
        options.memory_bytes = 1;
        options.all_pairs = way < 6;
        run(*state, kitchen.path, &options, &other);
        assert_same_documents(&one, &other);
        /* The order of the rarest features depends on how many counters there is memory for; what is found does not. */
        if (options.method != NIGH_DEDUP_EXACT) assert_int_equal(one.info.candidates, other.info.candidates);
        if (!options.all_pairs) {
            assert_int_equal(one.pairs.count, other.pairs.count);
            for (size_t i = 0; i < one.pairs.count; i++)
                assert_memory_equal(&one.pairs.list[i], &other.pairs.list[i], sizeof *one.pairs.list);
        }
        if (one.info.candidates > 0 && options.method != NIGH_DEDUP_SIMHASH) assert_true(other.info.disk_bytes > 0);
        outcome_release(&one);
        outcome_release(&other);
    }
    kitchen_release(&kitchen);
}

/* Rows: all pairs within the distance, and no other. */
/* Many of one template, some of them alike: who stays does not depend on whether pairs are listed. */
static void test_crowd(void **state) {
    enum { COUNT = 700, LENGTH = 100 };
    struct kitchen kitchen = {.folder = scratch_new()};
    kitchen.path = path_in(kitchen.folder, "crowd.jsonl");
    struct nigh__rng rng = {.state = 5};
    uint32_t words[LENGTH];
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < LENGTH; k++) words[k] = k;
        for (uint64_t k = nigh__rng_next(&rng) % 3 + 1; k > 0; k--)
            words[nigh__rng_next(&rng) % LENGTH] = 1000 + (uint32_t)(nigh__rng_next(&rng) % 1000000);
        soup_add(&kitchen.soup, words, LENGTH);
    }
    soup_write(&kitchen.soup, kitchen.path);
    for (unsigned way = 0; way < 12; way++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.threshold = 0.8;
        options.method = (nigh_dedup_method)(way % 2);
        options.cluster = (nigh_cluster_rule)(way / 2 % 3);
        options.bucket_budget = way < 6 ? 0 : 60; /* all are compared, or not all */
        struct outcome one;
        struct outcome other;
        run(*state, kitchen.path, &options, &one);
        options.all_pairs = 1;
        run(*state, kitchen.path, &options, &other);
        assert_same_documents(&one, &other);
        assert_true((one.info.truncated > 0) == (way >= 6));
        const size_t truth = check_pairs(&kitchen.soup, &other.pairs, options.threshold);
        assert_true(way >= 6 || (double)other.pairs.count >= 0.99 * (double)truth);
        outcome_release(&one);
        outcome_release(&other);
    }
    kitchen_release(&kitchen);
}

/* The verdict on a document does not depend on those that come later: also in crowds, and over the budget. */
static void test_prefixes(void **state) {
    enum { COUNT = 900, LENGTH = 60 };
    struct nigh__rng rng = {.state = 11};
    uint32_t words[LENGTH];
    for (unsigned way = 0; way < 3; way++) {
        struct kitchen whole = {.folder = scratch_new()};
        struct kitchen part = {.folder = scratch_new()};
        const uint32_t cut = 300 + (uint32_t)(nigh__rng_next(&rng) % 300);
        whole.path = path_in(whole.folder, "whole.jsonl");
        part.path = path_in(part.folder, "part.jsonl");
        for (uint32_t i = 0; i < COUNT; i++) { /* three templates, and numbers in them: many near misses */
            for (uint32_t k = 0; k < LENGTH; k++) words[k] = k + LENGTH * (i % 3);
            for (uint64_t k = nigh__rng_next(&rng) % 5; k > 0; k--)
                words[nigh__rng_next(&rng) % LENGTH] = 1000 + (uint32_t)(nigh__rng_next(&rng) % 100000);
            soup_add(&whole.soup, words, LENGTH);
            if (i < cut) soup_add(&part.soup, words, LENGTH);
        }
        soup_write(&whole.soup, whole.path);
        soup_write(&part.soup, part.path);
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.bucket_budget = way == 0 ? 0 : way == 1 ? 250 : 20;
        struct outcome all;
        struct outcome some;
        run(*state, whole.path, &options, &all);
        run(*state, part.path, &options, &some);
        assert_true(way != 2 || all.info.truncated > 0);
        assert_int_equal(some.info.documents, cut);
        for (uint64_t i = 0; i < cut; i++) {
            assert_int_equal(all.documents[i].cluster, some.documents[i].cluster);
            assert_true(all.documents[i].similarity == some.documents[i].similarity);
        }
        outcome_release(&all);
        outcome_release(&some);
        kitchen_release(&whole);
        kitchen_release(&part);
    }
}

static void test_rows(void **state) {
    enum { COUNT = 700 };
    static const uint32_t widths[] = {64, 24, 256, 8, 63, 9, 127, 255};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const size_t bytes = nigh_signature_bytes(widths[w]);
        uint8_t *rows = calloc(COUNT, bytes);
        assert_non_null(rows);
        struct nigh__rng rng = {.state = w + 5};
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint64_t base = nigh__rng_next(&rng) % 100;
            for (uint32_t k = 0; k < bytes; k++) rows[i * bytes + k] = (uint8_t)nigh__mix(base * 64 + k);
            const uint64_t flips = nigh__rng_next(&rng) % 4;
            for (uint64_t f = 0; f < flips; f++) {
                const uint64_t bit = nigh__rng_next(&rng) % widths[w];
                rows[(size_t)i * bytes + bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            padding_clear(rows + i * bytes, 1, widths[w]);
        }
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.all_pairs = 1;
        options.distance = 2;
        nigh_error error;
        nigh_dedup *dedup;
        assert_ok(nigh_dedup_rows(*state, rows, COUNT, widths[w], &options, &dedup, &error), &error);
        struct outcome outcome;
        outcome_of(dedup, &outcome);
        size_t at = 0;
        for (uint32_t a = 0; a < COUNT; a++) {
            for (uint32_t b = a + 1; b < COUNT; b++) {
                uint32_t distance = 0;
                for (uint32_t k = 0; k < bytes; k++)
                    distance += (uint32_t)__builtin_popcount(rows[a * bytes + k] ^ rows[b * bytes + k]);
                if (distance > options.distance) continue;
                assert_true(at < outcome.pairs.count);
                assert_int_equal(outcome.pairs.list[at].first, a);
                assert_int_equal(outcome.pairs.list[at].second, b);
                assert_int_equal(outcome.pairs.list[at].distance, distance);
                assert_int_equal(outcome.pairs.list[at].copy, distance == 0);
                at++;
            }
        }
        assert_int_equal(at, outcome.pairs.count);
        check_kept(&outcome);
        outcome_release(&outcome);
        nigh_dedup_free(dedup);
        free(rows);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact), cmocka_unit_test(test_minhash),  cmocka_unit_test(test_same),
        cmocka_unit_test(test_crowd), cmocka_unit_test(test_prefixes), cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
