/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of scores, eight bits each: where the high ones are.  One entry per CPU
 * variant, best first; the portable entry is the definition, all others must equal it.
 */
#ifndef NIGH_KERNEL_SCORES_H
#define NIGH_KERNEL_SCORES_H

#include <stddef.h>
#include <stdint.h>

#define NIGH__SCORES_BLOCK 64u /* tables are so many scores, or a multiple, and aligned to as many bytes */

struct nigh__scores {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * The positions of scores of at least `least`, ascending, from *at on: up to the
     * `end` of the table, or until there might not be room for those of another block.
     * *at, a multiple of the block as `end` is, is then where to go on.  `room` is a
     * block or more.  Returns how many positions there are.
     */
    size_t (*collect)(const uint8_t *scores, size_t end, uint8_t least, size_t *at, uint32_t *positions, size_t room);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__scores *nigh__scores_at(size_t index);

/*
 * The best entry that this CPU can run and that asks no more of it than the
 * distance kernel of that name does; NULL: the best.
 */
const struct nigh__scores *nigh__scores_choose(const char *name);

#endif
