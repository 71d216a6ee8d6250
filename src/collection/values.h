/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that documents of a segment have under the keys that the collection keeps (base/keep_keys.h), for who
 * searches among some of them only.  One section has a column for each key: every distinct value once, sorted, and a
 * code for each document.
 *
 *     key "year"     integers  1999 2023 2024     reals  2023.5     texts  "c. 1800"
 *     codes               1    2    3                    4                  5               0: nothing
 *     documents      2024, none, "c. 1800", 2024  ->  3 0 5 3, a byte each
 *
 * A comparison is decided for each distinct value and not for each document, and then read off the codes.  Codes are as
 * narrow as they can be.  All that the section holds follows from the values and their order, so that a merged segment
 * has the bytes of one that was made at once.
 */
#ifndef NIGH_COLLECTION_VALUES_H
#define NIGH_COLLECTION_VALUES_H

#include "base/value.h"
#include "collection/sections.h"
#include "collection/segment.h"

/* --------------------------------------------------------------- writing -- */

struct nigh__values_writer; /* opaque.  In memory stay 4 bytes for a document and key, and every distinct value */

/* For the keys of a scheme; *out is NULL where it keeps none. */
nigh_status nigh__values_writer_new(const nigh_context *context, const char *scheme, struct nigh__values_writer **out,
                                    nigh_error *error);
void nigh__values_writer_free(struct nigh__values_writer *writer); /* accepts NULL */

/* These accept NULL too.  The values are sound, and as many as keys or none. */
nigh_status nigh__values_writer_add(struct nigh__values_writer *writer, const nigh_document *document,
                                    nigh_error *error);
/* Writes the section, where there are documents. */
nigh_status nigh__values_writer_finish(struct nigh__values_writer *writer, struct nigh__section_writer *sections,
                                       nigh_error *error);

/* Whether the values of a document are sound, and as many as `keys` or none. */
nigh_status nigh__document_values_check(const nigh_document *document, uint32_t keys, nigh_error *error);

/* --------------------------------------------------------------- reading -- */

/* A column, as it lies in the map.  Whoever reads there does so inside a guard. */
struct nigh__value_column {
    uint32_t integers, reals, texts; /* distinct values */
    uint32_t width;                  /* of a code: 0, 1, 2 or 4 bytes */
    const int64_t *integer;
    const double *real;
    const uint64_t *text_offsets; /* texts + 1; NULL: no texts */
    const char *text_bytes;
    uint64_t text_length; /* of all of them */
    const uint8_t *codes; /* of each document */
};

static inline uint32_t nigh__column_values(const struct nigh__value_column *column) {
    return column->integers + column->reals + column->texts;
}

/*
 * Column `key` of a segment, with sizes that were checked; one of no values where the segment keeps none.  Enters a
 * guard itself.  NIGH_ECORRUPT, NIGH_EIO.
 */
nigh_status nigh__segment_column(const struct nigh__segment *segment, uint32_t key, struct nigh__value_column *out,
                                 nigh_error *error);

/* These are inside a guard.  The code of a document, which may be any number where the segment lies. */
static inline uint32_t nigh__column_code(const struct nigh__value_column *column, uint32_t document) {
    uint32_t code = 0;
    for (uint32_t i = 0; i < column->width; i++)
        code |= (uint32_t)column->codes[(uint64_t)document * column->width + i] << 8 * i;
    return code;
}
/* The value of a code from 1 on; its text leads into the map.  False where the segment lies. */
bool nigh__column_value(const struct nigh__value_column *column, uint32_t code, nigh_value *out);

/* Where a code and the value of a code lie, for errors: offsets in the section. */
uint64_t nigh__column_code_at(const struct nigh__segment *segment, const struct nigh__value_column *column,
                              uint32_t document);
uint64_t nigh__column_value_at(const struct nigh__segment *segment, const struct nigh__value_column *column,
                               uint32_t code);

/* The value of a document in a column; a text is copied to `room`, of chars.  Enters a guard itself. */
nigh_status nigh__segment_value(const struct nigh__segment *segment, const struct nigh__value_column *column,
                                uint32_t document, nigh_value *out, struct nigh__array *room, nigh_error *error);

/* Looks at every value and every code; for `nigh check`. */
nigh_status nigh__segment_check_values(const struct nigh__segment *segment, struct nigh__progress *progress,
                                       nigh_error *error);

#endif
