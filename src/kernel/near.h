/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short keys near a key: what the tables of a finder do with buckets.  One entry
 * per CPU variant, best first; the portable entry is the definition, all others
 * must equal it.
 */
#ifndef NIGH_KERNEL_NEAR_H
#define NIGH_KERNEL_NEAR_H

#include <stddef.h>
#include <stdint.h>

#define NIGH__SHORT_BUCKET 8u /* keys */
#define NIGH__SHORT_WORDS 4u

struct nigh__bucket {
    const uint32_t *keys;
    uint32_t count;
    uint32_t key; /* that they are compared with */
};

/* Whole rows of 64 bits, all compared with the same. */
struct nigh__word_bucket {
    const uint64_t *words;
    size_t count;
};

struct nigh__near {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * Which of `count` keys (below 2^32) differ from `key` in at most `most` bits: their
     * positions, ascending.  `positions` has room for all.  Returns how many there are.
     */
    size_t (*find)(const uint32_t *keys, size_t count, uint32_t key, uint32_t most, uint32_t *positions);

    /*
     * Which of up to 64 buckets are worth going through: bit b is set where bucket b has
     * more than NIGH__SHORT_BUCKET keys, or one that differs from its `key` in at most `most`
     * bits; of words, NIGH__SHORT_WORDS.  How many keys the others have is nothing that a processor has to guess.
     */
    uint64_t (*worth)(const struct nigh__bucket *buckets, size_t count, uint32_t most);
    uint64_t (*worth_words)(const struct nigh__word_bucket *buckets, size_t count, uint64_t word, uint32_t most);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__near *nigh__near_at(size_t index);

/*
 * The best entry that this CPU can run and that asks no more of it than the
 * distance kernel of that name does; NULL: the best.
 */
const struct nigh__near *nigh__near_choose(const char *name);

#endif
