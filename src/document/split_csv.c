/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record a row of CSV or TSV, by libcsv: quoted fields may have delimiters, quotes and line breaks in them.  The
 * first row names the columns, and every other becomes a line of JSON with a text under each name, so that keys,
 * extracting and the output of a deduplication are those of JSON lines.
 *
 * libcsv is fed a line at a time, so that it is known where each row begins.  It holds one field, in memory of its
 * own, which is watched: a quote that is never closed would make a field of the rest of the file.
 */
#include <csv.h>
#include <string.h>

#include "base/status.h"
#include "document/json.h"
#include "document/split_parts.h"
#include "document/utf8.h"

#define FIELD_STEP ((size_t)16 << 10) /* by which libcsv's memory grows */

struct nigh__csv {
    struct csv_parser parser;
    struct nigh__splitter *splitter;
    struct nigh__array keys; /* of char: "name": one after the other */
    struct nigh__array ends; /* of size_t: of each of them */
    struct nigh__array text; /* of char: a field as JSON */
    struct nigh__array mended;
    struct nigh__place place; /* of the row */
    size_t column;
    bool has_header, in_row; /* in_row: something of it was read */
    bool has_pending;
    nigh_status status; /* of what the calls of libcsv met */
    nigh_error error;
};

void nigh__split_csv_close(struct nigh__splitter *splitter) {
    struct nigh__csv *csv = splitter->csv;
    if (csv == NULL) return;
    csv_free(&csv->parser);
    nigh__array_release(splitter->context, &csv->keys);
    nigh__array_release(splitter->context, &csv->ends);
    nigh__array_release(splitter->context, &csv->text);
    nigh__array_release(splitter->context, &csv->mended);
    nigh__free(splitter->context, csv);
    splitter->csv = NULL;
}

/* ------------------------------------------------------------------ fields */

static bool add(const struct nigh__csv *csv, struct nigh__array *out, const char *bytes, size_t length) {
    return nigh__bytes_append(csv->splitter->context, out, bytes, length);
}

/* A character as it stands in a string of JSON. */
static bool character_add(const struct nigh__csv *csv, struct nigh__array *out, char c) {
    static const char hex[] = "0123456789abcdef";
    const unsigned char byte = (unsigned char)c;
    if (c == '"' || c == '\\') return add(csv, out, (const char[]){'\\', c}, 2);
    if (byte >= 0x20) return add(csv, out, &c, 1);
    return add(csv, out, (const char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6);
}

/* In runs: most fields have nothing that must be written otherwise. */
static bool string_add(const struct nigh__csv *csv, struct nigh__array *out, const char *text, size_t length) {
    bool added = add(csv, out, "\"", 1);
    while (added && length > 0) {
        size_t run = 0;
        while (run < length && (unsigned char)text[run] >= 0x20 && text[run] != '"' && text[run] != '\\') run++;
        added = run == 0 || add(csv, out, text, run);
        text += run, length -= run;
        if (!added || length == 0) break;
        added = character_add(csv, out, *text);
        text++, length--;
    }
    return added && add(csv, out, "\"", 1);
}

/* The field as JSON, at the end of `out`.  What is not UTF-8 is replaced, as in texts. */
static bool field_add(struct nigh__csv *csv, struct nigh__array *out, const char *text, size_t length) {
    size_t first_bad = NIGH__NONE;
    if (length > 0 && !nigh__utf8_check(text, length)) {
        csv->mended.count = 0;
        if (!nigh__utf8_repair(csv->splitter->context, text, length, &csv->mended, &first_bad)) return false;
        text = csv->mended.data;
        length = csv->mended.count;
        if (csv->has_pending) csv->splitter->pending.repaired = true;
    }
    return string_add(csv, out, text, length);
}

static bool name_add(struct nigh__csv *csv, const char *text, size_t length) {
    size_t *end = nigh__array_add(csv->splitter->context, &csv->ends, 1);
    if (end == NULL || !field_add(csv, &csv->keys, text, length) || !add(csv, &csv->keys, ":", 1)) return false;
    *end = csv->keys.count;
    return true;
}

static nigh_status pending_text(struct nigh__csv *csv, const char *text, size_t length) {
    return nigh__pending_add(csv->splitter, (const uint8_t *)text, length, &csv->error);
}

static nigh_status row_begin(struct nigh__csv *csv) {
    nigh_status status = nigh__raw_begin(csv->splitter, &csv->error);
    if (status == NIGH_OK) status = nigh__pending_begin(csv->splitter, &csv->error);
    csv->has_pending = status == NIGH_OK;
    return status == NIGH_OK ? pending_text(csv, "{", 1) : status;
}

/* Fields beyond the last name have none. */
static nigh_status value_add(struct nigh__csv *csv, const char *text, size_t length) {
    const size_t *ends = csv->ends.data;
    const size_t column = csv->column;
    if (column >= csv->ends.count) return NIGH_OK;
    const size_t begin = column == 0 ? 0 : ends[column - 1];
    csv->text.count = 0;
    if ((column > 0 && !add(csv, &csv->text, ",", 1)) ||
        !add(csv, &csv->text, (const char *)csv->keys.data + begin, ends[column] - begin) ||
        !field_add(csv, &csv->text, text, length))
        return nigh__no_memory(&csv->error, "for a row");
    return pending_text(csv, csv->text.data, csv->text.count);
}

static void field_take(void *bytes, size_t length, void *user) {
    struct nigh__csv *csv = user;
    const char *text = bytes == NULL ? "" : bytes;
    if (csv->status != NIGH_OK) return;
    if (!csv->has_header) {
        if (!name_add(csv, text, length)) csv->status = nigh__no_memory(&csv->error, "for the header of a table");
        return;
    }
    if (!csv->has_pending) csv->status = row_begin(csv);
    if (csv->status == NIGH_OK) csv->status = value_add(csv, text, length);
    csv->column++;
}

static void row_take(int terminator, void *user) {
    struct nigh__csv *csv = user;
    struct nigh__splitter *splitter = csv->splitter;
    (void)terminator;
    if (csv->status != NIGH_OK) return;
    csv->in_row = false;
    csv->has_header = true;
    csv->column = 0;
    if (!csv->has_pending) return;
    csv->has_pending = false;
    csv->status = pending_text(csv, "}\n", splitter->raw.on ? 2 : 1);
    if (csv->status != NIGH_OK) return;
    csv->status = nigh__pending_finish_numbered(splitter, NIGH__RECORD_JSON, csv->place.line, csv->place, &csv->error);
}

/* ------------------------------------------------------------------- lines */

/* What stands between columns: of CSV whichever the first line has most of. */
static unsigned char delimiter(struct nigh__splitter *splitter) {
    static const char candidates[] = ",;\t";
    struct nigh__feed *feed = splitter->text;
    size_t counts[sizeof candidates] = {0};
    size_t best = 0;
    if (splitter->format->format == NIGH_TEXT_TSV) return '\t';
    nigh__feed_peek(feed, NIGH__LOOK);
    for (size_t i = 0; i < feed->length && feed->bytes[i] != '\n'; i++)
        for (size_t j = 0; candidates[j] != '\0'; j++) counts[j] += feed->bytes[i] == (uint8_t)candidates[j];
    for (size_t j = 1; candidates[j] != '\0'; j++)
        if (counts[j] > counts[best]) best = j;
    return (unsigned char)candidates[best];
}

static nigh_status table_begin(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__csv *csv = nigh__alloc_zero(splitter->context, 1, sizeof *csv);
    if (csv == NULL || csv_init(&csv->parser, 0) != 0) {
        nigh__free(splitter->context, csv);
        return nigh__no_memory(error, "for a table");
    }
    csv->splitter = splitter;
    csv->keys = csv->text = csv->mended = (struct nigh__array)NIGH__ARRAY(char);
    csv->ends = (struct nigh__array)NIGH__ARRAY(size_t);
    splitter->csv = csv;
    csv_set_blk_size(&csv->parser, FIELD_STEP);
    if (nigh__feed_begins(splitter->text, "\xef\xbb\xbf", 3)) nigh__feed_skip(splitter->text, 3);
    csv_set_delim(&csv->parser, delimiter(splitter));
    return NIGH_OK;
}

/* Nothing of the row that is being read is kept. */
static void row_drop(struct nigh__csv *csv) {
    if (csv->has_pending) nigh__pending_drop(csv->splitter);
    csv->has_pending = false;
}

static nigh_status row_lose(struct nigh__csv *csv, const char *why, nigh_error *error) {
    row_drop(csv);
    nigh_status status = nigh__split_lose_at(csv->splitter, csv->place.offset, why, error);
    return status == NIGH_OK ? NIGH_END : status;
}

static bool is_blank(const struct nigh__csv *csv, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != ' ' && bytes[i] != '\r' && bytes[i] != '\n' &&
            (bytes[i] != '\t' || csv->parser.delim_char == '\t'))
            return false;
    return true;
}

/* Up to the end of the line, or of what is at hand. */
static nigh_status part_take(struct nigh__csv *csv, nigh_error *error) {
    struct nigh__splitter *splitter = csv->splitter;
    struct nigh__feed *feed = splitter->text;
    const uint8_t *newline = memchr(feed->bytes, '\n', feed->length);
    const size_t length = newline == NULL ? feed->length : (size_t)(newline - feed->bytes) + 1;
    if (!csv->in_row) csv->place = (struct nigh__place){.offset = feed->offset, .line = splitter->line + 1};
    csv->in_row = csv->in_row || !is_blank(csv, feed->bytes, length);
    const bool parsed =
        !csv->in_row || csv_parse(&csv->parser, feed->bytes, length, field_take, row_take, csv) == length;
    splitter->line += newline != NULL;
    nigh__feed_skip(feed, length);
    if (csv->status != NIGH_OK && error != NULL) *error = csv->error;
    if (csv->status != NIGH_OK) return csv->status;
    if (!parsed) return nigh__no_memory(error, "for a field");
    if (csv->parser.entry_pos <= splitter->options.max_document_bytes) return NIGH_OK;
    return row_lose(csv, "a field is longer than a document may be; maybe a quote has no end", error);
}

/* The last row may lack its line break, but not its quote. */
static nigh_status table_end(struct nigh__csv *csv, nigh_error *error) {
    (void)csv_set_opts(&csv->parser, CSV_STRICT | CSV_STRICT_FINI); /* about the end alone */
    if (csv_fini(&csv->parser, field_take, row_take, csv) != 0)
        return row_lose(csv, "the file ends inside a quoted field", error);
    if (csv->status != NIGH_OK && error != NULL) *error = csv->error;
    return csv->status == NIGH_OK ? NIGH_END : csv->status;
}

nigh_status nigh__split_csv(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_status status = splitter->csv == NULL ? table_begin(splitter, error) : NIGH_OK;
    struct nigh__csv *csv = splitter->csv;
    while (status == NIGH_OK && (csv->has_pending || csv->in_row || !nigh__split_full(splitter))) {
        status = nigh__feed_more(splitter->text, error);
        if (status == NIGH_OK)
            status = part_take(csv, error);
        else if (status == NIGH_END)
            return table_end(csv, error);
    }
    if (status != NIGH_OK && csv != NULL) row_drop(csv);
    return status;
}
