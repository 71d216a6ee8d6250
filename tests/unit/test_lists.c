/* SPDX-License-Identifier: Apache-2.0 */
/* Slice lists of a collection: given, kept, made anew, refused, removed, and never in the way of its documents. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "collection/collection.h"
#include "collection/sidecar.h"
#include "slices/slices.h"
#include "support/forge.h"
#include "support/sidecar_support.h"
#include "support/support.h"

#define SECOND "slices-00000000000000000002"

static int set_up(void **state) {
    *state = with_sidecar_new("slices", 30);
    return 0;
}

static int tear_down(void **state) {
    with_sidecar_free(*state);
    return 0;
}

static nigh_lists_result build(struct with_sidecar *f, uint32_t slice_width, uint64_t min_rows, int rebuild) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_lists_result result = {.size = sizeof result};
    nigh_error error;
    options.slice_width = slice_width;
    options.min_rows = min_rows;
    options.rebuild = rebuild;
    options.threads = 1;
    assert_ok(nigh_lists_build(f->context, f->path, &options, &result, &error), &error);
    return result;
}

/* The state on disk and every document are as ever, and a check finds nothing. */
static void expect_sound(struct with_sidecar *f) { recipe_expect(f->context, f->path, &f->recipe, 40); }

static void built_and_described(void **state) {
    struct with_sidecar *f = *state;
    nigh_segment_info segments[2];
    nigh_collection_info before = with_sidecar_describe(f, segments);
    assert_int_equal(before.sliced_segments, 0);
    assert_int_equal(segments[0].slices, 0);

    nigh_lists_result result = build(f, 7, 1, 0);
    assert_int_equal(result.built, 2);
    assert_int_equal(result.kept + result.without, 0);
    assert_int_equal(result.postings, 40 * 11);
    assert_int_equal(result.bytes, file_length(f->first) + file_length(f->second));
    nigh_collection_info info = with_sidecar_describe(f, segments);
    assert_int_equal(info.sliced_segments, 2);
    assert_int_equal(info.damaged_lists, 0);
    assert_int_equal(info.list_bytes, result.bytes);
    assert_int_equal(info.bytes, before.bytes);
    assert_int_equal(info.sequence, before.sequence);
    assert_int_equal(segments[0].slices, 11);
    assert_int_equal(segments[0].slice_width, 7);
    assert_int_equal(segments[0].list_bytes, file_length(f->first));
    assert_int_equal(segments[1].list_bytes, file_length(f->second));
    expect_sound(f);

    nigh_check_result check = {.size = sizeof check};
    nigh_error error;
    assert_ok(nigh_collection_check(f->context, f->path, NULL, &check, &error), &error);
    assert_int_equal(check.files, 6); /* two manifests, two segments, two of lists */
    nigh_open_options options;
    nigh_open_options_init(&options);
    nigh_collection *collection;
    options.verify = 1;
    assert_ok(nigh_collection_open(f->context, f->path, &options, &collection, &error), &error);
    nigh_collection_close(collection);
}

static void kept_unless_something_changed(void **state) {
    struct with_sidecar *f = *state;
    (void)build(f, 7, 1, 0);
    char *before = tree_digest(f->path);
    nigh_lists_result again = build(f, 7, 1, 0);
    assert_int_equal(again.kept, 2);
    assert_int_equal(again.built, 0);
    assert_int_equal(again.postings, 40 * 11);
    assert_int_equal(again.bytes, file_length(f->first) + file_length(f->second));
    nigh_lists_result anew = build(f, 7, 1, 1);
    assert_int_equal(anew.built, 2);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after); /* the same bytes */
    nigh_lists_result wider = build(f, 9, 1, 0);
    assert_int_equal(wider.built, 2);
    nigh_segment_info segments[2];
    (void)with_sidecar_describe(f, segments);
    assert_int_equal(segments[1].slice_width, 9);
    expect_sound(f);

    /* Only what is new needs lists. */
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &f->recipe, 40, 10, &error), &error);
    nigh_lists_result grown = build(f, 9, 1, 0);
    assert_int_equal(grown.kept, 2);
    assert_int_equal(grown.built, 1);
    recipe_expect(f->context, f->path, &f->recipe, 50);
    free(before);
    free(after);
}

static void small_segments_have_none(void **state) {
    struct with_sidecar *f = *state;
    nigh_lists_result result = build(f, 0, 4096, 0);
    assert_int_equal(result.without, 2);
    assert_int_equal(result.bytes, 0);
    assert_false(path_exists(f->first));
    (void)build(f, 6, 0, 0);
    assert_true(path_exists(f->second));
    result = build(f, 6, 30, 0);
    assert_int_equal(result.kept, 1);
    assert_int_equal(result.without, 1);
    assert_true(path_exists(f->first));
    assert_false(path_exists(f->second)); /* it loses what it had */
    expect_sound(f);
}

static void a_collection_without_documents(void **state) {
    struct with_sidecar *f = *state;
    remove_tree(f->path);
    nigh_error error;
    assert_ok(recipe_add(f->context, f->path, &f->recipe, 0, 0, &error), &error);
    nigh_lists_result result = build(f, 0, 0, 0);
    assert_int_equal(result.without, 1);
    assert_int_equal(result.built, 0);
}

static void the_same_bytes_from_any_threads(void **state) {
    struct with_sidecar *f = *state;
    char *digests[2];
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_error error;
    for (uint32_t i = 0; i < 2; i++) {
        options.threads = i == 0 ? 1 : 4;
        options.min_rows = 1;
        options.slice_width = 5;
        options.rebuild = 1;
        assert_ok(nigh_lists_build(f->context, f->path, &options, NULL, &error), &error);
        digests[i] = tree_digest(f->path);
    }
    assert_string_equal(digests[0], digests[1]);
    free(digests[0]);
    free(digests[1]);
}

static void what_is_refused(void **state) {
    struct with_sidecar *f = *state;
    const uint32_t widths[] = {1, 3, 29, NIGH_ALL};
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_error error;
    char *before = tree_digest(f->path);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        options.slice_width = widths[i];
        assert_int_equal(nigh_lists_build(f->context, f->path, &options, NULL, &error), NIGH_EINVAL);
        assert_non_null(strstr(error_text(&error), "4 to 28 are allowed"));
    }
    options.slice_width = 0;
    char *nowhere = path_in(f->scratch, "nowhere");
    assert_int_equal(nigh_lists_build(f->context, nowhere, &options, NULL, &error), NIGH_ENOTFOUND);
    assert_false(path_exists(nowhere));
    assert_int_equal(mkdir(nowhere, 0777), 0);
    assert_int_equal(nigh_lists_build(f->context, nowhere, &options, NULL, &error), NIGH_ENOTFOUND);
    assert_int_equal(nigh_lists_remove(f->context, nowhere, &error), NIGH_ENOTFOUND);
    char *stranger = path_in(nowhere, "letters.tmp");
    file_write_all(stranger, "mine", 4);
    assert_int_equal(nigh_lists_remove(f->context, nowhere, &error), NIGH_EFORMAT);
    assert_true(path_exists(stranger));
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(stranger);
    free(nowhere);
    free(before);
    free(after);
}

/* Slices wider than the signatures. */
static void narrow_signatures(void **state) {
    struct with_sidecar *f = *state;
    const struct recipe narrow = {.width_bits = 8, .seed = 1};
    nigh_error error;
    remove_tree(f->path);
    assert_ok(recipe_add(f->context, f->path, &narrow, 0, 200, &error), &error);
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.slice_width = 9;
    options.min_rows = 1;
    assert_int_equal(nigh_lists_build(f->context, f->path, &options, NULL, &error), NIGH_EINVAL);
    assert_false(path_exists(f->first));
    assert_int_equal(build(f, 8, 1, 0).built, 1);
    assert_int_equal(build(f, 4, 1, 0).built, 1);
    recipe_expect(f->context, f->path, &narrow, 200);
}

static void one_writer_at_a_time(void **state) {
    struct with_sidecar *f = *state;
    nigh_writer_options writing;
    nigh_writer_options_init(&writing);
    nigh_writer *writer;
    nigh_error error;
    writing.width_bits = f->recipe.width_bits;
    assert_ok(nigh_writer_open(f->context, f->path, &writing, &writer, &error), &error);
    assert_int_equal(nigh_lists_build(f->context, f->path, NULL, NULL, &error), NIGH_EBUSY);
    assert_int_equal(nigh_lists_remove(f->context, f->path, &error), NIGH_EBUSY);
    assert_string_equal(error.file, f->path);
    nigh_writer_close(writer);
    (void)build(f, 7, 1, 0);
}

/* Lists that cannot be used: the collection opens without, says so, and gets them back. */
static void expect_unusable(struct with_sidecar *f, const char *why) {
    nigh_error error;
    nigh_collection *collection;
    nigh_collection_info info = with_sidecar_describe(f, NULL);
    assert_int_equal(info.damaged_lists, 1);
    assert_int_equal(info.sliced_segments, 1);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    assert_null(collection->segments[0]->sidecars[NIGH__SIDECAR_SLICES]);
    assert_string_equal(collection->segments[0]->sidecar_problems[NIGH__SIDECAR_SLICES].file, f->first);
    nigh_collection_close(collection);
    assert_ok(read_everything(f->context, f->path, &error), &error);

    nigh_open_options options;
    nigh_open_options_init(&options);
    options.verify = 1;
    assert_int_not_equal(nigh_collection_open(f->context, f->path, &options, &collection, &error), NIGH_OK);
    assert_non_null(strstr(error_text(&error), why));
    nigh_check_result result = {.size = sizeof result};
    assert_int_not_equal(nigh_collection_check(f->context, f->path, NULL, &result, &error), NIGH_OK);
    assert_int_equal(result.problems, 1);
    assert_non_null(strstr(error_text(&error), why));
    assert_non_null(strstr(error_text(&error), f->first));

    nigh_lists_result built = build(f, 7, 1, 0);
    assert_int_equal(built.built, 1);
    assert_int_equal(built.kept, 1);
    expect_sound(f);
    assert_int_equal(with_sidecar_describe(f, NULL).damaged_lists, 0);
}

static void unusable_lists(void **state) {
    struct with_sidecar *f = *state;
    (void)build(f, 7, 1, 0);
    struct bytes whole = file_read_all(f->first);
    struct bytes other = file_read_all(f->second);

    file_write_all(f->first, other.data, other.length);
    expect_unusable(f, "made from another segment");
    file_write_all(f->first, whole.data, whole.length / 2);
    expect_unusable(f, "its header says");
    file_write_all(f->first, whole.data, 0);
    expect_unusable(f, "the file ends here");
    whole.data[44] = 12; /* slices: the sizes no longer fit */
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    forge_sidecar(whole.data, whole.length, collection->segments[0]->header.checksum);
    nigh_collection_close(collection);
    file_write_all(f->first, whole.data, whole.length);
    expect_unusable(f, "section 1 has the wrong size");
    assert_int_equal(unlink(f->first), 0);
    assert_int_equal(mkdir(f->first, 0777), 0);
    assert_int_equal(with_sidecar_describe(f, NULL).damaged_lists, 1);
    assert_int_equal(rmdir(f->first), 0);
    free(whole.data);
    free(other.data);
}

/* Damage in the lists themselves is not seen by opening, but by all that looks. */
static void damaged_numbers(void **state) {
    struct with_sidecar *f = *state;
    (void)build(f, 7, 1, 0);
    struct bytes whole = file_read_all(f->first);
    nigh_collection *collection;
    nigh_error error;
    nigh_open_options options;
    nigh_open_options_init(&options);
    options.verify = 1;
    whole.data[4096 + 4 * 150] ^= 1;
    file_write_all(f->first, whole.data, whole.length);
    assert_int_equal(with_sidecar_describe(f, NULL).sliced_segments, 2);
    assert_int_equal(nigh_collection_open(f->context, f->path, &options, &collection, &error), NIGH_ECORRUPT);
    assert_int_equal(error.offset, 4096);
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_ECORRUPT);
    assert_string_equal(error.file, f->first);

    /* With right checksums only the check against the rows can tell. */
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    forge_sidecar(whole.data, whole.length, collection->segments[0]->header.checksum);
    nigh_collection_close(collection);
    file_write_all(f->first, whole.data, whole.length);
    assert_ok(nigh_collection_open(f->context, f->path, &options, &collection, &error), &error);
    nigh_collection_close(collection);
    assert_int_equal(nigh_collection_check(f->context, f->path, NULL, NULL, &error), NIGH_ECORRUPT);
    assert_string_equal(error.file, f->first);
    assert_int_equal(error.offset, 4096 + 4 * 150);

    /* Wrong checksums are reason enough to make them anew. */
    whole.data[4096 + 4 * 151] ^= 1;
    file_write_all(f->first, whole.data, whole.length);
    nigh_lists_result result = build(f, 7, 1, 0);
    assert_int_equal(result.built, 1);
    assert_int_equal(result.kept, 1);
    expect_sound(f);
    free(whole.data);
}

static int stop_now(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)stage;
    (void)done;
    (void)total;
    ++*(int *)user;
    return 1;
}

static void cancelled(void **state) {
    struct with_sidecar *f = *state;
    int calls = 0;
    nigh_progress progress = {.report = stop_now, .user = &calls};
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    nigh_error error;
    options.progress = &progress;
    (void)build(f, 7, 1, 0);
    char *before = tree_digest(f->path);
    for (int way = 0; way < 3; way++) { /* while making them, while looking at old ones, and while leaving all out */
        options.min_rows = way < 2 ? 1 : 100;
        options.slice_width = way == 0 ? 8 : 7;
        calls = 0;
        assert_int_equal(nigh_lists_build(f->context, f->path, &options, NULL, &error), NIGH_ECANCELLED);
        assert_int_equal(calls, 1);
        char *after = tree_digest(f->path);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
}

static void removed_again(void **state) {
    struct with_sidecar *f = *state;
    nigh_error error;
    char *before = tree_digest(f->path);
    (void)build(f, 7, 1, 0);
    nigh_collection *open;
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &open, &error), &error);
    assert_ok(nigh_lists_remove(f->context, f->path, &error), &error);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    /* Who had them open keeps them. */
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    assert_ok(nigh__sidecar_check_sums(open->segments[0]->sidecars[NIGH__SIDECAR_SLICES], &progress, &error), &error);
    nigh_collection_close(open);
    assert_ok(nigh_lists_remove(f->context, f->path, &error), &error); /* where there are none */
    free(before);
    free(after);
}

/* What is left of a build that died goes with the next writer of either kind. */
static void leftovers(void **state) {
    struct with_sidecar *f = *state;
    nigh_error error;
    char *temporary = path_in(f->path, SECOND ".tmp");
    char *never = path_in(f->path, "slices-00000000000000000007");
    nigh_check_result result = {.size = sizeof result};
    for (int writer = 0; writer < 3; writer++) {
        file_write_all(temporary, "half", 4);
        assert_ok(nigh_collection_check(f->context, f->path, NULL, &result, &error), &error);
        assert_int_equal(result.leftovers, 1);
        if (writer == 0) assert_ok(nigh_lists_remove(f->context, f->path, &error), &error);
        if (writer == 1) (void)build(f, 7, 1, 0);
        if (writer == 2) {
            /* Lists of a segment that no manifest ever listed: its number is not given again, and they go too. */
            file_write_all(never, "half", 4);
            assert_ok(recipe_add(f->context, f->path, &f->recipe, 40, 5, &error), &error);
            assert_false(path_exists(never));
            char *segment = path_in(f->path, "segment-00000000000000000008");
            assert_true(path_exists(segment));
            free(segment);
        }
        assert_false(path_exists(temporary));
    }
    assert_true(path_exists(f->first));
    recipe_expect(f->context, f->path, &f->recipe, 45);
    free(never);
    free(temporary);
}

/* Where manifests are lost, segments stay that may be all there is, and so do their lists. */
static void lost_manifests(void **state) {
    struct with_sidecar *f = *state;
    nigh_error error;
    (void)build(f, 7, 1, 0);
    for (int sequence = 1; sequence <= 2; sequence++) {
        char *manifest = NULL;
        assert_true(asprintf(&manifest, "%s/manifest-%020d", f->path, sequence) > 0);
        assert_int_equal(remove(manifest), 0);
        free(manifest);
    }
    assert_int_equal(nigh_lists_build(f->context, f->path, NULL, NULL, &error), NIGH_ENOTFOUND);
    assert_ok(recipe_add(f->context, f->path, &f->recipe, 0, 3, &error), &error);
    assert_ok(recipe_add(f->context, f->path, &f->recipe, 3, 3, &error), &error);
    assert_true(path_exists(f->first));
    assert_true(path_exists(f->second));
    recipe_expect(f->context, f->path, &f->recipe, 6);
    assert_int_equal(with_sidecar_describe(f, NULL).sliced_segments, 0);
}

static void a_damaged_manifest(void **state) {
    struct with_sidecar *f = *state;
    nigh_error error;
    char *manifest = path_in(f->path, "manifest-00000000000000000002");
    struct bytes bytes = file_read_all(manifest);
    bytes.data[70] ^= 1;
    file_write_all(manifest, bytes.data, bytes.length);
    assert_int_equal(nigh_lists_build(f->context, f->path, NULL, NULL, &error), NIGH_ECORRUPT);
    assert_int_equal(nigh_lists_remove(f->context, f->path, &error), NIGH_ECORRUPT);
    free(bytes.data);
    free(manifest);
}

/* Callers of before know nothing of lists. */
static void older_callers(void **state) {
    struct with_sidecar *f = *state;
    nigh_error error;
    nigh_collection *collection;
    nigh_collection_info info;
    (void)build(f, 7, 1, 0);
    assert_ok(nigh_collection_open(f->context, f->path, NULL, &collection, &error), &error);
    memset(&info, 0xee, sizeof info);
    info.size = offsetof(nigh_collection_info, sliced_segments);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, 40);
    assert_int_equal(info.sliced_segments, 0xeeeeeeee);
    nigh_collection_close(collection);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(built_and_described),
        WITH_FIXTURE(kept_unless_something_changed),
        WITH_FIXTURE(small_segments_have_none),
        WITH_FIXTURE(a_collection_without_documents),
        WITH_FIXTURE(the_same_bytes_from_any_threads),
        WITH_FIXTURE(what_is_refused),
        WITH_FIXTURE(narrow_signatures),
        WITH_FIXTURE(one_writer_at_a_time),
        WITH_FIXTURE(unusable_lists),
        WITH_FIXTURE(damaged_numbers),
        WITH_FIXTURE(cancelled),
        WITH_FIXTURE(removed_again),
        WITH_FIXTURE(leftovers),
        WITH_FIXTURE(lost_manifests),
        WITH_FIXTURE(a_damaged_manifest),
        WITH_FIXTURE(older_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
