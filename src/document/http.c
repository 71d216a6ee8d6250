/* SPDX-License-Identifier: Apache-2.0 */
/* Reads HTTP responses: tolerant of line ends and of headers that are no longer true, strict about sizes. */
#include "document/http.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/status.h"
#include "document/utf8.h"

#define MAX_HEADERS (UINT32_C(64) << 10)

/* ------------------------------------------------------------------- spans */

bool nigh__span_is(struct nigh__span span, const char *word) {
    if (span.length != strlen(word)) return false;
    for (size_t i = 0; i < span.length; i++)
        if (nigh__small(span.text[i]) != word[i]) return false;
    return true;
}

static struct nigh__span span_trim(struct nigh__span span) {
    while (span.length > 0 && nigh__is_space(span.text[0])) span.text++, span.length--;
    while (span.length > 0 && nigh__is_space(span.text[span.length - 1])) span.length--;
    return span;
}

/* Takes what is before `separator` off the front; all of it where there is none. */
static struct nigh__span span_take(struct nigh__span *from, char separator) {
    const char *end = from->length == 0 ? NULL : memchr(from->text, separator, from->length);
    size_t length = end == NULL ? from->length : (size_t)(end - from->text);
    struct nigh__span taken = {from->text, length};
    size_t step = end == NULL ? length : length + 1;
    from->text += step;
    from->length -= step;
    return taken;
}

static struct nigh__span line_take(struct nigh__span *from) {
    struct nigh__span line = span_take(from, '\n');
    if (line.length > 0 && line.text[line.length - 1] == '\r') line.length--;
    return line;
}

/* ----------------------------------------------------------------- headers */

/* "HTTP/1.1 200 OK", "HTTP/2 200"; 0: no status line. */
static unsigned status_of(struct nigh__span line) {
    if (line.length < 5 || memcmp(line.text, "HTTP/", 5) != 0) return 0;
    (void)span_take(&line, ' ');
    line = span_trim(line);
    unsigned status = 0;
    if (line.length < 3 || (line.length > 3 && !nigh__is_space(line.text[3]))) return 0;
    for (size_t i = 0; i < 3; i++) {
        if (line.text[i] < '0' || line.text[i] > '9') return 0;
        status = status * 10 + (unsigned)(line.text[i] - '0');
    }
    return status < 100 ? 0 : status;
}

static void type_read(struct nigh__span value, struct nigh__http *out) {
    out->type = span_trim(span_take(&value, ';'));
    while (value.length > 0) {
        struct nigh__span parameter = span_take(&value, ';');
        struct nigh__span name = span_trim(span_take(&parameter, '='));
        if (!nigh__span_is(name, "charset") || out->charset.length != 0) continue;
        parameter = span_trim(parameter);
        char quote = parameter.length < 2 ? '\0' : parameter.text[0];
        if ((quote == '"' || quote == '\'') && parameter.text[parameter.length - 1] == quote) {
            parameter.text++;
            parameter.length -= 2;
        }
        out->charset = parameter;
    }
}

static void header_read(struct nigh__span line, struct nigh__http *out) {
    struct nigh__span name = span_trim(span_take(&line, ':'));
    struct nigh__span value = span_trim(line);
    if (nigh__span_is(name, "content-type") && out->type.length == 0) type_read(value, out);
    if (nigh__span_is(name, "content-encoding") && out->encoding.length == 0) out->encoding = value;
    if (!nigh__span_is(name, "transfer-encoding")) return;
    while (value.length > 0)
        if (nigh__span_is(span_trim(span_take(&value, ',')), "chunked")) out->chunked = true;
}

static nigh_status response_read(struct nigh__span *rest, struct nigh__http *out, nigh_error *error) {
    const char *begin = rest->text;
    *out = (struct nigh__http){.status = status_of(line_take(rest))};
    if (out->status == 0) return nigh__fail(error, NIGH_EFORMAT, "no HTTP status line");
    while (rest->length > 0) {
        struct nigh__span line = line_take(rest);
        if ((size_t)(rest->text - begin) > MAX_HEADERS)
            return nigh__fail(error, NIGH_ELIMIT, "HTTP headers of more than %" PRIu32 " bytes", MAX_HEADERS);
        if (line.length == 0) break;
        header_read(line, out);
    }
    out->body = *rest;
    return NIGH_OK;
}

nigh_status nigh__http_parse(const char *bytes, size_t length, struct nigh__http *out, nigh_error *error) {
    struct nigh__span rest = {bytes, length};
    nigh_status status;
    do { /* "100 Continue" comes before what it continues with */
        status = response_read(&rest, out, error);
    } while (status == NIGH_OK && out->status < 200 && rest.length > 5 && memcmp(rest.text, "HTTP/", 5) == 0);
    return status;
}

/* ------------------------------------------------------------------ chunks */

/* "1a3f; name=value": a size in hex; false: it is none. */
static bool chunk_size(struct nigh__span line, size_t *out) {
    struct nigh__span digits = span_trim(span_take(&line, ';'));
    size_t size = 0;
    if (digits.length == 0 || digits.length > 16) return false;
    for (size_t i = 0; i < digits.length; i++) {
        char c = nigh__small(digits.text[i]);
        bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f')) return false;
        if (size > SIZE_MAX >> 4) return false;
        size = size << 4 | (size_t)(digit ? c - '0' : c - 'a' + 10);
    }
    *out = size;
    return true;
}

enum chunk { CHUNK_GOOD, CHUNK_LAST, CHUNK_BAD };

/* The next chunk; one that the crawler cut short is the last.  `rest` moves past it and its line end. */
static enum chunk chunk_take(struct nigh__span *rest, struct nigh__span *data) {
    size_t size;
    if (!chunk_size(line_take(rest), &size)) return CHUNK_BAD;
    *data = (struct nigh__span){rest->text, size};
    if (size == 0) return CHUNK_LAST; /* trailers follow, which say nothing of the text */
    if (size >= rest->length) {
        data->length = rest->length;
        return CHUNK_LAST;
    }
    rest->text += size;
    rest->length -= size;
    return line_take(rest).length == 0 ? CHUNK_GOOD : CHUNK_BAD;
}

static nigh_status chunks_decode(const nigh_context *context, struct nigh__array *out, struct nigh__span *body,
                                 nigh_error *error) {
    struct nigh__span rest = *body, data = {0};
    out->count = 0;
    for (bool first = true;; first = false) {
        enum chunk chunk = chunk_take(&rest, &data);
        if (chunk == CHUNK_BAD && first) return NIGH_OK; /* decoded already */
        if (chunk == CHUNK_BAD && rest.length > 0)
            return nigh__fail(error, NIGH_EFORMAT, "a chunked body with a bad chunk after %zu bytes", out->count);
        if (chunk == CHUNK_BAD) break;
        if (!nigh__bytes_append(context, out, data.text, data.length))
            return nigh__fail(error, NIGH_ENOMEM, "out of memory");
        if (chunk == CHUNK_LAST) break;
    }
    *body = (struct nigh__span){out->count == 0 ? "" : out->data, out->count};
    return NIGH_OK;
}

/* -------------------------------------------------------------------- zlib */

static void *zlib_allocate(void *context, unsigned items, unsigned size) { return nigh__alloc(context, items, size); }
static void zlib_release(void *context, void *pointer) { nigh__free(context, pointer); }

/* Inflates one piece; zlib's answer, or Z_MEM_ERROR where the array cannot grow. */
static int inflate_piece(const nigh_context *context, z_stream *stream, struct nigh__array *out) {
    uint8_t piece[16384];
    stream->next_out = piece;
    stream->avail_out = sizeof piece;
    int result = inflate(stream, Z_NO_FLUSH);
    size_t length = sizeof piece - stream->avail_out;
    return nigh__bytes_append(context, out, (const char *)piece, length) ? result : Z_MEM_ERROR;
}

static nigh_status inflate_all(const nigh_context *context, z_stream *stream, uint64_t max_bytes,
                               struct nigh__array *out, nigh_error *error) {
    for (;;) {
        int result = inflate_piece(context, stream, out);
        if (out->count > max_bytes)
            return nigh__fail(error, NIGH_ELIMIT, "a compressed body of more than %" PRIu64 " bytes", max_bytes);
        if (result == Z_STREAM_END && stream->avail_in > 1 && stream->next_in[0] == 0x1f && stream->next_in[1] == 0x8b)
            result = inflateReset(stream); /* gzip may come in several members */
        if (result == Z_STREAM_END) return NIGH_OK;
        if (result == Z_MEM_ERROR) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
        if (result == Z_BUF_ERROR || (result == Z_OK && stream->avail_in == 0 && stream->avail_out > 0))
            return nigh__fail(error, NIGH_EFORMAT, "a compressed body without its end");
        if (result != Z_OK) return nigh__fail(error, NIGH_EFORMAT, "a damaged compressed body");
    }
}

static nigh_status inflate_body(const nigh_context *context, int window, uint64_t max_bytes, struct nigh__array *out,
                                struct nigh__span *body, nigh_error *error) {
    if (body->length > UINT32_MAX) return nigh__fail(error, NIGH_ELIMIT, "a compressed body of more than 4 GiB");
    z_stream stream = {.zalloc = zlib_allocate, .zfree = zlib_release, .avail_in = (unsigned)body->length};
    memcpy(&stream.opaque, &context, sizeof stream.opaque); /* zlib hands it back and leaves it alone */
    memcpy(&stream.next_in, &body->text, sizeof stream.next_in);
    if (inflateInit2(&stream, window) != Z_OK) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    out->count = 0;
    nigh_status status = inflate_all(context, &stream, max_bytes, out, error);
    (void)inflateEnd(&stream);
    *body = (struct nigh__span){out->count == 0 ? "" : out->data, out->count};
    return status;
}

#define WINDOW_RAW (-15)
#define WINDOW_ZLIB 15
#define WINDOW_GZIP 31

/* "deflate" means zlib's format and is sent as the bare one by some. */
static bool is_zlib(const uint8_t *bytes) { return (bytes[0] & 15) == 8 && (bytes[0] << 8 | bytes[1]) % 31 == 0; }

static nigh_status content_decode(const nigh_context *context, struct nigh__span encoding, uint64_t max_bytes,
                                  struct nigh__array *out, struct nigh__span *body, nigh_error *error) {
    const uint8_t *bytes = (const uint8_t *)body->text;
    if (encoding.length == 0 || nigh__span_is(encoding, "identity") || nigh__span_is(encoding, "none")) return NIGH_OK;
    bool gzip = nigh__span_is(encoding, "gzip") || nigh__span_is(encoding, "x-gzip");
    if (!gzip && !nigh__span_is(encoding, "deflate")) return NIGH_ENOTFOUND;
    if (body->length < 2) return NIGH_OK;
    if (!gzip) return inflate_body(context, is_zlib(bytes) ? WINDOW_ZLIB : WINDOW_RAW, max_bytes, out, body, error);
    if (bytes[0] != 0x1f || bytes[1] != 0x8b) return NIGH_OK;
    return inflate_body(context, WINDOW_GZIP, max_bytes, out, body, error);
}

nigh_status nigh__http_body(const nigh_context *context, const struct nigh__http *http, uint64_t max_bytes,
                            struct nigh__array scratch[2], struct nigh__span *body, nigh_error *error) {
    *body = http->body;
    nigh_status status = NIGH_OK;
    if (http->chunked) status = chunks_decode(context, &scratch[0], body, error);
    if (status != NIGH_OK) return status;
    return content_decode(context, http->encoding, max_bytes, &scratch[1], body, error);
}
