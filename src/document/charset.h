/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Character sets, by the names pages give them.  The names and what they stand
 * for follow the WHATWG Encoding Standard, which says what browsers do: "latin1"
 * is windows-1252, "gb2312" is GB 18030.  UTF-8 and windows-1252 are done here,
 * all others by the C library's iconv; one that it does not have is unknown.
 */
#ifndef NIGH_DOCUMENT_CHARSET_H
#define NIGH_DOCUMENT_CHARSET_H

#include <stdbool.h>

#include "base/memory.h"

struct nigh__charset; /* opaque, constant */

extern const struct nigh__charset *const nigh__charset_utf8;
extern const struct nigh__charset *const nigh__charset_windows_1252;

/* By a label in any case, with white space around it; NULL: unknown. */
const struct nigh__charset *nigh__charset_find(const char *label, size_t length);

/* By the byte order mark that bytes begin with; *mark is its length.  NULL and 0: there is none. */
const struct nigh__charset *nigh__charset_of_mark(const char *bytes, size_t length, size_t *mark);

/* Whether a label in ASCII can stand in such bytes: not in UTF-16 and UTF-32. */
bool nigh__charset_is_wide(const struct nigh__charset *charset);

/*
 * Appends the bytes as UTF-8 to an array, U+FFFD for what is malformed;
 * *first_bad is the place of the first such, or NIGH__NONE.
 *
 * Returns: NIGH_OK; NIGH_ENOMEM; NIGH_ENOTFOUND where iconv does not know the set.
 */
nigh_status nigh__charset_convert(const nigh_context *context, const struct nigh__charset *charset, const char *bytes,
                                  size_t length, struct nigh__array *out, size_t *first_bad);

/* The character that windows-1252 has at a byte from 0x80 to 0x9f, where Unicode has control characters. */
uint32_t nigh__windows_1252_character(uint8_t byte);

#endif
