/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floats as bits: bit i of a row is 1 if its value i is above the threshold of column i.
 *
 *     thresholds      .1    0   -.2        of sign all are 0, and none is kept
 *     row             .3   -1    .5
 *     bits             1    0     1
 *
 * A collection keeps them as 8 bytes each, little-endian, and its scheme names their checksum
 * ("thresholds=HASH"), so that whatever comes later is cut at the same places.
 */
#ifndef NIGH_SIGNATURE_THRESHOLDS_H
#define NIGH_SIGNATURE_THRESHOLDS_H

#include <stdbool.h>

#include "nigh.h"

struct nigh_thresholds {
    const nigh_context *context;
    nigh_binarise how;
    uint32_t count; /* 0 of sign: any width, and each is 0 */
    double *values; /* owned; NULL of sign.  No NaN */
    uint64_t name;  /* checksum of the values; 0 of sign */
};

/* `values` NULL: to be filled by the caller, who then calls nigh__thresholds_settle(). */
nigh_status nigh__thresholds_make(const nigh_context *context, nigh_binarise how, const double *values, uint32_t count,
                                  nigh_thresholds **out, nigh_error *error);
void nigh__thresholds_settle(nigh_thresholds *thresholds);

/* "sign", "mean", "median", "file": as a scheme says it.  NULL for what is none. */
const char *nigh__binarise_name(nigh_binarise how);
nigh_binarise nigh__binarise_by_name(const char *name, size_t length);

/* Lines of the scheme of a new collection. */
struct nigh__thresholds_lines {
    char text[96];
};
struct nigh__thresholds_lines nigh__thresholds_lines(const nigh_thresholds *thresholds);

#endif
