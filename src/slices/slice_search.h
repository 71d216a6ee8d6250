/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching slice lists: one query, one segment.
 *
 *     for each slice, for each mask of d = 0, 1, ..., i bits      rings
 *         for each row in the list of (value of the query ^ mask)
 *             score[row] += T - d                                 T = i + 1 or more
 *     the M rows of the highest scores (ties: the lower row)      candidates
 *         are compared whole, and the k nearest remain
 *
 * Bounds.  A row that was seen in a slice is d bits away there, one that was not is
 * i + 1 or more.  So the distance is at least
 *
 *     sum of d where seen, i + 1 where not  =  s (i + 1) - sum of (i + 1 - d) where seen
 *
 * which is its optimistic distance.  With T = i + 1 the score is that sum; with a
 * greater T the sum is at most score (i + 1) / T, for (i + 1 - d) / (T - d) is greatest
 * at d = 0.  Let c be the highest score that is left out (0: a row never seen).  Then
 * every row nearer than
 *
 *     s (i + 1) - c (i + 1) / T - slack
 *
 * was compared: that is `below`.  The slack is what lists left out for their length
 * could have added: for each slice the greatest i + 1 - d among those left out there.
 * Rows first seen beyond j bits, where j < i, are left out with at most s (i - j), so
 * `below` is then at most s (j + 1) less the slack.  An answer is exact if its k-th
 * distance is less than `below`.
 *
 * Which T.  i + 1 orders rows by what is certain, and is for those who want all that
 * may be among the answers.  But where only M are compared, the likely ones should
 * come first, and that a row was seen at all says more than how near: if bits of a
 * near row differ with p = .28 and of a far one with .48, a slice of 16 bits that is
 * the same speaks for the near one with 5.3 (logarithm of the odds), each bit that
 * differs takes .87 from it: T = 6.  The papers have T = w.  With T = i + 2 the
 * scores still fit into eight bits and find as much (w = 18, i = 2, M = 1,000, recall
 * of the 10 nearest: T = 3 .872, 4 .901, 5 .903, w .903).
 *
 * Scores have eight bits and stay at 255.  With little breadth only rows that are
 * nearly the query come so far, and all of them are compared; where they are more than
 * M, these are chosen by whole scores (slice_wide.c).
 */
#ifndef NIGH_SLICES_SLICE_SEARCH_H
#define NIGH_SLICES_SLICE_SEARCH_H

#include <stdbool.h>

#include "slices/slice_query.h"

/*
 * The fast way, and the plain one that it must equal with NIGH__SCORE_BOUND in keys and
 * `below` (scores of 32 bits; `rows` are the signatures that the lists are of).  Offsets and ids are compared with
 * their bounds before they are used; a lie is NIGH_ECORRUPT.  The caller is inside guards for the sidecar and the rows.
 */
nigh_status nigh__slice_search(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                               const uint64_t *rows, const struct nigh__slice_query *query,
                               struct nigh__slice_answer *answer, nigh_error *error);

enum nigh__scoring { NIGH__SCORE_BOUND, NIGH__SCORE_PAPER }; /* T - d; w - d */

nigh_status nigh__slice_search_plain(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                     const uint64_t *rows, const struct nigh__slice_query *query,
                                     enum nigh__scoring scoring, struct nigh__slice_answer *answer, nigh_error *error);

/*
 * The plain search by the papers' scores with a breadth of 0, 1, ... up to query->breadth, until `enough` says so of
 * an answer: *answer is what nigh__slice_search_plain() gives with that breadth, *breadth, and an admit of at most it.
 * The papers' score of a list does not depend on the breadth, so a further ring adds to the scores that are there.
 * Not with a budget, which leaves out other lists at every breadth.  Lists and postings are counted once, `compared`
 * at every breadth.
 */
typedef bool nigh__slice_enough(void *user, uint32_t breadth, const struct nigh__slice_answer *answer);

nigh_status nigh__slice_search_growing(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                       const uint64_t *rows, const struct nigh__slice_query *query,
                                       nigh__slice_enough *enough, void *user, struct nigh__slice_answer *answer,
                                       uint32_t *breadth, nigh_error *error);

/*
 * What the lists alone tell after ring 0, 1, ... (Chappell et al., 2013, section 2.1).
 * The k best are those of the least pessimistic distance: what is known, and all bits
 * of the slices where a row was not seen.
 */
struct nigh__slice_ring {
    uint64_t lists, postings; /* of this ring and those before it */
    uint64_t seen;            /* rows, in one slice at least */
    uint64_t complete;        /* rows, in every slice */
    uint32_t pessimistic;     /* distance of the k-th best; UINT32_MAX: fewer than k rows */
    uint32_t optimistic;      /* the least of all others; UINT32_MAX: there are no others */
    bool determined;          /* the k best are complete: NIGH_STOP_SEEN */
    bool certain;             /* optimistic >= pessimistic: no other row can be nearer than the k best */

    /* Of those seen, how many a rule would compare that misses none of the k nearest of them; slice_cull.c. */
    uint64_t by_pessimistic; /* optimistic distance at most the k-th pessimistic one: the papers' culling */
    uint64_t by_distance;    /* the least optimistic first, while it is at most the k-th distance so far */
    uint64_t by_score;       /* the same by the scores of a search for the best M, T = i + 2 */
};

/*
 * Fills rings[0 .. query->breadth].  Of the query, words, k, breadth and slices count.
 * With fewer slices than all, the distances are those over the slices used.  `rows` NULL: nothing is compared,
 * and by_distance and by_score are 0.
 */
nigh_status nigh__slice_rings(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                              const uint64_t *rows, const struct nigh__slice_query *query,
                              struct nigh__slice_ring *rings, nigh_error *error);

/*
 * Sets breadth, admit, candidates, slices and postings to the defaults for such lists: all slices, and a CDR@10 of .98
 * or more on clustered signatures of 1,024 bits.  slice_defaults.c has the measurements.
 */
void nigh__slice_defaults(const struct nigh__slices *slices, uint32_t k, struct nigh__slice_query *query);
/* Of a directed search: postings, and look-ups for so many. */
uint64_t nigh__slice_default_budget(const struct nigh__slices *slices);
uint64_t nigh__slice_default_probes(const struct nigh__slices *slices, uint64_t postings);
/* The budget alone, for another breadth. */
uint64_t nigh__slice_default_postings(const struct nigh__slices *slices, uint32_t slice_count, uint32_t breadth);

#endif
