/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which documents stay, by the rules KEPT and COMPLETE. keep.c says how. */
#ifndef NIGH_DEDUP_KEEP_H
#define NIGH_DEDUP_KEEP_H

#include "dedup/candidates.h"
#include "dedup/cluster.h"
#include "dedup/compare.h"

struct nigh__keeping {
    nigh_dedup *dedup;
    const struct nigh__comparer *comparer;
    struct nigh__candidates *candidates;
    struct nigh__clusters *clusters;
    uint32_t threads;
};

/*
 * Fills clusters->kept, and notes how alike each document that goes is to the one that stays for it.  Counts in
 * dedup->info.
 */
nigh_status nigh__keep(const struct nigh__keeping *keeping, nigh_error *error);

#endif
