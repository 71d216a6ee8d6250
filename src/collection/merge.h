/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging segments of a collection.
 *
 *     lock the directory          as a writer
 *     open the newest state
 *     for each run of segments    its documents, in order and without the deleted, written as a new segment, and
 *                                 beside it the sidecars that its largest part has
 *     commit a manifest           with each new segment in the place of its parts
 *     commit it once more         so that the spare does not name what goes now
 *     remove the parts            readers that have them open keep them
 *
 * A segment is written by the code that writes every other, so that the result is the file that would have come of
 * adding the living documents at once.  Killed at any moment, the state is the old one or the new; what is left over
 * goes with the next writer (collection/state.h).
 */
#ifndef NIGH_COLLECTION_MERGE_H
#define NIGH_COLLECTION_MERGE_H

#include "collection/collection.h"

/*
 * Merges what a commit should (collection/merge_plan.h), in a directory that the caller has locked.  Nothing to do is
 * no failure, and *result says so: no parts.
 */
nigh_status nigh__merge_tiers(nigh_context *context, const struct nigh__file *directory, const nigh_progress *progress,
                              nigh_merge_result *result, nigh_error *error);

/*
 * The same while documents go to a log, by who writes it: no document gets another number, so segments of which
 * something is deleted stay as they are.  It takes one number of a segment.
 */
nigh_status nigh__merge_beside_log(nigh_context *context, const struct nigh__file *directory,
                                   const nigh_progress *progress, nigh_merge_result *result, nigh_error *error);

#endif
