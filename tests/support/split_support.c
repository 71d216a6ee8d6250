/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Records as text, and archives by libarchive's writer. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "document/document_options.h"
#include "document/split.h"
#include "support/split_support.h"

static void print_bytes(FILE *out, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) (void)fputc(bytes[i] == '\n' ? '~' : bytes[i], out);
}

static void print_record(FILE *out, const struct nigh__batch *batch, const struct nigh__record *record) {
    static const char *const kinds[] = {"problem", "text", "json", "html", "http", "trec"};
    char message[800];
    fprintf(out, "%" PRIu64 " %s ", record->number, kinds[record->kind]);
    if (record->kind == NIGH__RECORD_PROBLEM) {
        assert_true(record->problem < batch->problems.count);
        nigh_error problem = ((const nigh_error *)batch->problems.data)[record->problem];
        if (problem.reason == NIGH_REASON_LOST_INPUT) problem.reason = NIGH_REASON_NONE; /* without the hint */
        (void)nigh_error_format(&problem, message, sizeof message);
        print_bytes(out, message, strlen(message));
        (void)fputc('\n', out);
        return;
    }
    assert_true(record->bytes + record->length + NIGH__BATCH_PADDING <= batch->bytes.capacity);
    assert_true(record->id_length >= 1 && record->id_length <= NIGH_MAX_ID_LENGTH);
    assert_true(record->id + record->id_length <= batch->bytes.count);
    assert_true(strlen(nigh__batch_bytes(batch, record->source)) < batch->bytes.count);
    print_bytes(out, nigh__batch_bytes(batch, record->id), record->id_length);
    fprintf(out, " offset %" PRIu64 " line %" PRIu64 " |", record->offset, record->line);
    print_bytes(out, nigh__batch_bytes(batch, record->bytes), record->length);
    fputs("|\n", out);
}

static void print_failure(FILE *out, const nigh_error *error) {
    char message[800];
    (void)nigh_error_format(error, message, sizeof message);
    fprintf(out, "failed %s\n", message);
}

static void print_all(FILE *out, const nigh_context *context, struct nigh__splitter *splitter, size_t target) {
    struct nigh__batch batch;
    nigh__batch_init(&batch);
    do {
        nigh__splitter_fill(splitter, &batch, target);
        for (size_t i = 0; i < batch.records.count; i++) print_record(out, &batch, nigh__batch_record(&batch, i));
    } while (batch.status == NIGH_OK);
    if (batch.status != NIGH_END) print_failure(out, &batch.error);
    nigh_status last = batch.status;
    nigh__splitter_fill(splitter, &batch, target); /* what has ended stays so */
    assert_int_equal(batch.status, last);
    assert_int_equal(batch.records.count, 0);
    nigh__batch_release(context, &batch);
}

char *split_transcript(nigh_context *context, const char *const *paths, size_t count,
                       const nigh_text_reader_options *options, size_t target) {
    char *text = NULL;
    size_t length = 0;
    nigh_error error = {0};
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    struct nigh__splitter *splitter;
    if (nigh__splitter_open(context, paths, count, options, NULL, &splitter, &error) == NIGH_OK)
        print_all(out, context, splitter, target);
    else
        print_failure(out, &error);
    nigh__splitter_close(splitter);
    assert_int_equal(fclose(out), 0);
    return text;
}

char *split_path(const char *path) {
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    nigh_context *context = context_new();
    char *text = split_transcript(context, &path, 1, &options, 1 << 18);
    nigh_context_free(context);
    return text;
}

static char *read_stream(nigh_context *context, const nigh_text_reader_options *options, const void *bytes,
                         size_t length, size_t chunk, size_t target) {
    struct memory_source source = {.bytes = bytes, .length = length, .chunk = chunk, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_text_reader_options with = *options;
    with.stream = &stream;
    const char *path = "-";
    return split_transcript(context, &path, 1, &with, target);
}

char *split_bytes(const nigh_text_reader_options *options, const void *bytes, size_t length) {
    static const struct { size_t chunk, target; } ways[] = {{0, 1}, {7, 1 << 18}, {7, 100}, {1, 1 << 18}};
    nigh_context *context = context_new();
    char *whole = read_stream(context, options, bytes, length, 0, 1 << 18);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char *other = read_stream(context, options, bytes, length, ways[i].chunk, ways[i].target);
        assert_string_equal(whole, other);
        free(other);
    }
    nigh_context_free(context);
    return whole;
}

char *split_text(nigh_text_format format, const char *text) {
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.format = format;
    return split_bytes(&options, text, strlen(text));
}

void assert_split_at(nigh_text_format format, const char *text, const char *expected, const char *file, int line) {
    char *transcript = split_text(format, text);
    if (strcmp(transcript, expected) != 0) {
        print_error("read:\n%sexpected:\n%s", transcript, expected);
        _fail(file, line);
    }
    free(transcript);
}

/* --------------------------------------------------------------- archives */

static la_ssize_t sink_write(struct archive *archive, void *user, const void *bytes, size_t length) {
    (void)archive;
    sink_add(user, bytes, length);
    return (la_ssize_t)length;
}

static void member_write(struct archive *archive, const struct member *member) {
    struct archive_entry *entry = archive_entry_new();
    const char *arrow = strstr(member->name, " -> ");
    size_t length = arrow != NULL ? (size_t)(arrow - member->name) : strlen(member->name);
    char *name = strndup(member->name, length);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, arrow != NULL ? AE_IFLNK : name[length - 1] == '/' ? AE_IFDIR : AE_IFREG);
    archive_entry_set_size(entry, (la_int64_t)member->length);
    if (arrow != NULL) archive_entry_set_symlink(entry, arrow + 4);
    assert_true(archive_write_header(archive, entry) >= ARCHIVE_WARN); /* a name that is not ASCII is one */
    if (member->length > 0)
        assert_int_equal(archive_write_data(archive, member->bytes, member->length), member->length);
    archive_entry_free(entry);
    free(name);
}

struct bytes pack_members(enum pack pack, int filter, const struct member *members, size_t count) {
    struct memory_sink sink = {0};
    struct archive *archive = archive_write_new();
    assert_non_null(archive);
    assert_int_equal(archive_write_add_filter(archive, filter), ARCHIVE_OK);
    int format = pack == PACK_RAW   ? ARCHIVE_FORMAT_RAW
                 : pack == PACK_TAR ? ARCHIVE_FORMAT_TAR_PAX_RESTRICTED
                                    : ARCHIVE_FORMAT_ZIP;
    assert_int_equal(archive_write_set_format(archive, format), ARCHIVE_OK);
    assert_int_equal(archive_write_set_bytes_in_last_block(archive, 1), ARCHIVE_OK);
    assert_int_equal(archive_write_open(archive, &sink, NULL, sink_write, NULL), ARCHIVE_OK);
    for (size_t i = 0; i < count; i++) member_write(archive, &members[i]);
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    archive_write_free(archive);
    return (struct bytes){.data = sink.bytes, .length = sink.length};
}

struct bytes pack_bytes(int filter, const void *bytes, size_t length) {
    struct member member = {.name = "data", .bytes = bytes, .length = length};
    return pack_members(PACK_RAW, filter, &member, 1);
}
