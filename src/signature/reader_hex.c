/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of hex digits, with or without a name before a tab:
 *
 *     0f3a99c1...          document-7<TAB>0f3a99c1...
 *
 * A name is escaped, as base/escape.c says.  Byte 0 of the signature is the first two digits.  People write and cut
 * these files by hand, so what is wrong is said with the line and the column.
 */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/signature_reader.h"

struct hex_line {
    const char *text;
    const char *digits;
    const char *id;
    size_t id_length;
    size_t digit_count;
    bool has_id;
};

/* The value of each digit and a mark; 0 for what is no digit.  Comparing instead would mispredict every other digit. */
#define DIGIT 0x10
static const uint8_t digit_values[256] = {
    ['0'] = DIGIT,      ['1'] = DIGIT | 1,  ['2'] = DIGIT | 2,  ['3'] = DIGIT | 3,  ['4'] = DIGIT | 4,
    ['5'] = DIGIT | 5,  ['6'] = DIGIT | 6,  ['7'] = DIGIT | 7,  ['8'] = DIGIT | 8,  ['9'] = DIGIT | 9,
    ['a'] = DIGIT | 10, ['b'] = DIGIT | 11, ['c'] = DIGIT | 12, ['d'] = DIGIT | 13, ['e'] = DIGIT | 14,
    ['f'] = DIGIT | 15, ['A'] = DIGIT | 10, ['B'] = DIGIT | 11, ['C'] = DIGIT | 12, ['D'] = DIGIT | 13,
    ['E'] = DIGIT | 14, ['F'] = DIGIT | 15,
};

static unsigned digit_value(char c) { return digit_values[(unsigned char)c]; }

static nigh_status fail_character(nigh_signature_reader *reader, const struct hex_line *line, nigh_error *error) {
    const char *bad = line->digits;
    while (digit_value(*bad) != 0) bad++;
    size_t column = (size_t)(bad - line->text) + 1;
    if (*bad > 0x20 && *bad < 0x7f)
        return nigh__fail_line(error, NIGH_EFORMAT, reader->input.name, reader->lines.number,
                               "'%c' in column %zu is not a hex digit", *bad, column);
    return nigh__fail_line(error, NIGH_EFORMAT, reader->input.name, reader->lines.number,
                           "byte 0x%02x in column %zu is not a hex digit", (unsigned)(unsigned char)*bad, column);
}

/* Takes the next line that is not empty; empty ones are let pass at the end alone. */
static nigh_status line_take(nigh_signature_reader *reader, const char **text, size_t *length, nigh_error *error) {
    uint64_t first_empty = 0;
    for (;;) {
        nigh_status status = nigh__lines_next(&reader->lines, NIGH__MAX_HEX_LINE, text, length, error);
        if (status != NIGH_OK) return status;
        if (*length != 0) break;
        if (first_empty == 0) first_empty = reader->lines.number;
    }
    if (first_empty == 0) return NIGH_OK;
    return nigh__fail_line(error, NIGH_EFORMAT, reader->input.name, first_empty, "empty line");
}

static nigh_status line_split(nigh_signature_reader *reader, const char *text, size_t length, struct hex_line *out,
                              nigh_error *error) {
    *out = (struct hex_line){.text = text, .digits = text, .digit_count = length};
    const char *tab = memchr(text, '\t', length);
    const char *problem = NULL;
    if (tab != NULL) {
        const size_t before = (size_t)(tab - text);
        out->has_id = true;
        out->digits = tab + 1;
        out->digit_count = length - before - 1;
        nigh_status status = nigh__reader_id(reader, text, before, &out->id, &out->id_length, &problem, error);
        if (status != NIGH_OK) return status;
        if (problem == NULL && memchr(out->digits, '\t', out->digit_count) != NULL) problem = "id holds a tab";
        if (problem == NULL && out->digit_count == 0) problem = "no signature after the tab";
    }
    if (problem == NULL) return NIGH_OK;
    return nigh__fail_line(error, NIGH_EFORMAT, reader->input.name, reader->lines.number, "%s", problem);
}

/* Whether all were digits.  `out` has room for half as many bytes. */
static bool decode(const char *digits, size_t count, uint8_t *out) {
    unsigned all = DIGIT;
    for (size_t i = 0; i < count / 2; i++) {
        unsigned high = digit_value(digits[2 * i]);
        unsigned low = digit_value(digits[2 * i + 1]);
        all &= high & low;
        out[i] = (uint8_t)((high & 15) << 4 | (low & 15));
    }
    if (count % 2 != 0) all &= digit_value(digits[count - 1]);
    return all != 0;
}

/* The first line sets what the others are compared with. */
static nigh_status first_check(nigh_signature_reader *reader, const struct hex_line *line, nigh_error *error) {
    const size_t bits = line->digit_count * 4;
    if (reader->asked_bits != 0 && nigh__row_bytes(reader->asked_bits) != line->digit_count / 2)
        return nigh__fail_line(error, NIGH_EMISMATCH, reader->input.name, reader->lines.number,
                               "signatures have %zu bits, %" PRIu32 " were asked for", bits, reader->asked_bits);
    reader->lines_have_ids = line->has_id;
    reader->info.has_ids = line->has_id;
    return nigh__reader_set_row(reader, line->digit_count / 2, error);
}

static nigh_status later_check(nigh_signature_reader *reader, const struct hex_line *line, nigh_error *error) {
    const char *name = reader->input.name;
    uint64_t number = reader->lines.number;
    if (line->digit_count != 2 * reader->row_bytes)
        return nigh__fail_line(error, NIGH_EMISMATCH, name, number, "signature has %zu bits, those before it have %zu",
                               line->digit_count * 4, reader->row_bytes * 8);
    if (line->has_id && !reader->lines_have_ids)
        return nigh__fail_line(error, NIGH_EFORMAT, name, number, "line has an id, those before it have none");
    if (!line->has_id && reader->lines_have_ids)
        return nigh__fail_line(error, NIGH_EFORMAT, name, number, "line has no id, those before it have one");
    return NIGH_OK;
}

static nigh_status line_check(nigh_signature_reader *reader, const struct hex_line *line, nigh_error *error) {
    const char *name = reader->input.name;
    uint64_t number = reader->lines.number;
    if (line->digit_count > 2 * (size_t)NIGH__MAX_ROW_BYTES)
        return nigh__fail_line(error, NIGH_EFORMAT, name, number, "%zu characters; a signature has at most %u",
                               line->digit_count, 2 * NIGH__MAX_ROW_BYTES);
    if (!decode(line->digits, line->digit_count, reader->decoded)) return fail_character(reader, line, error);
    if (line->digit_count % 2 != 0)
        return nigh__fail_line(error, NIGH_EFORMAT, name, number, "odd number of hex digits (%zu)", line->digit_count);
    return reader->row_bytes == 0 ? first_check(reader, line, error) : later_check(reader, line, error);
}

static nigh_status hex_read(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    const char *text;
    size_t length;
    struct hex_line line;
    nigh_status status = line_take(reader, &text, &length, error);
    if (status == NIGH_OK) status = line_split(reader, text, length, &line, error);
    if (status == NIGH_OK) status = line_check(reader, &line, error);
    if (status != NIGH_OK) return status;
    out->signature = reader->decoded;
    out->id = line.has_id ? line.id : NULL;
    out->id_length = line.id_length;
    return NIGH_OK;
}

static nigh_status hex_begin(nigh_signature_reader *reader, nigh_error *error) {
    reader->lines.input = &reader->input;
    reader->decoded = nigh__alloc(reader->context, NIGH__MAX_ROW_BYTES, 1);
    if (reader->decoded == NULL) return nigh__no_memory(error, "for a signature");
    reader->info.width_bits = reader->asked_bits;
    nigh_status status = hex_read(reader, &reader->first, error);
    reader->first_waits = status == NIGH_OK;
    if (status != NIGH_END) return status;
    reader->info.rows = 0;
    return NIGH_OK;
}

static nigh_status hex_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    if (!reader->first_waits) return hex_read(reader, out, error);
    *out = reader->first;
    reader->first_waits = false;
    return NIGH_OK;
}

const struct nigh__format_reader nigh__reader_hex = {NIGH_FORMAT_HEX, hex_begin, hex_next};
