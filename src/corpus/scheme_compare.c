/* SPDX-License-Identifier: Apache-2.0 */
#include "corpus/scheme_compare.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

/* The line of a scheme that has a key of `length` bytes; "" where there is none. */
static const char *find_line(const char *scheme, const char *key, size_t length) {
    while (*scheme != '\0') {
        if (strncmp(scheme, key, length) == 0 && scheme[length] == '=') return scheme;
        scheme += strcspn(scheme, "\n");
        scheme += *scheme == '\n';
    }
    return scheme;
}

/* "key=value", or "no key". */
static void tell_line(const char *line, const char *key, size_t length, char *out, size_t capacity) {
    if (*line == '\0')
        (void)snprintf(out, capacity, "no %.*s", (int)length, key);
    else
        (void)snprintf(out, capacity, "%.*s", (int)strcspn(line, "\n"), line);
}

/* `key` ends with '=', with a newline, or with its string. */
static nigh_status compare_line(const char *path, const char *held, const char *given, const char *key,
                                nigh_error *error) {
    char held_text[80];
    char given_text[80];
    const size_t length = strcspn(key, "=\n");
    const char *held_line = find_line(held, key, length);
    const char *given_line = find_line(given, key, length);
    const size_t held_length = strcspn(held_line, "\n");
    if (held_length == strcspn(given_line, "\n") && strncmp(held_line, given_line, held_length) == 0) return NIGH_OK;
    tell_line(held_line, key, length, held_text, sizeof held_text);
    tell_line(given_line, key, length, given_text, sizeof given_text);
    return nigh__fail_at(error, NIGH_EMISMATCH, path, NIGH_NO_OFFSET,
                         "its signatures have %s; they cannot be mixed with %s", held_text, given_text);
}

/* Compares the keys that are in `keys`, but the width, which only one of the schemes has. */
static nigh_status compare_lines(const char *path, const char *held, const char *given, const char *keys,
                                 nigh_error *error) {
    nigh_status status = NIGH_OK;
    while (*keys != '\0' && status == NIGH_OK) {
        if (strncmp(keys, "bits=", 5) != 0) status = compare_line(path, held, given, keys, error);
        keys += strcspn(keys, "\n");
        keys += *keys == '\n';
    }
    return status;
}

nigh_status nigh__scheme_compare(const char *path, const char *held, const char *given, nigh_error *error) {
    /* Passages first: their lengths come and go with them. */
    nigh_status status = compare_line(path, held, given, "split", error);
    if (status == NIGH_OK) status = compare_lines(path, held, given, held, error);
    return status == NIGH_OK ? compare_lines(path, held, given, given, error) : status;
}
