/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed query:
 *
 *     "red-nosed fox OR the hare -march"
 *
 *     choices   [ red-nosed fox ]  [ hare -march ]       one of them must hold; "the" is not kept
 *     words       {red nose} {fox}   {hare} not{march}   a word holds where all of its terms are there
 *     terms     red nose fox hare march                  distinct over all of the query
 */
#ifndef NIGH_TERMS_TERMS_SEARCH_QUERY_H
#define NIGH_TERMS_TERMS_SEARCH_QUERY_H

#include "base/memory.h"
#include "text/feature.h"

#define NIGH__QUERY_MAX_BYTES 65536u
#define NIGH__QUERY_MAX_TERMS 1024u /* of all words, repeats counted */

struct nigh__query_word {
    uint32_t first_term, terms; /* in word_terms */
    bool minus;
};

struct nigh__query_choice {
    uint32_t first_word, words;
    uint32_t first_term, terms; /* in choice_terms: of the words that must be there, each once */
};

struct nigh__query {
    const nigh_context *context;
    struct nigh__array hashes;       /* of uint64_t: the terms */
    struct nigh__array word_terms;   /* of uint32_t: numbers of terms */
    struct nigh__array choice_terms; /* the same */
    struct nigh__array words;        /* of struct nigh__query_word */
    struct nigh__array choices;      /* of struct nigh__query_choice */
    uint32_t stop_words;             /* words that have no term */
    bool minus;                      /* there is a minus word */
};

/* NIGH_EINVAL with the reason for what cannot be asked.  To be released, also after a failure. */
nigh_status nigh__query_parse(const nigh_context *context, const struct nigh__analysis *analysis, const char *text,
                              struct nigh__query *out, nigh_error *error);
void nigh__query_release(struct nigh__query *query); /* accepts zeros */

/* Whether it holds where exactly the terms are that present[] says, by number of the term. */
bool nigh__query_holds(const struct nigh__query *query, const bool *present);

static inline const uint64_t *nigh__query_hashes(const struct nigh__query *query) { return query->hashes.data; }
static inline const struct nigh__query_word *nigh__query_word(const struct nigh__query *query, size_t word) {
    return (const struct nigh__query_word *)query->words.data + word;
}
static inline const struct nigh__query_choice *nigh__query_choice(const struct nigh__query *query, size_t choice) {
    return (const struct nigh__query_choice *)query->choices.data + choice;
}
static inline const uint32_t *nigh__query_terms(const struct nigh__array *numbers, uint32_t first) {
    return (const uint32_t *)numbers->data + first;
}

#endif
