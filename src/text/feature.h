/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a text to its features, each with how often it occurs:
 *
 *     words      a term, by its hash (analysis.h)
 *     ngrams:3   three terms in a row: their hashes a, b, c mixed one into the
 *                other, from the seed s: mix(mix(mix(s ^ a) ^ b) ^ c)
 *     chars:5    five characters in a row of the terms with one space between
 *                two: the hash of their bytes
 *
 * A text with fewer terms (characters) than one feature takes, but any, has one
 * feature: all of them.  Of ngrams and chars the first NIGH__MAX_FEATURES of a
 * text count, so that a text made to unfold cannot take all memory.
 */
#ifndef NIGH_TEXT_FEATURE_H
#define NIGH_TEXT_FEATURE_H

#include "text/analysis.h"

#define NIGH__MAX_NGRAM 16u
#define NIGH__MAX_CHARS 64u
#define NIGH__MAX_FEATURES ((size_t)1 << 22)

struct nigh__feature_plan {
    struct nigh__analysis analysis;
    nigh_feature_kind kind;
    uint32_t length; /* of ngrams and chars */
    bool repeats;    /* features need not be counted: each occurrence may be given, with a count of 1 */
};

/* The features of a text, in the order in which they first occur. */
struct nigh__features {
    const uint64_t *hashes;
    const uint32_t *counts;
    const uint32_t *numbers; /* of words: the analyser's; NULL for other kinds */
    size_t count;
    uint64_t total;      /* sum of the counts */
    uint32_t generation; /* of the numbers */
};

struct nigh__featurer; /* opaque; one a thread */

nigh_status nigh__featurer_new(const nigh_context *context, const struct nigh__feature_plan *plan,
                               struct nigh__featurer **out, nigh_error *error);
void nigh__featurer_free(struct nigh__featurer *featurer); /* accepts NULL */

/* Of words: as nigh__analyser has it; other features have no names to tell. */
void nigh__featurer_listen(struct nigh__featurer *featurer, nigh__term_told *tell, void *user);

/* *out lives until the next call.  Returns NIGH_OK, also where there is none, or NIGH_ENOMEM. */
nigh_status nigh__featurer_find(struct nigh__featurer *featurer, const char *text, size_t length,
                                struct nigh__features *out, nigh_error *error);

#endif
