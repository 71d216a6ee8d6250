/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record a line: text or JSON.  Most lines lie whole in what is at hand and
 * are found by one memchr and copied once.  Empty lines are no records, but
 * count as lines.
 */
#include <string.h>

#include "document/split_parts.h"

static bool is_blank(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r') return false;
    return true;
}

/* Takes in all up to the end of the line; *blank: nothing but white space. */
static nigh_status line_collect(struct nigh__splitter *splitter, bool *blank, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    *blank = true;
    for (;;) {
        const uint8_t *newline = memchr(feed->bytes, '\n', feed->length);
        size_t part = newline != NULL ? (size_t)(newline - feed->bytes) : feed->length;
        if (*blank) *blank = is_blank(feed->bytes, part);
        nigh_status status = nigh__pending_add(splitter, feed->bytes, part, error);
        if (status != NIGH_OK) return status;
        status = nigh__split_take(splitter, newline != NULL ? part + 1 : part, error);
        if (status != NIGH_OK) return status;
        if (newline != NULL) return NIGH_OK;
        status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) return status == NIGH_END ? NIGH_OK : status;
    }
}

static nigh_status line_next(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__place place = {.offset = splitter->text->offset, .line = ++splitter->line};
    enum nigh__record_kind kind = splitter->format->kind;
    const struct nigh__pending *pending = &splitter->pending;
    bool blank;
    nigh_status status = nigh__raw_begin(splitter, error);
    if (status == NIGH_OK) status = nigh__pending_begin(splitter, error);
    if (status == NIGH_OK) status = line_collect(splitter, &blank, error);
    if (status != NIGH_OK) {
        nigh__pending_lose(splitter);
        return status;
    }
    if (pending->length > 0 && pending->last == '\r') nigh__pending_shorten(splitter);
    if (pending->length == 0 || (blank && kind == NIGH__RECORD_JSON)) {
        nigh__pending_drop(splitter);
        return NIGH_OK;
    }
    return nigh__pending_finish_numbered(splitter, kind, place.line, place, error);
}

/* At the start of the text: the mark of UTF-8 is passed over, those of wider characters are refused. */
static nigh_status lines_begin(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    nigh_status status = NIGH_OK;
    if (nigh__feed_begins(feed, "\xef\xbb\xbf", 3)) status = nigh__split_take(splitter, 3, error);
    nigh__feed_peek(feed, 4);
    if (status != NIGH_OK || !nigh__sniff_wide(feed->bytes, feed->length)) return status;
    status = nigh__split_lose_at(splitter, 0, "lines of UTF-16 or UTF-32 are not read; the file is skipped", error);
    return status == NIGH_OK ? NIGH_END : status;
}

nigh_status nigh__split_lines(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_status status = splitter->text->offset == 0 ? lines_begin(splitter, error) : NIGH_OK;
    while (status == NIGH_OK && !nigh__split_full(splitter)) {
        status = nigh__feed_more(splitter->text, error);
        if (status == NIGH_OK) status = line_next(splitter, error);
    }
    return status;
}
