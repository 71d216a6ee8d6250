/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which segments of a collection should be merged.
 *
 * Each commit leaves a segment, and a search visits every one.  Sizes fall into tiers, each ten times the one before:
 *
 *     tier        3             2       1        0
 *     sizes    1,200  3,400    210  640   31 44    5 1 7
 *
 * Ten segments of a tier at the end of the collection become one of the next.  So a collection has at most nine of a
 * tier, and a document is written once, and once more for each tier it passes: after n documents in commits of b,
 * 1 + log10(n / b) times.  Merging goes by neighbours only, and documents keep their order.
 */
#ifndef NIGH_COLLECTION_MERGE_PLAN_H
#define NIGH_COLLECTION_MERGE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define NIGH__MERGE_FAN 10u /* segments of a tier that become one */

/* What a plan must know of a segment. */
struct nigh__merge_part {
    uint64_t documents; /* with the deleted */
    uint64_t deleted;
    uint32_t shape; /* only segments of one shape can be merged; UINT32_MAX: fits any, it has no documents */
};

/* Neighbours that become one segment; or a single one that is written anew without its deleted documents. */
struct nigh__merge_run {
    uint32_t first, count;
};

/* What a commit merges by itself: *run, or false. */
bool nigh__merge_tiered(const struct nigh__merge_part *parts, uint32_t count, struct nigh__merge_run *run);

/*
 * Into as few as can be: the next run from segment `from` on that is worth it, or false.  `most` documents fit a
 * segment.
 */
bool nigh__merge_whole(const struct nigh__merge_part *parts, uint32_t count, uint32_t from, uint64_t most,
                       struct nigh__merge_run *run);

#endif
