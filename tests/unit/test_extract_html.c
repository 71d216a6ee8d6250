/* SPDX-License-Identifier: Apache-2.0 */
/* The title and the visible text of pages, in any character set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "support/extract_support.h"
#include "support/support.h"

static void test_visible(void **state) {
    (void)state;
    static const struct {
        const char *page, *text;
    } cases[] = {
        {"<p>Hello <b>world</b></p>", "Hello world"},
        {"Hello world", "Hello world"},
        {"un<b>believ</b>able", "unbelievable"},
        {"<p>a</p><p>b</p>", "a\nb"},
        {"<p>a<p>b", "a\nb"},
        {"a<br>b<br/>c", "a\nb\nc"},
        {"<ul><li>a<li>b</ul>c", "a\nb\nc"},
        {"<table><tr><td>a<td>b<tr><td>c</table>d", "a b\nc\nd"},
        {"<b>a</b> <i>b</i>", "a b"},
        {"<b>a</b>\n\t <i>b</i>", "a b"},
        {"  a \r\n\f b  ", "a b"},
        {"a<wbr>b<wbr>c<p>d", "abc\nd"},
        {"a<img src=x>b", "a b"},
        {"x <!-- no <p> --> y", "x y"},
        {"x<!--no-->y", "xy"},
        {"a<script>if (x<b) '</p>'</script>b", "ab"},
        {"a<style>p{}</style>b", "ab"},
        {"a<noscript>n</noscript> <template>t</template> <iframe>f</iframe> <svg><title>s</title><text>t</text></svg>b",
         "a b"},
        {"a<select><option>1<option>2</select>b", "a b"},
        {"<div hidden>no<p>no</p></div>yes", "yes"},
        {"<div hidden><br><img><wbr><input>no<div>no</div>no</div>yes", "yes"},
        {"<p hidden>no<p>yes", "yes"},
        {"<input hidden>yes<br hidden>and<wbr hidden>yes", "yesandyes"},
        {"a<div hidden><p>no</div>b", "ab"},
        {"<div style='color:red; DISPLAY : None'>no</div>yes", "yes"},
        {"<div style=\"visibility:hidden\">no</div>yes", "yes"},
        {"<div style=\"display:block\">yes</div>", "yes"},
        {"<div style>yes</div>", "yes"},
        {"<html><head><title> A  title </title><meta charset=utf-8></head><body><p>body</body></html>",
         "A title\nbody"},
        {"<p>body<title>late</title><title>later</title>", "late\nbody"},
        {"<title>only</title>", "only"},
        {"<html><body>a</body></html>b<p>c</p></html>d", "ab\nc\nd"},
        {"<!DOCTYPE html><html><head><title>t</title><body>b", "t\nb"},
        {"<head><title>t</title><main>b</main>", "t\nb"},
        {"<?xml version=\"1.0\" encoding=\"UTF-8\"?><html xmlns=\"x\"><body>a</body></html>", "a"},
        {"a &amp; b &lt;c&gt; &eacute;&#233;&#xe9; &#146;&hellip;", "a & b <c> \u00e9\u00e9\u00e9 \u2019\u2026"},
        {"a & b &unknown; &", "a & b &unknown; &"},
        {"1 < 2 <3", "1 < 2 <3"},
        {"<p>a</div></b></x>b", "ab"},
        {"<textarea>seen</textarea>", "seen"},
        {"<a href='x>y' title=\"<p hidden>\">link</a>", "link"},
        {"<p>a<span>b</span><x-y>c</x-y>d", "abcd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_text(NIGH__RECORD_HTML, cases[i].page, cases[i].text);
}

static void test_nothing_visible(void **state) {
    (void)state;
    static const char *const pages[] = {"", " \n", "<p></p>", "<script>x</script>", "<!-- x", "<img src=x>", "<p"};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) expect_text(NIGH__RECORD_HTML, pages[i], NULL);
}

#define EXPECT(bytes, text) expect_text_of(NIGH__RECORD_HTML, bytes, sizeof(bytes) - 1, text)

static void test_charset(void **state) {
    (void)state;
    EXPECT("caf\xc3\xa9", "caf\u00e9");
    EXPECT("caf\xe9 \x80\x93", "caf\u00e9 \u20ac\u201c");
    EXPECT("\xef\xbb\xbf<p>caf\xc3\xa9", "caf\u00e9");
    EXPECT("\xff\xfe<\0p\0>\0\xe9\0", "\u00e9");
    EXPECT("\xfe\xff\0<\0p\0>\0\xe9", "\u00e9");
    EXPECT("\xff\xfe\0\0<\0\0\0p\0\0\0>\0\0\0\xe9\0\0\0", "\u00e9");
    EXPECT("<meta charset=iso-8859-2>\xb1", "\u0105");
    EXPECT("<META CharSet = 'KOI8-R' >\xc1", "\u0430");
    EXPECT("<meta charset=latin1>\x93", "\u201c");
    EXPECT("<meta charset=\"shift_jis\">\x82\xa0", "\u3042");
    EXPECT("<meta charset=gb2312>\xc4\xe3", "\u4f60");
    EXPECT("<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\xff", "\u044f");
    EXPECT("<meta content=\"text/html;charset='windows-1251'\" http-equiv=\"content-type\">\xff", "\u044f");
    EXPECT("<meta name=x content='charset=windows-1251'>\xff", "\u00ff");
    EXPECT("<!-- <meta charset=windows-1251> -->\xff", "\u00ff");
    EXPECT("<meta http-equiv content charset>\xff", "\u00ff");
    EXPECT("<meta charset=utf-16>\xc3\xa9", "\u00e9");
    EXPECT("<meta charset=no-such>\xc3\xa9", "\u00e9");
    /* What it says is true once: nothing converts a second time. */
    EXPECT("<meta charset=iso-8859-1><p>\xe9", "\u00e9");
    EXPECT("<meta charset=utf-8>a\xff"
           "b\xe2\x82"
           "c",
           "a\ufffdb\ufffdc");
    EXPECT("\xef\xbb\xbf<meta charset=koi8-r>\xc3\xa9", "\u00e9");
    EXPECT("a\0b<\0p>c", "ab\nc");
    EXPECT("<meta charset=euc-jp>\xa4\xa2\xff\xa4\xa2\xa4", "\u3042\ufffd\u3042\ufffd");
}

static void test_late_meta(void **state) {
    (void)state;
    char page[2048];
    memset(page, ' ', sizeof page);
    memcpy(page + 1010, "<meta charset=koi8-r>\xc1", 22);
    expect_text_of(NIGH__RECORD_HTML, page, sizeof page, "\u00c1");
    memset(page, ' ', sizeof page);
    memcpy(page + 1000, "<meta charset=koi8-r>\xc1", 22);
    expect_text_of(NIGH__RECORD_HTML, page, sizeof page, "\u0430");
}

static char *repeated(const char *pattern, size_t times) {
    size_t length = strlen(pattern);
    char *out = malloc(length * times + 1);
    assert_non_null(out);
    for (size_t i = 0; i < times; i++) memcpy(out + i * length, pattern, length);
    out[length * times] = '\0';
    return out;
}

static void test_depth(void **state) {
    (void)state;
    char *page = repeated("<div>x", 512);
    char *text = repeated("x\n", 512);
    text[1023] = '\0';
    expect_text(NIGH__RECORD_HTML, page, text);
    free(page);
    free(text);
    page = repeated("<div>", 513);
    expect_refused(NIGH__RECORD_HTML, page, NIGH_ELIMIT, "'file', offset 1000: nested deeper than 512");
    free(page);
    page = repeated("<wbr>x<br><source hidden>", 5000);
    nigh_context *context = context_new();
    struct extraction result = extract_with(context, NULL, NIGH__RECORD_HTML, page, strlen(page));
    assert_int_equal(result.status, NIGH_OK);
    assert_int_equal(result.text_length, 9999);
    extraction_release(&result);
    nigh_context_free(context);
    free(page);
}

/* Long pages of nothing but short words. */
static void test_pieces(void **state) {
    (void)state;
    char *page = repeated("<b>\u20ac</b>\u00e9", 3000);
    char *text = repeated("\u20ac\u00e9", 3000);
    expect_text(NIGH__RECORD_HTML, page, text);
    free(page);
    page = repeated("\u20ac\u00e9", 3000);
    expect_text(NIGH__RECORD_HTML, page, text);
    free(page);
    free(text);
}

/* Tags, attributes and scripts at many places of a page, with what looks like the end of a tag in them. */
static void test_cuts(void **state) {
    (void)state;
    static const char tail[] =
        "<a title=\"x > y < z\" href='q>\"' hidden>no</a><script>\"<p>\"</script ><!-- > < -->yes"
        "<img alt='>'>and<b title=\"";
    static char page[8192];
    for (size_t filled = 900; filled < 1100; filled++) {
        memset(page, ' ', sizeof page);
        memcpy(page + filled, tail, sizeof tail - 1);
        memset(page + filled + sizeof tail - 1, 'v', 2000);
        memcpy(page + filled + sizeof tail - 1 + 2000, "\">no</b>", 9);
        page[filled + sizeof tail - 1 + 1000] = '<';
        page[filled + sizeof tail - 1 + 1500] = '>';
        expect_text_of(NIGH__RECORD_HTML, page, sizeof page, "yes andno");
    }
}

static void test_attributes(void **state) {
    (void)state;
    char page[8192] = "<p";
    for (int i = 0; i < 250; i++) (void)sprintf(page + strlen(page), " attribute%d=\"<>%d\"", i, i);
    (void)sprintf(page + strlen(page), ">yes");
    expect_text(NIGH__RECORD_HTML, page, "yes");
    (void)sprintf(page, "<p");
    for (int i = 0; i < 400; i++) (void)sprintf(page + strlen(page), " a%d=\">\"", i);
    (void)sprintf(page + strlen(page), ">yes");
    expect_text(NIGH__RECORD_HTML, page, "yes");
}

/* A million of each; test_extract_hostile.c has many more and looks at the time. */
static void test_million(void **state) {
    (void)state;
    static const struct {
        const char *begin, *pattern;
        nigh_status status;
    } cases[] = {
        {"", "<div>", NIGH_ELIMIT},    {"<a ", "b=c ", NIGH_ENOTFOUND}, {"<a b=\"", "c=\"", NIGH_ENOTFOUND},
        {"<!--", "x", NIGH_ENOTFOUND}, {"<a b='", "x", NIGH_ENOTFOUND}, {"x", "<", NIGH_OK},
        {"x", "</", NIGH_OK},          {"x<!", "-", NIGH_OK},           {"<script>", "</", NIGH_ENOTFOUND},
    };
    nigh_context *context = context_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *page = repeated(cases[i].pattern, 1000000);
        size_t length = strlen(page), begin = strlen(cases[i].begin);
        memcpy(page, cases[i].begin, begin < length ? begin : length);
        struct extraction result = extract_with(context, NULL, NIGH__RECORD_HTML, page, length);
        assert_int_equal(result.status, cases[i].status);
        extraction_release(&result);
        free(page);
    }
    nigh_context_free(context);
}

static void test_limit(void **state) {
    (void)state;
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.max_document_bytes = 9;
    static const char page[] = "<title>abc</title>12345", longer[] = "<title>abcd</title>123456";
    struct extraction result = extract_with(context, &options, NIGH__RECORD_HTML, page, sizeof page - 1);
    assert_string_equal(result.text, "abc\n12345");
    extraction_release(&result);
    result = extract_with(context, &options, NIGH__RECORD_HTML, longer, sizeof longer - 1);
    assert_int_equal(result.status, NIGH_ELIMIT);
    assert_string_equal(result.message, "'file', offset 1000: more than 9 bytes of text");
    extraction_release(&result);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible),    cmocka_unit_test(test_nothing_visible), cmocka_unit_test(test_charset),
        cmocka_unit_test(test_late_meta),  cmocka_unit_test(test_depth),           cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_limit),      cmocka_unit_test(test_million),         cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
