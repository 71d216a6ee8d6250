/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Damaged and forged collections.  Truncated anywhere, flipped anywhere, or
 * forged with right checksums: nothing may crash or hang, what `check` looks at
 * it must report, and reading never changes a byte.
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
#include "collection/format.h"
#include "support/forge.h"
#include "support/support.h"

#define SEED UINT64_C(20260)
#define FIRST_COUNT 40u
#define COUNT 70u
#define MODEST ((size_t)8 << 20) /* bytes: what files of some kilobytes never ask for at once */

static const struct recipe recipe = {.width_bits = 72,
                                     .seed = 4,
                                     .distinct = 30,
                                     .ids = true,
                                     .metadata = true,
                                     .weights = true,
                                     .vocabulary = "to the store a vocabulary is bytes",
                                     .model = "what was learned"};

/* The files of one collection, kept in memory. */
enum { SEGMENT_1, SEGMENT_2, MANIFEST_1, MANIFEST_2, FILES };
static const char *const names[FILES] = {"segment-00000000000000000001", "segment-00000000000000000002",
                                         "manifest-00000000000000000001", "manifest-00000000000000000002"};

struct fixture {
    nigh_context *context;
    struct faulty_memory memory; /* never fails; tells how much was asked for */
    char *scratch;
    char *path;
    struct bytes files[FILES];
};

static void write_one(struct fixture *f, int file, const void *data, size_t length) {
    char *path = path_in(f->path, names[file]);
    file_write_all(path, data, length);
    free(path);
}

static void restore(struct fixture *f) {
    for (int i = 0; i < FILES; i++) write_one(f, i, f->files[i].data, f->files[i].length);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->memory.fail_at = UINT64_MAX;
    const nigh_allocator allocator = faulty_memory_allocator(&f->memory);
    f->context = context_with(NULL, &allocator, NULL);
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "c.nigh");
    nigh_error error;
    assert_ok(nigh_fault_guard_install(&error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, FIRST_COUNT, &error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, FIRST_COUNT, COUNT - FIRST_COUNT, &error), &error);
    for (int i = 0; i < FILES; i++) {
        char *path = path_in(f->path, names[i]);
        f->files[i] = file_read_all(path);
        free(path);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < FILES; i++) free(f->files[i].data);
    nigh_context_free(f->context);
    free(f->path);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

/* Reads it all, which may fail, and checks it, which must. */
static void expect_reported(struct fixture *f, const char *what, uint64_t where) {
    char *before = tree_digest(f->path);
    nigh_error error;
    (void)read_everything(f->context, f->path, &error);
    nigh_status status = nigh_collection_check(f->context, f->path, NULL, NULL, &error);
    if (status == NIGH_OK) fail_msg("%s at %" PRIu64 " (seed %" PRIu64 ") was not reported", what, where, SEED);
    assert_int_not_equal(error.file[0], '\0');
    if (f->memory.largest > MODEST) fail_msg("%s at %" PRIu64 " asks for %zu bytes", what, where, f->memory.largest);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void truncate_at(struct fixture *f, int file, size_t length) {
    write_one(f, file, f->files[file].data, length);
    expect_reported(f, names[file], length);
    if (file == SEGMENT_1 || file == SEGMENT_2) { /* a short segment does not even open */
        nigh_error error;
        nigh_collection *collection;
        assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_ECORRUPT);
        assert_non_null(strstr(error.file, names[file]));
    }
    write_one(f, file, f->files[file].data, f->files[file].length);
}

static void truncation_is_reported(void **state) {
    struct fixture *f = *state;
    for (int file = SEGMENT_1; file <= SEGMENT_2; file++) {
        struct nigh__segment_header header;
        memcpy(&header, f->files[file].data, sizeof header);
        assert_int_equal(header.section_count, file == SEGMENT_1 ? 14 : 12); /* vocabulary and model are in the first */
        for (uint32_t i = 0; i < header.section_count; i++) {
            struct nigh__section_entry entry;
            memcpy(&entry, f->files[file].data + sizeof header + i * sizeof entry, sizeof entry);
            for (int shift = -1; shift <= 1; shift++) {
                truncate_at(f, file, (size_t)((int64_t)entry.offset + shift));
                truncate_at(f, file, (size_t)((int64_t)(entry.offset + entry.length) + shift));
            }
        }
    }
    struct nigh__rng rng = {.state = SEED};
    for (int i = 0; i < 1000; i++) {
        int file = (int)(nigh__rng_next(&rng) % FILES);
        truncate_at(f, file, (size_t)(nigh__rng_next(&rng) % f->files[file].length));
    }
}

static void flips_are_reported(void **state) {
    struct fixture *f = *state;
    struct nigh__rng rng = {.state = SEED};
    for (int i = 0; i < 10000; i++) {
        int file = (int)(nigh__rng_next(&rng) % FILES);
        uint64_t bit = nigh__rng_next(&rng) % (f->files[file].length * 8);
        uint8_t *byte = &f->files[file].data[bit / 8];
        *byte ^= (uint8_t)(1u << (bit % 8));
        write_one(f, file, f->files[file].data, f->files[file].length);
        expect_reported(f, names[file], bit / 8);
        *byte ^= (uint8_t)(1u << (bit % 8));
        write_one(f, file, f->files[file].data, f->files[file].length);
    }
    recipe_expect(f->context, f->path, &recipe, COUNT);
}

/* A damaged newest manifest: readers go back to the spare and say so, writers refuse. */
static void the_spare_manifest(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    f->files[MANIFEST_2].data[70] ^= 1;
    write_one(f, MANIFEST_2, f->files[MANIFEST_2].data, f->files[MANIFEST_2].length);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, FIRST_COUNT);
    assert_int_equal(info.damaged_manifests, 1);
    nigh_collection_close(collection);
    char *before = tree_digest(f->path);
    assert_int_equal(recipe_add(f->context, f->path, &recipe, COUNT, 1, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), "the newest manifest is damaged"));
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* ----------------------------------------------------------------- forging */

/* Makes every checksum right that depends on SEGMENT_2 as it is now, and writes the files. */
static void forge(struct fixture *f) {
    struct bytes *segment = &f->files[SEGMENT_2];
    struct bytes *manifest = &f->files[MANIFEST_2];
    struct nigh__manifest_entry entry;
    uint8_t *entry_at = manifest->data + sizeof(struct nigh__manifest_header) + sizeof entry;
    memcpy(&entry, entry_at, sizeof entry);
    forge_segment(segment->data, segment->length, &entry);
    memcpy(entry_at, &entry, sizeof entry);
    uint64_t documents = FIRST_COUNT + entry.documents;
    memcpy(manifest->data + offsetof(struct nigh__manifest_header, documents), &documents, sizeof documents);
    forge_manifest(manifest->data, manifest->length);
    write_one(f, SEGMENT_2, segment->data, segment->length);
    write_one(f, MANIFEST_2, manifest->data, manifest->length);
}

static void with_saved(struct fixture *f, void (*body)(struct fixture *f, uint64_t a, uint64_t b), uint64_t a,
                       uint64_t b) {
    struct bytes saved[FILES];
    for (int i = 0; i < FILES; i++) {
        saved[i] = (struct bytes){.data = malloc(f->files[i].length), .length = f->files[i].length};
        memcpy(saved[i].data, f->files[i].data, saved[i].length);
    }
    body(f, a, b);
    for (int i = 0; i < FILES; i++) {
        memcpy(f->files[i].data, saved[i].data, saved[i].length);
        free(saved[i].data);
    }
    restore(f);
}

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 63,
                                 64,
                                 UINT64_C(0x7fffffff),
                                 UINT64_C(0x80000000),
                                 UINT64_C(0xfffffffe),
                                 UINT64_C(0xffffffff),
                                 UINT64_C(0x100000000),
                                 UINT64_C(0x100000001),
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0x8000000000000000),
                                 UINT64_C(0xffffffffffffffc0),
                                 UINT64_C(0xfffffffffffff000),
                                 UINT64_C(0xfffffffffffffffe),
                                 UINT64_C(0xffffffffffffffff)};
#define EDGES (sizeof edges / sizeof edges[0])

/* Sets the `size` bytes at `offset`; false where that changes nothing. */
static bool set_number(struct bytes *bytes, uint64_t offset, size_t size, uint64_t value) {
    if (memcmp(bytes->data + offset, &value, size) == 0) return false;
    memcpy(bytes->data + offset, &value, size);
    return true;
}

static void forge_u32(struct fixture *f, uint64_t offset, uint64_t value) {
    if (!set_number(&f->files[SEGMENT_2], offset, 4, value)) return;
    forge(f);
    expect_reported(f, "forged u32", offset);
}

static void forge_u64(struct fixture *f, uint64_t offset, uint64_t value) {
    if (!set_number(&f->files[SEGMENT_2], offset, 8, value)) return;
    forge(f);
    expect_reported(f, "forged u64", offset);
}

/* Header and table: every number, set to every edge. */
static void forged_headers_are_refused(void **state) {
    struct fixture *f = *state;
    const uint64_t u32_fields[] = {8, 12, 20, 48, 52};
    const uint64_t u64_fields[] = {24, 32, 40};
    for (size_t e = 0; e < EDGES; e++) {
        for (size_t i = 0; i < sizeof u32_fields / 8; i++) {
            if (u32_fields[i] == 8 && (uint32_t)edges[e] == 1) continue;
            with_saved(f, forge_u32, u32_fields[i], (uint32_t)edges[e]);
        }
        for (size_t i = 0; i < sizeof u64_fields / 8; i++) with_saved(f, forge_u64, u64_fields[i], edges[e]);
        for (uint64_t entry = 64; entry < 64 + 12 * 48; entry += 48) {
            /* A type no version knows is passed over where the section can be done without: of these the weights. */
            bool weights = f->files[SEGMENT_2].data[entry] == NIGH__SECTION_WEIGHTS;
            if (!weights || (uint32_t)edges[e] < NIGH__SECTION_KNOWN)
                with_saved(f, forge_u32, entry, (uint32_t)edges[e]);
            with_saved(f, forge_u32, entry + 4, (uint32_t)edges[e]);
            with_saved(f, forge_u64, entry + 8, edges[e]);
            with_saved(f, forge_u64, entry + 16, edges[e]);
            with_saved(f, forge_u64, entry + 24, edges[e]);
            with_saved(f, forge_u64, entry + 40, edges[e]);
        }
    }
}

/* Inside the sections: every number of groups, rows, offsets and lookup. */
static void forged_sections_are_refused(void **state) {
    struct fixture *f = *state;
    const uint32_t types[] = {NIGH__SECTION_GROUP_STARTS,  NIGH__SECTION_GROUP_DOCUMENTS,
                              NIGH__SECTION_DOCUMENT_ROWS, NIGH__SECTION_ID_OFFSETS,
                              NIGH__SECTION_ID_LOOKUP,     NIGH__SECTION_METADATA_OFFSETS};
    for (size_t t = 0; t < sizeof types / 4; t++) {
        struct nigh__section_entry entry;
        const uint8_t *at = f->files[SEGMENT_2].data + 64;
        do {
            memcpy(&entry, at, sizeof entry);
            at += sizeof entry;
        } while (entry.type != types[t]);
        uint64_t size = entry.length / entry.count;
        for (uint64_t i = 0; i < entry.count; i++)
            for (size_t e = t; e < EDGES; e += 3)
                with_saved(f, size == 4 ? forge_u32 : forge_u64, entry.offset + i * size,
                           size == 4 ? (uint32_t)edges[e] : edges[e]);
    }
}

static void forge_manifest_number(struct fixture *f, uint64_t offset, uint64_t value) {
    struct bytes *manifest = &f->files[MANIFEST_2];
    size_t size = offset >= 48 && offset < 56 ? 4 : offset < 24 ? 4 : 8;
    if (!set_number(manifest, offset, size, value)) return;
    forge_manifest(manifest->data, manifest->length);
    write_one(f, MANIFEST_2, manifest->data, manifest->length);
    expect_reported(f, "forged manifest", offset);
}

static void forged_manifests_are_refused(void **state) {
    struct fixture *f = *state;
    const uint64_t fields[] = {8, 12, 20, 24, 32, 40, 48, 52, 64, 72, 80, 88, 96, 104, 112, 120};
    for (size_t i = 0; i < sizeof fields / 8; i++)
        for (size_t e = 0; e < EDGES; e++) {
            bool next_segment = fields[i] == 32;
            /* Any number beyond the last segment's will do here. */
            if (next_segment && edges[e] > 2) continue;
            with_saved(f, forge_manifest_number, fields[i], edges[e]);
        }
}

/* -------------------------------------------------------- the exact wording */

static void expect_open_error(struct fixture *f, nigh_status wanted, int file, const char *text) {
    nigh_error error;
    nigh_collection *collection;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), wanted);
    char expected[1024];
    (void)snprintf(expected, sizeof expected, "'%s/%s', %s", f->path, names[file], text);
    assert_string_equal(error_text(&error), expected);
    assert_int_equal(recipe_add(f->context, f->path, &recipe, COUNT, 1, &error), wanted);
}

static void wording(struct fixture *f, uint64_t which, uint64_t unused) {
    (void)unused;
    struct bytes *segment = &f->files[SEGMENT_2];
    struct bytes *manifest = &f->files[MANIFEST_2];
    switch (which) {
    case 0:
        segment->data[0] = 'X';
        write_one(f, SEGMENT_2, segment->data, segment->length);
        expect_open_error(f, NIGH_ECORRUPT, SEGMENT_2, "offset 0: not a nigh segment: wrong magic");
        break;
    case 1:
        segment->data[8] = 2;
        write_one(f, SEGMENT_2, segment->data, segment->length);
        expect_open_error(f, NIGH_EVERSION, SEGMENT_2,
                          "offset 8: format version 2; this version of nigh reads up to 1");
        break;
    case 2:
        segment->data[20] = 4;
        forge(f);
        expect_open_error(f, NIGH_EVERSION, SEGMENT_2,
                          "offset 20: uses features that this version of nigh does not know (bits 0x4)");
        break;
    case 3:
        segment->data[16] = 4; /* a compatible one is no reason to refuse */
        forge(f);
        recipe_expect(f->context, f->path, &recipe, COUNT);
        break;
    case 4:
        manifest->data[8] = 9;
        write_one(f, MANIFEST_2, manifest->data, manifest->length);
        expect_open_error(f, NIGH_EVERSION, MANIFEST_2,
                          "offset 8: format version 9; this version of nigh reads up to 1");
        break;
    case 5:
        manifest->data[20] = 2;
        forge_manifest(manifest->data, manifest->length);
        write_one(f, MANIFEST_2, manifest->data, manifest->length);
        expect_open_error(f, NIGH_EVERSION, MANIFEST_2,
                          "offset 20: uses features that this version of nigh does not know (bits 0x2)");
        break;
    case 6:
        write_one(f, SEGMENT_2, f->files[SEGMENT_1].data, f->files[SEGMENT_1].length);
        expect_open_error(f, NIGH_ECORRUPT, SEGMENT_2, "offset 0: not the segment that the manifest names");
        break;
    default:
        segment->data[4100] ^= 1; /* in the signatures: opening does not look */
        write_one(f, SEGMENT_2, segment->data, segment->length);
        nigh_open_options options;
        nigh_open_options_init(&options);
        options.verify = 1;
        nigh_collection *collection;
        nigh_error error;
        assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
        nigh_collection_close(collection);
        assert_int_equal(nigh_collection_open(f->context, f->path, &options, &collection, &error), NIGH_ECORRUPT);
        assert_non_null(strstr(error_text(&error), "offset 4096: section 2 fails its checksum"));
    }
}

static void messages_are_exact(void **state) {
    for (uint64_t which = 0; which < 8; which++) with_saved(*state, wording, which, 0);
}

static void a_missing_segment(void **state) {
    struct fixture *f = *state;
    char *path = path_in(f->path, names[SEGMENT_1]);
    remove_tree(path);
    free(path);
    nigh_error error;
    nigh_collection *collection;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), "cannot open: No such file or directory"));
    expect_reported(f, names[SEGMENT_1], 0);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(truncation_is_reported),      WITH_FIXTURE(flips_are_reported),
        WITH_FIXTURE(the_spare_manifest),          WITH_FIXTURE(forged_headers_are_refused),
        WITH_FIXTURE(forged_sections_are_refused), WITH_FIXTURE(forged_manifests_are_refused),
        WITH_FIXTURE(messages_are_exact),          WITH_FIXTURE(a_missing_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
