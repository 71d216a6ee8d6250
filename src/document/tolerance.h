/* SPDX-License-Identifier: Apache-2.0 */
/* How many malformed parts are borne: counts, reports and decides.  On the caller's thread alone. */
#ifndef NIGH_DOCUMENT_TOLERANCE_H
#define NIGH_DOCUMENT_TOLERANCE_H

#include "nigh.h"

struct nigh__tolerance {
    const nigh_text_reader_options *options; /* problem, user, max_errors, strict */
    uint64_t problems;
};

/*
 * Takes note of one problem.  NIGH_OK: go on; else *error says why not: the
 * problem itself where `strict`, or that there are too many (NIGH_ELIMIT).
 */
nigh_status nigh__tolerate(struct nigh__tolerance *tolerance, const nigh_error *problem, nigh_error *error);

#endif
