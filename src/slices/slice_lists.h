/* SPDX-License-Identifier: Apache-2.0 */
/* Which lists a search reads: all of some rings, or of these the shorter ones.  Included by slices/slice_* alone.
 */
#ifndef NIGH_SLICES_SLICE_LISTS_H
#define NIGH_SLICES_SLICE_LISTS_H

#include "slices/slice_parts.h"

#define NIGH__SLICE_LISTS_AHEAD 16u

/* Inside the scratch, until the next search. */
struct nigh__slice_lists {
    struct nigh__slice_list *lists; /* that have postings, by slice, then by ring; behind the last, so many that may be
                                       asked for ahead */
    size_t count;
    uint64_t looks;    /* lists there are, empty ones counted */
    uint64_t postings; /* to be read */
    uint64_t skipped;  /* lists left out for the budget */
    uint16_t *slack;   /* of each slice: the greatest score of a list left out */
    uint32_t slack_sum;
};

/* Where each lies is checked; the ids are not looked at. */
nigh_status nigh__slice_lists_gather(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                     const struct nigh__slice_query *query, struct nigh__slice_lists *out,
                                     nigh_error *error);

#endif
