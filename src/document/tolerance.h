/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which problems are tolerated: counts them, reports them and decides. Used on the
 * caller's thread only.
 *
 *     malformed   max_errors of them are borne, none where `strict`
 *     binary      always: a folder has such files
 *     damaged     only with allow_loss: nobody knows what was lost
 */
#ifndef NIGH_DOCUMENT_TOLERANCE_H
#define NIGH_DOCUMENT_TOLERANCE_H

#include <stdbool.h>

#include "nigh.h"

struct nigh__tolerance {
    const nigh_text_reader_options *options; /* problem, user, max_errors, strict, allow_loss */
    uint64_t malformed, binary, damaged;
    bool has_keyed;    /* a record had a text under its key */
    nigh_error no_key; /* of the first that had not; its status NIGH_OK: none */
};

/*
 * Takes note of one problem.  NIGH_OK: go on; else *error says why not: the
 * problem itself where it is not borne, or that there are too many (NIGH_ELIMIT).
 */
nigh_status nigh__tolerate(struct nigh__tolerance *tolerance, const nigh_error *problem, nigh_error *error);

/* A record had no text; `why` says more where its reason is NIGH_REASON_NO_KEY. */
void nigh__tolerance_miss(struct nigh__tolerance *tolerance, const nigh_error *why);
/* All has been read: where no record had the key, that is told. */
void nigh__tolerance_end(struct nigh__tolerance *tolerance);

/* Fills in problems, binary and damaged. */
void nigh__tolerance_describe(const struct nigh__tolerance *tolerance, nigh_text_reader_info *info);

/* Whether nothing was wrong at all. */
static inline bool nigh__is_remark(const nigh_error *problem) {
    return problem->reason == NIGH_REASON_NO_KEY || problem->reason == NIGH_REASON_ONE_DOCUMENT;
}

/* Whether a problem is one of those that max_errors is about. */
static inline bool nigh__is_malformed(const nigh_error *problem) {
    return problem->reason != NIGH_REASON_NOT_TEXT && problem->reason != NIGH_REASON_LOST_INPUT &&
           !nigh__is_remark(problem);
}

#endif
