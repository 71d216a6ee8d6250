/* SPDX-License-Identifier: Apache-2.0 */
/* Languages: their names, their Snowball stemmers, their stop words. */
#ifndef NIGH_TEXT_LANGUAGE_H
#define NIGH_TEXT_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

struct nigh__language {
    const char *code;       /* "en" */
    const char *name;       /* "english": what libstemmer calls it */
    const char *stop_words; /* separated by single spaces, sorted by bytes, normalised; "" where there is no list */
    const char *letters;    /* beside a to z; of languages with a list */
};

/* By code or by name, NULL where there is none; "none" is none too, so ask for it first. */
const struct nigh__language *nigh__language_find(const char *name);
/* In the order of their codes; NULL past the last. */
const struct nigh__language *nigh__language_at(size_t index);
bool nigh__language_stops(const struct nigh__language *language, const char *word, size_t length);

#endif
