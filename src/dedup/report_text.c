/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted texts, and numbers, as text of HTML. */
#include <stdio.h>
#include <string.h>

#include "dedup/report_parts.h"
#include "document/utf8.h"
#include "text/unicode.h"

/* Of an id of more than ID_MAX bytes, the ends are shown: names and addresses often differ in their last part. */
#define ID_MAX 160u
#define ID_HEAD 96u
#define ID_TAIL 48u

/* ---------------------------------------------------------------- escaping */

struct range {
    int32_t first, last;
};

/* Whether nobody would see it, while it changes what is seen.  Joiners stay: scripts and emoji need them. */
static bool is_hidden(int32_t code) {
    static const struct range hidden[] = {
        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160}, {0x180e, 0x180e},
        {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfdd0, 0xfdef}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f},
    };
    if (code < 0x20) return true;
    if ((code & 0xfffe) == 0xfffe) return true;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (code >= hidden[i].first && code <= hidden[i].last) return true;
    return false;
}

static const char *entity_of(char c) {
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* How many bytes from here on are ASCII that stands for itself. */
static size_t plain_ahead(const char *text, size_t length, enum nigh__page_form form) {
    size_t n = 0;
    for (; n < length; n++) {
        const unsigned char c = (unsigned char)text[n];
        const bool line = form == NIGH__PAGE_TEXT && (c == '\n' || c == '\t');
        if ((c < 0x20 && !line) || c >= 0x7f || entity_of(text[n]) != NULL) break;
    }
    return n;
}

/* The sign or the name of a hidden character. */
static void put_hidden(struct nigh__markup *page, int32_t code) {
    char sign[NIGH__UTF8_MAX];
    if (code < 0x20 || code == 0x7f)
        nigh__markup_bytes(page, sign, nigh__utf8_write(code == 0x7f ? 0x2421 : 0x2400 + code, sign));
    else
        nigh__markup_put(page, "U+%04X", (unsigned)code);
}

/* Hidden characters in a row share an element, so that a text of nothing else does not become a huge page. */
static size_t put_hidden_row(struct nigh__markup *page, const char *text, size_t length, enum nigh__page_form form) {
    size_t at = 0;
    if (form != NIGH__PAGE_PLAIN) nigh__markup_put(page, "<i>");
    while (at < length && plain_ahead(text + at, length - at, form) == 0) {
        size_t bytes = 0;
        const int32_t code = nigh__utf8_read(text + at, length - at, &bytes);
        if (!is_hidden(code)) break;
        put_hidden(page, code);
        at += bytes;
    }
    if (form != NIGH__PAGE_PLAIN) nigh__markup_put(page, "</i>");
    return at;
}

/* One character that is not plain, or a row of hidden ones; returns the bytes read. */
static size_t put_special(struct nigh__markup *page, const char *text, size_t length, enum nigh__page_form form) {
    const char *entity = entity_of(text[0]);
    if (entity != NULL) {
        nigh__markup_bytes(page, entity, strlen(entity));
        return 1;
    }
    size_t bytes = 0;
    const int32_t code = nigh__utf8_read(text, length, &bytes);
    if (is_hidden(code)) return put_hidden_row(page, text, length, form);
    char character[NIGH__UTF8_MAX];
    nigh__markup_bytes(page, character, nigh__utf8_write(code, character));
    return bytes;
}

void nigh__page_text(struct nigh__markup *page, const char *text, size_t length, enum nigh__page_form form) {
    size_t at = 0;
    while (at < length && !page->failed) {
        const size_t plain = plain_ahead(text + at, length - at, form);
        if (plain > 0) nigh__markup_bytes(page, text + at, plain);
        at += plain;
        if (at < length) at += put_special(page, text + at, length - at, form);
    }
}

void nigh__page_string(struct nigh__markup *page, const char *text) {
    if (text != NULL) nigh__page_text(page, text, strlen(text), NIGH__PAGE_LINE);
}

void nigh__page_id(struct nigh__markup *page, const char *id, size_t length) {
    if (length <= ID_MAX) {
        if (length == 0) nigh__markup_put(page, "<i>no id</i>");
        nigh__page_text(page, id, length, NIGH__PAGE_LINE);
        return;
    }
    const size_t head = nigh__utf8_cut(id, ID_HEAD);
    const size_t tail = nigh__utf8_cut(id, length - ID_TAIL);
    nigh__page_text(page, id, head, NIGH__PAGE_LINE);
    nigh__markup_put(page, " <i>\u2026 ");
    nigh__page_number(page, tail - head);
    nigh__markup_put(page, " bytes \u2026</i> ");
    nigh__page_text(page, id + tail, length - tail, NIGH__PAGE_LINE);
}

/* ----------------------------------------------------------------- numbers */

void nigh__page_number(struct nigh__markup *page, uint64_t number) {
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char grouped[32];
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    nigh__markup_bytes(page, grouped, used);
}

void nigh__page_count(struct nigh__markup *page, uint64_t number, const char *one, const char *many) {
    nigh__page_number(page, number);
    nigh__markup_put(page, " %s", number == 1 ? one : many);
}

void nigh__page_share(struct nigh__markup *page, uint64_t part, uint64_t whole) {
    if (whole == 0 || part >= whole) {
        nigh__markup_put(page, "%s", whole == 0 ? "0%" : "100%");
        return;
    }
    const unsigned mille = (unsigned)((double)part * 1000 / (double)whole + 0.5);
    if (part > 0 && mille == 0)
        nigh__markup_put(page, "&lt;0.1%%");
    else if (mille >= 1000)
        nigh__markup_put(page, "&gt;99.9%%");
    else if (mille == 0)
        nigh__markup_put(page, "0%%");
    else
        nigh__markup_put(page, "%u.%u%%", mille / 10, mille % 10);
}
