/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the character set a page names, by the rules browsers go by: only tags
 * that lie wholly in the first bytes count, comments do not.
 */
#include <string.h>

#include "document/html.h"
#include "document/utf8.h"

#define LOOKED_AT 1024

/* A piece of the page that is still to be read. */
struct piece {
    const char *at, *end;
};

struct attribute {
    const char *name, *value;
    size_t name_length, value_length;
};

static bool begins(const struct piece *piece, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(piece->end - piece->at) < length) return false;
    for (size_t i = 0; i < length; i++)
        if (nigh__small(piece->at[i]) != word[i]) return false;
    return true;
}

static bool is(const char *text, size_t length, const char *word) {
    struct piece piece = {text, text + length};
    return length == strlen(word) && begins(&piece, word);
}

static void skip_spaces(struct piece *piece) {
    while (piece->at < piece->end && nigh__is_space(*piece->at)) piece->at++;
}

static void value_read(struct piece *piece, struct attribute *out) {
    skip_spaces(piece);
    char quote = piece->at < piece->end ? *piece->at : '\0';
    bool quoted = quote == '"' || quote == '\'';
    if (quoted) piece->at++;
    out->value = piece->at;
    while (piece->at < piece->end && (quoted ? *piece->at != quote : !nigh__is_space(*piece->at) && *piece->at != '>'))
        piece->at++;
    out->value_length = (size_t)(piece->at - out->value);
    if (quoted && piece->at < piece->end) piece->at++;
}

/* The next attribute of a tag; false at its end. */
static bool attribute_read(struct piece *piece, struct attribute *out) {
    while (piece->at < piece->end && (nigh__is_space(*piece->at) || *piece->at == '/')) piece->at++;
    if (piece->at == piece->end || *piece->at == '>') return false;
    *out = (struct attribute){.name = piece->at, .value = ""};
    while (piece->at < piece->end && !nigh__is_space(*piece->at) && strchr("=>/", *piece->at) == NULL) piece->at++;
    out->name_length = (size_t)(piece->at - out->name);
    skip_spaces(piece);
    if (piece->at < piece->end && *piece->at == '=') {
        piece->at++;
        value_read(piece, out);
    } else if (out->name_length == 0) {
        piece->at++; /* a NUL byte, which strchr finds too */
    }
    return true;
}

/* The value of "charset=" in a Content-Type. */
static const struct nigh__charset *content_charset(const struct attribute *content) {
    struct piece piece = {content->value, content->value + content->value_length};
    for (; piece.at < piece.end; piece.at++) {
        if (!begins(&piece, "charset")) continue;
        struct piece rest = {piece.at + 7, piece.end};
        skip_spaces(&rest);
        if (rest.at == rest.end || *rest.at != '=') continue;
        rest.at++;
        struct attribute value = {0};
        value_read(&rest, &value);
        const char *semicolon = memchr(value.value, ';', value.value_length);
        if (semicolon != NULL) value.value_length = (size_t)(semicolon - value.value);
        return nigh__charset_find(value.value, value.value_length);
    }
    return NULL;
}

static const struct nigh__charset *meta_charset(struct piece *piece) {
    const struct nigh__charset *direct = NULL, *content = NULL;
    bool content_type = false;
    struct attribute attribute;
    while (attribute_read(piece, &attribute)) {
        if (is(attribute.name, attribute.name_length, "charset"))
            direct = nigh__charset_find(attribute.value, attribute.value_length);
        else if (is(attribute.name, attribute.name_length, "content"))
            content = content_charset(&attribute);
        else if (is(attribute.name, attribute.name_length, "http-equiv"))
            content_type = is(attribute.value, attribute.value_length, "content-type");
    }
    if (piece->at == piece->end) return NULL; /* cut off */
    const struct nigh__charset *found = direct != NULL ? direct : content_type ? content : NULL;
    if (found == NULL || !nigh__charset_is_wide(found)) return found;
    return nigh__charset_utf8; /* the label could be read, so it is wrong */
}

static void comment_skip(struct piece *piece) {
    for (piece->at += 2; piece->at < piece->end; piece->at++)
        if (begins(piece, "-->")) return;
}

const struct nigh__charset *nigh__html_meta_charset(const char *page, size_t length) {
    struct piece piece = {page, page + (length < LOOKED_AT ? length : LOOKED_AT)};
    while (piece.at < piece.end) {
        if (begins(&piece, "<!--")) {
            comment_skip(&piece);
        } else if (begins(&piece, "<meta") && piece.end - piece.at > 5 &&
                   (nigh__is_space(piece.at[5]) || piece.at[5] == '/')) {
            piece.at += 5;
            const struct nigh__charset *found = meta_charset(&piece);
            if (found != NULL) return found;
        } else {
            piece.at++;
        }
    }
    return NULL;
}
