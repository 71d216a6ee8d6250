/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of floats as they lie in a file, little-endian, and the bits that become of them. */
#ifndef NIGH_SIGNATURE_FLOATS_H
#define NIGH_SIGNATURE_FLOATS_H

#include "signature/thresholds.h"

struct nigh__floats {
    unsigned item_bytes; /* 2, 4 or 8; 0: rows are bits already */
    uint32_t columns;
    const nigh_thresholds *thresholds; /* the caller's; NULL: floats are refused */
    double *row;                       /* as numbers, owned */
    uint8_t *bits;                     /* and as bits, owned */
};

/* Room for a row of `columns`; released also after a failure. */
nigh_status nigh__floats_init(struct nigh__floats *floats, const nigh_context *context, unsigned item_bytes,
                              uint32_t columns, nigh_error *error);
void nigh__floats_release(struct nigh__floats *floats, const nigh_context *context);

/* Fills `row` and `bits`.  Returns the first column that is NaN, or `columns`. */
uint32_t nigh__floats_take(struct nigh__floats *floats, const uint8_t *bytes);

#endif
