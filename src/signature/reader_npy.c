/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy.  A preamble, a Python dictionary as text, then the rows:
 *
 *     0   "\x93NUMPY"
 *     6   version, two bytes: 1.0, 2.0 or 3.0
 *     8   length of the text: uint16 in version 1.0, uint32 in the others
 *    10   {'descr': '|u1', 'fortran_order': False, 'shape': (rows, bytes), }
 *         (12 where the length takes four bytes), spaces, a newline
 *
 * The dictionary is written by many programs, so spaces, quotes, the order of
 * the keys and the last comma are free; everything else is an error with its
 * offset.  Nothing in the text is evaluated.
 *
 * Rows are bytes ('|u1'), whose bits are taken as they are, or floats ('<f2',
 * '<f4', '<f8'), each of which becomes a bit (signature/floats.h) where the
 * caller has thresholds for them.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "signature/signature_reader.h"

#define NPY_PREAMBLE 12 /* the longer of the two */
#define NPY_TEXT_LIMIT 65536u

struct span {
    const char *text;
    size_t length;
};

/* The dictionary, and where in it we are. */
struct npy_header {
    const char *text;
    size_t length;
    size_t at;
    struct span type;  /* without quotes where it was a string */
    struct span shape; /* as written, for messages */
    bool type_is_string;
    bool fortran_order;
    bool seen[3]; /* the keys, in the order of key_names */
    uint64_t dimensions[2];
    size_t dimension_count;
};

static const char *const key_names[] = {"descr", "fortran_order", "shape"};
enum { KEY_TYPE, KEY_ORDER, KEY_SHAPE, KEY_COUNT };

/* --------------------------------------------------------------- parsing */

/* Each function returns NULL, or what it expected at header->at. */

static void skip_spaces(struct npy_header *header) {
    while (header->at < header->length && memchr(" \t\r\n", header->text[header->at], 4) != NULL) header->at++;
}

static bool take(struct npy_header *header, char wanted) {
    skip_spaces(header);
    if (header->at >= header->length || header->text[header->at] != wanted) return false;
    header->at++;
    return true;
}

static bool take_word(struct npy_header *header, const char *word) {
    size_t length = strlen(word);
    skip_spaces(header);
    if (header->length - header->at < length || memcmp(header->text + header->at, word, length) != 0) return false;
    header->at += length;
    return true;
}

static const char *parse_string(struct npy_header *header, struct span *out) {
    char quote = '\'';
    if (!take(header, quote)) {
        quote = '"';
        if (!take(header, quote)) return "a string expected";
    }
    out->text = header->text + header->at;
    while (header->at < header->length && header->text[header->at] != quote) {
        if (header->text[header->at] == '\\') return "a string without escapes expected";
        header->at++;
    }
    if (header->at >= header->length) return "the end of a string expected";
    out->length = (size_t)(header->text + header->at - out->text);
    header->at++;
    return NULL;
}

/* A list of fields is a type too, only never ours: it is kept as it stands, to name it. */
static const char *parse_type(struct npy_header *header) {
    skip_spaces(header);
    header->type_is_string = header->at < header->length && header->text[header->at] != '[';
    if (header->type_is_string) return parse_string(header, &header->type);
    size_t depth = 0;
    size_t start = header->at;
    for (; header->at < header->length; header->at++) {
        char c = header->text[header->at];
        if (c == '[') depth++;
        if (c == ']' && --depth == 0) break;
    }
    if (header->at >= header->length) return "the end of a list expected";
    header->at++;
    header->type = (struct span){header->text + start, header->at - start};
    return NULL;
}

static const char *parse_number(struct npy_header *header, uint64_t *out) {
    skip_spaces(header);
    size_t start = header->at;
    uint64_t value = 0;
    for (; header->at < header->length; header->at++) {
        char c = header->text[header->at];
        if (c < '0' || c > '9') break;
        if (!nigh__multiply64(value, 10, &value) || !nigh__add64(value, (uint64_t)(c - '0'), &value))
            return "a number of at most 64 bits expected";
    }
    if (header->at == start) return "a number expected";
    if (header->at < header->length && header->text[header->at] == 'L') header->at++; /* Python 2 */
    *out = value;
    return NULL;
}

static const char *parse_shape(struct npy_header *header) {
    if (!take(header, '(')) return "a shape in parentheses expected";
    size_t start = header->at - 1;
    while (!take(header, ')')) {
        uint64_t value;
        const char *problem = parse_number(header, &value);
        if (problem != NULL) return problem;
        if (header->dimension_count < 2) header->dimensions[header->dimension_count] = value;
        header->dimension_count++;
        if (take(header, ',')) continue;
        if (!take(header, ')')) return "',' or ')' expected";
        break;
    }
    header->shape = (struct span){header->text + start, header->at - start};
    return NULL;
}

static const char *parse_order(struct npy_header *header) {
    header->fortran_order = take_word(header, "True");
    return header->fortran_order || take_word(header, "False") ? NULL : "True or False expected";
}

static const char *parse_entry(struct npy_header *header) {
    static const char *(*const parsers[])(struct npy_header *) = {parse_type, parse_order, parse_shape};
    struct span key;
    skip_spaces(header);
    size_t start = header->at;
    const char *problem = parse_string(header, &key);
    if (problem != NULL) return problem;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strlen(key_names[i]) != key.length || memcmp(key_names[i], key.text, key.length) != 0) continue;
        if (header->seen[i]) {
            header->at = start;
            return "a key that was not there before expected";
        }
        header->seen[i] = true;
        if (!take(header, ':')) return "':' expected";
        return parsers[i](header);
    }
    header->at = start;
    return "'descr', 'fortran_order' or 'shape' expected";
}

static const char *parse_header(struct npy_header *header) {
    if (!take(header, '{')) return "'{' expected";
    while (!take(header, '}')) {
        const char *problem = parse_entry(header);
        if (problem != NULL) return problem;
        if (take(header, ',')) continue;
        if (!take(header, '}')) return "',' or '}' expected";
        break;
    }
    skip_spaces(header);
    return header->at == header->length ? NULL : "nothing after '}' expected";
}

/* --------------------------------------------------------------- meaning */

/* These have no byte order, so any mark of one is as good as none. */
static bool type_is(const struct npy_header *header, const char *name, char letter) {
    struct span type = header->type;
    if (type.length > 0 && memchr("|<>=", type.text[0], 4) != NULL) {
        type.text++;
        type.length--;
    }
    return header->type_is_string &&
           ((type.length == 2 && memcmp(type.text, name, 2) == 0) || (type.length == 1 && type.text[0] == letter));
}

static bool type_is_uint8(const struct npy_header *header) { return type_is(header, "u1", 'B'); }

/* Of floats that nigh reads: bytes of one; else 0. */
static unsigned float_bytes(const struct npy_header *header) {
    const struct span type = header->type;
    if (!header->type_is_string || type.length != 3 || memchr("<=", type.text[0], 2) == NULL || type.text[1] != 'f')
        return 0;
    const char digit = type.text[2];
    return digit == '2' || digit == '4' || digit == '8' ? (unsigned)(digit - '0') : 0;
}

static bool type_is_float(const struct npy_header *header) {
    return header->type_is_string && header->type.length > 1 && header->type.text[1] == 'f';
}

static nigh_status fail_unpacked(const char *name, const char *what, nigh_error *error) {
    return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                         "holds %s, a byte for each bit; pack them with numpy.packbits(array, axis=1)", what);
}

#define LOOK_BYTES 65536u      /* of the rows, to see whether they are bits */
#define MIN_ROW_BYTES 16u      /* narrower ones, */
#define MIN_UNPACKED_BYTES 64u /* and fewer bytes, may be nothing but 0 and 1 by chance */

/* Whether all bytes at hand are 0 or 1, and some are 1: of packed signatures that has no chance. */
static nigh_status check_packed(nigh_signature_reader *reader, uint64_t row_bytes, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    uint8_t all = 0;
    if (row_bytes < MIN_ROW_BYTES) return NIGH_OK;
    nigh_status status = nigh__input_peek(&reader->input, LOOK_BYTES, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    for (size_t i = 0; i < available && i < LOOK_BYTES; i++) all |= bytes[i];
    if (all != 1 || available < MIN_UNPACKED_BYTES) return NIGH_OK;
    return fail_unpacked(reader->input.name, "nothing but 0 and 1", error);
}

static nigh_status check_type(const nigh_signature_reader *reader, const struct npy_header *header, nigh_error *error) {
    char text[64];
    const char *name = reader->input.name;
    const char *quote = header->type_is_string ? "'" : "";
    const char *type = nigh__printable(text, sizeof text, header->type.text, header->type.length);
    if (type_is(header, "b1", '?')) return fail_unpacked(name, "truth values", error);
    if (float_bytes(header) != 0 && reader->floats.thresholds == NULL)
        return nigh__because(
            error, NIGH_REASON_NEEDS_THRESHOLDS,
            nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET, "holds floats ('%s'), not bits", type));
    if (type_is_float(header) && float_bytes(header) == 0)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "dtype is '%s'; of floats nigh reads float16, float32 and float64, little-endian", type);
    if (!type_is_uint8(header) && float_bytes(header) == 0)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "dtype is %s%s%s; signatures must be uint8 ('|u1')", quote, type, quote);
    return NIGH_OK;
}

static nigh_status npy_check(const nigh_signature_reader *reader, struct npy_header *header, nigh_error *error) {
    char text[64];
    const char *name = reader->input.name;
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!header->seen[i])
            return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET, "npy header has no '%s'", key_names[i]);
    nigh_status status = check_type(reader, header, error);
    if (status != NIGH_OK) return status;
    if (header->fortran_order)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "array is in Fortran order, column by column; save numpy.ascontiguousarray(array)");
    if (header->dimension_count == 1 && reader->one_row) {
        header->dimensions[1] = header->dimensions[0];
        header->dimensions[0] = 1;
    } else if (header->dimension_count != 2) {
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "shape is %s; signatures need two dimensions, (rows, %s)",
                             nigh__printable(text, sizeof text, header->shape.text, header->shape.length),
                             float_bytes(header) != 0 ? "columns" : "bytes");
    }
    return NIGH_OK;
}

/* A bit for each column. */
static nigh_status begin_floats(nigh_signature_reader *reader, const struct npy_header *header, nigh_error *error) {
    const uint64_t columns = header->dimensions[1];
    if (!nigh__width_valid(columns))
        return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, NIGH_NO_OFFSET,
                             "has %" PRIu64 " columns; it must be from 1 to %u", columns, NIGH_MAX_WIDTH_BITS);
    nigh_status status = nigh__reader_set_width(reader, (uint32_t)columns, error);
    if (status != NIGH_OK) return status;
    const nigh_thresholds *thresholds = reader->floats.thresholds;
    if (thresholds->count != 0 && thresholds->count != columns)
        return nigh__fail_at(error, NIGH_EMISMATCH, reader->input.name, NIGH_NO_OFFSET,
                             "has %" PRIu64 " columns, and there are %" PRIu32 " thresholds", columns,
                             thresholds->count);
    reader->stride = (size_t)columns * float_bytes(header);
    return nigh__floats_init(&reader->floats, reader->context, float_bytes(header), (uint32_t)columns, error);
}

static nigh_status begin_bytes(nigh_signature_reader *reader, const struct npy_header *header, nigh_error *error) {
    nigh_status status = check_packed(reader, header->dimensions[1], error);
    return status == NIGH_OK ? nigh__reader_set_row(reader, header->dimensions[1], error) : status;
}

/* Finds where the text begins and how long it is. */
static nigh_status npy_preamble(nigh_signature_reader *reader, size_t *start, size_t *length, nigh_error *error) {
    const uint8_t *bytes;
    size_t available;
    const char *name = reader->input.name;
    nigh_status status = nigh__input_peek(&reader->input, NPY_PREAMBLE, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    size_t compared = available < 6 ? available : 6;
    if (memcmp(bytes, "\x93NUMPY", compared) != 0)
        return nigh__fail_at(error, NIGH_EFORMAT, name, 0, "not an npy file: it does not begin with \\x93NUMPY");
    if (available < NPY_PREAMBLE) return nigh__fail_header_cut(reader, available, error);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return nigh__fail_at(error, NIGH_EFORMAT, name, 6, "npy version %u.%u; nigh reads 1.0, 2.0 and 3.0", bytes[6],
                             bytes[7]);
    *start = bytes[6] == 1 ? 10 : 12;
    *length = bytes[6] == 1 ? nigh__load16(bytes + 8) : nigh__load32(bytes + 8);
    if (*length > NPY_TEXT_LIMIT)
        return nigh__fail_at(error, NIGH_EFORMAT, name, 8, "npy header of %zu bytes; at most %u are read", *length,
                             NPY_TEXT_LIMIT);
    return NIGH_OK;
}

static nigh_status npy_begin(nigh_signature_reader *reader, nigh_error *error) {
    size_t start = 0;
    size_t length = 0;
    nigh_status status = npy_preamble(reader, &start, &length, error);
    if (status != NIGH_OK) return status;
    const uint8_t *bytes;
    size_t available;
    status = nigh__input_peek(&reader->input, start + length, &bytes, &available, error);
    if (status != NIGH_OK) return status;
    if (available < start + length) return nigh__fail_header_cut(reader, available, error);
    struct npy_header header = {.text = (const char *)bytes + start, .length = length};
    const char *problem = parse_header(&header);
    if (problem != NULL)
        return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name, start + header.at, "npy header: %s", problem);
    status = npy_check(reader, &header, error);
    if (status != NIGH_OK) return status;
    status = float_bytes(&header) != 0 ? begin_floats(reader, &header, error) : NIGH_OK;
    nigh__input_skip(&reader->input, start + length);
    if (status == NIGH_OK && reader->floats.item_bytes == 0) status = begin_bytes(reader, &header, error);
    return status == NIGH_OK ? nigh__matrix_begin(reader, header.dimensions[0], error) : status;
}

static nigh_status npy_next(nigh_signature_reader *reader, nigh_document *out, nigh_error *error) {
    struct nigh__floats *floats = &reader->floats;
    nigh_status status = nigh__matrix_next(reader, out, error);
    if (status != NIGH_OK || floats->item_bytes == 0) return status;
    const uint32_t column = nigh__floats_take(floats, out->signature);
    if (column != floats->columns)
        return nigh__fail_at(error, NIGH_EFORMAT, reader->input.name,
                             reader->input.offset - reader->stride + (uint64_t)column * floats->item_bytes,
                             "row %" PRIu64 ", column %" PRIu32 " is not a number (NaN)", reader->row + 1, column + 1);
    out->signature = floats->bits;
    return NIGH_OK;
}

const struct nigh__format_reader nigh__reader_npy = {NIGH_FORMAT_NPY, npy_begin, npy_next};
