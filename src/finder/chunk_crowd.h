/* SPDX-License-Identifier: Apache-2.0 */
/* Many queries against many fingerprints that share a prefix.  chunk_crowd.c says how. */
#ifndef NIGH_FINDER_CHUNK_CROWD_H
#define NIGH_FINDER_CHUNK_CROWD_H

#include "finder/chunk_batch.h"

/* Whether so many rows of a prefix, and the keys that the batch has of it, are better divided. */
bool nigh__chunk_crowd_is(const struct nigh__chunk_batch *batch, uint64_t prefix, uint32_t rows);

struct nigh__chunk_crowd {
    size_t key, key_end;
    uint32_t row, row_end;
    bool truncated; /* there are more rows, beyond the budget */
};

/* Finds what comparing all these keys with all these rows would. */
void nigh__chunk_crowd_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                              const struct nigh__chunk_crowd *crowd, struct nigh__chunk_finds *finds);

/* What a look-up among `among` may compare where rows of a block look up, or are looked up. */
uint64_t nigh__chunk_crowd_budget(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                                  uint64_t among);

/* Deals the bits anew where very many queries share a block of them; else batch->deal stays NULL. */
nigh_status nigh__chunk_deal_new(struct nigh__chunk_batch *batch, nigh_error *error);
void nigh__chunk_deal(const struct nigh__chunk_deal *deal, const uint64_t *words, size_t count, uint64_t *out);

#endif
