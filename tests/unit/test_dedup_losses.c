/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does not reach the output is counted: records over a limit, cut off or damaged,
 * files that cannot be read.  And what else a caller must hear of in time: forms that do
 * not go together, scores that nobody has, crowds of one signature, ids as they are.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/split_support.h"

struct counted {
    uint64_t documents, unread, lost, written;
};

/* Deduplicates a path and writes what is kept to "out"; the numbers must not depend on the threads. */
static struct counted count(nigh_context *context, const char *path, const nigh_text_reader_options *reading,
                            uint64_t limit) {
    struct counted counted = {0};
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        nigh_dedup_options options;
        nigh_dedup_options_init(&options);
        nigh_dedup_info info = {.size = sizeof info};
        nigh_dedup_written written = {.size = sizeof written};
        nigh_dedup *dedup;
        nigh_error error;
        options.threads = threads;
        options.limit = limit;
        assert_ok(nigh_dedup_run(context, &path, 1, reading, &options, &dedup, &error), &error);
        nigh_dedup_describe(dedup, &info);
        assert_ok(nigh_dedup_write(dedup, "out", NULL, &written, &error), &error);
        nigh_dedup_free(dedup);
        if (threads > 1) {
            assert_int_equal(info.lost, counted.lost);
            assert_int_equal(info.unread, counted.unread);
        }
        counted = (struct counted){info.documents, info.unread, info.lost, written.records};
    }
    return counted;
}

static void assert_counted(struct counted found, uint64_t documents, uint64_t unread, uint64_t lost) {
    assert_int_equal(found.documents, documents);
    assert_int_equal(found.unread, unread);
    assert_int_equal(found.lost, lost);
}

/* What is only not understood is copied, however deep it is; what is too long is not. */
static void test_lines(void **state) {
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    const char *in =
        "{\"text\":\"one\"}\n[[[[[[[[]]]]]]]]\nno json\n{\"text\":\"far too long a line\"}\n{\"text\":\"two\"}\n"
        "{\"text\":\"far too long again\"}\n";
    reading.format = NIGH_TEXT_JSONL;
    reading.max_depth = 4;
    reading.max_document_bytes = 20;
    file_write_all("lines", in, strlen(in));
    const struct counted all = count(*state, "lines", &reading, 0);
    assert_counted(all, 2, 2, 2);
    assert_int_equal(all.written, 4);
    assert_int_equal(count(*state, "lines", &reading, 2).lost, 1);
    assert_int_equal(count(*state, "lines", &reading, 1).lost, 0);
    reading.shards = 2; /* lines 0, 2 and 4; then 1, 3 and 5 */
    assert_counted(count(*state, "lines", &reading, 0), 2, 1, 0);
    reading.shard = 1;
    assert_counted(count(*state, "lines", &reading, 0), 0, 1, 2);
}

/* However many lines were in the half that is gone, they are one loss: nobody knows. */
static void test_cut_compressed(void **state) {
    struct memory_sink lines = {0};
    for (unsigned i = 0; i < 2000; i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "{\"text\":\"%" PRIu64 " %" PRIu64 "\"}\n", nigh__mix(i), nigh__mix(~i));
        sink_text(&lines, line);
    }
    struct bytes packed = pack_bytes(ARCHIVE_FILTER_GZIP, lines.bytes, lines.length);
    file_write_all("cut.gz", packed.data, packed.length / 2);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    const struct counted found = count(*state, "cut.gz", &reading, 0);
    assert_true(found.documents > 100 && found.documents < 1900);
    assert_counted(found, found.documents, 0, 1);
    free(packed.data);
    free(lines.bytes);
}

static void test_warc(void **state) {
#define RECORD(length, body) "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: " length "\r\n\r\n" body "\r\n\r\n"
    static const struct {
        const char *in;
        uint64_t documents, unread, lost;
    } cases[] = {
        {RECORD("3", "one") RECORD("3", "two"), 2, 0, 0},
        {RECORD("3", "one") RECORD("300", "two"), 1, 0, 1},
        {RECORD("3", "one") "WARC/1.0\r\nWARC-Type: conv", 1, 0, 1},
        {RECORD("3", "one") "WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 30\r\n\r\nx", 1, 0, 1},
        {RECORD("3", "one") RECORD("many", "two") RECORD("5", "three"), 2, 1, 0},
    };
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file_write_all("in.warc", cases[i].in, strlen(cases[i].in));
        assert_counted(count(*state, "in.warc", &reading, 0), cases[i].documents, cases[i].unread, cases[i].lost);
    }
}

/* Damage inside a header: half of it would swallow the record of the next file. */
static void test_warc_damaged(void **state) {
    const char *paths[] = {"damaged.warc.gz", "good.warc"};
    struct memory_sink in = {0};
    sink_text(&in, RECORD("3", "one"));
    sink_text(&in, "WARC/1.0\r\nWARC-Type: conversion\r\nX: ");
    for (unsigned i = 0; i < 3000; i++) {
        char word[24];
        (void)snprintf(word, sizeof word, "%016" PRIx64, nigh__mix(i));
        sink_text(&in, word);
    }
    struct bytes packed = pack_bytes(ARCHIVE_FILTER_GZIP, in.bytes, in.length);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup *dedup;
    nigh_error error;
    file_write_all(paths[0], packed.data, packed.length / 2);
    file_write_all(paths[1], RECORD("3", "two"), strlen(RECORD("3", "two")));
    assert_ok(nigh_dedup_run(*state, paths, 2, &reading, NULL, &dedup, &error), &error);
    nigh_dedup_describe(dedup, &info);
    assert_int_equal(info.lost, 1);
    assert_ok(nigh_dedup_write(dedup, "whole.warc", NULL, NULL, &error), &error);
    nigh_dedup_free(dedup);
    const char *expected = RECORD("3", "one") RECORD("3", "two");
    struct bytes out = file_read_all("whole.warc");
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    free(out.data);
    free(packed.data);
    free(in.bytes);
}

/* Of a folder: what is no text, cannot be unpacked, or is nested too deep. */
static void test_folder(void **state) {
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.max_depth = 10;
    struct memory_sink page = {0};
    sink_text(&page, "<html><body>");
    for (int i = 0; i < 100; i++) sink_text(&page, "<div>");
    sink_text(&page, "deep");
    assert_int_equal(mkdir("folder", 0777), 0);
    file_write_all("folder/a.txt", "one two three", 13);
    file_write_all("folder/b.bin",
                   "\x7f"
                   "ELF\0\0\0\0\1\2\3",
                   11);
    file_write_all("folder/c.html", page.bytes, page.length);
    file_write_all("folder/d.gz", "\x1f\x8b\x08\0\0\0\0\0\0\0garbage", 17);
    file_write_all("folder/e.txt", "four five six", 13);
    file_write_all("folder/f.html", "<html><img></html>", 18);
    const struct counted found = count(*state, "folder", &reading, 0);
    assert_counted(found, 2, 1, 2); /* b.bin is nobody's: it was not named */
    assert_int_equal(found.written, 3);
    if (geteuid() != 0) { /* whom nothing is forbidden */
        assert_int_equal(chmod("folder/e.txt", 0), 0);
        assert_counted(count(*state, "folder", &reading, 0), 1, 1, 3);
    }
    free(page.bytes);
}

/* ------------------------------------------------------------------ in time */

static int note_stage(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    *(int *)user |= strcmp(stage, "reading") != 0;
    return 0;
}

/* What cannot be written is refused before it is compared. */
static void test_forms(void **state) {
    const char *paths[] = {"a.trec", "b.warc"};
    const char *trec = "<DOC>\none two three\n</DOC>\n<DOC>\none two three\n</DOC>\n";
    int beyond = 0;
    const nigh_progress progress = {note_stage, &beyond};
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    nigh_dedup *dedup;
    nigh_error error;
    file_write_all(paths[0], trec, strlen(trec));
    file_write_all(paths[1], RECORD("3", "one"), strlen(RECORD("3", "one")));
    options.progress = &progress;
    options.will_write = 1;
    assert_int_equal(nigh_dedup_run(*state, paths, 2, NULL, &options, &dedup, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "several forms"));
    options.will_annotate = 1;
    assert_int_equal(nigh_dedup_run(*state, paths, 1, NULL, &options, &dedup, &error), NIGH_EINVAL);
    assert_non_null(strstr(error.why, "annotated"));
    assert_int_equal(beyond, 0);
    options.will_annotate = options.will_write = 0;
    assert_ok(nigh_dedup_run(*state, paths, 2, NULL, &options, &dedup, &error), &error);
    nigh_dedup_free(dedup);
}

/* No folder for the copy of a stream: the message names the folder, not the stream. */
static void test_no_folder(void **state) {
    struct memory_source memory = {.bytes = (const uint8_t *)"one two\n", .length = 8, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&memory);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    const char *path = "-";
    nigh_dedup *dedup;
    nigh_error error;
    reading.stream = &stream;
    options.temporary = "no/such/folder";
    assert_int_equal(nigh_dedup_run(*state, &path, 1, &reading, &options, &dedup, &error), NIGH_ENOTFOUND);
    assert_string_equal(error.file, "no/such/folder");
}

static void test_scored(void **state) {
    const char *in =
        "{\"text\":\"a b c\",\"s\":1}\n{\"text\":\"a b c\",\"s\":1e999}\n{\"text\":\"a b c\",\"s\":\"2\"}\n"
        "{\"text\":\"a b c\",\"s\":99999999999999999999}\n";
    const char *path = "scored.jsonl";
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_document document = {.size = sizeof document};
    nigh_dedup *dedup;
    nigh_error error;
    file_write_all(path, in, strlen(in));
    options.keep = NIGH_KEEP_SCORE;
    options.score_key = "s";
    assert_ok(nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error), &error);
    nigh_dedup_describe(dedup, &info);
    assert_int_equal(info.scored, 3);
    assert_int_equal(nigh_dedup_at(dedup, 0, &document), NIGH_OK);
    assert_int_equal(document.cluster, 1);
    nigh_dedup_free(dedup);
    options.score_key = "t";
    assert_ok(nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error), &error);
    nigh_dedup_describe(dedup, &info);
    assert_int_equal(info.scored, 0);
    nigh_dedup_free(dedup);
}

static void test_true_ids(void **state) {
    const char *in = "{\"id\":\"a\\tb\\n\\u0000c\",\"text\":\"x\"}\n";
    const char *path = "ids.jsonl";
    nigh_dedup_document document = {.size = sizeof document};
    nigh_dedup *dedup;
    nigh_error error;
    file_write_all(path, in, strlen(in));
    assert_ok(nigh_dedup_run(*state, &path, 1, NULL, NULL, &dedup, &error), &error);
    assert_int_equal(nigh_dedup_at(dedup, 0, &document), NIGH_OK);
    assert_int_equal(document.id_length, 6);
    assert_memory_equal(document.id, "a\tb\n\0c", 6);
    nigh_dedup_free(dedup);
}

/* ------------------------------------------------------------------- crowds */

#define CROWD 1101
#define WORDS 60

/* Permutations of the same words have one simhash of words; the last is nearly the 600th. */
static void write_crowd(const char *path) {
    struct memory_sink in = {0};
    unsigned words[WORDS], near[WORDS];
    for (unsigned i = 0; i < WORDS; i++) words[i] = i;
    for (uint64_t d = 0; d < CROWD; d++) {
        for (unsigned i = WORDS; i-- > 1;) {
            const unsigned other = (unsigned)(nigh__mix(d << 32 | i) % (i + 1));
            const unsigned word = words[i];
            words[i] = words[other];
            words[other] = word;
        }
        if (d == 600) memcpy(near, words, sizeof near);
        if (d == CROWD - 1) {
            memcpy(words, near, sizeof near);
            words[0] = near[1], words[1] = near[0];
        }
        sink_text(&in, "{\"text\":\"");
        for (unsigned i = 0; i < WORDS; i++) {
            char word[24];
            (void)snprintf(word, sizeof word, "word%c%c ", 'a' + words[i] / 26, 'a' + words[i] % 26);
            sink_text(&in, word);
        }
        sink_text(&in, "\"}\n");
    }
    file_write_all(path, in.bytes, in.length);
    free(in.bytes);
}

static void test_crowd(void **state) {
    const char *path = "crowd.jsonl";
    nigh_signer_options signer;
    nigh_signer_options_init(&signer);
    nigh_dedup_options options;
    nigh_dedup_options_init(&options);
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_document document = {.size = sizeof document};
    nigh_error error;
    write_crowd(path);
    signer.scheme = NIGH_SCHEME_SIMHASH;
    signer.features = NIGH_FEATURES_WORDS;
    options.method = NIGH_DEDUP_SIMHASH;
    options.signer = &signer;
    for (int small = 0; small < 2; small++) {
        nigh_dedup *dedup;
        options.bucket_budget = small ? 1000 : 0;
        assert_ok(nigh_dedup_run(*state, &path, 1, NULL, &options, &dedup, &error), &error);
        nigh_dedup_describe(dedup, &info);
        assert_int_equal(info.documents, CROWD);
        assert_int_equal(info.truncated > 0, small);
        assert_int_equal(nigh_dedup_at(dedup, CROWD - 1, &document), NIGH_OK);
        assert_int_equal(document.cluster, small ? CROWD - 1 : 600);
        nigh_dedup_free(dedup);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_cut_compressed), cmocka_unit_test(test_warc),
        cmocka_unit_test(test_folder),       cmocka_unit_test(test_forms),          cmocka_unit_test(test_scored),
        cmocka_unit_test(test_true_ids),     cmocka_unit_test(test_crowd),          cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_warc_damaged),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
