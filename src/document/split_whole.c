/* SPDX-License-Identifier: Apache-2.0 */
/* A document a file: plain text and HTML.  A file that breaks off gives none. */
#include "document/split_parts.h"

/*
 * Until the end, or until it is known to be too long.  What another shard wants
 * is read too, unless it is a file of its own: whether it is broken decides on
 * the numbers of all that follows, and they are the same in every shard.  And where
 * records are chosen, for all passes read the same bytes.
 */
static nigh_status whole_collect(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    const struct nigh__pending *pending = &splitter->pending;
    bool needed = pending->wanted || splitter->wanted != NULL || feed != &splitter->feeds[FEED_FILE];
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && needed && !pending->over) {
        status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) break;
        status = nigh__pending_add(splitter, feed->bytes, feed->length, error);
        nigh__feed_skip(feed, feed->length);
    }
    return status;
}

nigh_status nigh__split_whole(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_status status = nigh__raw_begin(splitter, error);
    if (status == NIGH_OK) status = nigh__pending_begin(splitter, error);
    if (status != NIGH_OK) return status;
    status = whole_collect(splitter, error);
    if (status == NIGH_OK && splitter->pending.over) status = nigh__split_pass_over(splitter, error);
    if (status != NIGH_OK && status != NIGH_END) {
        nigh__pending_drop(splitter);
        return status;
    }
    struct nigh__place place = {.offset = 0};
    status = nigh__pending_finish_numbered(splitter, splitter->format->kind, 0, place, error);
    return status == NIGH_OK ? NIGH_END : status;
}
