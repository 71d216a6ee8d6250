/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages when memory runs out and when files fail, at one call after the other: an error, nothing left over, nothing
 * leaked, and whoever goes on afterwards comes to the same output.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define SHARDS 2u

struct place {
    char *folder, *inputs[2], *work, *out, *plain;
    nigh_dedup_options options;
};

/* Near-copies of three texts, copies, and a text without a word. */
static void write_input(const char *path, unsigned first) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (unsigned i = first; i < first + 20; i++) {
        assert_true(fprintf(file, "{\"id\":%u,\"text\":\"", i) > 0);
        for (unsigned k = 0; k < 40; k++)
            assert_true(fprintf(file, "w%u ", k == i % 40 && i % 3 != 0 ? 1000 + i : i % 3 * 100 + k) > 0);
        assert_true(fputs("\"}\n{\"text\":\"!\"}\n", file) >= 0);
    }
    assert_int_equal(fclose(file), 0);
}

static int place_setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    nigh_context *context = context_new();
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_non_null(place);
    place->folder = scratch_new();
    place->inputs[0] = path_in(place->folder, "a.jsonl");
    place->inputs[1] = path_in(place->folder, "b.jsonl");
    place->work = path_in(place->folder, "work");
    place->out = path_in(place->folder, "out");
    place->plain = path_in(place->folder, "plain");
    write_input(place->inputs[0], 0);
    write_input(place->inputs[1], 20);
    nigh_dedup_options_init(&place->options);
    place->options.threads = 1;
    place->options.all_pairs = 1;
    place->options.temporary = place->folder;
    assert_ok(nigh_dedup_run(context, (const char *const *)place->inputs, 2, NULL, &place->options, &dedup, &error),
              &error);
    assert_ok(nigh_dedup_write(dedup, place->plain, NULL, NULL, &error), &error);
    nigh_dedup_free(dedup);
    nigh_context_free(context);
    *state = place;
    return 0;
}

static int place_teardown(void **state) {
    struct place *place = *state;
    scratch_free(place->folder);
    free(place->inputs[0]);
    free(place->inputs[1]);
    free(place->work);
    free(place->out);
    free(place->plain);
    free(place);
    return 0;
}

static int see_pair(void *user, const nigh_dedup_pair *pair) {
    (void)user;
    return pair->first >= pair->second;
}

static int see_document(void *user, const nigh_dedup_document *document, const nigh_dedup_document *kept) {
    ++*(uint64_t *)user;
    return (document->number == kept->number) != (document->keep != 0);
}

/* What is told besides. */
static nigh_status tell(nigh_staged *staged, uint64_t documents, nigh_error *error) {
    nigh_dedup *clusters = NULL;
    uint64_t seen = 0;
    nigh_status status = nigh_staged_clusters(staged, &clusters, error);
    if (status == NIGH_OK) status = nigh_dedup_pairs(clusters, see_pair, NULL, NULL, error);
    if (status == NIGH_OK) status = nigh_staged_documents(staged, clusters, see_document, &seen, error);
    if (status == NIGH_OK) assert_int_equal(seen, documents);
    nigh_dedup_free(clusters);
    return status;
}

/* All of it, with what was done before. */
static nigh_status run(nigh_context *context, const struct place *place, nigh_error *error) {
    const char *const *paths = (const char *const *)place->inputs;
    nigh_staged *staged = NULL;
    nigh_staged_options staging;
    nigh_staged_info info = {.size = sizeof info};
    nigh_staged_options_init(&staging);
    staging.shards = SHARDS;
    nigh_status status = nigh_staged_plan(context, place->work, paths, 2, NULL, &place->options, &staging, error);
    if (status == NIGH_OK) status = nigh_staged_open(context, place->work, &staged, error);
    if (status == NIGH_OK) status = nigh_staged_use(staged, paths, 2, NULL, &place->options, error);
    for (int stage = 0; status == NIGH_OK && stage < NIGH_STAGE_COUNT; stage++)
        for (uint32_t i = 0; status == NIGH_OK && i < nigh_staged_tasks(staged, (nigh_stage)stage); i++)
            status = nigh_staged_run(staged, (nigh_stage)stage, i, NULL, error);
    if (status == NIGH_OK) status = nigh_staged_describe(staged, &info, error);
    if (status == NIGH_OK) status = tell(staged, info.documents, error);
    if (status == NIGH_OK) status = nigh_staged_write(staged, NIGH_ALL, place->out, NULL, NULL, error);
    nigh_staged_close(staged);
    return status;
}

static void assert_output(const struct place *place) {
    const struct bytes made = file_read_all(place->out);
    const struct bytes plain = file_read_all(place->plain);
    assert_int_equal(made.length, plain.length);
    assert_memory_equal(made.data, plain.data, plain.length);
    free(made.data);
    free(plain.data);
}

static void clear(const struct place *place) {
    remove_tree(place->work);
    (void)remove(place->out);
}

static void test_memory(void **state) {
    const struct place *place = *state;
    nigh_error error;
    for (uint64_t n = 0;; n += 1 + n / 40) {
        struct faulty_memory memory = {.fail_at = n};
        const nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context_options options;
        nigh_context *context = NULL;
        nigh_context_options_init(&options);
        options.allocator = allocator;
        clear(place);
        nigh_status status = nigh_context_new(&options, &context, &error);
        if (status == NIGH_OK) status = run(context, place, &error);
        if (context != NULL) nigh_context_free(context);
        assert_int_equal(memory.live, 0);
        if (memory.calls <= n) {
            assert_int_equal(status, NIGH_OK);
            assert_output(place);
            assert_true(n > 100);
            return;
        }
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        if (status == NIGH_OK) assert_output(place); /* some things can be done without */
    }
}

/* And what was done before the failure is of use to who comes next. */
static void test_files(void **state) {
    const struct place *place = *state;
    nigh_error error;
    nigh_context *plain = context_new();
    for (uint64_t n = 0;; n += 1 + n / 40) {
        struct faulty_files files;
        faulty_files_init(&files);
        files.kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE | FAULT_LENGTH | FAULT_SYNC | FAULT_RENAME;
        files.fail_at = n;
        files.error = ENOSPC;
        nigh_context *context = context_with(&files.table, NULL, NULL);
        clear(place);
        const nigh_status status = run(context, place, &error);
        nigh_context_free(context);
        assert_int_equal(files.open_files, 0);
        if (status != NIGH_OK) assert_false(path_exists(place->out));
        const bool failed = files.calls > n;
        assert_true(failed || status == NIGH_OK);
        assert_ok(run(plain, place, &error), &error);
        assert_output(place);
        if (failed) continue;
        assert_true(n > 100);
        nigh_context_free(plain);
        return;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
