/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/fields.h"

#include <string.h>

#include "base/bytes.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/status.h"

#define MAX_LINE ((size_t)256 << 10)

nigh_status nigh__fields_open(const nigh_context *context, const char *path, const char *separators,
                              struct nigh__fields *out, nigh_error *error) {
    memset(out, 0, sizeof *out);
    out->separators = separators;
    out->room = nigh__alloc(context, MAX_LINE, 1);
    if (out->room == NULL) return nigh__no_memory(error, "for a line");
    nigh_status status = nigh__input_open(context, path, NULL, &out->input, error);
    if (status != NIGH_OK) nigh__free(context, out->room);
    out->context = context;
    out->lines.input = &out->input;
    out->open = status == NIGH_OK;
    return status;
}

void nigh__fields_close(struct nigh__fields *fields) {
    if (!fields->open) return;
    nigh__input_release(&fields->input);
    nigh__free(fields->context, fields->room);
    fields->open = false;
}

static bool separates(const struct nigh__fields *fields, char c) {
    return c != '\0' && strchr(fields->separators, c) != NULL;
}

static void cut(struct nigh__fields *fields, const char *text, size_t length) {
    const bool runs = strcmp(fields->separators, "\t") != 0;
    size_t begin = 0;
    fields->count = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && !separates(fields, text[i])) continue;
        const bool empty = i == begin;
        if ((!runs || !empty) && fields->count <= NIGH__MAX_FIELDS) {
            if (fields->count < NIGH__MAX_FIELDS)
                fields->at[fields->count] = (struct nigh__field){text + begin, i - begin};
            fields->count++;
        }
        begin = i + 1;
    }
}

/* Columns of tab-separated files are as this program writes them. */
static void unescape(struct nigh__fields *fields) {
    char *place = fields->room;
    for (size_t i = 0; i < nigh__smaller(fields->count, NIGH__MAX_FIELDS); i++) {
        struct nigh__field *field = &fields->at[i];
        if (field->length == 0 || memchr(field->text, '\\', field->length) == NULL) continue;
        field->length = nigh_unescape(field->text, field->length, place);
        field->text = place;
        place += field->length;
    }
}

nigh_status nigh__fields_next(struct nigh__fields *fields, nigh_error *error) {
    const char *text = NULL;
    size_t length = 0;
    nigh_status status;
    while ((status = nigh__lines_next(&fields->lines, MAX_LINE, &text, &length, error)) == NIGH_OK) {
        cut(fields, text, length);
        if (strcmp(fields->separators, "\t") == 0) unescape(fields);
        if (length > 0 && fields->count > 0) break;
    }
    return status;
}

nigh_status nigh__fields_fail(const struct nigh__fields *fields, nigh_error *error, const char *why) {
    return nigh__fail_line(error, NIGH_EFORMAT, fields->input.name, fields->lines.number, "%s", why);
}

bool nigh__field_decimal(const struct nigh__field *field, double *out) {
    const bool minus = field->length > 0 && field->text[0] == '-';
    double value = 0;
    double unit = 1;
    size_t digits = 0;
    bool fraction = false;
    for (size_t i = minus; i < field->length; i++) {
        const char c = field->text[i];
        if (c == '.' && !fraction) {
            fraction = true;
        } else if (c >= '0' && c <= '9' && digits < 15) {
            value = value * 10 + (c - '0');
            if (fraction) unit *= 10;
            digits++;
        } else {
            return false;
        }
    }
    /* One division of two exact numbers: the double nearest to the decimal, as a literal in a program is. */
    *out = minus ? -(value / unit) : value / unit;
    return digits > 0;
}
