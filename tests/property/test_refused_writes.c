/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A write that is refused changes nothing.  Every file of a collection, of a term signature file
 * and of a file of chunks is removed, cut short, and changed in many of its bytes, one damage at
 * a time; on each such state every writer there is runs once.  Where it fails, all bytes must be
 * what they were.  Where it is taken, what was committed before must still be there: segments
 * and groups are never changed.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/support.h"
#include "support/terms_support.h"

#define MAX_FILES 16

static const struct recipe recipe = {.width_bits = 128, .seed = 5, .ids = true, .vocabulary = "words", .weights = true};

struct world {
    nigh_context *context;
    char *scratch, *input;
    char *base, *work; /* the store as it should be, and a copy to be damaged */
};

typedef nigh_status writing(struct world *world, nigh_error *error);

/* ----------------------------------------------------------------- writers */

static nigh_status add_documents(struct world *world, nigh_error *error) {
    return recipe_add(world->context, world->work, &recipe, 50, 5, error);
}

/* Refused whatever state the collection is in: these ids are there. */
static nigh_status add_again(struct world *world, nigh_error *error) {
    return recipe_add(world->context, world->work, &recipe, 45, 10, error);
}

static nigh_status build_lists(struct world *world, nigh_error *error) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = 8;
    options.min_rows = 1;
    options.threads = 1;
    return nigh_lists_build(world->context, world->work, &options, NULL, error);
}

static nigh_status remove_lists(struct world *world, nigh_error *error) {
    return nigh_lists_remove(world->context, world->work, error);
}

static nigh_status build_graph(struct world *world, nigh_error *error) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    options.threads = 1;
    return nigh_graph_build(world->context, world->work, &options, NULL, error);
}

static nigh_status remove_graph(struct world *world, nigh_error *error) {
    return nigh_graph_remove(world->context, world->work, error);
}

static nigh_status store_tuning(struct world *world, nigh_error *error) {
    const nigh_tuning tuning = sample_tuning(50, 2);
    return nigh_tuning_store(world->context, world->work, &tuning, error);
}

static nigh_status remove_tuning(struct world *world, nigh_error *error) {
    return nigh_tuning_remove(world->context, world->work, error);
}

static nigh_status add_terms(struct world *world, nigh_error *error) {
    return terms_add_lines(world->context, world->work, world->input, "the last words\nof all\n", NULL, NULL, error);
}

static nigh_status add_other_terms(struct world *world, nigh_error *error) {
    const nigh_terms_options options = terms_options(NIGH_FILTER_BLOOM);
    return terms_add_lines(world->context, world->work, world->input, "the last words\n", &options, NULL, error);
}

static int stop_at_commit(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user;
    (void)done;
    (void)total;
    return strcmp(stage, "committing") == 0;
}

/* Stopped by the caller when all groups have their names, and the manifest is next. */
static nigh_status add_terms_stopped(struct world *world, nigh_error *error) {
    const nigh_progress progress = {.report = stop_at_commit};
    nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    options.progress = &progress;
    return terms_add_lines(world->context, world->work, world->input, "the last words\n", &options, NULL, error);
}

static nigh_status append_chunk(struct world *world, nigh_error *error) {
    const uint64_t rows[3] = {7, 8, 9};
    nigh_chunks_options options;
    nigh_chunks_options_init(&options);
    options.writable = 1;
    nigh_chunks *chunks = NULL;
    char *path = path_in(world->work, "file.chunks");
    nigh_status status = nigh_chunks_open(world->context, path, &options, &chunks, error);
    if (status == NIGH_OK) status = nigh_chunks_append(chunks, (const uint8_t *)rows, 3, NULL, error);
    nigh_chunks_close(chunks);
    free(path);
    return status;
}

/* ------------------------------------------------------------------- world */

static int set_up(void **state) {
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->context = context_new();
    world->scratch = scratch_new();
    world->input = path_in(world->scratch, "input.txt");
    world->base = path_in(world->scratch, "base");
    world->work = path_in(world->scratch, "work");
    *state = world;
    return 0;
}

static int tear_down(void **state) {
    struct world *world = *state;
    nigh_context_free(world->context);
    free(world->input);
    free(world->base);
    free(world->work);
    scratch_free(world->scratch);
    free(world);
    return 0;
}

static void make_base(struct world *world, writing *const *steps, size_t count) {
    nigh_error error;
    for (size_t i = 0; i < count; i++) assert_ok(steps[i](world, &error), &error);
    assert_int_equal(rename(world->work, world->base), 0);
}

/* Names of the files of the store, sorted; to be freed one by one. */
static size_t list_files(const char *path, char *names[MAX_FILES]) {
    struct dirent **found = NULL;
    size_t used = 0;
    const int count = scandir(path, &found, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        if (found[i]->d_name[0] != '.') {
            assert_true(used < MAX_FILES);
            names[used++] = strdup(found[i]->d_name);
        }
        free(found[i]);
    }
    free(found);
    return used;
}

/* ------------------------------------------------------------------ damage */

enum { SOUND, REMOVED, EMPTY, HALF, SHORTER, LONGER, TURNED }; /* and from TURNED on a byte, by its number */

#define TURNED_BYTES 48u

static bool is_committed(const char *name) {
    return strncmp(name, "segment-", 8) == 0 || strncmp(name, "terms-", 6) == 0;
}

/* The place of turned byte `number`: the first of the file, where headers are, and some of all the rest. */
static size_t place_of(unsigned number, size_t length) {
    if (number < TURNED_BYTES / 2) return (size_t)number * 7 % length;
    return length * (number - TURNED_BYTES / 2) / (TURNED_BYTES / 2);
}

static void damage(const char *path, unsigned how) {
    struct bytes bytes = file_read_all(path);
    const size_t length = bytes.length;
    size_t kept = length;
    if (how == EMPTY) kept = 0;
    if (how == HALF) kept = length / 2;
    if (how == SHORTER) kept = length - 1;
    if (how == LONGER) bytes.data[kept++] = 'x'; /* there is room for one */
    if (how >= TURNED) bytes.data[place_of(how - TURNED, length)] ^= 0x41;
    if (how == REMOVED)
        assert_int_equal(unlink(path), 0);
    else
        file_write_all(path, bytes.data, kept);
    free(bytes.data);
}

/* Every segment or group that was there, but for those that nobody knows of any more. */
static void expect_committed(const struct world *world, const char *damaged, unsigned how) {
    char *names[MAX_FILES];
    const size_t count = list_files(world->base, names);
    for (size_t i = 0; i < count; i++) {
        if (is_committed(names[i]) && strcmp(names[i], damaged) != 0 &&
            !(how == REMOVED && strncmp(damaged, "manifest-", 9) == 0)) {
            char *before = path_in(world->base, names[i]);
            char *after = path_in(world->work, names[i]);
            struct bytes old = file_read_all(before);
            struct bytes new = file_read_all(after);
            assert_int_equal(old.length, new.length);
            assert_memory_equal(old.data, new.data, old.length);
            free(old.data);
            free(new.data);
            free(before);
            free(after);
        }
        free(names[i]);
    }
}

static bool one_write(struct world *world, writing *write, const char *name, unsigned how) {
    nigh_error error = {.status = NIGH_OK};
    remove_tree(world->work);
    copy_tree(world->base, world->work);
    char *path = path_in(world->work, name);
    damage(path, how);
    free(path);
    char *before = tree_digest(world->work);
    const nigh_status status = write(world, &error);
    char *after = tree_digest(world->work);
    if (status != NIGH_OK && strcmp(before, after) != 0)
        print_error("%s, damage %u: %s\nbefore:\n%s\nafter:\n%s\n", name, how, error_text(&error), before, after);
    if (status != NIGH_OK) assert_string_equal(after, before);
    if (status == NIGH_OK) expect_committed(world, name, how);
    free(before);
    free(after);
    return status != NIGH_OK;
}

static void every_damage(struct world *world, writing *const *writers, size_t writer_count) {
    char *names[MAX_FILES];
    unsigned refused = 0;
    unsigned taken = 0;
    const size_t count = list_files(world->base, names);
    for (size_t i = 0; i < count; i++)
        for (unsigned how = 0; how < TURNED + TURNED_BYTES; how++)
            for (size_t w = 0; w < writer_count; w++)
                ++*(one_write(world, writers[w], names[i], how) ? &refused : &taken);
    for (size_t i = 0; i < count; i++) free(names[i]);
    print_message("%u writes refused, %u taken\n", refused, taken);
    assert_true(refused > 0);
}

/* ------------------------------------------------------------------- tests */

static nigh_status add_first(struct world *world, nigh_error *error) {
    return recipe_add(world->context, world->work, &recipe, 0, 30, error);
}

static nigh_status add_second(struct world *world, nigh_error *error) {
    return recipe_add(world->context, world->work, &recipe, 30, 20, error);
}

static void test_collections(void **state) {
    static writing *const steps[] = {add_first, add_second, build_lists, build_graph, store_tuning};
    static writing *const writers[] = {add_documents, add_again,    build_lists,  remove_lists,
                                       build_graph,   remove_graph, store_tuning, remove_tuning};
    struct world *world = *state;
    make_base(world, steps, sizeof steps / sizeof steps[0]);
    every_damage(world, writers, sizeof writers / sizeof writers[0]);
}

static nigh_status terms_first(struct world *world, nigh_error *error) {
    return terms_add_lines(world->context, world->work, world->input, "a few words\nof the first lines\n", NULL, NULL,
                           error);
}

static nigh_status terms_second(struct world *world, nigh_error *error) {
    return terms_add_lines(world->context, world->work, world->input, "and some\nmore words of others\n", NULL, NULL,
                           error);
}

static void test_terms(void **state) {
    static writing *const steps[] = {terms_first, terms_second};
    static writing *const writers[] = {add_terms, add_other_terms, add_terms_stopped};
    struct world *world = *state;
    make_base(world, steps, 2);
    every_damage(world, writers, 3);
}

static nigh_status make_folder(struct world *world, nigh_error *error) {
    (void)error;
    const nigh_file_system *files = nigh_file_system_posix();
    assert_int_equal(files->make_directory(files->user, world->work), 0);
    return NIGH_OK;
}

static void test_chunks(void **state) {
    static writing *const steps[] = {make_folder, append_chunk, append_chunk};
    static writing *const writers[] = {append_chunk};
    struct world *world = *state;
    make_base(world, steps, 3);
    every_damage(world, writers, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_collections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_terms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chunks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
