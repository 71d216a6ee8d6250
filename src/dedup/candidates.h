/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs that are worth a look: by keys of bands, by signatures, or by rare features (prefixes.h). */
#ifndef NIGH_DEDUP_CANDIDATES_H
#define NIGH_DEDUP_CANDIDATES_H

#include "dedup/gather.h"
#include "dedup/order.h"

struct nigh__candidates {
    const nigh_dedup *dedup;
    const struct nigh__order *order;
    struct nigh__sorter *sorter; /* better rank << 32 | other rank, each once */
    uint64_t *recent;            /* pairs that were added lately, by their hash; 0: none */
    double least;                /* ratio of the numbers of features; 0: any will do for now */
};

nigh_status nigh__candidates_init(const nigh_dedup *dedup, const struct nigh__order *order, uint32_t threads,
                                  struct nigh__candidates *out, nigh_error *error);
void nigh__candidates_release(struct nigh__candidates *candidates);

/* Adds a pair of documents, each the first of its set. */
nigh_status nigh__candidates_add(struct nigh__candidates *candidates, uint32_t a, uint32_t b, nigh_error *error);

/* Whether sets of so many features can be alike at all. */
static inline bool nigh__lengths_fit(double threshold, uint32_t a, uint32_t b) {
    const double less = a < b ? a : b;
    const double more = a < b ? b : a;
    return less / more >= threshold;
}

/* Those that share the key of a band.  Counts bands over the budget in dedup->info.truncated. */
nigh_status nigh__candidates_by_bands(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                      nigh_dedup *dedup, nigh_error *error);

/* Those whose signatures are within dedup->options.distance. */
nigh_status nigh__candidates_by_distance(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                         nigh_dedup *dedup, uint32_t width_bits, uint32_t threads, nigh_error *error);

/* How many of `bits` MinHash bits may differ between sets that are alike, 99 times in 100. */
uint32_t nigh__minhash_radius(uint32_t bits, double threshold);

#endif
