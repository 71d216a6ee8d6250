/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON, and changing a line of it without touching the rest. */
#ifndef NIGH_DOCUMENT_JSON_EDIT_H
#define NIGH_DOCUMENT_JSON_EDIT_H

#include "base/memory.h"

/* Appends a string in quotes; bytes that are no UTF-8 become U+FFFD.  False: out of memory. */
bool nigh__json_put_string(const nigh_context *context, const char *text, size_t length, struct nigh__array *out);

/*
 * Appends a line that holds one object, without those of its own members whose key is
 * one of `keys` (spelled plainly), and without its '}' and what follows that: *tail is
 * where this begins in the line.  All other bytes stay.  *empty: no member is left.
 * The line is JSON, which the caller knows.  False: out of memory, or it is no object.
 */
bool nigh__json_open_object(const nigh_context *context, const char *line, size_t length, const char *const *keys,
                            size_t count, struct nigh__array *out, size_t *tail, bool *empty);

#endif
