/* SPDX-License-Identifier: Apache-2.0 */
/* Checking segments beyond what opening them does.  Each stops at the first problem. */
#ifndef NIGH_COLLECTION_CHECK_SEGMENT_H
#define NIGH_COLLECTION_CHECK_SEGMENT_H

#include "base/progress.h"
#include "collection/segment.h"

/* Reads every section and compares its checksum. */
nigh_status nigh__segment_check_sums(const struct nigh__segment *segment, struct nigh__progress *progress,
                                     nigh_error *error);

/* Reads every row: that no bit past the width is set. */
nigh_status nigh__segment_check_padding(const struct nigh__segment *segment, nigh_error *error);

/* The id lookup: that its key follows from the ids, and that it leads to each of them.  No id is there twice. */
nigh_status nigh__segment_check_lookup(const struct nigh__segment *segment, struct nigh__progress *progress,
                                       nigh_error *error);

/*
 * What the sections must say about each other, one check a function; a list so
 * that `nigh check` can report the first problem of each.  Ends with NULL.
 */
typedef nigh_status nigh__segment_check(const struct nigh__segment *segment, struct nigh__progress *progress,
                                        nigh_error *error);
extern nigh__segment_check *const nigh__segment_checks[];

#endif
