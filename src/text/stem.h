/* SPDX-License-Identifier: Apache-2.0 */
/* From a word to its term: nothing for a word that is left out, else its stem. */
#ifndef NIGH_TEXT_STEM_H
#define NIGH_TEXT_STEM_H

#include "text/cutter.h"

struct sb_stemmer; /* libstemmer.h */

struct nigh__stemmer {
    struct nigh__analysis analysis;
    struct sb_stemmer *snowball; /* NULL: words stay as they are */
    uint64_t stop_bits[64];      /* a bit for each stop word, by hash: most other words fall through at once */
};

nigh_status nigh__stemmer_init(const struct nigh__analysis *analysis, struct nigh__stemmer *out, nigh_error *error);
void nigh__stemmer_release(struct nigh__stemmer *stemmer);

/*
 * *length is 0 for a stop word, and for a number or a short word where these are left out.  *term lives as long as the
 * word, and until the next call.  Returns NIGH_OK or NIGH_ENOMEM.
 */
nigh_status nigh__stem(struct nigh__stemmer *stemmer, const struct nigh__word *word, const char **term, size_t *length,
                       nigh_error *error);

#endif
