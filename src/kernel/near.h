/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short keys near a key: what the tables of a finder do with a bucket.  One entry
 * per CPU variant, best first; the portable entry is the definition, all others
 * must equal it.
 */
#ifndef NIGH_KERNEL_NEAR_H
#define NIGH_KERNEL_NEAR_H

#include <stddef.h>
#include <stdint.h>

struct nigh__near {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * Which of `count` keys (below 2^32) differ from `key` in at most `most` bits: their
     * positions, ascending.  `positions` has room for all.  Returns how many there are.
     */
    size_t (*find)(const uint32_t *keys, size_t count, uint32_t key, uint32_t most, uint32_t *positions);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__near *nigh__near_at(size_t index);

/*
 * The best entry that this CPU can run and that asks no more of it than the
 * distance kernel of that name does; NULL: the best.
 */
const struct nigh__near *nigh__near_choose(const char *name);

#endif
