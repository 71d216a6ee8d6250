/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Deduplication as it is past 2^32 documents, with few of them: pairs of two words and
 * keys of 64 bits find what one word and 32 bits find.  And the parts that can be asked
 * about numbers past 2^32 without as many documents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/rng.h"
#include "dedup/candidates.h"
#include "dedup/same.h"
#include "support/soup.h"
#include "support/support.h"

#define FAR (UINT64_C(5) << 32)

/* ---------------------------------------------------------------- end to end */

/* What a deduplication says, as text. */
static int print_pair(void *user, const nigh_dedup_pair *pair) {
    (void)fprintf(user, "%llu %llu %a %u %d\n", (unsigned long long)pair->first, (unsigned long long)pair->second,
                  pair->similarity, pair->distance, pair->copy);
    return 0;
}

static char *tell(nigh_dedup *dedup) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    nigh_error error;
    nigh_dedup_document document = {.size = sizeof document};
    uint64_t untold = 0;
    nigh_dedup_info info = {.size = sizeof info};
    assert_non_null(stream);
    for (uint64_t i = 0; nigh_dedup_at(dedup, i, &document) == NIGH_OK; i++)
        (void)fprintf(stream, "%llu %a %d %d\n", (unsigned long long)document.cluster, document.similarity,
                      document.keep, document.copy);
    assert_ok(nigh_dedup_pairs(dedup, print_pair, stream, &untold, &error), &error);
    nigh_dedup_describe(dedup, &info);
    (void)fprintf(stream, "untold %llu candidates %llu verified %llu alike %llu cut %llu\n", (unsigned long long)untold,
                  (unsigned long long)info.candidates, (unsigned long long)info.verified,
                  (unsigned long long)info.alike, (unsigned long long)info.pairs_cut);
    assert_int_equal(fclose(stream), 0);
    nigh_dedup_free(dedup);
    return text;
}

/* Keys of 64 bits from the first document on, or from the second block of them; numbers of 64 bits or not. */
static const struct nigh__dedup_narrow wide[] = {
    {.numbers = 0, .keys = 0},
    {.numbers = 0, .keys = NIGH__BANDS_NARROW},
    {.numbers = NIGH__HALF_WORD_NUMBERS, .keys = 0},
    {.numbers = 0, .keys = NIGH__BANDS_BLOCK},
};

static void check_texts(nigh_context *context, const char *path, const nigh_dedup_options *options) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), &error);
    char *expected = tell(dedup);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        assert_ok(nigh__dedup_run(context, &path, 1, NULL, options, &wide[i], &dedup, &error), &error);
        char *text = tell(dedup);
        assert_string_equal(text, expected);
        free(text);
    }
    free(expected);
}

static void check_ways(nigh_context *context, const char *path, const nigh_dedup_options *options) {
    nigh_dedup_options each = *options;
    for (unsigned method = 0; method <= NIGH_DEDUP_SIMHASH; method++) {
        for (unsigned cluster = 0; cluster <= NIGH_CLUSTER_COMPLETE; cluster++) {
            each.method = (nigh_dedup_method)method;
            each.cluster = (nigh_cluster_rule)cluster;
            each.all_pairs = 1;
            check_texts(context, path, &each);
        }
    }
    each = *options;
    check_texts(context, path, &each); /* a tree of pairs */
}

static void test_texts(void **state) {
    struct soup soup;
    char *folder = scratch_new();
    char *path = path_in(folder, "in.jsonl");
    soup_init(&soup, 700, 60, 60, 7);
    soup_write(&soup, path);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.threshold = 0.6;
    options.threads = 2;
    check_ways(*state, path, &options);
    options.keep = NIGH_KEEP_LONGEST;
    options.bucket_budget = 5; /* nearly everything is a crowd */
    check_ways(*state, path, &options);
    soup_release(&soup);
    free(path);
    scratch_free(folder);
}

/* More than a block of keys, some of them in a file. */
static void test_many(void **state) {
    struct soup soup;
    char *folder = scratch_new();
    char *path = path_in(folder, "in.jsonl");
    soup_init(&soup, 14000, 12, 40, 8);
    soup_write(&soup, path);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.threshold = 0.5;
    options.temporary = folder;
    options.memory_bytes = 1 << 20;
    options.threads = 2;
    check_texts(*state, path, &options);
    soup_release(&soup);
    free(path);
    scratch_free(folder);
}

static void test_rows(void **state) {
    enum { ROWS = 900 };
    struct nigh__rng rng = {.state = 5};
    uint64_t rows[ROWS] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = i < 9 || i % 3 == 0 ? nigh__rng_next(&rng) : rows[nigh__rng_next(&rng) % i];
        if (i % 3 == 1) rows[i] ^= UINT64_C(1) << nigh__rng_next(&rng) % 64;
    }
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    for (uint64_t budget = 3; budget <= 2000; budget += 1997) {
        nigh_dedup *dedup = NULL;
        nigh_error error;
        options.all_pairs = 1;
        options.bucket_budget = budget;
        const uint8_t *bytes = (const uint8_t *)rows;
        assert_ok(nigh_dedup_rows(*state, bytes, ROWS, 64, &options, &dedup, &error), &error);
        char *expected = tell(dedup);
        assert_ok(nigh__dedup_rows(*state, bytes, ROWS, 64, &options, &wide[0], &dedup, &error), &error);
        char *text = tell(dedup);
        assert_string_equal(text, expected);
        free(text);
        free(expected);
    }
}

static void test_too_many(void **state) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    const uint8_t row[8] = {0};
    assert_int_equal(nigh_dedup_rows(*state, row, NIGH__MAX_NUMBERS + 1, 64, NULL, &dedup, &error), NIGH_ELIMIT);
    assert_null(dedup);
}

/* --------------------------------------------------------------- large numbers */

/* Ranks past 2^32: each pair comes once, in order, whoever added it. */
static void test_candidates(void **state) {
    static const uint64_t pairs[][2] = {{0, 1}, {1, 0}, {1, 2}, {0, 3}, {2, 3}, {3, 2}, {0, 1}};
    uint64_t ranks[] = {FAR + 7, 7, FAR + 8, UINT64_C(7) << 32};
    const struct nigh__order order = {.rank = ranks, .count = FAR + 9};
    nigh_dedup dedup = {.context = *state, .pair_words = 2, .options = {.all_pairs = 1}};
    struct nigh__candidates candidates;
    struct nigh__pair_queue queue;
    struct nigh__number_pair pair;
    nigh_error error;
    bool decides = false;
    assert_ok(nigh__candidates_init(&dedup, &order, NULL, 1, &candidates, &error), &error);
    assert_ok(nigh__pair_queue_init(&dedup, &order, &candidates.deciding, NULL, &queue, &error), &error);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_ok(nigh__pair_queue_add(&queue, pairs[i][0], pairs[i][1], &error), &error);
    assert_int_equal(queue.count, 4); /* the others were recent */
    assert_ok(nigh__pair_queue_flush(&queue, &error), &error);
    assert_ok(nigh__candidates_finish(&candidates, &error), &error);
    const struct nigh__number_pair expected[] = {
        {7, FAR + 7}, {7, FAR + 8}, {FAR + 7, UINT64_C(7) << 32}, {FAR + 8, UINT64_C(7) << 32}};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(nigh__candidates_next(&candidates, &pair, &decides, &error), &error);
        assert_int_equal(pair.first, expected[i].first);
        assert_int_equal(pair.second, expected[i].second);
        assert_true(decides);
    }
    assert_int_equal(nigh__candidates_next(&candidates, &pair, &decides, &error), NIGH_END);
    const uint64_t *records = NULL;
    size_t count = 0;
    assert_ok(nigh__sorter_next(candidates.deciding.by_worse, &records, &count, &error), &error);
    assert_int_equal(count, 4); /* here the worse ranks ascend as well */
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(records[2 * i], expected[i].second);
        assert_int_equal(records[2 * i + 1], expected[i].first);
    }
    nigh__pair_queue_release(*state, &queue);
    nigh__candidates_release(&candidates);
}

/* Marks of numbers past 2^32, in memory of which nothing else is ever touched. */
static void test_same(void **state) {
    const size_t bytes = (size_t)(FAR + 4) * sizeof(struct nigh__mark);
    struct nigh__mark *marks =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (marks == MAP_FAILED) skip();
    struct nigh__same same;
    nigh_error error;
    uint64_t first = 0;
    nigh__same_init(*state, &same);
    marks[0] = marks[FAR + 2] = (struct nigh__mark){{1, 5}};
    marks[FAR] = marks[FAR + 1] = marks[FAR + 3] = (struct nigh__mark){{1, 6}};
    static const uint64_t numbers[] = {0, FAR, FAR + 1, FAR + 2, FAR + 3};
    static const uint64_t firsts[] = {0, FAR, FAR, 0, FAR};
    for (size_t i = 0; i < 5; i++) {
        assert_ok(nigh__same_find(&same, marks, numbers[i], &first, &error), &error);
        assert_int_equal(first, firsts[i]);
    }
    nigh__same_release(&same);
    assert_int_equal(munmap(marks, bytes), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),    cmocka_unit_test(test_many),       cmocka_unit_test(test_rows),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_candidates), cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
