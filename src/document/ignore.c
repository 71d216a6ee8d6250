/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching goes back to the last '*' only, for what an earlier one matched can stay as it is: so no pattern takes
 * exponential time, as it does with fnmatch().  The same holds for '**' and folders.
 */
#include "document/ignore.h"

#include <string.h>

#define MAX_PATTERN 1024 /* bytes; longer ones are no names */

struct rule {
    size_t begin, length; /* of the pattern, without what the flags below say */
    bool negated, folder, anchored;
};

void nigh__ignore_init(struct nigh__ignore *out) {
    *out = (struct nigh__ignore){.rules = NIGH__ARRAY(struct rule), .text = NIGH__ARRAY(char)};
}

void nigh__ignore_release(const nigh_context *context, struct nigh__ignore *ignore) {
    nigh__array_release(context, &ignore->rules);
    nigh__array_release(context, &ignore->text);
}

/* --------------------------------------------------------------- patterns */

static bool rule_add(const nigh_context *context, struct nigh__ignore *ignore, const char *pattern, size_t length,
                     bool negated) {
    struct rule rule = {.begin = ignore->text.count, .negated = negated};
    if (length > 0 && pattern[length - 1] == '/') rule.folder = true, length--;
    rule.anchored = length > 0 && memchr(pattern, '/', length) != NULL;
    if (length > 0 && pattern[0] == '/') pattern++, length--;
    if (length == 0 || length > MAX_PATTERN) return true;
    rule.length = length;
    char *text = nigh__array_add(context, &ignore->text, length);
    struct rule *place = text == NULL ? NULL : nigh__array_add(context, &ignore->rules, 1);
    if (place == NULL) return false;
    memcpy(text, pattern, length);
    *place = rule;
    return true;
}

bool nigh__ignore_add(const nigh_context *context, struct nigh__ignore *ignore, const char *pattern, size_t length) {
    return rule_add(context, ignore, pattern, length, false);
}

/* Spaces at the end do not count, unless a backslash is before them. */
static size_t line_trim(const char *line, size_t length) {
    if (length > 0 && line[length - 1] == '\r') length--;
    while (length > 0 && line[length - 1] == ' ' && (length < 2 || line[length - 2] != '\\')) length--;
    return length;
}

bool nigh__ignore_parse(const nigh_context *context, struct nigh__ignore *ignore, const char *text, size_t length) {
    while (length > 0) {
        const char *newline = memchr(text, '\n', length);
        const size_t line = newline == NULL ? length : (size_t)(newline - text);
        const size_t used = line_trim(text, line);
        const bool negated = used > 0 && text[0] == '!';
        if (used > 0 && text[0] != '#' && !rule_add(context, ignore, text + negated, used - negated, negated))
            return false;
        text += line + (newline != NULL);
        length -= line + (newline != NULL);
    }
    return true;
}

/* --------------------------------------------------------------- matching */

struct piece {
    const char *at, *end;
};

/* A set such as [a-z] or [!a]: whether c is in it; *set goes behind it.  Without its end it is a bracket. */
static bool set_match(struct piece *set, unsigned char c) {
    const char *at = set->at + 1;
    const bool negated = at < set->end && (*at == '!' || *at == '^');
    bool found = false;
    at += negated;
    for (const char *first = at; at < set->end && (*at != ']' || at == first); at++) {
        const unsigned char low = (unsigned char)*at;
        unsigned char high = low;
        if (set->end - at > 2 && at[1] == '-' && at[2] != ']') high = (unsigned char)at[2], at += 2;
        found = found || (low <= c && c <= high);
    }
    if (at == set->end) {
        set->at++;
        return c == '[';
    }
    set->at = at + 1;
    return found != negated;
}

/* Whether what the pattern begins with, which is no '*', matches c; if so it goes behind it. */
static bool one_match(struct piece *pattern, char c) {
    if (pattern->at == pattern->end) return false;
    if (*pattern->at == '[') return set_match(pattern, (unsigned char)c);
    if (*pattern->at == '?') {
        pattern->at++;
        return true;
    }
    if (*pattern->at == '\\' && pattern->end - pattern->at > 1) pattern->at++;
    return *pattern->at++ == c;
}

/* One name against the part of a pattern between two '/'. */
static bool name_match(struct piece pattern, struct piece name) {
    struct piece star = {NULL, pattern.end}; /* the pattern behind the last '*', */
    const char *resume = NULL;               /* and where in the name it is tried next */
    while (name.at < name.end) {
        if (pattern.at < pattern.end && *pattern.at == '*') {
            pattern.at++;
            star.at = pattern.at;
            resume = name.at;
        } else if (one_match(&pattern, *name.at)) {
            name.at++;
        } else if (star.at != NULL) {
            pattern.at = star.at;
            name.at = ++resume;
        } else {
            return false;
        }
    }
    while (pattern.at < pattern.end && *pattern.at == '*') pattern.at++;
    return pattern.at == pattern.end;
}

/* Up to the next '/', or the end. */
static struct piece piece_first(struct piece all) {
    const char *slash = all.at < all.end ? memchr(all.at, '/', (size_t)(all.end - all.at)) : NULL;
    return (struct piece){all.at, slash == NULL ? all.end : slash};
}

static void piece_next(struct piece *all) {
    const char *end = piece_first(*all).end;
    all->at = end < all->end ? end + 1 : all->end;
}

static bool is_folders(struct piece piece) { return piece.end - piece.at == 2 && memcmp(piece.at, "**", 2) == 0; }

static bool path_match(struct piece pattern, struct piece path) {
    struct piece star = {NULL, pattern.end}; /* behind the last "**", */
    struct piece resume = path;              /* and where it is tried next */
    while (path.at < path.end) {
        const struct piece part = piece_first(pattern);
        if (is_folders(part)) {
            if (part.end == pattern.end) return true; /* everything below */
            piece_next(&pattern);
            star.at = pattern.at;
            resume = path;
        } else if (part.at < part.end && name_match(part, piece_first(path))) {
            piece_next(&pattern);
            piece_next(&path);
        } else if (star.at != NULL) {
            piece_next(&resume);
            pattern.at = star.at;
            path = resume;
        } else {
            return false;
        }
    }
    return pattern.at == pattern.end;
}

static bool rule_match(const struct nigh__ignore *ignore, const struct rule *rule, struct piece path, bool folder) {
    const char *text = (const char *)ignore->text.data + rule->begin;
    const struct piece pattern = {text, text + rule->length};
    if (rule->folder && !folder) return false;
    if (rule->anchored) return path_match(pattern, path);
    const char *at = path.end;
    while (at > path.at && at[-1] != '/') at--;
    return name_match(pattern, (struct piece){at, path.end});
}

enum nigh__ignore_verdict nigh__ignore_match(const struct nigh__ignore *ignore, const char *path, bool folder) {
    const struct rule *rules = ignore->rules.data;
    const struct piece whole = {path, path + strlen(path)};
    for (size_t i = ignore->rules.count; i > 0; i--)
        if (rule_match(ignore, &rules[i - 1], whole, folder))
            return rules[i - 1].negated ? NIGH__IGNORE_STAYS : NIGH__IGNORE_OUT;
    return NIGH__IGNORE_SILENT;
}
