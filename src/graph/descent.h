/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A neighbour of a neighbour is likely to be a neighbour, too (Dong, Moses and Li:
 * "Efficient k-nearest neighbor graph construction for generic similarity measures",
 * 2011).
 *
 * In a pass each node brings those together that have it as a neighbour or that it has,
 * and compares them with each other; pairs that both were there in an earlier pass have
 * met already, so that only new ones are compared with all.  Hubs would bring together
 * tens of thousands: of the new and of the old ones each node takes part of only so many,
 * chosen by a hash of the two and the pass:
 *
 *     count      how many new and old ones each node has, both ways
 *     choose     those whose hash is below the share that may come: counted
 *     lists      .[new of 0].[old of 0].[new of 1].[old of 1]...    in any order, for
 *                pairs have none; a place before each is nobody's
 *     age        new ones that take part are old from now on
 *     join       new with new, new with old
 *
 * Counts and lists of a node are written by one thread, which looks at the neighbours of
 * all nodes for it, so that this part does not gain from more threads as the others do.
 * It is a tenth of the whole with one; when threads wrote to each other's lists by atomic
 * operations, each of which waits for the last, it was a quarter.
 *
 * All is chosen from the rows as they are at the beginning of a pass, and rows do not
 * depend on the order of offers: nor does the outcome on threads.
 */
#ifndef NIGH_GRAPH_DESCENT_H
#define NIGH_GRAPH_DESCENT_H

#include "base/parallel.h"
#include "graph/joining.h"

/*
 * Of a node that take part in a pass, about: of the new ones nearly all but those of hubs.  With 32 and 48 it took two
 * passes more to know as many neighbours, and a tenth more time.
 */
#define NIGH__DESCENT_NEW 128u
#define NIGH__DESCENT_OLD 32u

/*
 * At most so many passes, fewer where little changes; *made says how many.  NIGH_OK,
 * NIGH_ECANCELLED or NIGH_ENOMEM, without a detail.
 */
nigh_status nigh__descend(struct nigh__parallel *parallel, struct nigh__joining *joining, uint32_t passes,
                          uint64_t seed, uint32_t *made);
uint64_t nigh__descent_bytes(uint64_t nodes, uint32_t k);

#endif
