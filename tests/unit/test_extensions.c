/* SPDX-License-Identifier: Apache-2.0 */
/* A collection and kinds of files that it has never heard of: it finds, opens, checks, tells of and tidies them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/counting_context.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/directory.h"
#include "collection/sidecar.h"
#include "support/support.h"

#define NUMBER 2u
#define NAME "notes-00000000000000000001"
#define DOCUMENTS 5u

/* How often each was asked, and what it answers. */
static struct {
    unsigned fits, checks, opened, closed, with_file;
    nigh_status fit, sound, advice;
} asked;

static nigh_status fits(const struct nigh__segment *segment, nigh_error *error) {
    asked.fits++;
    assert_non_null(segment->sidecars[NUMBER]);
    return asked.fit == NIGH_OK ? NIGH_OK : nigh__fail(error, asked.fit, "does not fit");
}

static nigh_status check(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    (void)progress;
    asked.checks++;
    assert_int_equal(segment->signatures, DOCUMENTS);
    return asked.sound == NIGH_OK ? NIGH_OK : nigh__fail(error, asked.sound, "is not sound");
}

static void describe(const nigh_collection *collection, nigh_collection_info *info) {
    info->graph_segments = collection->segments[0]->sidecars[NUMBER] != NULL ? 77 : 0;
}

static void describe_segment(const struct nigh__segment *segment, nigh_segment_info *info) {
    info->graph_degree = segment->sidecars[NUMBER] != NULL ? 78 : 0;
}

static nigh_status advice_open(const nigh_context *context, uint32_t segments, const struct nigh__file *directory,
                               void **out, nigh_error *error) {
    (void)context;
    (void)error;
    assert_int_equal(segments, 1);
    asked.opened++;
    asked.with_file += directory != NULL;
    *out = &asked;
    return NIGH_OK;
}

static void advice_close(const nigh_context *context, void *extra) {
    (void)context;
    asked.closed += extra == &asked;
}

static nigh_status advice_check(const struct nigh__file *directory, uint64_t *bytes, nigh_error *error) {
    (void)directory;
    *bytes = 3;
    return asked.advice == NIGH_OK ? NIGH_OK : nigh__fail(error, asked.advice, "bad advice");
}

static const struct nigh__sidecar_kind notes = {.number = NUMBER,
                                                .prefix = "notes-",
                                                .title = "notes",
                                                .fits = fits,
                                                .check = check,
                                                .describe = describe,
                                                .describe_segment = describe_segment};
static const struct nigh__extra advice = {
    .file = "advice", .temporary = "advice.tmp", .open = advice_open, .close = advice_close, .check = advice_check};
static const struct nigh__extensions extensions = {.sidecars = {[NUMBER] = &notes}, .extras = {[1] = &advice}};

/* A collection of one segment, in a context that knows notes and advice and nothing else. */
struct fixture {
    nigh_context *context; /* of the library, which knows what it knows */
    nigh_context own;
    char *folder, *path;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    const struct recipe recipe = {.width_bits = 64};
    nigh_error error;
    memset(&asked, 0, sizeof asked);
    f->context = context_new();
    f->own = *f->context;
    f->own.extensions = &extensions;
    f->folder = scratch_new();
    f->path = path_in(f->folder, "c.nigh");
    assert_ok(recipe_add(&f->own, f->path, &recipe, 0, DOCUMENTS, &error), &error);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    scratch_free(f->folder);
    nigh_context_free(f->context);
    free(f->path);
    free(f);
    return 0;
}

static nigh_collection *open_own(struct fixture *f) {
    nigh_collection *collection;
    nigh_error error;
    assert_ok(nigh_collection_open(&f->own, f->path, NULL, &collection, &error), &error);
    return collection;
}

/* Notes of one byte for the only segment. */
static void write_notes(struct fixture *f) {
    nigh_collection *collection = open_own(f);
    struct nigh__sidecar_writer *writer;
    struct nigh__file directory;
    uint64_t length;
    nigh_error error;
    assert_ok(nigh__directory_lock(&f->own, f->path, NIGH__STORE_COLLECTION, &directory, &error), &error);
    assert_ok(nigh__sidecar_writer_open(&directory, collection->segments[0], &notes, 0, &writer, &error), &error);
    assert_ok(nigh__sidecar_section_begin(writer, 1, &error), &error);
    assert_ok(nigh__sidecar_section_add(writer, "x", 1, &error), &error);
    assert_ok(nigh__sidecar_section_end(writer, 1, &error), &error);
    assert_ok(nigh__sidecar_writer_finish(writer, &length, &error), &error);
    nigh__sidecar_writer_close(writer);
    assert_ok(nigh__sidecar_publish(&directory, 1, &notes, &error), &error);
    nigh__file_release(&directory);
    nigh_collection_close(collection);
}

static void write_file(struct fixture *f, const char *name) {
    char *path = path_in(f->path, name);
    file_write_all(path, "yes", 3);
    free(path);
}

static bool has_file(struct fixture *f, const char *name) {
    char *path = path_in(f->path, name);
    const bool there = path_exists(path);
    free(path);
    return there;
}

static void files_beside_a_segment(void **state) {
    struct fixture *f = *state;
    nigh_collection_info info = {.size = sizeof info};
    nigh_segment_info segment = {.size = sizeof segment};
    nigh_error error;
    write_notes(f);
    assert_true(has_file(f, NAME));
    assert_int_equal(asked.fits, 0);
    nigh_collection *collection = open_own(f);
    assert_int_equal(asked.fits, 1);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.graph_segments, 77);
    assert_ok(nigh_collection_segment(collection, 0, &segment, &error), &error);
    assert_int_equal(segment.graph_degree, 78);
    nigh_collection_close(collection);

    asked.fit = NIGH_ECORRUPT; /* remembered, and no failure */
    collection = open_own(f);
    assert_null(collection->segments[0]->sidecars[NUMBER]);
    assert_string_equal(collection->segments[0]->sidecar_problems[NUMBER].why, "does not fit");
    nigh_collection_close(collection);
}

static void files_are_checked(void **state) {
    struct fixture *f = *state;
    nigh_check_result plain = {.size = sizeof plain};
    nigh_check_result result = {.size = sizeof result};
    nigh_error error;
    assert_ok(nigh_collection_check(&f->own, f->path, NULL, &plain, &error), &error);
    write_notes(f);
    write_file(f, "advice");
    assert_ok(nigh_collection_check(&f->own, f->path, NULL, &result, &error), &error);
    assert_int_equal(asked.checks, 1);
    assert_int_equal(result.files, plain.files + 2);
    assert_true(result.bytes > plain.bytes + 4096 + 3);
    asked.sound = NIGH_ECORRUPT;
    assert_int_equal(nigh_collection_check(&f->own, f->path, NULL, &result, &error), NIGH_ECORRUPT);
    assert_string_equal(error.why, "is not sound");
    asked.advice = NIGH_EVERSION;
    assert_int_equal(nigh_collection_check(&f->own, f->path, NULL, &result, &error), NIGH_EVERSION);
    assert_string_equal(error.why, "bad advice");
    asked.sound = NIGH_OK;
    asked.advice = NIGH_ENOTFOUND; /* removed meanwhile */
    assert_ok(nigh_collection_check(&f->own, f->path, NULL, &result, &error), &error);
    assert_int_equal(result.files, plain.files + 1);
}

static void extras_live_with_the_collection(void **state) {
    struct fixture *f = *state;
    static const struct nigh__extra nobody;
    memset(&asked, 0, sizeof asked);
    nigh_collection *collection = open_own(f);
    assert_int_equal(asked.opened, 1);
    assert_int_equal(asked.with_file, 0);
    assert_ptr_equal(nigh__collection_extra(collection, &advice), &asked);
    assert_null(nigh__collection_extra(collection, &nobody));
    nigh_collection_close(collection);
    assert_int_equal(asked.closed, 1);
    write_file(f, "advice");
    nigh_collection_close(open_own(f));
    assert_int_equal(asked.with_file, 1);
    assert_int_equal(asked.closed, 2);
}

/* A commit removes what a writer left that died, and leaves alone what this context does not know. */
static void leftovers_are_removed(void **state) {
    struct fixture *f = *state;
    const struct recipe recipe = {.width_bits = 64};
    static const char *const names[] = {"advice", "advice.tmp", NAME ".tmp", "tuning.tmp"};
    nigh_error error;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) write_file(f, names[i]);
    assert_ok(recipe_add(f->context, f->path, &recipe, DOCUMENTS, 1, &error), &error);
    assert_true(has_file(f, "advice.tmp") && has_file(f, NAME ".tmp") && !has_file(f, "tuning.tmp"));
    struct nigh__listing listing;
    struct nigh__file directory;
    assert_ok(nigh__directory_lock(&f->own, f->path, NIGH__STORE_COLLECTION, &directory, &error), &error);
    assert_ok(nigh__listing_read(&directory, &listing, &error), &error);
    assert_true(listing.extras[1] && listing.strangers == 0 && listing.leftovers.count == 2);
    nigh__listing_remove_leftovers(&directory, &listing);
    nigh__listing_release(&f->own, &listing);
    nigh__file_release(&directory);
    assert_true(has_file(f, "advice") && !has_file(f, "advice.tmp") && !has_file(f, NAME ".tmp"));
}

/* A counting context is like the one it counts for, whatever that knows; its own table of files stays its own. */
static void counting_contexts_know_the_same(void **state) {
    struct fixture *f = *state;
    struct nigh__counting_context meter;
    nigh_error error;
    f->own.files = &f->own.older_files;
    assert_ok(nigh__counting_context_init(&meter, &f->own, &error), &error);
    assert_ptr_equal(meter.context->extensions, &extensions);
    assert_ptr_equal(meter.context->hamming, f->own.hamming);
    assert_ptr_equal(meter.context->files, &meter.context->older_files);
    assert_true(meter.live >= sizeof(nigh_context));
    nigh__counting_context_release(&meter);
    assert_int_equal(meter.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_beside_a_segment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extras_live_with_the_collection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leftovers_are_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counting_contexts_know_the_same, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
