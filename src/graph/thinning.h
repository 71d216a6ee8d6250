/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which neighbours become edges. Neighbours in a crowd are near each other, too: an
 * edge to one of them is enough, and the others can be reached from it.
 *
 *     thin      nearest first, a neighbour v of u is left out where one that was kept, s,
 *               is much nearer to it than u is:  1.1 d(s, v) < d(u, v)
 *     turn      each edge also leads back: u is offered to v
 *     thin      what a node has then, where that is more than it may have; what leads back
 *               is worth keeping, for it is where a walk comes from that has gone astray
 *
 *     lead      a node to which fewer than four edges lead gets others, of the nearest of its
 *               neighbours that have room for one
 *
 * Texts that differ in a word lie around what they have in common like the spokes of a wheel:
 * the hub is half as far from each as they are from each other, so that its edges are all
 * that stays of theirs, and it has room for few.  To the others nothing led: to one node in
 * 22 of 732,000 such messages, which no walk could find.
 *
 * Where rows have masks, node u sees all of this in the bits that count for itself, and v
 * must be twice as near to s: a query has another mask than u, by which it sees both from
 * elsewhere.  There nothing is added at the end, for what that would bring was not measured.
 *
 * Without thinning some nodes would have a hundred thousand edges, for in many
 * dimensions a few are near to very many.
 */
#ifndef NIGH_GRAPH_THINNING_H
#define NIGH_GRAPH_THINNING_H

#include "base/parallel.h"
#include "graph/neighbours.h"

/*
 * Afterwards the rows of `neighbours` are edges, nearest first but for those that were added at the end, at most
 * `degree` each (room enough there is), NIGH__NOBODY behind the last; flags are gone.  NIGH_OK, NIGH_ECANCELLED or
 * NIGH_ENOMEM, without a detail.
 */
nigh_status nigh__thin(struct nigh__parallel *parallel, const uint64_t *rows, const uint64_t *masks, uint32_t words,
                       struct nigh__neighbours *neighbours, uint32_t degree);
uint64_t nigh__thinning_bytes(uint64_t nodes, uint32_t k);

#endif
