/* SPDX-License-Identifier: Apache-2.0 */
/* HTML pages: the title and the text that a reader would see. */
#ifndef NIGH_DOCUMENT_HTML_H
#define NIGH_DOCUMENT_HTML_H

#include "base/memory.h"
#include "document/charset.h"

/* What a page says about itself in the first 1,024 bytes: <meta charset> or http-equiv; NULL: nothing known. */
const struct nigh__charset *nigh__html_meta_charset(const char *page, size_t length);

struct nigh__html_limits {
    uint32_t max_depth;
    uint64_t max_bytes; /* of the text */
};

/*
 * Appends the title, a newline and the text to an empty array.  White space runs
 * are one space, or one newline where a block begins or ends.  `title` is scratch.
 *
 * Lives:   `bytes` are UTF-8 without NUL bytes, and read during the call only.
 * Returns: NIGH_OK, also where there is no text; NIGH_ELIMIT; NIGH_ENOMEM.
 */
nigh_status nigh__html_text(const nigh_context *context, const char *bytes, size_t length,
                            const struct nigh__html_limits *limits, struct nigh__array *title, struct nigh__array *text,
                            nigh_error *error);

#endif
