/* SPDX-License-Identifier: Apache-2.0 */
/* Where records begin and end in lines, JSON lines, TREC and whole files, and how a format is recognised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "document/sniff.h"
#include "support/split_support.h"

static void test_lines(void **state) {
    (void)state;
    assert_split(NIGH_TEXT_LINES, "", "");
    assert_split(NIGH_TEXT_LINES, "\n\r\n\n", "");
    assert_split(NIGH_TEXT_LINES, "one\ntwo\r\n\n\r\n five\nlast",
                 "0 text -:1 offset 0 line 1 |one|\n"
                 "1 text -:2 offset 4 line 2 |two|\n"
                 "2 text -:5 offset 12 line 5 | five|\n"
                 "3 text -:6 offset 18 line 6 |last|\n");
    assert_split(NIGH_TEXT_LINES, "\xef\xbb\xbfmark\n \n\r\r\n",
                 "0 text -:1 offset 3 line 1 |mark|\n"
                 "1 text -:2 offset 8 line 2 | |\n"
                 "2 text -:3 offset 10 line 3 |\r|\n");
    assert_split(NIGH_TEXT_LINES,
                 "\xff\xfe"
                 "a",
                 "0 problem '-', offset 0: lines of UTF-16 or UTF-32 are not read; the file is skipped\n");
}

static void test_jsonl(void **state) {
    (void)state;
    assert_split(NIGH_TEXT_AUTO, "{\"a\":1}\n \t\r\n{}\r\n[]\nx",
                 "0 json -:1 offset 0 line 1 |{\"a\":1}|\n"
                 "1 json -:3 offset 12 line 3 |{}|\n"
                 "2 json -:4 offset 16 line 4 |[]|\n"
                 "3 json -:5 offset 19 line 5 |x|\n");
}

static void test_whole(void **state) {
    (void)state;
    assert_split(NIGH_TEXT_AUTO, "", "0 text - offset 0 line 0 ||\n");
    assert_split(NIGH_TEXT_AUTO, "some\ntext\n", "0 text - offset 0 line 0 |some~text~|\n");
    assert_split(NIGH_TEXT_AUTO, "<html>x", "0 html - offset 0 line 0 |<html>x|\n");
    assert_split(NIGH_TEXT_PLAIN, "<html>x", "0 text - offset 0 line 0 |<html>x|\n");
    assert_split(NIGH_TEXT_HTML, "text", "0 html - offset 0 line 0 |text|\n");
}

static void test_trec(void **state) {
    (void)state;
    assert_split(NIGH_TEXT_AUTO,
                 "<DOC>\n<DOCNO> A </DOCNO>\na < b </DO <</DOC>\nbetween\n<doc>2</Doc><DOC></DOC> after <DOC",
                 "0 trec -:1 offset 0 line 0 |~<DOCNO> A </DOCNO>~a < b </DO <|\n"
                 "1 trec -:2 offset 52 line 0 |2|\n"
                 "2 trec -:3 offset 64 line 0 ||\n");
    assert_split(NIGH_TEXT_TREC, "<DOC>lost<DOC>found</DOC><DOC>cut </DOC",
                 "0 problem '-', offset 0: the document has no </DOC>; another <DOC> comes first\n"
                 "1 trec -:2 offset 9 line 0 |found|\n"
                 "2 problem '-', offset 25: the file ends inside a document\n");
    assert_split(NIGH_TEXT_TREC, "nothing <DOCS> </DOC>", "0 problem '-', offset 0: there is no <DOC> in the file\n");
}

/* Each over the limit by one, and at it; what is over leaves nothing behind. */
static void test_document_limit(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.max_document_bytes = 5;
    static const struct {
        nigh_text_format format;
        const char *text, *expected;
    } cases[] = {
        {NIGH_TEXT_LINES, "12345\r\n123456\n1234567890\n12345\n123456\r\n",
         "0 text -:1 offset 0 line 1 |12345|\n"
         "1 problem '-', line 2: the document is longer than 5 bytes; max_document_bytes allows no more\n"
         "2 problem '-', line 3: the document is longer than 5 bytes; max_document_bytes allows no more\n"
         "3 text -:4 offset 25 line 4 |12345|\n"
         "4 problem '-', line 5: the document is longer than 5 bytes; max_document_bytes allows no more\n"},
        {NIGH_TEXT_PLAIN, "12345", "0 text - offset 0 line 0 |12345|\n"},
        {NIGH_TEXT_PLAIN, "123456",
         "0 problem '-', offset 0: the document is longer than 5 bytes; max_document_bytes allows no more\n"},
        {NIGH_TEXT_PLAIN, "123456789",
         "0 problem '-', offset 0: the document is longer than 5 bytes; max_document_bytes allows no more\n"},
        {NIGH_TEXT_TREC, "<DOC>12345</DOC><DOC>123<56</DOC><DOC>1</DOC>",
         "0 trec -:1 offset 0 line 0 |12345|\n"
         "1 problem '-', offset 16: the document is longer than 5 bytes; max_document_bytes allows no more\n"
         "2 trec -:3 offset 33 line 0 |1|\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        options.format = cases[i].format;
        char *text = split_bytes(&options, cases[i].text, strlen(cases[i].text));
        assert_string_equal(text, cases[i].expected);
        free(text);
    }
}

/* Lines that are many times as long as any buffer, and end where one does. */
static void test_long_lines(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = NIGH_TEXT_LINES;
    nigh_context *context = context_new();
    for (size_t length = (1 << 18) - 2; length <= (1 << 18) + 2; length++) {
        char *bytes = malloc(3 * length + 3);
        memset(bytes, 'x', 3 * length + 3);
        bytes[length] = '\n';
        bytes[3 * length + 1] = '\n';
        file_write_all("long.txt", bytes, 3 * length + 3);
        const char *path = "long.txt";
        char *text = split_transcript(context, &path, 1, &options, 1 << 18);
        char expected[3][64];
        (void)snprintf(expected[0], 64, "0 text long.txt:1 offset 0 line 1 |x");
        (void)snprintf(expected[1], 64, "\n1 text long.txt:2 offset %zu line 2 |x", length + 1);
        (void)snprintf(expected[2], 64, "\n2 text long.txt:3 offset %zu line 3 |x|\n", 3 * length + 2);
        assert_memory_equal(text, expected[0], strlen(expected[0]));
        assert_non_null(strstr(text, expected[1]));
        assert_non_null(strstr(text, expected[2]));
        assert_int_equal(strlen(text), 3 * length + strlen(expected[0]) + strlen(expected[1]) + strlen(expected[2]));
        free(text);
        free(bytes);
    }
    nigh_context_free(context);
}

/* A path is an id as it is, and where it is too long cut.  The transcript shows a newline as '~'. */
static void test_ids(void **state) {
    (void)state;
    file_write_all("a\tb\nc", "x\ny", 3);
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = NIGH_TEXT_LINES;
    nigh_context *context = context_new();
    const char *path = "a\tb\nc";
    char *text = split_transcript(context, &path, 1, &options, 1 << 18);
    assert_string_equal(text, "0 text a\tb~c:1 offset 0 line 1 |x|\n1 text a\tb~c:2 offset 2 line 2 |y|\n");
    free(text);
    nigh_context_free(context);
}

/* Line numbers in ids go through every number of digits. */
static void test_line_numbers(void **state) {
    (void)state;
    struct memory_sink sink = {0};
    struct memory_sink expected = {0};
    char line[128];
    for (unsigned i = 1; i <= 11000; i++) {
        bool blank = i % 100 == 0;
        if (!blank) {
            (void)snprintf(line, sizeof line, "%u text -:%u offset %zu line %u |%u|\n", i - 1 - i / 100, i, sink.length,
                           i, i);
            sink_text(&expected, line);
            (void)snprintf(line, sizeof line, "%u", i);
            sink_text(&sink, line);
        }
        sink_text(&sink, "\n");
    }
    sink_add(&sink, "", 1);
    sink_add(&expected, "", 1);
    assert_split(NIGH_TEXT_LINES, (char *)sink.bytes, (char *)expected.bytes);
    free(sink.bytes);
    free(expected.bytes);
}

static void test_formats(void **state) {
    (void)state;
#define BYTES(text) text, sizeof(text) - 1
    static const struct {
        nigh_text_format format;
        const char *bytes;
        size_t length;
        const char *name;
    } cases[] = {
        {NIGH_TEXT_PLAIN, BYTES(""), "x"},
        {NIGH_TEXT_PLAIN, BYTES("hello"), "x.html"},
        {NIGH_TEXT_WARC, BYTES("WARC/1.0\r\n\0"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("WARC 1.0\r\n"), "x.warc"},
        {NIGH_TEXT_JSONL, BYTES("{\"a\": 1}"), "x"},
        {NIGH_TEXT_JSONL, BYTES("\xef\xbb\xbf \n { \"a\": 1}"), "x"},
        {NIGH_TEXT_JSONL, BYTES("{}"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("{\n  \"a\": 1}"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("{ int i; }"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("{"), "x"},
        {NIGH_TEXT_HTML, BYTES("<!DOCTYPE HTML PUBLIC>"), "x"},
        {NIGH_TEXT_HTML, BYTES("\xef\xbb\xbf\n<?xml version='1.0'?>\n<!-- <DOC> --> <Html lang=en>"), "x"},
        {NIGH_TEXT_HTML, BYTES("<body>"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("<header>"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("<p>text"), "x"},
        {NIGH_TEXT_HTML, BYTES("<p>text"), "x.HTM"},
        {NIGH_TEXT_HTML, BYTES("\xff\xfe<\0h\0t\0m\0l\0>\0"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("\xff\xfeh\0"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("\0\0\xfe\xff\0\0\0h"), "x"},
        {NIGH_TEXT_TREC, BYTES("<doc>\n"), "x"},
        {NIGH_TEXT_TREC, BYTES("<root>\n <DOC>\n"), "x"},
        {NIGH_TEXT_PLAIN, BYTES("of <DOC>"), "x"},
        {NIGH_TEXT_AUTO, BYTES("a\0b"), "x.txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *copy = malloc(cases[i].length + 1);
        memcpy(copy, cases[i].bytes, cases[i].length);
        nigh_text_format found = nigh__sniff_format((uint8_t *)copy, cases[i].length, cases[i].name);
        if (found != cases[i].format)
            fail_msg("case %zu is taken for %s, not %s", i, nigh_text_format_name(found),
                     nigh_text_format_name(cases[i].format));
        free(copy);
    }
}

static void test_containers(void **state) {
    (void)state;
    static const struct {
        enum nigh__container kind;
        const char *bytes;
        size_t length;
    } cases[] = {
        {NIGH__CONTAINER_NONE, BYTES("")},
        {NIGH__CONTAINER_GZIP, BYTES("\x1f\x8b\x08\0")},
        {NIGH__CONTAINER_NONE, BYTES("\x1f\x8b")},
        {NIGH__CONTAINER_ZSTD, BYTES("\x28\xb5\x2f\xfd")},
        {NIGH__CONTAINER_ZSTD, BYTES("\x5a\x2a\x4d\x18")},
        {NIGH__CONTAINER_XZ, BYTES("\xfd"
                                   "7zXZ\0")},
        {NIGH__CONTAINER_BZIP2, BYTES("BZh91AY&SY")},
        {NIGH__CONTAINER_NONE, BYTES("BZh is how it begins")},
        {NIGH__CONTAINER_ZIP, BYTES("PK\3\4")},
        {NIGH__CONTAINER_ZIP, BYTES("PK\5\6")},
        {NIGH__CONTAINER_NONE, BYTES("PK is a name")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(nigh__sniff_container((const uint8_t *)cases[i].bytes, cases[i].length), cases[i].kind);
    uint8_t zeros[1024] = {0};
    assert_int_equal(nigh__sniff_container(zeros, sizeof zeros), NIGH__CONTAINER_NONE);
    memset(zeros, 'a', sizeof zeros);
    assert_int_equal(nigh__sniff_container(zeros, sizeof zeros), NIGH__CONTAINER_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_jsonl),          cmocka_unit_test(test_whole),
        cmocka_unit_test(test_trec),       cmocka_unit_test(test_document_limit), cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_ids),        cmocka_unit_test(test_line_numbers),   cmocka_unit_test(test_formats),
        cmocka_unit_test(test_containers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
