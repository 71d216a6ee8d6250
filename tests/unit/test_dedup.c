/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication from end to end on a few documents: what stays and what goes under
 * each rule, copies and crowds, options that make no sense, inputs that change, and
 * memory, disks and callers that say no.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/soup.h"
#include "support/support.h"

struct place {
    char *folder;
    char *path;
};

static struct place place_new(void) {
    struct place place = {.folder = scratch_new()};
    place.path = path_in(place.folder, "in.jsonl");
    return place;
}

static void place_free(struct place *place) {
    free(place->path);
    scratch_free(place->folder);
}

static void write_text(const char *path, const char *text) { file_write_all(path, text, strlen(text)); }

static nigh_dedup *run(nigh_context *context, const char *path, const nigh_dedup_options *options) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_ok(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), &error);
    return dedup;
}

static nigh_dedup_info describe(const nigh_dedup *dedup) {
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_describe(dedup, &info);
    return info;
}

static uint64_t cluster_of(const nigh_dedup *dedup, uint64_t document) {
    nigh_dedup_document out = {.size = sizeof out};
    assert_int_equal(nigh_dedup_at(dedup, document, &out), NIGH_OK);
    assert_int_equal(out.keep, out.cluster == document);
    return out.cluster;
}

static int count_pair(void *user, const nigh_dedup_pair *pair) {
    (void)pair;
    ++*(uint64_t *)user;
    return 0;
}

static uint64_t count_pairs(nigh_dedup *dedup, uint64_t *untold) {
    uint64_t count = 0;
    nigh_error error;
    assert_ok(nigh_dedup_pairs(dedup, count_pair, &count, untold, &error), &error);
    return count;
}

/* ------------------------------------------------------------------- few */

static void test_nothing(void **state) {
    struct place place = place_new();
    write_text(place.path, "");
    nigh_dedup *dedup = run(*state, place.path, NULL);
    assert_int_equal(describe(dedup).documents, 0);
    assert_int_equal(count_pairs(dedup, NULL), 0);
    nigh_dedup_document out = {.size = sizeof out};
    assert_int_equal(nigh_dedup_at(dedup, 0, &out), NIGH_END);
    nigh_dedup_free(dedup);
    place_free(&place);
}

static void test_one(void **state) {
    struct place place = place_new();
    write_text(place.path, "{\"id\": \"only\", \"text\": \"one two three four\"}\n");
    nigh_dedup *dedup = run(*state, place.path, NULL);
    nigh_dedup_document out = {.size = sizeof out};
    assert_int_equal(nigh_dedup_at(dedup, 0, &out), NIGH_OK);
    assert_int_equal(out.id_length, 4);
    assert_memory_equal(out.id, "only", 4);
    assert_true(out.keep && out.similarity == 1 && !out.copy);
    assert_int_equal(out.text_length, 18);
    assert_int_equal(describe(dedup).kept, 1);
    assert_int_equal(describe(dedup).clusters, 0);
    nigh_dedup_free(dedup);
    place_free(&place);
}

/* Without a feature, only copies are the same; records without a text are counted, and numbers go on. */
static void test_odd_ones(void **state) {
    struct place place = place_new();
    write_text(place.path, "{\"text\": \"!!\"}\n{\"text\": \"??\"}\n{\"other\": 1}\nno json\n{\"text\": \"!!\"}\n"
                           "{\"text\": \"a b\"}\n{\"text\": \"A, B\"}\n");
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.format = NIGH_TEXT_JSONL;
    nigh_dedup *dedup = NULL;
    nigh_error error;
    const char *path = place.path;
    assert_ok(nigh_dedup_run(*state, &path, 1, &reading, NULL, &dedup, &error), &error);
    const nigh_dedup_info info = describe(dedup);
    assert_int_equal(info.documents, 5);
    assert_int_equal(info.empty, 3);
    assert_int_equal(info.unread, 2);
    assert_int_equal(info.lost, 0);
    assert_int_equal(info.copies, 1);
    assert_int_equal(info.kept, 3);
    assert_int_equal(cluster_of(dedup, 0), 0);
    assert_int_equal(cluster_of(dedup, 1), 1);
    assert_int_equal(cluster_of(dedup, 2), 0);
    assert_int_equal(cluster_of(dedup, 4), 3); /* the same words, but no copy */
    nigh_dedup_document out = {.size = sizeof out};
    assert_int_equal(nigh_dedup_at(dedup, 2, &out), NIGH_OK);
    assert_int_equal(out.number, 4);
    assert_true(out.copy);
    assert_int_equal(nigh_dedup_at(dedup, 4, &out), NIGH_OK);
    assert_true(!out.copy && out.similarity == 1);
    nigh_dedup_free(dedup);
    place_free(&place);
}

/* Of a shard, only its own records count. */
static void test_shard(void **state) {
    struct place place = place_new();
    write_text(place.path, "{\"text\": \"a b c\"}\n{\"text\": \"a b c\"}\n{\"other\": 1}\n{\"other\": 1}\n"
                           "{\"text\": \"a b c\"}\n");
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.shards = 2;
    nigh_dedup *dedup = NULL;
    nigh_error error;
    const char *path = place.path;
    assert_ok(nigh_dedup_run(*state, &path, 1, &reading, NULL, &dedup, &error), &error);
    assert_int_equal(describe(dedup).documents, 2);
    assert_int_equal(describe(dedup).copies, 1);
    assert_int_equal(describe(dedup).unread, 1);
    nigh_dedup_free(dedup);
    place_free(&place);
}

static void test_limit(void **state) {
    struct place place = place_new();
    struct soup soup;
    soup_init(&soup, 50, 40, 50, 3);
    soup_write(&soup, place.path);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.limit = 20;
    nigh_dedup *dedup = run(*state, place.path, &options);
    assert_int_equal(describe(dedup).documents, 20);
    nigh_dedup_free(dedup);
    soup_release(&soup);
    place_free(&place);
}

struct tape {
    struct bytes bytes;
    size_t at;
};

static int tape_read(void *user, void *buffer, size_t length, size_t *moved) {
    struct tape *tape = user;
    const size_t left = tape->bytes.length - tape->at;
    *moved = length < left ? length : left;
    if (*moved > 0) memcpy(buffer, tape->bytes.data + tape->at, *moved);
    tape->at += *moved;
    return 0;
}

/* What can be read once only gives what the file gives, by every method. */
static void test_stream(void **state) {
    struct place place = place_new();
    struct soup soup;
    soup_init(&soup, 200, 60, 60, 31);
    soup_write(&soup, place.path);
    struct tape tape = {.bytes = file_read_all(place.path)};
    const nigh_stream stream = {.user = &tape, .read = tape_read};
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.stream = &stream;
    const char *path = "-";
    for (int method = 0; method < 3; method++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.method = (nigh_dedup_method)method;
        nigh_dedup *expected = run(*state, place.path, &options);
        nigh_dedup *dedup = NULL;
        nigh_error error;
        tape.at = 0;
        assert_ok(nigh_dedup_run(*state, &path, 1, &reading, &options, &dedup, &error), &error);
        assert_int_equal(describe(dedup).kept, describe(expected).kept);
        for (uint64_t i = 0; i < soup.count; i++) assert_int_equal(cluster_of(dedup, i), cluster_of(expected, i));
        nigh_dedup_free(dedup);
        nigh_dedup_free(expected);
    }
    free(tape.bytes.data);
    soup_release(&soup);
    place_free(&place);
}

/* ---------------------------------------------------------------- rules */

/*
 * Four documents in a chain, each alike to the next at .8 and to none else; the
 * second is the longest, the last has the best score.
 */
static void write_chain(const struct place *place, struct soup *soup) {
    uint32_t words[200];
    *soup = (struct soup){0};
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t length = i == 1 ? 102 : 100;
        for (uint32_t k = 0; k < length; k++) words[k] = (k < i * 6 ? 0x800 : 0x100) + k; /* all words of one length */
        soup_add(soup, words, length);
    }
    soup_write(soup, place->path);
    for (size_t a = 0; a < 4; a++)
        for (size_t b = a + 1; b < 4; b++) assert_int_equal(soup_jaccard(soup, a, b) >= 0.8, b == a + 1);
}

static void expect_clusters(nigh_context *context, const char *path, nigh_cluster_rule rule, nigh_keep_rule keep,
                            const uint64_t *expected) {
    for (int method = 0; method < 2; method++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.method = (nigh_dedup_method)method;
        options.cluster = rule;
        options.keep = keep;
        options.score_key = "score";
        nigh_dedup *dedup = run(context, path, &options);
        for (uint64_t i = 0; i < 4; i++) assert_int_equal(cluster_of(dedup, i), expected[i]);
        nigh_dedup_free(dedup);
    }
}

static void test_rules(void **state) {
    struct place place = place_new();
    struct soup soup;
    write_chain(&place, &soup);
    expect_clusters(*state, place.path, NIGH_CLUSTER_KEPT, NIGH_KEEP_FIRST, (const uint64_t[]){0, 0, 2, 2});
    expect_clusters(*state, place.path, NIGH_CLUSTER_KEPT, NIGH_KEEP_LONGEST, (const uint64_t[]){1, 1, 1, 3});
    expect_clusters(*state, place.path, NIGH_CLUSTER_COMPONENTS, NIGH_KEEP_LONGEST, (const uint64_t[]){1, 1, 1, 1});
    expect_clusters(*state, place.path, NIGH_CLUSTER_COMPLETE, NIGH_KEEP_FIRST, (const uint64_t[]){0, 0, 2, 2});
    /* The scores of the soup: 0, 41, 82, 22. */
    expect_clusters(*state, place.path, NIGH_CLUSTER_COMPONENTS, NIGH_KEEP_SCORE, (const uint64_t[]){2, 2, 2, 2});
    expect_clusters(*state, place.path, NIGH_CLUSTER_KEPT, NIGH_KEEP_SCORE, (const uint64_t[]){0, 2, 2, 2});
    soup_release(&soup);
    place_free(&place);
}

/* The rule of what to keep holds among copies as well; they go with the one that is kept. */
static void test_keep_among_copies(void **state) {
    struct place place = place_new();
    write_text(place.path, "{\"s\": 1, \"text\": \"a b c d e f\"}\n{\"s\": 5, \"text\": \"a b c d e f\"}\n"
                           "{\"text\": \"a b c d e f\"}\n{\"s\": 5.0, \"text\": \"A b c d, e f\"}\n");
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.keep = NIGH_KEEP_SCORE;
    options.score_key = "s";
    nigh_dedup *dedup = run(*state, place.path, &options);
    for (uint64_t i = 0; i < 4; i++) assert_int_equal(cluster_of(dedup, i), 1);
    nigh_dedup_free(dedup);
    options.keep = NIGH_KEEP_LONGEST;
    dedup = run(*state, place.path, &options);
    for (uint64_t i = 0; i < 4; i++) assert_int_equal(cluster_of(dedup, i), 3);
    nigh_dedup_free(dedup);
    place_free(&place);
}

/* --------------------------------------------------------------- crowds */

static void test_copies(void **state) {
    enum { COUNT = 1500 };
    struct place place = place_new();
    struct soup soup = {0};
    const uint32_t words[] = {1, 2, 3, 4, 5, 6};
    for (uint32_t i = 0; i < COUNT; i++) soup_add(&soup, words, 6);
    soup_write(&soup, place.path);
    for (int all = 0; all < 2; all++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.all_pairs = all;
        nigh_dedup *dedup = run(*state, place.path, &options);
        const nigh_dedup_info info = describe(dedup);
        assert_int_equal(info.copies, COUNT - 1);
        assert_int_equal(info.kept, 1);
        assert_int_equal(info.clusters, 1);
        assert_int_equal(info.largest, COUNT);
        assert_int_equal(info.alike, COUNT - 1);
        assert_int_equal(info.candidates, 0);
        uint64_t untold = 1;
        assert_int_equal(count_pairs(dedup, &untold), COUNT - 1);
        assert_int_equal(untold, all ? (uint64_t)COUNT * (COUNT - 1) / 2 - (COUNT - 1) : 0);
        assert_int_equal(count_pairs(dedup, &untold), COUNT - 1); /* as often as one likes */
        nigh_dedup_free(dedup);
    }
    soup_release(&soup);
    place_free(&place);
}

/* Many from one template, more than the budget: all go with the first, so none of the others takes a place. */
static void test_template(void **state) {
    enum { COUNT = 3000, LENGTH = 300 };
    struct place place = place_new();
    struct soup soup = {0};
    uint32_t words[LENGTH];
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < LENGTH; k++) words[k] = k;
        words[i % LENGTH] = 10000 + i; /* another number each */
        soup_add(&soup, words, LENGTH);
    }
    soup_write(&soup, place.path);
    for (int keep = 0; keep < 2; keep++) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.bucket_budget = 100;
        options.keep = (nigh_keep_rule)keep;
        nigh_dedup *dedup = run(*state, place.path, &options);
        const nigh_dedup_info info = describe(dedup);
        assert_int_equal(info.truncated, 0);
        assert_int_equal(info.kept, 1);
        assert_true(info.verified < UINT64_C(20) * COUNT);
        nigh_dedup_free(dedup);
    }
    soup_release(&soup);
    place_free(&place);
}

/* ------------------------------------------------------------ bad input */

static void expect_refused(nigh_context *context, const char *path, const nigh_dedup_options *options) {
    nigh_dedup *dedup = NULL;
    nigh_error error;
    assert_int_equal(nigh_dedup_run(context, &path, 1, NULL, options, &dedup, &error), NIGH_EINVAL);
    assert_int_equal(error.status, NIGH_EINVAL);
    assert_true(error.why[0] != '\0');
    assert_null(dedup);
}

static void test_refused(void **state) {
    struct place place = place_new();
    write_text(place.path, "{\"text\": \"a\"}\n");
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    const nigh_dedup_options good = options;
    static const double thresholds[] = {0, -2, 1.01};
    for (size_t i = 0; i < 3; i++) {
        options.threshold = thresholds[i];
        expect_refused(*state, place.path, &options);
    }
    options = good;
    options.method = (nigh_dedup_method)3;
    expect_refused(*state, place.path, &options);
    options = good;
    options.cluster = (nigh_cluster_rule)3;
    expect_refused(*state, place.path, &options);
    options = good;
    options.keep = (nigh_keep_rule)4;
    expect_refused(*state, place.path, &options);
    options = good;
    options.keep = NIGH_KEEP_SCORE;
    expect_refused(*state, place.path, &options);
    options = good;
    options.method = NIGH_DEDUP_EXACT;
    options.no_verify = 1;
    expect_refused(*state, place.path, &options);
    nigh_signer_options signer;
    nigh_signer_options_init(&signer);
    signer.split = NIGH_SPLIT_HARD;
    options = good;
    options.signer = &signer;
    expect_refused(*state, place.path, &options);

    nigh_dedup *dedup = NULL;
    nigh_error error;
    const uint8_t row[8] = {0};
    assert_int_equal(nigh_dedup_rows(*state, row, 1, 0, NULL, &dedup, &error), NIGH_EINVAL);
    options = good;
    options.keep = NIGH_KEEP_LONGEST;
    assert_int_equal(nigh_dedup_rows(*state, row, 1, 64, &options, &dedup, &error), NIGH_EINVAL);
    assert_null(dedup);
    const char *missing = "/no/such/file";
    assert_int_equal(nigh_dedup_run(*state, &missing, 1, NULL, NULL, &dedup, &error), NIGH_ENOTFOUND);
    place_free(&place);
}

/* Without verifying, pairs say that nobody looked. */
static int expect_unverified(void *user, const nigh_dedup_pair *pair) {
    (void)user;
    assert_true(pair->similarity < 0);
    assert_true(pair->distance <= 36);
    return 0;
}

static void test_no_verify(void **state) {
    struct place place = place_new();
    struct soup soup;
    write_chain(&place, &soup);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.no_verify = 1;
    nigh_error error;
    for (int all = 0; all < 2; all++) {
        options.all_pairs = all;
        nigh_dedup *dedup = run(*state, place.path, &options);
        assert_int_equal(describe(dedup).verified, 0);
        assert_true(describe(dedup).alike >= 2);
        assert_ok(nigh_dedup_pairs(dedup, expect_unverified, NULL, NULL, &error), &error);
        nigh_dedup_free(dedup);
    }
    soup_release(&soup);
    place_free(&place);
}

/* ------------------------------------------------------- changes, cancels */

struct meddler {
    const char *path;
    const char *stage;  /* at which the input is changed */
    struct bytes after; /* what it becomes */
    uint64_t calls, cancel_at;
};

static int meddle(void *user, const char *stage, uint64_t done, uint64_t total) {
    struct meddler *meddler = user;
    (void)done;
    (void)total;
    if (meddler->stage != NULL && strcmp(stage, meddler->stage) == 0)
        file_write_all(meddler->path, meddler->after.data, meddler->after.length);
    return meddler->calls++ == meddler->cancel_at;
}

/* Another word in a document that is looked at again: the length is the same, the text is not. */
static void test_changed(void **state) {
    struct place place = place_new();
    struct soup soup;
    write_chain(&place, &soup);
    for (int method = 0; method < 2; method++) {
        soup_write(&soup, place.path);
        struct meddler meddler = {.path = place.path, .stage = "finding", .cancel_at = UINT64_MAX};
        meddler.after = file_read_all(place.path);
        char *word = memchr(meddler.after.data, 'w', meddler.after.length);
        assert_non_null(word);
        word[1] = 'z';
        const nigh_progress progress = {meddle, &meddler};
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        options.method = (nigh_dedup_method)method;
        options.progress = &progress;
        nigh_dedup *dedup = NULL;
        nigh_error error;
        const char *path = place.path;
        assert_int_equal(nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error), NIGH_ECORRUPT);
        assert_non_null(strstr(error.why, "changed while it was"));
        assert_null(dedup);
        free(meddler.after.data);
    }
    soup_release(&soup);
    place_free(&place);
}

static void test_cancelled(void **state) {
    struct place place = place_new();
    struct soup soup;
    soup_init(&soup, 200, 60, 60, 9);
    soup_write(&soup, place.path);
    for (int method = 0; method < 3; method++) {
        bool done = false;
        for (uint64_t at = 0; !done; at++) {
            struct meddler meddler = {.cancel_at = at};
            const nigh_progress progress = {meddle, &meddler};
            nigh_dedup_options options;
            nigh_dedup_options_init(&options);
            options.method = (nigh_dedup_method)method;
            options.progress = &progress;
            nigh_dedup *dedup = NULL;
            nigh_error error;
            const char *path = place.path;
            const nigh_status status = nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error);
            done = meddler.calls <= at;
            assert_int_equal(status, done ? NIGH_OK : NIGH_ECANCELLED);
            nigh_dedup_free(dedup);
            assert_true(at < 1000);
        }
    }
    soup_release(&soup);
    place_free(&place);
}

static int refuse_pair(void *user, const nigh_dedup_pair *pair) {
    (void)pair;
    return --*(int *)user == 0;
}

static void test_pairs_cancelled(void **state) {
    struct place place = place_new();
    struct soup soup;
    write_chain(&place, &soup);
    nigh_dedup *dedup = run(*state, place.path, NULL);
    nigh_error error;
    int left = 2;
    assert_int_equal(nigh_dedup_pairs(dedup, refuse_pair, &left, NULL, &error), NIGH_ECANCELLED);
    assert_int_equal(count_pairs(dedup, NULL), 2);
    nigh_dedup_free(dedup);
    soup_release(&soup);
    place_free(&place);
}

/* ---------------------------------------------------------------- faults */

/* Every way through the code that the options open. */
static nigh_status run_way(nigh_context *context, const char *path, unsigned way, const char *folder,
                           nigh_error *error) {
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    options.method = (nigh_dedup_method)(way % 3);
    options.cluster = (nigh_cluster_rule)(way % 3);
    options.keep = way % 2 == 0 ? NIGH_KEEP_LONGEST : NIGH_KEEP_FIRST;
    options.all_pairs = way % 2;
    options.threads = 1;
    options.memory_bytes = 1;
    options.temporary = folder;
    options.bucket_budget = way == 3 ? 3 : 0;
    nigh_dedup *dedup = NULL;
    nigh_status status = nigh_dedup_run(context, &path, 1, NULL, &options, &dedup, error);
    uint64_t count = 0;
    if (status == NIGH_OK) status = nigh_dedup_pairs(dedup, count_pair, &count, NULL, error);
    nigh_dedup_free(dedup);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    struct place place = place_new();
    struct soup soup;
    soup_init(&soup, 40, 30, 70, 21);
    soup_write(&soup, place.path);
    for (unsigned way = 0; way < 6; way++) {
        nigh_status status = NIGH_ENOMEM;
        for (uint64_t at = 0; status != NIGH_OK; at++) {
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            const nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_context *context = context_with(NULL, &allocator, NULL);
            const int64_t before = memory.live;
            memory.fail_at = memory.calls + at;
            nigh_error error;
            status = run_way(context, place.path, way, place.folder, &error);
            assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
            assert_int_equal(memory.live, before);
            nigh_context_free(context);
            assert_true(at < 5000);
        }
    }
    soup_release(&soup);
    place_free(&place);
}

/* With sets of features in a file, which is full, or breaks; it leaves nothing behind. */
static void test_bad_disk(void **state) {
    (void)state;
    struct place place = place_new();
    struct soup soup;
    soup_init(&soup, 60, 40, 70, 22);
    soup_write(&soup, place.path);
    char *before = tree_digest(place.folder);
    for (unsigned way = 0; way < 3; way++) {
        nigh_status status = NIGH_EIO;
        for (uint64_t at = 0; status != NIGH_OK; at++) {
            struct faulty_files files;
            faulty_files_init(&files);
            files.kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE;
            files.fail_at = at;
            files.error = ENOSPC;
            nigh_context *context = context_with(&files.table, NULL, NULL);
            nigh_error error;
            status = run_way(context, place.path, way, place.folder, &error);
            assert_true(status == NIGH_OK || status == NIGH_EIO);
            assert_int_equal(files.open_files, 0);
            nigh_context_free(context);
            assert_true(at < 5000);
        }
    }
    char *after = tree_digest(place.folder);
    assert_string_equal(after, before);
    free(before);
    free(after);
    soup_release(&soup);
    place_free(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_one),
        cmocka_unit_test(test_odd_ones),        cmocka_unit_test(test_shard),
        cmocka_unit_test(test_limit),           cmocka_unit_test(test_stream),
        cmocka_unit_test(test_rules),           cmocka_unit_test(test_keep_among_copies),
        cmocka_unit_test(test_copies),          cmocka_unit_test(test_template),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_no_verify),
        cmocka_unit_test(test_changed),         cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_pairs_cancelled), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_bad_disk),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
