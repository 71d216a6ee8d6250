/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances of one query to rows here and there, as a walk along a graph meets them: one
 * call for all the neighbours of a node.  One entry per CPU variant, best first; the
 * portable entry is the definition, all others must equal it.
 */
#ifndef NIGH_KERNEL_PICKED_H
#define NIGH_KERNEL_PICKED_H

#include <stddef.h>
#include <stdint.h>

struct nigh__picked {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * distances[i] is that of the first `words` words (1 to 1,024) of the query and of row ids[i], which begins at
     * rows + ids[i] * stride; all aligned to 8 bytes.  Returns the smallest, UINT32_MAX for no rows.
     */
    uint32_t (*distances)(const uint64_t *query, const uint64_t *rows, size_t stride, size_t words, const uint32_t *ids,
                          size_t count, uint32_t *distances);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__picked *nigh__picked_at(size_t index);

/*
 * The best entry that this CPU can run; the portable one where the distance kernel of that name is.  NULL: the best.
 */
const struct nigh__picked *nigh__picked_choose(const char *name);

#endif
