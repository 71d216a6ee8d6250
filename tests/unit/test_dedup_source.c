/* SPDX-License-Identifier: Apache-2.0 */
/* Deduplication of a caller's documents: as of a file, and what happens where they are not the same again. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/caller.h"
#include "support/support.h"

static nigh_dedup_options dedup_options(nigh_dedup_method method, uint32_t threads) {
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.method = method;
    options.threads = threads;
    options.temporary = ".";
    options.memory_bytes = UINT64_C(1) << 24;
    options.will_write = 1;
    return options;
}

/* Decisions as a hash; the ones that go are counted. */
static uint64_t decisions(const nigh_dedup *dedup, uint64_t *gone) {
    nigh_dedup_document document = {.size = sizeof document};
    uint64_t hash = 0;
    *gone = 0;
    for (uint64_t i = 0; nigh_dedup_at(dedup, i, &document) == NIGH_OK; i++) {
        const uint64_t numbers[] = {document.number, document.cluster, document.text_length, (uint64_t)document.keep,
                                    (uint64_t)document.copy};
        hash = nigh__hash_seeded(document.id, document.id_length, hash);
        hash = nigh__hash_seeded(&document.similarity, sizeof document.similarity, hash);
        hash = nigh__hash_seeded(numbers, sizeof numbers, hash);
        *gone += !document.keep;
    }
    return hash;
}

static void expect_same_file(const char *a, const char *b) {
    struct bytes one = file_read_all(a), two = file_read_all(b);
    assert_int_equal(one.length, two.length);
    assert_true(one.length > 0);
    assert_memory_equal(one.data, two.data, one.length);
    free(one.data);
    free(two.data);
}

static void write_kept(nigh_dedup *dedup, const char *path) {
    nigh_error error;
    assert_ok(nigh_dedup_write(dedup, path, NULL, NULL, &error), &error);
}

static void expect_same_dedup(nigh_context *context, struct caller *caller, const nigh_dedup_options *options) {
    const nigh_source source = caller_source(caller);
    nigh_dedup *of_file, *of_source;
    nigh_error error;
    uint64_t gone, as_many;
    const char *path = "in.jsonl";
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &of_file, &error), &error);
    assert_ok(nigh_dedup_source(context, &source, NULL, options, &of_source, &error), &error);
    assert_true(decisions(of_file, &gone) == decisions(of_source, &as_many));
    assert_int_equal(gone, as_many);
    assert_true(gone > 0);
    write_kept(of_file, "file.jsonl");
    write_kept(of_source, "source.jsonl");
    if (options->keep != NIGH_KEEP_SCORE) expect_same_file("file.jsonl", "source.jsonl");
    nigh_dedup_free(of_file);
    nigh_dedup_free(of_source);
}

static void test_dedup(void **state) {
    struct caller caller = caller_new(3000u);
    char *json = caller_json(&caller, false);
    file_write_all("in.jsonl", json, strlen(json));
    for (int method = NIGH_DEDUP_MINHASH; method <= NIGH_DEDUP_SIMHASH; method++)
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            const nigh_dedup_options options = dedup_options((nigh_dedup_method)method, threads);
            expect_same_dedup(*state, &caller, &options);
        }
    nigh_dedup_options few = dedup_options(NIGH_DEDUP_MINHASH, 4);
    few.limit = 3000u / 2;
    expect_same_dedup(*state, &caller, &few);
    free(json);
    caller_free(&caller);
}

/* A source has scores of its own; without a key only a file is refused. */
static void test_scores(void **state) {
    struct caller caller = caller_new(500);
    const nigh_source source = caller_source(&caller);
    char *json = caller_json(&caller, true);
    const char *path = "in.jsonl";
    nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup *dedup;
    nigh_error error;
    file_write_all(path, json, strlen(json));
    options.keep = NIGH_KEEP_SCORE;
    assert_int_equal(nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error), NIGH_EINVAL);
    assert_ok(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), &error);
    nigh_dedup_describe(dedup, &info);
    assert_int_equal(info.scored, 500);
    nigh_dedup_free(dedup);
    options.score_key = "score";
    expect_same_dedup(*state, &caller, &options);
    free(json);
    caller_free(&caller);
}

static void test_report(void **state) {
    struct caller caller = caller_new(200);
    const nigh_source source = caller_source(&caller);
    const nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup *dedup;
    nigh_error error;
    assert_ok(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), &error);
    assert_ok(nigh_dedup_report(dedup, "report.html", &error), &error);
    struct bytes page = file_read_all("report.html");
    assert_non_null(memmem(page.data, page.length, "row-3", 5));
    free(page.data);
    nigh_dedup_free(dedup);
    caller_free(&caller);
}

/* Ids come back from deduplication as they were given. */
static void test_ids(void **state) {
    struct caller caller = caller_new(2);
    const nigh_source source = caller_source(&caller);
    const nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup_document document = {.size = sizeof document};
    nigh_dedup *dedup;
    nigh_error error;
    memcpy(caller.documents[0].id, "a\tb", 4);
    assert_ok(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), &error);
    assert_ok(nigh_dedup_at(dedup, 0, &document), &error);
    assert_int_equal(document.id_length, 3);
    assert_memory_equal(document.id, "a\tb", 3);
    nigh_dedup_free(dedup);
    caller_free(&caller);
}

/* ------------------------------------------------------------------ changes */

/* Deduplicates, then writes, with a source that changes in one of its passes. */
static nigh_status dedup_and_write(nigh_context *context, struct caller *caller, uint64_t limit) {
    const nigh_source source = caller_source(caller);
    nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, 1);
    nigh_dedup *dedup;
    nigh_error error;
    caller->passes = 0;
    options.limit = limit;
    nigh_status status = nigh_dedup_source(context, &source, NULL, &options, &dedup, &error);
    if (status == NIGH_OK) status = nigh_dedup_write(dedup, "out.jsonl", NULL, NULL, &error);
    if (status != NIGH_OK) assert_string_not_equal(error.why, "");
    nigh_dedup_free(dedup);
    return status;
}

static void test_changes(void **state) {
    struct caller caller = caller_new(500);
    assert_int_equal(dedup_and_write(*state, &caller, 0), NIGH_OK);
    const uint64_t passes = caller.passes;
    assert_int_equal(passes, 3); /* read, verify, write */
    for (uint64_t pass = 2; pass <= passes; pass++) {
        const size_t places[] = {0, 63, 64, 250, 499, 500};
        caller.change_in = pass;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            caller.change = places[i];
            caller.change_score = false;
            assert_int_equal(dedup_and_write(*state, &caller, 0), NIGH_ECORRUPT);
            caller.change_score = places[i] < caller.count;
            assert_int_equal(dedup_and_write(*state, &caller, 0), NIGH_ECORRUPT);
        }
        caller.change = 70; /* though nobody reads to the end */
        caller.change_score = false;
        assert_int_equal(dedup_and_write(*state, &caller, 300), NIGH_ECORRUPT);
    }
    assert_false(path_exists("out.jsonl.nigh.tmp"));
    caller_free(&caller);
}

/* ----------------------------------------------------------------- failures */

static void test_failures(void **state) {
    struct caller caller = caller_new(2000);
    const nigh_source source = caller_source(&caller);
    nigh_error error;
    caller.status = NIGH_EFORMAT; /* which would be a problem and no more, if a file had it */
    caller.fail_at = 1500;
    for (uint32_t i = 0; i < 4; i++) {
        const nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, i < 2 ? 1 : 4);
        nigh_dedup *dedup;
        caller.silent = i % 2 == 1;
        assert_int_equal(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), caller.status);
        caller_expect_word(&caller, &error);
        assert_null(dedup);
    }
    caller_free(&caller);
}

static void test_refusals(void **state) {
    struct caller caller = caller_new(10);
    const nigh_source good = caller_source(&caller);
    nigh_source bad[] = {good, good, good};
    nigh_dedup *dedup;
    nigh_error error;
    bad[0].size = 0;
    bad[1].next = NULL;
    bad[2].rewind = NULL;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(nigh_dedup_source(*state, &bad[i], NULL, NULL, &dedup, &error), NIGH_EINVAL);
        assert_null(dedup);
    }
    assert_int_equal(nigh_dedup_source(*state, NULL, NULL, NULL, &dedup, &error), NIGH_EINVAL);
    assert_int_equal(caller.next, 0); /* nothing was read in vain */
    caller_free(&caller);
}

/* Nothing is known before the first batch. */
static int stop_when_known(void *user, const char *stage, uint64_t done, uint64_t total) {
    uint64_t *known = user;
    if (strcmp(stage, "reading") != 0) return 0;
    assert_true(done <= total);
    *known = total;
    return total != 0;
}

static int stop_at_once(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)user, (void)stage, (void)done, (void)total;
    return 1;
}

static void test_cancelling(void **state) {
    struct caller caller = caller_new(20000); /* more than a batch */
    nigh_source source = caller_source(&caller);
    uint64_t known = 0;
    const nigh_progress watches[] = {{stop_at_once, NULL}, {stop_when_known, &known}};
    source.documents = caller.count;
    caller.slow_every = caller.count / 8;
    for (uint32_t i = 0; i < 4; i++) {
        nigh_dedup_options options = dedup_options(NIGH_DEDUP_MINHASH, i < 2 ? 1 : 4);
        nigh_dedup *dedup;
        nigh_error error;
        options.progress = &watches[i % 2];
        assert_int_equal(nigh_dedup_source(*state, &source, NULL, &options, &dedup, &error), NIGH_ECANCELLED);
        assert_null(dedup);
        assert_int_equal(known, i == 0 ? 0 : caller.count);
    }
    caller_free(&caller);
}

/* ------------------------------------------------------------------- memory */

static nigh_status dedup_with_memory(struct faulty_memory *memory, struct caller *caller, uint64_t fail_at) {
    *memory = (struct faulty_memory){.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    memory->fail_at = fail_at == UINT64_MAX ? fail_at : memory->calls + fail_at;
    nigh_status status = dedup_and_write(context, caller, 0);
    nigh_context_free(context);
    assert_int_equal(memory->live, 0);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    struct caller caller = caller_new(20);
    struct faulty_memory memory;
    uint64_t failed = 0;
    assert_int_equal(dedup_with_memory(&memory, &caller, UINT64_MAX), NIGH_OK);
    const uint64_t calls = memory.calls;
    for (uint64_t at = 0; at < calls; at++) {
        nigh_status status = dedup_with_memory(&memory, &caller, at);
        assert_true(status == NIGH_ENOMEM || status == NIGH_OK || status == NIGH_EIO);
        failed += status == NIGH_ENOMEM;
    }
    assert_true(failed > 20);
    caller_free(&caller);
}

int main(void) {
    char *scratch = scratch_new();
    if (chdir(scratch) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dedup),    cmocka_unit_test(test_scores),     cmocka_unit_test(test_report),
        cmocka_unit_test(test_ids),      cmocka_unit_test(test_changes),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_cancelling), cmocka_unit_test(test_no_memory),
    };
    int failed = cmocka_run_group_tests(tests, context_setup, context_teardown);
    scratch_free(scratch);
    return failed;
}
