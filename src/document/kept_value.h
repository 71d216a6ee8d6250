/* SPDX-License-Identifier: Apache-2.0 */
/* What a record of JSON, or a row of a table, has under a key whose values are kept (base/value.h). */
#ifndef NIGH_DOCUMENT_KEPT_VALUE_H
#define NIGH_DOCUMENT_KEPT_VALUE_H

#include "nigh.h"

#include "document/json.h"

struct nigh__kept_place {
    const char *key; /* a dotted path */
    bool columns;    /* of a table, whose fields are all texts */
    bool has_large;  /* numbers that do not fit 64 bits are texts of their digits */
};

/*
 * Of the line that was parsed last; a text lives until the next.  A list, an object and null are nothing.  So is a text
 * of more than NIGH_MAX_VALUE_LENGTH bytes, and *too_long is its length.
 */
nigh_value nigh__kept_value(const struct nigh__json *json, const struct nigh__kept_place *place, size_t *too_long);

#endif
