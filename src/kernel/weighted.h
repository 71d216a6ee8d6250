/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances in which bits count differently, or not at all.  What they count stands in
 * planes: a bit that differs adds 2^p for each plane p that has it set.
 *
 *     what it counts   0  1  2  3  5  8
 *     plane 0 (1)      0  1  0  1  1  0
 *     plane 1 (2)      0  0  1  1  0  0
 *     plane 2 (4)      0  0  0  0  1  0
 *     plane 3 (8)      0  0  0  0  0  1
 *
 * One plane is a mask: only bits that it has set count, and all of them the same.  A short
 * text says nothing about most bits of a sparse signature, and to count these would find
 * other short texts instead of alike ones.
 */
#ifndef NIGH_KERNEL_WEIGHTED_H
#define NIGH_KERNEL_WEIGHTED_H

#include "kernel/hamming.h"

/* Planes that a query has at most. */
#define NIGH__PLANES 4u

/* What counts in a batch of queries. */
struct nigh__planes {
    const uint64_t *words; /* of each query its planes one after the other, each as long as a row; aligned to 8 */
    uint32_t count;        /* of a query, 1 to NIGH__PLANES; 0: every bit counts one */
};

/* One query with what counts in it. */
struct nigh__asked {
    const uint64_t *query;
    const uint64_t *planes; /* one after the other, each as long as a row */
    uint32_t plane_count;
};

/* How far two rows are apart in the bits that count in one of them, and in those that count in the other. */
struct nigh__two_distances {
    uint32_t under_a;
    uint32_t under_b;
};

struct nigh__weighted {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /* As nigh__hamming.batch, with the planes of the queries; planes->count is not 0. */
    size_t (*batch)(const uint64_t *queries, const struct nigh__planes *planes, size_t query_count,
                    const uint64_t *rows, size_t count, size_t words, const uint32_t *limits, struct nigh__hit *hits);

    /*
     * The distance of one query, of which plane_count planes (1 to NIGH__PLANES) say what counts, to one row of `words`
     * words (1 to 1,024); all aligned to 8 bytes.  For rows here and there: who calls has asked for them before.
     */
    uint32_t (*one)(const uint64_t *query, const uint64_t *planes, uint32_t plane_count, const uint64_t *row,
                    size_t words);

    /*
     * The same of `count` rows one after the other; returns the smallest, UINT32_MAX of none.  NULL: nothing is gained
     * beyond one.
     */
    uint32_t (*rows)(const struct nigh__asked *asked, const uint64_t *rows, size_t count, size_t words,
                     uint32_t *distances);

    /* The bits that differ, those set in mask_a and those set in mask_b. */
    struct nigh__two_distances (*pair)(const uint64_t *a, const uint64_t *mask_a, const uint64_t *b,
                                       const uint64_t *mask_b, size_t words);

    /*
     * The same of one row and of `count` rows one after the other, as are their masks: under_one[i] and under_row[i].
     * NULL: nothing is gained beyond pair.
     */
    void (*pairs)(const uint64_t *one, const uint64_t *mask, const uint64_t *rows, const uint64_t *masks, size_t count,
                  size_t words, uint32_t *under_one, uint32_t *under_row);
};

/* By rows, or row by row. */
uint32_t nigh__weighted_rows(const struct nigh__weighted *weighted, const struct nigh__asked *asked,
                             const uint64_t *rows, size_t count, size_t words, uint32_t *distances);

/* By pairs, or pair by pair. */
void nigh__weighted_pairs(const struct nigh__weighted *weighted, const uint64_t *one, const uint64_t *mask,
                          const uint64_t *rows, const uint64_t *masks, size_t count, size_t words, uint32_t *under_one,
                          uint32_t *under_row);

/* The entries of this build, best first; NULL past the end. */
const struct nigh__weighted *nigh__weighted_at(size_t index);

/* The best entry that this CPU can run and that goes with the distance kernel of that name.  NULL: the best. */
const struct nigh__weighted *nigh__weighted_choose(const char *name);

#endif
