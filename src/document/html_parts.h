/* SPDX-License-Identifier: Apache-2.0 */
/* What reading a page consists of: its elements, its references, and what is written of it. */
#ifndef NIGH_DOCUMENT_HTML_PARTS_H
#define NIGH_DOCUMENT_HTML_PARTS_H

#include <stdbool.h>
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

/* Letters and signs that names of elements, attributes and references go on with. */
static inline bool nigh__html_is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           c == '.' || c == '-';
}

/*
 * What is at a '&', before `end`: its character, and returns what is behind.  *code is '&' where it is no reference, 0
 * where it stands for no character.
 */
const char *nigh__html_reference(const char *at, const char *end, uint32_t *code);

/* Where text goes; what separates it from the next is written with the next. */
struct nigh__html_sink {
    struct nigh__array *bytes;
    char *begin, *at; /* there is room for all that the page may still have */
    bool gap, line;
};

/* Makes room for what `left` bytes of a page can come to; false: out of memory. */
bool nigh__html_sink_begin(const nigh_context *context, struct nigh__html_sink *sink, size_t left);
void nigh__html_sink_end(struct nigh__html_sink *sink); /* or nothing, where it did not begin */
/* Adds text without markup, its references read. */
void nigh__html_sink_text(struct nigh__html_sink *sink, const char *at, const char *end);

/* Whether there is only white space, and what is no character. */
bool nigh__html_is_white(const char *at, const char *end);

#endif
