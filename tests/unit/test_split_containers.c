/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The same documents out of every container, and what becomes of broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <cmocka.h>

#include "document/document_options.h"
#include "support/split_support.h"

#define WARC                                                                                              \
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Type: application/http\r\n" \
    "Content-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n"                                           \
    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://b/\r\nContent-Length: 4\r\n\r\ntext\r\n\r\n"

static const int filters[] = {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_XZ,
                              ARCHIVE_FILTER_BZIP2};
#define FILTERS (sizeof filters / sizeof filters[0])

static char *split_file(const char *name, const void *bytes, size_t length) {
    file_write_all(name, bytes, length);
    return split_path(name);
}

static struct bytes joined(struct bytes a, struct bytes b) {
    struct memory_sink sink = {0};
    sink_add(&sink, a.data, a.length);
    sink_add(&sink, b.data, b.length);
    free(a.data);
    free(b.data);
    return (struct bytes){.data = sink.bytes, .length = sink.length};
}

/* Every format in every kind of compression, in one stream and in two joined in the middle of a record. */
static void test_compressed(void **state) {
    (void)state;
    static const char warc[] = WARC;
    static const char *const texts[] = {"plain text\n", "{\"a\": 1}\n{\"b\": 2}\n",         "<html>page</html>",
                                        warc,           "<DOC>one</DOC>\n<DOC>two</DOC>\n", ""};
    for (size_t text = 0; text < sizeof texts / sizeof texts[0]; text++) {
        size_t length = strlen(texts[text]);
        char *expected = split_file("in", texts[text], length);
        assert_null(strstr(expected, "problem"));
        for (size_t i = 1; i < FILTERS; i++) {
            struct bytes packed = pack_bytes(filters[i], texts[text], length);
            char *read = split_file("in", packed.data, packed.length);
            assert_string_equal(read, expected);
            free(read);
            free(packed.data);
            struct bytes parts = joined(pack_bytes(filters[i], texts[text], length / 2),
                                        pack_bytes(filters[i], texts[text] + length / 2, length - length / 2));
            read = split_file("in", parts.data, parts.length);
            assert_string_equal(read, expected);
            free(read);
            free(parts.data);
        }
        free(expected);
    }
}

/* Archives: members in their order, folders and links passed over, names cleaned. */
static void test_archives(void **state) {
    (void)state;
    static const struct member members[] = {
        {"./b.txt", "text b", 6},
        {"folder/", NULL, 0},
        {"folder/a.jsonl", "{\"a\":1}\n{\"b\":2}", 15},
        {"/link -> b.txt", NULL, 0},
        {"/.//z.warc", WARC, sizeof WARC - 1},
        {"empty", NULL, 0},
        {"\xc3\xa9.html", "<html>", 6},
        {"binary", "\0\1", 2},
    };
    static const char expected[] = "0 text in/b.txt offset 0 line 0 |text b|\n"
                                   "1 json in/folder/a.jsonl:1 offset 0 line 1 |{\"a\":1}|\n"
                                   "2 json in/folder/a.jsonl:2 offset 8 line 2 |{\"b\":2}|\n"
                                   "3 http http://a/ offset 0 line 0 |HTTP/1.1 200 OK\r~\r~|\n"
                                   "4 text http://b/ offset 136 line 0 |text|\n"
                                   "5 text in/empty offset 0 line 0 ||\n"
                                   "6 html in/\xc3\xa9.html offset 0 line 0 |<html>|\n"
                                   "7 problem 'in/binary': looks binary\n";
    size_t count = sizeof members / sizeof members[0];
    for (size_t i = 0; i < FILTERS; i++) {
        struct bytes packed = pack_members(PACK_TAR, filters[i], members, count);
        char *read = split_file("in", packed.data, packed.length);
        assert_string_equal(read, expected);
        free(read);
        free(packed.data);
    }
    /* A zip that is read as a stream does not know links, so there is none in this one. */
    struct member without[sizeof members / sizeof members[0]];
    memcpy(without, members, sizeof members);
    without[3] = (struct member){.name = "folder2/"};
    struct bytes packed = pack_members(PACK_ZIP, ARCHIVE_FILTER_NONE, without, count);
    char *read = split_file("in", packed.data, packed.length);
    assert_string_equal(read, expected);
    free(read);
    free(packed.data);
}

/* A compressed member is seen through; what is packed any deeper is named and left. */
static void test_nested(void **state) {
    (void)state;
    static const struct member inside = {"x", "text", 4};
    struct bytes gz = pack_bytes(ARCHIVE_FILTER_GZIP, "text", 4);
    struct bytes gzgz = pack_bytes(ARCHIVE_FILTER_ZSTD, gz.data, gz.length);
    struct bytes tar = pack_members(PACK_TAR, ARCHIVE_FILTER_NONE, &inside, 1);
    struct bytes tgz = pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, &inside, 1);
    const struct member members[] = {{"a.gz", gz.data, gz.length},
                                     {"b", gzgz.data, gzgz.length},
                                     {"c.tar", tar.data, tar.length},
                                     {"d.tgz", tgz.data, tgz.length},
                                     {"e", "end", 3}};
    struct bytes packed = pack_members(PACK_TAR, ARCHIVE_FILTER_NONE, members, 5);
    char *read = split_file("in", packed.data, packed.length);
    assert_string_equal(read, "0 text in/a.gz offset 0 line 0 |text|\n"
                              "1 problem 'in/b': is compressed more than once; skipped\n"
                              "2 problem 'in/c.tar': is an archive inside an archive; skipped\n"
                              "3 problem 'in/d.tgz': is an archive inside an archive; skipped\n"
                              "4 text in/e offset 0 line 0 |end|\n");
    free(read);
    read = split_file("in", gzgz.data, gzgz.length);
    assert_string_equal(read, "0 problem 'in': is compressed more than once; skipped\n");
    free(read);
    free(packed.data);
    free(gz.data);
    free(gzgz.data);
    free(tar.data);
    free(tgz.data);
}

/* Cut anywhere: whole lines before the cut may come out, a problem must, and nothing that was not there. */
static void test_cut(void **state) {
    (void)state;
    static const char text[] = "{\"text\": \"first line\"}\n{\"text\": \"second line\"}\n";
    for (size_t i = 1; i < FILTERS; i++) {
        struct bytes packed = pack_bytes(filters[i], text, strlen(text));
        for (size_t length = 10; length < packed.length; length++) {
            char *read = split_file("in", packed.data, length);
            if (strstr(read, "problem") == NULL) fail_msg("filter %d cut to %zu bytes: %s", filters[i], length, read);
            const char *first = strstr(read, "json");
            if (first != NULL) assert_non_null(strstr(first, "first line\"}|\n"));
            free(read);
        }
        free(packed.data);
    }
}

/* A plain text that breaks off is no document; lines are, as far as they are whole. */
static void test_broken_gzip(void **state) {
    (void)state;
    struct bytes packed = pack_bytes(ARCHIVE_FILTER_GZIP, "one\ntwo\nthree", 13);
    packed.data[packed.length - 8] ^= 1; /* its checksum */
    file_write_all("in", packed.data, packed.length);
    char *read = split_path("in");
    assert_string_equal(read, "0 problem 'in', offset 13: cannot be unpacked from here on: incorrect data check\n");
    free(read);
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = NIGH_TEXT_LINES;
    read = split_bytes(&options, packed.data, packed.length);
    assert_string_equal(read, "0 text -:1 offset 0 line 1 |one|\n1 text -:2 offset 4 line 2 |two|\n"
                              "2 problem '-', offset 13: cannot be unpacked from here on: incorrect data check\n");
    free(read);
    packed.data[packed.length - 8] ^= 1;
    struct bytes padded = joined(packed, (struct bytes){.data = calloc(600, 1), .length = 600});
    read = split_file("in", padded.data, padded.length);
    assert_string_equal(read, "0 text in offset 0 line 0 |one~two~three|\n");
    free(read);
    free(padded.data);
}

/* The members around a broken one are read where the archive allows it. */
static void test_broken_members(void **state) {
    (void)state;
    char large[3000];
    memset(large, 'x', sizeof large);
    const struct member members[] = {{"a", "text a", 6}, {"b", large, sizeof large}, {"c", "text c", 6}};
    struct bytes tar = pack_members(PACK_TAR, ARCHIVE_FILTER_NONE, members, 3);
    size_t second = 1024;
    assert_memory_equal(tar.data + second, "b", 2);
    tar.data[second + 1] = 'B'; /* and the checksum of the header no longer fits */
    char *read = split_file("in", tar.data, tar.length);
    assert_string_equal(read, "0 text in/a offset 0 line 0 |text a|\n"
                              "1 problem 'in', offset 1024: cannot be unpacked from here on: Damaged tar archive\n"
                              "2 text in/c offset 0 line 0 |text c|\n");
    free(read);
    tar.data[second + 1] = 0;
    read = split_file("in", tar.data, 2000); /* cut in the second */
    assert_string_equal(read, "0 text in/a offset 0 line 0 |text a|\n1 problem 'in/b', offset 464: cannot be unpacked "
                              "from here on: it is cut short\n");
    free(read);
    free(tar.data);
    struct bytes tgz = pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, members, 1);
    tgz.data[tgz.length - 8] ^= 1; /* the checksum, which lies behind the end of the tar */
    read = split_file("in", tgz.data, tgz.length);
    assert_non_null(strstr(read, "0 text in/a offset 0 line 0 |text a|\n1 problem 'in', offset "));
    assert_non_null(strstr(read, "incorrect data check"));
    free(read);
    free(tgz.data);
    struct bytes zip = pack_members(PACK_ZIP, ARCHIVE_FILTER_NONE, members, 3);
    uint8_t *descriptor = memmem(zip.data, zip.length, "PK\7\x08", 4); /* behind the first member */
    assert_non_null(descriptor);
    descriptor[4] ^= 1; /* its checksum */
    read = split_file("in", zip.data, zip.length);
    assert_non_null(strstr(read, "0 problem 'in/a', offset 0: cannot be unpacked from here on: ZIP bad CRC"));
    assert_non_null(strstr(read, "2 text in/c offset 0 line 0 |text c|\n"));
    free(read);
    free(zip.data);
}

/* Text that others would take for an archive. */
static void test_lookalikes(void **state) {
    (void)state;
    static const char *const texts[] = {"#mtree\n. type=dir\n", "!<arch>\n", "070707",          "PK without more",
                                        "BZh1 is not",          "%!PS",      "/set type=file\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *read = split_text(NIGH_TEXT_AUTO, texts[i]);
        assert_int_equal(strncmp(read, "0 text - offset 0 line 0 |", 26), 0);
        assert_int_equal(strlen(read), 26 + strlen(texts[i]) + 2);
        free(read);
    }
}

/* Each record and each problem is in one shard, with the number it has in the whole. */
static void test_shards(void **state) {
    (void)state;
    static const struct member members[] = {{"a.jsonl", "{}\n\n{\"a\":1}\n{\"b\":2}", 19},
                                            {"b", "text", 4},
                                            {"c", "\0", 1},
                                            {"d.warc", WARC, sizeof WARC - 1},
                                            {"e", "<DOC>a</DOC><DOC>b</DOC><DOC>c", 30},
                                            {"f", "too long a text", 15},
                                            {"g", "g", 1}};
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    struct bytes packed = pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, members, 7);
    options.max_document_bytes = 12;
    char *whole = split_bytes(&options, packed.data, packed.length);
    size_t total = 0;
    for (const char *c = whole; *c != '\0'; c++) total += *c == '\n';
    assert_int_equal(total, 12);
    for (uint64_t shards = 1; shards <= 13; shards++) {
        size_t lines = 0;
        options.shards = shards;
        for (options.shard = 0; options.shard < shards; options.shard++) {
            char *part = split_bytes(&options, packed.data, packed.length);
            char *rest = part;
            for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL; lines++) {
                assert_non_null(strstr(whole, line));
                assert_int_equal(strtoul(line, NULL, 10) % shards, options.shard);
            }
            free(part);
        }
        assert_int_equal(lines, total);
    }
    free(whole);
    free(packed.data);
}

#define LARGE ((size_t)40000) /* of a member: more than is looked at ahead */

/* The records of all shards are those of the whole, each once. */
static void expect_shared_out(nigh_text_reader_options *options, const char *const *paths, size_t count) {
    nigh_context *context = context_new();
    options->shards = options->shard = 0;
    char *whole = split_transcript(context, paths, count, options, 1 << 18);
    size_t total = 0, lines = 0;
    for (const char *c = whole; *c != '\0'; c++) total += *c == '\n';
    options->shards = 2;
    for (options->shard = 0; options->shard < 2; options->shard++) {
        char *part = split_transcript(context, paths, count, options, 1 << 18);
        char *rest = part;
        for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL; lines++) {
            assert_non_null(strstr(whole, line));
            assert_int_equal(strtoul(line, NULL, 10) % 2, options->shard);
        }
        free(part);
    }
    assert_int_equal(lines, total);
    free(whole);
    nigh_context_free(context);
}

/* A broken archive takes the same numbers in every shard, whichever wants the member that is broken. */
static void test_shards_broken(void **state) {
    (void)state;
    static const char *const paths[] = {"cut", "y", "z"};
    static const int packed[] = {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2};
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    char *large = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++) large[i] = (char)('a' + (i * i / 7) % 25);
    const struct member members[] = {{"m0", large, LARGE}, {"m1", large, LARGE}, {"m2", large, LARGE}};
    file_write_all("y", "text y", 6);
    file_write_all("z", "text z", 6);
    for (size_t i = 0; i < 2 * sizeof packed / sizeof packed[0]; i++) {
        options.max_document_bytes = i % 2 == 0 ? LARGE : 10000; /* whole, and too long */
        for (size_t count = 1; count <= 3; count++) {
            struct bytes tar = pack_members(PACK_TAR, packed[i / 2], members, count);
            for (size_t part = 3; part <= 10; part++) { /* the last cuts nothing off */
                file_write_all("cut", tar.data, tar.length * part / 10);
                expect_shared_out(&options, paths, 3);
            }
            free(tar.data);
        }
    }
    free(large);
}

/* What follows the last good stream is no stream: zeros are passed over, all else is told, after what was good. */
static void test_rest(void **state) {
    (void)state;
    static const int both[] = {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2};
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = NIGH_TEXT_LINES;
    for (size_t i = 0; i < 2; i++) {
        const size_t zeros = 100000;
        struct bytes third = pack_bytes(both[i], "three\n", 6);
        third.data[0] ^= 1;
        struct bytes good = joined(pack_bytes(both[i], "one\n", 4), pack_bytes(both[i], "two\n", 4));
        good = joined(good, (struct bytes){.data = calloc(zeros, 1), .length = zeros});
        char *read = split_bytes(&options, good.data, good.length);
        assert_string_equal(read, "0 text -:1 offset 0 line 1 |one|\n1 text -:2 offset 4 line 2 |two|\n");
        free(read);
        for (size_t before = 0; before <= zeros; before += zeros) {
            struct memory_sink sink = {0};
            sink_add(&sink, good.data, good.length - zeros + before);
            sink_add(&sink, third.data, third.length);
            read = split_bytes(&options, sink.bytes, sink.length);
            assert_non_null(strstr(read, "1 text -:2 offset 4 line 2 |two|\n2 problem '-', offset 8: cannot be "
                                         "unpacked from here on: something that is not "));
            free(read);
            free(sink.bytes);
        }
        free(good.data);
        free(third.data);
    }
}

/* One that is encrypted, and one behind it that is not. */
static void test_encrypted(void **state) {
    (void)state;
    static const char zip[] = "PK\3\4\x14\0\1\0\0\0\0\0\0\0"
                              "\1\2\3\4\x0e\0\0\0\2\0\0\0\1\0\0\0a"
                              "\x91\x12\xf3\x54\xb5\x66\x87\x78\x99\xaa\x1b\xbc\x2d\xdc"
                              "PK\3\4\x14\0\0\0\0\0\0\0\0\0"
                              "\x60\x7a\xe8\xbb\6\0\0\0\6\0\0\0\1\0\0\0b"
                              "text b"
                              "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    char *read = split_file("in", zip, sizeof zip - 1);
    assert_int_equal(strncmp(read, "0 problem 'in/a': is encrypted", 30), 0);
    assert_non_null(strstr(read, "\n1 text in/b offset 0 line 0 |text b|\n"));
    free(read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compressed), cmocka_unit_test(test_archives),    cmocka_unit_test(test_nested),
        cmocka_unit_test(test_cut),        cmocka_unit_test(test_broken_gzip), cmocka_unit_test(test_broken_members),
        cmocka_unit_test(test_lookalikes), cmocka_unit_test(test_shards),      cmocka_unit_test(test_shards_broken),
        cmocka_unit_test(test_rest),       cmocka_unit_test(test_encrypted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
