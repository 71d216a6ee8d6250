/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Ids that were made to collide.  The hash of before had no key, and ids whose homes all lie in a small part of the
 * table are found by trying; they made one run of taken slots, and every id took as many steps as there were before it.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "collection/collection.h"
#include "support/forge.h"
#include "support/support.h"

#define IDS 60000u
#define SLOTS 131072u /* of the lookup of as many */
#define PART 64u      /* crafted ids have their homes in the first of this many parts */
#define ID_SIZE 16u

static char (*ids)[ID_SIZE];

static uint64_t plain_home(const char *id) { return nigh__hash_table_home(nigh__hash(id, strlen(id)), SLOTS); }

/* Ids of which all, or none in particular, begin in the same part of a table without a key. */
static void make_ids(bool crafted) {
    uint64_t tried = 0;
    for (size_t i = 0; i < IDS;) {
        (void)snprintf(ids[i], ID_SIZE, "%012" PRIx64, tried++);
        if (!crafted || plain_home(ids[i]) < SLOTS / PART) i++;
    }
}

static double cpu_seconds(void) {
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double index_ids(nigh_context *context, const char *path) {
    const double begin = cpu_seconds();
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 8;
    nigh_writer *writer;
    nigh_error error;
    assert_ok(nigh_writer_open(context, path, &options, &writer, &error), &error);
    for (size_t i = 0; i < IDS; i++) {
        const uint8_t signature = (uint8_t)i;
        const nigh_document document = {
            .size = sizeof document, .id = ids[i], .id_length = strlen(ids[i]), .signature = &signature};
        assert_ok(nigh_writer_add(writer, &document, &error), &error);
    }
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    return cpu_seconds() - begin;
}

static double check(nigh_context *context, const char *path) {
    const double begin = cpu_seconds();
    nigh_error error;
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
    return cpu_seconds() - begin;
}

/* Places crafted ids by the hash without a key.  They make one run, whose end is known, so this takes no more steps. */
static void place_crafted(uint32_t *slots) {
    uint64_t full = 0; /* slots before it are taken */
    memset(slots, 0, SLOTS * sizeof *slots);
    for (uint32_t i = 0; i < IDS; i++) {
        uint64_t at = plain_home(ids[i]);
        while (slots[full] != 0) full++;
        if (at < full) at = full;
        while (slots[at] != 0) at++;
        slots[at] = i + 1;
    }
}

/* Places ids as a writer does; the steps it takes beyond the first, summed. */
static uint64_t place_all(const struct nigh__id_key *key, uint32_t *slots) {
    uint64_t steps = 0;
    memset(slots, 0, SLOTS * sizeof *slots);
    for (uint32_t i = 0; i < IDS; i++) {
        uint64_t at = nigh__hash_table_home(nigh__id_hash(key, ids[i], strlen(ids[i])), SLOTS);
        for (; slots[at] != 0; at = (at + 1) % SLOTS) steps++;
        slots[at] = i + 1;
    }
    return steps;
}

/* The same steps where there is a key, and the same time in all that fills or walks tables. */
static void crafted_ids_are_as_others(void **state) {
    nigh_context *context = *state;
    char *scratch = scratch_new();
    char *plain = path_in(scratch, "plain.nigh");
    char *crafted = path_in(scratch, "crafted.nigh");
    uint32_t *slots = malloc(SLOTS * sizeof *slots);
    make_ids(false);
    const double index_time = index_ids(context, plain);
    const double check_time = check(context, plain);
    make_ids(true);
    assert_true(index_ids(context, crafted) < 5 * index_time + 0.5);
    assert_true(check(context, crafted) < 5 * check_time + 0.5);

    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(context, crafted, NULL, &collection, &error), &error);
    const struct nigh__segment *segment = collection->segments[0];
    assert_true(segment->id_key.keyed);
    assert_int_equal(segment->sections[NIGH__SECTION_ID_LOOKUP].count, SLOTS);
    assert_true(place_all(&segment->id_key, slots) < 2 * (uint64_t)IDS);
    assert_memory_equal(segment->id_lookup, slots, SLOTS * sizeof *slots);
    nigh_collection_close(collection);
    free(slots);
    free(plain);
    free(crafted);
    scratch_free(scratch);
}

/* The same ids in another order have another key, also where all their bytes are the same. */
static void the_key_follows_from_cuts_too(void **state) {
    (void)state;
    struct nigh__keyed_hasher hashers[2];
    const uint64_t cuts[2][3] = {{0, 1, 3}, {0, 2, 3}};
    for (size_t i = 0; i < 2; i++) {
        nigh__id_key_init(&hashers[i]);
        nigh__keyed_hasher_add(&hashers[i], "abc", 3);
        nigh__keyed_hasher_add(&hashers[i], cuts[i], sizeof cuts[i]);
    }
    assert_int_not_equal(nigh__keyed_hasher_value(&hashers[0]), nigh__keyed_hasher_value(&hashers[1]));
}

static struct nigh__section_entry *entry_of(uint8_t *segment, uint32_t type) {
    struct nigh__section_entry *entry = (struct nigh__section_entry *)(void *)(segment + 64);
    while (entry->type != type) entry++;
    return entry;
}

/* Makes of a segment one of before: no key, and the lookup by the plain hash. */
static void take_key_away(const char *path) {
    char *segment_path = path_in(path, "segment-00000000000000000001");
    char *manifest_path = path_in(path, "manifest-00000000000000000001");
    struct bytes segment = file_read_all(segment_path);
    struct bytes manifest = file_read_all(manifest_path);
    struct nigh__segment_header header;
    memcpy(&header, segment.data, sizeof header);
    header.incompatible = 0;
    memcpy(segment.data, &header, sizeof header);
    entry_of(segment.data, NIGH__SECTION_ID_KEY)->type = NIGH__SECTION_KNOWN; /* passed over */
    place_crafted((uint32_t *)(void *)(segment.data + entry_of(segment.data, NIGH__SECTION_ID_LOOKUP)->offset));
    struct nigh__manifest_entry entry;
    memcpy(&entry, manifest.data + sizeof(struct nigh__manifest_header), sizeof entry);
    forge_segment(segment.data, segment.length, &entry);
    memcpy(manifest.data + sizeof(struct nigh__manifest_header), &entry, sizeof entry);
    forge_manifest(manifest.data, manifest.length);
    file_write_all(segment_path, segment.data, segment.length);
    file_write_all(manifest_path, manifest.data, manifest.length);
    free(segment.data);
    free(manifest.data);
    free(segment_path);
    free(manifest_path);
}

/* A segment of before is read as it was, and checked in one step a slot. */
static void segments_without_a_key(void **state) {
    nigh_context *context = *state;
    char *scratch = scratch_new();
    char *path = path_in(scratch, "before.nigh");
    make_ids(true);
    (void)index_ids(context, path);
    const double check_time = check(context, path);
    take_key_away(path);
    assert_true(check(context, path) < 5 * check_time + 0.5);
    nigh_collection *collection;
    nigh_error error;
    uint64_t found;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    assert_ok(nigh_collection_find(collection, ids[77], strlen(ids[77]), &found, &error), &error);
    assert_int_equal(found, 77);
    nigh_collection_close(collection);
    free(path);
    scratch_free(scratch);
}

int main(void) {
    ids = malloc(IDS * sizeof *ids);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crafted_ids_are_as_others),
        cmocka_unit_test(the_key_follows_from_cuts_too),
        cmocka_unit_test(segments_without_a_key),
    };
    const int failed = cmocka_run_group_tests(tests, context_setup, context_teardown);
    free(ids);
    return failed;
}
