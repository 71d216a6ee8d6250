/* SPDX-License-Identifier: Apache-2.0 */
/* HTML pages: the title and the text that a reader would see. */
#ifndef NIGH_DOCUMENT_HTML_H
#define NIGH_DOCUMENT_HTML_H

#include "base/memory.h"
#include "document/charset.h"

/* What a page says about itself in the first 1,024 bytes: <meta charset> or http-equiv; NULL: nothing known. */
const struct nigh__charset *nigh__html_meta_charset(const char *page, size_t length);

#define NIGH__ELEMENT_BITS 8
#define NIGH__ELEMENT_SLOTS (1 << NIGH__ELEMENT_BITS)
#define NIGH__ELEMENT_OTHERS 128 /* less: known elements; from here to 255: by a hash of the name */

/* The elements that a page may have, by their numbers; made once for many pages. */
struct nigh__html_elements {
    uint64_t keys[NIGH__ELEMENT_OTHERS];
    uint64_t ended_by[NIGH__ELEMENT_OTHERS][2]; /* a bit for each element whose start tag ends this one */
    uint8_t flags[2 * NIGH__ELEMENT_OTHERS];
    uint8_t ranks[2 * NIGH__ELEMENT_OTHERS];
    uint8_t slots[NIGH__ELEMENT_SLOTS]; /* numbers, by a hash of the name; 0: empty */
    unsigned head, body, html, paragraph;
};

void nigh__html_elements_init(struct nigh__html_elements *known);

struct nigh__html_limits {
    uint32_t max_depth;
    uint64_t max_bytes; /* of the text */
};

/*
 * Fills an array with the title, a newline and the text.  White space runs
 * are one space, or one newline where a block begins or ends.  `title` is scratch.
 *
 * Lives:   `bytes` are UTF-8 without NUL bytes, and read during the call only.
 * Returns: NIGH_OK, also where there is no text; NIGH_ELIMIT; NIGH_ENOMEM.
 */
nigh_status nigh__html_text(const nigh_context *context, const struct nigh__html_elements *known, const char *bytes,
                            size_t length, const struct nigh__html_limits *limits, struct nigh__array *title,
                            struct nigh__array *text, nigh_error *error);

#endif
