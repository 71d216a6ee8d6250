/* SPDX-License-Identifier: Apache-2.0 */
#include "support/power_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define QUICK_TRIALS 2u /* ways in which the power may leave it, for each call */
#define SYNC_TRIALS 24u /* the same where a sync is left out */
#define NEVER UINT64_MAX

struct rig {
    const struct power_deed *deed;
    uint64_t trials;
    struct power_disk *before;
    uint64_t calls; /* of the deed, where nothing fails */
    uint64_t syncs;
    char *old_text, *new_text;
    uint64_t cuts, cuts_twice;
    uint64_t seen[3]; /* the state before, one between, the one after */
    const char *harm; /* what was wrong, if anything was */
};

/* --------------------------------------------------------------- what there is */

/* The state that a text is of. */
enum stage { BEFORE, BETWEEN, AFTER, UNSOUND };

static size_t line_count(const char *text) {
    size_t count = 0;
    for (; *text != '\0'; text++) count += *text == '\n';
    return count;
}

/* Whether each line is that of one text or of the other. */
static bool is_mixed(const char *now, const char *a, const char *b) {
    while (*now != '\0') {
        const size_t length = strcspn(now, "\n") + 1;
        if (strncmp(now, a, length) != 0 && strncmp(now, b, length) != 0) return false;
        now += length;
        a += strcspn(a, "\n") + 1;
        b += strcspn(b, "\n") + 1;
    }
    return true;
}

static enum stage stage_of(const struct rig *rig, const char *now, uint64_t acknowledged) {
    if (now == NULL) return UNSOUND;
    const size_t length = strlen(now);
    if (rig->deed->grows && acknowledged != POWER_ALL && line_count(now) < acknowledged) return UNSOUND;
    if (strcmp(now, rig->new_text) == 0) return AFTER;
    if (acknowledged == POWER_ALL) return UNSOUND;
    if (strcmp(now, rig->old_text) == 0) return BEFORE;
    if (rig->deed->grows && length > strlen(rig->old_text) && strncmp(now, rig->new_text, length) == 0) return BETWEEN;
    if (rig->deed->piecemeal && line_count(now) == line_count(rig->new_text) &&
        is_mixed(now, rig->old_text, rig->new_text))
        return BETWEEN;
    return UNSOUND;
}

/* What is on a disk, which stays as it is. */
static char *text_of(const struct rig *rig, const struct power_disk *disk, uint64_t acknowledged) {
    struct power_disk *copy = power_disk_restart(disk, NULL);
    nigh_file_system table = power_disk_table(copy);
    nigh_context *context = context_with(&table, NULL, NULL);
    char *text = rig->deed->describe(context, acknowledged);
    nigh_context_free(context);
    power_disk_free(copy);
    return text;
}

/* *known becomes what is there for certain, once it was seen: of what grows, its lines. */
static enum stage look(const struct rig *rig, const struct power_disk *disk, uint64_t *known) {
    char *now = text_of(rig, disk, *known);
    const enum stage stage = stage_of(rig, now, *known);
    if (rig->deed->grows && stage != UNSOUND && line_count(now) > *known) *known = line_count(now);
    free(now);
    return stage;
}

/* ----------------------------------------------------------------------- rounds */

/* The deed on a disk whose power may fail; returns what was acknowledged. */
static uint64_t run_on(const struct rig *rig, struct power_disk *disk, uint64_t cut, uint64_t skipped) {
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    power_disk_cut(disk, cut, skipped);
    const uint64_t acknowledged = rig->deed->run(context);
    nigh_context_free(context);
    return acknowledged;
}

/*
 * Nothing that a dead writer left.  A whole segment that it had not committed may stay, as one that a lost manifest may
 * have named: where there is no manifest, and where its removal was lost with the power.
 */
static bool is_tidy(struct power_disk *disk) {
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    (void)nigh_collection_check(context, POWER_DISK_COLLECTION, NULL, &result, &error);
    nigh_context_free(context);
    return result.leftovers == 0;
}

static bool expect(struct rig *rig, bool well, const char *harm) {
    if (!well) rig->harm = harm;
    return well;
}

/* Who comes next takes it to its end. */
static bool goes_on(struct rig *rig, const struct power_disk *found) {
    struct power_disk *disk = power_disk_restart(found, NULL);
    uint64_t known = run_on(rig, disk, NEVER, NEVER);
    const bool sound = expect(rig, look(rig, disk, &known) == AFTER, "who came next did not come to the end") &&
                       expect(rig, is_tidy(disk), "who came next did not remove what was left");
    power_disk_free(disk);
    return sound;
}

/* And where the power fails while that is done, nothing is lost that was there. */
static bool goes_on_in_the_end(struct rig *rig, const struct power_disk *found, uint64_t known, struct nigh__rng *rng) {
    struct power_disk *disk = power_disk_restart(found, NULL);
    const uint64_t acknowledged = run_on(rig, disk, nigh__rng_next(rng) % (rig->calls + 1), NEVER);
    if (acknowledged > known) known = acknowledged;
    struct power_disk *again = power_disk_restart(disk, rng);
    const enum stage stage = look(rig, again, &known);
    const bool sound = expect(rig, stage != UNSOUND, "what a second power cut left is no state that may be") &&
                       (stage == AFTER || goes_on(rig, again));
    rig->cuts_twice++;
    power_disk_free(again);
    power_disk_free(disk);
    return sound;
}

/* One way in which the power may leave a disk. */
static bool one_trial(struct rig *rig, const struct power_disk *disk, uint64_t known, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    struct power_disk *found = power_disk_restart(disk, &rng);
    const enum stage stage = look(rig, found, &known);
    bool sound = expect(rig, stage != UNSOUND, "what is left is no state that may be");
    rig->cuts++;
    if (sound) rig->seen[stage]++;
    if (sound && stage != AFTER) sound = goes_on(rig, found) && goes_on_in_the_end(rig, found, known, &rng);
    power_disk_free(found);
    return sound;
}

/* The power fails before call `call`.  False: some trial was not sound, *seed says which. */
static bool one_round(struct rig *rig, uint64_t call, uint64_t skipped, uint64_t trials, uint64_t *seed) {
    struct power_disk *disk = power_disk_restart(rig->before, NULL);
    const uint64_t acknowledged = run_on(rig, disk, call, skipped);
    bool sound = true;
    for (uint64_t trial = 0; trial < trials && sound; trial++) {
        *seed = nigh__mix(call * 1000003 + trial);
        sound = one_trial(rig, disk, acknowledged, *seed);
    }
    power_disk_free(disk);
    return sound;
}

static void rig_init(struct rig *rig, const struct power_deed *deed, uint64_t trials) {
    *rig = (struct rig){.deed = deed, .trials = trials};
    struct power_disk *disk = power_disk_new();
    nigh_file_system table = power_disk_table(disk);
    nigh_context *context = context_with(&table, NULL, NULL);
    if (deed->prepare != NULL) deed->prepare(context, disk);
    nigh_context_free(context);
    rig->before = power_disk_restart(disk, NULL);
    power_disk_free(disk);
    rig->old_text = text_of(rig, rig->before, POWER_NOTHING);
    disk = power_disk_restart(rig->before, NULL);
    const uint64_t acknowledged = run_on(rig, disk, NEVER, NEVER);
    rig->calls = disk->calls;
    rig->syncs = disk->syncs;
    rig->new_text = text_of(rig, disk, acknowledged);
    power_disk_free(disk);
    assert_non_null(rig->old_text);
    assert_non_null(rig->new_text);
}

static void rig_release(struct rig *rig) {
    power_disk_free(rig->before);
    free(rig->old_text);
    free(rig->new_text);
}

/* ------------------------------------------------------------------------ tests */

/* What a test is given. */
struct task {
    const struct power_deed *deed;
    uint64_t trials;
    char name[2][96];
};

static void every_call(void **state) {
    const struct task *task = *state;
    struct rig rig;
    rig_init(&rig, task->deed, task->trials);
    for (uint64_t call = 0; call <= rig.calls; call++) {
        uint64_t seed = 0;
        if (!one_round(&rig, call, NEVER, rig.trials, &seed))
            fail_msg("%s, the power fails before call %" PRIu64 ", seed %" PRIu64 ": %s", task->deed->name, call, seed,
                     rig.harm);
    }
    print_message("%s: %" PRIu64 " calls, %" PRIu64 " power cuts, %" PRIu64 " twice: %" PRIu64
                  " times the state before, %" PRIu64 " between, %" PRIu64 " after\n",
                  task->deed->name, rig.calls, rig.cuts, rig.cuts_twice, rig.seen[BEFORE], rig.seen[BETWEEN],
                  rig.seen[AFTER]);
    assert_true(rig.seen[AFTER] > 0);
    if (strcmp(rig.old_text, rig.new_text) != 0) assert_true(rig.seen[BEFORE] > 0);
    rig_release(&rig);
}

/* Whether some power failure behind a sync shows that it did nothing; *name: what it was of. */
static bool is_needed(struct rig *rig, uint64_t sync, char name[POWER_DISK_NAME]) {
    struct power_disk *disk = power_disk_restart(rig->before, NULL);
    (void)run_on(rig, disk, NEVER, sync);
    uint64_t call = disk->skipped_at;
    const uint64_t end = disk->calls;
    memcpy(name, disk->skipped_of, POWER_DISK_NAME);
    power_disk_free(disk);
    uint64_t seed;
    while (call <= end && one_round(rig, call, sync, SYNC_TRIALS, &seed)) call++;
    return call <= end;
}

static void every_sync(void **state) {
    const struct task *task = *state;
    struct rig rig;
    uint32_t needless = 0;
    char name[POWER_DISK_NAME];
    rig_init(&rig, task->deed, task->trials);
    assert_true(rig.syncs > 0);
    for (uint64_t sync = 0; sync < rig.syncs; sync++) {
        if (is_needed(&rig, sync, name)) continue;
        print_message("%s: nobody misses sync %" PRIu64 " of %" PRIu64 ", of %s\n", task->deed->name, sync, rig.syncs,
                      name);
        needless++;
    }
    if (task->deed->why_needless != NULL) print_message("%s: %s\n", task->deed->name, task->deed->why_needless);
    assert_int_equal(needless, task->deed->needless_syncs);
    rig_release(&rig);
}

/* So many ways for each call that there are `wanted` cuts of all deeds together. */
static uint64_t trials_for(const struct power_deed *deeds, size_t count, uint64_t wanted) {
    uint64_t calls = 1; /* for the division, were there none */
    for (size_t i = 0; i < count; i++) {
        struct rig rig;
        rig_init(&rig, &deeds[i], 0);
        calls += rig.calls + 1;
        rig_release(&rig);
    }
    return (wanted + calls - 1) / calls;
}

int power_rig_main(const char *name, const struct power_deed *deeds, size_t count, int argc, char **argv) {
    struct CMUnitTest *tests = calloc(2 * count, sizeof *tests);
    struct task *tasks = calloc(count, sizeof *tasks);
    const uint64_t trials = argc > 1 ? trials_for(deeds, count, strtoull(argv[1], NULL, 10)) : QUICK_TRIALS;
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (struct task){.deed = &deeds[i], .trials = trials};
        (void)snprintf(tasks[i].name[0], sizeof tasks[i].name[0], "power fails: %s", deeds[i].name);
        (void)snprintf(tasks[i].name[1], sizeof tasks[i].name[1], "syncs left out: %s", deeds[i].name);
        tests[2 * i] = (struct CMUnitTest){tasks[i].name[0], every_call, NULL, NULL, &tasks[i]};
        tests[2 * i + 1] = (struct CMUnitTest){tasks[i].name[1], every_sync, NULL, NULL, &tasks[i]};
    }
    const int failed = _cmocka_run_group_tests(name, tests, 2 * count, NULL, NULL);
    free(tasks);
    free(tests);
    return failed;
}

/* ------------------------------------------------------------------- describing */

/* Text that grows. */
struct text {
    char *bytes;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...) {
    va_list arguments;
    char line[512];
    va_start(arguments, format);
    const size_t length = (size_t)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_true(length < sizeof line);
    text->bytes = realloc(text->bytes, text->length + length + 1);
    assert_non_null(text->bytes);
    memcpy(text->bytes + text->length, line, length + 1);
    text->length += length;
}

static bool add_segments(struct text *text, const nigh_collection *collection, const nigh_collection_info *info) {
    nigh_error error;
    for (uint32_t i = 0; i < info->segments; i++) {
        nigh_segment_info segment = {.size = sizeof segment};
        if (nigh_collection_segment(collection, i, &segment, &error) != NIGH_OK) return false;
        text_add(text, "segment of %" PRIu64 ", slices of %u, %s\n", segment.documents, segment.slice_width,
                 segment.column_bytes != 0 ? "columns" : "no columns");
    }
    return true;
}

static bool add_document(struct text *text, const nigh_collection *collection, uint64_t number) {
    char id[RECIPE_MAX_TEXT];
    char metadata[RECIPE_MAX_TEXT];
    uint8_t signature[64];
    size_t length;
    nigh_error error;
    if (nigh_collection_signature(collection, number, signature, &error) != NIGH_OK) return false;
    if (nigh_collection_metadata(collection, number, metadata, sizeof metadata, &length, &error) != NIGH_OK)
        return false;
    metadata[length < sizeof metadata ? length : sizeof metadata - 1] = '\0';
    if (nigh_collection_id(collection, number, id, sizeof id, &length, &error) != NIGH_OK) return false;
    uint64_t first;
    memcpy(&first, signature, sizeof first);
    text_add(text, "%s %016" PRIx64 " %s\n", id, first, metadata);
    return true;
}

/* Without damage of any kind. */
static bool is_sound(nigh_context *context, const char *path, const nigh_collection_info *info) {
    nigh_error error;
    if (info->damaged_manifests + info->damaged_lists + info->damaged_columns != 0) return false;
    return nigh_collection_check(context, path, NULL, NULL, &error) == NIGH_OK;
}

static char *describe(nigh_context *context, const char *path, bool segments) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    struct text text = {.bytes = calloc(1, 1)};
    const nigh_status status = nigh_collection_open(context, path, NULL, &collection, &error);
    if (status == NIGH_ENOTFOUND) return text.bytes;
    bool sound = status == NIGH_OK;
    if (sound) {
        nigh_collection_describe(collection, &info);
        sound = is_sound(context, path, &info) && (!segments || add_segments(&text, collection, &info));
        for (uint64_t i = 0; i < info.documents && sound; i++)
            if (nigh_collection_lives(collection, i)) sound = add_document(&text, collection, i);
        nigh_collection_close(collection);
    }
    if (sound) return text.bytes;
    free(text.bytes);
    return NULL;
}

char *power_describe(nigh_context *context, const char *path) { return describe(context, path, true); }

char *power_describe_documents(nigh_context *context, const char *path) { return describe(context, path, false); }
