/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of JSON without values: it looks for the first byte that does not fit.  Nesting is a stack of
 * bits, objects being 1, and deeper than that the place of the bracket is the answer.
 */
#include "json_place.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MOST_DEPTH 4096u

struct walk {
    const char *text;
    size_t at, length;
    uint8_t objects[MOST_DEPTH / 8];
    size_t depth;
};

static int peek(const struct walk *walk) { return walk->at < walk->length ? (unsigned char)walk->text[walk->at] : -1; }

static bool take(struct walk *walk, char c) {
    if (peek(walk) != (unsigned char)c) return false;
    walk->at++;
    return true;
}

static void skip_space(struct walk *walk) {
    while (walk->at < walk->length && strchr(" \t\r\n", walk->text[walk->at]) != NULL && peek(walk) != 0) walk->at++;
}

static size_t digits(struct walk *walk) {
    const size_t before = walk->at;
    while (peek(walk) >= '0' && peek(walk) <= '9') walk->at++;
    return walk->at - before;
}

static bool number(struct walk *walk) {
    (void)take(walk, '-');
    if (!take(walk, '0') && digits(walk) == 0) return false;
    if (take(walk, '.') && digits(walk) == 0) return false;
    if (!take(walk, 'e') && !take(walk, 'E')) return true;
    if (!take(walk, '-')) (void)take(walk, '+');
    return digits(walk) > 0;
}

static bool escape(struct walk *walk) {
    const int c = peek(walk);
    if (c <= 0 || strchr("\"\\/bfnrtu", c) == NULL) return false;
    walk->at++;
    for (unsigned i = 0; c == 'u' && i < 4; i++) {
        const int digit = peek(walk);
        if (digit <= 0 || strchr("0123456789abcdefABCDEF", digit) == NULL) return false;
        walk->at++;
    }
    return true;
}

static bool string(struct walk *walk) {
    if (!take(walk, '"')) return false;
    for (;;) {
        const int c = peek(walk);
        if (c < 0x20) return false;
        walk->at++;
        if (c == '"') return true;
        if (c == '\\' && !escape(walk)) return false;
    }
}

static bool word(struct walk *walk, const char *letters) {
    for (; *letters != '\0'; letters++)
        if (!take(walk, *letters)) return false;
    return true;
}

static bool scalar(struct walk *walk) {
    switch (peek(walk)) {
    case '"':
        return string(walk);
    case 't':
        return word(walk, "true");
    case 'f':
        return word(walk, "false");
    case 'n':
        return word(walk, "null");
    default:
        return number(walk);
    }
}

static bool in_object(const struct walk *walk) {
    return walk->depth > 0 && (walk->objects[(walk->depth - 1) / 8] >> (walk->depth - 1) % 8 & 1) != 0;
}

static bool open_bracket(struct walk *walk, bool object) {
    if (walk->depth == MOST_DEPTH) return false;
    const uint8_t bit = (uint8_t)(1u << walk->depth % 8);
    walk->objects[walk->depth / 8] = (uint8_t)((walk->objects[walk->depth / 8] & ~bit) | (object ? bit : 0));
    walk->depth++;
    walk->at++;
    return true;
}

/* Before a value of an object: its key and the colon. */
static bool key(struct walk *walk) {
    skip_space(walk);
    if (!string(walk)) return false;
    skip_space(walk);
    return take(walk, ':');
}

/* Behind a value: what is closed, and a comma; *more: another value follows. */
static bool behind(struct walk *walk, bool *more) {
    for (;;) {
        skip_space(walk);
        *more = false;
        if (walk->depth == 0) return walk->at == walk->length;
        if (take(walk, ',')) {
            *more = true;
            return !in_object(walk) || key(walk);
        }
        if (!take(walk, in_object(walk) ? '}' : ']')) return false;
        walk->depth--;
    }
}

/* A value up to where the next one begins; *more: there is to be one. */
static bool value(struct walk *walk, bool *more) {
    skip_space(walk);
    const int c = peek(walk);
    if (c != '{' && c != '[') return scalar(walk) && behind(walk, more);
    if (!open_bracket(walk, c == '{')) return false;
    skip_space(walk);
    *more = peek(walk) != (c == '{' ? '}' : ']');
    if (!*more) return behind(walk, more);
    return c == '[' || key(walk);
}

size_t serve_json_place(const char *text, size_t length) {
    struct walk walk = {.text = text, .length = length};
    bool more = true;
    while (more && value(&walk, &more)) {
    }
    return walk.at;
}
