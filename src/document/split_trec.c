/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TREC: what lies between <DOC> and </DOC>, in capitals or not.  What lies
 * outside is no one's.
 */
#include <string.h>

#include "base/status.h"
#include "document/split_parts.h"

#define OPEN "<DOC>"
#define CLOSE "</DOC>"

static bool is_tag(struct nigh__feed *feed, const char *tag) {
    size_t length = strlen(tag);
    nigh__feed_peek(feed, length);
    return feed->length >= length && nigh__same_letters((const char *)feed->bytes, tag, length);
}

/* Passes over bytes at hand, taking them in where `keep`. */
static nigh_status pass(struct nigh__splitter *splitter, size_t length, bool keep, nigh_error *error) {
    nigh_status status = keep ? nigh__pending_add(splitter, splitter->text->bytes, length, error) : NIGH_OK;
    return status == NIGH_OK ? nigh__split_take(splitter, length, error) : status;
}

/*
 * Goes to the next '<', or to the end of what is at hand; *found says which.  The
 * status is that of the feed: NIGH_END, where there is none.
 */
static nigh_status tag_seek(struct nigh__splitter *splitter, bool keep, bool *found, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    *found = false;
    nigh_status status = nigh__feed_more(feed, error);
    if (status != NIGH_OK) return status;
    const uint8_t *tag = memchr(feed->bytes, '<', feed->length);
    *found = tag != NULL;
    return pass(splitter, tag != NULL ? (size_t)(tag - feed->bytes) : feed->length, keep, error);
}

/* The end of the line goes with the document, where it is wanted as it lies. */
static nigh_status line_end_take(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    if (!splitter->raw.on) return NIGH_OK;
    if (nigh__feed_begins(feed, "\r\n", 2)) return nigh__split_take(splitter, 2, error);
    return nigh__feed_begins(feed, "\n", 1) ? nigh__split_take(splitter, 1, error) : NIGH_OK;
}

/* From behind <DOC> to </DOC>.  *cut: another <DOC>, or the end, comes first. */
static nigh_status document_collect(struct nigh__splitter *splitter, const char **cut, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    *cut = NULL;
    for (;;) {
        bool found;
        nigh_status status = tag_seek(splitter, true, &found, error);
        if (status == NIGH_END) *cut = "the file ends inside a document";
        if (status != NIGH_OK) return status;
        if (!found) continue;
        if (is_tag(feed, OPEN)) {
            *cut = "the document has no </DOC>; another <DOC> comes first";
            return NIGH_OK;
        }
        if (is_tag(feed, CLOSE)) {
            status = nigh__split_take(splitter, strlen(CLOSE), error);
            return status == NIGH_OK ? line_end_take(splitter, error) : status;
        }
        status = pass(splitter, 1, true, error);
        if (status != NIGH_OK) return status;
    }
}

static nigh_status document_next(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__place place = {.offset = splitter->text->offset};
    const char *cut = NULL;
    splitter->ordinal++;
    nigh_status status = nigh__raw_begin(splitter, error);
    if (status == NIGH_OK) status = nigh__pending_begin(splitter, error);
    if (status == NIGH_OK) status = nigh__split_take(splitter, strlen(OPEN), error);
    if (status == NIGH_OK) status = document_collect(splitter, &cut, error);
    if (cut == NULL && status == NIGH_OK)
        return nigh__pending_finish_numbered(splitter, NIGH__RECORD_TREC, splitter->ordinal, place, error);
    nigh__pending_drop(splitter);
    if (cut == NULL) return status;
    nigh_error problem;
    (void)nigh__fail_at(&problem, NIGH_EFORMAT, nigh__split_name(splitter), place.offset, "%s", cut);
    if (status == NIGH_END) problem.reason = NIGH_REASON_LOST_INPUT; /* and whatever was to follow */
    nigh_status put = nigh__split_problem(splitter, &problem, error);
    return put == NIGH_OK ? status : put;
}

nigh_status nigh__split_trec(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && !nigh__split_full(splitter)) {
        bool found;
        status = tag_seek(splitter, false, &found, error);
        if (status != NIGH_OK || !found) continue;
        status = is_tag(splitter->text, OPEN) ? document_next(splitter, error) : pass(splitter, 1, false, error);
    }
    if (status != NIGH_END || splitter->ordinal != 0) return status;
    status = nigh__split_problem_at(splitter, 0, "there is no <DOC> in the file", error);
    return status == NIGH_OK ? NIGH_END : status;
}
