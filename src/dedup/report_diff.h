/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which words two texts share, in order, and which only one of them has.
 *
 * A word is a run of letters, digits and marks; a character of Han, Kana, Hangul or
 * Thai; or a single other character.  The space between words is not compared.
 */
#ifndef NIGH_DEDUP_REPORT_DIFF_H
#define NIGH_DEDUP_REPORT_DIFF_H

#include "base/memory.h"

struct nigh__diff_word {
    uint32_t begin, end; /* bytes of its text */
    uint32_t number;     /* equal words have equal numbers, on both sides */
    bool letters;        /* not a mere sign */
};

enum nigh__diff_kind { NIGH__DIFF_SAME, NIGH__DIFF_LEFT, NIGH__DIFF_RIGHT };

/* Words in a row; between two runs that are the same stands at most one of each side, the left one first. */
struct nigh__diff_run {
    enum nigh__diff_kind kind;
    uint32_t left, right; /* its first word on each side; of the side that has none, the next word */
    uint32_t count;
};

struct nigh__diff {
    struct nigh__array left, right; /* of struct nigh__diff_word */
    struct nigh__array runs;        /* of struct nigh__diff_run */
};

/*
 * For texts of some thousand bytes: memory is linear, time is at most about
 * 1,000 steps a word.  Bytes that are not UTF-8 count as characters.
 *
 * Owns:    *out is to be released, also after a failure.
 * Returns: NIGH_OK, NIGH_ENOMEM, NIGH_ELIMIT for texts of 2^30 bytes.
 */
nigh_status nigh__diff_make(const nigh_context *context, const char *left, size_t left_length, const char *right,
                            size_t right_length, struct nigh__diff *out, nigh_error *error);
void nigh__diff_release(const nigh_context *context, struct nigh__diff *diff);

#endif
