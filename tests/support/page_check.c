/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that knows only what the report may hold: whatever else is there came from a text. */
#include "support/page_check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "text/unicode.h"

#define MAX_DEPTH 32

static const char *const elements[] = {
    "html", "head", "title",   "style",   "body",   "header",     "p",       "h1",      "h2",     "bdi",
    "svg",  "rect", "path",    "text",    "dl",     "dt",         "dd",      "div",     "small",  "b",
    "i",    "mark", "main",    "section", "figure", "figcaption", "details", "summary", "table",  "tr",
    "th",   "td",   "article", "span",    "ul",     "li",         "footer",  "meta",    "script",
};

static const char *const attributes[] = {
    "class", "d",       "x",    "y",       "width", "height", "viewBox",    "role", "aria-label", "preserveAspectRatio",
    "lang",  "charset", "name", "content", "dir",   "scope",  "http-equiv", "open",
};

struct cursor {
    const char *at, *end;
    int stack[MAX_DEPTH];
    int depth;
    int style; /* 1 within <style> and <script> */
};

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* The place in a list of the name here, which is passed over; -1: not in it. */
static int read_name(struct cursor *cursor, const char *const *names, size_t count) {
    const char *begin = cursor->at;
    while (cursor->at < cursor->end && is_name(*cursor->at)) cursor->at++;
    const size_t length = (size_t)(cursor->at - begin);
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], begin, length) == 0) return (int)i;
    return -1;
}

static bool skip(struct cursor *cursor, const char *literal) {
    const size_t length = strlen(literal);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, literal, length) != 0) return false;
    cursor->at += length;
    return true;
}

/* After the name of an attribute. */
static const char *check_value(struct cursor *cursor) {
    if (!skip(cursor, "=\"")) return NULL;
    for (; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++)
        if (*cursor->at == '<' || *cursor->at == '>' || *cursor->at == '&') return "markup in an attribute";
    return skip(cursor, "\"") ? NULL : "an attribute without an end";
}

static const char *check_close(struct cursor *cursor) {
    const int element = read_name(cursor, elements, sizeof elements / sizeof elements[0]);
    if (!skip(cursor, ">")) return "an end tag without an end";
    if (cursor->depth == 0 || cursor->stack[--cursor->depth] != element) return "an end tag of another element";
    cursor->style = 0;
    return NULL;
}

static const char *check_open(struct cursor *cursor) {
    const int element = read_name(cursor, elements, sizeof elements / sizeof elements[0]);
    if (element < 0) return "a tag that is not ours";
    while (skip(cursor, " ")) {
        if (read_name(cursor, attributes, sizeof attributes / sizeof attributes[0]) < 0)
            return "an attribute that is not ours";
        const char *problem = check_value(cursor);
        if (problem != NULL) return problem;
    }
    if (skip(cursor, "/>")) return NULL;
    if (!skip(cursor, ">")) return "a tag without an end";
    if (strcmp(elements[element], "meta") == 0) return NULL;
    if (cursor->depth == MAX_DEPTH) return "too deep";
    cursor->stack[cursor->depth++] = element;
    cursor->style = strcmp(elements[element], "style") == 0 || strcmp(elements[element], "script") == 0;
    return NULL;
}

static const char *check_entity(struct cursor *cursor) {
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (skip(cursor, known[i])) return NULL;
    return "an entity that is not ours";
}

static const char *check_character(struct cursor *cursor) {
    size_t bytes = 0;
    const int32_t code = nigh__utf8_read(cursor->at, (size_t)(cursor->end - cursor->at), &bytes);
    cursor->at += bytes;
    if (code == NIGH__REPLACEMENT && bytes == 1) return "not UTF-8";
    if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0)) return "a control character";
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return "an override of direction";
    if (code == 0x200e || code == 0x200f || code == 0x61c || code == 0xfeff) return "a mark of direction";
    if (cursor->style == 0 && (code == '"' || code == '\'' || code == '>')) return "a quote or bracket in a text";
    return NULL;
}

const char *page_problem(const char *html, size_t length) {
    struct cursor cursor = {.at = html, .end = html + length};
    if (!skip(&cursor, "<!DOCTYPE html>\n")) return "no document type";
    while (cursor.at < cursor.end) {
        const char *problem = NULL;
        if (skip(&cursor, "</"))
            problem = check_close(&cursor);
        else if (skip(&cursor, "<"))
            problem = check_open(&cursor);
        else if (*cursor.at == '&')
            problem = check_entity(&cursor);
        else
            problem = check_character(&cursor);
        if (problem != NULL) return problem;
    }
    return cursor.depth == 0 ? NULL : "an element without an end";
}
