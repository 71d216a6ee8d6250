/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as one line of printable text, and back: nigh_escape() and nigh_unescape(), and their parts. */
#ifndef NIGH_BASE_ESCAPE_H
#define NIGH_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "nigh.h"

/* Of one byte at most so many, so of an id nowhere more than this. */
#define NIGH__MAX_ESCAPED_ID ((size_t)4 * NIGH_MAX_ID_LENGTH)

/*
 * The length of the UTF-8 character at `bytes`, of which `left` > 0 are there, or 0; then *part
 * (may be NULL) is how many bytes are the start of one, at least 1.
 */
size_t nigh__utf8_length(const uint8_t *bytes, size_t left, size_t *part);

/* The beginning of an id, as messages show it: escaped and cut to what fits. */
struct nigh__shown {
    char text[104];
};
struct nigh__shown nigh__shown(const char *bytes, size_t length);

#endif
