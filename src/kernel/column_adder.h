/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding up columns.  Rows of bits are stored on their side, in blocks of 512 rows: a column
 * of a block, the same bit of all its rows, is 64 bytes.  What differs from a query is counted
 * for all rows at once, by full adders on whole registers:
 *
 *     counter   plane 0  ....  of each row one bit of its count, lowest first
 *               plane 1  ....
 *     column +  ....           1 where the row differs
 *
 * Sixteen columns make a group: 15 adders bring them into the planes 1, 2, 4 and 8 and a
 * carry, which ripples through the planes above.  A column that the query has set differs
 * where it is 0; eight columns have one polarity, so that turning them costs nothing.
 *
 * Weights.  Groups of columns that count 8 come first, then the counters are doubled, those
 * that count 4 are added, and so on: in the end the counters hold the weighted distance.
 *
 * Leaving.  After a group the counters may be compared with a bound; once no row of the block
 * is left below, the rest of its columns is not read.
 */
#ifndef NIGH_KERNEL_COLUMN_ADDER_H
#define NIGH_KERNEL_COLUMN_ADDER_H

#include <stddef.h>
#include <stdint.h>

#define NIGH__COLUMN_ROWS 512u  /* of a block */
#define NIGH__COLUMN_BYTES 64u  /* of a column of it */
#define NIGH__COLUMN_PLANES 20u /* of counters, at most */
#define NIGH__COLUMN_GROUP 16u

struct nigh__column_group {
    uint32_t offsets[NIGH__COLUMN_GROUP]; /* of its columns, in bytes from those of the block; multiples of 64 */
    uint8_t inverted;                     /* bit 0: of the first eight columns; bit 1: of the others */
    uint8_t single;                       /* there are only the first eight */
    uint8_t doublings;                    /* of the counters, before */
    uint8_t checked;                      /* compared with the next bound, after */
};

struct nigh__column_groups {
    const struct nigh__column_group *groups;
    uint32_t count;  /* at least 1; the last one is checked */
    uint32_t planes; /* that the counts of any row fit into, 8 to NIGH__COLUMN_PLANES */
};

/*
 * A bound: counts up to it stay.  As words, all bits set or none, of 2^NIGH__COLUMN_PLANES - 1 - bound from the lowest:
 * adding that to a count that is above carries out of the planes, however many of them a kernel has.
 */
struct nigh__column_bound {
    uint64_t words[NIGH__COLUMN_PLANES];
};

struct nigh__column_counts {
    uint64_t left[NIGH__COLUMN_ROWS / 64];                        /* rows that are within all bounds */
    uint64_t planes[NIGH__COLUMN_PLANES][NIGH__COLUMN_ROWS / 64]; /* of these, their counts */
};

struct nigh__column_adder {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * Counts the columns of a block; `bounds` has one for each group that is checked.  `ahead`: NULL, or a block that
     * is counted later, whose columns are asked for.  How many rows are left; where none is, *out is not set.
     */
    uint32_t (*count)(const uint8_t *block, const uint8_t *ahead, const struct nigh__column_groups *groups,
                      const struct nigh__column_bound *bounds, struct nigh__column_counts *out);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__column_adder *nigh__column_adder_at(size_t index);

/* The best entry that this CPU can run and that goes with the distance kernel of that name.  NULL: the best. */
const struct nigh__column_adder *nigh__column_adder_choose(const char *name);

#endif
