/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Bombs, and everything else that wants more than it should get: a clear error, and little memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

#include <archive.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "document/document_options.h"
#include "document/xz_watch.h"
#include "support/split_support.h"

#define MEBIBYTE ((size_t)1 << 20)

#define UNIT (8 * MEBIBYTE)

/* A gzip of so many times 8 MiB of one byte: they are packed once, and the result repeated. */
static struct bytes gzip_units(char fill, size_t units) {
    struct memory_sink sink = {0};
    uint8_t *unit = malloc(UNIT);
    uint8_t *out = malloc(MEBIBYTE);
    z_stream stream = {.next_in = unit, .avail_in = (uInt)UNIT, .next_out = out, .avail_out = (uInt)MEBIBYTE};
    memset(unit, fill, UNIT);
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    assert_true(stream.avail_in == 0 && stream.avail_out > 0);
    (void)deflateEnd(&stream);
    uLong unit_check = crc32(0, unit, (uInt)UNIT);
    uLong check = 0;
    sink_add(&sink, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    for (size_t i = 0; i < units; i++) {
        sink_add(&sink, out, MEBIBYTE - stream.avail_out);
        check = crc32_combine(check, unit_check, (z_off_t)UNIT);
    }
    sink_add(&sink, "\x03\0", 2); /* the last block, of nothing */
    sink_u32(&sink, (uint32_t)check);
    sink_u32(&sink, (uint32_t)(units * UNIT));
    free(unit);
    free(out);
    return (struct bytes){.data = sink.bytes, .length = sink.length};
}

static char *split_as(nigh_text_format format, const char *path) {
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = format;
    nigh_context *context = context_new();
    char *text = split_transcript(context, &path, 1, &options, 1 << 18);
    nigh_context_free(context);
    return text;
}

/* Sanitizers have memory of their own. */
static bool is_sanitized(void) {
    const char *sanitizers = getenv("NIGH_SANITIZE");
    return sanitizers != NULL && sanitizers[0] != '\0';
}

static long peak_kib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* 1 GiB of zeros in about 1 MB, in every format it might be taken for. */
static void test_gzip_bomb(void **state) {
    (void)state;
    static const nigh_text_format formats[] = {NIGH_TEXT_AUTO,  NIGH_TEXT_PLAIN, NIGH_TEXT_LINES,
                                               NIGH_TEXT_JSONL, NIGH_TEXT_WARC,  NIGH_TEXT_TREC};
    struct bytes bomb = gzip_units(0, 128);
    assert_true(bomb.length < 2 * MEBIBYTE);
    file_write_all("bomb.gz", bomb.data, bomb.length);
    free(bomb.data);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *read = split_as(formats[i], "bomb.gz");
        const char *failure = strstr(read, "failed 'bomb.gz', offset ");
        assert_non_null(failure);
        assert_non_null(strstr(failure, ": unpacks to more than 1000 times its size ("));
        assert_non_null(strstr(failure, "; max_expansion allows no more\n"));
        assert_null(strstr(read, "|"));
        free(read);
    }
    assert_true(peak_kib() < 512L * 1024 || is_sanitized());
}

/* The same as the only member of a zip, and in a gzip that is a member. */
static void test_member_bombs(void **state) {
    (void)state;
    size_t length = 80 * MEBIBYTE;
    char *zeros = calloc(length, 1);
    struct bytes gz = gzip_units('a', 10);
    const struct member plain = {"zeros", zeros, length};
    const struct member packed = {"zeros.gz", gz.data, gz.length};
    struct bytes archives[] = {pack_members(PACK_ZIP, ARCHIVE_FILTER_NONE, &plain, 1),
                               pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, &plain, 1),
                               pack_members(PACK_TAR, ARCHIVE_FILTER_ZSTD, &packed, 1)};
    for (size_t i = 0; i < 3; i++) {
        file_write_all("bomb", archives[i].data, archives[i].length);
        char *read = split_as(NIGH_TEXT_LINES, "bomb");
        assert_non_null(strstr(read, "failed 'bomb', offset "));
        assert_null(strstr(read, "|"));
        free(read);
        free(archives[i].data);
    }
    free(gz.data);
    free(zeros);
}

/* Limits are the caller's: the same file passes with others, and a small one never needs any. */
static void test_expansion_options(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    char text[100000];
    memset(text, 'a', sizeof text);
    struct bytes gz = pack_bytes(ARCHIVE_FILTER_GZIP, text, sizeof text);
    options.max_expansion = 10;
    char *read = split_bytes(&options, gz.data, gz.length);
    assert_non_null(strstr(read, "0 text - offset 0 line 0 |aaa"));
    free(read);
    options.max_expansion_free = 1000;
    read = split_bytes(&options, gz.data, gz.length);
    assert_int_equal(strncmp(read, "failed '-', offset ", 19), 0);
    free(read);
    options.max_expansion = 2000;
    read = split_bytes(&options, gz.data, gz.length);
    assert_non_null(strstr(read, "0 text - offset 0 line 0 |aaa"));
    free(read);
    free(gz.data);
}

/* Packed members, each with less than is free: what they come to counts. */
static void test_many_members(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    char text[100000];
    memset(text, 'a', sizeof text);
    options.max_expansion = 2;
    options.max_expansion_free = 250000;
    for (int i = 0; i < 2; i++) {
        struct bytes packed = pack_bytes(i == 0 ? ARCHIVE_FILTER_GZIP : ARCHIVE_FILTER_BZIP2, text, sizeof text);
        const struct member members[] = {
            {"a", packed.data, packed.length}, {"b", packed.data, packed.length}, {"c", packed.data, packed.length}};
        struct bytes two = pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, members, 2);
        struct bytes three = pack_members(PACK_TAR, ARCHIVE_FILTER_GZIP, members, 3);
        char *read = split_bytes(&options, two.data, two.length);
        assert_non_null(strstr(read, "1 text -/b offset 0 line 0 |aaa"));
        assert_null(strstr(read, "failed"));
        free(read);
        read = split_bytes(&options, three.data, three.length);
        assert_non_null(strstr(read, "1 text -/b offset 0 line 0 |aaa"));
        assert_non_null(strstr(read, "failed '-', offset "));
        assert_non_null(strstr(read, ": unpacks to more than 2 times its size ("));
        free(read);
        free(two.data);
        free(three.data);
        free(packed.data);
    }
}

/* A frame that wants a window of 2 GiB. */
static void test_zstd_window(void **state) {
    (void)state;
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, (31 - 10) << 3, 0x29, 0, 0, 'h', 'e', 'l', 'l', 'o'};
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    char *read = split_bytes(&options, frame, sizeof frame);
    assert_non_null(strstr(read, "0 problem '-', offset 0: cannot be unpacked from here on: "));
    assert_non_null(strstr(read, "too much memory"));
    free(read);
}

/* The byte for the dictionary in the header of the block that begins at `place`, with its checksum set right. */
static void xz_set_dictionary(uint8_t *xz, size_t place, uint8_t code) {
    uint8_t *header = xz + place;
    size_t size = ((size_t)header[0] + 1) * 4;
    uint8_t *filter = memmem(header, size, "\x21\x01", 2);
    assert_non_null(filter);
    filter[2] = code;
    nigh__store32(header + size - 4, (uint32_t)crc32(0, header, (uInt)(size - 4)));
}

/* One that wants a dictionary of 2 GiB: in the first stream, and in one behind it. */
static void test_xz_dictionary(void **state) {
    (void)state;
    static const char text[] = "one\ntwo\n";
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = NIGH_TEXT_LINES;
    struct bytes xz = pack_bytes(ARCHIVE_FILTER_XZ, text, strlen(text));
    struct memory_sink sink = {0};
    sink_add(&sink, xz.data, xz.length);
    sink_add(&sink, "\0\0\0\0", 4); /* padding between streams */
    size_t second = sink.length;
    sink_add(&sink, xz.data, xz.length);
    char *read = split_bytes(&options, sink.bytes, sink.length);
    assert_non_null(strstr(read, "3 text -:4 offset 12 line 4 |two|\n"));
    free(read);
    xz_set_dictionary(sink.bytes, second + 12, 38);
    read = split_bytes(&options, sink.bytes, sink.length);
    assert_non_null(strstr(read, "it needs 2147483648 bytes of memory; the limit is 134217728\n"));
    free(read);
    xz_set_dictionary(xz.data, 12, 38);
    read = split_bytes(&options, xz.data, xz.length);
    assert_string_equal(read, "0 problem '-', offset 0: cannot be unpacked from here on: it needs 2147483648 bytes of "
                              "memory; the limit is 134217728\n");
    free(read);
    free(xz.data);
    free(sink.bytes);
}

/* The watcher stays in step over chunks of all kinds, blocks and streams: it sees the last header. */
static void test_xz_watch(void **state) {
    (void)state;
    struct memory_sink data = {0};
    uint32_t seed = 1;
    for (size_t i = 0; i < 300000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint8_t byte = i % 100000 < 50000 ? (uint8_t)(seed >> 24) : 'a'; /* chunks that pack, and that do not */
        sink_add(&data, &byte, 1);
    }
    struct bytes xz = pack_bytes(ARCHIVE_FILTER_XZ, data.bytes, data.length);
    for (size_t piece = 1; piece < 5000; piece = piece * 3 + 1) {
        struct nigh__xz_watch watch;
        nigh__xz_watch_init(&watch);
        for (int stream = 0; stream < 3; stream++) {
            if (stream == 2) xz_set_dictionary(xz.data, 12, 40);
            bool good = true;
            for (size_t at = 0; at < xz.length; at += piece)
                good =
                    nigh__xz_watch_add(&watch, xz.data + at, xz.length - at < piece ? xz.length - at : piece) && good;
            assert_int_equal(good, stream < 2);
            if (stream == 2) xz_set_dictionary(xz.data, 12, 20);
        }
        assert_true(watch.dictionary == UINT32_MAX);
    }
    free(xz.data);
    free(data.bytes);
}

static void test_members(void **state) {
    (void)state;
    static const struct member members[] = {{"a", "a", 1}, {"b", "b", 1}, {"c", "c", 1}};
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.max_members = 2;
    for (int pack = PACK_TAR; pack <= PACK_ZIP; pack++) {
        struct bytes packed = pack_members((enum pack)pack, ARCHIVE_FILTER_NONE, members, 3);
        char *read = split_bytes(&options, packed.data, packed.length);
        assert_string_equal(read, "0 text -/a offset 0 line 0 |a|\n1 text -/b offset 0 line 0 |b|\n"
                                  "failed '-': more than 2 members; max_members allows no more\n");
        free(read);
        free(packed.data);
    }
}

/* Memory does not grow with the input: 256 MiB of lines through a batch of 256 KiB. */
static void test_streaming(void **state) {
    (void)state;
    if (is_sanitized()) skip();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = NIGH_TEXT_LINES;
    options.shard = 1;
    options.shards = 1000000; /* the transcript itself must stay small */
    FILE *file = fopen("large.txt", "wb");
    char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 256 * 1024; i++) assert_int_equal(fwrite(line, 1, sizeof line, file), sizeof line);
    assert_int_equal(fclose(file), 0);
    long before = peak_kib();
    nigh_context *context = context_new();
    const char *path = "large.txt";
    char *read = split_transcript(context, &path, 1, &options, 1 << 18);
    assert_non_null(strstr(read, "1 text large.txt:2 offset 1024 line 2 |x"));
    free(read);
    nigh_context_free(context);
    assert_true(peak_kib() - before < 8L * 1024);
    assert_int_equal(remove("large.txt"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streaming),     cmocka_unit_test(test_gzip_bomb),
        cmocka_unit_test(test_member_bombs),  cmocka_unit_test(test_expansion_options),
        cmocka_unit_test(test_many_members),  cmocka_unit_test(test_zstd_window),
        cmocka_unit_test(test_xz_dictionary), cmocka_unit_test(test_xz_watch),
        cmocka_unit_test(test_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
