/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The optional sections: weights of the documents of a commit, and the one
 * vocabulary of a collection, which to the store is bytes.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store/collection.h"
#include "store/writer.h"
#include "support/forge.h"
#include "support/support.h"

#define WORDS "words and how often they occur"
#define OTHERS "terms and how often they occur"

struct fixture {
    nigh_context *context;
    char *scratch;
    char *path;
};

static int set_up(void **state) {
    struct fixture *f = malloc(sizeof *f);
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "c.nigh");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->context);
    free(f->path);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

static nigh_collection *open_collection(struct fixture *f) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    return collection;
}

static nigh_collection_info describe(struct fixture *f) {
    nigh_collection *collection = open_collection(f);
    nigh_collection_info info = NIGH_COLLECTION_INFO_INIT;
    nigh_collection_describe(collection, &info);
    nigh_collection_close(collection);
    return info;
}

static void add_documents(struct fixture *f, const struct recipe *recipe, uint64_t first, uint64_t count) {
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, recipe, first, count, &error), &error);
}

static nigh_status check(struct fixture *f, nigh_error *error) {
    return nigh_collection_check(f->context, f->path, NULL, NULL, error);
}

/* ----------------------------------------------------------------- weights */

static void weights_round_trip(void **state) {
    struct fixture *f = *state;
    const uint32_t widths[] = {8, 64, 72, 1024, 65536};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (unsigned variant = 0; variant < 4; variant++) {
            struct recipe recipe = {.width_bits = widths[w],
                                    .seed = w,
                                    .distinct = 7,
                                    .ids = (variant & 1) != 0,
                                    .metadata = (variant & 2) != 0,
                                    .weights = true};
            add_documents(f, &recipe, 0, 30);
            add_documents(f, &recipe, 30, 21);
            recipe_expect(f->context, f->path, &recipe, 51);
            remove_tree(f->path);
        }
    }
}

/* More than the buffer of a spool holds, so that the temporary file is really used; and it is gone afterwards. */
static void weights_go_through_a_file(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 65536, .weights = true};
    add_documents(f, &recipe, 0, 40);
    recipe_expect(f->context, f->path, &recipe, 40);
    char *leftover = path_in(f->path, "segment-00000000000000000001.weights.tmp");
    assert_false(path_exists(leftover));
    file_write_all(leftover, "of a writer that died", 21);
    nigh_check_result result = NIGH_CHECK_RESULT_INIT;
    nigh_error error;
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 1);
    add_documents(f, &recipe, 40, 1);
    assert_false(path_exists(leftover));
    free(leftover);
}

static nigh_status add_one(nigh_writer *writer, const char *id, const uint8_t *weights, nigh_error *error) {
    const uint8_t signature[8] = {1};
    nigh_document document = {.signature = signature, .id = id, .id_length = strlen(id), .weights = weights};
    return nigh_writer_add(writer, &document, error);
}

static nigh_writer *open_writer(struct fixture *f) {
    nigh_writer_options options = NIGH_WRITER_OPTIONS_INIT;
    options.width_bits = 64;
    nigh_writer *writer;
    nigh_error error;
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    return writer;
}

static void weights_for_all_of_a_commit_or_none(void **state) {
    struct fixture *f = *state;
    const uint8_t weights[64] = {5, 6, 7};
    nigh_error error;
    for (int weighted = 0; weighted < 2; weighted++) {
        const uint8_t *these = weighted ? weights : NULL;
        const uint8_t *others = weighted ? NULL : weights;
        nigh_writer *writer = open_writer(f);
        /* A document that is refused does not decide for those after it. */
        assert_int_equal(add_one(writer, "a\tb", others, &error), NIGH_EINVAL);
        assert_ok(add_one(writer, weighted ? "a" : "x", these, &error), &error);
        assert_int_equal(add_one(writer, "c", others, &error), NIGH_EMISMATCH);
        assert_non_null(
            strstr(error_text(&error), weighted ? "have weights; this one has none" : "have no weights; this one has"));
        assert_ok(add_one(writer, weighted ? "b" : "y", these, &error), &error); /* and life goes on */
        assert_ok(nigh_writer_commit(writer, &error), &error);
        nigh_writer_close(writer);
        assert_ok(check(f, &error), &error);
        assert_int_equal(describe(f).documents, weighted ? 4 : 2);
    }
}

/* Other commits may differ; only where all have weights does the collection. */
static void segments_may_differ(void **state) {
    struct fixture *f = *state;
    struct recipe with = {.width_bits = 72, .seed = 1, .ids = true, .weights = true};
    struct recipe without = {.width_bits = 72, .seed = 1, .ids = true};
    add_documents(f, &with, 0, 0);
    assert_int_equal(describe(f).has_weights, 0);
    add_documents(f, &with, 0, 3);
    assert_int_equal(describe(f).has_weights, 1); /* the empty segment has no say */
    add_documents(f, &without, 3, 2);
    add_documents(f, &with, 5, 2);
    assert_int_equal(describe(f).has_weights, 0);

    nigh_collection *collection = open_collection(f);
    nigh_error error;
    for (uint64_t i = 0; i < 7; i++) {
        uint8_t wanted[72];
        uint8_t got[72];
        nigh_status status = nigh_collection_weights(collection, i, got, &error);
        if (i == 3 || i == 4) {
            assert_int_equal(status, NIGH_ENOTFOUND);
            assert_non_null(strstr(error_text(&error), i == 3 ? "document 3 was added without weights" : "document 4"));
            continue;
        }
        assert_ok(status, &error);
        recipe_weights(&with, i, wanted);
        assert_memory_equal(got, wanted, 72);
    }
    uint8_t got[72];
    assert_int_equal(nigh_collection_weights(collection, 7, got, &error), NIGH_EINVAL);
    nigh_collection_close(collection);
    assert_ok(check(f, &error), &error);
}

/* -------------------------------------------------------------- vocabulary */

static nigh_status open_with(struct fixture *f, const char *vocabulary, nigh_error *error) {
    struct recipe recipe = {.width_bits = 64, .vocabulary = vocabulary};
    return recipe_add(f->context, f->path, &recipe, 0, 0, error);
}

static void one_vocabulary_for_a_collection(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .ids = true, .vocabulary = WORDS};
    struct recipe silent = {.width_bits = 64, .ids = true};
    nigh_error error;
    add_documents(f, &recipe, 0, 5);
    add_documents(f, &recipe, 5, 5); /* the same again is no other */
    add_documents(f, &silent, 10, 5);
    recipe_expect(f->context, f->path, &recipe, 15);
    char *before = tree_digest(f->path);
    assert_int_equal(open_with(f, OTHERS, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "signed with another vocabulary"));
    assert_int_equal(open_with(f, WORDS " more", &error), NIGH_EMISMATCH);
    assert_int_equal(open_with(f, "w", &error), NIGH_EMISMATCH);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    nigh_collection *collection = open_collection(f);
    assert_non_null(collection->segments[0]->vocabulary);
    assert_null(collection->segments[1]->vocabulary);
    nigh_collection_close(collection);
}

static void no_vocabulary_for_old_documents(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64};
    add_documents(f, &recipe, 0, 1);
    char *before = tree_digest(f->path);
    nigh_error error;
    assert_int_equal(open_with(f, WORDS, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "its documents were added without a vocabulary"));
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    nigh_collection *collection = open_collection(f);
    nigh_vocabulary *none;
    assert_int_equal(nigh_collection_vocabulary(collection, &none, &error), NIGH_ENOTFOUND);
    assert_null(none);
    nigh_collection_close(collection);
}

/* A collection without documents takes a vocabulary late, also where none are added with it. */
static void a_vocabulary_before_the_documents(void **state) {
    struct fixture *f = *state;
    struct recipe silent = {.width_bits = 64};
    struct recipe recipe = {.width_bits = 64, .vocabulary = WORDS};
    nigh_error error;
    add_documents(f, &silent, 0, 0);
    assert_int_equal(describe(f).vocabulary_bytes, 0);
    assert_ok(open_with(f, WORDS, &error), &error);
    assert_int_equal(describe(f).vocabulary_bytes, strlen(WORDS));
    uint64_t sequence = describe(f).sequence;
    assert_ok(open_with(f, WORDS, &error), &error); /* nothing new */
    assert_int_equal(describe(f).sequence, sequence);
    add_documents(f, &recipe, 0, 4);
    recipe_expect(f->context, f->path, &recipe, 4);
}

static void vocabularies_have_a_length(void **state) {
    struct fixture *f = *state;
    nigh_writer_options options = NIGH_WRITER_OPTIONS_INIT;
    options.width_bits = 64;
    nigh_writer *writer;
    nigh_error error;
    assert_int_equal(nigh__writer_open(f->context, f->path, &options, "", 0, &writer, &error), NIGH_EINVAL);
    size_t too_long = (size_t)NIGH__MAX_VOCABULARY_LENGTH + 1;
    assert_int_equal(nigh__writer_open(f->context, f->path, &options, "", too_long, &writer, &error), NIGH_ELIMIT);
    assert_false(path_exists(f->path));
    /* Who was compiled before there were vocabularies gives none. */
    options.size = offsetof(nigh_writer_options, vocabulary);
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    nigh_writer_close(writer);
}

/* ------------------------------------------------------- damage and forgery */

static struct nigh__section_entry *entry_of(struct bytes *segment, uint32_t type) {
    struct nigh__section_entry *entry = (struct nigh__section_entry *)(void *)(segment->data + 64);
    while (entry->type != type) entry++;
    return entry;
}

static char *segment_path(struct fixture *f, unsigned number) {
    char name[64];
    (void)snprintf(name, sizeof name, "segment-%020u", number);
    return path_in(f->path, name);
}

/* Writes a segment back with every checksum right, and the newest manifest that lists it as entry `index`. */
static void forge(struct fixture *f, unsigned number, unsigned sequence, struct bytes *segment) {
    char name[64];
    (void)snprintf(name, sizeof name, "manifest-%020u", sequence);
    char *manifest_path = path_in(f->path, name);
    char *path = segment_path(f, number);
    struct bytes manifest = file_read_all(manifest_path);
    struct nigh__manifest_entry entry;
    uint8_t *at = manifest.data + sizeof(struct nigh__manifest_header) + (number - 1) * sizeof entry;
    memcpy(&entry, at, sizeof entry);
    forge_segment(segment->data, segment->length, &entry);
    memcpy(at, &entry, sizeof entry);
    forge_manifest(manifest.data, manifest.length);
    file_write_all(path, segment->data, segment->length);
    file_write_all(manifest_path, manifest.data, manifest.length);
    free(manifest.data);
    free(path);
    free(manifest_path);
}

static void expect_refused(struct fixture *f, const char *why) {
    nigh_collection *collection;
    nigh_error error;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), why));
    assert_int_equal(check(f, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), why));
}

static void a_damaged_vocabulary(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .vocabulary = WORDS};
    add_documents(f, &recipe, 0, 3);
    char *path = segment_path(f, 1);
    struct bytes segment = file_read_all(path);
    segment.data[entry_of(&segment, NIGH__SECTION_VOCABULARY)->offset + 3] ^= 1;
    file_write_all(path, segment.data, segment.length);
    nigh_collection *collection = open_collection(f); /* opening does not look */
    nigh_error error;
    uint8_t *bytes;
    size_t length;
    assert_int_equal(nigh__segment_vocabulary(collection->segments[0], &bytes, &length, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), "the vocabulary fails its checksum"));
    assert_null(bytes);
    nigh_vocabulary *vocabulary;
    assert_int_equal(nigh_collection_vocabulary(collection, &vocabulary, &error), NIGH_ECORRUPT);
    assert_null(vocabulary);
    nigh_collection_close(collection);
    /* The right one is told that the section is damaged, not that it is another. */
    assert_int_equal(open_with(f, WORDS, &error), NIGH_ECORRUPT);
    assert_int_equal(open_with(f, OTHERS, &error), NIGH_EMISMATCH);
    assert_int_equal(check(f, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), "section 12 fails its checksum"));
    free(segment.data);
    free(path);
}

static void forged_lengths(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .weights = true, .vocabulary = WORDS};
    add_documents(f, &recipe, 0, 3);
    char *path = segment_path(f, 1);
    struct bytes segment = file_read_all(path);
    struct nigh__section_entry *vocabulary = entry_of(&segment, NIGH__SECTION_VOCABULARY);
    struct nigh__section_entry kept = *vocabulary;
    vocabulary->length = vocabulary->count = 0;
    forge(f, 1, 1, &segment);
    expect_refused(f, "the vocabulary has the wrong size");
    *vocabulary = kept;
    vocabulary->count = 1;
    forge(f, 1, 1, &segment);
    expect_refused(f, "section 12 has the wrong size");
    *vocabulary = kept;

    struct nigh__section_entry *weights = entry_of(&segment, NIGH__SECTION_WEIGHTS);
    assert_int_equal(weights->length, 3 * 64);
    assert_int_equal(weights->count, 3);
    kept = *weights;
    const uint64_t wrong[][2] = {{2, 128}, {2, 192}, {3, 128}, {0, 0}, {3, 191}, {192, 192}, {UINT64_C(1) << 58, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weights->count = wrong[i][0];
        weights->length = wrong[i][1];
        forge(f, 1, 1, &segment);
        expect_refused(f, "section 11 has the wrong size");
    }
    *weights = kept;
    forge(f, 1, 1, &segment);
    recipe_expect(f->context, f->path, &recipe, 3);
    free(segment.data);
    free(path);
}

/* A file with a hole: the footer moves, and the vocabulary fills what is before it. */
static void a_vocabulary_of_more_than_4_gib(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .vocabulary = WORDS};
    add_documents(f, &recipe, 0, 3);
    char *path = segment_path(f, 1);
    struct bytes segment = file_read_all(path);
    struct nigh__segment_header *header = (struct nigh__segment_header *)(void *)segment.data;
    struct nigh__section_entry *vocabulary = entry_of(&segment, NIGH__SECTION_VOCABULARY);
    uint64_t start = vocabulary->offset;
    for (uint64_t extra = 0; extra <= 1; extra++) {
        vocabulary->length = vocabulary->count = NIGH__MAX_VOCABULARY_LENGTH + extra;
        header->file_length = start + NIGH__MAX_VOCABULARY_LENGTH + 64 + 64;
        forge(f, 1, 1, &segment); /* with the footer in its old place, and inside the vocabulary now */
        int file = open(path, O_RDWR);
        assert_true(file >= 0);
        if (ftruncate(file, (off_t)header->file_length) != 0) skip();
        const uint8_t *footer = segment.data + segment.length - 64;
        assert_int_equal(pwrite(file, footer, 64, (off_t)header->file_length - 64), 64);
        assert_int_equal(close(file), 0);
        nigh_collection *collection;
        nigh_error error;
        nigh_status status = nigh_collection_open(f->context, f->path, NULL, &collection, &error);
        if (extra == 0) {
            assert_ok(status, &error);
            nigh_collection_close(collection);
        } else {
            assert_int_equal(status, NIGH_ECORRUPT);
            assert_non_null(strstr(error_text(&error), "the vocabulary has the wrong size"));
        }
    }
    free(segment.data);
    free(path);
}

/* Weights of a later segment passed off as a vocabulary, behind documents or behind another vocabulary. */
static void a_vocabulary_out_of_place(void **state) {
    struct fixture *f = *state;
    for (int behind_documents = 0; behind_documents < 2; behind_documents++) {
        struct recipe first = {.width_bits = 64, .vocabulary = behind_documents ? NULL : WORDS};
        struct recipe second = {.width_bits = 64, .weights = true};
        add_documents(f, &first, 0, behind_documents ? 2 : 0);
        add_documents(f, &second, 0, 3);
        char *path = segment_path(f, 2);
        struct bytes segment = file_read_all(path);
        struct nigh__section_entry *weights = entry_of(&segment, NIGH__SECTION_WEIGHTS);
        weights->type = NIGH__SECTION_VOCABULARY;
        weights->count = weights->length;
        forge(f, 2, 2, &segment);
        expect_refused(f, "a vocabulary that is not in the first segment");
        free(segment.data);
        free(path);
        remove_tree(f->path);
    }
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(weights_round_trip),
        WITH_FIXTURE(weights_go_through_a_file),
        WITH_FIXTURE(weights_for_all_of_a_commit_or_none),
        WITH_FIXTURE(segments_may_differ),
        WITH_FIXTURE(one_vocabulary_for_a_collection),
        WITH_FIXTURE(no_vocabulary_for_old_documents),
        WITH_FIXTURE(a_vocabulary_before_the_documents),
        WITH_FIXTURE(vocabularies_have_a_length),
        WITH_FIXTURE(a_damaged_vocabulary),
        WITH_FIXTURE(forged_lengths),
        WITH_FIXTURE(a_vocabulary_of_more_than_4_gib),
        WITH_FIXTURE(a_vocabulary_out_of_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
