/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How alike two documents are: by their sets of features or, without verification, by the distance of their
 * signatures.
 */
#ifndef NIGH_DEDUP_COMPARE_H
#define NIGH_DEDUP_COMPARE_H

#include "dedup/gather.h"
#include "dedup/order.h"
#include "dedup/sets.h"

struct nigh__comparer {
    const nigh_dedup *dedup;
    const struct nigh__gathered *gathered;
    const struct nigh__order *order;
    const struct nigh__sets *sets; /* not used where nothing is verified */
    uint32_t width_bits;           /* of a signature */
};

struct nigh__comparison {
    bool alike;
    float similarity;
    uint64_t common; /* features, where sets were compared */
};

/* Of two sets that have so many features, and so many in common. */
static inline struct nigh__comparison nigh__comparison_of(double threshold, uint64_t a, uint64_t b, uint64_t common) {
    const double jaccard = (double)common / (double)(a + b - common);
    return (struct nigh__comparison){.alike = jaccard >= threshold, .similarity = (float)jaccard, .common = common};
}

/*
 * Compares two sets, by their ranks.  Where `measuring`, also sets whose sizes alone tell that they are not alike;
 * else the similarity of these stays 0.  From any thread, with a reader of its own.
 */
nigh_status nigh__compare(const struct nigh__comparer *comparer, struct nigh__sets_reader *reader, uint64_t better,
                          uint64_t worse, bool measuring, struct nigh__comparison *out, nigh_error *error);

#endif
