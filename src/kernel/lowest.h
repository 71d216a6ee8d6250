/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least values by rows, as of a term over the blocks it is in.  One entry per CPU variant, best first; the portable
 * entry is the definition, all others must equal it.
 */
#ifndef NIGH_KERNEL_LOWEST_H
#define NIGH_KERNEL_LOWEST_H

#include <stddef.h>
#include <stdint.h>

struct nigh__lowest {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * table[rows[i] * width + j] = the smaller of itself and values[j], for each i below `count` and j below `width`
     * (1 or more).  Rows may lie anywhere in memory: they are asked for ahead.
     */
    void (*lower)(uint64_t *table, size_t width, const uint32_t *rows, size_t count, const uint64_t *values);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__lowest *nigh__lowest_at(size_t index);

/* The best entry that this CPU can run and that goes with the distance kernel of that name; NULL: the best. */
const struct nigh__lowest *nigh__lowest_choose(const char *name);

#endif
