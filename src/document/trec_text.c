/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TREC's markup is SGML by name only: tags, a few entities, and anything between
 * them.  So it is read in one pass from '<' to '>', each byte looked at once or
 * twice, whatever is open or not.
 */
#include "document/trec_text.h"

#include <string.h>

#include "document/utf8.h"

/* Elements that are about the document, and not its text. */
static const char *const dropped[] = {"docno", "docid", "dochdr", "fileid", "script", "style"};
#define DOCNO 0
#define NOTHING (-1)

static const struct {
    const char *name, *text;
} entities[] = {
    {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&nbsp;", " "},
};

struct scan {
    const nigh_context *context;
    const char *at, *end;
    struct nigh__array *text, *docno;
    bool no_more_tags;     /* there is no '>' behind here: it need not be looked for again */
    bool no_more_comments; /* nor "-->" */
    bool docno_seen;
    int dropping; /* index into `dropped`, or NOTHING */
};

static size_t left(const struct scan *scan) { return (size_t)(scan->end - scan->at); }

static bool begins(const char *at, size_t length, const char *word) {
    size_t i = 0;
    while (i < length && word[i] != '\0' && nigh__small(at[i]) == word[i]) i++;
    return word[i] == '\0';
}

/* ---------------------------------------------------------------- entities */

/* "&#65;" or "&#x41;": its length and the character; 0: it is none. */
static size_t number_read(const char *at, size_t length, uint32_t *character) {
    if (!begins(at, length, "&#")) return 0;
    bool hex = begins(at, length, "&#x");
    size_t first = hex ? 3 : 2;
    uint32_t value = 0;
    for (size_t i = first; i < length && i <= first + 8; i++) {
        char c = nigh__small(at[i]);
        if (c == ';' && i > first) {
            *character = value == 0 ? 0xfffd : value;
            return i + 1;
        }
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(hex && c >= 'a' && c <= 'f')) return 0;
        value = value * (hex ? 16 : 10) + (uint32_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return 0;
}

static bool entity_append(struct scan *scan, struct nigh__array *out) {
    uint32_t character;
    size_t length = number_read(scan->at, left(scan), &character);
    if (length > 0) {
        scan->at += length;
        return nigh__utf8_append(scan->context, out, character);
    }
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (!begins(scan->at, left(scan), entities[i].name)) continue;
        scan->at += strlen(entities[i].name);
        return nigh__bytes_append(scan->context, out, entities[i].text, 1);
    }
    scan->at++;
    return nigh__bytes_append(scan->context, out, "&", 1);
}

/* -------------------------------------------------------------------- tags */

/* The end of the tag at scan->at, or NULL where it is a '<' of the text. */
static const char *tag_end(struct scan *scan) {
    char next = left(scan) < 2 ? '\0' : nigh__small(scan->at[1]);
    bool tag = (next >= 'a' && next <= 'z') || next == '/' || next == '!' || next == '?';
    if (!tag || scan->no_more_tags) return NULL;
    const char *end = memchr(scan->at, '>', left(scan));
    if (end == NULL) scan->no_more_tags = true;
    return end;
}

/* The end of the comment at scan->at, or NULL. */
static const char *comment_end(struct scan *scan) {
    if (scan->no_more_comments || !begins(scan->at, left(scan), "<!--")) return NULL;
    for (const char *at = scan->at + 4; scan->end - at >= 3; at++) {
        at = memchr(at, '-', (size_t)(scan->end - at) - 2);
        if (at == NULL) break;
        if (at[1] == '-' && at[2] == '>') return at + 2;
    }
    scan->no_more_comments = true;
    return NULL;
}

static bool is_name_end(const char *at, const char *end) {
    return at < end && (nigh__is_space(*at) || *at == '>' || *at == '/');
}

/* Which of the dropped elements is named here. */
static int dropped_name(const char *at, const char *end) {
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
        if (begins(at, (size_t)(end - at), dropped[i]) && is_name_end(at + strlen(dropped[i]), end)) return (int)i;
    return NOTHING;
}

static bool tag_read(struct scan *scan) {
    const char *end = comment_end(scan);
    int name = NOTHING;
    if (end == NULL) {
        end = tag_end(scan);
        if (end != NULL) name = dropped_name(scan->at + 1, scan->end);
    }
    if (end == NULL) {
        scan->at++;
        return nigh__bytes_append(scan->context, scan->text, "<", 1);
    }
    scan->at = end + 1;
    scan->dropping = name;
    return nigh__bytes_append(scan->context, scan->text, " ", 1);
}

/* At a '<' in an element that is dropped: only its own end tag matters. */
static void dropped_step(struct scan *scan) {
    bool ends = left(scan) > 2 && scan->at[1] == '/' && dropped_name(scan->at + 2, scan->end) == scan->dropping;
    const char *end = ends ? tag_end(scan) : NULL;
    scan->at = end == NULL ? scan->at + 1 : end + 1;
    if (end == NULL) return;
    if (scan->dropping == DOCNO) scan->docno_seen = true;
    scan->dropping = NOTHING;
}

static bool text_read(struct scan *scan) {
    const char *begin = scan->at;
    while (scan->at < scan->end && *scan->at != '<' && *scan->at != '&') scan->at++;
    struct nigh__array *out = scan->dropping == NOTHING ? scan->text : NULL;
    if (scan->dropping == DOCNO && !scan->docno_seen) out = scan->docno;
    if (out != NULL && !nigh__bytes_append(scan->context, out, begin, (size_t)(scan->at - begin))) return false;
    if (scan->at == scan->end || *scan->at != '&') return true;
    if (out != NULL) return entity_append(scan, out);
    scan->at++;
    return true;
}

/* Takes white space off both ends. */
static void trim(struct nigh__array *array) {
    char *bytes = array->data;
    size_t begin = 0;
    while (array->count > 0 && nigh__is_space(bytes[array->count - 1])) array->count--;
    while (begin < array->count && nigh__is_space(bytes[begin])) begin++;
    if (begin == 0) return;
    array->count -= begin;
    memmove(bytes, bytes + begin, array->count);
}

bool nigh__trec_text(const nigh_context *context, const char *bytes, size_t length, struct nigh__array *text,
                     struct nigh__array *docno) {
    struct scan scan = {
        .context = context, .at = bytes, .end = bytes + length, .text = text, .docno = docno, .dropping = NOTHING};
    while (scan.at < scan.end) {
        if (!text_read(&scan)) return false;
        if (scan.at == scan.end || *scan.at != '<') continue;
        if (scan.dropping != NOTHING)
            dropped_step(&scan);
        else if (!tag_read(&scan))
            return false;
    }
    trim(text);
    trim(docno);
    return true;
}
