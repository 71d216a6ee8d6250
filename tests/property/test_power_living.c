/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long: 10000
 *
 * The power fails (support/power_rig.h) while documents are deleted, more of them, and replaced; while segments are
 * merged, with columns and without, some of their documents deleted; and while the segments of another collection are
 * adopted.  What lives and in which segments is that of before or of after: nothing is lost, and nothing deleted
 * returns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/living_support.h"
#include "support/power_rig.h"
#include "support/support.h"

#define PARTS 4u
#define OF_A_PART 10u

static const struct recipe recipe = {.width_bits = 64,
                                     .seed = 8,
                                     .distinct = 30,
                                     .ids = true,
                                     .metadata = true,
                                     .weights = true,
                                     .vocabulary = "words and how often",
                                     .apart = true};

static uint64_t told(nigh_status status) { return status == NIGH_OK ? POWER_ALL : POWER_NOTHING; }

static char *describe(nigh_context *context, uint64_t acknowledged) {
    (void)acknowledged;
    return power_describe(context, POWER_DISK_COLLECTION);
}

/* Where a commit merges what is mostly deleted, in a state of its own. */
static char *describe_documents(nigh_context *context, uint64_t acknowledged) {
    (void)acknowledged;
    return power_describe_documents(context, POWER_DISK_COLLECTION);
}

/* ------------------------------------------------------- deleting and replacing */

static void have_whole(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    living_make(context, POWER_DISK_COLLECTION, 0);
}

static void have_some_deleted(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    living_make(context, POWER_DISK_COLLECTION, 1);
}

static void have_more_deleted(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    living_make(context, POWER_DISK_COLLECTION, 2);
}

static uint64_t delete_some(nigh_context *context) {
    return told(living_change(context, POWER_DISK_COLLECTION, 1, NULL));
}

static uint64_t delete_more(nigh_context *context) {
    return told(living_change(context, POWER_DISK_COLLECTION, 2, NULL));
}

static uint64_t replace(nigh_context *context) { return told(living_change(context, POWER_DISK_COLLECTION, 3, NULL)); }

/* --------------------------------------------------------------------- merging */

static void add_parts(nigh_context *context, const char *path, uint64_t first, uint64_t parts) {
    nigh_error error;
    for (uint64_t i = 0; i < parts; i++)
        assert_ok(recipe_add(context, path, &recipe, first + i * OF_A_PART, OF_A_PART, &error), &error);
}

static void make_columns(nigh_context *context, const char *path) {
    nigh_columns_options columns;
    nigh_error error;
    nigh_columns_options_init(&columns);
    columns.min_rows = 0;
    assert_ok(nigh_columns_build(context, path, &columns, NULL, &error), &error);
}

/* Every third document. */
static void delete_thirds(nigh_context *context, const char *path, uint64_t first, uint64_t end) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    for (uint64_t i = first; i < end; i += 3) {
        char id[RECIPE_MAX_TEXT];
        assert_ok(nigh_writer_delete(writer, id, recipe_id(&recipe, i, id), &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

static void have_parts(nigh_context *context, struct power_disk *disk) {
    (void)disk;
    add_parts(context, POWER_DISK_COLLECTION, 0, PARTS);
}

static void have_parts_with_columns(nigh_context *context, struct power_disk *disk) {
    have_parts(context, disk);
    make_columns(context, POWER_DISK_COLLECTION);
}

static void have_parts_with_deleted(nigh_context *context, struct power_disk *disk) {
    have_parts(context, disk);
    delete_thirds(context, POWER_DISK_COLLECTION, 0, (uint64_t)PARTS * OF_A_PART);
}

static uint64_t merge(nigh_context *context) {
    return told(nigh_merge(context, POWER_DISK_COLLECTION, NULL, NULL, NULL));
}

/* ------------------------------------------------------------------- adopting */

/* With all that a segment may have beside it. */
static void have_other(nigh_context *context, struct power_disk *disk) {
    const uint64_t first = (uint64_t)PARTS * OF_A_PART;
    (void)disk;
    add_parts(context, POWER_DISK_OTHER, first, 2);
    make_columns(context, POWER_DISK_OTHER);
    delete_thirds(context, POWER_DISK_OTHER, first, first + OF_A_PART);
}

static void have_both(nigh_context *context, struct power_disk *disk) {
    add_parts(context, POWER_DISK_COLLECTION, 0, 2);
    have_other(context, disk);
}

static uint64_t adopt(nigh_context *context) {
    const char *const others[] = {POWER_DISK_OTHER};
    return told(nigh_adopt(context, POWER_DISK_COLLECTION, others, 1, NULL, NULL, NULL));
}

static const struct power_deed deeds[] = {
    {.name = "deleting", .prepare = have_whole, .run = delete_some, .describe = describe_documents},
    {.name = "deleting more", .prepare = have_some_deleted, .run = delete_more, .describe = describe_documents},
    {.name = "replacing", .prepare = have_more_deleted, .run = replace, .describe = describe_documents},
    {.name = "merging", .prepare = have_parts, .run = merge, .describe = describe},
    {.name = "merging with columns", .prepare = have_parts_with_columns, .run = merge, .describe = describe},
    {.name = "merging what is deleted", .prepare = have_parts_with_deleted, .run = merge, .describe = describe},
    {.name = "adopting", .prepare = have_both, .run = adopt, .describe = describe},
    {.name = "adopting where there is nothing", .prepare = have_other, .run = adopt, .describe = describe},
};

int main(int argc, char **argv) {
    return power_rig_main("power_living", deeds, sizeof deeds / sizeof deeds[0], argc, argv);
}
