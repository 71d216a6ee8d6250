/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP responses: which hold a document, and how to its body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "document/document_options.h"
#include "support/extract_support.h"
#include "support/support.h"

#define OK "HTTP/1.1 200 OK\r\n"
#define HTML OK "Content-Type: text/html\r\n\r\n"
#define CHUNKED OK "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"

static void test_documents(void **state) {
    (void)state;
    static const struct {
        const char *response, *text;
    } cases[] = {
        {HTML "<p>Hello <b>world</b>", "Hello world"},
        {"HTTP/1.0 200 OK\nContent-Type: text/html\n\n<p>x", "x"},
        {"HTTP/2 200\r\ncontent-type: TEXT/HTML; q=1\r\n\r\n<p>x", "x"},
        {"HTTP/1.1 206 Partial\r\nContent-Type: application/xhtml+xml\r\n\r\n<p>x", "x"},
        {OK "Content-Type: text/plain\r\n\r\n<p>x", "<p>x"},
        {OK "Content-Type: text/css\r\n\r\np{}", "p{}"},
        {OK "\r\n \n<p>x", "x"},
        {OK "\r\nx<p>", "x<p>"},
        {"HTTP/1.1 100 Continue\r\n\r\n" HTML "x", "x"},
        {OK "X-Folded: a\r\n  b\r\nContent-Type:text/html\r\nbroken line\r\n\r\n<i>x", "x"},
        {OK "Content-Type: image/png\r\n\r\nx", NULL},
        {OK "Content-Type: application/pdf\r\n\r\n%PDF", NULL},
        {OK "Content-Type: text/html\r\nContent-Encoding: br\r\n\r\nx", NULL},
        {OK "Content-Type: text/html\r\nContent-Encoding: identity\r\n\r\nx", "x"},
        {OK "Content-Type: text/html\r\nContent-Encoding: gzip\r\n\r\ndecoded already", "decoded already"},
        {"HTTP/1.1 301 Moved\r\nContent-Type: text/html\r\n\r\nx", NULL},
        {"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\nx", NULL},
        {"HTTP/1.1 100 Continue\r\n\r\n", NULL},
        {HTML, NULL},
        {OK "Content-Type: text/html", NULL},
        {"HTTP/1.1 200 OK", NULL},
        {OK "Content-Type: text/plain; charset=\"koi8-r\"\r\n\r\n\xc1", "\u0430"},
        {OK "Content-Type: text/html; a=b; Charset=windows-1251\r\n\r\n<meta charset=koi8-r>\xff", "\u044f"},
        {OK "Content-Type: text/plain\r\n\r\n\xe9", "\u00e9"},
        {OK "Content-Type: text/plain; charset=utf-8\r\n\r\na\xe9", "a\ufffd"},
        {OK "Content-Type: text/plain; charset=unheard-of\r\n\r\nx", "x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_text(NIGH__RECORD_HTTP, cases[i].response, cases[i].text);
}

static void test_chunks(void **state) {
    (void)state;
    static const struct {
        const char *response, *text;
    } cases[] = {
        {CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"},
        {CHUNKED "5;name=\"v\"\r\nhello\r\n00\r\nTrailer: x\r\n\r\n", "hello"},
        {CHUNKED "A \nhelloworld\n0\n\n", "helloworld"},
        {CHUNKED "5\r\nhello\r\n", "hello"},
        {CHUNKED "5\r\nhello", "hello"},
        {CHUNKED "ff\r\ncut off", "cut off"},
        {CHUNKED "5\r\nhello\r\nff\r\ncut", "hellocut"},
        {CHUNKED "not chunked at all", "not chunked at all"},
        {CHUNKED "add\nthis is no size", "this is no size"},
        {CHUNKED "2\nno size, for this is longer", "2\nno size, for this is longer"},
        {CHUNKED "11111111111111111\r\nseventeen digits", "11111111111111111\r\nseventeen digits"},
        {CHUNKED "ffffffffffffffff\r\nall", "all"},
        {CHUNKED "0\r\n\r\n", NULL},
        {CHUNKED "", NULL},
        {OK "Transfer-Encoding: gzip, Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_text(NIGH__RECORD_HTTP, cases[i].response, cases[i].text);
    expect_refused(NIGH__RECORD_HTTP, CHUNKED "5\r\nhello\r\nxyz\r\nmore", NIGH_EFORMAT,
                   "'file', offset 1000: a chunked body with a bad chunk after 5 bytes");
}

static void test_bad(void **state) {
    (void)state;
    static const char *const starts[] = {"",
                                         "x",
                                         "HTTP",
                                         "HTTP/1.1",
                                         "HTTP/1.1 \r\n",
                                         "HTTP/1.1 20\r\n",
                                         "HTTP/1.1 2000 OK\r\n",
                                         "HTTP/1.1 0x0\r\n",
                                         "HTTP/1.1 099 x\r\n"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        expect_refused(NIGH__RECORD_HTTP, starts[i], NIGH_EFORMAT, "'file', offset 1000: no HTTP status line");
    static char long_headers[70000];
    memset(long_headers, 'x', sizeof long_headers - 1);
    memcpy(long_headers, OK, sizeof OK - 1);
    expect_refused(NIGH__RECORD_HTTP, long_headers, NIGH_ELIMIT,
                   "'file', offset 1000: HTTP headers of more than 65536 bytes");
}

/* A response with a compressed body; window as zlib has it. */
static struct bytes compressed(const char *encoding, int window, const char *body, size_t length) {
    char head[256];
    int head_length =
        snprintf(head, sizeof head, OK "Content-Type: text/plain\r\nContent-Encoding: %s\r\n\r\n", encoding);
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, length);
    struct bytes out = {.data = malloc((size_t)head_length + room)};
    assert_non_null(out.data);
    memcpy(out.data, head, (size_t)head_length);
    memcpy(&stream.next_in, &body, sizeof stream.next_in);
    stream.avail_in = (unsigned)length;
    stream.next_out = out.data + head_length;
    stream.avail_out = (unsigned)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.length = (size_t)head_length + stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return out;
}

static struct extraction extract_compressed(struct bytes response, uint64_t max_bytes) {
    nigh_context *context = context_new();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.max_document_bytes = max_bytes;
    struct extraction result = extract_with(context, &options, NIGH__RECORD_HTTP, response.data, response.length);
    nigh_context_free(context);
    return result;
}

static void test_compressed(void **state) {
    (void)state;
    static const struct {
        const char *encoding;
        int window;
    } cases[] = {{"gzip", 31}, {"X-GZIP", 31}, {"deflate", 15}, {"deflate", -15}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes response = compressed(cases[i].encoding, cases[i].window, "hello hello hello", 17);
        expect_text_of(NIGH__RECORD_HTTP, response.data, response.length, "hello hello hello");
        response.length -= 3; /* its end is gone */
        struct extraction cut = extract_compressed(response, 1000);
        assert_int_equal(cut.status, NIGH_EFORMAT);
        free(response.data);
    }
}

static void test_damaged(void **state) {
    (void)state;
    struct bytes response = compressed("gzip", 31, "hello hello hello", 17);
    response.data[response.length - 1] ^= 1;
    struct extraction result = extract_compressed(response, 1000);
    assert_int_equal(result.status, NIGH_EFORMAT);
    assert_string_equal(result.message, "'file', offset 1000: a damaged compressed body");
    free(response.data);
}

/* 64 MiB of zeros in 64 KiB: refused long before all is there. */
static void test_bomb(void **state) {
    (void)state;
    size_t length = (size_t)64 << 20;
    char *zeros = calloc(length, 1);
    assert_non_null(zeros);
    struct bytes response = compressed("gzip", 31, zeros, length);
    free(zeros);
    struct extraction result = extract_compressed(response, (uint64_t)1 << 20);
    assert_int_equal(result.status, NIGH_ELIMIT);
    assert_string_equal(result.message, "'file', offset 1000: a compressed body of more than 1048576 bytes");
    free(response.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),  cmocka_unit_test(test_chunks),  cmocka_unit_test(test_bad),
        cmocka_unit_test(test_compressed), cmocka_unit_test(test_damaged), cmocka_unit_test(test_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
