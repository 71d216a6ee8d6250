/* SPDX-License-Identifier: Apache-2.0 */
/* tier: full */
/*
 * Input made to be slow: small patterns repeated to 1 MiB and to 4 MiB (with
 * NIGH_HOSTILE_MIB in the environment, to so many), in every kind.  Whatever comes
 * out, four times the input may take six times as long, and memory (of the
 * context) stays below ten times the input; sixteen where the
 * character set makes three bytes of each.  Times are the process's own, so that a busy machine does
 * not matter much; what takes less than a moment is not judged.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "document/document_options.h"
#include "support/extract_support.h"
#include "support/support.h"

/* "%x" stands for a number that grows: names that are all different. */
static const char *const html_patterns[] = {
    "<a ",
    "<a x",
    "<!--",
    "<!-- -",
    "<!-->",
    "&#",
    "&#x",
    "&",
    "&amp",
    "&x;",
    "&x",
    "<p><table>",
    "</",
    "</p>",
    "</x>",
    "</x ",
    "<script>",
    "<script><!--",
    "<script></",
    "<script></s",
    "<style></",
    "<",
    "<p>",
    "<p a=\"",
    "<p a='",
    "<p a=b ",
    "<p a=",
    "<b></i>",
    "<!",
    "<!DOCTYPE ",
    "<!DOCTYPE>",
    "<?",
    "<?x ",
    "<![CDATA[",
    "<br>",
    "<wbr>",
    "<wbr></x>",
    "<html a%x=b>",
    "<body a%x=b>",
    "<br a%x>",
    "<textarea>",
    "<title>",
    "<title></title>",
    "a ",
    " ",
    "\n",
    "x",
    "<a/",
    "<a<",
    "\u00e9",
    "\x93",
    "\xff\xfe",
    "<form>",
    "<option>",
    "<li><ul>",
    "<td>x",
    "<svg/>",
    "<p hidden>",
    "<p style='display:",
    "<br style='d d d d'>",
    "<a%x>",
    "</a%x>",
    "<a a%x=1>",
    "<nigh-root></nigh-root>",
    "<frameset>",
    "<meta charset",
    "<head>",
    "--!>",
    "\"'>",
    "<a\">'",
    "<p></p><div></div>",
    "<table><tr><td></table>",
    "<select><option>",
    "<h1><p>",
};

/* One tag or one comment and then the pattern. */
static const char *const html_begun[][2] = {
    {"<a ", "a%x "},
    {"<a ", "a%x=\"\""},
    {"<a x=\">\" ", "a%x "},
    {"<a ", "a%x/"},
    {"<a ", "b"},
    {"<a b=\"", "x"},
    {"<a b=\"", "\">"},
    {"<a b='", "& "},
    {"<a b=", "x"},
    {"<!--", "x"},
    {"<!--", "-"},
    {"<!--", "--!"},
    {"<script>", "x"},
    {"<script>", "</"},
    {"<div hidden>", "x "},
    {"<p style=\"", "display "},
    {"<p style=\"", "d"},
    {"<p style=\"", " "},
    {"<title>", "x "},
    {"&", "x"},
    {"&#", "1"},
    {"</", "x"},
    {"<", "x"},
    {"<div><div><div><div><div>", "</x>"},
    {"<!DOCTYPE", " x"},
    {"<?", "x"},
    {"<a ", "a%x=& "},
    {"x", "<%x"},
};

static const char *const json_patterns[] = {
    "[",   "{\"a\":", "\"",   "\\", "{\"text\":\"",           "1",        "1e", "[1,", "-",
    "\\u", "{}",      "\xff", " ",  "123456789012345678901,", "{\"a\":1,"};
static const char *const http_patterns[] = {
    "HTTP/1.1 100 C\n\n", "HTTP/1.1 200 OK\n\n", "0\n", "1\nx\n", "a:b\n", ";", ",", "charset=", ":", "\n", "<"};
static const char *const http_begun[][2] = {
    {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", "1\nx\n"},
    {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", "1;"},
    {"HTTP/1.1 200 OK\nContent-Type: text/html;", "charset="},
    {"HTTP/1.1 200 OK\nContent-Type: text/html\n\n", "<a a%x "},
};
static const char *const trec_patterns[] = {"<a ",
                                            "<",
                                            "<!--",
                                            "<!-- >",
                                            "<!-",
                                            "&",
                                            "&#",
                                            "&#1",
                                            "<DOCNO>",
                                            "</DOCNO>",
                                            "<DOCNO></DOCNO>",
                                            "<script>",
                                            "<p>",
                                            "</docno ",
                                            "-->",
                                            "<DOCNO></DOCNO "};
static const char *const text_patterns[] = {"\xff", "\xe2\x82", "a\xff", " ", "\xff\xfe", "\0"};

/* Fills exactly `length` bytes; the end may be cut. */
static char *input_new(const char *begin, const char *pattern, size_t length) {
    char *out = malloc(length + 64);
    assert_non_null(out);
    size_t at = strlen(begin);
    memcpy(out, begin, at);
    const char *number = strstr(pattern, "%x");
    for (unsigned i = 0; at < length; i++) {
        size_t head = number == NULL ? strlen(pattern) : (size_t)(number - pattern);
        if (head == 0 && number == NULL) head = 1; /* a NUL byte */
        memcpy(out + at, pattern, head);
        at += head;
        if (number != NULL) at += (size_t)snprintf(out + at, 32, "%x%s", i, number + 2);
    }
    return out;
}

static size_t most_at_once;
static size_t held;

static void *counted_new(size_t size) {
    size_t *block = malloc(size + 16);
    if (block == NULL) return NULL;
    block[0] = size;
    held += size;
    if (held > most_at_once) most_at_once = held;
    return block + 2;
}

static void counted_free(void *pointer) {
    if (pointer == NULL) return;
    size_t *block = (size_t *)pointer - 2;
    held -= block[0];
    free(block);
}

static void *context_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    (void)alignment;
    return counted_new(size);
}

static void context_release(void *user, void *pointer) {
    (void)user;
    counted_free(pointer);
}

static double measure(enum nigh__record_kind kind, const char *begin, const char *pattern, size_t length) {
    nigh_allocator allocator = {.allocate = context_allocate, .release = context_release};
    nigh_context *context = context_with(NULL, &allocator, NULL);
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    struct nigh__extractor *extractor;
    struct one_record one;
    nigh_text text = {.size = sizeof text};
    uint64_t repaired;
    char *input = input_new(begin, pattern, length);
    one_record_init(&one, kind, input, length);
    free(input);
    options.max_document_bytes = length * 4;
    assert_int_equal(nigh__extractor_new(context, &options, &extractor, NULL), NIGH_OK);
    most_at_once = held;
    double start = nigh__thread_clock();
    nigh_status status = nigh__extract(extractor, &one.batch, &one.record, &text, &repaired, NULL);
    double taken = nigh__thread_clock() - start;
    if (status != NIGH_OK && status != NIGH_ENOTFOUND && status != NIGH_ELIMIT) assert_int_equal(status, NIGH_EFORMAT);
    nigh__extractor_free(extractor);
    one_record_release(&one);
    nigh_context_free(context);
    if (getenv("NIGH_HOSTILE_MIB") != NULL)
        print_message("%8.3f s  %5zu MiB  %s  %s%s\n", taken, most_at_once >> 20, nigh_status_name(status), begin,
                      pattern);
    bool wide = kind != NIGH__RECORD_JSON && (uint8_t)pattern[0] >= 0x80;
    if (most_at_once > (wide ? 16 : 10) * length) print_error("%s%s: %zu bytes\n", begin, pattern, most_at_once);
    assert_true(most_at_once <= (wide ? 16 : 10) * length);
    return taken;
}

static size_t large_size(void) {
    const char *asked = getenv("NIGH_HOSTILE_MIB");
    const char *sanitizers = getenv("NIGH_SANITIZE");
    if (asked != NULL) return strtoul(asked, NULL, 10) << 20;
    return sanitizers != NULL && sanitizers[0] != '\0' ? (size_t)1 << 20 : (size_t)4 << 20;
}

/* Measured again where it looks bad, for a machine may stumble. */
static void expect_linear(enum nigh__record_kind kind, const char *begin, const char *pattern) {
    size_t large = large_size();
    double most = 0, least = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        most = measure(kind, begin, pattern, large);
        if (most < 0.25) return;
        least = measure(kind, begin, pattern, large / 4);
        if (most < 6 * least) return;
    }
    print_error("%s%s: %.3f s, and %.3f s for a quarter\n", begin, pattern, most, least);
    fail();
}

#define EACH(kind, patterns) \
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns)[0]; i++) expect_linear(kind, "", (patterns)[i])
#define EACH_BEGUN(kind, patterns)                                      \
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns)[0]; i++) \
    expect_linear(kind, (patterns)[i][0], (patterns)[i][1])

static void test_html(void **state) {
    (void)state;
    EACH(NIGH__RECORD_HTML, html_patterns);
    EACH_BEGUN(NIGH__RECORD_HTML, html_begun);
}

/* End tags that close nothing under 500 open elements, also where others do close some. */
static void test_end_tags(void **state) {
    (void)state;
    static const char *const useless[] = {"</i>", "<p></i>", "</i></x>", "</x>", "<u></i></u>", "<u></i><b></u>"};
    const char *sanitizers = getenv("NIGH_SANITIZE");
    double most = sanitizers != NULL && sanitizers[0] != '\0' ? 60 : 10;
    char begin[2000] = "<html><body>text words<i><div>";
    size_t length = strlen(begin);
    for (int i = 0; i < 500; i++) {
        memcpy(begin + length, "<b>", 4);
        length += 3;
    }
    for (size_t i = 0; i < sizeof useless / sizeof useless[0]; i++) {
        double taken = measure(NIGH__RECORD_HTML, begin, useless[i], (size_t)4 << 20);
        if (taken > most) print_error("%s: %.3f s\n", useless[i], taken);
        assert_true(taken <= most);
    }
}

/* Those that do close, and as many that do not as careless pages have, are no reason to refuse a page. */
static void test_careless(void **state) {
    (void)state;
    static const char *const patterns[] = {"<p><b>x</p>", "<p><div>x</div></p>", "<li>x</br></li></li>"};
    size_t length = (size_t)8 << 20;
    nigh_context *context = context_new();
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char *page = input_new("<html><body><div><div><div><div><div><div><div><div>", patterns[i], length);
        struct extraction result = extract_with(context, NULL, NIGH__RECORD_HTML, page, length);
        assert_int_equal(result.status, NIGH_OK);
        extraction_release(&result);
        free(page);
    }
    nigh_context_free(context);
}

/* Parts of 12 MiB, such as readers of pages have limits for: what follows them is there. */
static void test_large_parts(void **state) {
    (void)state;
    static const char *const parts[][2] = {
        {"<p>", "</p>"},           {"<a b=\"", "\">"}, {"<a b=", ">"},          {"<!--", "-->"},
        {"<script>", "</script>"}, {"<?", ">"},        {"<title>", "</title>"}, {"<a b='>' c='<", "'>"},
    };
    size_t length = (size_t)12 << 20;
    nigh_context *context = context_new();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *page = input_new(parts[i][0], "x", length);
        memcpy(page + length, parts[i][1], strlen(parts[i][1]));
        memcpy(page + length + strlen(parts[i][1]), "yes", 3);
        struct extraction result =
            extract_with(context, NULL, NIGH__RECORD_HTML, page, length + strlen(parts[i][1]) + 3);
        assert_int_equal(result.status, NIGH_OK);
        bool text = i == 0 || i == 6;
        assert_int_equal(result.text_length, text ? length - strlen(parts[i][0]) + 4 : 3);
        assert_string_equal(result.text + result.text_length - 3, "yes");
        extraction_release(&result);
        free(page);
    }
    nigh_context_free(context);
}

static void test_json(void **state) {
    (void)state;
    EACH(NIGH__RECORD_JSON, json_patterns);
}

static void test_http(void **state) {
    (void)state;
    EACH(NIGH__RECORD_HTTP, http_patterns);
    EACH_BEGUN(NIGH__RECORD_HTTP, http_begun);
}

static void test_trec(void **state) {
    (void)state;
    EACH(NIGH__RECORD_TREC, trec_patterns);
}

static void test_text(void **state) {
    (void)state;
    EACH(NIGH__RECORD_TEXT, text_patterns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_parts), cmocka_unit_test(test_html), cmocka_unit_test(test_end_tags),
        cmocka_unit_test(test_careless),    cmocka_unit_test(test_json), cmocka_unit_test(test_http),
        cmocka_unit_test(test_trec),        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
