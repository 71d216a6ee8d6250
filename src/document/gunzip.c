/* SPDX-License-Identifier: Apache-2.0 */
/* zlib over our feeds.  A crawl has a member a record, so members are joined until the buffer is full. */
#include "document/gunzip.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

#define BUFFER_SIZE ((size_t)128 << 10)
#define SLICE ((size_t)64 << 10) /* the finer, the sooner a bomb shows: what has been looked at counts as used */
#define WINDOW_AND_GZIP (15 + 16)

static voidpf zlib_allocate(voidpf user, uInt count, uInt size) { return nigh__alloc(user, count, size); }
static void zlib_release(voidpf user, voidpf pointer) { nigh__free(user, pointer); }

static uint64_t unpacked(const struct nigh__gunzip *gunzip) {
    return gunzip->offset + (BUFFER_SIZE - gunzip->stream.avail_out);
}

static nigh_status fail_broken(struct nigh__gunzip *gunzip, const char *why) {
    return nigh__fail_at(&gunzip->error, NIGH_EFORMAT, gunzip->name, unpacked(gunzip),
                         "cannot be unpacked from here on: %s", why);
}

/* Between members: another, or zeros that fill up a block.  Anything else may be what is left of a member. */
static nigh_status member_begin(struct nigh__gunzip *gunzip) {
    struct nigh__feed *feed = gunzip->from;
    if (gunzip->began && *feed->bytes == 0) {
        nigh__feed_skip(feed, 1);
        return NIGH_OK;
    }
    if (gunzip->began && *feed->bytes != 0x1f) return fail_broken(gunzip, "something that is not gzip follows");
    gunzip->began = true;
    gunzip->in_member = true;
    return inflateReset(&gunzip->stream) == Z_OK ? NIGH_OK : fail_broken(gunzip, "zlib failed");
}

static nigh_status member_inflate(struct nigh__gunzip *gunzip) {
    struct nigh__feed *feed = gunzip->from;
    z_stream *stream = &gunzip->stream;
    size_t slice = feed->length < SLICE ? feed->length : SLICE;
    stream->next_in = feed->bytes;
    stream->avail_in = (uInt)slice;
    int result = inflate(stream, Z_NO_FLUSH);
    nigh__feed_skip(feed, slice - stream->avail_in);
    if (result == Z_STREAM_END) gunzip->in_member = false;
    if (result == Z_STREAM_END || result == Z_OK) return NIGH_OK;
    if (result == Z_MEM_ERROR) return nigh__no_memory(&gunzip->error, "to unpack");
    return fail_broken(gunzip, stream->msg != NULL ? stream->msg : "not gzip");
}

static nigh_status step(struct nigh__gunzip *gunzip) {
    nigh_status status = nigh__feed_more(gunzip->from, &gunzip->error);
    if (status == NIGH_END && gunzip->in_member) return fail_broken(gunzip, "it is cut short");
    if (status != NIGH_OK) return status;
    return gunzip->in_member ? member_inflate(gunzip) : member_begin(gunzip);
}

static nigh_status gunzip_next(struct nigh__byte_source *source, const uint8_t **bytes, size_t *length,
                               nigh_error *error) {
    struct nigh__gunzip *gunzip = (struct nigh__gunzip *)source;
    gunzip->stream.next_out = gunzip->buffer;
    gunzip->stream.avail_out = (uInt)BUFFER_SIZE;
    while (gunzip->ended == NIGH_OK && gunzip->stream.avail_out > 0) gunzip->ended = step(gunzip);
    *bytes = gunzip->buffer;
    *length = BUFFER_SIZE - gunzip->stream.avail_out;
    gunzip->offset += *length;
    if (*length != 0) return nigh__expansion_count(gunzip->expansion, *length, error);
    if (gunzip->ended != NIGH_END && error != NULL) *error = gunzip->error;
    return gunzip->ended;
}

nigh_status nigh__gunzip_open(struct nigh__gunzip *out, const nigh_context *context, struct nigh__feed *from,
                              struct nigh__expansion *expansion, const char *name, nigh_error *error) {
    memset(out, 0, sizeof *out);
    out->source.next = gunzip_next;
    out->context = context;
    out->from = from;
    out->expansion = expansion;
    out->name = name;
    memcpy(&out->stream.opaque, &context, sizeof out->stream.opaque); /* zlib's prototype knows no const */
    out->stream.zalloc = zlib_allocate;
    out->stream.zfree = zlib_release;
    out->buffer = nigh__alloc_aligned(context, BUFFER_SIZE, 1, NIGH__CACHE_LINE);
    bool made = out->buffer != NULL && inflateInit2(&out->stream, WINDOW_AND_GZIP) == Z_OK;
    if (made) return NIGH_OK;
    nigh__free(context, out->buffer);
    out->buffer = NULL;
    return nigh__no_memory(error, "to unpack");
}

void nigh__gunzip_close(struct nigh__gunzip *gunzip) {
    if (gunzip->buffer == NULL) return;
    (void)inflateEnd(&gunzip->stream);
    nigh__free(gunzip->context, gunzip->buffer);
    gunzip->buffer = NULL;
}
