/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What other processes, lost files and odd ones can do to a collection, each once seen to do harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/forge.h"
#include "support/support.h"

static const struct recipe recipe = {.width_bits = 72, .seed = 6, .ids = true};

struct fixture {
    nigh_context *context;
    char *scratch;
    char *path;
    char *aside;
};

static int set_up(void **state) {
    struct fixture *f = malloc(sizeof *f);
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "c.nigh");
    f->aside = path_in(f->scratch, "aside");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->context);
    free(f->path);
    free(f->aside);
    scratch_free(f->scratch);
    free(f);
    return 0;
}

static void add_documents(struct fixture *f, uint64_t first, uint64_t count) {
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, first, count, &error), &error);
}

static nigh_writer *writer_with_one(struct fixture *f) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = recipe.width_bits;
    nigh_writer *writer;
    nigh_error error;
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    uint8_t signature[9] = {1};
    nigh_document document = {.size = sizeof(nigh_document), .signature = signature, .id = "stray", .id_length = 5};
    assert_ok(nigh_writer_add(writer, &document, &error), &error);
    return writer;
}

/* The directory is replaced under a writer: neither its commit nor its cleaning up may touch the new one. */
static void a_replaced_directory(void **state) {
    struct fixture *f = *state;
    for (int commit = 0; commit < 2; commit++) {
        for (int removed = 0; removed < 2; removed++) {
            nigh_writer *stray = writer_with_one(f);
            if (removed)
                remove_tree(f->path);
            else
                assert_int_equal(rename(f->path, f->aside), 0);
            add_documents(f, 0, 5);
            nigh_error error;
            nigh_status status = commit ? nigh_writer_commit(stray, NULL, &error) : NIGH_OK;
            if (commit && removed) assert_int_not_equal(status, NIGH_OK); /* there is no place left to write to */
            nigh_writer_close(stray);
            recipe_expect(f->context, f->path, &recipe, 5);
            remove_tree(f->path);
            remove_tree(f->aside);
        }
    }
}

/* Manifests are lost or not restored yet: segments that may be all there is stay. */
static void lost_manifests(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 5);
    add_documents(f, 5, 5);
    char *first = path_in(f->path, "segment-00000000000000000001");
    char *second = path_in(f->path, "segment-00000000000000000002");
    for (int sequence = 1; sequence <= 2; sequence++) {
        char *manifest = NULL;
        assert_true(asprintf(&manifest, "%s/manifest-%020d", f->path, sequence) > 0);
        assert_int_equal(remove(manifest), 0);
        free(manifest);
    }
    nigh_error error;
    nigh_collection *collection;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_ENOTFOUND);
    assert_non_null(strstr(error_text(&error), "no manifest: nothing was ever committed, or it is lost"));
    add_documents(f, 0, 3);
    add_documents(f, 3, 3);
    recipe_expect(f->context, f->path, &recipe, 6);
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.unlisted, 2);
    assert_int_equal(result.leftovers, 0);
    assert_true(path_exists(first));
    assert_true(path_exists(second));
    free(first);
    free(second);
}

/* Gives the manifest another sequence number, inside and in its name. */
static void renumber(struct fixture *f, uint64_t from, const char *digits, uint64_t to) {
    char *old = NULL;
    char *new = NULL;
    assert_true(asprintf(&old, "%s/manifest-%020d", f->path, (int)from) > 0);
    assert_true(asprintf(&new, "%s/manifest-%s", f->path, digits) > 0);
    struct bytes bytes = file_read_all(old);
    memcpy(bytes.data + offsetof(struct nigh__manifest_header, sequence), &to, sizeof to);
    forge_manifest(bytes.data, bytes.length);
    file_write_all(new, bytes.data, bytes.length);
    free(bytes.data);
    free(old);
    free(new);
}

static void sequences_end(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 5);
    renumber(f, 1, "18446744073709551615", UINT64_MAX);
    nigh_error error;
    char *before = tree_digest(f->path);
    assert_int_equal(recipe_add(f->context, f->path, &recipe, 5, 1, &error), NIGH_ELIMIT);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* A place that was there before we came is a new entry of its parent all the same. */
static void the_parent_is_synced(void **state) {
    struct fixture *f = *state;
    uint64_t syncs[2];
    for (int made = 0; made < 2; made++) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_SYNC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        nigh_error error;
        if (made) assert_int_equal(mkdir(f->path, 0777), 0);
        assert_ok(recipe_add(context, f->path, &recipe, 0, 1, &error), &error);
        syncs[made] = files.calls;
        nigh_context_free(context);
        remove_tree(f->path);
    }
    assert_int_equal(syncs[0], 5); /* segment, directory, parent, manifest, directory */
    assert_int_equal(syncs[1], 5);
}

struct intruder {
    struct fixture *fixture;
    uint64_t documents;
    uint64_t until;
    bool busy;
};

/* Someone commits twice just as we open the first manifest, so that it is gone. */
static int open_with_intruder(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    struct intruder *intruder = user;
    if (!intruder->busy && intruder->documents < intruder->until && strncmp(name, "manifest-", 9) == 0) {
        intruder->busy = true;
        for (int i = 0; i < 2; i++) add_documents(intruder->fixture, intruder->documents++, 1);
        intruder->busy = false;
    }
    return nigh_file_system_posix()->open(NULL, directory, name, mode, out);
}

static void readers_and_check_follow_commits(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 5);
    struct intruder intruder = {.fixture = f, .documents = 5, .until = 11};
    nigh_file_system table = *nigh_file_system_posix();
    table.user = &intruder;
    table.open = open_with_intruder;
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_error error;
    assert_ok(nigh_collection_check(context, f->path, NULL, NULL, &error), &error);
    intruder.until = 17;
    nigh_collection *collection;
    assert_int_equal(nigh_collection_open(context, f->path, NULL, &collection, &error), NIGH_OK);
    nigh_collection_close(collection);
    nigh_context_free(context);
}

/* Sets one byte of the only segment's section `type`, with every checksum as it was. */
static void set_byte(struct fixture *f, enum nigh__section_type type, uint64_t at, uint8_t value) {
    char *path = file_named_like(f->path, "segment-");
    struct bytes bytes = file_read_all(path);
    struct nigh__section_entry entry = {.type = 0};
    for (const uint8_t *from = bytes.data + 64; entry.type != type; from += sizeof entry)
        memcpy(&entry, from, sizeof entry);
    bytes.data[entry.offset + at] = value;
    file_write_all(path, bytes.data, bytes.length);
    free(bytes.data);
    free(path);
}

static void ids_are_checked_when_read(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 5);
    const uint8_t bad[] = {'\n', '\t', '\0'};
    for (size_t i = 0; i < sizeof bad; i++) {
        set_byte(f, NIGH__SECTION_ID_BYTES, 0, bad[i]);
        nigh_collection *collection;
        nigh_error error;
        char id[RECIPE_MAX_TEXT];
        size_t length;
        assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
        assert_int_equal(nigh_collection_id(collection, 0, id, sizeof id, &length, &error), NIGH_ECORRUPT);
        assert_non_null(strstr(error_text(&error), "an id is malformed or misplaced"));
        nigh_collection_close(collection);
    }
}

static void bits_past_the_width_are_no_distance(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 1);
    for (uint64_t i = 9; i < 16; i++) set_byte(f, NIGH__SECTION_SIGNATURES, i, 0xff);
    nigh_collection *collection;
    nigh_error error;
    uint8_t query[9];
    recipe_signature(&recipe, 0, query);
    for (size_t i = 0; i < sizeof query; i++) query[i] = (uint8_t)~query[i];
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_results *results;
    assert_int_equal(nigh_search(collection, query, 1, NULL, &results, &error), NIGH_ECORRUPT);
    assert_non_null(strstr(error_text(&error), "bits past the width are set"));
    nigh_collection_close(collection);
}

/* A pipe under one of our names: nobody waits for its other end. */
static void pipes_are_refused(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 5);
    char *manifest = path_in(f->path, "manifest-00000000000000000002");
    assert_int_equal(mkfifo(manifest, 0600), 0);
    nigh_error error;
    nigh_collection *collection;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_EIO);
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_EIO);
    assert_int_equal(error.system_errno, ENOTSUP);
    assert_int_equal(remove(manifest), 0);
    free(manifest);
}

/* More segments than a process may have files. */
static void many_segments(void **state) {
    struct fixture *f = *state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit few = {.rlim_cur = 32, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (uint64_t i = 0; i < 100; i++) add_documents(f, i, 1);
    recipe_expect(f->context, f->path, &recipe, 100);
    nigh_error error;
    assert_ok(read_everything(f->context, f->path, &error), &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* More than the system maps: the commit that would make it unopenable is refused, and the rest is as it was. */
static void segments_that_cannot_be_mapped(void **state) {
    struct fixture *f = *state;
    for (uint64_t i = 0; i < 3; i++) add_documents(f, i, 1);
    char *before = tree_digest(f->path);
    struct faulty_files files;
    faulty_files_init(&files);
    files.kinds = FAULT_MAP;
    files.fail_at = 3;
    files.error = ENOMEM;
    files.sticky = true;
    nigh_context *context = context_with(&files.table, NULL, NULL);
    nigh_error error;
    assert_int_equal(recipe_add(context, f->path, &recipe, 3, 1, &error), NIGH_ELIMIT);
    assert_non_null(strstr(error_text(&error), "it has 3 segments"));
    assert_non_null(strstr(error_text(&error), "nothing was added"));
    nigh_context_free(context);
    char *after = tree_digest(f->path);
    assert_string_equal(after, before);
    add_documents(f, 3, 1); /* where more are mapped, life goes on */
    recipe_expect(f->context, f->path, &recipe, 4);
    free(before);
    free(after);
}

/* Gives a collection of one segment, which needs no ids, that segment `count` times. */
static void multiply_segment(const char *path, uint32_t count) {
    char *only = path_in(path, "segment-00000000000000000001");
    char *manifest_path = path_in(path, "manifest-00000000000000000001");
    struct bytes manifest = file_read_all(manifest_path);
    struct nigh__manifest_header header;
    struct nigh__manifest_entry entry;
    memcpy(&header, manifest.data, sizeof header);
    memcpy(&entry, manifest.data + sizeof header, sizeof entry);
    header.segment_count = count;
    header.next_segment = count + 1;
    header.documents = count * entry.documents;
    const size_t length = sizeof header + count * sizeof entry;
    uint8_t *bytes = malloc(length);
    memcpy(bytes, &header, sizeof header);
    for (uint32_t i = 0; i < count; i++) {
        char name[64];
        entry.number = i + 1;
        memcpy(bytes + sizeof header + i * sizeof entry, &entry, sizeof entry);
        (void)snprintf(name, sizeof name, "segment-%020u", i + 1);
        char *same = path_in(path, name);
        if (i > 0) assert_int_equal(link(only, same), 0);
        free(same);
    }
    forge_manifest(bytes, length);
    file_write_all(manifest_path, bytes, length);
    free(bytes);
    free(manifest.data);
    free(manifest_path);
    free(only);
}

/* As many as are written at most: one more would be 65,530 maps and more with the files beside them. */
static void too_many_segments(void **state) {
    struct fixture *f = *state;
    const struct recipe numbered = {.width_bits = 64, .seed = 3, .apart = true};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &numbered, 0, 1, &error), &error);
    multiply_segment(f->path, NIGH__MAX_NEW_SEGMENTS - 1);
    assert_ok(recipe_add(f->context, f->path, &numbered, 1, 1, &error), &error);
    char *newest = path_in(f->path, "manifest-00000000000000000003");
    assert_int_equal(recipe_add(f->context, f->path, &numbered, 2, 1, &error), NIGH_ELIMIT);
    assert_non_null(strstr(error_text(&error), "it has 16000 segments"));
    assert_false(path_exists(newest));
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_collection_close(collection);
    free(newest);
}

/* nigh.h: the error is written only on failure. */
static void success_leaves_the_error_alone(void **state) {
    struct fixture *f = *state;
    add_documents(f, 0, 5);
    nigh_error error = {.status = NIGH_OK, .why = "untouched"};
    nigh_error twin = error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 5, 5, &error), &error);
    assert_memory_equal(&error, &twin, sizeof error);
    nigh_writer *writer = writer_with_one(f);
    nigh_document nothing = {.size = sizeof(nigh_document), .id = "x", .id_length = 1};
    assert_int_equal(nigh_writer_add(writer, &nothing, &error), NIGH_EINVAL);
    assert_string_equal(error_text(&error), "a document without a signature");
    nigh_writer_close(writer);
}

static int lock_nothing(void *user, nigh_file file) {
    (void)user;
    (void)file;
    return 0;
}

/* On a file system whose locks do nothing, one of two writers is refused, and what the other committed is whole. */
static void test_locks_that_lie(void **state) {
    struct fixture *f = *state;
    nigh_file_system files = *nigh_file_system_posix();
    nigh_error error;
    files.lock = lock_nothing;
    nigh_context_free(f->context);
    f->context = context_with(&files, NULL, NULL);
    for (int first = 0; first < 2; first++) {
        nigh_writer *writers[2] = {writer_with_one(f), writer_with_one(f)};
        unsigned committed = 0;
        for (int i = 0; i < 2; i++)
            if (nigh_writer_commit(writers[first ^ i], NULL, &error) == NIGH_OK)
                committed++;
            else
                assert_int_equal(error.status, NIGH_EBUSY);
        assert_true(committed <= 1);
        nigh_writer_close(writers[0]);
        nigh_writer_close(writers[1]);
        if (committed == 1) assert_ok(read_everything(f->context, f->path, &error), &error);
        remove_tree(f->path);
    }
    nigh_context_free(f->context);
    f->context = context_new();
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_locks_that_lie),
        WITH_FIXTURE(a_replaced_directory),
        WITH_FIXTURE(lost_manifests),
        WITH_FIXTURE(sequences_end),
        WITH_FIXTURE(the_parent_is_synced),
        WITH_FIXTURE(readers_and_check_follow_commits),
        WITH_FIXTURE(ids_are_checked_when_read),
        WITH_FIXTURE(bits_past_the_width_are_no_distance),
        WITH_FIXTURE(pipes_are_refused),
        WITH_FIXTURE(many_segments),
        WITH_FIXTURE(segments_that_cannot_be_mapped),
        WITH_FIXTURE(too_many_segments),
        WITH_FIXTURE(success_leaves_the_error_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
