/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of 32-bit keys that differ in few bits: the inner loop of a join.  One entry
 * per CPU variant, best first; the portable one is the definition, and all others
 * must find the same pairs.
 */
#ifndef NIGH_KERNEL_PAIRS_KERNEL_H
#define NIGH_KERNEL_PAIRS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys behind the last row that a kernel may read, whatever is there. */
#define NIGH__PAIRS_PADDING 16u
/* Queries that are compared together; a call needs room for so many hits a row. */
#define NIGH__PAIRS_QUERIES 4u

struct nigh__pair_hit {
    uint32_t query;
    uint32_t row;
};

/* Queries and rows, fewer than 2^32 of each. */
struct nigh__pair_task {
    const uint32_t *queries;
    size_t query_count;
    const uint32_t *rows;
    size_t row_count;
    uint32_t radius;
    bool self; /* the rows are the queries: a query is compared with those after it */
};

struct nigh__pairs {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * Goes on from query *next (0 at first) and sets it to where it stopped: at
     * query_count, or where fewer than NIGH__PAIRS_QUERIES * row_count places of
     * `capacity` are left.  Returns how many hits there are; they come by blocks of
     * queries, in no order within one.
     */
    size_t (*find)(const struct nigh__pair_task *task, size_t *next, struct nigh__pair_hit *hits, size_t capacity);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__pairs *nigh__pairs_at(size_t index);

/* The best entry that this CPU can run and that asks no more of it than the distance kernel of that name; NULL: the
 * best. */
const struct nigh__pairs *nigh__pairs_choose(const char *name);

#endif
