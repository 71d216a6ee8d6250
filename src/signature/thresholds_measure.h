/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds of rows that are read again and again; thresholds_measure.c says how. */
#ifndef NIGH_SIGNATURE_THRESHOLDS_MEASURE_H
#define NIGH_SIGNATURE_THRESHOLDS_MEASURE_H

#include "signature/thresholds.h"

/* Where rows to measure come from: opens input `index` anew each time, with these options.  Tests have their own. */
struct nigh__float_inputs {
    nigh_status (*open)(void *user, size_t index, const nigh_signature_reader_options *options,
                        nigh_signature_reader **out, nigh_error *error);
    void *user;
    size_t count;
};
nigh_status nigh__thresholds_measure(nigh_context *context, nigh_binarise how, const struct nigh__float_inputs *inputs,
                                     const nigh_progress *progress, nigh_thresholds **out, nigh_error *error);

#endif
