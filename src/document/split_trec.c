/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TREC: what lies between <DOC> and </DOC>, in capitals or not.  What lies
 * outside is no one's.
 */
#include <string.h>

#include "document/split_parts.h"

#define OPEN "<DOC>"
#define CLOSE "</DOC>"

static bool is_tag(struct nigh__feed *feed, const char *tag) {
    size_t length = strlen(tag);
    nigh__feed_peek(feed, length);
    return feed->length >= length && nigh__same_letters((const char *)feed->bytes, tag, length);
}

/*
 * Goes to the next '<', taking in what lies before it where `keep`.  The status
 * is that of the feed: NIGH_END, where there is none.
 */
static nigh_status tag_seek(struct nigh__splitter *splitter, bool keep, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    for (;;) {
        nigh_status status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) return status;
        const uint8_t *found = memchr(feed->bytes, '<', feed->length);
        size_t part = found != NULL ? (size_t)(found - feed->bytes) : feed->length;
        if (keep) status = nigh__pending_add(splitter, feed->bytes, part, error);
        if (status != NIGH_OK) return status;
        nigh__feed_skip(feed, part);
        if (found != NULL) return NIGH_OK;
    }
}

/* Passes over the '<' that tag_seek() has found. */
static nigh_status tag_pass(struct nigh__splitter *splitter, bool keep, nigh_error *error) {
    nigh_status status = keep ? nigh__pending_add(splitter, splitter->text->bytes, 1, error) : NIGH_OK;
    nigh__feed_skip(splitter->text, 1);
    return status;
}

/* From behind <DOC> to </DOC>.  *cut: another <DOC>, or the end, comes first. */
static nigh_status document_collect(struct nigh__splitter *splitter, const char **cut, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    *cut = NULL;
    for (;;) {
        nigh_status status = tag_seek(splitter, true, error);
        if (status == NIGH_END) *cut = "the file ends inside a document";
        if (status != NIGH_OK) return status;
        if (is_tag(feed, OPEN)) {
            *cut = "the document has no </DOC>; another <DOC> comes first";
            return NIGH_OK;
        }
        if (is_tag(feed, CLOSE)) {
            nigh__feed_skip(feed, strlen(CLOSE));
            return NIGH_OK;
        }
        status = tag_pass(splitter, true, error);
        if (status != NIGH_OK) return status;
    }
}

static nigh_status document_next(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__place place = {.offset = splitter->text->offset};
    const char *cut = NULL;
    splitter->ordinal++;
    nigh__feed_skip(splitter->text, strlen(OPEN));
    nigh_status status = nigh__pending_begin(splitter, error);
    if (status == NIGH_OK) status = document_collect(splitter, &cut, error);
    if (cut == NULL && status == NIGH_OK)
        return nigh__pending_finish_numbered(splitter, NIGH__RECORD_TREC, splitter->ordinal, place, error);
    nigh__pending_drop(splitter);
    if (cut == NULL) return status;
    nigh_status put = nigh__split_problem_at(splitter, place.offset, cut, error);
    return put == NIGH_OK ? status : put;
}

nigh_status nigh__split_trec(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && !nigh__split_full(splitter)) {
        status = tag_seek(splitter, false, error);
        if (status != NIGH_OK) break;
        status = is_tag(splitter->text, OPEN) ? document_next(splitter, error) : tag_pass(splitter, false, error);
    }
    if (status != NIGH_END || splitter->ordinal != 0) return status;
    status = nigh__split_problem_at(splitter, 0, "there is no <DOC> in the file", error);
    return status == NIGH_OK ? NIGH_END : status;
}
