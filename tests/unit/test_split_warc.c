/* SPDX-License-Identifier: Apache-2.0 */
/* WARC as crawlers write it, and as no one should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "support/split_support.h"

#define HEAD(type, media, length)                                                                  \
    "WARC/1.0\r\nWARC-Type: " type "\r\nWARC-Target-URI: http://a/\r\nContent-Type: " media "\r\n" \
    "Content-Length: " length "\r\n\r\n"
#define GOOD \
    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://good/\r\nContent-Length: 4\r\n\r\ngood\r\n\r\n"

static void expect(const char *text, const char *expected) { assert_split(NIGH_TEXT_WARC, text, expected); }

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {HEAD("response", "application/http; msgtype=response", "2") "hi\r\n\r\n",
         "0 http http://a/ offset 0 line 0 |hi|\n"},
        {HEAD("response", "text/html;charset=x", "2") "hi\r\n\r\n", "0 html http://a/ offset 0 line 0 |hi|\n"},
        {HEAD("response", "TEXT/Plain", "2") "hi\r\n\r\n", "0 text http://a/ offset 0 line 0 |hi|\n"},
        {HEAD("response", "text/dns", "2") "hi\r\n\r\n", ""},
        {HEAD("response", "image/png", "2") "hi\r\n\r\n", ""},
        {HEAD("response", "", "6") "HTTP/1\r\n\r\n", "0 http http://a/ offset 0 line 0 |HTTP/1|\n"},
        {HEAD("response", "", "6") "HTML/1\r\n\r\n", ""},
        {HEAD("Conversion", "text/plain", "2") "hi\r\n\r\n", "0 text http://a/ offset 0 line 0 |hi|\n"},
        {HEAD("conversion", "", "0") "\r\n\r\n", "0 text http://a/ offset 0 line 0 ||\n"},
        {HEAD("conversion", "application/http", "2") "hi\r\n\r\n", ""},
        {HEAD("resource", "text/html", "2") "hi\r\n\r\n", ""},
        {HEAD("request", "application/http", "2") "hi\r\n\r\n", ""},
        {HEAD("warcinfo", "text/plain", "2") "hi\r\n\r\n", ""},
        {HEAD("metadata", "text/plain", "2") "hi\r\n\r\n", ""},
        {HEAD("revisit", "application/http", "2") "hi\r\n\r\n", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect(cases[i].text, cases[i].expected);
    expect("", "");
    expect(HEAD("request", "x", "3") "abc\r\n\r\n" GOOD HEAD("metadata", "x", "0") "\r\n\r\n" GOOD,
           "0 text http://good/ offset 103 line 0 |good|\n"
           "1 text http://good/ offset 297 line 0 |good|\n");
}

static void test_spelling(void **state) {
    (void)state;
    expect("WARC/0.18\nwarc-TYPE:conversion\nWARC-target-uri:  <http://b/>  \ncontent-LENGTH: 3\n\nabc\n\n" GOOD,
           "0 text http://b/ offset 0 line 0 |abc|\n1 text http://good/ offset 87 line 0 |good|\n");
    expect("WARC/1.0\r\nWARC-Type:\r\n conversion\r\nContent-Length:\r\n\t3\r\nWARC-Target-URI: http://a/\r\n  "
           "b\r\n\r\nabc",
           "0 text http://a/    b offset 0 line 0 |abc|\n");
    expect("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:1>\r\nContent-Length: 3\r\n\r\nabc",
           "0 text urn:1 offset 0 line 0 |abc|\n");
    expect("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 3\r\n\r\nabc" GOOD
           "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\nx",
           "0 text -:1 offset 0 line 0 |abc|\n1 text http://good/ offset 57 line 0 |good|\n2 text -:3 offset 150 line "
           "0 |x|\n");
    expect("\xef\xbb\xbf\r\n\n" GOOD, "0 text http://good/ offset 6 line 0 |good|\n");
    expect("WARC/1.0\nWARC-Type: conversion\nWARC-Target-URI: a\tb\nContent-Length: 1\n\nx",
           "0 text a\tb offset 0 line 0 |x|\n");
}

/* After each of these the good record is found. */
static void test_malformed(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"garbage\r\nmore WARC/1.0\r\n", "no WARC record begins here"},
        {"WARC/1.0\r\nWARC-Type: response\r\n\r\nabc\r\n\r\n", "the record has no Content-Length"},
        {"WARC/1.0\r\n\r\n", "the record has no Content-Length"},
        {"WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n", "the record has no WARC-Type"},
        {HEAD("response", "text/plain", "") "abc\r\n", "the record's Content-Length is not a number"},
        {HEAD("response", "text/plain", "-1") "abc\r\n", "the record's Content-Length is not a number"},
        {HEAD("response", "text/plain", "1x") "abc\r\n", "the record's Content-Length is not a number"},
        {HEAD("response", "text/plain", "18446744073709551616") "abc\r\n",
         "the record's Content-Length is not a number"},
        {"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n", "another record begins inside this header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        char expected[1024];
        (void)snprintf(text, sizeof text, "%s%s", cases[i].text, GOOD);
        (void)snprintf(expected, sizeof expected,
                       "0 problem '-', offset 0: %s\n1 text http://good/ offset %zu line 0 |good|\n", cases[i].why,
                       strlen(cases[i].text));
        expect(text, expected);
    }
    expect(HEAD("request", "x", "1") "abc\r\n\r\n" GOOD,
           "0 problem '-', offset 97: no WARC record begins here\n1 text http://good/ offset 103 line 0 |good|\n");
    expect(GOOD HEAD("response", "text/plain", "18446744073709551615") GOOD,
           "0 text http://good/ offset 0 line 0 |good|\n1 problem '-', offset 93: the file ends inside this record\n");
}

/* Cut anywhere, a file gives the records before the cut and at most one problem. */
static void test_cut(void **state) {
    (void)state;
    char text[] = GOOD HEAD("response", "application/http", "4") "hite\r\n\r\n";
    size_t first = strlen(GOOD) - 4;
    size_t second = strlen(text) - 4;
    for (size_t length = 0; length <= strlen(text); length++) {
        nigh_text_reader_options options;
        nigh__options_defaults(&nigh__text_reader_options_shape, &options);
        options.format = NIGH_TEXT_WARC;
        char *read = split_bytes(&options, text, length);
        bool problem = strstr(read, "problem") != NULL;
        assert_int_equal(strstr(read, "|good|") != NULL, length >= first);
        assert_int_equal(strstr(read, "|hite|") != NULL, length >= second);
        assert_int_equal(problem, (length > 0 && length < first) || (length > first + 4 && length < second));
        free(read);
    }
}

/* Headers of 64 KiB are the most; a line without an end is passed over. */
static void test_long_header(void **state) {
    (void)state;
    for (int lines = 0; lines < 2; lines++) {
        struct memory_sink sink = {0};
        sink_text(&sink, "WARC/1.0\r\nWARC-Type: conversion\r\nX: ");
        for (int i = 0; i < 7000; i++) sink_text(&sink, lines ? "0123456789\r\nX:" : "0123456789");
        sink_text(&sink, "\r\nContent-Length: 2\r\n\r\nhi\r\n");
        char expected[256];
        (void)snprintf(expected, sizeof expected,
                       "0 problem '-', offset 0: the header of this record is longer than 64 KiB\n"
                       "1 text http://good/ offset %zu line 0 |good|\n",
                       sink.length);
        sink_text(&sink, GOOD);
        sink_add(&sink, "", 1);
        expect((char *)sink.bytes, expected);
        free(sink.bytes);
    }
}

static void test_limit(void **state) {
    (void)state;
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.max_document_bytes = 4;
    static const char text[] =
        GOOD HEAD("response", "text/plain", "5") "12345\r\n\r\n" HEAD("request", "x", "5") "12345\r\n\r\n" GOOD;
    char *read = split_bytes(&options, text, strlen(text));
    assert_string_equal(
        read, "0 text http://good/ offset 0 line 0 |good|\n"
              "1 problem '-', offset 93: the document is longer than 4 bytes; max_document_bytes allows no more\n"
              "2 text http://good/ offset 313 line 0 |good|\n");
    free(read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds), cmocka_unit_test(test_spelling),    cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_long_header), cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
