/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of signing goes.  The stages of one thread, each with all that
 * come before it, run over the whole input; what one takes more than the one
 * before is its own.  So nothing stops to look at a clock between two words, and
 * the caches are in the state that they have in earnest.
 */
#ifndef NIGH_BENCH_STAGES_H
#define NIGH_BENCH_STAGES_H

#include "nigh.h"

enum stage {
    STAGE_READ,    /* files to records */
    STAGE_EXTRACT, /* a record to text: JSON, UTF-8 */
    STAGE_ANALYSE, /* text to terms: cut, normalise, stem, look up */
    STAGE_COUNT,   /* terms to features, counted; of n-grams, hashed */
    STAGE_WEIGH,   /* by the vocabulary */
    STAGE_PROJECT, /* accumulate, and take the signs */
    STAGES
};

const char *stage_name(enum stage stage);

/* Runs all stages up to `last` over the input; returns the seconds. */
double stages_run(nigh_context *context, const nigh_signer *signer, const char *path, nigh_text_format format,
                  enum stage last);

#endif
