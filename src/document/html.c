/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a page from its first byte to its last, and writes down what is seen of it;
 * no tree is built and nothing is fetched.
 *
 *     <p>Un<b>believ</b>able</p><script>x()</script><div hidden>y</div>z
 *        ^^   ^^^^^^    ^^^^                                           ^
 *
 * An element hides all that is in it, so hiding is remembered as the depth at
 * which it began, and ends when the stack is that low again.
 *
 * Pages are read as libxml2 2.9 reads them, for which this took the place of it:
 * signatures of pages must stay what they are.  Its rules are those of HTML 4, with
 * which elements end where others begin or end (html_elements.c), and what it makes
 * of careless pages:
 *
 *   - <html> is left out, and <head> and <body> but for the first.  For each that was
 *     left out, the next end tag of any of the three is left out, too.
 *   - Text in <head> begins a paragraph, which ends the head.
 *   - A reference without its ';' is text.  Characters that XML has not are dropped.
 *   - What begins like a tag and is none is text, and so is <![CDATA[.
 *   - Elements without an end tag that came with HTML 5 stay open until the next start
 *     tag: so a <p> behind a <wbr> ends no <p> before it.
 *
 * It differs in what followed from being given a page in pieces, such as <!-->, which
 * hid the rest of the piece it was in, and has no limit of names or attributes.
 * tests/oracle/test_html.c compares the two.
 *
 * Time is linear: each byte is looked at once or twice, and an end tag at no more open
 * elements than a page may have.  The text is at most half as long again as the page,
 * by &#146; and its like, written as two bytes.
 */
#include "document/html.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "document/html_parts.h"
#include "document/utf8.h"

#define LONGEST_NAME 100 /* what follows is a name again */

/* An open element. */
struct opened {
    const char *name; /* in the page */
    uint8_t length;
    uint8_t id;
};

enum stop_reason { STOP_NOT, STOP_MEMORY, STOP_DEPTH };

struct page {
    const nigh_context *context;
    const struct nigh__html_elements *known;
    const char *at, *end;
    struct nigh__array open;                       /* of struct opened */
    uint32_t open_count[2 * NIGH__ELEMENT_OTHERS]; /* by id */
    size_t left_out;                               /* start tags of html, head and body whose end tags are to come */
    size_t max_depth;
    size_t hidden_at; /* depth of the element that hides; 0: none does */
    size_t title_at;
    bool title_seen;
    struct nigh__html_sink title, body;
    enum stop_reason stopped;
};

/* The name of an element or attribute, in small letters. */
struct name {
    char letters[LONGEST_NAME + 8];
    const char *begin;
    size_t length;
};

struct attributes {
    bool hide, styled;
};

/* ------------------------------------------------------------------ letters */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_letter(char c) { return nigh__small(c) >= 'a' && nigh__small(c) <= 'z'; }

static bool begins_name(char c) { return is_letter(c) || c == '_' || c == ':' || c == '.'; }

static void stop(struct page *page, enum stop_reason reason) {
    page->stopped = reason;
    page->at = page->end;
}

static void sink_begin(struct page *page, struct nigh__html_sink *sink) {
    if (!nigh__html_sink_begin(page->context, sink, (size_t)(page->end - page->at))) stop(page, STOP_MEMORY);
}

static void skip_blanks(struct page *page) {
    while (page->at < page->end && is_blank(*page->at)) page->at++;
}

/* To behind the next such character. */
static void skip_behind(struct page *page, char c) {
    const char *found = page->at < page->end ? memchr(page->at, c, (size_t)(page->end - page->at)) : NULL;
    page->at = found == NULL ? page->end : found + 1;
}

static bool is_at(const struct page *page, const char *at, char c) { return at < page->end && *at == c; }

/* Whether small letters follow, in any case. */
static bool follows(const struct page *page, const char *at, const char *letters, size_t length) {
    if ((size_t)(page->end - at) < length) return false;
    for (size_t i = 0; i < length; i++)
        if (nigh__small(at[i]) != letters[i]) return false;
    return true;
}

/* False: there is none. */
static bool name_read(struct page *page, struct name *name) {
    const char *at = page->at;
    if (at == page->end || !begins_name(*at)) return false;
    size_t length = 0;
    memset(name->letters, 0, 8);
    name->begin = at;
    for (; at < page->end && nigh__html_is_of_name(*at) && length < LONGEST_NAME; at++)
        name->letters[length++] = nigh__small(*at);
    name->length = length;
    page->at = at;
    return true;
}

static bool name_is(const struct name *name, const char *other, size_t length) {
    return name->length == length && memcmp(name->letters, other, length) == 0;
}

/* ----------------------------------------------------------------- elements */

static struct opened *top_of(const struct page *page) {
    return page->open.count == 0 ? NULL : (struct opened *)page->open.data + page->open.count - 1;
}

static unsigned flags_of(const struct page *page, unsigned id) { return page->known->flags[id]; }

static void separate(struct page *page, unsigned flags) {
    if ((flags & NIGH__ELEMENT_LINE) != 0) page->body.line = true;
    if ((flags & NIGH__ELEMENT_GAP) != 0) page->body.gap = true;
}

static bool push(struct page *page, unsigned id, const char *name, size_t length) {
    struct opened *added = nigh__array_add(page->context, &page->open, 1);
    if (added == NULL) {
        stop(page, STOP_MEMORY);
        return false;
    }
    *added = (struct opened){.name = name, .length = (uint8_t)length, .id = (uint8_t)id};
    page->open_count[id]++;
    return true;
}

static void pop(struct page *page) {
    page->open_count[top_of(page)->id]--;
    page->open.count--;
}

/* Takes an element that stayed open off the stack, from under the one that has just begun. */
static void open_remove(struct page *page) {
    struct opened *top = top_of(page);
    if (page->open.count < 2 || (flags_of(page, top[-1].id) & NIGH__ELEMENT_OPEN) == 0) return;
    page->open_count[top[-1].id]--;
    top[-1] = *top;
    page->open.count--;
}

static void title_begin(struct page *page, size_t depth) {
    page->title_seen = true;
    page->title_at = depth;
    sink_begin(page, &page->title);
}

/* What has just been pushed begins. */
static void element_begins(struct page *page, bool hides) {
    open_remove(page);
    const unsigned flags = flags_of(page, top_of(page)->id);
    const size_t depth = page->open.count;
    if (depth > page->max_depth) {
        stop(page, STOP_DEPTH);
        return;
    }
    if (page->hidden_at != 0) return;
    if (!hides) separate(page, flags);
    if ((flags & NIGH__ELEMENT_OPEN) != 0) return;
    const bool first_title = (flags & NIGH__ELEMENT_TITLE) != 0 && !page->title_seen && !hides;
    const bool other_title = (flags & NIGH__ELEMENT_TITLE) != 0 && !first_title;
    if (first_title) title_begin(page, depth);
    if (hides || other_title || (flags & NIGH__ELEMENT_DROP) != 0) page->hidden_at = depth;
}

/* The element on top ends. */
static void element_ends(struct page *page) {
    const unsigned flags = flags_of(page, top_of(page)->id);
    const size_t depth = page->open.count;
    if ((flags & NIGH__ELEMENT_OPEN) == 0) {
        if (page->hidden_at == 0) separate(page, flags);
        if (depth <= page->hidden_at) page->hidden_at = 0;
        if (depth <= page->title_at) page->title_at = 0;
    }
    pop(page);
}

/* Ends what the start tag of another element ends. */
static void end_before(struct page *page, unsigned id) {
    if (id >= NIGH__ELEMENT_OTHERS) return;
    for (const struct opened *top; (top = top_of(page)) != NULL && top->id < NIGH__ELEMENT_OTHERS;) {
        if ((page->known->ended_by[top->id][id / 64] >> id % 64 & 1) == 0) return;
        element_ends(page);
    }
}

static bool is_named(const struct page *page, const struct opened *opened, unsigned id, const struct name *name) {
    if (opened->id != id) return false;
    if (id < NIGH__ELEMENT_OTHERS) return true;
    return opened->length == name->length && follows(page, opened->name, name->letters, name->length);
}

/* Ends an element by its end tag, with all that is open in it; nothing where something of a higher rank is. */
static void end_named(struct page *page, unsigned id, const struct name *name) {
    if (page->open_count[id] == 0) return;
    const struct opened *open = page->open.data;
    size_t depth = page->open.count;
    for (; depth > 0 && !is_named(page, open + depth - 1, id, name); depth--)
        if (page->known->ranks[open[depth - 1].id] > page->known->ranks[id]) return;
    if (depth == 0) return;
    while (page->open.count >= depth) element_ends(page);
}

/* --------------------------------------------------------------- attributes */

/* The value of an attribute, its references read. */
struct value {
    const char *at, *end;
};

/* The next character; 0: the end.  Those of more than one byte are as good as any other here. */
static uint32_t value_next(struct value *value) {
    if (value->at == value->end) return 0;
    if (*value->at != '&') return (uint8_t)*value->at++;
    uint32_t code;
    value->at = nigh__html_reference(value->at, value->end, &code);
    return code;
}

static bool is_space_code(uint32_t code) { return code < 0x80 && nigh__is_space((char)code); }

/* Whether a value holds "display:none" or another such pair from here on, white space and case aside. */
static bool value_begins(struct value value, const char *pair) {
    uint32_t code = value_next(&value);
    while (*pair != '\0' && code != 0 && code < 0x80 && nigh__small((char)code) == *pair) {
        pair++;
        do code = value_next(&value);
        while (is_space_code(code));
    }
    return *pair == '\0';
}

static bool value_has(struct value value, const char *pair) {
    do {
        if (value_begins(value, pair)) return true;
    } while (value_next(&value) != 0);
    return false;
}

/* Behind a '='; an open quote goes to the end of the page. */
static struct value value_read(struct page *page) {
    skip_blanks(page);
    const char quote = page->at < page->end ? *page->at : '\0';
    struct value value = {page->at, page->at};
    if (quote == '"' || quote == '\'') {
        value.at = ++page->at;
        skip_behind(page, quote);
        const bool closed = page->at > value.at && page->at[-1] == quote;
        value.end = page->at - closed;
    } else {
        while (page->at < page->end && *page->at != '>' && !is_blank(*page->at)) page->at++;
        value.end = page->at;
    }
    return value;
}

static void attribute_take(const struct name *name, struct value value, struct attributes *seen) {
    if (name_is(name, "hidden", 6)) seen->hide = true;
    if (!name_is(name, "style", 5) || seen->styled) return;
    seen->styled = true; /* the first counts */
    if (value_has(value, "display:none") || value_has(value, "visibility:hidden")) seen->hide = true;
}

static bool tag_ends(const struct page *page) {
    return page->at == page->end || *page->at == '>' || (*page->at == '/' && is_at(page, page->at + 1, '>'));
}

static void attributes_read(struct page *page, struct attributes *seen) {
    for (skip_blanks(page); !tag_ends(page); skip_blanks(page)) {
        struct name name;
        if (!name_read(page, &name)) {
            while (!tag_ends(page) && !is_blank(*page->at)) page->at++;
            continue;
        }
        struct value value = {NULL, NULL};
        skip_blanks(page);
        if (is_at(page, page->at, '=')) {
            page->at++;
            value = value_read(page);
        }
        attribute_take(&name, value, seen);
    }
}

/* --------------------------------------------------------------------- tags */

/* Whether a start tag is left out. */
static bool is_left_out(const struct page *page, unsigned id) {
    const struct nigh__html_elements *known = page->known;
    if (id == known->html) return true;
    if (id == known->head) return page->open.count > 0;
    return id == known->body && page->open_count[id] > 0;
}

/* At '<' and a letter.  A tag that is left out leaves what is on top to its end: <body/> may end that. */
static void start_tag(struct page *page) {
    struct name name;
    struct attributes seen = {0};
    page->at++;
    (void)name_read(page, &name);
    const unsigned id = nigh__html_element(page->known, name.letters, name.length);
    end_before(page, id);
    const bool left_out = is_left_out(page, id);
    attributes_read(page, &seen);
    if (left_out)
        page->left_out++;
    else if (push(page, id, name.begin, name.length))
        element_begins(page, seen.hide);
    if (page->at == page->end) return;
    const bool closed = *page->at == '/';
    page->at += closed ? 2 : 1;
    const struct opened *top = top_of(page);
    if (top != NULL && (closed || (flags_of(page, top->id) & NIGH__ELEMENT_EMPTY) != 0)) element_ends(page);
}

/* At "</". */
static void end_tag(struct page *page) {
    struct name name;
    page->at += 2;
    if (!name_read(page, &name)) return;
    skip_behind(page, '>');
    const unsigned id = nigh__html_element(page->known, name.letters, name.length);
    const struct nigh__html_elements *known = page->known;
    if (page->left_out > 0 && (id == known->html || id == known->head || id == known->body))
        page->left_out--;
    else
        end_named(page, id, &name);
}

/* ------------------------------------------------------------ other markup */

/* At "<!--": to behind "-->" or "--!>", or the end of the page. */
static void comment(struct page *page) {
    const char *begin = page->at += 4;
    for (skip_behind(page, '>'); page->at[-1] == '>'; skip_behind(page, '>')) {
        const char *at = page->at - 1 - (page->at[-2] == '!');
        if (at - begin >= 2 && at[-1] == '-' && at[-2] == '-') return;
        if (page->at == page->end) return;
    }
}

static void quoted_skip(struct page *page) {
    const char quote = page->at < page->end ? *page->at : '\0';
    if (quote != '"' && quote != '\'') return;
    page->at++;
    skip_behind(page, quote);
    skip_blanks(page);
}

/* At "<!DOCTYPE"; what is quoted may have a '>'. */
static void doctype(struct page *page) {
    page->at += 9;
    skip_blanks(page);
    if (page->at < page->end && begins_name(*page->at) && *page->at != '.')
        while (page->at < page->end && (nigh__html_is_of_name(*page->at) || (uint8_t)*page->at >= 0x80)) page->at++;
    skip_blanks(page);
    const bool public = follows(page, page->at, "public", 6);
    if (public || follows(page, page->at, "system", 6)) {
        page->at += 6;
        skip_blanks(page);
        quoted_skip(page);
        if (public) quoted_skip(page);
    }
    skip_behind(page, '>');
}

/* At "<?": to behind '>', where a name follows; otherwise what follows is text. */
static void instruction(struct page *page) {
    const char *at = page->at += 2;
    if (at == page->end || (!begins_name(*at) && (uint8_t)*at < 0x80) || *at == '.') return;
    while (at < page->end && nigh__html_is_of_name(*at)) at++;
    if (at < page->end) skip_behind(page, '>');
}

static void text_add(struct page *page, const char *at, const char *end) {
    if (page->hidden_at == 0) nigh__html_sink_text(page->title_at != 0 ? &page->title : &page->body, at, end);
}

/* At '<'. */
static void markup(struct page *page) {
    const char *at = page->at;
    const size_t left = (size_t)(page->end - at);
    if (left == 1)
        page->at++;
    else if (at[1] == '/')
        end_tag(page);
    else if (is_letter(at[1]))
        start_tag(page);
    else if (at[1] == '?')
        instruction(page);
    else if (follows(page, at, "<!doctype", 9))
        doctype(page);
    else if (left >= 4 && memcmp(at, "<!--", 4) == 0)
        comment(page);
    else if (left < 4 && at[1] == '!')
        page->at = page->end;
    else
        text_add(page, at, ++page->at);
}

/* --------------------------------------------------------------------- text */

/* Text in <head> is a paragraph, which ends it. */
static void paragraph_begin(struct page *page) {
    end_before(page, page->known->paragraph);
    if (push(page, page->known->paragraph, "p", 1)) element_begins(page, false);
}

/* Up to the next '<'. */
static void text(struct page *page) {
    const char *at = page->at;
    const char *found = memchr(at, '<', (size_t)(page->end - at));
    const char *end = page->at = found == NULL ? page->end : found;
    if (end - at == 1 && end == page->end && *at == '&') return;
    const struct opened *top = top_of(page);
    if (top != NULL && top->id == page->known->head && !nigh__html_is_white(at, end)) paragraph_begin(page);
    text_add(page, at, end);
}

/* In a script or a style: to its end tag. */
static void raw(struct page *page, const struct opened *top) {
    struct name name;
    const char *at = page->at;
    const char *from = at;
    memset(&name, 0, sizeof name);
    for (size_t i = 0; i < top->length; i++) name.letters[i] = nigh__small(top->name[i]);
    for (; at < page->end; from = at + 1) {
        at = memchr(from, '<', (size_t)(page->end - from));
        if (at == NULL) at = page->end;
        page->at = at;
        if (is_at(page, at + 1, '/') && follows(page, at + 2, name.letters, top->length)) {
            end_tag(page);
            return;
        }
    }
}

static void parse(struct page *page) {
    while (page->at < page->end) {
        const struct opened *top = top_of(page);
        if (top != NULL && (flags_of(page, top->id) & NIGH__ELEMENT_RAW) != 0)
            raw(page, top);
        else if (*page->at == '<')
            markup(page);
        else
            text(page);
    }
}

/* --------------------------------------------------------------------- page */

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

static nigh_status finish(struct page *page, const struct nigh__html_limits *limits, nigh_error *error) {
    nigh__html_sink_end(&page->body);
    nigh__html_sink_end(&page->title);
    if (page->stopped == STOP_DEPTH)
        return nigh__fail(error, NIGH_ELIMIT, "nested deeper than %" PRIu32, limits->max_depth);
    if (page->stopped == STOP_NOT && page->title.bytes->count + page->body.bytes->count > limits->max_bytes)
        return nigh__fail(error, NIGH_ELIMIT, "more than %" PRIu64 " bytes of text", limits->max_bytes);
    if (page->stopped == STOP_MEMORY || !title_insert(page->context, page->title.bytes, page->body.bytes))
        return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    return NIGH_OK;
}

nigh_status nigh__html_text(const nigh_context *context, const struct nigh__html_elements *known, const char *bytes,
                            size_t length, const struct nigh__html_limits *limits, struct nigh__array *title,
                            struct nigh__array *text, nigh_error *error) {
    struct page page = {.context = context,
                        .known = known,
                        .at = bytes,
                        .end = bytes + length,
                        .open = NIGH__ARRAY(struct opened),
                        .max_depth = limits->max_depth,
                        .title = {.bytes = title},
                        .body = {.bytes = text}};
    title->count = 0;
    sink_begin(&page, &page.body);
    parse(&page);
    nigh__array_release(context, &page.open);
    return finish(&page, limits, error);
}
