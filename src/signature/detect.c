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
    while (digits < end && is_hex_digit(*digits))
        digits++;
    return digits == end;
}

static nigh_status first_line_is_hex(struct nigh__input *input, bool *out, nigh_error *error) {
    const char *text;
    size_t length;
    size_t whole;
    size_t limit = NIGH_MAX_ID_LENGTH + 1 + 2 * NIGH__MAX_ROW_BYTES;
    *out = false;
    nigh_status status = nigh__line_peek(input, limit, &text, &length, &whole, error);
    if (status == NIGH_END || status == NIGH_ELIMIT) return NIGH_OK;
    if (status == NIGH_OK) *out = looks_like_hex(text, length);
    return status;
}

/* Whether the two numbers at the start account for every byte of the file. */
static bool u8bin_fits(const uint8_t *bytes, size_t available, uint64_t file_length) {
    if (available < LOOK || file_length == UINT64_MAX) return false;
    uint64_t rows = nigh__load32(bytes);
    uint64_t row_bytes = nigh__load32(bytes + 4);
    if (row_bytes == 0 || row_bytes > NIGH__MAX_ROW_BYTES) return false;
    return LOOK + rows * row_bytes == file_length;
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
    bool hex = false;
    if (looked > 0 && memchr(bytes, 0, looked) == NULL) status = first_line_is_hex(input, &hex, error);
    if (status != NIGH_OK) return status;
    nigh_signature_format ending = nigh__format_by_ending(input->name);
    if (ending == NIGH_FORMAT_RAW) ending = NIGH_FORMAT_AUTO;
    if (!hex && ending != NIGH_FORMAT_AUTO) {
        *out = ending;
        return NIGH_OK;
    }
    status = nigh__input_peek(input, LOOK, &bytes, &available, error); /* the look at a line may have moved them */
    if (status != NIGH_OK) return status;
    *out = NIGH_FORMAT_AUTO;
    if (hex || available == 0)
        *out = NIGH_FORMAT_HEX;
    else if (nigh__topsig_begins(bytes, available))
        *out = NIGH_FORMAT_TOPSIG;
    else if (u8bin_fits(bytes, available, file_length))
        *out = NIGH_FORMAT_U8BIN;
    if (*out != NIGH_FORMAT_AUTO) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EFORMAT, input->name, NIGH_NO_OFFSET, "not a signature file nigh recognises");
}
