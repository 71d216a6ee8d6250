/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a segment: codes of every width, what a writer refuses, what goes with adopting and adding later, and
 * sections that lie, each with good checksums: refused by the check with file and offset, and never read beyond.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collection/format.h"
#include "support/forge.h"
#include "support/support.h"

static const char *const one_key[] = {"n"};

static nigh_writer *open_writer(struct collection_place *place, const char *const *keys, size_t count) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.merge = 0;
    options.keep_keys = keys;
    options.keep_key_count = count;
    assert_ok(nigh_writer_open(place->context, place->path, &options, &writer, &error), &error);
    return writer;
}

static nigh_status add_value(nigh_writer *writer, uint64_t row, const nigh_value *values, uint32_t count,
                             nigh_error *error) {
    const nigh_document document = {
        .size = sizeof document, .signature = (const uint8_t *)&row, .values = values, .value_count = count};
    return nigh_writer_add(writer, &document, error);
}

static void commit(nigh_writer *writer) {
    nigh_error error;
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
}

static nigh_collection *open_collection(struct collection_place *place) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(place->context, place->path, NULL, &collection, &error), &error);
    return collection;
}

/* So many distinct values that a code takes 0, 1, 2 and 4 bytes. */
static void codes_are_as_narrow_as_can_be(void **state) {
    static const uint32_t counts[] = {0, 1, 255, 256, 65535, 65536};
    struct collection_place *place = *state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        nigh_writer *writer = open_writer(place, one_key, 1);
        nigh_error error;
        for (uint32_t j = 0; j <= counts[i]; j++) { /* the last has nothing */
            const nigh_value value = {.type = NIGH_VALUE_INTEGER, .integer = (int64_t)(counts[i] - j) * 3};
            assert_ok(add_value(writer, j, j < counts[i] ? &value : NULL, j < counts[i], &error), &error);
        }
        commit(writer);
        assert_ok(nigh_collection_check(place->context, place->path, NULL, NULL, &error), &error);
        nigh_collection *collection = open_collection(place);
        nigh_key_info info = {.size = sizeof info};
        assert_ok(nigh_collection_key(collection, 0, &info, &error), &error);
        assert_int_equal(info.integers, counts[i]);
        assert_int_equal(info.documents, counts[i]);
        assert_string_equal(info.name, "n");
        for (uint32_t j = 0; j <= counts[i]; j += 1 + j / 50) {
            nigh_value value;
            assert_ok(nigh_collection_value(collection, j, 0, &value, NULL, 0, &error), &error);
            assert_int_equal(value.type, j < counts[i] ? NIGH_VALUE_INTEGER : NIGH_VALUE_NONE);
            if (j < counts[i]) assert_true(value.integer == (int64_t)(counts[i] - j) * 3);
        }
        nigh_collection_close(collection);
        remove_tree(place->path);
    }
}

static void what_is_no_value_is_refused(void **state) {
    struct collection_place *place = *state;
    static char text[NIGH_MAX_VALUE_LENGTH + 1];
    const nigh_value bad[] = {{.type = NIGH_VALUE_REAL, .real = NAN},
                              {.type = NIGH_VALUE_REAL, .real = INFINITY},
                              {.type = (nigh_value_type)4},
                              {.type = NIGH_VALUE_TEXT, .length = sizeof text, .text = text}};
    const nigh_value good[2] = {{.type = NIGH_VALUE_TEXT, .length = NIGH_MAX_VALUE_LENGTH, .text = text}};
    nigh_writer *writer = open_writer(place, one_key, 1);
    nigh_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(add_value(writer, i, &bad[i], 1, &error), NIGH_EINVAL);
    assert_int_equal(add_value(writer, 9, good, 2, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "2 values, where 1 keys are kept"));
    assert_ok(add_value(writer, 9, good, 1, &error), &error);
    commit(writer);
    nigh_collection *collection = open_collection(place);
    nigh_value value;
    char some[4];
    assert_ok(nigh_collection_value(collection, 0, 0, &value, some, sizeof some, &error), &error);
    assert_int_equal(value.length, NIGH_MAX_VALUE_LENGTH);
    assert_int_equal(nigh_collection_value(collection, 0, 1, &value, NULL, 0, &error), NIGH_EINVAL);
    assert_int_equal(nigh_collection_value(collection, 1, 0, &value, NULL, 0, &error), NIGH_EINVAL);
    nigh_collection_close(collection);
}

static void expect_refused(struct collection_place *place, const char *const *keys, size_t count, const char *why) {
    nigh_writer_options options;
    nigh_writer *writer;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.keep_keys = keys;
    options.keep_key_count = count;
    assert_int_equal(nigh_writer_open(place->context, place->path, &options, &writer, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error.why, why));
}

/* Later commits keep the same keys, whether they name them or not; others are refused, and change nothing. */
static void keys_stay(void **state) {
    static const char *const others[] = {"n", "m"};
    struct collection_place *place = *state;
    const nigh_value value = {.type = NIGH_VALUE_INTEGER, .integer = 5};
    nigh_error error;
    for (size_t i = 0; i < 3; i++) {
        nigh_writer *writer = open_writer(place, i == 1 ? NULL : one_key, i != 1);
        assert_ok(add_value(writer, i, &value, 1, &error), &error);
        commit(writer);
    }
    char *before = tree_digest(place->path);
    expect_refused(place, others, 2, "it keeps the keys n, and not n, m");
    expect_refused(place, others + 1, 1, "it keeps the keys n, and not m");
    char *after = tree_digest(place->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    nigh_collection *collection = open_collection(place);
    nigh_key_info info = {.size = sizeof info};
    assert_ok(nigh_collection_key(collection, 0, &info, &error), &error);
    assert_int_equal(info.documents, 3);
    assert_int_equal(info.integers, 1); /* one of three segments */
    nigh_collection_close(collection);
}

static void keys_are_added_to_no_collection(void **state) {
    struct collection_place *place = *state;
    nigh_error error;
    nigh_writer *writer = open_writer(place, NULL, 0);
    const nigh_value value = {.type = NIGH_VALUE_INTEGER, .integer = 5};
    assert_int_equal(add_value(writer, 1, &value, 1, &error), NIGH_EINVAL); /* nothing is kept here */
    assert_ok(add_value(writer, 1, NULL, 0, &error), &error);
    commit(writer);
    expect_refused(place, one_key, 1, "it keeps the keys none, and not n");
}

static void only_the_same_keys_are_adopted(void **state) {
    struct collection_place *place = *state;
    struct collection_place other = *place;
    const nigh_value value = {.type = NIGH_VALUE_INTEGER, .integer = 5};
    const char *path;
    nigh_error error;
    other.path = path_in(place->scratch, "other.nigh");
    path = other.path;
    commit(open_writer(place, NULL, 0));
    nigh_writer *writer = open_writer(&other, one_key, 1);
    assert_ok(add_value(writer, 1, &value, 1, &error), &error);
    commit(writer);
    assert_int_equal(nigh_adopt(place->context, place->path, &path, 1, NULL, NULL, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error.why, "it keeps other keys than"));
    remove_tree(place->path);
    assert_ok(nigh_adopt(place->context, place->path, &path, 1, NULL, NULL, &error), &error);
    nigh_collection *collection = open_collection(place);
    nigh_value got;
    assert_ok(nigh_collection_value(collection, 0, 0, &got, NULL, 0, &error), &error);
    assert_int_equal(got.integer, 5);
    nigh_collection_close(collection);
    free(other.path);
}

/* ------------------------------------------------------------------ forging -- */

#define DOCUMENTS 6u

/* Integers 1 and 2, a real, two texts, and nothing, each of one document. */
static void make_sample(struct collection_place *place) {
    const nigh_value values[DOCUMENTS] = {{.type = NIGH_VALUE_INTEGER, .integer = 2},
                                          {.type = NIGH_VALUE_TEXT, .length = 2, .text = "en"},
                                          {.type = NIGH_VALUE_REAL, .real = 0.5},
                                          {.type = NIGH_VALUE_INTEGER, .integer = 1},
                                          {.type = NIGH_VALUE_NONE},
                                          {.type = NIGH_VALUE_TEXT, .length = 2, .text = "de"}};
    nigh_writer *writer = open_writer(place, one_key, 1);
    nigh_error error;
    for (uint32_t i = 0; i < DOCUMENTS; i++) assert_ok(add_value(writer, i, &values[i], 1, &error), &error);
    commit(writer);
}

/* Puts bytes at an offset of the section, and makes every checksum right. */
static void forge_at(struct collection_place *place, uint64_t offset, const void *bytes, size_t length,
                     uint64_t *section) {
    char *path = file_named_like(place->path, "segment-");
    char *manifest_path = file_named_like(place->path, "manifest-");
    struct bytes file = file_read_all(path);
    struct bytes manifest = file_read_all(manifest_path);
    struct nigh__segment_header header;
    struct nigh__manifest_entry entry;
    memcpy(&header, file.data, sizeof header);
    *section = 0;
    for (uint32_t i = 0; i < header.section_count; i++) {
        struct nigh__section_entry at;
        memcpy(&at, file.data + sizeof header + i * sizeof at, sizeof at);
        if (at.type == NIGH__SECTION_VALUES) *section = at.offset;
    }
    assert_true(*section != 0);
    memcpy(file.data + *section + offset, bytes, length);
    forge_segment(file.data, file.length, &entry);
    memcpy(&entry, manifest.data + sizeof(struct nigh__manifest_header),
           offsetof(struct nigh__manifest_entry, header_checksum));
    memcpy(manifest.data + sizeof(struct nigh__manifest_header), &entry, sizeof entry);
    forge_manifest(manifest.data, manifest.length);
    file_write_all(path, file.data, file.length);
    file_write_all(manifest_path, manifest.data, manifest.length);
    free(file.data);
    free(manifest.data);
    free(path);
    free(manifest_path);
}

/*
 *   0  keys 1     8  heads: 2 integers, 1 real, 2 texts, 0, 4 bytes     32  1, 2    48  0.5    56  offsets 0, 2, 4
 *  80  "deen" and zeros    88  codes 2 5 3 1 0 4 and zeros    96  the end
 */
struct lie {
    uint64_t offset;
    uint64_t number; /* is put there, in 8 bytes */
    uint64_t told;   /* the offset that the check names */
    const char *why; /* NULL: it is no lie */
};

static const char *const no_room = "the values of a key do not fit their section";
static const char *const bad_value = "a value is malformed or out of order";
static const char *const bad_padding = "what fills up the values is not zero";

static uint64_t bits_of(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static void expect_lie(struct collection_place *place, const struct lie *lie) {
    nigh_error error;
    uint64_t section = 0;
    make_sample(place);
    assert_ok(nigh_collection_check(place->context, place->path, NULL, NULL, &error), &error);
    forge_at(place, lie->offset, &lie->number, sizeof lie->number, &section);
    const nigh_status status = nigh_collection_check(place->context, place->path, NULL, NULL, &error);
    assert_int_equal(status, lie->why == NULL ? NIGH_OK : NIGH_ECORRUPT);
    if (lie->why != NULL) {
        assert_string_equal(error.why, lie->why);
        assert_non_null(strstr(error.file, "segment-"));
        assert_int_equal(error.offset - section, lie->told);
    }
    /* Whoever reads all the same is told, or gets something that is there. */
    const nigh_status read = read_everything(place->context, place->path, &error);
    assert_true(read == NIGH_OK || read == NIGH_ECORRUPT);
    remove_tree(place->path);
}

static void sections_that_lie_are_refused(void **state) {
    const struct lie lies[] = {
        {0, 2, 0, "values of other keys than the scheme names"},
        {8, UINT64_C(1) << 32 | 3, 8, no_room}, /* more integers than there is room for */
        {8, UINT64_C(1) << 32 | UINT32_MAX, 8, no_room},
        {16, UINT64_C(7) << 32 | 2, 8, no_room}, /* what must be zero */
        {24, 400, 8, no_room},                   /* texts past the end */
        {24, UINT64_MAX, 8, no_room},            /* the same, about to overflow */
        {32, 2, 40, bad_value},                  /* 2 twice */
        {32, 7, 40, bad_value},                  /* out of order */
        {48, bits_of(2.0), 48, bad_value},       /* a real that is an integer */
        {48, bits_of(INFINITY), 48, bad_value},
        {64, 3, 0, NULL},                /* texts "dee" and "n": as good as any */
        {64, 5, 56, bad_value},          /* a text that ends past the texts */
        {72, 3, 56, bad_value},          /* texts that end before the last byte */
        {80, 0x6e656e66, 64, bad_value}, /* "fn" before "en" */
        {80, UINT64_C(0x016e656564), 94, bad_padding},
        {88, UINT64_C(0x040001030502), 0, NULL}, /* as it is */
        {88, UINT64_C(0x040001030506), 88, "the value of a document is wrong"},
        {88, UINT64_C(0x040001030405), 40, "a value that no document has"},
        {88, UINT64_C(0x01040001030502), 94, bad_padding},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) expect_lie(*state, &lies[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(codes_are_as_narrow_as_can_be, collection_place_setup,
                                        collection_place_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_value_is_refused, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(keys_stay, collection_place_setup, collection_place_teardown),
        cmocka_unit_test_setup_teardown(keys_are_added_to_no_collection, collection_place_setup,
                                        collection_place_teardown),
        cmocka_unit_test_setup_teardown(only_the_same_keys_are_adopted, collection_place_setup,
                                        collection_place_teardown),
        cmocka_unit_test_setup_teardown(sections_that_lie_are_refused, collection_place_setup,
                                        collection_place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
