/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components of more documents than memory has room for, by large-star and small-star in turns: sorting alone, each
 * round from a file to a file.
 *
 *     edges      of a larger and a smaller document                     9-7  7-4  8-4  4-2
 *     large-star each joins its larger neighbours to the smallest       9-4  7-4  8-4  7-2  8-2  ...
 *                of its neighbours and itself
 *     small-star each joins its smaller neighbours and itself to        9-2  8-2  7-2  4-2
 *                the smallest of these
 *
 * Both keep what is connected connected, and bring smaller numbers nearer.  A round is one of each.  Where it changes
 * nothing every document has one edge, to the smallest of its component: the edges are stars, and their centres the
 * labels.  A chain of n takes about log n rounds.  (Kiveris and others, Connected components in MapReduce and beyond,
 * 2014, prove log n squared.)
 *
 * The neighbours of a document are sorted, so the smallest comes first, and a document with a hundred million of them
 * takes no more memory than one with two.
 *
 *     WORK/components-round      INFO    round, edges, their print      EDGES    larger id, smaller id      ascending
 *
 * That file has the form of a stage's, with its checksums.  Each round replaces it once its own is whole, so whoever
 * comes after a crash goes on from the last round that was; a damaged one is begun from the pairs again.
 *
 * Cost: three sorts of the edges a round; on disk the edges of two rounds in files, and what sorting takes.
 */
#ifndef NIGH_STAGES_STAR_ROUNDS_H
#define NIGH_STAGES_STAR_ROUNDS_H

#include "stages/stage_work.h"

#define NIGH__STAGE_ROUND 0xfeu /* the number of these files, as of a stage */
#define NIGH__EDGE_WORDS_STAR 2u

/* Adds edges to the sorter of the first round by nigh__star_add(). */
typedef nigh_status nigh__star_feed(void *user, struct nigh__sorter *sorter, nigh_error *error);
/* An edge, in any order and as often as it comes; one to itself is none. */
nigh_status nigh__star_add(struct nigh__sorter *sorter, uint64_t a, uint64_t b, nigh_error *error);

struct nigh__star_done {
    uint32_t rounds;  /* that were made now */
    uint32_t resumed; /* the round that was there already; 0: none */
    uint64_t components, largest;
};

/*
 * Labels: a sorter, finished, of each document that has an edge and the smallest of its component, which is there with
 * itself.  The caller frees it.
 */
nigh_status nigh__star_labels(const nigh_staged *staged, nigh__star_feed *feed, void *user, struct nigh__sorter **out,
                              struct nigh__star_done *done, nigh_error *error);

/* Removes the file of the last round, where there is one: components are found. */
void nigh__star_clear(const nigh_staged *staged);

#endif
