/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates without missing any: documents that share one of their rarest features. prefixes.c says why that is
 * enough.
 */
#ifndef NIGH_DEDUP_PREFIXES_H
#define NIGH_DEDUP_PREFIXES_H

#include "dedup/candidates.h"

/* Reads all documents once more.  The counters of `gathered` are freed on the way.  Returns as nigh_dedup_run(). */
nigh_status nigh__candidates_by_prefixes(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                         nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error);

#endif
