/* SPDX-License-Identifier: Apache-2.0 */
/* What reading a page consists of: its elements and its references. */
#ifndef NIGH_DOCUMENT_HTML_PARTS_H
#define NIGH_DOCUMENT_HTML_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "document/html.h"

enum {
    NIGH__ELEMENT_LINE = 1,   /* begins and ends a line */
    NIGH__ELEMENT_GAP = 2,    /* separates words */
    NIGH__ELEMENT_DROP = 4,   /* nobody sees what is in it */
    NIGH__ELEMENT_OPEN = 8,   /* has no end tag, and stays open until the next start tag */
    NIGH__ELEMENT_EMPTY = 16, /* ends where it begins */
    NIGH__ELEMENT_RAW = 32,   /* its text ends at its end tag, and has no markup */
    NIGH__ELEMENT_TITLE = 64
};

/*
 * The number of an element by its name, in small letters, of which 8 can be read, zeros behind its end; from
 * NIGH__ELEMENT_OTHERS on: not a known one.
 */
unsigned nigh__html_element(const struct nigh__html_elements *known, const char *name, size_t length);

/* The character that a name stands for, as in &eacute;; 0: none. */
uint32_t nigh__html_reference(const char *name, size_t length);

#endif
