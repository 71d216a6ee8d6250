/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which documents are preferred.  Sets of features, each by the best of
 * its documents, get ranks from 0, the best; pairs and clusters are of ranks, so that
 * whatever comes first in a list is what should be kept.
 */
#ifndef NIGH_DEDUP_ORDER_H
#define NIGH_DEDUP_ORDER_H

#include "dedup/deduplication.h"

struct nigh__order {
    uint64_t *rank;  /* by document, of the first of a set; of others nothing */
    uint64_t *first; /* by rank: the first document of the set */
    uint64_t *best;  /* by rank: the one to keep; `first` itself where the first is kept */
    uint64_t count;  /* of sets */
};

/* What a rule says of a document; less is better, and of equal ones the earlier document is. */
uint64_t nigh__order_merit(nigh_keep_rule keep, uint64_t text_length, double score);

/* Whether a document of that merit and number is preferred to another. */
static inline bool nigh__order_prefers(uint64_t merit, uint64_t number, uint64_t other_merit, uint64_t other_number) {
    return merit < other_merit || (merit == other_merit && number < other_number);
}

nigh_status nigh__order_init(const nigh_dedup *dedup, struct nigh__order *out, nigh_error *error);
void nigh__order_release(const nigh_context *context, struct nigh__order *order);

#endif
