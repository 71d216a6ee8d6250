/* SPDX-License-Identifier: Apache-2.0 */
/* New documents or signatures, all in memory, to be compared with the old ones and perhaps added to them. */
#ifndef NIGH_CORPUS_INCOMING_H
#define NIGH_CORPUS_INCOMING_H

#include "base/memory.h"

struct nigh__incoming {
    const nigh_context *context;
    uint32_t width_bits;
    bool keep_weights; /* set before the first is added */
    size_t count;
    struct nigh__array signatures; /* bytes, nigh__row_bytes(width_bits) each */
    struct nigh__array weights;    /* bytes, width_bits each; empty: not kept */
    struct nigh__array texts;      /* id, metadata and packed values, of one after the other */
    struct nigh__array ends;       /* struct nigh__text_ends */
};

/* Where the id, the metadata and the values of a new one end in the texts. */
struct nigh__text_ends {
    size_t id;
    size_t metadata;
    size_t values;
};

void nigh__incoming_init(const nigh_context *context, uint32_t width_bits, struct nigh__incoming *incoming);
void nigh__incoming_release(struct nigh__incoming *incoming);

/* Copies all of it.  NIGH_ENOMEM leaves what was there as it was. */
nigh_status nigh__incoming_add(struct nigh__incoming *incoming, const nigh_document *document, nigh_error *error);

/* As a writer takes it, but for its values; lives until the next one is added. */
nigh_document nigh__incoming_document(const struct nigh__incoming *incoming, size_t index);
/* These; `out` has room for NIGH_MAX_KEEP_KEYS.  How many there are. */
uint32_t nigh__incoming_values(const struct nigh__incoming *incoming, size_t index, nigh_value *out);

/* The rows from one on. */
const uint8_t *nigh__incoming_rows(const struct nigh__incoming *incoming, size_t begin);
const uint8_t *nigh__incoming_weights(const struct nigh__incoming *incoming, size_t begin); /* NULL: not kept */

#endif
