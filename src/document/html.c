/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Reads a page with libxml2's push parser, by its events; no tree is built and
 * nothing is fetched.
 *
 *     <p>Un<b>believ</b>able</p><script>x()</script><div hidden>y</div>z
 *        ^^   ^^^^^^    ^^^^                                           ^
 *
 * An element hides all that is in it, so hiding is remembered as the depth at
 * which it began, and ends when the stack is that low again.  libxml2 closes
 * what pages leave open and tells us of it.
 *
 * libxml2 2.9 was made for pages of good will.  Against the others:
 *
 *   - It compares each attribute of a tag with all before it.  The page goes in
 *     in pieces of 1 KiB, and where a tag is longer, its attributes are counted
 *     before it goes in.
 *   - It keeps each name it meets in a table that stops growing at 16,384
 *     places.  A page may have four times as many names.
 *   - It looks through all open elements for each end tag that closes nothing,
 *     as </i> does in <i><div>.  It tells of such a tag as an error; what it has
 *     looked at is counted and has a limit, far above what careless pages need.
 *     The void elements of HTML 5 that it does not know (wbr and others) would
 *     pile up; they are taken out.
 *   - It stops where the first element ends, and </html> ends it.  All goes into
 *     an element of our own, which pages do not close.
 *
 * tests/unit/test_extract_hostile.c tries about a hundred patterns.  Time is
 * linear (16 MiB take 6 s at worst, where every byte is an error that libxml2
 * words), memory at most 5 times the page in UTF-8.
 */
#include "document/html.h"

#include <inttypes.h>
#include <libxml/HTMLparser.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "document/utf8.h"

#define PIECE 1024
#define MAX_ATTRIBUTES 256
#define MAX_NAMES 65536
#define MAX_LOOKS (UINT64_C(32) << 20) /* at open elements, for nothing: 2 s */
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

/* ------------------------------------------------------------------ output */

/* Where text goes; what separates it from the next is written with the next. */
struct sink {
    struct nigh__array *bytes;
    bool gap, line;
};

/* How far a start tag has been read. */
enum tag_place {
    TAG_BETWEEN,
    TAG_NAME,
    TAG_AFTER_NAME,
    TAG_BEFORE_VALUE,
    TAG_DOUBLE,
    TAG_SINGLE,
    TAG_VALUE,
    TAG_BOGUS
};

struct tag {
    size_t attributes;
    size_t name_length;
    enum tag_place place;
};

enum stop_reason { STOP_NOT, STOP_MEMORY, STOP_BYTES, STOP_DEPTH, STOP_ATTRIBUTES, STOP_NAMES, STOP_LOOKS };

struct page {
    const nigh_context *context;
    const struct nigh__html_limits *limits;
    htmlParserCtxtPtr parser;
    struct sink title, body;
    int hidden_at; /* depth of the element that hides; 0: none does */
    int title_at;
    bool title_seen;
    const char *bytes;
    size_t length, given;    /* all of the page, and to libxml2 */
    size_t waited_for;       /* where the last tag began that libxml2 waited for the end of */
    uint64_t looks;          /* at open elements, for end tags that closed none */
    uint64_t last_looks;     /* of them for the last error, */
    const xmlChar *error_at; /* which was here */
    enum stop_reason stopped;
};

static void stop(struct page *page, enum stop_reason reason) {
    if (page->stopped != STOP_NOT) return;
    page->stopped = reason;
    xmlStopParser(page->parser);
}

static bool sink_write(struct page *page, struct sink *sink, const char *bytes, size_t length) {
    if (page->title.bytes->count + page->body.bytes->count + length > page->limits->max_bytes)
        stop(page, STOP_BYTES);
    else if (!nigh__bytes_append(page->context, sink->bytes, bytes, length))
        stop(page, STOP_MEMORY);
    return page->stopped == STOP_NOT;
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

/* ------------------------------------------------------------------ events */

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
    if ((uint32_t)(depth - 1) > page->limits->max_depth) { /* less our own */
        stop(page, STOP_DEPTH);
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

#if LIBXML_VERSION >= 21200
typedef const xmlError *error_pointer;
#else
typedef xmlError *error_pointer;
#endif

/* An end tag that does not fit: it closes nothing, unless elements end before anything more is read. */
static void parse_error(void *user, error_pointer error) {
    struct page *page = user;
    if (error->code != XML_ERR_TAG_NAME_MISMATCH || page->stopped != STOP_NOT || page->parser->input == NULL) return;
    page->error_at = page->parser->input->cur;
    page->last_looks = (uint64_t)page->parser->nameNr;
    page->looks += page->last_looks;
    if (page->looks > MAX_LOOKS) stop(page, STOP_LOOKS);
}

static void looks_take_back(struct page *page) {
    page->looks -= page->last_looks;
    page->last_looks = 0;
}

/* libxml2 calls this before it takes the element off its stack. */
static void element_ends(void *user, const xmlChar *name) {
    struct page *page = user;
    if (page->stopped != STOP_NOT) return;
    if (page->parser->input != NULL && page->parser->input->cur == page->error_at) looks_take_back(page);
    unsigned flags = element_flags(name);
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

/* ------------------------------------------------------------------ limits */

static bool is_name(char c, bool first) {
    char small = nigh__small(c);
    if ((small >= 'a' && small <= 'z') || c == '_' || c == ':' || c == '.') return true;
    return !first && ((c >= '0' && c <= '9') || c == '-');
}

/* libxml2 cuts names at 100 bytes; what follows is a name again. */
static void tag_name(struct tag *tag) {
    if (tag->place != TAG_NAME || tag->name_length >= 100) {
        tag->attributes++;
        tag->name_length = 0;
    }
    tag->name_length++;
    tag->place = TAG_NAME;
}

/* One byte of a tag, as libxml2 will see it. */
static void tag_step(struct tag *tag, char c) {
    bool space = nigh__is_space(c);
    switch (tag->place) {
    case TAG_DOUBLE:
        if (c == '"') tag->place = TAG_BETWEEN;
        return;
    case TAG_SINGLE:
        if (c == '\'') tag->place = TAG_BETWEEN;
        return;
    case TAG_VALUE:
    case TAG_BOGUS:
        if (space) tag->place = TAG_BETWEEN;
        return;
    case TAG_BEFORE_VALUE:
        if (!space) tag->place = c == '"' ? TAG_DOUBLE : c == '\'' ? TAG_SINGLE : TAG_VALUE;
        return;
    default:
        break;
    }
    bool named = tag->place == TAG_NAME || tag->place == TAG_AFTER_NAME;
    if (space)
        tag->place = named ? TAG_AFTER_NAME : TAG_BETWEEN;
    else if (named && c == '=')
        tag->place = TAG_BEFORE_VALUE;
    else if (is_name(c, tag->place != TAG_NAME))
        tag_name(tag);
    else
        tag->place = TAG_BOGUS;
}

/* Where the tag that begins at `at` ends, for its attributes; the end of the page where it does not. */
static size_t tag_end(struct page *page, size_t at) {
    struct tag tag = {.place = TAG_BETWEEN};
    for (at++; at < page->length; at++) {
        char c = page->bytes[at];
        if (c == '>' && tag.place != TAG_DOUBLE && tag.place != TAG_SINGLE) return at + 1;
        tag_step(&tag, c);
        if (tag.attributes > MAX_ATTRIBUTES + 1) stop(page, STOP_ATTRIBUTES); /* the first is its name */
        if (page->stopped != STOP_NOT) break;
    }
    return page->length;
}

/* -------------------------------------------------------------------- page */

static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static htmlParserCtxtPtr parser_new(struct page *page) {
    (void)pthread_once(&prepared, xmlInitParser);
    htmlSAXHandler handler = {.startElement = element_begins,
                              .endElement = element_ends,
                              .characters = characters,
                              .ignorableWhitespace = characters,
                              .cdataBlock = characters,
                              .serror = parse_error,
                              .initialized = XML_SAX2_MAGIC};
    htmlParserCtxtPtr parser = htmlCreatePushParserCtxt(&handler, page, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    if (parser == NULL) return NULL;
    /* IGNORE_ENC: what the page says of its character set was true before it was converted. */
    (void)htmlCtxtUseOptions(parser, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                         HTML_PARSE_NOIMPLIED | HTML_PARSE_IGNORE_ENC);
    return parser;
}

static void give(struct page *page, const char *bytes, size_t length) {
    (void)htmlParseChunk(page->parser, bytes, (int)length, 0);
    if (page->parser->errNo == XML_ERR_NO_MEMORY) stop(page, STOP_MEMORY);
    if (xmlDictSize(page->parser->dict) > MAX_NAMES) stop(page, STOP_NAMES);
}

/*
 * The end of a piece that can be given next.  It ends before a '<' where there is
 * one: libxml2 2.9 loses its way where a piece ends in "</scr" or in quotes.
 */
static size_t piece_end(const struct page *page) {
    size_t left = page->length - page->given;
    if (left <= PIECE) return page->length;
    const char *piece = page->bytes + page->given;
    size_t end = PIECE;
    while (end > 0 && piece[end] != '<') end--;
    return page->given + (end > 0 ? end : nigh__utf8_cut(piece, PIECE));
}

/* Where libxml2 waits for the end of a start tag: gives all of that tag, once it is known to be harmless. */
static void tag_finish(struct page *page) {
    const xmlParserInput *input = page->parser->input;
    if (page->stopped != STOP_NOT || input == NULL || input->end - input->cur < 2) return;
    size_t waiting = (size_t)(input->end - input->cur);
    if (input->cur[0] != '<' || !is_name((char)input->cur[1], true) || waiting > page->given) return;
    size_t begin = page->given - waiting;
    if (begin == page->waited_for) return; /* it sees another end than we do */
    page->waited_for = begin;
    size_t end = tag_end(page, begin);
    if (page->stopped != STOP_NOT || end <= page->given) return;
    page->parser->checkIndex = 0; /* look from the beginning: it forgets whether it was in quotes */
    size_t from = page->given;
    page->given = end;
    give(page, page->bytes + from, end - from);
}

static void parse(struct page *page) {
    give(page, ROOT, sizeof ROOT - 1);
    while (page->given < page->length && page->stopped == STOP_NOT) {
        size_t from = page->given;
        page->given = piece_end(page);
        give(page, page->bytes + from, page->given - from);
        tag_finish(page);
    }
    if (page->stopped == STOP_NOT) (void)htmlParseChunk(page->parser, NULL, 0, 1);
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

static nigh_status page_failed(const struct page *page, nigh_error *error) {
    if (page->stopped == STOP_DEPTH)
        return nigh__fail(error, NIGH_ELIMIT, "nested deeper than %" PRIu32, page->limits->max_depth);
    if (page->stopped == STOP_ATTRIBUTES)
        return nigh__fail(error, NIGH_ELIMIT, "a tag with more than %d attributes", MAX_ATTRIBUTES);
    if (page->stopped == STOP_NAMES)
        return nigh__fail(error, NIGH_ELIMIT, "more than %d names of elements and attributes", MAX_NAMES);
    if (page->stopped == STOP_LOOKS) return nigh__fail(error, NIGH_ELIMIT, "too many end tags that close nothing");
    if (page->stopped == STOP_BYTES)
        return nigh__fail(error, NIGH_ELIMIT, "more than %" PRIu64 " bytes of text", page->limits->max_bytes);
    return nigh__fail(error, NIGH_ENOMEM, "out of memory");
}

nigh_status nigh__html_text(const nigh_context *context, const char *bytes, size_t length,
                            const struct nigh__html_limits *limits, struct nigh__array *title, struct nigh__array *text,
                            nigh_error *error) {
    struct page page = {.context = context,
                        .limits = limits,
                        .title = {.bytes = title},
                        .body = {.bytes = text},
                        .bytes = bytes,
                        .length = length,
                        .waited_for = NIGH__NONE};
    if (length > INT_MAX) return nigh__fail(error, NIGH_ELIMIT, "a page of more than 2 GiB");
    title->count = 0;
    page.parser = parser_new(&page);
    if (page.parser == NULL) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    parse(&page);
    htmlFreeParserCtxt(page.parser);
    if (page.stopped != STOP_NOT) return page_failed(&page, error);
    if (!title_insert(context, title, text)) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    return NIGH_OK;
}
