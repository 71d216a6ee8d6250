/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of language.c. */
#ifndef NIGH_TEXT_STOP_WORDS_H
#define NIGH_TEXT_STOP_WORDS_H

extern const char nigh__stop_words_english[];
extern const char nigh__stop_words_german[];
extern const char nigh__stop_words_french[];
extern const char nigh__stop_words_spanish[];
extern const char nigh__stop_words_italian[];
extern const char nigh__stop_words_portuguese[];
extern const char nigh__stop_words_dutch[];
extern const char nigh__stop_words_swedish[];
extern const char nigh__stop_words_danish[];
extern const char nigh__stop_words_norwegian[];
extern const char nigh__stop_words_finnish[];
extern const char nigh__stop_words_russian[];

#endif
