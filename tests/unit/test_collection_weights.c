/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The optional sections: weights of the documents of a commit, and the one
 * vocabulary and the one model of a collection, which to the store are bytes.
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
#include "collection/collection.h"
#include "support/forge.h"
#include "support/support.h"

#define WORDS "words and how often they occur"
#define OTHERS "terms and how often they occur"

struct fixture {
    nigh_context *context;
    char *scratch;
    char *path;
    enum nigh__attachment kind; /* what a test is about that is about what is kept */
};

static int set_up(void **state) {
    struct fixture *f = malloc(sizeof *f);
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "c.nigh");
    f->kind = NIGH__ATTACHMENT_VOCABULARY;
    *state = f;
    return 0;
}

static int set_up_model(void **state) {
    (void)set_up(state);
    ((struct fixture *)*state)->kind = NIGH__ATTACHMENT_MODEL;
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
    nigh_collection_info info = {.size = sizeof info};
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
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 1);
    add_documents(f, &recipe, 40, 1);
    assert_false(path_exists(leftover));
    free(leftover);
}

static nigh_status add_one(nigh_writer *writer, const char *id, const uint8_t *weights, nigh_error *error) {
    const uint8_t signature[8] = {1};
    nigh_document document = {
        .size = sizeof(nigh_document), .signature = signature, .id = id, .id_length = strlen(id), .weights = weights};
    return nigh_writer_add(writer, &document, error);
}

static nigh_writer *open_writer(struct fixture *f) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
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
        assert_int_equal(add_one(writer, "", others, &error), NIGH_EINVAL);
        assert_ok(add_one(writer, weighted ? "a" : "x", these, &error), &error);
        assert_int_equal(add_one(writer, "c", others, &error), NIGH_EMISMATCH);
        assert_non_null(
            strstr(error_text(&error), weighted ? "have weights; this one has none" : "have no weights; this one has"));
        assert_ok(add_one(writer, weighted ? "b" : "y", these, &error), &error); /* and life goes on */
        assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
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

/* ------------------------------------------------- a vocabulary, or a model */

/* Documents of 64 bits with a vocabulary or a model. */
static struct recipe keeping(const struct fixture *f, const char *text) {
    struct recipe recipe = {.width_bits = 64};
    *(f->kind == NIGH__ATTACHMENT_MODEL ? &recipe.model : &recipe.vocabulary) = text;
    return recipe;
}

static nigh_status open_with(struct fixture *f, const char *text, nigh_error *error) {
    struct recipe recipe = keeping(f, text);
    return recipe_add(f->context, f->path, &recipe, 0, 0, error);
}

/* An error that says so of what the test is about, by its name. */
static void expect_words(const struct fixture *f, const nigh_error *error, const char *before, const char *behind) {
    char words[128];
    (void)snprintf(words, sizeof words, "%s%s%s", before, nigh__attachment_name(f->kind), behind);
    assert_non_null(strstr(error_text(error), words));
}

static uint64_t kept_bytes(struct fixture *f) {
    const nigh_collection_info info = describe(f);
    assert_int_equal(f->kind == NIGH__ATTACHMENT_MODEL ? info.vocabulary_bytes : info.model_bytes, 0);
    return f->kind == NIGH__ATTACHMENT_MODEL ? info.model_bytes : info.vocabulary_bytes;
}

/* What the public function gives; it is not OK, for these bytes are neither. */
static nigh_status fetch(const struct fixture *f, const nigh_collection *collection, nigh_error *error) {
    nigh_vocabulary *vocabulary = NULL;
    nigh_model *model = NULL;
    nigh_status status = f->kind == NIGH__ATTACHMENT_MODEL ? nigh_collection_model(collection, &model, error)
                                                           : nigh_collection_vocabulary(collection, &vocabulary, error);
    assert_null(vocabulary);
    assert_null(model);
    return status;
}

static void one_for_a_collection(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = keeping(f, WORDS);
    recipe.ids = true;
    struct recipe silent = {.width_bits = 64, .ids = true};
    nigh_error error;
    add_documents(f, &recipe, 0, 5);
    add_documents(f, &recipe, 5, 5); /* the same again is no other */
    add_documents(f, &silent, 10, 5);
    recipe_expect(f->context, f->path, &recipe, 15);
    char *before = tree_digest(f->path);
    assert_int_equal(open_with(f, OTHERS, &error), NIGH_EMISMATCH);
    expect_words(f, &error, "signed with another ", "");
    assert_int_equal(open_with(f, WORDS " more", &error), NIGH_EMISMATCH);
    assert_int_equal(open_with(f, "w", &error), NIGH_EMISMATCH);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    nigh_collection *collection = open_collection(f);
    assert_non_null(collection->segments[0]->kept[f->kind]);
    assert_null(collection->segments[1]->kept[f->kind]);
    nigh_collection_close(collection);
}

static void none_for_old_documents(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64};
    add_documents(f, &recipe, 0, 1);
    char *before = tree_digest(f->path);
    nigh_error error;
    assert_int_equal(open_with(f, WORDS, &error), NIGH_EMISMATCH);
    expect_words(f, &error, "its documents were added without a ", "");
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    nigh_collection *collection = open_collection(f);
    assert_int_equal(fetch(f, collection, &error), NIGH_ENOTFOUND);
    expect_words(f, &error, "it keeps no ", "");
    nigh_collection_close(collection);
}

/* A collection without documents takes one late, also where none are added with it. */
static void one_before_the_documents(void **state) {
    struct fixture *f = *state;
    struct recipe silent = {.width_bits = 64};
    struct recipe recipe = keeping(f, WORDS);
    nigh_error error;
    add_documents(f, &silent, 0, 0);
    assert_int_equal(kept_bytes(f), 0);
    assert_ok(open_with(f, WORDS, &error), &error);
    assert_int_equal(kept_bytes(f), strlen(WORDS));
    uint64_t sequence = describe(f).sequence;
    assert_ok(open_with(f, WORDS, &error), &error); /* nothing new */
    assert_int_equal(describe(f).sequence, sequence);
    add_documents(f, &recipe, 0, 4);
    recipe_expect(f->context, f->path, &recipe, 4);
}

static void what_is_kept_has_a_length(void **state) {
    struct fixture *f = *state;
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    nigh_writer *writer;
    nigh_error error;
    for (enum nigh__attachment kind = 0; kind <= NIGH__ATTACHMENT_MODEL; kind++) { /* thresholds come as such */
        nigh_attachment *kept = kind == NIGH__ATTACHMENT_MODEL ? &options.model : &options.vocabulary;
        kept->bytes = "";
        assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EINVAL);
        assert_non_null(strstr(error.why, nigh__attachment_name(kind)));
        kept->length = (size_t)NIGH__MAX_KEPT_LENGTH + 1;
        assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_ELIMIT);
        assert_non_null(strstr(error.why, nigh__attachment_name(kind)));
        *kept = (nigh_attachment){.bytes = NULL};
    }
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

static void damage(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = keeping(f, WORDS);
    add_documents(f, &recipe, 0, 3);
    char *path = segment_path(f, 1);
    struct bytes segment = file_read_all(path);
    segment.data[entry_of(&segment, nigh__attachment_section(f->kind))->offset + 3] ^= 1;
    file_write_all(path, segment.data, segment.length);
    nigh_collection *collection = open_collection(f); /* opening does not look */
    nigh_error error;
    uint8_t *bytes;
    size_t length;
    assert_int_equal(nigh__segment_attachment(collection->segments[0], f->kind, &bytes, &length, &error),
                     NIGH_ECORRUPT);
    expect_words(f, &error, "the ", " fails its checksum");
    assert_null(bytes);
    assert_int_equal(fetch(f, collection, &error), NIGH_ECORRUPT);
    nigh_collection_close(collection);
    /* The right one is told that the section is damaged, not that it is another. */
    assert_int_equal(open_with(f, WORDS, &error), NIGH_ECORRUPT);
    assert_int_equal(open_with(f, OTHERS, &error), NIGH_EMISMATCH);
    assert_int_equal(check(f, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), f->kind == NIGH__ATTACHMENT_MODEL ? "section 13 fails its checksum"
                                                                                 : "section 12 fails its checksum"));
    free(segment.data);
    free(path);
}

static void forged_lengths(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = keeping(f, WORDS);
    recipe.weights = true;
    add_documents(f, &recipe, 0, 3);
    char *path = segment_path(f, 1);
    struct bytes segment = file_read_all(path);
    struct nigh__section_entry *entry = entry_of(&segment, nigh__attachment_section(f->kind));
    struct nigh__section_entry kept = *entry;
    entry->length = entry->count = 0;
    forge(f, 1, 1, &segment);
    expect_refused(f, f->kind == NIGH__ATTACHMENT_MODEL ? "the model has the wrong size"
                                                        : "the vocabulary has the wrong size");
    *entry = kept;
    entry->count = 1;
    forge(f, 1, 1, &segment);
    expect_refused(f, f->kind == NIGH__ATTACHMENT_MODEL ? "section 13 has the wrong size"
                                                        : "section 12 has the wrong size");
    *entry = kept;

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
        vocabulary->length = vocabulary->count = NIGH__MAX_KEPT_LENGTH + extra;
        header->file_length = start + NIGH__MAX_KEPT_LENGTH + 64 + 64;
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

/* Weights of a later segment passed off as a vocabulary or a model, behind documents or behind another one. */
static void out_of_place(void **state) {
    struct fixture *f = *state;
    for (int behind_documents = 0; behind_documents < 2; behind_documents++) {
        struct recipe first = keeping(f, behind_documents ? NULL : WORDS);
        struct recipe second = {.width_bits = 64, .weights = true};
        add_documents(f, &first, 0, behind_documents ? 2 : 0);
        add_documents(f, &second, 0, 3);
        char *path = segment_path(f, 2);
        struct bytes segment = file_read_all(path);
        struct nigh__section_entry *weights = entry_of(&segment, NIGH__SECTION_WEIGHTS);
        weights->type = nigh__attachment_section(f->kind);
        weights->count = weights->length;
        forge(f, 2, 2, &segment);
        expect_refused(f, f->kind == NIGH__ATTACHMENT_MODEL ? "a model that is not in the first segment"
                                                            : "a vocabulary that is not in the first segment");
        free(segment.data);
        free(path);
        remove_tree(f->path);
    }
}

/* Both at once, in one segment and in two. */
static void a_vocabulary_and_a_model(void **state) {
    struct fixture *f = *state;
    struct recipe both = {.width_bits = 64, .vocabulary = WORDS, .model = OTHERS};
    struct recipe words = {.width_bits = 64, .vocabulary = WORDS};
    add_documents(f, &both, 0, 3);
    add_documents(f, &both, 3, 3);
    recipe_expect(f->context, f->path, &both, 6);
    remove_tree(f->path);
    add_documents(f, &words, 0, 0);
    add_documents(f, &both, 0, 3);
    recipe_expect(f->context, f->path, &both, 3);
    nigh_collection *collection = open_collection(f);
    assert_ptr_equal(nigh__collection_keeper(collection, NIGH__ATTACHMENT_VOCABULARY), collection->segments[0]);
    assert_ptr_equal(nigh__collection_keeper(collection, NIGH__ATTACHMENT_MODEL), collection->segments[1]);
    nigh_collection_close(collection);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, set_up_model, tear_down)
#define WITH_BOTH(test) WITH_FIXTURE(test), WITH_MODEL(test)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(weights_round_trip),
        WITH_FIXTURE(weights_go_through_a_file),
        WITH_FIXTURE(weights_for_all_of_a_commit_or_none),
        WITH_FIXTURE(segments_may_differ),
        WITH_BOTH(one_for_a_collection),
        WITH_BOTH(none_for_old_documents),
        WITH_BOTH(one_before_the_documents),
        WITH_FIXTURE(what_is_kept_has_a_length),
        WITH_BOTH(damage),
        WITH_BOTH(forged_lengths),
        WITH_FIXTURE(a_vocabulary_of_more_than_4_gib),
        WITH_BOTH(out_of_place),
        WITH_FIXTURE(a_vocabulary_and_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
