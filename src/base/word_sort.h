/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting records of 64-bit words in memory.  word_sort.c says how, and what it costs. */
#ifndef NIGH_BASE_WORD_SORT_H
#define NIGH_BASE_WORD_SORT_H

#include <stddef.h>
#include <stdint.h>

#define NIGH__WORD_SORT_MAX_WORDS 8u

/*
 * Sorts `count` records of `words` words each, at most NIGH__WORD_SORT_MAX_WORDS, by
 * their first `key_words` words; those equal in them stay in order.  `scratch` is as
 * large as `records`; the result is in one of the two, which is returned, and the other
 * holds nothing of use.
 */
uint64_t *nigh__words_sort(uint64_t *records, uint64_t *scratch, size_t count, uint32_t words, uint32_t key_words,
                           uint32_t threads);
/* The same by the highest `key_bits` bits, 1 to 64, of the first word alone. */
uint64_t *nigh__words_sort_bits(uint64_t *records, uint64_t *scratch, size_t count, uint32_t words, uint32_t key_bits,
                                uint32_t threads);

/* The highest bits of a word, 1 to 64 of them. */
static inline uint64_t nigh__words_key_mask(uint32_t key_bits) { return UINT64_MAX << (64 - key_bits); }

/* The place of the first of sorted words that is not below `word`; `count`: all are. */
static inline size_t nigh__words_find(const uint64_t *sorted, size_t count, uint64_t word) {
    size_t begin = 0;
    while (begin < count) {
        const size_t middle = begin + (count - begin) / 2;
        if (sorted[middle] < word)
            begin = middle + 1;
        else
            count = middle;
    }
    return begin;
}

/* Whether a comes before (< 0), with (0) or after (> 0) b. */
static inline int nigh__words_compare(const uint64_t *a, const uint64_t *b, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

#endif
