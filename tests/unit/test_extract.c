/* SPDX-License-Identifier: Apache-2.0 */
/* Plain text and TREC; what all kinds have in common; every allocation failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "support/extract_support.h"
#include "support/support.h"

static void expect_repaired(const char *bytes, size_t length, const char *text, uint64_t repaired) {
    nigh_context *context = context_new();
    struct extraction result = extract_with(context, NULL, NIGH__RECORD_TEXT, bytes, length);
    assert_int_equal(result.status, NIGH_OK);
    assert_string_equal(result.text, text);
    assert_string_equal(result.id, "own-id");
    assert_int_equal(result.repaired, repaired);
    extraction_release(&result);
    nigh_context_free(context);
}

#define REPAIRED(bytes, text, repaired) expect_repaired(bytes, sizeof(bytes) - 1, text, repaired)
#define GOOD(bytes, text) REPAIRED(bytes, text, NIGH_NO_OFFSET)

static void test_plain(void **state) {
    (void)state;
    GOOD("hello", "hello");
    GOOD(" <p>\u00e9\u20ac\U0001f600 ", " <p>\u00e9\u20ac\U0001f600 ");
    GOOD("\xef\xbb\xbfx", "x");
    GOOD("\xff\xfex\0\xac\x20", "x\u20ac");
    GOOD("\xfe\xff\0x\xd8\x3d\xde\x00", "x\U0001f600");
    GOOD("\xff\xfe\0\0x\0\0\0", "x");
    GOOD("\0\0\xfe\xff\0\0\0x", "x");
    GOOD("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\ud7ff\ue000\U0010ffff");
    static const char *const blank[] = {"", " ", "\t\r\n\v\f ", "\xef\xbb\xbf", "\xef\xbb\xbf \n"};
    for (size_t i = 0; i < sizeof blank / sizeof blank[0]; i++) expect_text(NIGH__RECORD_TEXT, blank[i], NULL);
}

#define R "\ufffd"

/* The examples of the Unicode standard, tables 3-8 to 3-11, among others. */
static void test_repair(void **state) {
    (void)state;
    REPAIRED("a\xff", "a" R, 1001);
    REPAIRED("ab\x80"
             "c\xe9",
             "ab" R "c" R, 1002);
    REPAIRED("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82"
             "A",
             R R R R R R R R "A", 1000);
    REPAIRED("\xed\xa0\x80\xed\xbf\xbf\xed\xaf"
             "A",
             R R R R R R R R "A", 1000);
    REPAIRED("\xf4\x91\x92\x93\xff"
             "A\x80\xbf"
             "B",
             R R R R R "A" R R "B", 1000);
    REPAIRED("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"
             "A",
             R R R R "A", 1000);
    REPAIRED("x\xe2\x82", "x" R, 1001);
    REPAIRED("x\xf0\x9f\x98", "x" R, 1001);
    REPAIRED("x\xc3", "x" R, 1001);
    REPAIRED("\xef\xbb\xbfx\xff", "x" R, 1004);
    REPAIRED("\xff\xfex\0\0\xd8y\0", "x" R "y", 1004);
    REPAIRED("\xff\xfex\0y", "x" R, 1004);
    REPAIRED("\xff\xfe\0\0x\0\0\0\0\0\x11\0", "x" R, 1008);
}

static void test_unknown_offset(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    struct nigh__extractor *extractor;
    nigh_error error;
    struct one_record one;
    nigh_text text = {.size = sizeof text};
    uint64_t repaired;
    assert_ok(nigh__extractor_new(context, &options, &extractor, &error), &error);
    one_record_init(&one, NIGH__RECORD_TEXT, "ab\xff", 3);
    one.record.offset = NIGH_NO_OFFSET;
    assert_ok(nigh__extract(extractor, &one.batch, &one.record, &text, &repaired, &error), &error);
    assert_int_equal(repaired, 2);
    one_record_release(&one);
    one_record_init(&one, NIGH__RECORD_TEXT, "abc", 3);
    assert_ok(nigh__extract(extractor, &one.batch, &one.record, &text, &repaired, &error), &error);
    assert_ptr_equal(text.text, nigh__batch_bytes(&one.batch, one.record.bytes)); /* no copy */
    one_record_release(&one);
    one_record_init(&one, NIGH__RECORD_PROBLEM, "", 0);
    assert_int_equal(nigh__extract(extractor, &one.batch, &one.record, &text, &repaired, NULL), NIGH_EINVAL);
    one_record_release(&one);
    nigh__extractor_free(extractor);
    nigh__extractor_free(NULL);
    nigh_context_free(context);
}

static void expect_trec(const char *bytes, const char *text, const char *id) {
    nigh_context *context = context_new();
    struct extraction result = extract_with(context, NULL, NIGH__RECORD_TREC, bytes, strlen(bytes));
    assert_int_equal(result.status, text == NULL ? NIGH_ENOTFOUND : NIGH_OK);
    if (text != NULL) assert_string_equal(result.text, text);
    if (text != NULL) assert_string_equal(result.id, id);
    extraction_release(&result);
    nigh_context_free(context);
}

static void test_trec(void **state) {
    (void)state;
    expect_trec("\n<DOCNO> AP-1 </DOCNO>\n<TEXT>\nHello\n</TEXT>\n", "Hello", "AP-1");
    expect_trec("<docno>a&amp;b</docno>x", "x", "a&b");
    expect_trec("<DOCNO>1</DOCNO><DOCNO>2</DOCNO>x", "x", "1");
    expect_trec("<DOCID>7</DOCID><FILEID>8</FILEID ><DOCHDR>\nhttp://x <y>\n</DOCHDR>text", "text", "own-id");
    expect_trec("a<P>b</P>c", "a b c", "own-id");
    expect_trec("x &amp; &lt;y&gt; &quot;z&quot; &#65;&#x42; &#0; &other; &", "x & <y> \"z\" AB \ufffd &other; &",
                "own-id");
    expect_trec("&#99999999; &#xd800; &#123456789; &#; &#x;", "\ufffd \ufffd &#123456789; &#; &#x;", "own-id");
    expect_trec("a < b <3 <", "a < b <3 <", "own-id");
    expect_trec("a<b", "a<b", "own-id");
    expect_trec("a <!-- <DOCNO>no</DOCNO> > --> b <!-- c > d", "a   b   d", "own-id");
    expect_trec("<DOCNOT>a</DOCNOT>", "a", "own-id");
    expect_trec("<SCRIPT>if (a<b)</SCRIPT>c", "c", "own-id");
    expect_trec("caf\xe9", "caf\u00e9", "own-id");
    expect_trec("<DOCNO>1</DOCNO>", NULL, NULL);
    expect_trec("<DOCNO>1", NULL, NULL);
    expect_trec("", NULL, NULL);
    expect_trec("<DOCNO>a\tb\nc</DOCNO>x", "x", "a\tb\nc");
}

static void test_limit(void **state) {
    (void)state;
    static const struct {
        enum nigh__record_kind kind;
        const char *bytes;
    } cases[] = {
        {NIGH__RECORD_TEXT, "abcdef"},        {NIGH__RECORD_JSON, "{\"text\":\"abcdef\"}"},
        {NIGH__RECORD_HTML, "<p>abcdef"},     {NIGH__RECORD_HTTP, "HTTP/1.1 200 OK\n\nabcdef"},
        {NIGH__RECORD_TREC, "<p>abcdef</p>"},
    };
    nigh_context *context = context_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_text_reader_options options;
        nigh__options_defaults(&nigh__text_reader_options_shape, &options);
        options.max_document_bytes = 6;
        struct extraction result =
            extract_with(context, &options, cases[i].kind, cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(result.text, "abcdef");
        extraction_release(&result);
        options.max_document_bytes = 5;
        result = extract_with(context, &options, cases[i].kind, cases[i].bytes, strlen(cases[i].bytes));
        assert_int_equal(result.status, NIGH_ELIMIT);
        assert_non_null(strstr(result.message, ": more than 5 bytes of text"));
        extraction_release(&result);
    }
    nigh_context_free(context);
}

/* The same words come out of every kind. */
static void test_same_text(void **state) {
    (void)state;
    expect_text(NIGH__RECORD_TEXT, "Hello world", "Hello world");
    expect_text(NIGH__RECORD_JSON, "{\"text\":\"Hello world\"}", "Hello world");
    expect_text(NIGH__RECORD_HTML, "<p>Hello <b>world</b></p>", "Hello world");
    expect_text(NIGH__RECORD_HTTP, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>world</b></p>",
                "Hello world");
    expect_text(NIGH__RECORD_TREC, "<DOCNO>1</DOCNO><TEXT>Hello world</TEXT>", "Hello world");
}

/* ------------------------------------------------------------------ memory */

#define GZIP "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\xc8\x04\0\xac\x2a\x93\xd8\x02\0\0\0" /* "hi" */

static const struct {
    enum nigh__record_kind kind;
    const char *bytes;
    size_t length;
} small[] = {
#define SMALL(kind, bytes) \
    { kind, bytes, sizeof(bytes) - 1 }
    SMALL(NIGH__RECORD_TEXT, "plain"),
    SMALL(NIGH__RECORD_TEXT, "bad \xff"),
    SMALL(NIGH__RECORD_TEXT, "\xff\xfex\0"),
    SMALL(NIGH__RECORD_JSON, "{\"id\":1,\"text\":\"x\"}"),
    SMALL(NIGH__RECORD_JSON, "{\"id\":\"a\\tb\",\"text\":[\"x\",\"y\"],\"n\":123456789012345678901234567890}"),
    SMALL(NIGH__RECORD_HTML, "<title>t</title><p>caf\xe9\0 <b>x</b>"),
    SMALL(NIGH__RECORD_HTML, "<meta charset=koi8-r><p>\xc1"),
    SMALL(NIGH__RECORD_HTTP, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n0\n"),
    SMALL(NIGH__RECORD_HTTP, "HTTP/1.1 200 OK\nContent-Encoding: gzip\n\n" GZIP),
    SMALL(NIGH__RECORD_TREC, "<DOCNO>1</DOCNO>a &amp; b \xe9"),
};

static void test_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        bool failed = true;
        for (uint64_t call = 1; failed; call++) { /* the first is the context's */
            struct faulty_memory memory = {.fail_at = call};
            nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_context *context = context_with(NULL, &allocator, NULL);
            struct extraction result = extract_with(context, NULL, small[i].kind, small[i].bytes, small[i].length);
            failed = memory.calls > call;
            assert_int_equal(result.status, failed ? NIGH_ENOMEM : NIGH_OK);
            extraction_release(&result);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),  cmocka_unit_test(test_repair), cmocka_unit_test(test_unknown_offset),
        cmocka_unit_test(test_trec),   cmocka_unit_test(test_limit),  cmocka_unit_test(test_same_text),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
