/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule COMPLETE: clusters whose members are all alike to each other.  A document joins
 * a cluster where it is alike to what stays for it (keep.c sees to that) and to all who
 * joined before.  complete.c says how most of these are known without a look.
 */
#ifndef NIGH_DEDUP_COMPLETE_H
#define NIGH_DEDUP_COMPLETE_H

#include "dedup/compare.h"

struct nigh__complete {
    const struct nigh__comparer *comparer;
    const nigh_context *context;
    struct nigh__array clusters; /* of those with two members at least */
    uint64_t *numbers;           /* by the rank that stays: 1 + its place in these; 0: it is alone */
    uint32_t radius;             /* where nothing is verified: so many bits may differ */
    bool by_length;              /* there, lengths must fit, too */
};

/* Who asks, on a thread of its own. */
struct nigh__complete_asking {
    struct nigh__sets_reader *reader;
    uint64_t left;     /* comparisons it may still make; 0 after an answer: there were not enough, hence no */
    uint64_t compared; /* so many sets were, in all */
};

#define NIGH__COMPLETE_BALLS 16u /* of a cluster at most; what is in none is loose */
#define NIGH__COMPLETE_LOOSE SIZE_MAX

/* Where a document would belong in a cluster. */
struct nigh__complete_place {
    double slacks[NIGH__COMPLETE_BALLS]; /* to the centres of balls, of which the first is what stays, */
    size_t measured;                     /* as far as they are known */
    size_t ball;                         /* that it would join, or NIGH__COMPLETE_LOOSE */
    uint64_t population;                 /* of the cluster, when it was asked; later it may have grown */
};

nigh_status nigh__complete_init(const struct nigh__comparer *comparer, uint64_t ranks, struct nigh__complete *out,
                                nigh_error *error);
void nigh__complete_release(struct nigh__complete *complete); /* accepts one of zeros */

/* How many went with the rank that stays so far. */
uint64_t nigh__complete_population(const struct nigh__complete *complete, uint64_t kept);

/* Begins with a rank and a cluster, whose rank that stays is alike to it and has so many features in common. */
void nigh__complete_begin(const struct nigh__complete *complete, uint64_t kept, uint64_t rank, uint64_t common,
                          struct nigh__complete_place *out);

/*
 * Whether it is alike to all others of the cluster.  May be asked again when that has grown.  From any thread, while
 * nobody adds.
 */
nigh_status nigh__complete_admits(const struct nigh__complete *complete, struct nigh__complete_asking *asking,
                                  uint64_t kept, uint64_t rank, struct nigh__complete_place *place, bool *out,
                                  nigh_error *error);

/* It joins, at the place that was found for it. */
nigh_status nigh__complete_add(struct nigh__complete *complete, struct nigh__complete_asking *asking, uint64_t kept,
                               uint64_t rank, const struct nigh__complete_place *place, nigh_error *error);

/* Somebody could not be held against the cluster to the end, which is counted; and how many such clusters there are. */
void nigh__complete_cut(const struct nigh__complete *complete, uint64_t kept);
uint64_t nigh__complete_truncated(const struct nigh__complete *complete);

#endif
