/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters of ranks (order.h): which stays for which.  Pairs that are alike come in
 * the order of their ranks, the better first; cluster.c says what each rule makes of
 * them.
 */
#ifndef NIGH_DEDUP_CLUSTER_H
#define NIGH_DEDUP_CLUSTER_H

#include <stdbool.h>

#include "base/context.h"
#include "base/number_pair.h"
#include "base/sorter.h"

struct nigh__clusters {
    const nigh_context *context;
    nigh_cluster_rule rule;
    uint64_t count;             /* of ranks */
    uint32_t pair_words;        /* of a pair of them, as base/number_pair.h has it */
    uint64_t *kept;             /* by rank: the rank that stays for it; itself where it stays */
    struct nigh__sorter *alike; /* of the rule COMPLETE: pairs of the worse rank and the better one */
};

/* `sorting` has the memory and the folder that the rule COMPLETE may need, and as its words those of a pair. */
nigh_status nigh__clusters_init(const nigh_context *context, nigh_cluster_rule rule, uint64_t count,
                                const struct nigh__sorter_options *sorting, struct nigh__clusters *out,
                                nigh_error *error);
void nigh__clusters_release(struct nigh__clusters *clusters);

/* Whether it could change anything that these two, a better than b, are alike. */
bool nigh__clusters_ask(struct nigh__clusters *clusters, uint64_t a, uint64_t b);

/* They are.  True where b now goes with a for good: the rule KEPT. */
nigh_status nigh__clusters_add(struct nigh__clusters *clusters, uint64_t a, uint64_t b, bool *joined,
                               nigh_error *error);

/* After the last pair: `kept` is as it says. */
nigh_status nigh__clusters_finish(struct nigh__clusters *clusters, nigh_error *error);

#endif
