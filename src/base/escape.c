/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An id may have any bytes, and travels through lines, columns and terminals. Bytes that would end
 * a line or a column, move the cursor or change the direction of text are written as escapes,
 * which can be read back:
 *
 *     \t \n \r \\      tab, line feed, carriage return, backslash
 *     \xNN             each byte of any other control character (C0, DEL, C1, the marks and
 *                      overrides of direction), of U+2028 and U+2029, and of what is no UTF-8
 *
 * Everything else stands for itself, so most ids look as they are.
 */
#include "base/escape.h"

#include <string.h>

#include "base/bytes.h"

/* The second byte has a range of its own after some leads: no overlong forms, no surrogates, nothing past U+10FFFF. */
size_t nigh__utf8_length(const uint8_t *bytes, size_t left, size_t *part) {
    size_t ignored;
    if (part == NULL) part = &ignored;
    uint8_t lead = bytes[0];
    *part = 1;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < length; i++) {
        if (i >= left || bytes[i] < low || bytes[i] > high) return 0;
        *part = i + 1;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

/* U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069; and U+0080 to U+009F, as UTF-8. */
static bool is_wide_control(const uint8_t *bytes, size_t length) {
    if (length == 2) return (bytes[0] == 0xc2 && bytes[1] < 0xa0) || (bytes[0] == 0xd8 && bytes[1] == 0x9c);
    if (length != 3 || bytes[0] != 0xe2) return false;
    if (bytes[1] == 0x80) return bytes[2] == 0x8e || bytes[2] == 0x8f || (bytes[2] >= 0xa8 && bytes[2] <= 0xae);
    return bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9;
}

static bool is_control(const uint8_t *bytes, size_t length) {
    if (length == 1) return bytes[0] < 0x20 || bytes[0] == 0x7f;
    return is_wide_control(bytes, length);
}

#define NONE_SHORT '\0'
static char short_form(uint8_t byte) {
    return byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\\' ? '\\' : NONE_SHORT;
}

/* One byte as an escape; its length, at most 4. */
static size_t byte_escape(uint8_t byte, char out[4]) {
    static const char digits[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = short_form(byte);
    if (out[1] != NONE_SHORT) return 2;
    out[1] = 'x';
    out[2] = digits[byte >> 4];
    out[3] = digits[byte & 15];
    return 4;
}

/* The character at `bytes` as it is shown, at most 16 of them; *taken are the bytes it has. */
static size_t character_escape(const uint8_t *bytes, size_t left, char out[16], size_t *taken) {
    const size_t length = nigh__utf8_length(bytes, left, NULL);
    *taken = length == 0 ? 1 : length;
    if (length > 0 && bytes[0] != '\\' && !is_control(bytes, length)) {
        memcpy(out, bytes, length);
        return length;
    }
    size_t used = 0;
    for (size_t i = 0; i < *taken; i++) used += byte_escape(bytes[i], out + used);
    return used;
}

size_t nigh_escape(const char *bytes, size_t length, char *out, size_t capacity) {
    size_t needed = 0;
    size_t kept = 0; /* of whole characters, with room for the zero byte */
    bool full = capacity == 0;
    for (size_t at = 0, taken; at < length; at += taken) {
        char shown[16];
        const size_t used = character_escape((const uint8_t *)bytes + at, length - at, shown, &taken);
        full = full || used >= capacity - kept;
        if (!full) {
            memcpy(out + kept, shown, used);
            kept += used;
        }
        needed += used;
    }
    if (capacity > 0) out[kept] = '\0';
    return needed;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What stands at `text`, of which `left` > 0 are there, and in *taken how long it is. */
static char byte_unescape(const char *text, size_t left, size_t *taken) {
    static const char letters[] = "tnr\\";
    static const char meant[] = "\t\n\r\\";
    *taken = 1;
    if (text[0] != '\\' || left < 2) return text[0];
    const char *letter = text[1] == '\0' ? NULL : strchr(letters, text[1]);
    if (letter != NULL) {
        *taken = 2;
        return meant[letter - letters];
    }
    if (text[1] != 'x' || left < 4 || digit_value(text[2]) < 0 || digit_value(text[3]) < 0) return text[0];
    *taken = 4;
    return (char)(digit_value(text[2]) * 16 + digit_value(text[3]));
}

size_t nigh_unescape(const char *text, size_t length, char *out) {
    size_t used = 0;
    for (size_t at = 0, taken; at < length; at += taken) out[used++] = byte_unescape(text + at, length - at, &taken);
    return used;
}

struct nigh__shown nigh__shown(const char *bytes, size_t length) {
    struct nigh__shown shown;
    (void)nigh_escape(bytes, length, shown.text, sizeof shown.text);
    return shown;
}
