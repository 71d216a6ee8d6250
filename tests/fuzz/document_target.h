/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of all formats of documents do with their input. */
#ifndef NIGH_TESTS_DOCUMENT_TARGET_H
#define NIGH_TESTS_DOCUMENT_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "document/document_options.h"
#include "document/sniff.h"
#include "document/split.h"
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
    struct document_reading reading = {.info = {.size = sizeof(nigh_text_reader_info)}};
    struct memory_source source = {.bytes = data, .length = size, .chunk = chunk, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = format;
    options.stream = &stream;
    options.shard = shard;
    options.shards = shards;
    options.max_document_bytes = 4096;
    options.max_expansion_free = 1 << 20;
    nigh_text_reader *reader;
    nigh_text text = {.size = sizeof text};
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

/* All records as they lie, one after the other; *problems counts what was not right, *records is the last number. */
static struct memory_sink document_raw(nigh_text_format format, const uint8_t *data, size_t size, size_t chunk,
                                       size_t target, uint64_t *records, uint64_t *problems) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    struct memory_source source = {.bytes = data, .length = size, .chunk = chunk, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    struct nigh__splitting more = {.streams = &stream, .raw = true};
    struct memory_sink out = {0};
    struct nigh__splitter *splitter;
    struct nigh__batch batch;
    const char *path = "-";
    options.format = format;
    options.max_document_bytes = 4096;
    options.max_expansion_free = 1 << 20;
    if (nigh__splitter_open(context, &path, 1, &options, &more, &splitter, NULL) != NIGH_OK) abort();
    nigh__batch_init(&batch);
    *records = *problems = 0;
    do {
        nigh__splitter_fill(splitter, &batch, target);
        for (size_t i = 0; i < batch.records.count; i++) {
            const struct nigh__record *record = nigh__batch_record(&batch, i);
            if (record->kind != NIGH__RECORD_GAP && record->number != (*records)++) abort();
            *problems += record->kind == NIGH__RECORD_PROBLEM;
            sink_add(&out, nigh__batch_bytes(&batch, record->bytes), record->length);
        }
    } while (batch.status == NIGH_OK);
    if (batch.status != NIGH_END) *records = *problems = UINT64_MAX;
    nigh__batch_release(context, &batch);
    nigh__splitter_close(splitter);
    return out;
}

/* Whether records are made into lines of JSON rather than kept as they lie. */
static bool document_made(nigh_text_format format) {
    return format == NIGH_TEXT_JSON || format == NIGH_TEXT_CSV || format == NIGH_TEXT_TSV;
}

/*
 * The lines that were made of a sound input hold as many records and documents as it did.  A byte order mark before
 * the first is a record's there, and a file's here.
 */
static void document_made_target(const struct memory_sink *made, const nigh_text_reader_info *expected) {
    if (expected->problems != 0 || expected->skipped != 0) return;
    if (made->length >= 3 && memcmp(made->bytes, "\xef\xbb\xbf", 3) == 0) return;
    const struct document_reading lines = document_read(NIGH_TEXT_JSONL, 0, 0, made->bytes, made->length, 0);
    if (lines.status != NIGH_END || lines.info.records != expected->records) abort();
    if (lines.info.documents != expected->documents || lines.info.problems != 0) abort();
}

/* As they lie, records and what is between them are all of the input, unless something is wrong with it. */
static void document_raw_target(nigh_text_format format, const uint8_t *data, size_t size,
                                const nigh_text_reader_info *expected) {
    uint64_t records, problems, other_records, other_problems;
    struct memory_sink whole = document_raw(format, data, size, 0, 1 << 18, &records, &problems);
    struct memory_sink pieces = document_raw(format, data, size, 1 + size % 7, 100, &other_records, &other_problems);
    if (records != UINT64_MAX && records != expected->records) abort(); /* a huge record that is cut off ends it */
    if (records != other_records || problems != other_problems) abort();
    bool differ = whole.length != pieces.length;
    if (records != UINT64_MAX && (differ || (whole.length > 0 && memcmp(whole.bytes, pieces.bytes, whole.length) != 0)))
        abort();
    if (document_made(format)) document_made_target(&whole, expected);
    bool packed = document_made(format) || nigh__sniff_container(data, size) != NIGH__CONTAINER_NONE;
    if (problems == 0 && !packed && (whole.length != size || (size > 0 && memcmp(whole.bytes, data, size) != 0)))
        abort();
    free(whole.bytes);
    free(pieces.bytes);
}

/*
 * Reads the bytes as one format whole and in small pieces, which must come to
 * the same; then in two shards, which must share the records out; then as they
 * lie; then as whatever they may be, archives included.
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
    if (whole.status == NIGH_END) document_raw_target(format, data, size, &whole.info);
    (void)document_read(NIGH_TEXT_AUTO, 0, 0, data, size, 0);
    return 0;
}

#endif
