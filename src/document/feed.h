/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in sequence, wherever they come from.  What a file is packed in is
 * peeled off by sources on top of one another, each read through a feed:
 *
 *     file --feed--> unpacker --feed--> archive --feed--> unpacker --feed--> text
 *                    gz zst xz bz2      tar zip           of one member
 *
 * Any of the steps between may be missing.  A source hands out chunks and cannot
 * go back; a feed lets one look a little ahead, and counts.
 */
#ifndef NIGH_DOCUMENT_FEED_H
#define NIGH_DOCUMENT_FEED_H

#include "base/file.h"

struct nigh__byte_source {
    /*
     * Gives the next chunk, never an empty one; it lives until the next call.
     * NIGH_END after the last.  NIGH_EFORMAT: what comes is broken, and only
     * this source ends; any other failure ends the reading.
     */
    nigh_status (*next)(struct nigh__byte_source *source, const uint8_t **bytes, size_t *length, nigh_error *error);
};

/* ------------------------------------------------------------------- file */

#define NIGH__BLOCK ((size_t)256 << 10)

struct nigh__file_source {
    struct nigh__byte_source source;
    struct nigh__file file; /* closed where it is a stream */
    nigh_stream stream;
    const char *name; /* for errors; not owned */
    uint8_t *buffer;  /* of NIGH__BLOCK bytes; not owned */
    uint64_t offset;
    uint64_t *bytes_read; /* grows with what is read */
};

/* Takes `file` over; a closed one means the stream. */
void nigh__file_source_init(struct nigh__file_source *out, struct nigh__file *file, const nigh_stream *stream,
                            const char *name, uint8_t *buffer, uint64_t *bytes_read);
void nigh__file_source_release(struct nigh__file_source *file);

/* ------------------------------------------------------------------- feed */

#define NIGH__LOOK ((size_t)8 << 10)

struct nigh__feed {
    struct nigh__byte_source *source;
    const uint8_t *bytes; /* at hand */
    size_t length;
    uint64_t offset;      /* of bytes[0] in the source */
    const uint8_t *after; /* follows what is at hand, where that was gathered in `look` */
    size_t after_length;
    nigh_status ended; /* what comes after the last byte; NIGH_OK: not known yet */
    nigh_error error;
    uint8_t look[NIGH__LOOK];
};

void nigh__feed_init(struct nigh__feed *feed, struct nigh__byte_source *source);

/* Goes to the source: see nigh__feed_more(). */
nigh_status nigh__feed_pull(struct nigh__feed *feed, nigh_error *error);

/* Has at least one byte at hand, or returns as the source does. */
static inline nigh_status nigh__feed_more(struct nigh__feed *feed, nigh_error *error) {
    return feed->length > 0 ? NIGH_OK : nigh__feed_pull(feed, error);
}

/*
 * Has `want` bytes at hand, at most NIGH__LOOK, or all there are.  What goes
 * wrong behind them is told when they are used up.
 */
void nigh__feed_peek(struct nigh__feed *feed, size_t want);
/* The same, and whether they are these. */
bool nigh__feed_begins(struct nigh__feed *feed, const char *text, size_t length);

/* Passes over bytes at hand. */
static inline void nigh__feed_skip(struct nigh__feed *feed, size_t length) {
    feed->bytes += length;
    feed->length -= length;
    feed->offset += length;
}

#endif
