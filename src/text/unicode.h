/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters: reading them from any bytes, normalising them, and their role in words.
 *
 * Normal is what utf8proc_NFKC_Casefold() gives: compatibility forms taken
 * apart, case folded, what is to be ignored dropped, then composed again.  It is
 * made piece by piece, so that the memory does not grow with the text, and in
 * linear time: a million accents on one letter are sorted by counting.
 */
#ifndef NIGH_TEXT_UNICODE_H
#define NIGH_TEXT_UNICODE_H

#include <stdbool.h>

#include "base/memory.h"

#define NIGH__REPLACEMENT 0xfffd /* stands for bytes that are not UTF-8 */

/*
 * The character at the beginning of `length` bytes (not 0), and in *bytes how
 * many it takes.  A byte that begins none is NIGH__REPLACEMENT and taken alone.
 */
int32_t nigh__utf8_read(const char *text, size_t length, size_t *bytes);

#define NIGH__UTF8_MAX 4u

/* Writes a character, NIGH__UTF8_MAX bytes at most; returns how many. */
size_t nigh__utf8_write(int32_t code, char *out);

/* What a character does in a word. */
enum nigh__letter_kind {
    NIGH__SEPARATOR = 0,
    NIGH__LETTER = 1, /* L* */
    NIGH__DIGIT = 2,  /* N* */
    NIGH__MARK = 3,   /* M*: goes with what is before it */
    NIGH__DENSE = 4   /* a letter or digit of Han, Kana, Hangul or Thai, which are written without spaces */
};

enum nigh__letter_kind nigh__letter_kind(int32_t code);

/* Letters of Han, Hangul and Kana, and signs of repetition and length among them, that are their own normal form, and
 * which begin pieces (below). */
static inline bool nigh__is_settled_letter(int32_t code) {
    return (code >= 0x4e00 && code <= 0x9fef) || (code >= 0xac00 && code <= 0xd7a3) ||
           (code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30fa) || code == 0x30fc ||
           (code >= 0x3005 && code <= 0x3007);
}

/* The wide form of an ASCII sign: neither a letter nor a digit. */
static inline bool nigh__is_wide_sign(int32_t code) {
    if (code < 0xff01 || code > 0xff5e) return false;
    const int32_t narrow = code - 0xfee0;
    return !(narrow >= '0' && narrow <= '9') && !((narrow | 0x20) >= 'a' && (narrow | 0x20) <= 'z');
}

/* Normalises a text piece by piece. */
struct nigh__normaliser {
    const nigh_context *context;
    const char *text;
    size_t length;
    size_t begin, end;         /* of the piece that was given last, in the text */
    struct nigh__array codes;  /* of int32_t: the piece, normalised */
    struct nigh__array sorted; /* scratch */
};

void nigh__normaliser_init(const nigh_context *context, struct nigh__normaliser *normaliser);
void nigh__normaliser_release(struct nigh__normaliser *normaliser);

/* Begins with a text, which must stay where it is; memory is kept from the one before. */
void nigh__normaliser_start(struct nigh__normaliser *normaliser, const char *text, size_t length);

/*
 * The next piece: the shortest that makes `least` characters or more, and that
 * has nothing to do with what is around it; maybe none, where all are dropped.
 * Returns NIGH_OK, NIGH_END or NIGH_ENOMEM.
 */
nigh_status nigh__normaliser_next(struct nigh__normaliser *normaliser, size_t least, const int32_t **codes,
                                  size_t *count, nigh_error *error);

#endif
