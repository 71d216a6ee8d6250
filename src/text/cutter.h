/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts normalised characters into words, as analysis.h says what words are. */
#ifndef NIGH_TEXT_CUTTER_H
#define NIGH_TEXT_CUTTER_H

#include <stdbool.h>

#include "base/memory.h"
#include "text/analysis.h"
#include "text/unicode.h"

struct nigh__word {
    const char *bytes;
    size_t length;   /* 1 to NIGH__MAX_WORD_BYTES */
    bool has_digits; /* such words are not stemmed, */
    bool is_dense;   /* nor are pieces of runs without spaces */
};

/* Takes a word; a status other than NIGH_OK ends the cutting. */
typedef nigh_status nigh__word_function(void *user, const struct nigh__word *word, nigh_error *error);

struct nigh__cutter {
    const nigh_context *context;
    nigh__word_function *take;
    void *user;
    /*
     * What is not given out yet.  A word of spaced script: its bytes so far.  A
     * run of dense script: its last character with its marks, and the one before
     * it where there is one, together the next word.
     */
    struct nigh__array bytes; /* of char */
    size_t last;              /* where the last character of a dense run begins */
    bool has_digits;
    bool is_dense;
};

void nigh__cutter_init(const nigh_context *context, nigh__word_function *take, void *user, struct nigh__cutter *cutter);
void nigh__cutter_release(struct nigh__cutter *cutter);

/* Takes the next characters of a text; NIGH_OK, NIGH_ENOMEM, or what `take` says. */
nigh_status nigh__cutter_add(struct nigh__cutter *cutter, const int32_t *codes, size_t count, nigh_error *error);
/* At the end of a text; the cutter is then fit for another one. */
nigh_status nigh__cutter_end(struct nigh__cutter *cutter, nigh_error *error);
/* Forgets what was not given out, after a failure. */
void nigh__cutter_reset(struct nigh__cutter *cutter);

/* How many words nigh__cutter_end() would give out. */
size_t nigh__cutter_pending(const struct nigh__cutter *cutter);
/* Whether a new word begins, if this character comes next. */
bool nigh__cutter_begins(const struct nigh__cutter *cutter, int32_t code);

#endif
