/* SPDX-License-Identifier: Apache-2.0 */
#include "text_out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_body.h"
#include "nigh.h"

#define FIRST_CAPACITY 512u

void serve_text_release(struct serve_text *text) {
    free(text->bytes);
    *text = (struct serve_text){.bytes = NULL};
}

bool serve_text_reserve(struct serve_text *text, size_t more) {
    if (text->failed || more > SIZE_MAX / 4 - text->length) text->failed = true;
    if (text->limit > 0 && !text->failed && more > text->limit - text->length) text->failed = text->full = true;
    if (text->failed || more <= text->capacity - text->length) return !text->failed;
    size_t capacity = text->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : text->capacity;
    while (capacity - text->length < more) capacity *= 2;
    char *bytes = realloc(text->bytes, capacity);
    text->failed = bytes == NULL;
    if (bytes == NULL) return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void serve_text_add(struct serve_text *text, const void *bytes, size_t length) {
    if (length == 0 || !serve_text_reserve(text, length)) return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

void serve_text_put(struct serve_text *text, const char *terminated) {
    serve_text_add(text, terminated, strlen(terminated));
}

void serve_text_format(struct serve_text *text, const char *format, ...) {
    char piece[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length > 0) serve_text_add(text, piece, (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1);
}

/* Of valid UTF-8 only ASCII has characters that JSON must not hold as they are. */
static void put_valid(struct serve_text *text, const char *bytes, size_t length) {
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f) continue;
        serve_text_add(text, bytes + plain, i - plain);
        plain = i + 1;
        if (byte == '"' || byte == '\\')
            serve_text_format(text, "\\%c", byte);
        else if (byte == '\n')
            serve_text_put(text, "\\n");
        else
            serve_text_format(text, "\\u%04x", byte);
    }
    serve_text_add(text, bytes + plain, length - plain);
}

void serve_text_json(struct serve_text *text, const char *bytes, size_t length) {
    serve_text_put(text, "\"");
    if (length == 0 || serve_json_is_utf8(bytes, length)) {
        put_valid(text, bytes, length);
    } else {
        char *escaped = malloc(4 * length + 1);
        if (escaped == NULL)
            text->failed = true;
        else
            put_valid(text, escaped, nigh_escape(bytes, length, escaped, 4 * length + 1));
        free(escaped);
    }
    serve_text_put(text, "\"");
}

void serve_text_json_word(struct serve_text *text, const char *terminated) {
    serve_text_json(text, terminated, strlen(terminated));
}

void serve_text_json_real(struct serve_text *text, double value, int digits) {
    if (isfinite(value))
        serve_text_format(text, "%.*f", digits, value);
    else
        serve_text_put(text, "null");
}

void serve_text_hex(struct serve_text *text, const uint8_t *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    if (!serve_text_reserve(text, 2 * length)) return;
    for (size_t i = 0; i < length; i++) {
        text->bytes[text->length++] = digits[bytes[i] >> 4];
        text->bytes[text->length++] = digits[bytes[i] & 15];
    }
}
