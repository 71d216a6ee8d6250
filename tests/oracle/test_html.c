/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages, beside libxml2, whose place the reader of pages took: as long as both read a
 * page alike, its signature is what it was.  The pages are made up of what careless and
 * hostile pages are made of, in any order; the seed is printed on failure.
 *
 * libxml2 is given a page whole.  In pieces, as it was before, it makes of a few broken
 * pages something that depends on where the pieces end.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/HTMLparser.h>
#include <cmocka.h>

#include "base/rng.h"
#include "document/html.h"
#include "document/utf8.h"
#include "support/support.h"

#define MAX_DEPTH 40
#define ROOT "<nigh-root>"

/* ---------------------------------------------------------------- elements */

enum {
    ELEMENT_LINE = 1, /* begins and ends a line */
    ELEMENT_GAP = 2,  /* separates words */
    ELEMENT_DROP = 4, /* nobody sees what is in it */
    ELEMENT_VOID = 8, /* has no end tag, and libxml2 does not know */
    ELEMENT_TITLE = 16,
    ELEMENT_BOX = ELEMENT_GAP | ELEMENT_DROP, /* something is seen there, but no text */
};

struct element {
    const char *name;
    unsigned flags;
};

/* Sorted by name.  What is not here is part of the line, as <b> is. */
static const struct element elements[] = {
    {"address", ELEMENT_LINE},    {"article", ELEMENT_LINE},    {"aside", ELEMENT_LINE},    {"audio", ELEMENT_BOX},
    {"blockquote", ELEMENT_LINE}, {"body", ELEMENT_LINE},       {"br", ELEMENT_LINE},       {"button", ELEMENT_GAP},
    {"canvas", ELEMENT_BOX},      {"caption", ELEMENT_LINE},    {"center", ELEMENT_LINE},   {"datalist", ELEMENT_DROP},
    {"dd", ELEMENT_LINE},         {"details", ELEMENT_LINE},    {"dialog", ELEMENT_LINE},   {"dir", ELEMENT_LINE},
    {"div", ELEMENT_LINE},        {"dl", ELEMENT_LINE},         {"dt", ELEMENT_LINE},       {"embed", ELEMENT_VOID},
    {"fieldset", ELEMENT_LINE},   {"figcaption", ELEMENT_LINE}, {"figure", ELEMENT_LINE},   {"footer", ELEMENT_LINE},
    {"form", ELEMENT_LINE},       {"frameset", ELEMENT_LINE},   {"h1", ELEMENT_LINE},       {"h2", ELEMENT_LINE},
    {"h3", ELEMENT_LINE},         {"h4", ELEMENT_LINE},         {"h5", ELEMENT_LINE},       {"h6", ELEMENT_LINE},
    {"head", ELEMENT_LINE},       {"header", ELEMENT_LINE},     {"hgroup", ELEMENT_LINE},   {"hr", ELEMENT_LINE},
    {"html", ELEMENT_LINE},       {"iframe", ELEMENT_BOX},      {"img", ELEMENT_GAP},       {"input", ELEMENT_GAP},
    {"keygen", ELEMENT_VOID},     {"label", ELEMENT_GAP},       {"legend", ELEMENT_LINE},   {"li", ELEMENT_LINE},
    {"listing", ELEMENT_LINE},    {"main", ELEMENT_LINE},       {"menu", ELEMENT_LINE},     {"nav", ELEMENT_LINE},
    {"noembed", ELEMENT_DROP},    {"noframes", ELEMENT_DROP},   {"noscript", ELEMENT_DROP}, {"object", ELEMENT_BOX},
    {"ol", ELEMENT_LINE},         {"optgroup", ELEMENT_LINE},   {"option", ELEMENT_LINE},   {"p", ELEMENT_LINE},
    {"plaintext", ELEMENT_LINE},  {"pre", ELEMENT_LINE},        {"rp", ELEMENT_GAP},        {"rt", ELEMENT_GAP},
    {"script", ELEMENT_DROP},     {"search", ELEMENT_LINE},     {"section", ELEMENT_LINE},  {"select", ELEMENT_BOX},
    {"source", ELEMENT_VOID},     {"style", ELEMENT_DROP},      {"summary", ELEMENT_LINE},  {"svg", ELEMENT_BOX},
    {"table", ELEMENT_LINE},      {"tbody", ELEMENT_LINE},      {"td", ELEMENT_GAP},        {"template", ELEMENT_DROP},
    {"textarea", ELEMENT_LINE},   {"tfoot", ELEMENT_LINE},      {"th", ELEMENT_GAP},        {"thead", ELEMENT_LINE},
    {"title", ELEMENT_TITLE},     {"tr", ELEMENT_LINE},         {"track", ELEMENT_VOID},    {"ul", ELEMENT_LINE},
    {"video", ELEMENT_BOX},       {"wbr", ELEMENT_VOID},        {"xmp", ELEMENT_LINE},
};

static int element_compare(const void *name, const void *element) {
    return strcmp(name, ((const struct element *)element)->name);
}

static unsigned element_flags(const xmlChar *name) {
    const struct element *found =
        bsearch(name, elements, sizeof elements / sizeof elements[0], sizeof elements[0], element_compare);
    return found == NULL ? 0 : found->flags;
}

/* ----------------------------------------------------- the text by libxml2 */

/* Where text goes; what separates it from the next is written with the next. */
struct sink {
    struct nigh__array *bytes;
    bool gap, line;
};

enum stop_reason { STOP_NOT, STOP_DEPTH };

struct page {
    const nigh_context *context;
    htmlParserCtxtPtr parser;
    struct sink title, body;
    int hidden_at; /* depth of the element that hides; 0: none does */
    int title_at;
    bool title_seen;
    bool ended; /* our own element did, by a <html/>, and the page with it */
    enum stop_reason stopped;
};

static bool sink_write(struct page *page, struct sink *sink, const char *bytes, size_t length) {
    return nigh__bytes_append(page->context, sink->bytes, bytes, length);
}

static bool sink_separate(struct page *page, struct sink *sink) {
    bool needed = sink->bytes->count > 0 && (sink->gap || sink->line);
    const char *separator = sink->line ? "\n" : " ";
    sink->gap = sink->line = false;
    return !needed || sink_write(page, sink, separator, 1);
}

/* U+0080 to U+009F, which only come from references such as &#146; and mean windows-1252 there. */
static bool is_control(const char *bytes, size_t left) {
    return left >= 2 && (uint8_t)bytes[0] == 0xc2 && (uint8_t)bytes[1] < 0xa0;
}

static size_t word_length(const char *bytes, size_t left) {
    size_t length = 0;
    while (length < left && !nigh__is_space(bytes[length]) && !is_control(bytes + length, left - length)) length++;
    return length;
}

static void sink_text(struct page *page, struct sink *sink, const char *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        char control[4];
        const char *from = bytes + at;
        size_t step = 1, written = 0;
        if (nigh__is_space(*from)) {
            sink->gap = true;
        } else if (is_control(from, length - at)) {
            step = 2;
            written = nigh__utf8_encode(nigh__windows_1252_character((uint8_t)from[1]), control);
            from = control;
        } else {
            step = written = word_length(from, length - at);
        }
        at += step;
        if (written > 0 && (!sink_separate(page, sink) || !sink_write(page, sink, from, written))) return;
    }
}

/* Whether a style holds "display:none" or another such pair, white space and case aside. */
static bool style_has(const char *style, const char *pair) {
    for (; *style != '\0'; style++) {
        const char *at = style;
        size_t matched = 0;
        while (pair[matched] != '\0' && nigh__small(*at) == pair[matched]) {
            matched++;
            at++;
            while (nigh__is_space(*at)) at++;
        }
        if (pair[matched] == '\0') return true;
    }
    return false;
}

static bool attributes_hide(const xmlChar **attributes) {
    for (; attributes != NULL && attributes[0] != NULL; attributes += 2) {
        const char *name = (const char *)attributes[0];
        const char *value = (const char *)attributes[1];
        if (strcmp(name, "hidden") == 0) return true;
        if (value == NULL || strcmp(name, "style") != 0) continue;
        if (style_has(value, "display:none") || style_has(value, "visibility:hidden")) return true;
    }
    return false;
}

static void separate(struct page *page, unsigned flags) {
    if ((flags & ELEMENT_LINE) != 0) page->body.line = true;
    if ((flags & ELEMENT_GAP) != 0) page->body.gap = true;
}

/* Takes a void element off the stack, from under the one that has just begun. */
static void void_remove(htmlParserCtxtPtr parser) {
    int below = parser->nameNr - 2;
    if (below < 0 || (element_flags(parser->nameTab[below]) & ELEMENT_VOID) == 0) return;
    parser->nameTab[below] = parser->nameTab[below + 1];
    parser->nameNr--;
}

static void element_begins(void *user, const xmlChar *name, const xmlChar **attributes) {
    struct page *page = user;
    unsigned flags = element_flags(name);
    if (page->stopped != STOP_NOT) return;
    void_remove(page->parser);
    int depth = page->parser->nameNr;
    if ((uint32_t)(depth - 1) > MAX_DEPTH) { /* less our own */
        page->stopped = STOP_DEPTH;
        xmlStopParser(page->parser);
        return;
    }
    if (page->hidden_at != 0) return;
    bool hides = attributes_hide(attributes);
    if (!hides) separate(page, flags);
    if ((flags & ELEMENT_VOID) != 0) return;
    bool first_title = (flags & ELEMENT_TITLE) != 0 && !page->title_seen && !hides;
    bool other_title = (flags & ELEMENT_TITLE) != 0 && !first_title;
    if (first_title) page->title_at = depth;
    if (first_title) page->title_seen = true;
    if (hides || other_title || (flags & ELEMENT_DROP) != 0) page->hidden_at = depth;
}

/* libxml2 calls this before it takes the element off its stack. */
static void element_ends(void *user, const xmlChar *name) {
    struct page *page = user;
    if (page->stopped != STOP_NOT) return;
    unsigned flags = element_flags(name);
    if (page->parser->nameNr == 1 && page->parser->input->cur < page->parser->input->end) page->ended = true;
    if ((flags & ELEMENT_VOID) != 0) return;
    if (page->hidden_at == 0) separate(page, flags);
    if (page->parser->nameNr <= page->hidden_at) page->hidden_at = 0;
    if (page->parser->nameNr <= page->title_at) page->title_at = 0;
}

static void characters(void *user, const xmlChar *text, int length) {
    struct page *page = user;
    if (page->stopped != STOP_NOT || page->hidden_at != 0 || length <= 0) return;
    sink_text(page, page->title_at != 0 ? &page->title : &page->body, (const char *)text, (size_t)length);
}

/* The title goes before the text, wherever in the page it was. */
static bool title_insert(const nigh_context *context, struct nigh__array *title, struct nigh__array *text) {
    size_t body = text->count, extra = title->count;
    if (extra == 0) return true;
    if (!nigh__bytes_append(context, title, "\n", 1)) return false;
    if (nigh__array_add(context, text, extra + 1) == NULL) return false;
    char *bytes = text->data;
    memmove(bytes + extra + 1, bytes, body);
    memcpy(bytes, title->data, extra + 1);
    if (body == 0) text->count = extra;
    return true;
}

enum reading { WHOLE, TOO_DEEP, ENDED };

static enum reading text_by_libxml2(const nigh_context *context, const char *bytes, size_t length,
                                    struct nigh__array *text) {
    htmlSAXHandler handler = {.startElement = element_begins,
                              .endElement = element_ends,
                              .characters = characters,
                              .ignorableWhitespace = characters,
                              .cdataBlock = characters,
                              .initialized = XML_SAX2_MAGIC};
    struct nigh__array title = NIGH__ARRAY(char);
    struct page page = {.context = context, .title = {.bytes = &title}, .body = {.bytes = text}};
    page.parser = htmlCreatePushParserCtxt(&handler, &page, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    assert_non_null(page.parser);
    (void)htmlCtxtUseOptions(page.parser, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                                              HTML_PARSE_NONET | HTML_PARSE_NOIMPLIED | HTML_PARSE_IGNORE_ENC);
    (void)htmlParseChunk(page.parser, ROOT, sizeof ROOT - 1, 0);
    (void)htmlParseChunk(page.parser, bytes, (int)length, 1);
    htmlFreeParserCtxt(page.parser);
    assert_true(title_insert(context, &title, text));
    nigh__array_release(context, &title);
    return page.ended ? ENDED : page.stopped == STOP_DEPTH ? TOO_DEEP : WHOLE;
}

/* -------------------------------------------------------------- comparisons */

static bool text_by_ours(const nigh_context *context, const char *bytes, size_t length, struct nigh__array *text) {
    static struct nigh__html_elements known;
    if (known.paragraph == 0) nigh__html_elements_init(&known);
    const struct nigh__html_limits limits = {.max_depth = MAX_DEPTH, .max_bytes = UINT64_MAX};
    struct nigh__array title = NIGH__ARRAY(char);
    nigh_status status = nigh__html_text(context, &known, bytes, length, &limits, &title, text, NULL);
    nigh__array_release(context, &title);
    if (status != NIGH_ELIMIT) assert_int_equal(status, NIGH_OK);
    return status == NIGH_OK;
}

static bool same(const nigh_context *context, const char *bytes, size_t length) {
    struct nigh__array theirs = NIGH__ARRAY(char), ours = NIGH__ARRAY(char);
    char *exact = malloc(length + 1); /* so that a sanitizer sees what is read past its end */
    assert_non_null(exact);
    char *copy = realloc(memcpy(exact, bytes, length), length > 0 ? length : 1);
    assert_non_null(copy);
    const enum reading reading = text_by_libxml2(context, copy, length, &theirs);
    const bool whole = text_by_ours(context, copy, length, &ours);
    bool equal = reading == ENDED || whole == (reading == WHOLE);
    if (equal && reading == WHOLE)
        equal = ours.count == theirs.count && (ours.count == 0 || memcmp(ours.data, theirs.data, ours.count) == 0);
    if (!equal)
        print_error("%.*s\n-- libxml2:\n%.*s\n-- ours:\n%.*s\n", (int)length, bytes, (int)theirs.count,
                    theirs.count > 0 ? (char *)theirs.data : "", (int)ours.count,
                    ours.count > 0 ? (char *)ours.data : "");
    nigh__array_release(context, &theirs);
    nigh__array_release(context, &ours);
    free(copy);
    return equal;
}

/* Its name is longer than one may be. */
#define FORTY "on-and-on-and-on-and-on-and-on-and-on-and-"
#define LONG_TAG "<a.very-long_name:that.goes-" FORTY FORTY FORTY "on>"

/* What pages are put together from; "%" stands for the name of an element. */
static const char *const pieces[] = {
    "<%>",
    "<%>",
    "<%>",
    "<%>",
    "</%>",
    "</%>",
    "</%>",
    "</%>",
    "<%/>",
    "<% hidden>",
    "<% style='display: none'>",
    "<% a=b c = 'd>' e=\"f<\">",
    "<% style=visibility:hidden x>",
    "<%\n",
    "</% x>",
    "</%",
    "word",
    "two words ",
    "\u00e9t\u00e9 ",
    "\u4e16\u754c",
    " ",
    "\n\t",
    "&amp;",
    "&lt;",
    "&eacute;",
    "&eacute",
    "&nosuch;",
    "&#65;",
    "&#x42",
    "&#146;",
    "&#0;",
    "&",
    "&;",
    "&#",
    "&#x;",
    "<",
    ">",
    "</",
    "</ ",
    "<!",
    "<!-- c -->",
    "<!-- <p> --!>",
    "<!--->x-->",
    "<!-- - -- ",
    "-->",
    "<!DOCTYPE html>",
    "<!doctype html PUBLIC '-//>' \"x>\">",
    "<!DOCTYPE html SYSTEM \"about:legacy>\">",
    "<!x>",
    "<![CDATA[x]]>",
    "<?php echo 1 ?>",
    "<? x ?>",
    "<?x>",
    "<3",
    "< p>",
    "\x01",
    "\x0c",
    "\xc2\x93",
    "\xc2\xa0",
    "\xef\xbf\xbe",
    "\xef\xbf\xbd",
    "'",
    "\"",
    "=",
    "/>",
    "a<b",
    "</b\n>",
    "<script>if (a</b) '<p>'</script>",
    "<style>p{}</STYLE >",
    "<script>x</scripts></script>",
    "<title>t</title>",
    "<html>",
    "</html>",
    "<head>",
    "</head>",
    "<body>",
    "</body>",
    "<% hidden=\"\" style=\"x\" style=\"display:none\">",
    "<% style=\"&#100;isplay:&#32;none\">",
    "<% \"x\" y>",
    "<%:a-b_c.d e>",
    LONG_TAG,
};

static const char *const others[] = {"x-y", "time", "b1", "svg:g", "PRE", "TD", "Scripty", "mark"};

static const char *name_pick(struct nigh__rng *rng) {
    const size_t known = sizeof elements / sizeof elements[0], more = sizeof others / sizeof others[0];
    static const char *const html4[] = {"a",        "b",     "i",    "u",    "tt",   "font",   "span",
                                        "big",      "s",     "link", "meta", "area", "base",   "col",
                                        "colgroup", "param", "q",    "code", "em",   "strong", "sub"};
    const size_t old = sizeof html4 / sizeof html4[0];
    const size_t at = (size_t)(nigh__rng_next(rng) % (known + more + old));
    return at < known ? elements[at].name : at < known + more ? others[at - known] : html4[at - known - more];
}

static size_t piece_add(struct nigh__rng *rng, char *out) {
    const char *piece = pieces[nigh__rng_next(rng) % (sizeof pieces / sizeof pieces[0])];
    size_t length = 0;
    for (; *piece != '\0'; piece++) {
        if (*piece == '%')
            length += (size_t)sprintf(out + length, "%s", name_pick(rng));
        else
            out[length++] = *piece;
    }
    return length;
}

static void test_any(void **state) {
    (void)state;
    nigh_context *context = context_new();
    static char bytes[1 << 16];
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct nigh__rng rng = {.state = seed};
        const size_t count = (size_t)(nigh__rng_next(&rng) % (seed % 16 == 0 ? 300 : 30));
        size_t length = 0;
        for (size_t i = 0; i < count; i++) length += piece_add(&rng, bytes + length);
        while (length > 0 && bytes[length - 1] == '\x01') length--; /* there alone it is a character to libxml2 */
        if (!same(context, bytes, length)) fail_msg("seed %" PRIu64, seed);
    }
    nigh_context_free(context);
}

/* Each element within each, and behind each. */
static void test_pairs(void **state) {
    (void)state;
    nigh_context *context = context_new();
    char bytes[512];
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct nigh__rng rng = {.state = seed};
        const char *first = name_pick(&rng), *second = name_pick(&rng), *third = name_pick(&rng);
        const int length = sprintf(bytes, "<div><%s hidden>a<%s>b<%s>c</%s>d</%s>e</div>f", first, second, third,
                                   seed % 2 == 0 ? first : second, first);
        if (!same(context, bytes, (size_t)length)) fail_msg("seed %" PRIu64, seed);
    }
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
