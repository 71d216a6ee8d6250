/* SPDX-License-Identifier: Apache-2.0 */
/* What is between <DOC> and </DOC> of a TREC collection. */
#ifndef NIGH_DOCUMENT_TREC_TEXT_H
#define NIGH_DOCUMENT_TREC_TEXT_H

#include <stdbool.h>

#include "base/memory.h"

/*
 * Appends the text without its tags to one array and the DOCNO to another, both
 * empty; an empty DOCNO: there is none.  `bytes` is UTF-8.  False: out of memory.
 */
bool nigh__trec_text(const nigh_context *context, const char *bytes, size_t length, struct nigh__array *text,
                     struct nigh__array *docno);

#endif
