/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters of ranks (order.h): which document stays for which. The rules KEPT and COMPLETE
 * decide that document by document (keep.h); COMPONENTS takes pairs that are alike, in any
 * order.
 */
#ifndef NIGH_DEDUP_CLUSTER_H
#define NIGH_DEDUP_CLUSTER_H

#include <stdbool.h>

#include "base/context.h"

struct nigh__clusters {
    const nigh_context *context;
    uint64_t count; /* of ranks */
    uint64_t *kept; /* by rank: the rank that stays for it; itself where it stays */
};

/* Each stays. */
nigh_status nigh__clusters_init(const nigh_context *context, uint64_t count, struct nigh__clusters *out,
                                nigh_error *error);
void nigh__clusters_release(struct nigh__clusters *clusters); /* accepts one of zeros */

/* The rule COMPONENTS: whether these two are of one component, and that they are. */
bool nigh__clusters_joined(struct nigh__clusters *clusters, uint64_t a, uint64_t b);
void nigh__clusters_join(struct nigh__clusters *clusters, uint64_t a, uint64_t b);
/* After the last pair: `kept` is as it says. */
void nigh__clusters_finish(struct nigh__clusters *clusters);

#endif
