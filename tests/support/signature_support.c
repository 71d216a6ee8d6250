/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over memory and readers that touch every byte they are given, so that a sanitizer sees what is not there. */
#include "support/signature_support.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/support.h"

static int source_read(void *user, void *buffer, size_t length, size_t *moved) {
    struct memory_source *source = user;
    size_t part = source->length - source->at;
    if (part > length) part = length;
    if (source->chunk != 0 && part > source->chunk) part = source->chunk;
    if (source->at + part > source->fail_at) return EIO;
    if (part > 0) memcpy(buffer, source->bytes + source->at, part);
    source->at += part;
    *moved = part;
    return 0;
}

nigh_stream memory_source_stream(struct memory_source *source) {
    return (nigh_stream){.user = source, .read = source_read};
}

void sink_add(struct memory_sink *sink, const void *bytes, size_t length) {
    if (bytes == NULL || length == 0) return;
    if (sink->bytes == NULL || sink->length + length > sink->capacity) {
        sink->capacity = 2 * (sink->length + length);
        uint8_t *larger = realloc(sink->bytes, sink->capacity);
        if (larger == NULL) abort();
        sink->bytes = larger;
    }
    memcpy(sink->bytes + sink->length, bytes, length);
    sink->length += length;
}

void sink_text(struct memory_sink *sink, const char *text) { sink_add(sink, text, strlen(text)); }

void sink_u32(struct memory_sink *sink, uint32_t value) {
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    sink_add(sink, bytes, sizeof bytes);
}

static int sink_write(void *user, const void *bytes, size_t length, size_t *moved) {
    struct memory_sink *sink = user;
    if (sink->chunk != 0 && length > sink->chunk) length = sink->chunk;
    if (sink->fail_at != 0 && sink->length + length > sink->fail_at) return ENOSPC;
    sink_add(sink, bytes, length);
    *moved = length;
    return 0;
}

nigh_stream memory_sink_stream(struct memory_sink *sink) { return (nigh_stream){.user = sink, .write = sink_write}; }

struct reading read_signatures(nigh_context *context, const char *path, const nigh_signature_reader_options *options) {
    struct reading result = {0};
    nigh_error error = {0};
    nigh_signature_reader *reader = NULL;
    nigh_document document = {.size = sizeof document};
    struct memory_sink seen = {0};
    result.status = nigh_signature_reader_open(context, path, options, &reader, &error);
    result.opened = result.status == NIGH_OK;
    if (result.opened) {
        result.info = (nigh_signature_info){.size = sizeof(nigh_signature_info)};
        nigh_signature_reader_describe(reader, &result.info);
        while ((result.status = nigh_signature_reader_next(reader, &document, &error)) == NIGH_OK) {
            result.rows++;
            assert_int_equal(document.id != NULL, result.info.has_ids);
            sink_add(&seen, document.signature, nigh_signature_bytes(result.info.width_bits));
            sink_add(&seen, document.id, document.id_length);
            sink_add(&seen, "\n", 1);
        }
    }
    if (result.status < 0) (void)nigh_error_format(&error, result.message, sizeof result.message);
    if (result.status < 0) assert_int_equal(error.status, result.status);
    result.hash = nigh__hash(seen.length != 0 ? (const void *)seen.bytes : "", seen.length);
    free(seen.bytes);
    nigh_signature_reader_close(reader);
    return result;
}

/* Rows, ids and shape of a whole reading. */
static void expect_equal(const struct reading *one, const struct reading *other) {
    assert_int_equal(one->rows, other->rows);
    assert_int_equal(one->hash, other->hash);
    assert_int_equal(one->info.format, other->info.format);
    assert_int_equal(one->info.width_bits, other->info.width_bits);
    assert_int_equal(one->info.has_ids, other->info.has_ids);
}

struct reading read_damaged(nigh_context *context, const char *name, nigh_signature_format format, uint32_t width_bits,
                            const void *bytes, size_t length, struct reading streams[2]) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = format;
    options.width_bits = width_bits;
    file_write_all(name, bytes, length);
    struct reading as_file = read_signatures(context, name, &options);
    (void)remove(name);
    for (size_t chunk = 0; chunk < 2; chunk++) {
        struct memory_source source = {.bytes = bytes, .length = length, .chunk = chunk, .fail_at = SIZE_MAX};
        nigh_stream stream = memory_source_stream(&source);
        options.stream = &stream;
        streams[chunk] = read_signatures(context, name, &options);
        assert_int_equal(streams[chunk].status == NIGH_END, as_file.status == NIGH_END);
        if (as_file.status == NIGH_END) expect_equal(&streams[chunk], &as_file);
    }
    assert_string_equal(streams[0].message, streams[1].message);
    return as_file;
}

struct reading read_bytes(nigh_context *context, const char *name, nigh_signature_format format, uint32_t width_bits,
                          const void *bytes, size_t length) {
    struct reading streams[2];
    struct reading as_file = read_damaged(context, name, format, width_bits, bytes, length, streams);
    assert_string_equal(streams[0].message, as_file.message);
    assert_int_equal(streams[0].status, as_file.status);
    return as_file;
}
