/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long: 10000
 *
 * The power fails (support/power_rig.h) in find-or-add: while documents go to the log and the log becomes a segment,
 * while a log that was left is taken up, and while a damaged one is repaired.  The next to open finds the documents
 * that were acknowledged, in their order, none of them twice, and nothing that was never given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/power_rig.h"
#include "support/support.h"

#define DOCUMENTS 60u
#define IN_SEGMENT 10u
#define LEFT 30u        /* documents, of which those past IN_SEGMENT are in a log */
#define LOG_BYTES 3000u /* becomes a segment every 20 documents or so */

static const struct recipe recipe = {.width_bits = 64, .seed = 12, .ids = true, .metadata = true};

static nigh_status open_live(nigh_context *context, uint64_t log_bytes, nigh_live **out) {
    nigh_live_options options;
    nigh_live_options_init(&options);
    options.background = 0; /* so that the calls come in one order */
    options.create = 1;
    options.width_bits = recipe.width_bits;
    options.radius = 0;
    options.log_bytes = log_bytes;
    return nigh_live_open(context, POWER_DISK_COLLECTION, &options, out, NULL);
}

static nigh_document document_of(uint64_t number, uint8_t signature[8], char *id, char *metadata) {
    recipe_signature(&recipe, number, signature);
    return (nigh_document){.size = sizeof(nigh_document),
                           .signature = signature,
                           .id = id,
                           .id_length = recipe_id(&recipe, number, id),
                           .metadata = metadata,
                           .metadata_length = recipe_metadata(&recipe, number, metadata)};
}

/* Gives documents [from, end) in groups of one to five, until one fails; returns how many are there for certain. */
static uint64_t add_all(nigh_live *live, uint64_t from, uint64_t end) {
    uint64_t acknowledged = from;
    struct nigh__rng rng = {.state = 4};
    while (acknowledged < end) {
        nigh_document documents[5];
        nigh_live_answer answers[5];
        uint8_t signatures[5][8];
        char ids[5][RECIPE_MAX_TEXT];
        char metadata[5][RECIPE_MAX_TEXT];
        uint64_t count = 1 + nigh__rng_next(&rng) % 5;
        if (count > end - acknowledged) count = end - acknowledged;
        for (uint64_t i = 0; i < count; i++)
            documents[i] = document_of(acknowledged + i, signatures[i], ids[i], metadata[i]);
        if (nigh_live_find_or_add(live, documents, (size_t)count, answers, NULL) != NIGH_OK) break;
        for (uint64_t i = 0; i < count; i++) assert_int_equal(answers[i].number, acknowledged + i);
        acknowledged += count;
    }
    return acknowledged;
}

/* Whoever opens takes up what was left; then goes on up to `end`. */
static uint64_t add_up_to(nigh_context *context, uint64_t log_bytes, uint64_t end) {
    nigh_live *live = NULL;
    nigh_live_info info = {.size = sizeof info};
    if (open_live(context, log_bytes, &live) != NIGH_OK) return POWER_NOTHING;
    nigh_live_describe(live, &info);
    const uint64_t acknowledged = add_all(live, info.documents, end);
    nigh_live_close(live);
    return acknowledged;
}

static uint64_t add_documents(nigh_context *context) { return add_up_to(context, LOG_BYTES, DOCUMENTS); }

/* It is sound before anybody takes up the log, too. */
static char *describe(nigh_context *context, uint64_t acknowledged) {
    nigh_live *live = NULL;
    (void)acknowledged;
    const nigh_status status = nigh_collection_check(context, POWER_DISK_COLLECTION, NULL, NULL, NULL);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return NULL;
    if (open_live(context, LOG_BYTES, &live) != NIGH_OK) return NULL;
    nigh_live_close(live);
    return power_describe_documents(context, POWER_DISK_COLLECTION);
}

/* --------------------------------------------------------------- taking up a log */

static void have_log(nigh_context *context, struct power_disk *disk) {
    nigh_error error;
    (void)disk;
    assert_ok(recipe_add(context, POWER_DISK_COLLECTION, &recipe, 0, IN_SEGMENT, &error), &error);
    assert_int_equal(add_up_to(context, UINT32_MAX, LEFT), LEFT);
}

static uint64_t take_up(nigh_context *context) {
    nigh_live *live = NULL;
    if (open_live(context, LOG_BYTES, &live) == NIGH_OK) nigh_live_close(live);
    return LEFT; /* all was acknowledged before */
}

/* -------------------------------------------------------------- repairing a log */

static void have_damaged_log(nigh_context *context, struct power_disk *disk) {
    have_log(context, disk);
    struct power_contents *log = power_disk_file(disk, "log-");
    log->bytes[log->length / 2] ^= 1;
}

static nigh_status check_and_repair(nigh_context *context) {
    nigh_check_options options;
    nigh_check_options_init(&options);
    options.repair = 1;
    return nigh_collection_check(context, POWER_DISK_COLLECTION, &options, NULL, NULL);
}

static uint64_t repair(nigh_context *context) {
    return check_and_repair(context) == NIGH_OK ? POWER_ALL : POWER_NOTHING;
}

/* Who was not told that it is repaired does it again. */
static char *describe_repaired(nigh_context *context, uint64_t acknowledged) {
    if (acknowledged != POWER_ALL && check_and_repair(context) != NIGH_OK) return NULL;
    return describe(context, acknowledged);
}

static const struct power_deed deeds[] = {
    {.name = "find or add",
     .run = add_documents,
     .describe = describe,
     .grows = true,
     .needless_syncs = 2,
     .why_needless = "that of the last group before a commit, which comes before its answer; and that of the name of a "
                     "segment, which that of the log's name has made safe before"},
    {.name = "taking up a log", .prepare = have_log, .run = take_up, .describe = describe, .grows = true},
    {.name = "repairing a log", .prepare = have_damaged_log, .run = repair, .describe = describe_repaired},
};

int main(int argc, char **argv) {
    return power_rig_main("power_log", deeds, sizeof deeds / sizeof deeds[0], argc, argv);
}
