/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Collections written and read back, the rules of writing, and snapshots. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/context.h"
#include "collection/collection.h"
#include "collection/scheme.h"
#include "support/support.h"

struct fixture {
    nigh_context *context;
    char *scratch;
    char *path; /* of a collection that is not there yet */
};

static int set_up(void **state) {
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->context = context_new();
    fixture->scratch = scratch_new();
    fixture->path = path_in(fixture->scratch, "c.nigh");
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    nigh_context_free(fixture->context);
    free(fixture->path);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

static void round_trips(void **state) {
    struct fixture *f = *state;
    const uint32_t widths[] = {8, 16, 64, 72, 128, 1000, 1024, 4096, 65536};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (unsigned variant = 0; variant < 8; variant++) {
            struct recipe recipe = {.width_bits = widths[w],
                                    .seed = w,
                                    .distinct = (variant & 4) != 0 ? 7 : 0,
                                    .ids = (variant & 1) != 0,
                                    .metadata = (variant & 2) != 0};
            uint64_t count = widths[w] > 5000 ? 20 : 150;
            if (widths[w] == 8 && recipe.distinct == 0) count = 100;
            nigh_error error;
            assert_ok(recipe_add(f->context, f->path, &recipe, 0, count, &error), &error);
            recipe_expect(f->context, f->path, &recipe, count);
            remove_tree(f->path);
        }
    }
}

static void many_commits(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .seed = 5, .distinct = 40, .ids = true, .metadata = true};
    uint64_t total = 0;
    for (uint64_t i = 1; i <= 12; i++) {
        nigh_error error;
        assert_ok(recipe_add(f->context, f->path, &recipe, total, i * 3, &error), &error);
        total += i * 3;
        recipe_expect(f->context, f->path, &recipe, total);
    }
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.segments, 12);
    assert_int_equal(info.sequence, 12);
    assert_true(info.signatures < info.documents);
    assert_true(info.has_ids);
    assert_true(info.has_metadata);
    assert_string_equal(nigh_collection_scheme(collection), "bits=64\nkind=signatures\n");
    nigh_segment_info segment = {.size = sizeof segment};
    assert_ok(nigh_collection_segment(collection, 11, &segment, &error), &error);
    assert_int_equal(segment.documents, 36);
    assert_int_equal(nigh_collection_segment(collection, 12, &segment, &error), NIGH_EINVAL);
    nigh_collection_close(collection);
}

/* The newest manifest and its spare stay; older ones go. */
static void old_manifests_go(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64};
    nigh_error error;
    for (uint64_t i = 0; i < 5; i++) assert_ok(recipe_add(f->context, f->path, &recipe, i, 1, &error), &error);
    for (int sequence = 1; sequence <= 5; sequence++) {
        char name[64];
        (void)snprintf(name, sizeof name, "manifest-%020d", sequence);
        char *manifest = path_in(f->path, name);
        assert_int_equal(path_exists(manifest), sequence >= 4);
        free(manifest);
    }
}

static void same_documents_same_bytes(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 256, .seed = 9, .distinct = 300, .ids = true, .metadata = true};
    char *other = path_in(f->scratch, "d.nigh");
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 1000, &error), &error);
    assert_ok(recipe_add(f->context, other, &recipe, 0, 1000, &error), &error);
    char *a = tree_digest(f->path);
    char *b = tree_digest(other);
    assert_string_equal(a, b);
    free(a);
    free(b);
    free(other);
}

/* Rows longer than the buffer's remainder, rows found again in the file and in the buffer, many of each. */
static void repeats_far_apart(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 8008, .seed = 3, .distinct = 1500, .ids = true};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 4000, &error), &error);
    recipe_expect(f->context, f->path, &recipe, 4000);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_true(info.signatures <= 1500);
    assert_true(info.signatures > 1300);
    nigh_collection_close(collection);
}

static void empty_collections_work(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .ids = true};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 0, &error), &error);
    recipe_expect(f->context, f->path, &recipe, 0);
    assert_ok(read_everything(f->context, f->path, &error), &error);
    char *before = tree_digest(f->path);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 0, &error), &error); /* adding nothing changes nothing */
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 5, &error), &error);
    recipe_expect(f->context, f->path, &recipe, 5);
}

static nigh_writer *open_writer(struct fixture *f, uint32_t width_bits) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = width_bits;
    nigh_writer *writer;
    nigh_error error;
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    return writer;
}

static nigh_status add(nigh_writer *writer, const char *id, uint8_t byte, nigh_error *error) {
    uint8_t signature[8] = {byte};
    nigh_document document = {
        .size = sizeof(nigh_document), .signature = signature, .id = id, .id_length = id == NULL ? 0 : strlen(id)};
    return nigh_writer_add(writer, &document, error);
}

static void ids_are_unique(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    nigh_writer *writer = open_writer(f, 64);
    assert_ok(add(writer, "a", 1, &error), &error);
    assert_ok(add(writer, "b", 1, &error), &error);
    assert_int_equal(add(writer, "a", 2, &error), NIGH_EEXISTS);
    assert_string_equal(error_text(&error), "a document 'a' was added before, with another signature");
    assert_int_equal(error.reason, NIGH_REASON_OTHER_DOCUMENT);
    assert_int_equal(add(writer, "a", 1, &error), NIGH_EEXISTS);
    assert_string_equal(error_text(&error), "a document 'a' was added before");
    assert_int_equal(error.reason, NIGH_REASON_NONE);
    assert_int_equal(add(writer, "", 2, &error), NIGH_EINVAL);
    assert_int_equal(add(writer, NULL, 2, &error), NIGH_EMISMATCH);
    assert_ok(add(writer, "c", 3, &error), &error); /* it goes on as if nothing had been */
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    assert_int_equal(add(writer, "d", 3, &error), NIGH_EINVAL);
    nigh_writer_close(writer);

    writer = open_writer(f, 64);
    assert_int_equal(add(writer, "b", 9, &error), NIGH_EEXISTS);
    assert_non_null(strstr(error_text(&error), "a document 'b' already exists"));
    assert_int_equal(add(writer, NULL, 9, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "its documents have ids; these have none"));
    nigh_writer_close(writer);

    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, 3);
    assert_int_equal(info.signatures, 2);
    uint64_t found;
    assert_int_equal(nigh_collection_find(collection, "zz", 2, &found, &error), NIGH_ENOTFOUND);
    assert_non_null(strstr(error_text(&error), "no document 'zz'"));
    char buffer[2];
    size_t length;
    assert_int_equal(nigh_collection_id(collection, 3, buffer, 2, &length, &error), NIGH_EINVAL);
    assert_string_equal(error_text(&error), "no document 3; the collection has 3");
    nigh_collection_close(collection);
}

static void numbers_as_ids(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 12, &error), &error);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    uint64_t found;
    assert_int_equal(nigh_collection_find(collection, "11", 2, &found, &error), NIGH_OK);
    assert_int_equal(found, 11);
    const char *const not_there[] = {"12", "01", "-1", "1x", "", "99999999999999999999", "184467440737095516160"};
    for (size_t i = 0; i < sizeof not_there / sizeof not_there[0]; i++)
        assert_int_equal(nigh_collection_find(collection, not_there[i], strlen(not_there[i]), &found, &error),
                         NIGH_ENOTFOUND);
    nigh_collection_close(collection);
    nigh_writer *writer = open_writer(f, 64);
    assert_int_equal(add(writer, "name", 1, &error), NIGH_EMISMATCH);
    nigh_writer_close(writer);
}

static void refusals_change_nothing(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .ids = true};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 3, &error), &error);
    char *before = tree_digest(f->path);
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    nigh_writer *writer;
    options.width_bits = 128;
    assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error_text(&error), "the collection has 64 bits, these signatures 128"));
    options.width_bits = 64;
    options.scheme = "kind=simhash\n";
    assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EMISMATCH);
    options.scheme = "no equals sign\n";
    assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EINVAL);
    const uint32_t widths[] = {65537, 65544}; /* 0 is for deleting */
    options.scheme = NULL;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        options.width_bits = widths[i];
        assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EINVAL);
    }
    writer = open_writer(f, 64);
    assert_ok(add(writer, "half-way", 1, &error), &error);
    nigh_writer_close(writer);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);

    remove_tree(f->path);
    writer = open_writer(f, 64); /* a new collection that is not committed was never there */
    assert_ok(add(writer, "x", 1, &error), &error);
    nigh_writer_close(writer);
    assert_false(path_exists(f->path));
}

static void what_is_no_collection(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    nigh_collection *collection;
    nigh_writer *writer;
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_ENOTFOUND);
    assert_non_null(strstr(error_text(&error), "cannot open: No such file or directory"));

    file_write_all(f->path, "hello", 5);
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_EFORMAT);
    assert_non_null(strstr(error_text(&error), "not a nigh collection: a collection is a directory"));
    assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EFORMAT);
    assert_true(path_exists(f->path));
    remove_tree(f->path);

    assert_int_equal(mkdir(f->path, 0777), 0);
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_ENOTFOUND);
    assert_non_null(strstr(error_text(&error), "nothing was ever committed to this collection"));
    char *stranger = path_in(f->path, "thesis.txt");
    file_write_all(stranger, "my life's work", 14);
    assert_int_equal(nigh_collection_open(f->context, f->path, NULL, &collection, &error), NIGH_EFORMAT);
    assert_int_equal(nigh_writer_open(f->context, f->path, &options, &writer, &error), NIGH_EFORMAT);
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_EFORMAT);
    assert_true(path_exists(stranger));
    free(stranger);
}

static void one_writer_at_a_time(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    nigh_writer *first = open_writer(f, 64);
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    nigh_writer *second;
    assert_int_equal(nigh_writer_open(f->context, f->path, &options, &second, &error), NIGH_EBUSY);
    assert_non_null(strstr(error_text(&error), "another process is writing to it"));
    assert_ok(add(first, "x", 1, &error), &error);
    assert_ok(nigh_writer_commit(first, NULL, &error), &error);
    nigh_writer_close(first);
    second = open_writer(f, 64);
    nigh_writer_close(second);
}

/* A child that dies holding the lock does not keep it. */
static void the_lock_dies_with_its_process(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .ids = true};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 3, &error), &error);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        nigh_writer *writer = open_writer(f, 64);
        (void)add(writer, "lost", 1, &error);
        _exit(0); /* without closing: files stay behind */
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    nigh_check_result result = {.size = sizeof result};
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 2);
    recipe_expect(f->context, f->path, &recipe, 3);
    assert_ok(recipe_add(f->context, f->path, &recipe, 3, 2, &error), &error);
    recipe_expect(f->context, f->path, &recipe, 5);
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.leftovers, 0);
}

static void readers_keep_their_snapshot(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 64, .ids = true};
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 3, &error), &error);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, 3, 3, &error), &error);
    nigh_collection_info info = {.size = sizeof info};
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, 3);
    remove_tree(f->path); /* deleted under the reader */
    char id[RECIPE_MAX_TEXT];
    char wanted[RECIPE_MAX_TEXT];
    size_t length;
    assert_ok(nigh_collection_id(collection, 2, id, sizeof id, &length, &error), &error);
    (void)recipe_id(&recipe, 2, wanted);
    assert_string_equal(id, wanted);
    uint8_t query[8] = {0};
    nigh_results *results;
    assert_ok(nigh_search(collection, query, 1, NULL, &results, &error), &error);
    size_t count;
    assert_non_null(nigh_results_matches(results, 0, &count));
    assert_int_equal(count, 3);
    nigh_results_free(results);
    nigh_collection_close(collection);
}

static void a_file_cut_short_while_mapped(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {.width_bits = 1024, .ids = true, .metadata = true};
    nigh_error error;
    assert_ok(nigh_fault_guard_install(&error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 2000, &error), &error);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    char *segment = file_named_like(f->path, "segment-");
    assert_int_equal(truncate(segment, 8192), 0);
    uint8_t query[128] = {0};
    nigh_results *results = NULL;
    assert_int_equal(nigh_search(collection, query, 1, NULL, &results, &error), NIGH_EIO);
    assert_non_null(strstr(error_text(&error), "the file was cut short"));
    assert_null(results);
    size_t length;
    char id[RECIPE_MAX_TEXT];
    assert_int_equal(nigh_collection_id(collection, 1999, id, sizeof id, &length, &error), NIGH_EIO);
    nigh_collection_close(collection);
    free(segment);
}

/* The longest any file was: to the reader nothing was ever cut. */
static int stale_length(void *user, nigh_file file, uint64_t *out) {
    uint64_t *longest = user;
    int failed = nigh_file_system_posix()->length(NULL, file, out);
    if (failed == 0 && *out > *longest) *longest = *out;
    *out = *longest;
    return failed;
}

/* The cut comes after the length was asked for: the read itself faults, on whatever thread. */
static void a_read_that_faults(void **state) {
    struct fixture *f = *state;
    struct recipe recipe = {
        .width_bits = 1024, .ids = true, .metadata = true, .weights = true, .vocabulary = "words and how often"};
    nigh_error error;
    assert_ok(nigh_fault_guard_install(&error), &error);
    assert_ok(recipe_add(f->context, f->path, &recipe, 0, 5000, &error), &error);
    uint64_t longest = 0;
    nigh_file_system table = *nigh_file_system_posix();
    table.user = &longest;
    table.length = stale_length;
    nigh_context *context = context_with(&table, NULL, NULL);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(context, f->path, NULL, &collection, &error), &error);
    char *segment = file_named_like(f->path, "segment-");
    assert_int_equal(truncate(segment, 8192), 0);

    uint8_t query[128] = {0};
    nigh_search_options options;
    nigh_search_options_init(&options);
    nigh_results *results = NULL;
    for (options.threads = 1; options.threads <= 3; options.threads++) {
        assert_int_equal(nigh_search(collection, query, 1, &options, &results, &error), NIGH_EIO);
        assert_non_null(strstr(error_text(&error), "the file was cut short or could not be read while in use"));
        assert_null(results);
    }
    char id[RECIPE_MAX_TEXT];
    size_t length;
    uint64_t found;
    assert_int_equal(nigh_collection_id(collection, 4999, id, sizeof id, &length, &error), NIGH_EIO);
    assert_int_equal(nigh_collection_find(collection, "x", 1, &found, &error), NIGH_EIO);
    assert_int_equal(nigh_collection_metadata(collection, 4999, id, sizeof id, &length, &error), NIGH_EIO);
    assert_int_equal(nigh_collection_signature(collection, 4999, query, &error), NIGH_EIO);
    uint8_t weights[1024];
    assert_int_equal(nigh_collection_weights(collection, 4999, weights, &error), NIGH_EIO);
    const struct nigh__segment *keeper = collection->segments[0];
    uint8_t *bytes;
    assert_int_equal(nigh__segment_attachment(keeper, NIGH__ATTACHMENT_VOCABULARY, &bytes, &length, &error), NIGH_EIO);
    assert_null(bytes);
    const nigh_attachment kept = {.bytes = recipe.vocabulary, .length = strlen(recipe.vocabulary)};
    assert_int_equal(nigh__segment_keeps(keeper, NIGH__ATTACHMENT_VOCABULARY, &kept, &error), NIGH_EIO);
    nigh_collection_close(collection);
    nigh_context_free(context);
    free(segment);
}

struct cancel {
    int calls;
};

static int cancel_now(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    ((struct cancel *)user)->calls++;
    return 1;
}

static void commits_can_be_cancelled(void **state) {
    struct fixture *f = *state;
    struct cancel cancel = {0};
    nigh_progress progress = {.report = cancel_now, .user = &cancel};
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    options.progress = &progress;
    nigh_writer *writer;
    nigh_error error;
    assert_ok(nigh_writer_open(f->context, f->path, &options, &writer, &error), &error);
    assert_ok(add(writer, "x", 1, &error), &error);
    assert_int_equal(nigh_writer_commit(writer, NULL, &error), NIGH_ECANCELLED);
    nigh_writer_close(writer);
    assert_int_equal(cancel.calls, 1);
    assert_false(path_exists(f->path));
}

static void schemes_are_canonical(void **state) {
    struct fixture *f = *state;
    char *text;
    nigh_error error;
    assert_ok(nigh__scheme_make(f->context, 64, "seed=7\nab=x\na=y\n", &text, &error), &error);
    assert_string_equal(text, "a=y\nab=x\nbits=64\nseed=7\n");
    f->context->allocator.release(NULL, text);
    const char *const bad[] = {"bits=64\n", "a=1\na=2\n", "a=1", "=1\n", "A=1\n", "a\n", "a=\x01\n", "\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(nigh__scheme_make(f->context, 64, bad[i], &text, &error), NIGH_EINVAL);
}

static void metadata_and_ids_are_cut_to_the_buffer(void **state) {
    struct fixture *f = *state;
    nigh_error error;
    nigh_writer *writer = open_writer(f, 64);
    uint8_t signature[8] = {1};
    nigh_document document = {.size = sizeof(nigh_document),
                              .signature = signature,
                              .id = "abcdef",
                              .id_length = 6,
                              .metadata = "0123456789",
                              .metadata_length = 10};
    assert_ok(nigh_writer_add(writer, &document, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    nigh_collection *collection;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    char buffer[5] = "....";
    size_t length;
    assert_ok(nigh_collection_id(collection, 0, buffer, 4, &length, &error), &error);
    assert_int_equal(length, 6);
    assert_string_equal(buffer, "abc");
    assert_ok(nigh_collection_metadata(collection, 0, buffer, 2, &length, &error), &error);
    assert_int_equal(length, 10);
    assert_memory_equal(buffer, "01c", 3);
    assert_ok(nigh_collection_id(collection, 0, NULL, 0, &length, &error), &error);
    assert_ok(nigh_collection_metadata(collection, 0, NULL, 0, &length, &error), &error);
    nigh_collection_close(collection);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(round_trips),
        WITH_FIXTURE(many_commits),
        WITH_FIXTURE(old_manifests_go),
        WITH_FIXTURE(same_documents_same_bytes),
        WITH_FIXTURE(repeats_far_apart),
        WITH_FIXTURE(empty_collections_work),
        WITH_FIXTURE(ids_are_unique),
        WITH_FIXTURE(numbers_as_ids),
        WITH_FIXTURE(refusals_change_nothing),
        WITH_FIXTURE(what_is_no_collection),
        WITH_FIXTURE(one_writer_at_a_time),
        WITH_FIXTURE(the_lock_dies_with_its_process),
        WITH_FIXTURE(readers_keep_their_snapshot),
        WITH_FIXTURE(a_file_cut_short_while_mapped),
        WITH_FIXTURE(a_read_that_faults),
        WITH_FIXTURE(commits_can_be_cancelled),
        WITH_FIXTURE(schemes_are_canonical),
        WITH_FIXTURE(metadata_and_ids_are_cut_to_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
