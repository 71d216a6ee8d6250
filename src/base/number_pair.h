/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of numbers, of documents, rows or ranks, as records for sorting.  Up to 2^32 of
 * them a pair is one word, which sorts and travels in half the time of two; beyond that it
 * is a word each:
 *
 *     words 1   first << 32 | second
 *     words 2   first | second
 *
 * Either way records are in the order of the first numbers, then of the second. The code
 * that makes records calls nigh__number_pair_words() once, and hands the answer to the
 * others.
 *
 * Here is also how many documents or rows one deduplication or one join takes: a number
 * of 38 bits leaves 26 of a word to a key or to bits of a hash beside it.
 */
#ifndef NIGH_BASE_NUMBER_PAIR_H
#define NIGH_BASE_NUMBER_PAIR_H

#include <stdint.h>

#include "base/status.h"

/* So many numbers, from 0 on, fit half a word each. */
#define NIGH__HALF_WORD_NUMBERS (UINT64_C(1) << 32)

#define NIGH__NUMBER_BITS 38u
#define NIGH__MAX_NUMBERS ((UINT64_C(1) << NIGH__NUMBER_BITS) - 1)

struct nigh__number_pair {
    uint64_t first, second;
};

/* Whether there may be so many; `what` they are, in the plural. */
static inline nigh_status nigh__numbers_check(uint64_t count, const char *what, nigh_error *error) {
    if (count <= NIGH__MAX_NUMBERS) return NIGH_OK;
    return nigh__fail(error, NIGH_ELIMIT, "more than %llu %s at once", (unsigned long long)NIGH__MAX_NUMBERS, what);
}

/* Words of a record, where all numbers are below `count`. */
static inline uint32_t nigh__number_pair_words(uint64_t count) { return count <= NIGH__HALF_WORD_NUMBERS ? 1 : 2; }

static inline void nigh__number_pair_pack(uint32_t words, uint64_t first, uint64_t second, uint64_t *record) {
    if (words == 1) {
        record[0] = first << 32 | second;
        return;
    }
    record[0] = first;
    record[1] = second;
}

static inline struct nigh__number_pair nigh__number_pair_unpack(uint32_t words, const uint64_t *record) {
    if (words == 1) return (struct nigh__number_pair){record[0] >> 32, (uint32_t)record[0]};
    return (struct nigh__number_pair){record[0], record[1]};
}

#endif
