/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of signature file is this?  In this order:
 *
 *   1. "\x93NUMPY" begins npy and nothing else.
 *   2. Hex lines: no NUL among the first 8 bytes, and the first line is hex
 *      digits, or a name, a tab and hex digits.  The NUL keeps the two binary
 *      formats out: a u8bin row is at most 8,192 bytes, so bytes 6 and 7 are 0,
 *      and TopSig begins with a small number in 32 bits.
 *   3. The ending of the name.  An empty file with an ending that says nothing
 *      is hex without lines.
 *   4. Numbers that fit: TopSig's header size and version, or two numbers that
 *      account for every byte of the file (u8bin).
 *   5. A first line of text, whatever it says: taken for hex, so that the
 *      reader of hex can say what is wrong with it, and where.
 *
 * Raw is never guessed, for everything is raw; nor is ".raw", for without a
 * width it could not be read.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "signature/signature_reader.h"

#define LOOK 8

static bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* Odd numbers of digits pass, so that the reader of hex lines can say what is wrong with them. */
static bool looks_like_hex(const char *text, size_t length) {
    const char *tab = memchr(text, '\t', length);
    const char *digits = tab != NULL ? tab + 1 : text;
    const char *end = text + length;
    if (digits == end || digits == text + 1) return false; /* nothing, or a name of no bytes */
    while (digits < end && is_hex_digit(*digits)) digits++;
    return digits == end;
}

/* Control characters make it something else; bytes from 0x80 up may be part of a name. */
static bool looks_like_text(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) return false;
    }
    return length > 0;
}

enum first_line { LINE_OTHER, LINE_TEXT, LINE_HEX };

static nigh_status first_line_look(struct nigh__input *input, enum first_line *out, nigh_error *error) {
    const char *text;
    size_t length;
    size_t whole;
    *out = LINE_OTHER;
    nigh_status status = nigh__line_peek(input, NIGH__MAX_HEX_LINE, &text, &length, &whole, error);
    if (status == NIGH_END || status == NIGH_ELIMIT) return NIGH_OK;
    if (status != NIGH_OK) return status;
    if (looks_like_hex(text, length))
        *out = LINE_HEX;
    else if (looks_like_text(text, length))
        *out = LINE_TEXT;
    return NIGH_OK;
}

static bool u8bin_begins(const uint8_t *bytes, size_t available) {
    if (available < LOOK) return false;
    uint32_t row_bytes = nigh__load32(bytes + 4);
    return row_bytes != 0 && row_bytes <= NIGH__MAX_ROW_BYTES;
}

/* Whether the two numbers at the start account for every byte of the file. */
static bool u8bin_fits(const uint8_t *bytes, size_t available, uint64_t file_length) {
    if (file_length == UINT64_MAX || !u8bin_begins(bytes, available)) return false;
    return LOOK + (uint64_t)nigh__load32(bytes) * nigh__load32(bytes + 4) == file_length;
}

static nigh_status fail_unknown(const struct nigh__input *input, bool may_be_u8bin, nigh_error *error) {
    return nigh__because(error, NIGH_REASON_NEEDS_FORMAT,
                         nigh__fail_at(error, NIGH_EFORMAT, input->name, NIGH_NO_OFFSET,
                                       "not a signature file nigh recognises%s",
                                       may_be_u8bin ? " (u8bin cannot be recognised in a stream)" : ""));
}

/* What neither the first line nor the name has told. */
static nigh_status detect_by_numbers(struct nigh__input *input, enum first_line line, uint64_t file_length,
                                     nigh_signature_format *out, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    nigh_status status = nigh__input_peek(input, LOOK, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (nigh__topsig_begins(bytes, available))
        *out = NIGH_FORMAT_TOPSIG;
    else if (u8bin_fits(bytes, available, file_length))
        *out = NIGH_FORMAT_U8BIN;
    else if (line == LINE_TEXT || available == 0)
        *out = NIGH_FORMAT_HEX;
    else
        return fail_unknown(input, file_length == UINT64_MAX && u8bin_begins(bytes, available), error);
    return NIGH_OK;
}

nigh_status nigh__detect(struct nigh__input *input, nigh_signature_format *out, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    uint64_t file_length;
    nigh_status status = nigh__input_length(input, &file_length, error);
    if (status == NIGH_OK) status = nigh__input_peek(input, LOOK, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    size_t looked = available < LOOK ? available : LOOK;
    if (looked >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
        *out = NIGH_FORMAT_NPY;
        return NIGH_OK;
    }
    enum first_line line = LINE_OTHER;
    if (looked > 0 && memchr(bytes, 0, looked) == NULL) status = first_line_look(input, &line, error);
    if (status != NIGH_OK) return status;
    *out = line == LINE_HEX ? NIGH_FORMAT_HEX : nigh__format_by_ending(input->name);
    if (*out != NIGH_FORMAT_AUTO && *out != NIGH_FORMAT_RAW) return NIGH_OK;
    return detect_by_numbers(input, line, file_length, out, error);
}

/* ------------------------------------------------- signatures, or something else */

/* A whole line of an even number of digits, behind a name or not. */
static bool is_hex_line(const char *text, size_t length) {
    const char *tab = memchr(text, '\t', length);
    size_t digits = tab != NULL ? length - (size_t)(tab - text) - 1 : length;
    return looks_like_hex(text, length) && digits % 2 == 0;
}

/* Every line that is there in full; the last may be cut off unless the text ends there. */
static bool is_hex_text(const char *text, size_t length, bool whole) {
    const char *end = text + length;
    size_t lines = 0;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (newline == NULL && !whole) break;
        const char *line_end = newline != NULL ? newline : end;
        size_t line = (size_t)(line_end - text);
        if (line > 0 && text[line - 1] == '\r') line--;
        if (!is_hex_line(text, line)) return false;
        lines++;
        text = newline != NULL ? newline + 1 : end;
    }
    return lines > 0;
}

nigh_signature_format nigh_signature_recognise(const char *name, const void *bytes, size_t length, uint64_t whole) {
    const uint8_t *start = bytes;
    if (length >= 6 && memcmp(start, "\x93NUMPY", 6) == 0) return NIGH_FORMAT_NPY;
    if (is_hex_text(bytes, length, whole == length)) return NIGH_FORMAT_HEX;
    nigh_signature_format ending = nigh__format_by_own_ending(name);
    if (ending != NIGH_FORMAT_AUTO) return ending;
    if (length < LOOK) return NIGH_FORMAT_AUTO;
    if (nigh__topsig_begins(start, length)) return NIGH_FORMAT_TOPSIG;
    return u8bin_fits(start, length, whole) ? NIGH_FORMAT_U8BIN : NIGH_FORMAT_AUTO;
}
