/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power fails before every single file call of a commit, with texts and without, and of giving a collection
 * slice lists and columns, and of a term signature file.  Whatever is
 * left (support/power_disk.h) must open with the old documents or the new, and with the new where the
 * commit had said that it was done.  Lists are the old, the new or none, never damaged.
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

#include "support/filter_support.h"
#include "support/power_disk.h"
#include "support/support.h"
#include "support/terms_support.h"

#define TRIALS 12

static const struct recipe recipe = {.width_bits = 64,
                                     .seed = 8,
                                     .distinct = 30,
                                     .ids = true,
                                     .metadata = true,
                                     .weights = true,
                                     .vocabulary = "words and how often",
                                     .model = "what was learned"};

/* As of a collection for near-copies. */
static const struct recipe with_texts = {.width_bits = 256,
                                         .seed = 9,
                                         .distinct = 30,
                                         .ids = true,
                                         .scheme = "kind=minhash\nthreshold=800\n",
                                         .texts = true,
                                         .keys = 5};

struct round {
    const struct recipe *recipe;
    uint64_t old_count;
    uint64_t new_count;
    bool committed; /* and told so */
};

/* How many documents are there; fails the test where it is neither the old state nor the new. */
static uint64_t expect_old_or_new(nigh_context *context, const char *path, const struct round *round) {
    nigh_collection *collection;
    nigh_error error;
    nigh_status status = nigh_collection_open(context, path, NULL, &collection, &error);
    uint64_t count = 0;
    if (status == NIGH_OK) {
        nigh_collection_info info = {.size = sizeof info};
        nigh_collection_describe(collection, &info);
        assert_int_equal(info.damaged_manifests, 0);
        count = info.documents;
        nigh_collection_close(collection);
        recipe_expect(context, path, round->recipe, count);
    } else if (status != NIGH_ENOTFOUND) {
        assert_ok(status, &error);
    }
    assert_true(count == round->new_count || (count == round->old_count && !round->committed));
    return count;
}

/* Adds [old, new) with the power failing before call `n`; false where the commit ended before. */
static bool one_round(uint64_t n, const struct recipe *of, uint64_t old_count, uint64_t new_count, uint64_t seen[2]) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    if (old_count != 0) assert_ok(recipe_add(context, POWER_DISK_COLLECTION, of, 0, old_count, &error), &error);
    power_disk_cut(disk, n);
    struct round round = {.recipe = of, .old_count = old_count, .new_count = new_count};
    nigh_status status = recipe_add(context, POWER_DISK_COLLECTION, of, old_count, new_count - old_count, &error);
    round.committed = status == NIGH_OK;
    bool failed = power_disk_was_cut(disk);
    nigh_context_free(context);

    nigh_context *healthy = context_new();
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct nigh__rng rng = {.state = nigh__mix(n * 1000 + trial)};
        char *scratch = scratch_new();
        char *path = path_in(scratch, POWER_DISK_COLLECTION);
        bool there = power_disk_leave(disk, path, &rng);
        uint64_t count = there ? expect_old_or_new(healthy, path, &round) : 0;
        if (!there) assert_true(old_count == 0 && !round.committed);
        seen[count == new_count]++;
        if (there && count == 0) { /* a writer that comes later finds its way */
            assert_ok(recipe_add(healthy, path, of, 0, new_count, &error), &error);
            recipe_expect(healthy, path, of, new_count);
        }
        free(path);
        scratch_free(scratch);
    }
    nigh_context_free(healthy);
    power_disk_free(disk);
    return failed;
}

static void power_fails_while(const struct recipe *of, uint64_t old_count, uint64_t new_count) {
    uint64_t seen[2] = {0, 0};
    uint64_t n = 0;
    while (one_round(n, of, old_count, new_count, seen)) n++;
    print_message("%" PRIu64 " moments: %" PRIu64 " times the old state, %" PRIu64 " times the new\n", n, seen[0],
                  seen[1]);
    assert_true(n > 20);
    assert_true(seen[0] > 0 && seen[1] > 0);
}

/* ---------------------------------------------------- term signature files */

#define TERMS_OLD 30u
#define TERMS_MORE 20u /* in each of two groups */

struct terms_texts {
    char *old, *more[2], *all;
};

static struct terms_texts terms_texts_make(void) {
    struct terms_texts texts = {.old = topic_lines(1, TERMS_OLD, 8),
                                .more = {topic_lines(2, TERMS_MORE, 8), topic_lines(1, TERMS_MORE, 8)}};
    texts.all = malloc(strlen(texts.old) + strlen(texts.more[0]) + strlen(texts.more[1]) + 1);
    assert_non_null(texts.all);
    (void)sprintf(texts.all, "%s%s%s", texts.old, texts.more[0], texts.more[1]);
    return texts;
}

static void terms_texts_free(struct terms_texts *texts) {
    free(texts->old);
    free(texts->more[0]);
    free(texts->more[1]);
    free(texts->all);
}

/* Whether the new documents are there; fails the test where it is neither the old state nor the new. */
static bool expect_terms(nigh_context *context, const char *path, const struct terms_texts *texts, bool had_old,
                         bool committed) {
    nigh_terms *terms;
    nigh_error error;
    nigh_terms_info info = {.size = sizeof info};
    nigh_status status = nigh_terms_open(context, path, NULL, &terms, &error);
    if (status == NIGH_ENOTFOUND) {
        assert_true(!had_old && !committed);
        return false;
    }
    assert_ok(status, &error);
    nigh_terms_describe(terms, &info);
    const bool is_new = info.documents > TERMS_OLD || !had_old;
    assert_true(is_new || !committed);
    terms_expect_lines(terms, is_new && had_old ? texts->all : texts->old);
    nigh_terms_close(terms);
    assert_ok(nigh_terms_check(context, path, NULL, NULL, &error), &error);
    return is_new;
}

/* The first documents, or two groups more, with the power failing before call `n`. */
static bool terms_round(uint64_t n, bool had_old, const struct terms_texts *texts, uint64_t seen[2]) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    const char *const old[] = {texts->old};
    const char *const more[] = {texts->more[0], texts->more[1]};
    if (had_old) assert_ok(terms_write_texts(context, POWER_DISK_COLLECTION, old, 1, &error), &error);
    power_disk_cut(disk, n);
    const nigh_status status =
        terms_write_texts(context, POWER_DISK_COLLECTION, had_old ? more : old, had_old ? 2 : 1, &error);
    const bool failed = power_disk_was_cut(disk);
    nigh_context_free(context);
    nigh_context *healthy = context_new();
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct nigh__rng rng = {.state = nigh__mix(n * 1000 + trial)};
        char *scratch = scratch_new();
        char *path = path_in(scratch, POWER_DISK_COLLECTION);
        const bool there = power_disk_leave(disk, path, &rng);
        if (!there) assert_true(!had_old && status != NIGH_OK);
        const bool is_new = there && expect_terms(healthy, path, texts, had_old, status == NIGH_OK);
        seen[is_new]++;
        if (there && !is_new) { /* a writer that comes later finds its way */
            assert_ok(terms_write_texts(healthy, path, had_old ? more : old, had_old ? 2 : 1, &error), &error);
            assert_true(expect_terms(healthy, path, texts, had_old, true));
        }
        free(path);
        scratch_free(scratch);
    }
    nigh_context_free(healthy);
    power_disk_free(disk);
    return failed;
}

static void terms_fail_while(bool had_old) {
    struct terms_texts texts = terms_texts_make();
    uint64_t seen[2] = {0, 0};
    uint64_t n = 0;
    while (terms_round(n, had_old, &texts, seen)) n++;
    print_message("%" PRIu64 " moments: %" PRIu64 " times the old terms, %" PRIu64 " times the new\n", n, seen[0],
                  seen[1]);
    assert_true(n > 20);
    assert_true(seen[0] > 0 && seen[1] > 0);
    terms_texts_free(&texts);
}

static void making_terms(void **state) {
    (void)state;
    terms_fail_while(false);
}

static void adding_terms(void **state) {
    (void)state;
    terms_fail_while(true);
}

/* ------------------------------------------------- slice lists, and columns */

#define OLD_WIDTH 8u
#define NEW_WIDTH 11u

struct lists_round {
    bool columns;       /* in place of lists; NEW_WIDTH: they are there */
    uint32_t old_width; /* of the lists there before; 0: none */
    uint32_t new_width; /* 0: they are to be removed */
    bool done;          /* and told so */
};

static nigh_status change_columns(nigh_context *context, const char *path, bool there, nigh_error *error) {
    nigh_columns_options options;
    nigh_columns_options_init(&options);
    options.min_rows = 1;
    options.threads = 1;
    return there ? nigh_columns_build(context, path, &options, NULL, error) : nigh_columns_remove(context, path, error);
}

static nigh_status change_lists(nigh_context *context, const char *path, const struct lists_round *round,
                                uint32_t width, nigh_error *error) {
    if (round->columns) return change_columns(context, path, width != 0, error);
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = width;
    options.min_rows = 1;
    options.threads = 1;
    if (width == 0) return nigh_lists_remove(context, path, error);
    return nigh_lists_build(context, path, &options, NULL, error);
}

/* Each segment has its old lists or its new ones; returns how many have the new. */
static uint32_t expect_lists(nigh_context *context, const char *path, const struct lists_round *round) {
    nigh_collection *collection;
    nigh_error error;
    nigh_collection_info info = {.size = sizeof info};
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.segments, 2);
    assert_int_equal(info.damaged_lists + info.damaged_columns, 0);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < 2; i++) {
        nigh_segment_info segment = {.size = sizeof segment};
        assert_ok(nigh_collection_segment(collection, i, &segment, &error), &error);
        const uint32_t width = round->columns && segment.column_bytes != 0 ? NEW_WIDTH : segment.slice_width;
        if (width != round->new_width) assert_int_equal(width, round->old_width);
        changed += width == round->new_width;
    }
    nigh_collection_close(collection);
    if (round->done) assert_int_equal(changed, info.segments);
    return changed;
}

/* Changes lists with the power failing before call `n`; false where all was done before. */
static bool one_lists_round(uint64_t n, struct lists_round *round, uint64_t seen[3]) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    assert_ok(recipe_add(context, POWER_DISK_COLLECTION, &recipe, 0, 25, &error), &error);
    assert_ok(recipe_add(context, POWER_DISK_COLLECTION, &recipe, 25, 15, &error), &error);
    if (round->old_width != 0)
        assert_ok(change_lists(context, POWER_DISK_COLLECTION, round, round->old_width, &error), &error);
    power_disk_settle(disk); /* what the last tidying removed is gone */
    power_disk_cut(disk, n);
    round->done = change_lists(context, POWER_DISK_COLLECTION, round, round->new_width, &error) == NIGH_OK;
    bool failed = power_disk_was_cut(disk);
    nigh_context_free(context);

    nigh_context *healthy = context_new();
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct nigh__rng rng = {.state = nigh__mix(n * 1000 + trial)};
        char *scratch = scratch_new();
        char *path = path_in(scratch, POWER_DISK_COLLECTION);
        assert_true(power_disk_leave(disk, path, &rng));
        recipe_expect(healthy, path, &recipe, 40); /* and a check of all lists */
        seen[expect_lists(healthy, path, round)]++;
        assert_ok(change_lists(healthy, path, round, NEW_WIDTH, &error), &error); /* life goes on */
        const struct lists_round after = {.columns = round->columns, .new_width = NEW_WIDTH, .done = true};
        (void)expect_lists(healthy, path, &after);
        nigh_check_result result = {.size = sizeof result};
        assert_ok(nigh_collection_check(healthy, path, NULL, &result, &error), &error);
        assert_int_equal(result.leftovers, 0);
        free(path);
        scratch_free(scratch);
    }
    nigh_context_free(healthy);
    power_disk_free(disk);
    return failed;
}

static void power_fails_while_lists(bool columns, uint32_t old_width, uint32_t new_width) {
    struct lists_round round = {.columns = columns, .old_width = old_width, .new_width = new_width};
    uint64_t seen[3] = {0, 0, 0};
    uint64_t n = 0;
    while (one_lists_round(n, &round, seen)) n++;
    print_message("%" PRIu64 " moments: %" PRIu64 " times the old lists, %" PRIu64 " times some, %" PRIu64
                  " times the new\n",
                  n, seen[0], seen[1], seen[2]);
    assert_true(n > 10);
    assert_true(seen[0] > 0 && seen[2] > 0);
}

static void while_building_lists(void **state) {
    (void)state;
    power_fails_while_lists(false, 0, NEW_WIDTH);
}

static void while_building_other_lists(void **state) {
    (void)state;
    power_fails_while_lists(false, OLD_WIDTH, NEW_WIDTH);
}

static void while_removing_lists(void **state) {
    (void)state;
    power_fails_while_lists(false, OLD_WIDTH, 0);
}

static void while_building_columns(void **state) {
    (void)state;
    power_fails_while_lists(true, 0, NEW_WIDTH);
}

static void while_removing_columns(void **state) {
    (void)state;
    power_fails_while_lists(true, NEW_WIDTH, 0);
}

static void while_making_a_collection(void **state) {
    (void)state;
    power_fails_while(&recipe, 0, 40);
}

static void while_adding_to_one(void **state) {
    (void)state;
    power_fails_while(&recipe, 25, 60);
}

static void while_making_one_with_texts(void **state) {
    (void)state;
    power_fails_while(&with_texts, 0, 40);
}

static void while_adding_texts(void **state) {
    (void)state;
    power_fails_while(&with_texts, 25, 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_making_a_collection),
        cmocka_unit_test(while_adding_to_one),
        cmocka_unit_test(while_making_one_with_texts),
        cmocka_unit_test(while_adding_texts),
        cmocka_unit_test(while_building_lists),
        cmocka_unit_test(while_building_other_lists),
        cmocka_unit_test(while_removing_lists),
        cmocka_unit_test(while_building_columns),
        cmocka_unit_test(while_removing_columns),
        cmocka_unit_test(making_terms),
        cmocka_unit_test(adding_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
