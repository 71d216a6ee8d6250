/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a text is in a language, by two things that its words show:
 *
 *     stop words   a third of running text is made of them.  One that several languages have
 *                  ("in", "de") counts less: 1 / (how many have it) for each of these
 *     letters      a word with a letter that the language does not have ("żółw" in English)
 *
 * A text is in another language where
 *     - two words or more, and one in twelve, have a letter that the language does not have; or
 *     - another language is ahead by the stop words, by more than one and a half; or
 *     - it has a hundred words, and fewer than one in twenty is a stop word of the language.
 * It is in the language where that is ahead, and else (too short, a table, a tie) nobody knows.
 * Words with digits tell nothing; of a long text the beginning is looked at.  docs/documents.md
 * has how often this is right, and what was tried instead.
 */
#ifndef NIGH_TEXT_LANGUAGE_DETECTOR_H
#define NIGH_TEXT_LANGUAGE_DETECTOR_H

#include "base/context.h"
#include "text/language.h"

enum nigh__language_verdict { NIGH__LANGUAGE_UNSURE, NIGH__LANGUAGE_SAME, NIGH__LANGUAGE_OTHER };

#define NIGH__DETECTED_BYTES ((size_t)64 << 10) /* of a text, from its beginning */

/* By code or by name; NULL where there are no stop words to tell it by. */
const struct nigh__language *nigh__language_detectable(const char *name);

/* The codes of those there are, separated by ", ". */
#define NIGH__DETECTABLE_SIZE 128u
void nigh__language_list_detectable(char *out, size_t capacity);

struct nigh__language_detector; /* opaque; one a thread */

nigh_status nigh__language_detector_new(const nigh_context *context, const struct nigh__language *language,
                                        struct nigh__language_detector **out, nigh_error *error);
void nigh__language_detector_free(struct nigh__language_detector *detector); /* accepts NULL */

/* Returns NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__language_detect(struct nigh__language_detector *detector, const char *text, size_t length,
                                  enum nigh__language_verdict *out, nigh_error *error);

#endif
