/* SPDX-License-Identifier: Apache-2.0 */
/* JSON numbers of any size, for a parser that has 64 bits for them. */
#ifndef NIGH_DOCUMENT_JSON_QUOTE_H
#define NIGH_DOCUMENT_JSON_QUOTE_H

#include <stdbool.h>

#include "base/memory.h"

/*
 * Appends a copy of a line in which every well-formed number that may not fit, or
 * every one there is (`all`), is in quotes, and NIGH__BATCH_PADDING spaces after it.
 * Malformed ones are left for the parser to refuse.  False: out of memory.
 */
bool nigh__json_quote_numbers(const nigh_context *context, const char *line, size_t length, bool all,
                              struct nigh__array *out);

/* Whether it is such a number, and nothing else. */
bool nigh__json_is_large(const char *text, size_t length);

#endif
