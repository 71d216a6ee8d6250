/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first pass: which documents there are, which are the same, and the bits and keys that find the others. gather.c
 * says how.
 */
#ifndef NIGH_DEDUP_GATHER_H
#define NIGH_DEDUP_GATHER_H

#include "base/sorter.h"
#include "dedup/bands.h"
#include "dedup/pass.h"

/* Of a counter of features, the most. */
#define NIGH__FEATURE_COUNT_MAX 255u

struct nigh__gathered {
    struct nigh__array rows;        /* of uint64_t, row_words a document: its signature */
    uint32_t row_words;             /* 0: there are no signatures */
    struct nigh__bands bands;       /* of minhash: the keys of documents */
    struct nigh__array signed_ones; /* of uint64_t, of simhash: the documents that have a signature */
    uint8_t *counters;              /* of exact: how many documents have a feature, at most 255, by the hash of it */
    unsigned counter_shift;         /* 64 - log2 of their number */
};

/* Fills the dedup's documents and ids, and `out`.  Returns as nigh_dedup_run(). */
nigh_status nigh__gather(nigh_dedup *dedup, struct nigh__pass_plan *plan, struct nigh__gathered *out,
                         nigh_error *error);
/* What a set of features is told by, the same for any order of them; gather.c says how. */
struct nigh__mark nigh__gather_mark(uint64_t secret, const struct nigh__features *features);
/* A new document, whose `kept` is itself, joins the set of the document that was first with it, or begins one. */
void nigh__gather_join(nigh_dedup *dedup, uint64_t document, uint64_t first);
void nigh__gathered_release(const nigh_context *context, struct nigh__gathered *gathered);

static inline const uint64_t *nigh__gathered_row(const struct nigh__gathered *gathered, uint64_t document) {
    return (const uint64_t *)gathered->rows.data + (size_t)document * gathered->row_words;
}

/* What the counter of a feature is: the same for all documents that have it. */
static inline uint8_t nigh__gathered_count(const struct nigh__gathered *gathered, uint64_t mixed) {
    return gathered->counters[mixed >> gathered->counter_shift];
}

#endif
