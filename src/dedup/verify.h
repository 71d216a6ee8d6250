/* SPDX-License-Identifier: Apache-2.0 */
/* Compares candidate pairs, and tells the clusters. verify.c says how. */
#ifndef NIGH_DEDUP_VERIFY_H
#define NIGH_DEDUP_VERIFY_H

#include "dedup/candidates.h"
#include "dedup/cluster.h"
#include "dedup/there.h"

/*
 * Compares the candidates as far as `clusters` asks (all of them where all pairs are
 * wanted), finishes the clusters, and gives every document what is kept for it.
 * Returns as nigh_dedup_run().
 */
nigh_status nigh__verify(nigh_dedup *dedup, struct nigh__pass_plan *plan, const struct nigh__gathered *gathered,
                         const struct nigh__order *order, struct nigh__there *there,
                         struct nigh__candidates *candidates, struct nigh__clusters *clusters, nigh_error *error);

#endif
