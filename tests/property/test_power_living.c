/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power fails before every single file call of a commit that deletes documents, that deletes more where some are
 * deleted already, and that puts new ones in the place of others.  Whatever is left (support/power_disk.h) must open
 * with the documents of before or those of after, with these where the commit had said that it was done, and check
 * sound; and the same commit made again leads to the state of after.
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
#define DOCUMENTS 60u
#define STATES 4u /* each made from the one before by one commit */

static const struct recipe recipe = {.width_bits = 64, .seed = 8, .distinct = 30, .ids = true, .metadata = true};

static nigh_status open_writer(nigh_context *context, const char *path, uint32_t width_bits, nigh_writer **out,
                               nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = width_bits;
    options.replace = 1;
    return nigh_writer_open(context, path, &options, out, error);
}

/* Deletes every document whose number leaves a rest; those that are gone already are none of ours. */
static nigh_status delete_some(nigh_writer *writer, uint32_t step, uint32_t rest, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t d = rest; d < DOCUMENTS && status == NIGH_OK; d += step) {
        char id[RECIPE_MAX_TEXT];
        status = nigh_writer_delete(writer, id, recipe_id(&recipe, d, id), error);
        if (status == NIGH_ENOTFOUND) status = NIGH_OK;
    }
    return status;
}

/* Documents with the ids of some that are there, deleted or not, and the signatures of others. */
static nigh_status replace_some(nigh_writer *writer, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t d = 0; d < DOCUMENTS && status == NIGH_OK; d += 4) {
        char id[RECIPE_MAX_TEXT];
        uint8_t signature[8];
        recipe_signature(&recipe, 1000 + d, signature);
        const nigh_document document = {
            .size = sizeof document, .signature = signature, .id = id, .id_length = recipe_id(&recipe, d, id)};
        status = nigh_writer_add(writer, &document, error);
    }
    return status;
}

/* From state `to` - 1 to state `to`. */
static nigh_status go_to(nigh_context *context, const char *path, uint32_t to, nigh_error *error) {
    nigh_writer *writer = NULL;
    nigh_status status = open_writer(context, path, to == 3 ? recipe.width_bits : 0, &writer, error);
    if (status == NIGH_OK)
        status = to == 3 ? replace_some(writer, error) : delete_some(writer, to == 1 ? 3 : 5, to, error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, NULL, error);
    nigh_writer_close(writer);
    return status;
}

static void make_state(nigh_context *context, const char *path, uint32_t state) {
    nigh_error error;
    assert_ok(recipe_add(context, path, &recipe, 0, DOCUMENTS / 2, &error), &error);
    assert_ok(recipe_add(context, path, &recipe, DOCUMENTS / 2, DOCUMENTS / 2, &error), &error);
    for (uint32_t to = 1; to <= state; to++) assert_ok(go_to(context, path, to, &error), &error);
}

/* All that lives, in order: ids and signatures.  To be freed. */
static char *contents_of(nigh_context *context, const char *path) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.damaged_manifests, 0);
    char *text = calloc((size_t)info.documents + 1, RECIPE_MAX_TEXT + 24);
    char *end = text;
    assert_non_null(text);
    for (uint64_t d = 0; d < info.documents; d++) {
        char id[RECIPE_MAX_TEXT];
        uint64_t signature;
        size_t length;
        if (!nigh_collection_lives(collection, d)) continue;
        assert_ok(nigh_collection_id(collection, d, id, sizeof id, &length, &error), &error);
        assert_ok(nigh_collection_signature(collection, d, (uint8_t *)&signature, &error), &error);
        end += sprintf(end, "%s %016" PRIx64 "\n", id, signature);
    }
    nigh_collection_close(collection);
    return text;
}

static void expect_sound(nigh_context *context, const char *path) {
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_collection_check(context, path, NULL, &result, &error), &error);
    assert_int_equal(result.unlisted, 0);
}

struct states {
    char *contents[STATES];
};

/* One way in which the power may have left it. */
static bool expect_left(nigh_context *healthy, const struct power_disk *disk, const struct states *states, uint32_t to,
                        bool committed, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    char *scratch = scratch_new();
    char *path = path_in(scratch, POWER_DISK_COLLECTION);
    nigh_error error;
    assert_true(power_disk_leave(disk, path, &rng));
    char *now = contents_of(healthy, path);
    const bool is_new = strcmp(now, states->contents[to]) == 0;
    assert_true(is_new || (!committed && strcmp(now, states->contents[to - 1]) == 0));
    expect_sound(healthy, path);
    free(now);
    assert_ok(go_to(healthy, path, to, &error), &error); /* a writer that comes later finds its way */
    now = contents_of(healthy, path);
    if (!is_new || to < 3) assert_string_equal(now, states->contents[to]);
    expect_sound(healthy, path);
    free(now);
    free(path);
    scratch_free(scratch);
    return is_new;
}

/* The commit that leads to state `to`, with the power failing before call `n`; false where it ended before. */
static bool one_round(uint64_t n, const struct states *states, uint32_t to, uint64_t seen[2]) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    make_state(context, POWER_DISK_COLLECTION, to - 1);
    power_disk_cut(disk, n);
    const bool committed = go_to(context, POWER_DISK_COLLECTION, to, &error) == NIGH_OK;
    const bool failed = power_disk_was_cut(disk);
    nigh_context_free(context);
    nigh_context *healthy = context_new();
    for (uint64_t trial = 0; trial < TRIALS; trial++)
        seen[expect_left(healthy, disk, states, to, committed, nigh__mix(n * 1000 + trial))]++;
    nigh_context_free(healthy);
    power_disk_free(disk);
    return failed;
}

static void power_fails_on_the_way_to(uint32_t to) {
    struct states states;
    nigh_context *healthy = context_new();
    char *scratch = scratch_new();
    for (uint32_t state = 0; state < STATES; state++) {
        char name[8];
        (void)snprintf(name, sizeof name, "%u", state);
        char *path = path_in(scratch, name);
        make_state(healthy, path, state);
        states.contents[state] = contents_of(healthy, path);
        free(path);
    }
    uint64_t seen[2] = {0, 0};
    uint64_t n = 0;
    while (one_round(n, &states, to, seen)) n++;
    print_message("%" PRIu64 " moments: %" PRIu64 " times the old state, %" PRIu64 " times the new\n", n, seen[0],
                  seen[1]);
    assert_true(n > 20);
    assert_true(seen[0] > 0 && seen[1] > 0);
    for (uint32_t state = 0; state < STATES; state++) free(states.contents[state]);
    scratch_free(scratch);
    nigh_context_free(healthy);
}

static void while_deleting(void **state) {
    (void)state;
    power_fails_on_the_way_to(1);
}

static void while_deleting_more(void **state) {
    (void)state;
    power_fails_on_the_way_to(2);
}

static void while_replacing(void **state) {
    (void)state;
    power_fails_on_the_way_to(3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_deleting),
        cmocka_unit_test(while_deleting_more),
        cmocka_unit_test(while_replacing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
