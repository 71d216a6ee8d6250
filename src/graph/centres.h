/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbourhoods, and what most of each have in common.
 *
 *     cover     node after node, one that is in no neighbourhood yet makes one of itself
 *               and its neighbours, unless these are nearly all in others: then what
 *               there is around it is known already
 *     row       of a neighbourhood: each bit as most have it of the node and those nearest
 *               to it.  What is each one's own cancels out, what they share stays
 *     node      the one of them that is nearest to this row
 *     sketch    the first bits of the row, which are all that is kept
 *
 * A query that belongs to a neighbourhood is about as far from its row as the others are,
 * and that is much nearer than they are to each other.
 */
#ifndef NIGH_GRAPH_CENTRES_H
#define NIGH_GRAPH_CENTRES_H

#include "base/parallel.h"
#include "graph/graph.h"
#include "graph/neighbours.h"

/* Of how many nodes there is one centre, about, at the usual options: 27 in generated signatures, 21 in texts. */
#define NIGH__NODES_A_CENTRE 24u

struct nigh__centres {
    uint32_t count;
    uint32_t words;
    uint32_t *nodes;
    uint64_t *sketches; /* [count * words] */
};

/* Words of a sketch, of rows of so many. */
static inline uint32_t nigh__centre_words(uint32_t words) {
    return words < NIGH__GRAPH_MAX_CENTRE_WORDS ? words : NIGH__GRAPH_MAX_CENTRE_WORDS;
}

/* `out` is the caller's to release, also after a failure: NIGH_OK, NIGH_ECANCELLED or NIGH_ENOMEM, without a detail. */
nigh_status nigh__centres_find(struct nigh__parallel *parallel, const uint64_t *rows, const uint64_t *masks,
                               uint32_t words, const struct nigh__neighbours *neighbours, struct nigh__centres *out);
void nigh__centres_release(const nigh_context *context, struct nigh__centres *centres);

#endif
