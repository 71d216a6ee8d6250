/* SPDX-License-Identifier: Apache-2.0 */
/* Puts numbers into quotes.  Seldom needed, so simple: a second look at a line. */
#include "document/json_quote.h"

#include <string.h>

#include "document/record.h"
#include "document/utf8.h"

#define SAFE_DIGITS 18 /* so many always fit */

struct cursor {
    const char *at, *end;
};

static bool here(const struct cursor *cursor, char low, char high) {
    return cursor->at < cursor->end && *cursor->at >= low && *cursor->at <= high;
}

static bool skip_one(struct cursor *cursor, char c) {
    if (!here(cursor, c, c)) return false;
    cursor->at++;
    return true;
}

static size_t skip_digits(struct cursor *cursor) {
    const char *begin = cursor->at;
    while (here(cursor, '0', '9')) cursor->at++;
    return (size_t)(cursor->at - begin);
}

/* The length of a number that is JSON, and unless `all` may be too large for 64 bits; 0: it is none. */
static size_t number_length(const char *at, const char *end, bool all) {
    struct cursor cursor = {at, end};
    (void)skip_one(&cursor, '-');
    bool zero = here(&cursor, '0', '0');
    size_t digits = skip_digits(&cursor);
    if (digits == 0 || (zero && digits > 1)) return 0;
    if (skip_one(&cursor, '.')) {
        size_t more = skip_digits(&cursor);
        if (more == 0) return 0;
        digits += more;
    }
    bool exponent = skip_one(&cursor, 'e') || skip_one(&cursor, 'E');
    if (exponent) {
        if (!skip_one(&cursor, '-')) (void)skip_one(&cursor, '+');
        if (skip_digits(&cursor) == 0) return 0;
    }
    return all || exponent || digits > SAFE_DIGITS ? (size_t)(cursor.at - at) : 0;
}

bool nigh__json_is_large(const char *text, size_t length) {
    return length > 0 && number_length(text, text + length, false) == length;
}

/* The end of the string that begins at `at`. */
static const char *string_end(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && end - at > 1) at++;
    return at < end ? at + 1 : end;
}

/* Letters and digits stay together, so that "x12345678901234567890" does not become two tokens. */
static const char *token_end(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n\",:[]{}", *at) == NULL) at++;
    return at;
}

/* A number is no key, in quotes or without. */
static bool is_key(const char *at, const char *end) {
    while (at < end && nigh__is_space(*at)) at++;
    return at < end && *at == ':';
}

bool nigh__json_quote_numbers(const nigh_context *context, const char *line, size_t length, bool all,
                              struct nigh__array *out) {
    const char *end = line + length;
    for (const char *at = line; at < end;) {
        size_t number = number_length(at, end, all);
        const char *next = *at == '"' ? string_end(at, end) : token_end(at, end);
        if (next == at) next++;
        bool quote = number > 0 && at + number == next && !is_key(next, end);
        if (quote && !nigh__bytes_append(context, out, "\"", 1)) return false;
        if (!nigh__bytes_append(context, out, at, (size_t)(next - at))) return false;
        if (quote && !nigh__bytes_append(context, out, "\"", 1)) return false;
        at = next;
    }
    char *padding = nigh__array_add(context, out, NIGH__BATCH_PADDING);
    if (padding != NULL) memset(padding, ' ', NIGH__BATCH_PADDING);
    return padding != NULL;
}
