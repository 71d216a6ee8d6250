/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier: full
 *
 * The power fails before every single file call of find-or-add: while documents go to the log, while the log becomes a
 * segment, and while a log that was left is taken up.  Whatever blocks and names of what was not synced survive, the
 * next to open finds the documents that were acknowledged, in their order, none of them twice, and nothing that was
 * never given.  And where a sync is left out, whichever, this test notices.
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

#define DOCUMENTS 60u
#define TRIALS 6u
#define LOG_BYTES 3000u /* becomes a segment every 20 documents or so */

static const struct recipe recipe = {.width_bits = 64, .seed = 12, .ids = true, .metadata = true};

static nigh_status open_live(nigh_context *context, const char *path, nigh_live **out, nigh_error *error) {
    nigh_live_options options;
    nigh_live_options_init(&options);
    options.create = 1;
    options.width_bits = recipe.width_bits;
    options.radius = 0;
    options.log_bytes = LOG_BYTES;
    return nigh_live_open(context, path, &options, out, error);
}

/* Gives documents in groups of one to five, until one fails; returns how many were acknowledged. */
static uint64_t add_all(nigh_live *live, uint64_t end) {
    uint64_t acknowledged = 0;
    struct nigh__rng rng = {.state = 4};
    while (acknowledged < end) {
        nigh_document documents[5];
        nigh_live_answer answers[5];
        uint8_t signatures[5][8];
        char ids[5][RECIPE_MAX_TEXT];
        char metadata[5][RECIPE_MAX_TEXT];
        uint64_t count = 1 + nigh__rng_next(&rng) % 5;
        if (count > end - acknowledged) count = end - acknowledged;
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t number = acknowledged + i;
            recipe_signature(&recipe, number, signatures[i]);
            documents[i] = (nigh_document){.size = sizeof documents[i], .signature = signatures[i], .id = ids[i]};
            documents[i].id_length = recipe_id(&recipe, number, ids[i]);
            documents[i].metadata = metadata[i];
            documents[i].metadata_length = recipe_metadata(&recipe, number, metadata[i]);
        }
        if (nigh_live_find_or_add(live, documents, (size_t)count, answers, NULL) != NIGH_OK) break;
        for (uint64_t i = 0; i < count; i++) assert_int_equal(answers[i].number, acknowledged + i);
        acknowledged += count;
    }
    return acknowledged;
}

static int no_sync(void *user, nigh_file file) {
    (void)user;
    (void)file;
    return 0;
}

/* Whether what was left has all that was acknowledged, and is sound. */
static bool is_sound(nigh_context *healthy, const char *path, uint64_t acknowledged) {
    nigh_live *live = NULL;
    nigh_live_info info = {.size = sizeof info};
    nigh_error error;
    if (open_live(healthy, path, &live, &error) != NIGH_OK) return false;
    nigh_live_describe(live, &info);
    nigh_live_close(live);
    if (info.documents < acknowledged || info.documents > DOCUMENTS) return false;
    if (info.documents > 0) recipe_expect(healthy, path, &recipe, info.documents);
    return nigh_collection_check(healthy, path, NULL, NULL, &error) == NIGH_OK;
}

/* All that the power may leave of a disk. */
static bool all_sound(const struct power_disk *disk, uint64_t seed, uint64_t acknowledged, uint64_t trials) {
    nigh_file_system table = *nigh_file_system_posix();
    table.sync = no_sync; /* nobody pulls the plug here, and it takes long */
    nigh_context *healthy = context_with(&table, NULL, NULL);
    bool sound = true;
    for (uint64_t trial = 0; trial < trials && sound; trial++) {
        struct nigh__rng rng = {.state = nigh__mix(seed * 1000 + trial)};
        char *scratch = scratch_new();
        char *path = path_in(scratch, POWER_DISK_COLLECTION);
        if (power_disk_leave(disk, path, &rng))
            sound = is_sound(healthy, path, acknowledged);
        else
            sound = acknowledged == 0;
        free(path);
        scratch_free(scratch);
    }
    nigh_context_free(healthy);
    return sound;
}

/* One way to lose power. */
struct cut {
    uint64_t before;  /* this call */
    uint64_t skipped; /* and with this sync left out; UINT64_MAX: none */
    uint64_t trials;  /* of what is left */
    uint64_t syncs;   /* that there were */
    bool ended;       /* it came to its end before */
};

static bool adding_is_sound(struct cut *cut) {
    struct power_disk *disk = power_disk_new();
    disk->fails_at = cut->before;
    disk->skipped_sync = cut->skipped;
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_live *live = NULL;
    uint64_t acknowledged = 0;
    if (open_live(context, POWER_DISK_COLLECTION, &live, NULL) == NIGH_OK) acknowledged = add_all(live, DOCUMENTS);
    nigh_live_close(live);
    nigh_context_free(context);
    cut->ended = disk->calls <= cut->before;
    cut->syncs = disk->syncs;
    const bool sound = all_sound(disk, cut->before, acknowledged, cut->trials);
    power_disk_free(disk);
    return sound;
}

/* A log was left, and the power fails while it is taken up. */
static bool taking_up_is_sound(struct cut *cut) {
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_live *live = NULL;
    nigh_error error;
    assert_ok(open_live(context, POWER_DISK_COLLECTION, &live, &error), &error);
    const uint64_t acknowledged = add_all(live, DOCUMENTS / 2);
    assert_int_equal(acknowledged, DOCUMENTS / 2);
    nigh_live_close(live);
    disk->calls = disk->syncs = 0;
    disk->fails_at = cut->before;
    disk->skipped_sync = cut->skipped;
    if (open_live(context, POWER_DISK_COLLECTION, &live, NULL) == NIGH_OK) nigh_live_close(live);
    nigh_context_free(context);
    cut->ended = disk->calls <= cut->before;
    cut->syncs = disk->syncs;
    const bool sound = all_sound(disk, cut->before + 100000, acknowledged, cut->trials);
    power_disk_free(disk);
    return sound;
}

typedef bool round_of(struct cut *cut);

static uint64_t moments(round_of *round) {
    struct cut cut = {.skipped = UINT64_MAX, .trials = TRIALS};
    for (; !cut.ended; cut.before++)
        if (!round(&cut)) fail_msg("not sound where the power fails before call %" PRIu64, cut.before);
    print_message("%" PRIu64 " moments\n", cut.before);
    return cut.before;
}

static void while_adding(void **state) {
    (void)state;
    assert_true(moments(adding_is_sound) > 100);
}

static void while_taking_up(void **state) {
    (void)state;
    assert_true(moments(taking_up_is_sound) > 20);
}

/* ------------------------------------------------------------- syncs left out -- */

#define WINDOW 96u      /* calls behind a sync: by then the next sync of the same file has made good for it */
#define MORE_TRIALS 24u /* some moments are one call long, and what must come together comes one time in four */

/* Whether some moment behind a sync shows that it did nothing. */
static bool notices(round_of *round, uint64_t sync, uint64_t from) {
    struct cut cut = {.before = from, .skipped = sync, .trials = MORE_TRIALS};
    for (; cut.before < from + WINDOW; cut.before++)
        if (!round(&cut)) return true;
    return false;
}

/* Each of the syncs is left out, one after the other; *silent counts those of which nobody notices anything. */
static uint64_t leave_out(round_of *round, uint64_t *silent) {
    struct cut cut = {.skipped = UINT64_MAX};
    uint64_t syncs = 0;
    *silent = 0;
    for (; !cut.ended; cut.before++) {
        (void)round(&cut);
        for (; syncs < cut.syncs; syncs++) {
            const bool noticed = notices(round, syncs, cut.before);
            if (!noticed) print_message("nobody notices sync %" PRIu64 "\n", syncs);
            *silent += !noticed;
        }
    }
    print_message("%" PRIu64 " syncs\n", syncs);
    return syncs;
}

static void a_sync_that_does_nothing(void **state) {
    uint64_t silent;
    (void)state;
    assert_true(leave_out(adding_is_sound, &silent) > 20);
    /* That of the group before a commit, which comes before its answer; and that of the name of the segment, which
       that of the log has made safe before. */
    assert_int_equal(silent, 2);
    assert_true(leave_out(taking_up_is_sound, &silent) > 2);
    assert_int_equal(silent, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_adding),
        cmocka_unit_test(while_taking_up),
        cmocka_unit_test(a_sync_that_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
