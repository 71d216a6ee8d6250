/* SPDX-License-Identifier: Apache-2.0 */
/* How early the right combination of weak bits comes; weak_bits.c says how that is counted. */
#ifndef NIGH_EVAL_WEAK_BITS_H
#define NIGH_EVAL_WEAK_BITS_H

#include "base/memory.h"

#define NIGH__WEAK_MODELS 2u
#define NIGH__WEAK_FLIPS 3u    /* bits that differ at most */
#define NIGH__WEAK_PREFIXES 7u /* prefixes that are measured */

extern const uint32_t nigh__weak_prefixes[NIGH__WEAK_PREFIXES];

struct nigh_eval_weak_bits {
    const nigh_context *context;
    nigh_eval_weak_bits_info info;
    /* [model][flips - 1][attempts]: matches that so many attempts find, from 1 on */
    uint64_t *attempts[NIGH__WEAK_MODELS][NIGH__WEAK_FLIPS];
    /* [model][prefix][probe]: matches that this probe finds, and queries of which this probe finds the first, from 0 */
    uint64_t *all[NIGH__WEAK_MODELS][NIGH__WEAK_PREFIXES];
    uint64_t *any[NIGH__WEAK_MODELS][NIGH__WEAK_PREFIXES];
    nigh_eval_weak_spread spread;
    struct nigh__array svg; /* of char: the last plot */
};

/* Figure 1 of the paper; of fewer than two documents, or weights that are all the same, a deviation of 0. */
void nigh__weak_spread(const nigh_eval_corpus *corpus, nigh_eval_weak_spread *out);

/* Combinations of so many of 64 bits. */
uint32_t nigh__weak_combinations(uint32_t flips);

/*
 * Which attempt finds `flipped`, where all combinations of as many bits are tried in
 * the order of their costs; of equally cheap ones the middle.
 */
uint32_t nigh__weak_attempt(const uint32_t costs[64], uint64_t flipped);

#endif
