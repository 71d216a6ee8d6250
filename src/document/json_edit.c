/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line is known to be JSON, so finding the members of its outermost object takes no
 * parser: strings are passed over whole, and brackets counted.
 *
 *     {"id":7, "text":"...", "nigh_keep":true}
 *      ^-----^ ^-----------^ ^-------------^     members
 */
#include "document/json_edit.h"

#include <stdio.h>
#include <string.h>

#include "document/json.h"
#include "document/utf8.h"

/* ----------------------------------------------------------------- strings */

static bool put_escape(const nigh_context *context, char c, struct nigh__array *out) {
    char escape[8];
    const char *from = "\"\\\b\f\n\r\t";
    const char *short_form = strchr(from, c);
    if (c != '\0' && short_form != NULL)
        (void)snprintf(escape, sizeof escape, "\\%c", "\"\\bfnrt"[short_form - from]);
    else
        (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)c);
    return nigh__bytes_append(context, out, escape, strlen(escape));
}

static bool needs_escape(char c) { return (unsigned char)c < 0x20 || c == '"' || c == '\\' || c == 0x7f; }

static bool put_characters(const nigh_context *context, const char *text, size_t length, struct nigh__array *out) {
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        if (!needs_escape(text[i])) continue;
        if (!nigh__bytes_append(context, out, text + plain, i - plain)) return false;
        if (!put_escape(context, text[i], out)) return false;
        plain = i + 1;
    }
    return nigh__bytes_append(context, out, text + plain, length - plain);
}

bool nigh__json_put_string(const nigh_context *context, const char *text, size_t length, struct nigh__array *out) {
    struct nigh__array repaired = NIGH__ARRAY(char);
    size_t first_bad;
    bool good = nigh__bytes_append(context, out, "\"", 1);
    if (good && length > 0 && !nigh__utf8_check(text, length)) {
        good = nigh__utf8_repair(context, text, length, &repaired, &first_bad);
        text = repaired.data;
        length = repaired.count;
    }
    good = good && put_characters(context, text, length, out) && nigh__bytes_append(context, out, "\"", 1);
    nigh__array_release(context, &repaired);
    return good;
}

/* ----------------------------------------------------------------- members */

#define NONE_OURS 0x80u

/* The place behind the string that begins at `at`. */
static size_t string_end(const char *line, size_t length, size_t at) {
    for (at++; at < length && line[at] != '"'; at++)
        if (line[at] == '\\') at++;
    return at < length ? at + 1 : length;
}

/* Where a member ends: at the comma or the '}' of the object it is in. */
static size_t member_end(const char *line, size_t length, size_t at) {
    size_t depth = 0;
    while (at < length) {
        char c = line[at];
        if (c == '"') {
            at = string_end(line, length, at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}')) break;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        at++;
    }
    return at;
}

static size_t space_end(const char *line, size_t length, size_t at) {
    while (at < length && nigh__is_space(line[at])) at++;
    return at;
}

static unsigned hex_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    return (unsigned)((c | 0x20) - 'a') + 10;
}

/* The character at *at of a string without its quotes, and on behind it; NONE_OURS: none of ASCII's own. */
static unsigned next_character(const char *text, size_t length, size_t *at) {
    static const char short_forms[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    unsigned code = (unsigned char)text[(*at)++];
    if (code != '\\' || *at == length) return code;
    const char escape = text[(*at)++];
    const char *found = strchr(short_forms, escape);
    if (escape != 'u') return found == NULL || escape == '\0' ? NONE_OURS : (unsigned char)meant[found - short_forms];
    code = 0;
    for (unsigned i = 0; i < 4; i++) code = code << 4 | (*at < length ? hex_digit(text[(*at)++]) & 15 : 0);
    return code < 0x80 ? code : NONE_OURS;
}

/* Whether a string, which may have escapes in it, is `key`, which is ASCII. */
static bool is_key(const char *text, size_t length, const char *key) {
    size_t at = 0;
    for (; *key != '\0' && at < length; key++)
        if (next_character(text, length, &at) != (unsigned char)*key) return false;
    return *key == '\0' && at == length;
}

/* Whether the member from `begin` has one of the keys. */
static bool is_unwanted(const char *line, size_t length, size_t begin, const char *const *keys, size_t count) {
    size_t key = space_end(line, length, begin);
    if (key >= length || line[key] != '"') return false;
    size_t key_length = string_end(line, length, key) - key;
    for (size_t i = 0; i < count; i++)
        if (key_length >= 2 && is_key(line + key + 1, key_length - 2, keys[i])) return true;
    return false;
}

bool nigh__json_open_object(const nigh_context *context, const char *line, size_t length, const char *const *keys,
                            size_t count, struct nigh__array *out, size_t *tail, bool *empty) {
    size_t at = 0;
    while (at < length && line[at] != '{') at++; /* white space, or the mark of UTF-8 */
    *empty = true;
    if (at == length || !nigh__bytes_append(context, out, line, at + 1)) return false;
    for (at++; at < length; at++) {
        size_t end = member_end(line, length, at);
        bool nothing = space_end(line, length, at) == end;
        if (!nothing && !is_unwanted(line, length, at, keys, count)) {
            if (!*empty && !nigh__bytes_append(context, out, ",", 1)) return false;
            if (!nigh__bytes_append(context, out, line + at, end - at)) return false;
            *empty = false;
        }
        at = end;
        if (at < length && line[at] == '}') break;
    }
    *tail = at;
    return at < length;
}
