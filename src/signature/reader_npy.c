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
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
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

static nigh_status npy_check(const char *name, const struct npy_header *header, nigh_error *error) {
    char text[64];
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!header->seen[i])
            return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET, "npy header has no '%s'", key_names[i]);
    const char *quote = header->type_is_string ? "'" : "";
    if (type_is(header, "b1", '?')) return fail_unpacked(name, "truth values", error);
    if (!type_is_uint8(header))
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "dtype is %s%s%s; signatures must be uint8 ('|u1')", quote,
                             nigh__printable(text, sizeof text, header->type.text, header->type.length), quote);
    if (header->fortran_order)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "array is in Fortran order; signatures must be in C order");
    if (header->dimension_count != 2)
        return nigh__fail_at(error, NIGH_EFORMAT, name, NIGH_NO_OFFSET,
                             "shape is %s; signatures need two dimensions, (rows, bytes)",
                             nigh__printable(text, sizeof text, header->shape.text, header->shape.length));
    return NIGH_OK;
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
    status = npy_check(reader->input.name, &header, error);
    if (status != NIGH_OK) return status;
    nigh__input_skip(&reader->input, start + length);
    status = check_packed(reader, header.dimensions[1], error);
    if (status != NIGH_OK) return status;
    return nigh__matrix_begin(reader, header.dimensions[0], header.dimensions[1], error);
}

const struct nigh__format_reader nigh__reader_npy = {NIGH_FORMAT_NPY, npy_begin, nigh__matrix_next};
