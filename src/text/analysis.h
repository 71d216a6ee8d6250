/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to terms.  A text is normalised (UTF-8 repaired, NFKC, case folded),
 * cut into words, stop words are left out, the rest are stemmed:
 *
 *     "The Naïve cafés, 2×"  ->  naïv  café  2
 *
 * What a word is.  A run of letters (L*) and digits (N*), and the marks (M*) that
 * follow one; everything else separates.  Han, Kana and Thai write without spaces,
 * and Hangul joins words: of a run of these, however mixed, every two neighbouring
 * characters are a word, and a lone one is a word too.  Words over 255 bytes are
 * cut into pieces of at most 255, between characters.  Stop words are looked up
 * before stemming; words with a digit are not stemmed, nor are those bigrams.
 *
 * Where asked for, numbers (words without a letter) are left out, and words of fewer
 * characters than a minimum, counted after normalising and before stemming.  Neither
 * touches the bigrams: two characters are all they ever have.
 *
 * There are two implementations: nigh__spell() is the definition, one character after the
 * other; the analyser is fast, and gives the same result.
 */
#ifndef NIGH_TEXT_ANALYSIS_H
#define NIGH_TEXT_ANALYSIS_H

#include <stdbool.h>

#include "base/context.h"

struct nigh__language; /* text/language.h: stop words and the name of a stemmer */

struct nigh__analysis {
    const struct nigh__language *language; /* NULL: "none" */
    bool stemming;
    bool stop_words;          /* are left out */
    bool no_numbers;          /* words without a letter are left out */
    uint32_t min_word_length; /* words of fewer characters are left out; 0: none is */
    uint64_t seed;            /* of the hash of a term: XXH3, 64 bits, of its bytes */
};

#define NIGH__MAX_WORD_BYTES 255u
#define NIGH__MAX_MIN_WORD_LENGTH 63u /* so many characters fit into every word */

/* -------------------------------------------------- plainly: the definition -- */

struct nigh__speller; /* opaque; one a thread */

nigh_status nigh__speller_new(const nigh_context *context, const struct nigh__analysis *analysis,
                              struct nigh__speller **out, nigh_error *error);
void nigh__speller_free(struct nigh__speller *speller); /* accepts NULL */

/*
 * The terms of a text (any bytes), in order, one space between two.  *spelled
 * lives until the next call.  What comes after NIGH__MAX_SPELLED bytes may be
 * left out.  Returns NIGH_OK or NIGH_ENOMEM.
 */
#define NIGH__MAX_SPELLED ((size_t)32 << 20)
nigh_status nigh__spell(struct nigh__speller *speller, const char *text, size_t length, const char **spelled,
                        size_t *spelled_length, nigh_error *error);

/* ------------------------------------------------------------------- fast -- */

typedef bool nigh__term_told(void *user, uint32_t number, uint64_t hash, const char *term, size_t length);

/*
 * An analyser numbers the terms it meets, from 1, and remembers which word gave
 * which term, so that a word is normalised and stemmed once and not each time.
 * Numbers mean something to this analyser only, until it forgets them.
 */
struct nigh__analyser {
    const uint64_t *hashes; /* of terms, by number */
    uint32_t terms;         /* one past the largest number; numbers begin at 1 */
    uint32_t generation;    /* changes when all is forgotten, which happens only at the beginning of nigh__analyse() */
    /*
     * NULL, or set by the caller: told of a term, its number and its hash (not terminated, gone after the call)
     * whenever it was found the long way, so before its number is first given out, and maybe again.  False: out of
     * memory.
     */
    nigh__term_told *tell;
    void *user;
};

#define NIGH__ANALYSER_TERMS (UINT32_C(1) << 18) /* it forgets when it knows more */

nigh_status nigh__analyser_new(const nigh_context *context, const struct nigh__analysis *analysis,
                               struct nigh__analyser **out, nigh_error *error);
void nigh__analyser_free(struct nigh__analyser *known); /* accepts NULL */

/*
 * The terms of a text (any bytes), in order, by number.  *numbers lives until
 * the next call.  Returns NIGH_OK or NIGH_ENOMEM.
 */
nigh_status nigh__analyse(struct nigh__analyser *known, const char *text, size_t length, const uint32_t **numbers,
                          size_t *count, nigh_error *error);

#endif
