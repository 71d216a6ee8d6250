/* SPDX-License-Identifier: Apache-2.0 */
/* The ways from text to terms side by side: a plain one written here, the speller, the analyser and its spelling. */
#ifndef NIGH_TESTS_ANALYSIS_SUPPORT_H
#define NIGH_TESTS_ANALYSIS_SUPPORT_H

#include <stdbool.h>

#include "text/analysis.h"
#include "text/spelling.h"

struct analysis_pair {
    nigh_context *context;
    struct nigh__analysis analysis;
    struct nigh__speller *speller;
    struct nigh__analyser *analyser;
    struct nigh__spelling spelling;
};

/* `language` is a code or "none". */
void analysis_pair_init(struct analysis_pair *pair, nigh_context *context, const char *language, bool stemming,
                        bool stop_words);
/* With stemming, without stop words, numbers where so said, and words of fewer characters. */
void analysis_pair_init_without(struct analysis_pair *pair, nigh_context *context, const char *language,
                                bool no_numbers, uint32_t min_word_length);
void analysis_pair_release(struct analysis_pair *pair);

/* The terms by the speller, one space between two; to be freed. */
char *analysis_spelled(struct analysis_pair *pair, const char *text, size_t length);

/*
 * The terms by utf8proc_NFKC_Casefold() on the whole text and a loop over what
 * comes out, to be freed.  Quadratic in the length of runs of accents.
 */
char *analysis_by_hand(const struct analysis_pair *pair, const char *text, size_t length);

/* Whether the analyser gives exactly the terms that are spelled so, and its spelling says the same. */
bool analysis_agrees(struct analysis_pair *pair, const char *text, size_t length, const char *spelled);

#endif
