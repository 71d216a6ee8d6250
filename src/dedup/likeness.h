/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of documents that are alike, kept to be read later. likeness.c says how. */
#ifndef NIGH_DEDUP_LIKENESS_H
#define NIGH_DEDUP_LIKENESS_H

#include <string.h>

#include "base/bytes.h"
#include "dedup/gather.h"

/* Bits in which the signatures of two documents differ; NIGH_ALL: they have none. */
uint32_t nigh__likeness_distance(const nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t a,
                                 uint64_t b);

/* How near two are, in one word. */
static inline uint64_t nigh__likeness_pack(float similarity, uint32_t distance) {
    return (uint64_t)nigh__load32(&similarity) << 32 | distance;
}

static inline float nigh__likeness_similarity(uint64_t near) {
    const uint32_t bits = (uint32_t)(near >> 32);
    float similarity;
    memcpy(&similarity, &bits, sizeof similarity);
    return similarity;
}

/* Begins the list of all pairs, with those of equal sets in it.  `gathered` NULL: their distances are 0. */
nigh_status nigh__likeness_begin(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint32_t copies,
                                 uint32_t threads, nigh_error *error);
/* Two sets, by their first documents, are alike, and so are all documents of the one to all of the other. */
nigh_status nigh__likeness_add(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t a, uint64_t b,
                               float similarity, nigh_error *error);
/* The same where it is known in how many bits the signatures of the two sets differ; of documents of a set in none. */
nigh_status nigh__likeness_add_known(nigh_dedup *dedup, uint64_t a, uint64_t b, float similarity, uint32_t distance,
                                     nigh_error *error);
nigh_status nigh__likeness_finish(nigh_dedup *dedup, nigh_error *error);

#endif
