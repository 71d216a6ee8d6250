/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power fails before every file call of a merge (support/power_disk.h): every document is there afterwards, in one
 * state or the other.  And the other way round: where any one sync of a merge or a commit is left out, some power
 * failure does harm, so that each of them is needed and this rig would notice.
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

#include "support/power_disk.h"
#include "support/support.h"

#define TRIALS 12
#define PARTS 4
#define OF_A_PART 10

static const struct recipe recipe = {.width_bits = 64,
                                     .seed = 8,
                                     .distinct = 30,
                                     .ids = true,
                                     .metadata = true,
                                     .weights = true,
                                     .vocabulary = "words and how often",
                                     .apart = true};

/* What is done to a collection of PARTS segments. */
struct deed {
    const char *name;
    nigh_status (*run)(nigh_context *context, const char *path, nigh_error *error);
    uint64_t documents; /* afterwards */
    bool columns;       /* the first segment has them before */
};

static nigh_status run_merge(nigh_context *context, const char *path, nigh_error *error) {
    return nigh_merge(context, path, NULL, NULL, error);
}

static nigh_status run_add(nigh_context *context, const char *path, nigh_error *error) {
    return recipe_add(context, path, &recipe, (uint64_t)PARTS * OF_A_PART, 5, error);
}

static const struct deed merging = {"merging", run_merge, (uint64_t)PARTS *OF_A_PART, false};
static const struct deed merging_columns = {"merging with columns", run_merge, (uint64_t)PARTS *OF_A_PART, true};
static const struct deed adding = {"adding", run_add, (uint64_t)PARTS *OF_A_PART + 5, false};

/* Whether all is well and `count` documents are there, or `other`; says nothing where not. */
static bool is_sound(nigh_context *context, const char *path, uint64_t count, uint64_t other) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    uint64_t number;
    char id[RECIPE_MAX_TEXT];
    if (nigh_collection_check(context, path, NULL, NULL, &error) != NIGH_OK) return false;
    if (nigh_collection_open(context, path, NULL, &collection, &error) != NIGH_OK) return false;
    nigh_collection_describe(collection, &info);
    bool sound = info.damaged_manifests == 0 && (info.documents == count || info.documents == other);
    for (uint64_t i = 0; i < info.documents && sound; i++)
        sound =
            nigh_collection_find(collection, id, recipe_id(&recipe, i, id), &number, &error) == NIGH_OK && number == i;
    nigh_collection_close(collection);
    return sound;
}

static void make_parts(nigh_context *context, const struct deed *deed) {
    nigh_error error;
    nigh_columns_options columns;
    nigh_columns_options_init(&columns);
    columns.min_rows = 0;
    for (uint64_t i = 0; i < PARTS; i++)
        assert_ok(recipe_add(context, POWER_DISK_COLLECTION, &recipe, i * OF_A_PART, OF_A_PART, &error), &error);
    if (deed->columns) assert_ok(nigh_columns_build(context, POWER_DISK_COLLECTION, &columns, NULL, &error), &error);
}

/* The deed, with the power failing before call `n`.  *harm: some trial was not sound.  False: it ended before. */
static bool one_round(const struct deed *deed, uint64_t n, uint64_t skipped_sync, bool *harm) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_context *healthy = context_new();
    nigh_error error;
    make_parts(context, deed);
    power_disk_sync(disk);
    disk->calls = disk->syncs = 0;
    disk->fails_at = n;
    disk->skipped_sync = skipped_sync;
    const bool done = deed->run(context, POWER_DISK_COLLECTION, &error) == NIGH_OK;
    const bool failed = disk->calls > n;
    const uint64_t before = (uint64_t)PARTS * OF_A_PART;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct nigh__rng rng = {.state = nigh__mix(n * 1000 + trial)};
        char *scratch = scratch_new();
        char *path = path_in(scratch, POWER_DISK_COLLECTION);
        assert_true(power_disk_leave(disk, path, &rng));
        if (!is_sound(healthy, path, deed->documents, done ? deed->documents : before)) *harm = true;
        free(path);
        scratch_free(scratch);
    }
    nigh_context_free(context);
    nigh_context_free(healthy);
    power_disk_free(disk);
    return failed;
}

static void power_fails(const struct deed *deed) {
    uint64_t n = 0;
    bool harm = false;
    while (one_round(deed, n, UINT64_MAX, &harm)) n++;
    assert_false(harm);
    assert_true(n > 20);
}

/* How many syncs the deed makes. */
static uint64_t syncs_of(const struct deed *deed) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    make_parts(context, deed);
    disk->syncs = 0;
    assert_ok(deed->run(context, POWER_DISK_COLLECTION, &error), &error);
    const uint64_t syncs = disk->syncs;
    nigh_context_free(context);
    power_disk_free(disk);
    return syncs;
}

static void every_sync_is_needed(const struct deed *deed) {
    const uint64_t syncs = syncs_of(deed);
    assert_true(syncs >= 4);
    for (uint64_t skipped = 0; skipped < syncs; skipped++) {
        bool harm = false;
        for (uint64_t n = 0; one_round(deed, n, skipped, &harm) && !harm;) n++;
        if (!harm) print_message("%s: sync %" PRIu64 " of %" PRIu64 " is not needed\n", deed->name, skipped, syncs);
        assert_true(harm);
    }
}

static void while_merging(void **state) {
    (void)state;
    power_fails(&merging);
}

static void while_merging_columns(void **state) {
    (void)state;
    power_fails(&merging_columns);
}

static void syncs_of_merging(void **state) {
    (void)state;
    every_sync_is_needed(&merging);
    every_sync_is_needed(&merging_columns);
}

static void syncs_of_adding(void **state) {
    (void)state;
    every_sync_is_needed(&adding);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_merging),
        cmocka_unit_test(while_merging_columns),
        cmocka_unit_test(syncs_of_merging),
        cmocka_unit_test(syncs_of_adding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
