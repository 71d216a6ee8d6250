/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of all formats of documents do with their input. */
#ifndef NIGH_TESTS_DOCUMENT_TARGET_H
#define NIGH_TESTS_DOCUMENT_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "support/signature_support.h"

struct document_reading {
    nigh_status status; /* NIGH_END, or that of the failure */
    nigh_text_reader_info info;
    uint64_t hash; /* of all ids, texts and places */
};

static uint64_t document_mix(uint64_t hash, const void *bytes, size_t length) {
    return hash * UINT64_C(0x9e3779b97f4a7c15) + nigh__hash(bytes, length);
}

static struct document_reading document_read(nigh_text_format format, uint64_t shard, uint64_t shards,
                                             const uint8_t *data, size_t size, size_t chunk) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    struct document_reading reading = {.info = NIGH_TEXT_READER_INFO_INIT};
    struct memory_source source = {.bytes = data, .length = size, .chunk = chunk, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_text_reader_options options = NIGH_TEXT_READER_OPTIONS_INIT;
    options.format = format;
    options.stream = &stream;
    options.shard = shard;
    options.shards = shards;
    options.max_document_bytes = 4096;
    options.max_expansion_free = 1 << 20;
    nigh_text_reader *reader;
    nigh_text text;
    const char *path = "-";
    reading.status = nigh_text_reader_open(context, &path, 1, &options, &reader, NULL);
    if (reading.status != NIGH_OK) abort();
    while ((reading.status = nigh_text_reader_next(reader, &text, NULL)) == NIGH_OK) {
        if (text.id_length == 0 || text.id_length > NIGH_MAX_ID_LENGTH) abort();
        if (shards != 0 && text.number % shards != shard) abort();
        reading.hash = document_mix(reading.hash, text.id, text.id_length);
        reading.hash = document_mix(reading.hash, text.text, text.text_length);
        reading.hash = document_mix(reading.hash, &text.number, sizeof text.number);
        reading.hash = document_mix(reading.hash, &text.offset, sizeof text.offset);
        reading.hash = document_mix(reading.hash, &text.line, sizeof text.line);
    }
    nigh_text_reader_describe(reader, &reading.info);
    nigh_text_reader_close(reader);
    return reading;
}

/*
 * Reads the bytes as one format whole and in small pieces, which must come to
 * the same; then in two shards, which must share the records out; then as
 * whatever they may be, archives included.
 */
static int document_target(nigh_text_format format, const uint8_t *data, size_t size) {
    struct document_reading whole = document_read(format, 0, 0, data, size, 0);
    struct document_reading pieces = document_read(format, 0, 0, data, size, 1 + size % 7);
    if (whole.status != pieces.status || whole.hash != pieces.hash) abort();
    if (whole.info.records != pieces.info.records || whole.info.problems != pieces.info.problems) abort();
    if (whole.status == NIGH_END) {
        struct document_reading even = document_read(format, 0, 2, data, size, 0);
        struct document_reading odd = document_read(format, 1, 2, data, size, 0);
        if (even.info.records != whole.info.records || odd.info.records != whole.info.records) abort();
        if (even.info.documents + odd.info.documents != whole.info.documents) abort();
        if (even.info.problems + odd.info.problems != whole.info.problems) abort();
    }
    (void)document_read(NIGH_TEXT_AUTO, 0, 0, data, size, 0);
    return 0;
}

#endif
