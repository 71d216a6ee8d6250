/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text spelled out as nigh__spell() does it, from an analyser's memory: a term is
 * spelled when it is met the first time, and copied from then on.
 *
 *     text      The cats and the CAT
 *     numbers   1 2 3 1 2               the analyser's
 *     letters   thecatand               where term 2 begins, and how long it is
 *     spelled   the cat and the cat
 */
#ifndef NIGH_TEXT_SPELLING_H
#define NIGH_TEXT_SPELLING_H

#include "base/memory.h"
#include "text/analysis.h"

struct nigh__spelling {
    const nigh_context *context;
    struct nigh__analyser *analyser;
    uint32_t generation;        /* of the analyser's numbers */
    struct nigh__array letters; /* of char: all terms, one after the other */
    struct nigh__array places;  /* where the letters of a term are, by its number */
    struct nigh__array spelled; /* of char */
};

/* Returns NIGH_OK or NIGH_ENOMEM; it may be released after both.  It must stay where it is. */
nigh_status nigh__spelling_init(const nigh_context *context, const struct nigh__analysis *analysis,
                                struct nigh__spelling *spelling, nigh_error *error);
void nigh__spelling_release(struct nigh__spelling *spelling); /* accepts zeros */

/* As nigh__spell(), which is its oracle. */
nigh_status nigh__spelling_find(struct nigh__spelling *spelling, const char *text, size_t length, const char **spelled,
                                size_t *spelled_length, nigh_error *error);

#endif
