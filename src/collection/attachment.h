/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collection keeps of how its documents were signed: a vocabulary, a model, thresholds of floats.  To the
 * collection these are bytes (nigh_attachment); it does not look inside.  Each is there once, in a section of
 * the first segment with documents or of one before it, for it signs them all; and the
 * scheme may name it, "vocabulary=HASH".
 */
#ifndef NIGH_COLLECTION_ATTACHMENT_H
#define NIGH_COLLECTION_ATTACHMENT_H

#include "collection/format.h"

enum nigh__attachment {
    NIGH__ATTACHMENT_VOCABULARY,
    NIGH__ATTACHMENT_MODEL,
    NIGH__ATTACHMENT_THRESHOLDS,
    NIGH__ATTACHMENT_KINDS
};

static inline enum nigh__section_type nigh__attachment_section(enum nigh__attachment kind) {
    static const enum nigh__section_type sections[] = {NIGH__SECTION_VOCABULARY, NIGH__SECTION_MODEL,
                                                       NIGH__SECTION_THRESHOLDS};
    return sections[kind];
}

/* After "a"; "set of thresholds" is many numbers, but one thing. */
static inline const char *nigh__attachment_name(enum nigh__attachment kind) {
    static const char *const names[] = {"vocabulary", "model", "set of thresholds"};
    return names[kind];
}

/* Of the line of a scheme that names it. */
static inline const char *nigh__attachment_key(enum nigh__attachment kind) {
    static const char *const keys[] = {"vocabulary=", "model=", "thresholds="};
    return keys[kind];
}

#endif
