/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidate pairs: found by keys of bands (candidates_bands.c), by signatures
 * (candidates_distance.c), or by rare features (prefixes.h). Each comes once. It either
 * helps to decide which documents stay or, if all pairs are wanted, is only listed: which
 * documents stay must not depend on whether pairs are listed.
 *
 * The rules KEPT and COMPLETE take one document after the other with all its pairs (keep.h),
 * so their pairs are sorted by the worse rank; and of crowds, whose pairs would be too many,
 * they take the members.  COMPONENTS takes pairs by the better rank.
 */
#ifndef NIGH_DEDUP_CANDIDATES_H
#define NIGH_DEDUP_CANDIDATES_H

#include <pthread.h>

#include "dedup/gather.h"
#include "dedup/order.h"

#define NIGH__PAIRS_TOGETHER 256u

/* Where pairs go, as base/number_pair.h has them; either may be NULL. */
struct nigh__pair_sorters {
    struct nigh__sorter *by_better; /* of the better rank and the worse */
    struct nigh__sorter *by_worse;  /* of the worse rank and the better */
};

/* A thread's way to sorters: holds back pairs that were added lately, which most are that share many keys. */
struct nigh__pair_queue {
    const struct nigh__order *order;
    struct nigh__pair_sorters sorters;
    pthread_mutex_t *lock; /* of the sorters; NULL: they have one user */
    uint32_t words;        /* of a pair, as base/number_pair.h has it */
    uint64_t *recent;      /* pairs of documents, by their hash; 0: none */
    size_t count;
    uint64_t pairs[2 * NIGH__PAIRS_TOGETHER]; /* of the better rank and the other, `words` each */
};

nigh_status nigh__pair_queue_init(const nigh_dedup *dedup, const struct nigh__order *order,
                                  const struct nigh__pair_sorters *sorters, pthread_mutex_t *lock,
                                  struct nigh__pair_queue *out, nigh_error *error);
void nigh__pair_queue_release(const nigh_context *context, struct nigh__pair_queue *queue);
/* Adds a pair of documents, each the first of its set. */
nigh_status nigh__pair_queue_add(struct nigh__pair_queue *queue, uint64_t a, uint64_t b, nigh_error *error);
nigh_status nigh__pair_queue_flush(struct nigh__pair_queue *queue, nigh_error *error);

/* The pair a cursor is at; at the end one that is larger than all. */
nigh_status nigh__pair_peek(struct nigh__sorter_cursor *cursor, struct nigh__number_pair *out, nigh_error *error);

struct nigh__candidates {
    const nigh_dedup *dedup;
    const struct nigh__order *order;
    struct nigh__pair_sorters deciding;
    struct nigh__pair_sorters listed; /* some of these are in the other list, too; none: not all pairs are wanted */
    struct nigh__sorter_cursor cursors[2]; /* of the two, by the better rank */
    struct nigh__sorter *members; /* of crowds: the rank of a member, and the number of its crowd; NULL: the rule does
                                     not ask for them, and crowds have pairs */
    struct nigh__array taken;     /* of uint64_t, of each crowd: places of documents that were there before.  How crowds
                                     are numbered is left to chance */
    const struct nigh__there *there;
};

/* `there` may be NULL; else it must outlive *out. */
nigh_status nigh__candidates_init(const nigh_dedup *dedup, const struct nigh__order *order,
                                  const struct nigh__there *there, uint32_t threads, struct nigh__candidates *out,
                                  nigh_error *error);
void nigh__candidates_release(struct nigh__candidates *candidates);
nigh_status nigh__candidates_finish(struct nigh__candidates *candidates, nigh_error *error);

/* After finish: the next pair by the better rank, NIGH_END after the last; and from the first again. */
nigh_status nigh__candidates_next(struct nigh__candidates *candidates, struct nigh__number_pair *pair, bool *decides,
                                  nigh_error *error);
nigh_status nigh__candidates_rewind(struct nigh__candidates *candidates, nigh_error *error);
/*
 * Adds a crowd, of documents that are each the first of their set, behind `taken` places.  The caller sees to it that
 * he is alone.
 */
nigh_status nigh__candidates_add_crowd(struct nigh__candidates *candidates, const uint64_t *documents, size_t count,
                                       uint64_t taken, nigh_error *error);
uint64_t nigh__candidates_disk_bytes(const struct nigh__candidates *candidates);

/* Whether sets of so many features can be alike at all. */
static inline bool nigh__lengths_fit(double threshold, uint32_t a, uint32_t b) {
    const double less = a < b ? a : b;
    const double more = a < b ? b : a;
    return less / more >= threshold;
}

/* Those that share the key of a band.  Counts buckets over the budget in dedup->info.truncated. */
nigh_status nigh__candidates_by_bands(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                      nigh_dedup *dedup, uint32_t threads, nigh_error *error);

/* Those whose signatures are within dedup->options.distance. */
nigh_status nigh__candidates_by_distance(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                         nigh_dedup *dedup, uint32_t width_bits, uint32_t threads, nigh_error *error);

#endif
