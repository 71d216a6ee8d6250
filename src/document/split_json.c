/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a record of each item of a JSON array, or of each value if there is no array around them. This code only
 * finds where an item ends, by its brackets and strings, so memory does not grow with the array; simdjson checks
 * the grammar when the item is extracted. White space between tokens is left out: an item becomes a line.
 */
#include "document/split_parts.h"

struct item {
    size_t depth;
    bool in_text, escaped, begun, ended;
};

static bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Goes to the next byte that is content.  NIGH_END: there is none. */
static nigh_status space_pass(struct nigh__splitter *splitter, bool commas, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    nigh_status status;
    while ((status = nigh__feed_more(feed, error)) == NIGH_OK) {
        size_t used = 0;
        while (used < feed->length && (is_space(feed->bytes[used]) || (commas && feed->bytes[used] == ','))) used++;
        nigh__feed_skip(feed, used);
        if (feed->length > 0) return NIGH_OK;
    }
    return status;
}

/* Whether a byte is of the item; those that end it are not, but for the last bracket or quote. */
static bool item_takes(struct item *item, uint8_t c) {
    if (item->in_text) {
        item->in_text = item->escaped || c != '"';
        item->escaped = !item->escaped && c == '\\';
        item->ended = !item->in_text && item->depth == 0;
        return true;
    }
    const bool closes = c == '}' || c == ']';
    if (item->depth == 0 && item->begun && (closes || c == ',' || c == '{' || c == '[' || c == '"')) return false;
    if (c == '{' || c == '[') item->depth++;
    if (closes && item->depth > 0) item->ended = --item->depth == 0;
    item->in_text = c == '"';
    return true;
}

/* As much of an item as is at hand. */
static nigh_status item_part(struct nigh__splitter *splitter, struct item *item, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    nigh_status status = NIGH_OK;
    size_t from = 0;
    size_t at = 0;
    for (; at < feed->length && !item->ended && status == NIGH_OK; at++) {
        const bool space = !item->in_text && is_space(feed->bytes[at]);
        if (space && item->depth > 0) {
            status = nigh__pending_add(splitter, feed->bytes + from, at - from, error);
            from = at + 1;
        } else if (space || !item_takes(item, feed->bytes[at])) {
            item->ended = true;
            break;
        }
        item->begun = true;
    }
    if (status == NIGH_OK && at > from) status = nigh__pending_add(splitter, feed->bytes + from, at - from, error);
    nigh__feed_skip(feed, at);
    return status;
}

/* From its first byte on.  NIGH_END: the file ends before it does. */
static nigh_status item_collect(struct nigh__splitter *splitter, nigh_error *error) {
    struct item item = {0};
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && !item.ended) {
        status = nigh__feed_more(splitter->text, error);
        if (status == NIGH_OK) status = item_part(splitter, &item, error);
    }
    return status == NIGH_END && item.depth == 0 && !item.in_text ? NIGH_OK : status;
}

static nigh_status item_next(struct nigh__splitter *splitter, nigh_error *error) {
    const struct nigh__place place = {.offset = splitter->text->offset};
    nigh_status status = nigh__raw_begin(splitter, error);
    if (status == NIGH_OK) status = nigh__pending_begin(splitter, error);
    if (status == NIGH_OK) status = item_collect(splitter, error);
    if (status == NIGH_OK && splitter->raw.on) status = nigh__pending_add(splitter, (const uint8_t *)"\n", 1, error);
    splitter->ordinal++;
    if (status == NIGH_OK)
        return nigh__pending_finish_numbered(splitter, NIGH__RECORD_JSON, splitter->ordinal, place, error);
    nigh__pending_drop(splitter);
    if (status != NIGH_END) return status;
    status = nigh__split_lose_at(splitter, place.offset, "the file ends inside this record", error);
    return status == NIGH_OK ? NIGH_END : status;
}

/* The bracket of the array, where there is one. */
static nigh_status array_begin(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    if (nigh__feed_begins(feed, "\xef\xbb\xbf", 3)) nigh__feed_skip(feed, 3);
    splitter->in_array = false;
    splitter->begun = true;
    nigh_status status = space_pass(splitter, false, error);
    if (status != NIGH_OK || feed->bytes[0] != '[') return status;
    splitter->in_array = true;
    nigh__feed_skip(feed, 1);
    return NIGH_OK;
}

/* Behind the array there is nothing. */
static nigh_status array_end(struct nigh__splitter *splitter, nigh_error *error) {
    nigh__feed_skip(splitter->text, 1);
    nigh_status status = space_pass(splitter, false, error);
    if (status != NIGH_OK) return status;
    status = nigh__split_lose_at(splitter, splitter->text->offset, "something follows the array; it is skipped", error);
    return status == NIGH_OK ? NIGH_END : status;
}

nigh_status nigh__split_json(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_status status = splitter->begun ? NIGH_OK : array_begin(splitter, error);
    while (status == NIGH_OK && !nigh__split_full(splitter)) {
        status = space_pass(splitter, true, error);
        if (status == NIGH_END && splitter->in_array) {
            status = nigh__split_lose_at(splitter, splitter->text->offset, "the file ends inside the array", error);
            return status == NIGH_OK ? NIGH_END : status;
        }
        if (status != NIGH_OK) return status;
        if (splitter->in_array && splitter->text->bytes[0] == ']') return array_end(splitter, error);
        status = item_next(splitter, error);
    }
    return status;
}
