/* SPDX-License-Identifier: Apache-2.0 */
/* Files as sources, and looking ahead in any source. */
#include "document/feed.h"

#include <errno.h>
#include <string.h>

#include "base/status.h"

static nigh_status file_next(struct nigh__byte_source *source, const uint8_t **bytes, size_t *length,
                             nigh_error *error) {
    struct nigh__file_source *from = (struct nigh__file_source *)source;
    size_t moved = 0;
    int failed;
    if (from->file.open) {
        const nigh_file_system *files = from->file.context->files;
        failed = files->read(files->user, from->file.handle, from->offset, from->buffer, NIGH__BLOCK, &moved);
    } else {
        failed = from->stream.read(from->stream.user, from->buffer, NIGH__BLOCK, &moved);
    }
    if (failed == 0 && moved > NIGH__BLOCK) failed = EIO;
    if (failed != 0) return nigh__fail_system(error, failed, from->name, "read");
    from->offset += moved;
    *from->bytes_read += moved;
    *bytes = from->buffer;
    *length = moved;
    return moved == 0 ? NIGH_END : NIGH_OK;
}

void nigh__file_source_init(struct nigh__file_source *out, struct nigh__file *file, const nigh_stream *stream,
                            const char *name, uint8_t *buffer, uint64_t *bytes_read) {
    *out = (struct nigh__file_source){
        .source.next = file_next, .file = *file, .name = name, .buffer = buffer, .bytes_read = bytes_read};
    if (stream != NULL) out->stream = *stream;
    memset(file, 0, sizeof *file);
}

void nigh__file_source_release(struct nigh__file_source *file) { nigh__file_release(&file->file); }

void nigh__feed_init(struct nigh__feed *feed, struct nigh__byte_source *source) {
    feed->source = source;
    feed->bytes = feed->look;
    feed->length = 0;
    feed->offset = 0;
    feed->after_length = 0;
    feed->ended = NIGH_OK;
}

/* One more chunk to `after`; sets `ended` where there is none. */
static void feed_fetch(struct nigh__feed *feed) {
    feed->ended = feed->source->next(feed->source, &feed->after, &feed->after_length, &feed->error);
    if (feed->ended != NIGH_OK) feed->after_length = 0;
}

nigh_status nigh__feed_pull(struct nigh__feed *feed, nigh_error *error) {
    if (feed->after_length == 0 && feed->ended == NIGH_OK) feed_fetch(feed);
    if (feed->after_length == 0) {
        if (feed->ended != NIGH_END && error != NULL) *error = feed->error;
        return feed->ended;
    }
    feed->bytes = feed->after;
    feed->length = feed->after_length;
    feed->after_length = 0;
    return NIGH_OK;
}

void nigh__feed_peek(struct nigh__feed *feed, size_t want) {
    if (want > NIGH__LOOK) want = NIGH__LOOK;
    if (feed->length >= want) return;
    if (feed->length > 0) memmove(feed->look, feed->bytes, feed->length);
    feed->bytes = feed->look;
    while (feed->length < want) {
        if (feed->after_length == 0 && feed->ended == NIGH_OK) feed_fetch(feed);
        if (feed->after_length == 0) return;
        size_t part = want - feed->length;
        if (part > feed->after_length) part = feed->after_length;
        memcpy(feed->look + feed->length, feed->after, part);
        feed->length += part;
        feed->after += part;
        feed->after_length -= part;
    }
}

bool nigh__feed_begins(struct nigh__feed *feed, const char *text, size_t length) {
    nigh__feed_peek(feed, length);
    return feed->length >= length && memcmp(feed->bytes, text, length) == 0;
}
