/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: whether it is, and what to make of it where it is not. */
#ifndef NIGH_DOCUMENT_UTF8_H
#define NIGH_DOCUMENT_UTF8_H

#include <stdbool.h>

#include "base/memory.h"

#define NIGH__NONE SIZE_MAX

/* Writes one character; surrogates and what is past U+10FFFF become U+FFFD.  Returns its length, 1 to 4. */
size_t nigh__utf8_encode(uint32_t character, char out[4]);

/* The same at the end of an array of bytes; false: out of memory. */
bool nigh__utf8_append(const nigh_context *context, struct nigh__array *bytes, uint32_t character);

/*
 * Appends bytes to an array, one U+FFFD for each maximal part that begins like a
 * character and is none (as the WHATWG decoder does, and Unicode 3.9 asks).
 * *first_bad is the place of the first of these, or NIGH__NONE.
 * False: out of memory.
 */
bool nigh__utf8_repair(const nigh_context *context, const char *bytes, size_t length, struct nigh__array *out,
                       size_t *first_bad);

/* The largest length up to `limit` that ends between two characters; `limit` is less than the text's length. */
size_t nigh__utf8_cut(const char *text, size_t limit);

/* Space, tab, newline, carriage return, form feed or vertical tab. */
static inline bool nigh__is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Whether there is nothing but these. */
bool nigh__is_blank(const char *text, size_t length);

/* ASCII letters made small; others as they are. */
static inline char nigh__small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

#endif
