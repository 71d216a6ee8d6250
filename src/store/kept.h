/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collection keeps of how its documents were signed: a vocabulary, a model.  To the
 * store these are bytes; it does not look inside.  Each is there once, in a section of
 * the first segment with documents or of one before it, for it signs them all; and the
 * scheme may name it, "vocabulary=HASH".
 */
#ifndef NIGH_STORE_KEPT_H
#define NIGH_STORE_KEPT_H

#include <stddef.h>

#include "store/format.h"

enum nigh__kept { NIGH__KEPT_VOCABULARY, NIGH__KEPT_MODEL, NIGH__KEPT_KINDS };

struct nigh__kept_bytes {
    const void *bytes; /* NULL: none */
    size_t length;
};

static inline enum nigh__section_type nigh__kept_section(enum nigh__kept kind) {
    return kind == NIGH__KEPT_MODEL ? NIGH__SECTION_MODEL : NIGH__SECTION_VOCABULARY;
}

static inline const char *nigh__kept_name(enum nigh__kept kind) {
    return kind == NIGH__KEPT_MODEL ? "model" : "vocabulary";
}

/* Of the line of a scheme that names it. */
static inline const char *nigh__kept_key(enum nigh__kept kind) {
    return kind == NIGH__KEPT_MODEL ? "model=" : "vocabulary=";
}

#endif
