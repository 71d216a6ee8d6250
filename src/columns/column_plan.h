/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan for adding up the columns of a query: in which groups, and where counts are compared
 * with bounds.
 *
 * Order.  What counts most comes first, so that a block is left soon; what counts the same in
 * the order of the bits.  (Not by weight within a level: a word of a text touches some dozen
 * bits of equal weight, which would come together, and what a row has of one word says little
 * of what it has of the next.)
 *
 * Bounds.  A row may stay that is at most `most` away.  Counts are in units of the level that
 * is being added, and never fall, so one that is above most / unit can be left: that is
 * certain.  With a slack more are left.  Of a row that differs in the share f of all that
 * counts, so much is expected among the first S of it, and the bound is a number of standard
 * deviations above:
 *
 *     f S + slack sqrt(f (1 - f)) sqrt(Q (S / W) (1 - S / W))       Q, W: sums of squares, of all
 *
 * which is what drawing bits at random would give.  At the last check everything was counted,
 * and no slack is needed.
 */
#ifndef NIGH_COLUMNS_COLUMN_PLAN_H
#define NIGH_COLUMNS_COLUMN_PLAN_H

#include "columns/columns.h"
#include "scan/ranking.h"

/* After a group that is checked. */
struct nigh__column_check {
    uint32_t unit;    /* of the counts then */
    double counted;   /* of all that counts, so much was added */
    double deviation; /* sqrt(Q (S / W) (1 - S / W)) */
};

struct nigh__column_plan {
    const nigh_context *context;
    struct nigh__column_groups groups;
    void *owned;                       /* their memory */
    struct nigh__column_check *checks; /* of the groups that are checked; owned */
    uint32_t check_count;
    uint32_t unit;  /* of the counts in the end: distance = count * unit */
    uint32_t whole; /* what all bits that count come to */
};

/*
 * Plans a query, whose planes are `planes` (`plane_count` 0: every bit counts one).  A query of which nothing counts
 * gets no group: all rows are at distance 0.  False: no memory.  To be released, also then.
 */
bool nigh__column_plan_init(struct nigh__column_plan *plan, const nigh_context *context, uint32_t width_bits,
                            const uint64_t *query, const uint64_t *planes, uint32_t plane_count);
void nigh__column_plan_release(struct nigh__column_plan *plan);

/* The greatest count that stays at a check, where rows may be `most` away.  A slack below 0: only what is certain. */
uint32_t nigh__column_plan_bound(const struct nigh__column_plan *plan, uint32_t check, uint32_t most, double slack);

#endif
