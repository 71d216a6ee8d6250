/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Term signature files on disk: what they are mistaken for, what is damaged, what lies under right
 * checksums, and terms found in every part of a dictionary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/filter_support.h"
#include "support/forge.h"
#include "support/support.h"
#include "support/terms_support.h"
#include "terms/terms_file_parts.h"

struct fixture {
    nigh_context *context;
    char *scratch, *path, *input, *group, *manifest;
    char *text;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    nigh_error error;
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "t.terms");
    f->input = path_in(f->scratch, "input.txt");
    f->group = path_in(f->path, "terms-00000000000000000001");
    f->manifest = path_in(f->path, "manifest-00000000000000000001");
    f->text = topic_lines(4, 300, 12);
    assert_ok(terms_add_lines(f->context, f->path, f->input, f->text, NULL, NULL, &error), &error);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->context);
    scratch_free(f->scratch);
    free(f->path);
    free(f->input);
    free(f->group);
    free(f->manifest);
    free(f->text);
    free(f);
    return 0;
}

/* ------------------------------------------------------------ mistaken for */

static void expect_said(const nigh_error *error, const char *words) {
    if (strstr(error->why, words) == NULL) fail_msg("'%s' does not say '%s'", error->why, words);
}

static void test_it_says_what_it_is(void **state) {
    const struct fixture *f = *state;
    const struct recipe recipe = {.width_bits = 64, .seed = 1};
    char *collection_path = path_in(f->scratch, "c.nigh");
    nigh_collection *collection;
    nigh_terms *terms;
    nigh_error error;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_EFORMAT);
    expect_said(&error, "a term signature file, not a collection");
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_EFORMAT);
    char *before = tree_digest(f->path);
    assert_int_equal(recipe_add(f->context, f->path, &recipe, 0, 3, &error), NIGH_EFORMAT);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_ok(recipe_add(f->context, collection_path, &recipe, 0, 3, &error), &error);
    assert_int_equal(nigh_terms_open(f->context, collection_path, NULL, &terms, &error), NIGH_EFORMAT);
    expect_said(&error, "a collection, not a term signature file");
    assert_int_equal(nigh_terms_check(f->context, collection_path, NULL, NULL, &error), NIGH_EFORMAT);
    assert_int_equal(terms_add_lines(f->context, collection_path, f->input, "a b\n", NULL, NULL, &error), NIGH_EFORMAT);
    assert_int_equal(nigh_terms_open(f->context, f->input, NULL, &terms, &error), NIGH_EFORMAT);
    expect_said(&error, "not a nigh term signature file");
    assert_int_equal(nigh_terms_open(f->context, "/nowhere/t", NULL, &terms, &error), NIGH_ENOTFOUND);
    free(collection_path);
}

static void test_directories_of_others(void **state) {
    const struct fixture *f = *state;
    char *path = path_in(f->scratch, "other");
    char *file = path_in(path, "letter.txt");
    nigh_terms *terms;
    nigh_error error;
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(nigh_terms_open(f->context, path, NULL, &terms, &error), NIGH_ENOTFOUND);
    assert_int_equal(nigh_terms_check(f->context, path, NULL, NULL, &error), NIGH_ENOTFOUND);
    file_write_all(file, "dear", 4);
    assert_int_equal(nigh_terms_open(f->context, path, NULL, &terms, &error), NIGH_EFORMAT);
    assert_int_equal(terms_add_lines(f->context, path, f->input, "a b\n", NULL, NULL, &error), NIGH_EFORMAT);
    free(path);
    free(file);
}

/* ----------------------------------------------------------------- damage */

/* Writes changed bytes with every checksum made right, and a manifest that names them. */
static void write_forged(const struct fixture *f, struct bytes *group) {
    struct bytes manifest = file_read_all(f->manifest);
    struct nigh__manifest_entry entry;
    memcpy(&entry, manifest.data + sizeof(struct nigh__manifest_header), sizeof entry);
    forge_terms(group->data, group->length, &entry);
    memcpy(manifest.data + sizeof(struct nigh__manifest_header), &entry, sizeof entry);
    forge_manifest(manifest.data, manifest.length);
    file_write_all(f->manifest, manifest.data, manifest.length);
    file_write_all(f->group, group->data, group->length);
    free(manifest.data);
}

static struct nigh__section_entry *entry_of(const struct bytes *group, uint32_t type) {
    struct nigh__section_entry *table = (struct nigh__section_entry *)(void *)(group->data + 64);
    for (uint32_t i = 0;; i++)
        if (table[i].type == type) return &table[i];
}

/*
 * Two manifests, the newer one damaged: adding is refused, and nothing on disk has changed.  The refusal once came
 * after the groups were known and before it was known that they are committed, and took them along.
 */
static void test_a_refused_writer_removes_nothing(void **state) {
    const struct fixture *f = *state;
    char *newer = path_in(f->path, "manifest-00000000000000000002");
    nigh_error error;
    assert_ok(terms_add_lines(f->context, f->path, f->input, "more words here\n", NULL, NULL, &error), &error);
    struct bytes manifest = file_read_all(newer);
    manifest.data[manifest.length / 2] ^= 1;
    file_write_all(newer, manifest.data, manifest.length);
    free(manifest.data);
    char *before = tree_digest(f->path);
    assert_int_equal(terms_add_lines(f->context, f->path, f->input, "yet more\n", NULL, NULL, &error), NIGH_ECORRUPT);
    char *after = tree_digest(f->path);
    assert_string_equal(after, before);
    free(before);
    free(after);
    free(newer);
}

/* A bit anywhere: --verify and check notice, and reading anything does not crash. */
static void test_every_bit_counts(void **state) {
    const struct fixture *f = *state;
    struct bytes sound = file_read_all(f->group);
    nigh_open_options verify;
    nigh_open_options_init(&verify);
    struct nigh__rng rng = {9};
    verify.verify = 1;
    for (int i = 0; i < 300; i++) {
        const uint64_t bit = i < 100 ? nigh__rng_next(&rng) % 8192 : nigh__rng_next(&rng) % (sound.length * 8);
        nigh_terms *terms;
        nigh_error error;
        sound.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        file_write_all(f->group, sound.data, sound.length);
        sound.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(nigh_terms_check(f->context, f->path, NULL, NULL, &error), NIGH_OK);
        nigh_status status = nigh_terms_open(f->context, f->path, &verify, &terms, &error);
        if (status == NIGH_OK) fail_msg("bit %llu", (unsigned long long)bit);
        (void)terms_read_everything(f->context, f->path, &error);
    }
    for (size_t length = 0; length < sound.length; length += length < 8192 ? 611 : 3000) {
        nigh_error error;
        file_write_all(f->group, sound.data, length);
        assert_int_not_equal(terms_read_everything(f->context, f->path, &error), NIGH_OK);
    }
    free(sound.data);
}

/* Any byte under right checksums: whatever it says, nothing crashes, and a check never says it is sound lightly. */
static void test_lies_under_right_checksums(void **state) {
    const struct fixture *f = *state;
    struct bytes sound = file_read_all(f->group);
    struct nigh__rng rng = {17};
    for (int i = 0; i < 400; i++) {
        struct bytes forged = {.data = malloc(sound.length), .length = sound.length};
        memcpy(forged.data, sound.data, sound.length);
        for (uint64_t changes = 1 + nigh__rng_next(&rng) % 3; changes > 0; changes--) {
            const uint64_t at =
                nigh__rng_next(&rng) % 3 == 0 ? 16 + nigh__rng_next(&rng) % 1000 : nigh__rng_next(&rng) % sound.length;
            forged.data[at] = (uint8_t)nigh__rng_next(&rng);
        }
        nigh_error error;
        write_forged(f, &forged);
        (void)terms_read_everything(f->context, f->path, &error);
        free(forged.data);
    }
    free(sound.data);
}

static void expect_found_by_check(const struct fixture *f, const struct bytes *sound, uint32_t type, uint64_t at,
                                  uint8_t value, const char *words) {
    struct bytes forged = {.data = malloc(sound->length), .length = sound->length};
    nigh_error error;
    memcpy(forged.data, sound->data, sound->length);
    forged.data[entry_of(&forged, type)->offset + at] = value;
    write_forged(f, &forged);
    assert_int_equal(nigh_terms_check(f->context, f->path, NULL, NULL, &error), NIGH_ECORRUPT);
    expect_said(&error, words);
    (void)terms_read_everything(f->context, f->path, &error);
    free(forged.data);
}

static void test_check_finds_lies(void **state) {
    const struct fixture *f = *state;
    struct bytes sound = file_read_all(f->group);
    const struct nigh__section_entry *hashes = entry_of(&sound, NIGH__TERMS_POSITION_HASHES);
    const struct nigh__section_entry *rows = entry_of(&sound, NIGH__TERMS_ROWS);
    expect_found_by_check(f, &sound, NIGH__TERMS_FIRST_BLOCKS, 0, 1, "first block");
    expect_found_by_check(f, &sound, NIGH__TERMS_FIRST_BLOCKS, 4 * 10 + 3, 9, "out of order");
    expect_found_by_check(f, &sound, NIGH__TERMS_SOURCES, 3, 1, "source");
    expect_found_by_check(f, &sound, NIGH__TERMS_ID_OFFSETS, 8 * 5 + 6, 1, "misplaced");
    expect_found_by_check(f, &sound, NIGH__TERMS_POSITION_HASHES, hashes->length - 1, 0, "out of order");
    expect_found_by_check(f, &sound, NIGH__TERMS_ROWS, rows->length - 1, 0x80, "not there");
    expect_found_by_check(f, &sound, NIGH__TERMS_FIGURES, 0,
                          sound.data[entry_of(&sound, NIGH__TERMS_FIGURES)->offset] ^ 1, "bits that are set");
    expect_found_by_check(f, &sound, NIGH__TERMS_LINES, 0, 'x', "");
    expect_found_by_check(f, &sound, NIGH__TERMS_LAST_BLOCKS, 3,
                          sound.data[entry_of(&sound, NIGH__TERMS_LAST_BLOCKS)->offset + 3] ^ 16, "last block");
    expect_found_by_check(f, &sound, NIGH__TERMS_LAST_BLOCKS, entry_of(&sound, NIGH__TERMS_LAST_BLOCKS)->length - 1, 1,
                          "last block");
    expect_found_by_check(f, &sound, NIGH__TERMS_READING, offsetof(struct nigh__terms_reading, format), 10,
                          "how inputs were read");
    expect_found_by_check(f, &sound, NIGH__TERMS_READING, sizeof(struct nigh__terms_reading) + 4, 'x',
                          "how inputs were read"); /* the end of the first key */
    free(sound.data);
}

/* Documents that have blocks in common would be looked through again and again. */
static void test_documents_that_overlap(void **state) {
    const struct fixture *f = *state;
    const nigh_terms_options options = terms_options(NIGH_FILTER_BLOOM);
    nigh_terms_query query;
    nigh_terms_query_init(&query);
    nigh_terms_answer *answer;
    nigh_terms *terms;
    nigh_error error;
    remove_tree(f->path);
    assert_ok(terms_add_lines(f->context, f->path, f->input, "same a b c d e f g h i\nsame j k l m\nsame n o p q\n",
                              &options, NULL, &error),
              &error);
    struct bytes group = file_read_all(f->group);
    uint32_t firsts[4];
    uint8_t *at = group.data + entry_of(&group, NIGH__TERMS_FIRST_BLOCKS)->offset;
    memcpy(firsts, at, sizeof firsts);
    assert_true(firsts[1] == 2 && firsts[2] == 3 && firsts[3] == 4);
    firsts[2] = 1;
    memcpy(at, firsts, sizeof firsts);
    write_forged(f, &group);
    assert_ok(nigh_terms_open(f->context, f->path, NULL, &terms, &error), &error);
    query.text = "same";
    assert_int_equal(nigh_terms_search(terms, &query, &answer, &error), NIGH_ECORRUPT);
    expect_said(&error, "not one after the other");
    nigh_terms_close(terms);
    free(group.data);
}

/* ------------------------------------------------------------------- finding */

/* Terms that no document has are nowhere, of all kinds with a dictionary; those of one block are exact. */
static void test_strangers_are_nowhere(void **state) {
    const struct fixture *f = *state;
    nigh_terms *terms;
    nigh_error error;
    assert_ok(nigh_terms_open(f->context, f->path, NULL, &terms, &error), &error);
    struct nigh__rng rng = {3};
    for (int i = 0; i < 1000; i++) {
        struct nigh__term_place place;
        bool found;
        assert_ok(nigh__terms_find(terms, 0, nigh__rng_next(&rng), &found, &place, &error), &error);
        assert_false(found);
    }
    for (uint64_t edge = 0; edge < 2; edge++) {
        struct nigh__term_place place;
        bool found;
        assert_ok(nigh__terms_find(terms, 0, edge - 1, &found, &place, &error), &error);
        assert_ok(nigh__terms_find(terms, 0, edge, &found, &place, &error), &error);
    }
    nigh_terms_close(terms);
}

/* A walk over the groups says what looking up each of them says. */
static void test_walk_equals_find(void **state) {
    const struct fixture *f = *state;
    nigh_terms *terms;
    nigh_error error;
    for (uint64_t seed = 5; seed < 8; seed++) {
        char *more = topic_lines(seed, 100, 20);
        assert_ok(terms_add_lines(f->context, f->path, f->input, more, NULL, NULL, &error), &error);
        free(more);
    }
    assert_ok(nigh_terms_open(f->context, f->path, NULL, &terms, &error), &error);
    for (uint32_t from = 0; from < nigh__terms_groups(terms); from++) {
        for (uint32_t kind = 0; kind < 3; kind++) {
            const struct nigh__terms_part *part = &terms->groups[from]->parts[kind];
            for (uint64_t i = 0; i < part->count; i++) {
                struct nigh__term_walk walk = {.hash = part->hashes[i]};
                for (uint32_t group = 0; group < nigh__terms_groups(terms); group++) {
                    struct nigh__term_place a = {.count = 0}, b = {.count = 0};
                    bool found_a, found_b;
                    assert_ok(nigh__terms_find(terms, group, walk.hash, &found_a, &a, &error), &error);
                    assert_ok(nigh__terms_walk(terms, group, &walk, &found_b, &b, &error), &error);
                    assert_int_equal(found_a, found_b);
                    assert_true(group != from || found_a);
                    if (found_a) assert_memory_equal(&a, &b, sizeof a);
                }
            }
        }
    }
    nigh_terms_close(terms);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_says_what_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_directories_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_refused_writer_removes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_bit_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lies_under_right_checksums, setup, teardown),
        cmocka_unit_test_setup_teardown(test_check_finds_lies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_documents_that_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strangers_are_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_walk_equals_find, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
