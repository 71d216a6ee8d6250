/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One use of the tables of a segment: finding the first living document within a radius that the tables guarantee.
 * Find-or-add needs this again and again, so what a look-up needs is made once.
 */
#ifndef NIGH_FINDER_STORED_FIRST_H
#define NIGH_FINDER_STORED_FIRST_H

#include "collection/segment.h"

struct nigh__stored_first; /* opaque */

/* Of a segment that outlives it; nigh__stored_guarantees() the radius. */
nigh_status nigh__stored_first_new(const struct nigh__segment *segment, uint32_t radius,
                                   struct nigh__stored_first **out, nigh_error *error);
void nigh__stored_first_free(struct nigh__stored_first *first); /* accepts NULL */

/*
 * For each of some queries, which are laid out as rows (finder/lookup.h), the first document by its number in the
 * collection, and its distance; NIGH_ALL_64: there is none.  NIGH_ENOMEM; NIGH_ECORRUPT where the segment or a table
 * lies.
 */
nigh_status nigh__stored_first_find(const struct nigh__stored_first *first, const uint64_t *queries, size_t count,
                                    uint32_t threads, nigh_match *out, nigh_error *error);

#endif
